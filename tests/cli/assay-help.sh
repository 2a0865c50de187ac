#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Help of every command; unknown commands and flags; nothing but data on stdout.
. tests/support/expect.bash
expect 0 'usage: assay COMMAND*' '' assay --help
commands=$(sed -nE 's/^ +([a-z]+)  +.*/\1/p' "$WORK/stdout")
[ -n "$commands" ] || { echo "no commands in the help" && exit 1; }
for command in $commands; do
    expect 0 "usage: assay $command*--help*example:*assay $command*" '' assay "$command" --help
    expect 2 '' "assay $command: *--no-such-flag*--help*" assay "$command" --no-such-flag
    awk -v c="$command" 'length($0) > 100 { print c ": a line of " length($0) " characters: " $0; bad = 1 } END { exit bad }' \
        <(assay "$command" --help) || exit 1
done
expect 2 '' 'usage: assay COMMAND*' assay
expect 2 '' "assay: unknown command 'kernel'; did you mean 'kernels'?*usage:*" assay kernel
expect 2 '' "assay: unknown command 'zzzzzz'*usage:*" assay zzzzzz
expect 0 'assay [0-9]*.[0-9]*.[0-9]* (plug-in ABI [0-9]*, store schema [0-9]*)*compiler: *libraries: sqlite 3.*' '' assay --version
expect 0 '*' '' assay --version --json
query '.schema == "assay.version/1" and .plugin_abi >= 1 and .store_schema >= 1 and (.libraries | has("sqlite", "libsodium", "xxhash", "jansson"))'
expect 2 '' 'assay --version: *' assay --version --nothing
