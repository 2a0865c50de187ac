/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_shown.c -- features that a kernel can show by itself: what it leaves is what only
 * the feature gives. */
#include <stdio.h>
#include <string.h>

#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"

enum { WORDS = 4 * ASSAY_PROBE_WORDS, BACKWARDS = 64, BYTES = WORDS * sizeof(uint32_t) };
#define FACTOR UINT32_C(0x9e3779b9)

/* One feature at work: what is asked of it, and what there was. */
typedef struct work {
    const uint32_t *from;
    uint32_t subgroup; /* invocations */
    uint32_t factor;
} work;

static uint32_t backwards(const work *w, uint32_t i)
{
    return w->from[i - i % BACKWARDS + (BACKWARDS - 1 - i % BACKWARDS)];
}

static uint32_t exchanged(const work *w, uint32_t i)
{
    return w->from[i ^ 1u];
}

static uint32_t summed(const work *w, uint32_t i)
{
    const uint32_t first = i - i % w->subgroup;
    uint32_t sum = 0;

    for (uint32_t k = first; k < first + w->subgroup; k++)
        sum += w->from[k];
    return sum;
}

static uint32_t upper_half(const work *w, uint32_t i)
{
    return (uint32_t)((uint64_t)w->from[i] * FACTOR >> 32);
}

static uint32_t scaled(const work *w, uint32_t i)
{
    return w->from[i] * w->factor;
}

static const struct {
    assay_feature feature;
    assay_probe_kind kind;
    uint32_t (*expected)(const work *w, uint32_t i);
} shown[] = {{ASSAY_FEATURE_SHARED_MEMORY, ASSAY_PROBE_SHARED, backwards},
             {ASSAY_FEATURE_SUBGROUP_SHUFFLE, ASSAY_PROBE_SHUFFLE, exchanged},
             {ASSAY_FEATURE_SUBGROUP_OPS, ASSAY_PROBE_SUBGROUP, summed},
             {ASSAY_FEATURE_MUL_HIGH, ASSAY_PROBE_MUL_HIGH, upper_half},
             {ASSAY_FEATURE_SPECIALIZATION, ASSAY_PROBE_SPECIALIZED, scaled}};
enum { SHOWN = sizeof shown / sizeof shown[0] };

static assay__conform_verdict launch(assay__conform *c, const assay_probe *p, uint32_t factor,
                                     assay_tensor operands[2])
{
    const int64_t tunables[2] = {WORDS, factor};
    const assay_launch one = {.struct_size = sizeof one,
                              .operand_count = 2,
                              .operands = operands,
                              .tunables = tunables,
                              .instance = c->engine->backend.instance,
                              .tunable_count =
                                  p->kind == ASSAY_PROBE_SPECIALIZED ? UINT32_C(2) : UINT32_C(1)};

    ASSAY__FINE(assay__backend_launch(&c->engine->backend, p->run, &one));
    ASSAY__FINE(assay__backend_synchronize(&c->engine->backend));
    return ASSAY__CONFORM_PASS;
}

/* Another factor is another kernel: of two the second must not be the first again. */
static assay__conform_verdict run(assay__conform *c, size_t at, const assay_probe *p,
                                  uint32_t factor)
{
    const int64_t bytes = BYTES;
    uint32_t from[WORDS], want[WORDS];
    const work w = {from, c->profile.subgroup_size, factor};
    assay_tensor operands[2];

    for (uint32_t i = 0; i < WORDS; i++)
        from[i] = (i + 1) * UINT32_C(2654435761);
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = shown[at].expected(&w, i);
    for (size_t i = 0; i < 2; i++) {
        ASSAY__FINE(assay_tensor_host(NULL, ASSAY_U8, 1, &bytes, NULL, &operands[i]));
        ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 256, &operands[i].buffer));
    }
    ASSAY__FINE(assay_engine_upload(c->engine, operands[0].buffer, from, BYTES));
    ASSAY__PART(launch(c, p, factor, operands));
    ASSAY__PART(assay__conform_holds_bytes(c, c->engine, operands[1].buffer, want, BYTES,
                                           assay_feature_name(shown[at].feature)));
    ASSAY__FINE(assay_engine_free(c->engine, operands[0].buffer));
    ASSAY__FINE(assay_engine_free(c->engine, operands[1].buffer));
    return ASSAY__CONFORM_PASS;
}

/* *missing: the feature is claimed, and there is no kernel that shows it. */
static assay__conform_verdict show(assay__conform *c, size_t at, bool *missing)
{
    assay_probe p = {.struct_size = sizeof p, .kind = shown[at].kind, .dtype = ASSAY_U8};
    const char *name = assay_feature_name(shown[at].feature);

    *missing = false;
    if (!assay_engine_supports(c->engine, shown[at].feature))
        return ASSAY__CONFORM_PASS;
    assay__conform_forget_text();
    const assay_status status = assay__backend_probe(&c->engine->backend, &p);
    *missing = status == ASSAY_UNSUPPORTED;
    if (status != ASSAY_OK)
        return assay__conform_check_status(c, name, status, ASSAY_UNSUPPORTED);
    ASSAY__HOLDS(p.run != NULL && p.operand_count == 2,
                 "what shows %s has %u operands and %s function to run", name, p.operand_count,
                 p.run != NULL ? "a" : "no");
    ASSAY__HOLDS(c->profile.subgroup_size == 0 || ASSAY_PROBE_WORDS % c->profile.subgroup_size == 0,
                 "a subgroup has %u invocations", c->profile.subgroup_size);
    ASSAY__PART(run(c, at, &p, 7));
    return run(c, at, &p, FACTOR);
}

assay__conform_verdict assay__conform_features_are_shown(assay__conform *c)
{
    char names[256] = "";
    size_t used = 0;
    bool any = false;

    for (size_t i = 0; i < SHOWN; i++) {
        bool missing = false;
        any = any || assay_engine_supports(c->engine, shown[i].feature);
        ASSAY__PART(show(c, i, &missing));
        if (missing)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "", assay_feature_name(shown[i].feature));
    }
    if (used > 0)
        return assay__conform_skip(c, "claimed, and no probe shows it: %s", names);
    return any ? ASSAY__CONFORM_PASS
               : assay__conform_skip(c, "it claims no feature that a kernel shows by itself");
}
