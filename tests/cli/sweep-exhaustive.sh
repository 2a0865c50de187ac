#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A sweep runs unary elementwise kernels of 16 bits over all their inputs, those of f32 when asked:
# what errs or dies on a single one is rejected at every shape, and the evidence of the others
# answers tolerances for shapes that were never swept.  With ASSAY_LONG, f32 to the end (minutes).
set -u
long=${ASSAY_LONG:-}
. tests/support/expect.bash
db=$WORK/s.db
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
fail() { echo "FAIL: $*"; exit 1; }
sql() { sqlite3 "$db" "$1"; }
sweep() { # DTYPE FLAG...
    local dtype=$1
    shift
    assay sweep --db "$db" --plugins "$plugins" --op exp --dtype "$dtype" --shape n=1000 --profile quick "$@"
}
verdicts() { # KERNEL
    sql "SELECT DISTINCT m.verdict || ' ' || m.reason FROM measurement m JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel WHERE k.name = '$1'"
}
proofs="accuracy WHERE stratum = 'exhaustive' AND proof = 'exhaustive'"

expect 0 '*  max = 0 ulp of all inputs  *' '*' sweep bf16 --backend villains,cpu
[[ $(verdicts v_rare) == 'wrong over all inputs: distance 64 at input 0x41a3, allowed '* ]] ||
    fail "v_rare: $(verdicts v_rare)"
[[ $(verdicts v_rare_segv) == 'crashed over all inputs: '*'signal 11'* ]] || fail "v_rare_segv: $(verdicts v_rare_segv)"
[[ $(cat "$WORK/stderr") == *'1 wrong, 1 crashed'* && $(cat "$WORK/stderr") != *'not run'* ]] || fail "counted: $(cat "$WORK/stderr")"
[[ $(sql 'SELECT count(*) FROM quarantine WHERE problem IS NULL') == 1 ]] || fail "one crash on some input is one at all shapes"
[[ $(sql "SELECT group_concat(DISTINCT passed || ' ' || elements || ' ' || p.text) FROM accuracy a
    JOIN problem p ON p.id = a.problem WHERE stratum = 'exhaustive' AND proof = 'exhaustive'") == \
    *'1 65536 exp bf16,bf16 n=65536'* ]] || fail "no evidence of all inputs"
cpu=$(sql "SELECT count(*) FROM revision r JOIN kernel k ON k.id = r.kernel WHERE k.backend = 'cpu' AND op = 'exp'")
[[ $(sql "SELECT count(*) FROM $proofs AND passed = 1") == "$cpu" ]] || fail "not every variant has its evidence"
[[ $(sql "SELECT count(*) FROM $proofs AND passed = 0 AND worst_index = 16803") == 1 ]] || fail "v_rare's input is not stored"

# An op that is judged as a sum: one place off at an input is told, and no fault.
expect 0 '*' '*' assay sweep --db "$WORK/sum.db" --plugins "$plugins" --op gelu --dtype f16 --shape n=1000 --profile quick \
    --backend villains --kernel v_nearly
[ "$(sqlite3 "$WORK/sum.db" "SELECT passed || ' ' || max_ulp || ' ' || worst_index FROM accuracy WHERE stratum = 'exhaustive'")" = '1 1.0 36437' ] ||
    fail "one place off: $(sqlite3 "$WORK/sum.db" "SELECT passed, max_ulp, worst_index FROM accuracy WHERE stratum = 'exhaustive'")"

# A shape never swept: answered by the error alone, as the cost is not known.
ask=(assay pick --db "$db" --op exp --dtype bf16 --shape n=777 --max-ulp 1)
expect 0 '*' '*' "${ask[@]}" --proof exhaustive --json
jq -e '.tier == "unknown" and .is_default and .chosen.proof == "exhaustive" and .chosen.accuracy > 0 and
    .chosen.max_ulp <= 1 and (.chosen | has("time_ns") | not)' "$WORK/stdout" >/dev/null || fail "$(cat "$WORK/stdout")"
expect 0 '*max = 0 ulp (proof: exhaustive)*its error over all inputs is known*' '*' "${ask[@]}" --explain
expect 1 '*' '*' assay pick --db "$db" --op exp --dtype f16 --shape n=777 --max-ulp 1
expect 1 '*' '*' assay pick --db "$db" --op softmax_last_dim --dtype bf16 --shape rows=3,cols=259 --max-ulp 1
expect 1 '*' '*' assay pick --db "$db" --op add --dtype bf16 --shape n=777 --max-ulp 1
expect 0 '*' '*' assay pick --db "$db" --op exp --dtype bf16 --shape n=1000 --proof exhaustive

# On another machine nothing of it holds.
cp "$db" "$WORK/other.db"
sqlite3 "$WORK/other.db" "UPDATE deployment SET digest = printf('%064d', 7)"
expect 1 '*' '*' assay pick --db "$WORK/other.db" --op exp --dtype bf16 --shape n=777 --max-ulp 1

# A failed check at any shape takes the evidence away.
cp "$db" "$WORK/failed.db"
sqlite3 "$WORK/failed.db" "UPDATE accuracy SET passed = 0 WHERE stratum = 'all'"
expect 1 '*' '*' assay pick --db "$WORK/failed.db" --op exp --dtype bf16 --shape n=777 --max-ulp 1

# Again: nothing is measured, the evidence stays as it is.
before=$(sql "SELECT max(measured_utc) FROM $proofs")
expect 0 '*' '*0 problems (1 finished before*' sweep bf16 --backend villains,cpu --resume
[[ $(sql "SELECT max(measured_utc) FROM $proofs") == "$before" ]] || fail "--resume ran all inputs again"
# Evidence that is missing is made although the problem is finished.
sql "DELETE FROM $proofs"
# The route itself remembers what its candidates had.
expect 0 '*' '*' assay pick --db "$db" --op exp --dtype bf16 --shape n=1000 --proof exhaustive
expect 1 '*' '*' "${ask[@]}"
expect 0 '*' '*' sweep bf16 --backend cpu --resume
[[ $(sql "SELECT count(*) FROM $proofs AND passed = 1") == "$cpu" ]] || fail "the missing evidence was not made"

# A set that holds all inputs too, with the seed of that evidence, leaves it alone.
expect 0 '*' '*' assay sweep --db "$db" --op exp --dtype bf16 --shape n=65536 --profile quick --backend cpu \
    --kernel cpu_exp_portable --seed 0
[[ $(sql "SELECT count(*) FROM $proofs AND passed = 1") == "$cpu" ]] || fail "evidence was overwritten"
expect 0 '*' '*' "${ask[@]}" --proof exhaustive

# f32: not unless asked; an interrupt leaves no half evidence.
expect 0 '*  max >= 0 ulp of 2000 elements  *' '*' sweep f32 --backend cpu --kernel cpu_exp_avx2
expect 0 '*max >= 0 ulp *' '*' assay pick --db "$db" --op exp --dtype f32 --shape n=1000 --explain
[[ $(sql "SELECT count(*) FROM $proofs AND elements > 65536") == 0 ]] || fail "f32 over all inputs unasked"
expect 130 '*' '*' timeout --preserve-status -s INT 4 assay sweep --db "$db" --op exp --dtype f32 --shape n=1000 \
    --profile quick --backend cpu --kernel cpu_exp_avx2 --exhaustive --resume
[[ $(sql "SELECT count(*) FROM $proofs AND elements > 65536") == 0 ]] || fail "half evidence is stored"
[[ $(sql 'PRAGMA integrity_check') == ok ]] || fail integrity

[ -n "$long" ] || exit 0
expect 0 '*' '*' sweep f32 --backend cpu --kernel cpu_exp_avx2 --exhaustive --resume
[[ $(sql "SELECT count(*) || ' ' || min(elements) || ' ' || max(max_ulp) || ' ' || count(DISTINCT output_digest)
    FROM $proofs AND elements > 65536") == '4 4294967296 '*' 1' ]] || fail "f32: $(sql "SELECT * FROM $proofs")"
expect 0 '*' '*' assay pick --db "$db" --op exp --dtype f32 --shape n=777 --max-ulp 1 --proof exhaustive
