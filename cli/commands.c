/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/commands.c -- the command table: add a command = one row here + cli/cmd_<name>.c. */
#include <stddef.h>

#include "cli/cmd.h"

const assay__command assay__commands[] = {
    {"devices", cmd_devices, "say what is here, and why something is not"},
    {"ops", cmd_ops, "list the op catalogue"},
    {"kernels", cmd_kernels, "list kernels, their tunables, claims and revisions"},
    {"sweep", cmd_sweep, "measure costs and check results"},
    {"pick", cmd_pick, "ask which kernel should run a problem"},
    {"report", cmd_report, "show what a store holds: cost, precision, coverage"},
    {"check", cmd_check, "integrity of a store and what of it holds here"},
    {"bench", cmd_bench, "what asking and storing cost here, peaks, and the method checked"},
    {"__worker", cmd_worker, NULL},
    {"--version", cmd_version, NULL},
    {NULL, NULL, NULL},
};
