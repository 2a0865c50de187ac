/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/intern.h -- one copy of each text: a report's rows repeat a few words a million times. */
#ifndef ASSAY_REPORTS_INTERN_H
#define ASSAY_REPORTS_INTERN_H

#include <stddef.h>

typedef struct assay__intern {
    char **slots; /* owned, each owned or NULL; open addressing, a power of two */
    size_t cap, count;
} assay__intern;

/* Zeroed memory is an empty pool.  The copy lives until clear; NULL when out of memory. */
const char *assay__intern_text(assay__intern *pool, const char *text);
void assay__intern_clear(assay__intern *pool);

#endif
