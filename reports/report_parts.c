/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_parts.c -- parts that several reports share. */
#include "reports/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db_names.h"
#include "runtime/error.h"
#include "support/format.h"

void assay__part_variant(const assay__report_revision *r, assay__str *out)
{
    assay__str_addf(out, "%s/%s", r->backend, r->kernel);
    if (r->tunables[0] != '\0')
        assay__str_addf(out, "{%s}", r->tunables);
}

const char *assay__part_verdict(assay__verdict verdict)
{
    static const char *const texts[] = {[ASSAY__VERDICT_NONE] = "not judged",
                                        [ASSAY__VERDICT_OK] = "ok",
                                        [ASSAY__VERDICT_WRONG] = "wrong result",
                                        [ASSAY__VERDICT_NOISY] = "noisy",
                                        [ASSAY__VERDICT_THROTTLED] = "throttled",
                                        [ASSAY__VERDICT_IMPOSSIBLE] = "impossible time",
                                        [ASSAY__VERDICT_CRASHED] = "crashed",
                                        [ASSAY__VERDICT_TIMEOUT] = "timeout",
                                        [ASSAY__VERDICT_MISTRUSTED] = "check mistrusted"};

    return (size_t)verdict < sizeof texts / sizeof *texts ? texts[verdict] : "not judged";
}

assay__text assay__part_level(double level)
{
    assay__text t = {""};

    if (!isnan(level))
        (void)snprintf(t.text, sizeof t.text, " at %.0f %%", 100.0 * level);
    return t;
}

const char *assay__part_proof(unsigned proof)
{
    const char *name = assay__db_proof_name((assay_proof)proof);

    return name == NULL || proof == ASSAY_PROOF_ABSENT ? "" : name;
}

const char *assay__part_stability(unsigned level)
{
    const char *name = assay__db_stability_name((assay_stability)level);

    return name == NULL || level == ASSAY_STABILITY_ABSENT ? "" : name;
}

/* ---- pages ---- */

void assay__part_deployment(assay__page *page, const assay__report_set *set,
                            const assay__report_place *place)
{
    const assay__report_deployment *d = place->deployment;
    char cpus[32];

    (void)snprintf(cpus, sizeof cpus, "%lld", (long long)d->usable_cpus);
    assay__page_fact(page, "Device", d->device);
    assay__page_fact(page, "Backend", d->backend);
    assay__page_fact(page, "Architecture", d->architecture);
    assay__page_fact(page, "Driver", d->driver);
    assay__page_fact(page, "CPU", d->cpu_model);
    assay__page_fact(page, "Usable CPUs", d->usable_cpus > 0 ? cpus : NULL);
    assay__page_fact(page, "Instruction sets", d->isa);
    assay__page_fact(page, "Operating system", d->os_class);
    assay__page_fact(page, "Numeric fingerprint", d->fingerprint);
    assay__page_fact(page, "Label", d->label);
    assay__page_fact(page, "Deployment", d->digest);
    if (set->options->here != NULL)
        assay__page_fact(page, "Is this machine", place->is_here ? "yes" : "no");
}

static void ceiling(assay__page *page, const char *name, double per_ns, bool is_bytes)
{
    const double per_s = per_ns * 1e9;

    assay__page_fact(page, name,
                     isnan(per_ns) ? NULL
                     : is_bytes    ? assay__format_bandwidth(per_s).text
                                   : assay__format_flops(per_s).text);
}

void assay__part_peaks(assay__page *page, const assay__report_set *set,
                       const assay__report_place *place)
{
    static const assay__html_column columns[] = {{"peak", NULL, false},   {"unit", NULL, false},
                                                 {"best", NULL, true},    {"lowest", NULL, true},
                                                 {"highest", NULL, true}, {"n", "runs", true}};
    static const assay_dtype types[] = {ASSAY_F32, ASSAY_F64, ASSAY_F16, ASSAY_BF16};
    size_t rows = 0;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "Ceiling %s%s", assay_dtype_name(types[i]),
                       place->roof.is_device ? "" : ", all CPUs");
        ceiling(page, name, assay__roofline_flops(&place->roof, types[i]), false);
    }
    ceiling(page, "Ceiling of memory", place->roof.bytes_per_ns, true);
    assay__page_table(page, "Measured peaks: the best of n runs, and their range", columns, 6,
                      true);
    for (size_t i = 0; i < set->peak_count; i++) {
        const assay__report_peak_row *p = &set->peaks[i];
        if (p->deployment != place->deployment)
            continue;
        assay__page_cell(page, p->name);
        assay__page_cell(page, p->unit);
        assay__page_cell_real(page, p->value, 4);
        assay__page_cell_real(page, p->lo, 4);
        assay__page_cell_real(page, p->hi, 4);
        assay__page_cell_count(page, (uint64_t)p->samples);
        rows++;
    }
    assay__page_table_end(page);
    if (rows == 0)
        assay__page_text(page, "No peaks were measured: shares of the peak are not known.");
}

void assay__part_transfers(assay__page *page, const assay__report_set *set,
                           const assay__report_place *place)
{
    static const assay__html_column columns[] = {
        {"from", NULL, false},  {"to", "by its path", false}, {"size", "bytes", true},
        {"median", "ns", true}, {"lo", "ns", true},           {"hi", "ns", true},
        {"rate", "GB/s", true}, {"n", "samples", true}};
    size_t rows = 0;

    assay__page_table(page, "Measured transfers: the median of n samples with its 95 % interval",
                      columns, 8, true);
    for (size_t i = 0; i < set->transfer_count; i++) {
        const assay__report_transfer_row *t = &set->transfers[i];
        if (t->deployment != place->deployment)
            continue;
        assay__page_cell(page, t->source);
        assay__page_cell(page, t->target);
        assay__page_cell_count(page, (uint64_t)t->size_bytes);
        assay__page_cell_real(page, t->median_ns, 4);
        assay__page_cell_real(page, t->lo_ns, 4);
        assay__page_cell_real(page, t->hi_ns, 4);
        assay__page_cell_real(page, (double)t->size_bytes / t->median_ns, 4);
        assay__page_cell_count(page, (uint64_t)t->samples);
        rows++;
    }
    assay__page_table_end(page);
    if (rows == 0)
        assay__page_text(page, "No transfers were measured: what moving bytes costs is not known.");
}

void assay__part_sources(assay__page *page, const assay__report_set *set)
{
    static const assay__html_column columns[] = {
        {"sweep", NULL, true},   {"profile", NULL, false},     {"started", "UTC", false},
        {"ended", "UTC", false}, {"stop reason", NULL, false}, {"A/A floor", "%", true}};

    assay__page_section(page, "Sources");
    assay__page_fact(page, "Store", set->options->db_path);
    assay__page_table(page, "Sweeps in this store", columns, 6, true);
    for (size_t i = 0; i < set->sweep_count; i++) {
        const assay__report_sweep_row *s = &set->sweeps[i];
        if (assay__page_is_full(page)) {
            assay__page_skip_rows(page, set->sweep_count - i);
            break;
        }
        assay__page_cell_count(page, (uint64_t)s->id);
        assay__page_cell(page, s->profile);
        assay__page_cell(page, s->started_utc);
        assay__page_cell(page, s->ended_utc);
        assay__page_cell(page, s->stop_reason[0] != '\0' ? s->stop_reason : "did not end");
        assay__page_cell_real(page, 100.0 * s->aa_floor, 3);
    }
    assay__page_table_end(page);
}

void assay__part_unjudged(assay__page *page, const assay__report_set *set)
{
    if (set->options->here == NULL || set->options->current == NULL)
        assay__page_warn(page, "Which rows are stale was not judged: the kernels of this machine "
                               "could not be listed. `assay check` says why.");
}

/* ---- JSON ---- */

static json_t *peak_json(const assay__report_peak_row *p)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "name", p->name);

    bad |= (int)assay__json_put_string(row, "unit", p->unit);
    bad |= (int)assay__json_put_real(row, "value", p->value);
    bad |= (int)assay__json_put_real(row, "lo", p->lo);
    bad |= (int)assay__json_put_real(row, "hi", p->hi);
    bad |= (int)assay__json_put_int(row, "samples", p->samples);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

static json_t *transfer_json(const assay__report_transfer_row *t)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "source", t->source);

    bad |= (int)assay__json_put_string(row, "target", t->target);
    bad |= (int)assay__json_put_int(row, "size_bytes", t->size_bytes);
    bad |= (int)assay__json_put_real(row, "median_ns", t->median_ns);
    bad |= (int)assay__json_put_real(row, "lo_ns", t->lo_ns);
    bad |= (int)assay__json_put_real(row, "hi_ns", t->hi_ns);
    bad |= (int)assay__json_put_int(row, "samples", t->samples);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

static int put_known(json_t *object, const char *key, const char *text)
{
    return text[0] == '\0' ? 0 : (int)assay__json_put_string(object, key, text);
}

static json_t *deployment_json(const assay__report_set *set, const assay__report_place *place)
{
    const assay__report_deployment *d = place->deployment;
    json_t *row = json_object(), *peaks = json_array(), *transfers = json_array();
    int bad = (int)assay__json_put_string(row, "deployment", d->digest);

    if (set->options->here != NULL)
        bad |= (int)assay__json_put_bool(row, "is_here", place->is_here);
    bad |= put_known(row, "backend", d->backend) | put_known(row, "device", d->device);
    bad |= put_known(row, "architecture", d->architecture) | put_known(row, "driver", d->driver);
    bad |= put_known(row, "cpu_model", d->cpu_model) | put_known(row, "isa", d->isa);
    bad |= put_known(row, "os_class", d->os_class) | put_known(row, "label", d->label);
    bad |= put_known(row, "fingerprint", d->fingerprint);
    if (d->usable_cpus > 0)
        bad |= (int)assay__json_put_int(row, "usable_cpus", d->usable_cpus);
    for (size_t i = 0; i < set->peak_count; i++)
        if (set->peaks[i].deployment == d)
            bad |= (int)assay__json_append_take(peaks, peak_json(&set->peaks[i]));
    bad |= (int)assay__json_put_take(row, "peaks", peaks);
    for (size_t i = 0; i < set->transfer_count; i++)
        if (set->transfers[i].deployment == d)
            bad |= (int)assay__json_append_take(transfers, transfer_json(&set->transfers[i]));
    bad |= (int)assay__json_put_take(row, "transfers", transfers);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

assay_status assay__part_json_piece(FILE *file, json_t *value, bool is_first)
{
    char *text = NULL;
    assay_status status = value != NULL ? assay__json_dump(value, false, &text) : ASSAY_NOMEM;

    json_decref(value);
    if (status != ASSAY_OK)
        return assay__fail(status, "out of memory for a report");
    (void)fprintf(file, "%s%s", is_first ? "\n" : ",\n", text);
    free(text);
    return ASSAY_OK;
}

assay_status assay__part_json_begin(const assay__report_set *set, const char *schema,
                                    const char *list, FILE *file)
{
    json_t *store = json_object();

    if (store == NULL || assay__json_put_string(store, "path", set->options->db_path) != ASSAY_OK) {
        json_decref(store);
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    }
    (void)fprintf(file, "{\"schema\": \"%s\",\n\"store\":", schema);
    ASSAY_TRY(assay__part_json_piece(file, store, true));
    (void)fputs(",\n\"deployments\": [", file);
    for (size_t i = 0; i < set->place_count; i++)
        ASSAY_TRY(assay__part_json_piece(file, deployment_json(set, &set->places[i]), i == 0));
    (void)fprintf(file, "],\n\"%s\": [", list);
    return ASSAY_OK;
}
