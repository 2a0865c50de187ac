/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_problem.c -- the catalogue, problems, their text, and host tensors. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "tuner/arena.h"

static assay_problem parsed(const char *text)
{
    assay_problem p;

    ck_assert_msg(assay_problem_parse(text, &p) == ASSAY_OK, "%s: %s", text, assay_last_error());
    return p;
}

static void ck_text(const char *in, assay_text_form form, const char *want)
{
    char buf[ASSAY_PROBLEM_TEXT_MAX];
    assay_problem p = parsed(in);

    ck_assert_uint_gt(assay_problem_format(&p, form, buf, sizeof buf), 0);
    ck_assert_str_eq(buf, want);
}

START_TEST(catalogue_rows_are_complete)
{
    for (int i = 0; i < ASSAY_OP_COUNT; i++) {
        const assay_op_info *info = assay_op_get((assay_op_id)i);
        assay_op_id found;
        ck_assert_ptr_nonnull(info);
        ck_assert_int_eq(info->id, i);
        ck_assert_int_eq(assay_op_find(info->name, &found), ASSAY_OK);
        ck_assert_int_eq(found, i);
        ck_assert_uint_gt(info->param_count, 0);
        ck_assert(info->doc[0] != '\0' && info->flops[0] != '\0' && info->bytes[0] != '\0');
        for (size_t j = 0; j < info->param_count; j++)
            ck_assert_int_eq(assay_op_param_index(info->id, info->params[j].name), (int)j);
    }
    ck_assert_ptr_null(assay_op_get(ASSAY_OP_COUNT));
}
END_TEST

START_TEST(op_find_names_all_ops_when_unknown)
{
    assay_op_id op;

    ck_assert_int_eq(assay_op_find("matmull", &op), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "softmax_last_dim"));
}
END_TEST

START_TEST(text_is_canonical)
{
    ck_text("matmul f32,f32,f32 k=3,m=1,n=2", ASSAY_TEXT_ACCURACY,
            "matmul f32,f32,f32 m=1,n=2,k=3");
    ck_text("matmul f32,f32,f32 m=1,n=2,k=3,batch=1,alpha=1,trans_a=n", ASSAY_TEXT_ACCURACY,
            "matmul f32,f32,f32 m=1,n=2,k=3");
    ck_text("matmul bf16,bf16,bf16 m=1,n=2,k=3,trans_b=t,alpha=0.5", ASSAY_TEXT_ACCURACY,
            "matmul bf16,bf16,bf16 m=1,n=2,k=3,trans_b=t,alpha=0x1p-1");
    ck_text("matmul f32,f32,f32 m=1,n=2,k=3,beta=-0.0", ASSAY_TEXT_ACCURACY,
            "matmul f32,f32,f32 m=1,n=2,k=3");
}
END_TEST

/* What one dtype stands for: T alone, or with the U that goes without saying; else it is refused.
 */
START_TEST(one_dtype_stands_for_a_tuple)
{
    assay_problem p;

    ck_assert_int_eq(assay_problem_init(ASSAY_OP_matmul, ASSAY_BF16, &p), ASSAY_OK);
    ck_assert(p.dtypes[0] == ASSAY_BF16 && p.dtypes[2] == ASSAY_BF16);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_gather, ASSAY_U8, &p), ASSAY_OK);
    ck_assert(p.dtypes[0] == ASSAY_U8 && p.dtypes[1] == ASSAY_I64 && p.dtypes[2] == ASSAY_U8);
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_cast, ASSAY_U8, &p), ASSAY_INVALID);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "such as u8,f64"));
    ck_assert_int_eq(assay_problem_init(ASSAY_OP_gather, ASSAY_F8E5M2, &p), ASSAY_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "not one of f64|f32|f16|bf16|f8e4m3|i8"));
}
END_TEST

START_TEST(text_of_cost_keeps_only_the_class)
{
    ck_text("matmul f32,f32,f32 m=1,n=2,k=3,alpha=0.5,beta=1", ASSAY_TEXT_COST,
            "matmul f32,f32,f32 m=1,n=2,k=3,alpha=other,beta=0x1p+0");
}
END_TEST

START_TEST(text_survives_a_round_trip)
{
    static const char *const texts[] = {
        "matmul f64,f64,f64 batch=4,m=7,n=0,k=3,trans_a=t,trans_b=c,alpha=0x1.8p+1,beta=-0x1p-1074",
        "add f16,f16,f16 n=0", "exp bf16,bf16 n=1099511627776",
        "softmax_last_dim f32,f32 rows=3,cols=128256"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ck_text(texts[i], ASSAY_TEXT_ACCURACY, texts[i]);
}
END_TEST

static const struct bad {
    const char *text;
    assay_status status;
    const char *says;
} bad_texts[] = {
    {"matmull f32,f32,f32 m=1,n=2,k=3", ASSAY_INVALID, "matmul"},
    {"matmul f32,f32 m=1,n=2,k=3", ASSAY_INVALID, "dtypes"},
    {"matmul f32,f32,f16 m=1,n=2,k=3", ASSAY_UNSUPPORTED, "f16"},
    {"matmul i32,i32,i32 m=1,n=2,k=3", ASSAY_UNSUPPORTED, "f64|f32"},
    {"matmul f32,f32,f32 m=1,n=2", ASSAY_INVALID, "'k'"},
    {"matmul f32,f32,f32 m=1,n=2,k=3,q=4", ASSAY_INVALID, "trans_a"},
    {"matmul f32,f32,f32 m=1,m=1,n=2,k=3", ASSAY_PARSE, "twice"},
    {"matmul f32,f32,f32 m=-1,n=2,k=3", ASSAY_INVALID, "m=-1"},
    {"matmul f32,f32,f32 m=3abc,n=2,k=3", ASSAY_INVALID, "3abc"},
    {"matmul f32,f32,f32 m=99999999999999999999,n=2,k=3", ASSAY_INVALID, "64 bits"},
    {"matmul f32,f32,f32 m=1,n=2,k=3,alpha=nan", ASSAY_INVALID, "finite"},
    {"matmul f32,f32,f32 m=1,n=2,k=3,trans_a=x", ASSAY_INVALID, "n|t|c"},
    {"matmul f32,f32,f32 m=1099511627776,n=1099511627776,k=3", ASSAY_OVERFLOW, "2^62"},
    /* 2^62 bytes and a little: no 64-bit overflow yet. */
    {"matmul f32,f32,f32 m=1099511627776,n=1,k=1048576", ASSAY_OVERFLOW, "2^62"},
    {"exp f32,f32", ASSAY_INVALID, "'n'"},
    {"exp", ASSAY_PARSE, "form"},
    {"", ASSAY_PARSE, "form"},
    {"exp f32,f32 n", ASSAY_PARSE, "name=value"},
};

START_TEST(bad_text_says_what_and_how)
{
    assay_problem p;
    const struct bad *b = &bad_texts[_i];

    ck_assert_msg(assay_problem_parse(b->text, &p) == b->status, "%s: %s", b->text,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), b->says) != NULL, "%s: %s", b->text,
                  assay_last_error());
}
END_TEST

START_TEST(operands_follow_transposition)
{
    assay_problem p = parsed("matmul f32,f32,f32 batch=2,m=3,n=4,k=5,trans_a=t");
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank;

    ck_assert_int_eq(assay_problem_operand(&p, 0, &rank, dims), ASSAY_OK);
    ck_assert(rank == 3 && dims[0] == 2 && dims[1] == 5 && dims[2] == 3);
    ck_assert_int_eq(assay_problem_operand(&p, 1, &rank, dims), ASSAY_OK);
    ck_assert(dims[1] == 5 && dims[2] == 4);
    ck_assert_int_eq(assay_problem_operand(&p, 2, &rank, dims), ASSAY_OK);
    ck_assert(dims[1] == 3 && dims[2] == 4);
    ck_assert_int_eq(assay_problem_operand_bytes(&p, 2), 96);
    ck_assert_int_eq(assay_problem_operand(&p, 3, &rank, dims), ASSAY_INVALID);
}
END_TEST

START_TEST(tensor_layout_letters)
{
    static const struct {
        int64_t dims[3], strides[3];
        char letter;
    } rows[] = {
        {{2, 3, 4}, {12, 4, 1}, 'c'}, {{2, 3, 4}, {30, 5, 1}, 'l'}, {{2, 3, 4}, {12, 4, 2}, 's'},
        {{2, 3, 4}, {1, 2, 6}, 's'},  {{2, 3, 4}, {0, 4, 1}, 'b'},  {{2, 3, 4}, {12, -4, 1}, 'n'},
        {{1, 3, 4}, {-7, 4, 1}, 'c'},
    };
    float data[64];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assay_tensor t;
        ck_assert_int_eq(assay_tensor_host(data, ASSAY_F32, 3, rows[i].dims, rows[i].strides, &t),
                         ASSAY_OK);
        ck_assert_msg(assay_tensor_layout(&t) == rows[i].letter, "row %zu: %c", i,
                      assay_tensor_layout(&t));
    }
}
END_TEST

START_TEST(tensor_host_refuses_bad_extents)
{
    int64_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[1] = {-1};
    int64_t huge[2] = {INT64_MAX / 2, 3}, empty[2] = {0, INT64_MAX};
    assay_tensor t;

    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 9, dims, NULL, &t), ASSAY_INVALID);
    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 1, negative, NULL, &t), ASSAY_INVALID);
    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 2, huge, NULL, &t), ASSAY_OVERFLOW);
    ck_assert_int_eq(assay_tensor_host(NULL, ASSAY_F32, 2, empty, NULL, &t), ASSAY_OK);
}
END_TEST

START_TEST(arena_places_operands_in_their_class)
{
    static const char *const problems[] = {"add f32,f32,f32 n=1000", "add f32,f32,f32 n=1005"};
    assay_problem p = parsed(problems[_i]);
    unsigned aligns[] = {64, 16, 0};

    for (size_t i = 0; i < 3; i++) {
        assay__input_plan in;
        assay__output_plan out;
        uint64_t phase = aligns[i] == 64 ? 0 : aligns[i] == 16 ? 16 : 4;
        ck_assert_int_eq(assay__input_plan_make(&p, aligns[i], &in), ASSAY_OK);
        ck_assert_int_eq(assay__output_plan_make(&p, aligns[i], &out), ASSAY_OK);
        for (size_t j = 0; j < in.count; j++)
            ck_assert_uint_eq(in.offset[j] % 64, phase);
        ck_assert_uint_eq(out.offset % 64, phase);
        ck_assert_uint_le(out.offset + out.bytes + 64, out.total); /* of a vector's width */
        ck_assert_uint_gt(out.offset + out.bytes + 192, out.total);
    }
}
END_TEST

START_TEST(arena_poison_shows_overruns)
{
    assay_problem p = parsed("add f32,f32,f32 n=1000");
    assay__output_plan out;
    uint64_t first = 0;

    ck_assert_int_eq(assay__output_plan_make(&p, 16, &out), ASSAY_OK);
    unsigned char *base = malloc(out.total);
    assay__output_poison(base, &out, ASSAY_F32);
    ck_assert_uint_eq(assay__output_overrun(base, &out, &first), 0);
    float one;
    memcpy(&one, base + out.offset, sizeof one);
    ck_assert(one != one);
    base[out.offset - 1] = 0;
    ck_assert_uint_eq(assay__output_overrun(base, &out, &first), 1);
    ck_assert_uint_eq(first, out.offset - 1);
    free(base);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("problem");
    TCase *catalogue = tcase_create("catalogue"), *text = tcase_create("text"),
          *tensor = tcase_create("tensor"), *arena = tcase_create("arena");

    tcase_add_test(catalogue, catalogue_rows_are_complete);
    tcase_add_test(catalogue, op_find_names_all_ops_when_unknown);
    tcase_add_test(text, text_is_canonical);
    tcase_add_test(text, one_dtype_stands_for_a_tuple);
    tcase_add_test(text, text_of_cost_keeps_only_the_class);
    tcase_add_test(text, text_survives_a_round_trip);
    tcase_add_loop_test(text, bad_text_says_what_and_how, 0,
                        (int)(sizeof bad_texts / sizeof bad_texts[0]));
    tcase_add_test(text, operands_follow_transposition);
    tcase_add_test(tensor, tensor_layout_letters);
    tcase_add_test(tensor, tensor_host_refuses_bad_extents);
    tcase_add_loop_test(arena, arena_places_operands_in_their_class, 0, 2);
    tcase_add_test(arena, arena_poison_shows_overruns);
    suite_add_tcase(s, catalogue);
    suite_add_tcase(s, text);
    suite_add_tcase(s, tensor);
    suite_add_tcase(s, arena);
    return s;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}
