/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/pick_stage.h -- three kernels of matmul f32, a store in memory, one question. */
#ifndef ASSAY_TESTS_PICK_STAGE_H
#define ASSAY_TESTS_PICK_STAGE_H

#include <check.h>

#include "runtime/pick_internal.h"
#include "tests/support/fake_store.h"
#include "tests/support/rows.h"

/* blas/gemm (rank 0, threads 1 or 2), cpu/tiled (rank 10, tile 8 or 16), cpu/plain (rank 20). */
enum { BLAS, TILED, PLAIN, KERNELS };
/* Rows of stored variants: one a (kernel, tunables) that a sweep might have measured. */
enum { V_BLAS1 = 11, V_BLAS2, V_TILED8, V_TILED16, V_PLAIN };

#define PROBLEM "matmul f32,f32,f32 m=64,n=64,k=64"
#define SHAPES  6
extern const char *const shapes[SHAPES]; /* the first is PROBLEM, the last has no kernel */

extern assay_manifest blas, cpu, ref; /* ref: only when asked for by name */
extern assay_kernel_desc descs[KERNELS];
extern assay_binding rows[KERNELS];
extern fake_route routes[FAKE_ROWS]; /* one: PROBLEM, won by tiled 16 before gemm 2 */
extern assay_context *context;
extern assay_question question;
extern assay_explanation *why;

void stage_setup(void);
void stage_teardown(void);
void open_context(void);
fake_route *add_route(const char *problem, uint32_t align);
void add_candidate(fake_route *r, uint64_t variant, double ns);
assay__route_candidate *candidate(fake_route *r, uint64_t variant);
/* Sets `question` to the default question for a problem. */
void ask(const char *problem);
/* "kernel tunable" of the answer, with " default" when nothing was measured; else the error. */
const char *route_text(const assay_route *route);
const char *picked(void);
extern assay_site site;
const char *picked_at(void); /* through the call site */
const assay_candidate *explained(const char *kernel, int64_t tunable);
void all_answers(char out[SHAPES][96]);

/* Runs one suite of one subject on this stage; for main. */
int stage_run(const char *name, void (*fill)(TCase *subject));

#endif
