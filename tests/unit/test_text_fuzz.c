/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_text_fuzz.c -- seeded fuzz of what the runtime reads from text: expressions and
 * dtype names.
 *
 * Good texts are cut, joined and damaged. Each is handed over in a block of exactly its size, so
 * that the address sanitizer sees one byte read too far. ASSAY_LONG=1 multiplies the rounds by 50;
 * ASSAY_SEED=n sets the seed, which every failure prints. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/dtype.h"
#include "runtime/expr.h"

#define TEXT_MAX 400

static uint64_t seed, random_state;

static unsigned random_below(unsigned n) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (unsigned)((random_state * 0x2545f4914f6cdd1du) >> 33) % n;
}

static int start_rounds(int rounds, uint64_t salt)
{
    const char *given = getenv("ASSAY_SEED"), *asked = getenv("ASSAY_LONG");

    seed = given != NULL ? strtoull(given, NULL, 0) : 20261129;
    random_state = (seed + salt) * 2 + 1;
    return asked != NULL && strcmp(asked, "1") == 0 ? rounds * 50 : rounds;
}

static void give_up(const char *what, const char *text)
{
    ck_abort_msg("seed %llu: %s: '%s'", (unsigned long long)seed, what, text);
}

/* A piece of a random seed text, spliced in at a random place. */
static void splice(char *text, const char *const *corpus, unsigned count)
{
    const char *donor = corpus[random_below(count)];
    unsigned from = random_below((unsigned)strlen(donor) + 1);
    unsigned taken = random_below((unsigned)strlen(donor) - from + 1);
    size_t length = strlen(text);
    unsigned at = random_below((unsigned)length + 1);

    if (length + taken >= TEXT_MAX)
        return;
    memmove(text + at + taken, text + at, length - at + 1);
    memcpy(text + at, donor + from, taken);
}

static void damage(char *text)
{
    size_t length = strlen(text);
    unsigned at = random_below((unsigned)length + 1);

    switch (random_below(4)) {
    case 0:
        text[at] = '\0';
        break;
    case 1:
        if (at < length)
            memmove(text + at, text + at + 1, length - at);
        break;
    case 2:
        if (at < length)
            text[at] = (char)(1 + random_below(255));
        break;
    default:
        if (at < length)
            text[at] = "()*/-+%<>=!?:,.eE0 9"[random_below(20)];
        break;
    }
}

static void make_text(char *text, const char *const *corpus, unsigned count)
{
    strcpy(text, corpus[random_below(count)]);
    for (unsigned i = 0, n = random_below(4); i < n; i++)
        splice(text, corpus, count);
    for (unsigned i = 0, n = random_below(3); i < n; i++)
        damage(text);
}

/* ---- expressions ---- */

static const char *const expressions[] = {
    "2*batch*m*n*k",
    "batch*(m*k*dtype_bytes(0) + k*n*dtype_bytes(1) + m*n*dtype_bytes(2)*(beta == 0 ? 1 : 2))",
    "min(m, 64, n)*max(n, .5e1) <= 32768 and k >= 8 or not m // 4 > 2",
    "extent(0, 1) % 16 == 0 and extent( 1,2 ) != 3",
    "-ceil(m / 3) + floor(-n / 1.5e-3) - abs(log2(k)) * sqrt(m)",
    "m ? n ? 1 : 2 : k ? 3 : 4",
    "((((m))))",
    "1e308 * 1e308 - 1e-308",
};
#define EXPRESSION_COUNT ((unsigned)(sizeof expressions / sizeof *expressions))

static const double values[] = {1, 64, 0, 1e200, -2.5, 3, 7, NAN};
static const double sizes[] = {4, 2, 8};

static int resolve(const void *context, const char *name)
{
    static const char *const names[] = {"batch", "m",           "n",           "k",
                                        "beta",  "extent(0,1)", "extent(1,2)", "unknown"};

    (void)context;
    for (int i = 0; i < 8; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static const assay__expr_scope scope = {resolve, NULL, 3, NULL};

static assay_status compile_exact(const char *text, assay__expr *out)
{
    char *copy = strdup(text);
    if (copy == NULL)
        ck_abort_msg("out of memory");
    assay_status status = assay__expr_compile(copy, &scope, out);
    free(copy);
    return status;
}

static bool same_code(const assay__expr *a, const assay__expr *b)
{
    return a->length == b->length && a->constant_count == b->constant_count &&
           memcmp(a->code, b->code, sizeof a->code) == 0 &&
           memcmp(a->constants, b->constants, a->constant_count * sizeof *a->constants) == 0;
}

/* Forms that mean the same: the code may not differ. */
static void check_same_meaning(const char *text, const assay__expr *e)
{
    static const char *const forms[][2] = {{"", ""}, {"(", ")"}, {" ", "\n"}, {"\t( ", " )"}};
    char other[TEXT_MAX + 16];

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        assay__expr again;
        (void)snprintf(other, sizeof other, "%s%s%s", forms[i][0], text, forms[i][1]);
        if (compile_exact(other, &again) != ASSAY_OK)
            give_up(assay_last_error(), text);
        if (!same_code(e, &again))
            give_up("another form gives other code", other);
    }
}

/* x - x is 0 and x == x is 1 whenever x is known, and unknown otherwise. */
static void check_value(const char *text, const assay__expr *e)
{
    char twice[2 * TEXT_MAX + 16];
    double value = 0, result = 5;
    bool is_known = assay__expr_eval(e, values, sizes, &value);
    assay__expr other;

    if (is_known && !isfinite(value))
        give_up("a value that is no number", text);
    for (int form = 0; form < 2; form++) {
        (void)snprintf(twice, sizeof twice, "(%s)%s(%s)", text, form ? "==" : " - ", text);
        if (compile_exact(twice, &other) != ASSAY_OK) /* a limit on size */
            continue;
        if (assay__expr_eval(&other, values, sizes, &result) != is_known)
            give_up("known alone, unknown twice, or the reverse", twice);
        if (is_known && result != form)
            give_up("not the same as itself", twice);
    }
}

START_TEST(expressions_are_compiled_or_refused)
{
    int rounds = start_rounds(10000, (uint64_t)_i), accepted = 0;

    for (int round = 0; round < rounds; round++) {
        char text[TEXT_MAX + 1];
        assay__expr e;

        make_text(text, expressions, EXPRESSION_COUNT);
        assay_status status = compile_exact(text, &e);
        if (status == ASSAY_OK) {
            accepted++;
            check_same_meaning(text, &e);
            check_value(text, &e);
        } else if (status != ASSAY_PARSE || strstr(assay_last_error(), "column ") == NULL) {
            give_up(assay_last_error(), text);
        }
    }
    ck_assert_msg(accepted > rounds / 20, "seed %llu: only %d accepted", (unsigned long long)seed,
                  accepted);
}
END_TEST

/* ---- dtype names ---- */

static const char *const dtype_names[] = {
#define X(NAME, value, text, ...) text,
    ASSAY_DTYPE_MAP(X)
#undef X
};

START_TEST(dtype_names_are_read_whole_or_refused)
{
    int rounds = start_rounds(20000, 1000), accepted = 0;

    for (int round = 0; round < rounds; round++) {
        char text[TEXT_MAX + 1];
        assay_dtype dtype = ASSAY_U32;

        make_text(text, dtype_names, ASSAY_DTYPE_COUNT);
        char *copy = strdup(text);
        ck_assert_ptr_nonnull(copy);
        assay_status status = assay_dtype_parse(copy, &dtype);
        free(copy);
        if (status == ASSAY_OK ? strcmp(assay_dtype_name(dtype), text) != 0
                               : status != ASSAY_PARSE || dtype != ASSAY_U32)
            give_up("read wrong", text);
        accepted += status == ASSAY_OK;
    }
    ck_assert_int_gt(accepted, rounds / 20);
    ck_assert_int_lt(accepted, rounds);
}
END_TEST

static Suite *text_fuzz_suite(void)
{
    Suite *suite = suite_create("text_fuzz");
    TCase *fuzz = tcase_create("fuzz");

    tcase_set_timeout(fuzz, 600);
    tcase_add_loop_test(fuzz, expressions_are_compiled_or_refused, 0, 4);
    tcase_add_test(fuzz, dtype_names_are_read_whole_or_refused);
    suite_add_tcase(suite, fuzz);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(text_fuzz_suite());

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
