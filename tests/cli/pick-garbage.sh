#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Garbage planted in a store that SQLite finds sound: a record of a route that says what cannot be is
# never picked by it, passes no limit, and check names its row; other rows go on to serve.
. tests/support/expect.bash
. tests/support/store.bash
db=$WORK/s.db
ask=(assay pick --op matmul --dtype f32 --shape 'm=512,n=512,k=512' --backend 'cpu,ref' --json --quiet --db "$db")
assay pick "${ask[@]:2:8}" --json --quiet >"$WORK/bare" || exit 1
revision() { # FILTER -- of a kernel of f32 matmul
    assay kernels --json | jq -r --arg k "$1" '.kernels[] | select(.kernel == $k and .dtypes[0] == "f32" and .op == "matmul") | .revision'
}
variant() { jq -r --arg k "$1" '[.chosen, .others[], .rejected[]] | map(select(.kernel == $k)) | .[0].revision' "$WORK/bare"; }
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
store_problem "$db" 1 'matmul f32,f32,f32 m=512,n=512,k=512'
store_variant "$db" 1 cpu matmul f32,f32,f32 cpu_matmul_portable threads=1 "$(revision cpu_matmul_portable)" "$(variant cpu_matmul_portable)"
store_variant "$db" 2 ref matmul f32,f32,f32 ref_matmul_f32 '' "$(revision ref_matmul_f32)" "$(variant ref_matmul_f32)"
store_measured "$db" 1 1 1000
store_measured "$db" 2 1 5000
good=$(candidate 2 2 0 5000 4900 5100 3 0.5)
store_route "$db" 1 1 "$(candidate 1 1 0 1000 990 1010 4 0.25)" "$good"
plant() { sql "$db" "UPDATE route SET candidates = x'$1$good'"; }

expect 0 '*' '' "${ask[@]}"
query '.chosen.kernel == "cpu_matmul_portable" and .tier == "measured"'
# tail of a record: proof, stability, verdict, tied, quarantined
tail() { echo "$(candidate 1 1 0 1000 990 1010 "${2:-4}" 0.25 | cut -c 1-224)$1"; }
unsound=("$(candidate 1 1 0 -5 990 1010 4 0.25)" "$(candidate 1 1 0 0 0 0 4 0.25)" "$(candidate 1 1 0 9e999 990 1010 4 0.25)"
    "$(candidate 1 1 0 1000 -990 1010 4 0.25)" "$(candidate 1 1 0 1000 2000 1010 4 0.25)" "$(candidate 1 1 0 1000 990 1010 -1 0.25)"
    "$(candidate 1 1 0 1000 990 1010 4 -0.25)" "$(tail c802010000000000)" "$(tail 01c8010000000000)"
    "$(tail 0102010700000000)")
for record in "${unsound[@]}"; do
    [ "${#record}" = 240 ] || { echo "not a record: $record" && exit 1; }
    plant "$record"
    expect 0 '*' '*' "${ask[@]}"
    query '.chosen.kernel == "ref_matmul_f32" and .chosen.time_ns == 5000 and .tier == "measured"'
    query '.rejected | any(.kernel == "cpu_matmul_portable" and (.reason | test("damaged")))'
    expect 1 '' '*' "${ask[@]:0:8}" --quiet --db "$db" --max-ulp 2
    expect 3 '*damaged*row 1 of route has a candidate (revision 1) whose figures cannot be*' '*damaged*' assay check --db "$db"
done
# A verdict of a later version is no damage, and is not picked.
plant "$(tail 0102c80000000000)"
expect 0 '*' '*' "${ask[@]}"
query '.chosen.kernel == "ref_matmul_f32"'
# Unknown figures are no garbage.
plant "$(candidate 1 1 0 1000 nan nan nan nan)"
expect 0 '*' '' "${ask[@]}"
query '.chosen.kernel == "cpu_matmul_portable" and (.chosen | has("lo_ns", "max_ulp") | not)'
expect 0 '*sound*' '*' assay check --db "$db"
# A winner that is none of the candidates, and candidates of a revision that is not there.
sql "$db" 'UPDATE route SET winner_revision = NULL'
expect 0 '*' '' "${ask[@]}"
query '.tier == "measured" and .chosen.kernel == "cpu_matmul_portable"'
plant "$(candidate 77 1 0 1 1 1 0 0)"
expect 0 '*' '*' "${ask[@]}"
query '.chosen.kernel == "ref_matmul_f32"'
expect 3 '*missing row of revision*' '*' assay check --db "$db"
