/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/select_stage.h -- a registry over the plug-ins of tests/plugins/select_plug.c:
 * card_a, card_b (CUDA), bare (CUDA, no kernels), vk (Vulkan), host_a, host_b (CPU), hidden
 * (explicit-only), oracle, absent (kernels of an instruction set that nobody has). */
#ifndef ASSAY_TESTS_SELECT_STAGE_H
#define ASSAY_TESTS_SELECT_STAGE_H

#include <check.h>

#include "assay/select.h"

extern assay_context *select_context;
extern assay_registry *select_registry;
extern assay_selection selected;

void select_setup(void);
void select_teardown(void);

/* What a device says of itself from now on; see the plug-in. "": nothing. */
void select_script(const char *name, const char *script);
/* The same with one word "features=". */
void select_features(const char *name, uint64_t features);
/* Opens a context with these backends and a registry over it. */
void select_open(const char *backends);
/* The same with a store in memory where matmul f32 m=n=k=64 is measured for these, the first being
 * the winner with 100 ns, the next with 200 and so on. */
void select_open_measured(const char *backends, const char *const *measured, size_t count);

/* Name of what assay_select gives; else the text of the failure, which is ASSAY_UNSUPPORTED. */
const char *select_name(const assay_select_request *request);
/* The same for a class of ops. */
const char *select_routed(assay_op_class op_class, const assay_question *question);

/* Runs one suite of one subject on this stage; for main. */
int select_run(const char *name, void (*fill)(TCase *subject));

/* text contains part; says both otherwise. */
#define ck_assert_says(text, part) \
    ck_assert_msg(strstr((text), (part)) != NULL, "'%s' lacks '%s'", (text), (part))
#define ck_assert_never_says(text, part) \
    ck_assert_msg(strstr((text), (part)) == NULL, "'%s' has '%s'", (text), (part))

#endif
