/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/expr_code.h -- the steps between expr.c, which writes them, and expr_eval.c. */
#ifndef ASSAY_RUNTIME_EXPR_CODE_H
#define ASSAY_RUNTIME_EXPR_CODE_H

/* X(NAME): top = op(top) */
#define ASSAY__EXPR_UNARY_MAP(X) X(NEG) X(NOT) X(FLOOR) X(CEIL) X(LOG2) X(SQRT) X(ABS)

/* X(NAME): top = op(below, top), with below taken off the stack; or, fused with the load of the
 * right operand, top = op(top, operand). */
#define ASSAY__EXPR_BINARY_MAP(X) \
    X(ADD)                        \
    X(SUB)                        \
    X(MUL)                        \
    X(DIV)                        \
    X(MOD)                        \
    X(FLOORDIV)                   \
    X(LT)                         \
    X(LE)                         \
    X(GT)                         \
    X(GE)                         \
    X(EQ)                         \
    X(NE)                         \
    X(AND)                        \
    X(OR)                         \
    X(MIN)                        \
    X(MAX)

enum expr_op {
    EXPR_UNKNOWN = 0, /* ends: nothing is known */
    EXPR_END,
    EXPR_SELECT, /* condition, value if true, top: value if false */
    EXPR_LOAD_SLOT,
    EXPR_LOAD_BYTES,
    EXPR_LOAD_CONST,
#define X(NAME) EXPR_##NAME,
    ASSAY__EXPR_UNARY_MAP(X)
#undef X
/* The four forms stand in the order of the loads, so that fusing is an addition. */
#define X(NAME) EXPR_##NAME, EXPR_##NAME##_SLOT, EXPR_##NAME##_BYTES, EXPR_##NAME##_CONST,
        ASSAY__EXPR_BINARY_MAP(X)
#undef X
            EXPR_OP_COUNT
};

#endif
