#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A core whose clock falls while variants are timed, on a scripted clock: samples below three quarters of what
# the variant ran at are left out with the reason and taken again; where the clock stays low the variant is given
# up as throttled, the sweep goes on and ends, and a throttled default publishes nothing.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
db=$WORK/t.db
ask() { sqlite3 "$db" "$1"; }

# Every worker's clock dips for a moment, wherever it is: nothing is lost, and no time is longer.
script 71 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
ASSAY_FAKE_CLOCK='3*8 2*3 3' fake_sweep "$db" add n=64..66 "${two[@]}"
[ "$(count '.kernel == "fake_b" and .ties == 1')" = 3 ] || fail "the winner is another"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict <> 'ok'")" = 0 ] || fail "a verdict is not ok"
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> ''")" -ge 20 ] || fail "nothing was left out"
[ "$(ask "SELECT count(*) FROM visit, json_each(rejected_json) r, json_each(r.value) p
    WHERE rejected_json <> '' AND (r.key <> 'clock' OR p.value >= sample_count)")" = 0 ] || fail "reasons or places"
[ "$(ask "SELECT count(*) FROM visit WHERE (rejected_json <> '') <> (flags LIKE '%clock%')")" = 0 ] || fail "flags of visits"
[ "$(ask "SELECT count(*) FROM measurement m WHERE m.rejected_samples <> (SELECT count(*) FROM visit v, json_each(v.rejected_json) r,
    json_each(r.value) WHERE v.measurement = m.id AND v.is_twin = 0 AND v.rejected_json <> '')
    OR m.samples + m.rejected_samples <> (SELECT sum(sample_count) FROM visit v WHERE v.measurement = m.id AND v.is_twin = 0)")" = 0 ] ||
    fail "samples do not add up"
[ "$(ask "SELECT count(*) FROM measurement WHERE rejected_samples > 0 AND stop_reason <> 'out' AND flags NOT LIKE '%clock%'")" = 0 ] ||
    fail "flags of measurements"
# A resumed sweep takes those samples for what they are.
jq -c '[.problem, .kernel, .ties, .speedup]' "$WORK/stdout" | sort >"$WORK/picks"
ask 'DELETE FROM route'
before=$(ask 'SELECT count(*) FROM visit')
ASSAY_FAKE_CLOCK=3 fake_sweep "$db" add n=64..66 "${two[@]}" --resume
[ "$(ask 'SELECT count(*) FROM visit')" = "$before" ] || fail "measured again"
jq -c '[.problem, .kernel, .ties, .speedup]' "$WORK/stdout" | sort | cmp -s - "$WORK/picks" || fail "decided otherwise"
# One that was stored wrongly ends it: no sample is taken or left by guessing.
ask "DELETE FROM route; UPDATE visit SET rejected_json = '{\"clock\":[99]}' WHERE id = (SELECT max(id) FROM visit WHERE kind = 'measure' AND is_twin = 0)"
ASSAY_FAKE_CLOCK=3 expect 3 '*' '*leaves out a sample that it has not*' assay sweep --db "$db" --plugins "$WORK/plugins" \
    --backend fake --op add --dtype f32 --shape n=64..66 --threads 1 --profile quick --quiet "${two[@]}" --resume

# From some place in each worker on the clock stays low: whoever ran faster before is given up.
db=$WORK/l.db
script 72 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
low=(assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64..66 --threads 1 --profile quick "${two[@]}")
ASSAY_FAKE_CLOCK='3*10 1' expect '[01]' '*' '*variants could not be timed*--resume tries them again*' "${low[@]}"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled'")" -ge 3 ] || fail "nobody is throttled"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled' AND (stop_reason <> 'throttled' OR median_ns IS NOT NULL
    OR reason NOT LIKE '%clock stayed below 75 !%%' ESCAPE '!' OR rejected_samples = 0)")" = 0 ] || fail "throttled, but not told how"
[ "$(ask "SELECT count(*) FROM route t JOIN measurement m ON m.revision = t.winner_revision AND m.problem = t.problem
    WHERE m.verdict = 'throttled'")" = 0 ] || fail "a throttled one was published"
[ "$(ask "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel JOIN route t
    ON t.problem = m.problem WHERE k.name = 'fake_a' AND r.tunables LIKE '%variant=0%' AND m.verdict = 'throttled'")" = 0 ] ||
    fail "a route without its default's time"
[ "$(ask "SELECT count(*) FROM quarantine")" = 0 ] || fail "a throttled one is in quarantine"
# Once the machine is itself again the rest is measured.
ASSAY_FAKE_CLOCK=3 expect 0 '*' '*3 routes; done*' "${low[@]}" --resume
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled'")" = 0 ] || fail "still throttled"
[ "$(ask "SELECT count(*) FROM route t JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel
    WHERE superseded_utc IS NULL AND k.name = 'fake_b'")" = 3 ] || fail "routes after resuming"
# Only a worker's last stay is at a low clock: there are routes beside throttled ones, which are tried again all the same.
db=$WORK/h.db
script 73 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
late=("${low[@]/%l.db/h.db}")
late=("${late[@]/#n=64..66/n=64..83}")
ASSAY_FAKE_CLOCK='3*14 1' expect '[01]' '*' '*' "${late[@]}"
[ "$(ask "SELECT count(*) FROM route t JOIN measurement m ON m.problem = t.problem WHERE m.verdict = 'throttled'")" -ge 1 ] ||
    fail "no route beside a throttled one"
ASSAY_FAKE_CLOCK=3 expect 0 '*' '*' "${late[@]}" --resume
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled'")" = 0 ] || fail "not tried again"
[ "$(ask "SELECT count(*) FROM route t JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel
    WHERE superseded_utc IS NULL AND k.name = 'fake_b'")" = 20 ] || fail "routes beside throttled ones stayed"

# A low clock in the screening alone is told, too.
db=$WORK/s.db
script 74 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
ASSAY_FAKE_CLOCK='3*22 2*3 3' fake_sweep "$db" add n=64..83 "${two[@]}"
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> '' AND kind <> 'screen'")" = 0 ] || fail "not in screening alone"
[ "$(ask "SELECT count(*) FROM measurement WHERE rejected_samples > 0 AND stop_reason <> 'out'")" -ge 1 ] || fail "no dip"
[ "$(ask "SELECT count(*) FROM measurement WHERE rejected_samples > 0 AND stop_reason <> 'out' AND flags NOT LIKE '%clock%'")" = 0 ] || fail "flags"

# What is no script is told.
db=$WORK/x.db
ASSAY_FAKE_CLOCK='3 fast' expect 2 '*' "*scripted clock: 'fast' is no speed*" "${low[@]/%l.db/x.db}"
