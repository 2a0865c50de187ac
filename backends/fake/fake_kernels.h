/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_kernels.h -- the rows of the fake backend's manifest. */
#ifndef ASSAY_BACKENDS_FAKE_KERNELS_H
#define ASSAY_BACKENDS_FAKE_KERNELS_H

#include "backends/fake/fake.h"

extern const assay_kernel_fn fake_entries[FAKE_KERNELS];
extern const assay_kernel_desc fake_rows[2 * FAKE_KERNELS];

/* What a duration grows with: n, or batch m n k. */
double fake_units(const assay_problem *p);

/* Slot probe, and what the launch of one of its kernels took that ran last. */
assay_status fake_probe(assay_instance *instance, assay_probe *probe);
double fake_probe_ns(const assay_launch *launch);

#endif
