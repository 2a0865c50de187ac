#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay bench: rows with all that they need; how fast this machine is decides nothing here.
. tests/support/expect.bash
. tests/support/store.bash
cd "$WORK" || exit 1
mkdir tmp
export TMPDIR=$WORK/tmp
expect 0 '*' '*' assay bench --json
query '.schema == "assay.bench/2"'
query '[.rows[].what] | index("open, no store") != null and index("pick, call-site cache, p50") != null and
    index("start, assay pick") != null and index("start, fresh worker") != null and index("ingest, measurement + accuracy") != null and
    index("clock, chains: slopes off 3 to 1") != null and index("peak, copy_nt_t1") != null and
    index("peak, launch_t1") != null and index("stays, twice the work: off 2 to 1") != null and index("A/A, false winners") != null and
    index("planted 5 %, not found") != null and (length == (unique | length))'
query '.rows | all(.value >= 0 and .lo <= .value and .value <= .hi and .n >= 1)'
query '.rows | map(select(.unit != "%" and .unit != "share")) | all(.value > 0 and .lo >= 0)'
query '.rows | all((.met == "info") == (.goal == null and .floor == null))'
query '.rows | map(select(.unit != "%" and .goal != null and (.what | test("^stays,.*: off") | not))) |
    all((.met == "yes") == (.value <= .goal))'
query '.rows | map(select(.what | test("^stays,.*: off"))) | length >= 1 and all(.n == 15 and .goal == 0.05 and
    (if .hi <= .goal then "yes" elif .lo > .goal then "no" else "undecided" end) == .met)'
query '.rows | map(select(.floor != null)) | length == 1 and all((.met == "yes") == (.value >= .floor))'
query '.rows | map(select(.unit == "%" and .goal != null)) | all(.n == 60 and
    (if .hi <= .goal then "yes" elif .lo > .goal then "no" else "undecided" end) == .met)'
query '.rows | map(select(.peer != null)) | length >= 2 and all(.peer_value > 0)'
[ -z "$(ls tmp)" ] || { ls tmp && echo "the store of ingest is left" && exit 1; }
expect 0 'what,value,unit,lo,hi,n,peer,peer_value,goal,met*' '*' assay bench --only open --format csv
expect '[01]' 'what *' '*' assay bench --only open,pick --strict
# On one CPU nobody stayed on more than one before.
one=$(taskset -cp $$ | sed -E 's/.*: //; s/[-,].*//')
expect 0 '*' '*stays, behind one on all CPUs: skipped: there is one CPU to use*' taskset -c "$one" assay bench --only stays --json
query '.rows | length == 2 and all(.what | test("^stays, (twice|8 MiB)"))'
expect 3 '' 'assay bench: none.db: *' assay bench --db none.db
expect 2 '' "assay bench: --only: unknown group 'speed'; groups are: open, *" assay bench --only open,speed
TMPDIR=$WORK/none expect 2 '' '*none/assay-bench-*: No such file*set TMPDIR*' assay bench --only ingest
cd "$OLDPWD" || exit 1
store_make "$WORK/s.db" "$(assay devices --json | jq -r .host.deployment)"
expect 0 'open, with the store*' '*' bash -c "assay bench --only open --db '$WORK/s.db' --format csv --quiet | tail -n +2 | tr -d '\"'"
