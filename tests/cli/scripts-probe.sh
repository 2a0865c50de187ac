#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# probe: absent libraries get a reason, a build without a needed one is refused.
set -u
cc=${CC:-cc}
scripts/probe --cc "$cc" --version 1.2.3 --header "$WORK/config.h" >"$WORK/out" || exit 1
grep -qx '#define ASSAY_VERSION "1.2.3"' "$WORK/config.h" || exit 1
grep -qE '^#define ASSAY_COMPILER_ID "[^|]+ \| [^|]+ \| (sha256:)?[0-9a-f]{16,}"$' "$WORK/config.h" ||
    { cat "$WORK/config.h" && exit 1; }
printf '#include "%s"\n#define X(n, h, w) + (h)\nint x = 0 ASSAY_PROBE_MAP(X);\n' "$WORK/config.h" >"$WORK/t.c"
"$cc" -c "$WORK/t.c" -o "$WORK/t.o" || exit 1

# A compiler that finds no header of PAPI, then one that finds no SQLite.
for lib in papi sqlite3; do
    printf '#!/bin/bash\nfor a; do case $a in *.c) grep -q "<%s.h>" "$a" && echo "t.c:2:10: fatal error: %s.h: No such file" >&2 && exit 1;; esac; done\nexec %s "$@"\n' \
        "$lib" "$lib" "$cc" >"$WORK/cc-$lib"
    chmod +x "$WORK/cc-$lib"
done
scripts/probe --cc "$WORK/cc-papi" --header "$WORK/config.h" >"$WORK/out" || exit 1
grep -q '#define HAVE_PAPI 0' "$WORK/config.h" || exit 1
grep -q 'ASSAY_WHY_PAPI "fatal error: papi.h: No such file (Debian package libpapi-dev)"' "$WORK/config.h" || exit 1
scripts/probe --cc "$WORK/cc-sqlite3" --header "$WORK/config.h" >"$WORK/out" 2>&1 && echo "built without SQLite" && exit 1
grep -q 'nothing can be built without: SQLITE; run scripts/setup' "$WORK/out"
