/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_set.c -- the small tables of a store, filters, and which rows still hold. */
#include "reports/report_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "db/db_names.h"
#include "runtime/error.h"
#include "runtime/plugin_set.h"

const char *assay__row_state_name(assay__row_state state)
{
    static const char *const names[] = {[ASSAY__ROW_CURRENT] = "current",
                                        [ASSAY__ROW_UNJUDGED] = "unjudged",
                                        [ASSAY__ROW_STALE] = "stale",
                                        [ASSAY__ROW_GONE] = "gone",
                                        [ASSAY__ROW_ELSEWHERE] = "elsewhere"};

    return names[state];
}

bool assay__row_counts(assay__row_state state)
{
    return state == ASSAY__ROW_CURRENT || state == ASSAY__ROW_UNJUDGED;
}

const char *assay__report_verdict_name(assay__verdict verdict)
{
    const char *name = assay__db_verdict_name(verdict);

    return name != NULL ? name : "none";
}

assay_status assay__report_keep(assay__report_set *set, const char *text, const char **out)
{
    const char *copy = assay__intern_text(&set->texts, text);

    if (copy == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    *out = copy;
    return ASSAY_OK;
}

void *assay__report_grow(void *array, size_t count, size_t size)
{
    void *bigger = array;

    /* At 0, 64, 128, 256, ...: doubled when full. */
    if (count == 0 || (count >= 64 && (count & (count - 1)) == 0))
        bigger = realloc(array, (count < 64 ? 64 : 2 * count) * size);
    if (bigger == NULL)
        (void)assay__fail(ASSAY_NOMEM, "out of memory for a report");
    return bigger;
}

/* ---- loading ---- */

static bool is_here(const assay__report_options *o, const assay__report_deployment *d)
{
    return o->here == NULL || assay__name_in_list(o->here, d->digest);
}

static assay_status add_place(void *cookie, const assay__report_deployment *d)
{
    assay__report_set *set = cookie;
    void *bigger = assay__report_grow(set->places, set->place_count, sizeof *set->places);

    if (bigger == NULL)
        return ASSAY_NOMEM;
    set->places = bigger;
    assay__report_place *place = &set->places[set->place_count++];
    *place = (assay__report_place){.deployment = d, .is_here = is_here(set->options, d)};
    if (strcmp(d->backend, "cpu") == 0)
        assay__roofline_init(&place->roof, (double)d->usable_cpus, d->isa);
    else
        assay__roofline_init_device(&place->roof);
    return ASSAY_OK;
}

static assay__report_place *find_place(const assay__report_set *set,
                                       const assay__report_deployment *d)
{
    for (size_t i = 0; i < set->place_count; i++)
        if (set->places[i].deployment == d)
            return &set->places[i];
    return NULL;
}

static assay_status add_peak(void *cookie, const assay__report_peak *p)
{
    assay__report_set *set = cookie;
    void *bigger = assay__report_grow(set->peaks, set->peak_count, sizeof *set->peaks);
    assay__report_peak_row row = {.deployment = p->deployment,
                                  .value = p->value,
                                  .lo = p->lo,
                                  .hi = p->hi,
                                  .samples = p->samples};
    assay__report_place *place = find_place(set, p->deployment);

    if (bigger == NULL)
        return ASSAY_NOMEM;
    set->peaks = bigger;
    ASSAY_TRY(assay__report_keep(set, p->name, &row.name));
    ASSAY_TRY(assay__report_keep(set, p->unit, &row.unit));
    set->peaks[set->peak_count++] = row;
    if (place != NULL)
        assay__roofline_add(&place->roof, p->name, p->value);
    return ASSAY_OK;
}

static assay_status add_transfer(void *cookie, const assay__report_transfer *t)
{
    assay__report_set *set = cookie;
    void *bigger = assay__report_grow(set->transfers, set->transfer_count, sizeof *set->transfers);
    assay__report_transfer_row row = {.deployment = t->deployment,
                                      .size_bytes = t->size_bytes,
                                      .samples = t->samples,
                                      .median_ns = t->median_ns,
                                      .lo_ns = t->lo_ns,
                                      .hi_ns = t->hi_ns};

    if (bigger == NULL)
        return ASSAY_NOMEM;
    set->transfers = bigger;
    ASSAY_TRY(assay__report_keep(set, t->source, &row.source));
    ASSAY_TRY(assay__report_keep(set, t->target, &row.target));
    set->transfers[set->transfer_count++] = row;
    return ASSAY_OK;
}

static assay_status add_sweep(void *cookie, const assay__report_sweep *s)
{
    assay__report_set *set = cookie;
    void *bigger = assay__report_grow(set->sweeps, set->sweep_count, sizeof *set->sweeps);
    assay__report_sweep_row row = {.id = s->id, .aa_floor = s->aa_floor};

    if (bigger == NULL)
        return ASSAY_NOMEM;
    set->sweeps = bigger;
    ASSAY_TRY(assay__report_keep(set, s->profile, &row.profile));
    ASSAY_TRY(assay__report_keep(set, s->started_utc, &row.started_utc));
    ASSAY_TRY(assay__report_keep(set, s->ended_utc, &row.ended_utc));
    ASSAY_TRY(assay__report_keep(set, s->stop_reason, &row.stop_reason));
    set->sweeps[set->sweep_count++] = row;
    return ASSAY_OK;
}

static assay_status load(assay__report_set *set)
{
    ASSAY_TRY(assay__store_sqlite()->open_read(set->options->db_path, &set->store));
    ASSAY_TRY(assay__report_open(set->store, NULL, &set->report));
    ASSAY_TRY(assay__report_each_deployment(set->report, add_place, set));
    ASSAY_TRY(assay__report_each_peak(set->report, add_peak, set));
    ASSAY_TRY(assay__report_each_transfer(set->report, add_transfer, set));
    return assay__report_each_sweep(set->report, add_sweep, set);
}

assay_status assay__report_set_open(const assay__report_options *options, assay__report_set *out)
{
    assay_status status;

    *out = (assay__report_set){.options = options};
    status = load(out);
    if (status != ASSAY_OK)
        assay__report_set_close(out);
    return status;
}

void assay__report_set_close(assay__report_set *set)
{
    assay__report_close(&set->report);
    if (set->store != NULL)
        assay__store_sqlite()->close(set->store);
    assay__intern_clear(&set->texts);
    free(set->places);
    free(set->peaks);
    free(set->transfers);
    free(set->sweeps);
    *set = (assay__report_set){.options = NULL};
}

const assay__report_place *assay__report_place_of(const assay__report_set *set,
                                                  const assay__report_deployment *deployment)
{
    return find_place(set, deployment);
}

/* ---- which rows ---- */

static const assay__report_kernel *find_current(const assay__report_options *o,
                                                const assay__report_revision *r)
{
    for (size_t i = 0; i < o->current_count; i++) {
        const assay__report_kernel *k = &o->current[i];
        if (strcmp(k->kernel, r->kernel) == 0 && strcmp(k->backend, r->backend) == 0 &&
            strcmp(k->dtypes, r->dtypes) == 0 && strcmp(k->op, r->op) == 0)
            return k;
    }
    return NULL;
}

assay__row_state assay__report_state(const assay__report_set *set,
                                     const assay__report_deployment *deployment,
                                     const assay__report_revision *revision)
{
    const assay__report_options *o = set->options;
    const assay__report_kernel *k;

    if (!is_here(o, deployment))
        return ASSAY__ROW_ELSEWHERE;
    if (o->current == NULL || o->here == NULL)
        return ASSAY__ROW_UNJUDGED;
    k = find_current(o, revision);
    if (k == NULL)
        return ASSAY__ROW_GONE;
    return strcmp(k->revision, revision->kernel_revision) == 0 ? ASSAY__ROW_CURRENT
                                                               : ASSAY__ROW_STALE;
}

/* "f32" means the tuple that the op's rule makes of T = f32. */
static bool dtype_matches(const char *wanted, const assay__report_problem *p)
{
    assay_dtype t;
    assay_op_id op;
    assay_problem problem;
    assay__str tuple = {0};
    bool matches;

    if (strcmp(wanted, p->dtypes) == 0)
        return true;
    if (assay_dtype_parse(wanted, &t) != ASSAY_OK || assay_op_find(p->op, &op) != ASSAY_OK ||
        assay_problem_init(op, t, &problem) != ASSAY_OK)
        return false;
    for (size_t i = 0; i < problem.dtype_count; i++)
        assay__str_addf(&tuple, "%s%s", i > 0 ? "," : "",
                        assay_dtype_name((assay_dtype)problem.dtypes[i]));
    matches = strcmp(assay__str_text(&tuple), p->dtypes) == 0;
    assay__str_clear(&tuple);
    return matches;
}

bool assay__report_wants_problem(const assay__report_set *set, const assay__report_problem *p)
{
    const assay__report_options *o = set->options;

    if (o->ops != NULL && o->ops->count > 0 && !assay__strlist_has(o->ops, p->op))
        return false;
    return o->dtype == NULL || dtype_matches(o->dtype, p);
}

bool assay__report_wants_revision(const assay__report_set *set, const assay__report_revision *r)
{
    const assay__report_options *o = set->options;

    if (o->backends != NULL && o->backends->count > 0 &&
        !assay__strlist_has(o->backends, r->backend))
        return false;
    return o->kernels == NULL || o->kernels->count == 0 || assay__glob_any(o->kernels, r->kernel);
}
