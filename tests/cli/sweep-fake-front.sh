#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Beside the fastest, a sweep measures and confirms who is fastest at a far smaller error, so that a pick
# within that error is a measured winner with an interval, not the default for want of others.
. tests/support/fake_sweep.bash
shape=m=8,n=8,k=64
visits() { # DB KERNEL VARIANT -- KIND COUNT of it, the second stays not counted
    sqlite3 "$1" "SELECT v.kind || ' ' || count(*) FROM visit v JOIN measurement m ON m.id = v.measurement
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        WHERE k.name = '$2' AND r.tunables LIKE '%variant=$3' AND v.is_twin = 0 GROUP BY v.kind ORDER BY 1" | paste -sd ,
}
picked() { # DB FILTER FLAG...
    expect 0 '*' '*' assay pick --db "$1" --plugins "$WORK/plugins" --backend fake --op matmul --dtype f32 \
        --shape $shape --json "${@:3}"
    query "$2"
}

# fake_b is the fastest and off by two steps; fake_c is exact, faster than the default, and 1.5 times fake_b.
script 71 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=6000 off=2' 'kernel=fake_c ns=9000'
fake_sweep "$WORK/a.db" matmul $shape
[ "$(count '.kernel == "fake_b" and .decision == "alone" and .max_rho > 2')" = 1 ] || fail "fake_b is no winner"
[ "$(visits "$WORK/a.db" fake_c 0)" = 'confirm 6,measure 6,screen 1' ] || fail "visits of fake_c: $(visits "$WORK/a.db" fake_c 0)"
[ "$(visits "$WORK/a.db" fake_c 1)" = 'screen 1' ] || fail "visits of a slow variant: $(visits "$WORK/a.db" fake_c 1)"
picked "$WORK/a.db" '.chosen.kernel == "fake_b"'
picked "$WORK/a.db" '.tier == "measured" and .chosen.kernel == "fake_c" and .chosen.tunables.variant == 0 and .chosen.max_rho <= 1 and
    .chosen.lo_ns < 9100 and .chosen.hi_ns > 8900 and .chosen.hi_ns < 9500' --max-rho 1
[ "$(sqlite3 "$WORK/a.db" "SELECT m.ratio_level = 0.9 AND m.ratio_hi < 1 AND m.ratio > 0.85 FROM measurement m JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE k.name = 'fake_c' AND r.tunables LIKE '%variant=0'")" = 1 ] || fail "the ratio of fake_c"

# Slower than the default, which is as exact: of no use to any question.
script 71 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=6000 off=2' 'kernel=fake_c ns=11000'
fake_sweep "$WORK/b.db" matmul $shape
[ "$(visits "$WORK/b.db" fake_c 0)" = 'screen 1' ] || fail "measured for nothing"
picked "$WORK/b.db" '.chosen.kernel == "fake_a"' --max-rho 1

# More levels than places: the fastest, the next one, and the most exact.
printf '%s\n' seed=72 "visits=$WORK/visits" 'kernel=* ns=10000 sd=0.01' 'kernel=* variant=3 slow=5' \
    'kernel=fake_a variant=1 slow=5' 'kernel=fake_a variant=2 slow=5' 'kernel=fake_c variant=1 slow=5' 'kernel=fake_c variant=2 slow=5' \
    'kernel=fake_b ns=5000 off=16' 'kernel=fake_b variant=1 ns=7000 off=6' 'kernel=fake_b variant=2 ns=8000 off=2' \
    'kernel=fake_c variant=0 ns=9000' >"$WORK/script"
fake_sweep "$WORK/c.db" matmul $shape
[ "$(visits "$WORK/c.db" fake_b 1)" = 'confirm 6,measure 6,screen 1' ] || fail "the second level: $(visits "$WORK/c.db" fake_b 1)"
[ "$(visits "$WORK/c.db" fake_b 2)" = 'screen 1' ] || fail "the third level: $(visits "$WORK/c.db" fake_b 2)"
[ "$(visits "$WORK/c.db" fake_c 0)" = 'confirm 6,measure 6,screen 1' ] || fail "the most exact: $(visits "$WORK/c.db" fake_c 0)"
picked "$WORK/c.db" '.chosen.kernel == "fake_c"' --max-rho 1
picked "$WORK/c.db" '.chosen.kernel == "fake_b" and .chosen.tunables.variant == 1' --max-rho 20
