#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case B9: two devices whose order in the store changes between runs. Times, routes, verdicts
# and peaks follow the device that the digest names, never the row's place: what stands first was
# once this machine's and is now another's, is not recalled, not picked and not compared with.
. tests/support/fake_sweep.bash
db=$WORK/s.db
here=$(assay devices --json | jq -r .host.deployment)
there=$(tr '0-9a-f' '5-9a-f0-4' <<<"$here")
[ "$here" != "$there" ] || fail "no second device"
# device ROW DIGEST -- the device at this place is the one of this digest
device() { sqlite3 "$db" "UPDATE deployment SET digest = '$2' WHERE id = $1" || exit 1; }
swap() {
    device 1 "$(printf 'f%.0s' {1..64})"
    device 2 "$2"
    device 1 "$1"
}
# machine NS PEAK -- how fast the kernels and the machine of the next sweeps are
machine() {
    script 7 "kernel=* ns=$1 sd=0.01"
    rm -f "$WORK/peaks"
    for _ in 1 2 3 4; do peaks fma_f32_avx2=1000 "copy_nt=$2" cache_bytes=1e9; done
}
sweep() { fake_sweep "$db" add n=64 --kernel fake_a --kernel fake_b "$@"; }
# pick WANTED-NS -- within 10 % of it, as measured here
pick() {
    expect 0 '*' '*' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
    query ".tier == \"measured\" and .store.deployment == \"$here\" and (.chosen.time_ns / $1 | . > 0.9 and . < 1.1)"
}
peak_of() { sqlite3 "$db" "SELECT value FROM peak WHERE deployment = $1 AND name LIKE 'copy_nt%' ORDER BY name LIMIT 1"; }
# reported ROW-OF-HERE PEAK-HERE -- the report's shares are of the peaks of the device they stand for
reported() {
    expect 0 '*' '*' assay report cost --db "$db" --plugins "$WORK/plugins" --format json
    query "[.deployments[] | select(.is_here)] | length == 1 and all(.deployment == \"$here\" and ([.peaks[] | select(.name | startswith(\"copy_nt\"))] | length > 0 and all(.value == $2)))"
    query "[.deployments[] | select(.is_here | not)] | all(.deployment == \"$there\" and ([.peaks[] | select(.name | startswith(\"copy_nt\"))] | all(.value != $2)))"
}

machine 10000 1000
sweep
pick 10000
reported 1 1000
rows_of_first() { sqlite3 "$db" 'SELECT m.id, m.median_ns, m.verdict, count(v.id) FROM measurement m
    LEFT JOIN visit v ON v.measurement = m.id WHERE m.deployment = 1 GROUP BY m.id ORDER BY m.id'; }
first=$(rows_of_first)

# Another device stands first now, this machine is new: all is measured anew, also its peaks.
device 1 "$there"
expect 0 '*' '*nothing admissible is measured*' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
query '.tier != "measured" and .is_default'
expect 1 '*' '*' assay check --db "$db" --plugins "$WORK/plugins" --json
query '[.states[] | select(.state == "elsewhere")][0].measurements > 0 and .routes_usable == 0'
machine 4000 600
sweep --resume
[ -s "$WORK/stdout" ] || fail "the rows of another device were taken for this one's"
[ "$(sqlite3 "$db" 'SELECT count(*) FROM deployment')" = 2 ] || fail "no second deployment"
[ "$(peak_of 1) $(peak_of 2)" = '1000.0 600.0' ] || fail "peaks $(peak_of 1) and $(peak_of 2)"
[ "$first" = "$(rows_of_first)" ] || fail "the other device's rows were changed"
pick 4000
reported 2 600

# The order changes: this machine is first again. Nothing is measured, and the other figures answer.
swap "$here" "$there"
machine 77777 5
sweep --resume
[ ! -s "$WORK/stdout" ] || fail "measured again"
pick 10000
reported 1 1000
swap "$there" "$here"
pick 4000
reported 2 600
expect 0 '*' '*' assay check --db "$db" --plugins "$WORK/plugins" --json
query '.routes_usable == 1 and .idle == [] and ([.states[] | select(.state == "elsewhere")][0].measurements == 8)'
