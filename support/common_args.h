/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/common_args.h -- the options that every command understands alike.
 *
 * A command names those that mean something to it (the mask); the others are refused by name
 * instead of being accepted and ignored. */
#ifndef ASSAY_SUPPORT_COMMON_ARGS_H
#define ASSAY_SUPPORT_COMMON_ARGS_H

#include <math.h>

#include "support/args.h"

/* X(row) in the order of the table and of --help. */
#define ASSAY__COMMON_MAP(X) \
    X(DB)                    \
    X(JSON)                  \
    X(QUIET)                 \
    X(SEED)                  \
    X(DEVICE)                \
    X(BACKEND)               \
    X(KERNEL)                \
    X(OP)                    \
    X(DTYPE)                 \
    X(SHAPE)                 \
    X(SHAPES)                \
    X(PROFILE)               \
    X(BUDGET)                \
    X(THREADS)               \
    X(POLICY)                \
    X(ALIGN)                 \
    X(LAYOUT)

enum {
#define X(name) ASSAY__COMMON_ROW_##name,
    ASSAY__COMMON_MAP(X)
#undef X
        ASSAY__COMMON_COUNT
};

/* Bits for the mask: ASSAY__COMMON(DB) | ASSAY__COMMON(JSON). */
#define ASSAY__COMMON(name) (UINT64_C(1) << ASSAY__COMMON_ROW_##name)

typedef struct assay__common {
    const char *db;                      /* never NULL: "assay.db" by default */
    bool is_json, is_quiet;              /* data as JSON; no progress and no warnings */
    int64_t seed;                        /* >= 0 */
    const char *device;                  /* NULL: any */
    assay__strlist backends;             /* empty: all */
    assay__strlist kernels;              /* globs, any may match; empty: all */
    assay__strlist ops;                  /* empty: all */
    const char *dtype;                   /* "f32" or a full tuple "u8,f32,f32,f32"; NULL: all */
    assay__strlist shapes;               /* texts "m=64|128,n=64..4096*2" as given */
    const char *shapes_file;             /* NULL: none */
    const char *profile;                 /* NULL: the command's own default */
    double budget_s;                     /* NaN: no limit */
    int64_t threads;                     /* INT64_MIN: not given */
    const char *policy, *align, *layout; /* NULL: the default question */
} assay__common;

#define ASSAY__COMMON_DEFAULTS                                                     \
    {                                                                              \
        .db = "assay.db", .seed = 1, .budget_s = (double)NAN, .threads = INT64_MIN \
    }

/* The table over `common`, showing the rows of `mask`. */
assay__arg_table assay__common_table(assay__common *common, uint64_t mask);

#endif
