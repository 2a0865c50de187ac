#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# gen-shapes: the committed sets are what it makes, ops not in the catalogue stay out, convolutions
# have their control totals, and a bad source line is refused with file, line and field.
set -u
fail() { echo "FAIL: $*"; exit 1; }
scripts/gen-shapes "$WORK/now" || exit 1
for file in "$WORK"/now/*.csv; do
    cmp "$file" "shapes/$(basename "$file")" || fail "shapes/ is out of date: scripts/gen-shapes shapes"
done

# A catalogue of two ops.
printf '#define ROW(name) ASSAY_OP(name, X)\nASSAY_OP(matmul, X)\nROW(conv2d)\n' >"$WORK/op.def"
scripts/gen-shapes --ops "$WORK/op.def" "$WORK/two" || exit 1
ops=$(awk -F, '/^#/ { next } FNR == 2 { next } { print $3 }' "$WORK"/two/*.csv | sort -u | tr '\n' ' ')
[ "$ops" = "conv2d matmul " ] || fail "other ops are listed: $ops"
head -n 2 "$WORK/two/bert_base.csv" | grep -q 'dtype,m,n,k,trans_a,trans_b,count' || fail "columns that no row uses"

# totals FILE SET -- rows, counts, multiplications of the convolutions of a set.
totals() {
    awk -F, -v set="$2" '
    /^#/ { next }
    !names { for (i = 1; i <= NF; i++) at[$i] = i; names = 1; next }
    $1 == set && $3 == "conv2d" {
        oh = int(($at["h"] + 2 * $at["pad_h"] - $at["r"]) / $at["stride_h"]) + 1
        ow = int(($at["w"] + 2 * $at["pad_w"] - $at["s"]) / $at["stride_w"]) + 1
        rows++; count += $at["count"]
        macs += $at["count"] * $at["n"] * $at["c"] * $at["k"] * $at["r"] * $at["s"] * oh * ow
    }
    END { printf "%d %d %.0f\n", rows, count, macs }' "$1"
}
equals() { [ "$1" = "$2" ] || fail "$1, not $2"; }
equals "$(totals "$WORK/two/resnet50.csv" "resnet50 n=1")" "23 53 4087136256"
equals "$(totals "$WORK/two/resnet50.csv" "resnet50 n=8")" "23 53 $((8 * 4087136256))"
# DeepBench's lists without repeated lines: 90 of 94, 103 of 107, 15 of 16.
equals "$(totals "$WORK/two/deepbench_conv2d.csv" deepbench-conv2d-training | cut -d ' ' -f 1)" 90
equals "$(totals "$WORK/two/deepbench_conv2d.csv" deepbench-conv2d-server | cut -d ' ' -f 1)" 103
equals "$(totals "$WORK/two/deepbench_conv2d.csv" deepbench-conv2d-device | cut -d ' ' -f 1)" 15

# 49 rectifiers a pass of ResNet-50: one a convolution but the 16 that widen and the 4 shortcuts, and
# one a block.
printf 'ASSAY_OP(relu, X)\nASSAY_OP(add, X)\n' >"$WORK/op.def"
scripts/gen-shapes --ops "$WORK/op.def" "$WORK/relu" || exit 1
equals "$(awk -F, '$1 == "resnet50 n=1" { sum[$3] += $(NF - 1) } END { print sum["relu"], sum["add"] }' \
    "$WORK/relu/resnet50.csv")" "49 16"
! [ -e "$WORK/relu/deepbench_gemm.csv" ] || fail "a file without rows"

# refuse FILE SED MESSAGE
refuse() {
    rm -rf "$WORK/bad" "$WORK/none"
    cp -r shapes/sources "$WORK/bad"
    sed -i "$2" "$WORK/bad/$1"
    cmp -s "$WORK/bad/$1" "shapes/sources/$1" && fail "'$2' changes nothing"
    if scripts/gen-shapes --sources "$WORK/bad" "$WORK/none" 2>"$WORK/err"; then
        fail "accepted: $1 with $2"
    fi
    grep -qF "$WORK/bad/$1:$3" "$WORK/err" || { cat "$WORK/err" && fail "no '$3'"; }
    ! [ -e "$WORK/none" ] || fail "files were written of a bad source"
}
refuse deepbench_gemm.csv '7s/^[0-9]*/x/' '7: field m is no whole number: x'
refuse deepbench_gemm.csv '7s/^[0-9]*/0/' '7: field m is not above zero'
refuse deepbench_gemm.csv '7s/training/trianing/' '7: field set is unknown: trianing'
refuse deepbench_gemm.csv '7s/,0,training/,2,training/' '7: field trans_b is not 0 or 1'
refuse deepbench_gemm.csv '3s/m,n/n,m/' '3: the columns are not m,n,k'
refuse deepbench_gemm.csv '7s/$/,1/' '7: 6 fields are wanted'
refuse deepbench_conv2d.csv '5s/,2,2,training/,0,2,training/' '5: field stride_w is not above zero'
refuse resnet50_conv2d.csv '5s/,4$/,0/' '5: field count is not above zero'
refuse models.csv 's/,bert,/,bart,/' '9: field kind is unknown: bart'
refuse models.csv 's/,32,8,128,32000,8,2,/,32,8,128,32000,8,9,/' '8: field experts_used is not in 1..experts'
refuse models.csv 's/,32,8,128,128256/,32,7,128,128256/' '6: field kv_heads does not divide heads'
