/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/pick_print.c -- an explanation of the picker as text and as JSON. */
#include "cli/pick_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "runtime/error.h"
#include "support/format.h"

static const char *const tiers[] = {[ASSAY_TIER_MEASURED] = "measured",
                                    [ASSAY_TIER_PREDICTED] = "predicted",
                                    [ASSAY_TIER_DECLARED] = "declared",
                                    [ASSAY_TIER_UNKNOWN] = "unknown"};
static const char *const proofs[] = {[ASSAY_PROOF_ABSENT] = "absent",
                                     [ASSAY_PROOF_SAMPLED] = "sampled",
                                     [ASSAY_PROOF_BOUNDED] = "bounded",
                                     [ASSAY_PROOF_EXHAUSTIVE] = "exhaustive"};

static const char *tier_name(unsigned tier)
{
    return tier < sizeof tiers / sizeof tiers[0] ? tiers[tier] : "unknown";
}

static const char *proof_name(unsigned proof)
{
    return proof < sizeof proofs / sizeof proofs[0] ? proofs[proof] : "absent";
}

const assay_candidate *assay__answer_chosen(const assay__answer *answer)
{
    for (size_t i = 0; i < answer->why->candidate_count; i++)
        if (answer->why->candidates[i].chosen)
            return &answer->why->candidates[i];
    return NULL;
}

/* backend/kernel{name=value,...}: variants of one kernel are told apart by nothing else.  What is
 * not in this process's table any more has its revision. */
static void variant_text(const assay_candidate *c, assay__str *out)
{
    static const assay_digest none;
    char revision[ASSAY_DIGEST_HEX];

    assay__str_addf(out, "%s/%s", c->backend, c->kernel);
    if (c->binding == NULL && !assay_digest_equal(&c->revision, &none)) {
        assay_digest_format(&c->revision, revision);
        assay__str_addf(out, "{revision %.12s}", revision);
    }
    if (c->binding == NULL || c->tunable_count == 0)
        return;
    for (size_t i = 0; i < c->tunable_count; i++)
        assay__str_addf(out, "%s%s=%" PRId64, i > 0 ? "," : "{", c->binding->desc->tunables[i].name,
                        c->tunables[i]);
    assay__str_addc(out, '}');
}

void assay__answer_refusal(const assay__answer *answer)
{
    const assay_explanation *why = answer->why;
    const bool any = why->candidate_count > 0 || why->hidden_count > 0;

    (void)fprintf(stderr, "assay pick: no admissible kernel for this question%s\n",
                  any ? "" : ": there is none of this op here");
    for (size_t i = 0; i < why->candidate_count; i++) {
        assay__str text = {0};
        variant_text(&why->candidates[i], &text);
        assay__str_addf(&text, ": %s", why->candidates[i].reason);
        (void)fputs("  ", stderr);
        assay__put_shown(stderr, assay__str_text(&text));
        (void)fputc('\n', stderr);
        assay__str_clear(&text);
    }
    if (why->hidden_count > 0)
        (void)fprintf(stderr, "  %zu more answer only when asked for by --backend\n",
                      why->hidden_count);
}

/* Layout letters of all operands; the question leaves contiguous ones open. */
static void layout_text(const assay_question *q, char out[ASSAY_MAX_OPERANDS + 1])
{
    const size_t count = q->problem.dtype_count;

    for (size_t i = 0; i < count; i++)
        out[i] = q->layout[i] != '\0' ? q->layout[i] : 'c';
    out[count] = '\0';
}

size_t assay__answer_stale(const assay__answer *answer)
{
    size_t stale = 0;

    for (size_t i = 0; i < answer->why->candidate_count; i++) {
        const assay_candidate *c = &answer->why->candidates[i];
        stale += c->rejected && c->binding == NULL && c->route.measurement != 0 ? 1 : 0;
    }
    return stale;
}

/* ---- JSON ---- */

/* Names come from the table; a kernel that is absent here has none. */
static json_t *tunables_json(const assay_candidate *c)
{
    json_t *object = json_object();
    int bad = 0;

    for (size_t i = 0; c->binding != NULL && i < c->tunable_count; i++)
        bad |= (int)assay__json_put_int(object, c->binding->desc->tunables[i].name, c->tunables[i]);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int put_identity(json_t *object, const assay_candidate *c)
{
    static const assay_digest none;
    char revision[ASSAY_DIGEST_HEX];
    int bad = (int)assay__json_put_string(object, "kernel", c->kernel);

    assay_digest_format(&c->revision, revision);
    bad |= (int)assay__json_put_string(object, "backend", c->backend);
    if (!assay_digest_equal(&c->revision, &none))
        bad |= (int)assay__json_put_string(object, "revision", revision);
    bad |= (int)assay__json_put_take(object, "tunables", tunables_json(c));
    return bad;
}

static int put_evidence(json_t *object, const assay_route *r)
{
    int bad = (int)assay__json_put_real(object, "time_ns", (double)r->time_ns);

    bad |= (int)assay__json_put_real(object, "lo_ns", (double)r->lo_ns);
    bad |= (int)assay__json_put_real(object, "hi_ns", (double)r->hi_ns);
    bad |= (int)assay__json_put_real(object, "max_ulp", (double)r->max_ulp);
    bad |= (int)assay__json_put_real(object, "max_rho", (double)r->max_rho);
    bad |= (int)assay__json_put_string(object, "stability", assay__stability_name(r->stability));
    bad |= (int)assay__json_put_string(object, "proof", proof_name(r->proof));
    if (r->measurement != 0)
        bad |= (int)assay__json_put_int(object, "measurement", (int64_t)r->measurement);
    if (r->accuracy != 0)
        bad |= (int)assay__json_put_int(object, "accuracy", (int64_t)r->accuracy);
    return bad;
}

/* Places of the inputs that have to be made contiguous first; absent when there is none. */
static int put_copies(json_t *object, const assay_route *r)
{
    json_t *list;
    int bad = 0;

    if (assay_route_copies(r) == 0)
        return 0;
    list = json_array();
    for (unsigned i = 0; assay_route_copies(r) >> i != 0; i++)
        if ((assay_route_copies(r) >> i & 1) != 0)
            bad |= (int)assay__json_append_take(list, json_integer((json_int_t)i));
    return bad | (int)assay__json_put_take(object, "make_contiguous", list);
}

static json_t *candidate_json(const assay_candidate *c)
{
    json_t *object = json_object();
    int bad = put_identity(object, c);

    if (c->noise[0] != '\0')
        bad |= (int)assay__cmd_json_words(object, "flags", c->noise, ' ');
    if (c->rejected)
        bad |= (int)assay__json_put_string(object, "reason", c->reason);
    else
        bad |= (int)assay__json_put_string(object, "tier", tier_name(c->route.tier)) |
               put_evidence(object, &c->route) | put_copies(object, &c->route);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int put_question(json_t *root, const assay_question *q)
{
    char problem[ASSAY_PROBLEM_TEXT_MAX], policy[64], layout[ASSAY_MAX_OPERANDS + 1];
    assay__str dtypes = {0};
    int bad = 0;

    assay__kernel_dtypes(q->problem.dtypes, q->problem.dtype_count, &dtypes);
    (void)assay_problem_format(&q->problem, ASSAY_TEXT_ACCURACY, problem, sizeof problem);
    (void)assay_policy_format(q->policy, policy, sizeof policy);
    layout_text(q, layout);
    bad |= (int)assay__str_status(&dtypes);
    bad |= (int)assay__json_put_string(root, "op", assay_op_get((assay_op_id)q->problem.op)->name);
    bad |= (int)assay__cmd_json_words(root, "dtypes", assay__str_text(&dtypes), ',');
    bad |= (int)assay__json_put_string(root, "problem", problem);
    bad |= (int)assay__json_put_string(root, "layout", layout);
    bad |= (int)assay__json_put_string(root, "align",
                                       q->align == 64   ? "64"
                                       : q->align == 16 ? "16"
                                                        : "e");
    bad |= (int)assay__json_put_string(root, "policy", policy);
    assay__str_clear(&dtypes);
    return bad;
}

static int put_candidates(json_t *root, const assay_explanation *why)
{
    json_t *ties = json_array(), *others = json_array(), *rejected = json_array();
    int bad = 0;

    for (size_t i = 0; i < why->candidate_count; i++) {
        const assay_candidate *c = &why->candidates[i];
        if (c->chosen)
            bad |= (int)assay__json_put_take(root, "chosen", candidate_json(c));
        else
            bad |= (int)assay__json_append_take(c->rejected ? rejected
                                                : c->tied   ? ties
                                                            : others,
                                                candidate_json(c));
    }
    bad |= (int)assay__json_put_take(root, "ties", ties);
    bad |= (int)assay__json_put_take(root, "others", others);
    bad |= (int)assay__json_put_take(root, "rejected", rejected);
    return bad;
}

static int put_store(json_t *root, const assay_explanation *why)
{
    json_t *store = json_object();
    int bad = 0;

    if (why->store_path[0] != '\0') {
        bad |= (int)assay__json_put_string(store, "path", why->store_path);
        bad |= (int)assay__json_put_int(store, "schema", why->schema);
    }
    bad |= (int)assay__json_put_string(store, "deployment", why->deployment);
    bad |= (int)assay__json_put_take(root, "store", store);
    return bad;
}

static int put_counts(json_t *root, const assay_pick_stats *stats)
{
    json_t *counts = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_int(counts, "hits", (int64_t)stats->hits);
    bad |= (int)assay__json_put_int(counts, "misses", (int64_t)stats->misses);
    bad |= (int)assay__json_put_int(counts, "routes_usable", (int64_t)stats->routes_usable);
    bad |= (int)assay__json_put_int(counts, "routes_idle", (int64_t)stats->routes_idle);
    if (stats->idle_reason[0] != '\0')
        bad |= (int)assay__json_put_string(counts, "idle_reason", stats->idle_reason);
    bad |= (int)assay__json_put_take(root, "counts", counts);
    return bad;
}

json_t *assay__answer_json(const assay__answer *answer)
{
    const assay_explanation *why = answer->why;
    const assay_candidate *chosen = assay__answer_chosen(answer);
    json_t *root = assay__cmd_json_object("assay.pick/1");
    int bad = put_question(root, &why->question);

    bad |= (int)assay__json_put_string(root, "device", answer->device);
    if (chosen != NULL) {
        bad |= (int)assay__json_put_string(root, "tier", tier_name(chosen->route.tier));
        bad |= (int)assay__json_put_bool(root, "is_default", (chosen->route.flags & 1) != 0);
    }
    bad |= put_candidates(root, why);
    bad |= (int)assay__json_put_int(root, "hidden", (int64_t)why->hidden_count);
    if (why->total > 0) {
        bad |= (int)assay__json_put_int(root, "searched", why->searched);
        bad |= (int)assay__json_put_int(root, "total", why->total);
        bad |= (int)assay__json_put_string(root, "stop_reason", why->stop_reason);
    }
    bad |= put_counts(root, &answer->stats);
    bad |= put_store(root, why);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- text ---- */

static void error_text(const assay_route *r, assay__str *out)
{
    const char *sign = r->proof == ASSAY_PROOF_EXHAUSTIVE ? "=" : ">="; /* of a sample */

    if (!isnan(r->max_ulp))
        assay__str_addf(out, "max %s %.6g ulp", sign, (double)r->max_ulp);
    if (!isnan(r->max_rho))
        assay__str_addf(out, "%smax rho %s %.4g", out->len > 0 ? ", " : "", sign,
                        (double)r->max_rho);
    if (out->len > 0)
        assay__str_addf(out, " (proof: %s)", proof_name(r->proof));
    else if (r->measurement != 0)
        assay__str_add(out, "-");
    if (r->stability != ASSAY_STABILITY_ABSENT)
        assay__str_addf(out, "%sbits stable: %s", out->len > 0 ? ", " : "",
                        assay__stability_name(r->stability));
}

static void put_line(const char *title, const char *text)
{
    printf("  %s", title);
    assay__put_shown(stdout, text);
    putchar('\n');
}

static void print_chosen(const assay_candidate *c)
{
    char revision[ASSAY_DIGEST_HEX];
    assay__str text = {0};

    variant_text(c, &text);
    put_line("kernel    ", assay__str_text(&text));
    assay_digest_format(&c->revision, revision);
    printf("  revision  %s\n", revision);
    printf("  time      %s (%s)\n",
           assay__format_interval((double)c->route.time_ns, (double)c->route.lo_ns,
                                  (double)c->route.hi_ns, 0)
               .text,
           tier_name(c->route.tier));
    if (c->noise[0] != '\0')
        put_line("disturbed ", c->noise);
    if (assay_route_copies(&c->route) != 0)
        put_line("first     ", c->reason);
    assay__str_reset(&text);
    error_text(&c->route, &text);
    printf("  error     %s\n", text.len > 0 ? assay__str_text(&text) : "- (no evidence)");
    if (c->route.measurement != 0)
        printf("  evidence  measurement %" PRIu64 ", accuracy %" PRIu64 "\n", c->route.measurement,
               c->route.accuracy);
    assay__str_clear(&text);
}

static const char *state_of(const assay_candidate *c)
{
    if (c->chosen)
        return "chosen";
    if (c->rejected)
        return "rejected";
    if (c->tied)
        return "tied";
    if (c->route.tier == ASSAY_TIER_MEASURED)
        return isnan(c->route.lo_ns) ? "screened" : "slower";
    return c->route.measurement == 0 ? "unmeasured" : tier_name(c->route.tier);
}

static assay_status print_all(const assay_explanation *why)
{
    static const assay__colour colours[] = {ASSAY__GREEN, ASSAY__YELLOW, ASSAY__PLAIN};
    assay__table table = {0};
    assay__str text = {0};
    assay_status status;

    assay__table_column(&table, "", ASSAY__LEFT);
    assay__table_column(&table, "variant", ASSAY__LEFT);
    assay__table_column(&table, "time", ASSAY__LEFT);
    assay__table_column(&table, "error", ASSAY__LEFT);
    assay__table_column(&table, "reason", ASSAY__LEFT);
    for (size_t i = 0; i < why->candidate_count; i++) {
        const assay_candidate *c = &why->candidates[i];
        assay__table_cell(&table, state_of(c));
        assay__table_paint(&table, colours[c->chosen ? 0 : c->rejected ? 1 : 2]);
        assay__str_reset(&text);
        variant_text(c, &text);
        assay__table_cell(&table, assay__str_text(&text));
        assay__table_cell(&table,
                          assay__format_interval((double)c->route.time_ns, (double)c->route.lo_ns,
                                                 (double)c->route.hi_ns, 0)
                              .text);
        assay__str_reset(&text);
        error_text(&c->route, &text);
        assay__table_cell(&table, assay__str_text(&text));
        assay__table_cellf(&table, "%s%s%s%s", c->reason, c->noise[0] != '\0' ? " (" : "", c->noise,
                           c->noise[0] != '\0' ? ")" : "");
    }
    putchar('\n');
    status = assay__listing_print(&table, ASSAY__LISTING_TEXT);
    assay__table_clear(&table);
    assay__str_clear(&text);
    return status;
}

static void print_counts(const assay_explanation *why)
{
    size_t tied = 0, rejected = 0;

    for (size_t i = 0; i < why->candidate_count; i++) {
        tied += why->candidates[i].tied && !why->candidates[i].chosen ? 1 : 0;
        rejected += why->candidates[i].rejected ? 1 : 0;
    }
    printf("  of        %zu candidates: %zu tied with it, %zu rejected", why->candidate_count, tied,
           rejected);
    if (why->hidden_count > 0)
        printf("; %zu of backends that answer only to --backend are not listed", why->hidden_count);
    if (why->total > 0)
        printf("; searched %" PRId64 " of %" PRId64, why->searched, why->total);
    putchar('\n');
}

assay_status assay__answer_print(const assay__answer *answer, bool has_all)
{
    const assay_candidate *chosen = assay__answer_chosen(answer);
    char problem[ASSAY_PROBLEM_TEXT_MAX];

    (void)assay_problem_format(&answer->why->question.problem, ASSAY_TEXT_ACCURACY, problem,
                               sizeof problem);
    if (chosen == NULL && !has_all)
        return ASSAY_OK;
    printf("%s\n", problem);
    if (chosen != NULL) {
        print_chosen(chosen);
        print_counts(answer->why);
    }
    return has_all ? print_all(answer->why) : ASSAY_OK;
}
