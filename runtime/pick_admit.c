/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_admit.c -- may this candidate answer the question, and if not, why. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/doing.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

/* One candidate under the rules. */
typedef struct trial {
    const assay__generation *g;
    const assay_question *q;
    assay__judged *item;
    assay__row_values *values; /* of the question's problem */
    bool with_reasons;
} trial;

/* Texts cost more than the rules; a pick does without. */
__attribute__((format(printf, 2, 3))) static bool refuse(const trial *t, const char *format, ...)
{
    va_list args;
    char text[512];

    t->item->rejected = true;
    if (!t->with_reasons)
        return false;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assay__text_fit(text, t->item->reason, sizeof t->item->reason);
    return false;
}

/* ---- is it the kernel of this process? ---- */

static bool fits_process(const trial *t)
{
    char was[ASSAY_DIGEST_HEX], is[ASSAY_DIGEST_HEX];
    const assay__judged *item = t->item;

    switch (item->fit) {
    case ASSAY__FIT_ABSENT:
        return refuse(t, "not in this process's table: no kernel %s on %s", item->stored->kernel,
                      item->stored->backend);
    case ASSAY__FIT_STALE:
        if (!t->with_reasons)
            return refuse(t, "%s", "");
        if (!item->binding->available) /* then it has no revision to compare with */
            return refuse(t, "unavailable, so what was measured is stale: %s",
                          item->binding->reason);
        assay_digest_format(&item->stored->kernel_revision, was);
        assay_digest_format(&item->binding->revision, is);
        return refuse(t, "stale: measured for revision %.12s, the kernel is now %.12s; sweep again",
                      was, is);
    case ASSAY__FIT_UNKNOWN:
        return refuse(t, "stale: its tunables '%.60s' are not those of the kernel",
                      item->stored->tunables);
    case ASSAY__FIT_CLOSED: /* refused below, with the reason of its row */
    case ASSAY__FIT_FRESH:
        break;
    }
    return true;
}

static bool is_asked_for(const trial *t, const char *named)
{
    const char *backend = t->item->binding->manifest->name;
    const assay_manifest *m = t->item->binding->manifest;
    /* Operands lie in the host's memory unless a question names who takes others. */
    const bool is_elsewhere = m->location != ASSAY_LOCATION_CPU;

    t->item->hidden = (m->explicit_only != 0 || is_elsewhere) &&
                      !assay__name_in_list(named, backend) &&
                      (t->q->backends == NULL || !assay__name_in_list(t->q->backends, backend));
    if (t->q->backends != NULL) {
        if (!assay__name_in_list(t->q->backends, backend))
            return refuse(t, "backend %s is not asked for", backend);
        return true;
    }
    if (t->item->hidden && is_elsewhere)
        return refuse(t, "backend %s runs on a device of its own and is chosen only by name",
                      backend);
    if (t->item->hidden)
        return refuse(t, "backend %s is chosen only when asked for by name", backend);
    return true;
}

static bool is_available(const trial *t)
{
    const assay_binding *b = t->item->binding;

    return b->available ? true : refuse(t, "unavailable: %s", b->reason);
}

/* ---- was it right? ---- */

static bool has_good_verdict(const trial *t)
{
    static const char *const texts[] = {
        [ASSAY__VERDICT_NONE] = "was never judged",
        [ASSAY__VERDICT_WRONG] = "gave a wrong result",
        [ASSAY__VERDICT_IMPOSSIBLE] = "was faster than the hardware allows; its timing is broken",
        [ASSAY__VERDICT_CRASHED] = "crashed",
        [ASSAY__VERDICT_TIMEOUT] = "ran past its time limit",
        [ASSAY__VERDICT_MISTRUSTED] = "its check could not tell right from wrong",
    };
    unsigned verdict = t->item->measured->verdict;

    if (isnan(t->item->measured->time_ns) && verdict == ASSAY__VERDICT_THROTTLED)
        return refuse(t, "was not timed: the core's clock stayed low");
    /* Noisy and throttled ones are right; the ranking knows how little their times say. */
    if (isnan(t->item->measured->time_ns) && verdict == ASSAY__VERDICT_OK)
        return refuse(t, "was not timed");
    if (verdict == ASSAY__VERDICT_OK || verdict == ASSAY__VERDICT_NOISY ||
        verdict == ASSAY__VERDICT_THROTTLED)
        return true;
    if (verdict == ASSAY__VERDICT_UNSOUND)
        return refuse(t, "its stored record is damaged; run assay check");
    return refuse(t, "verdict: %s",
                  verdict < sizeof texts / sizeof texts[0] ? texts[verdict] : "is unknown here");
}

static bool is_trusted(const trial *t)
{
    if (t->item->quarantine != NULL)
        return refuse(t, "quarantined: %s", t->item->quarantine);
    if (t->item->proven.proof != NULL && !t->item->proven.proof->passed)
        return refuse(t,
                      "gave a wrong result when run over all inputs, which holds for every "
                      "shape (evidence %llu)",
                      (unsigned long long)t->item->proven.proof->accuracy);
    if (t->item->measured == NULL && t->item->worst == ASSAY__VERDICT_WRONG)
        return refuse(t, "gave a wrong result at %.60s, and is not checked at this problem",
                      t->item->worst_problem);
    if (t->item->measured == NULL)
        return true;
    if (t->item->measured->quarantined)
        return refuse(t, "quarantined");
    return has_good_verdict(t);
}

/* ---- can it run? ---- */

/* In this process: a fault of it ends it, see docs/libraries.md. */
static bool takes_problem(const trial *t)
{
    const assay_kernel_desc *desc = t->item->binding->desc;

    if (desc->can_run_fn == NULL)
        return true;
    assay__doing_ask(t->item->binding->manifest->name, desc->name, 0, 0);
    const bool takes = desc->can_run_fn(&t->q->problem, t->item->tunables);
    assay__doing_end();
    return takes;
}

static bool can_run(const trial *t)
{
    const assay__row_code *code = assay__code_of(t->g, t->item->binding);
    const assay_kernel_desc *desc = t->item->binding->desc;

    if (code->can_run != NULL && !assay__row_values_hold(code->can_run, t->values, NULL, 0))
        return refuse(t, "cannot run: '%s' does not hold", desc->can_run);
    if (!takes_problem(t))
        return refuse(t, "cannot run: the kernel declines this problem");
    if (code->constraint != NULL && !assay__row_values_hold(code->constraint, t->values,
                                                            t->item->tunables, desc->tunable_count))
        return refuse(t, "constraint of its tunables '%s' does not hold", desc->constraint);
    return true;
}

static bool keeps_resources(const trial *t)
{
    const assay__row_code *code = assay__code_of(t->g, t->item->binding);
    const assay__route_candidate *m = t->item->measured;
    uint64_t limit = t->q->workspace_bytes;

    if (t->q->max_threads != 0 && code->threads >= 0 &&
        t->item->tunables[code->threads] > (int64_t)t->q->max_threads)
        return refuse(t, "uses %lld threads, max_threads is %u",
                      (long long)t->item->tunables[code->threads], t->q->max_threads);
    if (limit != UINT64_MAX && m == NULL)
        return refuse(t, "workspace: never measured, the limit is %llu bytes",
                      (unsigned long long)limit);
    if (limit != UINT64_MAX && m->workspace_bytes > limit)
        return refuse(t, "workspace: needs %llu bytes, the limit is %llu",
                      (unsigned long long)m->workspace_bytes, (unsigned long long)limit);
    return true;
}

static bool takes_operands(const trial *t)
{
    char why[128] = "";
    unsigned copies = 0;

    if (!assay__caps_copies(t->item->binding->desc, t->q->layout, t->q->align, &copies, why,
                            sizeof why))
        return refuse(t, "%.90s; of outputs no copies are made", why);
    return copies == t->item->copies ? true : refuse(t, "%s", why);
}

/* ---- is it exact enough? ---- */

/* One limit of a tolerance, and what is known of the candidate. */
typedef struct limit {
    const char *name;
    double limit, evidence, claim;
    double worst; /* evidence of this kernel for any question; NaN: none */
} limit;

/* Where there is no output there is no error, and every tolerance is met. */
static bool writes_nothing(const trial *t)
{
    const assay_problem *p = &t->q->problem;

    return assay_problem_operand_elements(p, p->dtype_count - 1u) == 0;
}

/* Without evidence for the question: a claim, when claims are allowed and nothing contradicts it.
 */
static bool keeps_claim(const trial *t, const limit *l)
{
    if (writes_nothing(t))
        return true;
    if (!t->q->tolerance.allow_claims || !(l->claim >= 0.0))
        return refuse(t, "tolerance: no evidence for %s%s, the limit is %.6g", l->name,
                      t->q->tolerance.allow_claims ? " and no claim" : "", l->limit);
    if (l->worst > l->claim)
        return refuse(t, "tolerance: the claim that %s is %.6g is refuted by evidence (%.6g)",
                      l->name, l->claim, l->worst);
    if (l->claim <= l->limit)
        return true;
    return refuse(t, "tolerance: %s is %.6g (claimed), the limit is %.6g", l->name, l->claim,
                  l->limit);
}

/* The maximum of a sample is a lower bound.  Where it keeps the limit and the author expects more,
 * the sample has not met the worst input yet; to believe neither proves that the limit is kept. */
static bool keeps_beyond_samples(const trial *t, const limit *l)
{
    if (t->item->proof >= ASSAY_PROOF_BOUNDED || !(l->claim > l->limit))
        return true;
    return refuse(t,
                  "tolerance: sampled %s >= %.6g is a lower bound; its author claims %.6g, the "
                  "limit is %.6g",
                  l->name, l->evidence, l->claim, l->limit);
}

static bool keeps_limit(const trial *t, const limit *l)
{
    if (l->limit < 0.0)
        return true;
    if (isnan(l->evidence))
        return keeps_claim(t, l);
    if (l->evidence <= l->limit)
        return keeps_beyond_samples(t, l);
    return refuse(t, "tolerance: %s is %.6g (%s), the limit is %.6g", l->name, l->evidence,
                  t->item->proof == ASSAY_PROOF_EXHAUSTIVE ? "measured over all inputs"
                                                           : "measured",
                  l->limit);
}

static bool keeps_limits(const trial *t)
{
    const assay_tolerance *q = &t->q->tolerance;
    const assay_claims *c = &t->item->binding->desc->claims;
    const assay__judged *known = t->item;
    const double *worst = assay__code_of(t->g, t->item->binding)->worst;
    const limit limits[] = {
        {"max_ulp", q->max_ulp, known->max_ulp, c->max_ulp, worst[0]},
        {"max_rho", q->max_rho, known->max_rho, c->max_rho, worst[1]},
        {"max_rel", q->max_rel, known->max_rel, c->max_rel, worst[2]},
        {"max_abs", q->max_abs, known->max_abs, c->max_abs, worst[3]},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (!keeps_limit(t, &limits[i]))
            return false;
    return true;
}

/* The claim counts for no more than the least that was measured of this kernel anywhere. */
static unsigned claimed_stability(const trial *t)
{
    unsigned claim = (unsigned)t->item->binding->desc->claims.stability;
    unsigned least = assay__code_of(t->g, t->item->binding)->least_stability;

    if (!t->q->tolerance.allow_claims)
        return ASSAY_STABILITY_ABSENT;
    return least != ASSAY_STABILITY_ABSENT && least < claim ? least : claim;
}

static bool keeps_stability(const trial *t)
{
    unsigned evidence = t->item->measured != NULL ? t->item->measured->stability : 0;
    unsigned claim = claimed_stability(t);
    unsigned has = evidence != ASSAY_STABILITY_ABSENT ? evidence : claim;

    if (has >= t->q->tolerance.stability || writes_nothing(t))
        return true;
    return refuse(t, "tolerance: bit stability is %u (%s), at least %u is asked for", has,
                  evidence != 0 ? "measured"
                  : has != 0    ? "claimed"
                                : "no evidence",
                  t->q->tolerance.stability);
}

static bool keeps_proof(const trial *t)
{
    static const char *const names[] = {"absent", "sampled", "bounded", "exhaustive"};
    unsigned has = t->item->proof;

    if (has >= t->q->tolerance.proof || writes_nothing(t))
        return true;
    /* A bound that was proved before is evidence that nothing brings yet. */
    return refuse(t, "tolerance: proof is %s, at least %s is asked for%s", names[has & 3],
                  names[t->q->tolerance.proof & 3],
                  t->q->tolerance.proof == ASSAY_PROOF_BOUNDED
                      ? "; no sweep stores a bound, exhaustive evidence alone meets it"
                      : "");
}

bool assay__admit(const assay__generation *g, const char *named, const assay_question *q,
                  assay__row_values *values, bool with_reasons, assay__judged *item)
{
    const trial t = {g, q, item, values, with_reasons};

    return fits_process(&t) && is_asked_for(&t, named) && is_available(&t) && is_trusted(&t) &&
           can_run(&t) && keeps_resources(&t) && takes_operands(&t) && keeps_limits(&t) &&
           keeps_stability(&t) && keeps_proof(&t);
}
