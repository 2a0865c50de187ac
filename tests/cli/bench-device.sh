#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay bench --only device: clocks of devices are judged by kernels of known work; each fault of a clock shows in
# its row, and in no other that does not depend on it. All clocks here are scripted.
. tests/support/expect.bash
mkdir "$WORK/plugins"
for p in tests/far/assay_far.so lib/assay/assay_ref.so lib/assay/assay_cpu.so; do
    ln -s "$ASSAY_BUILD/$p" "$WORK/plugins/" || exit 1
done
export ASSAY_LOCK_DIR=$WORK
good='resolution=32 memory=67108864 ghz=1.5 probe_empty=1504 probe_spin_ns=1800 probe_spin_cycles=1800 probe_copy=400
    probe_fma_f32=0.005 probe_matrix_bf16=0.02 probe_fma_f64=0.004'
# bench CODE SCRIPT FLAG...
bench() {
    local code=$1
    export ASSAY_FAKE="$2; kernel=* ns=5000 per_unit=100"
    shift 2
    expect "$code" '*' '*' assay bench --only device --plugins "$WORK/plugins" --backend far --json "$@"
}
# missed BEGIN... -- rows that begin so, and no others, miss their goals.
missed() {
    local names row begin known
    names=$(jq -r '.rows[] | select(.met == "no") | .what' "$WORK/stdout")
    for begin in "$@"; do
        grep -q "^device, [a-z]*, $begin" <<<"$names" || fail "'$begin' is met"
    done
    while IFS= read -r row; do
        known=
        for begin in "$@"; do
            [[ ${row#device, *, } != "$begin"* ]] || known=1
        done
        [ -z "$row" ] || [ -n "$known" ] || fail "'$row' is missed"
    done <<<"$names"
}
fail() {
    echo "$*"
    jq -r '.rows[] | [.what, .value, .lo, .hi, .floor, .goal, .met] | @tsv' "$WORK/stdout"
    exit 1
}
query() { jq -e "$1" "$WORK/stdout" >/dev/null || fail "not so: $1"; }

bench 0 "$good" --strict
missed
# Held as a sweep holds it: by its UUID.
[ "$(cd "$WORK" && echo *.lock)" = assay-fake_0.lock ] || fail "locked as $(cd "$WORK" && echo *.lock)"
[[ $(<"$WORK/stderr") == *'matmul bf16: skipped: far has no matmul in bf16'* ]] || { cat "$WORK/stderr"; exit 1; }
query '.rows | all(.n >= 1 and .lo <= .value and .value <= .hi)'
query '[.rows[] | .what] | index("device, far, step of scripted") != null and index("device, far, an empty kernel") != null and
    index("device, far, spin of 10 us, told less waited") != null and index("device, far, twice the work") != null and
    index("device, far, peak copy_d1") != null and index("device, far, peak launch_d1") != null and
    index("device, far, matmul f32 64, N(0,1) over zeros") != null and (map(test("matrix_i8")) | any | not)'
query '.rows[] | select(.what == "device, far, spin of 100 us, told less waited") | .value == 1800 and .floor == 0 and .goal == 3001 and .n == 32'
query '.rows[] | select(.what == "device, far, spin of 100 us, the same less an empty kernel") | .value == 296 and .floor == -1001 and .goal == 1001'
query '.rows[] | select(.what == "device, far, peak matrix_bf16_d1") | .value == 0.02 and .unit == "flop/ns" and .met == "info"'
query '.rows[] | select(.what == "device, far, cycles of a core") | .value > 1.499 and .value < 1.501'
expect 0 '*to 3001 *yes*' '*' assay bench --only device --plugins "$WORK/plugins" --backend far

# A clock that runs 2 % fast or slow: whatever is long is off, and so is the slope.
long=('spin of 100 us, told' 'spin of 100 us, the same' 'spin of 100 us, the host' 'spin of 1000 us, told' 'spin of 1000 us, the same'
    'spin of 10000 us, told' 'ns a cycle')
bench 1 "$good stretch=1.02" --strict
missed "${long[@]}"
bench 0 "$good stretch=0.98"
missed "${long[@]}"
# One whose spans hold much besides.
bench 0 "$good probe_spin_ns=4000"
missed 'spin of 2 us, told' 'spin of 2 us, the same' 'spin of 10' 'spin of 10000 us, told'

# One that tells what no clock can have shown measures nothing.
ASSAY_FAKE="$good stretch=1e15; kernel=* ns=5000 per_unit=100" expect '*' '*' '*its timer says that 1 launches took *e+* ns*' \
    assay bench --only device --plugins "$WORK/plugins" --backend far --json

# A device without such clocks is judged by scaled work alone.
bench 0 'memory=67108864 probe_empty=1500 probe_fma_f32=0.005'
missed
[[ $(<"$WORK/stderr") == *'device, far, spins: skipped: probe: the script has none of kind 1'* ]] || { cat "$WORK/stderr"; exit 1; }
query '.rows | map(.what) | index("device, far, work, the host sleeps 100 ms in each launch") != null and (map(test("spin|copy")) | any | not)'
# A copy that a cache may keep is no peak, and of a device that is small for it there is none.
bench 0 "$good memory=2097152"
query '.rows | map(.what) | (map(test("peak copy")) | any | not)'

# No device, by name and without.
export ASSAY_FAKE=devices=0
expect 4 '' '*far*no device*' assay bench --only device --plugins "$WORK/plugins" --backend far
expect 0 '*' '*device: skipped: no backend asked for has a device apart from the host*' assay bench --only device --plugins "$WORK/plugins" --backend cpu
expect 0 '*' '*device: skipped: no backend asked for*' assay bench --only device --plugins "$WORK/plugins"

# The plug-in cuda the same way, on a driver that is scripted.
driver=$ASSAY_BUILD/tests/fake_cuda/libfake_cuda.so
[ -f "$ASSAY_BUILD/lib/assay/assay_cuda.so" ] && [ -f "$driver" ] || exit 0
export ASSAY_CUDA_NVRTC=/nonexistent ASSAY_NVML=/nonexistent ASSAY_CUDA_CUBLASLT=/nonexistent ASSAY_CUDA_DRIVER=$driver
cuda() {
    export ASSAY_FAKE_CUDA=$1
    expect 0 '*' '*' assay bench --only device --backend cuda --json
}
for cupti in "$driver" /nonexistent; do
    ASSAY_CUDA_CUPTI=$cupti cuda 'ns=1200 round_ns=100'
    missed
    [[ $(<"$WORK/stderr") == *'matmul bf16: skipped:'*/nonexistent* ]] || fail "$(<"$WORK/stderr")"
    query '.rows | map(.what) | index("device, cuda, peak matrix_bf16_d1") != null and index("device, cuda, peak matrix_f64_d1") != null'
done
export ASSAY_CUDA_CUPTI=$driver
cuda 'ns=1200 stretch=1.02'
missed "${long[@]}"
