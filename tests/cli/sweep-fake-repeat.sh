#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case E10: the same code swept 20 times into fresh stores, each with noise of its own, picks the
# same winners; where one is in a tie the set says so. `check` asked 20 times answers the same bytes
# and leaves the store's as they are.
. tests/support/fake_sweep.bash
script 51 'kernel=* ns=10000 sd=0.02 visit_sd=0.004 common_sd=0.1' 'kernel=fake_b ns=9400' 'kernel=fake_c ns=9950'
for i in $(seq 20); do
    fake_sweep "$WORK/$i.db" add n=64..69
    jq -r '[.problem, .kernel, .tunables] | join(" ")' "$WORK/stdout" | sort >"$WORK/winners.$i"
    jq -c '.time_ns' "$WORK/stdout" >"$WORK/times.$i"
    [ "$(wc -l <"$WORK/winners.$i")" = 6 ] || fail "sweep $i: not 6 problems"
    [ "$(count '.kernel == "fake_b"')" = 6 ] || fail "sweep $i: another winner"
    cmp -s "$WORK/winners.1" "$WORK/winners.$i" || fail "sweep $i: a changed pick"
    [ "$i" = 1 ] || ! cmp -s "$WORK/times.1" "$WORK/times.$i" || fail "sweep $i had the noise of the first"
done

sha256sum "$WORK/1.db" >"$WORK/sum"
expect 0 '*' '*' assay check --db "$WORK/1.db" --backend fake --plugins "$WORK/plugins" --json
cp "$WORK/stdout" "$WORK/first"
for i in $(seq 19); do
    expect 0 '*' '*' assay check --db "$WORK/1.db" --backend fake --plugins "$WORK/plugins" --json
    cmp -s "$WORK/first" "$WORK/stdout" || fail "check $i answers otherwise: $(diff "$WORK/first" "$WORK/stdout")"
done
sha256sum --quiet -c "$WORK/sum" || fail "check changed the store"

# Swept again into one store: who was published stays while the visits leave open whether it is faster by what counts,
# sweep after sweep, and goes when they show it slower than the default.
two=(--kernel fake_a --kernel fake_b)
script 71 'kernel=* ns=10000 sd=0.005 visit_sd=0.004' 'kernel=fake_b ns=9000'
fake_sweep "$WORK/s.db" add n=64..67 "${two[@]}"
[ "$(count '.kernel == "fake_b"')" = 4 ] || fail "a tenth faster, and not published"
for seed in 72 73 74 75 76 77 78 79; do
    script "$seed" 'kernel=* ns=10000 sd=0.005 visit_sd=0.01' 'kernel=fake_b ns=9800'
    fake_sweep "$WORK/s.db" add n=64..67 "${two[@]}"
    [ "$(count '.kernel == "fake_b"')" = 4 ] || fail "seed $seed: the default came back undecided"
done
script 91 'kernel=* ns=10000 sd=0.005 visit_sd=0.004' 'kernel=fake_b ns=10400'
fake_sweep "$WORK/s.db" add n=64..67 "${two[@]}"
[ "$(count '.kernel == "fake_a"')" = 4 ] || fail "slower than the default, and still published"
