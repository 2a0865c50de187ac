#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Plug-ins that end the process that loads, opens or asks them: a sweep leaves them out, or their
# kernel, by name, and goes on with the others; other commands name them as they end.
. tests/support/expect.bash
faults=$ASSAY_BUILD/tests/loader
db=$WORK/f.db
sweep() { # PLUGINS FLAG...
    assay sweep --db "$db" --plugins "$1" --op add --dtype f32 --profile quick "${@:2}"
}

# ---- loading and opening ----
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

# ---- asking ----
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
rm "$db"
expect 0 'add f32,f32,f32 n=31337*villains/v_honest*1 tied of 2*' '*1 candidates rejected: 0 wrong, 1 crashed, *' \
    sweep "$plugins" --shape n=31337 --backend villains --kernel v_honest --kernel v_can_run_segv
rows() { sqlite3 "$db" "SELECT $1"; }
crashed='the worker ended: signal 11 (Segmentation fault) in can_run_fn of villains/v_can_run_segv'
[ "$(rows "group_concat(k.name || ' ' || v.tunables || ' ' || m.verdict || ' ' || m.reason) FROM measurement m
    JOIN revision v ON v.id = m.revision JOIN kernel k ON k.id = v.kernel WHERE m.verdict <> 'ok'")" = \
    "v_can_run_segv unroll=2 crashed $crashed" ] || { rows '* FROM measurement' && exit 1; }
# All its variants: production would ask them within itself.
[ "$(rows "group_concat(v.tunables || ': ' || q.reason, '|') FROM quarantine q
    JOIN revision v ON v.id = q.revision")" = "unroll=1: $crashed|unroll=2: $crashed" ] ||
    { rows '* FROM quarantine' && exit 1; }
# A kernel that ends the process at three problems is not asked at a fourth.
expect 0 '*' '*4 candidates rejected: 0 wrong, 4 crashed, *' \
    sweep "$plugins" --shape 'n=31337|131337|231337|331337' --backend villains --kernel v_honest --kernel v_can_run_segv
[ "$(rows "group_concat(p.text) FROM measurement m JOIN problem p ON p.id = m.problem WHERE m.reason LIKE
    'not asked whether it can run%'")" = 'add f32,f32,f32 n=331337' ] || { rows '* FROM measurement' && exit 1; }
# Who never answers is given up, also where it was asked as the default alone; that is the next one.
expect 0 'add f32,f32,f32 n=31338*villains/v_honest*1.00x default*' '*1 candidates rejected: * 0 crashed, 1 timed out*' \
    sweep "$plugins" --shape n=31338 --backend villains --kernel v_honest
[ "$(rows "count(*) FROM quarantine
    WHERE reason LIKE 'no reply within 10000 ms%killed in can_run_fn of villains/v_can_run_hang'")" = 1 ] || { rows '* FROM quarantine' && exit 1; }

# What the store knows keeps a pick from asking; without it the command names who ended it.
ask=(assay pick --plugins "$plugins" --backend villains --op add --dtype f32)
expect 0 '*v_honest*' '*' "${ask[@]}" --db "$db" --shape n=31337
expect 143 '' 'assay pick: terminated in can_run_fn of villains/v_can_run_hang; *' \
    timeout --preserve-status 0.5 "${ask[@]}" --shape n=31338 --quiet
