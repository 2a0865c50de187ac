/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/number.h -- numbers parsed whole, with bounds; never a half-read "3abc". */
#ifndef ASSAY_SUPPORT_NUMBER_H
#define ASSAY_SUPPORT_NUMBER_H

#include <stdint.h>

#include "assay/status.h"

/* Decimal, an optional sign, nothing else; bounds inclusive. ASSAY_INVALID; ASSAY_OVERFLOW when the
 * digits are right but the value lies outside the bounds. The text says what and how. */
assay_status assay__parse_int(const char *text, int64_t min, int64_t max, int64_t *out);

/* Decimal or C hex float in the C locale's form, finite (no "inf", no "nan"), no blanks; bounds
 * inclusive, NaN or infinite bounds do not bind. */
assay_status assay__parse_real(const char *text, double min, double max, double *out);

/* Seconds: a real with an optional unit ns, us, ms, s, m, h ("1.5m"); result >= 0. */
assay_status assay__parse_duration(const char *text, double *seconds);

#endif
