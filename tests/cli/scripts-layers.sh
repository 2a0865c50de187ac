#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# check-layers: each arrow that must not exist is found; `make lint` runs it over the tree itself.
set -u

# refuse FOLDER/FILE LINE EXPECTED -- LINE in that file must be refused with EXPECTED.
refuse() {
    rm -rf "$WORK/tree"
    mkdir -p "$WORK/tree/runtime" "$WORK/tree/$(dirname "$1")"
    echo '#include "assay/status.h"' >"$WORK/tree/runtime/fine.c"
    scripts/check-layers "$WORK/tree" >/dev/null || { echo "the clean tree is refused" && exit 1; }
    printf '\n%s\n' "$2" >"$WORK/tree/$1"
    if scripts/check-layers "$WORK/tree" >"$WORK/out" 2>&1; then
        echo "accepted in $1: $2" && exit 1
    fi
    grep -qF "$1:2: $3" "$WORK/out" || { cat "$WORK/out" && echo "no '$1:2: $3'" && exit 1; }
}
# allow FOLDER/FILE LINE
allow() {
    rm -rf "$WORK/tree"
    mkdir -p "$WORK/tree/$(dirname "$1")"
    echo "$2" >"$WORK/tree/$1"
    scripts/check-layers "$WORK/tree" || { echo "refused in $1: $2" && exit 1; }
}

refuse runtime/a.c '#include "db/store.h"' 'folder runtime may not include from db/store.h'
refuse runtime/a.c '#include "support/json.h"' 'folder runtime may not include'
refuse support/a.c '#include "runtime/op.h"' 'folder support may not include'
refuse tuner/a.c '#include "db/store.h"' 'folder tuner may not include'
refuse db/a.c '#include "tuner/stats.h"' 'folder db may not include'
refuse reports/a.c '#include "cli/args.h"' 'folder reports may not include'
refuse cli/a.c '#include "backends/cpu/cpu.h"' 'folder cli may not include'
refuse examples/a.c '#include "runtime/op.h"' 'folder examples may not include'
refuse include/assay/a.h '#include "runtime/op.h"' 'folder include may not include'
refuse backends/cpu/a.c '#include "backends/ref/ref.h"' 'backend cpu includes from backend ref'
refuse backends/cpu/a.c '#include "db/store.h"' 'folder backends may not include'
refuse runtime/a.c '#include "op.h"' 'include "op.h" is not relative to the root'
refuse runtime/a.c '#include "../runtime/op.h"' 'include "../runtime/op.h" is not relative'
refuse tuner/a.c '#include <sqlite3.h>' '<sqlite3.h> has its home in db/'
refuse support/b.c '#include <jansson.h>' '<jansson.h> has its home in support/json.'
refuse runtime/a.c '#include <nosuch.h>' '<nosuch.h> is not known'
refuse reports/a.c 'const char *q = "SELECT 1 FROM run";' 'SQL outside db/'
refuse cli/a.c 'x("PRAGMA user_version");' 'SQL outside db/'

rm -rf "$WORK/tree"
mkdir -p "$WORK/tree/runtime" "$WORK/tree/tuner"
touch "$WORK/tree/runtime/same.c"
echo >"$WORK/tree/runtime/same.c"
echo >"$WORK/tree/tuner/same.c"
scripts/check-layers "$WORK/tree" >/dev/null 2>&1 && echo "two files of one name are accepted" && exit 1

allow reports/a.c '#include "db/read_rows.h"'
allow cli/a.c '#include "tuner/sweep.h"'
allow support/json.c '#include <jansson.h>'
allow db/a.c 'const char *q = "SELECT 1";'
allow backends/cpu/a.c '#include "backends/cpu/cpu.h"'
allow support/a.c '#include "runtime/error.h"'
exit 0
