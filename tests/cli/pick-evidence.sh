#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay pick and assay check on a planted store: evidence, tolerances, ties, stale rows; neither
# writes a byte.
. tests/support/expect.bash
. tests/support/store.bash
db=$WORK/s.db
ask=(assay pick --op matmul --dtype f32 --shape 'm=512,n=512,k=512' --backend 'cpu,ref' --json)
deployment=$(assay devices --json | jq -r .host.deployment)
kernel_revision() { assay kernels --json | jq -r --arg k "$1" '.kernels[] | select(.kernel == $k and .dtypes[0] == "f32" and .op == "matmul") | .revision'; }
expect 0 '*' '*' "${ask[@]}"
cp "$WORK/stdout" "$WORK/bare"
variant_revision() { jq -r --arg k "$1" '[.chosen, .others[], .rejected[]] | map(select(.kernel == $k)) | .[0].revision' "$WORK/bare"; }

store_make "$db" "$deployment"
store_problem "$db" 1 'matmul f32,f32,f32 m=512,n=512,k=512'
store_variant "$db" 1 cpu matmul f32,f32,f32 cpu_matmul_portable threads=1 \
    "$(kernel_revision cpu_matmul_portable)" "$(variant_revision cpu_matmul_portable)"
store_variant "$db" 2 ref matmul f32,f32,f32 ref_matmul_f32 '' \
    "$(kernel_revision ref_matmul_f32)" "$(variant_revision ref_matmul_f32)"
store_measured "$db" 1 1 1000
store_measured "$db" 2 1 5000
store_route "$db" 1 1 "$(candidate 1 1 0 1000 990 1010 3 0.25)" "$(candidate 2 2 0 5000 4900 5100 0 0.5)"

# Nobody else has the file open, so it must stay the same byte for byte.
sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' >"$WORK/log"
before=$(sha256sum <"$db")
expect 0 '*' '' "${ask[@]}" --db "$db"
query '.tier == "measured" and (.is_default | not) and .counts.routes_usable == 1 and .counts.hits + .counts.misses == 1'
query '.chosen | .kernel == "cpu_matmul_portable" and .backend == "cpu" and .tunables == {"threads": 1}'
query '.chosen | .time_ns == 1000 and .lo_ns == 990 and .hi_ns == 1010 and .max_ulp == 3 and .max_rho == 0.25'
query '.chosen | .stability == "config" and .proof == "sampled" and .measurement == 1 and (has("accuracy") | not)'
query '.store.path != null and .store.schema >= 2 and .searched == 3 and .total == 4 and .stop_reason == "converged"'
query '.others | any(.kernel == "ref_matmul_f32" and .time_ns == 5000)'
expect 0 '*portable{threads=1}*[(]measured[)]*chosen *slower *' '' \
    assay pick --op matmul --dtype f32 --shape m=512,n=512,k=512 --backend ref,cpu --db "$db" --explain

# Tolerances: evidence decides, and each rejection says why.
expect 0 '*' '' "${ask[@]}" --db "$db" --max-ulp 0
query '.chosen.kernel == "ref_matmul_f32" and .chosen.max_ulp == 0'
query '.rejected | any(.kernel == "cpu_matmul_portable" and (.reason | test("max_ulp is 3")))'
expect 1 '*' '*no admissible*' "${ask[@]}" --db "$db" --max-rho 0.1
query 'has("chosen") | not'
expect 1 '*' '*no admissible*' "${ask[@]}" --db "$db" --proof exhaustive
expect 1 '*' '*no admissible*' "${ask[@]}" --db "$db" --stability machine
expect 0 '*' '' "${ask[@]}" --db "$db" --stability config --proof sampled --max-ulp 3 --max-rho 0.25
query '.chosen.kernel == "cpu_matmul_portable"'
# Another policy, layout or alignment class is another question; 16 answers 64.
expect 0 '*' '*nothing admissible is measured*' "${ask[@]}" --db "$db" --policy hot/alone/kernel
expect 0 '*' '*nothing admissible is measured*' "${ask[@]}" --db "$db" --align e
expect 0 '*' '' "${ask[@]}" --db "$db" --align 64
query '.tier == "measured"'

# Inputs that lie otherwise are made contiguous, at a price when the rate of copying is known.
cp "$db" "$WORK/copy.db"
expect 0 '*' '*nothing admissible is measured*' "${ask[@]}" --db "$WORK/copy.db" --layout scc --max-ulp 3
query '.is_default and .tier == "declared" and (.chosen | .make_contiguous == [0] and (has("time_ns") | not))'
sql "$WORK/copy.db" "INSERT INTO peak VALUES (1, 'copy_plain_t1', 'byte/ns', 1000, 999, 1001, 5, $planted_utc)"
expect 0 '*' '' "${ask[@]}" --db "$WORK/copy.db" --layout scc --max-ulp 3
query '.tier == "predicted" and (.is_default | not) and .chosen.kernel == "cpu_matmul_portable"'
query '.chosen | .make_contiguous == [0] and .lo_ns < .time_ns and .time_ns < .hi_ns and .time_ns > 1000'
expect 0 '*first *predicted*operand 0 must be made contiguous*' '' assay pick --op matmul --dtype f32 \
    --shape m=512,n=512,k=512 --layout scc --db "$WORK/copy.db"

expect 0 '*sound*usable*' '' assay check --db "$db"
expect 0 '*' '' assay check --db "$db" --json
query '.schema == "assay.check/1" and .is_sound and (.is_stale | not) and .routes_usable == 1 and .routes_idle == 0'
query '.counts.measurements == 2 and .counts.routes == 1 and .idle == []'
[ "$(sha256sum <"$db")" = "$before" ] || { echo "a command that reads has changed the store" && exit 1; }

# Bounds that are not known are left out.
cp "$db" "$WORK/bounds.db"
sql "$WORK/bounds.db" "UPDATE route SET candidates = x'$(candidate 1 1 0 1000 990 1010 3 0.25)$(candidate 2 2 0 5000 nan nan 0 0.5)'"
expect 0 '*screened *ref/ref_matmul_f32 *5.00 us *screened: 5000 ns, too few visits*' '' \
    assay pick --op matmul --dtype f32 --shape m=512,n=512,k=512 --backend ref,cpu --db "$WORK/bounds.db" --explain
grep -q nan "$WORK/stdout" && cat "$WORK/stdout" && exit 1

# Another revision: listed with the reason, never used as measured.
cp "$db" "$WORK/stale.db"
sql "$WORK/stale.db" "UPDATE revision SET kernel_revision = '$(printf 'a%.0s' {1..64})', variant_revision = '$(printf 'b%.0s' {1..64})' WHERE id = 1"
expect 0 '*' 'assay pick: 1 measured variants are stale and were not used; *assay sweep*' "${ask[@]}" --db "$WORK/stale.db"
query '.chosen.kernel == "ref_matmul_f32" and .tier == "measured"'
query '.rejected | any(.kernel == "cpu_matmul_portable" and (.reason | test("stale")))'
expect 1 '*sound*cpu/cpu_matmul_portable{threads=1}*1 * 1 *stale: its code*' 'assay check: idle routes: 1, stale measurements: 1; sweep again*' \
    assay check --db "$WORK/stale.db"
expect 1 '*' 'assay check: *' assay check --db "$WORK/stale.db" --json
query '.is_stale and .routes_usable == 0 and .routes_idle == 1 and .idle[0].state == "stale" and .idle[0].routes == 1'
# Measured again as it is now, the old rows are history.
store_variant "$WORK/stale.db" 9 cpu matmul f32,f32,f32 cpu_matmul_portable threads=1 \
    "$(kernel_revision cpu_matmul_portable)" "$(variant_revision cpu_matmul_portable)"
store_measured "$WORK/stale.db" 9 1 1000
expect 1 '*' 'assay check: idle routes: 1, stale measurements: 0; *' assay check --db "$WORK/stale.db"
sql "$WORK/stale.db" 'UPDATE route SET winner_revision = 9'
expect 0 '*measured again since*' '' assay check --db "$WORK/stale.db"

# A kernel that is gone, and tunables that it no longer has.
cp "$db" "$WORK/gone.db"
sql "$WORK/gone.db" "UPDATE kernel SET name = 'cpu_matmul_old' WHERE name = 'cpu_matmul_portable'"
expect 1 '*cpu_matmul_old*no such kernel*' 'assay check: *' assay check --db "$WORK/gone.db"
sql "$WORK/gone.db" "UPDATE kernel SET name = 'cpu_matmul_portable' WHERE name = 'cpu_matmul_old'; UPDATE revision SET tunables = 'threads=3' WHERE id = 1"
expect 1 '*no longer has these tunables*' 'assay check: *' assay check --db "$WORK/gone.db"

# Measured elsewhere: nothing of it is used, and check says that nothing holds here.
cp "$db" "$WORK/else.db"
sql "$WORK/else.db" "UPDATE deployment SET digest = '$(printf 'c%.0s' {1..64})'"
expect 0 '*' '*nothing admissible is measured*idle routes: 1, *' "${ask[@]}" --db "$WORK/else.db"
query '.tier == "unknown" and .counts.routes_idle == 1'
expect 1 '*measured on another deployment*' 'assay check: none of the 1 routes*' assay check --db "$WORK/else.db"

# Damage.
cp "$db" "$WORK/bad.db"
sqlite3 "$WORK/bad.db" 'PRAGMA foreign_keys = OFF; DELETE FROM measurement WHERE id = 2'
expect 3 '*damaged*missing row of measurement*' 'assay check: *damaged: 1 findings*' assay check --db "$WORK/bad.db"
expect 3 '' 'assay check: *none.db: store does not exist*' assay check --db "$WORK/none.db"
expect 3 '' 'assay check: assay.db: *' env -C "$WORK" assay check
head -c 3000 "$db" >"$WORK/cut.db"
expect 3 '*' 'assay check: *' assay check --db "$WORK/cut.db"
