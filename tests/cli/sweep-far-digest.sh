#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Where a device digests its memory by itself outputs that are right need not be brought here: wrong ones are found all
# the same, in the first timed call or a late one, so are inputs that were written to; digests that are wrong cost
# time alone; and the store holds the same.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
far=(--plugins "$WORK/plugins" --backend far --op add --dtype f32 --threads 1 --profile quick)
# verdicts DB -- of every kernel, one a line
verdicts() {
    sqlite3 "$1" "SELECT DISTINCT k.name || ' ' || m.verdict FROM measurement m JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel ORDER BY 1"
}
for digest in 0 1 2; do
    db=$WORK/$digest.db
    script 5 "digest=$digest" 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000 wrong_at=9 wrong=999' 'kernel=fake_c ns=7000 write_at=5'
    expect '[01]' '*' '*' assay sweep --db "$db" "${far[@]}" --shape n=1000 --quiet --json
    verdicts "$db" >"$WORK/$digest.early"
    # Somewhere among the timed calls of a later visit, in one of many sets.
    script 6 "digest=$digest" 'kernel=* ns=9000 sd=0.01' 'kernel=fake_b ns=8000 wrong_at=150 wrong=99'
    expect '[01]' '*' '*' assay sweep --db "$db.late" "${far[@]}" --shape n=1000 --quiet --json
    verdicts "$db.late" >"$WORK/$digest.late"
done
grep -q 'fake_b wrong' "$WORK/0.early" || fail "wrong results passed: $(<"$WORK/0.early")"
grep -q 'fake_b wrong' "$WORK/1.late" || fail "late ones passed: $(<"$WORK/1.late")"
! grep -q 'fake_c ok' "$WORK/1.early" || fail "spoiled inputs passed: $(<"$WORK/1.early")"
for digest in 1 2; do
    cmp -s "$WORK/0.early" "$WORK/$digest.early" || fail "early, digest=$digest: $(<"$WORK/0.early") $(<"$WORK/$digest.early")"
    cmp -s "$WORK/0.late" "$WORK/$digest.late" || fail "late, digest=$digest: $(<"$WORK/0.late") $(<"$WORK/$digest.late")"
done
exit 0
