#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The machine's A/A floor, learnt from the sweep's own visits: where equals differ by 6 % no winner by
# 4 % is published, however narrow its own interval happens to be, and the outcome says undecidable;
# on a quiet machine it is published.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
floor() { sqlite3 "$1" 'SELECT aa_floor FROM sweep ORDER BY id DESC LIMIT 1'; }
floor_within() { # DB FROM TO
    [ "$(sqlite3 "$1" "SELECT aa_floor > $2 AND aa_floor < $3 FROM sweep ORDER BY id DESC LIMIT 1")" = 1 ] ||
        fail "the floor is $(floor "$1"), not $2 to $3"
}

# Seed 43: four of these gains have by chance visits so alike that their own intervals would do.
script 43 'kernel=* ns=10000 visit_sd=0.04 common_sd=0.1' 'kernel=fake_b ns=9600'
fake_sweep "$WORK/s.db" add n=64..183 "${two[@]}"
[ "$(count true)" = 120 ] || fail "not 120 problems"
floor_within "$WORK/s.db" 0.05 0.07
[ "$(count '.kernel == "fake_b"')" = 0 ] || fail "a gain below the floor was published"
[ "$(count ".decision == \"undecidable\" and .resolution > $(floor "$WORK/s.db") - 1e-9")" = 120 ] ||
    fail "not called undecidable"
expect 0 '*floor*' '*' assay report cost --db "$WORK/s.db" --plugins "$WORK/plugins" --format md
grep -q "A/A floor (%) |" "$WORK/stdout" || fail "the report has no floor"

# What goes on after an interruption learns from the visits that the store has.
sqlite3 "$WORK/s.db" 'DELETE FROM route'
fake_sweep "$WORK/s.db" add n=64..183 "${two[@]}" --resume
floor_within "$WORK/s.db" 0.05 0.07
[ "$(sqlite3 "$WORK/s.db" 'SELECT count(DISTINCT sweep) FROM visit')" = 1 ] || fail "measured again"

script 43 'kernel=* ns=10000 visit_sd=0.004 common_sd=0.1' 'kernel=fake_b ns=9600'
fake_sweep "$WORK/t.db" add n=64..93 "${two[@]}"
floor_within "$WORK/t.db" 0.004 0.009
[ "$(count '.kernel == "fake_b" and .decision == "alone"')" = 30 ] || fail "4 % not found on a quiet machine"

# A few ratios show no machine's floor: unknown, not zero.  People are told what is known.
sweep() { # DB SHAPE
    expect 0 '*' '*' assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 \
        --shape "$2" --threads 1 --profile quick "${two[@]}"
}
sweep "$WORK/u.db" n=64..70
[ "$(sqlite3 "$WORK/u.db" 'SELECT aa_floor IS NULL FROM sweep')" = 1 ] || fail "a floor of seven ratios"
! grep -qi 'floor\|nan' "$WORK/stderr" || fail "an unknown floor is told"
expect 0 '*' '*' assay report cost --db "$WORK/u.db" --plugins "$WORK/plugins" --format md
! grep -qi nan "$WORK/stdout" || fail "NaN in the report"
sweep "$WORK/v.db" n=64..71
floor_within "$WORK/v.db" 0.001 0.02
grep -q 'A/A floor, 99 %, of 8 ratios' "$WORK/stderr" || fail "the floor is not told"
