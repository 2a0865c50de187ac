#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay bench --only twins on the scripted clock, whose noise is known: pairs of a kernel with
# itself give no winners and show a planted 5 %, wild visits or not; where spans scatter too far the
# verdict says that it cannot tell, and more visits are spent only on pairs that ask for them.
. tests/support/fake_sweep.bash
# twins SCRIPT-WORDS -- rows as JSON in $WORK/stdout
twins() {
    script 21 "kernel=* ns=10000 $1"
    expect 0 '*' '*' assay bench --only twins --plugins "$WORK/plugins" --backend fake --seed 4 --json
}
row() { jq -c --arg what "$1" '.rows[] | select(.what == $what)' "$WORK/stdout"; }
holds() { row "$1" | jq -se "length == 1 and (.[0] | $2)" >/dev/null || { row "$1" && echo "$1: not $2" && exit 1; }; }

twins 'sd=0.02 common_sd=0.1'
holds 'A/A, false winners' '.value <= 2 and .n == 60'
holds 'planted 5 %, not found' '.value == 0 and .hi < 7 and .met != "no"'
holds 'planted 3 %, not found' '.goal == 5 and .value <= 5'
holds 'A/A, floor of a pair' '.value < 3'
holds 'pairs that asked for more visits' '.value < 60'
cp "$WORK/stdout" "$WORK/first"
twins 'sd=0.02 common_sd=0.1'
cmp "$WORK/stdout" "$WORK/first" || { echo "the same seed gave other rows" && exit 1; }

# One stay in twenty takes up to half as long again, as on machines that others use, too.
twins 'sd=0.005 common_sd=0.1 wild=0.05'
holds 'A/A, false winners' '.value <= 2'
holds 'planted 5 %, not found' '.value <= 4'
holds 'planted 5 %, missed' '.value == 0 and .goal == 5'
holds 'pairs that asked for more visits' '.value > 0 and .value < 70'

# A third of the spans take ten times as long: stays whose median that moves are taken again, and what was left out moves
# nothing, however many tries that took.
ASSAY_FAKE_CLOCK=3 twins 'sd=0.002 common_sd=0.1 outlier=0.35'
holds 'A/A, false winners' '.value <= 2'
holds 'planted 5 %, not found' '.value <= 5'
holds 'A/A, floor of a pair' '.value < 3'
holds 'pairs that asked for more visits' '.value < 20'

# Ten spans of a fifth: a stay is off by some 8 %, and 5 % can be found in a few pairs only.
twins 'sd=0.2 common_sd=0.1'
holds 'A/A, false winners' '.value <= 5'
holds 'planted 5 %, not found' '.met == "no" and .value > 50'
holds 'planted 5 %, undecidable' '.value > 50 and .goal == null'
holds 'planted 5 %, missed' '.value <= 5'
holds 'planted 3 %, not found' '.goal == null and .met == "info" and .value > 50'
holds 'planted 3 %, missed' '.value <= 5 and .goal == 5'
holds 'A/A, floor of a pair' '.value > 3'
holds 'pairs that asked for more visits' '.value > 95'
