/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/statements.c -- every statement of the store. */
#include "db/statements.h"

#include "db/read_store.h"
#include "db/write.h"

const assay__sql *const assay__sql_tables[] = {
    assay__sql_read,      assay__sql_deployment,      assay__sql_kernel,
    assay__sql_problem,   assay__sql_sweep,           assay__sql_measurement,
    assay__sql_visit,     assay__sql_counter,         assay__sql_accuracy,
    assay__sql_stability, assay__sql_quarantine,      assay__sql_peak,
    assay__sql_transfer,  assay__sql_route,           assay__sql_check,
    assay__sql_stale,     assay__sql_results,         assay__sql_report,
    assay__sql_facts,     assay__sql_quarantine_list, NULL,
};
