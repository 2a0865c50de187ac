/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_kernels.c -- every kernel and variant of every plug-in against the oracle.
 *
 * Loops over the manifests: a new kernel needs no edit here. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/plugin_case.h"

/* Every plug-in of this build; what the reference says of itself is found by test_ref. */
static glob_t plugins;

static int find_plugins(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char pattern[512];

    snprintf(pattern, sizeof pattern, "%s/lib/assay/assay_*.so", build != NULL ? build : "build");
    return glob(pattern, 0, NULL, &plugins) == 0 ? (int)plugins.gl_pathc : 0;
}

static const assay_manifest *plugin_at(int index)
{
    const char *base = strrchr(plugins.gl_pathv[index], '/') + sizeof "/assay_" - 1;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    return plugin_load(name);
}

static const assay_manifest *ref;

static void setup(void)
{
    ref = plugin_load("ref");
}

static const char *const shapes_matmul[] = {"m=0,n=3,k=2",
                                            "m=3,n=0,k=2",
                                            "m=5,n=7,k=0,beta=0.5",
                                            "m=1,n=1,k=1",
                                            "m=7,n=1,k=13",
                                            "m=1,n=37,k=5",
                                            "m=6,n=16,k=8",
                                            "m=7,n=17,k=9",
                                            "m=13,n=101,k=67",
                                            "m=149,n=67,k=13",
                                            "m=31,n=33,k=400",
                                            "m=31,n=33,k=257,alpha=-0.75,beta=1",
                                            "m=17,n=19,k=23,alpha=0,beta=2",
                                            "batch=3,m=5,n=6,k=7,beta=0.25",
                                            "m=11,n=24,k=31,trans_a=t",
                                            "m=11,n=24,k=31,trans_b=t",
                                            "m=40,n=50,k=60,trans_a=t,trans_b=c",
                                            "batch=2,m=8,n=9,k=10,trans_a=c,alpha=2"};
static const char *const shapes_n[] = {"n=0",  "n=1",  "n=7",    "n=8",
                                       "n=31", "n=97", "n=4099", "n=9001"};
static const char *const shapes_rows[] = {
    "rows=0,cols=5",  "rows=5,cols=0",    "rows=1,cols=1",    "rows=3,cols=7",
    "rows=5,cols=33", "rows=13,cols=131", "rows=3,cols=1009", "rows=1,cols=17001"};

static const char *const *shapes(assay_op_id op, size_t *count)
{
    if (op == ASSAY_OP_matmul) {
        *count = sizeof shapes_matmul / sizeof *shapes_matmul;
        return shapes_matmul;
    }
    *count = sizeof shapes_n / sizeof *shapes_n;
    return op == ASSAY_OP_softmax_last_dim ? shapes_rows : shapes_n;
}

/* Allowed distance from hi + lo for element i, by the error analysis of each op. */
static double allowance(const plugin_case *c, const assay_kernel_desc *k, const assay_wide *w,
                        int64_t i)
{
    const assay_dtype_info *t = assay_dtype_describe((assay_dtype)k->dtypes[k->dtype_count - 1]);
    double u = t->unit_roundoff, y = fabs(w->hi[i]);
    double unit = fmax(y > 0.0 ? ldexp(2.0 * u, ilogb(y)) : 0.0, t->min_subnormal);
    double inner = t->precision < 24 ? 0x1p-24 : u;

    if (k->op == ASSAY_OP_matmul) {
        double terms = (double)assay_problem_int(&c->problem, "k") + 4.0;
        return 0.5 * unit + terms * inner * w->magnitude[i] * 1.01 + 4.0 * t->min_subnormal;
    }
    if (k->op == ASSAY_OP_softmax_last_dim)
        return 2.0 * unit + 60.0 * inner * y + 0.5 * (1.0 - y) * inner * y * 200.0;
    return ((k->claims.max_ulp < 0.0 ? 1.0 : k->claims.max_ulp) + 0.5) * unit;
}

static void check_element(const plugin_case *c, const assay_kernel_desc *k, const assay_wide *w,
                          int64_t i, const char *what)
{
    assay_dtype t = (assay_dtype)k->dtypes[k->dtype_count - 1];
    double got = plugin_case_get(c, c->count - 1, i), want = w->hi[i];
    double rounded = assay_round_f64(t, want);

    if (isnan(want) || isinf(rounded)) {
        double largest = assay_dtype_describe(t)->max_finite;
        bool close = isinf(rounded) && fabs(want) < largest * 1.01 && fabs(got) >= largest;
        ck_assert_msg(close || (isnan(want) ? isnan(got) : got == rounded),
                      "%s element %ld: %a, not %a", what, (long)i, got, want);
        return;
    }
    if (k->claims.max_ulp == 0.0 && w->lo[i] == 0.0 && w->bound[i] == 0.0)
        ck_assert_msg(got == rounded, "%s element %ld: %a, not %a", what, (long)i, got, rounded);
    double gap = fabs(got - want - w->lo[i]), most = allowance(c, k, w, i) + w->bound[i];
    ck_assert_msg(gap <= most, "%s element %ld: %a, not %a: %g of the allowance", what, (long)i,
                  got, want, gap / most);
}

static void fill_inputs(plugin_case *c, assay_op_id op, uint64_t seed)
{
    bool reads_output = op == ASSAY_OP_matmul && assay_problem_real(&c->problem, "beta") != 0.0;

    for (uint32_t i = 0; i + 1 < c->count; i++)
        plugin_case_fill(c, i, seed + i, op == ASSAY_OP_exp ? 20.0 : 2.0);
    if (op == ASSAY_OP_exp)
        for (int64_t i = 0; i < c->elements && i < 4; i++)
            plugin_case_set(c, 0, i, i == 0 ? NAN : i == 1 ? -INFINITY : i == 2 ? 88.7 : -103.0);
    plugin_case_poison(c);
    if (reads_output)
        plugin_case_fill(c, c->count - 1, seed + 9, 1.0);
}

/* Every variant on one problem; all that differ only in threads must agree bit for bit where the
 * kernel says so. */
typedef struct variants {
    const assay_kernel_desc *kernel;
    plugin_case *c;
    const assay_wide *wide;
    const char *params;
    void *old;   /* output before the run */
    void *first; /* bytes of the variant with threads at 1 and the same other choices */
    size_t bytes;
    bool thorough;
    int ran;
} variants;

static void run_variant(variants *v, const int64_t *tunables, bool compare)
{
    void *out = assay_tensor_data(&v->c->operands[v->c->count - 1]);
    char what[256];
    int length = snprintf(what, sizeof what, "%s %s %s", v->kernel->name,
                          assay_dtype_name((assay_dtype)v->kernel->dtypes[0]), v->params);

    for (size_t i = 0; i < v->kernel->tunable_count; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s=%ld",
                           v->kernel->tunables[i].name, (long)tunables[i]);
    memcpy(out, v->old, v->bytes);
    ck_assert_msg(plugin_case_run(v->c, v->kernel, tunables) == ASSAY_OK, "%s failed", what);
    for (int64_t i = 0; i < v->c->elements; i++)
        check_element(v->c, v->kernel, v->wide, i, what);
    if (compare && v->kernel->claims.stability >= ASSAY_STABILITY_MACHINE)
        ck_assert_msg(memcmp(v->first, out, v->bytes) == 0, "%s depends on threads", what);
    else
        memcpy(v->first, out, v->bytes);
    v->ran++;
}

/* Every choice of every third problem; of others the defaults with all thread counts. */
static void each_variant(variants *v, int64_t *tunables, size_t depth)
{
    const assay_kernel_desc *k = v->kernel;

    if (depth < k->tunable_count) { /* the last tunable varies slowest: threads are first */
        const assay_tunable *t = &k->tunables[k->tunable_count - 1 - depth];
        bool all = v->thorough || strcmp(t->name, "threads") == 0;
        for (size_t i = 0; i < t->value_count; i++) {
            if (!all && t->values[i] != t->default_value)
                continue;
            tunables[k->tunable_count - 1 - depth] = t->values[i];
            each_variant(v, tunables, depth + 1);
        }
        return;
    }
    if (k->can_run_fn != NULL && !k->can_run_fn(&v->c->problem, tunables))
        return;
    bool threaded = k->tunable_count > 0 && strcmp(k->tunables[0].name, "threads") == 0;
    run_variant(v, tunables, threaded && tunables[0] != k->tunables[0].values[0]);
}

static void check_problem(const assay_kernel_desc *k, const char *params, size_t skew,
                          bool thorough)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    plugin_case c;
    assay_wide w;

    plugin_case_init(&c, k->op, (assay_dtype)k->dtypes[0], params, skew);
    fill_inputs(&c, k->op, 77);
    plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
    variants v = {.kernel = k, .c = &c, .wide = &w, .params = params, .thorough = thorough};
    v.bytes = (size_t)c.elements * assay_dtype_bytes((assay_dtype)k->dtypes[k->dtype_count - 1]);
    v.old = malloc(v.bytes + 1);
    v.first = malloc(v.bytes + 1);
    ck_assert(v.old != NULL && v.first != NULL);
    memcpy(v.old, assay_tensor_data(&c.operands[c.count - 1]), v.bytes);
    each_variant(&v, tunables, 0);
    free(v.old);
    free(v.first);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}

static bool isa_present(const assay_kernel_desc *k)
{
    return k->requires_isa == NULL ||
           (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static assay_instance *instance; /* of the plug-in under test */

static void close_instance(const assay_manifest *m)
{
    if (instance != NULL)
        m->backend->close(instance);
    instance = NULL;
}

/* Not the reference: it would be compared with itself. */
static bool opens(const assay_manifest *m)
{
    return m->oracle_count == 0 && m->backend->open(NULL, &instance) == ASSAY_OK;
}

/* Kernels of a library that is not here, or does not serve this CPU, cannot run. */
static bool can_run_here(const assay_manifest *m, const assay_kernel_desc *k)
{
    char text[1024];

    for (const char *const *l = k->libraries; l != NULL && *l != NULL; l++)
        if (m->backend->library_identity(instance, *l, text, sizeof text) != ASSAY_OK)
            return false;
    return isa_present(k);
}

START_TEST(kernel_agrees_with_the_oracle)
{
    static const size_t skews[] = {0, 8, 40};
    const assay_manifest *m = plugin_at(_i / ASSAY_OP_COUNT);
    assay_op_id op = (assay_op_id)(_i % ASSAY_OP_COUNT);
    size_t count;
    const char *const *list = shapes(op, &count);

    if (!opens(m))
        return;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].op == op && can_run_here(m, &m->kernels[i]))
            for (size_t j = 0; j < count; j++)
                check_problem(&m->kernels[i], list[j], skews[j % 3], j % 3 == 2);
    close_instance(m);
}
END_TEST

/* Operands whose rows are apart, for kernels that say they take them; the gaps stay untouched. */
static void check_leading(const assay_kernel_desc *k, const char *params)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    plugin_case dense, apart;
    assay_wide w;
    size_t bytes = assay_dtype_bytes((assay_dtype)k->dtypes[0]);

    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    plugin_case_init(&dense, k->op, (assay_dtype)k->dtypes[0], params, 0);
    fill_inputs(&dense, k->op, 5);
    plugin_case_wide(&dense, plugin_oracle(ref, k->op), 1, &w);
    apart = dense;
    for (uint32_t i = 0; i < dense.count; i++) {
        assay_tensor *t = &apart.operands[i];
        int64_t rows = t->dims[0] * t->dims[1], cols = t->dims[2], ld = cols + 3;
        char *memory = malloc((size_t)(rows * ld) * bytes);
        ck_assert_ptr_nonnull(memory);
        memset(memory, 0x5a, (size_t)(rows * ld) * bytes);
        for (int64_t r = 0; r < rows; r++)
            memcpy(memory + (size_t)(r * ld) * bytes,
                   (char *)assay_tensor_data(&dense.operands[i]) + (size_t)(r * cols) * bytes,
                   (size_t)cols * bytes);
        t->buffer.at.host = memory;
        t->byte_offset = 0;
        t->strides[0] = t->dims[1] * ld;
        t->strides[1] = ld;
    }
    ck_assert_int_eq(plugin_case_run(&apart, k, tunables), ASSAY_OK);
    const assay_tensor *y = &apart.operands[2];
    for (int64_t r = 0; r < y->dims[0] * y->dims[1]; r++) {
        const char *row = (const char *)y->buffer.at.host + (size_t)(r * y->strides[1]) * bytes;
        for (size_t b = (size_t)y->dims[2] * bytes; b < (size_t)y->strides[1] * bytes; b++)
            ck_assert_msg(row[b] == 0x5a, "%s wrote between rows", k->name);
        memcpy((char *)assay_tensor_data(&dense.operands[2]) + (size_t)(r * y->dims[2]) * bytes,
               row, (size_t)y->dims[2] * bytes);
    }
    for (int64_t i = 0; i < dense.elements; i++)
        check_element(&dense, k, &w, i, params);
    for (uint32_t i = 0; i < dense.count; i++)
        free(apart.operands[i].buffer.at.host);
    plugin_wide_clear(&w);
    plugin_case_clear(&dense);
}

START_TEST(kernel_takes_leading_dimensions)
{
    static const char *const params[] = {"batch=2,m=13,n=21,k=9", "m=9,n=35,k=300,trans_a=t,beta=1",
                                         "m=9,n=35,k=12,trans_b=t"};
    const assay_manifest *m = plugin_at(_i);

    if (!opens(m))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        for (size_t j = 0; j < 3 && k->op == ASSAY_OP_matmul && can_run_here(m, k); j++) {
            plugin_case c;
            int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
            for (size_t t = 0; t < k->tunable_count; t++)
                tunables[t] = k->tunables[t].default_value;
            plugin_case_init(&c, k->op, (assay_dtype)k->dtypes[0], params[j], 0);
            if ((k->caps[2].layouts & ASSAY_CAP_LEADING) != 0 &&
                (k->can_run_fn == NULL || k->can_run_fn(&c.problem, tunables)))
                check_leading(k, params[j]);
            plugin_case_clear(&c);
        }
    }
    close_instance(m);
}
END_TEST

/* NaN, infinities and rows of -inf, in every position of a vector and a tail. */
START_TEST(kernel_softmax_special_rows)
{
    const assay_manifest *m = plugin_load("cpu");

    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {1, 0};
        plugin_case c;
        assay_wide w;
        if (k->op != ASSAY_OP_softmax_last_dim || !isa_present(k))
            continue;
        plugin_case_init(&c, k->op, (assay_dtype)k->dtypes[0], "rows=80,cols=37", 0);
        plugin_case_fill(&c, 0, 3, 30.0);
        for (int64_t j = 0; j < 37; j++) {
            plugin_case_set(&c, 0, j * 37 + j, NAN);
            plugin_case_set(&c, 0, (j + 37) * 37 + j, INFINITY);
            plugin_case_set(&c, 0, 74 * 37 + j, -INFINITY);
            plugin_case_set(&c, 0, 75 * 37 + j, j < 36 ? -INFINITY : -3.0);
            plugin_case_set(&c, 0, 76 * 37 + j, 88.0 + (double)(j % 3) * (j % 2 ? 1 : -1));
            plugin_case_set(&c, 0, 77 * 37 + j, -2.7 * (double)j);
        }
        plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        for (int64_t j = 0; j < c.elements; j++)
            check_element(&c, k, &w, j, k->name);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("kernel");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    int count = find_plugins();
    tcase_add_loop_test(tcase, kernel_agrees_with_the_oracle, 0, count * ASSAY_OP_COUNT);
    tcase_add_loop_test(tcase, kernel_takes_leading_dimensions, 0, count);
    tcase_add_test(tcase, kernel_softmax_special_rows);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
