/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_compute.c -- typed products: against plain loops in double, and what they refuse.
 *
 * Loops over two engines: the reference, and the CPU with the kernels of every library. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/rng.h"
#include "tests/support/engine_case.h"

static assay_context *context;
static assay_engine *engine;

static void setup(void)
{
    context = engine_context();
}

static void teardown(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static void open_engine(int i)
{
    engine = i == 0 ? engine_open(context, "ref", NULL) : engine_open(context, "cpu", "");
}

static assay_buffer wrap(void *host, uint64_t bytes)
{
    assay_buffer b;

    ck_assert_int_eq(assay_engine_wrap(engine, host, bytes, &b), ASSAY_OK);
    return b;
}

/* ---- gemm ---- */

enum { ROOM = 4096 };

/* One matrix of doubles with what lies between its lines. */
typedef struct matrix {
    double data[ROOM];
    int64_t ld;
} matrix;

static matrix a, b, c, want;

static double *at(matrix *x, assay_order order, int64_t row, int64_t column)
{
    return &x->data[order == ASSAY_COLUMN_MAJOR ? column * x->ld + row : row * x->ld + column];
}

static double element(matrix *x, assay_order order, assay_transpose t, int64_t row, int64_t column)
{
    return t == ASSAY_NO_TRANS ? *at(x, order, row, column) : *at(x, order, column, row);
}

static void fill(matrix *x, uint64_t seed)
{
    assay__rng rng;

    assay__rng_seed(&rng, seed, 0);
    for (int i = 0; i < ROOM; i++)
        x->data[i] = (double)assay__rng_below(&rng, 2001) / 1000.0 - 1.0;
}

/* Lines are `pad` longer than the matrix is. */
static void lay_out(matrix *x, assay_order order, assay_transpose t, int64_t rows, int64_t columns,
                    int64_t pad)
{
    const int64_t stored_rows = t == ASSAY_NO_TRANS ? rows : columns;
    const int64_t stored_columns = t == ASSAY_NO_TRANS ? columns : rows;
    const int64_t line = order == ASSAY_COLUMN_MAJOR ? stored_rows : stored_columns;

    x->ld = (line > 1 ? line : 1) + pad;
}

static assay_gemm_args gemm_args(assay_order order, assay_transpose ta, assay_transpose tb,
                                 int64_t m, int64_t n, int64_t k, int64_t pad)
{
    lay_out(&a, order, ta, m, k, pad);
    lay_out(&b, order, tb, k, n, pad);
    lay_out(&c, order, ASSAY_NO_TRANS, m, n, pad);
    return (assay_gemm_args){.struct_size = sizeof(assay_gemm_args),
                             .dtype = ASSAY_F64,
                             .order = order,
                             .trans_a = ta,
                             .trans_b = tb,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = 1.5,
                             .beta = -0.5,
                             .a = {.buffer = wrap(a.data, sizeof a.data)},
                             .b = {.buffer = wrap(b.data, sizeof b.data)},
                             .c = {.buffer = wrap(c.data, sizeof c.data)},
                             .lda = a.ld,
                             .ldb = b.ld,
                             .ldc = c.ld};
}

static void compute_want(const assay_gemm_args *g)
{
    want = c;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0.0, *y = at(&want, g->order, i, j);
            for (int64_t l = 0; l < g->k; l++)
                sum += element(&a, g->order, g->trans_a, i, l) *
                       element(&b, g->order, g->trans_b, l, j);
            *y = g->alpha * sum + (g->beta == 0.0 ? 0.0 : g->beta * *y);
        }
}

/* All of the buffer: what lies between lines stays bit for bit. */
static void expect_want(const assay_gemm_args *g)
{
    for (int i = 0; i < ROOM; i++)
        ck_assert_msg(fabs(c.data[i] - want.data[i]) <= 1e-13 * (double)(g->k + 4),
                      "element %d: %g instead of %g", i, c.data[i], want.data[i]);
}

static const struct {
    int64_t m, n, k;
} shapes[] = {{1, 1, 1},  {5, 7, 3},   {17, 13, 31}, {32, 8, 16}, {1, 40, 9},
              {40, 1, 9}, {33, 33, 1}, {4, 4, 0},    {0, 5, 3},   {5, 0, 3}};

/* Trap 1: nine pairs of transposes, lines longer than the matrix, both orders, odd extents. */
START_TEST(gemm_trap1_transposes_and_leading_dimensions)
{
    open_engine(_i);
    for (int pair = 0; pair < 9; pair++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int order = 0; order < 2; order++) {
                assay_gemm_args g = gemm_args((assay_order)order, (assay_transpose)(pair % 3),
                                              (assay_transpose)(pair / 3), shapes[s].m, shapes[s].n,
                                              shapes[s].k, pair % 2 == 0 ? 0 : 3);
                fill(&a, 1);
                fill(&b, 2);
                fill(&c, 3);
                compute_want(&g);
                ck_assert_msg(assay_gemm(engine, &g, NULL) == ASSAY_OK, "%s", assay_last_error());
                expect_want(&g);
            }
}
END_TEST

/* Trap 1: C is not read behind beta 0, and scaled when there is nothing to sum. */
START_TEST(gemm_trap1_beta_zero_and_no_sum)
{
    open_engine(_i);
    assay_gemm_args g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_TRANS, 6, 5, 4, 2);
    fill(&a, 1);
    fill(&b, 2);
    fill(&c, 3);
    for (int64_t i = 0; i < 6; i++)
        *at(&c, g.order, i, i % 5) = i % 2 == 0 ? (double)NAN : (double)INFINITY;
    g.beta = 0.0;
    compute_want(&g);
    ck_assert_int_eq(assay_gemm(engine, &g, NULL), ASSAY_OK);
    expect_want(&g);
    g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 6, 5, 0, 0);
    fill(&c, 3);
    g.beta = 2.0;
    compute_want(&g);
    ck_assert_int_eq(assay_gemm(engine, &g, NULL), ASSAY_OK);
    expect_want(&g);
}
END_TEST

/* What has no elements need have no memory. */
START_TEST(gemm_without_elements_needs_no_memory)
{
    open_engine(_i);
    assay_gemm_args g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 6, 5, 0, 0);
    g.a = g.b = (assay_place){.byte_offset = 0};
    fill(&c, 3);
    compute_want(&g);
    ck_assert_msg(assay_gemm(engine, &g, NULL) == ASSAY_OK, "%s", assay_last_error());
    expect_want(&g);
}
END_TEST

/* A buffer need hold no more than the last element of the last line. */
START_TEST(gemm_needs_no_more_than_it_touches)
{
    open_engine(_i);
    assay_gemm_args g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 3, 4, 2, 5);
    g.a.buffer = wrap(a.data, (uint64_t)(g.lda * 1 + 3) * 8);
    g.b.buffer = wrap(b.data, (uint64_t)(g.ldb * 3 + 2) * 8);
    g.c.buffer = wrap(c.data, (uint64_t)(g.ldc * 3 + 3) * 8);
    fill(&a, 1);
    fill(&b, 2);
    fill(&c, 3);
    compute_want(&g);
    ck_assert_int_eq(assay_gemm(engine, &g, NULL), ASSAY_OK);
    expect_want(&g);
    g.c.buffer = wrap(c.data, (uint64_t)(g.ldc * 3 + 3) * 8 - 1);
    engine_refuses(assay_gemm(engine, &g, NULL), ASSAY_INVALID, "operand 2");
}
END_TEST

static void refused(const assay_gemm_args *g, assay_status status, const char *says)
{
    const matrix before = c;

    engine_refuses(assay_gemm(engine, g, NULL), status, says);
    ck_assert_int_eq(memcmp(&before, &c, sizeof c), 0);
}

START_TEST(gemm_refuses_bad_arguments)
{
    open_engine(_i);
    const assay_gemm_args good =
        gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 6, 5, 4, 0);
    assay_gemm_args g;

#define WITH(field, value, status, says)   \
    do {                                   \
        g = good;                          \
        g.field = (value);                 \
        refused(&g, ASSAY_##status, says); \
    } while (0)
    WITH(lda, 5, INVALID, "lda is 5");
    WITH(ldb, 3, INVALID, "ldb is 3");
    WITH(ldc, 5, INVALID, "ldc is 5");
    WITH(ldc, -6, INVALID, "ldc is -6");
    WITH(m, -1, INVALID, "negative");
    WITH(trans_a, (assay_transpose)3, INVALID, "trans_a 3");
    WITH(order, (assay_order)2, INVALID, "order 2");
    WITH(struct_size, 0, INVALID, "struct_size");
    WITH(dtype, ASSAY_I8, UNSUPPORTED, "matmul");
    WITH(dtype, (assay_dtype)99, INVALID, "99 is no dtype");
    WITH(a.byte_offset, 4, INVALID, "aligned");
    WITH(a.byte_offset, sizeof a.data, INVALID, "operand");
    WITH(c.byte_offset, UINT64_MAX - 7, OVERFLOW, "operand 2");
    WITH(c.buffer, good.a.buffer, INVALID, "overlaps");
    WITH(c.buffer, good.b.buffer, INVALID, "overlaps");
    WITH(b.buffer, ((assay_buffer){.size_bytes = 800}), INVALID, "memory");
    WITH(a.buffer.owner, good.a.buffer.owner + (1u << 20), FOREIGN, "another instance");
    WITH(lda, INT64_MAX / 4, OVERFLOW, "");
#undef WITH
    engine_refuses(assay_gemm(engine, NULL, NULL), ASSAY_INVALID, "no arguments");
    ck_assert_int_eq(assay_engine_free(engine, good.b.buffer), ASSAY_OK);
    refused(&good, ASSAY_FREED, "operand");
}
END_TEST

/* ---- batched ---- */

/* Trap 2: strides count elements, products 1 and later run, places inside a buffer are legal. */
START_TEST(batched_trap2_strides_count_elements)
{
    static float fa[200], fb[200], fc[200], fwant[200];
    assay_batched_gemm_args g;

    open_engine(_i);
    for (int i = 0; i < 200; i++) {
        fa[i] = (float)(i % 13) - 6.0f;
        fb[i] = (float)(i % 7) - 3.0f;
        fc[i] = fwant[i] = (float)i;
    }
    g = (assay_batched_gemm_args){.struct_size = sizeof g,
                                  .one = {.struct_size = sizeof g.one,
                                          .dtype = ASSAY_F32,
                                          .order = ASSAY_COLUMN_MAJOR,
                                          .m = 3,
                                          .n = 2,
                                          .k = 4,
                                          .alpha = 1.0,
                                          .beta = 1.0,
                                          .a = {.buffer = wrap(fa, sizeof fa), .byte_offset = 8},
                                          .b = {.buffer = wrap(fb, sizeof fb), .byte_offset = 20},
                                          .c = {.buffer = wrap(fc, sizeof fc), .byte_offset = 40},
                                          .lda = 3,
                                          .ldb = 4,
                                          .ldc = 5},
                                  .stride_a = 13,
                                  .stride_b = 0,
                                  .stride_c = 20,
                                  .batch_count = 5};
    for (int i = 0; i < 5; i++)
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 2; column++)
                for (int l = 0; l < 4; l++)
                    fwant[10 + i * 20 + column * 5 + row] +=
                        fa[2 + i * 13 + l * 3 + row] * fb[5 + column * 4 + l];
    ck_assert_msg(assay_batched_gemm(engine, &g, NULL) == ASSAY_OK, "%s", assay_last_error());
    for (int i = 0; i < 200; i++)
        ck_assert_msg(fc[i] == fwant[i], "element %d", i);
}
END_TEST

START_TEST(batched_of_doubles_and_none)
{
    assay_batched_gemm_args g = {.struct_size = sizeof g, .batch_count = 3};

    open_engine(_i);
    g.one = gemm_args(ASSAY_ROW_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 2, 3, 4, 0);
    g.stride_a = 8;
    g.stride_b = 12;
    g.stride_c = 6;
    fill(&a, 1);
    fill(&b, 2);
    fill(&c, 3);
    want = c;
    for (int i = 0; i < 3; i++)
        for (int row = 0; row < 2; row++)
            for (int column = 0; column < 3; column++) {
                double sum = 0.0;
                for (int l = 0; l < 4; l++)
                    sum += a.data[i * 8 + row * 4 + l] * b.data[i * 12 + l * 3 + column];
                double *y = &want.data[i * 6 + row * 3 + column];
                *y = 1.5 * sum - 0.5 * *y;
            }
    ck_assert_int_eq(assay_batched_gemm(engine, &g, NULL), ASSAY_OK);
    expect_want(&g.one);
    g.batch_count = 0;
    want = c;
    ck_assert_int_eq(assay_batched_gemm(engine, &g, NULL), ASSAY_OK);
    expect_want(&g.one);
    g.batch_count = -1;
    engine_refuses(assay_batched_gemm(engine, &g, NULL), ASSAY_INVALID, "batch_count");
    g.batch_count = 2;
    g.stride_c = 0;
    engine_refuses(assay_batched_gemm(engine, &g, NULL), ASSAY_INVALID, "stride_c");
    g.stride_c = 5;
    engine_refuses(assay_batched_gemm(engine, &g, NULL), ASSAY_INVALID, "share memory");
    expect_want(&g.one);
}
END_TEST

/* ---- mixed precision ---- */

static float rounded(float x, assay_dtype to)
{
    uint16_t half;
    float back;

    ck_assert_int_eq(assay_convert(to, &half, ASSAY_F32, &x, 1), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_F32, &back, to, &half, 1), ASSAY_OK);
    return back;
}

/* A and B are rounded once; the sums, and C, are f32. */
START_TEST(mixed_rounds_inputs_once)
{
    static float fa[64], fb[64], fc[64];
    const assay_dtype to = _i % 2 == 0 ? ASSAY_F16 : ASSAY_BF16;
    assay_call_site site = {0};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .site = &site, .record = &record};
    assay_gemm_args g;

    open_engine(_i / 2);
    for (int i = 0; i < 64; i++) {
        fa[i] = 1.0f + (float)i / 700.0f;
        fb[i] = 2.0f - (float)i / 900.0f;
        fc[i] = (float)i / 3.0f;
    }
    g = (assay_gemm_args){.struct_size = sizeof g,
                          .dtype = ASSAY_F32,
                          .trans_b = ASSAY_TRANS,
                          .m = 5,
                          .n = 4,
                          .k = 6,
                          .alpha = 1.0,
                          .beta = 1.0,
                          .a = {.buffer = wrap(fa, sizeof fa)},
                          .b = {.buffer = wrap(fb, sizeof fb)},
                          .c = {.buffer = wrap(fc, sizeof fc)},
                          .lda = 7,
                          .ldb = 4,
                          .ldc = 8};
    for (int round = 0; round < 2; round++) { /* the second with the site's workspace */
        float before[64];
        memcpy(before, fc, sizeof fc);
        ck_assert_msg(assay_gemm_mixed_precision(engine, to, &g, &call) == ASSAY_OK, "%s",
                      assay_last_error());
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 4; j++) {
                double sum = (double)before[j * 8 + i];
                for (int l = 0; l < 6; l++)
                    sum += (double)rounded(fa[l * 7 + i], to) * (double)rounded(fb[l * 4 + j], to);
                ck_assert_msg(fabs((double)fc[j * 8 + i] - sum) <= 1e-6 * sum, "%d %d", i, j);
            }
        ck_assert(fc[5] == before[5] && fc[7] == before[7]);
    }
    ck_assert_uint_ge(record.launches, 3);
    ck_assert_uint_eq(record.copied_bytes, 2 * (5 * 6 + 6 * 4)); /* 16 bits each */
    assay_call_site_clear(&site);
    g.k = 0;
    g.beta = 2.0;
    const float kept = fc[0];
    ck_assert_int_eq(assay_gemm_mixed_precision(engine, to, &g, NULL), ASSAY_OK);
    ck_assert(fc[0] == 2.0f * kept);
    engine_refuses(assay_gemm_mixed_precision(engine, ASSAY_F8E4M3, &g, NULL), ASSAY_UNSUPPORTED,
                   "f8e4m3");
    g.dtype = ASSAY_F64;
    engine_refuses(assay_gemm_mixed_precision(engine, to, &g, NULL), ASSAY_INVALID, "f32");
}
END_TEST

/* ---- what ran ---- */

START_TEST(record_says_what_ran)
{
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};

    open_engine(_i);
    assay_gemm_args g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 6, 5, 4, 1);
    ck_assert_int_eq(assay_gemm(engine, &g, &call), ASSAY_OK);
    ck_assert_uint_gt(strlen(record.kernel), 0);
    ck_assert(_i == 1 || strcmp(record.backend, "ref") == 0);
    ck_assert_int_eq(record.ran_on, ASSAY_RAN_NATIVE);
    ck_assert_int_eq(record.tier, ASSAY_TIER_UNKNOWN);
    ck_assert(record.time_ns != record.time_ns);
    ck_assert_uint_ge(record.launches, 1);
    ck_assert_uint_eq(record.transfers, 0);
    ck_assert_uint_eq(record.bytes, (6 * 4 + 4 * 5 + 2 * 6 * 5) * 8);
    ck_assert_int_eq(record.failed_item, -1);
    ck_assert(!assay_digest_equal(&record.revision, &(assay_digest){{0}}));
    record.struct_size = 0;
    engine_refuses(assay_gemm(engine, &g, &call), ASSAY_INVALID, "record's struct_size");
    record.struct_size = sizeof record;
    g.m = 0;
    ck_assert_int_eq(assay_gemm(engine, &g, &call), ASSAY_OK);
    ck_assert_str_eq(record.kernel, "");
    ck_assert_uint_eq(record.launches, 0);
}
END_TEST

/* A site keeps the answer, and never gives it to another question. */
START_TEST(site_answers_its_own_question)
{
    assay_call_site site = {0};
    assay_call call = {.struct_size = sizeof call, .site = &site};

    open_engine(_i);
    for (int round = 0; round < 3; round++)
        for (int64_t m = 1; m < 20; m += 6) {
            assay_gemm_args g = gemm_args(round == 1 ? ASSAY_ROW_MAJOR : ASSAY_COLUMN_MAJOR,
                                          ASSAY_NO_TRANS, ASSAY_NO_TRANS, m, 5, 4, round);
            fill(&a, 1);
            fill(&b, 2);
            fill(&c, 3);
            compute_want(&g);
            ck_assert_int_eq(assay_gemm(engine, &g, &call), ASSAY_OK);
            expect_want(&g);
        }
    assay_call_site_clear(&site);
}
END_TEST

/* Calls that say the same again are short, and their memory is checked as ever. */
START_TEST(site_repeats_are_checked)
{
    static _Alignas(64) float memory[3][80];
    assay_call_site site = {0};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .site = &site, .record = &record};
    assay_place p[3];
    char first[64] = "";

    open_engine(_i);
    for (int i = 0; i < 3; i++)
        p[i] = (assay_place){.buffer = wrap(memory[i], sizeof memory[i])};
#define ADD(x, y, z) assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, (x), (y), (z), 16, &call)
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 80; i++) {
            memory[0][i] = (float)(i + round);
            memory[1][i] = (float)(i * round);
            memory[2][i] = -1.0f;
        }
        for (int i = 0; i < 3; i++) /* other places, other alignments */
            p[i].byte_offset = (uint64_t)round * 16 + (round == 4 ? 4 : 0);
        ck_assert_int_eq(ADD(p[0], p[1], p[2]), ASSAY_OK);
        const size_t at = p[2].byte_offset / 4;
        for (size_t i = 0; i < 16; i++)
            ck_assert(memory[2][at + i] == memory[0][at + i] + memory[1][at + i]);
        ck_assert((at == 0 || memory[2][at - 1] == -1.0f) && memory[2][at + 16] == -1.0f);
        ck_assert_uint_eq(record.bytes, 3 * 16 * 4);
        ck_assert_uint_ge(record.launches, 1);
        if (round == 0)
            strcpy(first, record.kernel);
        ck_assert_str_eq(record.kernel, first);
    }
    assay_place beyond = p[0], shifted = p[0];
    beyond.byte_offset = 80 * 4 - 48; /* aligned as before, so that only its place is wrong */
    shifted.byte_offset += 16;
    for (int round = 0; round < 2; round++) {
        engine_refuses(ADD(beyond, p[1], p[2]), ASSAY_INVALID, "operand 0");
        engine_refuses(ADD(p[0], p[1], beyond), ASSAY_INVALID, "operand 2");
        engine_refuses(ADD(p[0], p[1], shifted), ASSAY_INVALID, "overlaps");
        ck_assert_int_eq(ADD(p[0], p[1], p[0]), ASSAY_OK); /* in place */
        ck_assert_int_eq(ADD(p[0], p[1], p[2]), ASSAY_OK);
        engine_refuses(
            assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, p[0], p[1], p[2], -1, &call),
            ASSAY_INVALID, "negative");
    }
    ck_assert_int_eq(assay_engine_free(engine, p[1].buffer), ASSAY_OK);
    engine_refuses(ADD(p[0], p[1], p[2]), ASSAY_FREED, "operand 1");
    ck_assert_int_eq(assay_engine_shutdown(engine), ASSAY_OK);
    engine_refuses(ADD(p[0], p[0], p[2]), ASSAY_NOT_INITIALIZED, "binary");
#undef ADD
    assay_call_site_clear(&site);
}
END_TEST

/* A limit that no kernel meets: there are kernels, and no route. */
START_TEST(tolerance_without_evidence_has_no_route)
{
    assay_tolerance tolerance = ASSAY_NO_TOLERANCE;
    assay_call call = {.struct_size = sizeof call, .tolerance = &tolerance};

    open_engine(_i);
    assay_gemm_args g = gemm_args(ASSAY_COLUMN_MAJOR, ASSAY_NO_TRANS, ASSAY_NO_TRANS, 6, 5, 4, 0);
    tolerance.max_rho = 1.0;
    engine_refuses(assay_gemm(engine, &g, &call), ASSAY_NO_ROUTE, "rejected");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("compute");
    TCase *all = tcase_create("products");

    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_loop_test(all, gemm_trap1_transposes_and_leading_dimensions, 0, 2);
    tcase_add_loop_test(all, gemm_trap1_beta_zero_and_no_sum, 0, 2);
    tcase_add_loop_test(all, gemm_without_elements_needs_no_memory, 0, 2);
    tcase_add_loop_test(all, gemm_needs_no_more_than_it_touches, 0, 2);
    tcase_add_loop_test(all, gemm_refuses_bad_arguments, 0, 2);
    tcase_add_loop_test(all, batched_trap2_strides_count_elements, 0, 2);
    tcase_add_loop_test(all, batched_of_doubles_and_none, 0, 2);
    tcase_add_loop_test(all, mixed_rounds_inputs_once, 0, 4);
    tcase_add_loop_test(all, record_says_what_ran, 0, 2);
    tcase_add_loop_test(all, site_answers_its_own_question, 0, 2);
    tcase_add_loop_test(all, site_repeats_are_checked, 0, 2);
    tcase_add_loop_test(all, tolerance_without_evidence_has_no_route, 0, 2);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
