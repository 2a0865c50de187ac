/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_starts.c -- `assay bench`: whole runs of this program, beside /bin/true. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bench_rows.h"
#include "runtime/error.h"
#include "tuner/worker_client.h"

#define STARTS 15

static assay_status run_once(char *const argv[], double *ms)
{
    posix_spawn_file_actions_t quiet;
    pid_t child = 0;
    int code = 0, wait_status = 0;
    double start;

    if (posix_spawn_file_actions_init(&quiet) != 0)
        return assay__fail(ASSAY_NOMEM, "cannot prepare a process");
    (void)posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    start = assay__bench_now_ns();
    code = posix_spawn(&child, argv[0], &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (code != 0)
        return assay__fail(ASSAY_IO, "cannot start %s: %s", argv[0], strerror(code));
    while (waitpid(child, &wait_status, 0) < 0)
        if (errno != EINTR)
            return assay__fail(ASSAY_INTERNAL, "cannot wait: %s", strerror(errno));
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return assay__fail(ASSAY_INTERNAL, "%s %s did not succeed", argv[0],
                           argv[1] != NULL ? argv[1] : "");
    *ms = (assay__bench_now_ns() - start) * 1e-6;
    return ASSAY_OK;
}

/* What a visit begins with: a process that has loaded all plug-ins and answers. */
static assay_status start_worker(double *ms)
{
    const assay__worker_options options = {.plugin_path = NULL};
    const double start = assay__bench_now_ns();
    assay__worker *w = NULL;

    ASSAY_TRY(assay__worker_start(&options, &w));
    *ms = (assay__bench_now_ns() - start) * 1e-6;
    assay__worker_stop(&w);
    return ASSAY_OK;
}

/* One after the other, so that both see the same machine.  argv NULL: a worker. */
static assay_status add_start(assay__bench_rows *r, const char *what, char *const argv[],
                              double goal)
{
    char *bare[] = {(char[]){"/bin/true"}, NULL};
    double samples[STARTS], peers[STARTS];
    assay__bench_rows scratch = {.count = 0};
    assay__bench_row *row = NULL, *peer = NULL;

    for (int i = 0; i < STARTS; i++) {
        ASSAY_TRY(run_once(bare, &peers[i]));
        ASSAY_TRY(argv != NULL ? run_once(argv, &samples[i]) : start_worker(&samples[i]));
    }
    ASSAY_TRY(assay__bench_add_median(&scratch, bare[0], "ms", peers, STARTS, &peer));
    ASSAY_TRY(assay__bench_add_median(r, what, "ms", samples, STARTS, &row));
    row->peer = "/bin/true";
    row->peer_value = peer->value;
    row->goal = goal;
    return ASSAY_OK;
}

assay_status assay__bench_starts(const assay__bench_options *o, assay__bench_rows *r)
{
    char self[4096], path[4096];
    char db_flag[] = "--db";
    char *version[] = {self, (char[]){"--version"}, NULL};
    char *pick[] = {self,
                    (char[]){"pick"},
                    (char[]){"--op"},
                    (char[]){"add"},
                    (char[]){"--dtype"},
                    (char[]){"f32"},
                    (char[]){"--shape"},
                    (char[]){"n=4096"},
                    (char[]){"--json"},
                    o->db != NULL ? db_flag : NULL,
                    path,
                    NULL};
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return assay__fail(ASSAY_IO, "cannot find this program: %s", strerror(errno));
    self[length] = '\0';
    (void)snprintf(path, sizeof path, "%s", o->db != NULL ? o->db : "");
    ASSAY_TRY(add_start(r, "start, assay --version", version, (double)NAN));
    ASSAY_TRY(add_start(r, "start, assay pick", pick, 20.0));
    return add_start(r, "start, fresh worker", NULL, 50.0);
}
