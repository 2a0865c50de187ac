/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/cold.c -- see cold.h. */
#include "tuner/cold.h"

#include <stdint.h>
#include <string.h>

#define LINE   64u
#define VECTOR 16u

/* Bytes before the first whole line of [at, at + bytes). */
static size_t head_of(const void *at, size_t bytes)
{
    size_t head = (LINE - (uintptr_t)at % LINE) % LINE;

    return head < bytes ? head : bytes;
}

/* The pattern as it goes on `at` bytes behind its begin. */
static void turn(unsigned char *out, const unsigned char *pattern, size_t size, size_t at,
                 size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = pattern[(at + i) % size];
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static int has_flushopt(void)
{
    unsigned a, b = 0, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}

const char *assay__cold_method(void)
{
    return has_flushopt() ? "clflushopt" : "clflush";
}

/* Ordered by fences alone, so that many lines are under way at once. */
__attribute__((target("clflushopt"))) static void evict_many(const char *at, const char *end)
{
    for (; at < end; at += LINE)
        _mm_clflushopt((void *)(uintptr_t)at);
}

static void evict_each(const char *at, const char *end)
{
    for (; at < end; at += LINE)
        _mm_clflush(at);
}

size_t assay__cold_evict(const void *at, size_t bytes)
{
    const char *first = (const char *)at - (uintptr_t)at % LINE, *end = (const char *)at + bytes;

    if (bytes == 0)
        return 0;
    if (has_flushopt())
        evict_many(first, end);
    else
        evict_each(first, end);
    _mm_mfence();
    return bytes;
}

/* Stores that go round the caches; a line that is there is thrown out.  `to` begins a line. */
static void copy_lines(char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += VECTOR)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
}

static void fill_lines(char *to, const unsigned char *vector, size_t bytes)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)vector);

    for (size_t i = 0; i < bytes; i += VECTOR)
        _mm_stream_si128((__m128i *)(void *)(to + i), v);
    _mm_sfence();
}

#else

const char *assay__cold_method(void)
{
    return "none";
}

size_t assay__cold_evict(const void *at, size_t bytes)
{
    (void)at;
    (void)bytes;
    return 0;
}

static void copy_lines(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void fill_lines(char *to, const unsigned char *vector, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += VECTOR)
        memcpy(to + i, vector, VECTOR);
}

#endif

void assay__cold_copy(void *to, const void *from, size_t bytes)
{
    const size_t head = head_of(to, bytes), lines = (bytes - head) / LINE * LINE;
    char *at = to;
    const char *source = from;

    memcpy(at, source, head);
    copy_lines(at + head, source + head, lines);
    memcpy(at + head + lines, source + head + lines, bytes - head - lines);
}

void assay__cold_fill(void *to, const void *pattern, size_t size, size_t bytes)
{
    const size_t head = head_of(to, bytes), lines = (bytes - head) / LINE * LINE;
    unsigned char vector[VECTOR], *at = to;

    turn(vector, pattern, size, head, VECTOR); /* goes on as it is: the size divides a vector's */
    turn(at, pattern, size, 0, head);
    fill_lines((char *)at + head, vector, lines);
    turn(at + head + lines, pattern, size, head + lines, bytes - head - lines);
}
