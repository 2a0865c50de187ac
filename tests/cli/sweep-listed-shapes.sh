#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case F13: exactly the listed, distinct, supported problems are measured; what is skipped is
# named with its line and reason; and a sweep that stored nothing never exits with 0.
. tests/support/fake_sweep.bash
script 3 'kernel=* ns=10000 sd=0.01'
sweep=(assay sweep --plugins "$WORK/plugins" --backend fake --threads 1 --profile quick)
a=(--kernel fake_a)
rows() { sqlite3 "$WORK/$1" "SELECT count(*) FROM $2"; }
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2 ($(cat "$WORK/stderr"))"; }

# Three rows, one a duplicate in other words, one unsupported.
printf 'op,dtype,n,set\nadd,f32,64,one\nadd,"f32,f32,f32",64,two\nadd,i32,64,three\n' >"$WORK/three.csv"
expect 0 '*n=64*' '*line 4 skipped: *i32*1 problems *1 rows skipped, 1 duplicates*' "${sweep[@]}" "${a[@]}" --db "$WORK/a.db" --shapes "$WORK/three.csv"
is "$(rows a.db problem)" 1 problems
is "$(sqlite3 "$WORK/a.db" "SELECT p.text FROM route t JOIN problem p ON p.id = t.problem")" 'add f32,f32,f32 n=64' routes
is "$(rows a.db "measurement WHERE problem <> (SELECT id FROM problem WHERE text LIKE '%n=64')")" 0 'rows of others'
expect 0 '{*n=64*}' '*line 4 skipped: *i32*' "${sweep[@]}" "${a[@]}" --db "$WORK/j.db" --shapes "$WORK/three.csv" --json
# With --strict a skip is an exit code.
expect 1 '*' '*line 4 skipped*' "${sweep[@]}" "${a[@]}" --db "$WORK/a.db" --shapes "$WORK/three.csv" --resume --strict

# All of them supported and distinct: all are measured, also from standard input and with a dtype list.
printf 'op,dtype,n\nadd,f32,64\nadd,f32,65\nadd,f32,66\n' >"$WORK/all.csv"
"${sweep[@]}" "${a[@]}" --db "$WORK/b.db" --shapes - <"$WORK/all.csv" >"$WORK/stdout" 2>"$WORK/stderr" || fail "standard input: exit $?"
is "$(rows b.db route)" 3 'routes of three rows'

# An op or dtype that no kernel at hand can run: named, and nothing was measured.
printf 'op,dtype,n\nexp,f32,64\nadd,f64,64\n' >"$WORK/none.csv"
expect 1 '' '*no kernel can run exp f32*no kernel can run add f64*nothing was measured*' "${sweep[@]}" "${a[@]}" --db "$WORK/c.db" --shapes "$WORK/none.csv"
is "$(rows c.db measurement)" 0 'rows of nothing'
printf 'op,dtype,n\nadd,i32,64\nadd,i8,32\n' >"$WORK/rows.csv"
expect 1 '' '*line 2 skipped*line 3 skipped*nothing was measured*' "${sweep[@]}" "${a[@]}" --db "$WORK/c.db" --shapes "$WORK/rows.csv"
expect 1 '' '*nothing was measured*' "${sweep[@]}" "${a[@]}" --db "$WORK/c.db" --shapes "$WORK/rows.csv" --resume
# One of two can run: that one is measured.
printf 'op,dtype,n\nexp,f32,64\nadd,f32,64\n' >"$WORK/half.csv"
expect 0 '*n=64*' '*no kernel can run exp*' "${sweep[@]}" "${a[@]}" --db "$WORK/d.db" --shapes "$WORK/half.csv"
is "$(rows d.db route)" 1 'routes of one in two'

# Kernels that do not exist, and a time budget that is over before anything is stored.
expect 2 '' '*nonesuch*' "${sweep[@]}" --db "$WORK/e.db" --kernel nonesuch --op add --dtype f32 --shape n=64
expect 1 '' '*nothing was measured*' "${sweep[@]}" "${a[@]}" --db "$WORK/e.db" --budget 0.001 --op add --dtype f32 --shape n=64
is "$(rows e.db visit)" 0 visits
# What is left of a budget that was spent in the middle is stored, and the exit is 0.
expect 0 '*' '*' "${sweep[@]}" "${a[@]}" --db "$WORK/e.db" --op add --dtype f32 --shape n=64
# A candidate that is wrong is listed; with no other, nothing may be picked: not a success.
script 3 'kernel=* ns=10000 wrong_at=1'
expect 1 '*no admissible variant*' '*wrong*nothing was measured*' "${sweep[@]}" "${a[@]}" --db "$WORK/f.db" --op add --dtype f32 --shape n=64
is "$(rows f.db 'route WHERE winner_revision NOT NULL')" 0 'routes of wrong kernels'
# A file with a header and no rows lists nothing.
printf 'op,dtype,n\n' >"$WORK/header.csv"
expect '[12]' '' '*header.csv*' "${sweep[@]}" "${a[@]}" --db "$WORK/g.db" --shapes "$WORK/header.csv"
