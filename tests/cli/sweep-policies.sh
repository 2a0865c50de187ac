#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Each policy is a question of its own: measured as it says, stored under its name, answered by no
# other; the load of "busy" is stated, and runs while kernels are timed.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
ask=(--plugins "$plugins" --backend villains --op add --dtype f32 --shape n=1000)
sweep() { # POLICY FLAG...
    timeout 250 assay sweep --db p.db "${ask[@]}" --kernel v_honest --kernel v_twin --profile quick \
        --policy "$1" "${@:2}" >out 2>err || fail "sweep with $1: $(cat err)"
}
rows() { # SQL
    sqlite3 p.db "$1"
}

for policy in rotate/alone/kernel hot/alone/call rotate/busy/kernel hot/busy/call; do
    sweep "$policy" --quiet
    [ "$(rows "SELECT count(*) FROM route WHERE policy = '$policy' AND superseded_utc IS NULL")" = 1 ] ||
        fail "no route of $policy"
    # Whole calls are timed from outside, kernels by the backend's own loop.
    quality=$(rows "SELECT DISTINCT v.clock_quality FROM visit v JOIN measurement m ON m.id = v.measurement
        WHERE m.policy = '$policy'")
    case $policy in
    */call) [ "$quality" = enqueue_wait ] || fail "$policy: timing quality '$quality'" ;;
    *) [ "$quality" = host ] || fail "$policy: timing quality '$quality'" ;;
    esac
    load=$(rows "SELECT settings_json ->> 'load' FROM sweep ORDER BY id DESC LIMIT 1")
    case $policy in
    */busy/*) [[ $load == *" threads, each copying 4 MiB over and over" ]] || fail "$policy: load '$load'" ;;
    *) [ "$load" = none ] || fail "$policy: load '$load'" ;;
    esac
done
[ "$(rows 'SELECT count(DISTINCT policy) FROM measurement')" = 4 ] || fail "policies share measurements"

# What one policy has measured finishes no other.
sweep hot/alone/call --resume
grep -q '(1 finished before' err || fail "measured again: $(cat err)"
sweep hot/alone/kernel --resume
grep -q '(0 finished before' err || fail "another policy's times were taken: $(cat err)"

for policy in hot/alone/call rotate/busy/kernel; do
    assay pick --db p.db "${ask[@]}" --policy "$policy" --json >out 2>err || fail "pick: $(cat err)"
    [ "$(jq -r .policy out)" = "$policy" ] || fail "pick with $policy: $(cat out)"
    [ "$(jq -r .tier out)" = measured ] || fail "pick with $policy: $(cat out)"
done
assay pick --db p.db "${ask[@]}" --policy rotate/alone/call --json >out 2>err || fail "pick: $(cat err)"
[ "$(jq -r .tier out)" != measured ] || fail "a policy that nobody has measured: $(cat out)"

assay sweep --db p.db "${ask[@]}" --policy cold/alone/kernel >out 2>err && fail "a policy that is none"
grep -q "rotate or hot" err || fail "$(cat err)"
exit 0
