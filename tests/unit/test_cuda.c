/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda.c -- the driver, devices and memory of backend cuda, on a scripted driver
 * without a GPU. */
#include <stdlib.h>
#include <string.h>

#include "runtime/word_digest.h"
#include "tests/fake_cuda/fake_cuda_suite.h"

#if HAVE_CUDA

/* ---- the driver ---- */

START_TEST(driver_that_is_absent_says_what_to_install)
{
    assay_instance *instance = NULL;

    cuda_stage_with("ASSAY_CUDA_DRIVER", false);
    cuda_stage_fails(cuda_stage_try("", &instance), ASSAY_UNAVAILABLE, "no CUDA driver");
    ck_assert_ptr_nonnull(strstr(cuda_stage_text(), "nvidia-driver"));
    ck_assert_ptr_null(instance);
}
END_TEST

START_TEST(driver_that_is_too_old_names_both_versions)
{
    assay_instance *instance = NULL;

    cuda_stage_fails(cuda_stage_try("version=11080", &instance), ASSAY_UNAVAILABLE,
                     "runs CUDA 11.8");
    ck_assert_ptr_nonnull(strstr(cuda_stage_text(), "needs CUDA 1"));
}
END_TEST

START_TEST(driver_that_is_a_stub_says_so)
{
    assay_instance *instance = NULL;

    cuda_stage_fails(cuda_stage_try("init=34", &instance), ASSAY_UNAVAILABLE, "stub");
}
END_TEST

START_TEST(driver_without_a_device_says_so)
{
    assay_instance *instance = NULL;

    cuda_stage_fails(cuda_stage_try("init=100", &instance), ASSAY_UNAVAILABLE, "no GPU");
}
END_TEST

START_TEST(driver_that_counts_no_device_says_so)
{
    assay_instance *instance = NULL;

    cuda_stage_fails(cuda_stage_try("devices=0", &instance), ASSAY_UNAVAILABLE, "no GPU");
}
END_TEST

START_TEST(driver_that_fails_to_start_gives_its_code)
{
    assay_instance *instance = NULL;

    cuda_stage_fails(cuda_stage_try("init=999", &instance), ASSAY_UNAVAILABLE, "999");
}
END_TEST

/* ---- devices ---- */

START_TEST(devices_have_an_order_of_their_own)
{
    assay_instance *instance = cuda_stage_open("devices=3 order=2,0,1");
    static const char *const names[] = {"Fake GPU 0", "Fake GPU 1", "Fake GPU 2"};
    assay_device_info info;
    size_t count = 0;

    OK(B->device_count(instance, &count));
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < 3; i++) {
        OK(B->device_info(instance, i, &info));
        ck_assert_str_eq(info.name, names[i]);
    }
    ck_assert_str_eq(info.uuid, "GPU-12121212-1212-1212-1212-121212121212");
    cuda_stage_fails(B->device_info(instance, 3, &info), ASSAY_INVALID, "device 3");
    ck_assert_uint_eq(cuda_stage_calls("cuCtxCreate"), 0); /* listing takes nothing of them */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(devices_are_selected_before_the_first_alloc)
{
    assay_instance *instance = cuda_stage_open("devices=2");

    cuda_stage_fails(B->select_device(instance, 2), ASSAY_INVALID, "device 2");
    OK(B->select_device(instance, 1));
    cuda_stage_make(instance, 8);
    OK(B->select_device(instance, 1));
    cuda_stage_fails(B->select_device(instance, 0), ASSAY_INVALID, "in use");
    cuda_stage_close(instance);
}
END_TEST

START_TEST(devices_say_what_they_are)
{
    assay_instance *instance = cuda_stage_open("sm=89 memory=4096000");
    assay_device_info info;

    OK(B->device_info(instance, 0, &info));
    ck_assert_str_eq(info.architecture, "sm_89");
    ck_assert_ptr_nonnull(strstr(info.driver, "CUDA 1"));
    ck_assert_uint_eq(info.memory_bytes, 4096000);
    ck_assert_uint_eq(info.last_cache_bytes, 1 << 22);
    ck_assert_uint_eq(info.compute_units, 4);
    ck_assert_uint_eq(info.is_cpu, 0);
    cuda_stage_close(instance);
}
END_TEST

static bool has(const assay_device_profile *p, assay_feature feature)
{
    return (p->features >> feature & 1) != 0;
}

START_TEST(profile_tells_limits_and_what_is_offered)
{
    assay_instance *instance = cuda_stage_open("");
    assay_device_profile p;

    OK(B->device_profile(instance, 0, &p));
    ck_assert_uint_eq(p.subgroup_size, 32);
    ck_assert_uint_eq(p.max_workgroup_size[2], 64);
    ck_assert_uint_eq(p.max_workgroups, 65535);
    ck_assert_uint_eq(p.max_shared_bytes, 232448);
    ck_assert_uint_eq(p.compute_capability[0], 9);
    ck_assert_int_eq(p.memory, ASSAY_MEMORY_DEVICE);
    ck_assert_int_eq(p.location, ASSAY_LOCATION_CUDA);
    ck_assert_int_eq(p.timing, ASSAY_TIMING_DEVICE);
    ck_assert(has(&p, ASSAY_FEATURE_RECOVERY) && has(&p, ASSAY_FEATURE_TENSOR_CORES));
    /* No kernel here computes in it, no launch is cooperative, no fault is made to order. */
    ck_assert(!has(&p, ASSAY_FEATURE_FP8) && !has(&p, ASSAY_FEATURE_GRID_SYNC) &&
              !has(&p, ASSAY_FEATURE_FAULT_INJECTION) && !has(&p, ASSAY_FEATURE_UNIFIED_MEMORY));
    ck_assert(B->inject == NULL && B->grid_fits == NULL);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(libraries_are_identified_by_name)
{
    assay_instance *instance = cuda_stage_open("");
    char text[512];

    OK(B->library_identity(instance, "libcuda", text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "soname=libfake_cuda.so\n"));
    ck_assert_ptr_nonnull(strstr(text, "cuda=1"));
    OK(B->library_identity(instance, "libcublasLt", text, sizeof text));
    ck_assert_str_eq(text, "soname=new\n");
    cuda_stage_fails(B->library_identity(instance, "libnvrtc", text, sizeof text),
                     ASSAY_UNAVAILABLE, "no NVRTC");
    cuda_stage_fails(B->library_identity(instance, "libm", text, sizeof text), ASSAY_UNAVAILABLE,
                     "libm");
    cuda_stage_close(instance);
}
END_TEST

/* ---- memory ---- */

START_TEST(memory_comes_and_goes)
{
    assay_instance *instance = cuda_stage_open("");
    assay_instance_state state;
    assay_buffer a = cuda_stage_make(instance, 100), b;

    OK(B->alloc(instance, 28, 4096, &b));
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.live_buffers, 2);
    ck_assert_uint_eq(state.live_bytes, 128);
    ck_assert_uint_eq(state.generation, 1);
    OK(B->free(instance, a));
    cuda_stage_fails(B->free(instance, a), ASSAY_FREED, "freed before");
    OK(B->free(instance, b));
    cuda_stage_fails(B->alloc(instance, 8, 24, &a), ASSAY_INVALID, "power of two");
    cuda_stage_fails(B->alloc(instance, 0, 0, &a), ASSAY_INVALID, "0 bytes");
    cuda_stage_fails(B->alloc(instance, UINT64_MAX, 0, &a), ASSAY_OVERFLOW, "do not fit");
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.live_buffers + state.live_bytes, 0);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(memory_alignment_is_kept)
{
    assay_instance *instance = cuda_stage_open("");
    static const uint64_t aligns[] = {1, 256, 512, 4096, 65536};
    uint32_t zero = 0;

    cuda_stage_put(instance, cuda_stage_make(instance, 4), &zero, sizeof zero); /* all is made */
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++)
        for (int k = 0; k < 8; k++) {
            const size_t before = cuda_stage_live();
            assay_buffer b;
            OK(B->alloc(instance, 4, aligns[i], &b));
            cuda_stage_put(instance, b, &zero, sizeof zero);
            OK(B->free(instance, b));
            ck_assert_uint_eq(cuda_stage_live(), before);
        }
    cuda_stage_close(instance);
}
END_TEST

START_TEST(memory_that_is_not_there_is_told_with_numbers)
{
    assay_instance *instance = cuda_stage_open("memory=1000000");
    assay_buffer a;

    cuda_stage_make(instance, 600000);
    cuda_stage_fails(B->alloc(instance, 600001, 0, &a), ASSAY_NOMEM, "600001");
    ck_assert_uint_eq(cuda_stage_detail()->requested_bytes, 600001);
    ck_assert_uint_eq(cuda_stage_detail()->available_bytes, 400000);
    cuda_stage_make(instance, 300000); /* nothing is lost by it */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(handles_are_told_apart)
{
    assay_instance *one = cuda_stage_open(""), *two = cuda_stage_open("");
    assay_buffer a = cuda_stage_make(one, 16), foreign = cuda_stage_make(two, 16), never = a, again;
    char byte = 1;
    assay_transfer piece = {.buffer = foreign, .host = &byte, .bytes = 1};

    cuda_stage_fails(B->upload(one, &piece, 1), ASSAY_FOREIGN, "another instance");
    cuda_stage_fails(B->free(one, foreign), ASSAY_FOREIGN, "another instance");
    never.at.slot.index = 1000;
    cuda_stage_fails(B->fill(one, never, 0, 1, 0), ASSAY_INVALID, "never made");
    OK(B->free(one, a));
    again = cuda_stage_make(one, 16); /* in its place */
    ck_assert_uint_eq(again.at.slot.index, a.at.slot.index);
    cuda_stage_fails(B->fill(one, a, 0, 1, 0), ASSAY_FREED, "freed before");
    cuda_stage_fails(B->free(one, (assay_buffer){.at.host = &byte, .size_bytes = 1}), ASSAY_INVALID,
                     "not made by alloc");
    B->close(two);
    cuda_stage_close(one);
}
END_TEST

START_TEST(transfers_are_whole_or_nothing)
{
    assay_instance *instance = cuda_stage_open("");
    char up[16] = "0123456789abcde", down[16] = "";
    const assay_buffer a = cuda_stage_make(instance, 16);

    cuda_stage_put(instance, a, up, 16);
    const assay_transfer bad[] = {{a, 0, down, 8}, {a, 9, down, 8}};
    cuda_stage_fails(B->download(instance, bad, 2), ASSAY_INVALID, "outside");
    ck_assert_int_eq(down[0], 0);
    cuda_stage_fails(B->upload(instance, bad, 2), ASSAY_INVALID, "outside");
    const assay_transfer over = {a, UINT64_MAX, up, 2}, none = {a, 0, NULL, 1};
    cuda_stage_fails(B->upload(instance, &over, 1), ASSAY_INVALID, "outside");
    cuda_stage_fails(B->upload(instance, &none, 1), ASSAY_INVALID, "no host memory");
    cuda_stage_get(instance, down, a, 16);
    ck_assert_mem_eq(down, up, 16);
    OK(B->free(instance, a)); /* nothing of it is pinned */
    cuda_stage_close(instance);
}
END_TEST

START_TEST(transfers_of_many_pieces_keep_their_order)
{
    enum { PIECES = 300, BYTES = 40000 }; /* three times what is staged at once */
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer a = cuda_stage_make(instance, (uint64_t)PIECES * BYTES);
    unsigned char *up = malloc((size_t)PIECES * BYTES), *down = malloc((size_t)PIECES * BYTES);
    assay_transfer *pieces = calloc(PIECES + 1, sizeof *pieces);

    ck_assert(up != NULL && down != NULL && pieces != NULL);
    for (size_t i = 0; i < (size_t)PIECES * BYTES; i++)
        up[i] = (unsigned char)(i % 251);
    for (size_t i = 0; i < PIECES; i++)
        pieces[i] = (assay_transfer){a, i * BYTES, up + i * BYTES, BYTES};
    pieces[PIECES] = (assay_transfer){a, 5, up, 10}; /* over the first */
    OK(B->upload(instance, pieces, PIECES + 1));
    for (size_t i = 0; i <= PIECES; i++)
        pieces[i].host = down + ((unsigned char *)pieces[i].host - up);
    memset(down, 0, 10);
    OK(B->download(instance, pieces, PIECES)); /* as it lies there */
    memmove(up + 5, up, 10);
    ck_assert(memcmp(up, down, (size_t)PIECES * BYTES) == 0);
    free(pieces);
    free(down);
    free(up);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(transfers_that_overlap_on_the_host_go_in_order)
{
    assay_instance *instance = cuda_stage_open("");
    char back[8] = "-------";
    const assay_buffer a = cuda_stage_make(instance, 8), b = cuda_stage_make(instance, 8);

    cuda_stage_put(instance, a, "aaaaaaa", 8);
    cuda_stage_put(instance, b, "bbbbbbb", 8);
    const assay_transfer pieces[] = {{a, 0, back, 4}, {b, 0, back + 2, 4}, {a, 0, back + 5, 1}};
    OK(B->download(instance, pieces, 3));
    ck_assert_str_eq(back, "aabbba-");
    /* More pieces into one byte than lie in half of the memory that is staged by. */
    assay_transfer many[100];
    for (int i = 0; i < 100; i++)
        many[i] = (assay_transfer){i < 99 ? a : b, 0, back, 1};
    OK(B->download(instance, many, 100));
    ck_assert_str_eq(back, "babbba-");
    cuda_stage_close(instance);
}
END_TEST

/* Nothing is staged: as many moves as pieces, from and to where the caller's bytes are. */
START_TEST(pinned_memory_needs_no_staging)
{
    enum { BYTES = 9 << 20 }; /* over what is staged at once */
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer a = cuda_stage_make(instance, BYTES);
    void *memory = NULL, *none = NULL;
    char byte;

    OK(B->host_alloc(instance, BYTES, &memory));
    ck_assert_uint_eq((uintptr_t)memory % 64, 0);
    memset(memory, 3, BYTES);
    const size_t up = cuda_stage_calls("cuMemcpyHtoDAsync"),
                 down = cuda_stage_calls("cuMemcpyDtoHAsync");
    cuda_stage_put(instance, a, memory, BYTES);
    memset(memory, 0, BYTES);
    cuda_stage_get(instance, memory, a, BYTES);
    ck_assert_uint_eq(cuda_stage_calls("cuMemcpyHtoDAsync"), up + 1);
    ck_assert_uint_eq(cuda_stage_calls("cuMemcpyDtoHAsync"), down + 1);
    ck_assert(((char *)memory)[0] == 3 && ((char *)memory)[BYTES - 1] == 3);
    OK(B->host_free(instance, memory));
    cuda_stage_fails(B->host_free(instance, memory), ASSAY_FREED, "freed before");
    cuda_stage_fails(B->host_free(instance, &byte), ASSAY_FOREIGN, "gave this address");
    cuda_stage_fails(B->host_alloc(instance, 0, &none), ASSAY_INVALID, "at least 1");
    cuda_stage_fails(B->host_alloc(instance, UINT64_MAX, &none), ASSAY_NOMEM, "has no");
    OK(B->host_alloc(instance, 10, &memory)); /* close lets go of it */
    cuda_stage_close(instance);
}
END_TEST

/* What was staged for the same place before comes first. */
/* Of words, each with its place; eight bytes of a piece come back, whatever it holds. */
START_TEST(digests_are_those_of_the_host)
{
    enum { BYTES = 1 << 16 };
    static unsigned char bytes[BYTES];
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer a = cuda_stage_make(instance, BYTES);
    uint64_t got[16];

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    cuda_stage_put(instance, a, bytes, BYTES);
    OK(B->digest(instance, a, 0, BYTES, 0, 1, got));
    ck_assert_uint_eq(got[0], assay__word_digest(bytes, BYTES));
    OK(B->digest(instance, a, 8, 1000, 4096, 16, got));
    for (size_t i = 0; i < 16; i++)
        ck_assert_uint_eq(got[i], assay__word_digest(bytes + 8 + i * 4096, 1000));
    const assay_buffer here = {.at.host = bytes, .size_bytes = BYTES};
    OK(B->digest(instance, here, 8, 1000, 4096, 16, got + 0));
    ck_assert_uint_eq(got[15], assay__word_digest(bytes + 8 + 15 * 4096, 1000));
    cuda_stage_fails(B->digest(instance, a, 0, 12, 16, 1, got), ASSAY_INVALID, "multiples of 8");
    cuda_stage_fails(B->digest(instance, a, 0, 16, 8, 2, got), ASSAY_INVALID, "over each other");
    cuda_stage_fails(B->digest(instance, a, 0, 8, UINT64_MAX - 7, 3, got), ASSAY_INVALID,
                     "over each other");
    cuda_stage_fails(B->digest(instance, a, BYTES - 8, 8, 8, 2, got), ASSAY_INVALID, "outside");
    OK(B->free(instance, a));
    cuda_stage_fails(B->digest(instance, a, 0, 8, 8, 1, got), ASSAY_FREED, "freed");
    assay_buffer odd; /* words of it are none of the device's */
    OK(B->wrap(instance, bytes + (4 + (16 - (uintptr_t)bytes % 8) % 8), 64, &odd));
    cuda_stage_fails(B->digest(instance, odd, 0, 8, 8, 1, got), ASSAY_UNSUPPORTED, "multiple of 8");
    OK(B->free(instance, odd));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(pinned_memory_keeps_the_order_of_pieces)
{
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer a = cuda_stage_make(instance, 32);
    void *memory = NULL;

    OK(B->host_alloc(instance, 16, &memory));
    char *first = memory;
    cuda_stage_put(instance, a, "0123456789abcdefghijklmnopqrstuv", 32);
    /* 20 bytes leave the block, and are still on its page: staged; then straight. */
    const assay_transfer pieces[] = {{a, 0, first, 20}, {a, 24, first, 8}};
    OK(B->download(instance, pieces, 2));
    ck_assert_mem_eq(first, "opqrstuv89abcdefghij", 20);
    OK(B->host_free(instance, memory));
    cuda_stage_close(instance);
}
END_TEST

/* The context goes and takes what the driver made with it; this stays, and is staged. */
START_TEST(pinned_memory_outlives_the_context)
{
    assay_instance *instance = cuda_stage_open("");
    void *memory = NULL;

    OK(B->host_alloc(instance, 16, &memory));
    memcpy(memory, "0123456789abcdef", 16);
    const assay_buffer old = cuda_stage_make(instance, 16);
    cuda_stage_script("fail=cuMemsetD8Async:1:700"); /* an illegal address */
    cuda_stage_fails(B->fill(instance, old, 0, 16, 1), ASSAY_DEVICE_LOST, "lost");
    OK(B->recover(instance));
    ck_assert_mem_eq(memory, "0123456789abcdef", 16);
    const assay_buffer a = cuda_stage_make(instance, 16);
    cuda_stage_put(instance, a, memory, 16);
    OK(B->host_free(instance, memory));
    cuda_stage_close(instance);
}
END_TEST

START_TEST(peers_copy_from_device_to_device)
{
    assay_instance *to = cuda_stage_open("devices=3"), *from = cuda_stage_open("devices=3"),
                   *beyond = cuda_stage_open("devices=3");
    char back[17] = "";

    OK(B->select_device(from, 2));
    OK(B->select_device(beyond, 1));
    const assay_buffer a = cuda_stage_make(to, 16), b = cuda_stage_make(from, 16),
                       c = cuda_stage_make(beyond, 16);
    cuda_stage_put(to, a, "................", 16);
    cuda_stage_put(from, b, "0123456789abcdef", 16);
    OK(B->peer_copy(to, a, 2, from, b, 4, 5));
    cuda_stage_get(to, back, a, 16);
    ck_assert_str_eq(back, "..45678.........");
    ck_assert_uint_eq(cuda_stage_calls("cuMemcpyPeerAsync"), 1);
    OK(B->peer_copy(to, a, 16, from, b, 16, 0));
    cuda_stage_fails(B->peer_copy(beyond, c, 0, from, b, 0, 1), ASSAY_UNSUPPORTED,
                     "do not reach one another");
    cuda_stage_fails(B->peer_copy(to, a, 12, from, b, 0, 5), ASSAY_INVALID, "outside");
    cuda_stage_fails(B->peer_copy(to, a, 0, from, b, 12, 5), ASSAY_INVALID, "outside");
    cuda_stage_fails(B->peer_copy(to, b, 0, from, b, 0, 1), ASSAY_FOREIGN, "another instance");
    cuda_stage_fails(B->peer_copy(to, a, 0, from, a, 0, 1), ASSAY_FOREIGN, "another instance");
    const assay_buffer plain = {.at.host = back, .size_bytes = 16};
    cuda_stage_fails(B->peer_copy(to, plain, 0, from, b, 0, 1), ASSAY_INVALID, "of the host");
    cuda_stage_fails(B->peer_copy(to, a, 0, from, plain, 0, 1), ASSAY_INVALID, "of the host");
    OK(B->free(from, b)); /* nothing is held */
    OK(B->free(to, a));
    B->close(beyond);
    B->close(from);
    cuda_stage_close(to);
}
END_TEST

START_TEST(copies_go_every_way)
{
    assay_instance *instance = cuda_stage_open("");
    char host[16] = "0123456789abcde", back[16] = "", want[16];
    const assay_buffer a = cuda_stage_make(instance, 16), b = cuda_stage_make(instance, 16);
    const assay_buffer plain = {.at.host = host, .size_bytes = 16};
    const assay_buffer out = {.at.host = back, .size_bytes = 16};

    OK(B->copy(instance, a, 0, plain, 0, 16));
    OK(B->copy(instance, b, 1, a, 0, 15));
    OK(B->copy(instance, b, 0, a, 15, 1));
    OK(B->copy(instance, out, 0, b, 0, 16));
    want[0] = host[15];
    memcpy(want + 1, host, 15);
    ck_assert_mem_eq(back, want, 16);
    OK(B->copy(instance, out, 0, plain, 8, 8));
    ck_assert_mem_eq(back, host + 8, 8);
    OK(B->copy(instance, a, 16, b, 16, 0));
    cuda_stage_fails(B->copy(instance, a, 0, plain, 1, 16), ASSAY_INVALID, "source");
    cuda_stage_fails(B->copy(instance, a, 1, plain, 0, 16), ASSAY_INVALID, "destination");
    const assay_buffer nothing = {.size_bytes = 8};
    cuda_stage_fails(B->copy(instance, a, 0, nothing, 0, 8), ASSAY_INVALID, "NULL");
    cuda_stage_close(instance);
}
END_TEST

/* The scripted driver spoils a copy whose ranges overlap, as the real one may. */
START_TEST(copies_that_overlap_are_right)
{
    enum { N = 40 << 20 };
    assay_instance *instance = cuda_stage_open("");
    unsigned char *want = malloc(N), *back = malloc(N);
    const assay_buffer a = cuda_stage_make(instance, N);
    static const uint64_t distances[] = {1, 100, 17u << 20};

    ck_assert(want != NULL && back != NULL);
    for (size_t i = 0; i < N; i++)
        want[i] = (unsigned char)(i % 253);
    cuda_stage_put(instance, a, want, N);
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        const uint64_t by = distances[i];
        OK(B->copy(instance, a, by, a, 0, N - by));
        memmove(want + by, want, N - by);
        OK(B->copy(instance, a, 0, a, by, N - by));
        memmove(want, want + by, N - by);
        cuda_stage_get(instance, back, a, N);
        ck_assert(memcmp(want, back, N) == 0);
    }
    free(back);
    free(want);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(fills_set_bytes)
{
    assay_instance *instance = cuda_stage_open("");
    unsigned char back[8];
    const assay_buffer a = cuda_stage_make(instance, 8);
    const assay_buffer plain = {.at.host = back, .size_bytes = 8};

    OK(B->fill(instance, a, 0, 8, 1));
    OK(B->fill(instance, a, 3, 2, 0xff));
    OK(B->fill(instance, a, 8, 0, 9));
    cuda_stage_get(instance, back, a, 8);
    ck_assert_mem_eq(back, "\1\1\1\377\377\1\1\1", 8);
    OK(B->fill(instance, plain, 1, 1, 7));
    ck_assert_uint_eq(back[1], 7);
    cuda_stage_fails(B->fill(instance, a, 7, 2, 0), ASSAY_INVALID, "outside");
    cuda_stage_fails(B->fill(instance, a, 7, UINT64_MAX - 6, 0), ASSAY_INVALID, "outside");
    cuda_stage_close(instance);
}
END_TEST

START_TEST(wrapped_memory_is_reached_by_both)
{
    assay_instance *instance = cuda_stage_open("");
    static unsigned char mine[64];
    assay_instance_state state;
    assay_buffer w, again;
    void *host;
    uint64_t bytes;

    OK(B->wrap(instance, mine, sizeof mine, &w));
    OK(B->fill(instance, w, 0, 64, 5));
    ck_assert_uint_eq(mine[63], 5);
    cuda_stage_fails(B->wrap(instance, mine, sizeof mine, &again), ASSAY_UNSUPPORTED, "registered");
    cuda_stage_fails(B->wrap(instance, NULL, 8, &again), ASSAY_INVALID, "NULL");
    OK(B->state(instance, &state));
    ck_assert_uint_eq(state.live_buffers, 1);
    ck_assert_uint_eq(state.live_bytes, 0); /* none of the device's */
    cuda_stage_fails(B->map(instance, w, &host, &bytes), ASSAY_UNSUPPORTED, "unified_memory");
    OK(B->free(instance, w));
    ck_assert_uint_eq(mine[0], 5);
    OK(B->wrap(instance, mine, sizeof mine, &w));
    cuda_stage_close(instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, driver_that_is_absent_says_what_to_install);
    tcase_add_test(t, driver_that_is_too_old_names_both_versions);
    tcase_add_test(t, driver_that_is_a_stub_says_so);
    tcase_add_test(t, driver_without_a_device_says_so);
    tcase_add_test(t, driver_that_counts_no_device_says_so);
    tcase_add_test(t, driver_that_fails_to_start_gives_its_code);
    tcase_add_test(t, devices_have_an_order_of_their_own);
    tcase_add_test(t, devices_are_selected_before_the_first_alloc);
    tcase_add_test(t, devices_say_what_they_are);
    tcase_add_test(t, profile_tells_limits_and_what_is_offered);
    tcase_add_test(t, libraries_are_identified_by_name);
    tcase_add_test(t, memory_comes_and_goes);
    tcase_add_test(t, memory_alignment_is_kept);
    tcase_add_test(t, memory_that_is_not_there_is_told_with_numbers);
    tcase_add_test(t, handles_are_told_apart);
    tcase_add_test(t, transfers_are_whole_or_nothing);
    tcase_add_test(t, transfers_of_many_pieces_keep_their_order);
    tcase_add_test(t, transfers_that_overlap_on_the_host_go_in_order);
    tcase_add_test(t, pinned_memory_needs_no_staging);
    tcase_add_test(t, digests_are_those_of_the_host);
    tcase_add_test(t, pinned_memory_keeps_the_order_of_pieces);
    tcase_add_test(t, pinned_memory_outlives_the_context);
    tcase_add_test(t, peers_copy_from_device_to_device);
    tcase_add_test(t, copies_go_every_way);
    tcase_add_test(t, copies_that_overlap_are_right);
    tcase_add_test(t, fills_set_bytes);
    tcase_add_test(t, wrapped_memory_is_reached_by_both);
}

#endif

int main(void)
{
    return cuda_suite_run("cuda", add_tests);
}
