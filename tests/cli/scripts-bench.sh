#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# bench: rows are collected, a missed goal and a broken row are told.
set -u
mkdir -p "$WORK/b/bench"
say() { printf '#!/bin/bash\n%s\n' "$2" >"$WORK/b/bench/bench_$1" && chmod +x "$WORK/b/bench/bench_$1"; }
run() { scripts/bench --build "$WORK/b" -o "$WORK/out.csv" "$@" 2>"$WORK/err" >/dev/null; }
run && echo "passes with nothing to run" && exit 1
say a 'echo pick_hit,41.5,ns,hash,30,50,yes'
say b 'echo add_f32,0.95,ratio,copy,31,0.9,yes; echo cores,2,count,,,,info'
run || { cat "$WORK/err" && exit 1; }
[ "$(wc -l <"$WORK/out.csv")" -eq 4 ] || { cat "$WORK/out.csv" && exit 1; }
head -n 1 "$WORK/out.csv" | grep -qx "date_utc,commit,machine,name,value,unit,lo,hi,n,peer,peer_value,ratio,goal" || exit 1
grep -q ",add_f32,0.95,ratio,,,,copy,31,0.95,0.9$" "$WORK/out.csv" || exit 1
grep -q ",pick_hit,41.5,ns,,,,hash,30,1.383,50$" "$WORK/out.csv" || exit 1
say c 'echo softmax,0.5,ratio,,,0.6,no'
run && echo "a missed goal passes" && exit 1
[ "$(wc -l <"$WORK/out.csv")" -eq 5 ] || exit 1
run bench_a || exit 1
say d "echo pick_hit,40,ns,,,,info,39,41,5"
run bench_a bench_d && echo "one name for two rows passes" && exit 1
run bench_d || exit 1
grep -q ",pick_hit,40,ns,39,41,5,,,,$" "$WORK/out.csv" || exit 1
rm "$WORK/b/bench/bench_d"
say c 'echo softmax,0.5'
run && echo "a broken row passes" && exit 1
say c 'exit 3'
run && echo "a failing program passes" && exit 1
exit 0
