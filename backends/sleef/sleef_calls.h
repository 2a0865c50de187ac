/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_calls.h -- vector functions of SLEEF, opened at run time.
 *
 * Names give the width of a vector; within a width SLEEF chooses the code for this CPU itself. */
#ifndef ASSAY_BACKENDS_SLEEF_CALLS_H
#define ASSAY_BACKENDS_SLEEF_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"

/* A vector in, a vector out; called only by the file whose flags know the vector. */
typedef void (*sleef_fn)(void);

typedef struct sleef_function {
    sleef_fn f32[2], f64[2]; /* 256 and 512 bits */
} sleef_function;

typedef struct sleef_library {
    sleef_function exp, log, tanh, erf, sqrt;
} sleef_library;

/* Opens the library on the first call; NULL with the reason in *why (static) when it cannot. */
const sleef_library *sleef_open(const char **why);

/* What is made of a function: nothing else, or one that SLEEF lacks. */
typedef enum sleef_form {
    SLEEF_PLAIN,
    SLEEF_SIGMOID,
    SLEEF_SILU,
    SLEEF_GELU,
    SLEEF_GELU_ERF,
    SLEEF_RSQRT
} sleef_form;

/* One function on one width.  Of f64, arguments above `doubtful` go to `exact`, element by element,
 * where the form is SLEEF_PLAIN. */
typedef struct sleef_step {
    sleef_fn fn;
    sleef_form form;
    double doubtful;
    double (*exact)(double);
} sleef_step;

/* n elements; y may equal x. */
typedef void (*sleef_map)(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_map_f32_avx2(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_map_f64_avx2(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_map_f32_avx512(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_map_f64_avx512(const sleef_step *step, const void *x, void *y, int64_t n);
/* The same for forms that are not SLEEF_PLAIN. */
void sleef_form_f32_avx2(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_form_f64_avx2(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_form_f32_avx512(const sleef_step *step, const void *x, void *y, int64_t n);
void sleef_form_f64_avx512(const sleef_step *step, const void *x, void *y, int64_t n);

/* Positions of the tunables. */
enum { SLEEF_THREADS, SLEEF_BITS };

/* Of each op that the manifest has a row for. */
assay_status sleef_unary(const assay_launch *launch);
bool sleef_usable(const assay_problem *problem, const int64_t *tunables);

#endif
