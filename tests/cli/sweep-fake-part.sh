#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A sweep of a part of the kernels makes no answer worse: the published winner competes beside them,
# what is known of the others goes on to serve, and a whole sweep that is resumed still compares all.
# A kernel that was wrong once is not picked again, in no route of its problem.
. tests/support/fake_sweep.bash
db=$WORK/s.db
here=(--db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=100 --json --quiet)
picked() { # KERNEL FLAG...
    expect 0 '*' '' assay pick "${here[@]}" "${@:2}"
    query ".tier == \"measured\" and .chosen.kernel == \"$1\""
}
truth=('kernel=* ns=10000 sd=0.01' 'kernel=fake_c ns=7000' 'kernel=fake_c threads=2 ns=6000')

script 1 "${truth[@]}"
fake_sweep "$db" add n=100 --kernel 'fake_[ac]'
picked fake_c
# The part alone would have had fake_b and the default as its only choices.
fake_sweep "$db" add n=100 --kernel fake_b
[ "$(count '.kernel == "fake_c"')" = 1 ] || fail "the winner did not compete"
picked fake_c
query '.total >= .searched and .searched == 12'
query '[.chosen, .others[], .ties[]] | map(select(.time_ns != null) | .kernel) | unique == ["fake_a", "fake_b", "fake_c"]'
# All have been measured by now, each with the winner, and nobody measures them again.
before=$(sqlite3 "$db" 'SELECT count(*) FROM visit')
fake_sweep "$db" add n=100 --resume
[ "$(sqlite3 "$db" 'SELECT count(*) FROM visit')" = "$before" ] || fail "measured again"
# A part that is faster wins.
sed -i 's/kernel=fake_c ns=7000/&; kernel=fake_a ns=4000/' "$WORK/script"
fake_sweep "$db" add n=100 --kernel fake_a
picked fake_a
# Fewer threads than the winner uses: it is not run, and stays.
two=(assay sweep --db "$WORK/t.db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=100 --profile quick --quiet --json)
if [ "$(nproc)" -ge 2 ]; then
    script 2 "${truth[@]}"
    expect 0 '*"fake_c"*threads=2*' '' "${two[@]}"
    expect 0 '*' '' "${two[@]}" --threads 1
    expect 0 '*' '' assay pick --db "$WORK/t.db" "${here[@]:2}"
    query '.chosen.kernel == "fake_c" and .chosen.tunables.threads == 2'
    expect 0 '*' '' assay pick --db "$WORK/t.db" "${here[@]:2}" --threads 1
    query '.chosen.kernel == "fake_c" and .chosen.tunables.threads == 1'
fi

# Stopped before it decided, a whole sweep has measured all; a part publishes; the whole still decides.
script 3 "${truth[@]}"
assay sweep --db "$WORK/u.db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=100..139 --threads 1 \
    --profile quick --quiet >"$WORK/stdout" 2>&1 &
victim=$!
until [ "$(sqlite3 "$WORK/u.db" "SELECT count(*) FROM visit WHERE kind = 'measure'" 2>"$WORK/log" | tail -n 1)" -ge 3 ] 2>"$WORK/log"; do
    kill -0 "$victim" || fail "the sweep ended early"
    sleep 0.02
done
kill -9 "$victim"
wait "$victim" 2>"$WORK/log"
fake_sweep "$WORK/u.db" add n=100 --kernel fake_b
[ "$(count '.kernel == "fake_a" and .searched == 5')" = 1 ] || fail "the part did not publish"
fake_sweep "$WORK/u.db" add n=100 --resume
[ "$(count '.kernel == "fake_c"')" = 1 ] || fail "the whole did not decide"

# Wrong once: found in a sweep of that kernel and the default; the route no longer serves it, and a sweep in
# which it happens to be right again changes nothing.
script 4 "${truth[@]}"
fake_sweep "$WORK/w.db" add n=100
here=(--db "$WORK/w.db" "${here[@]:2}")
picked fake_c
script 5 "${truth[@]}" 'kernel=fake_c wrong_at=1'
assay sweep "${here[@]}" --kernel fake_c --threads 1 --profile quick >"$WORK/stdout" 2>&1
picked fake_a
expect 0 '*' '' assay pick "${here[@]}" --explain
query '.rejected | any(.kernel == "fake_c" and (.reason | test("quarantined.*element")))'
script 6 "${truth[@]}"
fake_sweep "$WORK/w.db" add n=100
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "wrong once, and published"
picked fake_a
[ "$(sqlite3 "$WORK/w.db" "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'fake_c' AND m.verdict <> 'wrong'")" = 0 ] || fail "the verdict was forgotten"
