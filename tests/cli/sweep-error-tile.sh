#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A fast convolution errs with the sums of a whole tile, and is judged by them when its row says so; the
# same bits of a kernel that says nothing are wrong.
. tests/support/expect.bash
db=$WORK/t.db
expect 0 'conv2d f32,f32,f32 *villains/v_tile *' '*' assay sweep --db "$db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" \
    --backend villains --op conv2d --dtype f32 --shape n=2,c=3,h=9,w=12,k=4,r=3,s=3,pad_h=1,pad_w=1 --profile quick --quiet
rows=$(sqlite3 "$db" "SELECT k.name, replace(m.verdict, 'noisy', 'ok'), m.reason LIKE '%element % outside the bound' FROM measurement m
    JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel ORDER BY k.name")
[ "$rows" = $'v_tile|ok|0\nv_tile_untold|wrong|1' ] || { sqlite3 "$db" 'SELECT * FROM measurement' && exit 1; }
