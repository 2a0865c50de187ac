/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
#include "tests/support/fake_worker.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"

#define PROBLEM "add f32,f32,f32 n=64"
#define ALIGN   16

assay__worker_state fake_worker;

void must(assay_status status)
{
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
}

static int make_file(uint64_t bytes)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

static void load(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];

    memset(&fake_worker, 0, sizeof fake_worker);
    (void)snprintf(path, sizeof path, "%s/lib/assay/assay_fake.so",
                   build != NULL ? build : "build");
    must(assay__plugins_load(path, NULL, &fake_worker.plugins));
}

void fake_worker_begin(const char *script, const char *clock)
{
    json_t *request = json_pack("{s:s, s:i}", "problem", PROBLEM, "align", ALIGN);
    assay__message m = {.fd_count = 2};
    assay__output_plan out;
    assay__input_plan in;
    assay_problem problem;

    (void)setenv("ASSAY_FAKE", script, 1);
    if (clock != NULL)
        (void)setenv("ASSAY_FAKE_CLOCK", clock, 1);
    else
        (void)unsetenv("ASSAY_FAKE_CLOCK");
    load();
    must(assay_problem_parse(PROBLEM, &problem));
    must(assay__input_plan_make(&problem, ALIGN, &in));
    must(assay__output_plan_make(&problem, ALIGN, &out));
    m.fds[0] = make_file(in.total);
    m.fds[1] = make_file(out.total);
    must(assay__worker_prepare(&fake_worker, request, &m));
    json_decref(request);
    close(m.fds[0]);
    close(m.fds[1]);
}

void fake_worker_add_set(void)
{
    assay__worker_problem *w = fake_worker.prepared;
    const float one = 1.0f;
    int fd = make_file(w->in.total);

    for (size_t i = 0; i < w->in.count; i++)
        for (uint64_t at = 0; at < w->in.bytes[i]; at += sizeof one)
            ck_assert_int_eq(pwrite(fd, &one, sizeof one, (off_t)(w->in.offset[i] + at)),
                             sizeof one);
    w->input_fd[w->sets++] = fd;
}

void fake_worker_end(void)
{
    assay__worker_release(&fake_worker);
    assay__plugins_destroy(&fake_worker.plugins);
    free(fake_worker.revisions);
}
