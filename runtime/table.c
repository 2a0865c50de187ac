/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/table.c -- the kernel table: immutable snapshots, registration, lookups.
 *
 * A snapshot is one block: its rows inline in rank order, behind them copies of those runs that
 * one backend does not have side by side, then the index.  Registering merges the old rows and the
 * new ones into a new block in one pass and publishes it; the old block goes when nobody holds it.
 *
 * Holding takes no lock: a reader enters the published block (reader.h), counts itself into it and
 * leaves.  A writer that has swapped the pointer takes the table's own count from replaced blocks
 * that nobody is inside; the last to let go of a block frees it. */
#include "assay/table.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "runtime/reader.h"
#include "runtime/table_internal.h"

typedef struct run {
    const char *backend; /* NULL: any */
    const assay_binding *first;
    uint32_t count;
} run;

struct assay_snapshot {
    _Atomic size_t holds;
    uint64_t version;
    size_t count;
    size_t run_count;
    size_t mask;          /* of `slots` */
    bool one_rank;        /* all rows have the same rank */
    assay_binding *rows;  /* rank order */
    uint64_t *sequence;   /* of registration, per row */
    run *runs;            /* per (op, dtypes) one with backend NULL, then one a backend */
    uint32_t *slots;      /* index of a run plus one; 0: free */
    assay_snapshot *next; /* in the list of replaced ones */
};

struct assay_table {
    _Atomic(const void *) current; /* assay_snapshot that readers enter */
    assay__readers readers;
    pthread_mutex_t writer;
    assay_snapshot *replaced;
    uint64_t registered;
    assay_status (*published)(void *cookie);
    void *cookie;
};

/* ---- order and keys ---- */

static int key_order(const assay_binding *a, const assay_binding *b)
{
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->dtype_count != b->dtype_count)
        return a->dtype_count < b->dtype_count ? -1 : 1;
    return memcmp(a->dtypes, b->dtypes, a->dtype_count);
}

int assay__binding_order(const assay_binding *a, const assay_binding *b)
{
    int order = key_order(a, b);

    if (order != 0)
        return order;
    if (a->default_rank != b->default_rank)
        return a->default_rank < b->default_rank ? -1 : 1;
    order = strcmp(a->manifest->name, b->manifest->name);
    return order != 0 ? order : strcmp(a->desc->name, b->desc->name);
}

static int identity_order(const void *left, const void *right)
{
    const assay_binding *a = *(const assay_binding *const *)left;
    const assay_binding *b = *(const assay_binding *const *)right;
    int order = key_order(a, b);

    if (order == 0)
        order = strcmp(a->manifest->name, b->manifest->name);
    return order != 0 ? order : strcmp(a->desc->name, b->desc->name);
}

static uint64_t hash_key(uint16_t op, const uint8_t *dtypes, size_t dtype_count,
                         const char *backend)
{
    uint8_t key[2 + 1 + ASSAY_MAX_OPERANDS + ASSAY__BACKEND_NAME_MAX] = {0};

    key[0] = (uint8_t)op;
    key[1] = (uint8_t)(op >> 8);
    key[2] = (uint8_t)dtype_count;
    memcpy(key + 3, dtypes, dtype_count);
    for (size_t i = 0; backend != NULL && backend[i] != '\0' && i < ASSAY__BACKEND_NAME_MAX; i++)
        key[3 + ASSAY_MAX_OPERANDS + i] = (uint8_t)backend[i];
    return assay__xxh64(key, sizeof key);
}

/* ---- building ---- */

static bool same_key(const assay_binding *a, const assay_binding *b)
{
    return key_order(a, b) == 0;
}

static bool same_run(const assay_binding *a, const assay_binding *b)
{
    return same_key(a, b) && strcmp(a->manifest->name, b->manifest->name) == 0;
}

/* Room for `count` rows: the rows, in the worst case a copy of each, and two runs a row. */
static assay_snapshot *snapshot_alloc(size_t count)
{
    size_t slot_count = 8;
    assay_snapshot *s = calloc(1, sizeof *s);

    while (slot_count < count * 4)
        slot_count *= 2;
    if (s == NULL)
        return NULL;
    s->rows = malloc((count * 2 + 1) * sizeof *s->rows);
    s->sequence = malloc((count + 1) * sizeof *s->sequence);
    s->runs = malloc((count * 2 + 1) * sizeof *s->runs);
    s->slots = calloc(slot_count, sizeof *s->slots);
    s->mask = slot_count - 1;
    s->count = count;
    atomic_init(&s->holds, 1);
    if (s->rows != NULL && s->sequence != NULL && s->runs != NULL && s->slots != NULL)
        return s;
    free(s->rows);
    free(s->sequence);
    free(s->runs);
    free(s->slots);
    free(s);
    return NULL;
}

static void snapshot_free(assay_snapshot *s)
{
    free(s->rows);
    free(s->sequence);
    free(s->runs);
    free(s->slots);
    free(s);
}

static void add_run(assay_snapshot *s, const char *backend, const assay_binding *first,
                    size_t count)
{
    uint64_t at = hash_key(first->op, first->dtypes, first->dtype_count, backend);

    while (s->slots[at & s->mask] != 0)
        at++;
    s->runs[s->run_count] = (run){backend, first, (uint32_t)count};
    s->slots[at & s->mask] = (uint32_t)++s->run_count;
}

/* The rows of one backend within a group: where they lie if side by side, else copied to `tail`. */
static size_t add_backend_run(assay_snapshot *s, const assay_binding *group, size_t count,
                              const char *backend, assay_binding *tail)
{
    size_t first = count, last = 0, found = 0;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(group[i].manifest->name, backend) != 0)
            continue;
        first = first < i ? first : i;
        last = i;
        found++;
    }
    if (last - first + 1 == found) {
        add_run(s, backend, group + first, found);
        return 0;
    }
    found = 0;
    for (size_t i = first; i <= last; i++)
        if (strcmp(group[i].manifest->name, backend) == 0)
            tail[found++] = group[i];
    add_run(s, backend, tail, found);
    return found;
}

static bool has_run(const assay_snapshot *s, size_t first_run, const char *backend)
{
    for (size_t i = first_run; i < s->run_count; i++)
        if (strcmp(s->runs[i].backend, backend) == 0)
            return true;
    return false;
}

/* All rows of one (op, dtypes). Returns how many copies it made. */
static size_t add_group(assay_snapshot *s, const assay_binding *group, size_t count,
                        assay_binding *tail)
{
    size_t copies = 0, first_run = s->run_count + 1;

    add_run(s, NULL, group, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && same_run(&group[i - 1], &group[i]))
            continue;
        if (!has_run(s, first_run, group[i].manifest->name))
            copies += add_backend_run(s, group, count, group[i].manifest->name, tail + copies);
    }
    return copies;
}

static void snapshot_index(assay_snapshot *s)
{
    assay_binding *tail = s->rows + s->count;

    s->one_rank = true;
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i + 1; end < s->count && same_key(&s->rows[i], &s->rows[end]);)
            end++;
        tail += add_group(s, s->rows + i, end - i, tail);
    }
    for (size_t i = 1; i < s->count; i++)
        s->one_rank = s->one_rank && s->rows[i].default_rank == s->rows[0].default_rank;
    assert(tail <= s->rows + 2 * s->count);
}

/* ---- lookups ---- */

static const run *find_run(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                           size_t dtype_count, const char *backend)
{
    uint64_t at;

    if (dtype_count > ASSAY_MAX_OPERANDS)
        return NULL;
    at = hash_key((uint16_t)op, dtypes, dtype_count, backend);
    for (uint32_t slot; (slot = s->slots[at & s->mask]) != 0; at++) {
        const run *r = &s->runs[slot - 1];
        if (r->first->op == (uint16_t)op && r->first->dtype_count == dtype_count &&
            memcmp(r->first->dtypes, dtypes, dtype_count) == 0 &&
            (r->backend == NULL) == (backend == NULL) &&
            (backend == NULL || strcmp(r->backend, backend) == 0))
            return r;
    }
    return NULL;
}

size_t assay_snapshot_alternatives(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                                   size_t dtype_count, const char *backend,
                                   const assay_binding **out)
{
    const run *r = find_run(s, op, dtypes, dtype_count, backend);

    if (r == NULL)
        return 0;
    *out = r->first;
    return r->count;
}

static size_t put_tuple(char *buf, size_t cap, const uint8_t *dtypes, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < cap; i++) {
        const char *name = assay_dtype_name((assay_dtype)dtypes[i]);
        int n = snprintf(buf + used, cap - used, "%s%s", i ? "," : "", name != NULL ? name : "?");
        used += n > 0 ? (size_t)n : 0;
    }
    return used < cap ? used : cap - 1;
}

/* "cpu f32,f32,f32; openblas f64,f64,f64" of one op, in the table's order. */
static void put_coverage(const assay_snapshot *s, assay_op_id op, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < s->run_count && used + 1 < cap; i++) {
        const run *r = &s->runs[i];
        int n;
        if (r->backend == NULL || r->first->op != (uint16_t)op)
            continue;
        n = snprintf(buf + used, cap - used, "%s%s ", used ? "; " : "", r->backend);
        used += n > 0 ? (size_t)n : 0;
        if (used + 1 >= cap)
            return;
        used += put_tuple(buf + used, cap - used, r->first->dtypes, r->first->dtype_count);
    }
}

static assay_status fail_miss(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                              size_t dtype_count, const char *backend)
{
    const assay_op_info *info = assay_op_get(op);
    char tuple[96] = "", coverage[640];

    put_tuple(tuple, sizeof tuple, dtypes,
              dtype_count <= ASSAY_MAX_OPERANDS ? dtype_count : ASSAY_MAX_OPERANDS);
    put_coverage(s, op, coverage, sizeof coverage);
    return assay__fail(
        ASSAY_UNSUPPORTED, "no kernel for %s %s on %s; the table has for this op: %s",
        info != NULL ? info->name : "an unknown op", tuple,
        backend != NULL ? backend : "any backend", coverage[0] != '\0' ? coverage : "nothing");
}

/* First registered of a run; only rows of s->rows have a sequence, so copies are looked up. */
static const assay_binding *first_registered(const assay_snapshot *s, const run *r)
{
    const run *all = r->backend == NULL ? r
                                        : find_run(s, (assay_op_id)r->first->op, r->first->dtypes,
                                                   r->first->dtype_count, NULL);
    const assay_binding *best = NULL;

    for (const assay_binding *b = all->first; b < all->first + all->count; b++) {
        if (r->backend != NULL && strcmp(b->manifest->name, r->backend) != 0)
            continue;
        if (best == NULL || s->sequence[b - s->rows] < s->sequence[best - s->rows])
            best = b;
    }
    return best;
}

assay_status assay_snapshot_default(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                                    size_t dtype_count, const char *backend,
                                    const assay_binding **out)
{
    const run *r = find_run(s, op, dtypes, dtype_count, backend);

    if (r == NULL)
        return fail_miss(s, op, dtypes, dtype_count, backend);
    *out = s->one_rank ? first_registered(s, r) : r->first;
    return ASSAY_OK;
}

size_t assay_snapshot_size(const assay_snapshot *s)
{
    return s->count;
}

const assay_binding *assay_snapshot_at(const assay_snapshot *s, size_t index)
{
    return index < s->count ? &s->rows[index] : NULL;
}

uint64_t assay_snapshot_version(const assay_snapshot *s)
{
    return s->version;
}

/* ---- holding and publishing ---- */

static void snapshot_drop(assay_snapshot *s)
{
    if (atomic_fetch_sub_explicit(&s->holds, 1, memory_order_acq_rel) == 1)
        snapshot_free(s);
}

/* The count is the one part of a published snapshot that changes. */
static assay_snapshot *counted(const void *snapshot)
{
    union {
        const void *read_only;
        assay_snapshot *counted;
    } s = {snapshot};

    return s.counted;
}

assay_status assay_table_hold(assay_table *table, const assay_snapshot **out)
{
    assay__reader *mine = assay__reader_mine(&table->readers);
    assay_snapshot *s;

    if (mine == NULL)
        return assay__fail(ASSAY_NOMEM, "kernel table: no memory for a reader");
    s = counted(assay__reader_enter(&table->readers, mine, &table->current));
    atomic_fetch_add_explicit(&s->holds, 1, memory_order_relaxed);
    assay__reader_leave(mine);
    *out = s;
    return ASSAY_OK;
}

void assay_snapshot_release(const assay_snapshot **snapshot)
{
    if (snapshot == NULL || *snapshot == NULL)
        return;
    snapshot_drop(counted(*snapshot));
    *snapshot = NULL;
}

/* With the writer's lock held. Blocks that a reader is inside wait for the next call. */
static void drop_replaced(assay_table *table)
{
    assay_snapshot **link = &table->replaced;

    if (!assay__readers_barrier(&table->readers))
        return;
    while (*link != NULL) {
        assay_snapshot *s = *link;
        if (assay__readers_hold(&table->readers, s)) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        snapshot_drop(s);
    }
}

static void publish(assay_table *table, assay_snapshot *s)
{
    assay_snapshot *old = counted(atomic_exchange(&table->current, s));

    old->next = table->replaced;
    table->replaced = old;
    drop_replaced(table);
}

static bool init_locks(assay_table *table)
{
    if (assay__readers_init(&table->readers) != ASSAY_OK)
        return false;
    if (pthread_mutex_init(&table->writer, NULL) == 0)
        return true;
    assay__readers_clear(&table->readers);
    return false;
}

assay_status assay_table_create(assay_table **out)
{
    assay_table *table = calloc(1, sizeof *table);
    assay_snapshot *empty = snapshot_alloc(0);

    if (table == NULL || empty == NULL || !init_locks(table)) {
        free(table);
        if (empty != NULL)
            snapshot_free(empty);
        return assay__fail(ASSAY_NOMEM, "kernel table: no memory");
    }
    atomic_init(&table->current, empty);
    *out = table;
    return ASSAY_OK;
}

void assay_table_destroy(assay_table **table)
{
    assay_table *t;

    if (table == NULL || *table == NULL)
        return;
    t = *table;
    while (t->replaced != NULL) { /* no thread is inside now */
        assay_snapshot *s = t->replaced;
        t->replaced = s->next;
        snapshot_drop(s);
    }
    snapshot_drop(counted(atomic_load(&t->current)));
    assay__readers_clear(&t->readers);
    pthread_mutex_destroy(&t->writer);
    free(t);
    *table = NULL;
}

void assay__table_watch(assay_table *table, assay_status (*published)(void *cookie), void *cookie)
{
    pthread_mutex_lock(&table->writer);
    table->published = published;
    table->cookie = cookie;
    pthread_mutex_unlock(&table->writer);
}

/* ---- registering ---- */

static assay_status fail_duplicate(const assay_binding *row, const assay_binding *first_row)
{
    char tuple[96] = "";

    put_tuple(tuple, sizeof tuple, row->dtypes, row->dtype_count);
    return assay__fail(ASSAY_INVALID,
                       "row %zu (%s/%s), field name: the same kernel is already registered for "
                       "%s %s",
                       (size_t)(row - first_row), row->manifest->name, row->desc->name,
                       assay_op_get((assay_op_id)row->op)->name, tuple);
}

/* Sorts the addresses of new rows by identity and compares them with each other and the old ones.
 */
static assay_status check_duplicates(const assay_snapshot *old, const assay_binding *rows,
                                     const assay_binding **sorted, size_t count)
{
    qsort(sorted, count, sizeof *sorted, identity_order);
    for (size_t i = 0; i < count; i++) {
        const assay_binding *row = sorted[i];
        const run *r;
        if (i > 0 && identity_order(&sorted[i - 1], &sorted[i]) == 0)
            return fail_duplicate(row > sorted[i - 1] ? row : sorted[i - 1], rows);
        r = find_run(old, (assay_op_id)row->op, row->dtypes, row->dtype_count, row->manifest->name);
        for (size_t j = 0; r != NULL && j < r->count; j++)
            if (strcmp(r->first[j].desc->name, row->desc->name) == 0)
                return fail_duplicate(row, rows);
    }
    return ASSAY_OK;
}

static int rank_order(const void *left, const void *right)
{
    return assay__binding_order(*(const assay_binding *const *)left,
                                *(const assay_binding *const *)right);
}

/* How many of the old rows come before `row`. */
static size_t rows_before(const assay_snapshot *old, const assay_binding *row)
{
    size_t low = 0, high = old->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (assay__binding_order(&old->rows[middle], row) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Both inputs are in rank order; runs of old rows between two new ones are copied whole. */
static void merge(assay_snapshot *s, const assay_snapshot *old, const assay_binding *rows,
                  const assay_binding *const *sorted, size_t count, uint64_t sequence)
{
    size_t from = 0, to = 0;

    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? rows_before(old, sorted[i]) : old->count;
        size_t length = end - from;
        memcpy(s->rows + to, old->rows + from, length * sizeof *s->rows);
        memcpy(s->sequence + to, old->sequence + from, length * sizeof *s->sequence);
        to += length;
        from = end;
        if (i < count) {
            s->rows[to] = *sorted[i];
            s->sequence[to++] = sequence + (uint64_t)(sorted[i] - rows);
        }
    }
    assert(to == s->count);
}

static assay_status register_locked(assay_table *table, const assay_binding *rows,
                                    const assay_binding **sorted, size_t count)
{
    const assay_snapshot *old = atomic_load(&table->current);
    assay_snapshot *s;

    ASSAY_TRY(check_duplicates(old, rows, sorted, count));
    s = snapshot_alloc(old->count + count);
    if (s == NULL)
        return assay__fail(ASSAY_NOMEM, "kernel table: no memory for %zu rows", old->count + count);
    qsort(sorted, count, sizeof *sorted, rank_order);
    merge(s, old, rows, sorted, count, table->registered);
    snapshot_index(s);
    s->version = old->version + 1;
    table->registered += count;
    publish(table, s);
    return table->published != NULL ? table->published(table->cookie) : ASSAY_OK;
}

assay_status assay_table_register(assay_table *table, const assay_binding *rows, size_t count)
{
    const assay_binding **sorted;
    assay_status status;

    if (count == 0)
        return ASSAY_OK;
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(assay__binding_check(&rows[i], i));
    sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return assay__fail(ASSAY_NOMEM, "kernel table: no memory for %zu rows", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    pthread_mutex_lock(&table->writer);
    status = register_locked(table, rows, sorted, count);
    pthread_mutex_unlock(&table->writer);
    free(sorted);
    return status;
}
