#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# examples/pick.c and engine.c built from the installed headers, library and pkg-config file alone, and run.
. tests/support/expect.bash
make -s --no-print-directory BUILD="${ASSAY_BUILD#"$PWD"/}" PREFIX="$WORK/p" install >"$WORK/log" 2>&1 ||
    { cat "$WORK/log" && exit 1; }
cp examples/pick.c examples/engine.c "$WORK/"
cd "$WORK" || exit 1
export PKG_CONFIG_PATH=$WORK/p/lib/pkgconfig LD_LIBRARY_PATH=$WORK/p/lib
# shellcheck disable=SC2046 # a list of words
cc -std=c11 -Wall -Wextra -Wpedantic -Werror pick.c $(pkg-config --cflags --libs assay) -lm -o pick || exit 1
expect 0 'picked *worst difference from a plain loop: *\* *: *cpu/cpu_matmul_portable: never measured*' '' ./pick
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Wpedantic -Werror engine.c $(pkg-config --cflags --libs assay) -o engine || exit 1
for backend in cpu ref; do
    expect 0 '0.000000 0.500000 1.000000
0.000000 0.824361 1.648721
0.000000 1.359141 2.718282
by * of *, * launch(es), 120 bytes' '' ./engine "$backend"
done
expect 1 '' 'engine: *nobody*' ./engine nobody
# A store that is not there means defaults; one that is no store is an error with its reason.
expect 0 'picked *' '' ./pick none.db
[ ! -e none.db ] || { echo "a missing store was made" && exit 1; }
cp pick.c text.db
expect 1 '' 'open: *text.db*' ./pick text.db
# The installed command line finds the installed plug-ins.
expect 0 '*' '' "$WORK/p/bin/assay" devices --json
query ".plugins | length >= 2 and all(.status == \"OK\" and (.path | startswith(\"$WORK/p/\")))"
[ -s "$WORK/p/share/man/man1/assay-pick.1" ] || { echo "no man page of pick" && exit 1; }
