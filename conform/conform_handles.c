/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_handles.c -- rules on handles: a wrong one has its own error and is never taken
 * for another buffer. */
#include <string.h>

#include "conform/conform.h"

/* Every function that takes a buffer gives `wanted` for this one, and touches nothing. */
static assay__conform_verdict refused_everywhere(assay__conform *c, assay_buffer bad,
                                                 assay_status wanted)
{
    const assay_transfer piece = {.buffer = bad, .bytes = 0};
    char up[8] = "upupupu", down[8] = "-------";
    assay_buffer good;
    void *host = NULL;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &good));
    ASSAY__FINE(assay_engine_upload(c->engine, good, "goodgood", 8));
    ASSAY__GIVES(assay_engine_upload(c->engine, bad, up, 8), wanted);
    ASSAY__GIVES(assay_engine_download(c->engine, down, bad, 8), wanted);
    ASSAY__GIVES(assay_engine_upload_at(c->engine, bad, 1, up, 1), wanted);
    ASSAY__GIVES(assay_engine_download_at(c->engine, down, bad, 1, 1), wanted);
    ASSAY__GIVES(assay_engine_upload_many(c->engine, &piece, 1), wanted);
    ASSAY__GIVES(assay_engine_download_many(c->engine, &piece, 1), wanted);
    ASSAY__GIVES(assay_engine_copy(c->engine, bad, 0, good, 0, 8), wanted);
    ASSAY__GIVES(assay_engine_copy(c->engine, good, 0, bad, 0, 8), wanted);
    ASSAY__GIVES(assay_engine_fill(c->engine, bad, 0, 8, 1), wanted);
    if (assay_engine_supports(c->engine, ASSAY_FEATURE_UNIFIED_MEMORY))
        ASSAY__GIVES(assay_engine_map(c->engine, bad, &host), wanted);
    ASSAY__GIVES(assay_engine_free(c->engine, bad), wanted);
    ASSAY__HOLDS(memcmp(down, "-------", 8) == 0, "a refused download wrote to the host");
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, good, "goodgood", 8,
                                           "after calls with a wrong handle"));
    ASSAY__FINE(assay_engine_free(c->engine, good));
    return ASSAY__CONFORM_PASS;
}

/* Both begin alike, so that their handles differ in the owner alone. */
assay__conform_verdict assay__conform_handle_foreign(assay__conform *c)
{
    assay_buffer own, foreign;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &own));
    ASSAY__FINE(assay_engine_alloc(c->other, 8, 0, &foreign));
    ASSAY__FINE(assay_engine_upload(c->engine, own, "ownownow", 8));
    ASSAY__FINE(assay_engine_upload(c->other, foreign, "otherone", 8));
    ASSAY__PART(refused_everywhere(c, foreign, ASSAY_FOREIGN));
    ASSAY__PART(
        assay__conform_holds_bytes(c, c->engine, own, "ownownow", 8, "beside a foreign handle"));
    ASSAY__PART(
        assay__conform_holds_bytes(c, c->other, foreign, "otherone", 8, "in its own engine"));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_handle_freed(assay__conform *c)
{
    assay_buffer b;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return refused_everywhere(c, b, ASSAY_FREED);
}

assay__conform_verdict assay__conform_handle_freed_twice(assay__conform *c)
{
    assay_buffer b[4];

    for (int i = 0; i < 4; i++)
        ASSAY__FINE(assay_engine_alloc(c->engine, 64, 0, &b[i]));
    ASSAY__FINE(assay_engine_free(c->engine, b[2]));
    ASSAY__GIVES(assay_engine_free(c->engine, b[2]), ASSAY_FREED);
    ASSAY__FINE(assay_engine_free(c->engine, b[0]));
    ASSAY__GIVES(assay_engine_free(c->engine, b[2]), ASSAY_FREED);
    ASSAY__GIVES(assay_engine_free(c->engine, b[0]), ASSAY_FREED);
    ASSAY__FINE(assay_engine_free(c->engine, b[1]));
    ASSAY__FINE(assay_engine_free(c->engine, b[3]));
    return ASSAY__CONFORM_PASS;
}

/* Its place is taken by others, which the old handle must not reach. */
assay__conform_verdict assay__conform_handle_of_reused_place(assay__conform *c)
{
    assay_buffer old, now[20];

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &old));
    ASSAY__FINE(assay_engine_free(c->engine, old));
    for (int i = 0; i < 20; i++) {
        ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &now[i]));
        ASSAY__FINE(assay_engine_upload(c->engine, now[i], "newbytes", 8));
    }
    ASSAY__PART(refused_everywhere(c, old, ASSAY_FREED));
    for (int i = 0; i < 20; i++) {
        ASSAY__PART(assay__conform_holds_bytes(c, c->engine, now[i], "newbytes", 8,
                                               "in the place of a freed one"));
        ASSAY__FINE(assay_engine_free(c->engine, now[i]));
    }
    for (int round = 0; round < 300; round++) {
        ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &now[0]));
        ASSAY__GIVES(assay_engine_free(c->engine, old), ASSAY_FREED);
        ASSAY__FINE(assay_engine_free(c->engine, now[0]));
    }
    return ASSAY__CONFORM_PASS;
}

static bool is_refusal(assay_status status)
{
    return status == ASSAY_INVALID || status == ASSAY_FREED || status == ASSAY_FOREIGN ||
           status == ASSAY_GENERATION;
}

/* Which error is left open: there never was such a buffer. */
assay__conform_verdict assay__conform_handle_never_made(assay__conform *c)
{
    static const uint32_t places[] = {1, 2, 1000, 0x7fffffff, 0xffffffff};
    assay_buffer b, bad;
    char byte = 0;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, b, "staysher", 8));
    for (size_t i = 0; b.owner != 0 && i < sizeof places / sizeof places[0]; i++) {
        bad = b;
        bad.at.slot.index += places[i];
        ASSAY__HOLDS(is_refusal(assay_engine_download_at(c->engine, &byte, bad, 0, 1)),
                     "a place that was never made was read");
        ASSAY__HOLDS(is_refusal(assay_engine_free(c->engine, bad)),
                     "a place that was never made was freed");
        bad = b;
        bad.at.slot.generation += places[i];
        ASSAY__HOLDS(is_refusal(assay_engine_fill(c->engine, bad, 0, 1, 0)),
                     "a generation that was never made was filled");
        ASSAY__HOLDS(is_refusal(assay_engine_free(c->engine, bad)),
                     "a generation that was never made was freed");
    }
    if (b.owner != 0) {
        const assay_buffer none = {.size_bytes = 8};
        ASSAY__HOLDS(is_refusal(assay_engine_free(c->engine, none)), "no buffer at all was freed");
        ASSAY__HOLDS(assay_engine_download_at(c->engine, &byte, none, 0, 1) != ASSAY_OK,
                     "no buffer at all was read");
    }
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, b, "staysher", 8,
                                           "after handles that never were"));
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

/* Another instance begins: handles of the one before are foreign to it. */
assay__conform_verdict assay__conform_handle_after_shutdown(assay__conform *c)
{
    assay_buffer before, now;

    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &before));
    ASSAY__FINE(assay_engine_shutdown(c->engine));
    ASSAY__FINE(assay_engine_init(c->engine, 0));
    ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &now));
    ASSAY__FINE(assay_engine_upload(c->engine, now, "newbytes", 8));
    ASSAY__PART(refused_everywhere(c, before, ASSAY_FOREIGN));
    return assay__conform_holds_bytes(c, c->engine, now, "newbytes", 8,
                                      "after handles from before a shutdown");
}

assay__conform_verdict assay__conform_handle_in_calls(assay__conform *c)
{
    assay__conform_work w;
    assay_buffer foreign;

    ASSAY__PART(assay__conform_work_make(c, 16, &w));
    ASSAY__FINE(assay_engine_alloc(c->other, 64, 0, &foreign));
    const assay__conform_work good = w;
    w.a = foreign;
    ASSAY__GIVES(assay__conform_work_run(c->engine, &w, NULL), ASSAY_FOREIGN);
    w = good;
    w.y = foreign;
    ASSAY__GIVES(assay__conform_work_run(c->engine, &w, NULL), ASSAY_FOREIGN);
    ASSAY__PART(assay__conform_work_check(c, &good, 0));
    ASSAY__FINE(assay__conform_work_run(c->engine, &good, NULL));
    ASSAY__PART(assay__conform_work_check(c, &good, 1));
    ASSAY__FINE(assay_engine_free(c->engine, good.a));
    ASSAY__GIVES(assay__conform_work_run(c->engine, &good, NULL), ASSAY_FREED);
    return assay__conform_work_check(c, &good, 1);
}
