#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A sweep that is asked to stop, by Ctrl-C, kill or a terminal that goes away, says so in the store and in
# its exit code; one that was told to outlive its terminal does.
. tests/support/fake_sweep.bash
script 1 'kernel=* ns=10000 sd=0.01'
begin() { # DB -- in the background; returns once something is stored
    assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64..163 --threads 1 \
        --profile quick --quiet --json >"$WORK/stdout" 2>"$WORK/stderr" &
    victim=$!
    while kill -0 "$victim" 2>"$WORK/log"; do
        [ "$(sqlite3 "$1" 'SELECT count(*) > 3 FROM visit' 2>"$WORK/log")" = 1 ] && return
        sleep 0.02
    done
    fail "ended by itself: $(cat "$WORK/stderr")"
}
for signal in HUP:129 INT:130 TERM:143; do
    db=$WORK/${signal%:*}.db
    begin "$db"
    kill -s "${signal%:*}" "$victim"
    rc=0
    wait "$victim" || rc=$?
    [ "$rc" = "${signal#*:}" ] || fail "$signal: exit $rc"
    [ "$(sqlite3 "$db" 'SELECT stop_reason, ended_utc IS NOT NULL FROM sweep')" = 'interrupted|1' ] ||
        fail "$signal: $(sqlite3 "$db" 'SELECT * FROM sweep')"
done
trap '' HUP
begin "$WORK/nohup.db"
kill -s HUP "$victim"
stored=$(sqlite3 "$WORK/nohup.db" 'SELECT count(*) FROM visit')
while kill -0 "$victim" 2>"$WORK/log" && [ "$(sqlite3 "$WORK/nohup.db" 'SELECT count(*) FROM visit')" -lt $((stored + 10)) ]; do
    sleep 0.02
done
kill -s TERM "$victim" 2>"$WORK/log" || fail "ended with its terminal"
rc=0
wait "$victim" || rc=$?
[ "$rc" = 143 ] || fail "exit $rc"
