/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_form_avx2.c -- made functions over an array, by vectors of 256 bits. */
#include "backends/vector_avx2.h"

#include "backends/sleef/sleef_form.h"

void sleef_form_f32_avx2(const sleef_step *step, const void *x, void *y, int64_t n)
{
    map_ps(step, x, y, n);
}

void sleef_form_f64_avx2(const sleef_step *step, const void *x, void *y, int64_t n)
{
    map_pd(step, x, y, n);
}
