#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A problem without output has a time, and neither a rate nor an error: both are absent wherever they
# would be shown, never 0; and every tolerance is met.
. tests/support/expect.bash
db=$WORK/e.db
sweep=(assay sweep --db "$db" --backend cpu --kernel cpu_exp_portable --op exp --dtype f32 --shape n=0 --threads 1
    --profile quick --quiet)
expect 0 '*  rate -  1.00x default  error -  *' '' "${sweep[@]}"
expect 0 '*' '' "${sweep[@]}" --json
query 'has("time_ns") and (has("peak_share", "max_ulp", "elements") | not)'
[ "$(sqlite3 "$db" "SELECT count(*) FROM accuracy WHERE elements <> 0 OR coalesce(max_ulp, max_err_ulp, max_rel, max_abs)
    IS NOT NULL")" = 0 ] || { sqlite3 "$db" 'SELECT * FROM accuracy' && exit 1; }
expect 0 '*  error     -, bits stable: *' '*' assay pick --db "$db" --op exp --dtype f32 --shape n=0
expect 0 '*' '*' assay pick --db "$db" --op exp --dtype f32 --shape n=0 --max-ulp 0 --proof exhaustive --json
query '.chosen | has("max_ulp") | not'

# Resumed, and of a store that an older version has written zeros into.
sqlite3 "$db" 'UPDATE accuracy SET max_ulp = 0, max_err_ulp = 0, max_rel = 0, max_abs = 0; DELETE FROM route'
expect 0 '*  error -  *' '' "${sweep[@]}" --resume
expect 0 '*' '' assay report precision --db "$db" --format csv
[ "$(sqlite3 :memory: -cmd ".import --csv '$WORK/stdout' t" "SELECT count(*) || ' ' ||
    group_concat(DISTINCT max_ulp || max_err_ulp || max_rel || max_abs) FROM t")" = '6 ' ] || { cat "$WORK/stdout" && exit 1; }
expect 0 '*' '' assay report cost --db "$db" --format md
grep -qE '^\| exp f32,f32 n=0 \|[^|]*\|[^|]*\| - \| - \|' "$WORK/stdout" || { cat "$WORK/stdout" && exit 1; }

# Layer 1 counts the filters, but nobody reads them.
db=$WORK/c.db
expect 0 '*  rate -  *' '' assay sweep --db "$db" --backend cpu --op conv2d --dtype f32 --shape n=0,c=3,h=8,w=8,k=4,r=3,s=3 \
    --profile quick --quiet --threads 1
expect 0 '*' '' assay report cost --db "$db" --format json
query '.problems[0].winner | has("time_ns") and (has("rate", "peak_share") | not)'

# Sums of nothing: zeros are the one right answer, whatever the data were.
db=$WORK/n.db
sums() { # OP KERNEL SHAPE
    expect 0 '* default*  max *' '' assay sweep --db "$db" --backend cpu --kernel "$2" --op "$1" --dtype f32 --shape "$3" \
        --profile quick --quiet --threads 1
}
sums matmul cpu_matmul_portable m=3,n=4,k=0
sums matmul cpu_matmul_portable m=3,n=4,k=5,alpha=0
sums sum_reduce cpu_sum_reduce_portable outer=2,axis=0,inner=3
[ "$(sqlite3 "$db" "SELECT count(*) FROM measurement WHERE verdict NOT IN ('ok', 'noisy')")" = 0 ] || exit 1
