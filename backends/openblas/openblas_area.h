/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_area.h -- memory between two products; one area is kept for the next
 * call, as fresh pages would cost as much as a small product. */
#ifndef ASSAY_BACKENDS_OPENBLAS_AREA_H
#define ASSAY_BACKENDS_OPENBLAS_AREA_H

#include <stddef.h>
#include <stdint.h>

/* What a kernel asks for at most, unless one row is more. */
#define OPENBLAS_AREA_BYTES ((int64_t)64 << 20)

/* At a multiple of 64; NULL: no memory. */
void *openblas_take(size_t bytes);
void openblas_give_back(void *memory, size_t bytes);

#endif
