/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/format.c -- figures for people. */
#include "support/format.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_DIGITS     3
#define INTERVAL_DIGITS 6

static const assay__text unknown = {"-"};

/* Decimals that give `digits` significant ones, after rounding (9.996 has two at three digits). */
static int decimals_for(double value, int digits)
{
    char text[40];

    if (value == 0.0)
        return 0;
    (void)snprintf(text, sizeof text, "%.*e", digits - 1, value);
    const char *mark = strchr(text, 'e');
    const int exponent = mark == NULL ? 0 : (int)strtol(mark + 1, NULL, 10);
    return exponent >= digits - 1 ? 0 : digits - 1 - exponent;
}

assay__text assay__format_real(double value, int digits)
{
    assay__text out = unknown;
    const double size = fabs(value);

    if (isnan(value))
        return out;
    if (value != 0.0 && (size < 1e-4 || size >= 1e15))
        (void)snprintf(out.text, sizeof out.text, "%.*e", digits - 1, value);
    else
        (void)snprintf(out.text, sizeof out.text, "%.*f", decimals_for(value, digits), value);
    return out;
}

typedef struct scale {
    double size; /* of the unit, in base units */
    const char *name;
} scale;

/* The largest unit not above the value, as it will be shown: 999.9996 ns is 1.00 us. */
static const scale *pick_scale(const scale *scales, size_t count, double value)
{
    size_t i = 0;

    while (i + 1 < count && fabs(value) >= scales[i + 1].size * 0.9995)
        i++;
    return &scales[i];
}

static const scale time_scales[] = {{1.0, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};

static const scale *time_scale(double ns)
{
    return pick_scale(time_scales, 4, ns);
}

assay__text assay__format_time(double ns)
{
    assay__text out = unknown;

    if (isnan(ns))
        return out;
    const scale *unit = time_scale(ns);
    (void)snprintf(out.text, sizeof out.text, "%.60s %s",
                   assay__format_real(ns / unit->size, TIME_DIGITS).text, unit->name);
    return out;
}

/* Enough decimals that the bounds differ in two places, within INTERVAL_DIGITS of the value. */
static int interval_decimals(double value, double lo, double hi)
{
    const int least = decimals_for(value, TIME_DIGITS);
    const int most = decimals_for(value, INTERVAL_DIGITS);
    const int wanted = hi > lo ? decimals_for(hi - lo, 1) : 0;

    if (wanted <= least)
        return least;
    return wanted < most ? wanted : most;
}

assay__text assay__format_interval(double ns, double lo_ns, double hi_ns, uint64_t count)
{
    assay__text out = unknown;
    int used;

    if (isnan(ns))
        return out;
    if (!isfinite(lo_ns) || !isfinite(hi_ns)) {
        out = assay__format_time(ns);
        used = (int)strlen(out.text);
    } else {
        const scale *unit = time_scale(ns);
        const double value = ns / unit->size, lo = lo_ns / unit->size, hi = hi_ns / unit->size;
        const int places = interval_decimals(value, lo, hi);
        used = snprintf(out.text, sizeof out.text, "%.*f %s [%.*f, %.*f]", places, value,
                        unit->name, places, lo, places, hi);
    }
    if (count > 0 && used > 0 && (size_t)used < sizeof out.text)
        (void)snprintf(out.text + used, sizeof out.text - (size_t)used, " n=%" PRIu64, count);
    return out;
}

assay__text assay__format_bytes(double bytes)
{
    static const scale scales[] = {
        {1.0, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
    assay__text out = unknown;

    if (isnan(bytes))
        return out;
    const scale *unit = pick_scale(scales, 5, bytes);
    if (unit == scales)
        (void)snprintf(out.text, sizeof out.text, "%.0f B", bytes);
    else
        (void)snprintf(out.text, sizeof out.text, "%.60s %s",
                       assay__format_real(bytes / unit->size, 3).text, unit->name);
    return out;
}

static assay__text with_unit(double value, const char *unit)
{
    assay__text out = unknown;

    if (!isnan(value))
        (void)snprintf(out.text, sizeof out.text, "%.60s%s", assay__format_real(value, 3).text,
                       unit);
    return out;
}

assay__text assay__format_flops(double flops_per_s)
{
    return with_unit(flops_per_s / 1e9, " GFLOP/s");
}

assay__text assay__format_bandwidth(double bytes_per_s)
{
    return with_unit(bytes_per_s / 1e9, " GB/s");
}

assay__text assay__format_percent(double fraction)
{
    return with_unit(fraction * 100.0, " %");
}

assay__text assay__format_ratio(double ratio)
{
    return with_unit(ratio, "x");
}

assay__text assay__format_count(uint64_t count)
{
    char digits[24];
    assay__text out = {""};
    size_t put = 0;

    (void)snprintf(digits, sizeof digits, "%" PRIu64, count);
    const size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out.text[put++] = ',';
        out.text[put++] = digits[i];
    }
    out.text[put] = '\0';
    return out;
}

assay__text assay__format_duration(double seconds)
{
    assay__text out = unknown;

    if (!isfinite(seconds) || seconds < 0.0 || seconds > 1e12)
        return out;
    const int64_t whole = (int64_t)(seconds + 0.5);
    if (whole >= 3600)
        (void)snprintf(out.text, sizeof out.text, "%" PRId64 " h %02d min", whole / 3600,
                       (int)(whole % 3600 / 60));
    else if (whole >= 60)
        (void)snprintf(out.text, sizeof out.text, "%d min %02d s", (int)(whole / 60),
                       (int)(whole % 60));
    else
        (void)snprintf(out.text, sizeof out.text, "%d s", (int)whole);
    return out;
}
