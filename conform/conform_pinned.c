/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_pinned.c -- the rule on memory of the host that is fixed for a device.
 *
 * The slots themselves are asked, since an engine answers for a second free before the backend. */
#include <string.h>

#include "conform/conform.h"
#include "runtime/engine_internal.h"

static assay__conform_verdict moves(assay__conform *c, unsigned char *pinned, size_t bytes)
{
    static unsigned char want[70000];
    const size_t half = bytes / 2;
    assay_buffer b;

    for (size_t i = 0; i < bytes; i++)
        want[i] = pinned[i] = (unsigned char)(i * 7 + i / 251);
    ASSAY__FINE(assay_engine_alloc(c->engine, bytes, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, b, pinned, bytes));
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, b, want, bytes, "from pinned memory"));
    memset(pinned, 0x5e, bytes);
    ASSAY__FINE(assay_engine_download_at(c->engine, pinned + 1, b, half, bytes - half - 1));
    ASSAY__HOLDS(pinned[0] == 0x5e && pinned[bytes - half] == 0x5e &&
                     memcmp(pinned + 1, want + half, bytes - half - 1) == 0,
                 "a download to pinned memory of %zu bytes gave others", bytes);
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_pinned(assay__conform *c)
{
    static const size_t sizes[] = {3, 64, 4097, 70000};
    const assay__backend *backend = &c->engine->backend;
    void *pinned = NULL, *again = NULL;
    int here;

    if (assay__backend_host_alloc(backend, 64, &pinned) == ASSAY_UNSUPPORTED)
        return assay__conform_skip(c, "the backend has no pinned memory (slot host_alloc)");
    ASSAY__FINE(assay__backend_host_free(backend, pinned));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ASSAY__FINE(assay__backend_host_alloc(backend, sizes[i], &pinned));
        ASSAY__HOLDS((uintptr_t)pinned % 64 == 0, "host_alloc gave an address that is not at 64");
        ASSAY__PART(moves(c, pinned, sizes[i]));
        ASSAY__FINE(assay__backend_host_free(backend, pinned));
        ASSAY__GIVES(assay__backend_host_free(backend, pinned), ASSAY_FREED);
    }
    ASSAY__GIVES(assay__backend_host_free(backend, &here), ASSAY_FOREIGN);
    ASSAY__GIVES(assay__backend_host_alloc(backend, 0, &again), ASSAY_INVALID);
    ASSAY__GIVES(assay__backend_host_alloc(backend, UINT64_MAX, &again), ASSAY_NOMEM);
    ASSAY__HOLDS(again == NULL, "a refused host_alloc gave an address");
    return ASSAY__CONFORM_PASS;
}
