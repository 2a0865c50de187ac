/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_stability.c -- do repeated runs, and runs by other numbers of threads, give the same
 * bits? */
#include <stdio.h>
#include <string.h>

#include "sweep/sweep_internal.h"

/* Evidence of bit stability: the outputs of separate processes, one a visit. */
#define STABLE_PROCESSES 5

assay_stability assay__sweep_stability(const sweep_candidate *c)
{
    if (!c->stable)
        return ASSAY_STABILITY_NONE;
    return c->visit_count + c->confirm_count >= STABLE_PROCESSES ? ASSAY_STABILITY_CONFIG
                                                                 : ASSAY_STABILITY_ABSENT;
}

/* The same kernel and choices but for the number of threads. */
static bool differ_in_threads(const sweep_candidate *a, const sweep_candidate *b)
{
    const assay_kernel_desc *k = a->kernel->desc;
    bool differ = false;

    if (a->kernel != b->kernel)
        return false;
    for (size_t i = 0; i < k->tunable_count; i++) {
        if (a->tunables[i] == b->tunables[i])
            continue;
        if (strcmp(k->tunables[i].name, "threads") != 0)
            return false;
        differ = true;
    }
    return differ;
}

static bool has_digest(const sweep_candidate *c)
{
    return c->checked && (c->verdict == ASSAY__VERDICT_OK || c->verdict == ASSAY__VERDICT_NOISY);
}

/* Outputs of one input set, which all candidates were given: another number of threads whose bits
 * are others; NULL: none was seen. */
static const sweep_candidate *other_bits(const sweep_problem *p, const sweep_candidate *c)
{
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *o = &p->candidates[i];
        if (has_digest(c) && has_digest(o) && differ_in_threads(c, o) && o->digest != c->digest)
            return o;
    }
    return NULL;
}

/* Once a kernel and problem: by the first candidate that has bits of its own. */
static void tell_refuted(sweep *s, const sweep_problem *p, const sweep_candidate *c,
                         const sweep_candidate *o)
{
    if (c->kernel->desc->claims.stability < ASSAY_STABILITY_MACHINE || o < c)
        return;
    for (const sweep_candidate *before = p->candidates; before < c; before++)
        if (before->kernel == c->kernel && other_bits(p, before) != NULL)
            return;
    assay__sweep_warn(s,
                      "%s/%s claims the same bits for any number of threads; %s: {%s} gives "
                      "%016llx, {%s} %016llx; the claim no longer counts",
                      c->kernel->manifest->name, c->kernel->desc->name, p->text, c->tunables_text,
                      (unsigned long long)c->digest, o->tunables_text,
                      (unsigned long long)o->digest);
}

assay_status assay__sweep_put_stability(sweep *s, const sweep_problem *p, const sweep_candidate *c)
{
    assay_stability level = assay__sweep_stability(c);
    const sweep_candidate *other = other_bits(p, c);
    char evidence[512];
    int length;

    if (other != NULL)
        tell_refuted(s, p, c, other);
    if ((level == ASSAY_STABILITY_ABSENT && other == NULL) || !c->checked)
        return ASSAY_OK;
    length = snprintf(evidence, sizeof evidence,
                      "{\"processes\": %zu, \"digest\": \"%016llx\", \"same\": %s",
                      c->visit_count + c->confirm_count + 1, (unsigned long long)c->digest,
                      c->stable ? "true" : "false");
    if (other != NULL)
        length += snprintf(evidence + length, sizeof evidence - (size_t)length,
                           ", \"other_tunables\": \"%s\", \"other_digest\": \"%016llx\"",
                           other->tunables_text, (unsigned long long)other->digest);
    (void)snprintf(evidence + length, sizeof evidence - (size_t)length, "}");
    return assay__db_put_stability(s->db, c->revision_row, s->deployment_row, p->row, level,
                                   evidence);
}
