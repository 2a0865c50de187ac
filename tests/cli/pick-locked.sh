#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A store that another process keeps for itself: who reads waits 2 s, then names the process; when it
# lets go all is as before. A writer locks no reader out (sweep-locked.sh).
. tests/support/expect.bash
. tests/support/store.bash
db=$WORK/s.db
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
ask=(assay pick --op add --dtype f32 --shape n=64 --db "$db" --backend cpu --json --quiet)
expect 0 '*' '' "${ask[@]}"
mkfifo "$WORK/fifo"
sqlite3 "$db" 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;' ".shell touch $WORK/held; cat $WORK/fifo" 'COMMIT;' >"$WORK/log" 2>&1 &
holder=$!
until [ -e "$WORK/held" ]; do
    kill -0 "$holder" || { cat "$WORK/log" && exit 1; }
    sleep 0.02
done
grep -qs "^[0-9]*: POSIX .* $holder " /proc/locks && who="process $holder" || who=''
expect 3 '' "assay pick: $db: *the store is locked: *${who} holds it for over 2 s; wait for it or end it*" "${ask[@]}"
expect 3 '' "assay check: $db: *the store is locked: *${who} holds it for over 2 s*" assay check --db "$db"
kill -0 "$holder" || { echo "the lock was not held to the end" && exit 1; }
echo go >"$WORK/fifo"
wait "$holder" || { cat "$WORK/log" && exit 1; }
expect 0 '*' '' "${ask[@]}"
