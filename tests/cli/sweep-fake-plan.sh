#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A rehearsal says what a sweep would measure and in which range of time, and what that rests on. Evaluations
# hold: the variants that likely win are tried first, the route says how many were; the same limit again costs
# nothing, a larger one goes on.
. tests/support/fake_sweep.bash
script 41 'kernel=* ns=0 per_unit=10 sd=0.01' 'kernel=fake_b per_unit=8'
printf 'op,dtype,n,count\nadd,f32,1000,1\nadd,f32,200000,1\nadd,f32,1001,3\n' >"$WORK/set.csv"
sweep() { # DB FLAG... -- outcomes in $WORK/stdout
    expect 0 '*' '*' assay sweep --plugins "$WORK/plugins" --backend fake --threads 1 --profile quick --shapes "$WORK/set.csv" --db "$@"
}
dry() { sweep "$@" --dry-run --json; }

# Nothing is known: by nominal rates, and no peaks are measured for it.
dry "$WORK/a.db"
query '.schema == "assay.sweep.plan/1" and .problem_count == 3 and .variants == 36 and .stays_known == 0 and (.problems | length == 3)'
query '.problems[] | .basis == "nominal" and .variants == 12 and .total == 12 and .lo_s > 0 and .lo_s < .hi_s'
query '.lo_s > 0 and .hi_s > 1.5 * .lo_s and (has("budget_s") | not)'
nominal=$(jq '.hi_s / .lo_s' "$WORK/stdout")
[ ! -e "$WORK/a.db" ] || fail "a rehearsal made a store"
# Of large problems the calls count, of which the time of a problem is the end.
heavy() { jq '.problems[] | select(.problem | test("n=200000")) | .hi_s' "$WORK/stdout"; }
whole=$(heavy)
dry "$WORK/a.db" --problem-budget 10ms
[ "$(jq -n "$whole > $(heavy)")" = true ] || fail "as long with less time: $(heavy), $whole"

# Evaluations: the default comes first, what was not tried is told, and rehearsed as such.
dry "$WORK/a.db" --evaluations 16
query '.variants == 16 and .problem_count == 2 and .undecided == 1 and (.problems | map(.variants) == [12, 4])'
sweep "$WORK/a.db" --evaluations 16 --json
order() { jq -r '"\(.problem | split("n=")[1]) \(.searched)/\(.total)"' "$WORK/stdout" | paste -sd ' '; }
[ "$(order)" = '200000 12/12 1001 4/12' ] || fail "evaluations: $(order)"
tail -n 1 "$WORK/stderr" | jq -e '.schema == "assay.sweep.summary/1" and .undecided == 1 and .stop_reason == "evaluations" and .variants == 16' >"$WORK/jq" ||
    fail "summary: $(cat "$WORK/stderr")"
sql() { sqlite3 "$WORK/a.db" "$1"; }
[ "$(sql "SELECT count(*) FROM visit WHERE kind = 'screen'")" = 16 ] || fail "not 16 evaluations"
[ "$(sql "SELECT stop_reason || ' ' || searched || ' ' || total FROM route JOIN problem p ON p.id = route.problem WHERE p.text LIKE '%n=1001%'")" = 'evaluations 4 12' ] ||
    fail "the route does not tell"
[ "$(sql "SELECT stop_reason || ' ' || (settings_json ->> 'evaluations') FROM sweep")" = 'evaluations 16' ] || fail "the sweep does not tell"
[ "$(sql "SELECT count(*) FROM measurement WHERE reason = 'not searched: the sweep''s 16 evaluations went to others' AND stop_reason = 'evaluations' AND verdict = 'none'")" = 8 ] ||
    fail "the rest is not told"
expect 0 '*' '*' assay pick --db "$WORK/a.db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=1001 --json
query '.tier == "measured" and .stop_reason == "evaluations" and .searched == 4 and .total == 12'

# The same again costs nothing, and a smaller limit neither.
visits=$(sql 'SELECT count(*) FROM visit') counter=$(cat "$WORK/visits")
for n in 16 15 1; do
    sweep "$WORK/a.db" --evaluations $n --resume --json
    [ ! -s "$WORK/stdout" ] && [ "$(sql 'SELECT count(*) FROM visit')" = "$visits" ] || fail "$n: measured again"
done
[ "$(($(cat "$WORK/visits") - counter))" -le 3 ] || fail "workers were started to measure"
dry "$WORK/a.db" --evaluations 20 --resume
query '.problem_count == 1 and .problems[0].variants == 8 and .problems[0].basis == "rates" and .finished_before == 1 and .stays_known > 20'
[ "$(jq -n "$nominal > $(jq '.hi_s / .lo_s' "$WORK/stdout")")" = true ] || fail "no narrower than without any knowledge"
sweep "$WORK/a.db" --evaluations 20 --resume --json
[ "$(order)" = '1001 8/12' ] || fail "four more: $(order)"
sweep "$WORK/a.db" --evaluations 30 --resume --json
[ "$(order)" = '1001 12/12 1000 6/12' ] || fail "ten more: $(order)"
sweep "$WORK/a.db" --resume --json
[ "$(order)" = '1000 12/12' ] || fail "the rest: $(order)"
[ "$(sql "SELECT count(*) FROM visit WHERE kind = 'screen'")" = 36 ] || fail "tried twice"
[ "$(sql "SELECT count(*) FROM route WHERE superseded_utc IS NULL AND stop_reason = 'done' AND searched = 12")" = 3 ] || fail "not whole"
sweep "$WORK/a.db" --resume --json
[ ! -s "$WORK/stdout" ] || fail "finished, and measured again"

# What the store knows of a similar problem that is no part of the sweep says more than nothing.
printf 'op,dtype,n\nadd,f32,1100\nadd,f32,90\n' >"$WORK/set.csv"
dry "$WORK/a.db"
query '.problems | map(.basis) == ["rates", "rates"]'
sqlite3 "$WORK/a.db" "UPDATE route SET policy = 'hot/alone/kernel' WHERE superseded_utc IS NULL"
dry "$WORK/a.db"
query '.problems | map(.basis) == ["peaks", "peaks"]'

# People read it too; a budget says how far it would reach.
printf 'op,dtype,n\nadd,f32,1100\n' >"$WORK/set.csv"
expect 0 'add f32,f32,f32 n=1100*12 of 12 variants, * s to * s (by *)*1 problems, 12 variants: * to *, of which this store knows nothing yet*--budget 10 min* reaches 1 to 1 of the problems' \
    '*' assay sweep --plugins "$WORK/plugins" --backend fake --threads 1 --profile quick --shapes "$WORK/set.csv" --db "$WORK/none.db" --dry-run --budget 10m
dry "$WORK/none.db" --budget 1ms
query '.budget_s == 0.001 and .reached_lo == 0 and .reached_hi == 0'
expect 2 '' '*--evaluations*' assay sweep --op add --dtype f32 --shape n=1 --evaluations 0 --db "$WORK/none.db"

# Progress for machines: a line each, of which the phases come first.
sweep "$WORK/p.db" --json
jq -se 'map(select(.schema == "assay.sweep.progress/1")) | (map(.phase) | index("peaks") < index("screen") and index("screen") < index("measure"))
    and (.[-1] | .stays_total >= .stays_done and .stays_done > 0 and .best_ns > 0 and (.best | test("^fake_[abc]$")) and .wrong == 0)' \
    <(grep '^{' "$WORK/stderr") >"$WORK/jq" || fail "progress: $(cat "$WORK/stderr")"
[ "$(grep -vc '^{' "$WORK/stderr")" = 0 ] || fail "not all lines are JSON: $(cat "$WORK/stderr")"
sweep "$WORK/q.db" --json --quiet
[ ! -s "$WORK/stderr" ] || fail "quiet, and said: $(cat "$WORK/stderr")"
sweep "$WORK/r.db"
grep -Eq '^\[0/1 problems, [0-9]+/[0-9]+ stays, [0-9.]+/s, left .*\] measure add f32,f32,f32 n=1100, best fake_[abc] [0-9.]+ us' "$WORK/stderr" ||
    fail "progress for people: $(cat "$WORK/stderr")"
! grep -q $'[\r\033]' "$WORK/stderr" || fail "no terminal, and controlled as one"
# A dumb terminal gets plain lines, another one line that is written anew.
for term in dumb xterm; do
    TERM=$term command script -qec "assay sweep --plugins '$WORK/plugins' --backend fake --threads 1 --profile quick --shapes '$WORK/set.csv' --db '$WORK/$term.db' >'$WORK/stdout'" \
        "$WORK/log" >"$WORK/$term" </dev/null || fail "$term: $(cat "$WORK/$term")"
done
! grep -q $'\033' "$WORK/dumb" && grep -q '^\[0/1 problems' "$WORK/dumb" || fail "dumb: $(cat -v "$WORK/dumb")"
grep -q $'\r\033\[K' "$WORK/xterm" || fail "xterm: $(cat -v "$WORK/xterm")"
# A line is no longer than the terminal is wide, so that it can be written over.
TERM=xterm command script -qec "stty cols 60; assay sweep --plugins '$WORK/plugins' --backend fake --threads 1 --profile quick --shapes '$WORK/set.csv' --db '$WORK/narrow.db' >'$WORK/stdout'" \
    "$WORK/log" >"$WORK/narrow" </dev/null || fail "narrow: $(cat "$WORK/narrow")"
tr '\r' '\n' <"$WORK/narrow" | sed $'s/\033\\[K//g' | grep '^\[' | awk '{ if (length($0) > 59) bad++; n++ } END { exit !(n > 1 && bad == 0) }' ||
    fail "wider than the terminal: $(cat -v "$WORK/narrow")"

# Nor does one that is in quarantine open a problem that nothing is left for: 3 of 16 are its own, 11 and 2 are tried.
script 46 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=2 crash_at=1'
fake_sweep "$WORK/sick.db" add n=64..66
fake_sweep "$WORK/sick.db" add n=70..72 --evaluations 16
[ "$(sqlite3 "$WORK/sick.db" "SELECT count(DISTINCT m.problem) || ' ' || count(*) FROM visit v JOIN measurement m ON m.id = v.measurement
    WHERE v.kind = 'screen' AND v.sweep = (SELECT max(id) FROM sweep)")" = '2 13' ] || fail "evaluations with one in quarantine"

# What was rejected is told to machines, too.
printf 'op,dtype,n\nadd,f32,1100\nadd,f32,1101\n' >"$WORK/set.csv"
script 47 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=2 crash_at=1'
sweep "$WORK/f.db" --json
[ "$(grep -vc '^{' "$WORK/stderr")" = 0 ] || fail "not all lines are JSON: $(cat "$WORK/stderr")"
jq -se 'map(select(.schema == "assay.sweep.fate/1")) | length == 1 and (.[0] | .verdict == "crashed" and (.variant | test("fake_c.*variant=2"))
    and (.reason | test("signal 11")) and .problems == 2)' "$WORK/stderr" >"$WORK/jq" || fail "fates: $(cat "$WORK/stderr")"
