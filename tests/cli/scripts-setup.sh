#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# setup: --check only tells, without root the one command is printed, both against a fake dpkg.
set -u
mkdir "$WORK/bin"
printf '#!/bin/bash\nexit 1\n' >"$WORK/bin/dpkg-query"
printf '#!/bin/bash\necho "$0 $*" >>"%s/called"\n' "$WORK" >"$WORK/bin/apt-get"
printf '#!/bin/bash\necho 1000\n' >"$WORK/bin/id"
chmod +x "$WORK/bin/"*
export PATH="$WORK/bin:$PATH"

scripts/setup --check >"$WORK/out" && echo "--check passes with nothing installed" && exit 1
grep -q 'missing: gcc .*libsqlite3-dev.*chromium' "$WORK/out" || { cat "$WORK/out" && exit 1; }
scripts/setup build >"$WORK/out" 2>/dev/null && echo "passes without root" && exit 1
grep -qx "  sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends gcc .*'" "$WORK/out" ||
    { cat "$WORK/out" && exit 1; }
grep -q chromium "$WORK/out" && echo "build asks for a browser" && exit 1
[ ! -e "$WORK/called" ] || { echo "apt-get ran" && exit 1; }

printf '#!/bin/bash\necho 0\n' >"$WORK/bin/id"
scripts/setup build >/dev/null || exit 1
[ "$(wc -l <"$WORK/called")" -eq 2 ] || { cat "$WORK/called" && exit 1; }

printf '#!/bin/bash\necho installed\n' >"$WORK/bin/dpkg-query"
rm "$WORK/called"
scripts/setup >/dev/null && scripts/setup --check >/dev/null || exit 1
[ ! -e "$WORK/called" ] || { echo "apt-get ran with nothing missing" && exit 1; }
scripts/setup --nosuch 2>/dev/null
[ $? -eq 2 ]
