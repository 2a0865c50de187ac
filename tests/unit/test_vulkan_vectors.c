/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan_vectors.c -- kernels of the Vulkan backend that load 16 bytes at once and
 * hold rows in registers: right for every width, and with the same bits wherever operands lie.
 *
 * Without the plug-in or a driver every test passes and says so. */
#include "assay/dtype.h"
#include "runtime/op_params.h"
#include "tests/support/vulkan_stage.h"

/* ---- a launch ---- */

enum {
    MOST_OPERANDS = 3,
    TAIL = 64, /* bytes behind an operand */
    BETWEEN = 0x5a
};

typedef struct given {
    const assay_kernel_desc *kernel;
    assay_problem problem;
    uint32_t rank;
    int64_t dims[2];
    const void *in[MOST_OPERANDS - 1];
    int64_t tunables[2];
    size_t shifts[MOST_OPERANDS]; /* elements in front of an operand; buffers begin at 256 bytes */
} given;

static size_t elements_of(const given *g)
{
    return (size_t)(g->dims[0] * (g->rank == 2 ? g->dims[1] : 1));
}

static assay_buffer lay(const void *bytes, size_t front, size_t count)
{
    const size_t all = front + count + TAIL;
    char *image = malloc(all);
    assay_buffer b;

    ck_assert_ptr_nonnull(image);
    memset(image, BETWEEN, all);
    if (bytes != NULL)
        memcpy(image + front, bytes, count);
    OK(slots->alloc(instance, all, 0, &b));
    const assay_transfer piece = {.buffer = b, .host = image, .bytes = all};
    OK(slots->upload(instance, &piece, 1));
    free(image);
    return b;
}

/* What the output holds; nothing beside it was written. */
static void fetch(assay_buffer b, size_t front, size_t count, void *out)
{
    const size_t all = front + count + TAIL;
    unsigned char *image = malloc(all);

    ck_assert_ptr_nonnull(image);
    const assay_transfer piece = {.buffer = b, .host = image, .bytes = all};
    OK(slots->download(instance, &piece, 1));
    for (size_t i = 0; i < all; i++)
        ck_assert_msg((i >= front && i < front + count) || image[i] == BETWEEN,
                      "byte %zu of %zu + %zu was written", i, front, count);
    memcpy(out, image + front, count);
    free(image);
}

static void run(const given *g, void *out)
{
    const uint32_t count = g->kernel->dtype_count;
    assay_tensor operands[MOST_OPERANDS];
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = count,
                                 .problem = &g->problem,
                                 .operands = operands,
                                 .tunables = g->tunables,
                                 .instance = instance,
                                 .tunable_count = (uint32_t)g->kernel->tunable_count};

    for (uint32_t i = 0; i < count; i++) {
        const assay_dtype t = (assay_dtype)g->kernel->dtypes[i];
        const size_t each = assay_dtype_bytes(t), front = g->shifts[i] * each;
        ck_assert_int_eq(assay_tensor_host(NULL, t, g->rank, g->dims, NULL, &operands[i]),
                         ASSAY_OK);
        operands[i].buffer = lay(i + 1 < count ? g->in[i] : NULL, front, elements_of(g) * each);
        operands[i].byte_offset = front;
    }
    OK(slots->launch(instance, g->kernel->run, &launch));
    OK(slots->synchronize(instance));
    const size_t each = assay_dtype_bytes((assay_dtype)g->kernel->dtypes[count - 1]);
    fetch(operands[count - 1].buffer, g->shifts[count - 1] * each, elements_of(g) * each, out);
    for (uint32_t i = 0; i < count; i++)
        OK(slots->free(instance, operands[i].buffer));
}

/* ---- rows ---- */

enum { KINDS = 3, TYPES = 3, CASES = 8 };
static const assay_op_id row_ops[KINDS] = {ASSAY_OP_softmax_last_dim, ASSAY_OP_layer_norm_last_dim,
                                           ASSAY_OP_rms_norm_last_dim};
static const assay_dtype types[TYPES] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};
static const double eps = 1e-5;

/* Of f64, as the op is defined. */
static void wanted_softmax(const double *x, int64_t n, double *y)
{
    double most = -INFINITY, sum = 0.0;

    for (int64_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (int64_t i = 0; i < n; i++)
        sum += y[i] = exp(x[i] - most);
    for (int64_t i = 0; i < n; i++)
        y[i] /= sum;
}

static void wanted_norm(const double *x, int64_t n, bool is_layer, double *y)
{
    double mean = 0.0, squares = 0.0;

    for (int64_t i = 0; i < n && is_layer; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrt(squares + (double)(float)eps);
}

/* Row 0 is spread wide; behind it a NaN, nothing but -inf, one infinity, zeros, a beginning of
 * -inf, what has no square in f32, then usual ones. */
static double value_of(uint64_t *state, int64_t row, int64_t column, int64_t cols)
{
    const double usual = 3.0 * plugin_normal(state) - 1.0;

    if (row == 0)
        return 20.0 * usual;
    if (row == 2 || (row == 5 && column < cols * 2 / 3))
        return -INFINITY;
    if (row == 4)
        return 0.0;
    if (row == 6)
        return 1e30 * usual;
    if (column == cols * 2 / 3 && (row == 1 || row == 3))
        return row == 1 ? NAN : INFINITY;
    return usual;
}

static void *make_rows(assay_dtype t, int64_t rows, int64_t cols)
{
    uint64_t state = 11;
    char *x = malloc((size_t)(rows * cols) * assay_dtype_bytes(t));

    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < rows * cols; i++)
        assay_store_f64(t, x, (size_t)i, value_of(&state, i / cols, i % cols, cols));
    return x;
}

/* Half a unit of the type, and what f32 adds. */
static bool is_near(assay_dtype t, double got, double want)
{
    const double share = t == ASSAY_F32 ? 0.0 : t == ASSAY_F16 ? 0x1p-11 : 0x1p-8;
    const double least = t == ASSAY_F32 ? 1e-7 : t == ASSAY_F16 ? 0x1p-25 + 1e-7 : 1e-7;

    if (isnan(want))
        return isnan(got);
    return fabs(got - want) <= (share + 2e-5) * fabs(want) + least;
}

static void judge_rows(const given *g, assay_dtype t, const void *y)
{
    const int64_t cols = g->dims[1];
    double *x = malloc((size_t)cols * sizeof *x), *want = malloc((size_t)cols * sizeof *want);

    ck_assert(x != NULL && want != NULL);
    for (int64_t row = 0; row < g->dims[0]; row++) {
        for (int64_t i = 0; i < cols; i++)
            x[i] = assay_load_f64(t, g->in[0], (size_t)(row * cols + i));
        if (g->problem.op == ASSAY_OP_softmax_last_dim)
            wanted_softmax(x, cols, want);
        else
            wanted_norm(x, cols, g->problem.op == ASSAY_OP_layer_norm_last_dim, want);
        for (int64_t i = 0; i < cols; i++) {
            const double got = assay_load_f64(t, y, (size_t)(row * cols + i));
            ck_assert_msg(is_near(t, got, want[i]),
                          "%s %s, %lld columns, workgroup %lld, held %lld: [%lld, %lld] is %a "
                          "instead of %a",
                          g->kernel->name, assay_dtype_name(t), (long long)cols,
                          (long long)g->tunables[0], (long long)g->tunables[1], (long long)row,
                          (long long)i, got, want[i]);
        }
    }
    free(x);
    free(want);
}

typedef struct row_case {
    int64_t rows, cols, workgroup;
    bool is_held; /* as far as it can be */
} row_case;

/* In this order: odd and less than a vector an invocation; vectors with idle invocations; more of
 * them; odd and held; walked along in whole pieces; longer than what can be held, in vectors, then
 * odd; the longest. A compiler for the CPU needs about a second for each. */
static const row_case row_cases[CASES] = {
    {8, 7, 64, true},     {8, 24, 64, true},   {8, 1000, 128, true}, {8, 509, 64, true},
    {8, 1024, 64, false}, {8, 4104, 64, true}, {3, 4109, 64, true},  {1, 128256, 256, true}};
enum { CASES_OF_ALL = 6 }; /* the others are tried with f32 */

/* The same bits but of NaN, whose sign and payload are nobody's. */
static bool are_same(assay_dtype t, const void *a, const void *b, size_t n)
{
    const size_t each = assay_dtype_bytes(t);

    for (size_t i = 0; i < n; i++)
        if (memcmp((const char *)a + i * each, (const char *)b + i * each, each) != 0 &&
            !(isnan(assay_load_f64(t, a, i)) && isnan(assay_load_f64(t, b, i))))
            return false;
    return true;
}

/* With every operand aligned, none, and one of each. */
static void try_rows(const assay_kernel_desc *k, assay_dtype t, const row_case *c)
{
    static const size_t shifts[][2] = {{0, 0}, {1, 1}, {0, 3}, {5, 0}};
    const size_t bytes = (size_t)(c->rows * c->cols) * assay_dtype_bytes(t);
    void *x = make_rows(t, c->rows, c->cols), *first = malloc(bytes), *next = malloc(bytes);
    given g = {.kernel = k, .problem = plugin_problem_of(k), .rank = 2, .in = {x}};

    ck_assert(first != NULL && next != NULL);
    g.dims[0] = c->rows;
    g.dims[1] = c->cols;
    g.tunables[0] = c->workgroup;
    g.tunables[1] = c->is_held ? k->tunables[1].default_value : 0;
    ck_assert_int_eq(assay_problem_set_int(&g.problem, "rows", c->rows), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&g.problem, "cols", c->cols), ASSAY_OK);
    if (k->op != ASSAY_OP_softmax_last_dim)
        ck_assert_int_eq(assay_problem_set_real(&g.problem, "eps", eps), ASSAY_OK);
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        memcpy(g.shifts, shifts[i], sizeof shifts[i]);
        run(&g, i == 0 ? first : next);
        if (i == 0)
            judge_rows(&g, t, first);
        ck_assert_msg(i == 0 || are_same(t, first, next, elements_of(&g)),
                      "%s %s, %lld columns: other bits at offsets of %zu and %zu elements", k->name,
                      assay_dtype_name(t), (long long)c->cols, shifts[i][0], shifts[i][1]);
    }
    free(x);
    free(first);
    free(next);
}

START_TEST(rows_are_right_for_every_width_and_place)
{
    const assay_dtype t = types[_i % TYPES];

    NEEDS_DEVICE;
    const assay_kernel_desc *k = plugin_kernel(manifest, row_ops[_i / TYPES], t, NULL);
    ck_assert_ptr_nonnull(k);
    for (size_t i = 0; i < (t == ASSAY_F32 ? CASES : CASES_OF_ALL); i++)
        try_rows(k, t, &row_cases[i]);
}
END_TEST

/* ---- maps ---- */

enum { MAPS = 4, LENGTHS = 5 };
static const assay_op_id map_ops[MAPS] = {ASSAY_OP_add, ASSAY_OP_relu, ASSAY_OP_exp, ASSAY_OP_gelu};
/* Elements: less than a vector, an odd lot, just what workgroups have, more of all that. */
static const int64_t lengths[LENGTHS] = {1, 511, 1023, 4096, 5003};

/* As the op is defined, of f64. */
static double wanted_map(assay_op_id op, double x, double z)
{
    const double u = 0.7978845608028654 * (x + 0.044715 * x * x * x);

    switch (op) {
    case ASSAY_OP_add:
        return x + z;
    case ASSAY_OP_relu:
        return x > 0.0 ? x : 0.0;
    case ASSAY_OP_exp:
        return exp(x);
    case ASSAY_OP_gelu:
        return x / (1.0 + exp(-2.0 * u));
    default:
        return x; /* a cast */
    }
}

static void *make_elements(assay_dtype t, int64_t n, uint64_t seed)
{
    char *x = malloc((size_t)n * assay_dtype_bytes(t));

    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++)
        assay_store_f64(t, x, (size_t)i, 2.0 * plugin_normal(&seed));
    return x;
}

static void judge_map(const given *g, const void *y)
{
    const assay_kernel_desc *k = g->kernel;
    const bool has_two = k->dtype_count == 3;
    const assay_dtype from = (assay_dtype)k->dtypes[0];
    const assay_dtype to = (assay_dtype)k->dtypes[k->dtype_count - 1];

    for (size_t i = 0; i < elements_of(g); i++) {
        const double x = assay_load_f64(from, g->in[0], i);
        const double z = has_two ? assay_load_f64(from, g->in[1], i) : 0.0;
        const double got = assay_load_f64(to, y, i), want = wanted_map(k->op, x, z);
        ck_assert_msg(is_near(to, got, want), "%s to %s, n=%lld: [%zu] is %a instead of %a",
                      k->name, assay_dtype_name(to), (long long)g->dims[0], i, got, want);
    }
}

/* Each operand in turn is out of line by one element, then all are. */
static void try_map(const assay_kernel_desc *k, int64_t n, int64_t workgroup, int64_t vectors)
{
    static const size_t shifts[][MOST_OPERANDS] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                                   {1, 1, 1}, {2, 4, 4}, {4, 8, 16}};
    const assay_dtype from = (assay_dtype)k->dtypes[0];
    const assay_dtype to = (assay_dtype)k->dtypes[k->dtype_count - 1];
    void *x = make_elements(from, n, 1), *z = make_elements(from, n, 2);
    char *first = malloc((size_t)n * 4), *next = malloc((size_t)n * 4);
    given g = {.kernel = k,
               .problem = plugin_problem_of(k),
               .rank = 1,
               .dims = {n},
               .in = {x, z},
               .tunables = {workgroup, vectors}};

    ck_assert(first != NULL && next != NULL);
    ck_assert_int_eq(assay_problem_set_int(&g.problem, "n", n), ASSAY_OK);
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        memcpy(g.shifts, shifts[i], sizeof shifts[i]);
        run(&g, i == 0 ? first : next);
        if (i == 0)
            judge_map(&g, first);
        ck_assert_msg(i == 0 || are_same(to, first, next, (size_t)n),
                      "%s %s, n=%lld: other bits at offsets, case %zu", k->name,
                      assay_dtype_name(to), (long long)n, i);
    }
    free(x);
    free(z);
    free(first);
    free(next);
}

START_TEST(maps_are_right_for_every_length_and_place)
{
    NEEDS_DEVICE;
    for (int t = 0; t < TYPES; t++)
        for (int i = 0; i < LENGTHS; i++)
            try_map(plugin_kernel(manifest, map_ops[_i], types[t], NULL), lengths[i], 64, 2);
}
END_TEST

START_TEST(casts_are_right_for_every_length_and_place)
{
    NEEDS_DEVICE;
    for (size_t at = 0; at < manifest->kernel_count; at++)
        for (int i = 0; i < LENGTHS && manifest->kernels[at].op == ASSAY_OP_cast; i++)
            try_map(&manifest->kernels[at], lengths[i], 64, 2);
}
END_TEST

/* ---- conversions of the device's own ---- */

/* A device that promises all of f16, which no layer is asked about. */
static void setup_promising(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];

    (void)snprintf(path, sizeof path, "%s/tests/fake_vulkan/between.so",
                   build != NULL ? build : "build");
    if (!is_here(path))
        return;
    setenv("ASSAY_VULKAN", path, 1);
    setenv("ASSAY_BETWEEN_HALVES", "1", 1);
    setenv("ASSAY_VULKAN_VALIDATE", "0", 1);
    setup();
}

static void convert_all(assay_dtype from, assay_dtype to, const void *x, size_t n)
{
    const assay_kernel_desc *k = manifest->kernels;
    char *got = malloc(n * 4), *want = malloc(n * 4);

    ck_assert(got != NULL && want != NULL);
    while (k->op != ASSAY_OP_cast || k->dtypes[0] != from || k->dtypes[1] != to)
        k++;
    given g = {.kernel = k,
               .problem = plugin_problem_of(k),
               .rank = 1,
               .dims = {(int64_t)n},
               .in = {x},
               .tunables = {64, 2}};
    ck_assert_int_eq(assay_problem_set_int(&g.problem, "n", (int64_t)n), ASSAY_OK);
    run(&g, got);
    ck_assert_int_eq(assay_convert(to, want, from, x, n), ASSAY_OK);
    ck_assert_msg(are_same(to, got, want, n), "%s to %s", assay_dtype_name(from),
                  assay_dtype_name(to));
    free(got);
    free(want);
}

/* All of f16, and of f32 the upper halves with lower ones at and beside the ties of f16. */
START_TEST(promised_conversions_are_those_of_the_library)
{
    enum { ALL = 65536, LOWS = 6 };
    static const uint32_t lows[LOWS] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x8000};

    NEEDS_DEVICE;
    uint32_t *x = malloc(ALL * LOWS * sizeof *x);
    uint16_t *every = malloc(ALL * sizeof *every);
    ck_assert(x != NULL && every != NULL);
    for (uint32_t i = 0; i < ALL * LOWS; i++)
        x[i] = i / LOWS << 16 | lows[i % LOWS];
    for (uint32_t i = 0; i < ALL; i++)
        every[i] = (uint16_t)i;
    convert_all(ASSAY_F32, ASSAY_F16, x, ALL * LOWS);
    convert_all(ASSAY_F16, ASSAY_F32, every, ALL);
    free(x);
    free(every);
}
END_TEST

/* ---- the suite ---- */

int main(void)
{
    prepare();
    Suite *s = suite_create("vulkan_vectors");
    TCase *all = tcase_create("vectors");
    tcase_set_timeout(all, 120);
    if (is_built()) {
        tcase_add_checked_fixture(all, setup, teardown);
        tcase_add_loop_test(all, rows_are_right_for_every_width_and_place, 0, KINDS * TYPES);
        tcase_add_loop_test(all, maps_are_right_for_every_length_and_place, 0, MAPS);
        tcase_add_test(all, casts_are_right_for_every_length_and_place);
    } else {
        tcase_add_test(all, plug_in_is_not_built_here);
    }
    suite_add_tcase(s, all);
    TCase *promising = tcase_create("promising");
    tcase_set_timeout(promising, 120);
    if (is_built()) {
        tcase_add_checked_fixture(promising, setup_promising, teardown);
        tcase_add_test(promising, promised_conversions_are_those_of_the_library);
        suite_add_tcase(s, promising);
    }
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
