#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay devices: plug-ins with status and reason, devices, libraries, what the build found.
. tests/support/expect.bash
expect 0 '*deployment: *plug-in*ref*ok*device*backend*built with*sqlite*yes*' '' assay devices
grep -q $'\033' "$WORK/stdout" && echo "colour without a terminal" && exit 1
expect 0 '*' '' assay devices --json
query '.schema == "assay.devices/1" and (.host.deployment | test("^[0-9a-f]{64}$"))'
query '.plugins | all(.path != null and (.status == "OK" or (.reason | length) > 0))'
query '.plugins | map(select(.status != "OK")) == []'
query '.devices | any(.backend == "ref" and .is_cpu and .status == "OK" and .name != null)'
query '.build | all(.present or (.reason | length) > 0) and any(.name == "sqlite")'
name=$(jq -r '.devices[0].name' "$WORK/stdout")
expect 0 '*' '' assay devices --json --device "$name"
query '(.devices | length) >= 1'
expect 4 '' "*no device is called 'nothing'*" assay devices --device nothing
expect 4 '' '*nobody*' assay devices --backend nobody
expect 4 '*foreign.so*' '*--plugins: *ABI 99*' assay devices --plugins "$ASSAY_BUILD/tests/loader/assay_foreign.so" --json
query '.plugins | length == 1 and .[0].status == "ABI" and (.[0].reason | test("ABI 99"))'
query '.devices == []'

# What the C library computes with belongs to the deployment: it may choose as if there were no FMA.
expect 0 '*' '' assay devices --json
if jq -e '.host.isa | index("fma") and index("avx2")' "$WORK/stdout" >/dev/null && [ "$(getconf GNU_LIBC_VERSION)" = 'glibc 2.36' ]; then
    here=$(jq -r .host.deployment "$WORK/stdout")
    expect 0 '*' '' env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA assay devices --json
    query ".host.deployment != \"$here\""
fi

# On a terminal there is colour, unless it is refused.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "assay devices" /dev/null </dev/null >"$WORK/tty"
    grep -q $'\033\\[' "$WORK/tty" || { echo "no colour on a terminal" && exit 1; }
    NO_COLOR=1 TERM=xterm script -qec "assay devices" /dev/null </dev/null >"$WORK/tty"
    grep -q $'\033\\[' "$WORK/tty" && echo "NO_COLOR is not obeyed" && exit 1
fi
exit 0
