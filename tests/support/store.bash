#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Sourced by tests/cli/*.sh: a small store for the kernels of this build and this machine, written
# through the sqlite3 shell, so that tests of commands that read need no sweep. Times are planted.
planted_utc="'2026-01-01T00:00:00.000Z'"

# le COUNT NUMBER -- a little-endian integer of COUNT bytes in hexadecimal.
le() {
    local i out='' n=$2
    for ((i = 0; i < $1; i++)); do
        printf -v out '%s%02x' "$out" $((n & 255))
        n=$((n >> 8))
    done
    echo "$out"
}

# le_f64 X... -- binary64, little-endian; nan is an unknown.
le_f64() {
    local x out=''
    for x in "$@"; do
        if [ "$x" = nan ]; then
            out+=000000000000f87f
        else
            out+=$(sqlite3 :memory: "SELECT hex(ieee754_to_blob($x))" | fold -w 2 | tac | tr -d '\n')
        fi
    done
    echo "$out"
}

# sql FILE TEXT
sql() {
    sqlite3 "$1" "PRAGMA foreign_keys = ON; $2" || { echo "sqlite3 refused: $2" && exit 1; }
}

# store_make FILE DEPLOYMENT -- an empty store with one deployment (row 1) and one sweep (row 1).
store_make() {
    sqlite3 "$1" <db/schema.sql && sqlite3 "$1" <db/views.sql || exit 1
    sql "$1" "PRAGMA application_id = 1095975257;
        PRAGMA user_version = $(sed -nE 's/^#define ASSAY__DB_VERSION +//p' db/handle.h); PRAGMA journal_mode = WAL;
        INSERT INTO meta VALUES ('created_utc', $planted_utc);
        INSERT INTO device VALUES (1, 'cpu', 'test', 'x86_64');
        INSERT INTO deployment VALUES (1, '$2', 1, '', '', '', '', '', 'linux', 1, 1, NULL, $planted_utc, NULL);
        INSERT INTO sweep VALUES (1, 'quick', 1, '{}', '[]', $planted_utc, NULL, NULL, NULL);" >/dev/null
}

# store_problem FILE ROW TEXT
store_problem() {
    sql "$1" "INSERT INTO problem VALUES ($2, '${3%% *}', '$(cut -d ' ' -f 2 <<<"$3")', '$3', '$3', 1, 1)"
}

# store_variant FILE ROW BACKEND OP DTYPES KERNEL TUNABLES KERNEL-REVISION VARIANT-REVISION
store_variant() {
    local key="backend = '$3' AND op = '$4' AND dtypes = '$5' AND name = '$6'"
    sql "$1" "INSERT OR IGNORE INTO kernel (backend, op, dtypes, name, entry_point, default_rank)
            VALUES ('$3', '$4', '$5', '$6', '', 1);
        INSERT INTO revision SELECT $2, id, '$8', '$9', '$7', '', '', $planted_utc FROM kernel WHERE $key"
}

# store_measured FILE VARIANT PROBLEM NS
store_measured() {
    sql "$1" "INSERT INTO measurement (deployment, revision, problem, layout, align, policy, sweep, verdict, reason,
            median_ns, lo_ns, hi_ns, samples, visits, rejected_samples, stop_reason, flags, workspace_bytes, measured_utc)
        VALUES (1, $2, $3, 'ccc', 16, 'rotate/alone/kernel', 1, 'ok', '', $4, $4, $4, 5, 5, 0, '', '', 0, $planted_utc)"
}

# candidate VARIANT MEASUREMENT ACCURACY NS LO HI MAX_ULP MAX_RHO -- one record; proof sampled, bits
# stable for one configuration, verdict ok.
candidate() {
    echo "$(le 8 "$1")$(le 8 "$2")$(le 8 "$3")$(le_f64 "$4" "$5" "$6" nan nan nan "$7" "$8" nan nan)$(le 8 0)0102010000000000"
}

# store_route FILE PROBLEM WINNER CANDIDATE...
store_route() {
    local file=$1 problem=$2 winner=$3 count=$(($# - 3))
    shift 3
    sql "$file" "INSERT INTO route (deployment, problem, layout, align, policy, sweep, winner_revision, searched, total,
            stop_reason, candidate_count, candidates, decided_utc)
        VALUES (1, $problem, 'ccc', 16, 'rotate/alone/kernel', 1, $winner, 3, 4, 'converged', $count,
            x'$(printf %s "$@")', $planted_utc)"
}
