/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/output_digest.c -- a 64-bit digest of output bits. */
#include "calibrate/error_stats.h"

#include "runtime/keyhash.h"

uint64_t assay__output_digest(const void *bits, size_t bytes)
{
    return assay__xxh64(bits, bytes);
}
