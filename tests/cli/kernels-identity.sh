#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case B4: 20 processes, each with its own address space, folder, locale, time zone, umask,
# size of the environment and order of plug-ins, agree on every revision and on every key; what one
# of them measured is measured for all.
. tests/support/expect.bash
lib=$ASSAY_BUILD/lib/assay
mkdir "$WORK/one" "$WORK/two" "$WORK/a b" || exit 1
for p in "$lib"/assay_*.so; do # by turns, so that each folder has a part
    if [ $((n = ${n:-0} + 1, n % 2)) = 0 ]; then ln -s "$p" "$WORK/one/"; else ln -s "$p" "$WORK/two/"; fi
done
db=$WORK/s.db
expect 0 '*' '*' assay sweep --db "$db" --backend cpu --kernel cpu_add_portable --op add --dtype f32 --shape n=1000 \
    --threads 1 --profile quick --quiet
orders=("$lib" "$WORK/one:$WORK/two" "$WORK/two:$WORK/one" "$WORK/two/:$WORK/one/:$lib")
locales=(C C.UTF-8 de_DE.UTF-8 POSIX tr_TR.UTF-8)
zones=(UTC Asia/Kathmandu ABC-14 :)
folders=(/ "$WORK" "$WORK/a b" "$PWD" /proc/self)
big=$(printf 'x%.0s' {1..40000})

# other RUN COMMAND... -- in the surroundings of this run
other() {
    local run=$1 set=()
    shift
    set=(LC_ALL="${locales[run % 5]}" LANG="${locales[(run + 1) % 5]}" TZ="${zones[run % 4]}"
        HOME="/nowhere$run" MALLOC_PERTURB_=$((run * 7 % 256)))
    for ((i = 0; i < run % 3; i++)); do set+=("FILLER$i=$big"); done
    (cd "${folders[run % 5]}" && umask "0$((run % 8))77" && env "${set[@]}" "$@")
}
for run in $(seq 0 19); do
    plugins=${orders[run % 4]}
    other "$run" assay kernels --plugins "$plugins" --json >"$WORK/kernels" 2>"$WORK/err" || { cat "$WORK/err" && exit 1; }
    jq -S '.kernels | sort_by(.backend, .op, .dtypes, .kernel)' "$WORK/kernels" >"$WORK/kernels.$run"
    other "$run" env ASSAY_PLUGIN_PATH="$plugins" assay pick --db "$db" --backend cpu --op add --dtype f32 --shape n=1000 \
        --json >"$WORK/pick" 2>"$WORK/err" || { cat "$WORK/err" && exit 1; }
    jq -S 'del(.counts)' "$WORK/pick" >"$WORK/pick.$run"
    for what in kernels pick; do
        cmp -s "$WORK/$what.0" "$WORK/$what.$run" ||
            { diff "$WORK/$what.0" "$WORK/$what.$run" | head -20; echo "run $run differs: $what" && exit 1; }
    done
done
cp "$WORK/pick" "$WORK/stdout"
query '.tier == "measured" and (.chosen.kernel | test("^cpu_add_")) and (.chosen.revision | test("^[0-9a-f]{64}$"))'
query '.problem | type == "string" and startswith("add f32,f32,f32 n=1000") '
cp "$WORK/kernels" "$WORK/stdout"
query '[.kernels[] | select(.available) | .revision | test("^[0-9a-f]{64}$")] | length > 20 and all'

# A sweep under another locale and order finds all of it: nothing is measured again.
visits=$(sqlite3 "$db" 'SELECT count(*) FROM visit')
for run in 2 7; do
    other "$run" assay sweep --db "$db" --plugins "${orders[run % 4]}" --backend cpu --kernel cpu_add_portable --op add \
        --dtype f32 --shape n=1000 --threads 1 --profile quick --quiet --resume >"$WORK/stdout" 2>&1 ||
        { cat "$WORK/stdout" && exit 1; }
done
[ "$(sqlite3 "$db" 'SELECT count(*) FROM visit')" = "$visits" ] || { echo "measured again elsewhere" && exit 1; }
for table in deployment problem device; do
    [ "$(sqlite3 "$db" "SELECT count(*) FROM $table")" = 1 ] || { echo "$table has more than one row" && exit 1; }
done
[ "$(sqlite3 "$db" 'SELECT max(n) FROM (SELECT count(*) n FROM kernel GROUP BY name)')" = 1 ] ||
    { echo "kernel has more than one row of a name" && exit 1; }
