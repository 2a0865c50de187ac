#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Peaks are measured once a day and CPU set: a sweep takes those of the store when a spot check
# agrees with them; else, and with --probe-peaks, it measures them anew.
. tests/support/fake_sweep.bash
script 19 'kernel=* ns=10000 sd=0.01'
shape=63
# sweep WANTED FLAG... -- WANTED more probes are made; each takes a line of the script
sweep() {
    local before wanted=$1
    shift
    before=$(wc -l <"$WORK/peaks")
    shape=$((shape + 1))
    fake_sweep "$WORK/s.db" add "n=$shape" --kernel fake_a "$@"
    [ $((before - $(wc -l <"$WORK/peaks"))) = "$wanted" ] ||
        fail "probes: $((before - $(wc -l <"$WORK/peaks"))) instead of $wanted"
}
# machine VALUE PROBES -- from now on
machine() {
    rm "$WORK/peaks"
    for _ in $(seq "$2"); do peaks "fma_f32_avx2=$1" cache_bytes=1e9; done
}
machine 100 6
sweep 1
[ "$(sqlite3 "$WORK/s.db" "SELECT value FROM peak WHERE name LIKE 'fma_f32_avx2%'")" = 100.0 ] || fail "not stored"
sweep 0
[ "$(sqlite3 "$WORK/s.db" "SELECT count(*) FROM sweep s JOIN deployment d ON d.digest = s.settings_json ->> 'deployment'")" = 2 ] ||
    fail "sweeps do not tell their deployment"
# Sweeps of other machines, which a joined store has, do not say on which CPUs these peaks were measured.
sqlite3 "$WORK/s.db" "INSERT INTO sweep (profile, seed, settings_json, argv_json, started_utc) SELECT profile, seed,
    json_set(settings_json, '\$.affinity', '77', '\$.deployment', 'another'), argv_json, started_utc FROM sweep ORDER BY id LIMIT 1"
sweep 0
sweep 1 --probe-peaks
# A day later the sweeps that say on which CPUs they were measured are as old.
sqlite3 "$WORK/s.db" "UPDATE peak SET measured_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-25 hours');
    UPDATE sweep SET started_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-26 hours')"
sweep 1
sweep 0
sqlite3 "$WORK/s.db" "UPDATE peak SET measured_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-23 hours');
    UPDATE sweep SET started_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-24 hours')"
sweep 0
sqlite3 "$WORK/s.db" "UPDATE sweep SET settings_json = json_set(settings_json, '\$.affinity', '77')"
sweep 1
sqlite3 "$WORK/s.db" "DELETE FROM peak WHERE name LIKE 'fma_f32_avx2%'"
sweep 1

# The spot check finds a machine that is faster now, or much slower.
machine 120 2
sweep 1
machine 60 2
sweep 1
[ "$(sqlite3 "$WORK/s.db" "SELECT value FROM peak WHERE name LIKE 'fma_f32_avx2%'")" = 60.0 ] || fail "not replaced"
sweep 0

# A peak that the store lacks is measured, also when the spot check does not look at it.
machine 60 1
sed -i -E '1{h; s/.*(fma_f32_avx2_t9999=60).*/\1 cache_bytes=1e9/; p; x}' "$WORK/peaks"
sqlite3 "$WORK/s.db" "DELETE FROM peak WHERE name LIKE 'fma_f64_avx2%'"
sweep 1

# What is complete needs no peaks: nothing is measured.
machine 200 2
shape=$((shape - 1))
sweep 0 --resume
[ ! -s "$WORK/stdout" ] || fail "measured again"
