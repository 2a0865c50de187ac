/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/csv_columns.h -- header names against what the caller knows (internal to the CSV reader).
 */
#ifndef ASSAY_SUPPORT_CSV_COLUMNS_H
#define ASSAY_SUPPORT_CSV_COLUMNS_H

#include "support/csv_reader.h"

/* Fills csv->header from csv->written: aliases resolved, unknown, repeated, empty and missing
 * columns refused. */
assay_status assay__csv_name_columns(assay__csv *csv, const assay__csv_spec *spec);

#endif
