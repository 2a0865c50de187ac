#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A7: the disk fills up in the middle of a sweep: exit 3 and one message, the store is
# sound and keeps what was finished, and --resume finishes it once there is space, measuring no
# visit twice.
. tests/support/expect.bash
[ "$(id -u)" -eq 0 ] || { echo "needs root for a mount" && exit 77; }
mkdir "$WORK/mnt"
mount -t tmpfs -o size=4m none "$WORK/mnt" 2>"$WORK/log" || { echo "cannot mount a tmpfs here" && exit 77; }
trap 'umount "$WORK/mnt"' EXIT
db=$WORK/mnt/s.db
sweep=(assay sweep --db "$db" --backend cpu --kernel cpu_add_portable --op add --dtype f32 --threads 1 --profile quick --quiet)
fill() { dd if=/dev/zero of="$WORK/mnt/ballast" bs=4096 2>"$WORK/log"; } # until it is full
count() { sqlite3 "$db" "SELECT count(*) FROM $1"; }

expect 0 '*' '*' "${sweep[@]}" --shape n=16
[ "$(count route)" = 1 ] || exit 1
# Space for some of four problems: the ballast leaves room for a few pages of log.
fill
truncate -s -512K "$WORK/mnt/ballast"
expect 3 '*' 'assay sweep: *' "${sweep[@]}" --shape 'n=32|48|64|80'
[ "$(wc -l <"$WORK/stderr")" -le 3 ] || { cat "$WORK/stderr" && exit 1; }
grep -qiE 'full|space' "$WORK/stderr" || { cat "$WORK/stderr" && exit 1; }
grep -q 's\.db' "$WORK/stderr" || { cat "$WORK/stderr" && exit 1; }
# Readers work on the full disk.
expect 0 '*sound*' '*' assay check --db "$db" --backend cpu
expect 0 '*measured*' '' assay pick --db "$db" --backend cpu --op add --dtype f32 --shape n=16
# Nothing can be begun either, and a new store is not left half made.
fill || true
expect 3 '' 'assay sweep: *' "${sweep[@]}" --shape n=1024
expect 3 '' 'assay sweep: *' assay sweep --db "$WORK/mnt/new.db" --backend cpu --op add --dtype f32 --shape n=16 --profile quick --quiet

rm "$WORK/mnt/ballast"
[ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ] || { echo "integrity" && exit 1; }
[ "$(count route)" -ge 1 ] || { echo "the finished route is lost" && exit 1; }
kept=$(count "visit WHERE kind = 'screen'")
[ "$kept" -ge 2 ] || { echo "no visit of the failed sweep was kept: $kept" && exit 1; }
expect 0 '*' '*' "${sweep[@]}" --resume --shape 'n=16|32|48|64|80'
[ "$(count route)" = 5 ] || { echo "$(count route) routes, not 5" && exit 1; }
[ "$(count "(SELECT 1 FROM visit WHERE kind = 'screen' GROUP BY measurement HAVING count(*) > 1)")" = 0 ] ||
    { echo "a visit was repeated" && exit 1; }
expect 0 '*sound*' '' assay check --db "$db" --backend cpu
# What was made on the full disk is a store or can become one.
expect 0 '*' '*' assay sweep --db "$WORK/mnt/new.db" --backend cpu --kernel cpu_add_portable --op add --dtype f32 --shape n=16 \
    --threads 1 --profile quick --quiet
