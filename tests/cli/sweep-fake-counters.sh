#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Counters are read in calls that nobody times, for those alone that may be published; what cannot be counted has
# its reason in the store, and nothing there is 0 for that. Without --counters nothing is asked.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
script 91 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
export ASSAY_FAKE_COUNTERS='cycles=39600/39604/39608 instructions=80000 page_faults=0 l1d_misses=0 flops_f32=!no_such_event'
db=$WORK/c.db
ask() { sqlite3 "$db" "$1"; }
fake_sweep "$db" add n=64..65 "${two[@]}" --counters
[ "$(ask "SELECT group_concat(name || ':' || unit || ':' || source || ':' || event, ' ') FROM (SELECT * FROM counter_source WHERE reason = '' ORDER BY name)")" = \
    'cycles:cycle:script:cycles instructions:instruction:script:instructions l1d_misses:miss:script:l1d_misses' ] || fail "sources: $(ask 'SELECT * FROM counter_source')"
[ "$(ask "SELECT reason FROM counter_source WHERE name = 'flops_f32'")" = 'flops_f32: no_such_event' ] || fail "why not"
[ "$(ask "SELECT reason FROM counter_source WHERE name = 'page_faults'")" = 'page_faults: counted 0 of work that must count' ] || fail "why not 0"
[ "$(ask "SELECT count(*) FROM counter_source WHERE (reason = '') <> (source <> '')")" = 0 ] || fail "a reason and a source"
# Winner and default of two problems, three counters each; of a call, whatever number of calls a pass had.
[ "$(ask 'SELECT count(*) FROM counter')" = 12 ] || fail "counts: $(ask 'SELECT * FROM counter')"
[ "$(ask "SELECT count(*) FROM counter WHERE name = 'cycles' AND (abs(value * calls - 39604) > 5 OR lo > value OR value > hi OR passes < 1)")" = 0 ] || fail "cycles"
[ "$(ask "SELECT sum(value) FROM counter WHERE name = 'l1d_misses'")" = 0.0 ] || fail "none is none"
[ "$(ask "SELECT count(*) FROM counter c JOIN measurement m ON m.id = c.measurement WHERE m.stop_reason = 'out'")" = 0 ] || fail "those that are out"
# Times are what they are without.
unset ASSAY_FAKE_COUNTERS
jq -c '[.problem, .kernel, .ties]' "$WORK/stdout" | sort >"$WORK/picks"
db=$WORK/n.db
script 91 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9000'
fake_sweep "$db" add n=64..65 "${two[@]}"
jq -c '[.problem, .kernel, .ties]' "$WORK/stdout" | sort | cmp -s - "$WORK/picks" || fail "counting changed a pick"
[ "$(ask 'SELECT (SELECT count(*) FROM counter) + (SELECT count(*) FROM counter_source)')" = 0 ] || fail "counted unasked"
# People are told what can be counted.
export ASSAY_FAKE_COUNTERS='cycles=39600'
expect 0 '*"counters"*' '*' assay devices --plugins "$WORK/plugins" --json
jq -e '[.counters[] | select(.available)] == [{"name": "cycles", "unit": "cycle", "available": true, "source": "script", "event": "cycles"}]
    and ([.counters[] | select(.available | not) | .reason] | all(test("not in the script")))' "$WORK/stdout" >/dev/null || fail "devices"
expect 0 '*counter *cycles *script cycles*' '*' assay devices --plugins "$WORK/plugins"
