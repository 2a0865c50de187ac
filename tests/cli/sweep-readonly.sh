#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A10: a store on a read-only mount, HOME unset, no temporary folder: pick, check and
# report answer from it; sweep says where it cannot write and exits 3.
. tests/support/expect.bash
[ "$(id -u)" -eq 0 ] || { echo "needs root for a mount" && exit 77; }
mkdir "$WORK/mnt"
mount -t tmpfs -o size=8m none "$WORK/mnt" 2>"$WORK/log" || { echo "cannot mount a tmpfs here" && exit 77; }
trap 'umount "$WORK/mnt"' EXIT
db=$WORK/mnt/s.db
sweep=(assay sweep --db "$db" --backend cpu --kernel cpu_add_portable --op add --dtype f32 --threads 1 --profile quick --quiet)
expect 0 '*' '*' "${sweep[@]}" --shape n=1000
before=$(sha256sum <"$db")

bare=(env -u HOME -u XDG_CACHE_HOME TMPDIR="$WORK/none" SQLITE_TMPDIR="$WORK/none")
readers() {
    expect 0 '*' '' "${bare[@]}" assay pick --db "$db" --backend cpu --op add --dtype f32 --shape n=1000 --json
    query '.tier == "measured" and (.chosen.kernel | test("^cpu_add_"))'
    expect 0 '*sound*usable*' '' "${bare[@]}" assay check --db "$db" --backend cpu
    expect 0 '*cpu_add_portable*' '*' "${bare[@]}" assay report cost --db "$db" --format csv
}
writer() {
    expect 3 '' 'assay sweep: *s.db*' "${bare[@]}" "${sweep[@]}" --shape n=2000
    [ "$(wc -l <"$WORK/stderr")" -le 2 ] || { echo "not one message" && cat "$WORK/stderr" && exit 1; }
    grep -qE 'read-only|cannot write|write' "$WORK/stderr" || { cat "$WORK/stderr" && exit 1; }
}
# As the sweep left it; with the files of a reader beside it; with a log that a killed writer left.
mount -o remount,ro "$WORK/mnt"
readers
writer
mount -o remount,rw "$WORK/mnt"
expect 0 '*' '*' assay check --db "$db" --backend cpu
mount -o remount,ro "$WORK/mnt"
readers
writer
mount -o remount,rw "$WORK/mnt"
# A writer that was killed: a log with a committed row stays behind.
(sqlite3 "$db" "PRAGMA wal_autocheckpoint = 0; UPDATE deployment SET label = 'kept in the log';" \
    '.shell kill -9 $PPID' || true) >"$WORK/log" 2>&1
[ -s "$db-wal" ] || { echo "no log was left" && exit 1; }
mount -o remount,ro "$WORK/mnt"
readers
writer
[ "$(sha256sum <"$db")" = "$before" ] || { echo "the store changed" && exit 1; }

# A store that does not exist cannot be made there either, and the message says where.
db=$WORK/mnt/new.db
expect 3 '' 'assay sweep: *new.db*' "${bare[@]}" assay sweep --db "$db" --backend cpu --kernel cpu_add_portable \
    --op add --dtype f32 --shape n=1000 --profile quick --quiet
expect 3 "" "assay pick: *new.db*" "${bare[@]}" assay pick --db "$db" --backend cpu --op add --dtype f32 --shape n=1000
