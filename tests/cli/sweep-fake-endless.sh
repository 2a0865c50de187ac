#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A variant whose one call takes many budgets of a stay is called no more than needed: once on each
# input set, once untimed, once timed. The script would have it crash at the fifth call.
. tests/support/fake_sweep.bash
slow='kernel=fake_c threads=1 variant=2'
script 5 'kernel=* ns=10000 sd=0.01' "$slow ns=900000000 crash_at=5"
fake_sweep "$WORK/s.db" add n=100
verdict() {
    sqlite3 "$WORK/s.db" "SELECT m.verdict, m.reason FROM measurement m JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_c' AND r.tunables LIKE '%variant=2%'"
}
case $(verdict) in
*'the best in the screening visit') ;;
*) fail "called too often: $(verdict)" ;;
esac
# One that is not as slow is called more often than that.
script 6 'kernel=* ns=10000 sd=0.01' "$slow ns=20000 crash_at=5"
fake_sweep "$WORK/t.db" add n=101
mv "$WORK/t.db" "$WORK/s.db"
[[ $(verdict) = crashed* ]] || fail "not called five times: $(verdict)"
