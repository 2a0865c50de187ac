/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_pinned.h -- which memory of the host is fixed for a device: a list of blocks.
 *
 * Linked hidden into plug-ins; engines keep one, too.  Freed blocks stay in the list, so that a
 * second free is told from a foreign address, until their place is needed.  All calls are
 * thread-safe but init and clear. */
#ifndef ASSAY_RUNTIME_HOST_PINNED_H
#define ASSAY_RUNTIME_HOST_PINNED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__pinned_block {
    void *memory;
    uint64_t bytes;
    bool is_taken; /* not freed */
    bool is_fixed; /* the device reaches it by itself */
} assay__pinned_block;

typedef struct assay__pinned {
    pthread_mutex_t lock;
    assay__pinned_block *blocks; /* owned */
    size_t count, cap;
    atomic_size_t fixed; /* blocks; 0: nothing is to be looked up */
} assay__pinned;

void assay__pinned_init(assay__pinned *pinned);
void assay__pinned_clear(assay__pinned *pinned);

/* A block that is fixed.  false: out of memory. */
bool assay__pinned_add(assay__pinned *pinned, void *memory, uint64_t bytes);
/* Takes a block out, for whoever frees it: OK, FREED or FOREIGN, without a text.  out: as it was.
 */
assay_status assay__pinned_take(assay__pinned *pinned, const void *memory,
                                assay__pinned_block *out);
/* Do all these bytes lie in one block that is fixed? */
bool assay__pinned_holds(assay__pinned *pinned, const void *at, uint64_t bytes);
/* The device has forgotten them: none is fixed any longer, all are memory.  let_go, unless NULL: of
 * each that was. */
void assay__pinned_loosen(assay__pinned *pinned, void (*let_go)(void *cookie, void *memory),
                          void *cookie);

/* Whole pages, so that no other memory is fixed with them; NULL: there is none. */
void *assay__pinned_pages(uint64_t bytes);

#endif
