#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The tie rule prefers the more exact of those that the visits cannot tell apart. Where fresh visits cannot
# show it faster than the default, since its time varies, the fastest is published if they show that,
# rather than the default; never one that they do not show faster.
. tests/support/fake_sweep.bash
alike='kernel=fake_a ns=10000 sd=0.005'
n=0 found=0
for seed in 201 202 203 204 205 206 207 208; do
    script "$seed" "$alike" 'kernel=fake_b ns=8000 sd=0.005 off=2' 'kernel=fake_c ns=8600 visit_sd=0.15 sd=0.005'
    fake_sweep "$WORK/$seed.db" matmul m=8,n=8,k=64
    n=$((n + 1))
    found=$((found + $(count '.kernel == "fake_b" and .speedup_lo > 1.15')))
    [ "$(count '.kernel == "fake_a"')" = 0 ] || fail "seed $seed: the default is served, though fake_b is faster beyond doubt"
done
[ "$found" -ge 3 ] || fail "fake_b won $found times of $n"
# What was the fastest and is no longer while it is confirmed is none.
lines=("$alike" 'kernel=fake_b ns=8000 sd=0.005 off=2' 'kernel=fake_c ns=8600 visit_sd=0.15 sd=0.005')
for seed in 201 202 203 204 205 206 207 208; do
    [ "$(sqlite3 "$WORK/$seed.db" "SELECT k.name FROM route t JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel")" = fake_b ] || continue
    script "$seed" "${lines[@]}"
    fake_sweep "$WORK/again.db" matmul m=8,n=8,k=64
    confirms=$(sqlite3 "$WORK/again.db" "SELECT max(n) FROM (SELECT count(*) n FROM visit WHERE kind = 'confirm' GROUP BY measurement)")
    processes=$(cat "$WORK/visits")
    script "$seed" "${lines[@]}" "kernel=fake_b process=$((processes - confirms)) ns=10500"
    fake_sweep "$WORK/slow.db" matmul m=8,n=8,k=64
    [ "$(count '.kernel == "fake_b"')" = 0 ] || fail "seed $seed: slower than the default"
    rm "$WORK/again.db" "$WORK/slow.db"
done
