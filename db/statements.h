/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/statements.h -- every statement of the store, for the test that asks for their plans. */
#ifndef ASSAY_DB_STATEMENTS_H
#define ASSAY_DB_STATEMENTS_H

#include "db/handle.h"

extern const assay__sql assay__sql_check[];
extern const assay__sql assay__sql_stale[];
extern const assay__sql assay__sql_results[];
extern const assay__sql assay__sql_report[];
extern const assay__sql assay__sql_facts[];
extern const assay__sql assay__sql_quarantine_list[];

/* Tables of statements; the last is NULL, each ends with a NULL name. */
extern const assay__sql *const assay__sql_tables[];

#endif
