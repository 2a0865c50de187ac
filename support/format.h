/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/format.h -- figures for people: significant digits, unit, interval.
 *
 * Results are small values, to be used in place: printf("%s", assay__format_time(ns).text).
 * An unknown (NaN) is shown as "-", never as a number. All units are ASCII. */
#ifndef ASSAY_SUPPORT_FORMAT_H
#define ASSAY_SUPPORT_FORMAT_H

#include <stdint.h>

typedef struct assay__text {
    char text[80];
} assay__text;

/* `digits` significant digits (1..17), no exponent between 1e-4 and 1e15. */
assay__text assay__format_real(double value, int digits);
/* "12.3 us": ns, us, ms or s; three significant digits. */
assay__text assay__format_time(double ns);
/* "12.3 us [12.1, 12.6] n=50": one unit for all three, as many decimals as tell the bounds apart
 * (at most 6 significant digits). Unknown bounds leave the bracket out, count 0 the n. */
assay__text assay__format_interval(double ns, double lo_ns, double hi_ns, uint64_t count);
/* "1.50 MiB"; exact below 1 KiB. */
assay__text assay__format_bytes(double bytes);
/* "97.4 GFLOP/s" and "12.3 GB/s" (10^9), from counts a second. */
assay__text assay__format_flops(double flops_per_s);
assay__text assay__format_bandwidth(double bytes_per_s);
/* 0.973 -> "97.3 %"; 1.25 -> "1.25x". */
assay__text assay__format_percent(double fraction);
assay__text assay__format_ratio(double ratio);
/* "1,234,567" */
assay__text assay__format_count(uint64_t count);
/* "2 h 05 min", "3 min 07 s", "12 s": for budgets and remaining times. */
assay__text assay__format_duration(double seconds);

#endif
