#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases B1 and B2 on the real CPU plug-in, built from a scratch copy of the sources: comment
# lines above an assert and another folder change no revision, a constant in one kernel file exactly
# that family, a constant in a shared header exactly its includers; then check calls their rows
# stale, pick no longer uses them as measured, and history is kept.
. tests/support/expect.bash
so=build/lib/assay/assay_cpu.so
copy() { # DIR; with what is compiled already, so that only edits cost time
    mkdir -p "$1/build/plugin" "$1/build/lib/assay"
    tar -cf - --exclude=./build --exclude=./.git --exclude=./shared . | tar -C "$1" -xf -
    cp -a "$ASSAY_BUILD"/{gen,bin,obj} "$1/build/"
    cp -a "$ASSAY_BUILD/plugin/cpu" "$1/build/plugin/"
    cp -a "$ASSAY_BUILD"/lib/libassay*.a "$1/build/lib/"
}
build() { # DIR
    make -s -C "$1" BUILD=build $so >"$WORK/log" 2>&1 || { cat "$WORK/log" && exit 1; }
}
revisions() { # DIR -- "kernel dtypes revision" lines
    assay kernels --backend cpu --plugins "$1/$so" --json 2>"$WORK/stderr" |
        jq -r '.kernels[] | "\(.kernel) \(.dtypes | join(",")) \(.revision // .reason)"'
}
edit() { # FILE SED -- the file must change
    cp "$WORK/one/$1" "$WORK/kept"
    sed -i "$2" "$WORK/one/$1"
    ! cmp -s "$WORK/kept" "$WORK/one/$1" || { echo "$2 changes nothing in $1" && exit 1; }
    build "$WORK/one"
    revisions "$WORK/one" >"$WORK/now"
}
changed() { # kernels with another revision, one line
    diff "$WORK/base" "$WORK/now" | sed -n 's/^> \([a-z0-9_]*\) .*/\1/p' | sort -u | tr '\n' ' '
}
same() { # WANT WHAT
    [ "$(changed)" = "$1" ] || { echo "$2: changed '$(changed)', not '$1'" && exit 1; }
}
undo() { cp "$WORK/kept" "$WORK/one/$1"; }

copy "$WORK/one"
# An assert, so that a comment moves its __LINE__.
sed -i '0,/^#include/s//#include <assert.h>\nstatic inline void edits_check(int x) { assert(x); (void)x; }\n#include/' \
    "$WORK/one/backends/cpu/cpu_add.c"
build "$WORK/one"
revisions "$WORK/one" >"$WORK/base"
[ "$(wc -l <"$WORK/base")" -ge 16 ] && ! grep -qv ' [0-9a-f]\{64\}$' "$WORK/base" || { cat "$WORK/base" && exit 1; }

# The store is measured with the plug-in as it is.
db=$WORK/s.db
sweep=(assay sweep --db "$db" --plugins "$WORK/one/$so:$ASSAY_BUILD/lib/assay/assay_ref.so" --backend cpu --dtype f32 --shape n=64 --threads 1 --profile quick --quiet)
expect 0 '*' '*' "${sweep[@]}" --op add --kernel cpu_add_portable
expect 0 '*' '*' "${sweep[@]}" --op exp --kernel cpu_exp_portable
here=(--db "$db" --backend cpu --plugins "$WORK/one/$so")
pick=(assay pick "${here[@]}" --dtype f32 --shape n=64 --json)
expect 0 '*' '*' assay check "${here[@]}"

edit backends/cpu/cpu_add.c '/edits_check/i /* one */\n// two\n\n/* three\n * lines */'
same '' 'comments above an assert'
expect 0 '*' '*' assay check "${here[@]}"
(cd "$WORK" && mkdir 'other' && mv one other/one)
mv "$WORK/other/one" "$WORK/two"
rm -rf "$WORK/two/build/gen" "$WORK/two/build/bin/codehash" "$WORK/two/$so"
build "$WORK/two"
revisions "$WORK/two" >"$WORK/now"
same '' 'another folder'
mv "$WORK/two" "$WORK/one"

edit backends/cpu/cpu_exp.c '$a enum { edits_constant = 7 };'
same 'cpu_exp_portable ' 'a constant in one kernel file'
# The default, which competed with it, is as it was; whichever of the two had won.
expect 1 '*stale: its code*' '*stale measurements: 1*' assay check "${here[@]}"
expect 0 '*' '*' "${pick[@]}" --op exp
query '.chosen.kernel != "cpu_exp_portable" and ([.ties[], .others[], .rejected[]] |
    map(select(.kernel == "cpu_exp_portable")) | all(.time_ns == null))'
expect 0 '*' '*' "${pick[@]}" --op add
query '.tier == "measured" and (.chosen.kernel | test("^cpu_add_"))'
# Measured again, the new row serves and the old one is history.
expect 0 '*' '*' "${sweep[@]}" --op exp --kernel cpu_exp_portable --resume
expect 0 '*' '*' "${pick[@]}" --op exp
query '.tier == "measured"'
expect 0 '*' '*' assay check "${here[@]}"
[ "$(sqlite3 "$db" "SELECT count(DISTINCT kernel_revision) FROM revision r JOIN kernel k ON k.id = r.kernel
    WHERE k.name = 'cpu_exp_portable'")" = 2 ] || { echo "history is lost" && exit 1; }
undo backends/cpu/cpu_exp.c

edit backends/cpu/cpu_exp_avx2.h '$i enum { edits_shared = 7 };'
# The compiler says who includes it, for every kernel that has a file of its own name.
wrong=
for kernel in $(cut -d ' ' -f 1 "$WORK/base" | sort -u); do
    file=backends/cpu/${kernel/_fast/}.c
    [ -e "$file" ] || continue
    includes=no moved=no
    cc -MM -mavx2 -mfma -mf16c -mavx512f -Iinclude -I. "-I$ASSAY_BUILD" "-I$ASSAY_BUILD/gen" "$file" >"$WORK/log" || exit 1
    grep -q 'cpu_exp_avx2\.h' "$WORK/log" && includes=yes
    [[ " $(changed)" = *" $kernel "* ]] && moved=yes
    [ "$includes" = "$moved" ] || wrong+=" $kernel"
done
[ -z "$wrong" ] || { echo "a constant in a shared header: not as the compiler has it:$wrong" && exit 1; }
for kernel in cpu_exp_avx2 cpu_exp_fast_avx2 cpu_softmax_avx2; do
    [[ " $(changed)" = *" $kernel "* ]] || { echo "a constant in a shared header: $kernel is as before" && exit 1; }
done
