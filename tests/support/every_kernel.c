/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/every_kernel.c -- see every_kernel.h. */
#include "tests/support/every_kernel.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/pick_internal.h"
#include "sweep/acceptance.h"

static assay_context *context;
static const assay_snapshot *rows;

void every_kernel_open(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};

    snprintf(path, sizeof path, "%s/lib/assay", build != NULL ? build : "build");
    ck_assert_msg(assay_open(NULL, &options, &context) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_table_hold(assay_context_table(context), &rows), ASSAY_OK);
}

void every_kernel_close(void)
{
    assay_snapshot_release(&rows);
    assay_close(&context);
}

/* ---- views ---- */

/* Elements from element 0 to element `index` in row-major order. */
static int64_t place_of(const assay_tensor *t, int64_t index)
{
    int64_t place = 0;

    for (uint32_t d = t->rank; d-- > 0;) {
        place += index % t->dims[d] * t->strides[d];
        index /= t->dims[d];
    }
    return place;
}

double every_kernel_get(const assay_tensor *t, int64_t index)
{
    const char *base = assay_tensor_data(t);
    int64_t bytes = (int64_t)assay_dtype_bytes(t->dtype);

    return assay_load_f64(t->dtype, base + place_of(t, index) * bytes, 0);
}

void every_kernel_set(const assay_tensor *t, int64_t index, double value)
{
    char *base = assay_tensor_data(t);
    int64_t bytes = (int64_t)assay_dtype_bytes(t->dtype);

    assay_store_f64(t->dtype, base + place_of(t, index) * bytes, 0, value);
}

void every_kernel_spread(plugin_case *c, uint32_t i, int64_t gap)
{
    const assay_tensor dense = c->operands[i];
    assay_tensor *t = &c->operands[i];
    int64_t span = 1;

    for (uint32_t d = t->rank; d-- > 0;) {
        t->strides[d] = span;
        span = span * (t->dims[d] > 0 ? t->dims[d] : 1) + gap;
    }
    size_t bytes = (size_t)span * assay_dtype_bytes(t->dtype);
    void *memory = NULL;
    ck_assert_int_eq(posix_memalign(&memory, 64, bytes), 0);
    memset(memory, 0xff, bytes);
    t->buffer.at.host = memory;
    t->buffer.size_bytes = bytes;
    t->byte_offset = 0;
    ck_assert_int_eq(assay_tensor_copy(&dense, t), ASSAY_OK);
    free(c->memory[i]);
    c->memory[i] = memory;
}

bool every_kernel_gaps_untouched(const plugin_case *c, uint32_t i)
{
    const assay_tensor *t = &c->operands[i];
    const size_t bytes = assay_dtype_bytes(t->dtype), size = (size_t)t->buffer.size_bytes;
    const int64_t n = assay_tensor_elements(t);
    unsigned char *seen = malloc(size + 1);
    bool untouched = true;

    ck_assert_ptr_nonnull(seen);
    memcpy(seen, assay_tensor_data(t), size);
    for (int64_t e = 0; e < n; e++)
        memset(seen + (size_t)place_of(t, e) * bytes, 0xff, bytes);
    for (size_t b = 0; b < size; b++)
        untouched = untouched && seen[b] == 0xff;
    free(seen);
    return untouched;
}

/* ---- runs ---- */

static void make_route(const assay_binding *row, assay_route *out)
{
    const assay_kernel_desc *k = row->desc;
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    const assay__interned *variant = NULL;

    for (size_t i = 0; i < k->tunable_count; i++) {
        tunables[i] = k->tunables[i].default_value;
        for (size_t v = 0; v < k->tunables[i].value_count; v++)
            if (strcmp(k->tunables[i].name, "threads") == 0 && k->tunables[i].values[v] == 2)
                tunables[i] = 2;
    }
    ck_assert_int_eq(assay__intern(context, row, tunables, &variant), ASSAY_OK);
    *out = (assay_route){.binding = &variant->binding, .tunables = variant->tunables};
}

static bool is_candidate(const assay_binding *row, const plugin_case *c)
{
    return row->op == c->problem.op && row->available &&
           row->manifest->location == ASSAY_LOCATION_CPU && row->dtype_count == c->count &&
           memcmp(row->dtypes, c->problem.dtypes, c->count) == 0 &&
           strcmp(row->manifest->name, "fake") != 0;
}

static bool declines(assay_status status)
{
    return status == ASSAY_INVALID && (strstr(assay_last_error(), "declines this problem") ||
                                       strstr(assay_last_error(), "cannot run this problem"));
}

/* Contiguous stand-ins for what a kernel does not take; the output goes back behind the run. */
static assay_status run_row(plugin_case *c, const assay_binding *row)
{
    const assay_tensor *given = c->operands;
    assay_tensor taken[ASSAY_MAX_OPERANDS];
    void *memory[ASSAY_MAX_OPERANDS] = {NULL};
    char why[128];
    assay_route route;

    for (uint32_t i = 0; i < c->count; i++) {
        taken[i] = given[i];
        if (assay__caps_fit_tensor(row->desc, &given[i], i, why, sizeof why))
            continue;
        size_t bytes = (size_t)assay_problem_operand_bytes(&c->problem, i);
        ck_assert_int_eq(posix_memalign(&memory[i], 64, bytes + 1), 0);
        ck_assert_int_eq(assay_tensor_host(memory[i], given[i].dtype, given[i].rank, given[i].dims,
                                           NULL, &taken[i]),
                         ASSAY_OK);
        ck_assert_int_eq(assay_tensor_copy(&given[i], &taken[i]), ASSAY_OK);
    }
    make_route(row, &route);
    assay_status status = assay_run(context, &route, &c->problem, taken, c->count);
    uint32_t y = c->count - 1;
    if (memory[y] != NULL)
        ck_assert_int_eq(assay_tensor_copy(&taken[y], &given[y]), ASSAY_OK);
    for (uint32_t i = 0; i < c->count; i++)
        free(memory[i]);
    return status;
}

typedef struct kept {
    void *from, *bytes;
    size_t size;
} kept;

/* All of the buffer where its size is known, else the operand. */
static kept keep_output(const plugin_case *c)
{
    const assay_tensor *y = &c->operands[c->count - 1];
    bool known = y->buffer.size_bytes != UINT64_MAX;
    kept k = {.from = known ? y->buffer.at.host : assay_tensor_data(y),
              .size = known ? (size_t)y->buffer.size_bytes
                            : (size_t)assay_problem_operand_bytes(&c->problem, c->count - 1)};

    k.bytes = malloc(k.size + 1);
    ck_assert_ptr_nonnull(k.bytes);
    memcpy(k.bytes, k.from, k.size);
    return k;
}

int every_kernel(plugin_case *c, every_kernel_fn check, void *cookie)
{
    kept old = keep_output(c);
    int ran = 0;

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (!is_candidate(row, c))
            continue;
        assay_status status = run_row(c, row);
        if (declines(status))
            continue;
        ck_assert_msg(status == ASSAY_OK, "%s %s: %s", row->desc->name,
                      assay_dtype_name((assay_dtype)row->dtypes[0]), assay_last_error());
        check(c, row->desc, cookie);
        memcpy(old.from, old.bytes, old.size);
        ran++;
    }
    free(old.bytes);
    return ran;
}

bool every_kernel_can(const assay_kernel_desc *kernel)
{
    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (row->desc == kernel)
            return row->available != 0;
    }
    ck_abort_msg("%s is not in the table", kernel->name);
    return false;
}

/* old NULL: the output is not looked at. */
static int refuses(plugin_case *c, assay_status status, const kept *old)
{
    assay_route route;
    int refused = 0;

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (!is_candidate(row, c))
            continue;
        make_route(row, &route);
        assay_status got = assay_run(context, &route, &c->problem, c->operands, c->count);
        ck_assert_msg(got == status, "%s: status %d", row->desc->name, (int)got);
        ck_assert_msg(old == NULL || memcmp(old->from, old->bytes, old->size) == 0,
                      "%s wrote before it refused", row->desc->name);
        refused++;
    }
    return refused;
}

int every_kernel_refuses(plugin_case *c, assay_status status)
{
    kept old = keep_output(c);
    int refused = refuses(c, status, &old);

    free(old.bytes);
    return refused;
}

int every_kernel_refuses_untouched(plugin_case *c, assay_status status)
{
    return refuses(c, status, NULL);
}

/* ---- verdicts ---- */

typedef struct wanted {
    const double *values;
    const char *what;
    bool is_strict; /* the sign of a zero is law for this op */
} wanted;

static bool same(double got, double want, bool is_strict)
{
    return isnan(want)
               ? isnan(got)
               : got >= want && got <= want && (!is_strict || !signbit(got) == !signbit(want));
}

static void check_values(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    const wanted *w = cookie;
    const assay_tensor *y = &c->operands[c->count - 1];

    for (int64_t i = 0; i < c->elements; i++) {
        double got = every_kernel_get(y, i);
        ck_assert_msg(same(got, w->values[i], w->is_strict), "%s %s %s element %ld: %g, not %g",
                      k->name, assay_dtype_name((assay_dtype)k->dtypes[0]), w->what, (long)i, got,
                      w->values[i]);
    }
}

void every_kernel_gives(plugin_case *c, const double *want, const char *what)
{
    const assay_op_info *info = assay_op_get((assay_op_id)c->problem.op);
    wanted w = {want, what, info->bound_rule == ASSAY_BOUND_EXACT && info->bound_fixed > 0.0};
    int ran = every_kernel(c, check_values, &w);

    ck_assert_msg(ran >= 2, "%s: %d kernels", what, ran);
}

typedef struct judged {
    assay_accept_spec spec;
    assay_wide wide;
    double *depth;
    const char *what;
} judged;

static void check_bound(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    const judged *j = cookie;
    const assay_tensor *y = &c->operands[c->count - 1];

    for (int64_t i = 0; i < c->elements; i++) {
        assay_accept_element e = {.y = every_kernel_get(y, i),
                                  .hi = j->wide.hi[i],
                                  .lo = j->wide.lo[i],
                                  .bound = j->wide.bound[i],
                                  .magnitude = j->wide.magnitude != NULL ? j->wide.magnitude[i] : 0,
                                  .depth = j->depth[i]};
        ck_assert_msg(assay__accept(&e, &j->spec) != ASSAY_ACCEPT_FAIL,
                      "%s %s %s element %ld: %g, not %g", k->name,
                      assay_dtype_name((assay_dtype)k->dtypes[0]), j->what, (long)i, e.y, e.hi);
    }
}

void every_kernel_agrees(plugin_case *c, const char *what)
{
    judged j = {.what = what, .depth = calloc((size_t)c->elements + 1, sizeof(double))};
    assay__depth_state state = ASSAY__DEPTH_START;

    ck_assert_ptr_nonnull(j.depth);
    ck_assert_int_eq(assay__acceptance_of(&c->problem, &j.spec), ASSAY_OK);
    if (j.spec.rule == ASSAY_ACCEPT_SOFTMAX)
        ck_assert_int_eq(assay__softmax_depth(&c->problem, assay_tensor_data(&c->operands[0]), 0,
                                              c->elements, &state, j.depth),
                         ASSAY_OK);
    plugin_case_wide(c, plugin_oracle(plugin_load("ref"), (assay_op_id)c->problem.op), 1, &j.wide);
    int ran = every_kernel(c, check_bound, &j);
    ck_assert_msg(ran >= 2, "%s: %d kernels", what, ran);
    assay__depth_clear(&state);
    plugin_wide_clear(&j.wide);
    free(j.depth);
}
