#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# make bundle: from the unpacked tarball, anywhere, every library but the C library's is our copy, also
# those that plug-ins open; BUNDLE_LIBS leaves some of them out.
set -u
build=${ASSAY_BUILD#"$PWD"/}
make -s --no-print-directory BUILD="$build" bundle >"$WORK/log" 2>&1 || { cat "$WORK/log" && exit 1; }
tar -C "$WORK" -xzf "$build"/bundle/assay-*.tar.gz || exit 1
cd "$WORK"/assay-* || exit 1
bad=0
mapfile -t files < <(find . -type f \( -name '*.so*' -o -path './bin/*' \))
for file in "${files[@]}"; do
    ldd "$file" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }' >"$WORK/needs"
    while read -r name path; do
        case $name in linux-vdso* | ld-linux* | libc.so* | libm.so* | libmvec.so* | libdl.so* | libpthread.so* | librt.so*) continue ;; esac
        # Copies of foreign libraries find each other through the program that loads them.
        case $file:$path in ./lib/lib[!a]* | ./lib/assay/libs/*) continue ;; *:"$PWD"/*) continue ;; esac
        echo "$file takes $name from $path"
        bad=1
    done <"$WORK/needs"
done
[ $bad -eq 0 ] || exit 1
[ -x bin/assay ] || exit 0
bin/assay --version || exit 1
# What is opened at run time is ours too, whatever this machine has beside it; counters and Vulkan drivers are what it has.
opened() { ASSAY_VULKAN=/nonexistent LD_DEBUG=files "$1" devices 2>&1 >"$WORK/devices" | sed -nE 's/.*calling init: (.*)/\1/p' | sort -u; }
opened bin/assay >"$WORK/opened"
grep -q '/libc\.so' "$WORK/opened" || { echo "the loader of this system does not tell" && exit 77; }
for name in $(sed -nE 's/^bundle: (lib(openblas|blis|dnnl|sleef)\.so\.[0-9]+)$/\1/p' "$WORK/log"); do
    [ -e "lib/assay/libs/$name" ] || { echo "$name was not copied" && exit 1; }
    grep -q "/$name" "$WORK/opened" || grep -q "built without" "$WORK/devices" || { echo "$name is not opened" && exit 1; }
done
grep -vE "^($PWD|$PWD/bin/\.\.)/|/(ld-linux[^/]*|lib(c|m|mvec|dl|pthread|rt|papi|pfm))\.so[.0-9]*$|^/etc|linux-vdso" "$WORK/opened" && echo "these are not ours" && exit 1
# Kernels that misbehave on purpose are for tests alone.
[ -z "$(find . -name '*villains*')" ] || exit 1

# What was measured beside the source tree is measured for the bundle, though its libraries lie elsewhere.
bundle=$PWD
cd - >/dev/null || exit 1
revisions() { "$1" kernels --json | jq -c '.kernels[] | [.backend, .kernel, .op, .dtypes, .revision]'; }
revisions "$ASSAY_BUILD/bin/assay" >"$WORK/revisions.here"
revisions "$bundle/bin/assay" >"$WORK/revisions.bundle"
[ -s "$WORK/revisions.here" ] && diff "$WORK/revisions.here" "$WORK/revisions.bundle" >"$WORK/diff" || { head "$WORK/diff" && exit 1; }
# Without them the machine's own serve; the folder shows it, the tarball is made of it.
make -s --no-print-directory BUILD="$build" BUNDLE_LIBS=sleef bundle >"$WORK/log" 2>&1 || { cat "$WORK/log" && exit 1; }
tar -tzf "$build"/bundle/assay-*.tar.gz >"$WORK/list"
grep -E 'libs/lib(openblas|blis|dnnl)' "$WORK/list" && echo "BUNDLE_LIBS leaves these out" && exit 1
! grep -q 'bundle: libsleef' "$WORK/log" || grep -q 'lib/assay/libs/libsleef' "$WORK/list" || exit 1
if make -s --no-print-directory BUILD="$build" BUNDLE_LIBS=mkl bundle >"$WORK/log" 2>&1; then
    echo "an unknown library was taken" && exit 1
fi
grep -q "no library is called 'mkl'" "$WORK/log" || { cat "$WORK/log" && exit 1; }
