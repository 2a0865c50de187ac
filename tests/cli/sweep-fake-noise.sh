#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# What is known badly is called noisy, and no gain of it is believed; what is faster for certain is not, however
# much its time varies. Two modes, drift and restless warm-ups are flagged, and all that is shown where it matters.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
ask() { sqlite3 "$db" "$1"; }
main() { # COLUMN KERNEL -- of its measurement at the defaults
    ask "SELECT m.$1 FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        WHERE k.name = '$2' AND r.tunables LIKE '%variant=0%' ORDER BY m.id LIMIT 1"
}

# Its visits are all over the place around the default's time.
db=$WORK/n.db
script 81 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=9500 visit_sd=0.25'
fake_sweep "$db" add n=64 "${two[@]}"
[ "$(main verdict fake_b)" = noisy ] || fail "fake_b is $(main verdict fake_b)"
[[ $(main reason fake_b) == 'the interval of its time is '*' % wide to each side, 10 % were asked for' ]] || fail "$(main reason fake_b)"
[[ $(main flags fake_b) == *wide* ]] || fail "flags: $(main flags fake_b)"
[ "$(main verdict fake_a) $(main flags fake_a)" = 'ok ' ] || fail "fake_a is $(main verdict fake_a) $(main flags fake_a)"
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "a noisy one was published"
pick=(assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64)
expect 0 '*' '' "${pick[@]}" --json
jq -e '.chosen.kernel == "fake_a" and (.chosen | has("flags") | not) and ([.ties[], .others[]] | map(select(.kernel == "fake_b"))
    | length > 0 and .[0].flags[0] == "noisy" and (.[0].flags | index("wide") != null))' "$WORK/stdout" >/dev/null || fail "pick"
expect 0 '*fake_b*[(]noisy *wide*[)]*' '' "${pick[@]}" --explain
expect 0 '*' '' assay report cost --db "$db" --plugins "$WORK/plugins" --backend fake --format csv
grep -q 'fake_b.*noisy.*wide' "$WORK/stdout" || fail "report"
expect 0 '*' '*' assay check --db "$db" --plugins "$WORK/plugins" --backend fake --json
jq -e '.counts.routes_noisy == 0 and .counts.routes_disturbed == 0' "$WORK/stdout" >/dev/null || fail "check"
expect 0 '*' '*1 variants are noisy*no gain of theirs counts*' assay sweep --db "$WORK/m.db" --plugins "$WORK/plugins" --backend fake \
    --op add --dtype f32 --shape n=64 --threads 1 --profile quick "${two[@]}"

# The default itself: its time is not known well, and whoever asks is told.
db=$WORK/d.db
script 82 'kernel=* ns=10000 sd=0.002 visit_sd=0.25' 'kernel=fake_b ns=20000 visit_sd=0'
fake_sweep "$db" add n=64 "${two[@]}"
[ "$(main verdict fake_a)" = noisy ] && [ "$(count '.kernel == "fake_a" and .flags[0] == "noisy" and (.flags | index("wide") != null)')" = 1 ] || fail "fake_a is $(main verdict fake_a)"
expect 0 '*"noisy"*' '' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
expect 0 '*disturbed *noisy*wide*' '' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64
expect 0 '*us*[(]noisy *wide*[)]*' '' assay report cost --db "$db" --plugins "$WORK/plugins" --backend fake --format md
expect 0 '*1 of 1 routes rest on measurements that something disturbed, 1 on noisy ones*' '*' assay check --db "$db" \
    --plugins "$WORK/plugins" --backend fake

# A third of the time, give or take a quarter: there is no doubt.
db=$WORK/f.db
script 83 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=3300 visit_sd=0.25'
fake_sweep "$db" add n=64 "${two[@]}"
[ "$(count '.kernel == "fake_b" and .speedup_lo > 1')" = 1 ] || fail "a clear gain was not believed"
[ "$(main verdict fake_b)" = ok ] && [[ $(main flags fake_b) == *wide* ]] || fail "fake_b is $(main verdict fake_b) $(main flags fake_b)"

# Times in two groups, within stays.
db=$WORK/b.db
script 84 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b outlier=0.2'
fake_sweep "$db" add n=64 "${two[@]}"
[[ $(main flags fake_b) == *bimodal* ]] && [[ $(main flags fake_a) != *bimodal* ]] || fail "modes: $(main flags fake_b), $(main flags fake_a)"

# From process to process a hundredth more; the standard profile has visits enough to see that.
db=$WORK/r.db
slower=()
for i in {1..40}; do slower+=("kernel=* process=$i ns=$((10000 + 100 * i))"); done
script 85 'kernel=* ns=10000' "${slower[@]}"
expect 0 '*' '' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --threads 1 \
    --profile standard --quiet --json "${two[@]}"
[[ $(main flags fake_a) == *drift* ]] || fail "drift: $(main flags fake_a)"

# Calls that never take as long as the one before, and yet come through screening.
db=$WORK/u.db
script 86 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b sd=0.12'
fake_sweep "$db" add n=64 "${two[@]}"
[[ $(main flags fake_b) == *unsteady* ]] && [[ $(main flags fake_a) != *unsteady* ]] || fail "warm-up: $(main flags fake_b), $(main flags fake_a)"

# Why stays and variants ended is said of each.
[ "$(ask "SELECT count(*) FROM visit WHERE stop_reason NOT IN ('precise', 'count', 'budget', 'throttled')")" = 0 ] || fail "no reason"
[ "$(ask "SELECT count(*) FROM visit WHERE stop_reason = 'precise'")" -gt 0 ] || fail "nothing is precise"
db=$WORK/p.db
script 87 'kernel=* ns=10000 sd=0.001'
fake_sweep "$db" add n=64 "${two[@]}"
[ "$(ask "SELECT group_concat(DISTINCT stop_reason) FROM visit WHERE kind = 'measure'")" = precise ] || fail "quiet stays are not precise"
[ "$(ask "SELECT count(*) FROM measurement WHERE stop_reason NOT IN ('out', 'count', 'precise')")" = 0 ] || fail "another reason"

# A thorough sweep asks for more, and is precise only within half as much.
db=$WORK/h.db
script 89 'kernel=* ns=10000 sd=0.001 visit_sd=0.004'
expect 0 '*' '' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --threads 1 \
    --profile thorough --quiet --json "${two[@]}"
[ "$(ask "SELECT profile || ' ' || (settings_json ->> 'visits') || ' ' || (settings_json ->> 'confirms') FROM sweep")" = 'thorough 10 8' ] || fail "effort"
[ "$(ask "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'measure' AND is_twin = 0 GROUP BY measurement)")" = 10 ] || fail "visits"
[ "$(main "hi_ns - m.lo_ns BETWEEN 0.011 * m.median_ns AND 0.018 * m.median_ns" fake_a)" = 1 ] ||
    fail "$(main lo_ns fake_a) to $(main hi_ns fake_a) shows nothing"
[ "$(main stop_reason fake_a)" = count ] || fail "precise within $(main lo_ns fake_a) to $(main hi_ns fake_a)"

# A timer that says no time passed: the variant is out with that reason, and the sweep goes on.
db=$WORK/z.db
script 88 'kernel=* ns=10000 sd=0.002' 'kernel=fake_b ns=0'
fake_sweep "$db" add n=64 "${two[@]}"
[ "$(count '.kernel == "fake_a"')" = 1 ] && [[ $(main reason fake_b) == *'its timer says that '*' calls took 0 ns'* ]] ||
    fail "no time: $(main verdict fake_b) $(main reason fake_b)"
