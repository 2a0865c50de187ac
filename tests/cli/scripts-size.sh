#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# check-size: a long function, a long file, and a waiver.
set -u
mkdir -p "$WORK/tree/runtime"
cd_file=$WORK/tree/runtime/long.c
# lines N -- a function whose body has N lines
lines() {
    echo "int long_one(int x);"
    echo "int long_one(int x)"
    echo "{"
    for ((i = 0; i < $1; i++)); do echo "    x += $i;"; done
    echo "    return x;"
    echo "}"
}
lines 90 >"$cd_file"
scripts/check-size "$WORK/tree" || { echo "94 lines are refused" && exit 1; }
lines 98 >"$cd_file"
scripts/check-size "$WORK/tree" >"$WORK/out" && echo "102 lines are accepted" && exit 1
grep -q 'long.c:2: function long_one has 102 lines' "$WORK/out" || { cat "$WORK/out" && exit 1; }
echo '/* size-waiver: long_one: one table, unrolled */' >>"$cd_file"
scripts/check-size "$WORK/tree" || { echo "the waiver is ignored" && exit 1; }
for ((i = 0; i < 1001; i++)); do echo "extern int v$i;"; done >"$cd_file"
scripts/check-size "$WORK/tree" >"$WORK/out" && echo "1,001 lines are accepted" && exit 1
grep -q 'long.c:1: file has 1001 lines' "$WORK/out" || exit 1
echo '/* size-waiver: long.c: a table */' >>"$cd_file"
scripts/check-size "$WORK/tree"
