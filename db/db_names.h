/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/db_names.h -- the words that the store writes for enumerations. */
#ifndef ASSAY_DB_DB_NAMES_H
#define ASSAY_DB_DB_NAMES_H

#include "runtime/store.h"

/* NULL for a number outside the enumeration, which the store then refuses. */
const char *assay__db_verdict_name(assay__verdict verdict);
const char *assay__db_proof_name(assay_proof proof);
const char *assay__db_stability_name(assay_stability level);
const char *assay__db_timing_quality_name(assay_timing_quality quality);

/* The first value of the enumeration for an unknown word. */
assay__verdict assay__db_verdict_parse(const char *name);
assay_proof assay__db_proof_parse(const char *name);
assay_stability assay__db_stability_parse(const char *name);

#endif
