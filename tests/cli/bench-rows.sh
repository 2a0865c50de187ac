#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay bench: rows with all that they need; how fast this machine is decides nothing here.
. tests/support/expect.bash
. tests/support/store.bash
cd "$WORK" || exit 1
expect 0 '*' '*' assay bench --json
query '.schema == "assay.bench/1" and (.rows | length) >= 7'
query '.rows | all(.value > 0 and (.unit == "ns" or .unit == "ms") and (.met == "info") == (.goal == null))'
query '.rows | all(.goal == null or (.met == "yes") == (.value <= .goal))'
query '.rows | map(select(.peer != null)) | length >= 2 and all(.peer_value > 0)'
expect 0 'what,value,unit,peer,peer_value,goal,met*' '*' assay bench --format csv
expect '[01]' 'what *' '*' assay bench --strict
expect 3 '' 'assay bench: none.db: *' assay bench --db none.db
cd "$OLDPWD" || exit 1
store_make "$WORK/s.db" "$(assay devices --json | jq -r .host.deployment)"
expect 0 'open, with the store*' '*' bash -c "assay bench --db '$WORK/s.db' --format csv --quiet | tail -n +2 | tr -d '\"'"
