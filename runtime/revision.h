/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/revision.h -- the hash of all that decides what a variant computes and how fast it is.
 *
 * Strings enter trimmed of white space; NULL counts as "".  No path, address or index of a list
 * enters, and the order of sources and libraries means nothing. */
#ifndef ASSAY_RUNTIME_REVISION_H
#define ASSAY_RUNTIME_REVISION_H

#include "assay/plugin.h"

typedef struct assay__revision_library {
    const char *soname;
    const char *version;
    const char *build_id;
    const char *config; /* run-time configuration, algorithm descriptor */
    /* As the name of its file has it, which says where it lies, not what it is: a copy under its
     * SONAME is the same library.  Hashed only where build_id is absent or "unknown". */
    const char *file_version;
} assay__revision_library;

typedef struct assay__revision_input {
    const assay_digest *code; /* of each file in `sources`; repeats count once */
    size_t code_count;
    const char *build_id; /* of a binary plug-in, which has no code digests */
    const assay__revision_library *libraries;
    size_t library_count;
    const char *compiler; /* target, version line and build-id; flags are in the code digests */
    const char *op;
    const char *dtypes; /* "f32,f32,f32" */
    const char *backend;
    const char *kernel; /* its name: two of one entry point may differ in their descriptors alone */
    const char *entry_point;
    uint32_t abi_version;
    uint32_t error_tile; /* 0: none, and it does not enter; what was judged by it */
    double error_factor;
} assay__revision_input;

/* ASSAY_INVALID when code and build-id, op, dtypes, backend, kernel, entry point or a library's
 * SONAME are absent: two things that are not known must not look alike. */
assay_status assay__revision_compute(const assay__revision_input *in, assay_digest *out);

/* Splits what a plug-in's library_identity gave, '\n' separated key=value, into a library: keys
 * soname, version and build_id, all other lines sorted into config.  `buf` of `cap` bytes holds the
 * strings and lives as long as *out is used.  ASSAY_PARSE: a line without '=' or a repeated key;
 * ASSAY_OVERFLOW: does not fit. */
assay_status assay__revision_library_parse(const char *text, char *buf, size_t cap,
                                           assay__revision_library *out);

/* H(kernel revision, tunables): names and values, sorted by name.  ASSAY_INVALID: a name twice or
 * more than ASSAY_MAX_TUNABLES. */
assay_status assay__variant_revision(const assay_digest *kernel, const assay_tunable *tunables,
                                     const int64_t *values, size_t count, assay_digest *out);

/* Of what a contract claims; never part of a revision.  NaN and negative numbers: no claim. */
void assay__claims_digest(const assay_claims *claims, assay_digest *out);

#endif
