#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Quarantine listed, lifted and tried again by command: what is cured is measured and may win, what is
# not stays in, and nothing is let out by an error.
. tests/support/fake_sweep.bash
db=$WORK/q.db
sick=('kernel=* ns=10000 sd=0.01' 'kernel=fake_b variant=0 wrong_at=2' 'kernel=fake_c threads=1 variant=2 crash_at=1')
quarantine() { assay quarantine "$@" --db "$db"; }
again() { assay quarantine retry --db "$db" --plugins "$WORK/plugins" --backend fake --profile quick "$@"; }
number() { sqlite3 "$db" "SELECT count(*) FROM $1"; }

expect 3 '' '*q.db: store does not exist*' quarantine list
expect 3 '' '*q.db: store does not exist*' quarantine lift --all
[ ! -e "$db" ] || fail "a store was made"
script 31 "${sick[@]}"
fake_sweep "$db" add 'n=64|65'
[ "$(number quarantine)" = 4 ] || fail "not four entries: $(sqlite3 "$db" 'SELECT * FROM quarantine')"

# list only reads, on a store that cannot be written, too.
before=$(sha256sum <"$db")
expect 0 '*id *variant*fake/fake_c{threads=1,variant=2}*add f32,f32,f32 n=64*crashed*here*signal 11*' '' quarantine list
expect 0 '*' '' quarantine list --json
query '.schema == "assay.quarantine/1" and .action == "list" and (.entries | length == 4) and (.store.deployment | length == 64)'
query '[.entries[] | select(.kernel == "fake_c")] | length == 2 and all(.verdict == "crashed" and .is_here and .tunables == "threads=1,variant=2"
    and .backend == "fake" and .op == "add" and .dtypes == ["f32", "f32", "f32"] and (.problem | startswith("add f32,f32,f32 n=6"))
    and (.reason | test("signal 11")) and (.revision | length == 64) and (.since_utc | test("^20.*Z$")) and (has("is_lifted") | not))'
query '[.entries[] | select(.verdict == "wrong")] | length == 2'
expect 0 '*' '' quarantine list --kernel fake_b --json
query '[.entries[].kernel] == ["fake_b", "fake_b"]'
expect 0 '' '' quarantine list --op matmul
expect 0 '' '' quarantine list --dtype f64
expect 0 '*fake_b*fake_c*' '' quarantine list --dtype f32 --op add --backend fake
[ "$(sha256sum <"$db")" = "$before" ] || fail "list wrote to the store"

# Nothing is done by mistake.
expect 2 '' 'assay quarantine: *ACTION*' assay quarantine
expect 2 '' "*no action 'release'; actions are: list, lift, retry*" quarantine release
expect 2 '' '*lift: say which entries: --id N*' quarantine lift
expect 2 '' '*retry: say which entries: --id N*' quarantine retry
expect 2 '' '*--all and --wrong are for lift and retry*' quarantine list --all
for id in 3x 0 -1 99999999999999999999; do
    expect 2 '' "*--id: '$id' is no number of an entry*" quarantine lift "--id=$id"
done
expect 1 '' '*--id 77: no such entry*' quarantine lift --id 1 --id 77
expect 1 '' '*no entry of this machine is meant*' quarantine lift --kernel fake_a
expect 2 '' '*nosuch*' quarantine lift --op nosuch
expect 1 '' '*but those of wrong results, which need --wrong*' quarantine lift --kernel fake_b
echo "this is no store" >"$WORK/text.db"
expect 3 '' '*not a*' assay quarantine list --db "$WORK/text.db"
[ "$(number quarantine)" = 4 ] || fail "something was lifted"

# Still sick: it stays, with today's reason, and the others are not measured again.
visits=$(number visit)
script 32 "${sick[@]/crash_at/exit_at}"
expect 1 '*fake_c*stays*exit 0 without a reply*' '*2 of 2 stay in quarantine, 0 of them not tried*' again --kernel fake_c
[ "$(number quarantine)" = 4 ] || fail "entries came or went"
[ "$(sqlite3 "$db" "SELECT count(*) FROM quarantine WHERE reason LIKE '%exit 0%'")" = 2 ] || fail "an old reason"
[ "$(sqlite3 "$db" "SELECT count(*) FROM visit v JOIN measurement m ON m.id = v.measurement JOIN revision r ON r.id = m.revision
    JOIN kernel k ON k.id = r.kernel WHERE v.sweep = (SELECT max(id) FROM sweep) AND k.name <> 'fake_a'")" = 0 ] || fail "others were measured again"
[ "$(number visit)" -ge "$visits" ] || fail "visits are lost"

# Cured at one problem, and by far the fastest: it wins there.
script 33 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=2 ns=500'
sed -i '/variant=2 slow/d' "$WORK/script"
id=$(sqlite3 "$db" "SELECT q.id FROM quarantine q JOIN problem p ON p.id = q.problem WHERE p.text LIKE '%n=64' AND q.reason LIKE '%exit 0%'")
expect 0 '*' '*' again --id "$id" --json
query '.action == "retry" and (.entries | length == 1 and .[0].is_lifted)'
[ "$(number quarantine)" = 3 ] || fail "not lifted"
expect 0 '*fake_c*' '*' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64
expect 0 '*' '*' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=65 --json
query '.chosen.kernel != "fake_c" and (.rejected | any(.kernel == "fake_c" and (.reason | test("quarantined"))))'

# Right today does not prove who was wrong once: only when that is said.
expect 0 '*right, lifted*' '*2 entries of wrong results stay; --wrong*' again --all
[ "$(number quarantine)" = 2 ] || fail "wrong ones went along"
expect 0 '*fake_b*right, lifted*fake_b*right, lifted*' '*' again --all --wrong
[ "$(number quarantine)" = 0 ] || fail "wrong ones stay"

# Lifted, one is measured by the next sweep, also when all else is finished.
rm "$db"
script 34 "${sick[@]}"
fake_sweep "$db" add n=64 --kernel 'fake_[ac]'
expect 0 '*fake_c*lifted*' '' quarantine lift --kernel 'fake_*'
[ "$(number quarantine)" = 0 ] || fail "not lifted"
expect 0 '*' '*' assay pick --db "$db" --plugins "$WORK/plugins" --backend fake --op add --dtype f32 --shape n=64 --json
query '.rejected | any(.kernel == "fake_c" and .tunables.variant == 2)' # it is not measured yet
script 35 'kernel=* ns=10000 sd=0.01'
fake_sweep "$db" add n=64 --kernel 'fake_[ac]' --resume
[ "$(sqlite3 "$db" "SELECT count(*) FROM measurement WHERE verdict <> 'ok'")" = 0 ] || fail "not measured again"
fake_sweep "$db" add n=64 --kernel 'fake_[ac]' --resume
[ ! -s "$WORK/stdout" ] || fail "not finished"

# Screened well, and dead in a later visit: neither a sweep nor a retry lets it out.
first_db=$db db=$WORK/late.db
well=('kernel=* ns=10000 sd=0.01' 'kernel=fake_c ns=8000')
script 41 "${well[@]}"
fake_sweep "$WORK/well.db" add n=64 --kernel 'fake_[ac]'
late=("${well[@]}" "kernel=fake_c variant=0 process=$(($(cat "$WORK/visits") - 6)) crash_at=1")
screened() { # of those that crashed, in the newest sweep
    sqlite3 "$db" "SELECT count(*) FROM visit v JOIN measurement m ON m.id = v.measurement
        WHERE m.verdict = 'crashed' AND v.kind = 'screen' AND v.sweep = (SELECT max(id) FROM sweep)"
}
script 41 "${late[@]}"
fake_sweep "$db" add n=64 --kernel 'fake_[ac]'
[ "$(screened)" = 1 ] || fail "it died before it was screened"
[ "$(number quarantine)" = 1 ] || fail "let out by its own sweep"
script 41 "${late[@]}"
expect 1 '*fake_c*stays*' '*1 of 1 stay in quarantine, 0 of them not tried*' again --all
[ "$(screened)" = 1 ] || fail "the retry did not screen it"
[ "$(number quarantine)" = 1 ] || fail "let out though it died"
db=$first_db

# Who crashed at one problem and was wrong at another is tried at the first alone, though another variant has its
# entry at the second.
first_db=$db db=$WORK/pairs.db
script 51 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b variant=0 crash_at=1'
fake_sweep "$db" add n=64
script 51 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b variant=0 wrong_at=1' 'kernel=fake_c variant=0 crash_at=1'
fake_sweep "$db" add n=65
[ "$(number quarantine)" = 3 ] || fail "not three entries: $(sqlite3 "$db" 'SELECT * FROM quarantine')"
script 52 'kernel=* ns=10000 sd=0.01'
expect 0 '*right, lifted*right, lifted*' '*1 entries of wrong results stay; --wrong*' again --all
[ "$(sqlite3 "$db" "SELECT k.name || ' ' || p.text FROM quarantine q JOIN problem p ON p.id = q.problem JOIN revision r ON r.id = q.revision
    JOIN kernel k ON k.id = r.kernel")" = 'fake_b add f32,f32,f32 n=65' ] || fail "a wrong one was acquitted: $(sqlite3 "$db" 'SELECT * FROM quarantine')"
db=$first_db

# What is not here any more cannot be tried, and says so.
script 36 "${sick[@]}"
fake_sweep "$db" add n=66
expect 1 '*fake_c*takes part only when --backend names it*' '*1 of 1 stay in quarantine, 1 of them not tried*' \
    assay quarantine retry --db "$db" --plugins "$WORK/plugins" --all --profile quick
sqlite3 "$db" "UPDATE revision SET kernel_revision = replace(kernel_revision, 'a', 'b')"
expect 1 '*fake_c*this revision of the kernel is not here any more*' '*1 of them not tried*' again --all
chmod a-w "$db" "$WORK"
if [ ! -w "$db" ]; then expect 3 '' '*' quarantine lift --all; fi
chmod u+w "$db" "$WORK"
