/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_digest.c -- digests, their text, the hasher's fields, key hashes. */
#include "runtime/digest.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/keyhash.h"

static assay_digest of_fields(const char *a, const char *b, uint8_t tag)
{
    assay__hasher hasher;
    assay_digest digest;

    assay__hash_init(&hasher, "test-1");
    assay__hash_string(&hasher, tag, a);
    assay__hash_string(&hasher, tag, b);
    assay__hash_final(&hasher, &digest);
    return digest;
}

/* The bytes 00 + 6 as u64 + "test-1" + 07 + 0 as u64, hashed by another implementation (Python's
 * hashlib.blake2b with digest_size 32). */
START_TEST(hasher_gives_the_published_function)
{
    assay__hasher hasher;
    assay_digest digest;
    char hex[ASSAY_DIGEST_HEX];

    assay__hash_init(&hasher, "test-1");
    assay__hash_string(&hasher, 7, NULL);
    assay__hash_final(&hasher, &digest);
    assay_digest_format(&digest, hex);
    ck_assert_str_eq(hex, "be885d46706b62f56b03b15372549f2e074cd172ee8c17ba204a79e271a11106");
}
END_TEST

START_TEST(hasher_keeps_fields_apart)
{
    assay_digest one = of_fields("ab", "c", 1);
    assay_digest two = of_fields("a", "bc", 1);
    assay_digest other_tag = of_fields("ab", "c", 2);
    assay_digest again = of_fields("ab", "c", 1);

    ck_assert(!assay_digest_equal(&one, &two));
    ck_assert(!assay_digest_equal(&one, &other_tag));
    ck_assert(assay_digest_equal(&one, &again));
}
END_TEST

START_TEST(hasher_takes_all_eight_bytes_of_a_number)
{
    assay_digest last = {{0}};

    for (unsigned shift = 0; shift < 64; shift += 8) {
        assay__hasher hasher;
        assay_digest digest;
        assay__hash_init(&hasher, "test-1");
        assay__hash_u64(&hasher, 1, UINT64_C(1) << shift);
        assay__hash_final(&hasher, &digest);
        ck_assert(!assay_digest_equal(&digest, &last));
        last = digest;
    }
}
END_TEST

START_TEST(digest_text_goes_there_and_back)
{
    assay_digest digest = of_fields("x", "y", 3);
    assay_digest back;
    char hex[ASSAY_DIGEST_HEX];

    assay_digest_format(&digest, hex);
    ck_assert_uint_eq(strlen(hex), 64);
    ck_assert_int_eq(assay_digest_parse(hex, &back), ASSAY_OK);
    ck_assert(assay_digest_equal(&digest, &back));
    for (char *p = hex; *p != '\0'; p++)
        *p = (char)(*p >= 'a' ? *p - 'a' + 'A' : *p);
    ck_assert_int_eq(assay_digest_parse(hex, &back), ASSAY_OK);
    ck_assert(assay_digest_equal(&digest, &back));
}
END_TEST

START_TEST(digest_refuses_other_text)
{
    static const char *const bad[] = {
        NULL,
        "",
        "00",
        "g000000000000000000000000000000000000000000000000000000000000000",
        "000000000000000000000000000000000000000000000000000000000000000 ",
        "00000000000000000000000000000000000000000000000000000000000000000"};
    assay_digest out = {{42}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(assay_digest_parse(bad[i], &out), ASSAY_PARSE);
        ck_assert_uint_eq(out.bytes[0], 42);
    }
}
END_TEST

START_TEST(digest_orders_as_bytes)
{
    assay_digest low = {{1, 255}};
    assay_digest high = {{2, 0}};

    ck_assert_int_lt(assay_digest_compare(&low, &high), 0);
    ck_assert_int_gt(assay_digest_compare(&high, &low), 0);
    ck_assert_int_eq(assay_digest_compare(&low, &low), 0);
}
END_TEST

START_TEST(key_hash_depends_on_every_byte)
{
    char key[104];
    memset(key, 5, sizeof key);
    assay__key128 base = assay__xxh(key, sizeof key);

    for (size_t i = 0; i < sizeof key; i++) {
        key[i] ^= 1;
        assay__key128 other = assay__xxh(key, sizeof key);
        ck_assert(other.low != base.low || other.high != base.high);
        key[i] ^= 1;
    }
    assay__key128 again = assay__xxh(key, sizeof key);
    ck_assert(again.low == base.low && again.high == base.high);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("digest");
    TCase *hasher = tcase_create("hasher");
    TCase *text = tcase_create("digest");

    tcase_add_test(hasher, hasher_gives_the_published_function);
    tcase_add_test(hasher, hasher_keeps_fields_apart);
    tcase_add_test(hasher, hasher_takes_all_eight_bytes_of_a_number);
    tcase_add_test(hasher, key_hash_depends_on_every_byte);
    tcase_add_test(text, digest_text_goes_there_and_back);
    tcase_add_test(text, digest_refuses_other_text);
    tcase_add_test(text, digest_orders_as_bytes);
    suite_add_tcase(suite, hasher);
    suite_add_tcase(suite, text);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
