/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_op_costs.c -- Layer-1 costs of every op against what is counted: operations and
 * the elements that an op must read and write, one by one where the catalogue has a formula.
 *
 * An op without a count here fails: docs/ops-costs.md has a line for each. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/problem_text.h"
#include "tests/support/op_cases.h"

typedef struct cost {
    double flops, bytes;
} cost;

static int64_t value(const assay_problem *p, const char *name)
{
    return assay_problem_int(p, name);
}

static double elements(const assay_problem *p, size_t i)
{
    return (double)assay_problem_operand_elements(p, i);
}

static double element_bytes(const assay_problem *p, size_t i)
{
    return (double)assay_dtype_bytes((assay_dtype)p->dtypes[i]);
}

static double bytes_of(const assay_problem *p, size_t i)
{
    return elements(p, i) * element_bytes(p, i);
}

/* Operands once each: what an op must move at least, when it reads all and writes all. */
static double all_bytes(const assay_problem *p)
{
    double sum = 0.0;

    for (size_t i = 0; i < p->dtype_count; i++)
        sum += bytes_of(p, i);
    return sum;
}

static bool is_zero(double x)
{
    return !(x < 0.0) && !(x > 0.0);
}

static cost of_matmul(const assay_problem *p)
{
    bool none = is_zero(assay_problem_real(p, "alpha")),
         old = !is_zero(assay_problem_real(p, "beta"));
    cost c = {0.0, bytes_of(p, 2) * (old ? 2 : 1)};

    for (int64_t e = 0; !none && e < assay_problem_operand_elements(p, 2); e++)
        for (int64_t i = 0; i < value(p, "k"); i++)
            c.flops += 2; /* a product and a sum */
    c.bytes += none ? 0.0 : bytes_of(p, 0) + bytes_of(p, 1);
    return c;
}

static cost of_fused_linear(const assay_problem *p)
{
    return (cost){elements(p, 3) * (double)(2 * value(p, "k") + 1), all_bytes(p)};
}

/* Which operand is y, and which the filter, whose taps each element of y meets. */
static cost of_convolution(const assay_problem *p, size_t y, size_t filter)
{
    uint32_t rank;
    int64_t d[ASSAY_MAX_RANK];
    cost c = {0.0, all_bytes(p)};

    ck_assert_int_eq(assay_problem_operand(p, filter, &rank, d), ASSAY_OK);
    for (int64_t e = 0; e < assay_problem_operand_elements(p, y); e++)
        for (int64_t tap = 0; tap < d[1] * d[2] * d[3]; tap++)
            c.flops += 2;
    return c;
}

/* Pairs of a query and a key that it sees, and the rows that have a pair. */
static cost of_attention(const assay_problem *p)
{
    int64_t sq = value(p, "sq"), sk = value(p, "sk"), causal = value(p, "causal");
    double pairs = 0, queries = 0, keys = 0, d = (double)value(p, "d");
    cost c;

    for (int64_t i = 0; i < sq; i++) {
        int64_t seen = causal == 0 ? sk : causal == 1 ? i + sk - sq + 1 : i + 1;
        seen = seen < 0 ? 0 : seen > sk ? sk : seen;
        pairs += (double)seen;
        queries += causal != 1 || seen > 0;
        keys = (double)seen > keys ? (double)seen : keys;
    }
    keys = causal == 2 ? keys : (double)sk;
    c.flops = (double)(value(p, "b") * value(p, "hq")) * pairs * (4 * d + 5);
    c.bytes = (double)(value(p, "b") * value(p, "hq")) * queries * d * element_bytes(p, 0) +
              (double)(value(p, "b") * value(p, "hkv")) * keys * d *
                  (element_bytes(p, 1) + element_bytes(p, 2)) +
              bytes_of(p, 3);
    return c;
}

/* Rows moved at most once each way: those of gather are read, those of scatter written, as often as
 * there are different indices at most. */
static cost of_rows(const assay_problem *p, bool gathers)
{
    int64_t n = value(p, "n"), rows = value(p, "rows"), moved = n < rows ? n : rows;
    double row = (double)value(p, "cols") * element_bytes(p, 0);

    return (cost){0.0, (double)(moved + (gathers ? n : moved)) * row + bytes_of(p, 1)};
}

static double flops_an_element(const char *name)
{
    static const struct {
        const char *name;
        double flops;
    } rows[] = {{"relu", 1},
                {"abs", 1},
                {"neg", 1},
                {"sqrt", 1},
                {"tanh", 10},
                {"sigmoid", 10},
                {"silu", 10},
                {"gelu", 10},
                {"gelu_erf", 10},
                {"rsqrt", 10},
                {"log", 10},
                {"exp", 10},
                {"cast", 0},
                {"softmax_last_dim", 5},
                {"log_softmax_last_dim", 5},
                {"softmax", 5},
                {"log_softmax", 5},
                {"rms_norm_last_dim", 4},
                {"layer_norm_last_dim", 7}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].flops;
    ck_abort_msg("nobody has counted %s", name);
    return 0;
}

static cost counted(const assay_problem *p)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    switch (info->family) {
    case ASSAY_FAMILY_ELEMENTWISE_BINARY:
        return (cost){elements(p, 2), all_bytes(p)};
    case ASSAY_FAMILY_REDUCE:
        return (cost){elements(p, 0), all_bytes(p)};
    case ASSAY_FAMILY_ATTENTION:
        return of_attention(p);
    default:
        break;
    }
    switch ((int)p->op) {
    case ASSAY_OP_matmul:
        return of_matmul(p);
    case ASSAY_OP_fused_linear:
        return of_fused_linear(p);
    case ASSAY_OP_conv2d:
        return of_convolution(p, 2, 1);
    case ASSAY_OP_conv2d_backward_data:
        return of_convolution(p, 0, 1);
    case ASSAY_OP_conv2d_backward_filter:
        return of_convolution(p, 1, 2);
    case ASSAY_OP_gather:
        return of_rows(p, true);
    case ASSAY_OP_scatter:
        return of_rows(p, false);
    default:
        return (cost){flops_an_element(info->name) * elements(p, 0), all_bytes(p)};
    }
}

static void check(const assay_problem *p)
{
    char text[ASSAY_PROBLEM_TEXT_MAX];
    double flops = -1, bytes = -1;
    cost want = counted(p);

    ck_assert_uint_gt(assay_problem_format(p, ASSAY_TEXT_ACCURACY, text, sizeof text), 0);
    ck_assert_msg(assay_problem_flops(p, &flops) && assay_problem_bytes(p, &bytes), "%s", text);
    ck_assert_msg(flops >= want.flops && flops <= want.flops, "%s: %g flops, %g counted", text,
                  flops, want.flops);
    ck_assert_msg(bytes >= want.bytes && bytes <= want.bytes, "%s: %g bytes, %g counted", text,
                  bytes, want.bytes);
}

static void set_all(assay_problem *p, char *text)
{
    for (char *item; (item = strsep(&text, ",")) != NULL;) {
        char *number = strchr(item, '=');
        *number++ = '\0';
        ck_assert_int_eq(assay_problem_set(p, item, number), ASSAY_OK);
    }
}

/* Every case of the catalogue with every tuple of dtypes, small ones: empty and odd extents, all
 * values of enumerations. */
START_TEST(costs_are_what_is_counted)
{
    const assay_op_id op = (assay_op_id)_i;
    const assay_op_info *info = assay_op_get(op);
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    int checked = 0;

    for (size_t tuple = 0; assay_op_tuple(op, tuple, dtypes); tuple++)
        for (size_t i = 0; i < op_case_count(op); i++) {
            char text[OP_CASE_TEXT];
            assay_problem p;
            op_case_text(op, i, text);
            ck_assert_int_eq(assay_problem_init_tuple(op, dtypes, info->inputs + info->outputs, &p),
                             ASSAY_OK);
            set_all(&p, text);
            ck_assert_int_eq(assay_problem_check(&p), ASSAY_OK);
            check(&p);
            checked++;
        }
    ck_assert_int_gt(checked, 8);
}
END_TEST

/* What defaults hide: scales of products; strides, dilation, groups; and values that others have
 * computed from the seed's formulas, less what docs/ops-costs.md takes out. */
static const struct known {
    const char *text;
    double flops, bytes; /* negative: only counted here */
} known[] = {
    {"matmul f32,f32,f32 batch=2,m=3,n=5,k=7,alpha=0,beta=1", -1, -1},
    {"matmul f16,f16,f16 batch=2,m=3,n=5,k=7,beta=0.5,trans_a=t", -1, -1},
    {"conv2d f64,f64,f64 "
     "n=2,c=4,h=20,w=15,k=6,r=3,s=2,stride_h=3,stride_w=2,dil_h=2,dil_w=3,pad_h=5,"
     "pad_w=4,groups=2",
     -1, -1},
    {"conv2d_backward_data f32,f32,f32 n=2,c=4,h=20,w=15,k=6,r=3,s=2,stride_h=3,dil_w=3,pad_h=5",
     -1, -1},
    {"conv2d_backward_filter bf16,bf16,bf16 "
     "n=2,c=4,h=20,w=15,k=6,r=3,s=2,stride_w=2,pad_w=4,groups=2",
     -1, -1},
    {"conv2d f32,f32,f32 n=1,c=8,h=16,w=16,k=12,r=3,s=3,pad_h=1,pad_w=1,groups=2",
     224256 - 12 * 16 * 16, 22256 - 12 * 4},
    {"fused_linear f32,f32,f32,f32 batch=2,m=64,n=128,k=256", 8404992, 459264},
    {"softmax_last_dim f32,f32 rows=4,cols=1024", 20480, 32768},
    {"layer_norm_last_dim f32,f32 rows=4,cols=1024", 28672, 32768},
    {"attention f32,f32,f32,f32 b=2,hq=4,hkv=2,sq=8,sk=32,d=16", 141312,
     40960 - 4 * 2 * 2 * 2 * 32 * 16},
    {"attention f32,f32,f32,f32 b=2,hq=4,hkv=2,sq=8,sk=32,d=16,causal=top_left", -1, -1},
    {"attention bf16,bf16,bf16,bf16 b=1,hq=4,hkv=4,sq=33,sk=8,d=16,causal=1", -1, -1},
};

START_TEST(costs_of_known_problems)
{
    const struct known *k = &known[_i];
    double flops = -1, bytes = -1;
    assay_problem p;

    ck_assert_msg(assay_problem_parse(k->text, &p) == ASSAY_OK, "%s", assay_last_error());
    check(&p);
    if (k->flops < 0)
        return;
    ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
    ck_assert_msg(flops >= k->flops && flops <= k->flops, "%s: %g flops", k->text, flops);
    ck_assert_msg(bytes >= k->bytes && bytes <= k->bytes, "%s: %g bytes", k->text, bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("op_costs");
    TCase *tcase = tcase_create("op_costs");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, costs_are_what_is_counted, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(tcase, costs_of_known_problems, 0, (int)(sizeof known / sizeof *known));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
