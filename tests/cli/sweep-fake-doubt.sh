#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A time below the floor puts the peaks in doubt first: they are measured again and the better of
# both holds.  When the default's time stays impossible nothing is published in its place.
. tests/support/fake_sweep.bash
sweep() { # DB -- as people see it
    expect 0 '*' '*' assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --op matmul \
        --dtype f32 --shape m=64,n=64,k=64 --threads 1 --profile quick --kernel fake_a --kernel fake_b "${@:2}"
}
units() { # VALUE -- peaks of all arithmetic that serves f32
    peaks "fma_f32_avx2=$1" "fma_f32_avx512=$1" "fma_f16_avx512=$1" "dot_bf16_avx512=$1" \
        "tile_bf16_amx=$1" cache_bytes=1e9
}
verdict_of() { # DB KERNEL
    sqlite3 "$1" "SELECT m.verdict FROM measurement m JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel WHERE k.name = '$2' AND r.tunables LIKE '%variant=0'"
}

# The first probe met a busy machine; the default needs 200 operations in a ns.
rm "$WORK/peaks"
units 50
units 300
script 18 'kernel=* ns=2600 sd=0.01' 'kernel=fake_b ns=5000'
sweep "$WORK/s.db"
grep -q 'fake/fake_a' "$WORK/stdout" || fail "the default was not published"
[ "$(verdict_of "$WORK/s.db" fake_a)" = ok ] || fail "the default was called impossible"
grep -q 'peaks were distrusted.*again; 0 candidates stay impossible' "$WORK/stderr" || fail "not told"
[ "$(sqlite3 "$WORK/s.db" "SELECT value FROM peak WHERE name LIKE 'fma_f32_avx2%'")" = 300.0 ] ||
    fail "the better peak is not stored"

# A second probe that is lower takes nothing away.
rm "$WORK/peaks"
units 300
units 50
script 18 'kernel=* ns=2600 sd=0.01' 'kernel=fake_b ns=650'
sweep "$WORK/t.db"
grep -q 'fake/fake_a' "$WORK/stdout" || fail "the honest default was not published"
[ "$(verdict_of "$WORK/t.db" fake_a) $(verdict_of "$WORK/t.db" fake_b)" = 'ok impossible' ] || fail "verdicts"
grep -q '[1-9] candidates stay impossible' "$WORK/stderr" || fail "not told"

# An impossible default: nobody is known to be faster, so there is no route.
rm "$WORK/peaks"
units 50
script 18 'kernel=* ns=2600 sd=0.01' 'kernel=fake_b ns=20000'
expect 1 '*' '*' assay sweep --db "$WORK/u.db" --plugins "$WORK/plugins" --backend fake --op matmul \
    --dtype f32 --shape m=64,n=64,k=64 --threads 1 --profile quick --kernel fake_a --kernel fake_b
grep -q "default's time is impossible" "$WORK/stdout" || fail "not told"
! grep -qi nan "$WORK/stdout" || fail "NaN printed"
[ "$(sqlite3 "$WORK/u.db" 'SELECT count(*) FROM route')" = 0 ] || fail "a route from an impossible default"
# With peaks that are right it gets its chance, also of a sweep that goes on.
rm "$WORK/peaks"
units 300
sweep "$WORK/u.db" --resume
grep -q 'fake/fake_a' "$WORK/stdout" || fail "the default is still out"
