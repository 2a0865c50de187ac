/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_sum_reduce.c -- sums along an axis, in double-doubles. */
#include "backends/ref/ref_reduce.h"

REF_OP(sum_reduce, 4096)
{
    return ref_wide_reduce(launch, threads, out, ref_sum_of);
}
