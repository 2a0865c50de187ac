#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A problem that takes longer than a problem may: the default comes first, then the variants that are
# likely to win by what they did at similar problems; the rest is told as not searched, and is
# searched when a larger budget is asked for. What has no room for two variants is left alone.
. tests/support/fake_sweep.bash
rm -f "$WORK/peaks"
for _ in 1 2 3 4; do peaks fma_f32_avx2=0.5 fma_f32_avx512=0.5 fma_f32_avx2=0.5 cache_bytes=1e9; done
heavy=m=64,n=64,k=64 # 2^19 operations: 1 ms a call at least, and 12 variants
tried() { # DB PROBLEM -- the variants that have a stay at it
    sqlite3 "$1" "SELECT DISTINCT k.name || substr(r.tunables, -1) FROM visit v JOIN measurement m ON m.id = v.measurement JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel JOIN problem p ON p.id = m.problem WHERE p.text LIKE '%$2%' ORDER BY 1" | paste -sd ' '
}
left() { sqlite3 "$1" "SELECT count(*) FROM measurement WHERE verdict = 'none' AND reason LIKE 'not searched: %' AND stop_reason = 'problem budget'"; }
stays() { sqlite3 "$1" 'SELECT count(*) FROM visit'; }

# A stay takes 8 ms; those of screening may take 33 of 100.
lines=('kernel=* ns=2e6 sd=0.01' 'kernel=fake_b ns=1.8e6')
script 91 "${lines[@]}" 'kernel=fake_c variant=3 ns=2.5e5'
fake_sweep "$WORK/a.db" matmul "$heavy" --problem-budget 100ms
query '.kernel == "fake_b" and .searched < 8 and .searched >= 3 and .total == 12'
[[ $(tried "$WORK/a.db" 64) == 'fake_a0 '*fake_b0*fake_c0* ]] || fail "tried: $(tried "$WORK/a.db" 64)"
[[ $(tried "$WORK/a.db" 64) != *fake_c3* ]] || fail "the last variant was tried"
[ "$(left "$WORK/a.db")" = $((12 - $(jq .searched "$WORK/stdout"))) ] || fail "left: $(left "$WORK/a.db")"
expect 0 '*' '*' assay pick --db "$WORK/a.db" --plugins "$WORK/plugins" --backend fake --op matmul --dtype f32 --shape "$heavy" --json
query '.tier == "measured" and .chosen.kernel == "fake_b" and .stop_reason == "problem budget" and .total == 12 and .searched < 8'
query '[.. | objects | select(.reason? // "" | test("never judged"))] | length > 0'

# Visits go to the default and the best; the default is no rival of its own.
[ "$(sqlite3 "$WORK/a.db" "SELECT count(*) FROM measurement WHERE reason LIKE '1.% times the best in the screening visit, and the problem%s % for better ones' AND stop_reason = 'out'")" -ge 1 ] ||
    fail "all were visited"
most() { sqlite3 "$1" "SELECT max(n) || ' ' || count(*) FROM (SELECT count(*) n FROM visit WHERE kind = 'measure' GROUP BY measurement)"; }
[ "$(most "$WORK/a.db")" = '6 2' ] || fail "visits: $(most "$WORK/a.db")"

# It is finished, until more time is given: then only what was left is screened.
before=$(stays "$WORK/a.db")
fake_sweep "$WORK/a.db" matmul "$heavy" --resume --problem-budget 100ms
fake_sweep "$WORK/a.db" matmul "$heavy" --resume --problem-budget 50ms
[ "$(stays "$WORK/a.db")" = "$before" ] || fail "measured again"
fake_sweep "$WORK/a.db" matmul "$heavy" --resume --problem-budget 60s
query '.searched == 12 and .total == 12 and .kernel == "fake_c" and (.tunables | test("variant=3"))'
[ "$(left "$WORK/a.db")" = 0 ] || fail "left: $(left "$WORK/a.db")"
[[ $(tried "$WORK/a.db" 64) == *fake_c3* ]] || fail "the rest was not tried"
[ "$(sqlite3 "$WORK/a.db" "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'screen' GROUP BY measurement)")" = 1 ] || fail "screened twice"

# What is known of a similar problem decides who is tried: all variants are at the light one. The
# winner there comes in time here, the slow ones do not.
printf 'op,dtype,m,n,k\nmatmul,f32,8,8,64\nmatmul,f32,64,64,64\n' >"$WORK/two.csv"
ln_sweep() {
    expect 0 '*' '' assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --shapes "$WORK/two.csv" \
        --threads 1 --profile quick --quiet --json --problem-budget "${budget:-100ms}" "${@:2}"
}
script 92 'kernel=* ns=0 per_unit=8 sd=0.01' 'kernel=fake_c variant=3 per_unit=1'
ln_sweep "$WORK/b.db"
jq -se '[.[] | select(.kernel == "fake_c" and (.tunables | test("variant=3")))] | length == 2' "$WORK/stdout" >/dev/null || fail "not the winner at both"
jq -se '.[0].searched == 12 and .[1].searched < 6' "$WORK/stdout" >/dev/null || fail "the light one in part, or the heavy one whole"
[[ "$(tried "$WORK/b.db" 'm=64')" != *[ab][123]* ]] || fail "slow ones were tried: $(tried "$WORK/b.db" 'm=64')"
# What an earlier sweep found says the same.
printf 'op,dtype,m,n,k\nmatmul,f32,8,8,64\n' >"$WORK/one.csv"
cp "$WORK/two.csv" "$WORK/both.csv" && cp "$WORK/one.csv" "$WORK/two.csv"
ln_sweep "$WORK/c.db"
cp "$WORK/both.csv" "$WORK/two.csv"
ln_sweep "$WORK/c.db" --resume
query '.kernel == "fake_c" and .searched < 6'

# A problem is one that takes long also when all but a few variants do not: one that was a hundred
# times as slow at the other problem.
printf 'op,dtype,m,n,k\nmatmul,f32,8,8,64\nmatmul,f32,16,16,64\n' >"$WORK/two.csv"
script 94 'kernel=* ns=0 per_unit=8 sd=0.01' 'kernel=fake_c variant=3 per_unit=1600'
budget=600ms ln_sweep "$WORK/f.db"
jq -se '.[0].searched == 12 and .[1].searched == 11' "$WORK/stdout" >/dev/null || fail "the slow one was tried again"
[[ "$(tried "$WORK/f.db" 'm=16')" != *fake_c3* ]] || fail "another was left out"

# However light a problem is, no part of its time worth the name goes to who was a thousand times behind; to
# who was five times behind, or is as far behind in no time, it does.
budget=10s ln_sweep "$WORK/g.db"
jq -se '.[0].searched == 12 and .[1].searched == 11' "$WORK/stdout" >/dev/null || fail "the hopeless one was tried"
[[ "$(tried "$WORK/g.db" 'm=16')" != *fake_c3* ]] || fail "another was left out"
[ "$(sqlite3 "$WORK/g.db" "SELECT count(*) FROM measurement WHERE reason LIKE 'not searched: 1___ times the best by its rates at the most similar problems'")" = 1 ] || fail "not said why"
budget=2000s ln_sweep "$WORK/i.db"
jq -se '.[1].searched == 12' "$WORK/stdout" >/dev/null || fail "a thousandth of the time is nothing"
script 94 'kernel=* ns=0 per_unit=320 sd=0.01'
budget=10s ln_sweep "$WORK/j.db"
jq -se '.[1].searched == 12' "$WORK/stdout" >/dev/null || fail "five times behind is hopeless"

# Where sizes hardly differ, four times behind is as bad.
printf 'op,dtype,m,n,k\nmatmul,f32,8,8,64\nmatmul,f32,8,8,65\nmatmul,f32,16,8,64\nmatmul,f32,64,64,64\n' >"$WORK/two.csv"
budget=60s ln_sweep "$WORK/p.db"
jq -se 'map(.searched) == [12, 12, 3, 12]' "$WORK/stdout" >/dev/null || fail "five times behind nearby: $(jq -c .searched "$WORK/stdout" | paste -sd ,)"

# One disturbed stay is no verdict: the next problem speaks, too.
printf 'op,dtype,m,n,k\nmatmul,f32,8,8,64\nmatmul,f32,16,16,64\nmatmul,f32,32,32,64\n' >"$WORK/three.csv"
for i in 2 3 4; do
    sed -n "1p;2,${i}p" "$WORK/three.csv" >"$WORK/two.csv"
    [ "$i" = 3 ] && script 98 'kernel=* ns=0 per_unit=320 sd=0.01' 'kernel=fake_c variant=3 per_unit=1e5' ||
        script 98 'kernel=* ns=0 per_unit=320 sd=0.01'
    budget=60s ln_sweep "$WORK/m.db" --resume
done
[[ "$(tried "$WORK/m.db" 'm=32')" == *fake_c3* ]] || fail "left out for one disturbed stay"

# Who does not fit the rest of the time for screening is not begun.
script 96 'kernel=* ns=0 per_unit=800 sd=0.01' 'kernel=fake_c variant=3 per_unit=1400'
budget=6s ln_sweep "$WORK/k.db"
jq -se '.[0].searched == 12 and .[1].searched == 11' "$WORK/stdout" >/dev/null || fail "begun with no time left"
[[ "$(tried "$WORK/k.db" 'm=16')" != *fake_c3* ]] || fail "another was left out"

# The most similar problems speak, not the newest: at the small ones fake_c3 is far behind.
printf 'op,dtype,m,n,k\nmatmul,f32,32,32,64\nmatmul,f32,8,8,64\nmatmul,f32,8,8,65\nmatmul,f32,64,64,64\n' >"$WORK/two.csv"
script 97 'kernel=* ns=0 per_unit=8 sd=0.01' 'kernel=fake_c variant=3 ns=1e5 per_unit=1'
budget=200ms ln_sweep "$WORK/l.db"
[[ "$(tried "$WORK/l.db" 'm=64')" == *fake_c3* ]] || fail "judged by another problem: $(tried "$WORK/l.db" 'm=64')"
[[ "$(tried "$WORK/l.db" 'm=64')" != *fake_a3* ]] || fail "all were tried: $(tried "$WORK/l.db" 'm=64')"

# Of what nothing is known of the variants on most threads come first; checks take real time of the budget.
script 95 'kernel=* ns=2e6 sd=0.01'
expect 0 '*' '' assay sweep --db "$WORK/t.db" --plugins "$WORK/plugins" --backend fake --op matmul --dtype f32 \
    --shape "$heavy" --profile quick --quiet --json --problem-budget 300ms --threads 2
[ "$(sqlite3 "$WORK/t.db" "SELECT DISTINCT k.name || ' ' || r.tunables FROM visit v JOIN measurement m ON m.id = v.measurement JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE v.kind = 'screen' ORDER BY v.id LIMIT 3" | sort | paste -sd ,)" = \
    'fake_a threads=2,variant=0,fake_b threads=2,variant=0,fake_c threads=2,variant=0' ] || fail "one thread came first"

# Doubts get no more visits than all do.
script 93 "${lines[@]}" 'kernel=* visit_sd=0.3'
fake_sweep "$WORK/n.db" matmul "$heavy" --problem-budget 100ms
[[ "$(most "$WORK/n.db")" = '6 '* ]] || fail "visits of those in doubt: $(most "$WORK/n.db")"
[ "$(sqlite3 "$WORK/n.db" "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'confirm' GROUP BY measurement)")" = 6 ] || fail "confirming visits of those in doubt"

# Who hangs takes of the problem's time what that took: six seconds of the five for screening.
cp "$WORK/peaks" "$WORK/peaks.kept" && rm "$WORK/peaks"
for _ in 1 2 3 4; do peaks fma_f32_avx2=0.005 fma_f32_avx512=0.005 cache_bytes=1e9; done
script 99 'kernel=* ns=1.1e8' 'kernel=fake_a variant=0 hang_at=3'
sed -i '/slow=5/d' "$WORK/script"
ASSAY_TEST_RUN_TIMEOUT_MS=1000 fake_sweep "$WORK/h.db" matmul "$heavy" --problem-budget 15s
query '.searched == 3 and .total == 12'
[ "$(sqlite3 "$WORK/h.db" "SELECT count(*) FROM measurement WHERE verdict = 'timeout'")" = 1 ] || fail "nobody hung"
mv "$WORK/peaks.kept" "$WORK/peaks"

# Visits of two variants take 24 stays: there is no room.
expect 1 '' '*skipped: matmul*: a call takes 1.05 ms or more here, and a problem gets 10*ms (--problem-budget)*' \
    assay sweep --db "$WORK/d.db" --plugins "$WORK/plugins" --backend fake --op matmul --dtype f32 --shape "$heavy" \
    --threads 1 --profile quick --problem-budget 10ms
[ "$(stays "$WORK/d.db")" = 0 ] || fail "measured all the same"
expect 2 '' '*--problem-budget*' assay sweep --db "$WORK/e.db" --op matmul --dtype f32 --shape "$heavy" --problem-budget 0
