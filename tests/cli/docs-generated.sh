#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# docs/cli.md and docs/ops.md are what the program says now, and there is a man page a command.
. tests/support/expect.bash
scripts/gen-cli --check docs/cli.md "$ASSAY_BUILD/bin/assay" || exit 1
assay ops --format md | diff -u docs/ops.md - ||
    { echo "docs/ops.md is out of date: assay ops --format md > docs/ops.md" && exit 1; }
scripts/gen-man "$ASSAY_BUILD/bin/assay" "$WORK/man" || exit 1
for command in $(assay --help | sed -nE 's/^ +([a-z]+)  +.*/\1/p'); do
    grep -q '^\.TH ASSAY' "$WORK/man/assay-$command.1" || { echo "no man page of $command" && exit 1; }
    grep -q "^## assay $command\$" docs/cli.md || { echo "$command is not in docs/cli.md" && exit 1; }
done
