/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_exhaust.c -- variants of unary elementwise ops over all inputs of their type.
 *
 * Types of 16 bits in every sweep, f32 on request.  Several workers take parts of the space; their
 * figures are joined here, so the number of workers changes nothing.  A variant whose output bits
 * are those of one judged before has its figures, at a tenth of the time. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/unary_launch.h"
#include "runtime/error.h"
#include "sweep/acceptance.h"
#include "sweep/exhaust_worker.h"
#include "sweep/sweep_internal.h"

#define PARTS       256    /* of a large space: progress, and what an interrupt waits for */
#define PART_MS     600000 /* 2^24 inputs at 30 us each, of a device elsewhere 2^30 at half a us */
#define MAX_WORKERS 64
#define FAR_PARTS   4 /* of a device elsewhere, which has one worker and long pieces */
#define MAX_THREADS 256

/* ---- what is run ---- */

struct sweep_exhaust {
    sweep_candidate *variant; /* owned: the first that has it */
    assay_problem problem;    /* that stands for all shapes */
    char text[ASSAY_PROBLEM_TEXT_MAX];
    int64_t problem_row, accuracy_row; /* accuracy 0: not known yet */
    bool passed, failed;               /* failed: crashed or hung */
    char reason[160];                  /* why not passed */
    double max_ulp, max_rel, max_abs;
    uint64_t digest;
    assay_error_stats stats; /* of those judged in this run; else no sample */
};

static bool wants(const sweep *s, const assay_problem *p, assay_problem *all)
{
    bool small = assay_dtype_bytes((assay_dtype)p->dtypes[0]) <= 2;

    return (small || s->o->exhaustive) && assay__unary_problem(p, all) == ASSAY_OK;
}

static struct sweep_exhaust *find_item(sweep *s, const sweep_candidate *c, const assay_problem *all)
{
    for (size_t i = 0; i < s->exhaust_count; i++)
        if (s->exhaust[i].variant->revision_row == c->revision_row &&
            assay_problem_equal(&s->exhaust[i].problem, all))
            return &s->exhaust[i];
    return NULL;
}

static assay_status add_item(sweep *s, const sweep_candidate *c, const assay_problem *all)
{
    struct sweep_exhaust *item;

    if ((s->exhaust_count & (s->exhaust_count - 1)) == 0) { /* grows at powers of two */
        size_t cap = s->exhaust_count > 0 ? 2 * s->exhaust_count : 1;
        item = realloc(s->exhaust, cap * sizeof *item);
        if (item == NULL)
            return assay__fail(ASSAY_NOMEM, "variants to run over all inputs");
        s->exhaust = item;
    }
    item = &s->exhaust[s->exhaust_count];
    memset(item, 0, sizeof *item);
    item->problem = *all;
    if (assay_problem_format(all, ASSAY_TEXT_ACCURACY, item->text, sizeof item->text) == 0)
        return assay__fail(ASSAY_INTERNAL, "a problem's text is too long");
    ASSAY_TRY(assay__db_put_problem(s->db, all, &item->problem_row));
    item->variant = malloc(sizeof *item->variant);
    if (item->variant == NULL)
        return assay__fail(ASSAY_NOMEM, "variants to run over all inputs");
    *item->variant = *c;
    s->exhaust_count++;
    return ASSAY_OK;
}

assay_status assay__sweep_exhaust_add(sweep *s, const sweep_problem *p)
{
    assay_problem all;

    if (!wants(s, &p->problem, &all))
        return ASSAY_OK;
    for (size_t i = 0; i < p->count; i++)
        if (!p->candidates[i].out && find_item(s, &p->candidates[i], &all) == NULL)
            ASSAY_TRY(add_item(s, &p->candidates[i], &all));
    return ASSAY_OK;
}

/* ---- what the store knows ---- */

static void take_row(struct sweep_exhaust *item, const assay__db_accuracy *row, int64_t id)
{
    item->accuracy_row = id;
    item->passed = row->passed != 0;
    item->max_ulp = row->max_ulp;
    item->max_rel = row->max_rel;
    item->max_abs = row->max_abs;
    item->digest = row->output_digest;
    if (!item->passed)
        (void)snprintf(item->reason, sizeof item->reason, "over all inputs: wrong, as stored");
}

/* What is stored of a revision on this deployment holds; only a sweep without --resume asks again
 * for what costs next to nothing. */
static assay_status recall(sweep *s, struct sweep_exhaust *item)
{
    bool small = assay_dtype_bytes((assay_dtype)item->problem.dtypes[0]) <= 2;
    assay__db_accuracy row;
    int found = 0;
    int64_t id = 0;

    if (small && !s->o->resume)
        return ASSAY_OK;
    ASSAY_TRY(assay__db_find_accuracy(s->db, item->variant->revision_row, s->deployment_row,
                                      item->problem_row, &found, &row, &id));
    if (found && row.proof == ASSAY_PROOF_EXHAUSTIVE)
        take_row(item, &row, id);
    return ASSAY_OK;
}

assay_status assay__sweep_exhaust_plan(sweep *s, size_t *pending)
{
    assay_status status = assay__db_begin(s->db);

    *pending = 0;
    for (size_t i = 0; status == ASSAY_OK && i < s->exhaust_count; i++) {
        status = recall(s, &s->exhaust[i]);
        *pending += s->exhaust[i].accuracy_row == 0;
    }
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    return assay__db_commit(s->db);
}

/* ---- workers ---- */

typedef struct crew crew;

typedef struct hand {
    crew *all;
    assay__worker *worker; /* NULL: none */
    int fd;
    assay__exhaust_part *part; /* mapped */
    pthread_t thread;
    bool started;
    assay_error_stats stats;
    uint64_t inputs, digest;
    double seconds;  /* that its worker spent on inputs: without its start */
    bool by_device;  /* all of it was judged there */
    char doubt[200]; /* why a judge there was not believed; "" */
    assay_status status;
    char error[256];
} hand;

struct crew {
    sweep *s;
    hand hands[MAX_WORKERS];
    size_t count;
    uint64_t parts;   /* of a large space */
    unsigned threads; /* that judge in a worker of a device elsewhere */
    /* the run at hand */
    const struct sweep_exhaust *item;
    bool digest_only;
    uint64_t batches, each; /* batches in all, and in a part */
    _Atomic uint64_t next, done;
    atomic_bool stop;
};

static assay_status hand_init(crew *all, hand *h)
{
    h->all = all;
    h->fd = memfd_create("assay-exhaust", MFD_CLOEXEC);
    if (h->fd < 0 || ftruncate(h->fd, sizeof *h->part) != 0)
        return assay__fail(ASSAY_NOMEM, "cannot make a memory file");
    h->part = mmap(NULL, sizeof *h->part, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (h->part == MAP_FAILED) {
        h->part = NULL;
        return assay__fail(ASSAY_NOMEM, "cannot map the results");
    }
    return ASSAY_OK;
}

static void crew_clear(crew *all)
{
    for (size_t i = 0; i < all->count; i++) {
        hand *h = &all->hands[i];
        assay__worker_stop(&h->worker);
        if (h->part != NULL)
            munmap(h->part, sizeof *h->part);
        if (h->fd >= 0)
            close(h->fd);
    }
}

static assay_status crew_init(sweep *s, crew *all)
{
    size_t wanted = s->cpus < MAX_WORKERS ? s->cpus : MAX_WORKERS;

    memset(all, 0, sizeof *all);
    all->s = s;
    all->parts = s->place != NULL ? FAR_PARTS : PARTS;
    all->threads = s->cpus < MAX_THREADS ? s->cpus : MAX_THREADS;
    if (s->place != NULL)
        wanted = 1; /* several would share the device */
    for (size_t i = 0; i < wanted; i++) {
        all->count++;
        all->hands[i].fd = -1;
        ASSAY_TRY(hand_init(all, &all->hands[i]));
    }
    return ASSAY_OK;
}

/* By the main thread: a worker dies with the thread that started it. */
static assay_status crew_start(crew *all, size_t wanted)
{
    const assay__worker_options options = assay__sweep_worker_options(all->s, NULL);

    for (size_t i = 0; i < wanted; i++) {
        hand *h = &all->hands[i];
        if (h->worker != NULL && !assay__worker_alive(h->worker))
            assay__worker_stop(&h->worker);
        if (h->worker == NULL)
            ASSAY_TRY(assay__worker_start(&options, &h->worker));
    }
    return ASSAY_OK;
}

static assay_status take_part(hand *h)
{
    assay_error_stats stats;

    h->inputs += h->part->inputs;
    h->digest += h->part->digest;
    ASSAY_TRY(assay__error_stats_unpack(h->part->stats, &stats));
    assay_status status = assay__error_stats_merge(&h->stats, &stats);
    assay__error_stats_clear(&stats);
    return status;
}

static assay_status run_part(hand *h, uint64_t first)
{
    crew *all = h->all;
    uint64_t left = all->batches - first, count = left < all->each ? left : all->each;
    json_t *request = assay__sweep_request("exhaust", all->item->variant), *reply = NULL;

    json_object_set_new(request, "problem", json_string(all->item->text));
    json_object_set_new(request, "first_batch", json_integer((json_int_t)first));
    json_object_set_new(request, "batch_count", json_integer((json_int_t)count));
    json_object_set_new(request, "digest_only", json_boolean(all->digest_only));
    json_object_set_new(request, "threads", json_integer((json_int_t)all->threads));
    assay_status status = assay__worker_call(h->worker, request, &h->fd, 1, PART_MS, &reply);
    const char *doubt = json_string_value(json_object_get(reply, "doubt"));
    h->seconds += json_number_value(json_object_get(reply, "seconds"));
    h->by_device = h->by_device && json_is_true(json_object_get(reply, "by_device"));
    if (doubt != NULL)
        (void)snprintf(h->doubt, sizeof h->doubt, "%s", doubt);
    json_decref(reply);
    return status == ASSAY_OK ? take_part(h) : status;
}

static void tell(crew *all, uint64_t done)
{
    const sweep_candidate *c = all->item->variant;
    char text[ASSAY_PROBLEM_TEXT_MAX + 320];

    (void)snprintf(text, sizeof text, "%.0f %% of %s %s{%s}",
                   100.0 * (double)done / (double)all->batches, all->item->text,
                   c->kernel->desc->name, c->tunables_text);
    assay__progress *g = &all->s->progress;
    g->phase = "exhaustive";
    g->problem = text;
    g->elapsed_s = assay__sweep_now_s(all->s) - all->s->begin_s;
    if (all->s->o->progress != NULL)
        all->s->o->progress(all->s->o->cookie, g);
    g->problem = "";
}

static void *work(void *argument)
{
    hand *h = argument;
    crew *all = h->all;

    while (h->status == ASSAY_OK && !atomic_load(&all->stop)) {
        uint64_t first = atomic_fetch_add(&all->next, all->each);
        if (first >= all->batches)
            break;
        h->status = run_part(h, first);
        if (h->status != ASSAY_OK)
            atomic_store(&all->stop, true);
        uint64_t done = atomic_fetch_add(&all->done, all->each) + all->each;
        if (h == &all->hands[0] && all->batches > all->each)
            tell(all, done < all->batches ? done : all->batches);
    }
    if (h->status != ASSAY_OK)
        (void)snprintf(h->error, sizeof h->error, "%s", assay_last_error());
    return NULL;
}

static assay_status join(crew *all, size_t wanted, assay_error_stats *stats, uint64_t *digest)
{
    assay_status status = ASSAY_OK;
    uint64_t inputs = 0;
    double seconds = 0.0;
    bool by_device = true;

    *digest = 0;
    for (size_t i = 0; i < wanted; i++) {
        hand *h = &all->hands[i];
        if (h->started)
            pthread_join(h->thread, NULL);
        h->started = false;
        /* An interrupt of the others follows from the first failure. */
        if (h->status != ASSAY_OK && (status == ASSAY_OK || status == ASSAY_INTERRUPTED))
            status = assay__fail(h->status, "%s", h->error);
        if (status == ASSAY_OK)
            status = assay__error_stats_merge(stats, &h->stats);
        *digest += h->digest;
        inputs += h->inputs;
        seconds = fmax(seconds, h->seconds);
        by_device = by_device && h->by_device;
        if (h->doubt[0] != '\0')
            assay__sweep_warn(all->s, "%s %s: the host judges in place of the device: %s",
                              all->item->text, all->item->variant->kernel->desc->name, h->doubt);
        assay__error_stats_clear(&h->stats);
    }
    all->s->summary->exhaust_s += seconds;
    all->s->summary->judged_there += status == ASSAY_OK && by_device && !all->digest_only;
    if (status == ASSAY_OK &&
        inputs != (uint64_t)assay_problem_operand_elements(&all->item->problem, 0))
        return assay__fail(ASSAY_INTERNAL, "%llu inputs were run, not all",
                           (unsigned long long)inputs);
    return status;
}

/* All inputs of one variant. `stats` comes initialised. */
static assay_status crew_run(crew *all, const struct sweep_exhaust *item, bool digest_only,
                             assay_error_stats *stats, uint64_t *digest)
{
    size_t wanted;
    assay_status status = ASSAY_OK;

    all->item = item;
    all->digest_only = digest_only;
    all->batches = assay__exhaustive_batches((assay_dtype)item->problem.dtypes[0]);
    all->each = all->batches > PARTS ? all->batches / all->parts : all->batches;
    atomic_store(&all->next, 0);
    atomic_store(&all->done, 0);
    atomic_store(&all->stop, false);
    wanted = all->batches > all->each ? all->count : 1;
    ASSAY_TRY(crew_start(all, wanted));
    for (size_t i = 0; i < wanted && status == ASSAY_OK; i++) {
        hand *h = &all->hands[i];
        h->inputs = h->digest = 0;
        h->seconds = 0.0;
        h->by_device = true;
        h->doubt[0] = '\0';
        h->status = ASSAY_OK;
        status = assay__error_stats_init(&h->stats, stats->format.dtype, false);
    }
    for (size_t i = 1; i < wanted && status == ASSAY_OK; i++)
        all->hands[i].started =
            pthread_create(&all->hands[i].thread, NULL, work, &all->hands[i]) == 0;
    if (status == ASSAY_OK)
        (void)work(&all->hands[0]);
    assay_status joined = join(all, wanted, stats, digest);
    return status == ASSAY_OK ? joined : status;
}

/* ---- judging ---- */

/* In the words of a check of one shape.  An op whose error counts in roundings of a sum has no
 * distance that holds for all inputs: there it is only told, and what is allowed is asked of each
 * element by the checks of shapes. */
static void judge(struct sweep_exhaust *item, const assay_accept_spec *spec)
{
    const assay_error_stats *t = &item->stats;
    /* Where the reference leaves the rounding open the distance may be one too large. */
    const uint64_t allowed = spec->rule != ASSAY_ACCEPT_ELEMENTWISE
                                 ? UINT64_MAX
                                 : spec->max_dist + (t->uncertain > 0 ? 1 : 0);

    item->max_ulp = (double)t->max_dist;
    item->max_rel = t->max_rel;
    item->max_abs = t->max_abs;
    item->passed = t->max_dist <= allowed;
    if (!item->passed)
        (void)snprintf(item->reason, sizeof item->reason,
                       "over all inputs: distance %llu at input 0x%llx, allowed %llu",
                       (unsigned long long)t->max_dist, (unsigned long long)t->worst.input_bits[0],
                       (unsigned long long)spec->max_dist);
    for (int c = 1; c < ASSAY_ULP_CLASSES; c++) {
        if (t->classes[c] == 0 || (c == ASSAY_ULP_FLUSHED && spec->allows_flush))
            continue;
        item->passed = false;
        (void)snprintf(item->reason, sizeof item->reason,
                       "over all inputs: %.9g for input 0x%llx, expected %.9g; %llu like it",
                       t->first[c].y, (unsigned long long)t->first[c].input_bits[0],
                       t->first[c].expected, (unsigned long long)t->classes[c]);
        break;
    }
    if (item->passed && spec->is_strict_zero && t->zero_sign_mismatch > 0) {
        item->passed = false;
        (void)snprintf(item->reason, sizeof item->reason,
                       "over all inputs: the sign of zero is wrong for %llu",
                       (unsigned long long)t->zero_sign_mismatch);
    }
}

/* The judged variant of the same kernel and problem whose output bits `digest` could be. */
static struct sweep_exhaust *donor_of(sweep *s, const struct sweep_exhaust *item)
{
    for (size_t i = 0; i < s->exhaust_count; i++) {
        struct sweep_exhaust *other = &s->exhaust[i];
        if (other != item && other->stats.elements > 0 &&
            other->variant->kernel == item->variant->kernel &&
            assay_problem_equal(&other->problem, &item->problem))
            return other;
    }
    return NULL;
}

static assay_status put_row(sweep *s, struct sweep_exhaust *item, assay_error_stats *stats,
                            const assay_accept_spec *spec)
{
    assay__db_accuracy row = {.sweep = s->sweep_row,
                              .revision = item->variant->revision_row,
                              .deployment = s->deployment_row,
                              .problem = item->problem_row,
                              .stratum = SWEEP_ALL_INPUTS,
                              .seed = SWEEP_ALL_INPUTS_SEED,
                              .proof = ASSAY_PROOF_EXHAUSTIVE,
                              .bound = assay__acceptance_bound(spec),
                              .reference = "wide oracle, hi + lo with bound",
                              .output_digest = item->digest,
                              .passed = item->passed};

    const assay_error_element *worst = &stats->worst;
    for (int c = ASSAY_ULP_CLASSES - 1; c > 0; c--)
        if (stats->classes[c] > 0)
            worst = &stats->first[c];
    return assay__sweep_put_figures(s, &row, stats, worst, &item->accuracy_row);
}

/* The same bits as a variant judged before: the same figures. */
static assay_status try_donor(sweep *s, crew *all, struct sweep_exhaust *item,
                              const assay_accept_spec *spec, bool *done)
{
    struct sweep_exhaust *donor = donor_of(s, item);
    assay_error_stats none;

    *done = false;
    if (donor == NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__error_stats_init(&none, donor->stats.format.dtype, false));
    assay_status status = crew_run(all, item, true, &none, &item->digest);
    assay__error_stats_clear(&none);
    if (status != ASSAY_OK || item->digest != donor->digest)
        return status;
    item->passed = donor->passed;
    item->max_ulp = donor->max_ulp;
    item->max_rel = donor->max_rel;
    item->max_abs = donor->max_abs;
    memcpy(item->reason, donor->reason, sizeof item->reason);
    *done = true;
    return put_row(s, item, &donor->stats, spec);
}

static assay_status run_item(sweep *s, crew *all, struct sweep_exhaust *item)
{
    assay_accept_spec spec;
    bool done;

    ASSAY_TRY(assay__acceptance_of(&item->problem, &spec));
    ASSAY_TRY(try_donor(s, all, item, &spec, &done));
    if (done)
        return ASSAY_OK;
    ASSAY_TRY(assay__error_stats_init(
        &item->stats, (assay_dtype)item->problem.dtypes[item->problem.dtype_count - 1], false));
    assay_status status = crew_run(all, item, false, &item->stats, &item->digest);
    if (status == ASSAY_OK) {
        judge(item, &spec);
        status = put_row(s, item, &item->stats, &spec);
    }
    if (status != ASSAY_OK) {
        assay__error_stats_clear(&item->stats);
        item->stats = (assay_error_stats){.elements = 0};
    }
    return status;
}

/* ---- what follows for the candidates ---- */

/* A crash or a hang on some input is one at every shape.  Of a device that has no memory left for
 * it just now there is no evidence, and no fault of anybody's. */
static assay_status book_failure(sweep *s, struct sweep_exhaust *item, assay_status status)
{
    if (status == ASSAY_NOMEM && s->place != NULL) {
        assay__sweep_warn(s, "%s was not run over all inputs: %s",
                          item->variant->kernel->desc->name, assay_last_error());
        return ASSAY_OK;
    }
    if (status != ASSAY_CRASH && status != ASSAY_TIMEOUT && status != ASSAY_DEVICE &&
        status != ASSAY_NUMERIC && status != ASSAY_UNSUPPORTED)
        return status;
    if (status == ASSAY_UNSUPPORTED) /* refuses what the run asks: no evidence, no fault */
        return ASSAY_OK;
    item->failed = true;
    (void)snprintf(item->reason, sizeof item->reason, "over all inputs: %.130s",
                   assay_last_error());
    return assay__db_put_quarantine(s->db, item->variant->revision_row, s->deployment_row, 0,
                                    item->reason);
}

static assay_status reject(sweep *s, sweep_problem *p, sweep_candidate *c,
                           const struct sweep_exhaust *item)
{
    c->out = true;
    c->verdict = item->failed ? ASSAY__VERDICT_CRASHED : ASSAY__VERDICT_WRONG;
    (void)snprintf(c->reason, sizeof c->reason, "%s", item->reason);
    if (!p->is_counted) {
        s->summary->crashed += item->failed;
        s->summary->quarantined += item->failed; /* as all that crash today */
        s->summary->wrong += !item->failed;
    }
    return assay__sweep_put_measurement(s, p, c);
}

/* Problems that were finished before are left as they are; the picker reads the evidence by itself.
 */
assay_status assay__sweep_exhaust_reject(sweep *s, sweep_problem *p)
{
    assay_problem all;

    if (s->exhaust_count == 0 || !wants(s, &p->problem, &all))
        return ASSAY_OK;
    for (size_t k = 0; k < p->count; k++) {
        sweep_candidate *c = &p->candidates[k];
        const struct sweep_exhaust *item = c->out ? NULL : find_item(s, c, &all);
        c->exhaust = item;
        if (item != NULL && (item->failed || (item->accuracy_row != 0 && !item->passed)))
            ASSAY_TRY(reject(s, p, c, item));
    }
    return ASSAY_OK;
}

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

void assay__sweep_exhaust_merge(sweep_candidate *c)
{
    const struct sweep_exhaust *item = c->exhaust;

    if (item == NULL || item->accuracy_row == 0 || !item->passed)
        return;
    bool refuted = c->max_ulp > item->max_ulp; /* by the sets of this problem */
    c->max_ulp = larger(c->max_ulp, item->max_ulp);
    c->max_rel = larger(c->max_rel, item->max_rel);
    c->max_abs = larger(c->max_abs, item->max_abs);
    if (refuted)
        return;
    c->proof = ASSAY_PROOF_EXHAUSTIVE;
    c->accuracy_row = item->accuracy_row;
}

void assay__sweep_exhaust_join(sweep_problem *p)
{
    for (size_t k = 0; k < p->count; k++)
        if (p->candidates[k].checked) /* that came from the store */
            assay__sweep_exhaust_merge(&p->candidates[k]);
}

static assay_status run_items(sweep *s, crew *all)
{
    assay_status status = ASSAY_OK;

    for (size_t i = 0; status == ASSAY_OK && i < s->exhaust_count; i++) {
        struct sweep_exhaust *item = &s->exhaust[i];
        if (item->accuracy_row != 0)
            continue;
        status = assay__sweep_check_stop(s);
        if (status != ASSAY_OK)
            return status;
        status = book_failure(s, item, run_item(s, all, item));
        s->summary->exhausted += item->accuracy_row != 0;
    }
    return status;
}

assay_status assay__sweep_exhaust(sweep *s)
{
    crew *all = malloc(sizeof *all);
    assay_status status;

    if (all == NULL)
        return assay__fail(ASSAY_NOMEM, "workers");
    status = crew_init(s, all);
    if (status == ASSAY_OK)
        status = run_items(s, all);
    crew_clear(all);
    free(all);
    return status;
}

void assay__sweep_exhaust_clear(sweep *s)
{
    for (size_t i = 0; i < s->exhaust_count; i++) {
        assay__error_stats_clear(&s->exhaust[i].stats);
        free(s->exhaust[i].variant);
    }
    free(s->exhaust);
}
