/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/every_kernel.h -- one problem, run by every kernel of every plug-in that can.
 *
 * Through assay_run, as a program would: what lies beside the operands' rules is refused there, and
 * instruction sets and libraries that are absent leave their kernels out. A new kernel, or plug-in,
 * needs no edit in any test that is written with this. */
#ifndef ASSAY_TESTS_EVERY_KERNEL_H
#define ASSAY_TESTS_EVERY_KERNEL_H

#include "assay/table.h"
#include "calibrate/accept.h"
#include "tests/support/plugin_case.h"

/* Fixture of the whole process. */
void every_kernel_open(void);
void every_kernel_close(void);

/* Runs the case by each kernel of its op and dtypes, the reference among them, and calls `check`
 * after each. The output begins each time as the case has it, so that kernels find poison, or the
 * old values that they must read. Operands may be views: where a kernel does not take one it gets
 * a contiguous copy. Kernels that decline the problem are left out. Returns how many ran. */
typedef void (*every_kernel_fn)(plugin_case *c, const assay_kernel_desc *kernel, void *cookie);
int every_kernel(plugin_case *c, every_kernel_fn check, void *cookie);

/* Is this row of a manifest, as plugin_load gives it, one whose library and instruction sets are
 * here? */
bool every_kernel_can(const assay_kernel_desc *kernel);

/* The case must be refused with this status, whichever kernel it is for, before anything is
 * written: every byte of the output is compared. Operands go as they are. Returns how many. */
int every_kernel_refuses(plugin_case *c, assay_status status);
/* The same where the output cannot be looked at, as its pages are gone. */
int every_kernel_refuses_untouched(plugin_case *c, assay_status status);

/* Every kernel gives these values, the sign of zero where the catalogue makes it law, NaN where
 * `want` has one; fewer than two kernels fail the test. `what` is for messages. */
void every_kernel_gives(plugin_case *c, const double *want, const char *what);

/* Every kernel is within the op's own bound of the reference. */
void every_kernel_agrees(plugin_case *c, const char *what);

/* Element `index` in row-major order of any view. */
double every_kernel_get(const assay_tensor *t, int64_t index);
void every_kernel_set(const assay_tensor *t, int64_t index, double value);

/* Gives operand i rows that are `gap` elements apart, and planes that are so too, in memory of its
 * own filled with 0xff: NaN of every float. Its elements are kept. */
void every_kernel_spread(plugin_case *c, uint32_t i, int64_t gap);
/* Is all that lies between its elements as every_kernel_spread left it? */
bool every_kernel_gaps_untouched(const plugin_case *c, uint32_t i);

#endif
