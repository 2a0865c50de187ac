/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_worker.c -- the hidden command that the tuner starts: serves requests on descriptor 3. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/cmd.h"
#include "conform/conform_worker.h"
#include "sweep/exhaust_worker.h"

#define MAX_COMMANDS 8

/* Requests of all folders beside those of the worker itself, in one list that ends with a NULL. */
static void add_commands(const assay__worker_command *from, assay__worker_command *to,
                         size_t *count)
{
    for (; from->name != NULL && *count + 1 < MAX_COMMANDS; from++)
        to[(*count)++] = *from;
}

int cmd_worker(int argc, char **argv)
{
    assay__worker_command commands[MAX_COMMANDS] = {{NULL, NULL}};
    struct stat st;
    size_t count = 0;

    (void)argv;
    if (argc != 1 || fstat(3, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        fputs("assay __worker: started by the tuner only\n", stderr);
        return 2;
    }
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    add_commands(assay__exhaust_commands, commands, &count);
    add_commands(assay__conform_commands, commands, &count);
    return assay__worker_main(3, commands);
}
