#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay merge reads a store in a folder that cannot be written without locks. When somebody with more rights writes it
# meanwhile that is told, and nothing is made of what was read.
. tests/support/expect.bash
. tests/support/store.bash
mkdir "$WORK/d" "$WORK/out" && chmod 755 "$WORK" && chmod 777 "$WORK/out" || exit 1
db=$WORK/d/s.db
digest=$(printf '%064d' 7)
store_make "$db" "$digest"
store_problem "$db" 1 'add f32,f32,f32 n=64'
store_variant "$db" 1 cpu add f32,f32,f32 cpu_add_portable '' "$digest" "$digest"
store_measured "$db" 1 1 100
# So much that reading it takes longer than somebody needs to write.
sql "$db" "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO visit (measurement, sweep, ordinal, kind, sample_count, samples, inner_count, clock_name, clock_quality, taken_utc, context_json)
    SELECT 1, 1, i, 'measure', 16384, zeroblob(131072), 1, 'planted', 'host', $planted_utc, '{}' FROM n"
sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' >"$WORK/log"
[ ! -e "$db-wal" ] || { echo "a log is left beside the store" && exit 1; }
chmod 555 "$WORK/d"
as=()
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || { echo "no setpriv: root may do anything" && exit 77; }
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as[@]}" "$ASSAY_BUILD/bin/assay" --version >"$WORK/log" 2>&1 ||
        { echo "another user cannot reach this build" && exit 77; }
fi
merge=("${as[@]}" "$ASSAY_BUILD/bin/assay" merge -o "$WORK/out/m.db" "$db")
expect 0 '*' '' "${merge[@]}"

while :; do touch "$db"; done &
writer=$!
for _ in {1..50}; do # one of them is under way when it is written
    rm -f "$WORK/out/m.db"
    rc=0
    "${merge[@]}" >"$WORK/stdout" 2>"$WORK/stderr" || rc=$?
    [ "$rc" -eq 0 ] || break
done
kill "$writer"
wait "$writer" 2>/dev/null
chmod 755 "$WORK/d"
[ "$rc" -eq 3 ] && [[ $(cat "$WORK/stderr") == *'s.db: store changed while it was read; merge again'* ]] && [ -z "$(ls -A "$WORK/out")" ] ||
    { echo "exit $rc, made: $(ls -A "$WORK/out")" && cat "$WORK/stderr" && exit 1; }
