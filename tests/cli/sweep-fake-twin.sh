#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case E1: 12 sweeps into fresh stores, each with noise of its own, give the same picks 12
# times; what is tied is stored as tied.
. tests/support/fake_sweep.bash
for run in $(seq 12); do
    script "$run" 'kernel=* ns=10000 sd=0.02 visit_sd=0.01 common_sd=0.1'
    fake_sweep "$WORK/$run.db" add 'n=100|1000' --kernel fake_b --kernel fake_a --seed "$run"
    jq -r '[.problem, .kernel, .tunables] | @tsv' "$WORK/stdout" >>"$WORK/picks"
    [ "$(count '.ties == 2')" -ge 1 ] || fail "run $run: nothing tied"
done
sort "$WORK/picks" | uniq -c >"$WORK/stdout"
[ "$(wc -l <"$WORK/stdout")" = 2 ] || fail "picks of 12 sweeps differ"

# A third kernel that is faster by far is no member of the tie.
script 1 'kernel=* ns=10000 sd=0.02 visit_sd=0.01 common_sd=0.1' 'kernel=fake_c ns=7000'
fake_sweep "$WORK/all.db" add n=100
[ "$(count '.kernel == "fake_c" and .ties == 1')" = 1 ] || fail "the third kernel is faster"
