#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A8: commands that read leave the store byte for byte as it was, after a real sweep, with
# flags that might tempt them, and without a log left over from the writer.
. tests/support/expect.bash
db=$WORK/s.db
expect 0 '*' '*' assay sweep --db "$db" --backend cpu --op add --dtype f32 --shape 'n=1000|2000' \
    --kernel cpu_add_portable --threads 1 --profile quick --quiet
before=$(sha256sum <"$db")
rows=$(sqlite3 "$db" .dump | sha256sum)

asks=(--db "$db" --backend cpu)
expect 0 '*' '' assay pick "${asks[@]}" --op add --dtype f32 --shape n=1000
expect 0 '*' '' assay pick "${asks[@]}" --op add --dtype f32 --shape n=1000 --explain --json
expect 0 '*' '*' assay pick "${asks[@]}" --op add --dtype f32 --shape n=777 # a miss
expect 1 '*' '*' assay pick "${asks[@]}" --op add --dtype f32 --shape n=1000 --proof exhaustive
expect 0 '*' '*' assay check --db "$db" --backend cpu
for what in cost precision; do
    for format in html csv json md; do
        expect 0 '*' '*' assay report $what --db "$db" --format $format -o "$WORK/report.$format"
        [ -s "$WORK/report.$format" ] || { echo "empty report $what.$format" && exit 1; }
    done
done
expect 0 '*' '*' assay kernels --backend cpu
expect 0 '*' '*' assay devices
expect 2 '*' '*' assay report cost --db "$db" --format nonsense
[ "$(sha256sum <"$db")" = "$before" ] || { echo "a command that reads changed the store" && exit 1; }
[ "$(sqlite3 "$db" .dump | sha256sum)" = "$rows" ] || { echo "rows changed" && exit 1; }

# A reader makes no store where there is none.
expect 3 '' '*none.db: store does not exist*' assay check --db "$WORK/none.db"
expect 3 '*' '*' assay pick --db "$WORK/none.db" --backend cpu --op add --dtype f32 --shape n=1000
expect 3 '' '*none.db*' assay report cost --db "$WORK/none.db" -o "$WORK/none.html"
[ -z "$(find "$WORK" -name 'none*')" ] || { echo "a reader made a file" && exit 1; }
