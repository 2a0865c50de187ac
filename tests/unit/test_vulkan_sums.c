/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan_sums.c -- sums, products and copies of the Vulkan backend where they are
 * long: how they err, what is refused, what is touched. */
#include <math.h>

#include "tests/support/vulkan_stage.h"

/* ---- sums ---- */

/* y[inner] = sums of x[axis, inner]. */
static assay_status sum_of(const float *x, float *y, int64_t axis, int64_t inner)
{
    const int64_t in[3] = {1, axis, inner}, out[2] = {1, inner};
    const size_t bytes = (size_t)(axis * inner) * 4;
    const assay_buffer buffers[2] = {buffer_of(x, bytes), buffer_of(x, bytes)};
    call c;

    make_call(&c, ASSAY_OP_relu, axis, buffers);
    c.kernel = kernel_of(ASSAY_OP_sum_reduce, ASSAY_F32);
    c.problem = plugin_problem_of(c.kernel);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "outer", 1), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "axis", axis), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "inner", inner), ASSAY_OK);
    OK(assay_tensor_host(NULL, ASSAY_F32, 3, in, NULL, &c.operands[0]));
    OK(assay_tensor_host(NULL, ASSAY_F32, 2, out, NULL, &c.operands[1]));
    for (int i = 0; i < 2; i++)
        c.operands[i].buffer = buffers[i];
    defaults_of(c.kernel, c.tunables);
    c.launch.tunable_count = (uint32_t)c.kernel->tunable_count;
    const assay_status status = slots->launch(instance, c.kernel->run, &c.launch);
    read_back(buffers[1], y, (size_t)inner * 4);
    OK(slots->free(instance, buffers[0]));
    OK(slots->free(instance, buffers[1]));
    return status;
}

/* y = sum of a[i] b[i], by one of eight choices of tunables. */
static assay_status dot_of(const float *a, const float *b, float *y, int64_t k, int choice)
{
    const int64_t dims[3][3] = {{1, 1, k}, {1, k, 1}, {1, 1, 1}};
    const assay_buffer buffers[3] = {buffer_of(a, (size_t)k * 4), buffer_of(b, (size_t)k * 4),
                                     buffer_of(y, 4)};
    call c;

    make_call(&c, ASSAY_OP_add, 1, buffers);
    c.kernel = kernel_of(ASSAY_OP_matmul, ASSAY_F32);
    c.problem = plugin_problem_of(c.kernel);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "m", 1), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "n", 1), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "k", k), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        OK(assay_tensor_host(NULL, ASSAY_F32, 3, dims[i], NULL, &c.operands[i]));
        c.operands[i].buffer = buffers[i];
    }
    c.tunables[0] = c.kernel->tunables[0].values[choice / 4];
    c.tunables[1] = c.kernel->tunables[1].values[choice % 4];
    c.launch.tunable_count = 2;
    const assay_status status = slots->launch(instance, c.kernel->run, &c.launch);
    read_back(buffers[2], y, 4);
    for (int i = 0; i < 3; i++)
        OK(slots->free(instance, buffers[i]));
    return status;
}

/* Along an axis and across: a few roundings, however long it is. */
START_TEST(sums_err_no_more_where_they_are_longer)
{
    enum { AXIS = 60000, INNER = 3 };
    const int64_t inner = _i == 0 ? 1 : INNER;
    float *x = malloc((size_t)AXIS * INNER * sizeof *x), y[INNER];
    double want[INNER] = {0.0}, all[INNER] = {0.0};

    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < AXIS * inner; i++) {
        x[i] = (float)(0.1 + 0.3 * sin((double)i));
        want[i % inner] += (double)x[i];
        all[i % inner] += fabs((double)x[i]);
    }
    if (instance != NULL) {
        OK(sum_of(x, y, AXIS, inner));
        for (int64_t i = 0; i < inner; i++) /* a workgroup joins 128 sums in 11 more */
            ck_assert_msg(fabs((double)y[i] - want[i]) <= (inner == 1 ? 12 : 1) * 0x1p-24 * all[i],
                          "sum %d is %.9g instead of %.9g", (int)i, (double)y[i], want[i]);
    }
    free(x);
}
END_TEST

/* Right, or refused: the last element counts wherever a driver lets loops run so long. */
START_TEST(long_loops_are_not_cut_short)
{
    enum { AXIS = 150000 };
    float *x = calloc(2 * AXIS, sizeof *x), y[2] = {0};

    ck_assert_ptr_nonnull(x);
    x[2 * AXIS - 2] = x[2 * AXIS - 1] = 7.0f;
    if (instance != NULL) {
        const assay_status status = sum_of(x, y, AXIS, 2);
        ck_assert_msg(status == ASSAY_UNSUPPORTED || (status == ASSAY_OK && same(y[1], 7.0f)),
                      "%d, %a: %s", (int)status, (double)y[1], last_text);
        for (int i = 0; i < 8; i++) {
            const assay_status product = dot_of(x + AXIS, x + AXIS, y, AXIS, i);
            ck_assert_msg(product == ASSAY_UNSUPPORTED ||
                              (product == ASSAY_OK && same(y[0], 98.0f)),
                          "%d, choice %d: %a: %s", (int)product, i, (double)y[0], last_text);
        }
        OK(dot_of(x + AXIS, x + AXIS, y, 10000, 7));
    }
    free(x);
}
END_TEST

/* What is lost of infinity is no number, and is not added. */
START_TEST(sums_keep_what_is_not_finite)
{
    static const float x[][3] = {{1.0f, INFINITY, 2.0f},
                                 {-INFINITY, 1.0f, -INFINITY},
                                 {INFINITY, 1.0f, -INFINITY},
                                 {NAN, 1.0f, 2.0f},
                                 {0x1.fffffep127f, 0x1.fffffep127f, 1.0f},
                                 {-0x1.fffffep127f, 0x1.fffffep127f, 0x1p-100f}};
    static const float want[] = {INFINITY, -INFINITY, NAN, NAN, INFINITY, 0x1p-100f};
    float columns[6], y[2];

    NEEDS_DEVICE;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        for (int k = 0; k < 6; k++)
            columns[k] = x[i][k / 2];
        OK(sum_of(columns, y, 3, 2));
        ck_assert_msg(same(y[0], want[i]) && same(y[1], want[i]), "%zu across: %a", i,
                      (double)y[0]);
        OK(sum_of(x[i], y, 3, 1));
        if (!isfinite(want[i])) /* the others are joined in another order */
            ck_assert_msg(same(y[0], want[i]), "%zu along: %a", i, (double)y[0]);
    }
}
END_TEST

/* ---- products ---- */

/* Leading dimensions that no shader can count by are seen before anything is looked at. */
START_TEST(products_beyond_31_bits_are_refused)
{
    const float zero[4] = {0};
    const int64_t dims[3] = {1, 2, 2}, near[3] = {4, 2, 1};
    const int64_t far[][3] = {{4, INT64_C(1) << 31, 1}, {4, INT64_C(1) << 32, 1}};
    const assay_buffer buffers[3] = {buffer_of(zero, 16), buffer_of(zero, 16), buffer_of(zero, 16)};
    call c;

    NEEDS_DEVICE;
    make_call(&c, ASSAY_OP_add, 4, buffers);
    c.kernel = kernel_of(ASSAY_OP_matmul, ASSAY_F32);
    c.problem = plugin_problem_of(c.kernel);
    for (const char *const *name = (const char *const[]){"m", "n", "k", NULL}; *name != NULL;
         name++)
        ck_assert_int_eq(assay_problem_set_int(&c.problem, *name, 2), ASSAY_OK);
    defaults_of(c.kernel, c.tunables);
    c.launch.tunable_count = (uint32_t)c.kernel->tunable_count;
    for (int which = 0; which < 6; which++) {
        for (int i = 0; i < 3; i++) {
            OK(assay_tensor_host(NULL, ASSAY_F32, 3, dims, i == which / 2 ? far[which % 2] : near,
                                 &c.operands[i]));
            c.operands[i].buffer = buffers[i];
        }
        REFUSES(slots->launch(instance, c.kernel->run, &c.launch), ASSAY_UNSUPPORTED,
                "more than 2^31 - 1");
    }
}
END_TEST

/* ---- kernels of known work ---- */

static assay_status probe_copy(const assay_tensor operands[2], int64_t bytes)
{
    assay_probe p = {.struct_size = sizeof p, .kind = ASSAY_PROBE_COPY};
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = 2,
                                 .operands = operands,
                                 .tunables = &bytes,
                                 .tunable_count = 1};

    OK(slots->probe(instance, &p));
    return slots->launch(instance, p.run, &launch);
}

/* To the byte, and never beyond either operand. */
START_TEST(probes_copy_what_operands_hold)
{
    enum { MOST = 8192 };
    static const int64_t amounts[] = {1, 15, 16, 17, 4099, MOST - 1, MOST};
    unsigned char from[MOST + 16], to[MOST + 16], got[MOST + 16];
    assay_tensor operands[2], small[2];
    const int64_t n = MOST, less = MOST - 1;

    NEEDS_DEVICE;
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (unsigned char)(i * 7 + i / 251 + 1);
        to[i] = (unsigned char)~from[i];
    }
    for (int i = 0; i < 2; i++) {
        OK(assay_tensor_host(NULL, ASSAY_U8, 1, &n, NULL, &operands[i]));
        OK(assay_tensor_host(NULL, ASSAY_U8, 1, i == 0 ? &n : &less, NULL, &small[i]));
        operands[i].buffer = small[i].buffer = buffer_of(i == 0 ? from : to, sizeof from);
    }
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        memcpy(to, from, (size_t)amounts[i]);
        OK(probe_copy(operands, amounts[i]));
        read_back(operands[1].buffer, got, sizeof got);
        ck_assert_mem_eq(got, to, sizeof got);
    }
    REFUSES(probe_copy(small, n), ASSAY_INVALID, "less than the 8192 bytes");
    REFUSES(probe_copy(operands, n + 1), ASSAY_INVALID, "less than the 8193 bytes");
    REFUSES(probe_copy(operands, INT64_C(16) * INT32_MAX + 1), ASSAY_INVALID, "an amount of 1 to");
}
END_TEST

/* ---- all of them ---- */

static void add_tests(TCase *all)
{
    tcase_add_loop_test(all, sums_err_no_more_where_they_are_longer, 0, 2);
    tcase_add_test(all, sums_keep_what_is_not_finite);
    tcase_add_test(all, long_loops_are_not_cut_short);
    tcase_add_test(all, products_beyond_31_bits_are_refused);
    tcase_add_test(all, probes_copy_what_operands_hold);
}

int main(void)
{
    return vulkan_stage_run("vulkan_sums", add_tests, NULL);
}
