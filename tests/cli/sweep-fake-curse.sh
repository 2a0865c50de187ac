#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case E11: the best of many equal candidates looked fast by luck; what is published comes
# from fresh visits and is not biased: half of the published times lie above the truth.
. tests/support/fake_sweep.bash
rm -f "$WORK/visits"
printf '%s\n' seed=17 "visits=$WORK/visits" 'kernel=* ns=10000 sd=0.02 visit_sd=0.03' >"$WORK/script"
export ASSAY_FAKE=@$WORK/script
fake_sweep "$WORK/s.db" add n=64..103
[ "$(count true)" = 40 ] || fail "not 40 problems"
middle=$(jq -s 'map(.time_ns) | sort | .[length / 2 | floor]' "$WORK/stdout")
echo "12 candidates of 10000 ns: the median of what is published is $middle ns"
jq -ne "$middle > 9900 and $middle < 10100" >/dev/null || fail "biased"
