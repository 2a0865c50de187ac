#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A device elsewhere whose sensors are scripted: what they say stands beside each stay; samples of a device that
# slowed down are left out and taken again, where it stays slow the variant is given up as throttled and the sweep
# goes on; what a power limit or an idle device shows costs no sample.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
export ASSAY_FAKE_CLOCK=3 # of the host: never low, and waits take no time
two=(--kernel fake_a --kernel fake_b)
db=$WORK/t.db
ask() { sqlite3 "$db" "$1"; }
far=(--plugins "$WORK/plugins" --backend far --op add --dtype f32 --shape n=64..66 --threads 1 --profile quick "${two[@]}")
# whole, nothing on stderr
sweep() { expect 0 '*' '' assay sweep --db "$db" "${far[@]}" --quiet --json; }
ours=('kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000')
winners() { ask "SELECT count(*) FROM route t JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel
    WHERE superseded_utc IS NULL AND k.name = 'fake_b'"; }

# Every worker's device is hot for a moment, and of one problem each visit has its own: nothing is lost, no time is longer, and all of it is told.
script 81 "${ours[@]}" 'sm_clock_mhz=1980*8,1200*2,1980' 'throttle_reasons=0*8,32*2,0' 'temperature_celsius=60*8,91*2,70'
expect 0 '*' '' assay sweep --db "$db" "${far[@]/n=64..66/n=64}" --quiet --json
[ "$(winners)" = 1 ] || fail "the winner is another"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict <> 'ok'")" = 0 ] || fail "a verdict is not ok"
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> ''")" -ge 6 ] || fail "nothing was left out"
[ "$(ask "SELECT count(*) FROM visit, json_each(rejected_json) r, json_each(r.value) p
    WHERE rejected_json <> '' AND (r.key <> 'clock' OR json_extract(context_json, '\$.device.spans.sm_clock_mhz[' || p.value || ']') <> 1200)")" = 0 ] ||
    fail "reasons or places"
[ "$(ask "SELECT count(*) FROM visit, json_each(json_extract(context_json, '\$.device.spans.sm_clock_mhz')) c
    WHERE c.value = 1200 AND rejected_json = ''")" = 0 ] || fail "low ones were kept"
[ "$(ask "SELECT count(*) FROM visit WHERE (rejected_json <> '') <> (flags LIKE '%clock heat%')")" = 0 ] || fail "flags of visits"
[ "$(ask "SELECT count(*) FROM visit WHERE json_extract(context_json, '\$.device.before.sm_clock_mhz') IS NULL
    OR json_extract(context_json, '\$.device.before.temperature_celsius') IS NULL OR json_extract(context_json, '\$.device.loaded') IS NULL
    OR json_extract(context_json, '\$.device.after') IS NULL")" = 0 ] || fail "readings: $(ask 'SELECT context_json FROM visit LIMIT 3')"
[ "$(ask "SELECT count(*) FROM visit WHERE context_json LIKE '%milliwatts%' OR context_json LIKE '%live_bytes%'")" = 0 ] || fail "readings of no sensor"
[ "$(ask "SELECT count(*) FROM measurement WHERE flags LIKE '%clock heat%'")" -ge 1 ] || fail "flags of measurements"

# From some place in each worker on it stays hot: whoever ran faster before is given up, and told apart from the host's clock.
db=$WORK/l.db
script 82 "${ours[@]}" 'sm_clock_mhz=1980*16,1200' 'throttle_reasons=0*16,64'
expect '[01]' '*' '*variants could not be timed*--resume tries them again*' assay sweep --db "$db" "${far[@]}"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled'")" -ge 3 ] || fail "nobody is throttled"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled' AND (stop_reason <> 'throttled' OR median_ns IS NOT NULL
    OR reason NOT LIKE 'the device''s clock stayed below 75 !%%' ESCAPE '!' OR rejected_samples = 0)")" = 0 ] ||
    fail "throttled, but not told how: $(ask 'SELECT verdict, reason FROM measurement')"
[ "$(ask "SELECT count(*) FROM route t JOIN measurement m ON m.revision = t.winner_revision AND m.problem = t.problem
    WHERE m.verdict = 'throttled'")" = 0 ] || fail "a throttled one was published"
# What an earlier visit saw is what a later one is compared with.
[ "$(ask "WITH c AS (SELECT id, measurement, rejected_json, coalesce(json_extract(context_json, '\$.device.after.sm_clock_mhz'),
    json_extract(context_json, '\$.device.before.sm_clock_mhz')) AS mhz FROM visit)
    SELECT count(*) FROM c later JOIN c earlier ON earlier.measurement = later.measurement AND earlier.id < later.id
    WHERE earlier.mhz = 1980 AND later.mhz = 1200 AND later.rejected_json = ''")" = 0 ] || fail "an earlier visit is forgotten"
[ "$(ask "SELECT count(*) FROM quarantine")" = 0 ] || fail "a throttled one is in quarantine"
script 82 "${ours[@]}" 'sm_clock_mhz=1980' 'throttle_reasons=0'
expect 0 '*' '*3 routes; done*' assay sweep --db "$db" "${far[@]}" --resume
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'throttled'")" = 0 ] || fail "still throttled"
[ "$(winners)" = 3 ] || fail "routes after resuming"

# At its power limit, as a large product is: its own clock. All samples count, and everybody is told.
db=$WORK/p.db
script 83 "${ours[@]}" 'sm_clock_mhz=1980*2,1200,1300,...' 'throttle_reasons=0*1,4'
sweep
[ "$(winners)" = 3 ] || fail "the winner at the limit is another"
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> '' OR flags NOT LIKE '%power%' OR flags LIKE '%clock%'")" = 0 ] ||
    fail "at the limit: $(ask 'SELECT DISTINCT flags, rejected_json FROM visit')"
query '(.flags | index("power")) != null'
expect 0 '*disturbed*power*' '*' assay pick --db "$db" --plugins "$WORK/plugins" --backend far --op add --dtype f32 --shape n=64
expect 0 '*power*' '*' assay report cost --db "$db" --plugins "$WORK/plugins"
expect 0 '*' '*' assay check --db "$db" --plugins "$WORK/plugins" --json
query '[.. | .routes_disturbed? // empty] | add == 3'

# One that drops its clock as soon as nothing runs loses nothing.
db=$WORK/i.db
script 84 "${ours[@]}" sm_clock_mhz=1980 throttle_reasons=0 idle_mhz=345
sweep
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> '' OR flags LIKE '%clock%' OR flags LIKE '%unsteady%'")" = 0 ] || fail "an idle clock cost samples"
[ "$(ask "SELECT count(*) FROM visit WHERE json_extract(context_json, '\$.device.loaded.sm_clock_mhz') <> 1980")" = 0 ] || fail "not read under load"

# Nothing is known of one without sensors.
db=$WORK/n.db
script 85 "${ours[@]}"
sweep
[ "$(ask "SELECT count(*) FROM visit WHERE json_extract(context_json, '\$.device') IS NOT NULL")" = 0 ] || fail "readings of nothing"

# What is no script is told.
script 86 'sm_clock_mhz=fast'
expect 2 '*' "*cannot use 'sm_clock_mhz=fast'*" assay sweep --db "$WORK/x.db" "${far[@]}"
