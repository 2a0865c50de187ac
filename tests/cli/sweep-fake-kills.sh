#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Killed at seeded moments, whatever it is doing, and resumed each time: the store is whole, nothing that was
# stored is gone, no more than the stay in flight is lost of a kill, and the end is that of a sweep which
# nobody disturbed. Twenty kills; with ASSAY_LONG two hundred.
long=${ASSAY_LONG:-}
. tests/support/fake_sweep.bash
kills=${long:+200}
kills=${kills:-20}
seed=${SEED:-7}
echo "seed $seed, $kills kills"
RANDOM=$seed
truth=('kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8300' 'kernel=fake_c threads=1 variant=2 crash_at=1')
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape 'n=64|65|66' --threads 1
    --profile quick --quiet --json)
number() { sqlite3 -cmd '.timeout 5000' "$1" "SELECT count(*) FROM $2"; }

# The script counts the stays that ended, whether their result reached the store or not.
begin() { # SEED
    rm -f "$WORK/stays"
    script "$1" "stays=$WORK/stays" "${truth[@]}"
}
stays() { stat -c %s "$WORK/stays" 2>"$WORK/log" || echo 0; }

begin 31
start=$(date +%s%N)
expect 0 '*' '' "${sweep[@]}" --db "$WORK/whole.db"
took=$((($(date +%s%N) - start) / 1000000))
facts "$WORK/whole.db" >"$WORK/whole"
[ "$(grep -c quarantined "$WORK/whole")" = 4 ] || # at each problem, and then at all
     fail "no crash: $(cat "$WORK/whole")"
total=$(number "$WORK/whole.db" visit)
[ "$total" -ge 80 ] && [ "$(stays)" = "$total" ] || fail "$total visits of $(stays) stays"

check_end() { # DB
    facts "$1" >"$WORK/parts"
    cmp -s "$WORK/whole" "$WORK/parts" || { diff "$WORK/whole" "$WORK/parts"; fail "the parts do not make the whole"; }
}

# A sweep that came to its end before all kills were made is followed by a fresh one.
round=0 killed=0 done=0
while [ "$killed" -lt "$kills" ]; do
    round=$((round + 1)) db=$WORK/$round.db stored=0 lost=0 flag=()
    begin $((31 + round))
    while [ "$killed" -lt "$kills" ]; do
        "${sweep[@]}" --db "$db" "${flag[@]}" >"$WORK/stdout" 2>"$WORK/stderr" &
        victim=$!
        # Mostly within a third of the time, so that a round has several.
        ms=$((RANDOM % (took / 3 + 1)))
        sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
        kill -KILL "$victim" 2>"$WORK/log"
        rc=0
        wait "$victim" 2>"$WORK/log" || rc=$?
        [ "$rc" = 0 ] && break
        [ "$rc" = 137 ] || fail "round $round: exit $rc, $(cat "$WORK/stderr")"
        killed=$((killed + 1)) lost=$((lost + 1))
        [ -e "$db" ] || continue
        [ "$(sqlite3 "$db" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || fail "kill $killed: integrity"
        [ -n "$(sqlite3 "$db" "SELECT 1 FROM sqlite_schema WHERE name = 'visit'")" ] || continue
        flag=(--resume)
        now=$(number "$db" visit)
        [ "$now" -ge "$stored" ] || fail "kill $killed: $stored visits were stored, $now are"
        [ $(($(stays) - now)) -le "$lost" ] || fail "kill $killed, the ${lost}th here: $(stays) stays, $now stored"
        stored=$now
    done
    expect 0 '*' '' "${sweep[@]}" --db "$db" --resume
    check_end "$db"
    done=$((done + 1))
    # Nothing twice, but for confirming visits that were cut off between their contenders.
    [ "$(number "$db" visit)" -le $((total + 2 * lost)) ] || fail "$(number "$db" visit) visits, not $total"
    assay check --db "$db" --quiet >"$WORK/stdout" 2>"$WORK/stderr" || [ $? = 1 ] || fail "check: $(cat "$WORK/stderr")"
done
echo "$killed kills, $done sweeps"
