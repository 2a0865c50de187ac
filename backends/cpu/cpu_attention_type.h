/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention_type.h -- attention over threads for one element type.
 *
 * A template behind cpu_attention_core.h: the including file defines TYPE (elements in memory),
 * IN(name) for names of this type, ONE(value) and NARROW_ONE(sum) that convert one, and SPAN(type
 * *, real *, n), which widens n neighbours, or NO_SPAN 1 where TYPE is REAL.
 *
 * A task is some strips of queries of one group: they share the blocks of keys and values while
 * these are in the caches.  Bits depend on the keys of a block, not on tasks or threads. */

typedef struct IN(run) {
    cpu_attention g;
    int64_t keys, strips, tasks; /* of a block; of a task; of a group */
    atomic_bool failed;          /* no memory */
} IN(run);

/* REALs of a task's scratch, each part at a multiple of 64 bytes. */
static int64_t IN(scratch)(const IN(run) * k)
{
    int64_t each = (k->g.d + 2 + (int64_t)(sizeof(int64_t) / sizeof(REAL))) * NQ;
    int64_t heads = k->strips * (FN(cells)(k->g.d) + each);

    return heads + k->keys * NQ + (NO_SPAN ? 0 : 2 * (k->keys * k->g.d + 16)) + 64;
}

static void IN(place)(const IN(run) * k, FN(strip) * list, REAL **at)
{
    for (int64_t i = 0; i < k->strips; i++) {
        list[i].q = *at;
        list[i].o = list[i].q + k->g.d * NQ;
        list[i].top = list[i].o + FN(cells)(k->g.d);
        list[i].sum = list[i].top + NQ;
        list[i].seen = (int64_t *)(void *)(list[i].sum + NQ);
        *at = list[i].sum + (1 + (int64_t)(sizeof(int64_t) / sizeof(REAL))) * NQ;
    }
}

static void IN(load_queries)(const IN(run) * k, int64_t group, FN(strip) * t)
{
    const cpu_attention *g = &k->g;
    const TYPE *q = (const TYPE *)(const void *)g->q + (group * g->rows + t->row0) * g->d;
    REAL scale = (REAL)g->scale;

    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t c = 0; c < g->d; c++)
            t->q[c * NQ + i] = scale * ONE(q[i * g->d + c]);
}

static void IN(store_results)(const IN(run) * k, int64_t group, const FN(strip) * t)
{
    const cpu_attention *g = &k->g;
    TYPE *o = (TYPE *)(void *)g->o + (group * g->rows + t->row0) * g->d;

    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t c = 0; c < g->d; c++)
            o[i * g->d + c] = NARROW_ONE(t->o[c * NQ + i]);
}

/* Keys or values [j0, j0 + n) as REALs: where they lie, or widened to `room`. */
static const REAL *IN(widened)(const IN(run) * k, const char *base, int64_t group, int64_t j0,
                               int64_t n, REAL *room)
{
    const TYPE *x = (const TYPE *)(const void *)base + (group * k->g.sk + j0) * k->g.d;

#if NO_SPAN
    (void)n;
    (void)room;
    return x;
#else
    SPAN(x, room, n * k->g.d);
    return room;
#endif
}

static void IN(strips)(const IN(run) * k, int64_t group, FN(strip) * list, int64_t count, REAL *at)
{
    REAL *s = at, *wide_k = s + k->keys * NQ, *wide_v = wide_k + k->keys * k->g.d;
    int64_t most = 0;

    for (int64_t i = 0; i < count; i++)
        most = list[i].most > most ? list[i].most : most;
    for (int64_t j0 = 0; j0 < most; j0 += k->keys) {
        int64_t n = most - j0 < k->keys ? most - j0 : k->keys;
        const REAL *keys = IN(widened)(k, k->g.k, group, j0, n, wide_k);
        const REAL *values = IN(widened)(k, k->g.v, group, j0, n, wide_v);
        for (int64_t i = 0; i < count; i++)
            FN(advance)(&list[i], keys, values, j0, n, k->g.d, s);
    }
}

/* Tasks of a group from the last to the first: with a causal mask the last have most to do. */
static void IN(task)(void *cookie, int64_t index)
{
    IN(run) *k = cookie;
    int64_t group = index / k->tasks, row = (k->tasks - 1 - index % k->tasks) * k->strips * NQ;
    FN(strip) list[MAX_STRIPS];
    REAL *at = cpu_workspace(1, (size_t)IN(scratch)(k) * sizeof(REAL));
    int64_t count = 0;

    if (at == NULL) {
        atomic_store_explicit(&k->failed, true, memory_order_relaxed);
        return;
    }
    IN(place)(k, list, &at);
    for (; count < k->strips && row < k->g.rows; count++, row += NQ) {
        FN(begin)(&list[count], &k->g, row, k->g.rows - row < NQ ? k->g.rows - row : NQ);
        IN(load_queries)(k, group, &list[count]);
    }
    IN(strips)(k, group, list, count, at);
    for (int64_t i = 0; i < count; i++) {
        FN(end)(&list[i], k->g.d);
        IN(store_results)(k, group, &list[i]);
    }
}

static assay_status IN(attend)(const assay_launch *launch)
{
    IN(run) k = {.keys = launch->tunables != NULL ? launch->tunables[CPU_KEYS] : 64};
    int threads = cpu_threads(launch);

    cpu_attention_read(launch, &k.g);
    if (cpu_attention_empty(&k.g))
        return ASSAY_OK;
    k.strips = launch->tunables != NULL ? launch->tunables[CPU_STRIPS] : 4;
    int64_t strips = (k.g.rows + NQ - 1) / NQ;
    k.strips = k.strips < strips ? k.strips : strips;
    k.tasks = (strips + k.strips - 1) / k.strips;
    atomic_init(&k.failed, false);
    assay__host_team_run(threads, k.g.groups * k.tasks, IN(task), &k);
    return atomic_load(&k.failed) ? ASSAY_NOMEM : ASSAY_OK;
}
