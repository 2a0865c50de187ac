/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_lexer.c -- tokens of C, CUDA C and GLSL. */
#include "runtime/lexer.h"

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every token as "kind:text " so that a whole source is one expectation. */
static char *lex(const char *source, size_t length, assay_status *status)
{
    static char out[8192];
    static char scratch[8192];
    assay__lexer lexer;
    assay__token token;
    size_t used = 0;

    ck_assert_uint_lt(length, sizeof scratch);
    assay__lexer_init(&lexer, source, length, scratch);
    out[0] = '\0';
    while ((*status = assay__lexer_next(&lexer, &token)) == ASSAY_OK &&
           token.kind != ASSAY__TOKEN_END) {
        ck_assert_uint_le(token.offset, length);
        used += (size_t)snprintf(out + used, sizeof out - used, "%d:%.*s ", (int)token.kind,
                                 (int)token.length, token.text);
        ck_assert_uint_lt(used, sizeof out);
    }
    return out;
}

static char *lex_ok(const char *source)
{
    assay_status status;
    char *tokens = lex(source, strlen(source), &status);

    ck_assert_int_eq(status, ASSAY_OK);
    return tokens;
}

static void same(const char *a, const char *b)
{
    char *first = strdup(lex_ok(a));

    ck_assert_ptr_nonnull(first);
    ck_assert_str_eq(first, lex_ok(b));
    free(first);
}

static void differ(const char *a, const char *b)
{
    char *first = strdup(lex_ok(a));

    ck_assert_ptr_nonnull(first);
    ck_assert_str_ne(first, lex_ok(b));
    free(first);
}

START_TEST(lexer_drops_comments_and_space)
{
    same("int a;", "  int/**/a ; // end\n/* two\nlines */\n");
    same("a / b", "a/ /* x */b");
    same("a = b;", "a = b; /** / **/");
    ck_assert_str_eq(lex_ok("// only\n/* this */"), "");
    ck_assert_str_eq(lex_ok(""), "");
}
END_TEST

START_TEST(lexer_keeps_comment_marks_inside_literals)
{
    ck_assert_str_eq(lex_ok("s = \"/* no */ // no\";"), "1:s 5:= 3:\"/* no */ // no\" 5:; ");
    ck_assert_str_eq(lex_ok("'\"' \"\\\"'\" '\\''"), "4:'\"' 3:\"\\\"'\" 4:'\\'' ");
    differ("\"a b\"", "\"a  b\"");
}
END_TEST

START_TEST(lexer_joins_continued_lines)
{
    same("value", "val\\\nue");
    same("value", "val\\\r\nue");
    same("a += 1;", "a +\\\n= 1;");
    same("a;", "a; // comment \\\n goes on\n");
    same("\"ab\"", "\"a\\\nb\"");
    same("a;", "a; /\\\n* comment *\\\n/");
    same("#define A b c\n", "#define A b \\\n c\n");
}
END_TEST

START_TEST(lexer_munches_the_longest_punctuator)
{
    ck_assert_str_eq(lex_ok("a+++b"), "1:a 5:++ 5:+ 1:b ");
    ck_assert_str_eq(lex_ok("a<<=b>>c->d...e"), "1:a 5:<<= 1:b 5:>> 1:c 5:-> 1:d 5:... 1:e ");
    differ("a + +b", "a ++b");
    differ("a - -b", "a--b");
    differ("a & &b", "a && b");
    ck_assert_str_eq(lex_ok("f<<<g, b>>>(x)"), "1:f 5:<< 5:< 1:g 5:, 1:b 5:>> 5:> 5:( 1:x 5:) ");
}
END_TEST

START_TEST(lexer_takes_preprocessing_numbers_whole)
{
    ck_assert_str_eq(lex_ok("0x1.8p-3f 1e+5 .5 1.f 10'000 0x1p0-1"),
                     "2:0x1.8p-3f 2:1e+5 2:.5 2:1.f 2:10'000 2:0x1p0 5:- 2:1 ");
    differ("1.0f", "1.0");
    differ("0.1", "0.10");
    differ("1 .5", "1.5");
}
END_TEST

START_TEST(lexer_takes_prefixed_and_raw_strings)
{
    ck_assert_str_eq(lex_ok("L\"x\" u8\"y\" L'c' LL\"z\""),
                     "3:L\"x\" 3:u8\"y\" 4:L'c' 1:LL 3:\"z\" ");
    ck_assert_str_eq(lex_ok("R\"(a\"b // c)\" R\"d()e\" )d\";"),
                     "3:R\"(a\"b // c)\" 3:R\"d()e\" )d\" 5:; ");
    same("R\"(a\nb)\"", "R\"(a\r\nb)\"");
    differ("R\"(a\\\nb)\"", "R\"(ab)\"");
    ck_assert_str_eq(lex_ok("R\"plain\""), "1:R 3:\"plain\" ");
}
END_TEST

START_TEST(directive_ends_with_its_line)
{
    differ("#define A\nB\n", "#define A B\n");
    same("#define A B\n", "#define  A  B // c\n");
    same("#define A B\n", "#define A B");
    same("#if X\n#endif\n", "\n\n# if X\n\n\n  #endif");
    same("#if A /* two\nlines */ && B\n", "#if A && B\n");
    same("x;\ny;", "x; y;");
    ck_assert_str_eq(lex_ok("#pragma once\n%: undef X\na # b"),
                     "5:# 1:pragma 1:once 8: 5:%: 1:undef 1:X 8: 1:a 5:# 1:b ");
}
END_TEST

START_TEST(directive_tells_macro_kinds_apart)
{
    differ("#define F(x) x\n", "#define F (x) x\n");
    same("#define F(x) x\n", "#define F(  x )   x\n");
    ck_assert_str_eq(lex_ok("#define F(x) x\nF (1)"),
                     "5:# 1:define 1:F 7:( 1:x 5:) 1:x 8: 1:F 5:( 2:1 5:) ");
    same("#if F(x)\n", "#if F (x)\n");
}
END_TEST

START_TEST(directive_captures_headers)
{
    ck_assert_str_eq(lex_ok("#include <a/b.h> // c\n#  include \"c//d.h\"\ninclude <x>"),
                     "5:# 1:include 6:<a/b.h> 8: 5:# 1:include 6:\"c//d.h\" 8: "
                     "1:include 5:< 1:x 5:> ");
    ck_assert_str_eq(lex_ok("#error don't\nx"), "5:# 1:error 1:don 9:' 1:t 8: 1:x ");
}
END_TEST

START_TEST(directive_refuses_a_computed_include)
{
    assay_status status;

    lex("int a;\n#include HEADER\n", 23, &status);
    ck_assert_int_eq(status, ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "line 2"));
    lex("#include \"open\n", 15, &status);
    ck_assert_int_eq(status, ASSAY_PARSE);
}
END_TEST

START_TEST(lexer_refuses_what_has_no_end)
{
    static const char *const bad[] = {"a\n\n/* open", "a\n\n/*/", "a\n\nR\"x(open)\""};
    assay_status status;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lex(bad[i], strlen(bad[i]), &status);
        ck_assert_int_eq(status, ASSAY_PARSE);
        ck_assert_ptr_nonnull(strstr(assay_last_error(), "line 3"));
    }
}
END_TEST

START_TEST(lexer_reads_bytes_not_a_locale)
{
    same("a = 1;", "\xEF\xBB\xBF"
                   "a = 1;");
    char *plain = strdup(lex_ok("int gr\xC3\xB6\xC3\x9F"
                                "e = 1;"));
    ck_assert_ptr_nonnull(plain);
    (void)setlocale(LC_ALL, "C.UTF-8");
    ck_assert_str_eq(plain, lex_ok("int gr\xC3\xB6\xC3\x9F"
                                   "e = 1;"));
    free(plain);
}
END_TEST

/* Seeded garbage of the bytes that matter: always ends, never leaves the buffers (sanitizers). */
START_TEST(lexer_survives_any_bytes)
{
    static const char alphabet[] = "\\\\\n\r\"'/*#<>()R:%.e+-09a \t\xC3L8u";
    unsigned long state = 20260101;

    for (int round = 0; round < 3000; round++) {
        char *source = malloc(64);
        char *scratch = malloc(64);
        ck_assert(source != NULL && scratch != NULL);
        for (size_t i = 0; i < 64; i++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            source[i] =
                round % 2 ? alphabet[(state >> 33) % (sizeof alphabet - 1)] : (char)(state >> 40);
        }
        assay__lexer lexer;
        assay__token token = {.kind = ASSAY__TOKEN_OTHER};
        size_t count = 0;
        assay__lexer_init(&lexer, source, 64, scratch);
        while (assay__lexer_next(&lexer, &token) == ASSAY_OK && token.kind != ASSAY__TOKEN_END)
            ck_assert_uint_lt(++count, 130);
        free(source);
        free(scratch);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lexer");
    TCase *tokens = tcase_create("lexer");
    TCase *directive = tcase_create("directive");

    tcase_add_test(tokens, lexer_drops_comments_and_space);
    tcase_add_test(tokens, lexer_keeps_comment_marks_inside_literals);
    tcase_add_test(tokens, lexer_joins_continued_lines);
    tcase_add_test(tokens, lexer_munches_the_longest_punctuator);
    tcase_add_test(tokens, lexer_takes_preprocessing_numbers_whole);
    tcase_add_test(tokens, lexer_takes_prefixed_and_raw_strings);
    tcase_add_test(tokens, lexer_refuses_what_has_no_end);
    tcase_add_test(tokens, lexer_reads_bytes_not_a_locale);
    tcase_add_test(tokens, lexer_survives_any_bytes);
    tcase_add_test(directive, directive_ends_with_its_line);
    tcase_add_test(directive, directive_tells_macro_kinds_apart);
    tcase_add_test(directive, directive_captures_headers);
    tcase_add_test(directive, directive_refuses_a_computed_include);
    suite_add_tcase(suite, tokens);
    suite_add_tcase(suite, directive);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
