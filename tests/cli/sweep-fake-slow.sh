#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A variant that runs past its time at heavy problems is in quarantine there. Everywhere it is only
# when it cannot have been slow: three problems whose calls take the machine no time.
. tests/support/fake_sweep.bash
export ASSAY_TEST_RUN_TIMEOUT_MS=1000
problems='m=64|65|66,n=64,k=64' # 2^19 operations
sql() { sqlite3 "$WORK/s.db" "$1"; }
# hang RATE -- fake_b never ends on a machine of so many operations a nanosecond
hang() {
    rm -f "$WORK/s.db" "$WORK/peaks"
    for _ in 1 2 3 4; do peaks "fma_f32_avx2=$1" "fma_f32_avx512=$1" cache_bytes=1e9; done
    script 3 'kernel=* ns=2e7 sd=0.01' 'kernel=fake_b variant=0 hang_at=1'
    fake_sweep "$WORK/s.db" matmul "$problems" --kernel fake_a --kernel fake_b
}

# A call takes 5 ms at least, and one may take a second: a slow kernel takes five.
hang 0.1
[ "$(sql 'SELECT count(*) || "/" || count(problem) FROM quarantine')" = 3/3 ] || fail "at heavy problems: $(sql 'SELECT problem, reason FROM quarantine')"
hang 1000
[ "$(sql 'SELECT count(*) - count(problem) FROM quarantine')" = 1 ] || fail "at light problems: $(sql 'SELECT problem, reason FROM quarantine')"
