/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt.h -- cuBLASLt: its functions, and what is remembered of problems.
 *
 * The library counts columns first.  A row-major C = op(A) op(B) is, read by columns, C^T = op(B)^T
 * op(A)^T, so B is its first operand and A its second, each with the transposition it has here:
 * rows of ours are columns of its matrices, and leading dimensions stay. */
#ifndef BACKENDS_CUDA_CUDA_BLASLT_H
#define BACKENDS_CUDA_CUDA_BLASLT_H

#include <cublasLt.h>
#include <pthread.h>

#include "backends/cuda/cuda.h"
#include "backends/matmul_launch.h"

#define CUDA_BLASLT_CALLS(X)        \
    X(Create)                       \
    X(Destroy)                      \
    X(GetVersion)                   \
    X(Matmul)                       \
    X(MatmulAlgoGetHeuristic)       \
    X(MatmulDescCreate)             \
    X(MatmulDescDestroy)            \
    X(MatmulDescSetAttribute)       \
    X(MatmulPreferenceCreate)       \
    X(MatmulPreferenceDestroy)      \
    X(MatmulPreferenceSetAttribute) \
    X(MatrixLayoutCreate)           \
    X(MatrixLayoutDestroy)          \
    X(MatrixLayoutSetAttribute)

typedef struct cuda_blaslt_library {
#define X(name) __typeof__(cublasLt##name) *name;
    CUDA_BLASLT_CALLS(X)
#undef X
} cuda_blaslt_library;

/* Opened once a process and kept; NULL: not usable, why is a text that stays. */
const cuda_blaslt_library *cuda_blaslt_open(const char **why);
/* "soname=, version=, build_id=", then what of the environment changes results or choices. */
assay_status cuda_blaslt_describe(const assay_instance *instance, size_t workspace, char *buf,
                                  size_t cap);

/* Variants: places in the library's own list of algorithms for a problem, best first. */
enum { CUDA_BLASLT_CHOICES = 8 };

/* All that decides which algorithms there are.  Compared as bytes: made by cuda_blaslt_key_of. */
typedef struct cuda_blaslt_key {
    int64_t batch, m, n, k, lda, ldb, ldc, a_step, b_step, c_step;
    uint32_t align[4]; /* of A, B, C and the bias, in bytes, at most 256 */
    uint8_t in, out;   /* assay_dtype */
    uint8_t trans_a, trans_b, has_bias, choice;
    uint8_t unused[2];
} cuda_blaslt_key;

/* What a key came to: descriptors and an algorithm of the library's; owned by the table. */
typedef struct cuda_blaslt_plan {
    struct cuda_blaslt_plan *next;
    cuda_blaslt_key key;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algo;
    size_t workspace;
    bool is_usable; /* false: the library's list is shorter than the choice */
} cuda_blaslt_plan;

enum { CUDA_BLASLT_BUCKETS = 1024, CUDA_BLASLT_PLANS_MAX = 8192 };

/* cuBLASLt of one instance; lock guards all of it. */
typedef struct cuda_blaslt_state {
    pthread_mutex_t lock;
    const cuda_blaslt_library *library;
    cublasLtHandle_t handle;
    size_t workspace; /* most bytes that an algorithm may ask for */
    size_t plan_count;
    cuda_blaslt_plan *plans[CUDA_BLASLT_BUCKETS];
} cuda_blaslt_state;

/* bias: its address, 0 without. */
void cuda_blaslt_key_of(const assay_launch *launch, const matmul_launch *g, CUdeviceptr bias,
                        cuda_blaslt_key *key);
/* The plan of a key, made on first use, valid while the lock is held.  ASSAY_UNSUPPORTED: no such
 * choice for this problem. */
assay_status cuda_blaslt_plan_get(assay_instance *instance, cuda_blaslt_state *state,
                                  const cuda_blaslt_key *key, CUdeviceptr bias,
                                  const cuda_blaslt_plan **out);
void cuda_blaslt_plans_clear(cuda_blaslt_state *state);

/* What a status of the library is here, with a text of what it was about. */
assay_status cuda_blaslt_check(const assay_instance *instance, cublasStatus_t status,
                               const char *what);

#endif
