/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_args.c -- options by table: kinds, bounds, environment, errors, help. */

#include "support/args.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/common_args.h"

typedef struct options {
    bool is_fast;
    const char *name;
    const char *mode;
    int64_t count;
    double share, time_s;
    assay__strlist list, many;
} options;

static const char *const modes[] = {"rotate", "hot", NULL};
#define FIELD(name) offsetof(options, name)
static const assay__arg rows[] = {
    {.name = "fast",
     .short_name = 'f',
     .kind = ASSAY__ARG_FLAG,
     .offset = FIELD(is_fast),
     .env = "ASSAY_T_FAST",
     .help = "go fast"},
    {.name = "name",
     .short_name = 'n',
     .kind = ASSAY__ARG_STRING,
     .offset = FIELD(name),
     .env = "ASSAY_T_NAME",
     .help = "a name"},
    {.name = "mode",
     .kind = ASSAY__ARG_CHOICE,
     .offset = FIELD(mode),
     .choices = modes,
     .help = "cache mode"},
    {.name = "count",
     .kind = ASSAY__ARG_INT,
     .offset = FIELD(count),
     .min = 1,
     .max = 64,
     .unit = "blocks",
     .env = "ASSAY_T_COUNT",
     .help = "how many blocks of samples are taken, each from a fresh process"},
    {.name = "share",
     .kind = ASSAY__ARG_REAL,
     .offset = FIELD(share),
     .min = 0,
     .max = 1,
     .help = "a share"},
    {.name = "time", .kind = ASSAY__ARG_DURATION, .offset = FIELD(time_s), .help = "a time"},
    {.name = "list",
     .kind = ASSAY__ARG_LIST,
     .offset = FIELD(list),
     .env = "ASSAY_T_LIST",
     .help = "a list"},
    {.name = "many",
     .kind = ASSAY__ARG_REPEAT,
     .offset = FIELD(many),
     .env = "ASSAY_T_MANY",
     .help = "many"},
};
#define ROWS (sizeof rows / sizeof *rows)
static const assay__args_spec spec = {.command = "assay test",
                                      .summary = "Tests options.",
                                      .positionals = "[FILE]",
                                      .max_positionals = 1,
                                      .example = "assay test --fast\nassay test x"};

static options opts;
static assay__args got;

/* Splits `line` at blanks into argv; "" is kept for ''. */
static assay_status run_masked(const char *line, uint64_t mask)
{
    static char text[512];
    static char *argv[32];
    int argc = 0;
    assay__arg_table table = {rows, ROWS, mask, &opts};

    assay__args_clear(&table, 1);
    opts = (options){.count = 8, .share = (double)NAN, .time_s = (double)NAN};
    got = (assay__args){0};
    (void)snprintf(text, sizeof text, "%s", line);
    argv[argc++] = text;
    for (char *at = text; (at = strchr(at, ' ')) != NULL;) {
        *at++ = '\0';
        argv[argc++] = at;
    }
    argv[argc] = NULL;
    return assay__args_parse(&spec, &table, 1, argc, argv, &got);
}

static void refuse(const char *line, const char *part)
{
    ck_assert_msg(run_masked(line, ASSAY__ARG_ALL) == ASSAY_INVALID, "accepted: %s", line);
    ck_assert_msg(strstr(assay_last_error(), part) != NULL, "'%s' lacks '%s'", assay_last_error(),
                  part);
    ck_assert_msg(strstr(assay_last_error(), "see assay test --help") != NULL, "%s",
                  assay_last_error());
}

static void accept(const char *line)
{
    ck_assert_msg(run_masked(line, ASSAY__ARG_ALL) == ASSAY_OK, "%s", assay_last_error());
}

START_TEST(parse_takes_every_kind)
{
    accept("t -f --name=x --mode hot --count 64 --share 0.25 --time 2m --list a,b --many p --many "
           "q file");
    ck_assert(opts.is_fast);
    ck_assert_str_eq(opts.name, "x");
    ck_assert_str_eq(opts.mode, "hot");
    ck_assert_int_eq(opts.count, 64);
    ck_assert(opts.share == 0.25);
    ck_assert(opts.time_s == 120.0);
    ck_assert_uint_eq(opts.list.count, 2);
    ck_assert_uint_eq(opts.many.count, 2);
    ck_assert_str_eq(opts.many.items[1], "q");
    ck_assert_uint_eq(got.positional_count, 1);
    ck_assert_str_eq(got.positionals[0], "file");
}
END_TEST

START_TEST(parse_keeps_defaults_and_resets)
{
    accept("t");
    ck_assert_int_eq(opts.count, 8);
    ck_assert(isnan(opts.share));
    ck_assert(!opts.is_fast);
    accept("t -n y");
    ck_assert_str_eq(opts.name, "y");
}
END_TEST

START_TEST(parse_stops_at_double_dash)
{
    accept("t -- --fast");
    ck_assert(!opts.is_fast);
    ck_assert_str_eq(got.positionals[0], "--fast");
}
END_TEST

START_TEST(parse_refuses_unknown_options)
{
    refuse("t --cuont 3", "unknown option --cuont; did you mean --count?");
    refuse("t --zzzzzz", "unknown option --zzzzzz;");
    refuse("t -z", "unknown option -z");
    refuse("t --coun 3", "unknown option --coun; did you mean --count?"); /* no abbreviations */
    refuse("t --coun=3", "unknown option --coun;");
    refuse("t --hel", "unknown option --hel; did you mean --help?");
}
END_TEST

START_TEST(parse_refuses_bad_values)
{
    refuse("t --count 0", "--count: 0 is outside 1..64");
    refuse("t --count 65", "--count: 65 is outside 1..64");
    refuse("t --count 3x", "--count: '3x' is no whole number");
    refuse("t --share 1.5", "--share: 1.5 is outside 0..1");
    refuse("t --share nan", "--share: 'nan' is no finite number");
    refuse("t --time 5d", "--time: '5d' is no duration");
    refuse("t --mode hto", "--mode: 'hto' is none of rotate, hot; did you mean 'hot'?");
    refuse("t --list a,,b", "--list: empty item");
    refuse("t --fast=1", "--fast takes no value");
    refuse("t --count", "--count needs a value");
    refuse("t -n", "-n needs a value");
    refuse("t --many=", "--many: an empty value");
}
END_TEST

START_TEST(parse_refuses_doubles_and_surplus)
{
    refuse("t --count 2 --count 3", "--count is given twice");
    refuse("t -n a --name b", "--name is given twice");
    refuse("t a b", "unexpected argument 'b'");
}
END_TEST

START_TEST(parse_counts_positionals)
{
    const assay__args_spec two = {.command = "assay merge",
                                  .positionals = "A.db B.db",
                                  .min_positionals = 2,
                                  .max_positionals = 2};
    char name[] = "t", one[] = "a";
    char *argv[] = {name, one, NULL};

    ck_assert_int_eq(assay__args_parse(&two, NULL, 0, 2, argv, &got), ASSAY_INVALID);
    ck_assert_str_eq(assay_last_error(),
                     "too few arguments: assay merge A.db B.db; see assay merge --help");
}
END_TEST

START_TEST(mask_refuses_by_name)
{
    ck_assert_int_eq(run_masked("t --count 3", ASSAY__ARG_ALL & ~UINT64_C(8)), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "assay test does not take --count"));
    ck_assert_int_eq(run_masked("t --fast", UINT64_C(1)), ASSAY_OK);
}
END_TEST

START_TEST(environment_lies_between_default_and_flag)
{
    ck_assert_int_eq(setenv("ASSAY_T_COUNT", "5", 1), 0);
    ck_assert_int_eq(setenv("ASSAY_T_FAST", "yes", 1), 0);
    ck_assert_int_eq(setenv("ASSAY_T_MANY", "e", 1), 0);
    accept("t");
    ck_assert_int_eq(opts.count, 5);
    ck_assert(opts.is_fast);
    accept("t --count 6 --many f");
    ck_assert_int_eq(opts.count, 6);
    ck_assert_uint_eq(opts.many.count, 1);
    ck_assert_str_eq(opts.many.items[0], "f");
    ck_assert_int_eq(setenv("ASSAY_T_COUNT", "", 1), 0);
    accept("t");
    ck_assert_int_eq(opts.count, 8);
}
END_TEST

START_TEST(environment_errors_name_the_variable)
{
    ck_assert_int_eq(setenv("ASSAY_T_COUNT", "many", 1), 0);
    ck_assert_int_eq(run_masked("t", ASSAY__ARG_ALL), ASSAY_INVALID);
    ck_assert_str_eq(assay_last_error(),
                     "environment variable ASSAY_T_COUNT: 'many' is no whole number");
    ck_assert_int_eq(run_masked("t --count 3", ASSAY__ARG_ALL), ASSAY_OK);
    ck_assert_int_eq(run_masked("t --help", ASSAY__ARG_ALL), ASSAY_OK);
    ck_assert(got.wants_help);
    ck_assert_int_eq(setenv("ASSAY_T_COUNT", "3", 1), 0);
    ck_assert_int_eq(setenv("ASSAY_T_FAST", "maybe", 1), 0);
    ck_assert_int_eq(run_masked("t", ASSAY__ARG_ALL), ASSAY_INVALID);
}
END_TEST

START_TEST(help_shows_rows_bounds_defaults)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    options defaults = {.count = 8, .share = (double)NAN, .time_s = 90.0};
    assay__arg_table table = {rows, ROWS, ASSAY__ARG_ALL & ~UINT64_C(2), &defaults};

    accept("t -h");
    ck_assert(got.wants_help);
    ck_assert_int_eq(assay__args_help(&spec, &table, 1, file), ASSAY_OK);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_ptr_nonnull(strstr(text, "usage: assay test [options] [FILE]\nTests options.\n"));
    ck_assert_ptr_nonnull(strstr(text, "  -f, --fast                go fast [$ASSAY_T_FAST]\n"));
    ck_assert_ptr_nonnull(strstr(
        text, "each from a\n                            fresh process (1..64 blocks); default 8"));
    ck_assert_ptr_nonnull(strstr(text, "--mode NAME           cache mode: rotate, hot\n"));
    ck_assert_ptr_nonnull(strstr(text, "a time; default 90 s\n"));
    ck_assert_ptr_nonnull(strstr(text, "example:\n  assay test --fast\n  assay test x\n"));
    ck_assert_ptr_null(strstr(text, "--name")); /* masked out */
    ck_assert_ptr_null(strstr(text, "nan"));
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        ck_assert_uint_le(strcspn(at, "\n"), 80);
    free(text);
}
END_TEST

START_TEST(common_defaults_and_rows)
{
    assay__common common = ASSAY__COMMON_DEFAULTS;
    assay__arg_table table = assay__common_table(&common, ASSAY__COMMON(DB) | ASSAY__COMMON(SHAPE) |
                                                              ASSAY__COMMON(BUDGET));
    char words[][16] = {"t",       "--db", "x.db",     "--shape", "m=1,n=2",
                        "--shape", "m=3",  "--budget", "2m"};
    char *argv[10] = {NULL};

    for (size_t i = 0; i < 9; i++)
        argv[i] = words[i];
    ck_assert_str_eq(common.db, "assay.db");
    ck_assert(isnan(common.budget_s));
    ck_assert_int_eq(assay__args_parse(&spec, &table, 1, 9, argv, &got), ASSAY_OK);
    ck_assert_str_eq(common.db, "x.db");
    ck_assert_uint_eq(common.shapes.count, 2);
    ck_assert_str_eq(common.shapes.items[0], "m=1,n=2");
    ck_assert(common.budget_s == 120.0);
    assay__args_clear(&table, 1);
    for (size_t i = 0; i < ASSAY__COMMON_COUNT; i++) {
        ck_assert_ptr_nonnull(table.rows[i].name);
        ck_assert_ptr_nonnull(table.rows[i].help);
    }
}
END_TEST

START_TEST(common_seed_takes_every_positive_number)
{
    assay__common common = ASSAY__COMMON_DEFAULTS;
    assay__arg_table table = assay__common_table(&common, ASSAY__COMMON(SEED));
    char name[] = "t", seed[] = "--seed=9223372036854775807", bad[] = "--seed=-1";
    char *argv[] = {name, seed, NULL};

    ck_assert_int_eq(assay__args_parse(&spec, &table, 1, 2, argv, &got), ASSAY_OK);
    ck_assert(common.seed == INT64_MAX);
    argv[1] = bad;
    ck_assert_int_eq(assay__args_parse(&spec, &table, 1, 2, argv, &got), ASSAY_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("args");
    TCase *parse_case = tcase_create("parse");
    TCase *mask_case = tcase_create("mask");
    TCase *environment_case = tcase_create("environment");
    TCase *help_case = tcase_create("help");
    TCase *common_case = tcase_create("common");

    tcase_add_test(parse_case, parse_takes_every_kind);
    tcase_add_test(parse_case, parse_keeps_defaults_and_resets);
    tcase_add_test(parse_case, parse_stops_at_double_dash);
    tcase_add_test(parse_case, parse_refuses_unknown_options);
    tcase_add_test(parse_case, parse_refuses_bad_values);
    tcase_add_test(parse_case, parse_refuses_doubles_and_surplus);
    tcase_add_test(parse_case, parse_counts_positionals);
    tcase_add_test(mask_case, mask_refuses_by_name);
    tcase_add_test(environment_case, environment_lies_between_default_and_flag);
    tcase_add_test(environment_case, environment_errors_name_the_variable);
    tcase_add_test(help_case, help_shows_rows_bounds_defaults);
    tcase_add_test(common_case, common_defaults_and_rows);
    tcase_add_test(common_case, common_seed_takes_every_positive_number);
    suite_add_tcase(suite, parse_case);
    suite_add_tcase(suite, mask_case);
    suite_add_tcase(suite, environment_case);
    suite_add_tcase(suite, help_case);
    suite_add_tcase(suite, common_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
