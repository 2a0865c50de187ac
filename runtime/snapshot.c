/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/snapshot.c -- hazard pointers with one slot a thread, and counted holds.
 *
 * Why it is safe: a reader stores the pointer into its slot, then looks whether it is still the
 * published one; a writer replaces the published one, then looks at the slots.  In the one order
 * of all sequentially consistent operations either the reader sees the new pointer and tries
 * again, or the writer sees the slot and keeps the object.  (M. Michael, Hazard pointers, IEEE
 * TPDS 15(6), 2004.) */
#include "runtime/snapshot.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/error.h"

#define CACHE_LINE  64
#define NESTED      4 /* places a slot has: nested readers of one thread */
#define CHUNK_SLOTS 32

/* An object with its count: 1 for the domain until no slot has it, 1 for each hold. */
struct assay__snap_hold {
    void *object;
    void (*free_object)(void *object);
    atomic_size_t references;
    assay__snap_hold *next; /* in the list of replaced ones; under the domain's mutex */
};

typedef _Atomic(assay__snap_hold *) place;

typedef struct slot {
    alignas(CACHE_LINE) place places[NESTED];
    atomic_bool taken;
} slot;

typedef struct chunk {
    slot slots[CHUNK_SLOTS];
    _Atomic(struct chunk *) next;
} chunk;

struct assay__snap_domain {
    alignas(CACHE_LINE) place current;
    /* Readers stay off the line that writers work on. */
    alignas(CACHE_LINE) pthread_mutex_t writer;
    assay__snap_hold *replaced;
};

/* All slots of the process; chunks are added, never freed, so walking needs no lock. */
static chunk first_chunk;

/* ---- slots ----------------------------------------------------------------------------------- */

/* Found without a call into the loader; a word fits into what is kept for late libraries. */
static _Thread_local slot *own_slot __attribute__((tls_model("initial-exec")));
static pthread_key_t slot_key;
static pthread_once_t slot_once = PTHREAD_ONCE_INIT;
static bool has_slot_key;

static void give_back_slot(void *cookie)
{
    slot *s = cookie;

    own_slot = NULL;
    for (size_t i = 0; i < NESTED; i++)
        atomic_store_explicit(&s->places[i], NULL, memory_order_release);
    atomic_store_explicit(&s->taken, false, memory_order_release);
}

static void make_slot_key(void)
{
    has_slot_key = pthread_key_create(&slot_key, give_back_slot) == 0;
}

static slot *take_free_slot(chunk *c)
{
    for (size_t i = 0; i < CHUNK_SLOTS; i++) {
        bool expected = false;
        if (!atomic_load_explicit(&c->slots[i].taken, memory_order_relaxed) &&
            atomic_compare_exchange_strong(&c->slots[i].taken, &expected, true))
            return &c->slots[i];
    }
    return NULL;
}

/* Behind `last`, unless another thread was first; then that one's. */
static chunk *add_chunk(chunk *last)
{
    chunk *expected = NULL;
    chunk *added = aligned_alloc(alignof(chunk), sizeof *added);

    if (added == NULL)
        return NULL;
    for (size_t i = 0; i < CHUNK_SLOTS; i++) {
        for (size_t k = 0; k < NESTED; k++)
            atomic_init(&added->slots[i].places[k], NULL);
        atomic_init(&added->slots[i].taken, false);
    }
    atomic_init(&added->next, NULL);
    if (atomic_compare_exchange_strong(&last->next, &expected, added))
        return added;
    free(added);
    return expected;
}

/* NULL: no memory, or no way to learn of the thread's end; the caller then counts instead. */
static slot *claim_slot(void)
{
    slot *s = NULL;

    (void)pthread_once(&slot_once, make_slot_key);
    if (!has_slot_key)
        return NULL;
    for (chunk *c = &first_chunk; c != NULL && s == NULL;) {
        s = take_free_slot(c);
        chunk *next = atomic_load(&c->next);
        c = s == NULL && next == NULL ? add_chunk(c) : next;
    }
    if (s == NULL || pthread_setspecific(slot_key, s) != 0) {
        if (s != NULL)
            atomic_store(&s->taken, false);
        return NULL;
    }
    own_slot = s;
    return s;
}

/* A place of this thread that is free; NULL: none. */
static place *free_place(void)
{
    slot *s = own_slot != NULL ? own_slot : claim_slot();

    if (s == NULL)
        return NULL;
    for (size_t i = 0; i < NESTED; i++)
        if (atomic_load_explicit(&s->places[i], memory_order_relaxed) == NULL)
            return &s->places[i];
    return NULL;
}

static bool in_a_slot(const assay__snap_hold *object)
{
    for (chunk *c = &first_chunk; c != NULL; c = atomic_load(&c->next))
        for (size_t i = 0; i < CHUNK_SLOTS; i++)
            for (size_t k = 0; k < NESTED; k++)
                if (atomic_load(&c->slots[i].places[k]) == object)
                    return true;
    return false;
}

size_t assay__snap_slot_count(void)
{
    size_t count = 0;

    for (chunk *c = &first_chunk; c != NULL; c = atomic_load(&c->next))
        count += CHUNK_SLOTS;
    return count;
}

/* ---- references ------------------------------------------------------------------------------ */

static void add_reference(assay__snap_hold *h)
{
    (void)atomic_fetch_add_explicit(&h->references, 1, memory_order_relaxed);
}

static void drop_reference(assay__snap_hold *h)
{
    if (atomic_fetch_sub_explicit(&h->references, 1, memory_order_acq_rel) != 1)
        return;
    if (h->free_object != NULL)
        h->free_object(h->object);
    free(h);
}

/* Where no place is free: counted under the mutex, which keeps the object from being replaced. */
static void acquire_counted(assay__snap_domain *domain, assay__snap_ref *ref)
{
    (void)pthread_mutex_lock(&domain->writer);
    assay__snap_hold *h = atomic_load(&domain->current);
    if (h != NULL)
        add_reference(h);
    (void)pthread_mutex_unlock(&domain->writer);
    *ref = (assay__snap_ref){h == NULL ? NULL : h->object, NULL, h};
}

void assay__snap_acquire(assay__snap_domain *domain, assay__snap_ref *ref)
{
    place *p = free_place();
    assay__snap_hold *h = atomic_load_explicit(&domain->current, memory_order_relaxed);

    if (p == NULL) {
        acquire_counted(domain, ref);
        return;
    }
    for (;;) {
        atomic_store(p, h); /* sequentially consistent, as is the load that follows */
        assay__snap_hold *now = atomic_load(&domain->current);
        if (now == h)
            break;
        h = now;
    }
    /* With nothing in it the place stays free for others, and must not be cleared by release. */
    *ref = h == NULL ? (assay__snap_ref){NULL, NULL, NULL} : (assay__snap_ref){h->object, p, NULL};
}

void assay__snap_release(assay__snap_ref *ref)
{
    if (ref->place != NULL)
        atomic_store_explicit((place *)ref->place, NULL, memory_order_release);
    if (ref->counted != NULL)
        drop_reference(ref->counted);
    *ref = (assay__snap_ref){NULL, NULL, NULL};
}

assay__snap_hold *assay__snap_hold_current(assay__snap_domain *domain)
{
    place *p = free_place();
    assay__snap_ref ref;

    if (p == NULL) {
        acquire_counted(domain, &ref);
        return ref.counted;
    }
    assay__snap_acquire(domain, &ref);
    /* The slot keeps the domain's own reference alive, so the count cannot be at 0 here. */
    assay__snap_hold *h = atomic_load_explicit(p, memory_order_relaxed);
    if (h != NULL)
        add_reference(h);
    assay__snap_release(&ref);
    return h;
}

const void *assay__snap_held(const assay__snap_hold *hold)
{
    return hold == NULL ? NULL : hold->object;
}

void assay__snap_unhold(assay__snap_hold **hold)
{
    if (hold == NULL || *hold == NULL)
        return;
    drop_reference(*hold);
    *hold = NULL;
}

/* ---- domains --------------------------------------------------------------------------------- */

assay_status assay__snap_create(assay__snap_domain **out)
{
    assay__snap_domain *domain = aligned_alloc(alignof(assay__snap_domain), sizeof *domain);

    if (domain == NULL || pthread_mutex_init(&domain->writer, NULL) != 0) {
        free(domain);
        return assay__fail(ASSAY_NOMEM, "snapshots: out of memory");
    }
    atomic_init(&domain->current, NULL);
    domain->replaced = NULL;
    *out = domain;
    return ASSAY_OK;
}

/* Takes out of the list what no slot has.  Under the mutex. */
static assay__snap_hold *take_unread(assay__snap_domain *domain)
{
    assay__snap_hold *unread = NULL;

    for (assay__snap_hold **link = &domain->replaced; *link != NULL;) {
        assay__snap_hold *h = *link;
        if (in_a_slot(h)) {
            link = &h->next;
            continue;
        }
        *link = h->next;
        h->next = unread;
        unread = h;
    }
    return unread;
}

/* Outside the mutex: freeing may take long, or publish. */
static void drop_list(assay__snap_hold *list)
{
    while (list != NULL) {
        assay__snap_hold *next = list->next;
        drop_reference(list);
        list = next;
    }
}

void assay__snap_collect(assay__snap_domain *domain)
{
    (void)pthread_mutex_lock(&domain->writer);
    assay__snap_hold *unread = take_unread(domain);
    (void)pthread_mutex_unlock(&domain->writer);
    drop_list(unread);
}

assay_status assay__snap_publish(assay__snap_domain *domain, void *object,
                                 void (*free_object)(void *object))
{
    if (object == NULL)
        return assay__fail(ASSAY_INVALID, "snapshots: no object to publish");
    assay__snap_hold *h = malloc(sizeof *h);
    if (h == NULL) {
        if (free_object != NULL)
            free_object(object);
        return assay__fail(ASSAY_NOMEM, "snapshots: out of memory");
    }
    h->object = object;
    h->free_object = free_object;
    h->next = NULL;
    atomic_init(&h->references, 1);
    (void)pthread_mutex_lock(&domain->writer);
    assay__snap_hold *old = atomic_exchange(&domain->current, h);
    if (old != NULL) {
        old->next = domain->replaced;
        domain->replaced = old;
    }
    assay__snap_hold *unread = take_unread(domain);
    (void)pthread_mutex_unlock(&domain->writer);
    drop_list(unread);
    return ASSAY_OK;
}

void assay__snap_destroy(assay__snap_domain **domain)
{
    if (domain == NULL || *domain == NULL)
        return;
    assay__snap_hold *last = atomic_exchange(&(*domain)->current, NULL);
    if (last != NULL)
        drop_reference(last);
    drop_list((*domain)->replaced);
    (void)pthread_mutex_destroy(&(*domain)->writer);
    free(*domain);
    *domain = NULL;
}
