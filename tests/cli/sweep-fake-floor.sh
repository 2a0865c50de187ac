#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The machine's A/A floor: each visit times the default twice, and what the two have apart beyond their
# interval is no gain.  What visits scatter and the order of stays alone raise no floor and hide no winner;
# a bias that equals show hides every gain of its size, and none that is larger.
. tests/support/fake_sweep.bash
two=(--kernel fake_a --kernel fake_b)
floor() { sqlite3 "$1" 'SELECT aa_floor FROM sweep ORDER BY id DESC LIMIT 1'; }
floor_within() { # DB FROM TO
    [ "$(sqlite3 "$1" "SELECT aa_floor >= $2 AND aa_floor <= $3 FROM sweep ORDER BY id DESC LIMIT 1")" = 1 ] ||
        fail "the floor is $(floor "$1"), not $2 to $3"
}

# Each stay on its own is a quarter off: equals stay equal, and nobody is told otherwise.  (How often chance
# raises a floor is counted over 100 sweeps by test_verdict.)
script 52 'kernel=* ns=10000 sd=0.03 visit_sd=0.25 common_sd=0.1'
fake_sweep "$WORK/a.db" add n=64..123 "${two[@]}"
floor_within "$WORK/a.db" 0 0
# But for those that one screening visit took out, which is no verdict.
out=$(sqlite3 "$WORK/a.db" "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision
    WHERE r.tunables LIKE '%variant=0' AND m.stop_reason = 'out'")
[ "$(count '.kernel != "fake_a"')" -le 1 ] || fail "a winner among equals"
[ "$(count '.ties == 2 and .decision == "undecidable"')" -ge $((58 - out)) ] || fail "equals were told apart"
# A visit is a quarter off, with all that is in it: a fifth is found.
script 51 'kernel=* ns=12000 sd=0.03 visit_sd=0.02 common_sd=0.25' 'kernel=fake_b ns=10000'
fake_sweep "$WORK/b.db" add n=64..113 "${two[@]}"
floor_within "$WORK/b.db" 0 0
[ "$(count '.kernel == "fake_b" and .decision == "alone" and .speedup > 1.1')" -ge 49 ] || fail "20 % was not found"

# Order alone is no bias: whoever comes first or stays again is slower by far, but everybody is so by turns.
script 41 'kernel=* ns=10000 visit_sd=0.01 common_sd=0.1 first=1.25'
fake_sweep "$WORK/o.db" add n=64..123 "${two[@]}"
floor_within "$WORK/o.db" 0 0
[ "$(count '.kernel == "fake_b"')" -le 1 ] || fail "the order of stays made a winner"
script 42 'kernel=* ns=10000 visit_sd=0.002 common_sd=0.1 again=1.1' 'kernel=fake_b ns=8000'
fake_sweep "$WORK/p.db" add n=64..93 "${two[@]}"
floor_within "$WORK/p.db" 0 0
[ "$(count '.kernel == "fake_b" and .decision == "alone"')" = 30 ] || fail "a fifth was hidden by the order of stays"
# Each of the two stays of a default comes first in half of its visits, and what follows takes its turn.
order() { # DB -- visits in which the twin came first, of each default
    sqlite3 "$1" "SELECT count(*) FROM visit t JOIN visit v ON v.measurement = t.measurement AND v.ordinal = t.ordinal
        AND v.kind = 'measure' AND v.is_twin = 0 WHERE t.is_twin = 1 AND t.id < v.id GROUP BY t.measurement"
}
[ "$(order "$WORK/p.db" | sort | uniq -c | tr -s ' ')" = ' 30 3' ] || fail "the twins' places: $(order "$WORK/p.db")"
# A place of its own: others come between the two as often as chance has it.
between=$(sqlite3 "$WORK/p.db" "SELECT count(*) FROM visit t JOIN visit v ON v.measurement = t.measurement AND v.ordinal = t.ordinal
    AND v.kind = 'measure' AND v.is_twin = 0 WHERE t.is_twin = 1 AND abs(t.id - v.id) > 1")
[ "$between" -ge 30 ] || fail "nobody came between a default and its twin: $between times of 180"

# What goes on after an interruption learns from the visits that the store has.
again() { # DB SHAPE -- decides anew from what is there
    sqlite3 "$1" 'DELETE FROM route'
    before=$(sqlite3 "$1" 'SELECT count(*) FROM visit')
    fake_sweep "$1" add "$2" "${two[@]}" --resume
    [ "$(sqlite3 "$1" 'SELECT count(*) FROM visit')" = "$before" ] || fail "measured again"
}

# A bias: what stood in for the default is really another kernel, whatever the order.  Then its gain is what
# equals show too, and is hidden; before, with honest twins, it was published.
script 43 'kernel=* ns=10000 visit_sd=0.002 common_sd=0.1 first=1.005' 'kernel=fake_a ns=10300'
fake_sweep "$WORK/s.db" add n=64..123 "${two[@]}"
[ "$(count true)" = 60 ] || fail "not 60 problems"
floor_within "$WORK/s.db" 0 0
[ "$(count '.kernel == "fake_b" and .decision == "alone"')" -ge 57 ] || fail "3 % was not found"
# The twins are in no time and no count of another kind.
[ "$(sqlite3 "$WORK/s.db" "SELECT count(*), sum(is_twin), count(DISTINCT measurement) FROM visit WHERE is_twin = 1 AND kind = 'measure'")" = '360|360|60' ] ||
    fail "not six twins a problem"
[ "$(sqlite3 "$WORK/s.db" "SELECT count(*) FROM measurement m WHERE visits <>
    (SELECT count(*) FROM visit v WHERE v.measurement = m.id AND v.is_twin = 0)")" = 0 ] || fail "twins were counted as visits"
swap() { # DB KERNEL -- the time of that rival in place of the default's twin
    sqlite3 "$1" "UPDATE visit SET (samples, sample_count) = (SELECT o.samples, o.sample_count FROM visit o
        JOIN measurement mo ON mo.id = o.measurement JOIN measurement mt ON mt.id = visit.measurement
        JOIN revision r ON r.id = mo.revision JOIN kernel k ON k.id = r.kernel
        WHERE mo.problem = mt.problem AND k.name = '$2' AND r.tunables LIKE '%variant=0'
        AND o.kind = 'measure' AND o.is_twin = 0 AND o.ordinal = visit.ordinal) WHERE is_twin = 1"
}
swap "$WORK/s.db" fake_b
again "$WORK/s.db" n=64..123
floor_within "$WORK/s.db" 0.03 0.04
[ "$(count '.kernel == "fake_b"')" -le 1 ] || fail "what equals show was published as a gain"
[ "$(count ".decision == \"undecidable\" and .resolution > $(floor "$WORK/s.db") - 1e-9")" -ge 59 ] ||
    fail "not called undecidable"
expect 0 '*floor*' '*' assay report cost --db "$WORK/s.db" --plugins "$WORK/plugins" --format md
grep -q "A/A floor (%) |" "$WORK/stdout" || fail "the report has no floor"
learnt=$(floor "$WORK/s.db")
again "$WORK/s.db" n=64..123
[ "$(floor "$WORK/s.db")" = "$learnt" ] || fail "the floor is another one"

# A gain beyond the bias is published all the same.
two+=(--kernel fake_c)
script 43 'kernel=* ns=10000 visit_sd=0.004 common_sd=0.1' 'kernel=fake_a ns=11000' 'kernel=fake_c ns=10680'
fake_sweep "$WORK/t.db" add n=64..93 "${two[@]}"
swap "$WORK/t.db" fake_c
again "$WORK/t.db" n=64..93
floor_within "$WORK/t.db" 0.03 0.05
[ "$(count '.kernel == "fake_b"')" = 30 ] || fail "10 % was hidden by a floor of 3 %"

# A few pairs show no machine's floor: unknown, not zero.  People are told what is known.
sweep() { # DB SHAPE FLAG...
    expect 0 '*' '*' assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 \
        --shape "$2" --threads 1 --profile quick "${two[@]}" "${@:3}"
}
sweep "$WORK/u.db" n=64..70
[ "$(sqlite3 "$WORK/u.db" 'SELECT aa_floor IS NULL FROM sweep')" = 1 ] || fail "a floor of seven pairs"
! grep -qi 'floor\|equals\|nan' "$WORK/stderr" || fail "an unknown floor is told"
expect 0 '*' '*' assay report cost --db "$WORK/u.db" --plugins "$WORK/plugins" --format md
! grep -qi nan "$WORK/stdout" || fail "NaN in the report"
sweep "$WORK/v.db" n=64..71
floor_within "$WORK/v.db" 0 0
grep -qE 'inside timed calls, [0-9.]+ % inside checked ones' "$WORK/stderr" || fail "no shares: $(cat "$WORK/stderr")"
grep -q 'equals differ by no more than their intervals say (A/A, 8 pairs)' "$WORK/stderr" || fail "not told"
swap "$WORK/v.db" fake_c
sqlite3 "$WORK/v.db" 'DELETE FROM route'
sweep "$WORK/v.db" n=64..71 --resume
grep -q 'equals differ by up to [34].*(A/A floor, of 8 pairs)' "$WORK/stderr" || fail "the floor is not told"
