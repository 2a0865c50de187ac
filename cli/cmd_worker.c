/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_worker.c -- the hidden command that the tuner starts: serves requests on descriptor 3. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cmd.h"
#include "sweep/exhaust_worker.h"

int cmd_worker(int argc, char **argv)
{
    struct stat st;

    (void)argv;
    if (argc != 1 || fstat(3, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        fputs("assay __worker: started by the tuner only\n", stderr);
        return 2;
    }
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    return assay__worker_main(3, assay__exhaust_commands);
}
