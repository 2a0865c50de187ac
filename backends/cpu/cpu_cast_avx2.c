/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_cast_avx2.c -- y = x as another type, eight elements at a time.
 *
 * Whole vectors and tails take the same path.  The bits are those of assay_convert, payloads of
 * NaNs too. */
#include "backends/cast_pairs.h"
#include "backends/cpu/cpu_cast.h"
#include "backends/cpu/cpu_cast_types_avx2.h"

#define LANES 8
/* Memory is asked for this many bytes before its turn: more of them where it is slower than the
 * caches. */
#define AHEAD(nt) ((nt) ? 4096 : 1024)

#define BYTES_F64    8
#define BYTES_F32    4
#define BYTES_F16    2
#define BYTES_BF16   2
#define BYTES_F8E4M3 1
#define BYTES_I8     1
#define BYTES_I16    2
#define BYTES_I32    4
#define BYTES_I64    8
#define BYTES_U8     1
#define BYTES_U32    4

typedef void (*span_fn)(const char *x, char *y, int64_t n, bool nontemporal);

/* n <= LANES elements, whatever lies behind them. */
#define DEFINE_SPAN(from, to)                                                            \
    static inline void part_##from##_##to(const char *x, char *y, int64_t n)             \
    {                                                                                    \
        char in[LANES * BYTES_##from] = {0}, out[LANES * BYTES_##to];                    \
        memcpy(in, x, (size_t)n *BYTES_##from);                                          \
        cast_put_##to(from, in, out, false);                                             \
        memcpy(y, out, (size_t)n *BYTES_##to);                                           \
    }                                                                                    \
    static inline __attribute__((always_inline))                                         \
    int64_t vectors_##from##_##to(const char *x, char *y, int64_t i, int64_t n, bool nt) \
    {                                                                                    \
        for (; i + 2 * LANES <= n; i += 2 * LANES) {                                     \
            const char *s = x + i * BYTES_##from;                                        \
            char *d = y + i * BYTES_##to;                                                \
            _mm_prefetch(s + AHEAD(nt), _MM_HINT_T0);                                    \
            if (2 * LANES * BYTES_##from > 64)                                           \
                _mm_prefetch(s + AHEAD(nt) + 64, _MM_HINT_T0);                           \
            cast_put_##to(from, s, d, nt);                                               \
            cast_put_##to(from, s + LANES * BYTES_##from, d + LANES * BYTES_##to, nt);   \
        }                                                                                \
        for (; i + LANES <= n; i += LANES)                                               \
            cast_put_##to(from, x + i * BYTES_##from, y + i * BYTES_##to, nt);           \
        return i;                                                                        \
    }                                                                                    \
    static void span_##from##_##to(const char *x, char *y, int64_t n, bool nontemporal)  \
    {                                                                                    \
        int64_t i = 0;                                                                   \
        if (nontemporal) {                                                               \
            i = elements_to_align(y, 32, BYTES_##to, n);                                 \
            for (int64_t at = 0; at < i; at += LANES)                                    \
                part_##from##_##to(x + at * BYTES_##from, y + at * BYTES_##to,           \
                                   i - at < LANES ? i - at : LANES);                     \
            i = vectors_##from##_##to(x, y, i, n, true);                                 \
            _mm_sfence();                                                                \
        } else {                                                                         \
            i = vectors_##from##_##to(x, y, i, n, false);                                \
        }                                                                                \
        part_##from##_##to(x + i * BYTES_##from, y + i * BYTES_##to, n - i);             \
    }
CAST_PAIRS(DEFINE_SPAN)

static const span_fn spans[ASSAY_DTYPE_COUNT][ASSAY_DTYPE_COUNT] = {
#define ROW(from, to) [ASSAY_##from][ASSAY_##to] = span_##from##_##to,
    CAST_PAIRS(ROW)
#undef ROW
};

/* Signaling NaNs too. */
static void copy(const char *x, char *y, int64_t bytes, bool nontemporal)
{
    int64_t i = 0;

    if (nontemporal) {
        i = elements_to_align(y, 32, 1, bytes);
        memcpy(y, x, (size_t)i);
        for (; i + 32 <= bytes; i += 32)
            cast_put_32(y + i, cast_load_I32(x + i), true);
        _mm_sfence();
    }
    memcpy(y + i, x + i, (size_t)(bytes - i));
}

static void span(const assay_launch *launch, const char *x, char *y, int64_t n, bool nontemporal)
{
    assay_dtype from = launch->operands[0].dtype, to = launch->operands[1].dtype;

    if (from != to)
        spans[from][to](x, y, n, nontemporal);
    else if (x != y)
        copy(x, y, n * (int64_t)assay_dtype_bytes(to), nontemporal);
}

CPU_ENTRY(cast_avx2)
{
    return cpu_run_cast(launch, launch->tunables != NULL && launch->tunables[CPU_NONTEMPORAL] != 0,
                        span);
}
