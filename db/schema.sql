-- SPDX-License-Identifier: Apache-2.0
-- SPDX-FileCopyrightText: The Assay authors
-- db/schema.sql -- the tables of a store; their version is PRAGMA user_version.
--
-- Times of kernels are nanoseconds a call (REAL).  Moments are UTC, ISO 8601 with milliseconds and
-- a Z ("2026-01-31T12:00:00.000Z").  NULL means unknown, not measured or none; never zero.
-- Digests are lower-case hexadecimal: 64 digits BLAKE2b-256, 16 digits XXH3-64.  Enumerations are
-- stable words.  No host, user or file name is stored.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL, -- created_utc, created_by
    value TEXT NOT NULL              -- no unit; moments are UTC
) STRICT, WITHOUT ROWID;

-- What kernels run on, as its backend names it.
CREATE TABLE device (
    id           INTEGER PRIMARY KEY NOT NULL, -- no unit
    backend      TEXT NOT NULL,                -- "cpu", "cuda"
    name         TEXT NOT NULL,                -- as the driver reports it; "" not reported
    architecture TEXT NOT NULL,                -- "x86_64", "sm_90"; "" not reported
    UNIQUE (backend, name, architecture)
) STRICT;

-- Where measurements are valid.  Libraries are part of revisions, clocks and load of visits.
CREATE TABLE deployment (
    id             INTEGER PRIMARY KEY NOT NULL,  -- no unit
    digest         TEXT NOT NULL UNIQUE CHECK (length(digest) = 64), -- of every column but label
    device         INTEGER NOT NULL REFERENCES device (id), -- no unit
    driver         TEXT NOT NULL,    -- name and version; "" none
    cpu_model      TEXT NOT NULL,    -- "" not reported
    cpu_stepping   TEXT NOT NULL,    -- family-model-stepping, decimal; "" not reported
    microcode      TEXT NOT NULL,    -- "" not reported
    isa            TEXT NOT NULL,    -- usable instruction sets, sorted, one space between
    os_class       TEXT NOT NULL,    -- kernel name and major version, "linux 6"
    usable_cpus    INTEGER NOT NULL CHECK (usable_cpus >= 0), -- count; affinity and cgroup quota
    numa_nodes     INTEGER NOT NULL CHECK (numa_nodes >= 0),  -- count
    fingerprint    TEXT CHECK (length(fingerprint) = 64), -- digest of numeric probes; NULL not taken
    first_seen_utc TEXT NOT NULL,    -- UTC
    label          TEXT,             -- free text of the user, no unit; NULL none
    CHECK (first_seen_utc <> '')
) STRICT;

-- One implementation of an op for a dtype tuple on a backend.
CREATE TABLE kernel (
    id           INTEGER PRIMARY KEY NOT NULL, -- no unit
    backend      TEXT NOT NULL,    -- plug-in
    op           TEXT NOT NULL,    -- catalogue name
    dtypes       TEXT NOT NULL,    -- inputs then outputs, "f32,f32,f32"
    name         TEXT NOT NULL,    -- unique in (backend, op, dtypes)
    entry_point  TEXT NOT NULL,    -- symbol or call it stands for
    default_rank INTEGER NOT NULL, -- order; the lowest that can run is the default
    UNIQUE (backend, op, dtypes, name)
) STRICT;

-- A variant of a kernel in one state of its code, libraries and compiler.
CREATE TABLE revision (
    id               INTEGER PRIMARY KEY NOT NULL,            -- no unit
    kernel           INTEGER NOT NULL REFERENCES kernel (id), -- no unit
    kernel_revision  TEXT NOT NULL CHECK (length(kernel_revision) = 64),  -- digest
    variant_revision TEXT NOT NULL CHECK (length(variant_revision) = 64), -- H(kernel_revision, tunables)
    tunables         TEXT NOT NULL, -- "name=value,..." sorted by name; "" none
    libraries        TEXT NOT NULL, -- identity of every library used; "" none
    compiler         TEXT NOT NULL, -- target, version line, build-id; "" not known
    first_seen_utc   TEXT NOT NULL, -- UTC
    UNIQUE (variant_revision, kernel)
) STRICT;
CREATE INDEX revision_by_kernel ON revision (kernel);

-- What a contract says of a kernel's numerics.  Evidence is in accuracy and stability.
CREATE TABLE claim (
    id             INTEGER PRIMARY KEY NOT NULL,            -- no unit
    kernel         INTEGER NOT NULL REFERENCES kernel (id), -- no unit
    digest         TEXT NOT NULL CHECK (length(digest) = 64), -- no unit
    max_ulp        REAL CHECK (max_ulp >= 0), -- ULP distance to the correctly rounded value; NULL no claim
    max_rho        REAL CHECK (max_rho >= 0), -- error over u times the sum of absolute products; NULL no claim
    max_rel        REAL CHECK (max_rel >= 0), -- ratio; NULL no claim
    max_abs        REAL CHECK (max_abs >= 0), -- unit of the output; NULL no claim
    stability      TEXT NOT NULL CHECK (stability IN ('absent', 'none', 'config', 'machine', 'anywhere')), -- word, no unit
    first_seen_utc TEXT NOT NULL, -- UTC
    last_seen_utc  TEXT NOT NULL, -- UTC; the latest one holds
    UNIQUE (kernel, digest)
) STRICT;

-- An op with its dtypes and all parameters given.
CREATE TABLE problem (
    id          INTEGER PRIMARY KEY NOT NULL, -- no unit
    op          TEXT NOT NULL,        -- catalogue name
    dtypes      TEXT NOT NULL,        -- inputs then outputs
    text        TEXT NOT NULL UNIQUE, -- canonical, every parameter: key of accuracy
    cost_text   TEXT NOT NULL,        -- canonical, without what does not change the cost
    flops       REAL CHECK (flops >= 0),      -- Layer-1 operations a call; NULL unknown
    moved_bytes REAL CHECK (moved_bytes >= 0) -- Layer-1 bytes read and written a call; NULL unknown
) STRICT;

CREATE TABLE sweep (
    id            INTEGER PRIMARY KEY NOT NULL, -- no unit
    profile       TEXT NOT NULL,    -- quick, standard, thorough
    seed          INTEGER NOT NULL, -- the bits of an unsigned 64-bit number
    settings_json TEXT NOT NULL,    -- every setting, units in their names
    argv_json     TEXT NOT NULL,    -- the command's words
    started_utc   TEXT NOT NULL,    -- UTC
    ended_utc     TEXT,             -- UTC; NULL running, or ended without a word
    stop_reason   TEXT,             -- NULL: still running or ended without a word
    aa_floor      REAL CHECK (aa_floor >= 0) -- share: gain that equals showed on this machine; NULL not measured
) STRICT;

-- What a sweep was asked to measure: which row of which shape set a problem is, and its weight.
CREATE TABLE sweep_problem (
    sweep     INTEGER NOT NULL REFERENCES sweep (id),   -- no unit
    problem   INTEGER NOT NULL REFERENCES problem (id), -- no unit
    shape_set TEXT NOT NULL, -- name of the set; "" not said, or from flags
    row_name  TEXT NOT NULL, -- of the row in its set; "" not said
    run_count REAL NOT NULL CHECK (run_count >= 0), -- count: runs of the problem in one run of the set's workload
    source    TEXT NOT NULL, -- where the shape comes from; "" not said
    PRIMARY KEY (sweep, problem, shape_set, row_name)
) STRICT, WITHOUT ROWID;

-- Summary of all visits of one (revision, deployment, problem, layout, align, policy).
CREATE TABLE measurement (
    id               INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment       INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision         INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    problem          INTEGER NOT NULL REFERENCES problem (id),    -- no unit
    layout           TEXT NOT NULL,    -- a letter an operand: c contiguous, l leading dimension, s strided, b broadcast, n negative
    align            INTEGER NOT NULL CHECK (align IN (0, 16, 64)), -- bytes that all operands meet; 0: their element
    policy           TEXT NOT NULL,    -- cache/load/span
    sweep            INTEGER NOT NULL REFERENCES sweep (id), -- the last that measured it
    verdict          TEXT NOT NULL CHECK (verdict IN ('none', 'ok', 'wrong', 'noisy', 'throttled', 'impossible', 'crashed', 'timeout', 'mistrusted')), -- word, no unit
    reason           TEXT NOT NULL,    -- of the verdict; "" none
    median_ns        REAL CHECK (median_ns >= 0), -- ns a call
    lo_ns            REAL CHECK (lo_ns >= 0),     -- ns a call, 95 % interval of the median over visits
    hi_ns            REAL CHECK (hi_ns >= 0),     -- ns a call
    min_ns           REAL CHECK (min_ns >= 0),    -- ns a call
    mad_ns           REAL CHECK (mad_ns >= 0),    -- ns a call, median absolute deviation
    ratio            REAL CHECK (ratio >= 0),     -- time over the default kernel's, paired inside visits; no unit
    ratio_lo         REAL CHECK (ratio_lo >= 0),  -- interval of level ratio_level; no unit
    ratio_hi         REAL CHECK (ratio_hi >= 0),  -- interval of level ratio_level; no unit
    samples          INTEGER NOT NULL CHECK (samples >= 0),          -- count
    visits           INTEGER NOT NULL CHECK (visits >= 0),           -- count
    rejected_samples INTEGER NOT NULL CHECK (rejected_samples >= 0), -- count
    stop_reason      TEXT NOT NULL,    -- "" none
    flags            TEXT NOT NULL,    -- words for what disturbed it: bimodal, drift, ..., docs/measurement.md; "" none
    workspace_bytes  INTEGER NOT NULL CHECK (workspace_bytes >= 0), -- bytes
    output_digest    TEXT CHECK (length(output_digest) = 16), -- XXH3-64 of the output bits; NULL not taken
    measured_utc     TEXT NOT NULL,    -- UTC, of the last change
    ratio_level      REAL CHECK (ratio_level > 0 AND ratio_level < 1), -- share: confidence of ratio_lo to ratio_hi; NULL no interval
    UNIQUE (deployment, revision, problem, layout, align, policy)
) STRICT;

-- One stay of one worker at one variant: raw samples, only ever added.
CREATE TABLE visit (
    id                  INTEGER PRIMARY KEY NOT NULL,                 -- no unit
    measurement         INTEGER NOT NULL REFERENCES measurement (id), -- no unit
    sweep               INTEGER NOT NULL REFERENCES sweep (id),       -- no unit
    ordinal             INTEGER NOT NULL CHECK (ordinal >= 0), -- place within its sweep and measurement
    kind                TEXT NOT NULL CHECK (kind IN ('screen', 'measure', 'confirm')), -- word, no unit
    sample_count        INTEGER NOT NULL CHECK (sample_count >= 0), -- count
    samples             BLOB NOT NULL, -- ns a call in the order taken, little-endian IEEE 754 binary64
    inner_count         INTEGER NOT NULL CHECK (inner_count >= 1), -- calls a sample
    baseline_visit      INTEGER REFERENCES visit (id), -- of the default kernel beside it; NULL none
    ratio               REAL CHECK (ratio >= 0), -- median over the baseline's; no unit
    clock_name          TEXT NOT NULL, -- no unit
    clock_resolution_ns REAL CHECK (clock_resolution_ns >= 0), -- ns
    clock_overhead_ns   REAL CHECK (clock_overhead_ns >= 0),   -- ns a reading
    clock_quality       TEXT NOT NULL CHECK (clock_quality IN ('host', 'enqueue_wait', 'device', 'counters')), -- word, no unit
    taken_utc           TEXT NOT NULL, -- UTC, of storing
    context_json        TEXT NOT NULL, -- environment before, what changed until after, what the worker says; units in the names
    is_twin             INTEGER NOT NULL DEFAULT 0 CHECK (is_twin IN (0, 1)), -- 1: the default's stay as its own rival in that visit, for the A/A floor; no part of any time
    flags               TEXT NOT NULL DEFAULT '', -- words for what disturbed it; "" nothing, or before schema 6
    rejected_json       TEXT NOT NULL DEFAULT '', -- samples left out of the time: {"reason":[place from 0, ...]}; "" none
    stop_reason         TEXT NOT NULL DEFAULT '', -- why there are no more samples: precise, count, budget, throttled; "" not said
    CHECK (length(samples) = 8 * sample_count)
) STRICT;
CREATE INDEX visit_by_measurement ON visit (measurement);

-- Counters that a sweep could read on its machine, and why it could not read the others.
CREATE TABLE counter_source (
    sweep  INTEGER NOT NULL REFERENCES sweep (id), -- no unit
    name   TEXT NOT NULL, -- "cycles", "page_faults"
    unit   TEXT NOT NULL, -- of what is counted
    source TEXT NOT NULL, -- "papi", "rusage"; "" none
    event  TEXT NOT NULL, -- as the source calls it; "" none
    reason TEXT NOT NULL, -- why it cannot be read; "" it can
    PRIMARY KEY (sweep, name)
) STRICT, WITHOUT ROWID;

-- What was counted in calls that nobody timed.
CREATE TABLE counter (
    measurement  INTEGER NOT NULL REFERENCES measurement (id), -- no unit
    name         TEXT NOT NULL, -- as in counter_source, of the last sweep that measured it
    value        REAL NOT NULL CHECK (value >= 0), -- a call, in the unit of the source: median over passes
    lo           REAL NOT NULL CHECK (lo >= 0),    -- the least of the passes
    hi           REAL NOT NULL CHECK (hi >= 0),    -- the most
    passes       INTEGER NOT NULL CHECK (passes >= 1), -- count
    calls        INTEGER NOT NULL CHECK (calls >= 1),  -- count in a pass
    counted_utc  TEXT NOT NULL, -- UTC
    PRIMARY KEY (measurement, name)
) STRICT, WITHOUT ROWID;

-- Measured error of one revision on one problem and input set.
CREATE TABLE accuracy (
    id                 INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment         INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision           INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    problem            INTEGER NOT NULL REFERENCES problem (id),    -- no unit
    stratum            TEXT NOT NULL,    -- input set; "all" their union, "exhaustive"
    seed               INTEGER NOT NULL, -- the bits of an unsigned 64-bit number
    sweep              INTEGER NOT NULL REFERENCES sweep (id), -- the last that checked it
    passed             INTEGER NOT NULL CHECK (passed IN (0, 1)), -- 1: within the bound
    proof              TEXT NOT NULL CHECK (proof IN ('absent', 'sampled', 'bounded', 'exhaustive')), -- word, no unit
    elements           INTEGER NOT NULL CHECK (elements >= 0), -- count of output elements compared
    max_ulp            REAL CHECK (max_ulp >= 0),      -- ULP distance to the correctly rounded value
    max_err_ulp        REAL CHECK (max_err_ulp >= 0),  -- ULP, real-valued
    mean_err_ulp       REAL CHECK (mean_err_ulp >= 0), -- ULP, real-valued
    p50_err_ulp        REAL CHECK (p50_err_ulp >= 0),  -- ULP, real-valued
    p99_err_ulp        REAL CHECK (p99_err_ulp >= 0),  -- ULP, real-valued
    max_rel            REAL CHECK (max_rel >= 0),      -- ratio
    max_abs            REAL CHECK (max_abs >= 0),      -- unit of the output
    max_rho            REAL CHECK (max_rho >= 0),      -- error over u times the sum of absolute products
    rms_rho            REAL CHECK (rms_rho >= 0),      -- the same, root mean square
    kappa              REAL CHECK (kappa >= 0),        -- condition number at the worst element
    bound              REAL CHECK (bound >= 0),        -- what was allowed, in the unit of the judged figure
    misrounded         INTEGER NOT NULL CHECK (misrounded >= 0),         -- count
    nan_mismatch       INTEGER NOT NULL CHECK (nan_mismatch >= 0),       -- count
    inf_mismatch       INTEGER NOT NULL CHECK (inf_mismatch >= 0),       -- count
    zero_sign_mismatch INTEGER NOT NULL CHECK (zero_sign_mismatch >= 0), -- count
    flushed            INTEGER NOT NULL CHECK (flushed >= 0),            -- count
    histogram_json     TEXT NOT NULL, -- counts by powers of two of the error in ULP; "" none
    worst_index        INTEGER CHECK (worst_index >= 0), -- row-major element; NULL none
    worst_json         TEXT NOT NULL, -- inputs, expected and got as hexadecimal bits; "" none
    reference          TEXT NOT NULL, -- kind and precision of what it was compared with
    output_digest      TEXT CHECK (length(output_digest) = 16), -- XXH3-64 of the output bits; NULL not taken
    measured_utc       TEXT NOT NULL, -- UTC, of the last change
    UNIQUE (deployment, revision, problem, stratum, seed)
) STRICT;

-- Evidence over all inputs, which the picker reads for every shape; failures, which refute it.
CREATE INDEX accuracy_all_inputs ON accuracy (deployment, revision)
    WHERE stratum = 'exhaustive' AND proof = 'exhaustive';
CREATE INDEX accuracy_failed ON accuracy (deployment, revision) WHERE passed = 0;

-- Whether repeated runs give the same bits.
CREATE TABLE stability (
    deployment    INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision      INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    problem       INTEGER NOT NULL REFERENCES problem (id),    -- no unit
    level         TEXT NOT NULL CHECK (level IN ('absent', 'none', 'config', 'machine', 'anywhere')), -- word, no unit
    evidence_json TEXT NOT NULL, -- what was repeated and which digests came out
    measured_utc  TEXT NOT NULL, -- UTC
    PRIMARY KEY (deployment, revision, problem)
) STRICT, WITHOUT ROWID;

-- Variants that must not run again: they crashed, hung or gave wrong results.
CREATE TABLE quarantine (
    id         INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision   INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    problem    INTEGER REFERENCES problem (id),             -- NULL: all problems
    reason     TEXT NOT NULL, -- no unit
    since_utc  TEXT NOT NULL  -- UTC
) STRICT;
CREATE UNIQUE INDEX quarantine_key ON quarantine (deployment, revision, ifnull(problem, 0));

-- Measured ceilings of a deployment, for Layer 1 and rooflines.
CREATE TABLE peak (
    deployment   INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    name         TEXT NOT NULL,    -- "fma_f32_avx2_t1", "copy_nt_t2"
    unit         TEXT NOT NULL,    -- "flop/ns", "byte/ns"
    value        REAL NOT NULL CHECK (value > 0), -- in `unit`
    lo           REAL CHECK (lo >= 0),            -- 95 % interval, in `unit`
    hi           REAL CHECK (hi >= 0),            -- 95 % interval, in `unit`
    samples      INTEGER NOT NULL CHECK (samples >= 0), -- count
    measured_utc TEXT NOT NULL, -- UTC
    PRIMARY KEY (deployment, name)
) STRICT, WITHOUT ROWID;

-- Measured cost of moving bytes between memories.
CREATE TABLE transfer (
    deployment   INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    source       TEXT NOT NULL,    -- memory: "host:pageable", "host:pinned", "cpu:0"
    target       TEXT NOT NULL,    -- memory and path: "cpu:0/copy"
    size_bytes   INTEGER NOT NULL CHECK (size_bytes > 0), -- bytes
    median_ns    REAL NOT NULL CHECK (median_ns >= 0), -- ns a transfer
    lo_ns        REAL CHECK (lo_ns >= 0),              -- ns, 95 % interval
    hi_ns        REAL CHECK (hi_ns >= 0),              -- ns, 95 % interval
    samples      INTEGER NOT NULL CHECK (samples >= 0), -- count
    measured_utc TEXT NOT NULL, -- UTC
    PRIMARY KEY (deployment, source, target, size_bytes)
) STRICT, WITHOUT ROWID;

-- Layer 2: log(time / Layer-1 time) of one revision over the features of its problems.
CREATE TABLE model (
    id             INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment     INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision       INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    policy         TEXT NOT NULL,    -- cache/load/span
    features       TEXT NOT NULL,    -- names, one space between
    coefficients   BLOB NOT NULL,    -- natural-log units, little-endian binary64
    hull           BLOB NOT NULL,    -- lowest and highest value of each feature, little-endian binary64
    measurements   INTEGER NOT NULL CHECK (measurements > 0), -- count it was fitted on
    cv_error       REAL CHECK (cv_error >= 0),      -- median relative error of cross-validation; ratio
    cv_rank_loss   REAL CHECK (cv_rank_loss >= 0),  -- share of pairs ranked wrong; ratio
    fitted_utc     TEXT NOT NULL,    -- UTC
    UNIQUE (deployment, revision, policy)
) STRICT;

-- What the picker reads: candidates of one question, measured and judged.
CREATE TABLE route (
    id              INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment      INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    problem         INTEGER NOT NULL REFERENCES problem (id),    -- no unit
    layout          TEXT NOT NULL,    -- as in measurement
    align           INTEGER NOT NULL CHECK (align IN (0, 16, 64)), -- bytes; 0: element
    policy          TEXT NOT NULL,    -- cache/load/span
    sweep           INTEGER NOT NULL REFERENCES sweep (id), -- that decided it
    winner_revision INTEGER REFERENCES revision (id), -- NULL: nothing admissible
    searched        INTEGER NOT NULL CHECK (searched >= 0), -- count of variants measured
    total           INTEGER NOT NULL CHECK (total >= 0),    -- count of variants there are
    stop_reason     TEXT NOT NULL,    -- of the search; "" none
    candidate_count INTEGER NOT NULL CHECK (candidate_count >= 0), -- count
    candidates      BLOB NOT NULL,    -- records of 120 bytes, little-endian; docs/store.md
    decided_utc     TEXT NOT NULL,    -- UTC
    superseded_utc  TEXT,             -- UTC; NULL: current
    CHECK (length(candidates) = 120 * candidate_count)
) STRICT;
CREATE UNIQUE INDEX route_current ON route (deployment, problem, layout, align, policy)
    WHERE superseded_utc IS NULL;
CREATE INDEX route_history ON route (deployment, problem) WHERE superseded_utc IS NOT NULL;

-- Signed statements about a revision.
CREATE TABLE certificate (
    id         INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    revision   INTEGER NOT NULL REFERENCES revision (id),   -- no unit
    digest     TEXT NOT NULL UNIQUE CHECK (length(digest) = 64), -- of text
    text       TEXT NOT NULL, -- deterministic
    public_key BLOB CHECK (length(public_key) = 32), -- Ed25519; NULL not signed
    signature  BLOB CHECK (length(signature) = 64),  -- Ed25519 over text; NULL not signed
    issued_utc TEXT NOT NULL  -- UTC
) STRICT;

-- What production met: questions without a measured route, drift.
CREATE TABLE observation (
    id         INTEGER PRIMARY KEY NOT NULL,                -- no unit
    deployment INTEGER NOT NULL REFERENCES deployment (id), -- no unit
    problem    INTEGER NOT NULL REFERENCES problem (id),    -- no unit
    layout     TEXT NOT NULL,    -- as in measurement
    align      INTEGER NOT NULL CHECK (align IN (0, 16, 64)), -- bytes; 0: element
    policy     TEXT NOT NULL,    -- cache/load/span
    kind       TEXT NOT NULL CHECK (kind IN ('miss', 'drift')), -- word, no unit
    seen       INTEGER NOT NULL CHECK (seen >= 1), -- count
    ratio      REAL CHECK (ratio >= 0), -- drift: time now over the stored median; NULL for a miss
    first_utc  TEXT NOT NULL, -- UTC
    last_utc   TEXT NOT NULL, -- UTC
    UNIQUE (deployment, problem, layout, align, policy, kind)
) STRICT;
