#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# make bundle: from the unpacked tarball, anywhere, every library but the C library's is our copy.
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
        case $file:$path in ./lib/lib[!a]*) continue ;; *:"$PWD"/*) continue ;; esac
        echo "$file takes $name from $path"
        bad=1
    done <"$WORK/needs"
done
[ $bad -eq 0 ] || exit 1
if [ -x bin/assay ]; then
    bin/assay --version
fi
