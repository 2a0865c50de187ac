#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# A plug-in is made anew when its folder gains or loses a source, however old that file is; one more
# make has nothing to do.
set -u
mkdir "$WORK/tree" && tar -cf - --exclude=./build --exclude=./.git --exclude=./shared --exclude='*.db*' . |
    tar -C "$WORK/tree" -xf - || exit 1
cd "$WORK/tree" || exit 1
so=build/lib/assay/assay_fake.so
build() {
    make -s OPT=-O0 WERROR= $so >"$WORK/log" 2>&1 || { cat "$WORK/log" && exit 1; }
}
has() { nm $so | grep -q ' fake_more$'; }
build
has && echo "fake_more before there is a source" && exit 1
echo 'int fake_more(void); int fake_more(void) { return 1; }' >backends/fake/fake_more.c
touch -d 2020-01-01 backends/fake/fake_more.c
build
has || { echo "an old file that came is left out" && exit 1; }
rm backends/fake/fake_more.c
build
has && echo "a file that went is still in it" && exit 1
make -q OPT=-O0 WERROR= $so || { echo "make is not at rest" && exit 1; }
