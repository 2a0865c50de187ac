#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A17 on a full disk: assay merge makes a whole store or none, wherever the room ends, also where the log of the new
# store still fits and the file does not; it says which folder is full, and how much it takes.
. tests/support/expect.bash
. tests/support/store.bash
[ "$(id -u)" -eq 0 ] || { echo "needs root for a mount" && exit 77; }
mkdir "$WORK/mnt"
mount -t tmpfs -o size=32m none "$WORK/mnt" 2>"$WORK/log" || { echo "cannot mount a tmpfs here" && exit 77; }
trap 'cd / && umount "$WORK/mnt"' EXIT
cd "$WORK/mnt" || exit 1
fail() { echo "$*" && exit 1; }
room() { # BYTES are left beside the ballast
    dd if=/dev/zero of=ballast bs=4096 2>"$WORK/log"
    truncate -s "-$1" ballast
}
digest=$(printf '%064d' 7)
db=$WORK/a.db
(cd "$OLDPWD" && store_make "$db" "$digest" && store_problem "$db" 1 'add f32,f32,f32 n=64' &&
    store_variant "$db" 1 cpu add f32,f32,f32 cpu_add_portable '' "$digest" "$digest" && store_measured "$db" 1 1 100) || exit 1
# Far more rows than what an empty store takes, or the log would fail first.
sql "$db" "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO visit (measurement, sweep, ordinal, kind, sample_count, samples, inner_count, clock_name, clock_quality, taken_utc, context_json)
    SELECT 1, 1, i, 'measure', 16384, zeroblob(131072), 1, 'planted', 'host', $planted_utc, '{}' FROM n"
expect 0 '*' '' assay merge -o "$WORK/whole.db" "$db" --json
content=$(jq -r .content "$WORK/stdout")
size=$(stat -c %s "$WORK/whole.db")
[ "$size" -gt 7000000 ] || fail "the store is too small to tell its log from its file: $size"

for tenths in 0 1 5 9 12 15 18; do
    room $((size * tenths / 10))
    expect 3 '' 'assay merge: out.db: no space left; free twice the size of all stores together*' assay merge -o out.db "$db"
    [ "$(ls -A)" = ballast ] || fail "left at $tenths tenths: $(ls -A)"
done
room 512K
expect 3 '' "assay merge: $WORK/out.db: no space left in the folder for temporary files; set SQLITE_TMPDIR*" \
    env SQLITE_TMPDIR="$WORK/mnt" assay merge -o "$WORK/out.db" "$db"
[ "$(ls -A)" = ballast ] && [ ! -e "$WORK/out.db" ] || fail "left: $(ls -A . "$WORK")"

rm ballast
expect 0 '*' '' assay merge -o out.db "$db" --json
query ".content == \"$content\""
[ "$(sqlite3 -readonly out.db 'PRAGMA integrity_check; SELECT count(*) FROM visit')" = $'ok\n60' ] || fail "integrity"
