/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/crooked/crooked.h -- what the environment asks this plug-in to break. */
#ifndef ASSAY_TESTS_CROOKED_H
#define ASSAY_TESTS_CROOKED_H

#include <stdlib.h>
#include <string.h>

#include "runtime/host_backend.h"
#include "runtime/op_params.h"

/* Is this what $ASSAY_CROOKED names? */
static inline bool crooked_is(const char *what)
{
    const char *asked = getenv("ASSAY_CROOKED");

    return asked != NULL && strcmp(asked, what) == 0;
}

enum { CROOKED_KERNELS = 7 };
extern const assay_kernel_desc crooked_kernels[CROOKED_KERNELS];

#endif
