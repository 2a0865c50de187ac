/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/fake_worker.h -- a worker inside of the test program: the scripted device has an
 * add of 64 elements prepared. */
#ifndef ASSAY_TESTS_SUPPORT_FAKE_WORKER_H
#define ASSAY_TESTS_SUPPORT_FAKE_WORKER_H

#include "tuner/worker.h"

extern assay__worker_state fake_worker;

/* Fails the test with the text of the last error. */
void must(assay_status status);
/* The script of the device and that of the core's clock; NULL: the machine's own. */
void fake_worker_begin(const char *script, const char *clock);
/* A second set of inputs, of ones. */
void fake_worker_add_set(void);
void fake_worker_end(void);

#endif
