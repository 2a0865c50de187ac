/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/judge_slot.h -- the judge of judge_host.h as a slot of a backend. */
#ifndef ASSAY_TESTS_JUDGE_SLOT_H
#define ASSAY_TESTS_JUDGE_SLOT_H

#include "assay/plugin.h"

/* Of a backend whose kernels take addresses of the host. */
assay_status judge_host_slot(assay_instance *instance, assay_judge *judge);
/* How it lies: applied to each record behind the honest judge; NULL: it does not. */
extern void (*judge_host_lie)(assay_judged *record);

#endif
