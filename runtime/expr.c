/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/expr.c -- compiles expressions: recursive descent straight to postfix steps.
 *
 * An operand whose last step is a load is that load alone, as every operator follows its operands.
 * Hence the last steps tell which constants to fold and which load to fuse. */
#include "runtime/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/expr_code.h"

typedef struct parser {
    const char *text, *at;
    const assay__expr_scope *scope;
    unsigned nest, stack;
    assay__expr code;
} parser;

static assay_status parse_expression(parser *p);

/* ---- text ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_char(char c)
{
    return is_name_start(c) || is_digit(c);
}

static void skip_space(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static size_t name_length(const char *at)
{
    size_t length = 0;

    if (is_name_start(at[0]))
        while (is_name_char(at[length]))
            length++;
    return length;
}

static assay_status fail_at(const parser *p, const char *at, const char *what)
{
    return assay__fail(ASSAY_PARSE, "expression '%.80s': column %td: %s", p->text, at - p->text + 1,
                       what);
}

/* What stands at the cursor, for error texts: a name, a number or one symbol. */
static void describe_found(const char *at, char *out, size_t capacity)
{
    size_t length = 0;

    while (length < 24 && (is_name_char(at[length]) || at[length] == '.'))
        length++;
    if (length == 0 && at[0] != '\0')
        length = at[0] == at[1] && strchr("&|=", at[0]) != NULL ? 2 : 1;
    if (at[0] == '\0')
        (void)snprintf(out, capacity, "the end");
    else if (length == 1 && (at[0] < 0x20 || at[0] > 0x7e))
        (void)snprintf(out, capacity, "byte 0x%02x", (unsigned)(unsigned char)at[0]);
    else
        (void)snprintf(out, capacity, "'%.*s'", (int)length, at);
}

static const char *remedy(const char *at)
{
    if (strncmp(at, "&&", 2) == 0)
        return "; write 'and'";
    if (strncmp(at, "||", 2) == 0)
        return "; write 'or'";
    if (at[0] == '!')
        return "; write 'not' or '!='";
    return at[0] == '=' ? "; write '==' to compare" : "";
}

static assay_status fail_expected(const parser *p, const char *expected)
{
    char found[40], text[160];

    describe_found(p->at, found, sizeof found);
    (void)snprintf(text, sizeof text, "expected %s, found %s%s", expected, found, remedy(p->at));
    return fail_at(p, p->at, text);
}

static bool accept(parser *p, char symbol)
{
    skip_space(p);
    if (*p->at != symbol)
        return false;
    p->at++;
    return true;
}

static bool accept_word(parser *p, const char *word)
{
    skip_space(p);
    size_t length = name_length(p->at);
    if (length != strlen(word) || strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* ---- steps ---- */

static assay_status emit(parser *p, unsigned op, unsigned arg)
{
    if (p->code.length >= ASSAY__EXPR_CODE_MAX - 1)
        return assay__fail(
            ASSAY_PARSE, "expression '%.80s': column %td: more than %d steps; split or simplify it",
            p->text, p->at - p->text + 1, ASSAY__EXPR_CODE_MAX - 1);
    p->code.code[p->code.length++] = (assay__expr_step){(uint8_t)op, (uint8_t)arg};
    return ASSAY_OK;
}

static assay_status emit_load(parser *p, unsigned op, unsigned arg)
{
    if (++p->stack > ASSAY__EXPR_STACK_MAX)
        return assay__fail(ASSAY_PARSE,
                           "expression '%.80s': column %td: more than %d values wait for their "
                           "operator; reorder or split it",
                           p->text, p->at - p->text + 1, ASSAY__EXPR_STACK_MAX);
    return emit(p, op, arg);
}

static assay_status emit_constant(parser *p, double value)
{
    assay__expr *code = &p->code;
    unsigned i = 0;

    while (i < code->constant_count && memcmp(&code->constants[i], &value, sizeof value) != 0)
        i++;
    if (i == ASSAY__EXPR_CONST_MAX)
        return assay__fail(ASSAY_PARSE,
                           "expression '%.80s': column %td: more than %d different numbers; "
                           "split or simplify it",
                           p->text, p->at - p->text + 1, ASSAY__EXPR_CONST_MAX);
    if (i == code->constant_count)
        code->constants[code->constant_count++] = value;
    return emit_load(p, EXPR_LOAD_CONST, i);
}

static bool ends_in_constants(const parser *p, unsigned count)
{
    if (p->code.length < count)
        return false;
    for (unsigned i = 1; i <= count; i++)
        if (p->code.code[p->code.length - i].op != EXPR_LOAD_CONST)
            return false;
    return true;
}

/* Replaces `count` constants and the operator on them by the result. */
static assay_status fold(parser *p, unsigned op, unsigned count)
{
    assay__expr little = {0};
    double value = (double)NAN;

    p->code.length = (uint16_t)(p->code.length - count);
    p->stack -= count;
    memcpy(little.constants, p->code.constants, sizeof little.constants);
    memcpy(little.code, p->code.code + p->code.length, count * sizeof little.code[0]);
    little.code[count].op = (uint8_t)op;
    little.code[count + 1].op = EXPR_END;
    (void)assay__expr_eval(&little, NULL, NULL, &value);
    return emit_constant(p, value);
}

static assay_status emit_unary(parser *p, unsigned op)
{
    return ends_in_constants(p, 1) ? fold(p, op, 1) : emit(p, op, 0);
}

static assay_status emit_binary(parser *p, unsigned op)
{
    if (ends_in_constants(p, 2))
        return fold(p, op, 2);
    p->stack--;
    assay__expr_step *last = &p->code.code[p->code.length - 1];
    if (last->op < EXPR_LOAD_SLOT || last->op > EXPR_LOAD_CONST)
        return emit(p, op, 0);
    last->op = (uint8_t)(op + 1 + last->op - EXPR_LOAD_SLOT);
    return ASSAY_OK;
}

/* ---- primaries ---- */

/* Digits and exponent without the point are what strtod reads alike in every locale. */
static assay_status parse_number(parser *p)
{
    const char *start = p->at, *c = p->at;
    char digits[64];
    size_t length = 0;
    long exponent = 0;

    for (bool fraction = false; is_digit(*c) || (*c == '.' && !fraction); c++) {
        if (*c == '.')
            fraction = true;
        else if (length >= 40)
            return fail_at(p, start, "a number has at most 40 digits");
        else
            exponent -= fraction, digits[length++] = *c;
    }
    if ((*c == 'e' || *c == 'E') &&
        (is_digit(c[1]) || (c[1] != '\0' && strchr("+-", c[1]) && is_digit(c[2])))) {
        char *end;
        long given = strtol(c + 1, &end, 10);
        exponent += given > 9999 ? 9999 : given < -9999 ? -9999 : given;
        c = end;
    }
    p->at = c;
    if (is_name_char(*c) || *c == '.' || length == 0) {
        p->at = start;
        return fail_expected(p, "a number");
    }
    (void)snprintf(digits + length, sizeof digits - length, "e%ld", exponent);
    double value = strtod(digits, NULL);
    if (!isfinite(value) || (value == 0 && strspn(digits, "0") < length))
        return fail_at(p, start, "the number does not fit f64");
    return emit_constant(p, value);
}

/* A plain integer inside the parentheses of dtype_bytes and extent. */
static assay_status parse_index(parser *p, unsigned *out)
{
    unsigned value = 0;

    skip_space(p);
    const char *c = p->at;
    while (is_digit(*c) && value < 1000)
        value = value * 10 + (unsigned)(*c++ - '0');
    if (c == p->at || is_name_char(*c) || *c == '.')
        return fail_expected(p, "a plain index such as 0");
    p->at = c;
    *out = value;
    return ASSAY_OK;
}

static assay_status expect(parser *p, char symbol, const char *name)
{
    return accept(p, symbol) ? ASSAY_OK : fail_expected(p, name);
}

static assay_status load_name(parser *p, const char *at, const char *name)
{
    int slot = p->scope->resolve(p->scope->context, name);
    const char *known = p->scope->known;

    if (slot < 0 || slot > 255)
        return assay__fail(ASSAY_PARSE, "expression '%.80s': column %td: unknown name '%s'%s%s",
                           p->text, at - p->text + 1, name, known ? "; known: " : "",
                           known ? known : "");
    return emit_load(p, EXPR_LOAD_SLOT, (unsigned)slot);
}

static assay_status parse_extent(parser *p, const char *at)
{
    unsigned operand, axis;
    char name[32];

    ASSAY_TRY(parse_index(p, &operand));
    ASSAY_TRY(expect(p, ',', "','"));
    ASSAY_TRY(parse_index(p, &axis));
    ASSAY_TRY(expect(p, ')', "')'"));
    (void)snprintf(name, sizeof name, "extent(%u,%u)", operand, axis);
    return load_name(p, at, name);
}

static assay_status parse_dtype_bytes(parser *p, const char *at)
{
    unsigned operand;

    ASSAY_TRY(parse_index(p, &operand));
    ASSAY_TRY(expect(p, ')', "')'"));
    if (operand >= p->scope->dtype_count || operand > 255)
        return assay__fail(ASSAY_PARSE,
                           "expression '%.80s': column %td: dtype_bytes(%u), but there are %u "
                           "operands, counted from 0",
                           p->text, at - p->text + 1, operand, p->scope->dtype_count);
    return emit_load(p, EXPR_LOAD_BYTES, operand);
}

static assay_status parse_min_max(parser *p, unsigned op)
{
    ASSAY_TRY(parse_expression(p));
    ASSAY_TRY(expect(p, ',', "',' and a second argument"));
    do {
        ASSAY_TRY(parse_expression(p));
        ASSAY_TRY(emit_binary(p, op));
    } while (accept(p, ','));
    return expect(p, ')', "',' or ')'");
}

static assay_status parse_unary_call(parser *p, unsigned op)
{
    ASSAY_TRY(parse_expression(p));
    ASSAY_TRY(expect(p, ')', "')'"));
    return emit_unary(p, op);
}

static const struct function {
    const char *name;
    uint8_t op; /* 0: takes indices, not values */
    bool is_min_max;
} functions[] = {
    {"min", EXPR_MIN, true},      {"max", EXPR_MAX, true},    {"ceil", EXPR_CEIL, false},
    {"floor", EXPR_FLOOR, false}, {"log2", EXPR_LOG2, false}, {"sqrt", EXPR_SQRT, false},
    {"abs", EXPR_ABS, false},     {"dtype_bytes", 0, false},  {"extent", 0, false},
};

static assay_status parse_call(parser *p, const char *at, const struct function *f)
{
    if (f->op == 0)
        return f->name[0] == 'd' ? parse_dtype_bytes(p, at) : parse_extent(p, at);
    return f->is_min_max ? parse_min_max(p, f->op) : parse_unary_call(p, f->op);
}

static bool is_word_operator(const char *name)
{
    return strcmp(name, "and") == 0 || strcmp(name, "or") == 0 || strcmp(name, "not") == 0;
}

static assay_status parse_name(parser *p)
{
    const char *at = p->at;
    size_t length = name_length(at);
    char name[ASSAY__EXPR_NAME_MAX + 1];

    if (length > ASSAY__EXPR_NAME_MAX)
        return fail_at(p, at, "the name is too long");
    memcpy(name, at, length);
    name[length] = '\0';
    if (is_word_operator(name))
        return fail_expected(p, "a number, a name or '('");
    p->at += length;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0) {
            ASSAY_TRY(expect(p, '(', "'(' after the function"));
            return parse_call(p, at, &functions[i]);
        }
    if (accept(p, '(')) {
        p->at = at;
        return fail_expected(p, "min, max, ceil, floor, log2, sqrt, abs, dtype_bytes or extent");
    }
    return load_name(p, at, name);
}

static assay_status parse_primary(parser *p)
{
    skip_space(p);
    if (is_digit(*p->at) || *p->at == '.')
        return parse_number(p);
    if (is_name_start(*p->at))
        return parse_name(p);
    if (!accept(p, '('))
        return fail_expected(p, "a number, a name or '('");
    ASSAY_TRY(parse_expression(p));
    return expect(p, ')', "an operator or ')'");
}

/* ---- operators ---- */

enum level { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_SIGN };

/* A prefix of another operator stands after it. */
static const struct binary {
    const char *text;
    uint8_t level, op;
} binaries[] = {
    {"or", LEVEL_OR, EXPR_OR},
    {"and", LEVEL_AND, EXPR_AND},
    {"<=", LEVEL_COMPARE, EXPR_LE},
    {"<", LEVEL_COMPARE, EXPR_LT},
    {">=", LEVEL_COMPARE, EXPR_GE},
    {">", LEVEL_COMPARE, EXPR_GT},
    {"==", LEVEL_COMPARE, EXPR_EQ},
    {"!=", LEVEL_COMPARE, EXPR_NE},
    {"+", LEVEL_SUM, EXPR_ADD},
    {"-", LEVEL_SUM, EXPR_SUB},
    {"//", LEVEL_PRODUCT, EXPR_FLOORDIV},
    {"/", LEVEL_PRODUCT, EXPR_DIV},
    {"*", LEVEL_PRODUCT, EXPR_MUL},
    {"%", LEVEL_PRODUCT, EXPR_MOD},
};

/* The operator of `level` at the cursor, which moves behind it; NULL when there is none. */
static const struct binary *accept_binary(parser *p, enum level level)
{
    skip_space(p);
    size_t word = name_length(p->at);
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        size_t length = strlen(binaries[i].text);
        if (strncmp(p->at, binaries[i].text, length) != 0 || (word != 0 && word != length))
            continue;
        if (binaries[i].level != level)
            return NULL;
        p->at += length;
        return &binaries[i];
    }
    return NULL;
}

static assay_status enter(parser *p)
{
    if (++p->nest <= ASSAY__EXPR_NEST_MAX)
        return ASSAY_OK;
    return assay__fail(ASSAY_PARSE, "expression '%.80s': column %td: nested more than %d deep",
                       p->text, p->at - p->text + 1, ASSAY__EXPR_NEST_MAX);
}

static assay_status parse_sign(parser *p)
{
    if (!accept(p, '-'))
        return parse_primary(p);
    ASSAY_TRY(enter(p));
    ASSAY_TRY(parse_sign(p));
    p->nest--;
    return emit_unary(p, EXPR_NEG);
}

static assay_status parse_level(parser *p, enum level level);

static assay_status parse_not(parser *p)
{
    if (!accept_word(p, "not"))
        return parse_level(p, LEVEL_COMPARE);
    ASSAY_TRY(enter(p));
    ASSAY_TRY(parse_not(p));
    p->nest--;
    return emit_unary(p, EXPR_NOT);
}

static assay_status parse_level(parser *p, enum level level)
{
    const struct binary *binary;

    if (level == LEVEL_NOT)
        return parse_not(p);
    if (level == LEVEL_SIGN)
        return parse_sign(p);
    ASSAY_TRY(parse_level(p, level + 1));
    for (bool first = true; (binary = accept_binary(p, level)) != NULL; first = false) {
        if (level == LEVEL_COMPARE && !first) {
            p->at -= strlen(binary->text);
            return fail_expected(p, "'and' between two comparisons");
        }
        ASSAY_TRY(parse_level(p, level + 1));
        ASSAY_TRY(emit_binary(p, binary->op));
    }
    return ASSAY_OK;
}

static assay_status parse_expression(parser *p)
{
    ASSAY_TRY(enter(p));
    ASSAY_TRY(parse_level(p, LEVEL_OR));
    if (accept(p, '?')) {
        ASSAY_TRY(parse_expression(p));
        ASSAY_TRY(expect(p, ':', "an operator or ':'"));
        ASSAY_TRY(parse_expression(p));
        p->stack -= 2;
        ASSAY_TRY(emit(p, EXPR_SELECT, 0));
    }
    p->nest--;
    return ASSAY_OK;
}

assay_status assay__expr_compile(const char *text, const assay__expr_scope *scope, assay__expr *out)
{
    if (text == NULL || scope == NULL || scope->resolve == NULL || out == NULL)
        return assay__fail(ASSAY_INVALID, "expression: NULL argument");
    parser p = {.text = text, .at = text, .scope = scope};
    ASSAY_TRY(parse_expression(&p));
    skip_space(&p);
    if (*p.at != '\0')
        return fail_expected(&p, "an operator or the end");
    p.code.code[p.code.length++].op = EXPR_END; /* emit() leaves room for it */
    *out = p.code;
    return ASSAY_OK;
}
