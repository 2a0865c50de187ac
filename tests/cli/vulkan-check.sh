#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay check --backend vulkan: the contract is kept on the device that is here, lavapipe if no other, with the
# validation layer looking on: what it says makes the call fail, and so the rule. Without a driver: what to install.
. tests/support/expect.bash
fail() { echo "$*" && exit 1; }
lib=$ASSAY_BUILD/lib/assay
[ -f "$lib/assay_vulkan.so" ] || { echo "the plug-in is not built here: scripts/probe says why" && exit 77; }

# A shader's revision holds who compiled it, how, and for which types.
hashed=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -n BUILD="$WORK/b" "$WORK/b/gen/vulkan_source_hash.c" 2>/dev/null |
    grep -o -- "--file-flags backends/vulkan/vulkan_cast.comp '[^']*'")
for part in ' --target-env=' ' glslc-shaderc' '_glslang_' ' cast_f16_bf16:-DX=F16s -DGET=get_f16 -DY=BF16s' ' -DSAME'; do
    [[ $hashed == *"$part"* ]] || fail "'$part' is not hashed: $hashed"
done

VK_DRIVER_FILES=/nonexistent VK_ICD_FILENAMES=/nonexistent \
    expect 4 '' '*no Vulkan driver*install*' assay check --backend vulkan --plugins "$lib" --rule life_state
ASSAY_VULKAN=/nonexistent.so expect 4 '' '*no Vulkan loader*install libvulkan1*' \
    assay check --backend vulkan --plugins "$lib" --rule life_state

driver=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
[ -n "${VK_DRIVER_FILES:-}" ] || [ ! -f "$driver" ] || export VK_DRIVER_FILES=$driver # one is loaded faster than all
[ ! -f /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ] || export ASSAY_VULKAN_VALIDATE=1
assay check --backend vulkan --plugins "$lib" >"$WORK/out" 2>"$WORK/err"
code=$?
[ $code != 4 ] || { tail -n 1 "$WORK/err" && exit 77; }
[ $code = 0 ] || fail "exit $code: $(grep '^FAIL' "$WORK/out"; tail -n 1 "$WORK/out"; cat "$WORK/err")"
grep -qE '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' <(tail -n 1 "$WORK/out") || fail "$(tail -n 1 "$WORK/out")"
for rule in queue_events faults_delay recover_voids_handles measure_spans memory_copy_overlapping call_gemm \
    kernels_add kernels_relu kernels_gelu kernels_exp kernels_cast kernels_softmax_last_dim kernels_layer_norm_last_dim \
    kernels_rms_norm_last_dim kernels_sum_reduce kernels_matmul features_are_shown; do
    grep -q "^pass $rule$" "$WORK/out" || fail "$(grep " $rule" "$WORK/out")"
done
# Who is told that a rule was left out is told why.
! grep -E '^skip .*:[[:space:]]*$' "$WORK/out" || fail "skips without a reason"
