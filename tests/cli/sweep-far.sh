#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Kernels on a device whose memory the host does not reach: operands are brought over, results
# compared here, and what is measured there is another deployment than the host's. Two backends of
# one sweep on different devices are two sweeps, of one store.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
db=$WORK/s.db
sql() { sqlite3 "$db" "$1"; }
# sweep BACKENDS FLAG... -- an add and a product, whose output the second problem reads
sweep() {
    local backends=$1
    shift
    expect 0 '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend "$backends" --threads 1 --profile quick "$@"
}
add=(--op add --dtype f32 --shape n=1000)
product=(--op matmul --dtype f32 --shape 'm=17,n=9,k=33,beta=0.5')

# Each on its own device, and nobody is paired with the other's.
script 3 'kernel=fake_a ns=9000 sd=0.01' 'kernel=* ns=20000 sd=0.01'
sweep far "${add[@]}" --quiet --json
query '.backend == "far" and .kernel == "fake_a"'
sweep far "${product[@]}" --quiet --json
query '.backend == "far" and .kernel == "fake_a" and .max_rho < 1'
[ "$(sql "SELECT backend || ', ' || name FROM device")" = 'far, Scripted device 0' ] || fail "the device: $(sql 'SELECT * FROM device')"
[ "$(sql "SELECT count(*) FROM measurement WHERE verdict <> 'ok'")" = 0 ] || fail "not all are right: $(sql 'SELECT DISTINCT verdict, reason FROM measurement')"
[ "$(sql "SELECT count(*) FROM peak")" = 0 ] || fail "the host's peaks were stored of a device"
sweep fake,far "${add[@]}"
[[ $(<"$WORK/stderr") == *'on Scripted device 0:'* ]] || fail "it is not said of which device"
[ "$(sql "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM route WHERE superseded_utc IS NULL GROUP BY deployment ORDER BY n)")" = 1,2 ] ||
    fail "routes: $(sql 'SELECT deployment, problem, winner_revision FROM route')"
[ "$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    JOIN deployment p ON p.id = m.deployment JOIN device d ON d.id = p.device WHERE (k.backend = 'far') <> (d.backend = 'far')")" = 0 ] ||
    fail "kernels of one device in the deployment of the other"

# A pick that names the device answers from what was measured there; others never get its kernels.
pick() { assay pick --db "$db" --plugins "$WORK/plugins" "${add[@]}" --json "$@"; }
expect 0 '*' '*' pick --backend far
query '.tier == "measured" and .chosen.backend == "far" and .chosen.kernel == "fake_a"'
expect 0 '*' '*' pick --backend fake
query '.tier == "measured" and .chosen.backend == "fake"'
expect 0 '*' '*' pick --backend fake,far
query '.chosen.backend == "fake"'
expect 1 '*' '*' pick
query '(.chosen // null) == null'

# Both count as here: for the check, and in reports.
expect 0 '*' '*' assay check --db "$db" --plugins "$WORK/plugins" --json
query '([.states[] | select(.state == "usable")][0] | .measurements > 0 and .routes == 3) and ([.states[] | select(.state == "elsewhere")] | all(.measurements == 0 and .routes == 0))'
expect 0 '*' '*' assay report cost --db "$db" --plugins "$WORK/plugins" --format json
query '[.deployments[] | .is_here] == [true, true]'

# What a kernel leaves there is looked at: wrong results, also of timed calls, and spoiled inputs.
rm -f "$db"
script 5 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000 wrong_at=9 wrong=999' 'kernel=fake_c ns=7000 write_at=5'
sweep far "${add[@]}" --json
[ "$(jq -r 'select(.schema == "assay.sweep.outcome/1") | .kernel' "$WORK/stdout")" = fake_a ] || fail "somebody wrong was picked"
[ "$(sql "SELECT DISTINCT m.verdict FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'")" = wrong ] || fail "wrong results passed"
[[ $(sql "SELECT DISTINCT m.verdict || ': ' || m.reason FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_c'") == *'wrote to its inputs'* ]] ||
    fail "spoiled inputs passed: $(sql "SELECT k.name, m.verdict, m.reason FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel")"

# What the device's memory does not hold is one problem, and nobody's fault.
rm -f "$db"
two=(--op add --dtype f32 --shape 'n=1000|200000')
script 5 'memory=2000000' 'kernel=* ns=9000 sd=0.01'
expect 0 '*n=1000*' "*skipped: *n=200000*the device's memory*" assay sweep --db "$db" --plugins "$WORK/plugins" --backend far "${two[@]}" --threads 1 --profile quick
rm -f "$db"
script 5 'nomem=3' 'kernel=* ns=9000 sd=0.01'
expect 1 '' '*skipped: *n=1000*nothing was measured*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend far "${add[@]}" --threads 1 --profile quick
[[ $(<"$WORK/stderr") == '0 problems '* || $(<"$WORK/stderr") == *$'\n0 problems '* ]] || fail "what was left is counted as measured: $(<"$WORK/stderr")"
[[ $(<"$WORK/stderr") != *'no decision yet'* ]] || fail "what was left is called undecided"
[ "$(sql 'SELECT (SELECT count(*) FROM quarantine) + (SELECT count(*) FROM route)')" = 0 ] || fail "a kernel was blamed for the device's memory"

# A kernel that loses the device costs its own variant, and a worker.
rm -f "$db"
script 5 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b lose_at=4'
sweep far "${add[@]}" --json
[ "$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name <> 'fake_b' AND m.verdict <> 'ok'")" = 0 ] ||
    fail "who did not lose the device: $(sql "SELECT k.name, m.verdict, m.reason FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel")"
[[ $(sql "SELECT DISTINCT m.verdict || m.reason FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'") == crashed*'the device is lost'* ]] ||
    fail "who lost the device: $(sql "SELECT m.verdict, m.reason FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'")"

# A device that goes while others wait for it costs nobody his place; what was measured goes on later.
rm -f "$db"
script 5 gone=5 'kernel=* ns=9000 sd=0.01'
expect 4 '*' '*cannot be opened*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend far "${add[@]}" --threads 1 --profile quick
[ "$(sql 'SELECT (SELECT count(*) FROM quarantine) + (SELECT count(*) FROM measurement WHERE verdict <> "ok")')" = 0 ] || fail "somebody was blamed for a device that is gone"
script 5 'kernel=* ns=9000 sd=0.01'
sweep far "${add[@]}" --resume
[ "$(sql 'SELECT count(*) FROM route')" = 1 ] || fail "the sweep was not taken up"

# One that cannot be opened is no matter of the others, which come behind it; the exit code tells.
rm -f "$db"
script 5 gone=1 'kernel=* ns=9000 sd=0.01'
for name in card_a card_b; do ln -sf "$ASSAY_BUILD/tests/select/assay_$name.so" "$WORK/plugins/"; done
SELECT_card_a=fail expect 4 '*' '*card_a*no driver*on host:*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend card_a,card_b "${add[@]}" --threads 1 --profile quick --dry-run

# Nobody named them: those that are not here have no place, and no part of the budget.
ln -sf "$ASSAY_BUILD/lib/assay/assay_cpu.so" "$WORK/plugins/"
SELECT_card_a=fail SELECT_card_b=none expect 0 '*' '1 problems *' assay sweep --db "$db" --plugins "$WORK/plugins" "${add[@]}" --threads 1 --profile quick --dry-run
rm "$WORK"/plugins/assay_c*.so

# A context takes longer to make than a stay: the problems of a round have one process between them,
# and the next round another, so that the visits of each are of as many processes.
rm -f "$db"
several=(--op add --dtype f32 --shape 'n=1000|2000|3000|4000|5000')
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000'
sweep far "${several[@]}" --json
rounds=$(sql "SELECT (SELECT max(n) FROM (SELECT count(*) AS n FROM visit WHERE kind = 'measure' AND is_twin = 0 GROUP BY measurement)) +
    (SELECT max(n) FROM (SELECT count(*) AS n FROM visit WHERE kind = 'confirm' GROUP BY measurement)) + 1")
workers=$(jq -s 'map(select(.schema == "assay.sweep.summary/1")) | .[0].workers' "$WORK/stdout" "$WORK/stderr" 2>"$WORK/log")
[ "$workers" = "$rounds" ] || fail "$workers workers for $rounds rounds of five problems"
# Once to ask what it is, and once for what it does at most.
[ "$(<"$WORK/visits")" = $((rounds + 2)) ] || fail "the device was opened $(<"$WORK/visits") times"
[ "$(jq -r 'select(.schema == "assay.sweep.outcome/1") | .kernel' "$WORK/stdout" | sort -u)" = fake_b ] || fail "another one won"

# What fails behind other problems, and alone does not, is convicted of nothing, and they are kept apart
# from then on. Calls of a process are counted: 1500 are more than a problem makes in one.
rm -f "$db"
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000 crash_at=1500'
sweep far "${several[@]}" --json
grep -q 'went wrong where other problems had run before: .*each problem has workers of its own' "$WORK/stderr" || fail "nobody was told: $(cat "$WORK/stderr")"
[ "$(sql "SELECT (SELECT count(*) FROM quarantine) + (SELECT count(*) FROM measurement WHERE verdict NOT IN ('ok', 'noisy'))")" = 0 ] || fail "somebody was convicted: $(sql 'SELECT verdict, reason FROM measurement')"
[ "$(jq -r 'select(.schema == "assay.sweep.outcome/1") | .kernel' "$WORK/stdout" | sort -u)" = fake_b ] || fail "another one won"
[ "$(<"$WORK/visits")" -gt $((rounds + 10)) ] || fail "they were not kept apart: $(<"$WORK/visits") processes"
# A wrong result is for good even so, but it is one.
rm -f "$db"
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000 wrong_at=1500 wrong=99'
sweep far "${several[@]}" --json
[ "$(sql "SELECT count(*) FROM measurement WHERE verdict = 'wrong'")" = 1 ] || fail "wrong, not once: $(sql 'SELECT verdict, reason FROM measurement')"
grep -q 'went wrong where other problems had run before: ' "$WORK/stderr" || fail "nobody was told: $(cat "$WORK/stderr")"
# Whose worker somebody plainly wrong has written in is left to no other problem.
rm -f "$db"
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b wrong_at=1 wrong=99'
sweep far "${several[@]}" --json
[ "$(<"$WORK/visits")" -ge $((rounds + 5)) ] || fail "a worker in which somebody was wrong went on: $(<"$WORK/visits")"
grep -q 'of its own from now on' "$WORK/stderr" && fail "wrong alone, and others are kept apart"
# Nor does one go on that has lost the device, or leaks.
rm -f "$db"
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b lose_at=4'
sweep far "${several[@]}" --json
[ "$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name <> 'fake_b' AND m.verdict NOT IN ('ok', 'noisy')")" = 0 ] || fail "who did not lose the device"

# Memory that ends in the course of a round is there again in a fresh process.
rm -f "$db"
script 6 'nomem=80' 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000'
sweep far "${several[@]}" --json
[ "$(count '.schema == "assay.sweep.outcome/1" and .kernel == "fake_b"')" = 5 ] || fail "problems were left for want of memory: $(cat "$WORK/stderr")"
[ "$(sql 'SELECT count(*) FROM quarantine')" = 0 ] || fail "somebody was blamed for it"
# Killed and resumed, it ends with what it would have had.
rm -f "$db"
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000' 'kernel=fake_c wrong_at=1 wrong=99'
sweep far "${several[@]}" --json
facts "$db" >"$WORK/whole" && rm -f "$db"
for goal in 20 70 130; do
    assay sweep --db "$db" --plugins "$WORK/plugins" --backend far --threads 1 --profile quick --quiet --resume "${several[@]}" >"$WORK/stdout" 2>"$WORK/stderr" &
    victim=$!
    while kill -0 "$victim" 2>"$WORK/log" && [ "$(sqlite3 -cmd '.timeout 5000' "$db" 'SELECT count(*) FROM visit' 2>"$WORK/log" || echo 0)" -lt "$goal" ]; do sleep 0.02; done
    kill -KILL "$victim" 2>"$WORK/log"
    wait "$victim" 2>"$WORK/log"
done
sweep far "${several[@]}" --resume
facts "$db" | diff "$WORK/whole" - >"$WORK/log" || fail "resumed, it is another: $(cat "$WORK/log")"

# On the host each visit has a process of its own.
script 6 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000'
expect 0 '*' '*' assay sweep --db "$WORK/host.db" --plugins "$WORK/plugins" --backend fake --threads 1 --profile quick "${several[@]}"
[ "$(<"$WORK/visits")" -ge $((5 * rounds)) ] || fail "on the host $(<"$WORK/visits") processes made $rounds visits of five problems"

# A device that is not there: of one that was named it is told, others do without.
script 3 devices=0
expect 4 '' '*far*no device*' assay sweep --db "$WORK/none.db" --plugins "$WORK/plugins" --backend far "${add[@]}" --profile quick
[ ! -e "$WORK/none.db" ] || fail "a store was made for nothing"
