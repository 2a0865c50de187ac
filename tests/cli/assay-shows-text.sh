#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Text out of files, stores, plug-ins' names and the command line reaches a terminal without bytes
# that it would obey: an escape code is shown, in errors and warnings, lists and reports.
. tests/support/expect.bash
. tests/support/store.bash
esc=$'\033[31m'
clean() { # -- of the last command: no control byte but the ends of lines
    ! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$WORK/stdout" "$WORK/stderr" ||
        { cat -v "$WORK/stdout" "$WORK/stderr" && exit 1; }
}
sweep=(assay sweep --db "$WORK/none.db")
expect 2 '' "assay: unknown command '\\\\x1b?31mx'*" assay "${esc}x"
clean
for shape in "$esc=1" "n=1$esc" $'n=1\xc2\x9b31m' $'n=1\nassay sweep: all is well'; do
    expect 2 '' 'assay sweep: *' "${sweep[@]}" --op exp --dtype f32 --shape "$shape"
    clean
    [ "$(wc -l <"$WORK/stderr")" = 1 ] || { cat "$WORK/stderr" && exit 1; }
done
printf 'op,dtype,n\nexp,f32,64\nexp,f32,6%s\n' "$esc" >"$WORK/value.csv"
printf 'op,dtype,n\nex%s,f32,64\n' "$esc" >"$WORK/op.csv"
printf 'op,dtype,n,%s\nexp,f32,64,1\n' "$esc" >"$WORK/column.csv"
printf 'op,dtype,n\nexp,f%s,64\n' "$esc" >"$WORK/dtype.csv"
for file in value op column dtype; do
    expect 2 '' "assay sweep: *$file.csv*\\\\x1b*" "${sweep[@]}" --shapes "$WORK/$file.csv"
    clean
done
cp "$WORK/value.csv" "$WORK/f$esc.csv"
expect 2 '' "*f\\\\x1b?31m.csv*" "${sweep[@]}" --shapes "$WORK/f$esc.csv"
clean
expect 4 '' '*\\x1b*' "${sweep[@]}" --op exp --dtype f32 --shape n=1 --backend "$esc"
clean
mkdir "$WORK/p$esc" && echo none >"$WORK/p$esc/assay_x.so" || exit 1
expect 0 '*p\\x1b?31m/assay_x.so*' '*' env ASSAY_PLUGIN_PATH="$WORK/p$esc" assay devices
clean
expect 0 '*' '*p\\x1b?31m/assay_x.so: *' env ASSAY_PLUGIN_PATH="$WORK/p$esc" assay kernels --op exp
clean
expect 4 '*' '*p\\x1b?31m*' assay devices --plugins "$WORK/p$esc"
clean

# A store that says so of a variant, and of itself.
db=$WORK/s.db
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
store_problem "$db" 1 'matmul f32,f32,f32 m=512,n=512,k=512'
store_variant "$db" 1 cpu matmul f32,f32,f32 "gone$esc" "t$esc=1" "$(printf %064d 1)" "$(printf %064d 2)"
store_measured "$db" 1 1 1000
store_route "$db" 1 1 "$(candidate 1 1 0 1000 990 1010 4 0.25)"
expect 0 '*gone\\x1b?31m*' '*' assay pick --db "$db" --op matmul --dtype f32 --shape m=512,n=512,k=512 --explain
clean
cp "$db" "$WORK/c$esc.db"
expect '[01]' '*/c\\x1b?31m.db: schema *' '*' assay check --db "$WORK/c$esc.db"
clean
expect '[01]' '*gone\\x1b?31m*' '*' assay check --db "$db"
clean
for format in md html; do
    expect 0 '*' '' assay report cost --db "$db" --format "$format"
    ! grep -q $'\033' "$WORK/stdout" || { echo "a report in $format has an escape code" && exit 1; }
done
# A file has every byte; a terminal does not.
expect 0 "*gone$esc*" '' assay report cost --db "$db" --format csv
if command -v script >"$WORK/log"; then
    TERM=dumb script -qec "assay report cost --db '$db' --format csv" "$WORK/typescript" </dev/null >"$WORK/stdout" 2>&1
    grep -q 'gone\\x1b\[31m' "$WORK/stdout" && ! grep -q $'\033' "$WORK/stdout" || { cat -v "$WORK/stdout" && exit 1; }
fi
