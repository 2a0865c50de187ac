/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd.h -- what commands share: the table's rows, errors, exit codes, interruption. */
#ifndef ASSAY_CLI_CMD_H
#define ASSAY_CLI_CMD_H

#include <stdbool.h>

#include "assay/status.h"

typedef struct assay__command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
    const char *help;                  /* one line; NULL: hidden */
    bool calls_plugins;                /* in this process; see fault_note.h */
} assay__command;

/* cli/commands.c: one row a command, ended by a NULL name. */
extern const assay__command assay__commands[];

int cmd_devices(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_kernels(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_pick(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_quarantine(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_version(int argc, char **argv);

/* Prints "assay COMMAND: text" to stderr and returns the exit code of the status. */
int assay__cmd_fail(const char *command, assay_status status);
/* A device that is gone, or that went, is no matter of the others. */
bool assay__cmd_is_of_device(assay_status status);
int assay__exit_code(assay_status status);

/* Nonzero once SIGINT or SIGTERM came: the signal's number.  A second one ends the process. */
extern volatile int assay__stop_signal;
void assay__catch_signals(void);

#endif
