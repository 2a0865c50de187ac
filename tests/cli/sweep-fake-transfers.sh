#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# What moving bytes to and from a device with memory of its own costs is measured once a day and CPU
# set, with the peaks, each path of each device by its sizes; a sweep takes what the store has.
. tests/support/fake_sweep.bash
script 23 'devices=2;discrete=1' 'kernel=* ns=10000 sd=0.01'
shape=63
# sweep NS WANTED FLAG... -- on a machine where a call takes NS and a byte 0.25 ns; the store then says WANTED
sweep() {
    local got wanted=$2
    export ASSAY_FAKE_TRANSFERS="$1 0.25"
    shift 2
    shape=$((shape + 1))
    fake_sweep "$WORK/s.db" add "n=$shape" --kernel fake_a "$@"
    got=$(sqlite3 "$WORK/s.db" "SELECT DISTINCT median_ns - size_bytes * 0.25 FROM transfer")
    [ "$got" = "$wanted" ] || fail "latency '$got' instead of '$wanted'"
}
for _ in $(seq 12); do peaks cache_bytes=1e9; done

# A machine that is scripted without transfers has none.
fake_sweep "$WORK/s.db" add n=60 --kernel fake_a
[ "$(sqlite3 "$WORK/s.db" 'SELECT count(*) FROM transfer')" = 0 ] || fail "measured by a clock"

sweep 800 800.0
[ "$(sqlite3 "$WORK/s.db" 'SELECT DISTINCT source, target FROM transfer ORDER BY 1, 2')" = "fake:0|fake:0/copy
fake:0|fake:1/peer
fake:0|host:pageable/staging
fake:0|host:pinned/copy
fake:1|fake:0/peer
fake:1|fake:1/copy
fake:1|host:pageable/staging
fake:1|host:pinned/copy
host:pageable|fake:0/staging
host:pageable|fake:1/staging
host:pinned|fake:0/copy
host:pinned|fake:1/copy" ] || fail "$(sqlite3 "$WORK/s.db" 'SELECT DISTINCT source, target FROM transfer')"
[ "$(sqlite3 "$WORK/s.db" 'SELECT min(size_bytes), max(size_bytes) >= 1048576, min(samples) >= 7, min(lo_ns = median_ns AND hi_ns = median_ns),
    count(DISTINCT deployment) FROM transfer')" = "4096|1|1|1|1" ] || fail "sizes, samples or intervals"

# Recalled, measured anew when asked to, a day later, on other CPUs, and when one is gone.
sweep 900 800.0
sweep 900 900.0 --probe-peaks
sqlite3 "$WORK/s.db" "UPDATE transfer SET measured_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-25 hours');
    UPDATE sweep SET started_utc = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-26 hours')"
sweep 700 700.0
sweep 600 700.0
sqlite3 "$WORK/s.db" "UPDATE sweep SET settings_json = json_set(settings_json, '\$.affinity', '77')"
sweep 500 500.0
sqlite3 "$WORK/s.db" "DELETE FROM transfer"
sweep 400 400.0

# Devices of two models: each has its rows, which follow it when they come in another order.
cp "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
# far SCRIPT NS WANTED -- a sweep of the first of them; the store then has such "device, source, target, latency"
far() {
    script 23 "$1" 'kernel=* ns=10000 sd=0.01'
    ASSAY_FAKE_TRANSFERS="$2 0.25" expect 0 '*' '*' assay sweep --db "$WORK/far.db" --plugins "$WORK/plugins" --backend far --op add \
        --dtype f32 --shape n=64 --threads 1 --profile quick --quiet
    got=$(sqlite3 "$WORK/far.db" "SELECT DISTINCT substr(d.name, -1), CASE WHEN t.source LIKE '%@%' THEN substr(t.source, 1, instr(t.source, '@'))
            || (SELECT substr(e.name, -1) FROM deployment o JOIN device e ON e.id = o.device WHERE o.digest LIKE substr(t.source, instr(t.source, '@') + 1) || '%')
            ELSE t.source END, t.target, t.median_ns - t.size_bytes * 0.25
        FROM transfer t JOIN deployment p ON p.id = t.deployment JOIN device d ON d.id = p.device
        WHERE t.target LIKE 'far%' AND t.source NOT LIKE 'host:pinned' ORDER BY 1, 2, 3")
    [ "$got" = "$3" ] || fail "rows of devices by order: $got"
}
rows_at() { # NS
    printf '%s\n' "0|far:0|far:0/copy|$1" "0|far:0@1|far:0/peer|$1" "0|host:pageable|far:0/staging|$1" \
        "1|far:0|far:0/copy|$1" "1|far:0@0|far:0/peer|$1" "1|host:pageable|far:0/staging|$1"
}
ln -s "$ASSAY_BUILD/lib/assay/assay_cpu.so" "$WORK/plugins/" || exit 1 # whose own rows are not theirs
for _ in $(seq 12); do peaks cache_bytes=1e9; done
far devices=2 800 "$(rows_at 800.0)"
[ "$(sqlite3 "$WORK/far.db" "SELECT count(*) FROM transfer WHERE source LIKE 'cpu%' OR deployment NOT IN (SELECT p.id FROM deployment p
    JOIN device d ON d.id = p.device WHERE d.backend = 'far')")" = 0 ] || fail "rows of the host's in a sweep of devices"
far 'devices=2;turned=1' 900 "$(rows_at 900.0)"
far 'devices=2;turned=1' 950 "$(rows_at 900.0)"
far devices=2 990 "$(rows_at 900.0)"
rm "$WORK/plugins/assay_far.so" "$WORK/plugins/assay_cpu.so"

# Memory that the host reaches is the host's, which backend cpu speaks for; it is not here.
script 23 'kernel=* ns=10000 sd=0.01'
sqlite3 "$WORK/s.db" "DELETE FROM transfer"
sweep 400 ''
script 23 'discrete=1' 'kernel=* ns=10000 sd=0.01'
ln -s "$ASSAY_BUILD/lib/assay/assay_cpu.so" "$WORK/plugins/" || exit 1
sweep 400 400.0
[ "$(sqlite3 "$WORK/s.db" "SELECT group_concat(DISTINCT source) FROM transfer WHERE target LIKE 'host%'")" = cpu:0,fake:0 ] ||
    fail "no copies of the host"
ASSAY_FAKE_TRANSFERS=nonsense expect 2 '' '*NS NS_PER_BYTE*' assay sweep --db "$WORK/t.db" --plugins "$WORK/plugins" --backend fake \
    --op add --dtype f32 --shape n=64 --profile quick --quiet
