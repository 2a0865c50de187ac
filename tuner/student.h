/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/student.h -- tail probabilities behind the intervals: Student's t and the fair binomial. */
#ifndef ASSAY_TUNER_STUDENT_H
#define ASSAY_TUNER_STUDENT_H

#include <stddef.h>

/* P(|T| > t) for Student's t with `df` > 0 degrees of freedom, t >= 0. In [0, 1]. */
double assay__student_tails(double t, double df);

/* The t with P(|T| > t) = `alpha`, 0 < alpha < 1; accurate to 1e-12 relative. Capped at 1e150. */
double assay__student_critical(double alpha, double df);

/* P(B <= k) for B = heads in n tosses of a fair coin; 0 <= k < n. */
double assay__coin_tail(size_t n, size_t k);

#endif
