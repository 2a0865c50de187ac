/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/reader.h -- immutable objects, published by a writer and read without a lock: one cache
 * line a reading thread, with what it reads now and what it counted.
 *
 * The picker's answers are read in this way, and the table's snapshots: who wants to keep one of
 * those longer counts itself into it while inside.  (M. Michael, Hazard pointers, IEEE TPDS 15(6),
 * 2004.)  A reader notes the object it is about to read and looks whether it is still the published
 * one; a writer that has published another waits with freeing until no note names the old one.  The
 * note must be visible before the second look.  A full fence there costs as much as the rest of a
 * lookup; instead the writer makes all threads of the process pass one (membarrier), and only
 * where the kernel has none does the reader pay. */
#ifndef ASSAY_RUNTIME_READER_H
#define ASSAY_RUNTIME_READER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "assay/status.h"

typedef struct assay__reader {
    _Alignas(64) _Atomic(const void *) reads; /* NULL: nothing */
    _Atomic uint64_t counts[2];               /* written by its thread only */
    pthread_t thread;
    struct assay__reader *next;
} assay__reader;

typedef struct assay__readers {
    uint64_t id; /* unique in the process, never 0 */
    bool has_membarrier;
    pthread_mutex_t lock; /* of growing the list */
    _Atomic(assay__reader *) first;
} assay__readers;

assay_status assay__readers_init(assay__readers *readers);
/* No thread may be reading. */
void assay__readers_clear(assay__readers *readers);
/* The calling thread's line; NULL: no memory. A line has one note: nobody enters twice. */
assay__reader *assay__reader_find(assay__readers *readers);
/* Makes notes taken before visible; once after each publication.  false: could not, and nothing
 * replaced may be freed now. */
bool assay__readers_barrier(const assay__readers *readers);
/* After a barrier: is some thread still reading `object`? */
bool assay__readers_hold(assay__readers *readers, const void *object);
uint64_t assay__readers_sum(const assay__readers *readers, size_t which);
/* Lines made so far. */
size_t assay__readers_count(const assay__readers *readers);

typedef struct assay__reader_cache {
    uint64_t owner;
    assay__reader *line;
} assay__reader_cache;
extern _Thread_local assay__reader_cache assay__reader_lines[4]
    __attribute__((tls_model("initial-exec")));

/* NULL: not at hand; assay__reader_mine looks for it. */
static inline assay__reader *assay__reader_cached(const assay__readers *readers)
{
    const assay__reader_cache *cached = &assay__reader_lines[readers->id & 3];

    return __builtin_expect(cached->owner == readers->id, 1) ? cached->line : NULL;
}

static inline assay__reader *assay__reader_mine(assay__readers *readers)
{
    const assay__reader_cache *cached = &assay__reader_lines[readers->id & 3];

    return cached->owner == readers->id ? cached->line : assay__reader_find(readers);
}

/* The published object, protected until assay__reader_leave. */
static inline const void *assay__reader_enter(const assay__readers *readers, assay__reader *mine,
                                              _Atomic(const void *) *published)
{
    const void *object = atomic_load_explicit(published, memory_order_acquire);

    for (;;) {
        const void *again;
        if (readers->has_membarrier) {
            atomic_store_explicit(&mine->reads, object, memory_order_release);
            atomic_signal_fence(memory_order_seq_cst);
        } else {
            atomic_store_explicit(&mine->reads, object, memory_order_seq_cst);
        }
        again = atomic_load_explicit(published, memory_order_seq_cst);
        if (again == object)
            return object;
        object = again;
    }
}

static inline void assay__reader_leave(assay__reader *mine)
{
    atomic_store_explicit(&mine->reads, NULL, memory_order_release);
}

static inline void assay__reader_count(assay__reader *mine, size_t which)
{
    uint64_t n = atomic_load_explicit(&mine->counts[which], memory_order_relaxed);

    atomic_store_explicit(&mine->counts[which], n + 1, memory_order_relaxed);
}

#endif
