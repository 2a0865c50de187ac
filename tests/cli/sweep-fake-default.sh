#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The default kernel competes, whatever --kernel leaves out, and people are told; one that is wrong does
# not win for it.  What turns wrong while it is confirmed is not published.  Bits count as stable from
# five processes on.
. tests/support/fake_sweep.bash
told='fake_a competes too, though --kernel leaves it out'
sweep() { # RC DB FLAG...
    expect "$1" '*' '*' assay sweep --db "$2" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 \
        --threads 1 --profile quick "${@:3}"
}
verdicts() { # DB KERNEL -- of its variants at variant=0
    sqlite3 "$1" "SELECT m.verdict FROM measurement m JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel WHERE k.name = '$2' AND r.tunables LIKE '%variant=0'"
}

# Alone, the slower one would have won.
script 61 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=15000'
sweep 0 "$WORK/a.db" --shape 'n=64|65' --kernel fake_b
grep -q "$told: it is the default" "$WORK/stderr" || fail "not told: $(cat "$WORK/stderr")"
[ "$(grep -c competes "$WORK/stderr")" = 1 ] || fail "told for each problem"
[ "$(grep -c fake/fake_a "$WORK/stdout")" = 2 ] || fail "the default did not compete"
[ "$(sqlite3 "$WORK/a.db" 'SELECT DISTINCT searched || " " || total FROM route')" = '5 5' ] || fail "counts"
# The default is one of the backends that were asked for: another would be no rival here.
mkdir "$WORK/more" && ln -s "$WORK/plugins/"* "$ASSAY_BUILD/lib/assay/assay_cpu.so" "$WORK/more/" || exit 1
of() { # BACKEND KERNEL -- who would join
    expect 0 '*' '*' assay sweep --db "$WORK/n.db" --plugins "$WORK/more" --backend "$1" --op add --dtype f32 --threads 1 \
        --profile quick --shape n=64 --kernel "$2" --dry-run
    sed -n 's/.* \([a-z_0-9]*\) competes too.*/\1/p' "$WORK/stderr"
}
[ "$(of fake fake_b)" = fake_a ] || fail "not the default of fake: $(cat "$WORK/stderr")"
[ "$(of cpu cpu_add_portable)" != fake_a ] || fail "a kernel of fake joined: $(cat "$WORK/stderr")"
[ "$(of cpu,fake fake_c)" != '' ] || fail "nobody joined: $(cat "$WORK/stderr")"
# One that is asked for is no news, and its other variants take no part unasked.
sweep 0 "$WORK/b.db" --shape n=64 --kernel 'fake_[ab]'
! grep -q competes "$WORK/stderr" || fail "told though it was asked for"
[ "$(sqlite3 "$WORK/a.db" "SELECT count(DISTINCT revision) FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_a'")" = 1 ] || fail "more than the default joined"
# A faster one wins over it, by a gain that was measured.
script 62 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000'
fake_sweep "$WORK/c.db" add n=64..73 --kernel fake_b
[ "$(count '.kernel == "fake_b" and .decision == "alone" and .speedup > 1.2 and .speedup < 1.3 and .speedup_lo > 1')" = 10 ] ||
    fail "the gain over the default"
# A wrong default is stored as wrong and wins nothing.
script 63 'kernel=* ns=10000 sd=0.01' 'kernel=fake_a wrong_at=1' 'kernel=fake_b ns=15000'
fake_sweep "$WORK/e.db" add n=64 --kernel fake_b
[ "$(count '.kernel == "fake_b" and (has("speedup") | not)')" = 1 ] || fail "the wrong default"
[ "$(verdicts "$WORK/e.db" fake_a)" = wrong ] || fail "its fate is not stored"

# Wrong only while it is confirmed, by the processes that come last: the six confirming visits.
two=(--kernel fake_a --kernel fake_b)
script 64 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000'
fake_sweep "$WORK/f.db" add n=64 "${two[@]}"
[ "$(count '.kernel == "fake_b"')" = 1 ] || fail "fake_b is no winner"
processes=$(cat "$WORK/visits")
script 64 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000' "kernel=fake_b process=$((processes - 6)) wrong_at=1"
fake_sweep "$WORK/g.db" add n=64 "${two[@]}"
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "published though it turned out wrong"
[ "$(verdicts "$WORK/g.db" fake_b)" = wrong ] || fail "the verdict is $(verdicts "$WORK/g.db" fake_b)"
sqlite3 "$WORK/g.db" 'SELECT reason FROM quarantine' | grep -q 'after timing.*element' || fail "no quarantine"
# What the check before had passed is no pass any more, and its figures know the wrong element.
[ "$(sqlite3 "$WORK/g.db" "SELECT a.stratum, a.max_abs > 8, a.elements FROM accuracy a JOIN revision r ON r.id = a.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b' AND r.tunables LIKE '%variant=0' AND a.passed = 0
    ORDER BY a.stratum" | paste -sd ,)" = 'all|1|192,normal|1|64' ] ||
    fail "rows of the check: $(sqlite3 "$WORK/g.db" 'SELECT stratum, passed, max_abs, elements FROM accuracy')"
[ "$(sqlite3 "$WORK/g.db" "SELECT count(*) FROM visit v JOIN measurement m ON m.id = v.measurement
    WHERE v.kind = 'confirm' AND m.verdict = 'wrong'")" = 1 ] || fail "not found while it was confirmed"
expect 0 '*' '*' assay pick --db "$WORK/g.db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
query '.chosen.kernel == "fake_a" and (.rejected | any(.kernel == "fake_b" and (.reason | test("quarantined"))))'

# Bits: five processes agreed, or nothing is said.  fake_b dies in the fifth of its measuring visits.
levels() { # DB -- KERNEL VARIANT LEVEL
    sqlite3 "$1" "SELECT k.name || ' ' || substr(r.tunables, -1) || ' ' || t.level FROM stability t
        JOIN revision r ON r.id = t.revision JOIN kernel k ON k.id = r.kernel ORDER BY 1" | paste -sd ,
}
[ "$(levels "$WORK/f.db")" = 'fake_a 0 config,fake_b 0 config' ] || fail "levels: $(levels "$WORK/f.db")"
script 64 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000' "kernel=fake_b process=$((processes - 8)) crash_at=1"
fake_sweep "$WORK/h.db" add n=64 "${two[@]}"
[ "$(verdicts "$WORK/h.db" fake_b)" = crashed ] || fail "did not crash"
[ "$(sqlite3 "$WORK/h.db" "SELECT count(*) FROM visit v JOIN measurement m ON m.id = v.measurement
    WHERE v.kind = 'measure' AND m.verdict = 'crashed'")" = 4 ] || fail "not four visits"
[ "$(levels "$WORK/h.db")" = 'fake_a 0 config' ] || fail "levels: $(levels "$WORK/h.db")"
