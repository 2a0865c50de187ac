/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_bad_input.c -- problems and operands outside the catalogue's rules, made from
 * these rules for every op and every kernel: refused for the right reason, no memory touched.
 *
 * A new op or kernel needs no edit here. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/operands.h"
#include "runtime/pick_internal.h"
#include "runtime/problem_text.h"
#include "tests/support/op_cases.h"
#include "tests/support/plugin_case.h"

#define SEED UINT64_C(0x5eed)
#define ROOM (UINT64_C(1) << 22) /* for an operand, guard pages included */
#define PAGE 4096u

static assay_context *context;
static const assay_snapshot *rows;
static uint64_t seed;
static char *arena; /* ROOM an operand, not to be touched until opened */

static void setup(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[512];
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};

    snprintf(path, sizeof path, "%s/lib/assay", build != NULL ? build : "build");
    ck_assert_msg(assay_open(NULL, &options, &context) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(assay_table_hold(assay_context_table(context), &rows), ASSAY_OK);
    void *mapped = mmap(NULL, ASSAY_MAX_OPERANDS * ROOM, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    arena = mapped;
    seed = SEED;
}

static void teardown(void)
{
    assay_snapshot_release(&rows);
    assay_close(&context);
    ck_assert_int_eq(munmap(arena, ASSAY_MAX_OPERANDS * ROOM), 0);
}

static int64_t random_below(int64_t n)
{
    return (int64_t)(plugin_random(&seed) % (uint64_t)n);
}

static assay_dtype first_dtype(const assay_op_info *info)
{
    assay_dtype tuple[ASSAY_MAX_OPERANDS];

    ck_assert(assay_op_tuple(info->id, 0, tuple));
    for (size_t i = 0; i < info->inputs + info->outputs; i++)
        if (info->dtype_rule[2 * i] == 'T') /* no rule of today has a T behind a longer name */
            return tuple[i];
    ck_abort_msg("%s has no T", info->name);
    return ASSAY_F32;
}

/* Does "f64|f16:f32/bf16" or "f16=i64/u32" name t:u?  Read apart from the library's own reader. */
static bool is_listed(const char *dtypes, const char *t, const char *u)
{
    char copy[2048], *items = copy;

    ck_assert_uint_lt(strlen(dtypes), sizeof copy);
    strcpy(copy, dtypes);
    for (char *item; (item = strsep(&items, "|")) != NULL;) {
        char *second = item;
        if (strcmp(strsep(&second, ":="), t) != 0)
            continue;
        if (second == NULL && strcmp(t, u) == 0)
            return true;
        for (char *one; (one = strsep(&second, "/")) != NULL;)
            if (strcmp(one, u) == 0)
                return true;
    }
    return false;
}

/* Does item `index` of "T,i64,U" say `dtype`? */
static bool says(const char *rule, size_t index, const char *dtype, const char *t, const char *u)
{
    char copy[64], *items = copy, *item = NULL;

    ck_assert_uint_lt(strlen(rule), sizeof copy);
    strcpy(copy, rule);
    for (size_t i = 0; i <= index; i++)
        item = strsep(&items, ",");
    ck_assert_ptr_nonnull(item);
    return strcmp(strcmp(item, "T") == 0 ? t : strcmp(item, "U") == 0 ? u : item, dtype) == 0;
}

static void refused(assay_status status, const char *what, const char *part)
{
    ck_assert_msg(status == ASSAY_INVALID || status == ASSAY_OVERFLOW ||
                      status == ASSAY_UNSUPPORTED,
                  "%s, seed %llx: status %d", what, (unsigned long long)SEED, (int)status);
    ck_assert_msg(strstr(assay_last_error(), part) != NULL, "%s: '%s' lacks '%s'", what,
                  assay_last_error(), part);
}

/* ---- problems ---- */

static bool tuple_fits(const assay_op_info *info, const assay_dtype *dtypes, size_t all)
{
    for (size_t t = 0; t < all; t++)
        for (size_t u = 0; u < all; u++) {
            const char *t_name = assay_dtype_name((assay_dtype)t);
            const char *u_name = assay_dtype_name((assay_dtype)u);
            bool same = is_listed(info->dtypes, t_name, u_name);
            for (size_t i = 0; same && i < info->inputs + info->outputs; i++)
                same = says(info->dtype_rule, i, assay_dtype_name(dtypes[i]), t_name, u_name);
            if (same)
                return true;
        }
    return false;
}

/* Every tuple of dtypes: those of the rule and no others. */
START_TEST(dtype_tuples_are_those_of_the_rule)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    const size_t count = info->inputs + info->outputs, all = ASSAY_DTYPE_COUNT;
    size_t total = 1, fitting = 0;
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    assay_problem p;

    for (size_t i = 0; i < count; i++)
        total *= all;
    for (size_t tuple = 0; tuple < total; tuple++) {
        size_t rest = tuple;
        for (size_t i = 0; i < count; i++, rest /= all)
            dtypes[i] = (assay_dtype)(rest % all);
        bool fits = tuple_fits(info, dtypes, all);
        assay_status status = assay_problem_init_tuple(info->id, dtypes, count, &p);
        ck_assert_msg(status == (fits ? ASSAY_OK : ASSAY_UNSUPPORTED), "%s tuple %zu: %d",
                      info->name, tuple, (int)status);
        for (size_t i = 0; fits && i < count; i++)
            ck_assert_uint_eq(p.dtypes[i], (unsigned)dtypes[i]);
        fitting += fits;
    }
    /* The list of tuples has each of them once. */
    for (size_t i = 0; i < fitting; i++) {
        assay_dtype other[ASSAY_MAX_OPERANDS];
        ck_assert(assay_op_tuple(info->id, i, dtypes) && tuple_fits(info, dtypes, all));
        for (size_t j = 0; j < i; j++)
            ck_assert(assay_op_tuple(info->id, j, other) &&
                      memcmp(dtypes, other, count * sizeof *other) != 0);
    }
    ck_assert(!assay_op_tuple(info->id, fitting, dtypes));
}
END_TEST

/* Values just outside and far outside a parameter's range, set and written past the setters. */
START_TEST(values_outside_the_ranges_are_refused)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    const assay_problem good = op_case_example(info->id, first_dtype(info));

    for (size_t i = 0; i < info->param_count; i++) {
        const assay_param_info *param = &info->params[i];
        const int64_t ints[] = {param->min > -0x1p62 ? (int64_t)param->min - 1 : INT64_MIN,
                                INT64_MIN, INT64_MAX, -1,
                                param->max < 0x1p62 ? (int64_t)param->max + 1 : INT64_MAX};
        const double reals[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
        const bool is_real = param->kind == ASSAY_KIND_REAL;
        for (size_t v = 0; v < (is_real ? 3 : 5); v++) {
            assay_problem p = good;
            refused(is_real ? assay_problem_set_real(&p, param->name, reals[v])
                            : assay_problem_set_int(&p, param->name, ints[v]),
                    param->name, "is outside [");
            ck_assert_int_eq(memcmp(&p, &good, sizeof p), 0);
            if (is_real)
                p.params[i].r = reals[v];
            else
                p.params[i].i = ints[v];
            refused(assay_problem_check(&p), param->name, "is outside [");
        }
        if (!param->has_default) {
            assay_problem p = good;
            p.given[i / 8] = (uint8_t)(p.given[i / 8] & ~(1u << i % 8));
            refused(assay_problem_check(&p), param->name, "must be given");
        }
    }
}
END_TEST

/* Extents from the whole range: refused exactly when the operands do not fit 2^62 bytes. */
START_TEST(products_that_overflow_are_refused)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    int overflows = 0;

    for (int turn = 0; turn < 500; turn++) {
        assay_problem p = op_case_example(info->id, first_dtype(info));
        long double total = 0;
        for (size_t i = 0; i < info->param_count; i++)
            if (info->params[i].kind == ASSAY_KIND_INT && !info->params[i].has_default)
                p.params[i].i = (int64_t)(plugin_random(&seed) % (uint64_t)ASSAY_EXTENT_MAX) >>
                                random_below(41);
        for (size_t i = 0; i < info->param_count; i++)
            if (info->params[i].kind == ASSAY_KIND_INT)
                p.params[i].i = (int64_t)fmin(fmax((double)p.params[i].i, info->params[i].min),
                                              info->params[i].max);
        if (assay__problem_require(&p) != ASSAY_OK)
            continue;
        for (size_t i = 0; i < p.dtype_count; i++) {
            int64_t dims[ASSAY_MAX_RANK];
            uint32_t rank = 0;
            long double bytes = assay_dtype_bytes((assay_dtype)p.dtypes[i]);
            ck_assert_int_eq(assay_problem_operand(&p, i, &rank, dims), ASSAY_OK);
            for (uint32_t d = 0; d < rank; d++)
                bytes *= (long double)dims[d];
            total += bytes;
        }
        assay_status status = assay_problem_check(&p);
        ck_assert_msg(status == (total > 0x1p62L ? ASSAY_OVERFLOW : ASSAY_OK), "%s: %Lg bytes: %d",
                      info->name, total, (int)status);
        overflows += total > 0x1p62L;
    }
    /* One extent alone cannot. */
    ck_assert_msg(overflows > 0 || info->operands[0].extents[1] == '\0', "%s", info->name);
}
END_TEST

/* ---- operands that fit ---- */

typedef struct launch {
    assay_route route;
    assay_problem problem;
    assay_tensor operands[ASSAY_MAX_OPERANDS + 1];
    const assay_kernel_desc *desc;
} launch;

static void make_route(const assay_binding *row, assay_route *out)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    const assay__interned *variant = NULL;

    for (size_t i = 0; i < row->desc->tunable_count; i++)
        tunables[i] = row->desc->tunables[i].default_value;
    ck_assert_int_eq(assay__intern(context, row, tunables, &variant), ASSAY_OK);
    *out = (assay_route){.binding = &variant->binding, .tunables = variant->tunables};
}

static char *home(size_t i)
{
    return arena + i * ROOM + ROOM / 2;
}

/* Contiguous operands, each at the middle of its part of the arena. */
static void place(launch *l)
{
    for (size_t i = 0; i < l->problem.dtype_count; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank = 0;
        ck_assert_int_eq(assay_problem_operand(&l->problem, i, &rank, dims), ASSAY_OK);
        ck_assert_int_eq(assay_tensor_host(home(i), (assay_dtype)l->problem.dtypes[i], rank, dims,
                                           NULL, &l->operands[i]),
                         ASSAY_OK);
    }
}

static assay_status run(const launch *l, size_t count)
{
    return assay_run(context, &l->route, &l->problem, l->operands, count);
}

static bool has_elements(const assay_problem *p)
{
    for (size_t i = 0; i < p->dtype_count; i++)
        if (assay_problem_operand_elements(p, i) == 0)
            return false;
    return true;
}

/* A case of the catalogue's in which no operand is empty. */
static assay_problem random_problem(const assay_binding *row)
{
    plugin_case c;
    assay_problem p;
    char text[OP_CASE_TEXT];

    do {
        op_case_text(row->desc->op, (size_t)random_below((int64_t)op_case_count(row->desc->op)),
                     text);
        plugin_case_of(&c, row->desc, text, 0);
        p = c.problem;
        plugin_case_clear(&c);
    } while (!has_elements(&p));
    return p;
}

/* Rows of an op, one after another; NULL behind the last. */
static const assay_binding *next_row(int op, size_t *at)
{
    while (*at < assay_snapshot_size(rows)) {
        const assay_binding *row = assay_snapshot_at(rows, (*at)++);
        if (row->op == op)
            return row;
    }
    return NULL;
}

static bool can_run(const assay_binding *row)
{
    return row->available && row->manifest->location == ASSAY_LOCATION_CPU &&
           strcmp(row->manifest->name, "fake") != 0;
}

static const char *name_of(const launch *l)
{
    static char name[160];

    snprintf(name, sizeof name, "%s %s", l->desc->name,
             assay_dtype_name((assay_dtype)l->desc->dtypes[0]));
    return name;
}

/* Moves operand i against the guard page behind it, or before it, and opens its pages. */
static void open_operand(launch *l, size_t i, bool at_end, bool is_output)
{
    assay_tensor *t = &l->operands[i];
    size_t bytes = (size_t)assay_problem_operand_bytes(&l->problem, i);
    size_t pages = (bytes + PAGE - 1) / PAGE * PAGE, align = l->desc->caps[i].align_bytes;
    int64_t n = assay_tensor_elements(t);

    align = align > 0 ? align : 1;
    ck_assert_uint_lt(pages, ROOM / 2);
    ck_assert_int_eq(mprotect(home(i), pages, PROT_READ | PROT_WRITE), 0);
    t->buffer.at.host = home(i) + (at_end ? (pages - bytes) / align * align : 0);
    t->buffer.size_bytes = bytes;
    /* Of types without fractions, indices: row 0, which every case has. */
    for (int64_t e = 0; e < n; e++)
        assay_store_f64(t->dtype, assay_tensor_data(t), (size_t)e,
                        assay_dtype_describe(t->dtype)->is_float
                            ? 0.25 + (double)(random_below(64)) / 64.0
                            : 0.0);
    if (!is_output)
        ck_assert_int_eq(mprotect(home(i), pages, PROT_READ), 0);
}

static void close_operands(const launch *l)
{
    for (size_t i = 0; i < l->problem.dtype_count; i++)
        ck_assert_int_eq(mprotect(home(i), ROOM / 2, PROT_NONE), 0);
}

static bool declines(assay_status status)
{
    return status == ASSAY_INVALID && (strstr(assay_last_error(), "declines this problem") ||
                                       strstr(assay_last_error(), "cannot run this problem"));
}

/* What the refusals below are worth: as is, the same kernels run, and touch nothing beyond their
 * operands, nor write to inputs. */
START_TEST(kernels_stay_within_operands)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    int ran = 0;

    for (size_t at = 0;;) {
        const assay_binding *row = next_row(_i, &at);
        if (row == NULL)
            break;
        for (int turn = 0; can_run(row) && turn < 4; turn++) {
            launch l = {.problem = random_problem(row), .desc = row->desc};
            make_route(row, &l.route);
            place(&l);
            for (size_t i = 0; i < l.problem.dtype_count; i++)
                open_operand(&l, i, turn % 2 == 0, i >= info->inputs);
            assay_status status = run(&l, l.problem.dtype_count);
            ck_assert_msg(status == ASSAY_OK || declines(status), "%s: %s", name_of(&l),
                          assay_last_error());
            ran += status == ASSAY_OK;
            close_operands(&l);
        }
    }
    ck_assert_int_gt(ran, 8);
}
END_TEST

/* An output in place of an input, where the op allows it, has the bits of one apart. */
START_TEST(outputs_in_place_have_the_same_bits)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    const size_t out = info->inputs;
    int compared = 0;

    for (size_t at = 0; assay__op_in_place(info);) {
        const assay_binding *row = next_row(_i, &at);
        if (row == NULL)
            break;
        for (size_t in = 0; can_run(row) && in < info->inputs; in++) {
            if (row->dtypes[in] != row->dtypes[out])
                continue; /* of other types: not in place */
            launch l = {.problem = random_problem(row), .desc = row->desc};
            size_t bytes = (size_t)assay_problem_operand_bytes(&l.problem, out);
            void *apart = malloc(bytes);
            make_route(row, &l.route);
            place(&l);
            for (size_t i = 0; i <= out; i++)
                open_operand(&l, i, true, true);
            assay_status status = run(&l, out + 1);
            ck_assert_ptr_nonnull(apart);
            if (declines(status)) {
                free(apart);
                close_operands(&l);
                continue;
            }
            ck_assert_msg(status == ASSAY_OK, "%s: %s", name_of(&l), assay_last_error());
            compared++;
            memcpy(apart, assay_tensor_data(&l.operands[out]), bytes);
            l.operands[out] = l.operands[in];
            ck_assert_msg(run(&l, out + 1) == ASSAY_OK, "%s: %s", name_of(&l), assay_last_error());
            ck_assert_msg(memcmp(apart, assay_tensor_data(&l.operands[out]), bytes) == 0,
                          "%s: other bits in place", name_of(&l));
            free(apart);
            close_operands(&l);
        }
    }
    ck_assert_int_ge(compared, assay__op_in_place(info) ? 4 : 0);
}
END_TEST

/* Where nothing is to be written, nothing is read, and huge extents take no time. */
START_TEST(empty_outputs_need_no_memory)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);

    for (size_t at = 0;;) {
        const assay_binding *row = next_row(_i, &at);
        if (row == NULL)
            break;
        for (size_t zero = 0; zero < info->param_count; zero++) {
            launch l = {.problem = op_case_example_of(info->id, row->dtypes, row->dtype_count),
                        .desc = row->desc};
            for (size_t i = 0; i < info->param_count; i++)
                if (info->params[i].kind == ASSAY_KIND_INT)
                    l.problem.params[i].i = i == zero ? 0 : ASSAY_EXTENT_MAX;
            if (assay_problem_check(&l.problem) != ASSAY_OK ||
                assay_problem_operand_elements(&l.problem, info->inputs) > 0)
                continue;
            make_route(row, &l.route);
            place(&l);
            for (size_t i = 0; i < l.problem.dtype_count; i++)
                if (assay_tensor_elements(&l.operands[i]) == 0)
                    l.operands[i].buffer.at.host = NULL;
            assay_status status = run(&l, l.problem.dtype_count);
            ck_assert_msg(status == ASSAY_OK || declines(status), "%s: %s", name_of(&l),
                          assay_last_error());
        }
    }
}
END_TEST

/* ---- operands that do not ---- */

/* Nothing of the arena is open: a kernel that were called would end this test. */
static void expect(const launch *l, size_t count, const char *part)
{
    refused(run(l, count), name_of(l), part);
}

#define BAD(l, change, part)                           \
    do {                                               \
        launch bad_ = *(l);                            \
        assay_tensor *t = &bad_.operands[i];           \
        change;                                        \
        (void)t;                                       \
        expect(&bad_, bad_.problem.dtype_count, part); \
    } while (0)

static void break_form(const launch *l, size_t i)
{
    static const int64_t steps[] = {1, -1};
    char what[64];

    snprintf(what, sizeof what, "operand %zu: dtype", i);
    BAD(l, t->dtype = t->dtype == ASSAY_F64 ? ASSAY_F32 : ASSAY_F64, what);
    BAD(l, t->dtype = (assay_dtype)99, what);
    snprintf(what, sizeof what, "operand %zu: rank", i);
    BAD(l, t->rank++, what);
    BAD(l, t->rank--, what);
    for (uint32_t d = 0; d < l->operands[i].rank; d++) {
        snprintf(what, sizeof what, "operand %zu: extent %u", i, d);
        for (size_t s = 0; s < 2; s++)
            BAD(l, t->dims[d] += steps[s], what);
        BAD(l, t->dims[d] = -t->dims[d], what);
        BAD(l, t->dims[d] = INT64_MIN, what);
        BAD(l, t->dims[d] = (int64_t)(plugin_random(&seed) >> 1) | INT64_C(1) << 41, what);
    }
}

static void break_storage(const launch *l, size_t i)
{
    const uint64_t bytes = (uint64_t)assay_problem_operand_bytes(&l->problem, i);
    const uint64_t element = assay_dtype_bytes(l->operands[i].dtype);
    char what[64];

    snprintf(what, sizeof what, "operand %zu has no memory", i);
    BAD(l, t->buffer.at.host = NULL, what);
    BAD(l, (t->buffer.at.host = NULL, t->byte_offset = 4096), what);
    snprintf(what, sizeof what, "operand %zu is not in host memory", i);
    BAD(l, t->buffer.owner = plugin_random(&seed) | 1, what);
    snprintf(what, sizeof what, "operand %zu is not aligned", i);
    if (element > 1)
        BAD(l, t->byte_offset = 1 + (uint64_t)random_below((int64_t)element - 1), what);
    snprintf(what, sizeof what, "operand %zu: its elements lie at bytes", i);
    BAD(l, t->buffer.size_bytes = bytes - 1, what);
    BAD(l, t->buffer.size_bytes = (uint64_t)random_below((int64_t)bytes), what);
    BAD(l, (t->buffer.size_bytes = bytes, t->byte_offset = element), what);
    snprintf(what, sizeof what, "operand %zu: its strides and offset leave", i);
    BAD(l, t->byte_offset = UINT64_MAX - element + 1, what);
    BAD(l, t->byte_offset = (uint64_t)INT64_MAX / element * element, what);
}

static void break_strides(const launch *l, size_t i)
{
    const assay_op_info *info = assay_op_get(l->desc->op);
    const uint64_t bytes = (uint64_t)assay_problem_operand_bytes(&l->problem, i);
    char what[64];

    for (uint32_t d = 0; d < l->operands[i].rank; d++) {
        if (l->operands[i].dims[d] <= 1)
            continue;
        snprintf(what, sizeof what, "operand %zu: its strides and offset leave", i);
        BAD(l, t->strides[d] = INT64_MAX, what); /* of two bytes it is too far too */
        if (l->operands[i].dims[d] > 2 || assay_dtype_bytes(l->operands[i].dtype) > 1)
            BAD(l, t->strides[d] = INT64_MIN, what);
        snprintf(what, sizeof what, "operand %zu: its elements lie at bytes", i);
        BAD(l, (t->strides[d] = -t->strides[d], t->buffer.size_bytes = bytes), what);
        if (i < info->inputs)
            continue;
        snprintf(what, sizeof what, "operand %zu: elements of an output share", i);
        BAD(l, t->strides[d] = 0, what);
    }
}

/* The output over part of an input; all of it where the op does not allow that. */
static void break_aliasing(const launch *l, size_t input)
{
    const assay_op_info *info = assay_op_get(l->desc->op);
    const size_t i = info->inputs;
    const assay_tensor *x = &l->operands[input], *y = &l->operands[i];
    const int64_t n = assay_tensor_elements(x), m = assay_tensor_elements(y);
    const int64_t bytes = (int64_t)assay_dtype_bytes(y->dtype);
    /* The last element of y that begins in x, whose elements may be of another size. */
    const int64_t last = (n * (int64_t)assay_dtype_bytes(x->dtype) - 1) / bytes;
    char what[64];

    snprintf(what, sizeof what, "operand %zu overlaps operand %zu", i, input);
    if (n > 0 && last > 0) {
        BAD(l, t->buffer.at.host = home(input) + last * bytes, what);
        BAD(l, t->buffer.at.host = home(input) + (1 + random_below(last)) * bytes, what);
    }
    if (m > 1)
        BAD(l, t->buffer.at.host = home(input) - (1 + random_below(m - 1)) * bytes, what);
    if (!assay__op_in_place(info) || x->dtype != y->dtype)
        BAD(l, t->buffer.at.host = home(input), what);
}

/* A parameter and, with it, all extents that follow from it. */
static void negate(launch *l, size_t param)
{
    l->problem.params[param].i = -1 - l->problem.params[param].i;
    for (size_t i = 0; i < l->problem.dtype_count; i++) {
        uint32_t rank = 0;
        if (assay_problem_operand(&l->problem, i, &rank, l->operands[i].dims) != ASSAY_OK)
            return; /* against a requirement of the op too */
    }
}

static void break_problem(const launch *l)
{
    const assay_op_info *info = assay_op_get(l->desc->op);
    const size_t i = 0, count = l->problem.dtype_count;

    expect(l, count - 1, "operands given");
    expect(l, count + 1, "operands given");
    BAD(l, bad_.problem.op = (uint16_t)((l->desc->op + 1) % ASSAY_OP_COUNT), "another op");
    BAD(l, bad_.problem.op = 0xffff, "another op");
    BAD(l, bad_.problem.dtypes[count - 1] ^= 1, "another op or other dtypes");
    for (size_t j = 0; j < info->param_count; j++) {
        if (info->params[j].kind != ASSAY_KIND_INT)
            continue;
        BAD(l, negate(&bad_, j), "is outside [");
    }
}

START_TEST(bad_operands_reach_no_kernel)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    int kernels = 0;

    for (size_t at = 0;; kernels++) {
        const assay_binding *row = next_row(_i, &at);
        if (row == NULL)
            break;
        launch l = {.problem = random_problem(row), .desc = row->desc};
        make_route(row, &l.route);
        place(&l);
        break_problem(&l);
        for (size_t i = 0; i < l.problem.dtype_count; i++) {
            break_form(&l, i);
            break_storage(&l, i);
            break_strides(&l, i);
        }
        for (size_t i = 0; i < info->inputs; i++)
            break_aliasing(&l, i);
    }
    ck_assert_int_ge(kernels, 4);
}
END_TEST

/* ---- overlaps of any views, element by element ---- */

#define CELLS  256
#define EXTENT 4

static bool mark(const assay_tensor *t, uint8_t cells[CELLS])
{
    bool twice = false;

    for (int64_t r = 0; r < t->dims[0]; r++)
        for (int64_t c = 0; c < t->dims[1]; c++) {
            int64_t at =
                (int64_t)(t->byte_offset / sizeof(float)) + r * t->strides[0] + c * t->strides[1];
            ck_assert(at >= 0 && at < CELLS);
            twice = twice || cells[at] != 0;
            cells[at] = 1;
        }
    return twice;
}

static void random_view(const int64_t dims[2], assay_tensor *out)
{
    const int64_t strides[] = {random_below(19) - 9, random_below(7) - 3};

    ck_assert_int_eq(assay_tensor_host(arena, ASSAY_F32, 2, dims, strides, out), ASSAY_OK);
    out->byte_offset = sizeof(float) * (uint64_t)(100 + random_below(30));
}

static assay_status check_views(const assay_tensor *x, const assay_tensor *y)
{
    const assay_tensor operands[] = {*x, *y};
    assay_problem p;

    ck_assert_int_eq(assay_problem_init(ASSAY_OP_softmax_last_dim, ASSAY_F32, &p), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "rows", x->dims[0]), ASSAY_OK);
    ck_assert_int_eq(assay_problem_set_int(&p, "cols", x->dims[1]), ASSAY_OK);
    return assay__operands_check(&p, operands, 2);
}

START_TEST(overlaps_are_found)
{
    int apart = 0, accepted = 0;

    for (int turn = 0; turn < 10000; turn++) {
        const int64_t dims[] = {1 + random_below(EXTENT), 1 + random_below(EXTENT)};
        uint8_t in_x[CELLS] = {0}, in_y[CELLS] = {0};
        assay_tensor x, y;
        bool shared = false;
        random_view(dims, &x);
        random_view(dims, &y);
        (void)mark(&x, in_x);
        bool twice = mark(&y, in_y);
        for (size_t i = 0; i < CELLS; i++)
            shared = shared || (in_x[i] && in_y[i]);
        bool same = x.byte_offset == y.byte_offset &&
                    (dims[0] == 1 || x.strides[0] == y.strides[0]) &&
                    (dims[1] == 1 || x.strides[1] == y.strides[1]);
        bool ok = check_views(&x, &y) == ASSAY_OK;
        ck_assert_msg(!ok || (!twice && (!shared || same)), "turn %d of seed %llx", turn,
                      (unsigned long long)SEED);
        apart += !twice && !shared;
        accepted += ok && !shared;
    }
    /* Views that interleave without a common period may be refused. */
    ck_assert_msg(accepted > apart / 10 * 8 && accepted <= apart, "%d of %d", accepted, apart);
}
END_TEST

START_TEST(halves_and_columns_are_apart)
{
    const int64_t dims[] = {8, 4}, halves[] = {8, 1}, columns[] = {8, 2}, back[] = {-8, 2};
    assay_tensor x, y;

    ck_assert_int_eq(assay_tensor_host(arena, ASSAY_F32, 2, dims, halves, &x), ASSAY_OK);
    y = x;
    ck_assert_int_eq(check_views(&x, &y), ASSAY_OK);
    y.byte_offset = 4 * sizeof(float);
    ck_assert_int_eq(check_views(&x, &y), ASSAY_OK);
    y.byte_offset = 3 * sizeof(float);
    refused(check_views(&x, &y), "three columns on", "overlaps");
    ck_assert_int_eq(assay_tensor_host(arena, ASSAY_F32, 2, dims, columns, &x), ASSAY_OK);
    ck_assert_int_eq(assay_tensor_host(arena + 57 * sizeof(float), ASSAY_F32, 2, dims, back, &y),
                     ASSAY_OK);
    ck_assert_int_eq(check_views(&x, &y), ASSAY_OK);
    y.byte_offset = sizeof(float);
    refused(check_views(&x, &y), "odd and even", "overlaps");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bad_input");
    TCase *problems = tcase_create("problems");
    TCase *operands = tcase_create("operands");
    TCase *views = tcase_create("views");

    tcase_add_unchecked_fixture(operands, setup, teardown);
    tcase_add_unchecked_fixture(views, setup, teardown);
    tcase_set_timeout(operands, 60);
    tcase_set_timeout(views, 60);
    tcase_add_loop_test(problems, dtype_tuples_are_those_of_the_rule, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(problems, values_outside_the_ranges_are_refused, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(problems, products_that_overflow_are_refused, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(operands, kernels_stay_within_operands, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(operands, outputs_in_place_have_the_same_bits, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(operands, empty_outputs_need_no_memory, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(operands, bad_operands_reach_no_kernel, 0, ASSAY_OP_COUNT);
    tcase_add_test(views, overlaps_are_found);
    tcase_add_test(views, halves_and_columns_are_apart);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, operands);
    suite_add_tcase(suite, views);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
