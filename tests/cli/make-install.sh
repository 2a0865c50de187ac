#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# make install: a program builds against the installed headers and pkg-config file and runs;
# only public symbols are exported; uninstall leaves nothing behind.
set -u
build=${ASSAY_BUILD#"$PWD"/}
prefix=$WORK/p
run_make() {
    make -s --no-print-directory BUILD="$build" PREFIX="$prefix" "$@" >"$WORK/log" 2>&1 ||
        { cat "$WORK/log" && exit 1; }
}
run_make install
export PKG_CONFIG_PATH=$WORK/p/lib/pkgconfig
version=$(pkg-config --modversion assay) || exit 1
[ -e "$WORK/p/lib/libassay.so.$version" ] || { echo "no library of version $version" && exit 1; }

nm -D --defined-only "$WORK/p/lib/libassay.so" | awk '{ print $3 }' | sed 's/@.*//' >"$WORK/symbols"
grep -q '^assay_last_error$' "$WORK/symbols" || { echo "assay_last_error is not exported" && exit 1; }
grep -vE '^(assay_[a-z0-9]|LIBASSAY_0$)' "$WORK/symbols" && echo "these symbols leak" && exit 1
objdump -p "$WORK/p/lib/libassay.so" | grep -qE 'SONAME +libassay.so.0$' || exit 1

cat >"$WORK/user.c" <<'END'
#include <assay/assay.h>
#include <assay/plugin.h>
#include <stdio.h>
int main(void) { return puts(assay_strerror(ASSAY_OK)) < 0; }
END
# The header tree must stand alone: nothing of the source tree is on the search path.
# shellcheck disable=SC2046 # lists of words
for source in "$WORK/user.c" $(ls examples/*.c 2>/dev/null); do
    cc -std=c11 -Wall -Wextra -Werror "$source" -o "$WORK/user" $(pkg-config --cflags --libs assay) || exit 1
done
# shellcheck disable=SC2046
cc "$WORK/user.c" -o "$WORK/user" $(pkg-config --cflags --libs assay) || exit 1
[ "$(LD_LIBRARY_PATH=$WORK/p/lib "$WORK/user")" = success ] || exit 1
for header in "$WORK"/p/include/assay/*.h; do
    printf '#include <assay/%s>\nextern int unused;\n' "${header##*/}" >"$WORK/alone.c"
    # shellcheck disable=SC2046
    cc -std=c11 -Wall -Wextra -Werror -c "$WORK/alone.c" -o "$WORK/alone.o" $(pkg-config --cflags assay) ||
        { echo "${header##*/} does not stand alone" && exit 1; }
done

run_make uninstall
left=$(find "$WORK/p" -type f -o -type l)
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }

# A folder whose name the shell, sed and pkg-config would take apart.
prefix="$WORK/it's p & q,\\1"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
run_make install
"$prefix/bin/assay" --version >"$WORK/version" || exit 1
[ ! -e examples/pick.c ] || eval "cc examples/pick.c -o '$WORK/pick' $(pkg-config --cflags --libs assay)" || exit 1
run_make uninstall
# With DESTDIR in front nothing outside of it is touched.
run_make install DESTDIR="$WORK/d e"
[ -x "$WORK/d e$prefix/bin/assay" ] && [ ! -e "$prefix/bin/assay" ] || exit 1
run_make uninstall DESTDIR="$WORK/d e"
left=$(find "$prefix" "$WORK/d e" -type f -o -type l)
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }
