#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case D9: a clock that makes a kernel faster than the machine can be is flagged, and the
# kernel is never published, however much it seems to win; alone it leaves no route.
. tests/support/fake_sweep.bash
verdicts() { # DB -- "kernel verdict" of variant 0, sorted
    sqlite3 "$1" "SELECT k.name || ' ' || m.verdict FROM measurement m JOIN revision r
        ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        WHERE r.tunables LIKE '%variant=0' ORDER BY 1" | paste -sd' '
}
# 2 * 8^3 operations in 0.05 ns: 20,480 GFLOP/s.  Small, since calls that are said to be short are
# many, and really happen.
script 15 resolution=0 'kernel=* ns=3000 sd=0.01' 'kernel=fake_b ns=0.05'
fake_sweep "$WORK/s.db" matmul m=8,n=8,k=8 --kernel fake_a --kernel fake_b
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "the honest kernel was not published"
got=$(verdicts "$WORK/s.db")
[ "$got" = 'fake_a ok fake_b impossible' ] || fail "verdicts: $got"
grep -q 'roofline' <<<"$(sqlite3 "$WORK/s.db" 'SELECT reason FROM measurement')" || fail "no reason"
[ "$(sqlite3 "$WORK/s.db" "SELECT count(*) FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'")" = 0 ] || fail "published"

script 16 resolution=0 'kernel=* ns=0.05'
expect 1 '*' '*' assay sweep --db "$WORK/t.db" --plugins "$WORK/plugins" --backend fake --op matmul \
    --dtype f32 --shape m=8,n=8,k=8 --threads 1 --profile quick --quiet --kernel fake_b
[ "$(sqlite3 "$WORK/t.db" 'SELECT count(*) FROM route WHERE winner_revision NOT NULL')" = 0 ] ||
    fail "a route from an impossible time"
