/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_expr.c -- expressions: values, precedence, unknowns, limits, bad input. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/expr.h"

/* m n k beta u(nknown) h(uge) extent(0,1): slots 0.. in this order. */
static const char *const names[] = {"m", "n", "k", "beta", "u", "h", "extent(0,1)", "not_taken"};
static const double slots[] = {7, 3, 0, -2.5, NAN, 1e300, 11, INFINITY};
static const double bytes[] = {4, 2, 8};

static int resolve(const void *context, const char *name)
{
    const char *const *list = context;

    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(list[i], name) == 0)
            return i;
    return -1;
}

static const assay__expr_scope scope = {resolve, names, 3, "m, n, k, beta"};

#define UNKNOWN NAN /* in the tables below */

static void check_value(const char *text, double want)
{
    assay__expr e;
    double got = -123;
    assay_status status = assay__expr_compile(text, &scope, &e);

    ck_assert_msg(status == ASSAY_OK, "%s: %s", text, assay_last_error());
    bool is_known = assay__expr_eval(&e, slots, bytes, &got);
    ck_assert_msg(is_known == !isnan(want), "%s: known %d", text, is_known);
    if (is_known)
        ck_assert_msg(got == want, "%s: %.17g, not %.17g", text, got, want);
    else
        ck_assert_msg(got == -123, "%s: unknown, but wrote %g", text, got);
}

static void check_error(const char *text, int column, const char *part)
{
    static assay__expr untouched;
    char where[32];

    memset(&untouched, 0x5a, sizeof untouched);
    assay__expr e = untouched;
    assay_status status = assay__expr_compile(text, &scope, &e);
    ck_assert_msg(status == ASSAY_PARSE, "%s: status %d", text, (int)status);
    ck_assert_msg(memcmp(&e, &untouched, sizeof e) == 0, "%s: out was written", text);
    (void)snprintf(where, sizeof where, ": column %d: ", column);
    ck_assert_msg(strstr(assay_last_error(), where) && strstr(assay_last_error(), part),
                  "%s: want column %d and \"%s\" in: %s", text, column, part, assay_last_error());
}

struct row {
    const char *text;
    double want;
};

#define CHECK_ROWS(rows)                                          \
    for (size_t i_ = 0; i_ < sizeof(rows) / sizeof *(rows); i_++) \
    check_value((rows)[i_].text, (rows)[i_].want)

/* ---- values ---- */

START_TEST(value_of_numbers)
{
    static const struct row rows[] = {
        {"0", 0},
        {"42", 42},
        {"1.5", 1.5},
        {".25", 0.25},
        {"3.", 3},
        {"1e3", 1000},
        {"1.5E-3", 1.5e-3},
        {"2e+2", 200},
        {"0.1", 0.1},
        {"007", 7},
        {"  12\t\n ", 12},
        {"9007199254740993", 9007199254740992.0},
        {"1.7976931348623157e308", DBL_MAX},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"123456789.123456789", 123456789.123456789},
        {"0e999", 0},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(value_of_names)
{
    static const struct row rows[] = {
        {"m", 7},
        {"beta", -2.5},
        {"not_taken*0 == 0 or 1", 1},
        {"dtype_bytes(0)", 4},
        {"dtype_bytes( 2 )", 8},
        {"extent(0,1)", 11},
        {"extent ( 0 , 1 )", 11},
        {"m*n*dtype_bytes(1)", 42},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(value_of_operators)
{
    static const struct row rows[] = {
        {"m+n", 10},       {"m-n", 4},          {"m*n", 21},        {"m/2", 3.5},
        {"-m", -7},        {"--m", 7},          {"m*-n", -21},      {"-k", 0},
        {"m<n", 0},        {"n<m", 1},          {"m<=7", 1},        {"m<=6", 0},
        {"m>n", 1},        {"m>7", 0},          {"m>=7", 1},        {"m>=8", 0},
        {"m==7", 1},       {"m==n", 0},         {"m!=n", 1},        {"m!=7", 0},
        {"m and n", 1},    {"m and k", 0},      {"k or k", 0},      {"k or n", 1},
        {"not m", 0},      {"not k", 1},        {"not not m", 1},   {"m ? n : 5", 3},
        {"k ? n : 5", 5},  {"min(m,n)", 3},     {"max(m,n)", 7},    {"min(m,n,k,9)", 0},
        {"max(1,m,n)", 7}, {"ceil(1.25)", 2},   {"ceil(beta)", -2}, {"floor(beta)", -3},
        {"floor(m)", 7},   {"ceil(m/2)", 4},    {"floor(m/2)", 3},  {"abs(beta)", 2.5},
        {"abs(m)", 7},     {"log2(m+1)", 3},    {"log2(0.25)", -2}, {"sqrt(m+9)", 4},
        {"sqrt(k)", 0},    {"floor(h)", 1e300}, {"ceil(-0.5)", 0},  {"log2(8)", 3},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(value_of_integer_division)
{
    static const struct row rows[] = {
        {"7//2", 3},
        {"-7//2", -4},
        {"7//-2", -4},
        {"-7//-2", 3},
        {"m//n", 2},
        {"-m//n", -3},
        {"m%n", 1},
        {"-m%n", 2},
        {"m%-n", -2},
        {"-m%-n", -1},
        {"6%3", 0},
        {"-6%n", 0},
        {"5.5//2", 2},
        {"5.5%2", 1.5},
        {"-5.5//2", -3},
        {"-5.5%2", 0.5},
        {"1//0.1", 9},
        {"7.5%-2", -0.5},
        {"k//m", 0},
        {"k%m", 0},
        {"9007199254740991//n", 3002399751580330},
        {"9007199254740991 % 4096", 4095},
        {"9007199254740991 // 4096", 2199023255551},
        {"h//m == floor(h/m) or 1", 1},
        {"(m+n-1)//n*n", 9},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(value_follows_precedence)
{
    static const struct row rows[] = {
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"m+n*2-1", 12},
        {"20-m-n", 10},
        {"64/4/2", 8},
        {"m-n+1", 5},
        {"100//m*2", 28},
        {"7*3%4", 1},
        {"m*(n-1)", 14},
        {"m+n<m*n", 1},
        {"m+n == 10", 1},
        {"not m == n", 1},
        {"not k and m == 7", 1},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"m > n and n > k or k", 1},
        {"m and not n or not k", 1},
        {"k or m ? 1 : 2", 1},
        {"k ? 1 : n ? 2 : 3", 2},
        {"m ? k ? 1 : 2 : 3", 2},
        {"m == 7 ? m + 1 : m - 1", 8},
        {"(m ? 2 : 3) * 5", 10},
        {"m ? 2 : 3 * 5", 2},
        {"-m + n", -4},
        {"- m * n", -21},
        {"2 - -m", 9},
        {"min(m, n) + max(m, n) * 2", 17},
        {"2*m*(n*dtype_bytes(0) + n*dtype_bytes(1)*(k == 0 ? 1 : 2))", 252},
    };

    CHECK_ROWS(rows);
}
END_TEST

/* ---- unknowns ---- */

START_TEST(unknown_comes_from_what_has_no_value)
{
    static const struct row rows[] = {
        {"m/k", UNKNOWN},         {"m//k", UNKNOWN},     {"m%k", UNKNOWN},
        {"1/0", UNKNOWN},         {"0/0", UNKNOWN},      {"1//0", UNKNOWN},
        {"1%0", UNKNOWN},         {"log2(k)", UNKNOWN},  {"log2(-1)", UNKNOWN},
        {"sqrt(beta)", UNKNOWN},  {"sqrt(-1)", UNKNOWN}, {"h*h", UNKNOWN},
        {"1e300*1e300", UNKNOWN}, {"u", UNKNOWN},        {"not_taken", UNKNOWN},
        {"h*h-h*h", UNKNOWN},     {"m%(h*h)", UNKNOWN},  {"-h*h", UNKNOWN},
        {"h//1e-300", UNKNOWN},
    };

    CHECK_ROWS(rows);
}
END_TEST

/* An overflow must not come back as a number: 1/inf is 0, min(inf, 1) is 1. */
START_TEST(unknown_propagates)
{
    static const struct row rows[] = {
        {"u+1", UNKNOWN},         {"0*u", UNKNOWN},        {"u*0", UNKNOWN},
        {"1/(h*h)", UNKNOWN},     {"min(h*h,1)", UNKNOWN}, {"max(-h*h,1)", UNKNOWN},
        {"min(u,1)", UNKNOWN},    {"max(1,u)", UNKNOWN},   {"min(1,u,2)", UNKNOWN},
        {"h*h > 1", UNKNOWN},     {"1 < h*h", UNKNOWN},    {"h*h == h*h", UNKNOWN},
        {"u == u", UNKNOWN},      {"u != u", UNKNOWN},     {"u < 1", UNKNOWN},
        {"u <= 1", UNKNOWN},      {"u > 1", UNKNOWN},      {"u >= 1", UNKNOWN},
        {"not u", UNKNOWN},       {"not h*h", UNKNOWN},    {"u ? 1 : 2", UNKNOWN},
        {"h*h ? 1 : 2", UNKNOWN}, {"abs(u)", UNKNOWN},     {"floor(u)", UNKNOWN},
        {"ceil(u)", UNKNOWN},     {"log2(u)", UNKNOWN},    {"sqrt(u)", UNKNOWN},
        {"log2(h*h)", UNKNOWN},   {"sqrt(h*h)", UNKNOWN},  {"u//2", UNKNOWN},
        {"u%2", UNKNOWN},         {"2//u", UNKNOWN},       {"2%u", UNKNOWN},
        {"-u", UNKNOWN},          {"u/2", UNKNOWN},        {"2/u", UNKNOWN},
        {"m ? u : 1", UNKNOWN},   {"k ? 1 : u", UNKNOWN},  {"1/(1/0)", UNKNOWN},
        {"2//(h*h)", UNKNOWN},    {"(1/k) * 0", UNKNOWN},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(unknown_is_ignored_where_it_decides_nothing)
{
    static const struct row rows[] = {
        {"k ? u : 5", 5},
        {"m ? 5 : u", 5},
        {"k == 0 or m/k > 2", 1},
        {"m/k > 2 or k == 0", 1},
        {"k and u", 0},
        {"u and k", 0},
        {"m or u", 1},
        {"u or m", 1},
        {"m and u", UNKNOWN},
        {"u and m", UNKNOWN},
        {"k or u", UNKNOWN},
        {"u or k", UNKNOWN},
        {"u and u", UNKNOWN},
        {"u or u", UNKNOWN},
        {"h*h and 0", 0},
        {"h*h or 0", UNKNOWN},
        {"k == 0 ? 0 : m/k", 0},
    };

    CHECK_ROWS(rows);
}
END_TEST

START_TEST(unknown_is_the_value_of_an_absent_expression)
{
    assay__expr e = {0};
    double out = 5;

    ck_assert(!assay__expr_eval(&e, NULL, NULL, &out));
    ck_assert(out == 5);
}
END_TEST

/* ---- bad input ---- */

START_TEST(error_names_column_and_expectation)
{
    static const struct {
        const char *text;
        int column;
        const char *part;
    } rows[] = {
        {"", 1, "expected a number, a name or '(', found the end"},
        {"   ", 4, "found the end"},
        {"1 +", 4, "found the end"},
        {"3abc", 1, "expected a number, found '3abc'"},
        {"1.2.3", 1, "expected a number"},
        {"1e", 1, "expected a number"},
        {"1e+", 1, "expected a number"},
        {"0x10", 1, "expected a number"},
        {".", 1, "expected a number"},
        {"1e999", 1, "does not fit"},
        {"1e-999", 1, "does not fit"},
        {"2*12345678901234567890123456789012345678901", 3, "40 digits"},
        {"2*q", 3, "unknown name 'q'; known: m, n, k, beta"},
        {"M", 1, "unknown name 'M'"},
        {"extent(0,2)", 1, "unknown name 'extent(0,2)'"},
        {"extent(0)", 9, "expected ','"},
        {"extent(m,0)", 8, "expected a plain index"},
        {"m n", 3, "expected an operator or the end, found 'n'"},
        {"m 3", 3, "expected an operator or the end, found '3'"},
        {"(m", 3, "expected an operator or ')', found the end"},
        {"m)", 2, "found ')'"},
        {"()", 2, "found ')'"},
        {"m + * n", 5, "found '*'"},
        {"m ** n", 4, "found '*'"},
        {"+m", 1, "found '+'"},
        {"m && n", 3, "found '&&'; write 'and'"},
        {"m || n", 3, "found '||'; write 'or'"},
        {"!m", 1, "found '!'; write 'not'"},
        {"m = n", 3, "found '='; write '=='"},
        {"m === n", 5, "found '='"},
        {"m ^ n", 3, "found '^'"},
        {"m < n < k", 7, "expected 'and' between two comparisons, found '<'"},
        {"m == n != k", 8, "expected 'and' between"},
        {"m ? n", 6, "expected an operator or ':', found the end"},
        {"m ? : n", 5, "found ':'"},
        {"m ? n :", 8, "found the end"},
        {"m : n", 3, "found ':'"},
        {"1 + not m", 5, "found 'not'"},
        {"m and", 6, "found the end"},
        {"and m", 1, "found 'and'"},
        {"m andn", 3, "found 'andn'"},
        {"notm", 1, "unknown name 'notm'"},
        {"min(m)", 6, "expected ',' and a second argument, found ')'"},
        {"min(m,)", 7, "found ')'"},
        {"min m", 5, "expected '(' after the function"},
        {"min", 4, "expected '(' after the function"},
        {"floor(m,n)", 8, "expected ')', found ','"},
        {"abs()", 5, "found ')'"},
        {"sin(m)", 1, "expected min, max, ceil, floor, log2, sqrt, abs, dtype_bytes or extent"},
        {"m(1)", 1, "found 'm'"},
        {"dtype_bytes(3)", 1, "dtype_bytes(3), but there are 3 operands"},
        {"dtype_bytes(m)", 13, "expected a plain index"},
        {"dtype_bytes(1.5)", 13, "expected a plain index"},
        {"dtype_bytes(-1)", 13, "expected a plain index"},
        {"dtype_bytes()", 13, "expected a plain index"},
        {"dtype_bytes", 12, "expected '('"},
        {"m\x01", 2, "found byte 0x01"},
        {"m \xc3\xa9", 3, "found byte 0xc3"},
        {"m, n", 2, "found ','"},
        {"m; n", 2, "found ';'"},
        {"m.n", 2, "found '.n'"},
        {"\"m\"", 1, "found '\"'"},
        {"this_name_is_far_longer_than_any_parameter_of_any_operator_could_be", 1, "too long"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_error(rows[i].text, rows[i].column, rows[i].part);
}
END_TEST

START_TEST(error_for_null)
{
    static const assay__expr_scope no_resolver = {NULL, NULL, 0, NULL};
    assay__expr e;

    ck_assert_int_eq(assay__expr_compile(NULL, &scope, &e), ASSAY_INVALID);
    ck_assert_int_eq(assay__expr_compile("1", NULL, &e), ASSAY_INVALID);
    ck_assert_int_eq(assay__expr_compile("1", &no_resolver, &e), ASSAY_INVALID);
    ck_assert_int_eq(assay__expr_compile("1", &scope, NULL), ASSAY_INVALID);
}
END_TEST

/* ---- limits ---- */

/* before * count, middle, after * count */
static const char *repeat(const char *before, const char *middle, const char *after, int count)
{
    static char text[200000];
    char *at = text;

    for (int i = 0; i < count; i++)
        at = stpcpy(at, before);
    at = stpcpy(at, middle);
    for (int i = 0; i < count; i++)
        at = stpcpy(at, after);
    return text;
}

START_TEST(limit_of_nesting_is_an_error)
{
    static const char *const wraps[][3] = {
        {"(", "m", ")"},   {"-", "m", ""},    {"not ", "m", ""},    {"abs(", "m", ")"},
        {"m?m:", "m", ""}, {"m?", "m", ":m"}, {"min(1,", "m", ")"}, {"m+(", "m", ")"}};
    static const int deep[] = {100, 20000};
    const char *const *wrap = wraps[_i];
    assay__expr e;

    for (size_t i = 0; i < 2; i++) {
        const char *text = repeat(wrap[0], wrap[1], wrap[2], deep[i]);
        ck_assert_int_eq(assay__expr_compile(text, &scope, &e), ASSAY_PARSE);
        ck_assert_ptr_nonnull(strstr(assay_last_error(), "column"));
    }
    ck_assert_int_eq(assay__expr_compile(repeat(wrap[0], wrap[1], wrap[2], 12), &scope, &e),
                     ASSAY_OK);
}
END_TEST

START_TEST(limit_of_nesting_is_reached_without_harm)
{
    check_value(repeat("(", "m", ")", ASSAY__EXPR_NEST_MAX - 1), 7);
    check_error(repeat("(", "m", ")", ASSAY__EXPR_NEST_MAX), ASSAY__EXPR_NEST_MAX + 1, "nested");
    check_value(repeat("m+(", "m", ")", ASSAY__EXPR_STACK_MAX - 1), 7.0 * ASSAY__EXPR_STACK_MAX);
    check_error(repeat("m+(", "m", ")", ASSAY__EXPR_STACK_MAX), 3 * ASSAY__EXPR_STACK_MAX + 2,
                "wait for their operator");
}
END_TEST

START_TEST(limit_of_steps_is_an_error)
{
    check_value(repeat("", "m", "+m", ASSAY__EXPR_CODE_MAX - 3), 7.0 * (ASSAY__EXPR_CODE_MAX - 2));
    ck_assert_int_eq(assay__expr_compile(repeat("", "m", "+m", 20000), &scope, &(assay__expr){0}),
                     ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "steps"));
}
END_TEST

START_TEST(limit_of_numbers_is_an_error)
{
    char text[2000] = "m";

    for (int i = 1; i <= ASSAY__EXPR_CONST_MAX + 1; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "+%d+%d", i, i);
        if (i == ASSAY__EXPR_CONST_MAX)
            check_value(text, 7 + i * (i + 1.0));
    }
    ck_assert_int_eq(assay__expr_compile(text, &scope, &(assay__expr){0}), ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "different numbers"));
}
END_TEST

START_TEST(limit_of_steps_of_a_constant_is_none)
{
    assay__expr e;

    ck_assert_int_eq(assay__expr_compile("2*3+4*(5-1)//2", &scope, &e), ASSAY_OK);
    ck_assert_int_eq(e.length, 2); /* folded to one load and the end */
}
END_TEST

/* ---- random input, against an evaluator that walks the text it makes ---- */

static uint64_t random_state;

static unsigned random_below(unsigned n) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (unsigned)((random_state * 0x2545f4914f6cdd1du) >> 33) % n;
}

/* Writes a fully parenthesised expression at `*at` and returns its value, NaN for unknown, by
 * plain C on values that are small integers. */
static double write_random(char **at, int depth)
{
    static const char *const ops[] = {"+",  "-",  "*",  "<", "<=", ">",
                                      ">=", "==", "!=", "/", "//", "%"};

    if (depth == 0 || random_below(6) == 0) {
        unsigned pick = random_below(12);
        if (pick < 5) { /* m n k beta u */
            *at = stpcpy(*at, names[pick]);
            return slots[pick];
        }
        if (pick < 8) {
            *at += sprintf(*at, "dtype_bytes(%u)", pick - 5);
            return bytes[pick - 5];
        }
        *at += sprintf(*at, "%u", pick);
        return pick;
    }
    unsigned op = random_below(12);
    *at = stpcpy(*at, "(");
    double a = write_random(at, depth - 1);
    *at = stpcpy(*at, random_below(2) ? ops[op] : " ");
    if ((*at)[-1] == ' ')
        *at = stpcpy(*at, ops[op]);
    double b = write_random(at, depth - 1);
    *at = stpcpy(*at, ")");
    if (isnan(a) || isnan(b) || (op >= 9 && b == 0))
        return NAN;
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a < b;
    case 4:
        return a <= b;
    case 5:
        return a > b;
    case 6:
        return a >= b;
    case 7:
        return a == b;
    case 8:
        return a != b;
    case 9:
        return a / b;
    default:
        break;
    }
    double rest = fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0))
        rest += b;
    return op == 11 ? rest : rint((a - rest) / b);
}

START_TEST(random_expressions_have_the_value_of_plain_c)
{
    random_state = 20261129 + (unsigned)_i;
    int known_count = 0;

    for (int round = 0; round < 5000; round++) {
        char text[4096], *at = text;
        assay__expr e;
        double want = write_random(&at, 4), got;

        if (assay__expr_compile(text, &scope, &e) != ASSAY_OK)
            ck_abort_msg("%s: %s", text, assay_last_error());
        bool is_known = assay__expr_eval(&e, slots, bytes, &got);
        if (is_known != !isnan(want) || (is_known && got != want))
            ck_abort_msg("%s: known %d, %.17g, not %.17g", text, is_known, got, want);
        known_count += is_known;
    }
    ck_assert_int_gt(known_count, 500);
}
END_TEST

/* Whatever the text, compiling ends with a value or an error that has a column. */
START_TEST(random_text_is_compiled_or_refused)
{
    static const char *const words[] = {
        "m",    "n",   "beta",         "12",      "1.5",  "(",     ")", "+",  "-",
        "*",    "/",   "//",           "%",       "<",    "==",    "?", ":",  ",",
        "and ", "or ", "not ",         "min(",    "abs(", "log2(", " ", "e5", ".",
        "!",    "&",   "dtype_bytes(", "extent(", "\xff", "u",     "0"};
    int accepted = 0;

    random_state = 77 + (unsigned)_i;
    for (int round = 0; round < 20000; round++) {
        char text[1024], *at = text;
        assay__expr e;
        double out = 0;

        for (unsigned i = 0, n = random_below(40); i < n; i++) {
            if (random_below(30) == 0)
                *at++ = (char)(1 + random_below(255)), *at = '\0';
            else
                at = stpcpy(at, words[random_below(sizeof words / sizeof *words)]);
        }
        *at = '\0';
        assay_status status = assay__expr_compile(text, &scope, &e);
        if (status == ASSAY_OK) {
            accepted++;
            if (assay__expr_eval(&e, slots, bytes, &out) && !isfinite(out))
                ck_abort_msg("%s gave %g", text, out);
        } else if (status != ASSAY_PARSE || strstr(assay_last_error(), "column") == NULL) {
            ck_abort_msg("%s: status %d, %s", text, (int)status, assay_last_error());
        }
    }
    ck_assert_int_gt(accepted, 10);
}
END_TEST

/* One byte of a good expression changed, removed or doubled. */
START_TEST(random_damage_is_compiled_or_refused)
{
    static const char good[] =
        "2*m*(n*dtype_bytes(0) + extent(0,1)*(beta == 0 ? 1 : 2)) // min(m, 3)";
    static const char signs[] = "()+-*/%<>=!?:,. 0e_am\t\x80";

    random_state = 5;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good + 2];
        size_t where = random_below(sizeof good - 1);
        assay__expr e;
        double out = 0;

        memcpy(text, good, sizeof good);
        if (random_below(3) == 0)
            memmove(text + where, text + where + 1, sizeof good - where - 1);
        else
            text[where] = signs[random_below(sizeof signs - 1)];
        assay_status status = assay__expr_compile(text, &scope, &e);
        if (status != ASSAY_OK && status != ASSAY_PARSE)
            ck_abort_msg("%s: status %d", text, (int)status);
        if (status == ASSAY_OK && assay__expr_eval(&e, slots, bytes, &out) && !isfinite(out))
            ck_abort_msg("%s gave %g", text, out);
    }
}
END_TEST

static Suite *expr_suite(void)
{
    Suite *suite = suite_create("expr");
    TCase *value = tcase_create("value"), *unknown = tcase_create("unknown");
    TCase *error = tcase_create("error"), *limit = tcase_create("limit");
    TCase *random = tcase_create("random");

    tcase_add_test(value, value_of_numbers);
    tcase_add_test(value, value_of_names);
    tcase_add_test(value, value_of_operators);
    tcase_add_test(value, value_of_integer_division);
    tcase_add_test(value, value_follows_precedence);
    tcase_add_test(unknown, unknown_comes_from_what_has_no_value);
    tcase_add_test(unknown, unknown_propagates);
    tcase_add_test(unknown, unknown_is_ignored_where_it_decides_nothing);
    tcase_add_test(unknown, unknown_is_the_value_of_an_absent_expression);
    tcase_add_test(error, error_names_column_and_expectation);
    tcase_add_test(error, error_for_null);
    tcase_add_loop_test(limit, limit_of_nesting_is_an_error, 0, 8);
    tcase_add_test(limit, limit_of_nesting_is_reached_without_harm);
    tcase_add_test(limit, limit_of_steps_is_an_error);
    tcase_add_test(limit, limit_of_numbers_is_an_error);
    tcase_add_test(limit, limit_of_steps_of_a_constant_is_none);
    tcase_add_loop_test(random, random_expressions_have_the_value_of_plain_c, 0, 4);
    tcase_add_loop_test(random, random_text_is_compiled_or_refused, 0, 4);
    tcase_add_test(random, random_damage_is_compiled_or_refused);
    suite_add_tcase(suite, value);
    suite_add_tcase(suite, unknown);
    suite_add_tcase(suite, error);
    suite_add_tcase(suite, limit);
    suite_add_tcase(suite, random);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(expr_suite());

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
