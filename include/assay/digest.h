/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/digest.h -- 256-bit digests (BLAKE2b) and the table of source hashes of a plug-in. */
#ifndef ASSAY_DIGEST_H
#define ASSAY_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_DIGEST_BYTES 32
#define ASSAY_DIGEST_HEX   65 /* 64 lower-case digits and the NUL */

typedef struct assay_digest {
    uint8_t bytes[ASSAY_DIGEST_BYTES];
} assay_digest;

/* One row of the table that the build writes for a plug-in: what the token streams of `path` and
 * of every project file it includes hash to. */
typedef struct assay_source_hash {
    const char *path; /* relative to the root of the source tree */
    assay_digest digest;
} assay_source_hash;

/* 64 lower-case hexadecimal digits and a NUL. */
void assay_digest_format(const assay_digest *digest, char out[ASSAY_DIGEST_HEX]);

/* Exactly 64 hexadecimal digits of either case, nothing before or after.  ASSAY_PARSE otherwise. */
assay_status assay_digest_parse(const char *text, assay_digest *out);

/* Orders as memcmp does: negative, 0, positive. */
int assay_digest_compare(const assay_digest *a, const assay_digest *b);
bool assay_digest_equal(const assay_digest *a, const assay_digest *b);

#ifdef __cplusplus
}
#endif
#endif
