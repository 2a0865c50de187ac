/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_ops.c -- `assay ops`: the op catalogue; docs/ops.md is its Markdown form. */
#include <inttypes.h>
#include <string.h>

#include "assay/op.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "support/common_args.h"

typedef struct ops_args {
    assay__common common;
    const char *format;
} ops_args;

static const assay__arg rows[] = {
    {.name = "format",
     .kind = ASSAY__ARG_CHOICE,
     .offset = offsetof(ops_args, format),
     .choices = assay__listing_names,
     .help = "form of the listing"},
};

static const assay__args_spec spec = {
    .command = "assay ops",
    .summary = "Lists the op catalogue: parameters, dtypes and Layer-1 cost of every op",
    .example = "assay ops\nassay ops --op matmul\nassay ops --format md > docs/ops.md",
};

static const char *const families[] = {
    [ASSAY_FAMILY_CONTRACTION] = "contraction",
    [ASSAY_FAMILY_ELEMENTWISE_BINARY] = "elementwise binary",
    [ASSAY_FAMILY_ELEMENTWISE_UNARY] = "elementwise unary",
    [ASSAY_FAMILY_ROW] = "row",
    [ASSAY_FAMILY_NORM] = "norm",
    [ASSAY_FAMILY_REDUCE] = "reduction",
    [ASSAY_FAMILY_INDEX] = "index",
    [ASSAY_FAMILY_ATTENTION] = "attention",
};
_Static_assert(sizeof families / sizeof *families == ASSAY_FAMILY_COUNT, "a name each");
static const char *const kinds[] = {
    [ASSAY_KIND_INT] = "int", [ASSAY_KIND_REAL] = "real", [ASSAY_KIND_ENUM] = "enum"};
static const char *const classes[] = {
    [ASSAY_SHAPE] = "shape", [ASSAY_CLASS] = "class", [ASSAY_INERT] = "inert"};

/* Name `index` of a list "n|t|c". */
static void enum_name(const char *values, size_t index, assay__str *out)
{
    while (index-- > 0 && strchr(values, '|') != NULL)
        values = strchr(values, '|') + 1;
    assay__str_addn(out, values, strcspn(values, "|"));
}

static void default_text(const assay_param_info *p, assay__str *out)
{
    if (!p->has_default)
        return;
    if (p->kind == ASSAY_KIND_ENUM)
        enum_name(p->values, (size_t)p->default_value, out);
    else
        assay__str_addf(out, "%.17g", p->default_value);
}

static void range_text(const assay_param_info *p, assay__str *out)
{
    if (p->kind == ASSAY_KIND_ENUM)
        assay__str_add(out, p->values);
    else if (p->kind == ASSAY_KIND_INT)
        assay__str_addf(out, "%" PRId64 "..%" PRId64, (int64_t)p->min, (int64_t)p->max);
    else
        assay__str_add(out, "finite");
}

static bool wanted(const ops_args *a, const assay_op_info *op)
{
    return a->common.ops.count == 0 || assay__strlist_has(&a->common.ops, op->name);
}

/* ---- JSON ---- */

static json_t *param_json(const assay_param_info *p)
{
    json_t *object = json_object();
    assay__str text = {0};
    int bad = 0;

    default_text(p, &text);
    bad |= (int)assay__json_put_string(object, "name", p->name);
    bad |= (int)assay__json_put_string(object, "kind", kinds[p->kind]);
    bad |= (int)assay__json_put_string(object, "class", classes[p->klass]);
    if (p->kind == ASSAY_KIND_ENUM) {
        bad |= (int)assay__cmd_json_words(object, "values", p->values, '|');
        if (p->has_default)
            bad |= (int)assay__json_put_string(object, "default", assay__str_text(&text));
    } else if (p->kind == ASSAY_KIND_INT) {
        if (p->has_default)
            bad |= (int)assay__json_put_int(object, "default", (int64_t)p->default_value);
        bad |= (int)assay__json_put_int(object, "min", (int64_t)p->min);
        bad |= (int)assay__json_put_int(object, "max", (int64_t)p->max);
    } else {
        if (p->has_default)
            bad |= (int)assay__json_put_real(object, "default", p->default_value);
        bad |= (int)assay__json_put_real(object, "min", p->min);
        bad |= (int)assay__json_put_real(object, "max", p->max);
    }
    bad |= (int)assay__json_put_string(object, "doc", p->doc);
    bad |= (int)assay__str_status(&text);
    assay__str_clear(&text);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *operands_json(const assay_op_info *op)
{
    json_t *list = json_array();
    int bad = 0;

    for (unsigned i = 0; i < op->inputs + op->outputs; i++) {
        json_t *row = json_object();
        bad |= (int)assay__json_put_string(row, "name", op->operands[i].name);
        bad |= (int)assay__json_put_string(row, "extents", op->operands[i].extents);
        bad |= (int)assay__json_append_take(list, row);
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* What T may be, each once: `separator` between them. */
static void t_names(const assay_op_info *op, const char *separator, assay__str *out)
{
    const char *item = op->dtypes, *end;
    bool is_first = true;

    for (; item != NULL; item = end[0] == '|' ? end + 1 : NULL) {
        const size_t len = strcspn(item, "|:=");
        bool is_new = true;
        end = item + strcspn(item, "|");
        for (const char *other = op->dtypes; other < item; other = strchr(other, '|') + 1)
            is_new = is_new && (strcspn(other, "|:=") != len || memcmp(other, item, len) != 0);
        if (!is_new)
            continue;
        assay__str_add(out, is_first ? "" : separator);
        assay__str_addn(out, item, len);
        is_first = false;
    }
}

/* The U list that all items share; NULL when they have none or not the same. */
static const char *shared_u(const assay_op_info *op, size_t *len)
{
    const char *u = strpbrk(op->dtypes, ":=");

    if (u == NULL || u > op->dtypes + strcspn(op->dtypes, "|"))
        return NULL;
    *len = strcspn(++u, "|");
    for (const char *item = op->dtypes; item != NULL; item = strchr(item, '|')) {
        item += item > op->dtypes;
        const char *own = item + strcspn(item, "|:=");
        if (own[0] == '|' || own[0] == '\0' || strcspn(own + 1, "|") != *len ||
            memcmp(own + 1, u, *len) != 0)
            return NULL;
    }
    return u;
}

/* "T in f64|f32"; "T in f32|f16|f16:f32", where the last is T:U; "T and U in f64|f32". */
static void types_text(const assay_op_info *op, const char *tick, assay__str *out)
{
    size_t len = 0;
    const char *u = shared_u(op, &len);

    assay__str_addf(out, "T in %s", tick);
    if (u == NULL) {
        assay__str_add(out, op->dtypes);
    } else {
        t_names(op, "|", out);
        assay__str_addf(out, "%s and U in %s", tick, tick);
        for (size_t i = 0; i < len; i++)
            assay__str_addc(out, u[i] == '/' ? '|' : u[i]);
    }
    assay__str_add(out, tick);
    if (u != NULL && u[-1] == '=')
        assay__str_add(out, ", the first unless said");
}

static assay_status put_tuples(json_t *object, const assay_op_info *op)
{
    json_t *list = json_array();
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    int bad = 0;

    for (size_t t = 0; assay_op_tuple(op->id, t, dtypes); t++) {
        assay__str tuple = {0};
        for (size_t i = 0; i < op->inputs + op->outputs; i++)
            assay__str_addf(&tuple, "%s%s", i > 0 ? "," : "", assay_dtype_name(dtypes[i]));
        bad |= (int)assay__str_status(&tuple);
        bad |= (int)assay__json_append_take(list, assay__json_text(assay__str_text(&tuple)));
        assay__str_clear(&tuple);
    }
    if (bad == 0)
        return assay__json_put_take(object, "tuples", list);
    json_decref(list);
    return (assay_status)bad;
}

static assay_status put_dtypes(json_t *object, const assay_op_info *op)
{
    assay__str names = {0};
    assay_status status;

    t_names(op, "|", &names);
    status = assay__str_status(&names);
    if (status == ASSAY_OK)
        status = assay__cmd_json_words(object, "dtypes", assay__str_text(&names), '|');
    assay__str_clear(&names);
    return status == ASSAY_OK ? put_tuples(object, op) : status;
}

static json_t *op_json(const assay_op_info *op)
{
    json_t *object = json_object(), *params = json_array();
    int bad = 0;

    bad |= (int)assay__json_put_string(object, "op", op->name);
    bad |= (int)assay__json_put_string(object, "family", families[op->family]);
    bad |= (int)assay__json_put_int(object, "inputs", op->inputs);
    bad |= (int)assay__json_put_int(object, "outputs", op->outputs);
    bad |= (int)assay__cmd_json_words(object, "dtype_rule", op->dtype_rule, ',');
    bad |= (int)put_dtypes(object, op);
    bad |= (int)assay__json_put_take(object, "operands", operands_json(op));
    bad |= (int)assay__json_put_string(object, "flops", op->flops);
    bad |= (int)assay__json_put_string(object, "bytes", op->bytes);
    bad |= (int)assay__json_put_string(object, "doc", op->doc);
    for (size_t i = 0; i < op->param_count; i++)
        bad |= (int)assay__json_append_take(params, param_json(&op->params[i]));
    bad |= (int)assay__json_put_take(object, "params", params);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *all_json(const ops_args *a)
{
    json_t *root = assay__cmd_json_object("assay.ops/1"), *list = json_array();
    int bad = 0;

    for (int i = 0; i < ASSAY_OP_COUNT; i++)
        if (wanted(a, assay_op_get((assay_op_id)i)))
            bad |= (int)assay__json_append_take(list, op_json(assay_op_get((assay_op_id)i)));
    bad |= (int)assay__json_put_take(root, "ops", list);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- text, CSV, Markdown ---- */

static void param_columns(assay__table *table)
{
    static const char *const titles[] = {"parameter", "kind",  "class",
                                         "default",   "range", "meaning"};

    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        assay__table_column(table, titles[i], ASSAY__LEFT);
}

static void param_row(assay__table *table, const assay_param_info *p)
{
    assay__str text = {0};

    assay__table_cell(table, p->name);
    assay__table_cell(table, kinds[p->kind]);
    assay__table_cell(table, classes[p->klass]);
    default_text(p, &text);
    assay__table_cell(table, p->has_default ? assay__str_text(&text) : "required");
    assay__str_reset(&text);
    range_text(p, &text);
    assay__table_cell(table, assay__str_text(&text));
    assay__table_cell(table, p->doc);
    assay__str_clear(&text);
}

/* "a[n], b[n] -> y[n]" */
static void print_operands(const assay_op_info *op, assay__listing how)
{
    const bool md = how == ASSAY__LISTING_MD;

    printf("%soperands %s", md ? "" : "  ", md ? "`" : "");
    for (unsigned i = 0; i < op->inputs + op->outputs; i++)
        printf("%s%s[%s]",
               i == 0            ? ""
               : i == op->inputs ? " -> "
                                 : ", ",
               op->operands[i].name, op->operands[i].extents);
    printf("%s\n%s", md ? "`" : "", md ? "\n" : "");
}

/* One op with its parameters: under a heading, or under its name. */
static assay_status print_op(const assay_op_info *op, assay__listing how)
{
    const bool md = how == ASSAY__LISTING_MD;
    const char *tick = md ? "`" : "", *gap = md ? "\n" : "";
    assay__table table = {0};
    assay__str types = {0};
    assay_status status;

    printf("%s%s\n%s", md ? "\n## " : "", op->name, gap);
    printf("%s%s\n%s", md ? "" : "  ", op->doc, gap);
    types_text(op, tick, &types);
    printf("%s%s; dtypes %s%s%s with %s\n%s", md ? "" : "  ", families[op->family], tick,
           op->dtype_rule, tick, assay__str_text(&types), gap);
    assay__str_clear(&types);
    print_operands(op, how);
    printf("%sflops %s%s%s, bytes %s%s%s\n\n", md ? "" : "  ", tick, op->flops, tick, tick,
           op->bytes, tick);
    param_columns(&table);
    for (size_t i = 0; i < op->param_count; i++)
        param_row(&table, &op->params[i]);
    status = assay__listing_print(&table, how);
    assay__table_clear(&table);
    return status;
}

static assay_status print_csv(const ops_args *a)
{
    assay__table table = {0};
    assay_status status;

    assay__table_column(&table, "op", ASSAY__LEFT);
    param_columns(&table);
    for (int i = 0; i < ASSAY_OP_COUNT; i++) {
        const assay_op_info *op = assay_op_get((assay_op_id)i);
        for (size_t j = 0; wanted(a, op) && j < op->param_count; j++) {
            assay__table_cell(&table, op->name);
            param_row(&table, &op->params[j]);
        }
    }
    status = assay__listing_print(&table, ASSAY__LISTING_CSV);
    assay__table_clear(&table);
    return status;
}

/* "m n k [batch=1]": required ones first. */
static void brief_params(const assay_op_info *op, assay__str *out)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < op->param_count; i++) {
            if (op->params[i].has_default != (pass == 1))
                continue;
            assay__str_addf(out, "%s%s%s", out->len > 0 ? " " : "", pass == 1 ? "[" : "",
                            op->params[i].name);
            if (pass == 1) {
                assay__str_addc(out, '=');
                default_text(&op->params[i], out);
                assay__str_addc(out, ']');
            }
        }
}

static assay_status print_brief(void)
{
    assay__table table = {0};
    assay_status status;

    assay__table_column(&table, "op", ASSAY__LEFT);
    assay__table_column(&table, "dtypes", ASSAY__LEFT);
    assay__table_column(&table, "T", ASSAY__LEFT);
    assay__table_column(&table, "parameters", ASSAY__LEFT);
    for (int i = 0; i < ASSAY_OP_COUNT; i++) {
        const assay_op_info *op = assay_op_get((assay_op_id)i);
        assay__str text = {0}, names = {0};
        brief_params(op, &text);
        assay__table_cell(&table, op->name);
        assay__table_cell(&table, op->dtype_rule);
        t_names(op, "|", &names);
        assay__table_cell(&table, assay__str_text(&names));
        assay__table_cell(&table, assay__str_text(&text));
        assay__str_clear(&names);
        assay__str_clear(&text);
    }
    status = assay__listing_print(&table, ASSAY__LISTING_TEXT);
    assay__table_clear(&table);
    return status;
}

static const char md_intro[] =
    "# Ops\n\n"
    "Made by `assay ops --format md` from include/assay/op.def.\n\n"
    "A problem is an op, its dtypes and all parameters. Classes: a shape parameter is exact in "
    "the\n"
    "key of a measurement; of a class parameter only 0, 1 or another value enters; an inert one "
    "does\nnot change the cost and enters keys of accuracy only. `--dtype f32` sets T; a full "
    "tuple\n`--dtype f32,f32,f32` gives every operand, inputs then outputs. Where a rule has a U "
    "too, it is T\nunless a pair T:U is listed, which takes the full tuple: `--dtype "
    "bf16,bf16,f32`. Costs are\nexpressions over the parameters (expressions.md); an FMA counts as "
    "two flops.\n";

static assay_status print_ops(const ops_args *a, assay__listing how)
{
    bool is_first = true;

    if (how == ASSAY__LISTING_CSV)
        return print_csv(a);
    if (how == ASSAY__LISTING_TEXT && a->common.ops.count == 0)
        return print_brief();
    if (how == ASSAY__LISTING_MD)
        fputs(md_intro, stdout);
    for (int i = 0; i < ASSAY_OP_COUNT; i++) {
        const assay_op_info *op = assay_op_get((assay_op_id)i);
        if (!wanted(a, op))
            continue;
        if (how == ASSAY__LISTING_TEXT && !is_first)
            putchar('\n');
        is_first = false;
        ASSAY_TRY(print_op(op, how));
    }
    return ASSAY_OK;
}

static assay_status check_ops(const ops_args *a)
{
    assay_op_id op;

    for (size_t i = 0; i < a->common.ops.count; i++)
        ASSAY_TRY(assay_op_find(a->common.ops.items[i], &op));
    return ASSAY_OK;
}

int cmd_ops(int argc, char **argv)
{
    ops_args a = {.common = ASSAY__COMMON_DEFAULTS, .format = "text"};
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(JSON) | ASSAY__COMMON(OP)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code)) {
        assay_status status = check_ops(&a);
        if (status == ASSAY_OK && a.common.is_json)
            code = assay__cmd_print_json("ops", all_json(&a));
        else if (status == ASSAY_OK)
            status = print_ops(&a, assay__listing_of(a.format));
        if (status != ASSAY_OK)
            code = assay__cmd_fail("ops", status);
    }
    assay__args_clear(tables, 2);
    return code;
}
