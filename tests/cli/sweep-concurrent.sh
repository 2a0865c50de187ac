#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases A1 and A9: eight sweeps of different shapes start on one store that does not exist;
# all end well and no row is lost. One more is killed with SIGKILL: the next needs no clean-up and,
# with --resume, repeats no visit.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1
export ASSAY_LOCK_DIR=$WORK

pids=()
for i in 1 2 3 4 5 6 7 8; do
    assay sweep --db s.db --backend cpu --kernel cpu_add_portable --op add --dtype f32 --shape "n=$((i * 16))" \
        --threads 1 --profile quick --quiet >"out$i" 2>"err$i" &
    pids+=($!)
done
for i in 1 2 3 4 5 6 7 8; do
    wait "${pids[$((i - 1))]}" || fail "sweep $i: exit $?, $(cat "err$i")"
done
[ "$(sqlite3 s.db 'SELECT count(*) FROM route')" = 8 ] || fail "not 8 routes"
[ "$(sqlite3 s.db 'SELECT count(*) FROM problem')" = 8 ] || fail "not 8 problems"
assay check --db s.db >out 2>&1 || fail "check: $(cat out)"

sweep() {
    assay sweep --db k.db --backend cpu --op add --dtype f32 --shape 'n=1000|2000' --profile quick \
        --quiet "$@"
}
assay sweep --db k.db --backend cpu --op add --dtype f32 --shape 'n=1000|2000' --profile quick \
    --quiet >/dev/null 2>&1 &
victim=$! # a function would put a shell in between
for _ in $(seq 200); do
    [ "$(sqlite3 k.db 'SELECT count(*) FROM visit' 2>/dev/null || echo 0)" -ge 16 ] && break
    sleep 0.1
done
kill -9 "$victim" 2>/dev/null
wait "$victim" 2>/dev/null
done_before=$(sqlite3 k.db 'SELECT count(*) FROM visit')
sqlite3 k.db 'PRAGMA integrity_check' | grep -qx ok || fail "integrity after SIGKILL"
sweep --resume >out 2>err || fail "resume: $(cat err)"
doubles=$(sqlite3 k.db "SELECT count(*) FROM (SELECT measurement FROM visit WHERE kind = 'screen'
    GROUP BY measurement HAVING count(*) > 1)")
[ "$doubles" = 0 ] || fail "$doubles screening visits were repeated ($done_before before the kill)"
# How many there are depends on how many looks a doubt takes; each has a number of its own.
most=$(sqlite3 k.db "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'measure' AND is_twin = 0
    GROUP BY measurement, ordinal)")
[ "$most" = 1 ] || fail "a measuring visit of one variant was made $most times"
[ "$(sqlite3 k.db 'SELECT count(*) FROM route')" = 2 ] || fail "no routes after resume"
visits=$(sqlite3 k.db 'SELECT count(*) FROM visit')
sweep --resume >out 2>err || fail "second resume: $(cat err)"
[ "$(sqlite3 k.db 'SELECT count(*) FROM visit')" = "$visits" ] || fail "a finished sweep measured again"
