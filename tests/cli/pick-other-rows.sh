#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case F1: a row more changes no other answer. More sweeps measure one more shape, alignment,
# policy or subset of kernels, with times that would show in any inference; every other answer, for
# shapes seen and unseen, stays the same to the byte.
. tests/support/fake_sweep.bash
db=$WORK/s.db
here=(--db "$db" --plugins "$WORK/plugins" --backend fake --dtype f32 --json --quiet)
ask() { # OP SHAPE FLAG... -- one line: the question, what is answered, the exit code
    local answer
    answer=$(assay pick "${here[@]}" --op "$1" --shape "$2" "${@:3}" 2>&1)
    # What is counted is the store's, not the answer's.
    echo "$* | $(sed -E '/"(routes_usable|routes_idle)":/d' <<<"$answer" | tr -d '\n') exit $?"
}
answers() { # FILE
    local n
    for n in 1 99 100 101 102 1000; do
        ask add "n=$n"
        ask add "n=$n" --align 64
        ask add "n=$n" --policy hot/alone/kernel
        ask add "n=$n" --max-ulp 0 --proof sampled
    done >"$1"
    ask matmul m=8,n=8,k=8 >>"$1"
    ask matmul m=8,n=8,k=9 >>"$1"
}
changed() { # WANT -- the questions that are answered otherwise than before
    answers "$WORK/after"
    diff "$WORK/before" "$WORK/after" | sed -n 's/^> \(.*\) | .*/\1/p' >"$WORK/stdout"
    [ "$(paste -sd ';' "$WORK/stdout")" = "$1" ] || fail "not exactly '$1' changed"
    mv "$WORK/after" "$WORK/before"
}
chosen() { # QUESTION KERNEL TIER
    grep -qF -- "$1 | " "$WORK/before" || fail "$1 was not asked"
    grep -F -- "$1 | " "$WORK/before" | grep -q "\"tier\": \"$3\".*\"chosen\": {  *\"kernel\": \"$2\"" || fail "$1: not $2, $3"
}

script 5 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c ns=6000'
fake_sweep "$db" add 'n=100|1000'
fake_sweep "$db" matmul m=8,n=8,k=8
answers "$WORK/before"
chosen 'add n=100' fake_c measured
chosen 'add n=101' fake_a unknown

# 50 times slower for the winner of its neighbours.
script 6 'kernel=* ns=500000 sd=0.01' 'kernel=fake_b ns=2000'
fake_sweep "$db" add n=101
changed 'add n=101;add n=101 --align 64;add n=101 --max-ulp 0 --proof sampled'
chosen 'add n=101' fake_b measured
# What was measured with more freedom answers the stricter question, never the reverse.
fake_sweep "$db" add n=99 --align 64
changed 'add n=99 --align 64'
fake_sweep "$db" add n=100 --policy hot/alone/kernel
changed 'add n=100 --policy hot/alone/kernel'
