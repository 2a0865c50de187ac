#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# cuda-villains.sh ASSAY PLUGINS [PART]... -- kernels that misbehave on a GPU: each has its fate, all others are
# measured as if it were not there, and the device can be used afterwards. Takes some minutes, most of
# which is waiting for kernels that never end.
#
# The plug-in is one of the tests: no install and no bundle has it. Where CUDA's toolkit is
#     make bundle BUNDLE_LIBS= && make test-plugins
# and to a machine with a GPU go the bundle, this script and build/tests/cuda_villains/assay_cuda_villains.so.
#     ASSAY     bin/assay of the bundle
#     PLUGINS   the folder of that plug-in; beside it the bundle's own are taken (lib/assay)
#     PART      calm, three, endless, later, memory, all, after: these alone; all but calm compare with
#               what calm has left in $ASSAY_VILLAINS_KEEP
# Needs bash, and sqlite3 or python3 to look into the stores. $ASSAY_VILLAINS_N is the number of
# elements, $ASSAY_VILLAINS_KEEP a folder where stores and messages stay. The last line is
# "N passed, N failed"; tests/cli/cuda-villains.sh runs all of it on the scripted driver.
set -u
assay=${1:?usage: cuda-villains.sh ASSAY PLUGINS [PART]...}
plugins=${2:?usage: cuda-villains.sh ASSAY PLUGINS [PART]...}
shift 2
plugins=$(cd "$(dirname "$assay")/../lib/assay" && pwd):$plugins
n=${ASSAY_VILLAINS_N:-1048576}
export ASSAY_TEST_RUN_TIMEOUT_MS=${ASSAY_TEST_RUN_TIMEOUT_MS:-5000} # of an endless kernel each
most_s=${ASSAY_VILLAINS_MOST_S:-420}                                # of a sweep with all of them
work=${ASSAY_VILLAINS_KEEP:-$(mktemp -d)} || exit 2
[ -n "${ASSAY_VILLAINS_KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" || exit 2
passed=0 failed=0

# sql DB QUERY -- columns with | between
sql() {
    if command -v sqlite3 >/dev/null; then
        sqlite3 "$1" "$2"
    else
        python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("" if v is None else str(v) for v in row))' "$1" "$2"
    fi
}

# is WHAT GOT WANTED -- a glob
is() {
    # shellcheck disable=SC2053 # globs on purpose
    if [[ $2 == $3 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1: '$2', wanted $3"
    fi
}

# sweep NAME SHAPE FLAG... -- into $work/NAME.db; how long it took is in $took
sweep() {
    local name=$1 shape=$2 begin=$SECONDS rc=0
    shift 2
    rm -f "$work/$name.db"*
    timeout "$((2 * most_s))" "$assay" sweep --db "$work/$name.db" --plugins "$plugins" --backend cuda_villains --op add \
        --dtype f32 --shape "$shape" --profile quick --seed "${seed:-1}" "$@" >"$work/$name.out" 2>"$work/$name.err" || rc=$?
    took=$((SECONDS - begin))
    is "exit of sweep $name" "$rc" 0
    [ "$rc" = 0 ] || tail -5 "$work/$name.err"
}

# kernels NAME -- each kernel with its number of good and other variants, of problems that were not skipped
kernels() {
    sql "$work/$1.db" "SELECT k.name, sum(m.verdict IN ('ok', 'noisy')), sum(m.verdict NOT IN ('ok', 'noisy'))
        FROM measurement m JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel GROUP BY k.name ORDER BY k.name"
}

# winners NAME
winners() {
    sql "$work/$1.db" "SELECT p.text, k.name, r.tunables FROM route t JOIN problem p ON p.id = t.problem
        JOIN revision r ON r.id = t.winner_revision JOIN kernel k ON k.id = r.kernel WHERE t.superseded_utc IS NULL ORDER BY 1" |
        sed -E 's/g_honest\|$|g_work\|work=1$/either of the two that do the same/'
}

# fate NAME KERNEL WANTED -- "verdict reason" of its measurement; in quarantine is who has a bad one
fate() {
    local got wanted=1
    got=$(sql "$work/$1.db" "SELECT DISTINCT m.verdict || ' ' || m.reason FROM measurement m
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = '$2'")
    is "$2 in $1" "$got" "$3"
    [[ $got != ok* && $got != noisy* ]] || wanted=0
    is "$2 in the quarantine of $1" "$(sql "$work/$1.db" "SELECT count(DISTINCT k.name) FROM quarantine q
        JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel WHERE k.name = '$2'")" "$wanted"
}

# good NAME -- all 17 good variants are measured, nobody of them is in quarantine, the fastest won
good() {
    is "good ones of $1" "$(kernels "$1" | grep '^g_' | tr '\n' ' ')" 'g_honest|1|0 g_work|16|0 '
    is "good ones in the quarantine of $1" "$(sql "$work/$1.db" "SELECT count(*) FROM quarantine q
        JOIN revision r ON r.id = q.revision JOIN kernel k ON k.id = r.kernel WHERE k.name LIKE 'g_%'")" 0
}

# middle NAME OF -- the median of what times of good ones are over those of the sweep OF, in percent
middle() {
    join <(times "$1") <(times "$2") | awk '{ print int(100 * $2 / $3 + 0.5) }' | sort -n |
        awk '{ v[NR] = $1 } END { print NR " of them: " v[int((NR + 1) / 2)] }'
}
times() { # of those that were dropped after their first visit the least is known
    sql "$work/$1.db" "SELECT k.name || r.tunables || ' ' || coalesce(m.median_ns, m.min_ns) FROM measurement m JOIN revision r
        ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.name LIKE 'g_%' AND coalesce(m.median_ns, m.min_ns) > 0" | LC_ALL=C sort
}

only_good=(--kernel 'g_*')

# Without villains.
part_calm() {
    sweep calm "n=$n" "${only_good[@]}"
    good calm
    echo "$took" >"$work/calm.s"
    is "who wins when all is calm" "$(winners calm)" "*either of the two*"
}

# C1: three that fault in the middle of 20 variants.
part_three() {
    sweep three "n=$n" "${only_good[@]}" --kernel v_illegal --kernel v_misaligned --kernel v_trap
    good three
    fate three v_illegal 'crashed *DEVICE_LOST*'
    fate three v_misaligned 'crashed *DEVICE_LOST*'
    fate three v_trap 'crashed *DEVICE_LOST*'
    is "who wins beside three" "$(winners three)" "$(winners calm)"
    is "times beside three, percent of the calm ones" "$(middle three calm)" '17 of them: @(9[0-9]|10[0-9]|110)'
}

# C3: one that never ends, and nobody waits for it longer than told: alone and once behind another.
part_endless() {
    sweep endless "n=$n" "${only_good[@]}" --kernel v_endless
    good endless
    fate endless v_endless 'timeout no reply within * ms*killed*'
    is "who wins beside an endless one" "$(winners endless)" "$(winners calm)"
    limit=$(($(cat "$work/calm.s") + 4 * ASSAY_TEST_RUN_TIMEOUT_MS / 1000 + 60))
    is "seconds beside an endless one, $took of $limit" "$((took <= limit))" 1
}

# C4: faults that show one call later.
part_later() {
    sweep later "n=$n" "${only_good[@]}" --kernel v_next
    good later
    fate later v_next 'crashed *'
    is "who wins beside a late fault" "$(winners later)" "$(winners calm)"
    for seed in 1 2 3; do
        sweep "poison$seed" "n=$n" --kernel g_honest --kernel v_poison --kernel v_sleep
        fate "poison$seed" v_poison 'crashed leaves a fault behind that shows in the next call, as of cuda_villains/*'
        fate "poison$seed" g_honest '@(ok|noisy)*'
        fate "poison$seed" v_sleep '@(ok|noisy)*'
    done
}

# Memory of the device: one that takes all, one that leaks, and operands that do not fit.
part_memory() {
    for seed in 1 2 3; do
        sweep "hog$seed" "n=$n" --kernel g_honest --kernel v_hog --kernel v_sleep
        # Who is far behind when he is screened has harmed nobody.
        fate "hog$seed" v_hog '@(crashed *memory*|ok *times the best in the screening visit)'
        fate "hog$seed" g_honest '@(ok|noisy)*'
        fate "hog$seed" v_sleep '@(ok|noisy)*'
    done
    seed=1
    sweep leak "n=$n" --kernel g_honest --kernel v_leak --kernel v_sleep
    fate leak v_leak 'crashed *memory*'
    fate leak g_honest '@(ok|noisy)*'
    fate leak v_sleep '@(ok|noisy)*'
    sweep large "n=$n|68719476736" --kernel g_honest
    is "what is said of operands that do not fit" "$(grep -c 'skipped: .*n=68719476736.* memory' "$work/large.err")" 1
    is "problems with a route where one does not fit" "$(winners large | wc -l)" '*1'
}

# All of them at once.
part_all() {
    sweep all "n=$n"
    good all
    is "who wins among villains" "$(winners all)" "$(winners calm)"
    is "seconds with all of them, $took of $most_s" "$((took <= most_s))" 1
    for kernel in v_illegal v_misaligned v_assert v_trap v_next; do fate all $kernel 'crashed *'; done
    fate all v_endless 'timeout *'
    fate all v_launch 'crashed *v_launch*'
    fate all v_shared 'crashed *shared memory*'
    fate all v_poison 'crashed *leaves a fault behind*'
    fate all v_hog 'crashed *memory*'
    fate all v_leak 'crashed *memory*'
    fate all v_scribble 'crashed *wrote to its inputs*'
    fate all v_oob 'wrong *outside the output*'
    for kernel in v_unwritten v_nan v_late v_replay; do fate all $kernel 'wrong *element*'; done
    fate all v_sleep '@(ok|noisy)*'
    is "times among villains, percent of the calm ones" "$(middle all calm)" '17 of them: @(9[0-9]|10[0-9]|110)'
    is "integrity of the store" "$(sql "$work/all.db" 'PRAGMA integrity_check')" ok
    "$assay" quarantine list --db "$work/all.db" --json >"$work/list.json" 2>&1
    is "entries that list tells" "$(grep -o '"v_[a-z]*"' "$work/list.json" | sort -u | wc -l)" '*17'
    is "who is picked" "$("$assay" pick --db "$work/all.db" --plugins "$plugins" --backend cuda_villains --op add --dtype f32 \
        --shape "n=$n" --json 2>&1)" '*"g_work"*'
}

# And the device is as before.
part_after() {
    sweep after "n=$n" "${only_good[@]}"
    good after
    is "who wins afterwards" "$(winners after)" "$(winners calm)"
    is "times afterwards, percent of those before" "$(middle after calm)" '17 of them: @(9[0-9]|10[0-9]|110)'
}

[ $# -gt 0 ] || set -- calm three endless later memory all after
for part in "$@"; do "part_$part"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
