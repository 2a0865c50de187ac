#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Sourced by tests/cli/sweep-fake-*.sh: sweeps on the scripted clock, whose true times are known.
# Every process draws its own noise, seeded, so that a sweep gives the same numbers each time.
. tests/support/expect.bash
mkdir "$WORK/plugins" || exit 1
ln -s "$ASSAY_BUILD/lib/assay/assay_fake.so" "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/plugins/" || exit 1

# peaks NAME=VALUE... -- one more probe of the scripted machine: every unit that an x86 has, at 10^6
# a nanosecond unless told; _t9999 is never scaled up.
export ASSAY_FAKE_PEAKS=$WORK/peaks
peaks() {
    local unit
    for unit in fma_f32_avx2 fma_f64_avx2 load_cache_avx2 copy_cache_avx2 fma_f32_avx512 fma_f64_avx512 \
        load_cache_avx512 copy_cache_avx512 dot_bf16_avx512 fma_f16_avx512 tile_bf16_amx tile_i8_amx copy_nt; do
        grep -q "^$unit=" <(printf '%s\n' "$@") || printf '%s_t9999=1e6 ' "$unit"
    done >>"$WORK/peaks"
    printf '%s\n' "$*" | sed -E 's/(^| )([a-z]+_[a-z0-9_]+)=/\1\2_t9999=/g; s/cache_bytes_t9999/cache_bytes/' >>"$WORK/peaks"
}
peaks cache_bytes=1e9

# script SEED LINE... -- lines of the script; variants 1 to 3 are slow and drop out at screening.
script() {
    local seed=$1
    shift
    rm -f "$WORK/visits"
    printf '%s\n' "seed=$seed" "visits=$WORK/visits" "$@" 'kernel=* variant=1 slow=5' \
        'kernel=* variant=2 slow=5' 'kernel=* variant=3 slow=5' >"$WORK/script"
    export ASSAY_FAKE=@$WORK/script
}

# fake_sweep DB OP SHAPE FLAG... -- outcomes as JSON lines in $WORK/stdout
fake_sweep() {
    local db=$1 op=$2 shape=$3
    shift 3
    expect 0 '*' '' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake --op "$op" \
        --dtype f32 --shape "$shape" --threads 1 --profile quick --quiet --json "$@"
}

# count FILTER -- outcomes for which the filter is true
count() {
    jq -c "select($1)" "$WORK/stdout" | wc -l
}

# facts DB -- which variant of which problem has which verdict and how many visits; who won
facts() {
    sqlite3 "$1" "SELECT p.text, k.name, r.tunables, m.verdict, (SELECT count(*) FROM visit v WHERE v.measurement = m.id
            AND v.kind = 'screen'), min(6, (SELECT count(*) FROM visit v WHERE v.measurement = m.id AND v.kind = 'measure' AND v.is_twin = 0))
        FROM measurement m JOIN problem p ON p.id = m.problem JOIN revision r ON r.id = m.revision
        JOIN kernel k ON k.id = r.kernel ORDER BY 1, 2, 3;
        SELECT p.text, k.name, r.tunables FROM route t JOIN problem p ON p.id = t.problem
        JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel
        WHERE t.superseded_utc IS NULL ORDER BY 1;
        SELECT ifnull(p.text, 'all'), k.name, r.tunables, 'quarantined' FROM quarantine q LEFT JOIN problem p ON p.id = q.problem
        JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel ORDER BY 1, 2, 3"
}

fail() {
    echo "$*"
    cat "$WORK/stdout"
    exit 1
}
