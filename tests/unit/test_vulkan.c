/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan.c -- the Vulkan backend on a device, with the validation layer where it
 * is.
 *
 * Without the plug-in or a driver every test passes and says so.  Each test runs in a process of
 * its own, which looks at the layer's messages last, after everything was destroyed. */
#include <check.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/vulkan/vulkan_cache_header.h"
#include "conform/conform_case.h"
#include "tests/support/vulkan_stage.h"

/* y = op(x) on the device. */
static void map_f32(assay_op_id op, const float *x, float *y, size_t n)
{
    const assay_buffer buffers[2] = {buffer_of(x, n * 4), buffer_of(x, n * 4)};
    call c;

    make_call(&c, op, (int64_t)n, buffers);
    OK(slots->launch(instance, c.kernel->run, &c.launch));
    OK(slots->synchronize(instance));
    read_back(buffers[1], y, n * 4);
    OK(slots->free(instance, buffers[0]));
    OK(slots->free(instance, buffers[1]));
}

/* ---- what is here ---- */

START_TEST(open_says_what_is_missing)
{
    assay_instance *other;

    setenv("ASSAY_VULKAN", "/nonexistent/libvulkan.so.1", 1);
    REFUSES(slots->open(&host, &other), ASSAY_UNAVAILABLE, "install libvulkan1");
    setenv("ASSAY_VULKAN", "libm.so.6", 1);
    REFUSES(slots->open(&host, &other), ASSAY_UNAVAILABLE, "is no Vulkan loader");
    unsetenv("ASSAY_VULKAN");
    setenv("VK_DRIVER_FILES", "/nonexistent", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent", 1);
    REFUSES(slots->open(&host, &other), ASSAY_UNAVAILABLE, "install");
}
END_TEST

START_TEST(devices_are_chosen_by_number_uuid_or_name)
{
    assay_device_info info, chosen;
    assay_instance *other;
    size_t count = 0;
    char part[8];

    NEEDS_DEVICE;
    OK(slots->device_info(instance, 0, &info));
    ck_assert_uint_eq(info.is_cpu, 0); /* its operands are no memory of the host's */
    ck_assert(strstr(info.architecture, "driver id") != NULL);
    ck_assert_uint_eq(strlen(info.uuid), 36);
    ck_assert(manifest->explicit_only == 1 && manifest->location == ASSAY_LOCATION_VULKAN);
    (void)snprintf(part, sizeof part, "%.7s", info.name);
    const char *const texts[] = {"0", info.uuid, info.name, part};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        setenv("ASSAY_VULKAN_DEVICE", texts[i], 1);
        OK(slots->open(&host, &other));
        OK(slots->device_count(other, &count));
        ck_assert_uint_eq(count, 1);
        OK(slots->device_info(other, 0, &chosen));
        ck_assert_str_eq(chosen.uuid, info.uuid);
        slots->close(other);
    }
    setenv("ASSAY_VULKAN_DEVICE", "no such card", 1);
    REFUSES(slots->open(&host, &other), ASSAY_UNAVAILABLE, info.uuid);
    unsetenv("ASSAY_VULKAN_DEVICE");
    REFUSES(slots->select_device(instance, 99), ASSAY_INVALID, "device 99");
    REFUSES(slots->device_info(instance, 99, &info), ASSAY_INVALID, "device 99");
}
END_TEST

/* Rows of another driver are idle: its number and the UUID of its pipelines are in its name. */
START_TEST(drivers_are_told_apart)
{
    assay_device_info info;

    NEEDS_DEVICE;
    OK(slots->device_info(instance, 0, &info));
    const char *cache = strstr(info.driver, ", cache ");
    ck_assert_msg(cache != NULL && cache - info.driver > 10, "'%s'", info.driver);
    ck_assert(strspn(cache + 8, "0123456789abcdef") == 32 && strlen(cache) == 8 + 32);
    ck_assert_uint_eq(strspn(cache - 8, "0123456789abcdef"), 8);
}
END_TEST

/* A handle of host memory lives without a device. */
START_TEST(wrapped_memory_is_freed_before_a_device_is_made)
{
    char memory[16];
    assay_buffer b;

    NEEDS_DEVICE;
    OK(slots->wrap(instance, memory, sizeof memory, &b));
    OK(slots->free(instance, b));
    REFUSES(slots->free(instance, b), ASSAY_FREED, "freed before");
}
END_TEST

/* ---- refusals ---- */

START_TEST(operands_of_the_host_are_refused_by_number)
{
    float memory[4] = {1, 2, 3, 4}, after[4];
    assay_buffer buffers[3];
    call c;

    NEEDS_DEVICE;
    for (int i = 0; i < 3; i++)
        buffers[i] = buffer_of(memory, sizeof memory);
    make_call(&c, ASSAY_OP_add, 4, buffers);
    c.operands[1].buffer = (assay_buffer){.at.host = memory, .size_bytes = sizeof memory};
    REFUSES(slots->launch(instance, c.kernel->run, &c.launch), ASSAY_INVALID, "operand 1 lies in");
    c.operands[1].buffer = buffers[1];
    REFUSES(c.kernel->run(&c.launch), ASSAY_INVALID, "operand 0 is no buffer"); /* not by a slot */
    c.launch.instance = NULL;
    ck_assert_int_eq(c.kernel->run(&c.launch), ASSAY_INVALID);
    c.launch.instance = instance;
    c.operands[2].byte_offset = 4; /* beyond its end */
    REFUSES(slots->launch(instance, c.kernel->run, &c.launch), ASSAY_INVALID, "operand 2 reaches");
    read_back(buffers[2], after, sizeof after);
    ck_assert_mem_eq(after, memory, sizeof after);
}
END_TEST

START_TEST(launches_beyond_the_limits_are_refused)
{
    float memory[4] = {1, 2, 3, 4};
    assay_buffer buffers[3], huge;
    assay_device_profile profile;
    call c;

    NEEDS_DEVICE;
    for (int i = 0; i < 3; i++)
        buffers[i] = buffer_of(memory, sizeof memory);
    OK(slots->device_profile(instance, 0, &profile));
    make_call(&c, ASSAY_OP_add, 4, buffers);
    c.tunables[0] = 2 * (int64_t)profile.max_workgroup_invocations;
    REFUSES(slots->launch(instance, c.kernel->run, &c.launch), ASSAY_UNSUPPORTED, "workgroups of");
    REFUSES(slots->alloc(instance, profile.max_buffer_bytes + 1, 0, &huge), ASSAY_NOMEM, "bytes");
    ck_assert_uint_eq(last_detail.requested_bytes, profile.max_buffer_bytes + 1);
    REFUSES(slots->alloc(instance, 8, 24, &huge), ASSAY_INVALID, "power of two");
    REFUSES(slots->alloc(instance, 0, 0, &huge), ASSAY_INVALID, "0 bytes");
    REFUSES(slots->alloc(instance, UINT64_MAX, 0, &huge), ASSAY_OVERFLOW, "do not fit");
}
END_TEST

/* ---- memory ---- */

/* Longer than what is staged at a time, at odd places. */
START_TEST(long_transfers_come_back)
{
    enum { SIZE = 9000001 };
    uint64_t state = 7;

    NEEDS_DEVICE;
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    ck_assert(bytes != NULL && back != NULL);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(plugin_random(&state) >> 40);
    const assay_buffer b = buffer_of(bytes, SIZE);
    read_back(b, back, SIZE);
    ck_assert(memcmp(bytes, back, SIZE) == 0);
    assay_transfer pieces[3] = {
        {b, 5, bytes, 3000000}, {b, 1000, bytes + 77, 100}, {b, 3, bytes, 1}};
    OK(slots->upload(instance, pieces, 3));
    memcpy(back + 5, bytes, 3000000);
    memcpy(back + 1000, bytes + 77, 100);
    back[3] = bytes[0];
    memcpy(bytes, back, SIZE);
    read_back(b, back, SIZE);
    ck_assert(memcmp(bytes, back, SIZE) == 0);
    free(bytes);
    free(back);
}
END_TEST

START_TEST(copies_that_overlap_are_as_memmove)
{
    enum { SIZE = 4000003 };
    static const struct {
        uint64_t to, from, bytes;
    } moves[] = {{1001, 0, 3900000}, {0, 777, 3900000}, {2000000, 5, 1999000}, {9, 8, 17}};
    uint64_t state = 9;

    NEEDS_DEVICE;
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    ck_assert(bytes != NULL && back != NULL);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(plugin_random(&state) >> 40);
    const assay_buffer b = buffer_of(bytes, SIZE);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        OK(slots->copy(instance, b, moves[i].to, b, moves[i].from, moves[i].bytes));
        memmove(bytes + moves[i].to, bytes + moves[i].from, moves[i].bytes);
        OK(slots->fill(instance, b, 3 + i, 1 + 5 * i, (uint8_t)i));
        memset(bytes + 3 + i, (int)i, 1 + 5 * i);
        read_back(b, back, SIZE);
        ck_assert_msg(memcmp(bytes, back, SIZE) == 0, "move %zu", i);
    }
    free(bytes);
    free(back);
}
END_TEST

/* Many small buffers share blocks; what is freed is there again. */
START_TEST(blocks_are_shared_and_given_back)
{
    enum { MANY = 200 };
    assay_buffer b[MANY];
    assay_instance_state state;

    NEEDS_DEVICE;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            OK(slots->alloc(instance, 1000 + (uint64_t)i, 0, &b[i]));
        for (int i = 0; i < MANY; i++)
            OK(slots->free(instance, b[(i * 7) % MANY]));
    }
    ck_assert_uint_eq(metric("blocks_total"), 1);
    OK(slots->alloc(instance, UINT64_C(100) << 20, 4096, &b[0]));
    OK(slots->alloc(instance, UINT64_C(50) << 20, 0, &b[1]));
    ck_assert_uint_eq(metric("blocks_total"), 3);
    OK(slots->free(instance, b[0]));
    OK(slots->free(instance, b[1]));
    OK(slots->state(instance, &state));
    ck_assert(state.live_buffers == 0 && state.live_bytes == 0);
}
END_TEST

/* ---- results ---- */

/* What the case's operands are on the device after a run of the kernel with these tunables. */
static void judge(const assay_kernel_desc *k, const assay__case *of, const int64_t *tunables)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    char *after[ASSAY_MAX_OPERANDS] = {NULL}, why[256] = "", params[ASSAY_PROBLEM_TEXT_MAX] = "";
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = of->count,
                                 .problem = &of->problem,
                                 .operands = operands,
                                 .tunables = tunables,
                                 .instance = instance,
                                 .tunable_count = (uint32_t)k->tunable_count};

    for (uint32_t i = 0; i < of->count; i++) {
        operands[i] = of->operands[i];
        operands[i].buffer = buffer_of(of->images[i], of->bytes[i]);
    }
    OK(slots->launch(instance, k->run, &launch));
    OK(slots->synchronize(instance));
    for (uint32_t i = 0; i < of->count; i++) {
        after[i] = malloc(of->bytes[i]);
        read_back(operands[i].buffer, after[i], of->bytes[i]);
        OK(slots->free(instance, operands[i].buffer));
    }
    (void)assay_problem_format(&of->problem, ASSAY_TEXT_ACCURACY, params, sizeof params);
    ck_assert_msg(assay__case_judge(of, k, after, why, sizeof why),
                  "%s of '%s', tunables %lld %lld: %s", k->name, params, (long long)tunables[0],
                  (long long)tunables[1], why);
    for (uint32_t i = 0; i < of->count; i++)
        free(after[i]);
}

/* The next choice of each tunable, as digits count; false behind the last. */
static bool next_choice(const assay_kernel_desc *k, size_t *digits, int64_t *tunables)
{
    size_t i = 0;

    while (i < k->tunable_count && ++digits[i] == k->tunables[i].value_count)
        digits[i++] = 0;
    for (size_t t = 0; t < k->tunable_count; t++)
        tunables[t] = k->tunables[t].values[digits[t]];
    return i < k->tunable_count;
}

/* Some of the problems of conform_problem.c: odd extents, some long. */
static void try_kernel(const assay_manifest *ref, const assay_kernel_desc *k)
{
    for (size_t at = 3; at < 12; at += 3) {
        int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
        size_t digits[ASSAY_MAX_TUNABLES] = {0};
        assay_problem p;
        assay__case c;
        if (!assay__case_problem(k->op, k->dtypes, k->dtype_count, at, &p))
            break;
        ck_assert_msg(assay__case_init(ref, &p, k, ASSAY__CASE_OFFSET, (unsigned)at, &c) ==
                          ASSAY_OK,
                      "%s", assay_last_error());
        for (size_t t = 0; t < k->tunable_count; t++)
            tunables[t] = k->tunables[t].values[0];
        do
            judge(k, &c, tunables);
        while (!is_slow() && next_choice(k, digits, tunables));
        assay__case_clear(&c);
    }
}

/* A slice of the kernels a process: to start one takes longer than to try one. */
enum { SLICES = 3 };
START_TEST(kernels_are_right_with_every_tunable)
{
    NEEDS_DEVICE;
    const assay_manifest *ref = plugin_load("ref");
    for (size_t i = (size_t)_i; i < manifest->kernel_count; i += SLICES)
        try_kernel(ref, &manifest->kernels[i]);
}
END_TEST

START_TEST(special_values_follow_the_laws)
{
    static const float x[] = {NAN,       -NAN,       INFINITY, -INFINITY, -0.0f, 0.0f,
                              0x1p-149f, -0x1p-149f, 89.0f,    -104.0f,   -1.5f, 2.5f};
    enum { N = sizeof x / sizeof x[0] };
    float y[N];

    NEEDS_DEVICE;
    map_f32(ASSAY_OP_relu, x, y, N);
    for (size_t i = 0; i < N; i++)
        ck_assert_msg(same(y[i], isnan(x[i]) || x[i] > 0.0f ? x[i] : 0.0f), "relu(%a) is %a",
                      (double)x[i], (double)y[i]);
    map_f32(ASSAY_OP_exp, x, y, N);
    ck_assert(isnan(y[0]) && isnan(y[1]) && isinf(y[2]) && isinf(y[8]));
    ck_assert(same(y[3], 0.0f) && same(y[9], 0.0f) && same(y[4], 1.0f) && same(y[6], 1.0f));
    map_f32(ASSAY_OP_gelu, x, y, N);
    ck_assert(isnan(y[0]) && isinf(y[2]) && isnan(y[3]));
    ck_assert(y[4] >= 0.0f && y[4] <= 0.0f && same(y[8], 89.0f));
}
END_TEST

/* ---- norms ---- */

enum { NORM_ROWS = 2, NORM_COLS = 12 };

static void norm_f32(assay_op_id op, double eps, const float *x, float *y)
{
    enum { BYTES = NORM_ROWS * NORM_COLS * 4 };
    const int64_t dims[2] = {NORM_ROWS, NORM_COLS};
    const assay_buffer buffers[2] = {buffer_of(x, BYTES), buffer_of(x, BYTES)};
    call c;

    make_call(&c, ASSAY_OP_relu, NORM_COLS, buffers);
    c.kernel = kernel_of(op, ASSAY_F32);
    c.problem = plugin_problem_of(c.kernel);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "rows", NORM_ROWS), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "cols", NORM_COLS), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_real(&c.problem, "eps", eps), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        OK(assay_tensor_host(NULL, ASSAY_F32, 2, dims, NULL, &c.operands[i]));
        c.operands[i].buffer = buffers[i];
    }
    defaults_of(c.kernel, c.tunables);
    c.launch.tunable_count = (uint32_t)c.kernel->tunable_count;
    OK(slots->launch(instance, c.kernel->run, &c.launch));
    read_back(buffers[1], y, BYTES);
    OK(slots->free(instance, buffers[0]));
    OK(slots->free(instance, buffers[1]));
}

static double norm_wanted(bool is_layer, double eps, const float *x, int at)
{
    double mean = 0.0, squares = 0.0;

    for (int i = 0; is_layer && i < NORM_COLS; i++)
        mean += (double)x[i] / NORM_COLS;
    for (int i = 0; i < NORM_COLS; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean) / NORM_COLS;
    return ((double)x[at] - mean) / sqrt(squares + eps);
}

static void try_norm(assay_op_id op, double eps, int exponent)
{
    const bool is_layer = op == ASSAY_OP_layer_norm_last_dim;
    float x[NORM_ROWS * NORM_COLS], y[NORM_ROWS * NORM_COLS];

    for (int i = 0; i < NORM_COLS; i++) {
        x[i] = (float)ldexp(i % 2 == 0 ? i + 1 : -i, exponent);
        x[NORM_COLS + i] = (float)ldexp(8.0, exponent);
    }
    norm_f32(op, eps, x, y);
    for (int i = 0; i < NORM_COLS; i++) {
        const double want = norm_wanted(is_layer, (double)(float)eps, x, i);
        ck_assert_msg(fabs((double)y[i] - want) <= 2e-6 * fabs(want) + 0x1p-148,
                      "%s of 2^%d, eps %g: %a instead of %a", is_layer ? "layer" : "rms", exponent,
                      eps, (double)y[i], want);
        ck_assert_msg(!isnan(y[NORM_COLS + i]) || (is_layer && eps <= 0.0),
                      "a row of one number, 2^%d, eps %g", exponent, eps);
    }
}

/* Squares of the largest overflow, those of the smallest vanish; row 1 is of one number. */
START_TEST(norms_hold_for_every_magnitude)
{
    static const int exponents[] = {-149, -140, -120, -90, -62, -41, -20, 0, 41, 70, 110, 124};
    static const double epses[] = {0.0, 1e-44, 1e-38, 1e-31, 1e-20, 1e-5, 1e30};

    NEEDS_DEVICE;
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++)
        for (size_t j = 0; j < sizeof epses / sizeof epses[0]; j++) {
            try_norm(ASSAY_OP_rms_norm_last_dim, epses[j], exponents[i]);
            try_norm(ASSAY_OP_layer_norm_last_dim, epses[j], exponents[i]);
        }
}
END_TEST

/* ---- conversions ---- */

static bool is_nan_at(assay_dtype dtype, const void *x, size_t at)
{
    return isnan(assay_load_f64(dtype, x, at));
}

/* The device's casts and the library's give the same bits. */
static void compare_cast(assay_dtype from, assay_dtype to, const void *x, size_t n)
{
    const size_t in = assay_dtype_bytes(from), out = assay_dtype_bytes(to);
    const assay_buffer buffers[2] = {buffer_of(x, n * in), buffer_of(x, n * in)};
    char *got = malloc(n * out), *want = malloc(n * out);
    const assay_kernel_desc *k = manifest->kernels;
    call c;

    ck_assert(got != NULL && want != NULL && out <= in + 2);
    make_call(&c, ASSAY_OP_relu, (int64_t)n, buffers);
    while (k->op != ASSAY_OP_cast || k->dtypes[0] != from || k->dtypes[1] != to)
        k++;
    memset(want, 0, n * out);
    const assay_buffer y = out > in ? buffer_of(want, n * out) : buffers[1];
    c.problem = plugin_problem_of(k);
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "n", (int64_t)n), ASSAY_OK);
    c.operands[0].dtype = from;
    c.operands[1].dtype = to;
    c.operands[1].buffer = y;
    OK(slots->launch(instance, k->run, &c.launch));
    read_back(y, got, n * out);
    ck_assert_int_eq(assay_convert(to, want, from, x, n), ASSAY_OK);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(memcmp(got + i * out, want + i * out, out) == 0 ||
                          (is_nan_at(to, got, i) && is_nan_at(to, want, i)),
                      "%s to %s, element %zu: %a becomes %a instead of %a", assay_dtype_name(from),
                      assay_dtype_name(to), i, assay_load_f64(from, x, i),
                      assay_load_f64(to, got, i), assay_load_f64(to, want, i));
    free(got);
    free(want);
}

/* f32: every upper half with lower halves at and beside the ties of both narrow types. */
START_TEST(casts_are_those_of_the_library)
{
    enum { ALL = 65536, LOWS = 8, FEW = 2000 };
    static const uint32_t lows[LOWS] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001};
    static const assay_dtype narrow[] = {ASSAY_F16, ASSAY_BF16};

    NEEDS_DEVICE;
    const size_t n = is_slow() ? FEW : ALL;
    uint32_t *x = malloc(ALL * LOWS * sizeof *x);
    uint16_t *every = malloc(ALL * sizeof *every);
    ck_assert(x != NULL && every != NULL);
    for (uint32_t i = 0; i < ALL * LOWS; i++)
        x[i] = i / LOWS << 16 | lows[i % LOWS];
    for (uint32_t i = 0; i < ALL; i++)
        every[i] = (uint16_t)i;
    for (int i = 0; i < 2; i++) {
        compare_cast(ASSAY_F32, narrow[i], x, n * LOWS);
        compare_cast(narrow[i], ASSAY_F32, every, n);
        compare_cast(narrow[i], narrow[1 - i], every, n);
        compare_cast(narrow[i], narrow[i], every, n);
    }
    compare_cast(ASSAY_F32, ASSAY_F32, x, n * LOWS);
    free(every);
    free(x);
}
END_TEST

/* Every exponent of results, subnormal ones among them. */
START_TEST(exp_is_near_everywhere)
{
    enum { N = 20000 };
    double worst = 0.0;

    NEEDS_DEVICE;
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    ck_assert(x != NULL && y != NULL);
    for (int i = 0; i < N; i++)
        x[i] = -103.9f + 192.6f * (float)i / N;
    map_f32(ASSAY_OP_exp, x, y, N);
    for (int i = 0; i < N; i++) {
        const double want = exp((double)x[i]);
        const double unit = fmax(ldexp(1.0, ilogb(want) - 23), 0x1p-149);
        worst = fmax(worst, fabs((double)y[i] - want) / unit);
    }
    free(x);
    free(y);
    ck_assert_msg(worst <= 1.5, "%.3f ULP", worst);
}
END_TEST

/* ---- measuring ---- */

typedef struct spans {
    size_t count, inner;
    double least;
} spans;

static void on_span(void *cookie, double ns, size_t inner)
{
    spans *s = cookie;

    ck_assert(isfinite(ns) && ns >= 0.0);
    s->least = s->count == 0 || ns < s->least ? ns : s->least;
    s->count++;
    s->inner += inner;
}

static spans measure_product(int64_t extent, size_t inner)
{
    const assay_kernel_desc *k = kernel_of(ASSAY_OP_matmul, ASSAY_F32);
    const int64_t dims[3] = {1, extent, extent};
    const size_t bytes = (size_t)(extent * extent) * 4;
    assay_tensor operands[3];
    assay_problem p = plugin_problem_of(k);
    int64_t tunables[ASSAY_MAX_TUNABLES];
    assay_clock_info clock;
    spans seen = {0};

    ck_assert_int_eq(assay_problem_set_int(&p, "m", extent), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "n", extent), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "k", extent), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 3, dims, NULL, &operands[i]), ASSAY_OK);
        OK(slots->alloc(instance, bytes, 0, &operands[i].buffer));
        OK(slots->fill(instance, operands[i].buffer, 0, bytes, 0));
    }
    defaults_of(k, tunables);
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = 3,
                                 .problem = &p,
                                 .operands = operands,
                                 .tunables = tunables,
                                 .instance = instance,
                                 .tunable_count = 2};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = k->run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = inner,
                                .spans = 5,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = &seen};
    OK(slots->measure(instance, &what, &clock));
    ck_assert_int_eq(clock.quality, ASSAY_TIMING_DEVICE);
    ck_assert(clock.resolution_ns > 0.0 && clock.overhead_ns >= 0.0);
    for (int i = 0; i < 3; i++)
        OK(slots->free(instance, operands[i].buffer));
    return seen;
}
/* 64 times the work, the least of five spans: no load of the machine turns that round. */
START_TEST(more_work_takes_longer)
{
    assay_device_profile profile;

    NEEDS_DEVICE;
    OK(slots->device_profile(instance, 0, &profile));
    if (profile.timing != ASSAY_TIMING_DEVICE)
        return;
    const spans little = measure_product(32, 2), much = measure_product(128, 2);
    const spans often = measure_product(32, 200);
    ck_assert(little.count == 5 && little.inner == 10);
    ck_assert_double_gt(much.least, little.least);
    ck_assert_double_gt(often.least, little.least);
}
END_TEST

/* Every launch runs, and those that keep the device busy; y = y + 1 counts them. */
START_TEST(spans_rotate_over_operand_sets)
{
    enum { SETS = 3, INNER = 5, SPANS = 5 };
    const float one = 1.0f, zero = 0.0f;
    assay_launch launches[SETS];
    call calls[SETS];
    assay_clock_info clock;
    spans seen = {0};
    float y, all = 0.0f;
    NEEDS_DEVICE;
    const assay_buffer a = buffer_of(&one, 4);
    for (int i = 0; i < SETS; i++) {
        const assay_buffer both = buffer_of(&zero, 4), buffers[3] = {a, both, both};
        make_call(&calls[i], ASSAY_OP_add, 1, buffers);
        launches[i] = calls[i].launch;
    }
    /* So that the first span needs no run of its own for warmth. */
    OK(slots->launch(instance, calls[0].kernel->run, &launches[0]));
    const assay_measure what = {.struct_size = sizeof what,
                                .run = calls[0].kernel->run,
                                .launches = launches,
                                .launch_count = SETS,
                                .inner = INNER,
                                .spans = SPANS,
                                .sink = on_span,
                                .cookie = &seen};
    OK(slots->measure(instance, &what, &clock));
    ck_assert_uint_eq(seen.count, SPANS);
    for (int i = 0; i < SETS; i++) {
        read_back(calls[i].operands[2].buffer, &y, 4);
        all += y;
        ck_assert_float_ge(y, (float)((INNER * SPANS + SETS - 1 - i) / SETS + (i == 0)));
        OK(slots->free(instance, calls[i].operands[2].buffer)); /* not pinned any more */
    }
    ck_assert_float_eq(all, (float)(INNER * SPANS + 1 + metric("lead_launches_total")));
    ck_assert_uint_ge(metric("lead_launches_total"), SPANS - 1);
    OK(slots->free(instance, a));
}
END_TEST

/* ---- what is kept ---- */

START_TEST(repeats_are_recorded_once)
{
    const float one = 1.0f, zero = 0.0f;
    float y;
    call c;

    NEEDS_DEVICE;
    const assay_buffer both = buffer_of(&zero, 4), buffers[3] = {buffer_of(&one, 4), both, both};
    make_call(&c, ASSAY_OP_add, 1, buffers);
    for (int i = 0; i < 10; i++)
        OK(slots->launch(instance, c.kernel->run, &c.launch));
    OK(slots->synchronize(instance));
    read_back(both, &y, 4);
    ck_assert_float_eq(y, 10.0f);
    ck_assert_uint_eq(metric("dispatches_total"), 10);
    ck_assert_uint_eq(metric("resubmissions_total"), 9);
    ck_assert_uint_eq(metric("pipelines_total"), 1);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 25 };

/* y = y + 1 so often, with transfers in between; NULL: all was right. */
static void *work_alone(void *cookie)
{
    const float one = 1.0f;
    float y = 0.0f;
    assay_buffer a, both;
    call *c = cookie;

    if (slots->alloc(instance, 4, 0, &a) != ASSAY_OK ||
        slots->alloc(instance, 4, 0, &both) != ASSAY_OK)
        return cookie;
    const assay_buffer plain = {.at.host = &y, .size_bytes = 4};
    c->operands[0].buffer = a;
    c->operands[1].buffer = c->operands[2].buffer = both;
    assay_status status = slots->copy(instance, both, 0, plain, 0, 4);
    for (int i = 0; i < 4 && status == ASSAY_OK; i++) /* the bytes of 1, one by one */
        status = slots->fill(instance, a, (uint64_t)i, 1, ((const uint8_t *)&one)[i]);
    for (int i = 0; i < TURNS && status == ASSAY_OK; i++)
        status = slots->launch(instance, c->kernel->run, &c->launch);
    if (status == ASSAY_OK)
        status = slots->copy(instance, plain, 0, both, 0, 4);
    if (status == ASSAY_OK)
        status = slots->free(instance, a);
    return status == ASSAY_OK && same(y, (float)TURNS) ? NULL : cookie;
}

START_TEST(threads_share_an_instance)
{
    static call calls[THREADS];
    pthread_t threads[THREADS];
    assay_buffer unused[3] = {{0}, {0}, {0}};
    void *failed;

    NEEDS_DEVICE;
    for (int i = 0; i < THREADS; i++) {
        make_call(&calls[i], ASSAY_OP_add, 1, unused);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_alone, &calls[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_eq(failed, NULL);
    }
    ck_assert_uint_eq(metric("dispatches_total"), THREADS * TURNS);
}
END_TEST

/* The one file of a folder; "" where there is none. */
static void only_file(const char *folder, char *path, size_t cap)
{
    DIR *d = opendir(folder);

    path[0] = '\0';
    ck_assert_ptr_nonnull(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            (void)snprintf(path, cap, "%s/%s", folder, e->d_name);
    closedir(d);
}

static size_t read_bytes(const char *path, unsigned char *bytes, size_t cap)
{
    FILE *f = fopen(path, "rb");

    ck_assert_ptr_nonnull(f);
    const size_t size = fread(bytes, 1, cap, f);
    (void)fclose(f);
    return size;
}

/* What is damaged is passed over and written anew. */
START_TEST(pipelines_are_kept_on_disk_where_asked)
{
    char folder[] = "/tmp/assay-vulkan-XXXXXX", path[512];
    unsigned char first[4096], again[4096];
    float x = 1.0f, y;

    NEEDS_DEVICE;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("ASSAY_CACHE_DIR", folder, 1);
    map_f32(ASSAY_OP_exp, &x, &y, 1);
    slots->close(instance);
    only_file(folder, path, sizeof path);
    const size_t size = read_bytes(path, first, sizeof first);
    ck_assert_uint_ge(size, VULKAN_CACHE_HEADER);
    ck_assert_uint_eq(vulkan_cache_word(first + 4), 1);
    FILE *f = fopen(path, "r+b");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite("garbage of another driver", 1, 25, f), 25);
    (void)fclose(f);
    OK(slots->open(&host, &instance));
    map_f32(ASSAY_OP_exp, &x, &y, 1);
    slots->close(instance);
    ck_assert_uint_ge(read_bytes(path, again, sizeof again), VULKAN_CACHE_HEADER);
    ck_assert_mem_eq(again, first, VULKAN_CACHE_HEADER);
    (void)remove(path);
    (void)rmdir(folder);
    OK(slots->open(&host, &instance));
    unsetenv("ASSAY_CACHE_DIR");
}
END_TEST

/* ---- all of them ---- */

static void add_missing(TCase *missing)
{
    tcase_add_test(missing, open_says_what_is_missing);
}

static void add_tests(TCase *all)
{
    tcase_add_test(all, devices_are_chosen_by_number_uuid_or_name);
    tcase_add_test(all, drivers_are_told_apart);
    tcase_add_test(all, wrapped_memory_is_freed_before_a_device_is_made);
    tcase_add_test(all, operands_of_the_host_are_refused_by_number);
    tcase_add_test(all, launches_beyond_the_limits_are_refused);
    tcase_add_test(all, long_transfers_come_back);
    tcase_add_test(all, copies_that_overlap_are_as_memmove);
    tcase_add_test(all, blocks_are_shared_and_given_back);
    tcase_add_loop_test(all, kernels_are_right_with_every_tunable, 0, SLICES);
    tcase_add_test(all, special_values_follow_the_laws);
    tcase_add_test(all, norms_hold_for_every_magnitude);
    tcase_add_test(all, casts_are_those_of_the_library);
    tcase_add_test(all, exp_is_near_everywhere);
    tcase_add_test(all, more_work_takes_longer);
    tcase_add_test(all, spans_rotate_over_operand_sets);
    tcase_add_test(all, repeats_are_recorded_once);
    tcase_add_test(all, threads_share_an_instance);
    tcase_add_test(all, pipelines_are_kept_on_disk_where_asked);
}

int main(void)
{
    return vulkan_stage_run("vulkan", add_tests, add_missing);
}
