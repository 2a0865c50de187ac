/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* examples/pick.c -- open, pick, launch, explain, in a program that links the installed library:
 *
 *     cc pick.c $(pkg-config --cflags --libs assay) -o pick
 *     ./pick assay.db      # a store made by `assay sweep`; without one defaults are served
 */
#include <assay/assay.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 64, N = 48, K = 32 };

static int fail(const char *what, assay_status status)
{
    fprintf(stderr, "%s: %s: %s\n", what, assay_strerror(status), assay_last_error());
    return EXIT_FAILURE;
}

/* C = A B with m, n, k as above, in f32; everything else at its default. */
static assay_status make_problem(assay_problem *p)
{
    ASSAY_TRY(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, p));
    ASSAY_TRY(assay_problem_set_int(p, "m", M));
    ASSAY_TRY(assay_problem_set_int(p, "n", N));
    ASSAY_TRY(assay_problem_set_int(p, "k", K));
    return assay_problem_check(p);
}

static assay_status launch(assay_context *context, const assay_route *route, const assay_problem *p,
                           float *a, float *b, float *c)
{
    void *const data[3] = {a, b, c};
    assay_tensor operands[3];

    /* The problem knows the extents of its operands, so nothing is said twice. */
    for (size_t i = 0; i < 3; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank;
        ASSAY_TRY(assay_problem_operand(p, i, &rank, dims));
        ASSAY_TRY(assay_tensor_host(data[i], ASSAY_F32, rank, dims, NULL, &operands[i]));
    }
    return assay_run(context, route, p, operands, 3);
}

static double worst_difference(const float *a, const float *b, const float *c)
{
    double worst = 0;

    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[i * K + k] * (double)b[k * N + j];
            /* Written so that a NaN counts as wrong. */
            if (!(fabs(sum - (double)c[i * N + j]) <= worst))
                worst = fabs(sum - (double)c[i * N + j]);
        }
    return worst;
}

static assay_status explain(assay_context *context, const assay_question *q)
{
    assay_explanation *why = NULL;

    ASSAY_TRY(assay_explain(context, q, &why));
    for (size_t i = 0; i < why->candidate_count; i++)
        printf("  %c %s/%s: %s\n", why->candidates[i].chosen ? '*' : ' ',
               why->candidates[i].backend, why->candidates[i].kernel, why->candidates[i].reason);
    assay_explanation_destroy(&why);
    return ASSAY_OK;
}

static int pick_and_run(assay_context *context)
{
    static float a[M * K], b[K * N], c[M * N];
    assay_problem problem;
    assay_question question;
    assay_route route;
    assay_status status = make_problem(&problem);

    if (status != ASSAY_OK)
        return fail("problem", status);
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 7) / 8 - 0.375f;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 5) / 4 - 0.5f;
    memset(c, 0xff, sizeof c); /* NaN until the kernel has written it */

    /* Limits on error would go into question.tolerance, on threads into question.max_threads. */
    assay_question_init(&problem, &question);
    question.align = 0; /* plain arrays: no more than the alignment of a float is promised */
    status = assay_pick(context, &question, &route);
    if (status != ASSAY_OK)
        return fail("pick", status);
    printf("picked %s/%s\n", route.binding->manifest->name, route.binding->desc->name);
    status = launch(context, &route, &problem, a, b, c);
    if (status != ASSAY_OK)
        return fail("run", status);
    const double worst = worst_difference(a, b, c);
    printf("worst difference from a plain loop: %g\n", worst);
    status = explain(context, &question);
    if (status != ASSAY_OK)
        return fail("explain", status);
    return worst <= 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    assay_context *context = NULL;
    const assay_status status = assay_open(argc > 1 ? argv[1] : NULL, NULL, &context);

    if (status != ASSAY_OK)
        return fail("open", status);
    const int code = pick_and_run(context);
    assay_close(&context);
    return code;
}
