#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# What failed on a device elsewhere is listed with that device, tried again there and not on the
# host, and lifted as what failed on the host is; winners of both are checked.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/far/assay_far.so" "$WORK/plugins/" || exit 1
db=$WORK/q.db
number() { sqlite3 "$db" "SELECT count(*) FROM $1"; }
quarantine() { assay quarantine "$@" --db "$db" --plugins "$WORK/plugins"; }
again() { quarantine retry --profile quick --all "$@"; }

script 31 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=0 crash_at=1'
expect 0 '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake,far --op add --dtype f32 --shape n=64 --threads 1 --profile quick
[ "$(number quarantine)" = 2 ] || fail "not two entries"

expect 0 '*fake/fake_c*here*far/fake_c*Scripted device 0*here*' '' quarantine list
expect 0 '*' '' quarantine list --json
query '[.entries[] | .is_here] == [true, true] and (.entries | map(.deployment) | unique | length == 2) and .entries[1].device == "Scripted device 0" and .entries[0].deployment == .store.deployment'
ASSAY_FAKE='devices=0' expect 0 '*' '' quarantine list --json
query '[.entries[] | .is_here] == [true, false]'

# The winners of both deployments give what was checked.
expect 0 '*results: 2 winners run once: 2 gave the bits that were checked*' '*' assay check --db "$db" --plugins "$WORK/plugins" --results
expect 0 '*results: 1 winners run once*' '*' assay check --db "$db" --plugins "$WORK/plugins" --backend fake --results

# Memory that the device has not got today is told of its winner, and of nobody else's.
script 31 nomem=0 'kernel=* ns=10000 sd=0.01'
expect 1 '*results: 2 winners run once: 1 gave the bits that were checked, 0 others, 1 failed*far/fake_*' '*' \
    assay check --db "$db" --plugins "$WORK/plugins" --results
script 31 'kernel=* ns=10000 sd=0.01'
# Who fails behind others in their process, and alone does not, gives what he gave.
expect 0 '*' '*' assay sweep --db "$WORK/r.db" --plugins "$WORK/plugins" --backend far --op add --dtype f32 --shape 'n=64|65|66' --kernel fake_a --threads 1 --profile quick
ASSAY_FAKE='kernel=* ns=10000 lose_at=2' expect 0 '*results: 3 winners run once: 3 gave the bits that were checked*' '*' \
    assay check --db "$WORK/r.db" --plugins "$WORK/plugins" --backend far --results
ASSAY_FAKE='kernel=* ns=10000 lose_at=1' expect 1 '*results: 3 winners run once: 0 gave the bits that were checked, 0 others, 3 failed*' '*' \
    assay check --db "$WORK/r.db" --plugins "$WORK/plugins" --backend far --results

script 31 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=0 crash_at=1'

# Still sick there; then cured there alone, where it is tried alone.
expect 1 '*far/fake_c*stays*' '*1 of 1 stay*0 of them not tried*' again --backend far
script 33 'kernel=* ns=10000 sd=0.01'
expect 1 '*fake/fake_c*only when --backend names it*far/fake_c*only when --backend names it*' '*' again
sweeps=$(number sweep)
expect 0 '*far/fake_c*right, lifted*' '*' again --backend far
[ "$(sqlite3 "$db" "SELECT k.backend FROM quarantine q JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel")" = fake ] || fail "another entry was lifted"
[ "$(number sweep)" = $((sweeps + 1)) ] || fail "more than the device was swept"
[ "$(sqlite3 "$db" "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    JOIN deployment p ON p.id = m.deployment JOIN device d ON d.id = p.device WHERE (k.backend = 'far') <> (d.backend = 'far')")" = 0 ] ||
    fail "kernels of one device in the deployment of the other"

# Both at one time, each where it failed; and both are lifted as entries of this machine.
rm -f "$db"
script 31 'kernel=* ns=10000 sd=0.01' 'kernel=fake_c threads=1 variant=0 crash_at=1'
expect 0 '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake,far --op add --dtype f32 --shape n=64 --threads 1 --profile quick
cp "$db" "$WORK/copy.db"
script 33 'kernel=* ns=10000 sd=0.01'
# A device that somebody else measures costs the host's nothing.
cp "$db" "$WORK/held.db"
db=$WORK/held.db
export -f quarantine again
export db ASSAY_LOCK_DIR=${ASSAY_LOCK_DIR:-$WORK}
expect 1 '*fake/fake_c*right, lifted*far/fake_c*its device could not be used*' '*is being measured*' \
    flock "$ASSAY_LOCK_DIR/assay-fake_0.lock" bash -c 'again --backend fake,far --no-wait'
[ "$(number quarantine)" = 1 ] || fail "not one of two was lifted"
db=$WORK/q.db
expect 0 '*right, lifted*right, lifted*' '*' again --backend fake,far
[ "$(number quarantine)" = 0 ] || fail "not both were lifted"
db=$WORK/copy.db
expect 0 '*lifted*lifted*' '' quarantine lift --all
[ "$(number quarantine)" = 0 ] || fail "not both were lifted by hand"
