/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shape_set.h -- the problems of a sweep: from CSV files, or from --op, --dtype and --shape.
 *
 * CSV columns: op, dtype (one dtype, a full tuple "f32,f32,f32", or alternatives "f32|f64"), any
 * parameter of any op (aliases such as filter_h are listed in docs/shapes.md), and, all optional,
 * set, name, count, source.  An empty cell leaves a parameter at its default. */
#ifndef ASSAY_TUNER_SHAPE_SET_H
#define ASSAY_TUNER_SHAPE_SET_H

#include "assay/op.h"

typedef struct assay__shape {
    assay_problem problem;
    double count; /* how often all sets' workloads run it: the sum over its uses */
} assay__shape;

/* A row of a set: several rows, also of different sets, may be one problem. */
typedef struct assay__shape_use {
    size_t shape; /* index of its problem in `items` */
    double count; /* how often the set's workload runs it; 1 when not said */
    char set[48], name[96];
    char source[128]; /* where the shape comes from; "" not said */
    size_t line;      /* of the file; 0: from flags */
} assay__shape_use;

typedef struct assay__skipped {
    size_t line;
    char reason[200];
} assay__skipped;

typedef struct assay__shape_set {
    assay__shape *items; /* distinct problems, in the order first seen */
    size_t count, cap;
    assay__shape_use *uses; /* at least one a problem, in the order first seen */
    size_t use_count, use_cap;
    assay__skipped *skipped; /* well-formed rows that nothing can run, and why */
    size_t skipped_count, skipped_cap;
    size_t duplicates; /* rows whose problem an earlier row has; their counts add up */
} assay__shape_set;

/* Adds a file's problems.  op NULL: all; dtype NULL: the file's, which may then not be empty. */
assay_status assay__shapes_add_csv(assay__shape_set *set, const char *path, const char *op,
                                   const char *dtype);
/* Adds the product of dtype alternatives ("f32|f64", a tuple) and a shape "m=64|128,n=64..4096*2";
 * a..b*c multiplies, a..b+c adds. */
assay_status assay__shapes_add_flags(assay__shape_set *set, const char *op, const char *dtype,
                                     const char *shape);
void assay__shapes_clear(assay__shape_set *set);

#endif
