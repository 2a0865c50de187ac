/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/digest.h -- BLAKE2b-256 over tagged, length-prefixed fields.
 *
 * Every field is written as tag, 8-byte little-endian length, bytes, so that no two lists of fields
 * give the same input.  A hasher is a value on the caller's stack; it needs no release. */
#ifndef ASSAY_RUNTIME_DIGEST_H
#define ASSAY_RUNTIME_DIGEST_H

#include "assay/digest.h"

typedef struct assay__hasher {
    _Alignas(64) uint8_t state[384]; /* room of the library's own state, checked where it is used */
} assay__hasher;

/* `schema` names what is hashed and its version, e.g. "assay-source-1"; it is the first field. */
void assay__hash_init(assay__hasher *hasher, const char *schema);
/* `tag` tells fields of one schema apart; any byte. */
void assay__hash_field(assay__hasher *hasher, uint8_t tag, const void *bytes, size_t length);
/* The text as it lies, without its NUL; NULL counts as "". */
void assay__hash_string(assay__hasher *hasher, uint8_t tag, const char *text);
void assay__hash_u64(assay__hasher *hasher, uint8_t tag, uint64_t value);
void assay__hash_digest(assay__hasher *hasher, uint8_t tag, const assay_digest *digest);
/* Ends the hasher; init starts it anew. */
void assay__hash_final(assay__hasher *hasher, assay_digest *out);

#endif
