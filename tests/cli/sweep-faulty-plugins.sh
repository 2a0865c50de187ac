#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Plug-ins that end the process that loads or opens them: a sweep leaves them out by name and goes on
# with the others; other commands name them as they end.
. tests/support/expect.bash
faults=$ASSAY_BUILD/tests/loader
db=$WORK/f.db
sweep() { # PLUGINS FLAG...
    assay sweep --db "$db" --plugins "$1" --op add --dtype f32 --profile quick "${@:2}"
}

mkdir "$WORK/mixed" && cp "$faults"/assay_{ctor,opens,named,beta}.so "$WORK/mixed" || exit 1
plugins=$ASSAY_BUILD/lib/assay:$WORK/mixed
expect 0 'add f32,f32,f32 n=1000*cpu/cpu_add*' \
    '*left out: *assay_ctor.so: the worker ended: signal 11 * while plug-in *assay_ctor.so was loaded*' \
    sweep "$plugins" --shape n=1000 --backend cpu
grep -q 'left out: .*assay_opens.so: the worker ended: signal 6 .* while plug-in .*assay_opens.so was opened' "$WORK/stderr" &&
    grep -q 'left out: .*assay_named.so: the worker ended: exit 0 .* in library_identity of plug-in .*assay_named.so, for libplug' "$WORK/stderr" ||
    { cat "$WORK/stderr" && exit 1; }
[ "$(sqlite3 "$db" 'SELECT count(*) FROM route')" = 1 ] || exit 1
# Asked for itself it is missed, and no store is made.
expect 4 '' '*no usable plug-in: *assay_ctor.so: the worker ended: signal 11 *' \
    assay sweep --db "$WORK/none.db" --plugins "$faults/assay_ctor.so" --op add --dtype f32 --shape n=10
[ ! -e "$WORK/none.db" ] || exit 1

expect 4 '' 'assay kernels: segmentation fault while loading plug-in *assay_ctor.so; *' \
    assay kernels --plugins "$faults/assay_ctor.so"
expect 4 '' 'assay devices: abort while opening plug-in *assay_opens.so; *' assay devices --plugins "$faults/assay_opens.so"
expect 4 '' 'assay pick: the process was ended in library_identity of plug-in *assay_named.so; *' \
    assay pick --plugins "$faults/assay_named.so" --op add --dtype f32 --shape n=10
expect 143 '' 'assay kernels: terminated while loading plug-in *assay_hangs.so; *' \
    timeout --preserve-status 0.5 assay kernels --plugins "$faults/assay_hangs.so"
