#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A picked kernel gives today the bits that were checked when it was tuned, or `assay check --results`
# says which does not, and exits with 1; nothing is written.
. tests/support/expect.bash
db=$WORK/s.db
plugins=(--plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins")
sweep() {
    expect 0 '*' '*' assay sweep --db "$db" "${plugins[@]}" --profile quick --quiet "$@"
}
sweep --backend villains --op add --dtype f32 --shape n=31340 --kernel v_drift --kernel v_honest
sweep --backend cpu,openblas --op matmul --dtype f32 --shape 'm=1|33,n=70,k=50' --seed 7
for align in 64 16; do
    sweep --backend cpu --op exp --dtype f16 --shape n=70000 --kernel 'cpu_exp*' --align $align
done
[ "$(sqlite3 "$db" "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel WHERE k.op = 'add'")" = v_drift ] || { echo "v_drift did not win" && exit 1; }

check=(assay check --db "$db" "${plugins[@]}" --backend "villains,cpu,openblas")
before=$(sha256sum <"$db")
expect 0 '*results: 5 winners run once: 5 gave the bits that were checked, 0 others, 0 failed*' '*' "${check[@]}" --results
expect 0 '*' '*' "${check[@]}" --results --json
query '.results | [.same, .other, .failed, .not_repeatable, .idle, (.differing | length)] == [5, 0, 0, 0, 0, 0]'
expect 0 '*' '*' "${check[@]}" --json
query '.results == null'

# Something changed that no revision holds.
export VILLAINS_DRIFT=1
expect 1 '*4 gave the bits that were checked, 1 others, 0 failed*villains/v_drift*digest*' '*1 winners no longer give what was checked*' "${check[@]}" --results
expect 1 '*' '*' "${check[@]}" --results --json
query '.results.differing | length == 1 and .[0].kernel == "v_drift" and .[0].digest != .[0].checked_digest'
export VILLAINS_DRIFT=abort
expect 1 '*4 gave the bits that were checked, 0 others, 1 failed*v_drift*signal 6*' '*' "${check[@]}" --results
unset VILLAINS_DRIFT

# Of bits that differ from run to run nobody can say whether they are the right ones.
sqlite3 "$db" "UPDATE stability SET level = 'none' WHERE revision IN (SELECT r.id FROM revision r
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'v_drift')"
before=$(sha256sum <"$db")
expect 0 '*results: 4 winners run once*not run: 1 whose bits differ*' '*' "${check[@]}" --results
# A backend that is absent leaves its winners idle; what is here is run.
expect '*' '*not run: 1 whose bits differ from run to run, *' '*' "${check[@]/villains,cpu,openblas/cpu}" --results
[ "$(sha256sum <"$db")" = "$before" ] || { echo "check wrote to the store" && exit 1; }
