#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A2: 32 commands open a store that does not exist yet at one instant; then another
# process holds a write transaction while readers read and a sweep waits for it; nobody loses a row.
# Held for longer than the 20 s of the busy timeout it is one message and exit 3, and what was stored
# before stays.
. tests/support/fake_sweep.bash
script 3 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b variant=3 hang_at=1'
db=$WORK/s.db
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --kernel fake_a --op add --dtype f32 --threads 1 --profile quick --quiet)
ask=(assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --json --quiet)
rows() { sqlite3 "$db" "SELECT count(*) FROM $1"; }

# hold DB FIFO -- holds the write lock until somebody writes into the fifo, and then commits a row.
hold() {
    mkfifo "$2" || exit 1
    sqlite3 "$1" "BEGIN IMMEDIATE; UPDATE deployment SET label = 'kept';" ".shell touch $2.held; cat $2" 'COMMIT;' >"$2.out" 2>&1 &
    holder=$!
    until [ -e "$2.held" ]; do
        kill -0 "$holder" || fail "nobody holds $1: $(cat "$2.out")"
        sleep 0.02
    done
}

# Somebody who never lets go, looked at again below.
expect 0 '*' '' "${sweep[@]}" --db "$WORK/t.db" --shape n=64
hold "$WORK/t.db" "$WORK/stuck"
stuck=$holder
"${sweep[@]}" --db "$WORK/t.db" --shape n=128 >"$WORK/stuck.stdout" 2>"$WORK/stuck.stderr" &
refused=$!

# A kernel that hangs until its time limit: whoever wants to write meanwhile can.
expect 0 '*' '' "${sweep[@]}" --db "$WORK/h.db" --shape n=64
"${sweep[@]}" --db "$WORK/h.db" --kernel fake_b --shape n=65 >"$WORK/hang.out" 2>"$WORK/hang.err" &
hanging=$!
while kill -0 "$hanging" 2>"$WORK/log"; do
    sqlite3 -cmd '.timeout 4000' "$WORK/h.db" 'BEGIN IMMEDIATE; ROLLBACK' 2>"$WORK/log" || fail "locked while a kernel hangs: $(cat "$WORK/log")"
    sleep 0.2
done
wait "$hanging" || fail "the sweep with a kernel that hangs: exit $?, $(cat "$WORK/hang.err")"
[ "$(sqlite3 "$WORK/h.db" "SELECT count(*) FROM measurement WHERE verdict = 'timeout'")" = 1 ] || fail "nothing hung"

pids=()
for i in $(seq 32); do
    # Too large for any memory: stored and skipped.
    "${sweep[@]}" --db "$db" --shape n="$(((1 << 40) - i))" >"$WORK/out$i" 2>&1 &
    pids+=($!)
done
for i in $(seq 32); do
    rc=0
    wait "${pids[$((i - 1))]}" || rc=$?
    [ "$rc" = 1 ] && grep -q 'nothing was measured' "$WORK/out$i" || fail "opening $i: exit $rc, $(cat "$WORK/out$i")"
done
[ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ] || fail "integrity after 32 first opens"
[ "$(rows sweep)" = 32 ] && [ "$(rows problem)" = 32 ] || fail "$(rows sweep) sweeps, $(rows problem) problems of 32"
[ "$(rows deployment)" = 1 ] && [ "$(rows kernel)" = 1 ] || fail "more than one deployment or kernel"

expect 0 '*' '' "${sweep[@]}" --db "$db" --shape n=64
hold "$db" "$WORK/brief"
# Readers do not wait, nor do they see what is not committed.
expect 0 '*' '' "${ask[@]}" --shape n=64
query '.tier == "measured"'
expect 0 '*sound*' '' assay check --db "$db" --plugins "$WORK/plugins" --backend fake
expect 0 '*fake_a*' '' assay report cost --db "$db" --plugins "$WORK/plugins" --format csv --quiet
"${sweep[@]}" --db "$db" --shape n=65 >"$WORK/out" 2>"$WORK/err" &
waiting=$!
sleep 2 # long enough to be waiting in most runs; no result depends on it
expect 0 '*' '' "${ask[@]}" --shape n=64
echo go >"$WORK/brief"
wait "$holder" || fail "the holder could not commit"
wait "$waiting" || fail "the sweep that waited: exit $?, $(cat "$WORK/err")"
[ "$(sqlite3 "$db" "SELECT count(*) FROM deployment WHERE label = 'kept'")" = 1 ] || fail "the holder's row is lost"
[ "$(rows route)" = 2 ] || fail "a route is lost"

rc=0
wait "$refused" || rc=$?
kill -0 "$stuck" || fail "the lock was not held to the end"
[ "$rc" = 3 ] || fail "locked past the timeout: exit $rc, $(cat "$WORK/stuck.stderr")"
[ "$(wc -l <"$WORK/stuck.stderr")" = 1 ] && grep -q '^assay sweep: .*t\.db.*lock' "$WORK/stuck.stderr" ||
    fail "not one message: $(cat "$WORK/stuck.stderr")"
grep -q "process $stuck holds it for over 20 s" "$WORK/stuck.stderr" || fail "the holder $stuck is not named: $(cat "$WORK/stuck.stderr")"
echo go >"$WORK/stuck"
wait "$stuck" || fail "the holder of t.db could not commit"
db=$WORK/t.db
[ "$(rows route)" = 1 ] && [ "$(rows "deployment WHERE label = 'kept'")" = 1 ] || fail "rows of t.db are lost"
expect 0 '*' '' "${sweep[@]}" --db "$db" --shape n=128 --resume
