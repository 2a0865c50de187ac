/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cold.c -- writing round the caches leaves the bytes that plain code leaves. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/cold.h"

#define ROOM 512u

static unsigned char *room(unsigned char fill)
{
    unsigned char *p = aligned_alloc(64, ROOM);

    ck_assert_ptr_nonnull(p);
    memset(p, fill, ROOM);
    return p;
}

/* Every byte before and behind [at, at + bytes) is as it was. */
static void same_around(const unsigned char *p, size_t at, size_t bytes)
{
    for (size_t i = 0; i < ROOM; i++)
        if (i < at || i >= at + bytes)
            ck_assert_msg(p[i] == 0xee, "byte %zu of a write to %zu of %zu", i, at, bytes);
}

START_TEST(copy_writes_these_bytes_and_no_other)
{
    unsigned char *from = room(0);

    for (size_t i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + 3);
    for (size_t at = 0; at < 130; at += 13)
        for (size_t bytes = 0; bytes <= 300; bytes++) {
            unsigned char *to = room(0xee);
            assay__cold_copy(to + at, from + 5, bytes);
            ck_assert(memcmp(to + at, from + 5, bytes) == 0);
            same_around(to, at, bytes);
            free(to);
        }
    free(from);
}
END_TEST

START_TEST(fill_repeats_the_pattern_from_its_begin)
{
    static const unsigned char pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    for (size_t size = 1; size <= 8; size *= 2)
        for (size_t at = 0; at < 70; at++)
            for (size_t bytes = 0; bytes <= 300; bytes += 7) {
                unsigned char *to = room(0xee);
                assay__cold_fill(to + at, pattern, size, bytes);
                for (size_t i = 0; i < bytes; i++)
                    ck_assert_msg(to[at + i] == pattern[i % size], "%zu of %zu at %zu", i, size,
                                  at);
                same_around(to, at, bytes);
                free(to);
            }
}
END_TEST

START_TEST(evict_changes_no_byte)
{
    unsigned char *p = room(0xee);

    p[100] = 1;
    for (size_t at = 0; at < 130; at++)
        ck_assert_uint_eq(assay__cold_evict(p + at, ROOM - 130),
                          strcmp(assay__cold_method(), "none") == 0 ? 0 : ROOM - 130);
    ck_assert_uint_eq(assay__cold_evict(p + ROOM, 0), 0); /* touches nothing, so may lie anywhere */
    ck_assert_uint_eq(assay__cold_evict(NULL, 0), 0);
    ck_assert_uint_eq(p[100], 1);
    p[100] = 0xee;
    same_around(p, 0, 0);
    ck_assert(strncmp(assay__cold_method(), "clflush", 7) == 0 ||
              strcmp(assay__cold_method(), "none") == 0);
    free(p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cold");
    TCase *tcase = tcase_create("cold");
    int failed;

    tcase_add_test(tcase, copy_writes_these_bytes_and_no_other);
    tcase_add_test(tcase, fill_repeats_the_pattern_from_its_begin);
    tcase_add_test(tcase, evict_changes_no_byte);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
