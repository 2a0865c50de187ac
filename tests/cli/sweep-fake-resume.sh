#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case C8, as far as a sweep goes: interrupted and killed at many places in its course and
# resumed each time, it ends with what an undisturbed one has: the same variants of the same
# problems, the same winners, nothing measured twice, crashed variants not run again.
. tests/support/fake_sweep.bash
truth=('kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8300' 'kernel=fake_c threads=1 variant=2 crash_at=1')
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape 'n=64|65|66|67' --threads 1
    --profile quick --quiet --json)
number() { sqlite3 -cmd ".timeout 5000" "$1" "SELECT count(*) FROM $2" 2>"$WORK/log"; }

script 21 "${truth[@]}"
expect 0 '*' '' "${sweep[@]}" --db "$WORK/whole.db"
facts "$WORK/whole.db" >"$WORK/whole"
# It fails at three problems and is left alone at the fourth.
[ "$(grep -c 'n=6.*quarantined' "$WORK/whole")" = 3 ] && [ "$(grep -c '^all.*quarantined' "$WORK/whole")" = 1 ] && [ "$(grep -c 'crashed' "$WORK/whole")" = 4 ] ||
    fail "no crash: $(cat "$WORK/whole")"
total=$(number "$WORK/whole.db" visit)
[ "$total" -ge 100 ] || fail "only $total visits"

# Stopped after every so many visits, by turns with a signal that asks and with one that does not.
db=$WORK/parts.db
script 22 "${truth[@]}"
flag=()
goals=(0 15 40 65 80 86 92 97) # of 100 visits; the last ones confirm winners
for turn in $(seq 16); do
    "${sweep[@]}" --db "$db" "${flag[@]}" >"$WORK/stdout" 2>"$WORK/stderr" &
    victim=$!
    goal=$((total * ${goals[turn]:-1000} / 100))
    while kill -0 "$victim" 2>"$WORK/log"; do
        have=$(number "$db" visit)
        [ "${have:-0}" -lt "$goal" ] || break
        sleep 0.02
    done
    if [ $((turn % 2)) = 0 ]; then signal=KILL; else signal=INT; fi
    kill -s "$signal" "$victim" 2>"$WORK/log"
    rc=0
    wait "$victim" 2>"$WORK/log" || rc=$?
    echo "$turn $signal $rc" >>"$WORK/turns"
    [ "$rc" = 0 ] && break
    [ "$rc" = 137 ] || [ "$rc" = 130 ] || fail "turn $turn: exit $rc, $(cat "$WORK/stderr")"
    [ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ] || fail "turn $turn: integrity"
    flag=(--resume)
done
[ "$rc" = 0 ] || fail "not done after 16 turns"
grep -q 'INT 130' "$WORK/turns" && grep -q 'KILL 137' "$WORK/turns" || fail "not stopped by both: $(cat "$WORK/turns")"
facts "$db" >"$WORK/parts"
cmp -s "$WORK/whole" "$WORK/parts" || { diff "$WORK/whole" "$WORK/parts"; fail "the parts do not make the whole"; }
for kind in "screen 1" "measure 6"; do
    most=$(sqlite3 "$db" "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = '${kind% *}' AND is_twin = 0 GROUP BY measurement)")
    [ "$most" = "${kind#* }" ] || fail "$most visits of kind $kind"
done
# A confirming visit that was cut off between its contenders is done again; no more than that.
most=$(sqlite3 "$db" "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'confirm' GROUP BY measurement)")
[ "$most" -le $((6 + $(wc -l <"$WORK/turns"))) ] || fail "$most confirming visits of one variant"
[ "$(number "$db" visit)" -le $((total + 2 * $(wc -l <"$WORK/turns"))) ] || fail "$(number "$db" visit) visits, not $total"
[ "$(number "$db" "sweep WHERE stop_reason = 'interrupted'")" -ge 1 ] || fail "no sweep says that it was interrupted"

# Done is done: nothing is run, not even a worker that would take a number of the visit counter.
before=$(number "$db" visit) counter=$(cat "$WORK/visits")
expect 0 '' '' "${sweep[@]}" --db "$db" --resume
[ "$(number "$db" visit)" = "$before" ] || fail "a finished sweep measured again"
[ "$(($(cat "$WORK/visits") - counter))" -le 1 ] || fail "a finished sweep started workers to measure"
facts "$db" | cmp -s - "$WORK/parts" || fail "a finished sweep changed facts"

# What was checked before an interruption is as bit-stable after it, so that ties are decided the same way.
script 24 'kernel=* ns=10000 sd=0.002'
db=$WORK/ties.db
expect 0 '*' '' "${sweep[@]}" --db "$db"
known() {
    sqlite3 "$db" "SELECT p.text, k.name, r.tunables, s.level FROM stability s JOIN problem p ON p.id = s.problem JOIN revision r ON r.id = s.revision
            JOIN kernel k ON k.id = r.kernel WHERE k.name <> 'fake_c' AND r.tunables LIKE '%variant=0' ORDER BY 1, 2, 3;
        SELECT p.text, k.name, r.tunables FROM route t JOIN problem p ON p.id = t.problem JOIN revision r ON r.id = t.winner_revision
            JOIN kernel k ON k.id = r.kernel ORDER BY 1"
}
known >"$WORK/known"
[ "$(grep -c config "$WORK/known")" = 8 ] || fail "stability: $(cat "$WORK/known")"
sqlite3 "$db" "UPDATE visit SET baseline_visit = NULL; DELETE FROM visit WHERE kind <> 'screen'; DELETE FROM route; DELETE FROM stability"
expect 0 '*' '' "${sweep[@]}" --db "$db" --resume
known | cmp -s - "$WORK/known" || { known | diff "$WORK/known" - && fail; fail "another end after an interruption"; }

# What was out stays out, although by now the machine would show another side: what crashed, and what
# has a verdict in its row alone. The others are measured, and one of them wins.
for verdict in wrong mistrusted; do
    db=$WORK/$verdict.db
    script 23 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=2 crash_at=1'
    fake_sweep "$db" add n=64 --kernel 'fake_[bc]'
    sqlite3 "$db" "UPDATE measurement SET verdict = '$verdict', reason = 'by hand' WHERE revision IN
        (SELECT r.id FROM revision r JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b')"
    facts "$db" | grep -E "fake_b.*$verdict|crashed" >"$WORK/before"
    [ "$(grep -c "$verdict" "$WORK/before") $(grep -c crashed "$WORK/before")" = '4 1' ] || fail "not out: $(cat "$WORK/before")"
    script 24 'kernel=* ns=10000 sd=0.01' 'kernel=fake_a ns=9000' 'kernel=fake_b ns=5000'
    fake_sweep "$db" add n=64 --resume
    [ "$(count '.kernel == "fake_a"')" = 1 ] || fail "$verdict, and no winner beside it"
    facts "$db" | grep -E "fake_b.*$verdict|crashed" | diff "$WORK/before" - || fail "$verdict: run again"
done
