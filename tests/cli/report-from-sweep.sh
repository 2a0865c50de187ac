#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A sweep of two tiny problems, then both reports in all formats: they agree, change nothing in the
# store, and their pages draw in headless Chromium.
. tests/support/expect.bash
db=$WORK/s.db
printf 'op,dtype,m,n,k\nexp,f16,,65536,\nmatmul,f32,16,16,16\n' >"$WORK/shapes.csv"
expect 0 '*' '*' assay sweep --db "$db" --shapes "$WORK/shapes.csv" --profile quick --backend cpu
sum=$(sha256sum <"$db")
for report in cost precision; do
    for format in html csv json md; do
        expect 0 '' '' assay report "$report" --db "$db" -o "$WORK/$report.$format"
        [ -s "$WORK/$report.$format" ] || { echo "no $report.$format" && exit 1; }
    done
    jq -e --arg s "assay.report.$report/1" '.schema == $s and (.deployments | length) == 1' \
        "$WORK/$report.json" >"$WORK/jq" || { echo "JSON of $report" && exit 1; }
    expect 0 '*' '' assay report "$report" --db "$db" --json
    cmp "$WORK/stdout" "$WORK/$report.json" || exit 1
    expect 0 '*' '' assay report "$report" --db "$db" --format csv
    cmp "$WORK/stdout" "$WORK/$report.csv" || exit 1
    expect 0 "# Assay: $report*" '' assay report "$report" --db "$db"
    expect 1 '' '*nothing measured*' assay report "$report" --db "$db" --op add
done
[ "$(sha256sum <"$db")" = "$sum" ] || { echo "a report changed the store" && exit 1; }

# Both forms tell the same winners, all of this machine and of the kernels as they are.
expect 0 '*' '' assay report cost --db "$db" --json
query '.problems | length == 2 and all(.state == "current" and .profile == "quick")'
query '.problems | all(.winner.lo_ns <= .winner.time_ns and .winner.time_ns <= .winner.hi_ns)'
query '.problems | all((.candidates | length) == .searched and .winner.interval_visits >= 2)'
query '.problems | map(select(.op == "matmul"))[0].winner.max_rho >= 0'
grep -q 'orientation, not for production' "$WORK/cost.html" || { echo "quick is not said" && exit 1; }
expect 0 '*' '' assay report precision --db "$db" --json
query '.rows | map(select(.op == "exp" and .is_union)) | length > 0 and all(.maximum == "exact")'
query '.rows | map(select(.op == "matmul" and .is_union)) | length > 0 and
       all(.maximum == "lower_bound" and .max_rho <= .rho_certain)'

# Coverage: what nobody measured has a row too; the store is not written.
for format in html csv json md; do
    expect 0 '' '' assay report coverage --db "$db" -o "$WORK/coverage.$format"
    [ -s "$WORK/coverage.$format" ] || { echo "no coverage.$format" && exit 1; }
done
[ "$(sha256sum <"$db")" = "$sum" ] || { echo "the report changed the store" && exit 1; }
expect 0 '*' '' assay report coverage --db "$db" --json
query '.schema == "assay.report.coverage/1" and (.deployments | length) == 1'
query '.rows | map(select(.op == "exp" and .dtypes == "f16,f16" and .backend == "cpu"))[0] | .measured == "all" and .problems == 1'
query '.rows | map(select(.op == "add")) | length >= 4 and all((.measured == "none" or .available == 0) and .problems == 0)'
query '.rows | map([.op, .dtypes, .backend]) | length == (unique | length)'
query '.rows | all(.backend != "ref" and .backend != "fake")'
expect 0 '*' '' assay report coverage --db "$db" --json --backend ref
query '.rows | length >= 16 and all(.backend == "ref" and (.kernels | length) >= 1)'
head -n 1 "$WORK/coverage.csv" | tr ',' '\n' | while read -r column; do
    grep -q "\`$column\`" docs/reports.md || { echo "$column is not in docs/reports.md" && exit 1; }
done || exit 1
head -n 1 "$WORK/cost.csv" | tr ',' '\n' | while read -r column; do
    grep -q "\`$column\`" docs/reports.md || { echo "$column is not in docs/reports.md" && exit 1; }
done || exit 1
head -n 1 "$WORK/precision.csv" | tr ',' '\n' | while read -r column; do
    grep -q "\`$column\`" docs/reports.md || { echo "$column is not in docs/reports.md" && exit 1; }
done || exit 1

# What cannot be written is told with path and reason; the old file stays.
echo old >"$WORK/kept.html"
expect 2 '' "*$WORK/none/x.html: No such file*" assay report cost --db "$db" -o "$WORK/none/x.html"
expect 2 '' "*$WORK*: *" assay report cost --db "$db" -o "$WORK" --format html
expect 1 '' '*nothing measured*' assay report cost --db "$db" --op add -o "$WORK/kept.html"
[ "$(cat "$WORK/kept.html")" = old ] || { echo "a failed report replaced a file" && exit 1; }

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no chromium here: the pages were not rendered (apt-get install chromium)"
    exit 77
}
for report in cost precision; do
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$WORK/profile" --window-size=1200,2000 --virtual-time-budget=5000 \
        --dump-dom "file://$WORK/$report.html" >"$WORK/dom.html" 2>"$WORK/browser.log" ||
        { tail -n 5 "$WORK/browser.log" && exit 1; }
    if grep -o 'data-error="[^"]*"' "$WORK/dom.html"; then
        exit 1
    fi
    drawn=$(grep -oE 'data-rendered="[1-9][0-9]*"' "$WORK/dom.html" | wc -l)
    [ "$drawn" = "$(grep -c '<canvas' "$WORK/$report.html")" ] && [ "$drawn" -gt 0 ] ||
        { echo "$report: $drawn charts drawn of $(grep -c '<canvas' "$WORK/$report.html")" && exit 1; }
done
