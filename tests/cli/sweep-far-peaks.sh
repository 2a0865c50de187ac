#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# What a device does at most is measured by its probes, is stored as the device's own and bounds its times; it never
# stands in for the host's, nor the host's for it; and what was not measured bounds nothing.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
db=$WORK/s.db
sql() { sqlite3 "$db" "$1"; }
sweep() {
    local backend=$1
    shift
    expect 0 '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend "$backend" --threads 1 --profile quick "$@"
}
verdicts() { sql "SELECT group_concat(v) FROM (SELECT DISTINCT m.verdict AS v FROM measurement m JOIN deployment d ON d.id = m.deployment
    JOIN device e ON e.id = d.device JOIN revision r ON r.id = m.revision WHERE e.backend = '$1' AND r.tunables LIKE '%variant=0' ORDER BY v)"; }
add=(--op add --dtype f32 --shape n=100000)   # 1.2 MB: four times the device's cache of 1 MiB rotate
product=(--op matmul --dtype f32 --shape 'm=64,n=64,k=64') # 524,288 flops
units='probe_fma_f64=20 probe_fma_f32=50 probe_fma_f16=50 probe_fma_bf16=50 probe_matrix_f64=40 probe_matrix_tf32=55
    probe_matrix_f16=60 probe_matrix_bf16=60 probe_matrix_i8=80'
device="memory=67108864 probe_empty=1500 probe_copy=100 ${units//$'\n'/ }"

# Peaks of the device, under its deployment; ceilings of its reports.
script 3 "$device" 'kernel=* ns=15000 sd=0.01'
sweep far "${add[@]}" --json
query 'select(.schema == "assay.sweep.outcome/1") | .peak_share > 0.79 and .peak_share < 0.81' # 1.2 MB at 100 byte/ns: 12 us
[ "$(sql "SELECT count(*) FROM peak p JOIN deployment d ON d.id = p.deployment JOIN device e ON e.id = d.device WHERE e.backend = 'far'")" = 12 ] ||
    fail "peaks: $(sql 'SELECT name, value FROM peak')"
[ "$(sql "SELECT count(*) FROM peak WHERE name NOT LIKE '%\_d1' ESCAPE '\'")" = 0 ] || fail "names: $(sql 'SELECT name FROM peak')"
[ "$(sql "SELECT value || ' ' || unit FROM peak WHERE name = 'matrix_bf16_d1'")" = '60.0 flop/ns' ] || fail "$(sql 'SELECT * FROM peak')"
expect 0 '*' '*' assay report cost --db "$db" --plugins "$WORK/plugins" --format json
query '.deployments[0].peaks | length == 12'
query '.problems[0].winner.peak_share > 0.79 and .problems[0].winner.peak_share < 0.81'

# They are recalled while they are fresh and hold, and measured again when they do not.
sweep far --op add --dtype f32 --shape n=90000
[[ $(<"$WORK/stderr") == *'those of the store hold'* ]] || fail "measured again: $(<"$WORK/stderr")"
script 3 "${device/probe_fma_f32=50/probe_fma_f32=70}" 'kernel=* ns=30000 sd=0.01'
sweep far --op add --dtype f32 --shape n=80000
[[ $(<"$WORK/stderr") != *'those of the store hold'* ]] || fail "recalled though they do not hold"
[ "$(sql "SELECT value FROM peak WHERE name = 'fma_f32_d1'")" = 70.0 ] || fail "$(sql 'SELECT name, value FROM peak')"

# The host's are its own: from the same store, for the same problem.
sweep fake "${add[@]}"
[ "$(sql "SELECT count(*) FROM peak p JOIN deployment d ON d.id = p.deployment JOIN device e ON e.id = d.device WHERE
    (e.backend = 'far') <> (p.name LIKE '%\_d1' ESCAPE '\')")" = 0 ] || fail "peaks of one place in the other's"
[ "$(verdicts cpu)" = ok ] || fail "the host's times are bound by the device: $(verdicts cpu)"

# Below what the device can do: 12 us a copy of all, of which the cache may keep a quarter, less a quarter of slack.
# impossible VERDICT SCRIPT NS FLAG...
impossible() {
    local verdict=$1
    shift
    rm -f "$db"
    script 3 "$1" "kernel=* ns=$2 sd=0.001"
    expect '[01]' '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend far --threads 1 --profile quick --json "${@:3}"
    [ "$(verdicts far)" = "$verdict" ] || fail "$2 ns on ${*:3}: $(verdicts far)"
}
impossible ok "$device" 9000 "${add[@]}"
impossible impossible "$device" 5000 "${add[@]}"
# 524,288 flops at 60 flop/ns, the fastest way that there is: 8.7 us, 7 with the slack.
impossible ok "$device" 8000 "${product[@]}"
impossible impossible "$device" 5000 "${product[@]}"
# Without one of the units nobody knows; nor without any.
impossible ok "${device/probe_matrix_f16=60/}" 5000 "${product[@]}"
impossible ok "${device/probe_copy=100/}" 5000 "${add[@]}"
impossible ok 'memory=67108864' 5000 "${product[@]}"
[ "$(sql 'SELECT count(*) FROM peak')" = 0 ] || fail "peaks without a probe: $(sql 'SELECT name FROM peak')"
