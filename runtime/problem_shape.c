/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem_shape.c -- extents of operands: the catalogue's expressions, compiled. */
#include <assert.h>

#include "assay/op.h"
#include "runtime/error.h"
#include "runtime/op_params.h"
#include "runtime/problem_text.h"

/* One function an op; parameters become constants of their names, so that the text of a row is its
 * code.  Returns the rank, or 0 past the last operand. */
#define ASSAY_OP(name, ...)                                                                     \
    static uint32_t extents_##name(const assay_problem *problem_, size_t wanted_, int64_t *to_) \
    {                                                                                           \
        size_t operand_ = 0;
#define ASSAY_PARAM(op, name, ...)                       \
    const int64_t name = ASSAY__INT(problem_, op, name); \
    (void)name;
#define ASSAY_OPERAND(op, name, ...)                                                   \
    if (operand_++ == wanted_) {                                                       \
        const int64_t list_[] = {__VA_ARGS__};                                         \
        _Static_assert(sizeof list_ / sizeof *list_ <= ASSAY_MAX_RANK, #op " " #name); \
        for (size_t i_ = 0; i_ < sizeof list_ / sizeof *list_; i_++)                   \
            to_[i_] = list_[i_];                                                       \
        return (uint32_t)(sizeof list_ / sizeof *list_);                               \
    }
#define ASSAY_OP_END(name) \
    return 0;              \
    }
#include "assay/op.def"

/* The reason why the problem is none, or NULL. */
#define ASSAY_OP(name, ...)                                         \
    static const char *broken_##name(const assay_problem *problem_) \
    {
#define ASSAY_PARAM(op, name, ...)                       \
    const int64_t name = ASSAY__INT(problem_, op, name); \
    (void)name;
#define ASSAY_REQUIRE(op, condition, text) \
    if (!(condition))                      \
        return text;
#define ASSAY_OP_END(name) \
    return NULL;           \
    }
#include "assay/op.def"

static const char *(*const broken[ASSAY_OP_COUNT])(const assay_problem *) = {
#define ASSAY_OP(name, ...) [ASSAY_OP_##name] = broken_##name,
#include "assay/op.def"
};

assay_status assay__problem_require(const assay_problem *p)
{
    const char *why = broken[p->op](p);

    return why == NULL
               ? ASSAY_OK
               : assay__fail(ASSAY_INVALID, "%s: %s", assay_op_get((assay_op_id)p->op)->name, why);
}

typedef uint32_t (*extents_fn)(const assay_problem *problem, size_t wanted, int64_t *to);

static const extents_fn extents[ASSAY_OP_COUNT] = {
#define ASSAY_OP(name, ...) [ASSAY_OP_##name] = extents_##name,
#include "assay/op.def"
};

assay_status assay_problem_operand(const assay_problem *p, size_t i, uint32_t *rank,
                                   int64_t dims[ASSAY_MAX_RANK])
{
    if (p->op >= ASSAY_OP_COUNT || i >= p->dtype_count)
        return assay__fail(ASSAY_INVALID, "operand %zu does not exist", i);
    /* Extents may divide by what a requirement keeps from 0. */
    ASSAY_TRY(assay__problem_require(p));
    *rank = extents[p->op](p, i, dims);
    assert(*rank > 0); /* as many ASSAY_OPERAND rows as inputs and outputs */
    return ASSAY_OK;
}
