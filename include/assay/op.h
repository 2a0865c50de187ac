/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/op.h -- the op catalogue as data, and problems: an op with everything about it given. */
#ifndef ASSAY_OP_H
#define ASSAY_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/dtype.h"
#include "assay/status.h"
#include "assay/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_MAX_OPERANDS 8
#define ASSAY_MAX_PARAMS   20
#define ASSAY_EXTENT_MAX   ((int64_t)1 << 40)
#define ASSAY_REAL_MAX     1.7976931348623157e308

/* Process-local numbers: files and stores hold names. */
typedef enum assay_op_id {
#define ASSAY_OP(name, ...) ASSAY_OP_##name,
#include "assay/op.def"
    ASSAY_OP_COUNT
} assay_op_id;

typedef enum assay_op_family {
    ASSAY_FAMILY_CONTRACTION,
    ASSAY_FAMILY_ELEMENTWISE_BINARY,
    ASSAY_FAMILY_ELEMENTWISE_UNARY,
    ASSAY_FAMILY_ROW,
    ASSAY_FAMILY_NORM,
    ASSAY_FAMILY_REDUCE,
    ASSAY_FAMILY_INDEX,
    ASSAY_FAMILY_ATTENTION,
    ASSAY_FAMILY_COUNT
} assay_op_family;

/* How a result is judged; meanings in op.def. */
typedef enum assay_bound_rule {
    ASSAY_BOUND_EXACT,
    ASSAY_BOUND_DIST,
    ASSAY_BOUND_SUM, /* the oracle gives a magnitude for each element, errors have a rho */
    ASSAY_BOUND_SOFTMAX
} assay_bound_rule;

typedef enum assay_param_kind { ASSAY_KIND_INT, ASSAY_KIND_REAL, ASSAY_KIND_ENUM } assay_param_kind;
typedef enum assay_param_class { ASSAY_SHAPE, ASSAY_CLASS, ASSAY_INERT } assay_param_class;

typedef struct assay_param_info {
    const char *name;
    assay_param_kind kind;
    assay_param_class klass;
    bool has_default;
    double default_value; /* exact: integers here are below 2^53 */
    double min, max;
    const char *values; /* names of an ENUM separated by '|' */
    const char *doc;
} assay_param_info;

typedef struct assay_operand_info {
    const char *name, *extents; /* text, e.g. "batch, m, n" */
} assay_operand_info;

typedef struct assay_op_info {
    assay_op_id id;
    const char *name;
    assay_op_family family;
    unsigned inputs, outputs;
    const char *dtype_rule, *dtypes; /* op.def says how they read; assay_op_tuple reads them */
    const char *flops, *bytes;       /* expressions */
    const char *doc;
    const assay_param_info *params; /* catalogue order */
    size_t param_count;
    assay_bound_rule bound_rule;
    double bound_fixed;
    const char *bound_terms;            /* expression */
    const assay_operand_info *operands; /* inputs then outputs */
} assay_op_info;

/* NULL for a number outside the catalogue. */
const assay_op_info *assay_op_get(assay_op_id id);
/* ASSAY_INVALID names the nearest op and lists all. */
assay_status assay_op_find(const char *name, assay_op_id *out);
/* Number `index` of the dtype tuples that the op takes, inputs then outputs; false past the last.
 */
bool assay_op_tuple(assay_op_id op, size_t index, assay_dtype out[ASSAY_MAX_OPERANDS]);
/* -1 when the op has no such parameter. */
int assay_op_param_index(assay_op_id op, const char *name);

typedef union assay_value {
    int64_t i; /* INT; ENUM as the index of its name */
    double r;  /* REAL */
} assay_value;

/* Flat and plain: copy it freely.  Unused dtypes and params are zero. */
typedef struct assay_problem {
    uint16_t op; /* assay_op_id */
    uint8_t dtype_count;
    uint8_t param_count;
    uint8_t dtypes[ASSAY_MAX_OPERANDS]; /* assay_dtype, inputs then outputs */
    uint8_t given[4];                   /* bit i: parameter i was set */
    assay_value params[ASSAY_MAX_PARAMS];
} assay_problem;

/* Empty problem: dtypes by the op's rule for T (UNSUPPORTED when T is not allowed, INVALID when the
 * rule has another dtype that T leaves open), parameters at their defaults. */
assay_status assay_problem_init(assay_op_id op, assay_dtype t, assay_problem *out);
/* Full dtype tuple, inputs then outputs; must fit the op's rule. */
assay_status assay_problem_init_tuple(assay_op_id op, const assay_dtype *dtypes, size_t count,
                                      assay_problem *out);
/* Sets one parameter from text; the error names the parameter and its range. */
assay_status assay_problem_set(assay_problem *p, const char *name, const char *value);
assay_status assay_problem_set_int(assay_problem *p, const char *name, int64_t value);
assay_status assay_problem_set_real(assay_problem *p, const char *name, double value);
/* All required parameters given, all within their ranges, every operand's byte size within int64_t,
 * sum within 2^62. */
assay_status assay_problem_check(const assay_problem *p);

/* Value of a parameter by index as a double, for expressions. */
double assay_problem_value(const assay_problem *p, size_t index);
/* Integer parameter by name; the caller knows that it exists (asserted). */
int64_t assay_problem_int(const assay_problem *p, const char *name);
double assay_problem_real(const assay_problem *p, const char *name);

/* Canonical text `op dtype,dtype,... name=value,...`: catalogue order, defaults omitted, reals as
 * C hex floats.  ACCURACY has every parameter; COST leaves inert ones out and writes class
 * parameters as 0, 1 or "other".  Returns the length without the NUL, or 0 if `cap` is too small.
 */
typedef enum assay_text_form { ASSAY_TEXT_ACCURACY, ASSAY_TEXT_COST } assay_text_form;
#define ASSAY_PROBLEM_TEXT_MAX 768
size_t assay_problem_format(const assay_problem *p, assay_text_form form, char *buf, size_t cap);
/* Reads the ACCURACY form. */
assay_status assay_problem_parse(const char *text, assay_problem *out);
bool assay_problem_equal(const assay_problem *a, const assay_problem *b);

/* Extents of operand i (inputs then outputs) as op.def defines them; row-major when contiguous. */
assay_status assay_problem_operand(const assay_problem *p, size_t i, uint32_t *rank,
                                   int64_t dims[ASSAY_MAX_RANK]);
/* Elements and bytes of operand i when contiguous. */
int64_t assay_problem_operand_elements(const assay_problem *p, size_t i);
int64_t assay_problem_operand_bytes(const assay_problem *p, size_t i);

/* Layer-1 counts from the catalogue's expressions; false: unknown. */
bool assay_problem_flops(const assay_problem *p, double *out);
bool assay_problem_bytes(const assay_problem *p, double *out);

#ifdef __cplusplus
}
#endif
#endif
