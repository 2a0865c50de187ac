#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A/A: two kernels of the same true time are a tie in all but 1 of 100 problems, although their
# times within one run, between runs and in single spans differ by far more than the truth.
. tests/support/fake_sweep.bash
script 13 'kernel=* ns=10000 sd=0.03 visit_sd=0.01 common_sd=0.1 outlier=0.01'
fake_sweep "$WORK/s.db" add n=64..163 --kernel fake_a --kernel fake_b
[ "$(count true)" = 100 ] || fail "not 100 problems"
false_winners=$(count '.ties != 2')
echo "$false_winners of 100 pairs that are alike were told apart"
[ "$false_winners" -le 1 ] || fail "more than 1"
# The tie rule takes the first name, whichever happened to look faster.
[ "$(count '.ties == 2 and .kernel != "fake_a"')" = 0 ] || fail "a tie was not resolved by name"
