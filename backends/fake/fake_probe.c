/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_probe.c -- kernels of known work whose times come from the script: what they
 * say they waited is right, copies copy, arithmetic does nothing. */
#include <string.h>

#include "backends/fake/fake_kernels.h"

#define ROUND_FLOPS 1000.0

/* ---- kernels ---- */

/* What ran last: an entry point may be called by way of another, which sleeps first. */
static int last;

static assay_status run(const assay_launch *launch, int probe)
{
    const uint64_t amount = (uint64_t)launch->tunables[0];
    const double ghz = fake_current.ghz;
    void *const first = launch->operand_count > 0 ? assay_tensor_data(&launch->operands[0]) : NULL;
    assay_probe_spun spun = {
        .ns = amount, .cycles = (uint64_t)((double)amount * ghz), .step_ns = 1};

    if (probe == FAKE_PROBE_spin_cycles)
        spun = (assay_probe_spun){
            .ns = (uint64_t)((double)amount / ghz), .cycles = amount, .step_ns = 1};
    if (probe == FAKE_PROBE_spin_ns || probe == FAKE_PROBE_spin_cycles)
        memcpy(first, &spun, sizeof spun);
    last = probe;
    if (probe == FAKE_PROBE_copy)
        memcpy(assay_tensor_data(&launch->operands[1]), first, amount);
    return ASSAY_OK;
}

#define X(name, kind, dtype)                                   \
    static assay_status run_##name(const assay_launch *launch) \
    {                                                          \
        return run(launch, FAKE_PROBE_##name);                 \
    }
FAKE_PROBE_MAP(X)
#undef X

static const struct row {
    assay_kernel_fn run;
    assay_probe_kind kind;
    assay_dtype dtype;
} rows[FAKE_PROBES] = {
#define X(name, kind, dtype) [FAKE_PROBE_##name] = {run_##name, ASSAY_PROBE_##kind, ASSAY_##dtype},
    FAKE_PROBE_MAP(X)
#undef X
};

static bool is_arithmetic(assay_probe_kind kind)
{
    return kind == ASSAY_PROBE_FMA || kind == ASSAY_PROBE_MATRIX;
}

assay_status fake_probe(assay_instance *instance, assay_probe *probe)
{
    for (int i = 0; i < FAKE_PROBES; i++) {
        const struct row *r = &rows[i];
        if (r->kind != probe->kind || (is_arithmetic(r->kind) && r->dtype != probe->dtype) ||
            fake_current.probes[i] < 0.0)
            continue;
        probe->run = r->run;
        probe->operand_count = r->kind == ASSAY_PROBE_COPY                              ? 2
                               : i == FAKE_PROBE_spin_ns || i == FAKE_PROBE_spin_cycles ? 1
                                                                                        : 0;
        probe->work_per_amount = is_arithmetic(r->kind)        ? ROUND_FLOPS
                                 : r->kind == ASSAY_PROBE_COPY ? 2.0
                                                               : 0.0;
        return ASSAY_OK;
    }
    return assay__host_fail(instance, ASSAY_UNSUPPORTED, "probe: the script has none of kind %d",
                            (int)probe->kind);
}

/* ---- times ---- */

double fake_probe_ns(const assay_launch *launch)
{
    const int i = last;
    double ns;

    const double given = fake_current.probes[i], amount = (double)launch->tunables[0];
    if (is_arithmetic(rows[i].kind))
        ns = amount * ROUND_FLOPS / given;
    else if (i == FAKE_PROBE_copy)
        ns = 2.0 * amount / given;
    else if (i == FAKE_PROBE_empty)
        ns = given;
    else
        ns = given +
             fake_current.stretch * (i == FAKE_PROBE_spin_ns ? amount : amount / fake_current.ghz);
    return ns;
}
