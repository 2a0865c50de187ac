#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A11: a store of an older schema, of a newer one, and the database of another program
# get three different messages from every command; readers change no byte of any, the command that
# writes migrates the older after a backup, refuses the others, and leaves no file beside them.
. tests/support/fake_sweep.bash
script 3 'kernel=* ns=10000 sd=0.01'
cd "$WORK" || exit 1
sweep=(assay sweep --plugins plugins --backend fake --kernel fake_a --op add --dtype f32 --shape n=64 --threads 1 --profile quick --quiet)
expect 0 '*' '' "${sweep[@]}" --db now.db
# Files on their own, as another machine would have sent them.
copy() { rm -f "$1"* && sqlite3 now.db "VACUUM INTO '$1'"; }
version=$(sqlite3 now.db 'PRAGMA user_version')
# undo[V] takes back the step from V to V + 1; every version that ever was can be made.
undo=([0]='ALTER TABLE deployment DROP COLUMN label' [1]='DROP TABLE sweep_problem'
    [2]='DROP INDEX accuracy_all_inputs; DROP INDEX accuracy_failed'
    [3]='ALTER TABLE sweep DROP COLUMN aa_floor'
    [4]='ALTER TABLE visit DROP COLUMN is_twin; ALTER TABLE measurement DROP COLUMN ratio_level'
    [5]='ALTER TABLE visit DROP COLUMN flags; ALTER TABLE visit DROP COLUMN rejected_json;
        ALTER TABLE visit DROP COLUMN stop_reason; DROP TABLE counter; DROP TABLE counter_source')
[ "${#undo[@]}" = "$version" ] || fail "schema $version is new: say here how it is undone"
views=$(sqlite3 now.db "SELECT group_concat('DROP VIEW ' || name, ';') FROM sqlite_schema WHERE type = 'view'")
for ((v = version - 1; v >= 0; v--)); do
    copy "older$v.db"
    for ((u = version - 1; u >= v; u--)); do
        sqlite3 "older$v.db" "$views; ${undo[u]}; PRAGMA user_version = $u; PRAGMA journal_mode = DELETE" >log || exit 1
        views=
    done
    views=$(sqlite3 now.db "SELECT group_concat('DROP VIEW ' || name, ';') FROM sqlite_schema WHERE type = 'view'")
done
copy newer.db
sqlite3 newer.db "PRAGMA user_version = $((version + 1)); PRAGMA journal_mode = DELETE" >log
sqlite3 other.db 'CREATE TABLE perf_db (id INTEGER PRIMARY KEY, config TEXT); INSERT INTO perf_db VALUES (1, 2); PRAGMA user_version = 1'
copy negative.db
sqlite3 negative.db 'PRAGMA user_version = -1; PRAGMA journal_mode = DELETE' >log
sha256sum older*.db newer.db other.db negative.db >sums
files=$(ls)

refused() { # FILE TEXT COMMAND... -- exit 3, one line, nothing written
    local file=$1 text=$2
    expect 3 '' "assay $4: *$file: $text*" "${@:3}"
    [ "$(wc -l <stderr)" = 1 ] || fail "$file: $4 says more than one line: $(cat stderr)"
    sha256sum --quiet -c sums >log 2>&1 || fail "$4 changed a file: $(cat log)"
    [ "$(ls)" = "$files" ] || fail "$4 left files: $(ls)"
}
touch stdout stderr log
files=$(ls)
for pair in "older0.db:store has schema 0, this program reads $version; any command that writes" \
    "older$((version - 1)).db:store has schema $((version - 1)), this program reads $version; any command that writes" \
    "newer.db:store has schema $((version + 1)), this program knows up to $version; use a newer" \
    'other.db:not an Assay store: it is the SQLite file of another program'; do
    file=${pair%%:*}
    text=${pair#*:}
    refused "$file" "$text" assay check --db "$file" --quiet
    refused "$file" "$text" assay check --db "$file" --json
    refused "$file" "$text" assay pick --db "$file" --backend fake --plugins plugins --op add --dtype f32 --shape n=64
    refused "$file" "$text" assay report cost --db "$file" --quiet --plugins plugins
    refused "$file" "$text" assay report precision --db "$file" --quiet --plugins plugins --format html -o report.html
    refused "$file" "$text" assay bench --db "$file"
    [[ $file == older* ]] || refused "$file" "$text" "${sweep[@]}" --db "$file"
    refused "$file" "$text" "${sweep[@]}" --db "$file" --dry-run
done
refused negative.db 'not an Assay store: it has schema -1' assay check --db negative.db --quiet
refused negative.db 'not an Assay store: it has schema -1' "${sweep[@]}" --db negative.db

# The writer migrates, keeps the older one whole, and its rows serve.
for ((v = 0; v < version; v++)); do
    db=older$v.db
    expect 0 '*' '' "${sweep[@]}" --db "$db" --resume
    [ "$(sqlite3 "$db" 'PRAGMA user_version')" = "$version" ] || fail "$db: not migrated"
    [ "$(sqlite3 "$db.v$v.bak" 'PRAGMA user_version; PRAGMA integrity_check' | paste -sd ' ')" = "$v ok" ] || fail "$db: no backup"
    [ "$(sqlite3 "$db" 'SELECT count(*) FROM visit')" = "$(sqlite3 "$db.v$v.bak" 'SELECT count(*) FROM visit')" ] ||
        fail "$db: rows were lost, or measured again"
    expect 0 '*' '' assay pick --db "$db" --backend fake --plugins plugins --op add --dtype f32 --shape n=64 --json
    query ".tier == \"measured\" and .store.schema == $version"
    expect 0 '*sound*' '' assay check --db "$db" --backend fake --plugins plugins
    expect 0 '*fake_a*' '' assay report cost --db "$db" --plugins plugins --format csv --quiet
    # A second one makes no second backup.
    expect 0 '*' '' "${sweep[@]}" --db "$db" --resume
    [ "$(find . -name "$db*.bak*" | wc -l)" = 1 ] || fail "$db: a backup for nothing"
done
