/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_parts.h -- parts that several reports put on their pages and into their JSON. */
#ifndef ASSAY_REPORTS_REPORT_PARTS_H
#define ASSAY_REPORTS_REPORT_PARTS_H

#include <stdio.h>

#include "reports/report_page.h"
#include "reports/report_set.h"
#include "support/format.h"
#include "support/json.h"

/* Facts of a deployment. */
void assay__part_deployment(assay__page *page, const assay__report_set *set,
                            const assay__report_place *place);
/* Its peaks with intervals and n, and what they give together. */
void assay__part_peaks(assay__page *page, const assay__report_set *set,
                       const assay__report_place *place);
/* What moving bytes between its memories costs. */
void assay__part_transfers(assay__page *page, const assay__report_set *set,
                           const assay__report_place *place);
/* Where the figures come from: the store and its sweeps. */
void assay__part_sources(assay__page *page, const assay__report_set *set);
/* One warning when staleness could not be judged. */
void assay__part_unjudged(assay__page *page, const assay__report_set *set);

/* "cpu/avx2_gemm{mr=6,nr=16}" */
void assay__part_variant(const assay__report_revision *r, assay__str *out);
/* "wrong" gives "wrong result": for people. */
const char *assay__part_verdict(assay__verdict verdict);
/* "exhaustive", "sampled", "bounded"; "" absent. */
const char *assay__part_proof(unsigned proof);
/* Confidence of an interval, after it: " at 90 %"; "" unknown. */
assay__text assay__part_level(double level);
/* "config" ...; "" absent. */
const char *assay__part_stability(unsigned level);

/* {"schema": ..., "store": ..., "deployments": [...], "LIST": [  -- to be ended by "]}". */
assay_status assay__part_json_begin(const assay__report_set *set, const char *schema,
                                    const char *list, FILE *file);
/* One more element of a list, on a line of its own; drops `value`, NULL is out of memory.  A piece
 * at a time: a report of 10^6 rows would take gigabytes as objects. */
assay_status assay__part_json_piece(FILE *file, json_t *value, bool is_first);

#endif
