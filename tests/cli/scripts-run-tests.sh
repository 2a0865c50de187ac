#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# run-tests: totals, and the ways in which a test program can fail to be a test.
set -u
say() { printf '#!/bin/bash\n%s\n' "$2" >"$WORK/$1" && chmod +x "$WORK/$1"; }
# expect EXIT TOTALS TEST...
expect() {
    local want=$1 totals=$2 rc=0
    shift 2
    scripts/run-tests "$@" >"$WORK/out" 2>&1 || rc=$?
    if [ "$rc" -ne "$want" ] || [ "$(tail -n 1 "$WORK/out")" != "$totals" ]; then
        cat "$WORK/out" && echo "wanted $want and '$totals' from $*" && exit 1
    fi
}
say good 'echo "100%: Checks: 3, Failures: 0, Errors: 0"'
say some 'echo "50%: Checks: 4, Failures: 1, Errors: 1"; exit 1'
say none 'echo "100%: Checks: 0, Failures: 0, Errors: 0"'
say mute 'exit 0'
say dies 'echo "100%: Checks: 2, Failures: 0, Errors: 0"; kill -SEGV $$'
say yes.sh 'exit 0'
say no.sh 'exit 1'
say skip.sh 'echo no browser; exit 77'
expect 0 '3 passed, 0 failed' "$WORK/good"
expect 0 '4 passed, 0 failed' "$WORK/good" "$WORK/yes.sh"
expect 1 '2 passed, 2 failed' "$WORK/some"
expect 1 '0 passed, 1 failed' "$WORK/none"
expect 1 '0 passed, 1 failed' "$WORK/mute"
expect 1 '1 passed, 1 failed' "$WORK/dies"
expect 1 '3 passed, 1 failed' "$WORK/good" "$WORK/no.sh"
expect 0 '3 passed, 0 failed' "$WORK/good" "$WORK/skip.sh"
expect 1 '0 passed, 0 failed' "$WORK/skip.sh"
expect 1 '0 passed, 0 failed'
expect 1 '0 passed, 1 failed' "$WORK/absent"

# Two at a time: each waits for the other. One that is killed with its runner is a failure too.
for i in 1 2; do
    say wait$i.sh "touch $WORK/met$i; for ((t = 0; t < 500; t++)); do [ -e $WORK/met$((3 - i)) ] && exit 0; sleep 0.01; done; exit 1"
done
expect 0 '2 passed, 0 failed' -j 2 "$WORK/wait1.sh" "$WORK/wait2.sh"
say kills.sh 'kill -KILL "$(ps -o ppid= "$PPID")"'
expect 1 '1 passed, 1 failed' -j 1 "$WORK/yes.sh" "$WORK/kills.sh"

# What took longest begins the next time.
root=$PWD
cd "$WORK" || exit 1
say long.sh 'sleep 0.1; exit 0'
"$root/scripts/run-tests" --build . -j 1 yes.sh long.sh >out && "$root/scripts/run-tests" --build . -j 1 yes.sh long.sh >again
[ "$(sed 's/, .*//' out again | tr '\n' ' ')" = 'ok   yes.sh ok   long.sh 2 passed ok   long.sh ok   yes.sh 2 passed ' ] ||
    { cat out again && echo "not in the order of their times" && exit 1; }
