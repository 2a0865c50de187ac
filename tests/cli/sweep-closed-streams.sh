#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Standard streams that the caller has closed: their numbers are not taken by files of ours, into which
# our text would be written. All is measured and right, and what could not be said is an exit code.
. tests/support/fake_sweep.bash
script 1 'kernel=* ns=1000 sd=0.01'
run=0
check() { # EXIT, then what the shell closes
    local want=$1 rc=0 db=$WORK/$((run += 1)).db
    # shellcheck disable=SC2016 # the inner shell fills them in
    db=$db bash -c 'assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --threads 1 --profile quick \
        --op add --dtype f32 --shape "n=100|101" '"$2" || rc=$?
    [ "$rc" = "$want" ] || fail "closed by '$2': exit $rc, not $want"
    [ "$(sqlite3 "$db" "SELECT count(*) FROM route WHERE winner_revision NOT NULL")" = 2 ] || fail "closed by '$2': routes are missing"
    [ "$(sqlite3 "$db" "SELECT count(*) FROM measurement WHERE verdict NOT IN ('ok', 'noisy')")" = 0 ] || fail "closed by '$2': a verdict is not ok"
}
check 0 '>/dev/null 2>&- <&-'
check 2 '>&- 2>/dev/null'
check 2 '>&- 2>&- <&-'
# shellcheck disable=SC2016 # the inner shell fills it in
expect 2 '' '*cannot read standard input*' bash -c 'assay sweep --db "$WORK/x.db" --shapes - <&-'
exit 0
