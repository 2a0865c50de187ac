#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case A13: stores and shape files at odd paths (spaces, quotes, ? # %, bytes that are no
# UTF-8, 300 characters, a relative path through a symbolic link) work, or fail with one clear error.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1
export ASSAY_LOCK_DIR=$WORK
add=(--backend cpu --kernel cpu_add_portable --op add --dtype f32)
sweep() { # DB
    assay sweep --db "$1" "${add[@]}" --shape n=64 --threads 1 --profile quick --quiet --resume >out 2>err
}

sweep seed.db || fail "plain path: $(cat err)"
long=$(printf 'd%.0s' {1..150})/$(printf 'e%.0s' {1..150})
mkdir -p "$long" real/inner
ln -s real/inner link
odd=('a b.db' "q'uo\"te.db" 'q?mode=memory.db' 'hash#tag.db' 'per%20cent%zz%00.db' $'bytes\xff\xfe.db'
    'semi;colon&x=1.db' ':memory:' 'file:x.db' '-dash.db' $'tab\tnew\nline.db' 'back\slash.db')
for name in "${odd[@]}" "$long/s.db" link/../inner/s.db link/s.db; do
    case $name in
    link/../*) path=./link/../inner/../inner/s.db ;;
    *) path=$name ;;
    esac
    [ "$name" = -dash.db ] && path=./-dash.db
    # --resume: the row of the sweep is written, nothing is measured, so each takes a moment only.
    cp seed.db "./$path" || fail "cp to $path"
    sweep "$path" || fail "sweep into '$path': $(cat err)"
    assay pick --db "$path" "${add[@]:0:2}" --op add --dtype f32 --shape n=64 --json >pick.json 2>err ||
        fail "pick from '$path': $(cat err)"
    [ "$(jq -r .tier pick.json)" = measured ] || fail "'$path' not read: $(cat pick.json)"
    assay check --db "$path" --backend cpu --json >check.json 2>err || fail "check of '$path': $(cat err)"
    [ "$(jq .counts.sweeps check.json)" = 2 ] || fail "'$path': another file was written"
    jq -e . pick.json >/dev/null || fail "'$path': bad JSON"
done
[ -s real/inner/s.db ] && [ -s real/s.db ] || [ -s real/inner/s.db ] || fail "symbolic link not followed"
[ ! -e x.db ] && [ ! -e q ] && [ ! -e hash ] || fail "a part of a path was taken for a URI"

# A store made anew at an odd path, and shapes from one.
printf 'op,dtype,n\r\nadd,f32,64' >$'sh apes?#%\xff.csv'
assay sweep --db 'n e?w#%41.db' --backend cpu --kernel cpu_add_portable --threads 1 --profile quick \
    --quiet --shapes $'sh apes?#%\xff.csv' >out 2>err || fail "new store: $(cat err)"
[ -s 'n e?w#%41.db' ] || fail "the new store is elsewhere: $(ls)"

# What cannot be a file is one clear error.
for bad in "$WORK" "$WORK/none/s.db" "$(printf 'f%.0s' {1..300}).db" seed.db/s.db ''; do
    sweep "$bad" && fail "sweep into '$bad' passed"
    rc=0
    sweep "$bad" || rc=$?
    case $rc in 2 | 3) ;; *) fail "sweep into '$bad': exit $rc" ;; esac
    [ "$(wc -l <err)" -le 2 ] && [ -s err ] || fail "sweep into '$bad': $(cat err)"
done
