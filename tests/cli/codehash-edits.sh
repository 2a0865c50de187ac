#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Which edits change which source hashes: comments, spacing, folder, working directory and locale
# none; a constant in a file that file; a constant in a shared header exactly its includers.
set -eu
fail() { echo "FAIL: $*"; exit 1; }

# ---- a small tree --------------------------------------------------------------------------------
base=$WORK/base
mkdir -p "$base/backends/cpu" "$base/include/assay" "$base/runtime"
cat >"$base/backends/cpu/exp.c" <<'END'
#include <assert.h>
#include "cpu_shared.h"
#include "assay/api.h"
float k_exp(float x)
{
    assert(x == x);
    return x * 1.5f + SHARED;
}
END
cat >"$base/backends/cpu/add.c" <<'END'
#include "backends/cpu/cpu_shared.h"
float k_add(float a, float b) { return a + b + 2.5f; }
END
cat >"$base/backends/cpu/soft.c" <<'END'
#include <math.h>
#include <assay/api.h>
float k_soft(float a) { return expf(a) * API; }
END
cat >"$base/backends/cpu/cpu_shared.h" <<'END'
#ifndef CPU_SHARED_H
#define CPU_SHARED_H
#include "../../runtime/cycle.h"
#define SHARED 3.25f
#endif
END
printf '#pragma once\n#include "backends/cpu/cpu_shared.h"\n#define DEEP 1\n' >"$base/runtime/cycle.h"
printf '#define API 7\n' >"$base/include/assay/api.h"

files="backends/cpu/exp.c backends/cpu/add.c backends/cpu/soft.c"
flags="-std=c11 -O2 -DX=1"
# hashes ROOT [FLAGS] -- "digest path" lines
hashes() { codehash --list --flags "${2-$flags}" --root "$1" -o - t $files; }
# changed ROOT -- names of the files whose digest is no longer that of the base, on one line
changed() {
    hashes "$1" "${2-$flags}" >"$WORK/now"
    diff "$WORK/before" "$WORK/now" | sed -n 's/^> [0-9a-f]* backends.cpu.//p' | tr '\n' ' '
}
expect() { # WANT GOT WHAT
    [ "$1" = "$2" ] || fail "$3: changed '$2', not '$1'"
}
edit() { # a fresh copy, then: sed expression, file
    rm -rf "$WORK/copy"
    cp -r "$base" "$WORK/copy"
    [ $# -eq 0 ] || sed -i "$1" "$WORK/copy/$2"
    ! diff -r "$base" "$WORK/copy" >/dev/null || [ $# -eq 0 ] || fail "edit '$1' changed nothing"
}

hashes "$base" >"$WORK/before"
[ "$(wc -l <"$WORK/before")" -eq 3 ] || fail "three rows expected"
[ "$(cut -d' ' -f1 "$WORK/before" | sort -u | wc -l)" -eq 3 ] || fail "files hash alike"

edit
expect "" "$(changed "$WORK/copy")" "another folder"
expect "" "$(cd "$WORK/copy/backends" && changed ..)" "another working directory"
expect "" "$(LC_ALL=C.UTF-8 changed "$WORK/copy")" "a UTF-8 locale"
expect "" "$(LC_ALL=tr_TR.UTF-8 changed "$WORK/copy")" "a Turkish locale"
edit 's|^    assert|    /* why\n     * not */\n    // so\n    assert|' backends/cpu/exp.c
expect "" "$(changed "$WORK/copy")" "comment lines above an assert"
edit 's/ \* 1.5f + / *  1.5f\n+\t/; s/$/  /' backends/cpu/exp.c
expect "" "$(changed "$WORK/copy")" "spacing"
edit 's/$/\r/' backends/cpu/exp.c
expect "" "$(changed "$WORK/copy")" "CRLF"
edit '/SHARED 3/i/* a word */' backends/cpu/cpu_shared.h
expect "" "$(changed "$WORK/copy")" "a comment in a header"

edit 's/1\.5f/1.25f/' backends/cpu/exp.c
expect "exp.c " "$(changed "$WORK/copy")" "a constant in one file"
edit 's/3\.25f/3.5f/' backends/cpu/cpu_shared.h
expect "exp.c add.c " "$(changed "$WORK/copy")" "a constant in a shared header"
edit 's/DEEP 1/DEEP 2/' runtime/cycle.h
expect "exp.c add.c " "$(changed "$WORK/copy")" "a constant in a header of a header, in a cycle"
edit 's/API 7/API 8/' include/assay/api.h
expect "exp.c soft.c " "$(changed "$WORK/copy")" "a constant in a public header"
opaque() { codehash --list --opaque include/assay/api.h --root "$1" -o - t $files; }
opaque "$base" >"$WORK/closed"
opaque "$WORK/copy" | diff "$WORK/closed" - || fail "a constant in an opaque header changed a hash"
! diff -q "$WORK/closed" "$WORK/before" >/dev/null || fail "--opaque is ignored"
edit 's/2.5f/3.5f/' backends/cpu/add.c
! opaque "$WORK/copy" | diff -q "$WORK/closed" - >/dev/null || fail "--opaque hides other files"
edit 's/<math.h>/<tgmath.h>/' backends/cpu/soft.c
expect "soft.c " "$(changed "$WORK/copy")" "another system header"
edit
printf '#define SHARED 9\n' >"$WORK/copy/backends/cpu/api.h"
expect "" "$(changed "$WORK/copy")" "a header that nothing includes"

# ---- flags ---------------------------------------------------------------------------------------
edit
same_flags="-I /a/b -Ifoo -g -ggdb3 -std=c11 -Wall -MMD -MF x.d -O2 -o out.o -DX=1 -fmacro-prefix-map=/a=b"
expect "" "$(changed "$WORK/copy" "$same_flags")" "flags without meaning for the code"
all="exp.c add.c soft.c "
expect "$all" "$(changed "$WORK/copy" "-std=c11 -O3 -DX=1")" "-O3"
expect "$all" "$(changed "$WORK/copy" "-std=c11 -DX=1 -O2")" "the order of flags"
expect "$all" "$(changed "$WORK/copy" "$flags -gencode=arch=compute_90")" "-gencode"
flags="$flags" && codehash --list --flags "$flags" --file-flags backends/cpu/add.c "-mavx2 -g" \
    --root "$base" -o - t $files >"$WORK/now"
expect "add.c" "$(diff "$WORK/before" "$WORK/now" | sed -n 's/^> [0-9a-f]* backends.cpu.//p')" \
    "flags of one file"

# ---- GLSL ----------------------------------------------------------------------------------------
glsl=$WORK/glsl
mkdir -p "$glsl/k"
printf '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "part.glsl"\nvoid main() { x[0] = HALF + 1.5; }\n' >"$glsl/k/add.comp"
printf '#define HALF 0.5 /* why */\nlayout(local_size_x_id = 0) in;\n' >"$glsl/k/part.glsl"
shader() { codehash --list --root "$glsl" -o - t k/add.comp; }
shader >"$WORK/shader"
sed -i 's,/\* why \*/,// so,; s/_id = 0/_id=0/' "$glsl/k/part.glsl"
shader | diff "$WORK/shader" - || fail "a comment and spacing in GLSL changed a hash"
sed -i 's/0\.5/0.25/' "$glsl/k/part.glsl"
! shader | diff -q "$WORK/shader" - >/dev/null || fail "a constant in included GLSL changes nothing"

# ---- the table is C and holds the same digests ---------------------------------------------------
codehash --flags "$flags" --root "$base" -o "$WORK/table.c" tree_hash $files
cat >"$WORK/main.c" <<'END'
#include "assay/digest.h"
#include <stdio.h>
extern const assay_source_hash tree_hash[];
extern const size_t tree_hash_count;
int main(void)
{
    for (size_t i = 0; i < tree_hash_count; i++) {
        for (size_t j = 0; j < ASSAY_DIGEST_BYTES; j++)
            printf("%02x", tree_hash[i].digest.bytes[j]);
        printf(" %s\n", tree_hash[i].path);
    }
    return 0;
}
END
${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$WORK/main.c" "$WORK/table.c" -o "$WORK/main"
"$WORK/main" | diff "$WORK/before" - || fail "the table differs from the list"

# ---- refusals ------------------------------------------------------------------------------------
refuse() { # CODE TEXT ARGUMENTS...
    local code=$1 text=$2 rc=0
    shift 2
    codehash "$@" >"$WORK/out" 2>"$WORK/err" || rc=$?
    [ "$rc" -eq "$code" ] || fail "codehash $*: exit $rc, not $code"
    grep -q -- "$text" "$WORK/err" || fail "codehash $*: no '$text' in: $(cat "$WORK/err")"
}
edit 's/cpu_shared/absent/' backends/cpu/exp.c
refuse 1 'exp.c:2: "absent.h" not found' --root "$WORK/copy" -o "$WORK/t.c" t backends/cpu/exp.c
[ ! -e "$WORK/t.c" ] && [ ! -e "$WORK/t.c.tmp" ] || fail "a failure left a table behind"
edit 's/"cpu_shared.h"/HEADER/' backends/cpu/exp.c
refuse 1 'line 2: #include' --root "$WORK/copy" -o "$WORK/t.c" t backends/cpu/exp.c
edit '$a/* open' backends/cpu/exp.c
refuse 1 'comment without an end' --root "$WORK/copy" -o "$WORK/t.c" t backends/cpu/exp.c
refuse 1 'none.c' --root "$base" -o "$WORK/t.c" t backends/cpu/none.c
refuse 2 'usage' --root "$base" t backends/cpu/exp.c
refuse 2 'C name' --root "$base" -o - t-1 backends/cpu/exp.c
ln -s target "$WORK/link"
refuse 1 'not a plain file' --root "$base" -o "$WORK/link" t backends/cpu/exp.c
[ -L "$WORK/link" ] || fail "a link was replaced"

# ---- our own kernels -----------------------------------------------------------------------------
# Every backend of this tree: a copy elsewhere hashes the same.
files=$(ls backends/*/*.c 2>/dev/null || true)
if [ -n "$files" ]; then
    mkdir "$WORK/ours"
    cp -r backends include runtime "$WORK/ours/"
    [ ! -d support ] || cp -r support "$WORK/ours/"
    for root in . "$WORK/ours"; do
        codehash --list --flags -O2 --include "$ASSAY_BUILD" --include "$ASSAY_BUILD/gen" --root "$root" -o - t $files
    done >"$WORK/both"
    [ $(($(wc -l <"$WORK/both") / 2)) -eq "$(sort -u "$WORK/both" | wc -l)" ] ||
        fail "our own sources hash differently in another folder"
fi
echo "all edits behaved"
