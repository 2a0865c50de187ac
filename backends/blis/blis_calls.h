/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/blis/blis_calls.h -- the entry points of BLIS, opened at run time.
 *
 * Its bli_ calls, never its BLAS ones: those have twins in every other BLAS.  BLIS counts in
 * integers of 64 bits unless built otherwise, which is asked for. */
#ifndef ASSAY_BACKENDS_BLIS_CALLS_H
#define ASSAY_BACKENDS_BLIS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "runtime/host_openmp.h"

/* trans_t and errlev_t of blis.h 0.9.0 */
enum { BLIS_CALLS_NO_TRANS = 0, BLIS_CALLS_TRANS = 8, BLIS_CALLS_NO_ERROR_CHECKING = 0 };

typedef struct blis_library {
    void (*sgemm)(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const float *alpha,
                  const float *a, int64_t rs_a, int64_t cs_a, const float *b, int64_t rs_b,
                  int64_t cs_b, const float *beta, float *c, int64_t rs_c, int64_t cs_c);
    void (*dgemm)(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const double *alpha,
                  const double *a, int64_t rs_a, int64_t cs_a, const double *b, int64_t rs_b,
                  int64_t cs_b, const double *beta, double *c, int64_t rs_c, int64_t cs_c);
    void (*set_threads)(int64_t threads);
    int64_t (*get_threads)(void);
    int64_t (*threading)(void); /* 0: built without threads */
    int64_t (*openmp)(void);
    int64_t (*int_bits)(void);
    char *(*version)(void);
    int (*arch_id)(void);
    char *(*arch_name)(int id);
    void (*set_error_checking)(int level);
    assay__openmp team; /* cleared when it was built without OpenMP, or with another */
} blis_library;

/* Opens the library on the first call; NULL with the reason in *why (static) when it cannot. */
const blis_library *blis_open(const char **why);

assay_status blis_sgemm(const assay_launch *launch);
assay_status blis_dgemm(const assay_launch *launch);
bool blis_usable(const assay_problem *problem, const int64_t *tunables);

#endif
