/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/plugin_all.h -- every plug-in of this build, and which of its kernels run here. */
#ifndef ASSAY_TESTS_PLUGIN_ALL_H
#define ASSAY_TESTS_PLUGIN_ALL_H

#include <stdbool.h>

#include "assay/plugin.h"

/* How many there are; asked before the tests fork. */
int plugin_all_find(void);
/* Loads one of them. */
const assay_manifest *plugin_all_at(int index);

/* Opens it, unless it is the reference, which would be compared with itself. */
bool plugin_all_open(const assay_manifest *m, assay_instance **instance);
bool plugin_all_has(const assay_manifest *m, assay_op_id op);
/* Not: kernels of a library that is not here or does not serve this CPU, other instruction sets. */
bool plugin_all_runs(const assay_manifest *m, assay_instance *instance, const assay_kernel_desc *k);
void plugin_all_close(const assay_manifest *m, assay_instance **instance);

#endif
