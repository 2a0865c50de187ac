/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_report.c -- rows for reports, and what `assay check` asks. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/check.h"
#include "db/handle.h"
#include "db/read_report.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static char path[1024];
static const assay__store_ops *ops;
static assay__db *db;
static store_rows rows;

static void setup(void)
{
    store_folder_make(folder);
    snprintf(path, sizeof path, "%s/s.db", folder);
    ops = assay__store_sqlite();
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    store_rows_put(db, &rows);
}

static void teardown(void)
{
    assay__db_close(&db);
    store_folder_remove(folder);
}

static int64_t put_measurement(const assay__db_measurement *m)
{
    int64_t id = 0;

    ck_assert_msg(assay__db_put_measurement(db, m, &id) == ASSAY_OK, "%s", assay_last_error());
    return id;
}

static int64_t put_accuracy(const assay__db_accuracy *a)
{
    int64_t id = 0;

    ck_assert_msg(assay__db_put_accuracy(db, a, &id) == ASSAY_OK, "%s", assay_last_error());
    return id;
}

static assay__store *open_reader(void)
{
    assay__store *store = NULL;

    ck_assert_msg(ops->open_read(path, &store) == ASSAY_OK, "%s", assay_last_error());
    return store;
}

/* ---- report ---------------------------------------------------------------------------------- */

typedef struct seen {
    assay__report *report;
    size_t count, nested;
    assay__report_measurement m;
    assay__report_accuracy a;
    assay__report_route t;
    assay__report_peak p;
    assay__report_error error;
    double samples[4];
    char text[256];
} seen;

static assay_status see_visit(void *cookie, const assay__report_visit *v)
{
    seen *s = cookie;

    s->nested++;
    ck_assert_uint_eq(v->sample_count, 3);
    memcpy(s->samples, v->samples, 3 * sizeof(double));
    ck_assert_str_eq(v->clock_name, "CLOCK_MONOTONIC_RAW");
    ck_assert_str_eq(v->clock_quality, "enqueue_wait");
    ck_assert_int_eq(v->inner, 8);
    ck_assert_double_nan(v->ratio);
    return ASSAY_OK;
}

static assay_status see_measurement(void *cookie, const assay__report_measurement *m)
{
    seen *s = cookie;

    s->count++;
    s->m = *m;
    if (m->error != NULL)
        s->error = *m->error;
    snprintf(s->text, sizeof s->text, "%s|%s|%s|%s|%s|%s", m->revision->kernel,
             m->revision->tunables, m->problem->op, m->layout, m->policy, m->deployment->digest);
    return assay__report_each_visit(s->report, m->id, see_visit, s);
}

static assay_status see_accuracy(void *cookie, const assay__report_accuracy *a)
{
    seen *s = cookie;

    s->count++;
    s->a = *a;
    snprintf(s->text, sizeof s->text, "%s|%s|%s", a->stratum, a->worst_json, a->reference);
    return ASSAY_OK;
}

static assay_status see_route(void *cookie, const assay__report_route *t)
{
    seen *s = cookie;

    s->count++;
    s->t = *t;
    ck_assert_uint_eq(t->candidate_count, 2);
    ck_assert_double_eq(t->candidates[1].time_ns, 20.0);
    snprintf(s->text, sizeof s->text, "%s|%s", t->profile, t->stop_reason);
    return ASSAY_OK;
}

static assay_status see_peak(void *cookie, const assay__report_peak *p)
{
    seen *s = cookie;

    s->count++;
    s->p = *p;
    snprintf(s->text, sizeof s->text, "%s|%s", p->name, p->unit);
    return ASSAY_OK;
}

static assay_status see_sweep(void *cookie, const assay__report_sweep *w)
{
    seen *s = cookie;

    s->count++;
    snprintf(s->text, sizeof s->text, "%s|%s|%s|%g", w->profile, w->stop_reason,
             w->ended_utc[0] == '\0' ? "open" : "ended", w->aa_floor);
    return w->seed == UINT64_MAX ? ASSAY_OK : ASSAY_INTERNAL;
}

static assay_status see_deployment(void *cookie, const assay__report_deployment *d)
{
    seen *s = cookie;

    s->count++;
    snprintf(s->text, sizeof s->text, "%s|%s|%s", d->backend, d->device, d->label);
    return ASSAY_OK;
}

static assay_status stop_at_once(void *cookie, const assay__report_measurement *m)
{
    (void)m;
    ++*(size_t *)cookie;
    return ASSAY_INTERRUPTED;
}

static assay__report *open_report(assay__store *store, const assay__report_filter *filter)
{
    assay__report *report = NULL;

    ck_assert_msg(assay__report_open(store, filter, &report) == ASSAY_OK, "%s", assay_last_error());
    return report;
}

START_TEST(measurement_comes_with_its_error_and_visits)
{
    const double samples[3] = {3.0, 1.0, 2.0};
    assay__db_measurement m = store_measurement(&rows);
    assay__db_accuracy a = store_accuracy(&rows);
    assay__db_visit v = store_visit(put_measurement(&m), samples, 3);
    int64_t id = 0;
    seen s = {0};

    ck_assert_int_eq(assay__db_put_visit(db, &v, &id), ASSAY_OK);
    put_accuracy(&a);
    a.stratum = "normal";
    a.max_ulp = 1.0;
    put_accuracy(&a);
    assay__store *store = open_reader();
    s.report = open_report(store, NULL);
    ck_assert_int_eq(assay__report_each_measurement(s.report, see_measurement, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_uint_eq(s.nested, 1);
    ck_assert_double_eq(s.samples[0], 3.0);
    ck_assert_ptr_nonnull(strstr(s.text, "k1|tile=1|matmul|ccc|rotate/alone/kernel|"));
    ck_assert_ptr_nonnull(strstr(s.text, rows.deployment_hex));
    ck_assert_int_eq(s.m.verdict, ASSAY__VERDICT_OK);
    ck_assert_double_eq(s.m.median_ns, 100.5);
    ck_assert_double_nan(s.m.ratio);
    ck_assert_double_eq(s.m.problem->flops, 2.0 * 64 * 64 * 64);
    ck_assert_ptr_nonnull(s.m.error);
    ck_assert_double_eq(s.error.max_ulp, 3.0);
    ck_assert_int_eq(s.error.passed, 1);
    ck_assert_int_eq(s.error.proof, ASSAY_PROOF_SAMPLED);
    assay__report_close(&s.report);
    ck_assert_ptr_null(s.report);
    ops->close(store);
}
END_TEST

static assay_status compare_with_find(void *cookie, const assay__report_measurement *m)
{
    int64_t id = 0;
    int found = 0;

    ++*(size_t *)cookie;
    ck_assert_ptr_nonnull(m->error);
    ck_assert_int_eq(assay__db_find_accuracy(db, m->revision->id, rows.deployment, rows.problem,
                                             &found, NULL, &id),
                     ASSAY_OK);
    ck_assert_int_eq(id, m->error->id);
    return ASSAY_OK;
}

START_TEST(report_and_find_agree_on_who_speaks)
{
    /* passed, stratum, proof: every pair in both orders. */
    static const struct {
        int passed;
        const char *stratum;
        assay_proof proof;
    } kinds[] = {{1, "normal", ASSAY_PROOF_SAMPLED}, {1, "all", ASSAY_PROOF_SAMPLED},
                 {1, "normal", ASSAY_PROOF_BOUNDED}, {1, "exhaustive", ASSAY_PROOF_EXHAUSTIVE},
                 {0, "normal", ASSAY_PROOF_SAMPLED}, {0, "all", ASSAY_PROOF_SAMPLED}};
    size_t count = sizeof kinds / sizeof *kinds;

    for (size_t i = 0; i < count * count; i++) {
        assay__db_measurement m = store_measurement(&rows);
        m.revision = store_put_revision(db, 2, (int)i);
        put_measurement(&m);
        for (size_t side = 0; side < 2; side++) {
            size_t kind = side == 0 ? i / count : i % count;
            assay__db_accuracy a = store_accuracy(&rows);
            a.revision = m.revision;
            a.passed = kinds[kind].passed;
            a.stratum = kinds[kind].stratum;
            a.proof = kinds[kind].proof;
            a.seed = side;
            put_accuracy(&a);
        }
    }
    assay__store *store = open_reader();
    assay__report_filter filter = {.kernel = "k2"};
    assay__report *report = open_report(store, &filter);
    size_t compared = 0;
    ck_assert_int_eq(assay__report_each_measurement(report, compare_with_find, &compared),
                     ASSAY_OK);
    ck_assert_uint_eq(compared, count * count);
    assay__report_close(&report);
    ops->close(store);
}
END_TEST

START_TEST(filters_select)
{
    static const struct {
        assay__report_filter filter;
        size_t rows;
    } cases[] = {{{0}, 3},
                 {{.kernel = "k1"}, 1},
                 {{.kernel = "k*"}, 3},
                 {{.backend = "cuda"}, 0},
                 {{.op = "matmul", .dtypes = "f32,f32,f32"}, 3},
                 {{.op = "exp"}, 0},
                 {{.deployment_hex = "x"}, 0}};
    assay__db_measurement m = store_measurement(&rows);
    size_t stopped = 0;

    for (int k = 1; k <= 3; k++) {
        m.revision = store_put_revision(db, k, 1);
        put_measurement(&m);
    }
    assay__store *store = open_reader();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen s = {.report = open_report(store, &cases[i].filter)};
        ck_assert_int_eq(assay__report_each_measurement(s.report, see_measurement, &s), ASSAY_OK);
        ck_assert_msg(s.count == cases[i].rows, "case %zu: %zu rows", i, s.count);
        ck_assert_ptr_null(s.m.error);
        if (i == 0)
            ck_assert_int_eq(assay__report_each_measurement(s.report, stop_at_once, &stopped),
                             ASSAY_INTERRUPTED);
        assay__report_close(&s.report);
    }
    ck_assert_uint_eq(stopped, 1);
    ops->close(store);
}
END_TEST

START_TEST(other_walks_come_whole)
{
    assay__route_candidate c[2] = {store_candidate(rows.revision, 10.0),
                                   store_candidate(rows.revision, 20.0)};
    assay__db_route r = store_route(&rows, c, 2);
    assay__db_accuracy a = store_accuracy(&rows);
    seen s = {0};

    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    ck_assert_int_eq(
        assay__db_put_peak(db, rows.deployment, "copy_t1", "byte/ns", 9.0, (double)NAN, 10.0, 3),
        ASSAY_OK);
    put_accuracy(&a);
    ck_assert_int_eq(assay__db_end_sweep(db, rows.sweep, "done", 0.025), ASSAY_OK);
    assay__store *store = open_reader();
    assay__report *report = open_report(store, NULL);
    ck_assert_int_eq(assay__report_each_route(report, see_route, &s), ASSAY_OK);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_str_eq(s.text, "quick|full");
    ck_assert_str_eq(s.t.winner->kernel, "k1");
    ck_assert_int_eq(s.t.total, 12);
    ck_assert_int_eq(assay__report_each_accuracy(report, see_accuracy, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "all|{\"got\":\"3f800000\"}|wide f64+f64");
    ck_assert_double_eq(s.a.p99_err_ulp, 1.5);
    ck_assert_double_nan(s.a.kappa);
    ck_assert_uint_eq(s.a.seed, 42);
    ck_assert_int_eq(assay__report_each_peak(report, see_peak, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "copy_t1|byte/ns");
    ck_assert_double_eq(s.p.value, 9.0);
    ck_assert_double_nan(s.p.lo);
    ck_assert_int_eq(assay__report_each_sweep(report, see_sweep, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "quick|done|ended|0.025");
    ck_assert_int_eq(assay__report_each_deployment(report, see_deployment, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "cpu|Test CPU|");
    assay__report_close(&report);
    ops->close(store);
}
END_TEST

/* ---- uses ------------------------------------------------------------------------------------ */

static void put_use(int64_t sweep, int64_t problem, const char *set, const char *name, double count)
{
    const assay__db_use u = {
        .sweep = sweep, .problem = problem, .shape_set = set, .row_name = name, .run_count = count};

    ck_assert_msg(assay__db_put_use(db, &u) == ASSAY_OK, "%s", assay_last_error());
}

static assay_status see_use(void *cookie, const assay__report_use *u)
{
    seen *s = cookie;
    size_t used = strlen(s->text);

    s->count++;
    snprintf(s->text + used, sizeof s->text - used, "%s/%s:%g ", u->shape_set, u->row_name,
             u->run_count);
    return ASSAY_OK;
}

/* A set that was edited counts as the last sweep read it; what only older sweeps named stays. */
START_TEST(uses_are_those_of_the_last_sweep)
{
    assay__report *report = NULL;
    seen s = {0};
    int64_t later = 0, other = store_put_problem(db, 65);
    const assay__db_sweep sweep = {"quick", "{}", "[]", 1};

    put_use(rows.sweep, rows.problem, "bert", "old name", 5);
    put_use(rows.sweep, rows.problem, "llama", "qkv", 32);
    put_use(rows.sweep, other, "bert", "out", 7);
    ck_assert_int_eq(assay__db_begin_sweep(db, &sweep, &later), ASSAY_OK);
    put_use(later, rows.problem, "bert", "qkv", 12);
    put_use(later, rows.problem, "bert", "up", 3);
    assay__store *store = open_reader();
    ck_assert_int_eq(assay__report_open(store, NULL, &report), ASSAY_OK);
    ck_assert_int_eq(assay__report_each_use(report, see_use, &s), ASSAY_OK);
    ck_assert_str_eq(s.text, "bert/qkv:12 bert/up:3 bert/out:7 llama/qkv:32 ");
    assay__report_close(&report);
    ops->close(store);
}
END_TEST

/* ---- check ----------------------------------------------------------------------------------- */

static void note_finding(void *cookie, const char *text)
{
    snprintf(cookie, 256, "%s", text);
}

START_TEST(sound_store_has_no_findings)
{
    assay__db_measurement m = store_measurement(&rows);
    assay__route_candidate c = store_candidate(rows.revision, 10.0);
    assay__check_counts counts;
    char text[256] = "";
    size_t found = 9;

    c.measurement = (uint64_t)put_measurement(&m);
    assay__db_route r = store_route(&rows, &c, 1);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    assay__store *store = open_reader();
    ck_assert_int_eq(assay__check_integrity(store, 10, note_finding, text, &found), ASSAY_OK);
    ck_assert_msg(found == 0, "%s", text);
    ck_assert_int_eq(assay__check_count(store, &counts), ASSAY_OK);
    ck_assert_int_eq(counts.measurements, 1);
    ck_assert_int_eq(counts.routes, 1);
    ck_assert_int_eq(counts.routes_superseded, 1);
    ck_assert_int_eq(counts.deployments, 1);
    ck_assert_int_eq(counts.visits, 0);
    ck_assert_int_eq(counts.observations, 0);
    ops->close(store);
}
END_TEST

static size_t find_unsound(char text[256])
{
    size_t found = 0;
    assay__store *store = open_reader();

    ck_assert_int_eq(assay__check_integrity(store, 10, note_finding, text, &found), ASSAY_OK);
    ops->close(store);
    return found;
}

START_TEST(lost_rows_are_found)
{
    assay__db_measurement m = store_measurement(&rows);
    assay__route_candidate c = store_candidate(rows.revision, 10.0);
    char text[256] = "";

    c.measurement = (uint64_t)put_measurement(&m);
    assay__db_route r = store_route(&rows, &c, 1);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    store_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM measurement");
    ck_assert_uint_eq(find_unsound(text), 1);
    ck_assert_ptr_nonnull(strstr(text, "missing row of measurement"));
    store_sql(path, "PRAGMA foreign_keys = OFF; DELETE FROM problem");
    ck_assert_uint_eq(find_unsound(text), 1);
    ck_assert_ptr_nonnull(strstr(text, "missing row of problem"));
}
END_TEST

START_TEST(flipped_page_is_found)
{
    char text[256] = "", noise[4096];
    size_t found = 0;
    assay__store *store = NULL;

    for (int i = 0; i < 200; i++)
        store_put_problem(db, 100 + i);
    assay__db_close(&db);
    memset(noise, 0x5a, sizeof noise);
    int64_t page = store_sql_int(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'problem'");
    int fd = open(path, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, noise, sizeof noise, (page - 1) * ASSAY__DB_PAGE_BYTES), 4096);
    close(fd);
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    assay_status status = assay__check_integrity(store, 10, note_finding, text, &found);
    ck_assert(status == ASSAY_DB_DAMAGED || (status == ASSAY_OK && found > 0));
    ops->close(store);
}
END_TEST

/* ---- staleness ------------------------------------------------------------------------------- */

typedef struct judged {
    size_t count;
    assay__check_state states[8];
    int64_t routes[8];
} judged;

static void see_judged(void *cookie, const assay__check_revision *r)
{
    judged *j = cookie;
    int kernel = atoi(r->kernel + 1);

    j->count++;
    j->states[kernel] = r->state;
    j->routes[kernel] = r->routes;
}

static assay__check_variant make_variant(const char *kernel, int number, int v)
{
    assay__check_variant made = {.backend = "cpu",
                                 .op = "matmul",
                                 .dtypes = "f32,f32,f32",
                                 .kernel = kernel,
                                 .tunables = "tile=1",
                                 .available = 1};

    store_variant_digest(number, v, &made.variant_revision);
    return made;
}

START_TEST(stale_rows_are_told_with_the_reason)
{
    assay__db_measurement m = store_measurement(&rows);
    assay__db_route r = store_route(&rows, NULL, 0);
    assay__check_variant now[4] = {make_variant("k1", 1, 1), make_variant("k2", 2, 77),
                                   make_variant("k3", 3, 1), make_variant("k5", 5, 1)};
    assay__check_staleness s;
    judged j = {0};

    now[2].tunables = "tile=9";
    now[3].available = 0;
    for (int k = 1; k <= 5; k++) {
        m.revision = store_put_revision(db, k, 1);
        put_measurement(&m);
        r.winner_revision = m.revision;
        r.problem = store_put_problem(db, 100 + k);
        ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    }
    r.winner_revision = 0;
    r.problem = store_put_problem(db, 99);
    ck_assert_int_eq(assay__db_put_route(db, &r), ASSAY_OK);
    assay__store *store = open_reader();
    ck_assert_int_eq(assay__check_stale(store, rows.deployment_hex, now, 4, see_judged, &j, &s),
                     ASSAY_OK);
    ck_assert_uint_eq(j.count, 5);
    ck_assert_int_eq(j.states[1], ASSAY__CHECK_USABLE);
    ck_assert_int_eq(j.states[2], ASSAY__CHECK_STALE);
    ck_assert_int_eq(j.states[3], ASSAY__CHECK_NO_VARIANT);
    ck_assert_int_eq(j.states[4], ASSAY__CHECK_NO_KERNEL);
    ck_assert_int_eq(j.states[5], ASSAY__CHECK_UNAVAILABLE);
    for (int k = 1; k <= 5; k++) {
        ck_assert_int_eq(j.routes[k], 1);
        ck_assert_int_eq(s.routes[j.states[k]], 1);
        ck_assert_int_eq(s.measurements[j.states[k]], 1);
    }
    ck_assert_int_eq(s.routes_without_winner, 1);
    ck_assert_int_eq(s.measurements[ASSAY__CHECK_ELSEWHERE], 0);
    /* Seen from another deployment all of it is elsewhere. */
    ck_assert_int_eq(assay__check_stale(store, "other", now, 4, NULL, NULL, &s), ASSAY_OK);
    ck_assert_int_eq(s.measurements[ASSAY__CHECK_ELSEWHERE], 5);
    ck_assert_int_eq(s.routes[ASSAY__CHECK_ELSEWHERE], 6);
    ck_assert_int_eq(s.measurements[ASSAY__CHECK_USABLE], 0);
    /* A program without kernels. */
    ck_assert_int_eq(assay__check_stale(store, rows.deployment_hex, NULL, 0, NULL, NULL, &s),
                     ASSAY_OK);
    ck_assert_int_eq(s.measurements[ASSAY__CHECK_NO_KERNEL], 5);
    ops->close(store);
    ck_assert_ptr_nonnull(strstr(assay__check_state_text(ASSAY__CHECK_STALE), "changed"));
}
END_TEST

static TCase *make_case(Suite *suite, const char *name)
{
    TCase *made = tcase_create(name);

    tcase_add_checked_fixture(made, setup, teardown);
    tcase_set_timeout(made, 60);
    suite_add_tcase(suite, made);
    return made;
}

int main(void)
{
    Suite *suite = suite_create("store_report");
    TCase *report = make_case(suite, "report");
    TCase *check = make_case(suite, "check");
    TCase *stale = make_case(suite, "stale");

    tcase_add_test(report, measurement_comes_with_its_error_and_visits);
    tcase_add_test(report, report_and_find_agree_on_who_speaks);
    tcase_add_test(report, filters_select);
    tcase_add_test(report, other_walks_come_whole);
    tcase_add_test(report, uses_are_those_of_the_last_sweep);
    tcase_add_test(check, sound_store_has_no_findings);
    tcase_add_test(check, lost_rows_are_found);
    tcase_add_test(check, flipped_page_is_found);
    tcase_add_test(stale, stale_rows_are_told_with_the_reason);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
