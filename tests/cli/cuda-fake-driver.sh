#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# cuda-fake-driver.sh -- the whole plug-in cuda, on a driver that is scripted: what needs no kernel of it.
set -eu
driver=$ASSAY_BUILD/tests/fake_cuda/libcuda.so.1
if [ ! -f "$ASSAY_BUILD/lib/assay/assay_cuda.so" ] || [ ! -f "$driver" ]; then
    echo "backend cuda was not built here"
    exit 77
fi
export ASSAY_CUDA_CUPTI=/nonexistent ASSAY_CUDA_NVRTC=/nonexistent ASSAY_CUDA_NVML=/nonexistent

# Without a driver it is a backend that is not available, and no failure of anything else.
ASSAY_CUDA_DRIVER=/nonexistent/libcuda.so.1 assay devices >"$WORK/none" 2>&1
grep -q 'cuda.*no CUDA driver' "$WORK/none" || { cat "$WORK/none" && exit 1; }

export ASSAY_CUDA_DRIVER=$driver ASSAY_FAKE_CUDA="devices=2 order=1,0"
assay devices >"$WORK/two" 2>&1
grep -q 'Fake GPU 0' "$WORK/two" && grep -q 'Fake GPU 1' "$WORK/two" || { cat "$WORK/two" && exit 1; }

for rules in 'life_*' 'features_*' 'profile_*' 'memory_*' 'handle_f*' 'handle_of*' 'handle_n*' 'handle_a*' 'metrics_*' \
    recover_when_not_lost; do
    if ! assay check --backend cuda --rule "$rules" >"$WORK/rules" 2>&1; then
        cat "$WORK/rules"
        exit 1
    fi
done
