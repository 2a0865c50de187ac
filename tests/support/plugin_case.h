/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/plugin_case.h -- load a plug-in of this build, make operands, run, ask the oracle.
 */
#ifndef ASSAY_TESTS_PLUGIN_CASE_H
#define ASSAY_TESTS_PLUGIN_CASE_H

#include "assay/plugin.h"

/* Manifest of build/lib/assay/assay_<name>.so, or of the path when `name` has a slash; fails the
 * test when it cannot be loaded. */
const assay_manifest *plugin_load(const char *name);

/* Problem without parameters, with the dtypes of a kernel. */
assay_problem plugin_problem_of(const assay_kernel_desc *kernel);

/* Row with this op, T and name (NULL: the first); NULL when there is none. */
const assay_kernel_desc *plugin_kernel(const assay_manifest *m, assay_op_id op, assay_dtype t,
                                       const char *name);
const assay_oracle_desc *plugin_oracle(const assay_manifest *m, assay_op_id op);

/* A problem with contiguous operands in memory of their own; outputs poisoned. */
typedef struct plugin_case {
    assay_problem problem;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    void *memory[ASSAY_MAX_OPERANDS]; /* `skew` bytes, those of the operand, and some behind it */
    size_t spans[ASSAY_MAX_OPERANDS]; /* of memory */
    size_t skew;
    uint32_t count;
    int64_t elements; /* of the output */
} plugin_case;

/* `problem` as "name=value,..."; `skew`: bytes by which each operand is off 64. */
void plugin_case_init(plugin_case *c, assay_op_id op, assay_dtype t, const char *params,
                      size_t skew);
/* The same with the dtypes of a kernel. */
void plugin_case_of(plugin_case *c, const assay_kernel_desc *kernel, const char *params,
                    size_t skew);
void plugin_case_clear(plugin_case *c);
double plugin_case_get(const plugin_case *c, uint32_t operand, int64_t index);
void plugin_case_set(plugin_case *c, uint32_t operand, int64_t index, double value);

/* Normal values scaled; the same for the same seed. */
void plugin_case_fill(plugin_case *c, uint32_t operand, uint64_t seed, double scale);
void plugin_case_poison(plugin_case *c);

assay_status plugin_case_run(plugin_case *c, const assay_kernel_desc *kernel,
                             const int64_t *tunables);

/* Nothing before or behind an operand was written: stores under a mask are beyond what a sanitizer
 * of the compiler sees. */
bool plugin_case_kept_apart(const plugin_case *c);

/* The whole output by the oracle; the caller frees with plugin_wide_clear. */
void plugin_case_wide(const plugin_case *c, const assay_oracle_desc *oracle, unsigned threads,
                      assay_wide *out);
void plugin_wide_clear(assay_wide *wide);

/* splitmix64; a uniform double in [0, 1); a normal one. */
uint64_t plugin_random(uint64_t *state);
double plugin_uniform(uint64_t *state);
double plugin_normal(uint64_t *state);

#endif
