#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# docs/testing.md names tests that are there; every trap test of a program is named in it.
set -u
tr '`' '\n' <docs/testing.md | grep -E '^(test_[a-z0-9_]+: [a-z0-9_]+|tests/cli/[a-z0-9-]+\.sh)$' | sort -u >"$WORK/named"
[ "$(wc -l <"$WORK/named")" -ge 40 ] || { echo "only $(wc -l <"$WORK/named") tests are named" && exit 1; }
missing=0
while IFS= read -r name; do
    case $name in
    tests/*) [ -f "$name" ] ;;
    *) grep -qsF "START_TEST(${name#*: })" "tests/unit/${name%%: *}.c" ;;
    esac || { echo "docs/testing.md: there is no $name" && missing=1; }
done <"$WORK/named"
for file in tests/unit/*.c; do
    program=${file##*/}
    while IFS= read -r name; do
        grep -qxF "${program%.c}: $name" "$WORK/named" || { echo "docs/testing.md lacks ${program%.c}: $name" && missing=1; }
    done < <(sed -nE 's/^START_TEST\((trap[0-9]+_[a-z0-9_]+)\)$/\1/p' "$file")
done
exit $missing
