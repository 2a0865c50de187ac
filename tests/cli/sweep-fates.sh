#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases C1, C4, C5: what kernels do to their process and to whoever is called after them is
# blamed on who did it, with its reason; neighbours are measured as if nothing had been.
. tests/support/expect.bash
export ASSAY_TEST_RUN_TIMEOUT_MS=4000 # of a hang each
db=$WORK/v.db
fail() { echo "FAIL: $*" && cat "$WORK/stderr" && exit 1; }
sweep() { # SHAPE KERNEL...
    local shape=$1 flags=()
    shift
    for kernel in "$@"; do flags+=(--kernel "$kernel"); done
    expect 0 '*' '*' timeout 250 assay sweep --db "$db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" \
        --backend villains --op add --dtype f32 --shape "$shape" --profile quick --seed "${seed:-1}" "${flags[@]}"
}
sql() { sqlite3 "$db" "$1"; }
verdict() { # KERNEL WANTED -- "verdict reason" of each of its measurements as a glob
    local row
    row=$(sql "SELECT DISTINCT m.verdict || ' ' || m.reason FROM measurement m
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = '$1'")
    # shellcheck disable=SC2053 # globs on purpose
    [[ $row == $2 ]] || fail "$1: '$row', wanted $2"
}

# A bomb is stopped by the limit of its worker; a lower one of the user holds, too.
(
    ulimit -d 1500000 && sweep n=1000 v_honest v_twin v_bomb v_overflow v_flood v_mute v_chatty_err v_lost v_rounds
) || exit 1
verdict v_bomb 'crashed the kernel returned status 2 (NOMEM)*'
verdict v_overflow 'crashed *signal 11 (Segmentation fault) as its stack overflowed*'
verdict v_flood 'crashed it wrote more than 16 MiB to standard output and error: killed; it wrote: vvv*'
verdict v_mute 'crashed *closed its connection and went on, killed*'
verdict v_chatty_err 'crashed an earlier call has read where it may not'
verdict v_lost 'crashed v_lost: the device is lost'
verdict v_rounds 'crashed *leaves another floating-point environment behind*'
verdict v_honest '@(ok|noisy)*'
verdict v_twin '@(ok|noisy)*'
[ "$(sql 'SELECT count(*) FROM quarantine')" = 7 ] || fail "not seven in quarantine: $(sql 'SELECT * FROM quarantine')"

# What only shows in the call of another is his who ran before.
sweep n=2000 v_honest v_twin v_chatty_late
verdict v_chatty_late 'crashed leaves a fault behind that shows in the next call, as of villains/v_*: an earlier call has read where it may not'
verdict v_honest '@(ok|noisy)*'
verdict v_twin '@(ok|noisy)*'
grep -q 'failed where villains/v_chatty_late had run before, and alone it does not' "$WORK/stderr" || fail "nobody was told"
[ "$(sql "SELECT k.name FROM quarantine q JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel
    JOIN problem p ON p.id = q.problem WHERE p.text LIKE '%n=2000'")" = v_chatty_late ] || fail "another is in quarantine"

# Of two that do so each is found, in whatever order they come; nobody else is convicted for having failed twice.
sweep 'n=2001|2002|2003|2004|2005|2006' v_honest v_chatty_late v_chatty_later
# Who is alone in a worker, and then too slow to go on, is never published.
verdict v_chatty_later '?(ok *times the best in the screening visit?)crashed leaves a fault behind *'
verdict v_honest '@(ok|noisy)*'
[ "$(sql "SELECT count(*) FROM quarantine q JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'v_honest'")" = 0 ] || fail "an honest one is in quarantine"

# Nor for having failed behind one that was found, and then behind another that has just begun to do so.
mkdir "$WORK/again" && export VILLAINS_AGAIN=$WORK/again
sweep 'n=2011|2012|2013|2014|2015|2016' v_honest v_chatty_late v_chatty_again
# (Where it is alone in a worker, and then too slow to go on, it is never published.)
again=$(sql "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'v_chatty_again' AND m.reason LIKE '%times the best in the screening visit'")
[ "$again" -le 2 ] || fail "$again of six were too slow for it"
[ "$(sql "SELECT count(*) || ' ' || group_concat(DISTINCT k.name) FROM quarantine q JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel
    JOIN problem p ON p.id = q.problem WHERE p.text GLOB '*n=201[1-6]' AND k.name <> 'v_chatty_late'")" = "$((6 - again)) v_chatty_again" ] ||
    fail "of the two: $(sql 'SELECT * FROM quarantine')"
verdict v_honest '@(ok|noisy)*'

# A call that never returns for what another one left behind is his as well.
sweep n=31342 v_honest v_twin v_locks
verdict v_locks 'crashed leaves a fault behind that shows in the next call, as of villains/v_*: no reply within *'
verdict v_honest '@(ok|noisy)*'
verdict v_twin '@(ok|noisy)*'

# A result that he spoils is his, and not of who gave it, also where nobody is checked behind him.
sweep n=31343 v_honest v_twin v_spoils
screened() { sql "SELECT group_concat(name) FROM (SELECT DISTINCT k.name FROM visit v JOIN measurement m ON m.id = v.measurement
    JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel JOIN problem p ON p.id = m.problem
    WHERE p.text LIKE '%n=31343' ORDER BY v.id)"; }
[[ $(screened) == *,v_spoils ]] || fail "another seed is needed, with which it comes last: $(screened)"
grep -q 'is wrong where villains/v_spoils has run before, and alone it is not' "$WORK/stderr" || fail "nobody was told of v_spoils"
sql "DELETE FROM quarantine WHERE reason LIKE 'spoils %'"
seed=3 sweep n=31343 v_honest v_twin v_spoils
verdict v_spoils 'crashed spoils the result of the next call, as of villains/v_*: * is *, expected *'
verdict v_honest '@(ok|noisy)*'
verdict v_twin '@(ok|noisy)*'
grep -q 'is wrong where villains/v_spoils has run before, and alone it is not' "$WORK/stderr" || fail "nobody was told of v_spoils"

# The worker has a limit of its own where the user has none.
[ "$(ulimit -d)" = unlimited ] || fail "this test needs no limit of the user"
sweep n=31341 v_honest v_hoard
verdict v_hoard 'crashed the kernel returned status 2 (NOMEM)*'

# One that leaks is measured, and so are those after it: its worker is replaced before it can do no more.
(ulimit -n 256 && sweep 'n=3000|4000' v_honest v_twin v_leak) || exit 1
verdict v_leak '@(ok|noisy) leaks *descriptors in one stay*'
verdict v_twin '@(ok|noisy)*'
grep -q 'villains/v_leak leaks .* in one stay; its worker is replaced' "$WORK/stderr" || fail "no word of a leak"
[ "$(sql "SELECT min(m.visits) FROM measurement m JOIN problem p ON p.id = m.problem JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'v_honest'")" -ge 7 ] || fail "somebody made fewer visits"

# Of one that takes long there are few calls in a stay: what each of them leaves is told as well.
sweep n=31344 v_honest v_leak_slow
verdict v_leak_slow '@(ok|noisy) leaks * descriptors in one stay*'

# Limits that are not the profile's are in the store.
[ "$(sql "SELECT DISTINCT settings_json ->> 'run_timeout_ms' FROM sweep")" = 4000.0 ] || fail "limit: $(sql 'SELECT settings_json FROM sweep')"

# Times that mislead are no fault.
sweep n=5000 v_honest v_coldfast v_coldslow v_bimodal
for kernel in coldfast coldslow bimodal; do verdict v_$kernel '@(ok|noisy)*'; done

# Who does nothing but fail is left alone after three problems, one that is right elsewhere is not.
rm "$db"
sweep 'n=10|20|30|40|50' v_honest v_segv
fates() { sql "SELECT group_concat(n || ' ' || why) FROM (SELECT substr(reason, 1, 7) AS why, count(*) AS n FROM measurement
    WHERE verdict = 'crashed' GROUP BY 1 ORDER BY 1)"; }
[ "$(fates)" = '2 not run,3 the wor' ] || fail "not tried three times: $(fates)"
[ "$(sql "SELECT count(problem) || ' of ' || count(*) FROM quarantine")" = '3 of 4' ] || fail "quarantine: $(sql 'SELECT * FROM quarantine')"
[[ $(sql "SELECT reason FROM quarantine WHERE problem IS NULL") == 'failed at all 3 problems tried: the worker ended: signal 11 '*' at address 0x8'* ]] ||
    fail "reason: $(sql 'SELECT reason FROM quarantine WHERE problem IS NULL')"
[ "$(sql 'SELECT count(*) FROM route')" = 5 ] || fail "not five routes"
sweep n=60 v_honest v_segv
[ "$(fates)" = '1 failed ,2 not run,3 the wor' ] || fail "tried again: $(fates)"
