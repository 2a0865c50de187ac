#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Whoever cannot be picked after a sweep is told and counts with --strict: also those that quarantine keeps out,
# those whose check could not tell right from wrong, and those beyond the forty that are listed.
. tests/support/fake_sweep.bash
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --threads 1 --profile quick)
summary() { tail -n 1 "$WORK/stderr" | jq -e "$1" >"$WORK/jq" || fail "not true: $1: $(tail -n 1 "$WORK/stderr")"; }

db=$WORK/q.db
script 31 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c variant=2 crash_at=1'
expect 0 '*' '*1 candidates rejected: 0 wrong, 1 crashed*' "${sweep[@]}" --db "$db"
[[ $(cat "$WORK/stderr") != *'not run'* ]] || fail "who crashed today is told twice"
script 31 'kernel=* ns=10000 sd=0.01'
expect 0 '*' '*1 candidates were not run, as they are in quarantine*' "${sweep[@]}" --db "$db"
[[ $(cat "$WORK/stderr") != *'candidates rejected'* ]] || fail "nobody was rejected today"
expect 1 '*' '*' "${sweep[@]}" --db "$db" --strict --json
summary '.quarantined == 1 and .crashed == 0 and .mistrusted == 0 and .routes == 1'
expect 0 '*' '*' "${sweep[@]}" --db "$WORK/well.db" --strict
[ "$(sqlite3 "$WORK/well.db" "SELECT settings_json ->> 'run_timeout_ms' IS NULL FROM sweep")" = 1 ] || fail "a limit that nobody set"
[ "$(sqlite3 "$WORK/well.db" "SELECT settings_json ->> 'strict' FROM sweep")" = 1 ] || fail "not stored that it was strict"
# Under it samples without the CPU are left out, and told with the reason.
ASSAY_FAKE_CLOCK=3 ASSAY_FAKE_SWITCHES=010 expect 0 '*' '*' "${sweep[@]}" --db "$WORK/switched.db" --strict
[ "$(sqlite3 "$WORK/switched.db" "SELECT group_concat(DISTINCT rejected_json) FROM visit")" = '{"switched":[1]}' ] || fail "samples are not left out"
ASSAY_FAKE_CLOCK=3 ASSAY_FAKE_SWITCHES=010 expect 0 '*' '*' "${sweep[@]}" --db "$WORK/lax.db"
[ "$(sqlite3 "$WORK/lax.db" "SELECT count(*) FROM visit WHERE rejected_json <> ''")" = 0 ] || fail "samples are left out though nobody asked"

# What an earlier sweep mistrusted.
sqlite3 "$WORK/well.db" "UPDATE measurement SET verdict = 'mistrusted', reason = 'by hand' WHERE revision IN
    (SELECT r.id FROM revision r JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'); DELETE FROM route"
expect 1 '*' '*' "${sweep[@]}" --db "$WORK/well.db" --resume --strict --json
summary '.mistrusted == 4 and .quarantined == 0 and .routes == 1'
# And what today's does: of 289 results 288 are sums of nothing but padding.
expect 1 '*' '*[1-9] mistrusted; *' assay sweep --db "$WORK/zeros.db" --plugins "$ASSAY_BUILD/lib/assay" --backend cpu \
    --op conv2d --dtype f32 --shape 'n=1,c=1,h=1,w=1,k=1,r=1,s=1,pad_h=8,pad_w=8' --threads 1 --profile quick

# Of sixty that are wrong forty are listed, and the rest is counted.
many=(assay sweep --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" --backend villains --kernel v_honest
    --kernel v_one_many --op add --dtype f32 --shape n=778 --threads 1 --profile quick --evaluations 61)
expect 0 '*' '*' "${many[@]}" --db "$WORK/m.db" --json
[ "$(grep -c '"assay.sweep.fate/1"' "$WORK/stderr")" = 40 ] || fail "not forty: $(cat "$WORK/stderr")"
[ "$(grep '"assay.sweep.fates/1"' "$WORK/stderr" | jq -c 'del(.schema)')" = '{"more":20}' ] || fail "the rest: $(cat "$WORK/stderr")"
summary '.wrong == 60'
# Where all are listed there is no such line.
expect 0 '*' '*' "${many[@]/61/3}" --db "$WORK/n.db" --json
[ "$(grep -c '"assay.sweep.fate/1"' "$WORK/stderr")" = 2 ] || fail "not two: $(cat "$WORK/stderr")"
grep -q '"assay.sweep.fates/1"' "$WORK/stderr" && fail "more than all"
exit 0
