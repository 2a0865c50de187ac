#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay pick: questions that are none, and stores that are none.
. tests/support/expect.bash
cd "$WORK" || exit 1
matmul=(assay pick --op matmul --dtype f32)
shape=(--shape 'm=8,n=8,k=8')

expect 2 "" "*the path is empty*" assay pick --db "" --op add --dtype f32 --shape n=8
expect 2 '' 'assay pick: *one --op, one --dtype and one --shape*' assay pick
expect 2 '' 'assay pick: *one --op*' "${matmul[@]}"
expect 2 '' "assay pick: *'matmull'*matmul*" assay pick --op matmull --dtype f32 "${shape[@]}"
expect 2 '' "assay pick: *f33*" assay pick --op matmul --dtype f33 "${shape[@]}"
expect '[12]' '' "assay pick: *i8*" assay pick --op matmul --dtype i8 "${shape[@]}"
expect 2 '' "assay pick: *'q'*" "${matmul[@]}" --shape m=8,n=8,q=8
expect 2 '' "assay pick: *k*" "${matmul[@]}" --shape m=8,n=8
expect 2 '' "assay pick: *m*-1*" "${matmul[@]}" --shape m=-1,n=8,k=8
expect 2 '' "assay pick: *m*" "${matmul[@]}" --shape m=8x,n=8,k=8
expect 2 '' "assay pick: *m*" "${matmul[@]}" --shape m=,n=8,k=8
expect 2 '' "assay pick: *m*" "${matmul[@]}" --shape m=99999999999999999999,n=8,k=8
expect 2 '' "assay pick: *" "${matmul[@]}" --shape m=1099511627776,n=1099511627776,k=8
expect 2 '' "assay pick: *no name=value*" "${matmul[@]}" --shape m
expect 2 '' "assay pick: *" "${matmul[@]}" --shape ''
expect 2 '' "assay pick: --shape: m is given twice" "${matmul[@]}" --shape m=8,n=8,k=8,m=9
expect 2 '' "assay pick: --shape gives 2 problems*" "${matmul[@]}" --shape 'm=8|16,n=8,k=8'
expect 2 '' "assay pick: *--layout*3 letters*" "${matmul[@]}" "${shape[@]}" --layout cc
expect 2 '' "assay pick: *--layout*" "${matmul[@]}" "${shape[@]}" --layout ccx
expect 2 '' "assay pick: --align: '32'*" "${matmul[@]}" "${shape[@]}" --align 32
expect 2 '' "assay pick: *cold*" "${matmul[@]}" "${shape[@]}" --policy cold/alone/kernel
expect 2 '' "assay pick: *--threads*" "${matmul[@]}" "${shape[@]}" --threads 0
expect 2 '' "assay pick: *--max-ulp*" "${matmul[@]}" "${shape[@]}" --max-ulp -1
expect 2 '' "assay pick: *--max-rho*" "${matmul[@]}" "${shape[@]}" --max-rho nan
expect 2 '' "assay pick: *--stability*machine*" "${matmul[@]}" "${shape[@]}" --stability total
expect 2 '' "assay pick: *--proof*exhaustive*" "${matmul[@]}" "${shape[@]}" --proof believed
expect 2 '' "assay pick: *--seed*" "${matmul[@]}" "${shape[@]}" --seed 1
expect 4 '' "assay pick: *'nobody'*assay devices*" "${matmul[@]}" "${shape[@]}" --backend cpu,nobody
expect 4 '' "assay pick: *'nothing'*assay devices*" "${matmul[@]}" "${shape[@]}" --device nothing

# A store that is named must be one; what was named stays as it is.
expect 3 '' 'assay pick: none.db: *assay sweep --db none.db*' "${matmul[@]}" "${shape[@]}" --db none.db
expect 3 '' 'assay pick: none.db: *' env ASSAY_DB=none.db "${matmul[@]}" "${shape[@]}"
expect 3 '' 'assay pick: assay.db: *' "${matmul[@]}" "${shape[@]}" --db assay.db
if [ -e none.db ] || [ -e assay.db ]; then
    echo "a missing store was made" && exit 1
fi
echo 'this is text, and rather more of it than a header needs to be told from a database file' >text.db
expect 3 '' 'assay pick: text.db: *not *' "${matmul[@]}" "${shape[@]}" --db text.db
sqlite3 other.db 'CREATE TABLE t (x)'
expect 3 '' 'assay pick: other.db: *' "${matmul[@]}" "${shape[@]}" --db other.db
sqlite3 newer.db 'PRAGMA application_id = 1095975257; PRAGMA user_version = 999; CREATE TABLE t (x)'
expect 3 '' 'assay pick: newer.db: *newer*' "${matmul[@]}" "${shape[@]}" --db newer.db
: >empty.db
expect 3 '' 'assay pick: empty.db: *' "${matmul[@]}" "${shape[@]}" --db empty.db

# Without a store: the default kernel, one warning that helps, a miss.
expect 0 '*kernel *[!f]/*time *- (unknown)*' \
    "assay pick: nothing admissible is measured*assay sweep --db assay.db --op matmul --dtype f32 --shape 'm=8,n=8,k=8'" \
    "${matmul[@]}" "${shape[@]}"
[ "$(wc -l <"$WORK/stderr")" -eq 1 ] || { cat "$WORK/stderr" && exit 1; }
expect 0 '*' '' "${matmul[@]}" "${shape[@]}" --json --quiet
query '.schema == "assay.pick/1" and .op == "matmul" and .dtypes == ["f32", "f32", "f32"]'
query '.tier == "unknown" and .is_default and .counts.misses == 1 and .chosen.backend != "ref"'
query '.chosen | has("time_ns", "lo_ns", "max_ulp", "max_rho", "measurement", "accuracy") | not'
query '.chosen | .proof == "absent" and .stability == "absent"'
query '.store | (has("path") | not) and (.deployment | test("^[0-9a-f]{64}$"))'
query '.hidden > 0 and (.rejected + .others | any(.backend == "ref") | not)'
expect 0 '*are not listed*' '' "${matmul[@]}" "${shape[@]}" --explain --quiet
expect 0 '*' '' "${matmul[@]}" "${shape[@]}" --json --quiet --backend cpu,ref
query '.others | any(.kernel == "ref_matmul_f32")'
expect 0 '*this needs no --db*' '' assay pick --help
expect 0 '*' '*assay sweep*--backend ref' "${matmul[@]}" "${shape[@]}" --json --backend ref
query '.chosen.kernel == "ref_matmul_f32" and .chosen.backend == "ref"'
expect 0 '*' '' "${matmul[@]}" --shape m=0,n=8,k=8 --json -q
# Variants of one kernel are told apart, and a level of proof that nobody can have says so.
expect 1 '' '*cpu/cpu_add_portable{threads=[0-9]*}: *' assay pick --op add --dtype f32 --shape n=64 --max-ulp 0 -q
expect 1 '' '*at least bounded is asked for; no sweep stores a bound, exhaustive evidence alone meets it*' \
    assay pick --op add --dtype f32 --shape n=64 --proof bounded -q
expect 1 '' 'assay pick: no admissible kernel*cpu/*more answer only when asked for by --backend' \
    "${matmul[@]}" "${shape[@]}" --max-ulp 0 -q
[ "$(wc -l <"$WORK/stderr")" -ge 5 ] || { cat "$WORK/stderr" && exit 1; } # a candidate a line
expect 0 '*' '' "${matmul[@]}" "${shape[@]}" --max-ulp 0 --allow-claims --backend ref -q
