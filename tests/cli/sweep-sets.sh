#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# What a shape set says of its rows (set, name, count, source) is stored with the sweep.
. tests/support/fake_sweep.bash
db=$WORK/s.db
cat >"$WORK/shapes.csv" <<'EOF'
op,dtype,n,set,name,count,source
add,f32,100,one,first,3,a paper
add,f32,100,two,also first,4,another paper
add,f32,200,one,second,5,
add,f32,100,one,first,2,a paper
EOF
script 1 'kernel=* ns=1000 sd=0.01'
sweep() {
    expect 0 '*' '' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --shapes "$1" \
        --threads 1 --profile quick --quiet --json "${@:2}"
}
stored() {
    sqlite3 -readonly "$db" "SELECT sweep, p.text, shape_set, row_name, run_count, source
        FROM sweep_problem AS u JOIN problem AS p ON p.id = u.problem ORDER BY 1, 2, 3, 4"
}
# A dry run writes nothing: without a store it plans as for an empty one, and so it does for 0 bytes.
sweep "$WORK/shapes.csv" --dry-run
[ ! -e "$db" ] || { echo "a dry run made a store" && exit 1; }
: >"$db"
sweep "$WORK/shapes.csv" --dry-run
[ ! -s "$db" ] || { echo "a dry run wrote into a file" && exit 1; }
sweep "$WORK/shapes.csv"
before=$(sha256sum <"$db")
expect 0 '0 problems, 0 variants: nothing to measure' '*2 finished before*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake \
    --shapes "$WORK/shapes.csv" --threads 1 --profile quick --dry-run --resume
[ "$(sha256sum <"$db")" = "$before" ] || { echo "a dry run changed the store" && exit 1; }
want='1|add f32,f32,f32 n=100|one|first|5.0|a paper
1|add f32,f32,f32 n=100|two|also first|4.0|another paper
1|add f32,f32,f32 n=200|one|second|5.0|'
[ "$(stored)" = "$want" ] || { stored && echo "wanted: $want" && exit 1; }

# The report weighs them; a row of another op that no kernel here runs is not measured.
expect 0 '*' '*' assay report cost --db "$db" --plugins "$WORK/plugins" --json
query '.sets | map(select(.op == null)) | map([.set, .rows, .covered, .runs]) == [["one", 2, 2, 10], ["two", 1, 1, 4]]'
query '.sets | all(.picked.time_ns > 0 and .picked.time_ns <= .default.time_ns * 1.5 and .gain >= 0.9)'
query '(.problems | map({(.problem): .winner.time_ns}) | add) as $ns |
    .sets[0].picked.time_ns - 5 * $ns["add f32,f32,f32 n=100"] - 5 * $ns["add f32,f32,f32 n=200"] | fabs < 1e-3'
expect 0 '*' '*' assay report cost --db "$db" --plugins "$WORK/plugins" --by set --format csv
[ "$(wc -l <"$WORK/stdout")" = 5 ] || { cat "$WORK/stdout" && exit 1; }
head -n 1 "$WORK/stdout" | tr ',' '\n' | while read -r column; do
    grep -q "\`$column\`" docs/reports.md || { echo "$column is not in docs/reports.md" && exit 1; }
done || exit 1
expect 2 '' '*--by chooses the rows of the cost report*' assay report cost --db "$db" --by set --format md
expect 2 '' '*--by chooses the rows of the cost report*' assay report precision --db "$db" --by set --format csv
expect 2 '' "*--by*" assay report cost --db "$db" --by sets --format csv
