#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A sweep over a million variants: 1,954 problems of 512 each. It is planned, and its first problem measured, with
# no more than 200 MB of memory, which is the limit of the process here.
. tests/support/expect.bash
fail() { echo "$*" && cat "$WORK/stderr" && exit 1; }
mkdir "$WORK/plugins" || exit 1
ln -s "$ASSAY_BUILD/tests/many/assay_many.so" "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/plugins/" || exit 1
(echo op,dtype,n && seq -f 'add,f32,%g' 1954) >"$WORK/set.csv"
export ASSAY_FAKE_PEAKS=$WORK/peaks
for unit in fma_f32_avx2 fma_f64_avx2 load_cache_avx2 copy_cache_avx2 fma_f32_avx512 fma_f64_avx512 load_cache_avx512 \
    copy_cache_avx512 dot_bf16_avx512 fma_f16_avx512 tile_bf16_amx tile_i8_amx copy_nt; do
    printf '%s_t9999=1e6 ' $unit
done >"$WORK/peaks"
echo cache_bytes=1e6 >>"$WORK/peaks"
sweep=(assay sweep --plugins "$WORK/plugins" --backend many --kernel many --threads 1 --profile quick
    --shapes "$WORK/set.csv" --evaluations 3 --json)
limited() { # KILOBYTES COMMAND... -- of memory that the process itself takes
    (
        ulimit -d "$1" || exit 1
        "${@:2}"
    )
}
expect 0 '*' '*' limited 204800 "${sweep[@]}" --db "$WORK/s.db"
query '.searched == 3 and .total == 512 and .ties >= 1'
tail -n 1 "$WORK/stderr" | jq -e '.variants == 3 and .undecided == 1953 and .stop_reason == "evaluations"' >"$WORK/jq" || fail "summary"
[ "$(sqlite3 "$WORK/s.db" 'SELECT count(*) FROM sweep_problem')" = 1954 ] || fail "not all problems"
[ "$(sqlite3 "$WORK/s.db" 'SELECT searched || " " || total FROM route')" = '3 512' ] || fail "another problem"
# The limit is one that such a sweep can meet: a tenth of it does not hold what is kept of a million.
rc=0
limited 20000 "${sweep[@]}" --db "$WORK/t.db" >"$WORK/stdout" 2>"$WORK/stderr" || rc=$?
[ "$rc" = 5 ] || fail "exit $rc with 20 MB"
