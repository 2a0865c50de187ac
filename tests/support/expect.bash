#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Sourced by tests/cli/*.sh: expect EXIT STDOUT STDERR COMMAND... compares with globs ("" is empty).
# Settings of the user's environment must not change what tests see.
set -u
for name in $(compgen -e | grep '^ASSAY_' | grep -v '^ASSAY_BUILD$'); do unset "$name"; done
unset NO_COLOR
export ASSAY_LOCK_DIR=$WORK # no need to wait for those who measure

expect() {
    local want=$1 out_glob=$2 err_glob=$3 rc=0 out err
    shift 3
    "$@" >"$WORK/stdout" 2>"$WORK/stderr" || rc=$?
    out=$(cat "$WORK/stdout")
    err=$(cat "$WORK/stderr")
    # shellcheck disable=SC2053 # globs on purpose
    if [[ $rc != $want ]] || [[ $out != $out_glob ]] || [[ $err != $err_glob ]]; then
        printf '%s\nexit %s, wanted %s\nstdout, wanted %s:\n%s\nstderr, wanted %s:\n%s\n' \
            "$*" "$rc" "$want" "$out_glob" "$out" "$err_glob" "$err"
        exit 1
    fi
}

# query FILTER -- jq over the last stdout; every result of the filter must be true.
query() {
    if ! jq "$1" "$WORK/stdout" >"$WORK/jq" 2>&1 || [ ! -s "$WORK/jq" ] || grep -qvx true "$WORK/jq"; then
        cat "$WORK/stdout" "$WORK/jq" && echo "not true: $1" && exit 1
    fi
}
