#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# check-text: licence lines, unfinished markers, tabs and trailing blanks.
set -u
mkdir -p "$WORK/tree"
head='/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */'
accept() {
    scripts/check-text "$WORK/tree" >/dev/null 2>&1
}
printf '%s\nint a;\n' "$head" >"$WORK/tree/a.c"
accept || { echo "a fine file is refused" && exit 1; }
printf '%s\nchar a[] = "fXXXXXX";\n' "$head" >"$WORK/tree/a.c"
accept || { echo "a mkstemp template is refused" && exit 1; }
printf 'int a;\n' >"$WORK/tree/a.c"
accept && echo "no licence lines: accepted" && exit 1
for word in TO""DO FIX""ME X""XX "not implem""ented"; do
    printf '%s\n/* %s: more */\n' "$head" "$word" >"$WORK/tree/a.c"
    accept && echo "'$word' is accepted" && exit 1
done
printf '%s\n\tint a;\n' "$head" >"$WORK/tree/a.c"
accept && echo "a tab is accepted" && exit 1
printf '%s\nint a; \n' "$head" >"$WORK/tree/a.c"
accept && echo "a trailing blank is accepted" && exit 1
exit 0
