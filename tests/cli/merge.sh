#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A17: assay merge joins stores by content. A store with itself is itself, the order of files changes
# nothing, what was wrong in one stays wrong, inputs are only read, and what fails leaves nothing behind.
. tests/support/fake_sweep.bash
cd "$WORK" || exit 1
mkdir stores && cd stores || exit 1
shard() { # DB SEED SHAPE LINE...
    script "$2" 'kernel=* ns=10000 sd=0.01' "${@:4}"
    expect 0 '*' '' assay sweep --db "$1" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape "$3" --threads 1 \
        --profile quick --quiet
    sleep 0.01 # sweeps begin at different milliseconds
}
shard a.db 1 'n=64|65' 'kernel=fake_b ns=8000'
shard b.db 2 'n=65|66' 'kernel=fake_c ns=7000'
sha256sum a.db b.db >../sums
content() { # FILE...
    rm -f out.db
    expect 0 '*' '' assay merge -o out.db "$@" --json
    jq -r .content "$WORK/stdout"
}
ask() { sqlite3 -readonly out.db "$1"; }

ab=$(content a.db b.db)
query '.schema == "assay.merge/1" and .store == "out.db" and .deployments == 1 and .routes == 3 and .measurements > 20'
[ "$(ask 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || fail "integrity"
for table in visit sweep; do
    both=0
    for db in a.db b.db; do both=$((both + $(sqlite3 -readonly "$db" "SELECT count(*) FROM $table"))); done
    [ "$(ask "SELECT count(*) FROM $table")" = "$both" ] || fail "$table: $(ask "SELECT count(*) FROM $table") of $both"
done
[ "$(ask 'SELECT count(*) FROM problem') $(ask 'SELECT count(*) FROM deployment')" = '3 1' ] || fail "problems or deployments"
[ "$(ask "SELECT count(*) FROM visit WHERE baseline_visit IS NOT NULL AND (SELECT b.sweep FROM visit b WHERE b.id = visit.baseline_visit) <> sweep")" = 0 ] ||
    fail "baselines of another sweep"
[ "$(ask 'SELECT count(*) FROM visit WHERE baseline_visit IS NOT NULL')" = "$(($(sqlite3 a.db 'SELECT count(*) FROM visit WHERE baseline_visit IS NOT NULL') +
    $(sqlite3 b.db 'SELECT count(*) FROM visit WHERE baseline_visit IS NOT NULL')))" ] || fail "baselines are lost"
# The later route of the question that both answered is current, the other one is history.
winner() { ask "SELECT k.name FROM route t JOIN problem p ON p.id = t.problem JOIN revision r ON r.id = t.winner_revision
    JOIN kernel k ON k.id = r.kernel WHERE p.text LIKE '%n=$1' AND t.superseded_utc IS $2 NULL"; }
[ "$(winner 64 '') $(winner 65 '') $(winner 66 '')" = 'fake_b fake_c fake_c' ] || fail "winners: $(winner 64 '') $(winner 65 '') $(winner 66 '')"
[ "$(winner 65 NOT)" = fake_b ] || fail "history: $(winner 65 NOT)"
# Programs read it as any store: ids inside of routes are those of its rows.
for n in 64:fake_b 65:fake_c 66:fake_c; do
    expect 0 '*' '' assay pick --db out.db --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape "n=${n%:*}" --json
    query ".tier == \"measured\" and .chosen.kernel == \"${n#*:}\""
    [ "$(ask "SELECT k.name || ' ' || p.text FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
        JOIN problem p ON p.id = m.problem WHERE m.id = $(jq .chosen.measurement "$WORK/stdout")")" = "${n#*:} add f32,f32,f32 n=${n%:*}" ] || fail "evidence of n=$n"
done
expect 0 '*' '*' assay check --db out.db --plugins "$WORK/plugins" --backend fake
expect 0 '*' '' assay report cost --db out.db --plugins "$WORK/plugins" --backend fake --format csv

# In any order, twice, and joined again with a part of itself.
[ "$(content b.db a.db)" = "$ab" ] || fail "the order matters"
[ "$(content a.db b.db a.db b.db b.db)" = "$ab" ] || fail "twice is not once"
cp out.db whole.db
[ "$(content whole.db b.db)" = "$ab" ] && [ "$(content a.db whole.db)" = "$ab" ] || fail "joined again it is another"
[ "$(content a.db)" = "$(content a.db a.db)" ] || fail "with itself it is another"
[ "$(content a.db)" != "$ab" ] || fail "all have the same content"

# What was interrupted goes on where it was, in the joined store: nothing is measured twice.
expect 0 '' '' assay sweep --db whole.db --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape 'n=64|65|66' --threads 1 \
    --profile quick --quiet --json --resume

# Wrong once is wrong, though it was right later elsewhere; what is in quarantine in one of them is.
cp a.db c.db
sqlite3 c.db "UPDATE measurement SET verdict = 'wrong', reason = 'one element', measured_utc = '2020-01-01T00:00:00.000Z' WHERE id IN
    (SELECT m.id FROM measurement m JOIN route t ON t.problem = m.problem AND t.winner_revision = m.revision JOIN problem p ON p.id = m.problem
    WHERE p.text LIKE '%n=64')"
wrong=$(content a.db c.db)
[ "$(content c.db a.db)" = "$wrong" ] || fail "the order matters for what is wrong"
[ "$(ask "SELECT count(*) FROM measurement WHERE verdict = 'wrong'")" = 1 ] || fail "right again"
[ "$(ask "SELECT reason FROM quarantine")" = 'one element' ] || fail "it may run: $(ask 'SELECT * FROM quarantine')"
expect 0 '*' '' assay pick --db out.db --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
query '.chosen.kernel != "fake_b" and (.rejected | any(.kernel == "fake_b" and (.reason | test("one element"))))'
sqlite3 c.db "UPDATE stability SET level = 'none', measured_utc = '2020-01-01T00:00:00.000Z'; UPDATE accuracy SET passed = 0, measured_utc = '2020-01-01T00:00:00.000Z' WHERE id = 1"
[ -n "$(content a.db c.db)" ] && [ "$(ask "SELECT count(*) FROM stability WHERE level <> 'none'") $(ask 'SELECT count(*) FROM accuracy WHERE passed = 0')" = '0 1' ] ||
    fail "evidence against it is gone"
sha256sum --quiet -c ../sums >../log 2>&1 || fail "an input was changed"

# Refusals leave nothing.
rm -f out.db ./*-wal ./*-shm
echo "this is no store" >text.db
truncate -s 4096 empty.db
sqlite3 older.db 'PRAGMA application_id = 1095975257; PRAGMA user_version = 1; CREATE TABLE meta (name TEXT)'
seen() { find . -maxdepth 1 -type f ! -name '*-wal' ! -name '*-shm' | sort; }
files=$(seen)
expect 3 '' '*none.db: store does not exist*' assay merge -o out.db a.db none.db
expect 3 '' '*text.db: *' assay merge -o out.db a.db text.db
expect 3 '' '*empty.db: *' assay merge -o out.db empty.db
expect 3 '' '*older.db: *schema 1*' assay merge -o out.db older.db a.db
expect 2 '' '*whole.db: file exists; merge makes a new store*' assay merge -o whole.db a.db b.db
expect 2 '' '*--output FILE*' assay merge a.db b.db
expect 2 '' '*' assay merge -o out.db
expect 3 '' '*nowhere/out.db*' assay merge -o nowhere/out.db a.db
[ "$(seen)" = "$files" ] || fail "left: $(seen)"
