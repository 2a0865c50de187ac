/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_device.h -- what the rows of devices share with those of the host. */
#ifndef ASSAY_CLI_BENCH_DEVICE_H
#define ASSAY_CLI_BENCH_DEVICE_H

#include "cli/bench_rows.h"
#include "support/json.h"

/* A row of a worker's peak, its name behind `prefix`. */
assay_status assay__bench_add_peak(const json_t *peak, const char *prefix, assay__bench_rows *r);

#endif
