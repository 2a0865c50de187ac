/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/error.h -- records the text behind assay_last_error(). */
#ifndef ASSAY_RUNTIME_ERROR_H
#define ASSAY_RUNTIME_ERROR_H

#include <stddef.h>

#include "assay/status.h"

/* Formats the text for the calling thread and returns `status`, so that a failing
 * function ends in `return assay__fail(ASSAY_INVALID, "shape: ...", ...);`.
 * The text names the file, line, field and remedy where there are any. Cut at 1,023 bytes. */
__attribute__((format(printf, 2, 3))) assay_status assay__fail(assay_status status,
                                                               const char *format, ...);

/* The same with what belongs to the status besides; returns detail->status. */
assay_status assay__fail_detail(const assay_error_detail *detail, const char *text);

/* Puts "prefix: " before the text already recorded, whose detail stays; returns `status`. */
__attribute__((format(printf, 2, 3))) assay_status assay__fail_context(assay_status status,
                                                                       const char *format, ...);

/* Copies a text that is for people; one that does not fit is cut between words and ends in "...".
 * cap >= 4. */
void assay__text_fit(const char *text, char *out, size_t cap);

/* Forgets the text (used at the start of a new top-level question). */
void assay__error_clear(void);

#endif
