/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/expr.h -- arithmetic expressions of the catalogue and of contracts (docs/expressions.md).
 *
 * Compiled once to plain copyable data without pointers; evaluated without allocation, lock or
 * side effect. A value is a finite number or unknown; no input makes evaluation fail otherwise. */
#ifndef ASSAY_RUNTIME_EXPR_H
#define ASSAY_RUNTIME_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/status.h"

#define ASSAY__EXPR_CODE_MAX  128 /* steps; a load fused with its operator counts once */
#define ASSAY__EXPR_CONST_MAX 24  /* different numbers */
#define ASSAY__EXPR_STACK_MAX 32  /* values waiting for their operator */
#define ASSAY__EXPR_NEST_MAX  48  /* parentheses, signs, nots and conditionals within each other */
#define ASSAY__EXPR_NAME_MAX  63  /* bytes of a name */

typedef struct assay__expr_step {
    uint8_t op;
    uint8_t arg;
} assay__expr_step;

/* All zero: an absent expression, whose value is unknown. */
typedef struct assay__expr {
    assay__expr_step code[ASSAY__EXPR_CODE_MAX];
    double constants[ASSAY__EXPR_CONST_MAX];
    uint16_t length; /* steps with the final one */
    uint16_t constant_count;
} assay__expr;

/* What the names of an expression mean. */
typedef struct assay__expr_scope {
    /* Slot (0 to 255) of a parameter, or of an extent written as "extent(0,1)"; -1: no such name.
     */
    int (*resolve)(const void *context, const char *name);
    const void *context;  /* borrowed, for the compilation only */
    unsigned dtype_count; /* operands that dtype_bytes() may ask for, at most 256 */
    const char *known;    /* the names, for error texts; NULL: not told */
} assay__expr_scope;

/* ASSAY_PARSE: the text of the error gives the column (bytes from 1), what was expected and what
 * was found; ASSAY_INVALID: NULL. `out` is written on success only. */
assay_status assay__expr_compile(const char *text, const assay__expr_scope *scope,
                                 assay__expr *out);

/* False, with `out` untouched, when the value is unknown: a slot that the value depends on is NaN
 * or infinite, a divisor is 0, an argument lies outside its function's domain, a result exceeds
 * f64. slots and dtype_bytes may be NULL when the expression asks for none. */
bool assay__expr_eval(const assay__expr *e, const double *slots, const double *dtype_bytes,
                      double *out);

#endif
