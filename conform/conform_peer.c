/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_peer.c -- the rule on bytes that go from one instance of the backend to another.
 *
 * The slot itself is asked, since engines go by way of the host where it refuses. */
#include <string.h>

#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"

enum { BYTES = 70001 };

/* One end of a copy, and what it is to hold. */
typedef struct end {
    assay_engine *engine;
    assay_buffer buffer;
    unsigned char want[BYTES];
} end;

static assay_status peer_copy(const end *to, uint64_t to_offset, const end *from,
                              uint64_t from_offset, uint64_t bytes)
{
    return assay__backend_peer_copy(&to->engine->backend, to->buffer, to_offset,
                                    from->engine->backend.instance, from->buffer, from_offset,
                                    bytes);
}

static assay__conform_verdict make(assay__conform *c, assay_engine *engine, unsigned seed, end *out)
{
    out->engine = engine;
    for (size_t i = 0; i < BYTES; i++)
        out->want[i] = (unsigned char)(i * seed + i / 251);
    ASSAY__FINE(assay_engine_alloc(engine, BYTES, 0, &out->buffer));
    ASSAY__FINE(assay_engine_upload(engine, out->buffer, out->want, BYTES));
    return ASSAY__CONFORM_PASS;
}

/* All of both, so that what lies around the bytes is seen too. */
static assay__conform_verdict holds(assay__conform *c, const end *to, const end *from,
                                    const char *when)
{
    ASSAY__PART(assay__conform_holds_bytes(c, to->engine, to->buffer, to->want, BYTES, when));
    return assay__conform_holds_bytes(c, from->engine, from->buffer, from->want, BYTES, when);
}

static assay__conform_verdict moves(assay__conform *c, end *to, const end *from)
{
    static const struct {
        uint64_t to, from, bytes;
    } parts[] = {{0, 0, 1},    {1, 3, 5},         {4097, 2, 3},      {16, 33, 4096},
                 {3, 1, 4099}, {BYTES - 1, 7, 1}, {BYTES, BYTES, 0}, {13, 10, BYTES - 13},
                 {0, 0, BYTES}};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        ASSAY__FINE(peer_copy(to, parts[i].to, from, parts[i].from, parts[i].bytes));
        memcpy(to->want + parts[i].to, from->want + parts[i].from, (size_t)parts[i].bytes);
        ASSAY__PART(holds(c, to, from, "after a copy from another instance"));
        for (size_t k = 0; k < BYTES; k++) /* the next one has something to change */
            to->want[k] = (unsigned char)(to->want[k] + 1 + i);
        ASSAY__FINE(assay_engine_upload(to->engine, to->buffer, to->want, BYTES));
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict refuses(assay__conform *c, const end *to, const end *from)
{
    static const struct {
        uint64_t to, from, bytes;
    } beyond[] = {{0, 1, BYTES},      {1, 0, BYTES},      {BYTES, 0, 1},
                  {0, BYTES, 1},      {BYTES + 1, 0, 0},  {0, BYTES + 1, 0},
                  {UINT64_MAX, 0, 2}, {0, UINT64_MAX, 2}, {1, 1, UINT64_MAX}};
    const end none = {.engine = to->engine, .buffer = from->buffer};
    const end other = {.engine = from->engine, .buffer = to->buffer};

    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        ASSAY__GIVES(peer_copy(to, beyond[i].to, from, beyond[i].from, beyond[i].bytes),
                     ASSAY_INVALID);
    ASSAY__GIVES(peer_copy(&none, 0, from, 0, 8), ASSAY_FOREIGN);
    ASSAY__GIVES(peer_copy(to, 0, &other, 0, 8), ASSAY_FOREIGN);
    return holds(c, to, from, "after a refused copy from another instance");
}

/* What the source was told before comes first. */
static assay__conform_verdict follows(assay__conform *c, end *to)
{
    enum { N = 64 };
    assay__conform_work w;
    float got[N];

    const assay__conform_verdict works = assay__conform_work_make(c, N, &w);
    if (works != ASSAY__CONFORM_PASS)
        return works == ASSAY__CONFORM_SKIP ? ASSAY__CONFORM_PASS : works;
    const end from = {.engine = c->engine, .buffer = w.y};
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    ASSAY__FINE(peer_copy(to, 4, &from, 0, sizeof got));
    ASSAY__FINE(assay_engine_download_at(to->engine, got, to->buffer, 4, sizeof got));
    for (int i = 0; i < N; i++)
        ASSAY__HOLDS(got[i] - assay__conform_work_want(&w, 1) == 0.0f,
                     "copied behind a launch to another instance, element %d is %g instead of %g",
                     i, (double)got[i], (double)assay__conform_work_want(&w, 1));
    ASSAY__FINE(assay_engine_free(c->engine, w.a));
    ASSAY__FINE(assay_engine_free(c->engine, w.y));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_memory_peer_copy(assay__conform *c)
{
    static end here, there;

    if (!ASSAY__HAS_SLOT(c, peer_copy))
        return assay__conform_skip(c, "the backend has no copies from device to device");
    ASSAY__PART(make(c, c->engine, 7, &here));
    ASSAY__PART(make(c, c->other, 11, &there));
    if (peer_copy(&here, 0, &there, 0, 0) == ASSAY_UNSUPPORTED)
        return assay__conform_skip(c, "the backend copies nothing from this device to itself: %s",
                                   assay_last_error());
    ASSAY__PART(moves(c, &here, &there));
    ASSAY__PART(moves(c, &there, &here));
    ASSAY__PART(refuses(c, &here, &there));
    ASSAY__PART(follows(c, &there));
    const end freed = there;
    ASSAY__FINE(assay_engine_free(there.engine, there.buffer));
    ASSAY__GIVES(peer_copy(&here, 0, &freed, 0, 8), ASSAY_FREED);
    ASSAY__GIVES(peer_copy(&freed, 0, &here, 0, 8), ASSAY_FREED);
    ASSAY__FINE(assay_engine_free(here.engine, here.buffer));
    return ASSAY__CONFORM_PASS;
}
