/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_decide.c -- who may win, who does, and what is published. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"

/* A process that runs what leaves files open at every call can soon open none: such a one is
 * measured, and never published in the default's place. */
bool assay__sweep_is_safe(const sweep_candidate *c)
{
    return c->leaked_fds == 0 || c->is_default;
}

static bool competes(const sweep_candidate *c, size_t visits)
{
    return c->verdict == ASSAY__VERDICT_OK && !c->out && c->visit_count >= visits && visits > 0 &&
           assay__sweep_is_safe(c);
}

/* Still in doubt after the looks so far. */
static bool is_open(const sweep_candidate *c, size_t visits)
{
    return competes(c, visits) && !c->settled;
}

static assay_tie_entry entry_of(const sweep_problem *p, const sweep_candidate *c)
{
    return (assay_tie_entry){.incumbent = c->is_incumbent,
                             .stability =
                                 assay__sweep_stability(c) == ASSAY_STABILITY_CONFIG ? 1 : 0,
                             .error = assay__sweep_error(p, c),
                             .memory_bytes = 0,
                             .kernel = c->kernel->desc->name,
                             .revision = c->revision.bytes};
}

/* ---- the tie set ---- */

typedef struct field {
    size_t *index; /* of candidates that compete */
    size_t count;
    double *log_times;
    assay_tie_entry *entries;
    bool *member;
} field;

static void field_clear(field *f)
{
    free(f->index);
    free(f->log_times);
    free(f->entries);
    free(f->member);
}

static assay_status field_make(const sweep_problem *p, size_t visits, field *f)
{
    memset(f, 0, sizeof *f);
    f->index = calloc(p->count, sizeof *f->index);
    f->log_times = calloc(p->count * visits, sizeof *f->log_times);
    f->entries = calloc(p->count, sizeof *f->entries);
    f->member = calloc(p->count, sizeof *f->member);
    if (f->index == NULL || f->log_times == NULL || f->entries == NULL || f->member == NULL) {
        field_clear(f);
        return assay__fail(ASSAY_NOMEM, "decision over %zu candidates", p->count);
    }
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!is_open(c, visits))
            continue;
        for (size_t v = 0; v < visits; v++)
            f->log_times[f->count * visits + v] = log(c->visit_ns[v]);
        f->entries[f->count] = entry_of(p, c);
        f->index[f->count++] = i;
    }
    return ASSAY_OK;
}

/* A gain must exceed what equals show on this machine; fewer visits than asked for decide, too. */
static assay_verdict_rule rule_of(const sweep *s, size_t visits)
{
    assay_verdict_rule rule = assay__verdict_rule_default();

    rule.aa_floor = isnan(s->aa_floor) ? 0.0 : s->aa_floor;
    rule.min_visits = visits < rule.min_visits ? visits : rule.min_visits;
    return rule;
}

/* ---- the floor ---- */

/* The default against itself, compared as rivals are. */
static assay_status learn_problem(sweep *s, const sweep_problem *p)
{
    const sweep_candidate *base = &p->candidates[p->default_index];
    assay_verdict_rule rule = assay__verdict_rule_default();

    if (base->twin_count < 2 || !competes(base, 1))
        return ASSAY_OK;
    ASSAY_TRY(assay__compare_paired(base->twin_logs, base->twin_count, &rule,
                                    &s->equals[s->equal_count]));
    s->equal_count++;
    return ASSAY_OK;
}

assay_status assay__sweep_learn_floor(sweep *s, size_t begin, size_t end)
{
    double confidence = assay__verdict_rule_default().confidence;
    assay_comparison *more = realloc(s->equals, (s->equal_count + end - begin + 1) * sizeof *more);

    if (more == NULL)
        return assay__fail(ASSAY_NOMEM, "the A/A floor of %zu problems", end - begin);
    s->equals = more;
    for (size_t i = begin; i < end; i++)
        if (!s->problems[i].skip)
            ASSAY_TRY(learn_problem(s, &s->problems[i]));
    s->summary->aa_pairs = s->equal_count;
    if (s->equal_count < ASSAY_AA_PAIRS)
        return ASSAY_OK;
    ASSAY_TRY(assay__aa_floor_of(s->equals, s->equal_count, confidence, &s->aa_floor));
    s->summary->aa_floor = s->aa_floor;
    return ASSAY_OK;
}

/* The interval that is published is the one that the verdict was judged by: what was found faster
 * excludes 1. */
static void book_ratio(sweep_candidate *c, const assay_comparison *r,
                       const assay_verdict_rule *rule)
{
    c->ratio = r->ratio;
    c->ratio_lo = r->lo;
    c->ratio_hi = r->hi;
    c->ratio_level = rule->confidence;
    c->open_ratio = r->verdict == ASSAY_VERDICT_UNDECIDED;
}

static assay_status compare_with_default(const sweep_problem *p, sweep_candidate *c, size_t visits,
                                         const assay_verdict_rule *rule)
{
    const sweep_candidate *base = &p->candidates[p->default_index];
    double logs[SWEEP_VISITS];
    assay_comparison r;

    if (!competes(base, visits) || visits < 2 || c == base)
        return ASSAY_OK;
    for (size_t v = 0; v < visits; v++)
        logs[v] = log(c->visit_ns[v] / base->visit_ns[v]);
    ASSAY_TRY(assay__compare_paired(logs, visits, rule, &r));
    book_ratio(c, &r, rule);
    c->slower = r.verdict == ASSAY_VERDICT_SLOWER;
    return ASSAY_OK;
}

assay_status assay__sweep_interval(const double *visit_ns, size_t n, double *median, double *lo,
                                   double *hi)
{
    double *sorted;
    assay_interval ci;

    ASSAY_TRY(assay__stats_sorted(visit_ns, n, &sorted));
    ci = assay__stats_median_interval(sorted, n, 0.95);
    *median = assay__stats_quantile(sorted, n, 0.5);
    *lo = ci.lo;
    *hi = ci.hi;
    free(sorted);
    return ASSAY_OK;
}

/* That all have who are in, or all of them who are in doubt. */
static size_t fewest_visits(const sweep_problem *p, bool in_doubt)
{
    size_t visits = SWEEP_VISITS;
    bool any = false;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out || c->verdict != ASSAY__VERDICT_OK || (in_doubt && c->settled))
            continue;
        any = true;
        if (c->visit_count < visits)
            visits = c->visit_count;
    }
    return any ? visits : 0;
}

/* Confirming visits that an interrupted sweep left count only as far as all contenders of this
 * choice had them together. */
static void level_confirms(sweep_problem *p)
{
    size_t least = SWEEP_VISITS;

    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].contender && p->candidates[i].confirm_count < least)
            least = p->candidates[i].confirm_count;
    for (size_t i = 0; i < p->count; i++)
        p->candidates[i].confirm_count = p->candidates[i].contender ? least : 0;
}

/* Other visits can only tell whether those whom the tie rule prefers to the first that does not
 * seem slow are as fast as they need be. */
static bool stays_in_doubt(const field *f, size_t i, const assay_tie_set *set)
{
    return i == set->leader ||
           (f->member[i] && assay__tie_compare(&f->entries[i], &f->entries[set->safe]) <= 0);
}

static assay_status book_look(sweep_problem *p, const field *f, size_t visits,
                              const assay_verdict_rule *rule, const assay_tie_set *set)
{
    for (size_t i = 0; i < f->count; i++) {
        sweep_candidate *c = &p->candidates[f->index[i]];
        c->tied = f->member[i];
        ASSAY_TRY(compare_with_default(p, c, visits, rule));
        ASSAY_TRY(
            assay__sweep_interval(c->visit_ns, c->visit_count, &c->time_ns, &c->lo_ns, &c->hi_ns));
    }
    for (size_t i = 0; i < f->count; i++)
        p->candidates[f->index[i]].settled = !stays_in_doubt(f, i, set);
    p->chosen = f->index[set->chosen];
    p->leader = f->index[set->leader];
    return ASSAY_OK;
}

/* One look at the `visits` of those in doubt.  *open: the tie rule chose one that seems slower than
 * the fastest by more than counts, and no more than seems: other visits may tell. */
static assay_status look(const sweep *s, sweep_problem *p, size_t visits, size_t ordinal,
                         bool *open)
{
    assay_verdict_rule rule = rule_of(s, visits);
    assay_tie_set set = {0};
    assay_status status = ASSAY_OK;
    field f;

    *open = false;
    rule.confidence = assay__look_confidence(rule.confidence, ordinal);
    ASSAY_TRY(field_make(p, visits, &f));
    if (f.count > 0)
        status =
            assay__tie_set_build(f.log_times, f.count, visits, &rule, f.entries, f.member, &set);
    if (status == ASSAY_OK && f.count > 0)
        status = book_look(p, &f, visits, &rule, &set);
    if (status == ASSAY_OK && f.count > 0)
        *open = set.gap > log1p(fmax(rule.min_gain, rule.aa_floor));
    field_clear(&f);
    return status;
}

/* The default was not chosen for its times, so that they flatter nobody, and has no rival: where
 * there is little time it needs no fresh visits. */
static void spare_if_alone(sweep_problem *p)
{
    size_t named = 0;

    for (size_t i = 0; i < p->count; i++)
        named += p->candidates[i].contender;
    if (named == 1 && p->is_heavy)
        p->candidates[p->default_index].contender = false; /* another has no rival but it */
}

/* ---- what is likely to come ---- */

/* Times of equals are off by less, mostly. */
#define SEEMS_EQUAL 1.04

static bool may_win(const sweep_candidate *c)
{
    return !c->out && assay__sweep_is_safe(c) && c->screen_ns > 0;
}

static bool seems_equal(const sweep_candidate *c, const sweep_candidate *leader)
{
    return may_win(c) &&
           assay__sweep_log_time(c) - assay__sweep_log_time(leader) < log(SEEMS_EQUAL);
}

static const sweep_candidate *fastest_in(const sweep_problem *p)
{
    const sweep_candidate *best = NULL;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (may_win(c) && (best == NULL || assay__sweep_log_time(c) < assay__sweep_log_time(best)))
            best = c;
    }
    return best;
}

/* Of those that seem as fast as the leader the one that ties prefer. */
static const sweep_candidate *likely_choice(const sweep_problem *p, const sweep_candidate *leader)
{
    const sweep_candidate *chosen = leader;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!seems_equal(c, leader))
            continue;
        const assay_tie_entry this = entry_of(p, c), other = entry_of(p, chosen);
        if (assay__tie_compare(&this, &other) < 0)
            chosen = c;
    }
    return chosen;
}

/* Who leads by one screening stay does so by chance: in the mean over those that seem equal he is
 * another than the chosen and the default. */
static double likely_contenders(const sweep_problem *p, const sweep_candidate *leader,
                                const sweep_candidate *chosen)
{
    const double error = assay__sweep_error(p, chosen);
    double named = 0, near = 0, near_named = 0;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (c->out || !(c->screen_ns > 0))
            continue;
        const bool is_named = c == chosen || c->is_default || c->is_incumbent ||
                              (c->on_front && assay__sweep_error(p, c) < error) ||
                              (c == leader && !chosen->is_default && leader->visit_count > 1);
        named += is_named;
        near += seems_equal(c, leader);
        near_named += is_named && seems_equal(c, leader);
    }
    if (chosen->is_default)
        return named < 2 && p->is_heavy ? 0 : named;
    return leader->visit_count > 1 ? named : named + (near - near_named) / near;
}

/* Confirming visits that times as scattered as the newest ask for. */
static size_t likely_confirms(const sweep *s, const sweep_candidate *c, const sweep_candidate *base)
{
    const size_t first = s->o->profile->confirms;
    const size_t n = c->visit_count < base->visit_count ? c->visit_count : base->visit_count;
    assay_verdict_rule rule = rule_of(s, first);
    assay_confirmation r;

    rule.confidence = s->o->profile->confirm_confidence;
    if (c == base || n < first ||
        assay__confirm(c->visit_ns + n - first, base->visit_ns + n - first, first, first, &rule,
                       &r) != ASSAY_OK)
        return first;
    return r.wanted > 0 ? r.wanted : first;
}

sweep_prospect assay__sweep_expect(const sweep *s, const sweep_problem *p)
{
    const assay_verdict_rule rule = rule_of(s, 0);
    const size_t visits = s->o->profile->visits;
    const sweep_candidate *leader = fastest_in(p), *chosen;
    sweep_prospect out = {0, s->o->profile->confirms, 0};

    if (leader == NULL)
        return out;
    chosen = likely_choice(p, leader);
    out.contenders = likely_contenders(p, leader, chosen);
    if (p->is_heavy) /* gets no other looks */
        return out;
    out.confirms = likely_confirms(s, chosen, &p->candidates[p->default_index]);
    if (chosen->visit_count >= 3 && assay__sweep_log_time(chosen) - assay__sweep_log_time(leader) >
                                        log1p(fmax(rule.min_gain, rule.aa_floor)))
        out.looks = assay__look_visits(visits, 1) - visits;
    return out;
}

/* The chosen and the fastest, the default, the incumbent, and the winners of stricter questions. */
static void name_contenders(sweep_problem *p, size_t visits)
{
    double error_of_chosen = assay__sweep_error(p, &p->candidates[p->chosen]);
    /* Where the default is chosen nothing is to be confirmed. */
    const size_t leader = p->chosen != p->default_index ? p->leader : p->chosen;

    assay__sweep_mark_front(p);
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        c->contender = competes(c, visits) &&
                       (i == p->chosen || i == leader || c->is_default || c->is_incumbent ||
                        (c->on_front && assay__sweep_error(p, c) < error_of_chosen));
    }
    spare_if_alone(p);
    level_confirms(p);
}

/* Who may not be published takes no part in a look, so that none would ever settle him. */
static void begin_choice(sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        c->settled = !assay__sweep_is_safe(c);
        c->tied = c->slower = false;
    }
}

/* From the first look on, whatever visits there are: what goes on after an interruption decides as
 * what was never interrupted. */
assay_status assay__sweep_choose(sweep *s, sweep_problem *p)
{
    const size_t first = fewest_visits(p, false);
    const size_t asked = s->o->profile->visits;
    bool open = true;

    p->wanted = 0;
    if (first == 0)
        return ASSAY_OK;
    begin_choice(p);
    ASSAY_TRY(look(s, p, first < asked ? first : asked, 0, &open));
    for (size_t ordinal = 1; open && first >= asked && ordinal < ASSAY_LOOKS; ordinal++) {
        const size_t visits = assay__look_visits(asked, ordinal);
        if (fewest_visits(p, true) < visits) {
            p->wanted = visits;
            break;
        }
        ASSAY_TRY(look(s, p, visits, ordinal, &open));
    }
    name_contenders(p, first < asked ? first : asked);
    p->has_choice = true;
    return ASSAY_OK;
}

/* ---- publication ---- */

/* What the published one cannot be told from: after a failed confirmation everything that was not
 * slower than the default, the loser included; after a successful one no longer the default. */
static void settle_ties(sweep_problem *p, size_t winner, bool is_faster)
{
    sweep_candidate *base = &p->candidates[p->default_index];

    if (winner == p->chosen || is_faster) {
        if (is_faster)
            base->tied = false;
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        c->tied = c->verdict == ASSAY__VERDICT_OK && !c->out && c->visit_count > 0 && !c->slower;
    }
    base->tied = true;
}

static size_t confirms_of(const sweep_candidate *c, const sweep_candidate *base)
{
    return c->confirm_count < base->confirm_count ? c->confirm_count : base->confirm_count;
}

/* Fresh visits speak for a speed-up; those that made the choice flatter the chosen. */
static assay_status compare_fresh(const sweep *s, sweep_candidate *c, const sweep_candidate *base,
                                  size_t comparisons, assay_confirmation *r)
{
    const size_t n = confirms_of(c, base);
    const size_t first = s->o->profile->confirms;
    assay_verdict_rule rule = rule_of(s, n < first ? n : first);

    rule.confidence = s->o->profile->confirm_confidence;
    rule.comparisons = comparisons;
    ASSAY_TRY(assay__confirm(c->confirm_ns, base->confirm_ns, n, first, &rule, r));
    book_ratio(c, &r->comparison, &rule);
    c->slower = r->comparison.verdict == ASSAY_VERDICT_SLOWER;
    return ASSAY_OK;
}

static bool stands(const sweep_candidate *c)
{
    return c->verdict == ASSAY__VERDICT_OK && !c->out && assay__sweep_is_safe(c);
}

/* For a chosen one that turned out wrong while it was confirmed: the default, else the fastest that
 * is left; the number of candidates: nobody. */
static size_t fallback(const sweep_problem *p)
{
    size_t best = p->count;

    if (stands(&p->candidates[p->default_index]))
        return p->default_index;
    for (size_t i = 0; i < p->count; i++)
        if (stands(&p->candidates[i]) &&
            (best == p->count || p->candidates[i].time_ns < p->candidates[best].time_ns))
            best = i;
    return best;
}

/* The tie rule may have preferred one to the fastest whose time varies too much for fresh visits to
 * tell: that is no reason to serve the default where the fastest is faster beyond doubt. */
static assay_status try_leader(const sweep *s, sweep_problem *p, size_t *winner,
                               assay_confirmation *r)
{
    sweep_candidate *c = &p->candidates[p->leader], *base = &p->candidates[p->default_index];

    if (p->leader == p->chosen || c == base || !stands(c) || confirms_of(c, base) < 2)
        return ASSAY_OK;
    ASSAY_TRY(compare_fresh(s, c, base, 2, r));
    if (r->replaces)
        *winner = p->leader;
    return ASSAY_OK;
}

/* The chosen one stands if fresh visits show it faster than the default, or show the two equal
 * when the choice already called them so.  Whatever stays undecided leaves the default in place:
 * nobody moves away from it without evidence. */
static assay_status confirm_winner(const sweep *s, sweep_problem *p, size_t *winner)
{
    sweep_candidate *c = &p->candidates[p->chosen], *base = &p->candidates[p->default_index];
    assay_confirmation r = {.replaces = false};

    *winner = stands(c) ? p->chosen : fallback(p);
    if (!stands(c) && stands(base))
        settle_ties(p, *winner, false);
    if (c == base || !stands(c) || !stands(base))
        return ASSAY_OK;
    *winner = p->default_index;
    if (confirms_of(c, base) >= 2) {
        ASSAY_TRY(compare_fresh(s, c, base, 1, &r));
        if (r.replaces || (base->tied && r.comparison.verdict == ASSAY_VERDICT_TIE))
            *winner = p->chosen;
    }
    if (*winner == p->default_index)
        ASSAY_TRY(try_leader(s, p, winner, &r));
    settle_ties(p, *winner, r.replaces);
    return ASSAY_OK;
}

assay_status assay__sweep_doubt(sweep *s, sweep_problem *p)
{
    sweep_candidate *c = &p->candidates[p->chosen], *base = &p->candidates[p->default_index];
    assay_confirmation r;

    p->wanted = 0;
    if (c == base || !stands(c) || !stands(base) || confirms_of(c, base) < 2)
        return ASSAY_OK;
    ASSAY_TRY(compare_fresh(s, c, base, 1, &r));
    p->wanted = r.wanted;
    return ASSAY_OK;
}

/* The winners of stricter questions have an interval of fresh visits, too. */
static assay_status confirm_others(const sweep *s, sweep_problem *p)
{
    const sweep_candidate *base = &p->candidates[p->default_index];
    assay_confirmation r;

    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (i != p->chosen && c != base && c->contender && confirms_of(c, base) >= 2 && stands(c) &&
            stands(base))
            ASSAY_TRY(compare_fresh(s, c, base, 1, &r));
    }
    return ASSAY_OK;
}

/* The published winner where it competes beside another default; the number of candidates: none. */
static size_t incumbent_of(const sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->candidates[i].is_incumbent && p->candidates[i].contender && i != p->default_index)
            return i;
    return p->count;
}

/* Visits of two sweeps are no pairs, and a resumed one chooses by both: on another day a slower
 * kernel may look faster than the published one did.  So that stays unless fresh visits beside it
 * show today's winner faster, or it slower than the default.  What they leave open moves nobody,
 * to the default neither: two that differ by what just counts would take turns from sweep to
 * sweep. */
static assay_status defend_incumbent(const sweep *s, sweep_problem *p, size_t published,
                                     size_t *winner)
{
    const size_t first = s->o->profile->confirms;
    const sweep_candidate *c = &p->candidates[published], *now = &p->candidates[*winner];
    const size_t n = confirms_of(c, now);
    assay_verdict_rule rule = rule_of(s, n < first ? n : first);
    assay_confirmation r;

    rule.confidence = s->o->profile->confirm_confidence;
    if (published == *winner || !stands(c) || c->slower || n < 2)
        return ASSAY_OK;
    ASSAY_TRY(assay__confirm(now->confirm_ns, c->confirm_ns, n, first, &rule, &r));
    if (r.replaces)
        return ASSAY_OK;
    settle_ties(p, published, false);
    if (c->ratio_hi < 1.0)
        p->candidates[p->default_index].tied = false;
    *winner = published;
    return ASSAY_OK;
}

/* Times that took part in the choice flatter the chosen: publish the confirming ones. */
static assay_status publish_times(sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (c->confirm_count > 0 && !c->out)
            ASSAY_TRY(assay__sweep_interval(c->confirm_ns, c->confirm_count, &c->time_ns, &c->lo_ns,
                                            &c->hi_ns));
    }
    return ASSAY_OK;
}

/* Where nothing is written there is no rate of it, though Layer 1 counts operands that may be
 * there. */
static void bounds_of(const sweep *s, const sweep_problem *p, assay__outcome *o)
{
    assay__roofline_bound bound;
    bool is_empty = assay_problem_operand_elements(&p->problem, p->problem.dtype_count - 1u) == 0;

    if (is_empty || !assay_problem_flops(&p->problem, &o->flops) || !(o->flops > 0))
        o->flops = NAN;
    if (is_empty || !assay_problem_bytes(&p->problem, &o->bytes) || !(o->bytes > 0))
        o->bytes = NAN;
    bound =
        assay__roofline_bound_of(&s->roof, (assay_dtype)p->problem.dtypes[0], o->flops, o->bytes);
    o->compute_bound = bound.is_compute;
    o->peak_share = bound.floor_ns / o->time_ns;
}

/* Of those that are tied: are they alike, or could these visits not have told? */
#define GAIN_WANTED 0.03

/* How far the interval of the least known of the tied reaches beyond its ratio; no less than what
 * equals show. */
static double resolution_of(const sweep *s, const sweep_problem *p)
{
    assay_verdict_rule rule = rule_of(s, 0);
    double least = fmax(rule.min_gain, rule.aa_floor);
    bool any = false;

    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        if (!c->tied || i == p->default_index)
            continue;
        if (isnan(c->ratio_hi))
            return (double)NAN;
        least = fmax(least, c->ratio_hi / c->ratio - 1.0);
        any = true;
    }
    return any ? least : (double)NAN;
}

static const char *decision_of(double resolution, size_t ties)
{
    if (ties < 2)
        return "alone";
    return resolution <= GAIN_WANTED ? "tie" : "undecidable"; /* NaN: undecidable */
}

static void tell_outcome(sweep *s, const sweep_problem *p, size_t winner)
{
    const sweep_candidate *c = &p->candidates[winner], *base = &p->candidates[p->default_index];
    assay__outcome o = {.problem = p->text,
                        .winner = c->kernel->desc->name,
                        .backend = c->kernel->manifest->name,
                        .tunables = c->tunables_text,
                        .why = "",
                        .time_ns = c->time_ns,
                        .lo_ns = c->lo_ns,
                        .hi_ns = c->hi_ns,
                        .speedup = c == base ? 1.0 : 1.0 / c->ratio,
                        .speedup_lo = c == base ? 1.0 : 1.0 / c->ratio_hi,
                        .speedup_hi = c == base ? 1.0 : 1.0 / c->ratio_lo,
                        .speedup_level = c == base ? NAN : c->ratio_level,
                        .max_ulp = c->max_ulp,
                        .max_rho = c->max_rho,
                        .is_exact = c->proof == ASSAY_PROOF_EXHAUSTIVE,
                        .elements = c->proof == ASSAY_PROOF_EXHAUSTIVE ? 0 : c->elements,
                        .searched = assay__sweep_searched(p),
                        .total = p->total,
                        .visits = c->confirm_count > 0 ? c->confirm_count : c->visit_count};

    bounds_of(s, p, &o);
    (void)snprintf(o.noise, sizeof o.noise, "%s%s",
                   c->verdict == ASSAY__VERDICT_NOISY ? "noisy" : "",
                   c->verdict == ASSAY__VERDICT_NOISY && c->noise != 0 ? " " : "");
    (void)assay__noise_words(c->noise, o.noise + strlen(o.noise), sizeof o.noise - strlen(o.noise));
    for (size_t i = 0; i < p->count; i++)
        o.ties += p->candidates[i].tied ? 1u : 0u;
    o.resolution = resolution_of(s, p);
    o.decision = decision_of(o.resolution, o.ties);
    if (s->o->outcome != NULL)
        s->o->outcome(s->o->cookie, &o);
}

static void tell_nobody_won(sweep *s, const sweep_problem *p, const char *why)
{
    assay__outcome o = {.problem = p->text,
                        .why = why,
                        .decision = "",
                        .resolution = NAN,
                        .time_ns = NAN,
                        .lo_ns = NAN,
                        .hi_ns = NAN,
                        .flops = NAN,
                        .bytes = NAN,
                        .peak_share = NAN,
                        .speedup = NAN,
                        .speedup_lo = NAN,
                        .speedup_hi = NAN,
                        .speedup_level = NAN,
                        .max_ulp = NAN,
                        .max_rho = NAN,
                        .searched = assay__sweep_searched(p),
                        .total = p->total};

    if (s->o->outcome != NULL)
        s->o->outcome(s->o->cookie, &o);
}

assay_status assay__sweep_publish(sweep *s, sweep_problem *p)
{
    size_t winner = 0, published;
    assay_status status = ASSAY_OK;

    if (fewest_visits(p, false) == 0) {
        tell_nobody_won(s, p, "");
        return ASSAY_OK;
    }
    /* Its results are right and its time cannot be, or there is none: nothing is known to be faster
     * than it. */
    if (p->candidates[p->default_index].verdict == ASSAY__VERDICT_IMPOSSIBLE) {
        tell_nobody_won(s, p, "the default's time is impossible, so nothing is published");
        return ASSAY_OK;
    }
    if (p->candidates[p->default_index].verdict == ASSAY__VERDICT_THROTTLED) {
        tell_nobody_won(s, p, "the clock was too low to time the default, so nothing is published");
        return ASSAY_OK;
    }
    published = incumbent_of(p);
    ASSAY_TRY(confirm_others(s, p));
    ASSAY_TRY(confirm_winner(s, p, &winner));
    if (winner < p->count && published < p->count)
        ASSAY_TRY(defend_incumbent(s, p, published, &winner));
    if (winner == p->count) {
        tell_nobody_won(s, p, "each turned out wrong while it was confirmed");
        return ASSAY_OK;
    }
    ASSAY_TRY(publish_times(p));
    ASSAY_TRY(assay__sweep_judge_noise(s, p));
    ASSAY_TRY(assay__db_begin(s->db));
    for (size_t i = 0; status == ASSAY_OK && i < p->count; i++)
        status = assay__sweep_put_measurement(s, p, &p->candidates[i]);
    for (size_t i = 0; status == ASSAY_OK && i < p->count; i++)
        status = assay__sweep_put_stability(s, p, &p->candidates[i]);
    if (status == ASSAY_OK)
        status = assay__sweep_acquit(s, p);
    if (status == ASSAY_OK)
        status = assay__sweep_put_route(s, p, winner);
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    ASSAY_TRY(assay__db_commit(s->db));
    s->summary->routes++;
    tell_outcome(s, p, winner);
    return ASSAY_OK;
}
