#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# --seed: the same seed visits in the same order, another seed in another.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1
export ASSAY_LOCK_DIR=$WORK
order() { # SEED -- which variant of which problem each screening and measuring visit was of
    rm -f s.db
    assay sweep --db s.db --backend cpu --op add --dtype f32 --shape 'n=16|32' --kernel 'cpu_add_*' --threads 1 \
        --profile quick --quiet --seed "$1" >out 2>err || fail "sweep --seed $1: $(cat err)"
    sqlite3 s.db "SELECT p.text || ' ' || k.name || ' ' || r.tunables FROM visit v
        JOIN measurement m ON m.id = v.measurement JOIN problem p ON p.id = m.problem
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        WHERE v.kind = 'screen' ORDER BY v.id"
}
order 7 >a
order 7 >b
order 8 >c
[ "$(wc -l <a)" -ge 6 ] || fail "only $(wc -l <a) visits"
cmp -s a b || fail "the same seed gave another order: $(diff a b)"
cmp -s a c && fail "another seed gave the same order"
sort a >a.sorted
sort c >c.sorted
cmp -s a.sorted c.sorted || fail "another seed measured other variants"
for bad in -1 x 1.5 99999999999999999999999; do
    rc=0
    assay sweep --db s.db --op add --dtype f32 --shape n=16 --seed "$bad" >out 2>err || rc=$?
    [ "$rc" = 2 ] && grep -q -- seed err || fail "--seed $bad: exit $rc, $(cat err)"
done
