/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_select.c -- kinds of backends, the registry, selection and the fallback chain. */
#include "assay/select.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/select_stage.h"

#define ALL "absent,bare,card_a,card_b,hidden,host_a,host_b,oracle,vk"

/* ---- kinds ---- */

static const struct {
    const char *text;
    assay_backend_kind kind;
} words[] = {{"cuda", ASSAY_BACKEND_KIND_CUDA},
             {"nvidia", ASSAY_BACKEND_KIND_CUDA},
             {"rocm", ASSAY_BACKEND_KIND_ROCM},
             {"hip", ASSAY_BACKEND_KIND_ROCM},
             {"amd", ASSAY_BACKEND_KIND_ROCM},
             {"metal", ASSAY_BACKEND_KIND_METAL},
             {"mtl", ASSAY_BACKEND_KIND_METAL},
             {"apple", ASSAY_BACKEND_KIND_METAL},
             {"level_zero", ASSAY_BACKEND_KIND_LEVEL_ZERO},
             {"l0", ASSAY_BACKEND_KIND_LEVEL_ZERO},
             {"intel", ASSAY_BACKEND_KIND_LEVEL_ZERO},
             {"vulkan", ASSAY_BACKEND_KIND_VULKAN},
             {"vk", ASSAY_BACKEND_KIND_VULKAN},
             {"webgpu", ASSAY_BACKEND_KIND_WEBGPU},
             {"wgpu", ASSAY_BACKEND_KIND_WEBGPU},
             {"cpu", ASSAY_BACKEND_KIND_CPU},
             {"host", ASSAY_BACKEND_KIND_CPU},
             {"reference", ASSAY_BACKEND_KIND_CPU},
             {" \tNVidia\n", ASSAY_BACKEND_KIND_CUDA},
             {"Level_Zero ", ASSAY_BACKEND_KIND_LEVEL_ZERO}};

START_TEST(select_kind_names_and_aliases_parse)
{
    assay_backend_kind kind = ASSAY_BACKEND_KIND_ANY;

    ck_assert_msg(assay_backend_kind_parse(words[_i].text, &kind) == ASSAY_OK, "'%s': %s",
                  words[_i].text, assay_last_error());
    ck_assert_int_eq(kind, words[_i].kind);
}
END_TEST

START_TEST(select_kind_that_is_none_is_refused)
{
    static const char *const bad[] = {"",    "  ",    "cud",   "cudaa",     "hip,amd", "hip amd",
                                      "any", "cuda,", ",cuda", "nvidia\vx", "gpu"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_backend_kind kind = ASSAY_BACKEND_KIND_METAL;
        ck_assert_msg(assay_backend_kind_parse(bad[i], &kind) == ASSAY_INVALID, "'%s'", bad[i]);
        ck_assert_int_eq(kind, ASSAY_BACKEND_KIND_METAL);
        ck_assert_says(assay_last_error(), "level_zero (l0,intel)");
    }
    ck_assert_int_eq(assay_backend_kind_parse(NULL, &(assay_backend_kind){0}), ASSAY_INVALID);
}
END_TEST

START_TEST(select_kinds_have_names_and_priorities)
{
    static const struct {
        assay_backend_kind kind;
        const char *name;
        int32_t priority;
    } rows[] = {{ASSAY_BACKEND_KIND_CUDA, "cuda", 100},
                {ASSAY_BACKEND_KIND_ROCM, "rocm", 90},
                {ASSAY_BACKEND_KIND_METAL, "metal", 85},
                {ASSAY_BACKEND_KIND_LEVEL_ZERO, "level_zero", 80},
                {ASSAY_BACKEND_KIND_VULKAN, "vulkan", 60},
                {ASSAY_BACKEND_KIND_WEBGPU, "webgpu", 50},
                {ASSAY_BACKEND_KIND_CPU, "cpu", 1},
                {ASSAY_BACKEND_KIND_ANY, "?", 0},
                {(assay_backend_kind)8, "?", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(assay_backend_kind_name(rows[i].kind), rows[i].name);
        ck_assert_int_eq(assay_backend_kind_priority(rows[i].kind), rows[i].priority);
    }
}
END_TEST

/* ---- the registry ---- */

START_TEST(select_list_is_sorted_by_name_in_two_calls)
{
    static const char *const want[] = {"absent", "bare",   "card_a", "card_b", "hidden",
                                       "host_a", "host_b", "oracle", "vk"};
    assay_backend_entry entries[10];
    size_t count = 0;

    select_open(ALL);
    ck_assert_int_eq(assay_backends_list(select_registry, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 9);
    memset(entries, 0x5a, sizeof entries);
    ck_assert_int_eq(assay_backends_list(select_registry, entries, 10, &count), ASSAY_OK);
    for (size_t i = 0; i < 9; i++)
        ck_assert_str_eq(entries[i].name, want[i]);
    memset(entries, 0x5a, sizeof entries);
    ck_assert_int_eq(assay_backends_list(select_registry, entries, 2, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 9);
    ck_assert_str_eq(entries[1].name, "bare");
    ck_assert_uint_eq(entries[2].available, 0x5a5a5a5a);
}
END_TEST

static assay_backend_entry entry(const char *name)
{
    assay_backend_entry e;

    ck_assert_msg(assay_backend_find(select_registry, name, &e) == ASSAY_OK, "%s",
                  assay_last_error());
    return e;
}

START_TEST(select_entries_say_what_they_are)
{
    select_script("card_b", "features=0x400 subgroup=32");
    select_open(ALL);
    assay_backend_entry e = entry("card_b");
    ck_assert(e.kind == ASSAY_BACKEND_KIND_CUDA && e.priority == 100 && e.available == 1);
    ck_assert(e.explicit_only == 0 && e.is_oracle == 0 && e.dispatches == 1);
    ck_assert_uint_eq(e.features, ASSAY_FEATURE_BIT(TENSOR_CORES));
    ck_assert_uint_eq(e.profile.subgroup_size, 32);
    ck_assert(e.profile.bytes_per_ns != e.profile.bytes_per_ns);
    ck_assert_str_eq(e.version, "1");
    ck_assert_str_eq(e.reason, "");
    ck_assert(entry("vk").kind == ASSAY_BACKEND_KIND_VULKAN && entry("vk").priority == 60);
    ck_assert(entry("host_a").kind == ASSAY_BACKEND_KIND_CPU && entry("host_a").priority == 1);
    ck_assert(entry("hidden").explicit_only == 1 && entry("hidden").is_oracle == 0);
    ck_assert(entry("oracle").is_oracle == 1 && entry("oracle").explicit_only == 0);
    ck_assert(entry("bare").dispatches == 0 && entry("bare").available == 1);
}
END_TEST

START_TEST(select_entry_that_cannot_be_used_has_its_reason)
{
    select_script("card_a", "fail");
    select_script("card_b", "none");
    select_open(ALL);
    assay_backend_entry e = entry("card_a");
    ck_assert_uint_eq(e.available, 0);
    ck_assert_says(e.reason, "no driver of card_a here");
    ck_assert_uint_eq(e.features, 0);
    ck_assert_says(entry("card_b").reason, "no device");
    e = entry("absent");
    ck_assert_uint_eq(e.available, 0);
    ck_assert_says(e.reason, "none of its kernels can run here");
    ck_assert_says(e.reason, "imaginary9");
    ck_assert_str_eq(select_name(NULL), "bare");
    ck_assert_says(selected.why, "card_a: is not available: no driver of card_a here");
}
END_TEST

START_TEST(select_asks_once_and_again_after_refresh)
{
    select_open("card_a,host_a");
    ck_assert_uint_eq(entry("card_a").features, 0);
    select_features("card_a", ASSAY_FEATURE_BIT(F16));
    ck_assert_uint_eq(entry("card_a").features, 0);
    assay_registry_refresh(select_registry);
    ck_assert_uint_eq(entry("card_a").features, ASSAY_FEATURE_BIT(F16));
}
END_TEST

START_TEST(select_opens_nothing_that_it_does_not_need)
{
    const assay_select_request host = {.struct_size = sizeof host, .pin = "host_a"};
    size_t count;

    select_script("card_a", "fail");
    select_open("card_a,host_a");
    ck_assert_int_eq(assay_backends_list(select_registry, NULL, 0, &count), ASSAY_OK);
    ck_assert_str_eq(select_name(&host), "host_a");
    select_script("card_a", "");
    ck_assert_uint_eq(entry("card_a").available, 1);
}
END_TEST

START_TEST(select_names_that_are_not_here)
{
    assay_backend_entry e;

    select_open("card_a,host_a");
    ck_assert_int_eq(assay_backend_find(select_registry, "card", &e), ASSAY_UNAVAILABLE);
    ck_assert_says(assay_last_error(), "'card'");
    ck_assert_says(assay_last_error(), "card_a, host_a");
    ck_assert_int_eq(assay_backend_find(select_registry, NULL, &e), ASSAY_UNAVAILABLE);
    ck_assert_says(assay_last_error(), "card_a, host_a");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, NULL, 1), ASSAY_UNAVAILABLE);
    ck_assert_int_eq(assay_backend_set_available(select_registry, NULL, true), ASSAY_UNAVAILABLE);
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "card", 1), ASSAY_UNAVAILABLE);
    ck_assert_int_eq(assay_backend_set_available(select_registry, "card", false),
                     ASSAY_UNAVAILABLE);
}
END_TEST

START_TEST(select_of_a_bare_context_has_nothing)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};
    size_t count = 1;

    ck_assert_int_eq(assay_open(NULL, &bare, &select_context), ASSAY_OK);
    ck_assert_int_eq(assay_registry_create(select_context, &select_registry), ASSAY_OK);
    ck_assert_int_eq(assay_backends_list(select_registry, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_says(select_name(NULL), "no backends");
}
END_TEST

/* ---- selection ---- */

START_TEST(select_takes_the_highest_priority)
{
    select_open("card_b,host_a,vk");
    ck_assert_str_eq(select_name(NULL), "card_b");
    ck_assert(selected.kind == ASSAY_BACKEND_KIND_CUDA && selected.priority == 100);
    ck_assert_int_eq(selected.tier, ASSAY_TIER_UNKNOWN);
    ck_assert_says(selected.why, "card_b: priority 100; before host_a (1), vk (60)");
    select_open("host_a,vk");
    ck_assert_str_eq(select_name(NULL), "vk");
}
END_TEST

START_TEST(select_ties_go_to_the_first_name)
{
    select_open("card_a,card_b,host_a");
    ck_assert_str_eq(select_name(NULL), "card_a");
    ck_assert_says(selected.why, "card_b (100, equal: the first by name)");
    ck_assert_int_eq(assay_backend_set_available(select_registry, "card_a", false), ASSAY_OK);
    ck_assert_str_eq(select_name(NULL), "card_b");
    ck_assert_uint_eq(entry("card_a").available, 0);
    ck_assert_says(entry("card_a").reason, "switched off");
}
END_TEST

START_TEST(select_of_equal_priorities_takes_the_higher_kind)
{
    select_open("host_a,vk");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "host_a", 60), ASSAY_OK);
    ck_assert_str_eq(select_name(NULL), "vk"); /* behind host_a by name */
}
END_TEST

START_TEST(select_priorities_can_be_set)
{
    select_open("card_a,card_b,host_a");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "card_b", 101), ASSAY_OK);
    ck_assert_str_eq(select_name(NULL), "card_b");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "host_a", 5000), ASSAY_OK);
    ck_assert_str_eq(select_name(NULL), "host_a");
    assay_registry_refresh(select_registry);
    ck_assert_str_eq(select_name(NULL), "host_a");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "host_a", -7), ASSAY_OK);
    ck_assert_int_eq(entry("host_a").priority, -7);
}
END_TEST

START_TEST(select_pins_one)
{
    assay_select_request r = {.struct_size = sizeof r, .pin = "host_b"};

    select_open(ALL);
    ck_assert_str_eq(select_name(&r), "host_b");
    r.pin = "hosts";
    ck_assert_says(select_name(&r), "'hosts' is not in this context");
    r.pin = "absent";
    ck_assert_says(select_name(&r), "'absent' is not available: none of its kernels");
    r.pin = "host_b";
    r.require_gpu = 1;
    ck_assert_says(select_name(&r), "'host_b' is no GPU");
}
END_TEST

START_TEST(select_explicit_only_and_oracles_only_when_pinned)
{
    assay_select_request r = {.struct_size = sizeof r};

    select_open("hidden,host_a,oracle");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "hidden", 1000), ASSAY_OK);
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "oracle", 1000), ASSAY_OK);
    ck_assert_str_eq(select_name(&r), "host_a");
    ck_assert_says(selected.why, "hidden: is chosen only when named");
    ck_assert_says(selected.why, "oracle: is an oracle, chosen only when named");
    r.exclude = "host_a";
    ck_assert_says(select_name(&r), "no backend matches");
    r.pin = "hidden";
    ck_assert_str_eq(select_name(&r), "hidden");
    r.pin = "oracle";
    ck_assert_str_eq(select_name(&r), "oracle");
}
END_TEST

START_TEST(select_filters_say_why)
{
    assay_select_request r = {.struct_size = sizeof r,
                              .features = ASSAY_FEATURE_BIT(F16) | ASSAY_FEATURE_BIT(FP8)};

    select_features("card_b", ASSAY_FEATURE_BIT(F16) | ASSAY_FEATURE_BIT(FP8));
    select_features("vk", ASSAY_FEATURE_BIT(F16));
    select_open("card_a,card_b,host_a,vk");
    ck_assert_str_eq(select_name(&r), "card_b");
    ck_assert_says(selected.why, "card_a: has no f16, fp8");
    ck_assert_says(selected.why, "vk: has no fp8");
    r.exclude = "card_b,nobody";
    ck_assert_says(select_name(&r), "card_b: is excluded");
    r.features = 0;
    r.kind = ASSAY_BACKEND_KIND_VULKAN;
    ck_assert_str_eq(select_name(&r), "vk");
    ck_assert_says(selected.why, "card_a: is of kind cuda, not vulkan");
    r.kind = ASSAY_BACKEND_KIND_ANY;
    r.exclude = "card_a,card_b,vk";
    ck_assert_str_eq(select_name(&r), "host_a");
    r.require_gpu = 1;
    ck_assert_says(select_name(&r), "host_a: is no GPU");
    r.exclude = NULL;
    ck_assert_str_eq(select_name(&r), "card_a");
}
END_TEST

START_TEST(select_without_a_match_lists_every_reason)
{
    const assay_select_request r = {.struct_size = sizeof r,
                                    .features = ASSAY_FEATURE_BIT(GRID_SYNC)};

    select_script("card_a", "fail");
    select_open("absent,card_a,hidden,host_a,vk");
    ck_assert_int_eq(assay_backend_set_available(select_registry, "vk", false), ASSAY_OK);
    memset(&selected, 0x11, sizeof selected);
    const assay_selection before = selected;
    const char *text = select_name(&r);
    ck_assert_says(text, "absent: is not available");
    ck_assert_says(text, "card_a: is not available: no driver");
    ck_assert_says(text, "hidden: is chosen only when named");
    ck_assert_says(text, "host_a: has no grid_sync");
    ck_assert_says(text, "vk: is switched off");
    ck_assert_int_eq(memcmp(&before, &selected, sizeof before), 0);
    ck_assert_int_eq(assay_backend_set_available(select_registry, "vk", true), ASSAY_OK);
    ck_assert_str_eq(select_name(NULL), "vk");
}
END_TEST

START_TEST(select_refuses_what_does_not_exist)
{
    assay_select_request r = {.struct_size = sizeof r,
                              .features = UINT64_C(1) << ASSAY_FEATURE_COUNT};

    select_open("host_a");
    ck_assert_int_eq(assay_select(select_registry, &r, &selected), ASSAY_INVALID);
    ck_assert_says(assay_last_error(), "features");
    /* A caller that knows less of the struct did not ask for it. */
    r.struct_size = offsetof(assay_select_request, features);
    ck_assert_str_eq(select_name(&r), "host_a");
    r.kind = (assay_backend_kind)8;
    ck_assert_int_eq(assay_select(select_registry, &r, &selected), ASSAY_INVALID);
    ck_assert_says(assay_last_error(), "kind");
}
END_TEST

/* ---- the chain ---- */

START_TEST(select_chain_ends_with_the_host)
{
    static const char *const want[] = {"card_b", "card_a", "vk", "host_b", "host_a"};
    assay_fallback chain[5];
    size_t count = 0;

    select_open("card_a,card_b,hidden,host_a,host_b,oracle,vk");
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "card_b", 101), ASSAY_OK);
    ck_assert_int_eq(assay_backend_set_priority(select_registry, "host_b", 1000), ASSAY_OK);
    ck_assert_int_eq(assay_fallback_chain(select_registry, NULL, NULL, 0, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 5);
    ck_assert_int_eq(assay_fallback_chain(select_registry, NULL, chain, 5, &count), ASSAY_OK);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(chain[i].name, want[i]);
        ck_assert_uint_eq(chain[i].is_last_resort, i >= 3);
    }
    ck_assert_int_eq(chain[3].priority, 1000);
    chain[1].name = "untouched";
    ck_assert_int_eq(assay_fallback_chain(select_registry, NULL, chain, 1, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 5);
    ck_assert_str_eq(chain[1].name, "untouched");
}
END_TEST

START_TEST(select_chain_keeps_to_the_request)
{
    assay_select_request r = {.struct_size = sizeof r, .require_gpu = 1, .exclude = "card_a"};
    assay_fallback chain[4];
    size_t count = 0;

    select_open("card_a,card_b,host_a,vk");
    ck_assert_int_eq(assay_fallback_chain(select_registry, &r, chain, 4, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(chain[0].name, "card_b");
    ck_assert_str_eq(chain[1].name, "vk");
    r.features = ASSAY_FEATURE_BIT(F16);
    count = 77;
    ck_assert_int_eq(assay_fallback_chain(select_registry, &r, chain, 4, &count),
                     ASSAY_UNSUPPORTED);
    ck_assert_uint_eq(count, 77);
    ck_assert_says(assay_last_error(), "vk: has no f16");
}
END_TEST

/* ---- threads ---- */

static atomic_bool is_over;
static atomic_int wrong;

static void *select_all_the_time(void *unused)
{
    assay_selection mine;
    assay_fallback chain[4];
    size_t count;

    (void)unused;
    while (!atomic_load(&is_over)) {
        if (assay_select(select_registry, NULL, &mine) != ASSAY_OK ||
            (strcmp(mine.name, "card_a") != 0 && strcmp(mine.name, "card_b") != 0))
            atomic_fetch_add(&wrong, 1);
        /* Whatever the priority is at this moment, it is one and the same in the answer. */
        if (strcmp(mine.name, "card_b") == 0 && mine.priority != 200)
            atomic_fetch_add(&wrong, 1);
        if (assay_fallback_chain(select_registry, NULL, chain, 4, &count) != ASSAY_OK || count != 3)
            atomic_fetch_add(&wrong, 1);
        sched_yield();
    }
    return NULL;
}

START_TEST(select_in_threads_while_priorities_change)
{
    pthread_t threads[4];

    select_open("card_a,card_b,host_a");
    atomic_store(&is_over, false);
    atomic_store(&wrong, 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, select_all_the_time, NULL), 0);
    for (int i = 0; i < 200; i++) {
        assay_backend_entry e;
        ck_assert_int_eq(
            assay_backend_set_priority(select_registry, "card_b", i % 2 != 0 ? 200 : 0), ASSAY_OK);
        ck_assert_int_eq(assay_backend_find(select_registry, "host_a", &e), ASSAY_OK);
        if (i % 50 == 0)
            assay_registry_refresh(select_registry);
    }
    atomic_store(&is_over, true);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&wrong), 0);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_loop_test(subject, select_kind_names_and_aliases_parse, 0,
                        sizeof words / sizeof *words);
    tcase_add_test(subject, select_kind_that_is_none_is_refused);
    tcase_add_test(subject, select_kinds_have_names_and_priorities);
    tcase_add_test(subject, select_list_is_sorted_by_name_in_two_calls);
    tcase_add_test(subject, select_entries_say_what_they_are);
    tcase_add_test(subject, select_entry_that_cannot_be_used_has_its_reason);
    tcase_add_test(subject, select_asks_once_and_again_after_refresh);
    tcase_add_test(subject, select_opens_nothing_that_it_does_not_need);
    tcase_add_test(subject, select_names_that_are_not_here);
    tcase_add_test(subject, select_of_a_bare_context_has_nothing);
    tcase_add_test(subject, select_takes_the_highest_priority);
    tcase_add_test(subject, select_ties_go_to_the_first_name);
    tcase_add_test(subject, select_of_equal_priorities_takes_the_higher_kind);
    tcase_add_test(subject, select_priorities_can_be_set);
    tcase_add_test(subject, select_pins_one);
    tcase_add_test(subject, select_explicit_only_and_oracles_only_when_pinned);
    tcase_add_test(subject, select_filters_say_why);
    tcase_add_test(subject, select_without_a_match_lists_every_reason);
    tcase_add_test(subject, select_refuses_what_does_not_exist);
    tcase_add_test(subject, select_chain_ends_with_the_host);
    tcase_add_test(subject, select_chain_keeps_to_the_request);
    tcase_add_test(subject, select_in_threads_while_priorities_change);
}

int main(void)
{
    return select_run("select", fill);
}
