#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Three spans of ten take ten times as long, whoever is timed: stays whose median that moves are taken again, the
# spans of the first try are told and left out, and a gain of a tenth is found all the same.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
db=$WORK/b.db
ask() { sqlite3 "$db" "$1"; }

script 91 'kernel=* ns=10000 sd=0.002 outlier=0.3' 'kernel=fake_b ns=9000'
ASSAY_FAKE_CLOCK=3 fake_sweep "$db" add n=64..83 "${two[@]}"
[ "$(count '.kernel == "fake_b"')" -ge 19 ] || fail "the gain was lost at $((20 - $(count '.kernel == "fake_b"'))) of 20"
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json LIKE '{\"disturbed\":[0,%'")" -ge 20 ] || fail "nothing was taken again"
[ "$(ask "SELECT count(*) FROM visit WHERE flags LIKE '%clock%'")" = 0 ] || fail "the clock is blamed"
# Of those that were left out most were long ones, of those that were kept most were not.
[ "$(ask "SELECT count(*) FROM visit WHERE rejected_json <> '' AND kind <> 'screen'
    AND json_array_length(rejected_json, '\$.disturbed') % 7 <> 0")" = 0 ] || fail "part of a try was left out"
[ "$(ask "SELECT count(*) FROM measurement m WHERE m.rejected_samples <> (SELECT count(*) FROM visit v, json_each(v.rejected_json) r,
    json_each(r.value) WHERE v.measurement = m.id AND v.is_twin = 0 AND v.rejected_json <> '')
    OR m.samples + m.rejected_samples <> (SELECT sum(sample_count) FROM visit v WHERE v.measurement = m.id AND v.is_twin = 0)")" = 0 ] ||
    fail "samples do not add up"
exit 0
