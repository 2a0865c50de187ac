/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_kernels.c -- every kernel and variant of every plug-in against the oracle.
 *
 * Loops over the manifests: a new kernel needs no edit here. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "calibrate/accept.h"
#include "calibrate/inputs.h"
#include "sweep/acceptance.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/op_cases.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"
#include "tuner/arena.h"

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
                                            "m=9,n=7,k=161,alpha=0.75,beta=-1.5,trans_b=t",
                                            "m=40,n=50,k=60,trans_a=t,trans_b=c",
                                            "batch=2,m=8,n=9,k=10,trans_a=c,alpha=2"};
static const char *const shapes_fused_linear[] = {"m=3,n=0,k=2",
                                                  "m=5,n=7,k=0",
                                                  "m=1,n=1,k=1",
                                                  "m=6,n=16,k=8",
                                                  "m=7,n=17,k=9",
                                                  "m=13,n=101,k=67",
                                                  "m=149,n=67,k=13",
                                                  "m=31,n=33,k=600",
                                                  "m=80,n=1100,k=30",
                                                  "batch=3,m=5,n=6,k=7",
                                                  "batch=2,m=70,n=40,k=300"};
/* More columns than a task of the reductions takes. */
static const char *const shapes_reduce[] = {"outer=2,axis=3,inner=1100"};
static const char *const shapes_conv2d[] = {
    "n=1,c=1,h=1,w=1,k=1,r=1,s=1,pad_h=3,pad_w=2",
    "n=2,c=0,h=4,w=5,k=3,r=2,s=2",
    "n=1,c=2,h=0,w=0,k=3,r=1,s=2,pad_h=1,pad_w=2",
    "n=1,c=3,h=9,w=11,k=7,r=3,s=3,pad_h=1,pad_w=1",
    "n=3,c=5,h=7,w=7,k=13,r=3,s=3,pad_h=1,pad_w=1",
    "n=1,c=3,h=29,w=31,k=8,r=7,s=7,stride_h=2,stride_w=2,pad_h=3,pad_w=3",
    "n=2,c=6,h=13,w=10,k=9,r=1,s=1,stride_h=2,stride_w=3",
    "n=1,c=70,h=14,w=14,k=20,r=1,s=1",
    "n=2,c=40,h=12,w=9,k=14,r=3,s=3,stride_h=1,stride_w=2,pad_h=2,pad_w=0",
    "n=1,c=4,h=12,w=15,k=6,r=3,s=2,dil_h=2,dil_w=4,pad_h=2,pad_w=1",
    "n=1,c=4,h=20,w=15,k=6,r=3,s=2,stride_h=3,stride_w=2,dil_h=2,dil_w=3,pad_h=5,pad_w=4",
    "n=2,c=8,h=9,w=8,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=4",
    "n=2,c=9,h=6,w=10,k=9,r=3,s=3,pad_h=1,pad_w=1,groups=9",
    "n=1,c=6,h=5,w=5,k=3,r=5,s=5,groups=3",
    "n=1,c=2,h=3,w=700,k=2,r=2,s=5,stride_w=2,pad_w=2",
    "n=1,c=130,h=7,w=6,k=5,r=2,s=2,pad_h=4,pad_w=5",
    "n=5,c=2,h=1,w=1,k=17,r=1,s=1,stride_h=7,stride_w=9",
    "n=2,c=17,h=9,w=11,k=7,r=3,s=3,pad_h=1,pad_w=1",
    "n=3,c=32,h=7,w=75,k=30,r=3,s=3,pad_h=2,groups=2",
    "n=1,c=16,h=3,w=3,k=1,r=3,s=3"};
static const char *const shapes_attention[] = {
    "b=1,hq=2,hkv=1,sq=0,sk=4,d=3",
    "b=2,hq=1,hkv=1,sq=3,sk=0,d=5",
    "b=1,hq=4,hkv=2,sq=9,sk=70,d=0",
    "b=2,hq=3,hkv=3,sq=25,sk=131,d=8,causal=1",
    "b=1,hq=8,hkv=2,sq=13,sk=300,d=66,causal=1",
    "b=1,hq=4,hkv=4,sq=70,sk=33,d=17,causal=1",
    "b=1,hq=4,hkv=4,sq=33,sk=70,d=16,causal=top_left",
    "b=3,hq=8,hkv=4,sq=1,sk=129,d=64,causal=1,scale=-0.25",
    "b=2,hq=4,hkv=4,sq=50,sk=17,d=7,causal=top_left,scale=3"};
/* Exponentials kept and not, narrow and wide blocks, partial vectors, the last axis. */
static const char *const shapes_softmax[] = {
    "outer=2,axis=5000,inner=19", "outer=1,axis=1,inner=1000", "outer=3,axis=64,inner=65",
    "outer=2,axis=37,inner=1",    "outer=40,axis=3,inner=7",   "outer=1,axis=1500,inner=33",
    "outer=2,axis=5,inner=2"};
/* Problems on top of those made from the catalogue: transposition, scaling, odd tiles; strides,
 * padding, dilation, groups; masks. */
static const struct extra {
    assay_op_id op;
    const char *const *params;
    size_t count;
} extras[] = {
    {ASSAY_OP_matmul, shapes_matmul, sizeof shapes_matmul / sizeof *shapes_matmul},
    {ASSAY_OP_fused_linear, shapes_fused_linear,
     sizeof shapes_fused_linear / sizeof *shapes_fused_linear},
    {ASSAY_OP_softmax, shapes_softmax, sizeof shapes_softmax / sizeof *shapes_softmax},
    {ASSAY_OP_log_softmax, shapes_softmax, sizeof shapes_softmax / sizeof *shapes_softmax},
    {ASSAY_OP_sum_reduce, shapes_reduce, 1},
    {ASSAY_OP_max_reduce, shapes_reduce, 1},
    {ASSAY_OP_conv2d, shapes_conv2d, sizeof shapes_conv2d / sizeof *shapes_conv2d},
    {ASSAY_OP_conv2d_backward_data, shapes_conv2d, sizeof shapes_conv2d / sizeof *shapes_conv2d},
    {ASSAY_OP_conv2d_backward_filter, shapes_conv2d, sizeof shapes_conv2d / sizeof *shapes_conv2d},
    {ASSAY_OP_attention, shapes_attention, sizeof shapes_attention / sizeof *shapes_attention}};

static const struct extra *extra_of(assay_op_id op)
{
    static const struct extra none = {.count = 0};

    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (extras[i].op == op)
            return &extras[i];
    return &none;
}

static size_t problem_count(assay_op_id op)
{
    return op_case_count(op) + extra_of(op)->count;
}

static void problem_text(assay_op_id op, size_t index, char text[OP_CASE_TEXT])
{
    if (index < op_case_count(op))
        op_case_text(op, index, text);
    else
        snprintf(text, OP_CASE_TEXT, "%s", extra_of(op)->params[index - op_case_count(op)]);
}

/* Judges outputs by the catalogue's own bound and by what the kernel claims. */
typedef struct judge {
    const plugin_case *c;
    const assay_kernel_desc *kernel;
    const assay_wide *wide;
    assay_accept_spec spec;
    double *depth; /* of a softmax */
    double *tiles; /* largest magnitudes of tiles; NULL: each element's own */
} judge;

static judge judge_make(const plugin_case *c, const assay_kernel_desc *k, const assay_wide *w)
{
    judge j = {.c = c, .kernel = k, .wide = w};

    ck_assert_int_eq(assay__acceptance_for(&c->problem, k, &j.spec), ASSAY_OK);
    if (k->error_tile > 0) {
        j.tiles = calloc((size_t)c->elements + 1, sizeof *j.tiles);
        ck_assert_ptr_nonnull(j.tiles);
        assay__tile_magnitude(&c->problem, k->error_tile, w->magnitude, j.tiles);
    }
    if (j.spec.rule == ASSAY_ACCEPT_SOFTMAX && c->elements > 0) {
        assay__depth_state state = ASSAY__DEPTH_START;
        j.depth = calloc((size_t)c->elements, sizeof *j.depth);
        ck_assert_ptr_nonnull(j.depth);
        ck_assert_int_eq(assay__softmax_depth(&c->problem, assay_tensor_data(&c->operands[0]), 0,
                                              c->elements, &state, j.depth),
                         ASSAY_OK);
        assay__depth_clear(&state);
    }
    return j;
}

/* VDPBF16PS and TDPBF16PS, which a library may choose for bf16, take subnormals for zero whatever
 * the control register says, operands and results alike (Intel's instruction set reference); own
 * kernels may not, nor may products of other types.  What that changes: a least normal times an
 * input a term. */
static bool flushed(const judge *j, double y, double want)
{
    assay_dtype t = (assay_dtype)j->kernel->dtypes[j->kernel->dtype_count - 1];
    const assay_dtype_info *d = assay_dtype_describe(t);
    double least_normal = d->min_subnormal / (2.0 * d->unit_roundoff), largest_input = 16.0;
    bool of_library = j->kernel->libraries != NULL && j->kernel->libraries[0] != NULL;

    bool is_product = j->kernel->op == ASSAY_OP_matmul || j->kernel->op == ASSAY_OP_fused_linear;

    if (!of_library || !is_product || j->kernel->dtypes[0] != ASSAY_BF16 ||
        !(fabs(y) <= largest_input))
        return false;
    double terms = (double)assay_problem_int(&j->c->problem, "k") + 1.0;
    return fabs(y - want) <= terms * largest_input * least_normal;
}

static void check_element(const judge *j, int64_t i, const char *what)
{
    const assay_wide *w = j->wide;
    const assay_claims *claims = &j->kernel->claims;
    assay_accept_element e = {.y = plugin_case_get(j->c, j->c->count - 1, i),
                              .hi = w->hi[i],
                              .lo = w->lo[i],
                              .bound = w->bound[i],
                              .magnitude = j->tiles != NULL       ? j->tiles[i]
                                           : w->magnitude != NULL ? w->magnitude[i]
                                                                  : 0.0,
                              .depth = j->depth != NULL ? j->depth[i] : 0.0};
    const bool is_integer = j->spec.format.is_integer;

    if (is_integer)
        e.y_whole = assay__integer_element(
            j->spec.format.dtype, assay_tensor_data(&j->c->operands[j->c->count - 1]), (size_t)i);
    if (!is_integer && flushed(j, e.y, e.hi))
        return;
    ck_assert_msg(assay__accept(&e, &j->spec) != ASSAY_ACCEPT_FAIL,
                  "%s element %ld: %a, not %a + %a", what, (long)i, e.y, e.hi, e.lo);
    assay_ulp_point point = is_integer
                                ? assay__ulp_measure_integer(&j->spec.format, e.y_whole, e.hi, e.lo)
                                : assay__ulp_measure(&j->spec.format, e.y, e.hi, e.lo, e.bound);
    uint64_t slack = point.is_uncertain ? 1 : 0;
    if (claims->max_ulp >= 0.0 && point.class == ASSAY_ULP_ORDINARY)
        ck_assert_msg((double)point.dist <= claims->max_ulp + (double)slack,
                      "%s element %ld: %a, %lu from %a, claims %g", what, (long)i, e.y,
                      (unsigned long)point.dist, point.expected, claims->max_ulp);
    ck_assert_msg(claims->max_ulp < 0.0 || point.class == ASSAY_ULP_ORDINARY,
                  "%s element %ld: %a, not %a", what, (long)i, e.y, point.expected);
}

static void check_all(const plugin_case *c, const assay_kernel_desc *k, const assay_wide *w,
                      const char *what)
{
    judge j = judge_make(c, k, w);

    for (int64_t i = 0; i < c->elements; i++)
        check_element(&j, i, what);
    free(j.depth);
    free(j.tiles);
}

/* A set of the op's own, another one for each problem; the old output where it is read. */
static void fill_inputs(plugin_case *c, assay_op_id op, size_t set)
{
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred(op, ASSAY_STRATUM_COUNT, strata);

    ck_assert_uint_gt(count, 0);
    plugin_case_poison(c);
    for (uint32_t i = 0; i < c->count; i++)
        if (i + 1 < c->count || assay__reads_output(&c->problem))
            ck_assert_msg(
                assay__inputs_fill(&c->problem, strata[set % count], 77, i, 0,
                                   (uint64_t)assay_problem_operand_elements(&c->problem, i),
                                   assay_tensor_data(&c->operands[i])) == ASSAY_OK,
                "%s", assay_last_error());
}

/* Every variant on one problem; all that differ only in threads must agree bit for bit where the
 * kernel says so. */
typedef struct variants {
    const assay_kernel_desc *kernel;
    plugin_case *c;
    const assay_wide *wide;
    const char *params;
    void *old;    /* output before the run */
    void *first;  /* bytes of the variant with threads at 1 and the same other choices */
    void *judged; /* bytes that agree with the oracle: the same bytes need no second look */
    size_t bytes;
    bool thorough;
    int ran;
} variants;

static void run_variant(variants *v, const int64_t *tunables, bool compare)
{
    void *out = assay_tensor_data(&v->c->operands[v->c->count - 1]);
    char what[256];
    int length = snprintf(
        what, sizeof what, "%s %s..%s %s", v->kernel->name,
        assay_dtype_name((assay_dtype)v->kernel->dtypes[0]),
        assay_dtype_name((assay_dtype)v->kernel->dtypes[v->kernel->dtype_count - 1]), v->params);

    for (size_t i = 0; i < v->kernel->tunable_count; i++)
        length += snprintf(what + length, sizeof what - (size_t)length, " %s=%ld",
                           v->kernel->tunables[i].name, (long)tunables[i]);
    memcpy(out, v->old, v->bytes);
    ck_assert_msg(plugin_case_run(v->c, v->kernel, tunables) == ASSAY_OK, "%s failed", what);
    ck_assert_msg(plugin_case_kept_apart(v->c), "%s writes beside an operand", what);
    if (v->ran++ == 0 || memcmp(v->judged, out, v->bytes) != 0)
        check_all(v->c, v->kernel, v->wide, what);
    memcpy(v->judged, out, v->bytes);
    if (compare && v->kernel->claims.stability >= ASSAY_STABILITY_MACHINE)
        ck_assert_msg(memcmp(v->first, out, v->bytes) == 0, "%s depends on threads", what);
    else
        memcpy(v->first, out, v->bytes);
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

static void check_problem(const assay_kernel_desc *k, const char *params, size_t skew, size_t set,
                          bool thorough)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    plugin_case c;
    assay_wide w;

    plugin_case_of(&c, k, params, skew);
    fill_inputs(&c, k->op, set);
    plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
    variants v = {.kernel = k, .c = &c, .wide = &w, .params = params, .thorough = thorough};
    v.bytes = (size_t)c.elements * assay_dtype_bytes((assay_dtype)k->dtypes[k->dtype_count - 1]);
    v.old = malloc(v.bytes + 1);
    v.first = malloc(v.bytes + 1);
    v.judged = malloc(v.bytes + 1);
    ck_assert(v.old != NULL && v.first != NULL && v.judged != NULL);
    memcpy(v.old, assay_tensor_data(&c.operands[c.count - 1]), v.bytes);
    each_variant(&v, tunables, 0);
    free(v.old);
    free(v.first);
    free(v.judged);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}

static assay_instance *instance; /* of the plug-in under test */

/* Sums of the largest values overflow on the way to a scaled result that does not: N(0,1) only. */
static bool scales(const char *params)
{
    return strstr(params, "alpha=") != NULL && strstr(params, "alpha=0") == NULL;
}

/* All pairs of special values are in a long operand alone, which the turns may miss; so is what
 * stores around the caches do a page at a time. */
static void check_specials(const assay_kernel_desc *k, size_t problem)
{
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred(k->op, ASSAY_STRATUM_COUNT, strata);
    assay_op_family family = assay_op_get(k->op)->family;
    char text[OP_CASE_TEXT];

    if (family != ASSAY_FAMILY_ELEMENTWISE_UNARY && family != ASSAY_FAMILY_ELEMENTWISE_BINARY)
        return;
    problem_text(k->op, problem, text);
    for (size_t set = 0; set < count; set++)
        if ((assay__stratum_flags(strata[set]) & ASSAY_STRATUM_SPECIAL) != 0)
            check_problem(k, text, 8, set, true);
}

/* Long rows, some of which begin where stores around the caches may, whatever the type: of 16 bits
 * the thirteenth. */
static void check_long_rows(const assay_kernel_desc *k)
{
    if (assay_op_param_index(k->op, "cols") >= 0 && assay_op_param_index(k->op, "n") < 0)
        check_problem(k, "rows=13,cols=1025", 40, 0, true);
    if (k->op == ASSAY_OP_softmax_last_dim) /* beyond any buffer for its exponentials */
        check_problem(k, "rows=1,cols=262151", 8, 0, true);
}

START_TEST(kernel_agrees_with_the_oracle)
{
    static const size_t skews[] = {0, 8, 40};
    const assay_manifest *m = plugin_all_at(_i / ASSAY_OP_COUNT);
    assay_op_id op = (assay_op_id)(_i % ASSAY_OP_COUNT);

    if (!plugin_all_has(m, op) || !plugin_all_open(m, &instance)) /* to open a library takes long */
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        if (m->kernels[i].op != op || !plugin_all_runs(m, instance, &m->kernels[i]))
            continue;
        for (size_t j = 0; j < problem_count(op); j++) {
            char text[OP_CASE_TEXT];
            problem_text(op, j, text);
            check_problem(&m->kernels[i], text, skews[j % 3], scales(text) ? 0 : j + i, j % 3 == 2);
        }
        check_specials(&m->kernels[i], op_case_count(op) - 1);
        check_long_rows(&m->kernels[i]);
    }
    plugin_all_close(m, &instance);
}
END_TEST

/* Operands whose rows are apart, for kernels that say they take them; the gaps stay untouched. */
static void check_leading(const assay_kernel_desc *k, const char *params)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    plugin_case dense, apart;
    assay_wide w;

    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    plugin_case_of(&dense, k, params, 0);
    fill_inputs(&dense, k->op, 0);
    plugin_case_wide(&dense, plugin_oracle(ref, k->op), 1, &w);
    apart = dense;
    for (uint32_t i = 0; i < dense.count; i++) {
        assay_tensor *t = &apart.operands[i];
        if (t->rank < 3)
            continue;
        int64_t rows = t->dims[0] * t->dims[1], cols = t->dims[2], ld = cols + 3;
        size_t bytes = assay_dtype_bytes(t->dtype);
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
    const assay_tensor *y = &apart.operands[apart.count - 1];
    size_t bytes = assay_dtype_bytes(y->dtype);
    for (int64_t r = 0; r < y->dims[0] * y->dims[1]; r++) {
        const char *row = (const char *)y->buffer.at.host + (size_t)(r * y->strides[1]) * bytes;
        for (size_t b = (size_t)y->dims[2] * bytes; b < (size_t)y->strides[1] * bytes; b++)
            ck_assert_msg(row[b] == 0x5a, "%s wrote between rows", k->name);
        memcpy((char *)assay_tensor_data(&dense.operands[dense.count - 1]) +
                   (size_t)(r * y->dims[2]) * bytes,
               row, (size_t)y->dims[2] * bytes);
    }
    check_all(&dense, k, &w, params);
    for (uint32_t i = 0; i < dense.count; i++)
        if (apart.operands[i].rank == 3)
            free(apart.operands[i].buffer.at.host);
    plugin_wide_clear(&w);
    plugin_case_clear(&dense);
}

static const struct leading {
    assay_op_id op;
    const char *params;
} leading[] = {{ASSAY_OP_matmul, "batch=2,m=13,n=21,k=9"},
               {ASSAY_OP_matmul, "m=9,n=35,k=300,trans_a=t,beta=1"},
               {ASSAY_OP_matmul, "m=9,n=35,k=12,trans_b=t"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=n,trans_b=n,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=n,trans_b=t,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=n,trans_b=c,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=t,trans_b=n,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=t,trans_b=t,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=t,trans_b=c,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=c,trans_b=n,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=c,trans_b=t,beta=0.5"},
               {ASSAY_OP_matmul, "m=9,n=20,k=13,trans_a=c,trans_b=c,beta=0.5"},
               {ASSAY_OP_fused_linear, "batch=2,m=13,n=21,k=9"},
               {ASSAY_OP_fused_linear, "m=9,n=35,k=300"}};
#define LEADING (sizeof leading / sizeof *leading)

static void check_leading_if_taken(const assay_kernel_desc *k, const char *params)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    plugin_case c;

    for (size_t t = 0; t < k->tunable_count; t++)
        tunables[t] = k->tunables[t].default_value;
    plugin_case_of(&c, k, params, 0);
    if ((k->caps[k->dtype_count - 1].layouts & ASSAY_CAP_LEADING) != 0 &&
        (k->can_run_fn == NULL || k->can_run_fn(&c.problem, tunables)))
        check_leading(k, params);
    plugin_case_clear(&c);
}

START_TEST(kernel_takes_leading_dimensions)
{
    const assay_manifest *m = plugin_all_at(_i);

    if (!plugin_all_has(m, ASSAY_OP_matmul) || !plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++)
        for (size_t j = 0; j < LEADING; j++)
            if (m->kernels[i].op == leading[j].op && plugin_all_runs(m, instance, &m->kernels[i]))
                check_leading_if_taken(&m->kernels[i], leading[j].params);
    plugin_all_close(m, &instance);
}
END_TEST

/* Zeros of both signs in either order, in every lane and the tail: -0 < +0. */
static void fill_zeros(plugin_case *c, double away)
{
    (void)away;
    for (int64_t j = 0; j < 74; j++) {
        plugin_case_set(c, 0, j, j < 37 ? 0.0 : -0.0);
        plugin_case_set(c, 0, 74 + j, j < 37 ? -0.0 : 0.0);
    }
}

/* Lines of many vectors whose extreme is a zero of either sign, a NaN or neither, at any place. */
static void fill_extremes(plugin_case *c, double away)
{
    for (int64_t line = 0; line < 64; line++) {
        int64_t first = line * 300;
        for (int64_t j = 0; j < 300; j++)
            plugin_case_set(c, 0, first + j, away * (double)(1 + (j * 37 + line) % 100));
        /* 64 apart they meet in one lane. */
        if (line % 4 != 0)
            plugin_case_set(c, 0, first + line * 7 % 200, line % 2 != 0 ? -0.0 : 0.0);
        if (line % 4 > 1)
            plugin_case_set(c, 0, first + line * 7 % 200 + 64, line % 2 != 0 ? 0.0 : -0.0);
        if (line % 8 == 4)
            plugin_case_set(c, 0, first + line * 13 % 300, NAN);
    }
}

static const struct extremes {
    const char *params;
    void (*fill)(plugin_case *c, double away); /* away: sign of what is no extreme */
} extremes[] = {{"outer=1,axis=2,inner=74", fill_zeros},
                {"outer=64,axis=300,inner=1", fill_extremes}};
#define EXTREMES ((int)(sizeof extremes / sizeof *extremes))

START_TEST(kernel_extremes_agree_with_the_oracle)
{
    const assay_manifest *m = plugin_load("cpu");
    const int64_t tunables[ASSAY_MAX_TUNABLES] = {1, 0};
    size_t checked = 0;

    ck_assert(plugin_all_open(m, &instance));
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        plugin_case c;
        assay_wide w;
        if ((k->op != ASSAY_OP_max_reduce && k->op != ASSAY_OP_min_reduce) ||
            !plugin_all_runs(m, instance, k))
            continue;
        plugin_case_of(&c, k, extremes[_i].params, 0);
        extremes[_i].fill(&c, k->op == ASSAY_OP_max_reduce ? -1.0 : 1.0);
        plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        check_all(&c, k, &w, k->name);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
        checked++;
    }
    plugin_all_close(m, &instance);
    ck_assert_uint_ge(checked, 8);
}
END_TEST

/* NaN, infinities and rows of -inf, in every position of a vector and a tail. */
START_TEST(kernel_softmax_special_rows)
{
    const assay_manifest *m = plugin_load("cpu");

    ck_assert(plugin_all_open(m, &instance));
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {1, 0};
        plugin_case c;
        assay_wide w;
        if (k->op != ASSAY_OP_softmax_last_dim || !plugin_all_runs(m, instance, k))
            continue;
        plugin_case_of(&c, k, "rows=80,cols=37", 0);
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
        check_all(&c, k, &w, k->name);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
    plugin_all_close(m, &instance);
}
END_TEST

/* Unary kernels of up to 16 bits on every bit pattern. */
START_TEST(kernel_of_16_bits_holds_everywhere)
{
    const assay_manifest *m = plugin_all_at(_i);

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
        plugin_case c;
        assay_wide w;
        if (assay_op_get(k->op)->family != ASSAY_FAMILY_ELEMENTWISE_UNARY ||
            assay_dtype_bytes((assay_dtype)k->dtypes[0]) > 2 || !plugin_all_runs(m, instance, k))
            continue;
        for (size_t t = 0; t < k->tunable_count; t++)
            tunables[t] = k->tunables[t].default_value;
        plugin_case_of(&c, k, "n=65536", 0);
        void *x = assay_tensor_data(&c.operands[0]);
        for (size_t j = 0; j < 65536; j++) {
            if (assay_dtype_bytes((assay_dtype)k->dtypes[0]) == 2)
                ((uint16_t *)x)[j] = (uint16_t)j;
            else
                ((uint8_t *)x)[j] = (uint8_t)(j + j / 256); /* in every lane */
        }
        plugin_case_wide(&c, plugin_oracle(ref, k->op), 1, &w);
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        check_all(&c, k, &w, k->name);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
    }
    plugin_all_close(m, &instance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels");
    TCase *tcase = tcase_create("kernel");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    int count = plugin_all_find();
    tcase_add_loop_test(tcase, kernel_agrees_with_the_oracle, 0, count * ASSAY_OP_COUNT);
    tcase_add_loop_test(tcase, kernel_takes_leading_dimensions, 0, count);
    tcase_add_loop_test(tcase, kernel_extremes_agree_with_the_oracle, 0, EXTREMES);
    tcase_add_test(tcase, kernel_softmax_special_rows);
    tcase_add_loop_test(tcase, kernel_of_16_bits_holds_everywhere, 0, count);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
