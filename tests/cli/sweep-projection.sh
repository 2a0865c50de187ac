#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Products too large to be compared whole: a sample and projections catch the same villains, also a
# single element that no sample holds, and the store says what a check was made of. The limit of 2
# GFLOP is lowered, so that no kernel runs for long.
. tests/support/expect.bash
db=$WORK/v.db
export ASSAY_TEST_SAMPLE_ABOVE_FLOPS=100000
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
verdict() { # KERNEL WANTED -- "verdict reason" of the measurement as a glob
    local row
    row=$(sqlite3 "$db" "SELECT DISTINCT replace(m.verdict, 'noisy', 'ok') || ' ' || m.reason FROM measurement m
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = '$1'")
    # shellcheck disable=SC2053 # globs on purpose
    [[ $row == $2 ]] || { echo "$1: '$row', wanted $2" && exit 1; }
}
none() { # WHAT QUERY -- whose rows must not be there
    local rows
    rows=$(sqlite3 "$db" "$2")
    [ -z "$rows" ] || { printf '%s:\n%s\n' "$1" "$rows" && exit 1; }
}

kernels=()
for name in honest twin tail nan one hair unwritten late align_lies; do kernels+=(--kernel "v_$name"); done
expect 0 '*' '' assay sweep --db "$db" --plugins "$plugins" --backend villains --op matmul --dtype f32 \
    --shape m=91,n=900,k=20 --profile quick --quiet "${kernels[@]}"
verdict v_honest 'ok *'
verdict v_twin 'ok *'
verdict v_tail 'wrong *element * expected *'
verdict v_nan 'wrong normal: element 40950 is nan, expected *'
verdict v_one 'wrong normal: element 54600 is * expected *; 1 of * outside the bound; projection: row 60, columns 450-899, * of its limit'
verdict v_hair 'wrong normal: element 54600 is * expected *; 1 of * outside the bound; projection: row 60, columns 450-899, 0.0* of its limit'
verdict v_unwritten 'wrong *element * expected *'
verdict v_late 'wrong *after timing: element 0 *'
verdict v_align_lies 'wrong *'
winner=$(sqlite3 "$db" "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel WHERE t.superseded_utc IS NULL")
case $winner in
v_honest | v_twin) ;;
*) echo "winner: $winner" && exit 1 ;;
esac

# What was wrong is no pass, and its worst element is the one that is wrong, though no sample had it.
none 'passed, though wrong' "SELECT k.name, a.stratum FROM accuracy a JOIN revision r ON r.id = a.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name IN ('v_hair', 'v_one', 'v_nan') AND a.stratum = 'all' AND a.passed"
[ "$(sqlite3 "$db" "SELECT DISTINCT a.worst_index FROM accuracy a JOIN revision r ON r.id = a.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name IN ('v_hair', 'v_one')")" = 54600 ] || { echo "worst element" && exit 1; }
# Nor is a number in the sample taken for one in the output.
none 'no index beyond the sample' "SELECT 'all' WHERE NOT EXISTS (SELECT 1 FROM accuracy WHERE passed AND worst_index >= elements)"
# A sample is no more than it is: fewer than a million elements prove nothing, and all say how many.
none 'not so many elements' "SELECT elements, proof, reference FROM accuracy WHERE stratum = 'all' AND passed AND
    (elements >= 40000 OR elements < 8192 OR proof <> 'absent' OR
     reference <> 'wide oracle at ' || elements || ' elements, Freivalds'' projection of all; hi + lo with bound')"

# Kernels of others, every form and type: no false alarm, nor where most results overflow and must.
rm -f "$db"
printf '%s\n' op,dtype,batch,m,n,k,trans_a,trans_b,alpha,beta matmul,f32,1,200,300,64,n,n,1,0 \
    matmul,f32,1,200,300,64,t,n,1,0 matmul,f32,1,200,300,64,n,t,1.5,0 matmul,f32,1,200,300,64,t,t,1,0.5 \
    matmul,f32,40,40,50,16,n,n,1,1 matmul,f64,1,100,600,40,n,n,1,0 matmul,f64,1,100,600,40,t,t,-2,0.3 \
    matmul,bf16,1,200,300,64,n,n,1,0 matmul,f16,1,200,300,64,n,n,1,0 \
    matmul,f16,1,40,600,16,n,n,16384,0 >"$WORK/shapes.csv"
printf '%s\n' op,dtype,batch,m,n,k fused_linear,f32,2,100,200,64 >"$WORK/fused.csv"
for set in shapes fused; do
    expect 0 '*' '' assay sweep --db "$db" --plugins "$ASSAY_BUILD/lib/assay" --backend cpu,openblas --shapes "$WORK/$set.csv" \
        --threads 1 --profile quick --quiet --kernel "*portable*" --kernel "openblas*" --kernel "*avx2*"
done
none 'not right' "SELECT p.text, k.name, m.verdict, m.reason FROM measurement m JOIN problem p ON p.id = m.problem
    JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE m.verdict NOT IN ('ok', 'noisy', 'none')" # none: not searched
none 'compared whole' "SELECT p.text FROM accuracy a JOIN problem p ON p.id = a.problem WHERE a.reference NOT LIKE '%projection%'"
[ "$(sqlite3 "$db" 'SELECT count(DISTINCT problem) FROM accuracy')" = 11 ] || { echo "problems are missing" && exit 1; }
# The same seed looks at the same elements, whoever runs and whenever.
none 'other elements' "SELECT problem FROM accuracy WHERE stratum = 'all' GROUP BY problem HAVING count(DISTINCT elements) > 1"
