#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Under a budget the problems come first in which workloads spend most time for what their measurement takes;
# without one the order is that of the file. A shard measures its part, and shards together measure all.
. tests/support/fake_sweep.bash
script 3 'kernel=* ns=10000 sd=0.01'
# Times of all calls, in elements: 1,000, 200,200, 300,000, and twice 4,160.
printf 'op,dtype,n,count\nadd,f32,1000,1\nadd,f32,1001,200\nadd,f32,100000,3\nadd,f32,64,65\nadd,f32,65,64\n' >"$WORK/set.csv"
sweep() { # FLAG... -- outcomes in $WORK/stdout
    expect 0 '*' '*' assay sweep --plugins "$WORK/plugins" --backend fake --kernel fake_a --threads 1 --profile quick \
        --shapes "$WORK/set.csv" --json "$@"
}
order() { jq -r '.problem | split("n=")[1]' "$WORK/stdout" | paste -sd ' '; }
sweep --db "$WORK/a.db"
[ "$(order)" = '1000 1001 100000 64 65' ] || fail "without a budget: $(order)"
sweep --db "$WORK/b.db" --budget 1h
[ "$(order)" = '100000 1001 64 65 1000' ] || fail "under a budget: $(order)"

for i in 1 2; do
    sweep --db "$WORK/c.db" --shard "$i/2"
    grep -q "^shard $i/2: $((4 - i)) of 5 problems" "$WORK/stderr" || fail "not told: $(cat "$WORK/stderr")"
    order
done | paste -sd ' ' >"$WORK/parts"
[ "$(cat "$WORK/parts")" = '1000 100000 65 1001 64' ] || fail "shards: $(cat "$WORK/parts")"
sweep --db "$WORK/c.db" --resume
[ ! -s "$WORK/stdout" ] || fail "shards left something: $(order)"
SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=6 SLURM_ARRAY_TASK_COUNT=2 sweep --db "$WORK/d.db" --shard auto
[ "$(order)" = '1001 64' ] || fail "a job array: $(order)"
# More shards than problems: there is nothing to do, and that is no failure.
sweep --db "$WORK/e.db" --shard 6/6
[ ! -s "$WORK/stdout" ] || fail "a sixth of five problems"
expect 2 '' '*--shard: ?7/6? is not i/n*' assay sweep --db "$WORK/e.db" --shapes "$WORK/set.csv" --shard 7/6
