#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# check-commit: the subject rules.
set -u
try() {
    printf '%b\n' "$1" >"$WORK/message"
    scripts/check-commit "$WORK/message" >"$WORK/out"
}
for good in 'db: add the schema' 'runtime: embed the table\n\nBecause.' 'backends/cpu: speed up exp' \
    'Revert "db: add"' 'cli: seed the sweep'; do
    try "$good" || { cat "$WORK/out" && exit 1; }
done
for bad in 'add the schema' 'db: add the schema.' 'db: added the schema' 'db: adding a schema' \
    'DB: add the schema' 'db:add' 'db: add\nno blank line' 'db: fixes it' \
    'db: add a subject that is much too long to be read in one glance here'; do
    try "$bad" && echo "accepted: $bad" && exit 1
done
exit 0
