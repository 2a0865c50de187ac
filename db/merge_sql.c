/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/merge_sql.c -- see merge_sql.h.
 *
 * Each table has a key of content (docs/store.md).  Rows that are not there are added, those that
 * are keep their id: first come the rows, then the map of ids, then what the other store knows
 * better. */
#include "db/merge_sql.h"

#include <stddef.h>

#define MAP(table)                "JOIN temp.m_" table " AS "
#define NEW(table, alias, column) MAP(table) alias " ON " alias ".old = s." column " "

/* ---- summaries: the columns beside the key, and which of two rows is to hold ---- */

#define MEASURED                                                                                   \
    "verdict, reason, median_ns, lo_ns, hi_ns, min_ns, mad_ns, ratio, ratio_lo, ratio_hi, "        \
    "samples, "                                                                                    \
    "visits, rejected_samples, stop_reason, flags, workspace_bytes, output_digest, measured_utc, " \
    "ratio_level"
#define MEASURED_RANK(row)                                                    \
    "(" row ".verdict = 'wrong', " row ".measured_utc, " row ".verdict, " row \
    ".reason, ifnull(" row ".median_ns, -1), " row ".visits)"

#define CHECKED                                                                                  \
    "passed, proof, elements, max_ulp, max_err_ulp, mean_err_ulp, p50_err_ulp, p99_err_ulp, "    \
    "max_rel, max_abs, max_rho, rms_rho, kappa, bound, misrounded, nan_mismatch, inf_mismatch, " \
    "zero_sign_mismatch, flushed, histogram_json, worst_index, worst_json, reference, "          \
    "output_digest, measured_utc"
#define CHECKED_RANK(row) \
    "(" row ".passed = 0, " row ".measured_utc, " row ".elements, ifnull(" row ".max_abs, -1))"

#define STAYED                                                                                    \
    "ordinal, kind, sample_count, samples, inner_count, ratio, clock_name, clock_resolution_ns, " \
    "clock_overhead_ns, clock_quality, taken_utc, context_json, is_twin, flags, rejected_json, "  \
    "stop_reason"
#define STAYED_S                                                                                 \
    "s.ordinal, s.kind, s.sample_count, s.samples, s.inner_count, s.ratio, s.clock_name, "       \
    "s.clock_resolution_ns, s.clock_overhead_ns, s.clock_quality, s.taken_utc, s.context_json, " \
    "s.is_twin, s.flags, s.rejected_json, s.stop_reason"
#define SAME_STAY                                                                                  \
    "t.measurement = m.new AND t.sweep = w.new AND t.kind = s.kind AND t.ordinal = s.ordinal AND " \
    "t.is_twin = s.is_twin AND t.taken_utc = s.taken_utc AND t.samples = s.samples"

#define SAME_SWEEP(a, b)                                                                    \
    a ".started_utc = " b ".started_utc AND " a ".seed = " b ".seed AND " a ".profile = " b \
      ".profile AND " a ".settings_json = " b ".settings_json AND " a ".argv_json = " b     \
      ".argv_json"

#define SAME_ROUTE                                                                              \
    "t.deployment = d.new AND t.problem = p.new AND t.layout = s.layout AND t.align = s.align " \
    "AND t.policy = s.policy AND t.sweep = w.new AND t.decided_utc = s.decided_utc"
#define SAME_QUESTION(a, b)                                                                    \
    a ".deployment = " b ".deployment AND " a ".problem = " b ".problem AND " a ".layout = " b \
      ".layout AND " a ".align = " b ".align AND " a ".policy = " b ".policy"

#define WHOLE NEW("deployment", "d", "deployment") NEW("revision", "r", "revision")

const char *const assay__merge_maps[] = {
    "CREATE TEMP TABLE m_device (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_deployment (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_kernel (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_revision (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_problem (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_sweep (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_measurement (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_accuracy (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);"
    "CREATE TEMP TABLE m_visit (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);",
    NULL,
};

/* Routes of one question are looked up by it; the one that is current is settled later. */
const char *const assay__merge_begin[] = {
    "DELETE FROM temp.m_device; DELETE FROM temp.m_deployment; DELETE FROM temp.m_kernel;"
    "DELETE FROM temp.m_revision; DELETE FROM temp.m_problem; DELETE FROM temp.m_sweep;"
    "DELETE FROM temp.m_measurement; DELETE FROM temp.m_accuracy; DELETE FROM temp.m_visit;",
    "CREATE INDEX IF NOT EXISTS DST.merge_route ON route (deployment, problem)",
    NULL,
};

const char *const assay__merge_end[] = {
    "DROP INDEX IF EXISTS DST.merge_route",
    NULL,
};

const char *const assay__merge_copy[] = {
    /* device */
    "INSERT OR IGNORE INTO DST.device (backend, name, architecture)"
    " SELECT backend, name, architecture FROM SRC.device ORDER BY 1, 2, 3",
    "INSERT INTO temp.m_device SELECT s.id, t.id FROM SRC.device AS s JOIN DST.device AS t"
    " ON t.backend = s.backend AND t.name = s.name AND t.architecture = s.architecture",
    /* deployment */
    "INSERT INTO DST.deployment (digest, device, driver, cpu_model, cpu_stepping, microcode, isa,"
    "  os_class, usable_cpus, numa_nodes, fingerprint, first_seen_utc, label)"
    " SELECT s.digest, v.new, s.driver, s.cpu_model, s.cpu_stepping, s.microcode, s.isa, "
    "s.os_class,"
    "  s.usable_cpus, s.numa_nodes, s.fingerprint, s.first_seen_utc, s.label"
    " FROM SRC.deployment AS s " NEW(
        "device", "v",
        "device") " WHERE true ORDER BY s.digest"
                  " ON CONFLICT (digest) DO UPDATE SET first_seen_utc = min(first_seen_utc,"
                  "  excluded.first_seen_utc), label = iif(label IS NULL OR excluded.label > label,"
                  "  ifnull(excluded.label, label), label)",
    "INSERT INTO temp.m_deployment SELECT s.id, t.id FROM SRC.deployment AS s"
    " JOIN DST.deployment AS t ON t.digest = s.digest",
    /* kernel */
    "INSERT INTO DST.kernel (backend, op, dtypes, name, entry_point, default_rank)"
    " SELECT backend, op, dtypes, name, entry_point, default_rank FROM SRC.kernel"
    " WHERE true ORDER BY 1, 2, 3, 4 ON CONFLICT (backend, op, dtypes, name) DO UPDATE SET"
    "  entry_point = iif((excluded.default_rank, excluded.entry_point) < (default_rank,"
    "  entry_point), excluded.entry_point, entry_point),"
    "  default_rank = min(default_rank, excluded.default_rank)",
    "INSERT INTO temp.m_kernel SELECT s.id, t.id FROM SRC.kernel AS s JOIN DST.kernel AS t"
    " ON t.backend = s.backend AND t.op = s.op AND t.dtypes = s.dtypes AND t.name = s.name",
    /* revision */
    "INSERT INTO DST.revision (kernel, kernel_revision, variant_revision, tunables, libraries,"
    "  compiler, first_seen_utc)"
    " SELECT k.new, s.kernel_revision, s.variant_revision, s.tunables, s.libraries, s.compiler,"
    "  s.first_seen_utc FROM SRC.revision AS s " NEW(
        "kernel", "k",
        "kernel") " WHERE true ORDER BY k.new, s.variant_revision ON CONFLICT (variant_revision, "
                  "kernel)"
                  " DO UPDATE SET first_seen_utc = min(first_seen_utc, excluded.first_seen_utc),"
                  "  libraries = max(libraries, excluded.libraries), compiler = max(compiler, "
                  "excluded.compiler)",
    "INSERT INTO temp.m_revision SELECT s.id, t.id FROM SRC.revision AS s " NEW(
        "kernel", "k", "kernel") " JOIN DST.revision AS t"
                                 " ON t.kernel = k.new AND t.variant_revision = s.variant_revision",
    /* claim */
    "INSERT INTO DST.claim (kernel, digest, max_ulp, max_rho, max_rel, max_abs, stability,"
    "  first_seen_utc, last_seen_utc)"
    " SELECT k.new, s.digest, s.max_ulp, s.max_rho, s.max_rel, s.max_abs, s.stability,"
    "  s.first_seen_utc, s.last_seen_utc FROM SRC.claim AS s " NEW(
        "kernel", "k",
        "kernel") " WHERE true ORDER BY k.new, s.digest ON CONFLICT (kernel, digest) DO UPDATE SET"
                  "  first_seen_utc = min(first_seen_utc, excluded.first_seen_utc),"
                  "  last_seen_utc = max(last_seen_utc, excluded.last_seen_utc)",
    /* problem */
    "INSERT INTO DST.problem (op, dtypes, text, cost_text, flops, moved_bytes)"
    " SELECT op, dtypes, text, cost_text, flops, moved_bytes FROM SRC.problem"
    " WHERE true ORDER BY text ON CONFLICT (text) DO UPDATE SET"
    "  cost_text = max(cost_text, excluded.cost_text),"
    "  flops = iif(flops IS NULL OR excluded.flops > flops, ifnull(excluded.flops, flops), flops),"
    "  moved_bytes = iif(moved_bytes IS NULL OR excluded.moved_bytes > moved_bytes,"
    "   ifnull(excluded.moved_bytes, moved_bytes), moved_bytes)",
    "INSERT INTO temp.m_problem SELECT s.id, t.id FROM SRC.problem AS s"
    " JOIN DST.problem AS t ON t.text = s.text",
    /* sweep: of copies of one that was under way the one that came further */
    "INSERT INTO DST.sweep (profile, seed, settings_json, argv_json, started_utc, ended_utc,"
    "  stop_reason, aa_floor)"
    " SELECT s.profile, s.seed, s.settings_json, s.argv_json, s.started_utc, s.ended_utc,"
    "  s.stop_reason, s.aa_floor FROM SRC.sweep AS s"
    " WHERE NOT EXISTS (SELECT 1 FROM DST.sweep AS t WHERE " SAME_SWEEP(
        "t",
        "s") ")"
             "  AND s.id = (SELECT u.id FROM SRC.sweep AS u WHERE " SAME_SWEEP(
                 "u",
                 "s") "   ORDER BY ifnull(u.ended_utc, '') DESC, u.id LIMIT 1)"
                      " ORDER BY s.started_utc, s.seed, s.profile, s.settings_json, s.argv_json",
    "UPDATE DST.sweep AS t SET (ended_utc, stop_reason, aa_floor) ="
    "  (SELECT s.ended_utc, s.stop_reason, s.aa_floor FROM SRC.sweep AS s"
    "   WHERE " SAME_SWEEP(
        "s", "t") " ORDER BY ifnull(s.ended_utc, '') DESC LIMIT 1)"
                  " WHERE EXISTS (SELECT 1 FROM SRC.sweep AS s WHERE " SAME_SWEEP(
                      "s", "t") "  AND ifnull(s.ended_utc, '') > ifnull(t.ended_utc, ''))",
    "INSERT INTO temp.m_sweep SELECT s.id, min(t.id) FROM SRC.sweep AS s JOIN DST.sweep AS t"
    " ON " SAME_SWEEP("t", "s") " GROUP BY s.id",
    "INSERT INTO DST.sweep_problem (sweep, problem, shape_set, row_name, run_count, source)"
    " SELECT w.new, p.new, s.shape_set, s.row_name, s.run_count, s.source"
    " FROM SRC.sweep_problem AS s " NEW("sweep", "w", "sweep") NEW(
        "problem", "p", "problem") " WHERE true ORDER BY 1, 2, 3, 4 ON CONFLICT (sweep, problem, "
                                   "shape_set, row_name)"
                                   " DO UPDATE SET run_count = max(run_count, excluded.run_count),"
                                   "  source = max(source, excluded.source)",
    /* measurement */
    "INSERT OR IGNORE INTO DST.measurement (deployment, revision, problem, layout, align, policy,"
    "  sweep, " MEASURED ")"
    " SELECT d.new, r.new, p.new, s.layout, s.align, s.policy, w.new, s.verdict, s.reason,"
    "  s.median_ns, s.lo_ns, s.hi_ns, s.min_ns, s.mad_ns, s.ratio, s.ratio_lo, s.ratio_hi,"
    "  s.samples, s.visits, s.rejected_samples, s.stop_reason, s.flags, s.workspace_bytes,"
    "  s.output_digest, s.measured_utc, s.ratio_level FROM SRC.measurement AS s " WHOLE NEW(
        "problem", "p", "problem")
        NEW("sweep", "w", "sweep") " ORDER BY d.new, p.new, r.new, s.layout, s.align, s.policy",
    "INSERT INTO temp.m_measurement SELECT s.id, t.id FROM SRC.measurement AS s " WHOLE NEW(
        "problem", "p", "problem") " JOIN DST.measurement AS t ON t.deployment = d.new"
                                   " AND t.revision = r.new AND t.problem = p.new AND t.layout = "
                                   "s.layout AND t.align = s.align"
                                   " AND t.policy = s.policy",
    "UPDATE DST.measurement AS t SET (" MEASURED ", sweep) ="
    "  (SELECT " MEASURED ", (SELECT w.new FROM temp.m_sweep AS w WHERE w.old = s.sweep)"
    "   FROM SRC.measurement AS s WHERE s.id = m.old)"
    " FROM temp.m_measurement AS m JOIN SRC.measurement AS n ON n.id = m.old"
    " WHERE t.id = m.new AND " MEASURED_RANK("n") " > " MEASURED_RANK("t"),
    /* visit: the baseline of one is another */
    "INSERT INTO DST.visit (measurement, sweep, " STAYED ")"
    " SELECT m.new, w.new, " STAYED_S " FROM SRC.visit AS s " NEW("measurement", "m", "measurement")
        NEW("sweep", "w",
            "sweep") " WHERE NOT EXISTS (SELECT 1 FROM DST.visit AS t WHERE " SAME_STAY ")"
                     " ORDER BY s.taken_utc, w.new, m.new, s.ordinal, s.kind, s.is_twin,"
                     "  s.samples",
    "INSERT INTO temp.m_visit SELECT s.id, min(t.id) FROM SRC.visit AS s " NEW("measurement", "m",
                                                                               "measurement")
        NEW("sweep", "w", "sweep") " JOIN DST.visit AS t ON " SAME_STAY " GROUP BY s.id",
    "UPDATE DST.visit AS t SET baseline_visit = b.new FROM SRC.visit AS s"
    " JOIN temp.m_visit AS v ON v.old = s.id JOIN temp.m_visit AS b ON b.old = s.baseline_visit"
    " WHERE t.id = v.new AND t.baseline_visit IS NULL",
    /* counters */
    "INSERT OR IGNORE INTO DST.counter_source (sweep, name, unit, source, event, reason)"
    " SELECT w.new, s.name, s.unit, s.source, s.event, s.reason FROM SRC.counter_source AS s " NEW(
        "sweep", "w", "sweep") " ORDER BY 1, 2",
    "INSERT INTO DST.counter (measurement, name, value, lo, hi, passes, calls, counted_utc)"
    " SELECT m.new, s.name, s.value, s.lo, s.hi, s.passes, s.calls, s.counted_utc"
    " FROM SRC.counter AS s " NEW(
        "measurement", "m",
        "measurement") " WHERE true ORDER BY 1, 2 ON CONFLICT (measurement, name) DO UPDATE SET"
                       "  value = excluded.value, lo = excluded.lo, hi = excluded.hi, passes = "
                       "excluded.passes,"
                       "  calls = excluded.calls, counted_utc = excluded.counted_utc"
                       " WHERE (excluded.counted_utc, excluded.value) > (counted_utc, value)",
    /* accuracy: of two ids the larger one is the later (db/write_accuracy.c) */
    "INSERT OR IGNORE INTO DST.accuracy (deployment, revision, problem, stratum, seed, "
    "sweep, " CHECKED ")"
    " SELECT d.new, r.new, p.new, s.stratum, s.seed, w.new, s.passed, s.proof, s.elements,"
    "  s.max_ulp, s.max_err_ulp, s.mean_err_ulp, s.p50_err_ulp, s.p99_err_ulp, s.max_rel,"
    "  s.max_abs, s.max_rho, s.rms_rho, s.kappa, s.bound, s.misrounded, s.nan_mismatch,"
    "  s.inf_mismatch, s.zero_sign_mismatch, s.flushed, s.histogram_json, s.worst_index,"
    "  s.worst_json, s.reference, s.output_digest, s.measured_utc FROM SRC.accuracy AS s " WHOLE
        NEW("problem", "p", "problem")
            NEW("sweep", "w", "sweep") " ORDER BY s.measured_utc, d.new, p.new, r.new, s.stratum,"
                                       "  s.seed",
    "INSERT INTO temp.m_accuracy SELECT s.id, t.id FROM SRC.accuracy AS s " WHOLE NEW(
        "problem", "p", "problem") " JOIN DST.accuracy AS t ON t.deployment = d.new"
                                   " AND t.revision = r.new AND t.problem = p.new AND t.stratum = "
                                   "s.stratum AND t.seed = s.seed",
    "UPDATE DST.accuracy AS t SET (" CHECKED ", sweep) ="
    "  (SELECT " CHECKED ", (SELECT w.new FROM temp.m_sweep AS w WHERE w.old = s.sweep)"
    "   FROM SRC.accuracy AS s WHERE s.id = m.old)"
    " FROM temp.m_accuracy AS m JOIN SRC.accuracy AS n ON n.id = m.old"
    " WHERE t.id = m.new AND " CHECKED_RANK("n") " > " CHECKED_RANK("t"),
    /* stability */
    "INSERT INTO DST.stability (deployment, revision, problem, level, evidence_json, measured_utc)"
    " SELECT d.new, r.new, p.new, s.level, s.evidence_json, s.measured_utc"
    " FROM SRC.stability AS s " WHOLE NEW(
        "problem", "p",
        "problem") " WHERE true ORDER BY 1, 2, 3 ON CONFLICT (deployment, revision, problem) DO "
                   "UPDATE SET"
                   "  level = excluded.level, evidence_json = excluded.evidence_json,"
                   "  measured_utc = excluded.measured_utc"
                   " WHERE (excluded.level = 'none', excluded.measured_utc, excluded.level, "
                   "excluded.evidence_json)"
                   "  > (level = 'none', measured_utc, level, evidence_json)",
    /* quarantine: the first reason */
    "INSERT INTO DST.quarantine (deployment, revision, problem, reason, since_utc)"
    " SELECT d.new, r.new, p.new, s.reason, s.since_utc FROM SRC.quarantine AS s " WHOLE
    " LEFT JOIN temp.m_problem AS p ON p.old = s.problem"
    " WHERE true ORDER BY d.new, r.new, ifnull(p.new, 0)"
    " ON CONFLICT (deployment, revision, ifnull(problem, 0)) DO UPDATE SET"
    "  reason = excluded.reason, since_utc = excluded.since_utc"
    " WHERE (excluded.since_utc, excluded.reason) < (since_utc, reason)",
    /* what the machine can do */
    "INSERT INTO DST.peak (deployment, name, unit, value, lo, hi, samples, measured_utc)"
    " SELECT d.new, s.name, s.unit, s.value, s.lo, s.hi, s.samples, s.measured_utc"
    " FROM SRC.peak AS s " NEW(
        "deployment", "d",
        "deployment") " WHERE true ORDER BY 1, 2 ON CONFLICT (deployment, name) DO UPDATE SET unit "
                      "= excluded.unit,"
                      "  value = excluded.value, lo = excluded.lo, hi = excluded.hi, samples = "
                      "excluded.samples,"
                      "  measured_utc = excluded.measured_utc"
                      " WHERE (excluded.measured_utc, excluded.value) > (measured_utc, value)",
    "INSERT INTO DST.transfer (deployment, source, target, size_bytes, median_ns, lo_ns, hi_ns,"
    "  samples, measured_utc)"
    " SELECT d.new, s.source, s.target, s.size_bytes, s.median_ns, s.lo_ns, s.hi_ns, s.samples,"
    "  s.measured_utc FROM SRC.transfer AS s " NEW(
        "deployment", "d",
        "deployment") " WHERE true ORDER BY 1, 2, 3, 4 ON CONFLICT (deployment, source, target, "
                      "size_bytes)"
                      " DO UPDATE SET median_ns = excluded.median_ns, lo_ns = excluded.lo_ns, "
                      "hi_ns = excluded.hi_ns,"
                      "  samples = excluded.samples, measured_utc = excluded.measured_utc"
                      " WHERE (excluded.measured_utc, excluded.median_ns) > (measured_utc, "
                      "median_ns)",
    "INSERT INTO DST.model (deployment, revision, policy, features, coefficients, hull,"
    "  measurements, cv_error, cv_rank_loss, fitted_utc)"
    " SELECT d.new, r.new, s.policy, s.features, s.coefficients, s.hull, s.measurements, "
    "s.cv_error,"
    "  s.cv_rank_loss, s.fitted_utc FROM SRC.model AS s " WHOLE
    " WHERE true ORDER BY 1, 2, 3 ON CONFLICT (deployment, revision, policy) DO UPDATE SET"
    "  features = excluded.features, coefficients = excluded.coefficients, hull = excluded.hull,"
    "  measurements = excluded.measurements, cv_error = excluded.cv_error,"
    "  cv_rank_loss = excluded.cv_rank_loss, fitted_utc = excluded.fitted_utc"
    " WHERE (excluded.fitted_utc, excluded.coefficients) > (fitted_utc, coefficients)",
    /* route */
    "INSERT INTO DST.route (deployment, problem, layout, align, policy, sweep, winner_revision,"
    "  searched, total, stop_reason, candidate_count, candidates, decided_utc, superseded_utc)"
    " SELECT d.new, p.new, s.layout, s.align, s.policy, w.new, r.new, s.searched, s.total,"
    "  s.stop_reason, s.candidate_count, assay_candidates(s.candidates), s.decided_utc,"
    "  s.superseded_utc FROM SRC.route AS s " NEW("deployment", "d",
                                                  "deployment") NEW("problem", "p", "problem")
        NEW("sweep", "w",
            "sweep") " LEFT JOIN temp.m_revision AS r ON r.old = s.winner_revision"
                     " WHERE NOT EXISTS (SELECT 1 FROM DST.route AS t WHERE " SAME_ROUTE ")"
                     " ORDER BY s.decided_utc, d.new, p.new, s.layout, s.align, s.policy, w.new",
    "UPDATE DST.route AS t SET superseded_utc = s.superseded_utc FROM SRC.route AS s " NEW(
        "deployment", "d", "deployment") NEW("problem", "p", "problem")
        NEW("sweep", "w", "sweep") " WHERE " SAME_ROUTE
                                   " AND s.superseded_utc < ifnull(t.superseded_utc, '~')",
    /* the rest */
    "INSERT OR IGNORE INTO DST.certificate (deployment, revision, digest, text, public_key,"
    "  signature, issued_utc)"
    " SELECT d.new, r.new, s.digest, s.text, s.public_key, s.signature, s.issued_utc"
    " FROM SRC.certificate AS s " WHOLE " ORDER BY s.digest",
    "INSERT INTO DST.observation (deployment, problem, layout, align, policy, kind, seen, ratio,"
    "  first_utc, last_utc)"
    " SELECT d.new, p.new, s.layout, s.align, s.policy, s.kind, s.seen, s.ratio, s.first_utc,"
    "  s.last_utc FROM SRC.observation AS s " NEW("deployment", "d", "deployment") NEW(
        "problem", "p",
        "problem") " WHERE true ORDER BY 1, 2, 3, 4, 5, 6"
                   " ON CONFLICT (deployment, problem, layout, align, policy, kind) DO UPDATE SET"
                   "  seen = max(seen, excluded.seen), ratio = iif(ratio IS NULL OR excluded.ratio "
                   "> ratio,"
                   "  ifnull(excluded.ratio, ratio), ratio), first_utc = min(first_utc, "
                   "excluded.first_utc),"
                   "  last_utc = max(last_utc, excluded.last_utc)",
    NULL,
};

#define LOST(column, table) "s." column " NOT IN (SELECT old FROM temp.m_" table ")"
#define LOSES(table, where) "SELECT '" table "', count(*) FROM SRC." table " AS s WHERE " where
#define OF_DEVICE           LOST("device", "device")
#define OF_KERNEL           LOST("kernel", "kernel")
#define OF_HOST             LOST("deployment", "deployment")
#define OF_MEASURED         LOST("measurement", "measurement")
#define OF_SWEEP            LOST("sweep", "sweep")
#define OF_PROBLEM          LOST("problem", "problem")
#define OF_VARIANT          OF_HOST " OR " LOST("revision", "revision")
#define OF_BASELINE         LOST("baseline_visit", "visit")
#define OF_WINNER           LOST("winner_revision", "revision")

/* A NULL is not NOT IN anything, as it should be: it points at no row. */
const char *const assay__merge_lost[] = {
    LOSES("deployment", OF_DEVICE),
    LOSES("revision", OF_KERNEL),
    LOSES("claim", OF_KERNEL),
    LOSES("sweep_problem", OF_SWEEP " OR " OF_PROBLEM),
    LOSES("measurement", OF_VARIANT " OR " OF_PROBLEM " OR " OF_SWEEP),
    LOSES("visit", OF_MEASURED " OR " OF_SWEEP " OR " OF_BASELINE),
    LOSES("counter_source", OF_SWEEP),
    LOSES("counter", OF_MEASURED),
    LOSES("accuracy", OF_VARIANT " OR " OF_PROBLEM " OR " OF_SWEEP),
    LOSES("stability", OF_VARIANT " OR " OF_PROBLEM),
    LOSES("quarantine", OF_VARIANT " OR " OF_PROBLEM),
    LOSES("peak", OF_HOST),
    LOSES("transfer", OF_HOST),
    LOSES("model", OF_VARIANT),
    LOSES("route", OF_HOST " OR " OF_PROBLEM " OR " OF_SWEEP " OR " OF_WINNER),
    LOSES("certificate", OF_VARIANT),
    LOSES("observation", OF_HOST " OR " OF_PROBLEM),
    NULL,
};

/* Of routes that were decided at one moment, by content: a sweep decides a question once. */
#define SETTLED(route, sweep)                                                                  \
    "(" route ".decided_utc, " sweep ".started_utc, " sweep ".seed, " sweep ".profile, " sweep \
    ".settings_json, " sweep ".argv_json, " route ".id)"
#define LATER SETTLED("u", "v") " > " SETTLED("t", "w")

const char *const assay__merge_settle[] = {
    /* Else each route would be compared with all others. */
    "CREATE INDEX DST.merge_route ON route (deployment, problem)",
    "UPDATE DST.route AS t SET superseded_utc = (SELECT max(u.decided_utc) FROM DST.route AS u"
    "  WHERE " SAME_QUESTION(
        "u", "t") " AND u.superseded_utc IS NULL)"
                  " WHERE t.superseded_utc IS NULL AND EXISTS (SELECT 1 FROM DST.route AS u"
                  "  JOIN DST.sweep AS v ON v.id = u.sweep JOIN DST.sweep AS w ON w.id = t.sweep"
                  "  WHERE " SAME_QUESTION("u", "t") " AND u.superseded_utc IS NULL AND " LATER ")",
    /* Right in one store, and wrong in another: it must not run. */
    "INSERT OR IGNORE INTO DST.quarantine (deployment, revision, problem, reason, since_utc)"
    " SELECT m.deployment, m.revision, m.problem, min(m.reason), min(m.measured_utc)"
    " FROM DST.measurement AS m JOIN DST.route AS t ON t.deployment = m.deployment"
    "  AND t.problem = m.problem AND t.winner_revision = m.revision AND t.superseded_utc IS NULL"
    " WHERE m.verdict = 'wrong' GROUP BY 1, 2, 3",
    "DROP INDEX DST.merge_route",
    NULL,
};

const char *const assay__merge_content[] = {
    "SELECT * FROM DST.device ORDER BY id",
    "SELECT * FROM DST.deployment ORDER BY id",
    "SELECT * FROM DST.kernel ORDER BY id",
    "SELECT * FROM DST.revision ORDER BY id",
    "SELECT * FROM DST.claim ORDER BY id",
    "SELECT * FROM DST.problem ORDER BY id",
    "SELECT * FROM DST.sweep ORDER BY id",
    "SELECT * FROM DST.sweep_problem ORDER BY 1, 2, 3, 4",
    "SELECT * FROM DST.measurement ORDER BY id",
    "SELECT * FROM DST.visit ORDER BY id",
    "SELECT * FROM DST.counter_source ORDER BY 1, 2",
    "SELECT * FROM DST.counter ORDER BY 1, 2",
    "SELECT * FROM DST.accuracy ORDER BY id",
    "SELECT * FROM DST.stability ORDER BY 1, 2, 3",
    "SELECT * FROM DST.quarantine ORDER BY id",
    "SELECT * FROM DST.peak ORDER BY 1, 2",
    "SELECT * FROM DST.transfer ORDER BY 1, 2, 3, 4",
    "SELECT * FROM DST.model ORDER BY id",
    "SELECT * FROM DST.route ORDER BY id",
    "SELECT * FROM DST.certificate ORDER BY id",
    "SELECT * FROM DST.observation ORDER BY id",
    NULL,
};
