/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/engine_case.h -- engines over the plug-ins of this build, and what they refuse. */
#ifndef ASSAY_TESTS_ENGINE_CASE_H
#define ASSAY_TESTS_ENGINE_CASE_H

#include "assay/compute.h"

/* A context over all plug-ins of the build, without a store. */
assay_context *engine_context(void);
/* The same with one. */
assay_context *engine_context_at(const char *store);
/* Created, not initialised; kernels: as in assay_engine_options. */
assay_engine *engine_create(assay_context *context, const char *backend, const char *kernels);
/* Initialised on device 0. */
assay_engine *engine_open(assay_context *context, const char *backend, const char *kernels);

assay_buffer engine_alloc(assay_engine *engine, uint64_t bytes);

/* The status, and a text that holds `says`. */
void engine_refuses(assay_status status, assay_status wanted, const char *says);

#endif
