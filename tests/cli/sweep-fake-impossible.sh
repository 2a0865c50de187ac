#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case D9: a clock that makes a kernel faster than the machine can be is flagged, and the
# kernel is never published, however much it seems to win.  A kernel that is merely faster than the
# narrower of two units is not.
. tests/support/fake_sweep.bash
verdicts() { # DB -- "kernel verdict" of variant 0, sorted
    sqlite3 "$1" "SELECT k.name || ' ' || m.verdict FROM measurement m JOIN revision r
        ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        WHERE r.tunables LIKE '%variant=0' ORDER BY 1" | paste -sd' '
}
check_verdicts() { # DB WANTED
    local got
    got=$(verdicts "$1")
    [ "$got" = "$2" ] || fail "verdicts: $got"
}
wide='fma_f32_avx2=100 fma_f32_avx512=300 fma_f16_avx512=300 dot_bf16_avx512=300 tile_bf16_amx=300 copy_nt=100'

# 2 * 64^3 operations take 1748 ns at 300 in a ns, 5243 ns at 100.
rm "$WORK/peaks"
peaks $wide cache_bytes=1e6
script 15 'kernel=* ns=5500 sd=0.01' 'kernel=fake_b ns=2600'
fake_sweep "$WORK/wide.db" matmul m=64,n=64,k=64 --kernel fake_a --kernel fake_b
[ "$(count '.kernel == "fake_b"')" = 1 ] || fail "above the narrow unit's peak: not published"
check_verdicts "$WORK/wide.db" 'fake_a ok fake_b ok'

# A quarter of the true time.
script 15 'kernel=* ns=2600 sd=0.01' 'kernel=fake_b ns=650'
fake_sweep "$WORK/s.db" matmul m=64,n=64,k=64 --kernel fake_a --kernel fake_b
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "the honest kernel was not published"
check_verdicts "$WORK/s.db" 'fake_a ok fake_b impossible'
grep -q 'roofline' <<<"$(sqlite3 "$WORK/s.db" 'SELECT reason FROM measurement')" || fail "no reason"
[ "$(sqlite3 "$WORK/s.db" "SELECT count(*) FROM route t JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_b'")" = 0 ] || fail "published"

# The half of bytes: 4.8 MB take 400 us through memory that moves 12 bytes in a ns.
rm "$WORK/peaks"
peaks copy_nt=10 load_memory=12 load_cache_avx2=100 copy_cache_avx2=100 load_cache_avx512=200 \
    copy_cache_avx512=200 cache_bytes=1e6
script 16 'kernel=* ns=500000 sd=0.01' 'kernel=fake_b ns=125000'
fake_sweep "$WORK/bytes.db" add n=400000 --kernel fake_a --kernel fake_b
[ "$(count '.kernel == "fake_a"')" = 1 ] || fail "bytes: the honest kernel was not published"
check_verdicts "$WORK/bytes.db" 'fake_a ok fake_b impossible'
# From a cache that holds all of it, hot or larger than the rotation, it may be true.
fake_sweep "$WORK/hot.db" add n=400000 --kernel fake_a --kernel fake_b --policy hot/alone/kernel
check_verdicts "$WORK/hot.db" 'fake_a ok fake_b ok'
rm "$WORK/peaks"
peaks copy_nt=10 load_memory=12 cache_bytes=5e8
fake_sweep "$WORK/large.db" add n=400000 --kernel fake_a --kernel fake_b
check_verdicts "$WORK/large.db" 'fake_a ok fake_b ok'
# But no cache gives 4.8 MB in 8 us at 400 bytes in a ns.
rm "$WORK/peaks"
peaks load_cache_avx2=100 copy_cache_avx2=100 load_cache_avx512=200 copy_cache_avx512=200 cache_bytes=5e8
script 16 'kernel=* ns=500000 sd=0.01' 'kernel=fake_b ns=8000'
fake_sweep "$WORK/cache.db" add n=400000 --kernel fake_a --kernel fake_b
check_verdicts "$WORK/cache.db" 'fake_a ok fake_b impossible'
