#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A3: eight sweeps write one store, and every 200 ms one of them is killed and begins again. None
# waits in vain, the store stays whole, and whatever was told is there. Five seconds; with ASSAY_LONG sixty.
long=${ASSAY_LONG:-}
. tests/support/fake_sweep.bash
seconds=${long:+60}
seconds=${seconds:-5}
seed=${SEED:-3}
RANDOM=$seed
script 5 'kernel=* ns=10000 sd=0.01'
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --kernel 'fake_[ab]' --op add --dtype f32 --threads 1 --profile quick
    --quiet --json --db "$WORK/s.db")
expect 0 '*' '' "${sweep[@]}" --shape n=64

# One problem after the other, each until it is done, as long as nobody says that it is enough.
writer() { # I
    local problem=$(($1 * 1000)) run=0 rc
    export ASSAY_LOCK_DIR=$WORK/lock.$1
    mkdir "$ASSAY_LOCK_DIR" || return 1
    while [ ! -e "$WORK/enough" ]; do
        run=$((run + 1)) rc=0
        "${sweep[@]}" --shape "n=$problem" --resume >"$WORK/told.$1.$run" 2>"$WORK/err.$1" &
        echo $! >"$WORK/pid.$1.new" && mv "$WORK/pid.$1.new" "$WORK/pid.$1"
        wait $! 2>"$WORK/log.$1" || rc=$?
        case $rc in
        0) echo "$problem" >>"$WORK/done" && problem=$((problem + 1)) ;;
        137) echo "$problem" >>"$WORK/killed" ;;
        *) echo "writer $1, n=$problem: exit $rc, $(cat "$WORK/err.$1")" >>"$WORK/wrong" ;;
        esac
    done
}

writers=()
for i in 1 2 3 4 5 6 7 8; do
    writer "$i" &
    writers+=($!)
done
end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
    sleep 0.2
    read -r victim 2>"$WORK/log" <"$WORK/pid.$((RANDOM % 8 + 1))" && kill -KILL "$victim" 2>"$WORK/log"
done
touch "$WORK/enough"
wait "${writers[@]}"
[ ! -e "$WORK/wrong" ] || fail "$(cat "$WORK/wrong")"
killed=$(wc -l <"$WORK/killed") done=$(wc -l <"$WORK/done")
[ "$killed" -ge "$seconds" ] && [ "$done" -ge 8 ] || fail "$killed killed, $done done"
[ "$(sqlite3 "$WORK/s.db" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || fail "integrity"
# A line that was cut off by the kill is none.
cat "$WORK"/told.* | jq -Rr 'fromjson? | .problem' | sort -u >"$WORK/told"
sqlite3 "$WORK/s.db" 'SELECT p.text FROM route r JOIN problem p ON p.id = r.problem' | sort -u >"$WORK/stored"
[ "$(wc -l <"$WORK/told")" -ge 8 ] || fail "nothing was told"
[ -z "$(comm -23 "$WORK/told" "$WORK/stored")" ] || fail "told, and not stored: $(comm -23 "$WORK/told" "$WORK/stored")"
sort -u "$WORK/done" | sed 's/.*/add f32,f32,f32 n=&/' | sort | comm -23 - "$WORK/stored" >"$WORK/lost"
[ ! -s "$WORK/lost" ] || fail "done, and not stored: $(cat "$WORK/lost")"
assay check --db "$WORK/s.db" --quiet >"$WORK/stdout" 2>"$WORK/stderr" || [ $? = 1 ] || fail "check: $(cat "$WORK/stderr")"
echo "$killed kills, $done sweeps ended"
