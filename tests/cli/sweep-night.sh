#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A night with villains among good kernels: the sweep ends well, each villain has its fate, every good
# variant is measured, and what is stored of these is what a sweep without villains stores. The good
# ones are timed by the scripted clock and faster than any villain can be.
long=${ASSAY_LONG:-}
. tests/support/fake_sweep.bash
export ASSAY_TEST_RUN_TIMEOUT_MS=4000 # of a hang each
ln -s "$ASSAY_BUILD/tests/plugins/assay_villains.so" "$WORK/plugins/" || exit 1
night() { # DB BACKENDS
    script 7 resolution=0 'kernel=* ns=2000' 'kernel=fake_b ns=1700' 'kernel=fake_c ns=2600'
    expect 0 '*' '*' timeout 280 assay sweep --db "$1" --plugins "$WORK/plugins" --backend "$2" --op add --dtype f32 \
        --shape 'n=30000|30001' --threads 1 --profile quick --json
}
good() { # DB -- all that is known of the scripted kernels
    sqlite3 "$1" "SELECT p.text, k.name, r.tunables, m.verdict, m.reason, printf('%.6f %.6f %.6f %.6f', m.median_ns, m.lo_ns, m.hi_ns, m.min_ns),
            printf('%.6f %.6f', m.ratio_lo, m.ratio_hi), (SELECT count(*) FROM visit v WHERE v.measurement = m.id AND v.kind = 'measure')
        FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        JOIN problem p ON p.id = m.problem WHERE k.backend = 'fake' ORDER BY 1, 2, 3;
        SELECT p.text, k.name, r.tunables FROM route t JOIN problem p ON p.id = t.problem
        JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel WHERE t.superseded_utc IS NULL ORDER BY 1"
}

night "$WORK/calm.db" fake
good "$WORK/calm.db" >"$WORK/calm"
[ "$(grep -c '|ok|' "$WORK/calm")" = 24 ] || fail "not 24 good ones: $(cat "$WORK/calm")"
(ulimit -d 1000000 && night "$WORK/night.db" fake,villains) || exit 1
good "$WORK/night.db" >"$WORK/night"
diff "$WORK/calm" "$WORK/night" || fail "villains changed what is known of others"

sqlite3 "$WORK/night.db" "SELECT k.name || ' ' || group_concat(DISTINCT replace(m.verdict, 'noisy', 'ok')) FROM measurement m
    JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.backend = 'villains' AND k.name NOT IN ('v_chatty_late') AND k.name NOT LIKE 'v_replay%' GROUP BY k.name ORDER BY k.name" >"$WORK/fates"
diff - "$WORK/fates" <<END || fail "other fates"
v_abort crashed
v_align_lies wrong
v_babbles crashed
v_bimodal ok
v_bomb crashed
v_chatty_err crashed
v_coldfast ok
v_coldslow ok
v_exit crashed
v_fails crashed
v_flood crashed
v_foreign crashed
v_hang timeout
v_honest ok
v_late wrong
v_leak ok
v_lost crashed
v_mute crashed
v_nan wrong
v_noisy ok
v_one wrong
v_oob wrong
v_overflow crashed
v_refuses crashed
v_rounds crashed
v_scribble crashed
v_segv crashed
v_stops crashed
v_twin ok
v_unwritten wrong
END
# Nobody else is in quarantine, everybody of these is, and each has a reason.
sql() { sqlite3 "$WORK/night.db" "$1"; }
[ "$(sql "SELECT count(*) FROM quarantine q JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel WHERE k.backend <> 'villains' OR q.reason = ''")" = 0 ] ||
    fail "an innocent is in quarantine"
[ "$(sql "SELECT count(*) FROM measurement m WHERE m.verdict IN ('crashed', 'timeout', 'wrong') AND NOT EXISTS
    (SELECT 1 FROM quarantine q WHERE q.revision = m.revision AND q.problem = m.problem AND q.deployment = m.deployment)")" = 0 ] ||
    fail "somebody with a bad end is not in quarantine"
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "integrity"
# People are told whom to expect in the morning.
jq -Rse 'split("\n") | map(fromjson? | select(.schema == "assay.sweep.fate/1" and .variant == "villains/v_hang" and .verdict == "timeout" and (.reason | test("^no reply within")))) | length == 1' "$WORK/stderr" >/dev/null || fail "v_hang is not told of: $(cat "$WORK/stderr")"

# On the real clock, where it is long: the middle of what neighbours' times differ by is nothing.
[ -n "$long" ] || exit 0
real() { # DB BACKENDS
    expect 0 '*' '*' assay sweep --db "$1" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" --backend "$2" \
        --op add --dtype f32 --shape 'n=20000|100000|500000|1000000' --profile quick --quiet
}
real "$WORK/calm.db" cpu,openblas
(ulimit -d 1500000 && real "$WORK/night.db" cpu,openblas,villains) || exit 1
middle=$(sqlite3 "$WORK/night.db" "ATTACH '$WORK/calm.db' AS calm; SELECT avg(q) FROM (SELECT q, row_number() OVER (ORDER BY q) i, count(*) OVER () n
    FROM (SELECT m.median_ns / c.median_ns AS q FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN problem p ON p.id = m.problem JOIN calm.revision cr ON cr.variant_revision = r.variant_revision
    JOIN calm.problem cp ON cp.text = p.text JOIN calm.measurement c ON c.revision = cr.id AND c.problem = cp.id
    WHERE m.visits > 1 AND c.visits > 1)) WHERE i IN ((n + 1) / 2, (n + 2) / 2)")
echo "times of neighbours over those without villains: $middle in the middle"
awk -v q="$middle" 'BEGIN { exit !(q >= 0.8 && q <= 1.25) }' || fail "neighbours are slower: $middle"
[ "$(sqlite3 "$WORK/night.db" "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.backend <> 'villains' AND m.verdict NOT IN ('ok', 'noisy')")" = 0 ] || fail "a neighbour was not measured"
