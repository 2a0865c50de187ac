/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_fingerprint.c -- numeric probes: the same each time, other when numerics are. */
#include "runtime/fingerprint.h"

#include <check.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE__)
#include <immintrin.h>
#endif

START_TEST(fingerprint_repeats)
{
    assay__fingerprint one, two;

    assay__fingerprint_take(&one);
    for (int i = 0; i < 20; i++) {
        assay__fingerprint_take(&two);
        ck_assert(assay_digest_equal(&one.digest, &two.digest));
    }
    ck_assert_uint_eq(one.scalar_subnormals_in, 1);
    ck_assert_uint_eq(one.scalar_subnormals_out, 1);
    ck_assert_uint_eq(one.vector_subnormals_in, 1);
    ck_assert_uint_eq(one.vector_subnormals_out, 1);
    ck_assert_uint_eq(one.contracts, 0); /* libassay is built without contraction */
    ck_assert_int_eq(one.rounding, FE_TONEAREST);
}
END_TEST

START_TEST(fingerprint_sees_each_rounding_mode)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    assay__fingerprint prints[4];

    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(fesetround(modes[i]), 0);
        assay__fingerprint_take(&prints[i]);
        ck_assert_int_eq(fesetround(FE_TONEAREST), 0);
        ck_assert_int_eq(prints[i].rounding, modes[i]);
        for (int k = 0; k < i; k++)
            ck_assert(!assay_digest_equal(&prints[i].digest, &prints[k].digest));
    }
}
END_TEST

START_TEST(fingerprint_sees_flushed_subnormals)
{
#if defined(__SSE__)
    const unsigned kept = _mm_getcsr();
    assay__fingerprint base, flush, zero;

    assay__fingerprint_take(&base);
    _mm_setcsr(kept | 0x8000u); /* FTZ: results */
    assay__fingerprint_take(&flush);
    _mm_setcsr(kept | 0x0040u); /* DAZ: operands */
    assay__fingerprint_take(&zero);
    _mm_setcsr(kept);
    ck_assert_uint_eq(flush.scalar_subnormals_out, 0);
    ck_assert_uint_eq(flush.vector_subnormals_out, 0);
    ck_assert_uint_eq(flush.scalar_subnormals_in, 1);
    ck_assert_uint_eq(zero.scalar_subnormals_in, 0);
    ck_assert_uint_eq(zero.vector_subnormals_in, 0);
    ck_assert(!assay_digest_equal(&base.digest, &flush.digest));
    ck_assert(!assay_digest_equal(&base.digest, &zero.digest));
    ck_assert(!assay_digest_equal(&flush.digest, &zero.digest));
#endif
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fingerprint");
    TCase *tc = tcase_create("fingerprint");

    tcase_add_test(tc, fingerprint_repeats);
    tcase_add_test(tc, fingerprint_sees_each_rounding_mode);
    tcase_add_test(tc, fingerprint_sees_flushed_subnormals);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
