/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_probe.c -- kernels of known work of backend cuda, on a scripted driver
 * without a GPU: what they are launched with, and how much they say they are. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "gen/config.h"

#if HAVE_CUDA

#include "tests/fake_cuda/fake_cuda_stage.h"

#define MULTIPROCESSORS 4 /* of the scripted device */

static assay_probe probe_of(assay_instance *instance, assay_probe_kind kind, assay_dtype dtype)
{
    assay_probe p = {.struct_size = sizeof p, .kind = kind, .dtype = dtype};

    OK(B->probe(instance, &p));
    ck_assert(p.run != NULL);
    return p;
}

static assay_tensor bytes_of(assay_buffer buffer)
{
    const int64_t n = (int64_t)buffer.size_bytes;
    assay_tensor t;

    OK(assay_tensor_host(NULL, ASSAY_U8, 1, &n, NULL, &t));
    t.buffer = buffer;
    return t;
}

static void on_span(void *cookie, double ns, size_t inner)
{
    (void)inner;
    *(double *)cookie = ns;
}

/* One span of one launch. */
static double time_one(assay_instance *instance, const assay_probe *p, const assay_tensor *operands,
                       int64_t amount)
{
    double ns = -1.0;
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = p->operand_count,
                                 .operands = operands,
                                 .tunables = &amount,
                                 .tunable_count = 1};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = p->run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = 1,
                                .spans = 1,
                                .sink = on_span,
                                .cookie = &ns};
    assay_clock_info clock;

    OK(B->measure(instance, &what, &clock));
    return ns;
}

START_TEST(spins_tell_what_they_waited)
{
    assay_instance *instance = cuda_stage_open("ns=700 ghz=1.5");
    const assay_probe by_ns = probe_of(instance, ASSAY_PROBE_SPIN_NS, ASSAY_F32);
    const assay_probe by_cycles = probe_of(instance, ASSAY_PROBE_SPIN_CYCLES, ASSAY_F32);
    assay_probe_spun spun;
    const assay_tensor out = bytes_of(cuda_stage_make(instance, sizeof spun));

    ck_assert_double_eq_tol(time_one(instance, &by_ns, &out, 100000), 100700.0, 10.0);
    cuda_stage_get(instance, &spun, out.buffer, sizeof spun);
    ck_assert(spun.ns == 100000 && spun.cycles == 150000 && spun.step_ns == 32);
    ck_assert_double_eq_tol(time_one(instance, &by_cycles, &out, 300000), 200700.0, 10.0);
    cuda_stage_get(instance, &spun, out.buffer, sizeof spun);
    ck_assert(spun.ns == 200000 && spun.cycles == 300000);
    cuda_stage_close(instance);
}
END_TEST

/* What another amount took says nothing of this one; of the same it is known. */
START_TEST(leads_are_of_the_same_launch)
{
    assay_instance *instance = cuda_stage_open("ns=700");
    const assay_probe spin = probe_of(instance, ASSAY_PROBE_SPIN_NS, ASSAY_F32);
    const assay_tensor out = bytes_of(cuda_stage_make(instance, sizeof(assay_probe_spun)));

    (void)time_one(instance, &spin, &out, 2000); /* its clock is known from now on */
    size_t before = cuda_stage_calls("cuLaunchKernel");
    (void)time_one(instance, &spin, &out, 1000000);
    ck_assert_uint_eq(cuda_stage_calls("cuLaunchKernel") - before, 1);
    before = cuda_stage_calls("cuLaunchKernel");
    (void)time_one(instance, &spin, &out, 1000000);
    ck_assert_uint_eq(cuda_stage_calls("cuLaunchKernel") - before, 1 + 4);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(copies_move_the_amount)
{
    assay_instance *instance = cuda_stage_open("ns=0 bytes_per_ns=10");
    const assay_probe copy = probe_of(instance, ASSAY_PROBE_COPY, ASSAY_F32);
    static char from[100003], to[100003];
    assay_tensor operands[2];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7 + 1);
    for (int i = 0; i < 2; i++)
        operands[i] = bytes_of(cuda_stage_make(instance, sizeof from));
    cuda_stage_put(instance, operands[0].buffer, from, sizeof from);
    cuda_stage_put(instance, operands[1].buffer, to, sizeof to);
    ck_assert_double_eq(copy.work_per_amount, 2.0);
    ck_assert_double_eq_tol(time_one(instance, &copy, operands, 100001), 20000.2, 10.0);
    cuda_stage_get(instance, to, operands[1].buffer, sizeof to);
    ck_assert_int_eq(memcmp(to, from, 100001), 0);
    ck_assert(to[100001] == 0 && to[100002] == 0);
    cuda_stage_close(instance);
}
END_TEST

/* 8 workgroups of 256 threads a multiprocessor, each with 8 chains of 16 links a round. */
START_TEST(multiply_adds_count_twice)
{
    assay_instance *instance = cuda_stage_open("ns=0 round_ns=50");
    const double one = 2.0 * MULTIPROCESSORS * 8 * 256 * 8 * 16;
    const assay_probe f32 = probe_of(instance, ASSAY_PROBE_FMA, ASSAY_F32);

    ck_assert_double_eq(f32.work_per_amount, one);
    ck_assert_double_eq(probe_of(instance, ASSAY_PROBE_FMA, ASSAY_F64).work_per_amount, one);
    ck_assert_double_eq(probe_of(instance, ASSAY_PROBE_FMA, ASSAY_F16).work_per_amount, 2 * one);
    ck_assert_double_eq(probe_of(instance, ASSAY_PROBE_FMA, ASSAY_BF16).work_per_amount, 2 * one);
    ck_assert_uint_eq(f32.operand_count, 0);
    ck_assert_double_eq_tol(time_one(instance, &f32, NULL, 1000), 50000.0, 10.0);
    cuda_stage_close(instance);
}
END_TEST

static const struct {
    const char *script;
    double f64, f32, f16, i8; /* a round and workgroup; 0: none */
    int groups;               /* workgroups a multiprocessor */
} generations[] = {
    /* 8 warps, each 8 chains of 4. */
    {"sm=80", 512.0 * 256, 2048.0 * 256, 4096.0 * 256, 8192.0 * 256, 2},
    /* f64 by warps; the others by two groups of warps, each 16. */
    {"sm=90", 4096.0 * 256, 262144.0 * 32, 524288.0 * 32, 1048576.0 * 32, 1},
    {"sm=100", 0, 0, 0, 0, 0},
    {"sm=120", 512.0 * 256, 2048.0 * 256, 4096.0 * 256, 8192.0 * 256, 2},
};

static void check_product(assay_instance *instance, assay_dtype dtype, double flops, int groups)
{
    assay_probe p = {.struct_size = sizeof p, .kind = ASSAY_PROBE_MATRIX, .dtype = dtype};

    if (groups == 0) {
        cuda_stage_fails(B->probe(instance, &p), ASSAY_UNSUPPORTED, "at most");
        return;
    }
    OK(B->probe(instance, &p));
    ck_assert_double_eq(p.work_per_amount, flops * MULTIPROCESSORS * groups);
}

START_TEST(products_are_of_the_fastest_way)
{
    assay_instance *instance = cuda_stage_open(generations[_i].script);
    const int groups = generations[_i].groups;

    check_product(instance, ASSAY_F64, generations[_i].f64, groups > 0 ? 2 : 0);
    check_product(instance, ASSAY_F32, generations[_i].f32, groups);
    check_product(instance, ASSAY_F16, generations[_i].f16, groups);
    check_product(instance, ASSAY_BF16, generations[_i].f16, groups);
    check_product(instance, ASSAY_I8, generations[_i].i8, groups);
    cuda_stage_close(instance);
}
END_TEST

static assay_status launch(assay_instance *instance, const assay_probe *p,
                           const assay_tensor *operands, uint32_t count, int64_t amount)
{
    const assay_launch one = {.struct_size = sizeof one,
                              .operand_count = count,
                              .operands = operands,
                              .tunables = &amount,
                              .tunable_count = 1};

    return B->launch(instance, p->run, &one);
}

START_TEST(probes_refuse_what_makes_no_sense)
{
    assay_instance *instance = cuda_stage_open("");
    assay_probe p = {.struct_size = sizeof p, .kind = ASSAY_PROBE_FMA, .dtype = ASSAY_I32};
    const assay_probe spin = probe_of(instance, ASSAY_PROBE_SPIN_NS, ASSAY_F32);
    const assay_probe fma = probe_of(instance, ASSAY_PROBE_FMA, ASSAY_F32);
    const assay_probe empty = probe_of(instance, ASSAY_PROBE_EMPTY, ASSAY_F32);
    const assay_probe copy = probe_of(instance, ASSAY_PROBE_COPY, ASSAY_F32);
    const assay_tensor out = bytes_of(cuda_stage_make(instance, sizeof(assay_probe_spun)));
    const assay_tensor few = bytes_of(cuda_stage_make(instance, sizeof(assay_probe_spun) - 1));
    const assay_tensor longer[2] = {out, few}, wider[2] = {few, out};
    const int64_t bytes = sizeof(assay_probe_spun);

    cuda_stage_fails(B->probe(instance, &p), ASSAY_UNSUPPORTED, "i32");
    p.kind = ASSAY_PROBE_KINDS;
    cuda_stage_fails(B->probe(instance, &p), ASSAY_UNSUPPORTED, "kind");
    cuda_stage_fails(launch(instance, &spin, NULL, 0, 100), ASSAY_INVALID, "1 operands");
    cuda_stage_fails(launch(instance, &spin, &out, 1, 0), ASSAY_INVALID, "amount");
    cuda_stage_fails(launch(instance, &fma, &out, 1, 1), ASSAY_INVALID, "0 operands");
    cuda_stage_fails(launch(instance, &spin, &few, 1, 100), ASSAY_INVALID, "operand 0 has less");
    cuda_stage_fails(launch(instance, &copy, longer, 2, bytes), ASSAY_INVALID, "operand 1 has");
    cuda_stage_fails(launch(instance, &copy, wider, 2, bytes), ASSAY_INVALID, "operand 0 has");
    OK(launch(instance, &copy, wider, 2, bytes - 1));
    assay_tensor late[2] = {out, out}; /* 16 bytes a thread */
    late[1].byte_offset = 8;
    late[1].dims[0] -= 8;
    cuda_stage_fails(launch(instance, &copy, late, 2, 8), ASSAY_INVALID, "multiples of 16");
    OK(launch(instance, &spin, &out, 1, 100));
    OK(launch(instance, &empty, NULL, 0, 1));
    cuda_stage_close(instance);
}
END_TEST

/* Whole blocks, and no word beyond an operand. */
START_TEST(what_shows_features_takes_whole_blocks)
{
    static const assay_probe_kind kinds[] = {ASSAY_PROBE_SHARED, ASSAY_PROBE_SHUFFLE,
                                             ASSAY_PROBE_SUBGROUP, ASSAY_PROBE_MUL_HIGH};
    assay_instance *instance = cuda_stage_open("");
    const assay_probe p = probe_of(instance, kinds[_i], ASSAY_U8);
    const assay_tensor whole = bytes_of(cuda_stage_make(instance, 1024));
    const assay_tensor few = bytes_of(cuda_stage_make(instance, 1023));
    const assay_tensor both[2] = {whole, whole}, shorter[2] = {whole, few};

    ck_assert_uint_eq(p.operand_count, 2);
    cuda_stage_fails(launch(instance, &p, both, 2, 255), ASSAY_INVALID, "255 words");
    cuda_stage_fails(launch(instance, &p, both, 2, INT64_MAX - 255), ASSAY_INVALID, "too many");
    cuda_stage_fails(launch(instance, &p, both, 1, 256), ASSAY_INVALID, "2 operands");
    cuda_stage_fails(launch(instance, &p, shorter, 2, 256), ASSAY_INVALID, "operand 1 has less");
    cuda_stage_close(instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, what_shows_features_takes_whole_blocks, 0, 4);
    tcase_add_test(t, spins_tell_what_they_waited);
    tcase_add_test(t, copies_move_the_amount);
    tcase_add_test(t, leads_are_of_the_same_launch);
    tcase_add_test(t, multiply_adds_count_twice);
    tcase_add_loop_test(t, products_are_of_the_fastest_way, 0,
                        sizeof generations / sizeof *generations);
    tcase_add_test(t, probes_refuse_what_makes_no_sense);
}

#else

START_TEST(build_without_cuda_says_why)
{
    ck_assert_str_ne(ASSAY_WHY_CUDA, "");
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, build_without_cuda_says_why);
}

#endif

int main(void)
{
    Suite *suite = suite_create("cuda_probe");
    TCase *t = tcase_create("scripted");

    tcase_set_timeout(t, 60);
    add_tests(t);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
