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

# Where of two rows the later speaks, that is the one with the larger id.
[ "$(ask "SELECT count(*) > 0 AND count(DISTINCT measured_utc) > 1 FROM accuracy")" = 1 ] || fail "no later accuracy"
[ "$(ask "SELECT count(*) FROM accuracy a JOIN accuracy b ON b.id > a.id AND b.measured_utc < a.measured_utc")" = 0 ] ||
    fail "a later accuracy has a smaller id"

# In any order, twice, and joined again with a part of itself.
[ "$(content b.db a.db)" = "$ab" ] || fail "the order matters"
[ "$(content a.db b.db a.db b.db b.db)" = "$ab" ] || fail "twice is not once"
cp out.db whole.db
[ "$(content whole.db b.db)" = "$ab" ] && [ "$(content a.db whole.db)" = "$ab" ] || fail "joined again it is another"
[ "$(content a.db)" = "$(content a.db a.db)" ] || fail "with itself it is another"
[ "$(content a.db)" != "$ab" ] || fail "all have the same content"

# The last bit of a time is content; so are rows that differ where nobody is later.
cp a.db c.db
sqlite3 c.db "UPDATE measurement SET median_ns = median_ns + 1e-12 WHERE median_ns BETWEEN 4096 AND 16384"
[ "$(sqlite3 c.db "ATTACH 'a.db' AS a; SELECT count(*) > 0 AND max(abs(c.median_ns - d.median_ns)) < 3e-12 FROM measurement c
    JOIN a.measurement d ON d.id = c.id AND d.median_ns <> c.median_ns")" = 1 ] || fail "no time differs by one bit"
[ "$(content c.db)" != "$(content a.db)" ] || fail "a last bit is no content"
cp a.db c.db && cp b.db d.db
for db in c.db d.db; do sqlite3 $db "UPDATE route SET decided_utc = '2020-01-01T00:00:00.000Z'"; done
sqlite3 d.db "UPDATE problem SET cost_text = cost_text || ' '"
tie=$(content c.db d.db)
[ "$(winner 65 '') $(winner 65 NOT)" = 'fake_c fake_b' ] || fail "of two at one moment: $(winner 65 '')"
[ "$(content d.db c.db)" = "$tie" ] || fail "the order matters where nobody is later"

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
[ "$(content c.db a.db)" = "$(content a.db c.db)" ] || fail "the order matters for what is unstable"
# What somebody put there by hand stays, of one problem or of all, since when it was there first.
cp a.db c.db && cp a.db d.db
sqlite3 c.db "INSERT INTO quarantine (deployment, revision, problem, reason, since_utc)
    SELECT 1, (SELECT min(id) FROM revision), NULL, 'by hand', '2021-01-01T00:00:00.000Z'"
sqlite3 d.db "INSERT INTO quarantine (deployment, revision, problem, reason, since_utc) SELECT 1, (SELECT min(id) FROM revision), p, 'later',
    '2022-01-01T00:00:00.000Z' FROM (SELECT NULL AS p UNION ALL SELECT min(id) FROM problem)"
for order in 'c.db d.db' 'd.db c.db'; do
    # shellcheck disable=SC2086 # two names
    [ -n "$(content $order)" ] && [ "$(ask "SELECT group_concat(iif(problem IS NULL, 'all', 'one') || ' ' || reason || ' ' || since_utc)
        FROM quarantine")" = 'all by hand 2021-01-01T00:00:00.000Z,one later 2022-01-01T00:00:00.000Z' ] || fail "quarantine: $(ask 'SELECT * FROM quarantine')"
done
sha256sum --quiet -c ../sums >../log 2>&1 || fail "an input was changed"

# Refusals leave nothing.
rm -f out.db ./*-wal ./*-shm
echo "this is no store" >text.db
truncate -s 4096 empty.db
ln -s nowhere.db link.db
for db in orphans.db entries.db routes.db; do cp a.db $db; done
sqlite3 orphans.db "DELETE FROM problem WHERE id = (SELECT min(problem) FROM measurement)"
sqlite3 entries.db "INSERT INTO quarantine (deployment, revision, reason, since_utc) VALUES (1, 9999, 'by hand', '2021-01-01T00:00:00.000Z')"
sqlite3 routes.db "DELETE FROM revision WHERE id = (SELECT min(winner_revision) FROM route)"
sqlite3 older.db 'PRAGMA application_id = 1095975257; PRAGMA user_version = 1; CREATE TABLE meta (name TEXT)'
seen() { find . -maxdepth 1 -type f ! -name '*-wal' ! -name '*-shm' | sort; }
files=$(seen)
expect 3 '' '*none.db: store does not exist*' assay merge -o out.db a.db none.db
expect 3 '' '*text.db: *' assay merge -o out.db a.db text.db
expect 3 '' '*empty.db: *' assay merge -o out.db empty.db
expect 3 '' '*older.db: *schema 1*' assay merge -o out.db older.db a.db
expect 2 '' '*whole.db: file exists; merge makes a new store*' assay merge -o whole.db a.db b.db
expect 2 '' '*whole.db: file exists; merge makes a new store*' assay merge -o whole.db none.db
# A name that is no file yet is not seen before the new store is to have it.
expect 2 '' '*link.db: file exists; merge makes a new store*' assay merge -o link.db a.db
[ -L link.db ] && [ ! -e nowhere.db ] || fail "the link: $(ls -l link.db nowhere.db)"
# Rows that point at what is not there would be left behind.
expect 3 '' '*orphans.db: * rows of * point at missing rows; see `assay check --db orphans.db`*' assay merge -o out.db a.db orphans.db
expect 3 '*points at a missing row of problem*' '*' assay check --db orphans.db --plugins "$WORK/plugins" --backend fake
expect 3 '' '*entries.db: 1 rows of quarantine point at missing rows*' assay merge -o out.db entries.db
expect 3 '' '*routes.db: *a route names a variant that the store lacks*' assay merge -o out.db routes.db
expect 2 '' '*--output FILE*' assay merge a.db b.db
expect 2 '' '*--output FILE*' assay merge -o '' none.db
expect 2 '' '*' assay merge -o out.db
expect 3 '' '*nowhere/out.db: cannot be made: *' assay merge -o nowhere/out.db none.db
[ "$(seen)" = "$files" ] || fail "left: $(seen)"
