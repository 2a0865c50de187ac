/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas.h -- the entry points of OpenBLAS, opened at run time. */
#ifndef ASSAY_BACKENDS_OPENBLAS_H
#define ASSAY_BACKENDS_OPENBLAS_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "runtime/host_openmp.h"

enum { OPENBLAS_ROW_MAJOR = 101, OPENBLAS_NO_TRANS = 111, OPENBLAS_TRANS = 112 };

typedef struct openblas_library {
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);
    void (*set_threads)(int threads);
    int (*get_threads)(void);
    int (*get_parallel)(void); /* 0 serial, 1 pthread, 2 OpenMP */
    char *(*get_config)(void);
    char *(*get_corename)(void);
    assay__openmp team; /* cleared unless get_parallel() is 2 and OpenMP is GNU's */
} openblas_library;

/* Opens the library on the first call; NULL with the reason in *why (static) when it cannot. */
const openblas_library *openblas_open(const char **why);

/* The next calls use as many threads; one, where OpenMP would not give as many. */
static inline void openblas_use_threads(const openblas_library *library, int threads)
{
    if (library->get_parallel() == 2)
        threads = (int)assay__openmp_team(&library->team, threads);
    if (library->get_threads() != threads && library->get_parallel() != 0)
        library->set_threads(threads);
}

assay_status openblas_sgemm(const assay_launch *launch);
assay_status openblas_dgemm(const assay_launch *launch);
bool openblas_usable(const assay_problem *problem, const int64_t *tunables);
bool openblas_linear_usable(const assay_problem *problem, const int64_t *tunables);

#endif
