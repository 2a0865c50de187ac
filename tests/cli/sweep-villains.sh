#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases D1, D2, D3, D10 and the fates of C: kernels that err or die are stored with their
# reason and never picked; the honest ones beside them are measured, and the sweep ends well.
set -u
export ASSAY_TEST_RUN_TIMEOUT_MS=4000 # of a hang each
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
sweep() { # BACKENDS OP SHAPE FLAG...
    timeout 250 assay sweep --db v.db --plugins "$plugins" --backend "$1" --op "$2" --dtype f32 \
        --shape "$3" --profile quick --quiet "${@:4}" >out 2>err || fail "sweep of $2: $(cat err)"
}
verdict() { # KERNEL VERDICT [WORD OF THE REASON]
    local row
    # Right, however well its time is known.
    row=$(sqlite3 v.db "SELECT DISTINCT replace(m.verdict, 'noisy', 'ok') || ' ' || m.reason FROM measurement m
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = '$1'")
    case $row in
    "$2"*) [ -n "$2" ] || [ -z "$row" ] || fail "$1: '$row', not none" ;;
    *) fail "$1: '$row', not $2" ;;
    esac
    [ $# -lt 3 ] || grep -q -- "$3" <<<"$row" || fail "$1: no '$3' in '$row'"
}

sweep villains,cpu add n=100000
verdict v_nan wrong element
verdict v_one wrong element
verdict v_unwritten wrong element
verdict v_align_lies wrong element
verdict v_oob wrong 'outside the output'
# Nothing that came after it was compared: no figure is known, and nothing is a pass.
[ "$(sqlite3 v.db "SELECT count(*) FROM accuracy a JOIN revision r ON r.id = a.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'v_oob'")" = 0 ] || fail "v_oob: its output was compared"
verdict v_late wrong 'after timing'
verdict v_scribble crashed 'signal 11'
verdict v_segv crashed 'signal 11'
verdict v_abort crashed 'signal 6'
verdict v_exit crashed 'exit 0'
verdict v_hang timeout
verdict v_refuses crashed 'INVALID.*these are no operands'
verdict v_foreign crashed 'status 4711'
verdict v_stops crashed INTERRUPTED # no user has stopped the sweep
verdict v_babbles crashed 'makes no sense'
verdict v_honest ok
verdict v_noisy ok
verdict v_align ''    # asks for 64 bytes; these operands lie at 16: not even run
[ "$(sqlite3 v.db 'SELECT count(*) FROM quarantine')" -ge 3 ] || fail "nothing in quarantine"
[ "$(sqlite3 v.db "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.backend = 'cpu' AND m.verdict NOT IN ('ok', 'noisy')")" = 0 ] ||
    fail "an honest kernel was not measured"
[ "$(sqlite3 v.db 'SELECT count(*) FROM route')" = 1 ] || fail "no route"
winner=$(sqlite3 v.db "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel")
case $winner in
v_honest | v_noisy) ;;
v_*) fail "a villain won: $winner" ;;
esac
sqlite3 v.db 'PRAGMA integrity_check' | grep -qx ok || fail "integrity"

# One call in 16 is wrong: not only the last output of a timed run is looked at.
sweep villains add n=1000 --kernel v_honest --kernel v_flaky
verdict v_flaky wrong 'after timing: element 333'

# Wrong in one call of all, and right whenever he is asked again, alone or behind the same one: he is wrong.
mkdir once && touch once/3135{1,2,3,4,5,6}
VILLAINS_ONCE=$PWD/once sweep villains add 'n=31351|31352|31353|31354|31355|31356' --kernel v_honest --kernel v_twin --kernel v_once
[ -z "$(ls once)" ] || fail "v_once was not asked at each problem"
[ "$(sqlite3 v.db "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'v_once' AND m.verdict = 'wrong' AND m.reason LIKE '%element 0 is%'")" = 6 ] || fail "v_once was let off"

# Who knows his operands by where they lie is asked about others there: in the check, and where he
# remembers later, once he is to be published.
rm v.db
sweep villains add n=4000 --kernel v_honest --kernel 'v_replay*' --policy hot/alone/kernel
verdict v_replay wrong 'element'
grep -q timed <<<"$(sqlite3 v.db "SELECT reason FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'v_replay'")" && fail "v_replay was timed"
verdict v_replay_late wrong 'with other inputs where those timed lay: element'
[ "$(sqlite3 v.db "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel")" = v_honest ] || fail "a replayed result was published"

rm v.db
sweep villains,cpu matmul m=32,n=32,k=384
verdict v_tail wrong element # K is a multiple of 16, and the tail is dropped all the same
verdict v_twin ok
