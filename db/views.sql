-- SPDX-License-Identifier: Apache-2.0
-- SPDX-FileCopyrightText: The Assay authors
-- db/views.sql -- views for people with any SQLite tool; nothing of ours reads them.
--
-- Units are in the names; gflops and gbps are NULL where Layer 1 does not know the counts or counts
-- nothing.

CREATE VIEW measurements AS
SELECT m.id, p.op, p.dtypes, p.text AS problem, k.backend, k.name AS kernel, r.tunables,
       m.verdict, m.reason, m.median_ns, m.lo_ns, m.hi_ns, m.ratio, m.ratio_lo, m.ratio_hi,
       m.ratio_level, nullif(p.flops, 0) / m.median_ns AS gflops,
       nullif(p.moved_bytes, 0) / m.median_ns AS gbps,
       m.samples, m.visits, m.layout, m.align, m.policy, m.flags, m.measured_utc,
       r.variant_revision, d.digest AS deployment, d.label
FROM measurement AS m
JOIN problem AS p ON p.id = m.problem
JOIN revision AS r ON r.id = m.revision
JOIN kernel AS k ON k.id = r.kernel
JOIN deployment AS d ON d.id = m.deployment;

CREATE VIEW errors AS
SELECT a.id, p.op, p.dtypes, p.text AS problem, k.backend, k.name AS kernel, r.tunables,
       a.stratum, a.passed, a.proof, a.elements, a.max_ulp, a.max_err_ulp, a.mean_err_ulp,
       a.p50_err_ulp, a.p99_err_ulp, a.max_rel, a.max_abs, a.max_rho, a.rms_rho, a.kappa, a.bound,
       a.misrounded, a.nan_mismatch, a.inf_mismatch, a.zero_sign_mismatch, a.flushed,
       a.worst_json, a.reference, a.measured_utc, r.variant_revision, d.digest AS deployment
FROM accuracy AS a
JOIN problem AS p ON p.id = a.problem
JOIN revision AS r ON r.id = a.revision
JOIN kernel AS k ON k.id = r.kernel
JOIN deployment AS d ON d.id = a.deployment;

CREATE VIEW routes AS
SELECT t.id, p.op, p.dtypes, p.text AS problem, t.layout, t.align, t.policy, k.backend,
       k.name AS kernel, r.tunables, m.median_ns, m.lo_ns, m.hi_ns, m.ratio,
       nullif(p.flops, 0) / m.median_ns AS gflops, nullif(p.moved_bytes, 0) / m.median_ns AS gbps,
       t.candidate_count, t.searched, t.total, t.stop_reason, t.decided_utc,
       r.variant_revision, d.digest AS deployment, d.label
FROM route AS t
JOIN problem AS p ON p.id = t.problem
JOIN deployment AS d ON d.id = t.deployment
LEFT JOIN revision AS r ON r.id = t.winner_revision
LEFT JOIN kernel AS k ON k.id = r.kernel
LEFT JOIN measurement AS m
       ON m.deployment = t.deployment AND m.revision = t.winner_revision AND m.problem = t.problem
      AND m.layout = t.layout AND m.align = t.align AND m.policy = t.policy
WHERE t.superseded_utc IS NULL;

CREATE VIEW sweeps AS
SELECT s.id, s.profile, s.started_utc, s.ended_utc, s.stop_reason,
       (SELECT count(*) FROM measurement AS m WHERE m.sweep = s.id) AS measurements,
       (SELECT count(*) FROM route AS t WHERE t.sweep = s.id) AS routes
FROM sweep AS s;
