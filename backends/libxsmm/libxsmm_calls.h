/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/libxsmm/libxsmm_calls.h -- products through code that libxsmm makes for each shape. */
#ifndef ASSAY_BACKENDS_LIBXSMM_CALLS_H
#define ASSAY_BACKENDS_LIBXSMM_CALLS_H

#include <stdbool.h>

#include "assay/plugin.h"

/* Why libxsmm cannot be used here (static); NULL: it can. */
const char *xsmm_why_not(void);

/* "version=, build_id=, target=" lines. */
void xsmm_describe(char *buf, size_t cap);

assay_status xsmm_gemm_f32(const assay_launch *launch);
assay_status xsmm_gemm_f64(const assay_launch *launch);
bool xsmm_usable(const assay_problem *problem, const int64_t *tunables);

#endif
