#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Reading commands on a store in a folder that cannot be written, and on one that cannot be read.
. tests/support/expect.bash
. tests/support/store.bash
mkdir "$WORK/d" && chmod 755 "$WORK"
store_make "$WORK/d/s.db" "$(assay devices --json | jq -r .host.deployment)"
sqlite3 "$WORK/d/s.db" 'PRAGMA wal_checkpoint(TRUNCATE)' >"$WORK/log"
cp "$WORK/d/s.db" "$WORK/d/secret.db"
chmod 444 "$WORK/d/s.db"
chmod 000 "$WORK/d/secret.db"
chmod 555 "$WORK/d"
as=()
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || { echo "no setpriv: root may do anything" && exit 77; }
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${as[@]}" "$ASSAY_BUILD/bin/assay" --version >"$WORK/log" 2>&1 ||
        { echo "another user cannot reach this build" && exit 77; }
fi
assay=$ASSAY_BUILD/bin/assay
ask=(pick --op add --dtype f32 --shape n=64 --json --quiet)
before=$(sha256sum <"$WORK/d/s.db")
names=$(ls "$WORK/d")
expect 0 '*' '' "${as[@]}" "$assay" "${ask[@]}" --db "$WORK/d/s.db"
query '.store.schema >= 2 and .tier == "unknown"'
expect 0 '*sound*' '' "${as[@]}" "$assay" check --db "$WORK/d/s.db"
expect 3 '' 'assay pick: *secret.db*' "${as[@]}" "$assay" "${ask[@]}" --db "$WORK/d/secret.db"
expect 3 '' 'assay check: *secret.db*' "${as[@]}" "$assay" check --db "$WORK/d/secret.db"
if [ "$(sha256sum <"$WORK/d/s.db")" != "$before" ] || [ "$(ls "$WORK/d")" != "$names" ]; then
    echo "a reading command has written" && exit 1
fi
chmod 755 "$WORK/d"
