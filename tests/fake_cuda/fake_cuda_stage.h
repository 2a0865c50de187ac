/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_stage.h -- instances of backend cuda on the scripted driver. */
#ifndef ASSAY_TESTS_FAKE_CUDA_STAGE_H
#define ASSAY_TESTS_FAKE_CUDA_STAGE_H

#include <check.h>

#include "tests/fake_cuda/fake_cuda_rows.h"

/* The backend, and a call that must succeed. */
#define B        (assay_plugin_manifest.backend)
#define OK(call) ck_assert_msg((call) == ASSAY_OK, "%s: %s", #call, cuda_stage_text())

/* The scripted driver of the test's process: see tests/fake_cuda/fake_cuda.h. */
void cuda_stage_script(const char *words);
size_t cuda_stage_live(void);
size_t cuda_stage_calls(const char *name);

/* Before the first open: which libraries are there.  By themselves the driver alone. */
void cuda_stage_with(const char *variable, bool there);

/* Opens with this script for the driver; the status. */
assay_status cuda_stage_try(const char *script, assay_instance **out);
/* The same, which must succeed. */
assay_instance *cuda_stage_open(const char *script);
/* The last instance: whatever was made in the driver is gone then. */
void cuda_stage_close(assay_instance *instance);

assay_buffer cuda_stage_make(assay_instance *instance, uint64_t bytes);
void cuda_stage_put(assay_instance *instance, assay_buffer to, const void *from, uint64_t bytes);
void cuda_stage_get(assay_instance *instance, void *to, assay_buffer from, uint64_t bytes);

/* Text and detail of the last failure. */
const char *cuda_stage_text(void);
const assay_error_detail *cuda_stage_detail(void);

/* The status, and a text that holds `says`. */
void cuda_stage_fails(assay_status status, assay_status wanted, const char *says);

#endif
