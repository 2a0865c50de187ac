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

# A device that is not there: of one that was named it is told, others do without.
script 3 devices=0
expect 4 '' '*far*no device*' assay sweep --db "$WORK/none.db" --plugins "$WORK/plugins" --backend far "${add[@]}" --profile quick
[ ! -e "$WORK/none.db" ] || fail "a store was made for nothing"
