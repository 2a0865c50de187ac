#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay report: names, formats, stores that cannot be used, files that cannot be written.
. tests/support/expect.bash
expect 0 'usage: assay report *precision*' '' assay report --help
expect 2 '' "assay report: there is no report 'costs'; reports are: cost, precision, coverage" \
    assay report costs --db "$WORK/a.db"
expect 2 '' 'assay report: *' assay report
expect 2 '' 'assay report: *--format*' assay report cost --format xml
expect 2 '' "assay report: *'matmull'*" assay report cost --op matmull
expect 3 '' '*/missing.db*' assay report cost --db "$WORK/missing.db"
expect 3 '' '*/missing.db*' assay report coverage --db "$WORK/missing.db"
expect 3 '' '*/missing.db*' assay report precision --db "$WORK/missing.db"
[ ! -e "$WORK/missing.db" ] || { echo "a read command made a store" && exit 1; }
echo 'this is no store' >"$WORK/text.db"
expect 3 '' '*text.db*' assay report cost --db "$WORK/text.db"
printf 'op,dtype,n\nexp,i32,64\n' >"$WORK/none.csv"
expect 1 '' '*' assay sweep --db "$WORK/empty.db" --shapes "$WORK/none.csv" --profile quick
expect 0 '*| none |*' '' assay report coverage --db "$WORK/empty.db"
mkdir "$WORK/plugins"
expect 4 '' '*could not be listed*' assay report coverage --db "$WORK/empty.db" --plugins "$WORK/plugins" --quiet
expect 1 '' '*--backend*' assay report coverage --db "$WORK/empty.db" --kernel nothing
