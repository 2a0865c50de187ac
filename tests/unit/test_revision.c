/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_revision.c -- what changes a revision and what does not. */
#include "runtime/revision.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const assay_digest code[] = {{{1}}, {{2}}, {{3}}};
static const assay__revision_library libraries[] = {
    {"libblas.so.0", "0.3", "aa", "threads=pthread", NULL},
    {"libm.so.6", "2.36", "bb", NULL, NULL}};

static assay__revision_input base(void)
{
    return (assay__revision_input){.code = code,
                                   .code_count = 3,
                                   .libraries = libraries,
                                   .library_count = 2,
                                   .compiler = "x86_64 | gcc 12.2.0 | id",
                                   .op = "exp",
                                   .dtypes = "f32,f32",
                                   .backend = "cpu",
                                   .kernel = "exp_avx2",
                                   .entry_point = "exp_f32",
                                   .abi_version = 1};
}

static assay_digest of(const assay__revision_input *in)
{
    assay_digest digest = {{0}};

    ck_assert_int_eq(assay__revision_compute(in, &digest), ASSAY_OK);
    return digest;
}

#define CHANGES(field, value)                                          \
    do {                                                               \
        assay__revision_input in_ = base();                            \
        assay_digest before_ = of(&in_);                               \
        in_.field = (value);                                           \
        assay_digest after_ = of(&in_);                                \
        ck_assert_msg(!assay_digest_equal(&before_, &after_), #field); \
    } while (0)

START_TEST(revision_depends_on_every_field)
{
    static const assay_digest other[] = {{{1}}, {{2}}, {{4}}};

    CHANGES(code, other);
    CHANGES(code_count, 2);
    CHANGES(build_id, "cafe");
    CHANGES(library_count, 1);
    CHANGES(compiler, "x86_64 | gcc 12.2.1 | id");
    CHANGES(op, "log");
    CHANGES(dtypes, "f16,f16");
    CHANGES(backend, "gpu");
    CHANGES(kernel, "exp_avx2_b");
    CHANGES(entry_point, "exp_f32_b");
    CHANGES(abi_version, 2);
}
END_TEST

START_TEST(revision_depends_on_every_field_of_a_library)
{
    for (int field = 0; field < 4; field++) {
        assay__revision_library changed[] = {libraries[0], libraries[1]};
        const char **const fields[] = {&changed[1].soname, &changed[1].version,
                                       &changed[1].build_id, &changed[1].config};
        *fields[field] = "other";
        assay__revision_input in = base();
        assay_digest before = of(&in);
        in.libraries = changed;
        assay_digest after = of(&in);
        ck_assert_msg(!assay_digest_equal(&before, &after), "field %d", field);
    }
}
END_TEST

/* A copy of a library under another file name is the same library, where its build-id says so. */
START_TEST(revision_depends_on_a_file_name_only_where_nothing_else_is_known)
{
    static const char *const ids[] = {"0a1b", "unknown", NULL};

    for (int i = 0; i < 3; i++) {
        assay__revision_library changed[] = {libraries[0], libraries[1]};
        assay__revision_input in = base();
        in.libraries = changed;
        changed[1].build_id = ids[i];
        changed[1].file_version = "3.5.1";
        assay_digest before = of(&in);
        changed[1].file_version = "3";
        assay_digest after = of(&in);
        ck_assert_int_eq(assay_digest_equal(&before, &after), i == 0);
    }
}
END_TEST

START_TEST(revision_ignores_order_and_repeats)
{
    static const assay_digest shuffled[] = {{{3}}, {{1}}, {{2}}, {{1}}};
    assay__revision_library swapped[] = {libraries[1], libraries[0]};
    assay__revision_input in = base();
    assay_digest before = of(&in);

    in.code = shuffled;
    in.code_count = 4;
    in.libraries = swapped;
    assay_digest after = of(&in);
    ck_assert(assay_digest_equal(&before, &after));
    ck_assert_uint_eq(shuffled[0].bytes[0], 3);
}
END_TEST

START_TEST(revision_trims_strings)
{
    assay__revision_library spaced[] = {libraries[0], libraries[1]};
    assay__revision_input in = base();
    assay_digest before = of(&in);

    in.compiler = "\tx86_64 | gcc 12.2.0 | id \n";
    in.op = " exp";
    spaced[0].version = "0.3\n";
    spaced[1].config = "  ";
    in.libraries = spaced;
    assay_digest after = of(&in);
    ck_assert(assay_digest_equal(&before, &after));
}
END_TEST

START_TEST(revision_refuses_the_unknown)
{
    assay_digest out = {{9}};

    for (int field = 0; field < 7; field++) {
        assay__revision_library nameless = {" ", "1", "2", "3", NULL};
        assay__revision_input in = base();
        const char **const fields[] = {&in.op, &in.dtypes, &in.backend, &in.kernel,
                                       &in.entry_point};
        if (field < 5) {
            *fields[field] = field % 2 ? NULL : "  ";
        } else if (field == 5) {
            in.code_count = 0;
        } else {
            in.libraries = &nameless;
            in.library_count = 1;
        }
        ck_assert_int_eq(assay__revision_compute(&in, &out), ASSAY_INVALID);
        ck_assert_uint_eq(out.bytes[0], 9);
    }
    assay__revision_input binary = base();
    binary.code_count = 0;
    binary.build_id = "cafe";
    ck_assert_int_eq(assay__revision_compute(&binary, &out), ASSAY_OK);
}
END_TEST

START_TEST(library_text_is_split_and_sorted)
{
    char a[256], b[256];
    assay__revision_library one, two;

    ck_assert_int_eq(assay__revision_library_parse(
                         "soname=libx.so.1\nversion= 1.2 \nbuild_id=ab\nthreads=2\ncore=Zen=3\n", a,
                         sizeof a, &one),
                     ASSAY_OK);
    ck_assert_str_eq(one.soname, "libx.so.1");
    ck_assert_str_eq(one.version, "1.2");
    ck_assert_str_eq(one.build_id, "ab");
    ck_assert_str_eq(one.config, "core=Zen=3\nthreads=2\n");
    ck_assert_int_eq(assay__revision_library_parse(
                         "core=Zen=3\n\n threads=2\r\nbuild_id=ab\nversion=1.2\nsoname=libx.so.1",
                         b, sizeof b, &two),
                     ASSAY_OK);
    ck_assert_str_eq(one.config, two.config);
    ck_assert_str_eq(one.soname, two.soname);
}
END_TEST

START_TEST(library_text_is_refused_when_broken)
{
    char buf[32];
    assay__revision_library out = {.soname = "kept"};

    ck_assert_int_eq(assay__revision_library_parse("soname", buf, sizeof buf, &out), ASSAY_PARSE);
    ck_assert_int_eq(assay__revision_library_parse("=x", buf, sizeof buf, &out), ASSAY_PARSE);
    ck_assert_int_eq(assay__revision_library_parse("soname=a\nsoname=b", buf, sizeof buf, &out),
                     ASSAY_PARSE);
    ck_assert_int_eq(
        assay__revision_library_parse("a=0123456789012345678901234567890", buf, sizeof buf, &out),
        ASSAY_OVERFLOW);
    ck_assert_int_eq(assay__revision_library_parse("soname=0123456789012345678901234567890123", buf,
                                                   sizeof buf, &out),
                     ASSAY_OVERFLOW);
    ck_assert_str_eq(out.soname, "kept");
}
END_TEST

static assay_digest variant(const char *a, int64_t va, const char *b, int64_t vb)
{
    const assay_tunable tunables[] = {{.name = a}, {.name = b}};
    const int64_t values[] = {va, vb};
    assay_digest out = {{0}};

    ck_assert_int_eq(assay__variant_revision(&code[0], tunables, values, 2, &out), ASSAY_OK);
    return out;
}

START_TEST(variant_depends_on_names_and_values_not_order)
{
    assay_digest one = variant("mc", 64, "nc", 128);
    assay_digest swapped = variant("nc", 128, "mc", 64);
    assay_digest crossed = variant("mc", 128, "nc", 64);
    assay_digest renamed = variant("mc", 64, "kc", 128);
    assay_digest negative = variant("mc", 64, "nc", -128);
    assay_digest bare, other;

    ck_assert(assay_digest_equal(&one, &swapped));
    ck_assert(!assay_digest_equal(&one, &crossed));
    ck_assert(!assay_digest_equal(&one, &renamed));
    ck_assert(!assay_digest_equal(&one, &negative));
    ck_assert_int_eq(assay__variant_revision(&code[0], NULL, NULL, 0, &bare), ASSAY_OK);
    ck_assert_int_eq(assay__variant_revision(&code[1], NULL, NULL, 0, &other), ASSAY_OK);
    ck_assert(!assay_digest_equal(&bare, &other));
}
END_TEST

START_TEST(variant_refuses_repeated_names)
{
    const assay_tunable tunables[] = {{.name = "b"}, {.name = "a"}, {.name = "b"}};
    const int64_t values[] = {1, 2, 3};
    assay_digest out;

    ck_assert_int_eq(assay__variant_revision(&code[0], tunables, values, 3, &out), ASSAY_INVALID);
    ck_assert_int_eq(
        assay__variant_revision(&code[0], tunables, values, ASSAY_MAX_TUNABLES + 1, &out),
        ASSAY_INVALID);
}
END_TEST

START_TEST(claims_have_their_own_digest)
{
    const assay_claims none = ASSAY_NO_CLAIMS;
    assay_claims claims = none;
    assay_digest before, after;

    assay__claims_digest(&none, &before);
    claims.max_ulp = NAN;
    claims.max_rho = -7.0;
    assay__claims_digest(&claims, &after);
    ck_assert(assay_digest_equal(&before, &after));
    claims.max_ulp = 0.0; /* correctly rounded is a claim, and not the same as none */
    assay__claims_digest(&claims, &after);
    ck_assert(!assay_digest_equal(&before, &after));
    claims = none;
    claims.max_rho = 0.0;
    assay__claims_digest(&claims, &before);
    ck_assert(!assay_digest_equal(&before, &after));
    claims.stability = ASSAY_STABILITY_ANYWHERE;
    assay__claims_digest(&claims, &after);
    ck_assert(!assay_digest_equal(&before, &after));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("revision");
    TCase *kernel = tcase_create("revision");
    TCase *rest = tcase_create("library, variant, claims");

    tcase_add_test(kernel, revision_depends_on_every_field);
    tcase_add_test(kernel, revision_depends_on_every_field_of_a_library);
    tcase_add_test(kernel, revision_depends_on_a_file_name_only_where_nothing_else_is_known);
    tcase_add_test(kernel, revision_ignores_order_and_repeats);
    tcase_add_test(kernel, revision_trims_strings);
    tcase_add_test(kernel, revision_refuses_the_unknown);
    tcase_add_test(rest, library_text_is_split_and_sorted);
    tcase_add_test(rest, library_text_is_refused_when_broken);
    tcase_add_test(rest, variant_depends_on_names_and_values_not_order);
    tcase_add_test(rest, variant_refuses_repeated_names);
    tcase_add_test(rest, claims_have_their_own_digest);
    suite_add_tcase(suite, kernel);
    suite_add_tcase(suite, rest);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
