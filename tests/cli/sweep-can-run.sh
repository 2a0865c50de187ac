#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Kernels whose can_run_fn ends or hangs the process that asks it: they fail at that problem, with a
# reason that names them, are remembered, and the sweep goes on; other commands name them as they end.
. tests/support/expect.bash
export ASSAY_TEST_RUN_TIMEOUT_MS=4000 # of a hang each
db=$WORK/f.db
sweep() { # PLUGINS FLAG...
    assay sweep --db "$db" --plugins "$1" --op add --dtype f32 --profile quick "${@:2}"
}
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
expect 0 'add f32,f32,f32 n=31337*villains/v_honest*1 tied of 2*' '*1 candidates rejected: 0 wrong, 1 crashed, *' \
    sweep "$plugins" --shape n=31337 --backend villains --kernel v_honest --kernel v_can_run_segv
rows() { sqlite3 "$db" "SELECT $1"; }
crashed='the worker ended: signal 11 (Segmentation fault) at address 0x8 in can_run_fn of villains/v_can_run_segv'
[ "$(rows "group_concat(k.name || ' ' || v.tunables || ' ' || m.verdict || ' ' || m.reason) FROM measurement m
    JOIN revision v ON v.id = m.revision JOIN kernel k ON k.id = v.kernel WHERE m.verdict NOT IN ('ok', 'noisy')")" = \
    "v_can_run_segv unroll=1 crashed $crashed" ] || { rows '* FROM measurement' && exit 1; }
# All its variants: production would ask them within itself.
[ "$(rows "group_concat(v.tunables || ': ' || q.reason, '|') FROM quarantine q
    JOIN revision v ON v.id = q.revision")" = "unroll=1: $crashed|unroll=2: $crashed" ] ||
    { rows '* FROM quarantine' && exit 1; }
# Where it ended the process before it is not asked, nor at a fourth problem when it did at three.
expect 0 '*' '*4 candidates rejected: 0 wrong, 4 crashed, *' \
    sweep "$plugins" --shape 'n=31337|131337|231337|331337|431337' --backend villains --kernel v_honest --kernel v_can_run_segv
[ "$(rows "group_concat(p.text) FROM measurement m JOIN problem p ON p.id = m.problem WHERE m.reason LIKE
    'not asked whether it can run%'")" = 'add f32,f32,f32 n=431337' ] || { rows '* FROM measurement' && exit 1; }
# Who never answers is given up, also where it was asked as the default alone; that is the next one.
expect 0 'add f32,f32,f32 n=31338*villains/v_honest*1.00x default*' '*1 candidates rejected: * 0 crashed, 1 timed out*' \
    sweep "$plugins" --shape n=31338 --backend villains --kernel v_honest
[ "$(rows "count(*) FROM quarantine
    WHERE reason LIKE 'no reply within 4000 ms%killed in can_run_fn of villains/v_can_run_hang'")" = 1 ] || { rows '* FROM quarantine' && exit 1; }

# Finished is finished, although it is among the candidates.
expect 0 '' '*1 finished before*, 0 variants, 0 timed stays*' \
    sweep "$plugins" --shape n=31338 --backend villains --kernel v_honest --resume

# A published winner competes, unless by now it declines.
moody() { sweep "$plugins" --shape n=31339 --backend villains --kernel "$@"; }
expect 0 '*villains/v_can_run_moody *' '*' moody v_can_run_moody
expect 0 '*villains/v_honest * tied of 1*' '*' env VILLAINS_DECLINE=1 bash -c "$(declare -f sweep moody)
    db='$db' plugins='$plugins'; moody v_honest"
expect 0 '*of 2*' '*' moody v_honest

# What the store knows keeps a pick from asking; without it the command names who ended it.
ask=(assay pick --plugins "$plugins" --backend villains --op add --dtype f32)
expect 0 '*v_honest*' '*' "${ask[@]}" --db "$db" --shape n=31337
expect 143 '' 'assay pick: terminated in can_run_fn of villains/v_can_run_hang; *' \
    timeout --preserve-status 0.5 "${ask[@]}" --shape n=31338 --quiet
