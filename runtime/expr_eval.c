/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/expr_eval.c -- evaluates compiled expressions.
 *
 * Unknown is a NaN while it travels. An overflow travels as infinity, which + - * keep or turn
 * into NaN; every other operator that could turn it back into a number asks for finite operands. */
#include "runtime/expr.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "runtime/expr_code.h"

#define UNKNOWN ((double)NAN)

static inline bool known(double x)
{
    return fabs(x) <= DBL_MAX;
}

static inline bool both_known(double a, double b)
{
    return ((int)known(a) & (int)known(b)) != 0; /* one branch */
}

/* Without SSE4.1 the compiler would call libm; beyond 2^52 every number is an integer. */
static inline double floor_fast(double x)
{
    if (!(fabs(x) < 0x1p52))
        return x;
    double cut = (double)(int64_t)x;
    return cut > x ? cut - 1 : cut;
}

static inline bool is_exact_int(double x)
{
    return fabs(x) < 0x1p53 && (double)(int64_t)x == x;
}

/* Remainder with the sign of the divisor; exact but for the last addition. */
static __attribute__((noinline)) double remainder_general(double a, double b)
{
    double rest = fmod(a, b);

    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static inline double op_mod(double a, double b)
{
    if (!both_known(a, b) || b == 0)
        return UNKNOWN;
    if (is_exact_int(a) && is_exact_int(b))
        return a - floor_fast(a / b) * b; /* below 2^53 the quotient never rounds up to the next */
    return remainder_general(a, b);
}

static inline double op_floordiv(double a, double b)
{
    if (!both_known(a, b) || b == 0)
        return UNKNOWN;
    if (is_exact_int(a) && is_exact_int(b))
        return floor_fast(a / b);
    return floor_fast((a - remainder_general(a, b)) / b + 0.5);
}

static inline double op_div(double a, double b)
{
    return known(b) && b != 0 ? a / b : UNKNOWN;
}

static __attribute__((noinline)) double op_log2(double x)
{
    return known(x) && x > 0 ? log2(x) : UNKNOWN;
}

static inline double op_sqrt(double x)
{
    return x >= 0 ? sqrt(x) : UNKNOWN;
}

/* What decides alone decides even beside an unknown. */
static inline double op_and(double a, double b)
{
    if (a == 0 || b == 0)
        return 0;
    return both_known(a, b) ? 1 : UNKNOWN;
}

static inline double op_or(double a, double b)
{
    if ((known(a) && a != 0) || (known(b) && b != 0))
        return 1;
    return both_known(a, b) ? 0 : UNKNOWN;
}

#define WHEN_KNOWN(a, b, value) (both_known(a, b) ? (double)(value) : UNKNOWN)

#define APPLY_NEG(x)         (-(x))
#define APPLY_NOT(x)         (known(x) ? (double)((x) == 0) : UNKNOWN)
#define APPLY_FLOOR(x)       floor_fast(x)
#define APPLY_CEIL(x)        (-floor_fast(-(x)))
#define APPLY_LOG2(x)        op_log2(x)
#define APPLY_SQRT(x)        op_sqrt(x)
#define APPLY_ABS(x)         fabs(x)
#define APPLY_ADD(a, b)      ((a) + (b))
#define APPLY_SUB(a, b)      ((a) - (b))
#define APPLY_MUL(a, b)      ((a) * (b))
#define APPLY_DIV(a, b)      op_div(a, b)
#define APPLY_MOD(a, b)      op_mod(a, b)
#define APPLY_FLOORDIV(a, b) op_floordiv(a, b)
#define APPLY_LT(a, b)       WHEN_KNOWN(a, b, (a) < (b))
#define APPLY_LE(a, b)       WHEN_KNOWN(a, b, (a) <= (b))
#define APPLY_GT(a, b)       WHEN_KNOWN(a, b, (a) > (b))
#define APPLY_GE(a, b)       WHEN_KNOWN(a, b, (a) >= (b))
#define APPLY_EQ(a, b)       WHEN_KNOWN(a, b, (a) == (b))
#define APPLY_NE(a, b)       WHEN_KNOWN(a, b, (a) != (b))
#define APPLY_AND(a, b)      op_and(a, b)
#define APPLY_OR(a, b)       op_or(a, b)
#define APPLY_MIN(a, b)      WHEN_KNOWN(a, b, (a) < (b) ? (a) : (b))
#define APPLY_MAX(a, b)      WHEN_KNOWN(a, b, (a) > (b) ? (a) : (b))

/* Labels as values: one indirect jump a step, predicted apart for each. A switch over a stack in
 * memory took 47 to 61 ns for 9 operators where this takes 10. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

#define NEXT goto *labels[(++step)->op]

bool assay__expr_eval(const assay__expr *e, const double *slots, const double *dtype_bytes,
                      double *out)
{
    static const void *const labels[EXPR_OP_COUNT] = {[EXPR_UNKNOWN] = &&do_unknown,
                                                      [EXPR_END] = &&do_end,
                                                      [EXPR_SELECT] = &&do_select,
                                                      [EXPR_LOAD_SLOT] = &&do_load_slot,
                                                      [EXPR_LOAD_BYTES] = &&do_load_bytes,
                                                      [EXPR_LOAD_CONST] = &&do_load_const,
#define X(NAME) [EXPR_##NAME] = &&do_##NAME,
                                                      ASSAY__EXPR_UNARY_MAP(X)
#undef X
#define X(NAME)                                                          \
    [EXPR_##NAME] = &&do_##NAME, [EXPR_##NAME##_SLOT] = &&do_##NAME##_S, \
    [EXPR_##NAME##_BYTES] = &&do_##NAME##_B, [EXPR_##NAME##_CONST] = &&do_##NAME##_C,
                                                          ASSAY__EXPR_BINARY_MAP(X)
#undef X
    };
    double stack[ASSAY__EXPR_STACK_MAX + 1]; /* the first load pushes the empty top */
    double *next = stack, top = 0, right;
    const assay__expr_step *step = e->code;

    goto *labels[step->op];
do_load_slot:
    *next++ = top;
    top = slots[step->arg];
    NEXT;
do_load_bytes:
    *next++ = top;
    top = dtype_bytes[step->arg];
    NEXT;
do_load_const:
    *next++ = top;
    top = e->constants[step->arg];
    NEXT;
do_select:
    next -= 2;
    top = !known(next[0]) ? UNKNOWN : next[0] != 0 ? next[1] : top;
    NEXT;
#define X(NAME)                          \
    do_##NAME : top = APPLY_##NAME(top); \
    NEXT;
    ASSAY__EXPR_UNARY_MAP(X)
#undef X
#define X(NAME)                                      \
    do_##NAME : right = top;                         \
    top = *--next;                                   \
    top = APPLY_##NAME(top, right);                  \
    NEXT;                                            \
    do_##NAME##_S : right = slots[step->arg];        \
    top = APPLY_##NAME(top, right);                  \
    NEXT;                                            \
    do_##NAME##_B : right = dtype_bytes[step->arg];  \
    top = APPLY_##NAME(top, right);                  \
    NEXT;                                            \
    do_##NAME##_C : right = e->constants[step->arg]; \
    top = APPLY_##NAME(top, right);                  \
    NEXT;
    ASSAY__EXPR_BINARY_MAP(X)
#undef X
do_end:
    if (known(top)) {
        *out = top + 0.0; /* no -0 */
        return true;
    }
do_unknown:
    return false;
}

#pragma GCC diagnostic pop
