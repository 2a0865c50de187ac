/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_call_allocations.c -- typed calls at a call site ask for memory the first time
 * only.
 *
 * This program's malloc and its kin stand before those of the C library, in plug-ins too, and count
 * while they are told to.  Where a sanitizer or valgrind has its own, nothing is counted. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/engine_case.h"
#include "tests/support/no_leak_scan.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#if !defined(HAS_OWN_MALLOC) && defined(__GLIBC__)
#define HAS_OWN_MALLOC 1
#endif

static bool is_counting;
static size_t asked; /* times, of any thread */

#if defined(HAS_OWN_MALLOC) && HAS_OWN_MALLOC
/* glibc's, under the names that it keeps for who replaces them. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

static void note(void)
{
    if (__atomic_load_n(&is_counting, __ATOMIC_RELAXED))
        (void)__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t bytes)
{
    note();
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    note();
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    note();
    return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    note();
    return __libc_memalign(align, bytes);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
    void *p = __libc_memalign(align, bytes);

    note();
    if (p == NULL)
        return ENOMEM;
    *out = p;
    return 0;
}
#endif

static void count(bool on)
{
    if (on)
        asked = 0;
    __atomic_store_n(&is_counting, on, __ATOMIC_SEQ_CST);
}

/* Does this machine let the functions above stand before the C library's? */
static bool can_count(void)
{
    void *volatile p;

    count(true);
    p = malloc(1);
    free(p);
    count(false);
    return asked == 1;
}

/* ---- the calls ---- */

enum { SIDE = 24, FLOATS = 4 * SIDE * SIDE * SIDE, AGAIN = 16 };

static assay_context *context;
static assay_engine *engine;
static assay_place x, y, z;
static int64_t indices[SIDE];

static void open_engine(const char *backend)
{
    context = engine_context();
    engine = engine_open(context, backend, NULL);
    x = (assay_place){.buffer = engine_alloc(engine, FLOATS * sizeof(float))};
    y = (assay_place){.buffer = engine_alloc(engine, FLOATS * sizeof(float))};
    z = (assay_place){.buffer = engine_alloc(engine, FLOATS * sizeof(float))};
    for (int64_t i = 0; i < SIDE; i++)
        indices[i] = i;
}

static void close_engine(void)
{
    assay_engine_destroy(&engine);
    assay_close(&context);
}

static assay_gemm_args product(void)
{
    return (assay_gemm_args){.struct_size = sizeof(assay_gemm_args),
                             .dtype = ASSAY_F32,
                             .order = ASSAY_ROW_MAJOR,
                             .m = SIDE,
                             .n = SIDE,
                             .k = SIDE,
                             .alpha = 1,
                             .a = x,
                             .b = y,
                             .c = z,
                             .lda = SIDE,
                             .ldb = SIDE,
                             .ldc = SIDE};
}

static assay_status gemm(assay_call *call)
{
    const assay_gemm_args args = product();

    return assay_gemm(engine, &args, call);
}

static assay_status batched_gemm(assay_call *call)
{
    const assay_batched_gemm_args args = {.struct_size = sizeof args,
                                          .one = product(),
                                          .stride_a = SIDE * SIDE,
                                          .stride_b = SIDE * SIDE,
                                          .stride_c = SIDE * SIDE,
                                          .batch_count = SIDE};

    return assay_batched_gemm(engine, &args, call);
}

static assay_status gemm_mixed_precision(assay_call *call)
{
    const assay_gemm_args args = product();

    return assay_gemm_mixed_precision(engine, ASSAY_BF16, &args, call);
}

static assay_conv2d_args convolution(void)
{
    return (assay_conv2d_args){.struct_size = sizeof(assay_conv2d_args),
                               .dtype = ASSAY_F32,
                               .x = x,
                               .filter = y,
                               .y = z,
                               .x_shape = {1, 4, SIDE, SIDE},
                               .filter_shape = {8, 4, 3, 3},
                               .y_shape = {1, 8, SIDE, SIDE},
                               .stride = {1, 1},
                               .padding = {1, 1}};
}

static assay_status conv2d_forward(assay_call *call)
{
    const assay_conv2d_args args = convolution();

    return assay_conv2d_forward(engine, &args, call);
}

static assay_status conv2d_backward_data(assay_call *call)
{
    const assay_conv2d_args args = convolution();

    return assay_conv2d_backward_data(engine, &args, call);
}

static assay_status conv2d_backward_filter(assay_call *call)
{
    const assay_conv2d_args args = convolution();

    return assay_conv2d_backward_filter(engine, &args, call);
}

static assay_status attention(assay_call *call)
{
    assay_place o = z;

    o.byte_offset = (uint64_t)SIDE * SIDE * sizeof(float) * 2;
    const assay_attention_args args = {.struct_size = sizeof args,
                                       .dtype = ASSAY_F32,
                                       .q = x,
                                       .k = y,
                                       .v = z,
                                       .o = o,
                                       .batch = 1,
                                       .heads = 2,
                                       .seq_q = SIDE,
                                       .seq_kv = SIDE,
                                       .head_dim = SIDE};

    return assay_attention(engine, &args, call);
}

static assay_status unary(assay_call *call)
{
    return assay_unary(engine, ASSAY_UNARY_EXP, ASSAY_F32, x, z, FLOATS, call);
}

static assay_status binary(assay_call *call)
{
    return assay_binary(engine, ASSAY_BINARY_ADD, ASSAY_F32, x, y, z, FLOATS, call);
}

static const int64_t matrix_shape[] = {SIDE, SIDE};

static assay_axis_args rows_of(void)
{
    return (assay_axis_args){.struct_size = sizeof(assay_axis_args),
                             .dtype = ASSAY_F32,
                             .input = x,
                             .output = z,
                             .rank = 2,
                             .shape = matrix_shape,
                             .axis = 1};
}

static assay_status reduce(assay_call *call)
{
    const assay_axis_args args = rows_of();

    return assay_reduce(engine, ASSAY_REDUCE_SUM, &args, call);
}

static assay_status softmax(assay_call *call)
{
    const assay_axis_args args = rows_of();

    return assay_softmax(engine, &args, call);
}

static assay_status softmax_of_columns(assay_call *call)
{
    assay_axis_args args = rows_of();

    args.axis = 0;
    return assay_softmax(engine, &args, call);
}

static assay_rows_args table(void)
{
    return (assay_rows_args){.struct_size = sizeof(assay_rows_args),
                             .dtype = ASSAY_F32,
                             .input = x,
                             .output = z,
                             .indices = indices,
                             .count = SIDE,
                             .rows = SIDE,
                             .cols = SIDE};
}

static assay_status gather(assay_call *call)
{
    const assay_rows_args args = table();

    return assay_gather(engine, &args, call);
}

static assay_status scatter(assay_call *call)
{
    const assay_rows_args args = table();

    return assay_scatter(engine, &args, call);
}

#define CALLS(X)              \
    X(gemm)                   \
    X(batched_gemm)           \
    X(gemm_mixed_precision)   \
    X(conv2d_forward)         \
    X(conv2d_backward_data)   \
    X(conv2d_backward_filter) \
    X(attention)              \
    X(unary)                  \
    X(binary)                 \
    X(reduce)                 \
    X(softmax)                \
    X(softmax_of_columns)     \
    X(gather)                 \
    X(scatter)

static const struct {
    const char *name;
    assay_status (*run)(assay_call *call);
} calls[] = {
#define X(name) {#name, name},
    CALLS(X)
#undef X
};

/* ---- the rule ---- */

START_TEST(call_at_a_site_allocates_the_first_time_only)
{
    assay_call_site site = {0};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .site = &site, .record = &record};

    open_engine("cpu");
    ck_assert_msg(calls[_i].run(&call) == ASSAY_OK, "%s: %s", calls[_i].name, assay_last_error());
    count(true);
    for (int i = 0; i < AGAIN; i++)
        if (calls[_i].run(&call) != ASSAY_OK)
            ck_abort_msg("%s: %s", calls[_i].name, assay_last_error());
    count(false);
    ck_assert_msg(asked == 0, "%s by %s: %d calls asked for memory %zu times", calls[_i].name,
                  record.kernel, AGAIN, asked);
    assay_call_site_clear(&site);
    close_engine();
}
END_TEST

/* A count that cannot rise would show nothing. */
START_TEST(call_without_a_site_is_counted)
{
    assay_call call = {.struct_size = sizeof call};

    open_engine("cpu");
    ck_assert_int_eq(gemm_mixed_precision(&call), ASSAY_OK);
    count(true);
    ck_assert_int_eq(gemm_mixed_precision(&call), ASSAY_OK);
    count(false);
    const size_t without = asked;
    if (can_count())
        ck_assert_uint_gt(without, 0);
    close_engine();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call_allocations");
    TCase *all = tcase_create("all");

    tcase_add_loop_test(all, call_at_a_site_allocates_the_first_time_only, 0,
                        sizeof calls / sizeof calls[0]);
    tcase_add_test(all, call_without_a_site_is_counted);
    suite_add_tcase(suite, all);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
