/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/number.c -- whole-text number parsing, independent of the locale. */
#include "support/number.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

static bool is_whole_number(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    return *at != '\0' && at[strspn(at, "0123456789")] == '\0';
}

assay_status assay__parse_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    if (!is_whole_number(text))
        return assay__fail(ASSAY_INVALID, "'%.60s' is no whole number", text);
    errno = 0;
    const int64_t value = strtoll(text, NULL, 10);
    if (errno == ERANGE || value < min || value > max)
        return assay__fail(ASSAY_OVERFLOW, "%.60s is outside %" PRId64 "..%" PRId64, text, min,
                           max);
    *out = value;
    return ASSAY_OK;
}

/* strtod reads "1,5" under some locales: the C locale is asked for by name. */
static double real_of(const char *text, char **end)
{
    static _Thread_local locale_t c_locale;

    if (c_locale == (locale_t)0)
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale == (locale_t)0 ? strtod(text, end) : strtod_l(text, end, c_locale);
}

/* Reads a finite real at the start of `text`; blanks, "inf" and "nan" are refused. */
static bool leading_real(const char *text, double *value, const char **rest)
{
    char *end;
    const char *digits = text + (*text == '-' || *text == '+');

    if (strchr("0123456789.", *digits) == NULL || *digits == '\0')
        return false;
    *value = real_of(text, &end);
    *rest = end;
    return end != text && isfinite(*value);
}

assay_status assay__parse_real(const char *text, double min, double max, double *out)
{
    double value;
    const char *rest;

    if (!leading_real(text, &value, &rest) || *rest != '\0')
        return assay__fail(ASSAY_INVALID, "'%.60s' is no finite number", text);
    if (value < min || value > max)
        return assay__fail(ASSAY_OVERFLOW, "%.60s is outside %g..%g", text, min, max);
    *out = value;
    return ASSAY_OK;
}

assay_status assay__parse_duration(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1.0},    {"s", 1.0},  {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"m", 60.0}, {"h", 3600.0}};
    double value;
    const char *rest;

    if (leading_real(text, &value, &rest) && value >= 0.0)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (strcmp(rest, units[i].unit) == 0) {
                *seconds = value * units[i].seconds;
                return ASSAY_OK;
            }
    return assay__fail(ASSAY_INVALID, "'%.60s' is no duration; give e.g. 90, 90s, 1.5m, 2h", text);
}
