/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_vulkan_parts.c -- arithmetic of the Vulkan backend, which needs no device. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "backends/lead_in.h"
#include "backends/vulkan/vulkan_cache_header.h"
#include "backends/vulkan/vulkan_heap.h"
#include "backends/vulkan/vulkan_limits.h"
#include "backends/vulkan/vulkan_map_plan.h"
#include "backends/vulkan/vulkan_memory_type.h"
#include "backends/vulkan/vulkan_order.h"
#include "backends/vulkan/vulkan_row_plan.h"
#include "backends/vulkan/vulkan_ticks.h"

/* ---- memory ---- */

enum { LOCAL = 1, HOST = 2 | 4, CACHED = 8, PROTECTED = 0x20, UNCACHED = 0x40 | 0x80 };
#define WINDOW (UINT64_C(256) << 20)
#define GB     (UINT64_C(1) << 30)

static const struct choice {
    vulkan_type types[6];
    uint32_t bits, wanted, liked, chosen;
} choices[] = {
    /* A device with a window for the host: the memory that has no window, whatever the order. */
    {{{LOCAL | HOST, WINDOW}, {LOCAL, 24 * GB}, {HOST, 64 * GB}}, 7, LOCAL, LOCAL, 1},
    {{{LOCAL, WINDOW}, {LOCAL | HOST, 24 * GB}}, 3, LOCAL, LOCAL, 1},
    {{{LOCAL, 24 * GB}, {LOCAL | HOST, 24 * GB}}, 3, LOCAL, LOCAL, 0},
    /* Only where the buffer may lie. */
    {{{LOCAL | HOST, WINDOW}, {LOCAL, 24 * GB}}, 1, LOCAL, LOCAL, 0},
    /* What needs a feature comes last, and is not taken. */
    {{{LOCAL | PROTECTED, 24 * GB}, {LOCAL | UNCACHED, 24 * GB}, {LOCAL | HOST, WINDOW}},
     7,
     LOCAL,
     LOCAL,
     2},
    {{{LOCAL | PROTECTED, 24 * GB}}, 1, LOCAL, LOCAL, UINT32_MAX},
    /* To stage by: cached where that is to be had, and rather not in the device. */
    {{{LOCAL, 24 * GB}, {HOST, 64 * GB}, {HOST | CACHED, 64 * GB}}, 7, HOST, CACHED, 2},
    {{{LOCAL | HOST, 80 * GB}, {HOST, 64 * GB}}, 3, HOST, CACHED, 1},
    {{{LOCAL | HOST, 80 * GB}, {HOST, 64 * GB}}, 1, HOST, CACHED, 0},
    /* One memory for all. */
    {{{LOCAL | HOST | CACHED, 8 * GB}}, 1, HOST, CACHED, 0},
    {{{LOCAL, 24 * GB}}, 1, HOST, CACHED, UINT32_MAX},
};

START_TEST(memory_types_are_of_the_largest_heap)
{
    const struct choice *c = &choices[_i];

    ck_assert_uint_eq(vulkan_choose_type(c->types, 6, c->bits, c->wanted, c->liked), c->chosen);
}
END_TEST

/* ---- timestamps ---- */

static const struct turn {
    uint64_t from, to;
    uint32_t bits;
    uint64_t ticks;
} turns[] = {
    {5, 9, 64, 4},
    {UINT64_MAX, 2, 64, 3},
    {UINT64_MAX - 9, UINT64_MAX, 64, 9},
    {0xfffffffff, 4, 36, 5},            /* began anew */
    {0xffffffff0, 0xfffffffff, 36, 15}, /* just did not */
    {0xfffffff0, 0x10, 32, 0x20},
    {0, 0xffffffff, 32, 0xffffffff},
    {7, 7, 48, 0},
    {0xffffffffffff, 0, 48, 1},
};

START_TEST(ticks_are_counted_through_the_wrap)
{
    const struct turn *t = &turns[_i];

    ck_assert_uint_eq(vulkan_ticks_between(t->from, t->to, t->bits), t->ticks);
}
END_TEST

START_TEST(ticks_take_the_period)
{
    ck_assert_double_eq(vulkan_ticks_ns(1000, 1.0), 1000.0);
    ck_assert_double_eq(vulkan_ticks_ns(3, 83.25), 249.75);
    ck_assert_uint_eq(vulkan_ticks_mask(36), 0xfffffffff);
    ck_assert_uint_eq(vulkan_ticks_mask(64), UINT64_MAX);
}
END_TEST

/* ---- limits ---- */

static const vulkan_limits limits = {.groups = {100, 50, 1},
                                     .local = {256, 64, 1},
                                     .invocations = 512,
                                     .shared_bytes = 1000,
                                     .push_bytes = 128,
                                     .rounds = 70};
static const vulkan_shape good = {
    .groups = 5000, .local = {256, 2}, .shared_bytes = 1000, .push_bytes = 128, .rounds = 70};

static void refuses(vulkan_shape shape, const char *says)
{
    char why[160] = "";

    ck_assert(!vulkan_limits_allow(&limits, &shape, why, sizeof why));
    ck_assert_msg(strstr(why, says) != NULL, "'%s' lacks '%s'", why, says);
}

START_TEST(limits_are_kept_exactly)
{
    char why[160];
    vulkan_shape s = good;

    ck_assert(vulkan_limits_allow(&limits, &good, why, sizeof why));
    s.groups = 5001;
    refuses(s, "5001 workgroups, at most 100 times 50");
    s = good;
    s.groups = 0;
    refuses(s, "0 workgroups");
    s = good;
    s.local[0] = 257;
    refuses(s, "workgroups of 257 x 2");
    s = (vulkan_shape){.groups = 1, .local = {4, 65}};
    refuses(s, "workgroups of 4 x 65");
    s = (vulkan_shape){.groups = 1, .local = {256, 3}};
    refuses(s, "768 invocations, at most 512");
    s = good;
    s.shared_bytes = 1001;
    refuses(s, "1001 bytes of shared memory");
    s = good;
    s.push_bytes = 129;
    refuses(s, "129 bytes of push constants");
    s = good;
    s.rounds = 71;
    refuses(s, "loops of 71 rounds, of which this driver makes 70");
}
END_TEST

/* Enough groups, in two axes, and never a whole line too many. */
START_TEST(limits_fold_grids)
{
    static const uint64_t groups[] = {1, 99, 100, 101, 199, 200, 201, 4999, 5000};
    uint32_t grid[2];

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        ck_assert(vulkan_fold_grid(groups[i], limits.groups, grid));
        ck_assert(grid[0] >= 1 && grid[0] <= 100 && grid[1] >= 1 && grid[1] <= 50);
        ck_assert_uint_ge((uint64_t)grid[0] * grid[1], groups[i]);
        ck_assert_uint_lt((uint64_t)grid[0] * (grid[1] - 1), groups[i]);
    }
    ck_assert(!vulkan_fold_grid(5001, limits.groups, grid));
    ck_assert(!vulkan_fold_grid(0, limits.groups, grid));
}
END_TEST

/* ---- header of a pipeline cache ---- */

static const uint8_t cache_uuid[VULKAN_CACHE_UUID] = {1, 2, 3, 4, 5, 6, 7, 8};

static void put_word(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static void make_header(unsigned char *bytes)
{
    put_word(bytes, 32);
    put_word(bytes + 4, 1);
    put_word(bytes + 8, 0x10de);
    put_word(bytes + 12, 0x2330);
    memcpy(bytes + 16, cache_uuid, sizeof cache_uuid);
}

static bool fits(const unsigned char *bytes, size_t size)
{
    return vulkan_cache_fits(bytes, size, 0x10de, 0x2330, cache_uuid);
}

START_TEST(cache_header_is_looked_at_whole)
{
    unsigned char bytes[40] = {0};

    make_header(bytes);
    ck_assert(fits(bytes, 32));
    ck_assert(fits(bytes, 40));
    ck_assert(!fits(bytes, 31));
    ck_assert(!fits(bytes, 0));
    for (size_t at = 0; at < 32; at++) { /* each byte counts */
        bytes[at] ^= 0x40;
        ck_assert_msg(!fits(bytes, 40), "byte %zu", at);
        bytes[at] ^= 0x40;
    }
    put_word(bytes, 40); /* longer headers may come */
    ck_assert(fits(bytes, 40));
    ck_assert(!fits(bytes, 39));
    put_word(bytes, 31);
    ck_assert(!fits(bytes, 40));
}
END_TEST

/* Cut short anywhere or changed in any byte it is not whole. */
START_TEST(cache_file_is_whole_or_nothing)
{
    unsigned char bytes[100 + VULKAN_CACHE_SEAL];

    for (size_t i = 0; i < 100; i++)
        bytes[i] = (unsigned char)(7 * i);
    vulkan_cache_seal(bytes, 100, bytes + 100);
    ck_assert_uint_eq(vulkan_cache_body(bytes, sizeof bytes), 100);
    for (size_t size = 0; size < sizeof bytes; size++)
        ck_assert_uint_eq(vulkan_cache_body(bytes, size), 0);
    for (size_t at = 0; at < sizeof bytes; at++) {
        bytes[at] ^= 1;
        ck_assert_msg(vulkan_cache_body(bytes, sizeof bytes) == 0, "byte %zu", at);
        bytes[at] ^= 1;
    }
}
END_TEST

/* ---- order and names of devices ---- */

START_TEST(order_is_by_type_then_uuid)
{
    /* other, integrated, discrete, virtual, CPU in Vulkan's numbers */
    static const uint32_t in_order[] = {2, 1, 3, 4, 0};

    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            vulkan_rank a = {.type = in_order[i]}, b = {.type = in_order[j]};
            a.uuid[0] = (uint8_t)(9 - i); /* counts for nothing between types */
            b.uuid[0] = (uint8_t)(9 - j);
            ck_assert_int_eq((vulkan_rank_compare(&a, &b) > 0) - (vulkan_rank_compare(&a, &b) < 0),
                             (i > j) - (i < j));
        }
    const vulkan_rank low = {.type = 2, .uuid = {0, 7}}, high = {.type = 2, .uuid = {1}};
    ck_assert_int_lt(vulkan_rank_compare(&low, &high), 0);
    ck_assert_int_eq(vulkan_type_place(77), vulkan_type_place(0));
}
END_TEST

START_TEST(order_names_devices)
{
    static const uint8_t bytes[VULKAN_UUID] = {0xde, 0xad, 0, 1, 2,  3,  4,  5,
                                               6,    7,    8, 9, 10, 11, 12, 0xff};
    char uuid[VULKAN_UUID_TEXT];

    vulkan_uuid_text(bytes, uuid);
    ck_assert_str_eq(uuid, "dead0001-0203-0405-0607-08090a0b0cff");
    ck_assert(vulkan_names_device("1", 1, "Card", uuid));
    ck_assert(!vulkan_names_device("1", 2, "Card 1", uuid)); /* a number is no part of a name */
    ck_assert(vulkan_names_device("DEAD0001-0203-0405-0607-08090A0B0CFF", 3, "Card", uuid));
    ck_assert(!vulkan_names_device("dead0001", 3, "Card", uuid));
    ck_assert(vulkan_names_device("card", 3, "Big Card 9", uuid));
    ck_assert(vulkan_names_device("CARD 9", 3, "Big Card 9", uuid));
    ck_assert(!vulkan_names_device("card 99", 3, "Big Card 9", uuid));
    ck_assert(!vulkan_names_device("", 0, "Card", uuid));
}
END_TEST

/* ---- places within a block ---- */

START_TEST(heap_takes_aligned_places_that_are_apart)
{
    uint64_t at[8];
    vulkan_heap h;

    ck_assert(vulkan_heap_init(&h, 4096, 0x1010)); /* an address that is itself not aligned */
    for (unsigned i = 0; i < 8; i++) {
        at[i] = vulkan_heap_take(&h, 100 + i, 256);
        ck_assert_uint_ne(at[i], UINT64_MAX);
        ck_assert_uint_eq((0x1010 + at[i]) % 256, 0);
        ck_assert_uint_le(at[i] + 100 + i, 4096);
        for (unsigned j = 0; j < i; j++)
            ck_assert(at[i] >= at[j] + 100 + j || at[j] >= at[i] + 100 + i);
    }
    ck_assert_uint_eq(h.taken, 8);
    ck_assert_uint_eq(vulkan_heap_take(&h, 4096, 1), UINT64_MAX);
    ck_assert_uint_eq(h.taken, 8);
    vulkan_heap_clear(&h);
}
END_TEST

/* In any order: what was one is one again. */
START_TEST(heap_joins_what_is_given_back)
{
    static const unsigned orders[][5] = {
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}, {1, 3, 0, 2, 4}};
    const unsigned *order = orders[_i];
    uint64_t at[5];
    vulkan_heap h;

    ck_assert(vulkan_heap_init(&h, 1000, 0));
    for (int i = 0; i < 5; i++)
        at[i] = vulkan_heap_take(&h, 200, 8);
    ck_assert_uint_eq(vulkan_heap_take(&h, 1, 1), UINT64_MAX);
    for (int i = 0; i < 5; i++) {
        vulkan_heap_give(&h, at[order[i]]);
        vulkan_heap_give(&h, at[order[i]] + 1); /* not a place: nothing */
    }
    ck_assert_uint_eq(h.taken, 0);
    ck_assert_uint_eq(vulkan_heap_take(&h, 1000, 8), 0);
    vulkan_heap_clear(&h);
}
END_TEST

/* ---- rows ---- */

/* Of a workgroup of 64 that may hold 8 vectors an invocation. */
static const struct row_plan {
    uint64_t x, y;
    uint32_t cols, lanes;
    vulkan_row_plan plan;
} row_plans[] = {
    {256, 512, 4, 4, {1, VULKAN_BY_VECTORS, true, false, 20}},
    {256, 512, 256, 4, {1, VULKAN_BY_VECTORS, true, true, 20}},
    {256, 512, 260, 4, {2, VULKAN_BY_VECTORS, true, false, 20}},
    {256, 512, 2048, 4, {8, VULKAN_BY_VECTORS, true, true, 20}},
    {256, 512, 2052, 4, {VULKAN_AHEAD, VULKAN_BY_VECTORS, false, false, 28}},
    {256, 512, 3072, 4, {VULKAN_AHEAD, VULKAN_BY_VECTORS, false, true, 28}},
    {256, 512, 2048, 8, {4, VULKAN_BY_VECTORS, true, true, 20}},
    {260, 512, 2048, 4, {8, VULKAN_BY_SINGLES, true, true, 20}},
    {256, 514, 2048, 8, {4, VULKAN_BY_SINGLES, true, true, 20}},
    {256, 512, 2047, 4, {8, VULKAN_BY_SPREAD, true, false, 20}},
    {260,
     514,
     2044,
     8,
     {4, VULKAN_BY_SPREAD, true, false, 20}}, /* rows of whole words, not vectors */
    {256, 512, 1, 4, {1, VULKAN_BY_SPREAD, true, false, 20}},
    {256, 512, 2147483644, 4, {VULKAN_AHEAD, VULKAN_BY_VECTORS, false, false, 8388624}},
};

START_TEST(maps_take_vectors_where_all_operands_are_aligned)
{
    vulkan_mapped same[3] = {{256, 4}, {16, 4}, {32, 4}}, narrow[2] = {{16, 2}, {512, 2}};
    vulkan_mapped mixed[2] = {{256, 4}, {264, 2}};

    ck_assert(vulkan_map_lanes(same, 3) == 4 && vulkan_map_is_aligned(same, 3));
    same[2].at = 40;
    ck_assert(!vulkan_map_is_aligned(same, 3) && vulkan_map_is_aligned(same, 2));
    ck_assert(vulkan_map_lanes(narrow, 2) == 8 && vulkan_map_is_aligned(narrow, 2));
    narrow[0].at = 8;
    ck_assert(!vulkan_map_is_aligned(narrow, 2));
    ck_assert(vulkan_map_lanes(mixed, 2) == 4 && vulkan_map_is_aligned(mixed, 2));
    mixed[1].at = 260;
    ck_assert(!vulkan_map_is_aligned(mixed, 2));
}
END_TEST

START_TEST(rows_are_held_as_far_as_they_fit)
{
    const struct row_plan *t = &row_plans[_i];
    const vulkan_row_plan got = vulkan_plan_row(t->x, t->y, t->cols, t->lanes, 64, 8);

    ck_assert_uint_eq(got.vectors, t->plan.vectors);
    ck_assert_int_eq((int)got.way, (int)t->plan.way);
    ck_assert_uint_eq(got.rounds, t->plan.rounds);
    ck_assert(got.is_held == t->plan.is_held && got.is_whole == t->plan.is_whole);
    ck_assert(!vulkan_plan_row(t->x, t->y, t->cols, t->lanes, 64, 0).is_held);
}
END_TEST

/* None before what is not known or long; 0.3 ms else, but some where a call only seemed long. */
START_TEST(leads_last_long_enough)
{
    ck_assert_uint_eq(lead_count(0, 1), 0);
    ck_assert_uint_eq(lead_count((double)NAN, 1), 0);
    ck_assert_uint_eq(lead_count(1e3, 1), 65);
    ck_assert_uint_eq(lead_count(50e3, 1), 7);
    ck_assert_uint_eq(lead_count(200e3, 1), 4);
    ck_assert_uint_eq(lead_count(2e6, 1), 4);
    ck_assert_uint_eq(lead_count(10e6, 1), 1);
    ck_assert_uint_eq(lead_count(2e6, 16), 0);
    ck_assert_uint_eq(lead_count(40e6, 1), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vulkan_parts");
    TCase *all = tcase_create("arithmetic");

    tcase_add_loop_test(all, memory_types_are_of_the_largest_heap, 0,
                        sizeof choices / sizeof choices[0]);
    tcase_add_loop_test(all, ticks_are_counted_through_the_wrap, 0,
                        (int)(sizeof turns / sizeof turns[0]));
    tcase_add_test(all, ticks_take_the_period);
    tcase_add_test(all, leads_last_long_enough);
    tcase_add_test(all, limits_are_kept_exactly);
    tcase_add_test(all, limits_fold_grids);
    tcase_add_test(all, maps_take_vectors_where_all_operands_are_aligned);
    tcase_add_loop_test(all, rows_are_held_as_far_as_they_fit, 0,
                        (int)(sizeof row_plans / sizeof row_plans[0]));
    tcase_add_test(all, cache_header_is_looked_at_whole);
    tcase_add_test(all, cache_file_is_whole_or_nothing);
    tcase_add_test(all, order_is_by_type_then_uuid);
    tcase_add_test(all, order_names_devices);
    tcase_add_test(all, heap_takes_aligned_places_that_are_apart);
    tcase_add_loop_test(all, heap_joins_what_is_given_back, 0, 4);
    suite_add_tcase(s, all);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
