/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_digest.c -- the rule on digests of what lies in buffers. */
#include "conform/conform.h"
#include "runtime/engine_internal.h"
#include "runtime/word_digest.h"

enum { BYTES = 1 << 20, MOST = 64 };

/* So many pieces of so many bytes, each `step` behind the one before. */
static assay__conform_verdict check(assay__conform *c, assay_buffer b, const unsigned char *want,
                                    uint64_t offset, uint64_t bytes, uint64_t step, size_t count)
{
    uint64_t got[MOST] = {0};

    ASSAY__FINE(assay__backend_digest(&c->engine->backend, b, offset, bytes, step, count, got));
    for (size_t i = 0; i < count; i++)
        ASSAY__HOLDS(got[i] == assay__word_digest(want + offset + i * step, (size_t)bytes),
                     "digest of piece %zu of %zu, %llu bytes, is another", i, count,
                     (unsigned long long)bytes);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_digest(assay__conform *c)
{
    static unsigned char want[BYTES];
    const assay__backend *backend = &c->engine->backend;
    uint64_t got[2];
    assay_buffer b;

    for (size_t i = 0; i < BYTES; i++)
        want[i] = (unsigned char)(i * 7 + i / 251 + i / 65521);
    ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, b, want, BYTES));
    if (assay__backend_digest(backend, b, 0, 8, 8, 1, got) == ASSAY_UNSUPPORTED) {
        ASSAY__FINE(assay_engine_free(c->engine, b));
        return assay__conform_skip(c, "the backend has no digests (slot digest)");
    }
    ASSAY__PART(check(c, b, want, 0, 8, 8, 1));
    ASSAY__PART(check(c, b, want, 0, BYTES, BYTES, 1));
    ASSAY__PART(check(c, b, want, 16, 4096, 12288, MOST));
    ASSAY__PART(check(c, b, want, 8, 32776, 65536, 8));
    want[70000] ^= 1;
    ASSAY__FINE(assay_engine_upload_at(c->engine, b, 70000, want + 70000, 1));
    ASSAY__PART(check(c, b, want, 0, BYTES / 8, BYTES / 8, 8));
    ASSAY__GIVES(assay__backend_digest(backend, b, 4, 8, 8, 1, got), ASSAY_INVALID);
    ASSAY__GIVES(assay__backend_digest(backend, b, 0, 12, 16, 1, got), ASSAY_INVALID);
    ASSAY__GIVES(assay__backend_digest(backend, b, 0, 8, 8, 0, got), ASSAY_INVALID);
    ASSAY__GIVES(assay__backend_digest(backend, b, 0, 16, 8, 2, got), ASSAY_INVALID);
    ASSAY__GIVES(assay__backend_digest(backend, b, BYTES - 8, 8, 8, 2, got), ASSAY_INVALID);
    ASSAY__FINE(assay_engine_free(c->engine, b));
    ASSAY__GIVES(assay__backend_digest(backend, b, 0, 8, 8, 1, got), ASSAY_FREED);
    return ASSAY__CONFORM_PASS;
}
