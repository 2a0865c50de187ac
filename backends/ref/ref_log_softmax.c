/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_log_softmax.c -- log_softmax along any axis: the lines of
 * ref_log_softmax_last_dim.c. */
#include "backends/ref/ref.h"

REF_ROWS_OP(log_softmax)
{
    return ref_wide_rows(launch, threads, out, ref_log_softmax_line);
}
