#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A report page opened in headless Chromium draws every chart, without a network and without errors.
set -eu
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no chromium here: the page was not rendered (apt-get install chromium)"
    exit 77
}
page=$WORK/page.html
CK_RUN_CASE=sample ASSAY_TEST_PAGE=$page "$ASSAY_BUILD/tests/test_html" >"$WORK/log" || {
    cat "$WORK/log"
    exit 1
}
[ -s "$page" ] || { echo "no page was written" && exit 1; }

# render PAGE [WIDTH] -- the document after its scripts have run.
render() {
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$WORK/profile" --window-size="${2:-1200},2000" --virtual-time-budget=5000 \
        --dump-dom "file://$1" 2>"$WORK/browser.log" || { tail -n 5 "$WORK/browser.log" && exit 1; }
}
render "$page" >"$WORK/dom.html"
drawn=$(grep -oE 'data-rendered="[0-9]+"' "$WORK/dom.html" | tr -dc '0-9\n' | tr '\n' ' ')
echo "marks drawn: $drawn"
# Bars: 3 and 2 (one is unknown); histogram: 3; scatter: 4 points and 4 line nodes.
[ "$drawn" = "5 3 8 " ] || { echo "expected 5, 3 and 8 marks" && exit 1; }
grep -q 'data-charts="3"' "$WORK/dom.html"
if grep -o 'data-error="[^"]*"' "$WORK/dom.html"; then
    exit 1
fi

# On a phone the names beside bars are shortened, not cut at the edge.
sed 's/"labels":\["/&cpu\/cpu_matmul_of_a_long_name{nontemporal=1,threads=2}/' "$page" >"$WORK/phone.html"
cmp -s "$page" "$WORK/phone.html" && echo "no labels to make longer" && exit 1
render "$WORK/phone.html" 390 >"$WORK/dom.html"
[ "$(grep -c 'data-cut="0"' "$WORK/dom.html")" -ge 1 ] && ! grep -oE 'data-cut="[1-9][0-9]*"' "$WORK/dom.html" || exit 1

# The same check must notice a page whose charts cannot be drawn.
sed 's/"kind":"bars"/"kind":bars/' "$page" >"$WORK/broken.html"
render "$WORK/broken.html" >"$WORK/dom.html"
grep -q 'data-error="SyntaxError' "$WORK/dom.html"
