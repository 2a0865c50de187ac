/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_key.c -- the picker: what tells questions apart, in the cache and at a call
 * site. */
#include "tests/support/pick_stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- keys ---- */

START_TEST(key_align_64_takes_a_row_at_16_but_not_the_reverse)
{
    ask(PROBLEM);
    question.align = 64;
    ck_assert_str_eq(picked(), "tiled 16");
    question.align = 0;
    ck_assert_str_eq(picked(), "gemm 2 default");
    assay_close(&context);
    routes[0].align = 64;
    question.align = 16;
    ck_assert_str_eq(picked(), "gemm 2 default");
    question.align = 64;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(key_align_64_prefers_its_own_row)
{
    fake_route *own = add_route(PROBLEM, 64);

    add_candidate(own, V_PLAIN, 10);
    own->winner = V_PLAIN;
    ask(PROBLEM);
    question.align = 64;
    ck_assert_str_eq(picked(), "plain 0");
    question.align = 16;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

/* As if the kernel had been built anew since: `variant` was measured for other code. */
static void make_stale(uint64_t variant)
{
    for (size_t i = 0; i < fake.revision_count; i++)
        if (fake.revisions[i].row == variant)
            fake.revisions[i].kernel_revision.bytes[0] ^= 0xff;
}

START_TEST(key_align_64_leaves_a_stale_row_for_a_fresh_one_at_16)
{
    fake_route *own = add_route(PROBLEM, 64);

    add_candidate(own, V_PLAIN, 10);
    own->winner = V_PLAIN;
    make_stale(V_PLAIN);
    ask(PROBLEM);
    question.align = 64;
    ck_assert_str_eq(picked(), "tiled 16");
    /* Where both are stale it is the row of its own class that says so. */
    assay_close(&context);
    for (uint64_t v = V_BLAS1; v < V_PLAIN; v++)
        make_stale(v);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ck_assert_int_eq(assay_explain(context, &question, &why), ASSAY_OK);
    size_t stale = 0;
    for (size_t i = 0; i < why->candidate_count; i++)
        if (strstr(why->candidates[i].reason, "stale") != NULL) {
            ck_assert_str_eq(why->candidates[i].kernel, "plain");
            stale++;
        }
    ck_assert_uint_eq(stale, 1);
    assay_explanation_destroy(&why);
}
END_TEST

START_TEST(key_align_64_takes_what_may_answer_at_16_where_nothing_may_at_64)
{
    fake_route *own = add_route(PROBLEM, 64);

    add_candidate(own, V_PLAIN, 10);
    own->winner = V_PLAIN;
    own->candidates[0].verdict = ASSAY__VERDICT_WRONG;
    ask(PROBLEM);
    question.align = 64;
    ck_assert_str_eq(picked(), "tiled 16");
    ck_assert_ptr_nonnull(strstr(explained("plain", 0)->reason, "wrong"));
    /* What was wrong at 64 is wrong there, whatever it was at 16. */
    assay_close(&context);
    add_candidate(own, V_TILED16, 10);
    own->candidates[1].verdict = ASSAY__VERDICT_WRONG;
    ck_assert_str_eq(picked(), "gemm 2");
    ck_assert_ptr_nonnull(strstr(explained("tiled", 16)->reason, "wrong"));
    question.align = 16;
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(key_policies_never_stand_in_for_one_another)
{
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "tiled 16");
    question.policy.cache = 1;
    ck_assert_str_eq(picked(), "gemm 2 default");
    question.policy = (assay_policy){0, 1, 0};
    ck_assert_str_eq(picked(), "gemm 2 default");
    question.policy = (assay_policy){0, 0, 1};
    ck_assert_str_eq(picked(), "gemm 2 default");
}
END_TEST

START_TEST(key_layouts_never_stand_in_for_one_another)
{
    for (int i = 0; i < KERNELS; i++)
        descs[i].caps[0].layouts = ASSAY_CAP_LEADING | ASSAY_CAP_STRIDED;
    ask(PROBLEM);
    question.layout[0] = 'l';
    ck_assert_str_eq(picked(), "gemm 2 default");
    question.layout[0] = 's';
    ck_assert_str_eq(picked(), "gemm 2 default");
    question.layout[0] = 'c'; /* the same as not given */
    ck_assert_str_eq(picked(), "tiled 16");
}
END_TEST

START_TEST(key_class_parameters_enter_by_class)
{
    routes[0].problem = "matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x1.8p+1";
    ask("matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x1.4p+2");
    ck_assert_str_eq(picked(), "tiled 16");
    ask(PROBLEM);
    ck_assert_str_eq(picked(), "gemm 2 default");
    ask("matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x0p+0");
    ck_assert_str_eq(picked(), "gemm 2 default");
    ask("matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x1.4p+2,beta=0x1p+0");
    ck_assert_str_eq(picked(), "gemm 2 default");
}
END_TEST

static assay__key_rules rules;
static bool is_narrow(void)
{
    assay__question_key key;

    return assay__question_key_narrow(&rules, &question, &key);
}

/* Every field of a question makes a key of its own. */
START_TEST(key_of_each_field_differs)
{
    assay__key128 keys[64];
    size_t n = 0;

    assay__key_rules_init(&rules);
#define KEY(narrow, change)                                                               \
    do {                                                                                  \
        ask(PROBLEM);                                                                     \
        change;                                                                           \
        ck_assert_int_eq(is_narrow(), narrow);                                            \
        ck_assert(assay__question_hash(&rules, &question, &keys[n]));                     \
        for (size_t old = 0; old < n; old++)                                              \
            ck_assert_msg(keys[old].low != keys[n].low && keys[old].high != keys[n].high, \
                          "%d and %d", (int)old, (int)n);                                 \
        n++;                                                                              \
    } while (0)
    KEY(1, (void)0);
    for (int i = 0; i < 6; i++)
        KEY(1, question.problem.params[i].i = 65);
    for (int i = 0; i < 6; i++) {
        KEY(0, question.problem.params[i].i = ((int64_t)1 << 32) + 64);
        KEY(0, question.problem.params[i].i = ((int64_t)1 << 33) + 64);
    }
    KEY(1, question.problem.params[6].r = 0.0);
    KEY(0, question.problem.params[6].r = 7.0);
    KEY(1, question.problem.params[7].r = 1.0);
    KEY(0, question.problem.params[7].r = 7.0);
    KEY(1, question.problem.dtypes[0] = ASSAY_F64);
    KEY(1, question.problem.dtypes[4] = ASSAY_F32);
    KEY(1, question.problem.dtypes[7] = ASSAY_F32);
    KEY(0, question.layout[0] = 'l');
    KEY(0, question.layout[2] = 'l');
    KEY(1, question.align = 64);
    KEY(1, question.policy.cache = 1);
    KEY(1, question.policy.load = 1);
    KEY(1, question.policy.span = 1);
    KEY(0, question.tolerance.max_ulp = 0);
    KEY(0, question.tolerance.max_rho = 0);
    KEY(0, question.tolerance.max_rel = 0);
    KEY(0, question.tolerance.max_abs = 0);
    KEY(0, question.tolerance.stability = 1);
    KEY(0, question.tolerance.proof = 1);
    KEY(0, question.tolerance.allow_claims = 1);
    KEY(1, question.max_threads = 1);
    KEY(0, question.workspace_bytes = 1);
    KEY(0, question.workspace_bytes = UINT32_MAX);
    KEY(0, question.backends = "cpu");
    KEY(0, question.backends = "blas");
#undef KEY
}
END_TEST

START_TEST(key_is_none_for_what_is_no_question)
{
    assay__key128 key;

    assay__key_rules_init(&rules);
#define NONE(change)                                               \
    do {                                                           \
        ask(PROBLEM);                                              \
        change;                                                    \
        ck_assert(!assay__question_hash(&rules, &question, &key)); \
    } while (0)
    NONE(question.tolerance.max_ulp = NAN);
    NONE(question.tolerance.max_abs = NAN);
    NONE(question.problem.op = 999);
    NONE(question.problem.op = ASSAY__KEY_RULES + ASSAY_OP_matmul);
    NONE(question.problem.given[0] = 0);
    NONE(question.problem.dtype_count = 2);
    NONE(question.problem.param_count = 7);
#undef NONE
}
END_TEST

START_TEST(key_is_the_same_for_equal_questions)
{
    assay__key128 a, b;

    assay__key_rules_init(&rules);
    ask("matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x1.8p+1");
    ck_assert(assay__question_hash(&rules, &question, &a));
    ask("matmul f32,f32,f32 m=64,n=64,k=64,alpha=0x1.9p+1,batch=1");
    question.problem.params[7].r = -0.0;
    memcpy(question.layout, "ccc\0xyz", 7);
    question.tolerance.max_ulp = -5;
    ck_assert(assay__question_hash(&rules, &question, &b));
    ck_assert(a.low == b.low && a.high == b.high);
    ask(PROBLEM);
    ck_assert(assay__question_hash(&rules, &question, &a));
    memcpy(question.layout, "ccc", 3);
    ck_assert(is_narrow());
    ck_assert(assay__question_hash(&rules, &question, &b));
    ck_assert(a.low == b.low && a.high == b.high);
}
END_TEST

START_TEST(question_out_of_range_is_invalid)
{
    assay_route route;

    ask(PROBLEM);
    open_context();
#define BAD(change, text)                                                          \
    do {                                                                           \
        ask(PROBLEM);                                                              \
        change;                                                                    \
        ck_assert_int_eq(assay_pick(context, &question, &route), ASSAY_INVALID);   \
        ck_assert_msg(strstr(assay_last_error(), text), "%s", assay_last_error()); \
    } while (0)
    BAD(question.align = 32, "align 32");
    BAD(question.layout[1] = 'q', "operand 1");
    BAD(question.policy.load = 2, "policy");
    BAD(question.tolerance.max_rel = NAN, "max_rel is NaN");
    BAD(question.tolerance.proof = 9, "proof");
    BAD(question.problem.op = 999, "op number 999");
    BAD(question.problem.given[0] = 0, "must be given");
#undef BAD
}
END_TEST

START_TEST(policy_text_goes_both_ways)
{
    static const char *const bad[] = {"",
                                      "rotate",
                                      "rotate/alone",
                                      "rotate/alone/kernel/",
                                      "hot/alone/kernels",
                                      "cold/alone/kernel",
                                      "rotate//kernel"};
    assay_policy p;
    char text[64];

    for (unsigned i = 0; i < 8; i++) {
        const assay_policy in = {(uint8_t)(i & 1), (uint8_t)(i >> 1 & 1), (uint8_t)(i >> 2)};
        size_t n = assay_policy_format(in, text, sizeof text);
        ck_assert_uint_eq(n, strlen(text));
        ck_assert_int_eq(assay_policy_parse(text, &p), ASSAY_OK);
        ck_assert_int_eq(memcmp(&in, &p, sizeof p), 0);
    }
    ck_assert_str_eq(text, "hot/busy/call");
    ck_assert_uint_eq(assay_policy_format(p, text, 13), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(assay_policy_parse(bad[i], &p), ASSAY_PARSE);
    ck_assert_int_eq(assay_policy_parse(NULL, &p), ASSAY_PARSE);
}
END_TEST

/* ---- call sites ---- */

/* From the question the site knows, one field is changed: it must answer as assay_pick does. */
START_TEST(site_never_answers_for_another_question)
{
    for (int i = 0; i < KERNELS; i++)
        descs[i].caps[0].layouts = ASSAY_CAP_LEADING;
    routes[0].candidates[1].workspace_bytes = 10;
    candidate(&routes[0], V_TILED16)->workspace_bytes = 4000;
    candidate(&routes[0], V_TILED16)->max_ulp = 3;
    candidate(&routes[0], V_TILED16)->max_rel = candidate(&routes[0], V_TILED16)->max_abs = 1;
    candidate(&routes[0], V_TILED16)->max_rho = 1;
    open_context();
#define SITE(change)                               \
    do {                                           \
        memset(&site, 0, sizeof site);             \
        ask(PROBLEM);                              \
        ck_assert_str_eq(picked_at(), "tiled 16"); \
        ck_assert_str_eq(picked_at(), "tiled 16"); \
        change;                                    \
        ck_assert_str_ne(picked_at(), "tiled 16"); \
        ck_assert_str_eq(picked_at(), picked());   \
        ask(PROBLEM);                              \
        ck_assert_str_eq(picked_at(), "tiled 16"); \
    } while (0)
    SITE(question.problem.params[0].i = 2);
    SITE(question.problem.params[1].i = 65);
    SITE(question.problem.params[2].i = 65);
    SITE(question.problem.params[3].i = 65);
    SITE(question.problem.params[4].i = 1);
    SITE(question.problem.params[5].i = 1);
    SITE(question.problem.params[6].r = 3);
    SITE(question.problem.params[7].r = 3);
    SITE(question.problem.dtypes[2] = ASSAY_F64);
    SITE(question.problem.op = ASSAY_OP_add);
    SITE(question.layout[0] = 'l');
    SITE(question.align = 0);
    SITE(question.policy.cache = 1);
    SITE(question.policy.load = 1);
    SITE(question.policy.span = 1);
    SITE(question.tolerance.max_ulp = 2);
    SITE(question.tolerance.max_rho = 0.5);
    SITE(question.tolerance.max_rel = 0.5);
    SITE(question.tolerance.max_abs = 0.5);
    SITE(question.tolerance.stability = ASSAY_STABILITY_CONFIG);
    SITE(question.tolerance.proof = ASSAY_PROOF_BOUNDED);
    SITE(question.workspace_bytes = 100);
    SITE(question.backends = "blas");
#undef SITE
    /* A list of backends that changes under the same pointer. */
    char list[] = "blas";
    question.backends = list;
    ck_assert_str_eq(picked_at(), "gemm 2");
    memcpy(list, "cpu", 4);
    ck_assert_str_eq(picked_at(), "tiled 16");
}
END_TEST

START_TEST(site_sees_max_threads_change)
{
    routes[0].winner = V_BLAS2;
    open_context();
    memset(&site, 0, sizeof site);
    ask(PROBLEM);
    ck_assert_str_eq(picked_at(), "gemm 2");
    question.max_threads = 1;
    ck_assert_str_eq(picked_at(), "tiled 16");
}
END_TEST

START_TEST(site_of_another_context_is_not_believed)
{
    assay_context *first;

    memset(&site, 0, sizeof site);
    ask(PROBLEM);
    open_context();
    ck_assert_str_eq(picked_at(), "tiled 16");
    first = context;
    context = NULL;
    routes[0].winner = V_PLAIN;
    open_context();
    ck_assert_str_eq(picked_at(), "plain 0");
    assay_close(&first);
}
END_TEST

START_TEST(route_text_is_the_canonical_text)
{
    static const char *const texts[] = {PROBLEM,
                                        "matmul bf16,bf16,bf16 batch=3,m=0,n=1099511627776,k=7",
                                        "matmul f64,f64,f64 m=1,n=2,k=3,trans_a=t,trans_b=c",
                                        "matmul f32,f32,f32 m=1,n=2,k=3,alpha=0x0p+0",
                                        "matmul f32,f32,f32 batch=2,m=1,n=2,k=3,beta=0x1p+0",
                                        "add f16,f16,f16 n=10",
                                        "softmax_last_dim f32,f32 rows=1,cols=100"};
    char text[ASSAY_PROBLEM_TEXT_MAX], other[ASSAY_PROBLEM_TEXT_MAX];
    assay_problem p;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq(assay_problem_parse(texts[i], &p), ASSAY_OK);
        ck_assert_uint_eq(assay__route_text(&p, text, sizeof text), strlen(texts[i]));
        ck_assert_str_eq(text, texts[i]);
    }
    ck_assert_int_eq(assay_problem_parse("matmul f32,f32,f32 m=1,n=2,k=3,beta=0x1.8p+3", &p),
                     ASSAY_OK);
    ck_assert_uint_gt(assay__route_text(&p, text, sizeof text), 0);
    p.params[7].r = -7;
    ck_assert_uint_gt(assay__route_text(&p, other, sizeof other), 0);
    ck_assert_str_eq(text, other);
    ck_assert_uint_eq(assay__route_text(&p, text, 10), 0);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, route_text_is_the_canonical_text);
    tcase_add_test(subject, key_align_64_takes_a_row_at_16_but_not_the_reverse);
    tcase_add_test(subject, key_align_64_prefers_its_own_row);
    tcase_add_test(subject, key_align_64_leaves_a_stale_row_for_a_fresh_one_at_16);
    tcase_add_test(subject, key_align_64_takes_what_may_answer_at_16_where_nothing_may_at_64);
    tcase_add_test(subject, key_policies_never_stand_in_for_one_another);
    tcase_add_test(subject, key_layouts_never_stand_in_for_one_another);
    tcase_add_test(subject, key_class_parameters_enter_by_class);
    tcase_add_test(subject, key_of_each_field_differs);
    tcase_add_test(subject, key_is_none_for_what_is_no_question);
    tcase_add_test(subject, key_is_the_same_for_equal_questions);
    tcase_add_test(subject, question_out_of_range_is_invalid);
    tcase_add_test(subject, policy_text_goes_both_ways);
    tcase_add_test(subject, site_never_answers_for_another_question);
    tcase_add_test(subject, site_sees_max_threads_change);
    tcase_add_test(subject, site_of_another_context_is_not_believed);
}

int main(void)
{
    return stage_run("pick_key", fill);
}
