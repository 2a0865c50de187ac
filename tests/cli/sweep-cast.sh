#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay sweep --op cast: two dtypes that vary apart, integers among them; matmul into a wider type.
. tests/support/expect.bash
db=$WORK/a.db
# One dtype leaves the other open; a pair that is none; a tuple of another length.
expect 2 '' '*cast: f32 alone leaves a dtype of T,U open*such as f32,*' \
    assay sweep --op cast --dtype f32 --shape n=100 --db "$db"
expect 1 '' '*cast: beside T = f32, U is one of f64/f32/*/u32, not f8e5m2*' assay sweep --op cast --dtype f32,f8e5m2 --shape n=100 --db "$db"
expect 2 '' '*cast*3 dtypes given*' assay sweep --op cast --dtype f32,f32,f32 --shape n=100 --db "$db"
[ ! -e "$db" ] || { echo "a bad question made a store" && exit 1; }
expect 0 '*' '*' assay sweep --op cast --backend cpu --threads 1 --profile quick --budget 60 --db "$db" --quiet --dtype 'f32,bf16|f32,u8|i64,f32|i8,i64' --shape n=5000
expect 0 '*' '*' assay report precision --db "$db" --format csv -o "$WORK/p.csv"
# Every pair has rows of its own, correctly rounded; 8 bits over all inputs.
for pair in f32,bf16 f32,u8 i64,f32 i8,i64; do
    grep -q ",\"cast $pair n=5000\",cpu,cpu_cast_avx2," "$WORK/p.csv" || { echo "no rows of $pair" && exit 1; }
done
grep -q '"cast i8,i64 n=256",cpu,cpu_cast_portable,.*,exhaustive,' "$WORK/p.csv" ||
    { echo "8 bits were not run over all inputs" && exit 1; }
grep ',all,' "$WORK/p.csv" | cut -d, -f1-200 | awk -F, '/lower_bound|exhaustive/ { n++ } END { exit n < 4 }' ||
    { echo "too few checks" && exit 1; }
expect 0 '*cast f32,u8 n=5000*cpu_cast_*' '*' assay pick --op cast --dtype f32,u8 --shape n=5000 --db "$db"
expect 0 '*' '*' assay pick --op cast --dtype f32,u8 --shape n=5000 --db "$db" --json
query '.dtypes == ["f32", "u8"] and .tier == "measured"'
# Products of 16 bits with a C of f32 are problems beside those with one of 16 bits.
expect 0 '*' '*' assay sweep --op matmul --backend cpu --threads 1 --profile quick --budget 60 --db "$db" --quiet \
    --dtype 'bf16|bf16,bf16,f32' --shape m=24,n=40,k=96
expect 0 '*' '*' assay pick --op matmul --dtype bf16 --shape m=24,n=40,k=96 --db "$db" --json
query '.dtypes == ["bf16", "bf16", "bf16"] and .tier == "measured"'
expect 0 '*' '*' assay pick --op matmul --dtype bf16,bf16,f32 --shape m=24,n=40,k=96 --db "$db" --json
query '.dtypes == ["bf16", "bf16", "f32"] and .tier == "measured"'
expect 1 '' '*matmul: beside T = f64, U is f64 too, not f32*' \
    assay sweep --op matmul --dtype f64,f64,f32 --shape m=24,n=40,k=96 --db "$db"
exit 0
