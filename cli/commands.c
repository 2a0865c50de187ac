/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/commands.c -- the command table: add a command = one row here + cli/cmd_<name>.c. */
#include <stddef.h>

#include "cli/cmd.h"

const assay__command assay__commands[] = {
    {"devices", cmd_devices, "say what is here, and why something is not", true},
    {"ops", cmd_ops, "list the op catalogue", false},
    {"kernels", cmd_kernels, "list kernels, their tunables, claims and revisions", true},
    {"sweep", cmd_sweep, "measure costs and check results", true},
    {"pick", cmd_pick, "ask which kernel should run a problem", true},
    {"report", cmd_report, "show what a store holds: cost, precision, coverage", true},
    {"check", cmd_check, "integrity of a store and what of it holds here", true},
    {"merge", cmd_merge, "join stores into a new one", true},
    {"quarantine", cmd_quarantine, "variants that must not run: list them, lift, try again", true},
    {"bench", cmd_bench, "what asking and storing cost here, peaks, and the method checked", false},
    {"__worker", cmd_worker, NULL, false},
    {"--version", cmd_version, NULL, false},
    {NULL, NULL, NULL, false},
};
