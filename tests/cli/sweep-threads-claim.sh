#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case D13: a kernel whose bits depend on the number of threads, and whose contract says that
# they do not. Each number alone gives the same bits in every process; side by side the claim falls,
# with both digests, in the sweep, in reports, and where the picker might have believed it.
. tests/support/expect.bash
db=$WORK/v.db
common=(--db "$db" --plugins "$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins" --backend villains --op matmul --dtype f32)
sweep() { # K THREADS FLAG...
    assay sweep "${common[@]}" --shape "m=24,n=40,k=$1" --threads "$2" --profile quick --kernel v_honest "${@:3}" \
        >"$WORK/stdout" 2>"$WORK/stderr" || { cat "$WORK/stderr" && exit 1; }
}
evidence() { # K TUNABLES -- level and evidence
    sqlite3 "$db" "SELECT s.level || ' ' || s.evidence_json FROM stability s JOIN revision r ON r.id = s.revision
        JOIN kernel k ON k.id = r.kernel JOIN problem p ON p.id = s.problem
        WHERE k.name = 'v_threads' AND p.text LIKE '%k=$1' AND r.tunables = '$2'"
}
[ "$(nproc)" -ge 2 ] || { echo "needs two processors" && exit 77; }

# One number of threads: nothing refutes the claim, whatever other kernels give.
sweep 384 1 --kernel v_threads --kernel v_twin
grep -q 'claims the same bits' "$WORK/stderr" && { cat "$WORK/stderr" && exit 1; }
[[ $(evidence 384 threads=1) == 'config {'*'"same": true}' ]] || { evidence 384 threads=1 && exit 1; }
expect 0 '*' '' assay report precision "${common[@]}" --kernel v_threads --format json
query '.rows | length > 0 and all(.claim_stability == "machine" and .contradicted == [] and (has("thread_digests") | not))'

# Two: right both times, stable both times, and other bits.
sweep 300 2 --kernel v_threads --kernel v_twin
grep -qE 'villains/v_threads claims the same bits for any number of threads; .*k=300: \{threads=[12]\} gives [0-9a-f]{16}, \{threads=[12]\} [0-9a-f]{16}; the claim' "$WORK/stderr" ||
    { cat "$WORK/stderr" && exit 1; }
[ "$(grep -c 'claims the same bits' "$WORK/stderr")" = 1 ] || { cat "$WORK/stderr" && exit 1; }
grep -q 'v_honest claims\|v_twin claims' "$WORK/stderr" && { cat "$WORK/stderr" && exit 1; }
one=$(evidence 300 threads=1)
two=$(evidence 300 threads=2)
digest() { jq -r ".$1" <<<"${2#* }"; }
[ "$(digest digest "$one")" = "$(digest other_digest "$two")" ] && [ "$(digest other_digest "$one")" = "$(digest digest "$two")" ] &&
    [ "$(digest digest "$one")" != "$(digest digest "$two")" ] && [ "$(digest same "$one")" = true ] || { echo "$one / $two" && exit 1; }
sqlite3 "$db" "SELECT count(*) FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'v_threads' AND m.verdict NOT IN ('ok', 'noisy')" | grep -qx 0 || { echo "v_threads is right" && exit 1; }

# Reports: contradicted at that problem, with both digests, and in the summary of the kernel.
expect 0 '*' '' assay report precision "${common[@]}" --kernel v_threads --format json
query '[.rows[] | select(.problem | test("k=300"))] | length > 0 and all(.contradicted == ["stability"] and (.thread_digests | length) == 2)'
query '[.rows[] | select(.problem | test("k=384"))] | all(.contradicted == [])'
expect 0 "*$(digest digest "$one")*" '' assay report precision "${common[@]}" --kernel v_threads --format csv
expect 0 '*' '' assay report precision "${common[@]}" --kernel v_threads --format html -o "$WORK/p.html"
grep -q "bits by number of threads: $(digest digest "$one"), $(digest digest "$two")" "$WORK/p.html" ||
    { echo "no digests on the page" && exit 1; }
expect 0 '*' '' assay report coverage "${common[@]}" --format json
query '[.rows[].kernels[]? | select(.kernel == "v_threads")] | length == 1 and all(.contradicted == ["stability"])'
query '[.rows[].kernels[]? | select(.kernel == "v_honest" or .kernel == "v_twin")] | length == 2 and all(.contradicted == [])'

# Nobody who asks for bits that do not depend on threads gets it, also where nobody has measured.
for k in 300 777; do
    expect '[01]' '*' '*' assay pick "${common[@]}" --shape "m=24,n=40,k=$k" --stability machine --allow-claims --json
    query '.rejected | any(.kernel == "v_threads" and (.reason | test("bit stability")))'
    query '.chosen.kernel != "v_threads"'
done
