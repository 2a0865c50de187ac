/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/main.c -- finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/fault_note.h"
#include "support/str.h"

#define MAX_COMMANDS 64

volatile int assay__stop_signal;

int assay__exit_code(assay_status status)
{
    if (status == ASSAY_INTERRUPTED && assay__stop_signal != 0)
        return 128 + assay__stop_signal;
    switch (status) {
#define X(name, value, exit_code, text) \
    case ASSAY_##name:                  \
        return exit_code;
        ASSAY_STATUS_MAP(X)
#undef X
    }
    return 5;
}

int assay__cmd_fail(const char *command, assay_status status)
{
    const char *text = assay_last_error();

    fprintf(stderr, "assay %s: ", command);
    assay__put_shown(stderr, text[0] != '\0' ? text : assay_strerror(status));
    fputc('\n', stderr);
    return assay__exit_code(status);
}

bool assay__cmd_is_of_device(assay_status status)
{
    return status == ASSAY_UNAVAILABLE || status == ASSAY_DEVICE || status == ASSAY_DEVICE_LOST;
}

static void on_signal(int number)
{
    if (assay__stop_signal != 0)
        _exit(128 + number);
    assay__stop_signal = number;
}

void assay__catch_signals(void)
{
    struct sigaction action, hangup;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* A terminal that goes away; nohup has it ignored, and so it stays. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaction(SIGHUP, &action, NULL);
}

static void usage(FILE *file)
{
    fputs("usage: assay COMMAND [OPTION]...\n\n", file);
    for (const assay__command *c = assay__commands; c->name != NULL; c++)
        if (c->help != NULL)
            fprintf(file, "  %-11s %s\n", c->name, c->help);
    fputs("\n`assay COMMAND --help` explains a command; `assay --version` names this build.\n",
          file);
}

static int unknown(const char *name)
{
    const char *names[MAX_COMMANDS];
    size_t n = 0;
    const char *near;

    for (const assay__command *c = assay__commands; c->name != NULL && n < MAX_COMMANDS; c++)
        if (c->help != NULL)
            names[n++] = c->name;
    near = assay__nearest(name, names, n);
    fputs("assay: unknown command '", stderr);
    assay__put_shown(stderr, name);
    fputc('\'', stderr);
    if (near != NULL)
        fprintf(stderr, "; did you mean '%s'?", near);
    fputs("\n", stderr);
    usage(stderr);
    return 2;
}

/* A full disk or a closed pipe on stdout must not look like success. */
static int finish(const char *name, int code)
{
    const bool is_lost = fflush(stdout) != 0 || ferror(stdout) != 0;

    if (!is_lost || code != 0)
        return code;
    fprintf(stderr, "assay %s: cannot write to standard output: %s\n", name, strerror(errno));
    return assay__exit_code(ASSAY_IO);
}

/* Where the caller closed a standard stream, the next file that is opened would get its number, and
 * our own text would be written into it: the memory that inputs and results are checked in, say.
 * The number is taken by a file of the wrong direction instead, so that using it still fails. */
static bool hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (!hold_standard_streams())
        return assay__exit_code(ASSAY_IO);
    for (const assay__command *c = assay__commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) != 0)
            continue;
        if (c->calls_plugins)
            assay__fault_note_begin(name);
        return finish(name, c->run(argc - 1, argv + 1));
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        usage(stdout);
        return finish(name, 0);
    }
    if (name[0] != '\0')
        return unknown(name);
    usage(stderr);
    return 2;
}
