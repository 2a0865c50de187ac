#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A problem that no machine has the memory to check is skipped with the reason; the others are
# measured, and the report says what was not.
. tests/support/fake_sweep.bash
script 1 'kernel=* ns=1000 sd=0.01'
printf 'op,dtype,n,set,name,count\nadd,f32,100,mixed,small,2\nadd,f32,1099511627776,mixed,large,3\n' >"$WORK/shapes.csv"
sweep=(assay sweep --db "$WORK/s.db" --plugins "$WORK/plugins" --backend fake --shapes "$WORK/shapes.csv" --threads 1 --profile quick)
expect 0 '*n=100*' '*skipped: add f32,f32,f32 n=1099511627776: checking it takes * of memory, and * may be used here*1 cannot be measured here*' "${sweep[@]}"
expect 1 '*' '*' "${sweep[@]}" --strict --resume
expect 0 '*' '*' assay report cost --db "$WORK/s.db" --plugins "$WORK/plugins" --json
query '.sets[0] | .rows == 2 and .covered == 1 and .not_measured == 1 and .runs == 5'
