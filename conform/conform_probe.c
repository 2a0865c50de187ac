/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_probe.c -- kernels of known work: are they there, and do they what they say? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"

/* Those behind are in conform_shown.c. */
enum { TIMED_KINDS = ASSAY_PROBE_MATRIX + 1 };
enum { BYTES = 4096, AMOUNT = 4007, MOST_OPERANDS = 2 }; /* bytes that no vector ends with */

static const struct {
    const char *name;
    uint32_t least_operands;
    bool has_work, has_dtype;
} kinds[TIMED_KINDS] = {[ASSAY_PROBE_EMPTY] = {"an empty kernel", 0, false, false},
                        [ASSAY_PROBE_SPIN_NS] = {"a spin of ns", 1, false, false},
                        [ASSAY_PROBE_SPIN_CYCLES] = {"a spin of cycles", 1, false, false},
                        [ASSAY_PROBE_COPY] = {"a copy", 2, true, false},
                        [ASSAY_PROBE_FMA] = {"multiply-adds", 0, true, true},
                        [ASSAY_PROBE_MATRIX] = {"matrix instructions", 0, true, true}};

/* What is offered can be run, and says what it does. */
static assay__conform_verdict check_offer(assay__conform *c, const assay_probe *p, const char *name)
{
    const bool has_work = p->work_per_amount > 0.0 && isfinite(p->work_per_amount);

    ASSAY__HOLDS(p->run != NULL, "%s is offered without a function to run", name);
    ASSAY__HOLDS(p->operand_count >= kinds[p->kind].least_operands &&
                     p->operand_count <= MOST_OPERANDS,
                 "%s takes %u operands", name, p->operand_count);
    ASSAY__HOLDS(has_work || (!kinds[p->kind].has_work && fabs(p->work_per_amount) <= 0.0),
                 "%s does a work of %g", name, p->work_per_amount);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict make_operands(assay__conform *c, const assay_probe *p,
                                            assay_tensor operands[MOST_OPERANDS])
{
    const int64_t bytes = BYTES;
    unsigned char fill[BYTES];

    for (uint32_t i = 0; i < p->operand_count; i++) {
        memset(fill, i == 0 ? 0x5a : 0, sizeof fill);
        ASSAY__FINE(assay_tensor_host(NULL, ASSAY_U8, 1, &bytes, NULL, &operands[i]));
        ASSAY__FINE(assay_engine_alloc(c->engine, BYTES, 256, &operands[i].buffer));
        ASSAY__FINE(assay_engine_upload(c->engine, operands[i].buffer, fill, BYTES));
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict free_operands(assay__conform *c, const assay_probe *p,
                                            const assay_tensor operands[MOST_OPERANDS])
{
    for (uint32_t i = 0; i < p->operand_count; i++)
        ASSAY__FINE(assay_engine_free(c->engine, operands[i].buffer));
    return ASSAY__CONFORM_PASS;
}

/* Not known is 0; else at least what was asked for. */
static assay__conform_verdict check_spin(assay__conform *c, assay_probe_kind kind,
                                         assay_buffer buffer)
{
    assay_probe_spun spun;

    ASSAY__FINE(assay_engine_download_at(c->engine, &spun, buffer, 0, sizeof spun));
    const uint64_t told = kind == ASSAY_PROBE_SPIN_NS ? spun.ns : spun.cycles;
    ASSAY__HOLDS(told == 0 || told >= AMOUNT, "%s, asked for %d, says that it waited for %llu",
                 kinds[kind].name, AMOUNT, (unsigned long long)told);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict check_copy(assay__conform *c, assay_buffer to)
{
    unsigned char want[BYTES];

    memset(want, 0, sizeof want);
    memset(want, 0x5a, AMOUNT);
    return assay__conform_holds_bytes(c, c->engine, to, want, sizeof want, "after a copy");
}

static assay__conform_verdict run(assay__conform *c, const assay_probe *p)
{
    const assay__backend *backend = &c->engine->backend;
    const int64_t amount = kinds[p->kind].has_dtype ? 1 : AMOUNT;
    assay_tensor operands[MOST_OPERANDS];
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = p->operand_count,
                                 .operands = operands,
                                 .tunables = &amount,
                                 .instance = backend->instance,
                                 .tunable_count = 1};

    ASSAY__PART(make_operands(c, p, operands));
    ASSAY__FINE(assay__backend_launch(backend, p->run, &launch));
    ASSAY__FINE(assay__backend_synchronize(backend));
    if (p->kind == ASSAY_PROBE_SPIN_NS || p->kind == ASSAY_PROBE_SPIN_CYCLES)
        ASSAY__PART(check_spin(c, p->kind, operands[0].buffer));
    if (p->kind == ASSAY_PROBE_COPY)
        ASSAY__PART(check_copy(c, operands[1].buffer));
    return free_operands(c, p, operands);
}

static assay__conform_verdict try_kind(assay__conform *c, assay_probe_kind kind, assay_dtype dtype,
                                       bool *offered)
{
    assay_probe probe = {.struct_size = sizeof probe, .kind = kind, .dtype = dtype};
    char name[64];

    (void)snprintf(name, sizeof name, "%s%s%s", kinds[kind].name,
                   kinds[kind].has_dtype ? " of " : "",
                   kinds[kind].has_dtype ? assay_dtype_name(dtype) : "");
    assay__conform_forget_text();
    const assay_status status = assay__backend_probe(&c->engine->backend, &probe);
    if (status != ASSAY_OK)
        return assay__conform_check_status(c, name, status, ASSAY_UNSUPPORTED);
    *offered = true;
    ASSAY__PART(check_offer(c, &probe, name));
    return run(c, &probe);
}

assay__conform_verdict assay__conform_probe_does_its_work(assay__conform *c)
{
    bool offered = false;

    if (!ASSAY__HAS_SLOT(c, probe))
        return assay__conform_skip(c, "the backend has no probes");
    for (int kind = 0; kind < TIMED_KINDS; kind++)
        for (int dtype = 0; dtype < (kinds[kind].has_dtype ? (int)ASSAY_DTYPE_COUNT : 1); dtype++)
            ASSAY__PART(try_kind(c, (assay_probe_kind)kind, (assay_dtype)dtype, &offered));
    return offered ? ASSAY__CONFORM_PASS
                   : assay__conform_skip(c, "the backend offers no probe here");
}
