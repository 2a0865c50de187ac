#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case C5: variants that all leak, under limits of memory and descriptors that a stay of one
# alone may use up.  Each is measured, in a worker of its own, and stored at once.  With ASSAY_LONG
# they are 2,000.
long=${ASSAY_LONG:-}
. tests/support/expect.bash
db=$WORK/v.db
if [ -n "$long" ]; then shapes='n=777|1777|2777|3777' kernel=v_leak_many all=2000; else shapes='n=776|1776' kernel=v_leak_some all=40; fi
sweep=(assay sweep --db "$db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" --backend villains
    --op add --dtype f32 --shape "$shapes" --kernel v_honest --kernel v_opens --kernel "$kernel" --profile quick --quiet)
(
    ulimit -n 256 && ulimit -v 2097152 || exit 1
    "${sweep[@]}" >"$WORK/stdout" 2>"$WORK/stderr" &
    victim=$! last=0 grown=0
    while kill -0 "$victim" 2>/dev/null; do
        have=$(sqlite3 -cmd '.timeout 5000' "$db" 'SELECT count(*) FROM visit' 2>/dev/null)
        [ "${have:-0}" -le "$last" ] || grown=$((grown + 1))
        last=${have:-0}
        sleep 0.1
    done
    wait "$victim" || { echo "exit $?" && cat "$WORK/stderr" && exit 1; }
    [ "$grown" -ge 5 ] || { echo "the store grew in $grown steps alone" && exit 1; }
) || exit 1
sql() { sqlite3 "$db" "$1"; }
done=$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = '$kernel' AND m.verdict IN ('ok', 'noisy') AND m.visits >= 1")
[ "$done" = "$all" ] || { echo "$done of $all are done" && sql 'SELECT verdict, reason, count(*) FROM measurement GROUP BY 1, 2' && exit 1; }
# A slow machine makes fewer calls in a stay than are told of.
[ "$(sql "SELECT count(*) FROM measurement WHERE reason LIKE 'leaks % descriptors in one stay%'")" -ge 5 ] ||
    { echo "nobody leaks" && sql 'SELECT reason, count(*) FROM measurement GROUP BY 1' && exit 1; }
[ "$(sql 'SELECT count(*) FROM quarantine')" = 0 ] || { echo "somebody is in quarantine" && exit 1; }
[ -n "$long" ] || [ "$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'v_opens' AND m.verdict IN ('ok', 'noisy')")" = 2 ] ||
    { echo "who needs a file had none" && sql 'SELECT verdict, reason FROM measurement' && exit 1; }
[ "$(sql 'PRAGMA integrity_check')" = ok ] || exit 1

# However quick it is, nobody is given what will let him open no more files.
expect 0 '*' '*' assay sweep --db "$WORK/quick.db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" --backend villains \
    --op matmul --dtype f32 --shape m=160,n=160,k=160 --kernel v_honest --kernel v_leak --profile quick --quiet
[ "$(sqlite3 "$WORK/quick.db" "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel")" = v_honest ] || { echo "a leak was published" && exit 1; }
# Nor where the published one may not be used.
sqlite3 "$WORK/quick.db" "INSERT INTO quarantine (deployment, revision, problem, reason, since_utc)
    SELECT deployment, winner_revision, problem, 'x', '' FROM route"
expect '*' '*' '*' assay pick --db "$WORK/quick.db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" \
    --backend villains --op matmul --dtype f32 --shape m=160,n=160,k=160 --json
query '.chosen.kernel != "v_leak"'
