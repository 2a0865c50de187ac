#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases C1, C3, C4 on a GPU that is scripted: tests/gpu/cuda-villains.sh as a machine with a GPU runs
# it, then faults of the driver that are no kernel's doing.
. tests/support/expect.bash
driver=$ASSAY_BUILD/tests/fake_cuda/libfake_cuda.so villains=$ASSAY_BUILD/tests/cuda_villains
if [ ! -f "$villains/assay_cuda_villains.so" ] || [ ! -f "$driver" ]; then
    echo "backend cuda was not built here"
    exit 77
fi
fail() { echo "FAIL: $*" && cat "$WORK/stdout" "$WORK/stderr" && exit 1; }
export ASSAY_CUDA_CUPTI=/nonexistent ASSAY_CUDA_NVRTC=/nonexistent ASSAY_NVML=/nonexistent
export ASSAY_CUDA_DRIVER=$driver

# They are there when asked for by name, and then only.
expect 0 '*' '' assay kernels --plugins "$villains" --backend cuda_villains --json
query '.kernels | length == 20 and all(.available and .op == "add" and (.revision | test("^[0-9a-f]{64}$")))'
query '[.kernels[] | select(.kernel | startswith("v_"))] | length == 18'
ASSAY_CUDA_DRIVER=/nonexistent expect 0 '*' '*' assay kernels --plugins "$villains" --backend cuda_villains --json
query '.kernels | length == 20 and all(.available == false and (.reason | test("no CUDA driver")))'

# All that is run on a GPU, in the layout of a bundle.
mkdir -p "$WORK/bundle/bin" "$WORK/bundle/lib/assay" || exit 1
ln -s "$(command -v assay)" "$WORK/bundle/bin/" || exit 1
ln -s "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/bundle/lib/assay/" || exit 1
ASSAY_FAKE_CUDA='ns=1000' ASSAY_VILLAINS_N=3000 ASSAY_VILLAINS_KEEP=$WORK/gpu ASSAY_TEST_RUN_TIMEOUT_MS=4000 \
    ASSAY_VILLAINS_MOST_S=3000 expect 0 '*[1-9][0-9] passed, 0 failed' '*' tests/gpu/cuda-villains.sh "$WORK/bundle/bin/assay" "$villains"
sqlite3 "$WORK/gpu/later.db" "SELECT reason FROM measurement WHERE verdict = 'crashed'" >"$WORK/stdout"
[[ $(<"$WORK/stdout") == *'status 18 (DEVICE_LOST): synchronize: CUDA_ERROR_ILLEGAL_ADDRESS'* ]] || fail "a late fault is not his whose it is at once"

ASSAY_FAKE_CUDA='ns=1000' expect 4 '' '*its device is not asked for*' assay pick --db "$WORK/gpu/all.db" --plugins "$ASSAY_BUILD/lib/assay:$villains" --op add --dtype f32 --shape n=3000

# sweep SCRIPT SHAPE -- the good ones on a driver that fails
sweep() {
    rm -f "$WORK/s.db"
    ASSAY_FAKE_CUDA="ns=1000 $1" assay sweep --db "$WORK/s.db" --plugins "$ASSAY_BUILD/lib/assay:$villains" \
        --backend cuda_villains --op add --dtype f32 --shape "$2" --profile quick --kernel 'g_*'
}
# counts -- measurements, entries in quarantine, routes
counts() {
    sqlite3 "$WORK/s.db" "SELECT (SELECT count(*) FROM measurement WHERE verdict NOT IN ('ok', 'noisy')) || ' ' ||
        (SELECT count(*) FROM quarantine) || ' ' || (SELECT count(*) FROM route)"
}

# Memory that ends is one problem's end, wherever it is found, and no kernel's fault.
for fault in cuMemAlloc:1:2:100000 cuCtxCreate:1:2:9999 cuModuleLoadData:1:2:9999; do
    expect 1 '' '*skipped: *n=3000: *memory*nothing was measured*' sweep "fail=$fault" n=3000
    [ "$(counts)" = '0 0 0' ] || fail "$fault: $(counts)"
done
expect 0 '*n=3000*' '*skipped: *n=2000000*memory*' sweep memory=12000000 'n=3000|2000000'
[ "$(counts)" = '0 0 1' ] || fail "memory=12000000: $(counts)"
# A device of which no context can be had is nobody's fault either.
expect 4 '' '*the device cannot be used: making a context: *CUDA error 46*' sweep fail=cuCtxCreate:1:46:9999 n=3000
[ "$(counts)" = '0 0 0' ] || fail "no context: $(counts)"
# One that is lost in a transfer is whose kernel ran there; the sweep goes on, and each has his reason.
expect 1 '*' '*g_honest: crashed: *DEVICE_LOST*transfer: CUDA_ERROR_ILLEGAL_ADDRESS*nothing was measured*' \
    sweep fail=cuMemcpyDtoHAsync:3:700 n=3000
[ "$(counts)" = '17 17 0' ] || fail "lost in a transfer: $(counts)"
