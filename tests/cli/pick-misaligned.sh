#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case D11: v_align was measured on aligned operands, is the fastest there, and says in its caps
# that it needs them so. Asked for operands that lie otherwise, the picker leaves it out, says why,
# and answers with the next best; where no kernel takes what is asked, that is the answer.
. tests/support/expect.bash
. tests/support/store.bash
db=$WORK/s.db
plugins=$ASSAY_BUILD/lib/assay:$ASSAY_BUILD/tests/plugins
ask=(assay pick --plugins "$plugins" --backend villains --op matmul --dtype f32 --shape 'm=24,n=40,k=384' --json)
assay kernels --plugins "$plugins" --backend villains --json >"$WORK/kernels"
expect 0 '*' '*' "${ask[@]}" --align 64
cp "$WORK/stdout" "$WORK/bare"
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
store_problem "$db" 1 'matmul f32,f32,f32 m=24,n=40,k=384'
variant=0
for kernel in v_align v_twin v_honest; do
    variant=$((variant + 1))
    store_variant "$db" $variant villains matmul f32,f32,f32 $kernel '' \
        "$(jq -r --arg k $kernel '.kernels[] | select(.kernel == $k and .op == "matmul") | .revision' "$WORK/kernels")" \
        "$(jq -r --arg k $kernel '[.chosen, .others[], .rejected[]] | map(select(.kernel == $k)) | .[0].revision' "$WORK/bare")"
    store_measured "$db" $variant 1 $((variant * 1000))
done
store_route "$db" 1 1 "$(candidate 1 1 0 1000 990 1010 1 0.25)" "$(candidate 2 2 0 2000 1990 2010 1 0.25)" \
    "$(candidate 3 3 0 3000 2990 3010 1 0.25)"
sql "$db" "UPDATE route SET align = 64; UPDATE measurement SET align = 64"
# Operands at 16: the other two, the same way round.
store_route "$db" 1 2 "$(candidate 2 2 0 2000 1990 2010 1 0.25)" "$(candidate 3 3 0 3000 2990 3010 1 0.25)"
ask+=(--db "$db")

expect 0 '*' '' "${ask[@]}" --align 64
query '.chosen.kernel == "v_align" and .tier == "measured" and .chosen.time_ns == 1000'
# What is known of 64 answers nothing about 16: there v_twin is the fastest that may run.
expect 0 '*' '' "${ask[@]}" --align 16
query '.chosen.kernel == "v_twin" and .tier == "measured" and .chosen.time_ns == 2000'
query '.rejected | any(.kernel == "v_align" and (.reason | test("operand 2: aligned to 16 bytes, the kernel needs 64")))'
# Offset by four bytes: nobody measured that; the default, never the kernel that would be wrong.
expect 0 '*' '*nothing admissible is measured*' "${ask[@]}" --align e
query '.chosen.kernel == "v_honest" and .is_default and (.tier != "measured")'
query '.rejected | any(.kernel == "v_align" and (.reason | test("operand 2: aligned to 4 bytes, the kernel needs 64")))'
# Odd strides: inputs are made contiguous, which aligns them too; an output cannot be.
for layout in ccs ccl ccn sss; do
    expect 1 '*' '*no admissible kernel*' "${ask[@]}" --align 64 --layout $layout
    query ".rejected | any(.kernel == \"v_align\" and (.reason | test(\"operand 2: layout '${layout:2}' is not in the kernel's caps\")))"
done
for layout in scc cnc llc bcc; do
    expect 0 '*' '*' "${ask[@]}" --align e --layout $layout
    query '.chosen.kernel != "v_align"'
    query '.rejected | any(.kernel == "v_align" and (.reason | test("operand 2: aligned to 4 bytes")))'
done
