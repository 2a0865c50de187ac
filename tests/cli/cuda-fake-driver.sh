#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# The whole plug-in cuda, on a driver that is scripted: devices, and the rules of `assay check` that
# need no kernel of it.
. tests/support/expect.bash
driver=$ASSAY_BUILD/tests/fake_cuda/libfake_cuda.so
if [ ! -f "$ASSAY_BUILD/lib/assay/assay_cuda.so" ] || [ ! -f "$driver" ]; then
    echo "backend cuda was not built here"
    exit 77
fi
export ASSAY_CUDA_CUPTI=/nonexistent ASSAY_CUDA_NVRTC=/nonexistent ASSAY_NVML=/nonexistent

# Without a driver it is a backend that is not available, and nothing else fails.
export ASSAY_CUDA_DRIVER=/nonexistent/libcuda.so.1
expect 0 '*no CUDA driver*' '' assay devices
expect 4 '*' '*' assay check --backend cuda

export ASSAY_CUDA_DRIVER=$driver ASSAY_FAKE_CUDA="devices=2 order=1,0"
expect 0 '*Fake GPU 0*Fake GPU 1*' '' assay devices --backend cuda
expect 0 'pass features_are_shown*' '' assay check --backend cuda --rule features_are_shown
for rules in 'life_*' 'features_*' 'profile_*' 'memory_[!p]*' memory_pinned 'handle_f*' 'handle_of*' 'handle_n*' 'handle_a*' \
    metrics_are_named metrics_keep_to_cap metrics_text recover_when_not_lost; do
    expect 0 '*' '*' assay check --backend cuda --rule "$rules"
done
