/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_dtype.c -- element types: facts, names, single and array conversions.
 *
 * The array conversions are compared over every 16-bit pattern with the scalar ones, and those
 * with an oracle that searches the sorted list of representable values. ASSAY_LONG=1 adds all
 * 2^32 patterns of f32. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/dtype.h"
#include "assay/dtype_inline.h"
#include "runtime/convert.h"

static const assay_dtype smalls[] = {ASSAY_F16, ASSAY_BF16, ASSAY_F8E4M3, ASSAY_F8E5M2};
#define SMALL_COUNT (sizeof smalls / sizeof *smalls)

/* For hot loops: each ck_assert writes to Check's pipe, also when it holds. */
#define REQUIRE(cond)                                             \
    do {                                                          \
        if (!(cond))                                              \
            ck_abort_msg("line %d: not so: %s", __LINE__, #cond); \
    } while (0)

static uint64_t random_state;

static uint64_t random_next(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

static double f64_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t store_bits(assay_dtype dtype, double value)
{
    uint32_t bits = 0;

    assay_store_f64(dtype, &bits, 0, value);
    return bits;
}

static double load_bits(assay_dtype dtype, uint32_t bits)
{
    return assay_load_f64(dtype, &bits, 0);
}

static uint32_t nan_threshold(assay_dtype dtype)
{
    return dtype == ASSAY_F8E4M3   ? 0x7f
           : dtype == ASSAY_F8E5M2 ? 0x7d
           : dtype == ASSAY_F16    ? 0x7c01
                                   : 0x7f81;
}

/* ---- facts and names ---- */

START_TEST(facts_agree_with_each_other)
{
    const assay_dtype_info *info = assay_dtype_describe((assay_dtype)_i);
    assay_dtype parsed;

    ck_assert_ptr_nonnull(info);
    ck_assert_uint_eq(info->bytes, assay_dtype_bytes((assay_dtype)_i));
    ck_assert_str_eq(info->name, assay_dtype_name((assay_dtype)_i));
    ck_assert_int_eq(assay_dtype_parse(info->name, &parsed), ASSAY_OK);
    ck_assert_int_eq((int)parsed, _i);
    if (!info->is_float) {
        ck_assert(isnan(info->max_finite) && isnan(info->unit_roundoff));
        ck_assert_int_lt(info->min_int, info->max_int);
        ck_assert_int_eq(info->is_signed, info->min_int < 0);
        return;
    }
    ck_assert(info->min_normal == ldexp(1, info->emin));
    ck_assert(info->min_subnormal == ldexp(1, info->emin - info->precision + 1));
    ck_assert(info->unit_roundoff == ldexp(1, -info->precision));
    ck_assert_int_eq(ilogb(info->max_finite), info->emax);
    ck_assert(assay_round_f64((assay_dtype)_i, info->max_finite) == info->max_finite);
    ck_assert(assay_round_f64((assay_dtype)_i, info->min_subnormal) == info->min_subnormal);
    ck_assert(assay_round_f64((assay_dtype)_i, info->min_subnormal / 2) == 0);
    ck_assert_int_eq(info->has_inf, isinf(assay_round_f64((assay_dtype)_i, INFINITY)) != 0);
}
END_TEST

START_TEST(facts_bytes_are_the_known_ones)
{
    static const size_t bytes[ASSAY_DTYPE_COUNT] = {8, 4, 2, 2, 1, 1, 1, 2, 4, 8, 1, 4};

    ck_assert_uint_eq(assay_dtype_bytes((assay_dtype)_i), bytes[_i]);
}
END_TEST

START_TEST(facts_max_finite_is_the_known_one)
{
    ck_assert(assay_dtype_describe(ASSAY_F16)->max_finite == 65504);
    ck_assert(assay_dtype_describe(ASSAY_F8E4M3)->max_finite == 448);
    ck_assert(assay_dtype_describe(ASSAY_F8E5M2)->max_finite == 57344);
    ck_assert(assay_dtype_describe(ASSAY_BF16)->max_finite == 0x1.fep127);
    ck_assert_int_eq(assay_dtype_describe(ASSAY_F8E4M3)->has_inf, 0);
}
END_TEST

START_TEST(facts_of_a_foreign_value_are_absent)
{
    static const int foreign[] = {-1, ASSAY_DTYPE_COUNT, 1000};
    assay_dtype dtype = (assay_dtype)foreign[_i];
    uint64_t untouched = 7;

    ck_assert_ptr_null(assay_dtype_describe(dtype));
    ck_assert_ptr_null(assay_dtype_name(dtype));
    ck_assert_uint_eq(assay_dtype_bytes(dtype), 0);
    assay_store_f64(dtype, &untouched, 0, 1.0);
    ck_assert_uint_eq(untouched, 7);
    ck_assert(isnan(assay_load_f64(dtype, &untouched, 0)));
    ck_assert_int_eq(assay_convert(dtype, &untouched, ASSAY_F64, &untouched, 1), ASSAY_INVALID);
    ck_assert_int_eq(assay_convert(ASSAY_F64, &untouched, dtype, &untouched, 1), ASSAY_INVALID);
}
END_TEST

START_TEST(parse_refuses_what_is_no_name)
{
    static const char *const bad[] = {"",       "f",     "F32",      "f32 ", " f32", "f3",
                                      "float",  "f8",    "f8e4m3fn", "e4m3", "u16",  "f32\n",
                                      "f16f16", "bf 16", "0",        "i128"};
    assay_dtype out = ASSAY_I8;

    ck_assert_int_eq(assay_dtype_parse(bad[_i], &out), ASSAY_PARSE);
    ck_assert_int_eq(out, ASSAY_I8);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "bf16"));
}
END_TEST

START_TEST(parse_refuses_null)
{
    assay_dtype out;

    ck_assert_int_eq(assay_dtype_parse(NULL, &out), ASSAY_INVALID);
    ck_assert_int_eq(assay_dtype_parse("f32", NULL), ASSAY_INVALID);
}
END_TEST

/* Random text never gives a name that was not written. */
START_TEST(parse_survives_random_text)
{
    random_state = 20261129;
    for (int round = 0; round < 20000; round++) {
        static const char letters[] = "bfiue0123468mM \t";
        char text[10] = {0};
        size_t length = random_next() % sizeof text;
        assay_dtype out;

        for (size_t i = 0; i < length; i++)
            text[i] = letters[random_next() % (sizeof letters - 1)];
        if (assay_dtype_parse(text, &out) == ASSAY_OK)
            REQUIRE(strcmp(text, assay_dtype_name(out)) == 0);
    }
}
END_TEST

/* ---- rounding, against an oracle that knows only the list of representable values ---- */

/* Bits of |value| rounded to nearest: the positive values of a format grow with their bits, and
 * one step beyond the largest is as far as the step before it. */
static uint32_t nearest_by_search(assay_dtype dtype, double value)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);
    uint32_t lo = 0, hi = nan_threshold(dtype) - (info->has_inf ? 1 : 0);

    while (hi - lo > 1) { /* value(lo) <= value < value(hi) */
        uint32_t middle = lo + (hi - lo) / 2;
        if (load_bits(dtype, middle) <= value)
            lo = middle;
        else
            hi = middle;
    }
    double below = load_bits(dtype, lo);
    double above = isfinite(load_bits(dtype, hi)) ? load_bits(dtype, hi)
                                                  : 2 * below - load_bits(dtype, lo - 1);
    double to_below = value - below, to_above = above - value;
    if (to_below != to_above)
        return to_below < to_above ? lo : hi;
    return lo & 1 ? hi : lo;
}

static void check_rounding(assay_dtype dtype, double value)
{
    uint32_t sign = dtype == ASSAY_F16 || dtype == ASSAY_BF16 ? 0x8000 : 0x80;
    uint32_t want = nearest_by_search(dtype, fabs(value)) | (signbit(value) ? sign : 0);
    uint32_t got = store_bits(dtype, value);

    if (!(got == want))
        ck_abort_msg("%s: %a gave %#x, not %#x", assay_dtype_name(dtype), value, got, want);
}

START_TEST(round_agrees_at_and_around_every_midpoint)
{
    assay_dtype dtype = smalls[_i];
    uint32_t end = nan_threshold(dtype) - (assay_dtype_describe(dtype)->has_inf ? 2 : 1);

    for (uint32_t bits = 0; bits < end; bits++) {
        double here = load_bits(dtype, bits), next = load_bits(dtype, bits + 1);
        double middle = here + (next - here) / 2;

        REQUIRE(here < next);
        REQUIRE((store_bits(dtype, here)) == (bits));
        check_rounding(dtype, middle);
        check_rounding(dtype, -middle);
        check_rounding(dtype, nextafter(middle, 0));
        check_rounding(dtype, nextafter(middle, INFINITY));
    }
}
END_TEST

START_TEST(round_agrees_on_random_values)
{
    assay_dtype dtype = smalls[_i];
    const assay_dtype_info *info = assay_dtype_describe(dtype);

    random_state = 42;
    for (int round = 0; round < 100000; round++) {
        int spread = info->emax - info->emin + info->precision + 6;
        int exponent = info->emin - info->precision - 3 + (int)(random_next() % (unsigned)spread);
        double value = ldexp(1 + (double)(random_next() >> 12) * 0x1p-52, exponent);

        check_rounding(dtype, random_next() & 1 ? value : -value);
    }
}
END_TEST

START_TEST(round_known_f16_values)
{
    static const struct {
        double value;
        uint32_t bits;
    } rows[] = {
        {65504, 0x7bff},       {65519.99, 0x7bff},       {65520, 0x7c00},     {-65520, 0xfc00},
        {1e300, 0x7c00},       {INFINITY, 0x7c00},       {-INFINITY, 0xfc00}, {0.0, 0x0000},
        {-0.0, 0x8000},        {0x1p-24, 0x0001},        {0x1p-25, 0x0000},   {0x1.8p-24, 0x0002},
        {-0x1p-25, 0x8000},    {0x1.000001p-25, 0x0001}, {0x1p-14, 0x0400},   {0x1.ff8p-15, 0x03ff},
        {0x1.ffcp-15, 0x0400}, {2049, 0x6800},           {2051, 0x6802},      {1.0, 0x3c00},
        {0x1p-1074, 0x0000},   {-0x1p-1074, 0x8000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(store_bits(ASSAY_F16, rows[i].value) == rows[i].bits, "%a gave %#x, not %#x",
                      rows[i].value, store_bits(ASSAY_F16, rows[i].value), rows[i].bits);
}
END_TEST

START_TEST(round_known_f8_values)
{
    static const struct {
        assay_dtype dtype;
        double value;
        uint32_t plain, saturated;
    } rows[] = {
        {ASSAY_F8E4M3, 448, 0x7e, 0x7e},       {ASSAY_F8E4M3, 464, 0x7e, 0x7e},
        {ASSAY_F8E4M3, 464.0001, 0x7f, 0x7e},  {ASSAY_F8E4M3, -500, 0xff, 0xfe},
        {ASSAY_F8E4M3, INFINITY, 0x7f, 0x7e},  {ASSAY_F8E4M3, -INFINITY, 0xff, 0xfe},
        {ASSAY_F8E4M3, NAN, 0x7f, 0x7f},       {ASSAY_F8E4M3, 0x1p-9, 0x01, 0x01},
        {ASSAY_F8E4M3, 0x1p-10, 0x00, 0x00},   {ASSAY_F8E4M3, 0x1.8p-9, 0x02, 0x02},
        {ASSAY_F8E4M3, 0x1p-6, 0x08, 0x08},    {ASSAY_F8E4M3, 1.0, 0x38, 0x38},
        {ASSAY_F8E5M2, 57344, 0x7b, 0x7b},     {ASSAY_F8E5M2, 61439.99, 0x7b, 0x7b},
        {ASSAY_F8E5M2, 61440, 0x7c, 0x7b},     {ASSAY_F8E5M2, -1e30, 0xfc, 0xfb},
        {ASSAY_F8E5M2, INFINITY, 0x7c, 0x7b},  {ASSAY_F8E5M2, 0x1p-16, 0x01, 0x01},
        {ASSAY_F8E5M2, 0x1p-17, 0x00, 0x00},   {ASSAY_F8E5M2, 1.0, 0x3c, 0x3c},
        {ASSAY_F16, INFINITY, 0x7c00, 0x7c00}, {ASSAY_BF16, INFINITY, 0x7f80, 0x7f80},
        {ASSAY_F16, 1e9, 0x7c00, 0x7c00},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t saturated = 0, converted = 0;

        assay_store_f64_sat(rows[i].dtype, &saturated, 0, rows[i].value);
        ck_assert_int_eq(assay_convert_sat(rows[i].dtype, &converted, ASSAY_F64, &rows[i].value, 1),
                         ASSAY_OK);
        ck_assert_msg(store_bits(rows[i].dtype, rows[i].value) == rows[i].plain, "row %zu", i);
        ck_assert_msg(saturated == rows[i].saturated, "row %zu saturated: %#x", i, saturated);
        ck_assert_uint_eq(converted, saturated);
    }
}
END_TEST

/* Just above a midpoint of the small format by less than f32 sees: through f32 it is a tie. */
START_TEST(round_is_single_where_f32_in_between_is_wrong)
{
    static const struct {
        assay_dtype dtype;
        double value, right, through_f32;
    } rows[] = {
        {ASSAY_F16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10, 1},
        {ASSAY_BF16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7, 1},
        {ASSAY_F8E4M3, 1 + 0x1p-4 + 0x1p-40, 1 + 0x1p-3, 1},
        {ASSAY_F8E5M2, 1 + 0x1p-3 + 0x1p-40, 1 + 0x1p-2, 1},
        {ASSAY_F16, 65520 - 0x1p-30, 65504, INFINITY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert(assay_round_f64(rows[i].dtype, rows[i].value) == rows[i].right);
        ck_assert(assay_round_f64(rows[i].dtype, (float)rows[i].value) == rows[i].through_f32);
    }
}
END_TEST

/* ---- NaN ---- */

START_TEST(nan_stays_nan_from_every_f64_payload_bit)
{
    for (int bit = 0; bit < 52; bit++) {
        double nan = f64_from_bits(0xfff0000000000000u | (uint64_t)1 << bit);
        for (size_t i = 0; i < SMALL_COUNT; i++) {
            uint32_t bits = store_bits(smalls[i], nan);
            uint32_t magnitude = bits & (smalls[i] <= ASSAY_BF16 ? 0x7fffu : 0x7fu);
            REQUIRE(isnan(load_bits(smalls[i], bits)));
            REQUIRE((magnitude) >= nan_threshold(smalls[i]));
            REQUIRE((bits) != (magnitude)); /* the sign is kept */
        }
    }
}
END_TEST

START_TEST(nan_is_quiet_and_keeps_its_leading_payload)
{
    ck_assert_uint_eq(store_bits(ASSAY_F16, f64_from_bits(0x7ff0040000000000u)), 0x7e01);
    ck_assert_uint_eq(store_bits(ASSAY_BF16, f64_from_bits(0x7ff2000000000000u)), 0x7fd0);
    ck_assert_uint_eq(assay_f32_to_f16(assay_f32_from_bits(0x7f802000)), 0x7e01);
    ck_assert_uint_eq(assay_f32_to_f16(assay_f32_from_bits(0xff800001)), 0xfe00);
    ck_assert_uint_eq(assay_f32_to_bf16(assay_f32_from_bits(0x7f800001)), 0x7fc0);
    ck_assert_uint_eq(assay_f32_to_bf16(assay_f32_from_bits(0xffffffff)), 0xffff);
    ck_assert_uint_eq(assay_f32_bits(assay_f16_to_f32(0x7c01)), 0x7fc02000);
    ck_assert_uint_eq(assay_f32_bits(assay_bf16_to_f32(0xff81)), 0xffc10000);
}
END_TEST

/* ---- inline helpers ---- */

START_TEST(inline_widening_is_exact_over_all_patterns)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
        double sign = bits & 0x8000 ? -1 : 1;
        float half = assay_f16_to_f32((uint16_t)bits);
        float brain = assay_bf16_to_f32((uint16_t)bits);

        if (exponent == 31)
            REQUIRE(fraction ? isnan(half) : (double)half == sign * INFINITY);
        else
            REQUIRE((double)half == (exponent ? sign * ldexp(1024 + fraction, (int)exponent - 25)
                                              : sign * ldexp(fraction, -24)));
        REQUIRE((!!signbit(half)) == (bits >> 15));
        REQUIRE(isnan(brain) || assay_f32_bits(brain) == bits << 16);
        REQUIRE((!!isnan(brain)) == ((bits & 0x7fff) > 0x7f80));
    }
}
END_TEST

START_TEST(inline_f8_widening_is_exact_over_all_patterns)
{
    for (uint32_t bits = 0; bits < 0x100; bits++) {
        double sign = bits & 0x80 ? -1 : 1;
        int e4 = bits >> 3 & 15, m3 = bits & 7, e5 = bits >> 2 & 31, m2 = bits & 3;
        double got4 = (double)assay_f8e4m3_to_f32((uint8_t)bits);
        double got5 = (double)assay_f8e5m2_to_f32((uint8_t)bits);

        if (e4 == 15 && m3 == 7)
            REQUIRE(isnan(got4));
        else
            REQUIRE(got4 == sign * (e4 ? ldexp(8 + m3, e4 - 10) : ldexp(m3, -9)));
        if (e5 == 31)
            REQUIRE(m2 ? isnan(got5) : got5 == sign * INFINITY);
        else
            REQUIRE(got5 == sign * (e5 ? ldexp(4 + m2, e5 - 17) : ldexp(m2, -16)));
    }
}
END_TEST

static void check_narrowing(uint32_t first, uint32_t count)
{
    static float in[1 << 16];
    static uint16_t half[1 << 16], brain[1 << 16];

    for (uint32_t i = 0; i < count; i++)
        in[i] = assay_f32_from_bits(first + i);
    REQUIRE((assay_convert(ASSAY_F16, half, ASSAY_F32, in, count)) == (ASSAY_OK));
    REQUIRE((assay_convert(ASSAY_BF16, brain, ASSAY_F32, in, count)) == (ASSAY_OK));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t want_half = assay__pack_f64(ASSAY_F16, (double)in[i], false);
        uint32_t want_brain = assay__pack_f64(ASSAY_BF16, (double)in[i], false);
        if (half[i] != want_half || brain[i] != want_brain ||
            assay_f32_to_f16(in[i]) != want_half || assay_f32_to_bf16(in[i]) != want_brain)
            ck_abort_msg("f32 %#x: f16 %#x inline %#x want %#x; bf16 %#x inline %#x want %#x",
                         first + i, half[i], assay_f32_to_f16(in[i]), want_half, brain[i],
                         assay_f32_to_bf16(in[i]), want_brain);
    }
}

/* 64 patterns in every block of 65,536: all exponents, signs and leading fractions. */
START_TEST(narrowing_agrees_in_every_block_of_f32)
{
    for (uint32_t block = 0; block < 0x10000; block++) {
        uint32_t within = block * 40503u & 0xffffu;
        check_narrowing(block << 16 | (within > 0xffc0 ? 0xffc0 : within), 8);
        check_narrowing(block << 16 | 0xfff, 3);
        check_narrowing(block << 16 | 0x7fff, 3);
    }
}
END_TEST

START_TEST(narrowing_agrees_on_all_of_f32)
{
    const char *asked = getenv("ASSAY_LONG");

    if (asked == NULL || strcmp(asked, "1") != 0)
        return;
    for (uint32_t block = 0; block < 0x10000; block++)
        check_narrowing(block << 16, 0x10000);
}
END_TEST

/* ---- arrays ---- */

/* Every pair over a source of all 16-bit patterns or of random bits: the array conversion equals
 * the portable one, which equals load and store where f64 carries the value. */
START_TEST(convert_agrees_for_every_pair)
{
    enum { N = 0x10000 };
    static unsigned char in[N * 8], out[N * 8], plain[N * 8];
    assay_dtype src = (assay_dtype)(_i / ASSAY_DTYPE_COUNT);
    assay_dtype dst = (assay_dtype)(_i % ASSAY_DTYPE_COUNT);
    size_t bytes = assay_dtype_bytes(src), d_bytes = assay_dtype_bytes(dst);
    bool ints = !assay_dtype_describe(src)->is_float && !assay_dtype_describe(dst)->is_float;

    random_state = 7;
    for (size_t i = 0; i < N; i++) {
        uint64_t bits = bytes <= 2 ? i : random_next() >> (random_next() % 60);
        memcpy(in + i * bytes, &bits, bytes);
    }
    REQUIRE((assay_convert(dst, out, src, in, N)) == (ASSAY_OK));
    assay__convert_portable(dst, plain, src, in, N, false);
    REQUIRE(memcmp(out, plain, N * d_bytes) == 0);
    for (size_t i = 0; i < N && !ints && src != dst && src != ASSAY_I64; i++) {
        uint64_t want = 0;
        assay_store_f64(dst, &want, 0, assay_load_f64(src, in, i));
        if (!(memcmp(&want, out + i * d_bytes, d_bytes) == 0))
            ck_abort_msg("%s to %s, element %zu", assay_dtype_name(src), assay_dtype_name(dst), i);
    }
}
END_TEST

START_TEST(convert_takes_any_length_and_alignment)
{
    static unsigned char in[64 * 4 + 1], out[64 * 4 + 1 + 8];
    static const assay_dtype pairs[][2] = {{ASSAY_F32, ASSAY_F16},
                                           {ASSAY_F32, ASSAY_BF16},
                                           {ASSAY_F16, ASSAY_F32},
                                           {ASSAY_BF16, ASSAY_F32}};
    assay_dtype src = pairs[_i][0], dst = pairs[_i][1];
    size_t d_bytes = assay_dtype_bytes(dst);

    random_state = 11;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)random_next();
    for (size_t n = 0; n <= 40; n++) {
        memset(out, 0xa5, sizeof out);
        REQUIRE((assay_convert(dst, out + 1, src, in + 1, n)) == (ASSAY_OK));
        for (size_t i = 0; i < n; i++) {
            uint32_t want = 0;
            assay_store_f64(dst, &want, 0, assay_load_f64(src, in + 1, i));
            REQUIRE(memcmp(out + 1 + i * d_bytes, &want, d_bytes) == 0);
        }
        for (size_t i = 1 + n * d_bytes; i < sizeof out; i++)
            REQUIRE((out[i]) == (0xa5));
    }
}
END_TEST

START_TEST(convert_int_to_int_keeps_the_low_bits)
{
    static const int64_t in[] = {INT64_MAX, INT64_MIN, 0x123456789abcdef0, -1, 200, 70000};
    int64_t same[6];
    uint32_t u32[6];
    int8_t i8[6];

    ck_assert_int_eq(assay_convert(ASSAY_I64, same, ASSAY_I64, in, 6), ASSAY_OK);
    ck_assert_mem_eq(same, in, sizeof in);
    ck_assert_int_eq(assay_convert(ASSAY_U32, u32, ASSAY_I64, in, 6), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_I8, i8, ASSAY_I64, in, 6), ASSAY_OK);
    for (int i = 0; i < 6; i++) {
        ck_assert_uint_eq(u32[i], (uint32_t)in[i]);
        ck_assert_int_eq(i8[i], (int8_t)(uint8_t)in[i]);
    }
}
END_TEST

/* 2^53 + 1 and the like: an i64 rounded to f64 first would tie differently. */
START_TEST(convert_i64_to_float_rounds_once)
{
    /* Above a midpoint of f32, bf16, f16, f8 by 1 in 2^60: f64 sees the midpoint itself. */
    int64_t in[] = {((int64_t)1 << 60) + ((int64_t)1 << 36) + 1,
                    ((int64_t)1 << 60) + ((int64_t)1 << 52) + 1, INT64_MIN, INT64_MAX, -3};
    float f32[5];
    uint16_t bf16[5], f16[5];

    ck_assert_int_eq(assay_convert(ASSAY_F32, f32, ASSAY_I64, in, 5), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_BF16, bf16, ASSAY_I64, in, 5), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_F16, f16, ASSAY_I64, in, 5), ASSAY_OK);
    ck_assert((double)f32[0] == 0x1p60 + 0x1p37);
    ck_assert((double)(float)(double)in[0] == 0x1p60); /* what two roundings give */
    ck_assert_uint_eq(bf16[1], 0x5d81);
    ck_assert((double)f32[2] == -0x1p63 && (double)f32[3] == 0x1p63);
    ck_assert_uint_eq(bf16[2], 0xdf00);
    ck_assert_uint_eq(bf16[3], 0x5f00);
    ck_assert_uint_eq(f16[2], 0xfc00);
    ck_assert_uint_eq(f16[4], 0xc200);
    ck_assert_uint_eq(bf16[4], 0xc040);
}
END_TEST

START_TEST(convert_float_to_int_truncates_and_saturates)
{
    static const double in[] = {1.99, -1.99, NAN, INFINITY, -INFINITY, 1e30, -0.5, 255.5, 0x1p63};
    static const int64_t i64[] = {1, -1, 0, INT64_MAX, INT64_MIN, INT64_MAX, 0, 255, INT64_MAX};
    static const int64_t i8[] = {1, -1, 0, 127, -128, 127, 0, 127, 127};
    static const int64_t u8[] = {1, 0, 0, 255, 0, 255, 0, 255, 255};
    static const int64_t u32[] = {1, 0, 0, UINT32_MAX, 0, UINT32_MAX, 0, 255, UINT32_MAX};
    int64_t got64[9];
    int8_t got8[9];
    uint8_t got_u8[9];
    uint32_t got_u32[9];

    ck_assert_int_eq(assay_convert(ASSAY_I64, got64, ASSAY_F64, in, 9), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_I8, got8, ASSAY_F64, in, 9), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_U8, got_u8, ASSAY_F64, in, 9), ASSAY_OK);
    ck_assert_int_eq(assay_convert(ASSAY_U32, got_u32, ASSAY_F64, in, 9), ASSAY_OK);
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(got64[i], i64[i]);
        ck_assert_int_eq(got8[i], i8[i]);
        ck_assert_int_eq(got_u8[i], u8[i]);
        ck_assert_int_eq(got_u32[i], u32[i]);
    }
}
END_TEST

START_TEST(convert_refuses_bad_arguments)
{
    double a = 1;
    float b = 2;

    ck_assert_int_eq(assay_convert(ASSAY_F32, NULL, ASSAY_F64, &a, 1), ASSAY_INVALID);
    ck_assert_int_eq(assay_convert(ASSAY_F32, &b, ASSAY_F64, NULL, 1), ASSAY_INVALID);
    ck_assert_int_eq(assay_convert(ASSAY_F32, &b, ASSAY_F64, &a, SIZE_MAX / 8 + 1), ASSAY_OVERFLOW);
    ck_assert(b == 2);
    ck_assert_int_eq(assay_convert(ASSAY_F32, NULL, ASSAY_F64, NULL, 0), ASSAY_OK);
}
END_TEST

static Suite *dtype_suite(void)
{
    Suite *suite = suite_create("dtype");
    TCase *facts = tcase_create("facts"), *parse = tcase_create("parse");
    TCase *round = tcase_create("round"), *nan = tcase_create("nan");
    TCase *narrow = tcase_create("narrow"), *convert = tcase_create("convert");

    tcase_add_loop_test(facts, facts_agree_with_each_other, 0, ASSAY_DTYPE_COUNT);
    tcase_add_loop_test(facts, facts_bytes_are_the_known_ones, 0, ASSAY_DTYPE_COUNT);
    tcase_add_test(facts, facts_max_finite_is_the_known_one);
    tcase_add_loop_test(facts, facts_of_a_foreign_value_are_absent, 0, 3);
    tcase_add_loop_test(parse, parse_refuses_what_is_no_name, 0, 16);
    tcase_add_test(parse, parse_refuses_null);
    tcase_add_test(parse, parse_survives_random_text);
    tcase_add_loop_test(round, round_agrees_at_and_around_every_midpoint, 0, (int)SMALL_COUNT);
    tcase_add_loop_test(round, round_agrees_on_random_values, 0, (int)SMALL_COUNT);
    tcase_add_test(round, round_known_f16_values);
    tcase_add_test(round, round_known_f8_values);
    tcase_add_test(round, round_is_single_where_f32_in_between_is_wrong);
    tcase_add_test(nan, nan_stays_nan_from_every_f64_payload_bit);
    tcase_add_test(nan, nan_is_quiet_and_keeps_its_leading_payload);
    tcase_add_test(narrow, inline_widening_is_exact_over_all_patterns);
    tcase_add_test(narrow, inline_f8_widening_is_exact_over_all_patterns);
    tcase_add_test(narrow, narrowing_agrees_in_every_block_of_f32);
    tcase_add_test(narrow, narrowing_agrees_on_all_of_f32);
    tcase_set_timeout(narrow, 1200);
    tcase_add_loop_test(convert, convert_agrees_for_every_pair, 0,
                        ASSAY_DTYPE_COUNT * ASSAY_DTYPE_COUNT);
    tcase_add_loop_test(convert, convert_takes_any_length_and_alignment, 0, 4);
    tcase_add_test(convert, convert_int_to_int_keeps_the_low_bits);
    tcase_add_test(convert, convert_i64_to_float_rounds_once);
    tcase_add_test(convert, convert_float_to_int_truncates_and_saturates);
    tcase_add_test(convert, convert_refuses_bad_arguments);
    suite_add_tcase(suite, facts);
    suite_add_tcase(suite, parse);
    suite_add_tcase(suite, round);
    suite_add_tcase(suite, nan);
    suite_add_tcase(suite, narrow);
    suite_add_tcase(suite, convert);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(dtype_suite());

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
