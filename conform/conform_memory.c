/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_memory.c -- rules on buffers and what moves between them and the host. */
#include <stdlib.h>
#include <string.h>

#include "conform/conform.h"

enum { POISON = 0x5e };

/* Bytes that tell places apart, other than POISON. */
static void pattern(unsigned char *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i * 7 + i / 251 + seed) % 0x5d);
}

/* A buffer with these bytes in it. */
static assay__conform_verdict make(assay__conform *c, const void *bytes, size_t count,
                                   assay_buffer *out)
{
    memset(out, 0, sizeof *out);
    ASSAY__FINE(assay_engine_alloc(c->engine, count, 0, out));
    ASSAY__HOLDS(out->size_bytes == count, "a buffer of %zu bytes says that it has %llu", count,
                 (unsigned long long)out->size_bytes);
    ASSAY__FINE(assay_engine_upload(c->engine, *out, bytes, count));
    return ASSAY__CONFORM_PASS;
}

#define HOLDS_BYTES(buffer, want, count, when) \
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, (buffer), (want), (count), (when)))

assay__conform_verdict assay__conform_memory_alloc_free(assay__conform *c)
{
    assay_buffer b[32];

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 32; i++)
            ASSAY__FINE(assay_engine_alloc(c->engine, 1 + i * 100, 0, &b[i]));
        for (size_t i = 0; i < 32; i++)
            ASSAY__FINE(assay_engine_free(c->engine, b[(i * 7) % 32]));
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_alloc_refuses(assay__conform *c)
{
    const assay_buffer untouched = {.owner = 77, .at.slot = {5, 6}, .size_bytes = 99};
    assay_buffer b = untouched;

    ASSAY__GIVES(assay_engine_alloc(c->engine, 0, 0, &b), ASSAY_INVALID);
    ASSAY__GIVES(assay_engine_alloc(c->engine, 8, 24, &b), ASSAY_INVALID);
    ASSAY__GIVES(assay_engine_alloc(c->engine, 8, 3, &b), ASSAY_INVALID);
    const assay_status status = assay_engine_alloc(c->engine, UINT64_MAX, 0, &b);
    ASSAY__HOLDS(status == ASSAY_NOMEM || status == ASSAY_OVERFLOW,
                 "an alloc of 2^64 - 1 bytes gave %s", assay_status_name(status));
    const assay_status most = assay_engine_alloc(c->engine, UINT64_C(1) << 62, 0, &b);
    ASSAY__HOLDS(most == ASSAY_NOMEM || most == ASSAY_OVERFLOW, "an alloc of 2^62 bytes gave %s",
                 assay_status_name(most));
    ASSAY__HOLDS(b.owner == 77 && b.size_bytes == 99, "a refused alloc wrote a buffer");
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_round_trip(assay__conform *c)
{
    static const size_t sizes[] = {1, 2, 63, 64, 65, 255, 4096, 4097, 65536, 100003};
    enum { SIZES = sizeof sizes / sizeof sizes[0], MOST = 100003 };
    static unsigned char bytes[MOST];
    assay_buffer b[SIZES];

    for (unsigned i = 0; i < SIZES; i++) {
        pattern(bytes, sizes[i], i);
        ASSAY__PART(make(c, bytes, sizes[i], &b[i]));
    }
    for (unsigned i = 0; i < SIZES; i++) {
        pattern(bytes, sizes[i], i);
        HOLDS_BYTES(b[i], bytes, sizes[i], "after several uploads into other buffers");
        ASSAY__FINE(assay_engine_free(c->engine, b[i]));
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_exact_lengths(assay__conform *c)
{
    unsigned char up[16], down[16], want[8];
    assay_buffer b;

    pattern(up, sizeof up, 3);
    memcpy(want, up, sizeof want);
    ASSAY__PART(make(c, up, 8, &b));
    memset(up, 0xff, sizeof up);
    memset(down, POISON, sizeof down);
    for (uint64_t bytes = 0; bytes <= 16; bytes++) {
        if (bytes == 8)
            continue;
        ASSAY__GIVES(assay_engine_upload(c->engine, b, up, bytes), ASSAY_INVALID);
        ASSAY__GIVES(assay_engine_download(c->engine, down, b, bytes), ASSAY_INVALID);
    }
    ASSAY__GIVES(assay_engine_upload(c->engine, b, NULL, 8), ASSAY_INVALID);
    ASSAY__GIVES(assay_engine_download(c->engine, NULL, b, 8), ASSAY_INVALID);
    for (size_t i = 0; i < sizeof down; i++)
        ASSAY__HOLDS(down[i] == POISON, "a refused download wrote to the host");
    HOLDS_BYTES(b, want, 8, "after refused uploads");
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_offsets(assay__conform *c)
{
    unsigned char want[256], part[64], down[256];
    assay_buffer b;

    pattern(want, sizeof want, 1);
    ASSAY__PART(make(c, want, sizeof want, &b));
    for (size_t at = 0, length = 1; at + length <= sizeof want;
         at += 13, length = length % 50 + 7) {
        pattern(part, length, (unsigned)at + 40);
        memcpy(want + at, part, length);
        ASSAY__FINE(assay_engine_upload_at(c->engine, b, at, part, length));
    }
    HOLDS_BYTES(b, want, sizeof want, "after uploads to offsets");
    for (size_t at = 0; at < sizeof want; at += 17) {
        memset(down, POISON, sizeof down);
        const size_t length = sizeof want - at < 30 ? sizeof want - at : 30;
        ASSAY__FINE(assay_engine_download_at(c->engine, down, b, at, length));
        ASSAY__HOLDS(memcmp(down, want + at, length) == 0,
                     "a download of %zu bytes at %zu gave others", length, at);
        ASSAY__HOLDS(down[length] == POISON, "a download of %zu bytes wrote more", length);
    }
    ASSAY__FINE(assay_engine_upload_at(c->engine, b, sizeof want, NULL, 0));
    ASSAY__FINE(assay_engine_download_at(c->engine, NULL, b, sizeof want, 0));
    return ASSAY__CONFORM_PASS;
}

static bool refuses_range(assay_status status)
{
    return status == ASSAY_INVALID || status == ASSAY_OVERFLOW;
}
#define RANGE(call)                                                              \
    do {                                                                         \
        const assay_status range_ = (call);                                      \
        if (!refuses_range(range_))                                              \
            return assay__conform_wrong_status(c, #call, range_, ASSAY_INVALID); \
    } while (0)

assay__conform_verdict assay__conform_memory_ranges_refused(assay__conform *c)
{
    unsigned char want[64], up[65], down[65];
    assay_buffer b, d;

    pattern(want, sizeof want, 9);
    memset(up, 0xff, sizeof up);
    memset(down, POISON, sizeof down);
    ASSAY__PART(make(c, want, sizeof want, &b));
    ASSAY__PART(make(c, want, sizeof want, &d));
    RANGE(assay_engine_upload_at(c->engine, b, 0, up, 65));
    RANGE(assay_engine_upload_at(c->engine, b, 1, up, 64));
    RANGE(assay_engine_upload_at(c->engine, b, 65, up, 0));
    RANGE(assay_engine_upload_at(c->engine, b, UINT64_MAX, up, 2));
    RANGE(assay_engine_upload_at(c->engine, b, UINT64_MAX - 1, up, 1));
    RANGE(assay_engine_download_at(c->engine, down, b, 64, 1));
    RANGE(assay_engine_download_at(c->engine, down, b, UINT64_MAX, 64));
    RANGE(assay_engine_download_at(c->engine, down, b, 65, 0));
    RANGE(assay_engine_copy(c->engine, d, 1, b, 0, 64));
    RANGE(assay_engine_copy(c->engine, d, 0, b, 1, 64));
    RANGE(assay_engine_copy(c->engine, d, UINT64_MAX, b, 0, 2));
    RANGE(assay_engine_copy(c->engine, d, 0, b, UINT64_MAX, 2));
    RANGE(assay_engine_copy(c->engine, d, 0, b, 0, UINT64_MAX));
    RANGE(assay_engine_fill(c->engine, b, 60, 5, 0xff));
    RANGE(assay_engine_fill(c->engine, b, UINT64_MAX, 2, 0xff));
    RANGE(assay_engine_fill(c->engine, b, 2, UINT64_MAX, 0xff));
    for (size_t i = 0; i < sizeof down; i++)
        ASSAY__HOLDS(down[i] == POISON, "a refused download wrote to the host");
    HOLDS_BYTES(b, want, sizeof want, "after refused calls");
    HOLDS_BYTES(d, want, sizeof want, "after refused copies");
    return ASSAY__CONFORM_PASS;
}

/* The bad piece stands last, so that those before it would have moved. */
assay__conform_verdict assay__conform_memory_batch_all_or_nothing(assay__conform *c)
{
    unsigned char want[32], up[32], down[96];
    assay_buffer b, gone, foreign;

    pattern(want, sizeof want, 2);
    memset(up, 0xff, sizeof up);
    memset(down, POISON, sizeof down);
    ASSAY__PART(make(c, want, sizeof want, &b));
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &gone));
    ASSAY__FINE(assay_engine_free(c->engine, gone));
    ASSAY__FINE(assay_engine_alloc(c->other, 8, 0, &foreign));
    const struct {
        assay_transfer piece;
        assay_status status;
    } bad[] = {{{b, 30, up, 3}, ASSAY_INVALID},      {{b, UINT64_MAX, up, 2}, ASSAY_INVALID},
               {{b, 0, NULL, 4}, ASSAY_INVALID},     {{gone, 0, up, 8}, ASSAY_FREED},
               {{foreign, 0, up, 8}, ASSAY_FOREIGN}, {{b, 0, up, UINT64_MAX}, ASSAY_OVERFLOW}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assay_transfer pieces[3] = {{b, 0, up, 16}, {b, 8, up, 8}, bad[i].piece};
        ASSAY__GIVES(assay_engine_upload_many(c->engine, pieces, 3), bad[i].status);
        pieces[0].host = down;
        pieces[1].host = down + 32;
        if (pieces[2].host != NULL)
            pieces[2].host = down + 64;
        ASSAY__GIVES(assay_engine_download_many(c->engine, pieces, 3), bad[i].status);
    }
    for (size_t i = 0; i < sizeof down; i++)
        ASSAY__HOLDS(down[i] == POISON, "a batch with a bad piece wrote byte %zu", i);
    HOLDS_BYTES(b, want, sizeof want, "after batches with a bad piece");
    ASSAY__GIVES(assay_engine_upload_many(c->engine, NULL, 1), ASSAY_INVALID);
    ASSAY__FINE(assay_engine_upload_many(c->engine, NULL, 0));
    ASSAY__FINE(assay_engine_download_many(c->engine, NULL, 0));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_batch_in_order(assay__conform *c)
{
    char up[] = "abcdefgh", back[10] = "---------";
    assay_buffer b, d;

    ASSAY__PART(make(c, "........", 8, &b));
    ASSAY__PART(make(c, "........", 8, &d));
    assay_transfer pieces[4] = {{b, 0, up, 4}, {b, 2, up, 4}, {d, 7, up + 7, 1}, {b, 3, up + 4, 1}};
    ASSAY__FINE(assay_engine_upload_many(c->engine, pieces, 4));
    HOLDS_BYTES(b, "abaecd..", 8, "after pieces that overlap");
    HOLDS_BYTES(d, ".......h", 8, "after a batch into two buffers");
    pieces[0].host = back;     /* "abae" */
    pieces[1].host = back + 2; /* "aecd" over it */
    pieces[2].host = back + 8;
    pieces[3].host = back + 1;
    ASSAY__FINE(assay_engine_download_many(c->engine, pieces, 4));
    ASSAY__HOLDS(memcmp(back, "aeaecd--h", 9) == 0, "pieces downloaded in order gave '%.9s'", back);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_fill(assay__conform *c)
{
    unsigned char want[200];
    assay_buffer b;

    pattern(want, sizeof want, 4);
    ASSAY__PART(make(c, want, sizeof want, &b));
    static const struct {
        size_t at, bytes;
        uint8_t value;
    } fills[] = {{0, 200, 0xa0}, {3, 1, 0},   {7, 64, 0xff},
                 {63, 66, 0x80}, {199, 1, 7}, {200, 0, 9}};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        memset(want + fills[i].at, fills[i].value, fills[i].bytes);
        ASSAY__FINE(assay_engine_fill(c->engine, b, fills[i].at, fills[i].bytes, fills[i].value));
        HOLDS_BYTES(b, want, sizeof want, "after a fill");
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_copy(assay__conform *c)
{
    unsigned char from[128], to[128];
    assay_buffer b, d;

    pattern(from, sizeof from, 5);
    memset(to, 0xee, sizeof to);
    ASSAY__PART(make(c, from, sizeof from, &b));
    ASSAY__PART(make(c, to, sizeof to, &d));
    static const struct {
        size_t to, from, bytes;
    } copies[] = {{0, 1, 5}, {10, 3, 64}, {127, 0, 1}, {77, 77, 51}, {128, 128, 0}, {5, 127, 1}};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        memcpy(to + copies[i].to, from + copies[i].from, copies[i].bytes);
        ASSAY__FINE(
            assay_engine_copy(c->engine, d, copies[i].to, b, copies[i].from, copies[i].bytes));
        HOLDS_BYTES(d, to, sizeof to, "after a copy");
    }
    HOLDS_BYTES(b, from, sizeof from, "what was copied from");
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_copy_overlapping(assay__conform *c)
{
    static const size_t distances[] = {1, 3, 16, 64, 100};
    unsigned char want[512];
    assay_buffer b;

    pattern(want, sizeof want, 6);
    ASSAY__PART(make(c, want, sizeof want, &b));
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        const size_t by = distances[i], bytes = sizeof want - by;
        memmove(want + by, want, bytes);
        ASSAY__FINE(assay_engine_copy(c->engine, b, by, b, 0, bytes));
        HOLDS_BYTES(b, want, sizeof want, "after a copy upwards within itself");
        memmove(want, want + by, bytes);
        ASSAY__FINE(assay_engine_copy(c->engine, b, 0, b, by, bytes));
        HOLDS_BYTES(b, want, sizeof want, "after a copy downwards within itself");
        want[i] = 0x11;
        ASSAY__FINE(assay_engine_fill(c->engine, b, i, 1, 0x11));
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_alignment(assay__conform *c)
{
    const bool maps = assay_engine_supports(c->engine, ASSAY_FEATURE_UNIFIED_MEMORY);
    static const uint64_t aligns[] = {0, 1, 2, 16, 64, 128, 256, 4096};

    for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; i++)
        for (uint64_t bytes = 1; bytes < 300; bytes += 37) {
            const uint64_t at_least = aligns[i] == 0 ? 64
                                      : aligns[i] < c->profile.alignment_bytes
                                          ? c->profile.alignment_bytes
                                          : aligns[i];
            assay_buffer b;
            void *host = NULL;
            ASSAY__FINE(assay_engine_alloc(c->engine, bytes, aligns[i], &b));
            if (maps)
                ASSAY__FINE(assay_engine_map(c->engine, b, &host));
            ASSAY__HOLDS((uintptr_t)host % at_least == 0,
                         "a buffer of alignment %llu lies at %p, no multiple of %llu",
                         (unsigned long long)aligns[i], host, (unsigned long long)at_least);
        }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_map(assay__conform *c)
{
    unsigned char want[100];
    assay_buffer b;
    void *host = NULL, *again = NULL;

    pattern(want, sizeof want, 8);
    ASSAY__PART(make(c, want, sizeof want, &b));
    ASSAY__FINE(assay_engine_map(c->engine, b, &host));
    ASSAY__HOLDS(host != NULL, "a buffer is mapped at NULL");
    ASSAY__HOLDS(memcmp(host, want, sizeof want) == 0, "the host reads other bytes than uploaded");
    memset((char *)host + 10, 0x77, 5);
    memset(want + 10, 0x77, 5);
    HOLDS_BYTES(b, want, sizeof want, "after the host wrote to it");
    ASSAY__FINE(assay_engine_fill(c->engine, b, 0, 3, 0x66));
    ASSAY__FINE(assay_engine_synchronize(c->engine));
    memset(want, 0x66, 3);
    ASSAY__HOLDS(memcmp(host, want, sizeof want) == 0, "the host does not see a fill");
    ASSAY__FINE(assay_engine_map(c->engine, b, &again));
    ASSAY__HOLDS(again == host, "a buffer is mapped at two addresses");
    ASSAY__FINE(assay_engine_free(c->engine, b));
    ASSAY__GIVES(assay_engine_map(c->engine, b, &host), ASSAY_FREED);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_wrap(assay__conform *c)
{
    unsigned char memory[64], up[16];
    assay_buffer b;
    void *host = NULL;

    pattern(memory, sizeof memory, 11);
    memset(up, 0x42, sizeof up);
    ASSAY__FINE(assay_engine_wrap(c->engine, memory, sizeof memory, &b));
    ASSAY__HOLDS(b.size_bytes == sizeof memory, "wrapped memory of %zu bytes has %llu",
                 sizeof memory, (unsigned long long)b.size_bytes);
    HOLDS_BYTES(b, memory, sizeof memory, "wrapped memory");
    ASSAY__FINE(assay_engine_upload_at(c->engine, b, 8, up, sizeof up));
    ASSAY__HOLDS(memcmp(memory + 8, up, sizeof up) == 0,
                 "an upload did not reach the host's memory");
    ASSAY__FINE(assay_engine_map(c->engine, b, &host));
    ASSAY__HOLDS(host == memory, "wrapped memory is mapped elsewhere");
    RANGE(assay_engine_upload_at(c->engine, b, 60, up, 16));
    if (b.owner == 0) /* the default: plain memory, which nobody frees */
        return ASSAY__CONFORM_PASS;
    ASSAY__FINE(assay_engine_free(c->engine, b));
    memset(memory, 1, sizeof memory); /* still the caller's */
    ASSAY__GIVES(assay_engine_free(c->engine, b), ASSAY_FREED);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_live_counts(assay__conform *c)
{
    assay_instance_state state;
    assay_buffer a, b;

    memset(&state, 0, sizeof state);
    ASSAY__FINE(assay_engine_alloc(c->engine, 100, 0, &a));
    ASSAY__FINE(assay_engine_alloc(c->engine, 28, 0, &b));
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    if (state.live_buffers == 0 && state.live_bytes == 0)
        return assay__conform_skip(c, "the backend does not count its buffers (slot state)");
    ASSAY__HOLDS(state.live_buffers == 2 && state.live_bytes == 128,
                 "two buffers of 128 bytes are counted as %llu of %llu",
                 (unsigned long long)state.live_buffers, (unsigned long long)state.live_bytes);
    ASSAY__FINE(assay_engine_free(c->engine, a));
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.live_buffers == 1 && state.live_bytes == 28,
                 "after a free %llu buffers of %llu bytes live",
                 (unsigned long long)state.live_buffers, (unsigned long long)state.live_bytes);
    ASSAY__FINE(assay_engine_free(c->engine, b));
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.live_buffers == 0 && state.live_bytes == 0, "all are freed and some live");
    return ASSAY__CONFORM_PASS;
}
