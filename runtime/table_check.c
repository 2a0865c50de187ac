/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/table_check.c -- what makes a row of the kernel table broken, each with its field. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/table_internal.h"

/* One row under check; `fail_field` needs all three. */
typedef struct checked {
    const assay_binding *row;
    const assay_kernel_desc *desc;
    size_t index;
} checked;

__attribute__((format(printf, 3, 4))) static assay_status
fail_field(const checked *c, const char *field, const char *format, ...)
{
    char why[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return assay__fail(
        ASSAY_INVALID, "row %zu (%s/%s), field %s: %s", c->index,
        c->row->manifest != NULL && c->row->manifest->name != NULL ? c->row->manifest->name : "?",
        c->desc != NULL && c->desc->name != NULL ? c->desc->name : "?", field, why);
}

/* Names stand in texts that are read again ("name=value,...", lists, tables): what separates there,
 * what is not seen and what moves a terminal's cursor has no place in one. */
static bool is_name_sign(char sign)
{
    return sign > ' ' && sign <= '~' && strchr(",={}|'\"\\", sign) == NULL;
}

static assay_status check_signs(const checked *c, const char *field, const char *name)
{
    for (const char *at = name; *at != '\0'; at++)
        if (!is_name_sign(*at))
            return fail_field(c, field,
                              "byte 0x%02X at %zu of a name; it is made of letters, digits and "
                              "signs but , = { } | ' \" and backslash",
                              (unsigned)(unsigned char)*at, (size_t)(at - name) + 1);
    return ASSAY_OK;
}

static assay_status check_name(const checked *c, const char *field, const char *name, size_t max)
{
    if (name == NULL || name[0] == '\0')
        return fail_field(c, field, "is missing");
    if (strlen(name) > max)
        return fail_field(c, field, "'%s' is longer than %zu bytes", name, max);
    return check_signs(c, field, name);
}

static assay_status check_identity(const checked *c)
{
    const assay_kernel_desc *d = c->desc;

    if (c->row->manifest == NULL)
        return fail_field(c, "manifest", "is NULL; it names the backend");
    if (d == NULL)
        return fail_field(c, "desc", "is NULL");
    if (d->struct_size < sizeof *d)
        return fail_field(c, "struct_size", "is %u, at least %zu is needed; rebuild the plug-in",
                          d->struct_size, sizeof *d);
    ASSAY_TRY(check_name(c, "manifest.name", c->row->manifest->name, ASSAY__BACKEND_NAME_MAX));
    ASSAY_TRY(check_name(c, "name", d->name, ASSAY__KERNEL_NAME_MAX));
    if (c->row->run == NULL || d->run == NULL)
        return fail_field(c, "run", "is NULL; a kernel needs its function");
    if (c->row->run != d->run)
        return fail_field(c, "run", "differs from the function of its descriptor");
    if (c->row->default_rank != d->default_rank)
        return fail_field(c, "default_rank", "is %d, its descriptor says %d", c->row->default_rank,
                          d->default_rank);
    return ASSAY_OK;
}

static assay_status check_dtypes(const checked *c)
{
    const assay_binding *row = c->row;
    assay_dtype tuple[ASSAY_MAX_OPERANDS];
    assay_problem p;

    if (assay_op_get((assay_op_id)row->op) == NULL)
        return fail_field(c, "op", "%u is not in the catalogue", row->op);
    if (row->op != (uint16_t)c->desc->op)
        return fail_field(c, "op", "differs from its descriptor's");
    if (row->dtype_count > ASSAY_MAX_OPERANDS)
        return fail_field(c, "dtype_count", "is %u, at most %d", row->dtype_count,
                          ASSAY_MAX_OPERANDS);
    for (size_t i = 0; i < row->dtype_count; i++)
        tuple[i] = (assay_dtype)row->dtypes[i];
    if (assay_problem_init_tuple((assay_op_id)row->op, tuple, row->dtype_count, &p) != ASSAY_OK)
        return fail_field(c, "dtypes", "%s", assay_last_error());
    if (row->dtype_count != c->desc->dtype_count ||
        memcmp(row->dtypes, c->desc->dtypes, row->dtype_count) != 0)
        return fail_field(c, "dtypes", "differ from its descriptor's");
    return ASSAY_OK;
}

/* Tiles are those of images: [n, k, height, width]. */
static assay_status check_error(const checked *c)
{
    const assay_kernel_desc *d = c->desc;

    if (d->error_tile == 0 && d->error_factor > 0.0)
        return fail_field(c, "error_factor", "is %g without an error_tile", d->error_factor);
    if (d->error_tile == 0)
        return ASSAY_OK;
    if (d->op != ASSAY_OP_conv2d && d->op != ASSAY_OP_conv2d_backward_data)
        return fail_field(c, "error_tile", "is %u, op %s has no tiles of outputs", d->error_tile,
                          assay_op_get(d->op)->name);
    if (!(d->error_factor >= 1.0 && d->error_factor <= 1024.0))
        return fail_field(c, "error_factor", "is %g, from 1 to 1024 are allowed", d->error_factor);
    return d->error_tile <= 64 ? ASSAY_OK
                               : fail_field(c, "error_tile", "is %u, at most 64", d->error_tile);
}

/* A value given twice would be two variants of one revision. */
static assay_status check_values(const checked *c, const assay_tunable *t)
{
    for (size_t i = 1; i < t->value_count; i++)
        for (size_t k = 0; k < i; k++)
            if (t->values[i] == t->values[k])
                return fail_field(c, "tunables", "'%s' has the value %lld twice", t->name,
                                  (long long)t->values[i]);
    return ASSAY_OK;
}

static assay_status check_tunable(const checked *c, const assay_tunable *t, size_t index)
{
    size_t i = 0;

    if (t->name == NULL || t->name[0] == '\0')
        return fail_field(c, "tunables", "number %zu has no name", index);
    if (t->values == NULL || t->value_count == 0)
        return fail_field(c, "tunables", "'%s' has no values", t->name);
    ASSAY_TRY(check_signs(c, "tunables", t->name));
    ASSAY_TRY(check_values(c, t));
    while (i < t->value_count && t->values[i] != t->default_value)
        i++;
    if (i == t->value_count)
        return fail_field(c, "tunables", "default %lld of '%s' is not one of its values",
                          (long long)t->default_value, t->name);
    for (i = 0; i < index; i++)
        if (strcmp(c->desc->tunables[i].name, t->name) == 0)
            return fail_field(c, "tunables", "'%s' is named twice", t->name);
    return ASSAY_OK;
}

static assay_status check_tunables(const checked *c)
{
    const assay_kernel_desc *d = c->desc;

    if (d->tunable_count > ASSAY_MAX_TUNABLES)
        return fail_field(c, "tunable_count", "is %zu, at most %d", d->tunable_count,
                          ASSAY_MAX_TUNABLES);
    if (d->tunable_count > 0 && d->tunables == NULL)
        return fail_field(c, "tunables", "is NULL with tunable_count %zu", d->tunable_count);
    for (size_t i = 0; i < d->tunable_count; i++)
        ASSAY_TRY(check_tunable(c, &d->tunables[i], i));
    return ASSAY_OK;
}

/* Claims are compared with limits, and stability with the levels there are. */
static assay_status check_claims(const checked *c)
{
    const assay_claims *claims = &c->desc->claims;
    const double numbers[] = {claims->max_ulp, claims->max_rho, claims->max_rel, claims->max_abs};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isinf(numbers[i]))
            return fail_field(c, "claims", "%g is no limit; a negative number claims nothing",
                              numbers[i]);
    if ((int)claims->stability < 0 || claims->stability > ASSAY_STABILITY_ANYWHERE)
        return fail_field(c, "claims", "stability %d is outside 0..%d", (int)claims->stability,
                          (int)ASSAY_STABILITY_ANYWHERE);
    return ASSAY_OK;
}

/* A path outside the table would drop out of the revision and let stale rows pass for fresh. */
static assay_status check_sources(const checked *c)
{
    const assay_manifest *m = c->row->manifest;

    if (c->desc->sources == NULL || m->sources == NULL)
        return ASSAY_OK;
    for (const char *const *path = c->desc->sources; *path != NULL; path++) {
        size_t i = 0;
        while (i < m->source_count && strcmp(m->sources[i].path, *path) != 0)
            i++;
        if (i == m->source_count)
            return fail_field(c, "sources", "'%s' is not in the manifest's table of source hashes",
                              *path);
    }
    return ASSAY_OK;
}

static assay_status check_expression(const checked *c, const char *field, const char *text,
                                     bool with_tunables)
{
    assay__expr e;

    if (text != NULL && assay__row_expr_compile(c->desc, text, with_tunables, &e) != ASSAY_OK)
        return fail_field(c, field, "'%s': %s", text, assay_last_error());
    return ASSAY_OK;
}

static assay_status check_expressions(const checked *c)
{
    ASSAY_TRY(check_expression(c, "can_run", c->desc->can_run, false));
    ASSAY_TRY(check_expression(c, "cost_flops", c->desc->cost_flops, false));
    ASSAY_TRY(check_expression(c, "cost_bytes", c->desc->cost_bytes, false));
    return check_expression(c, "constraint", c->desc->constraint, true);
}

assay_status assay__binding_check(const assay_binding *row, size_t index)
{
    const checked c = {row, row->desc, index};

    ASSAY_TRY(check_identity(&c));
    ASSAY_TRY(check_dtypes(&c));
    ASSAY_TRY(check_error(&c));
    ASSAY_TRY(check_tunables(&c));
    ASSAY_TRY(check_claims(&c));
    ASSAY_TRY(check_sources(&c));
    return check_expressions(&c);
}

/* ---- expressions of a row ---- */

static int resolve_param(const void *context, const char *name)
{
    const assay_kernel_desc *desc = context;

    return assay_op_param_index(desc->op, name);
}

static int resolve_any(const void *context, const char *name)
{
    const assay_kernel_desc *desc = context;

    for (size_t i = 0; i < desc->tunable_count; i++)
        if (strcmp(desc->tunables[i].name, name) == 0)
            return (int)(ASSAY_MAX_PARAMS + i);
    return resolve_param(context, name);
}

assay_status assay__row_expr_compile(const assay_kernel_desc *desc, const char *text,
                                     bool with_tunables, assay__expr *out)
{
    const assay__expr_scope scope = {
        .resolve = with_tunables ? resolve_any : resolve_param,
        .context = desc,
        .dtype_count = desc->dtype_count,
        .known =
            with_tunables ? "the op's parameters and the kernel's tunables" : "the op's parameters",
    };

    return assay__expr_compile(text, &scope, out);
}

void assay__row_values_init(const assay_problem *problem, assay__row_values *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)problem->op);

    for (size_t i = 0; i < ASSAY_MAX_PARAMS; i++)
        out->slots[i] = i >= info->param_count                    ? 0.0
                        : info->params[i].kind == ASSAY_KIND_REAL ? problem->params[i].r
                                                                  : (double)problem->params[i].i;
    for (size_t i = 0; i < problem->dtype_count; i++)
        out->bytes[i] = (double)assay_dtype_bytes((assay_dtype)problem->dtypes[i]);
}

bool assay__row_values_hold(const assay__expr *e, assay__row_values *values,
                            const int64_t *tunables, size_t tunable_count)
{
    double value;

    for (size_t i = 0; i < tunable_count; i++)
        values->slots[ASSAY_MAX_PARAMS + i] = (double)tunables[i];
    return assay__expr_eval(e, values->slots, values->bytes, &value) &&
           (value > 0.0 || value < 0.0);
}

bool assay__row_expr_holds(const assay__expr *e, const assay_problem *problem,
                           const int64_t *tunables, size_t tunable_count)
{
    assay__row_values values;

    assay__row_values_init(problem, &values);
    return assay__row_values_hold(e, &values, tunables, tunable_count);
}
