#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The neighbour of field case B1: a plug-in that is built or installed anew while a sweep runs. What
# the new one does is not booked as done by the old; what was stored before stays, and the next
# sweep measures the new one.
. tests/support/expect.bash
export ASSAY_LOCK_DIR=$WORK # times do not matter
export LC_ALL=C
mkdir "$WORK/plugins"
old=$WORK/plugins/assay_villains.so
cp "$ASSAY_BUILD/tests/plugins/assay_villains.so" "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/plugins/" || exit 1
# As if one constant of villains.c were another: the hash of its tokens, which stands in the file.
hash=$(sed -n '/"tests\/villains\/villains.c"/{n;s/0x//g;s/[^0-9a-f]//g;p;q}' "$ASSAY_BUILD/gen/villains_source_hash.c")
# Any byte may be in it, a newline too: found and changed as numbers.
at=$(od -An -v -tx1 "$old" | tr -d ' \n' | awk -v hash="$hash" '{ print (index($0, hash) - 1) / 2 }')
[ "${#hash}" = 32 ] && [ "${at%.*}" -gt 0 ] || { echo "no hash '$hash' in the plug-in" && exit 1; }
cp "$old" "$WORK/new.so"
first=$((0x${hash:0:2} ^ 1))
# shellcheck disable=SC2059 # the format is the byte
printf "\\x$(printf %02x $first)" | dd of="$WORK/new.so" bs=1 seek="$at" conv=notrunc 2>"$WORK/log"
chmod 755 "$WORK/new.so"
cmp -s "$old" "$WORK/new.so" && echo "the plug-in was not changed" && exit 1

db=$WORK/s.db
sweep=(assay sweep --db "$db" --plugins "$WORK/plugins" --backend villains --op add --dtype f32
    --shape n=200000 --kernel v_honest --profile quick --quiet)
"${sweep[@]}" >"$WORK/out" 2>"$WORK/err" &
pid=$!
for _ in $(seq 600); do
    [ "$(sqlite3 "$db" 'SELECT count(*) FROM visit' 2>/dev/null)" -gt 0 ] 2>/dev/null && break
    sleep 0.1
done
mv "$WORK/new.so" "$old"
rc=0
wait $pid || rc=$?
[ "$rc" = 1 ] && grep -q 'villains/v_honest is another than when the sweep began.*start the sweep again' "$WORK/err" ||
    { echo "exit $rc: $(cat "$WORK/out" "$WORK/err")" && exit 1; }
[ "$(sqlite3 "$db" 'SELECT count(*) FROM visit')" -gt 0 ] || { echo "what was stored is gone" && exit 1; }
[ "$(sqlite3 "$db" 'SELECT count(*) FROM route')" = 0 ] || { echo "a route of two plug-ins" && exit 1; }
[ "$(sqlite3 "$db" 'SELECT count(*) FROM quarantine')" = 0 ] || { echo "somebody was blamed" && exit 1; }
expect 0 '*' '*' "${sweep[@]}" --resume
[ "$(sqlite3 "$db" 'SELECT count(DISTINCT kernel_revision) FROM revision')" = 2 ] ||
    { echo "the new plug-in has the revision of the old" && exit 1; }
