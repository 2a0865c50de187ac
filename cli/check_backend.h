/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/check_backend.h -- `assay check --backend NAME`: does a backend keep the contract? */
#ifndef ASSAY_CLI_CHECK_BACKEND_H
#define ASSAY_CLI_CHECK_BACKEND_H

#include <stdbool.h>

#include "support/str.h"

/* Tries every rule, tells each, and returns the exit code: 1 when one failed, 4 when the backend is
 * not here.  plugin_path NULL: the usual search.  only: globs, those rules alone; empty: all. */
int assay__check_backend(const char *backend, const char *plugin_path, const assay__strlist *only,
                         bool is_json);

#endif
