#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Bad input of a sweep: exit 2 with file, line and field, nothing started, no store made.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$WORK" || exit 1

# expect CODE TEXT ARG... -- the exit code, and TEXT on stderr
expect() {
    local want=$1 text=$2 rc=0
    shift 2
    assay sweep --db s.db "$@" >out 2>err || rc=$?
    [ "$rc" = "$want" ] || fail "exit $rc, not $want: assay sweep $* ($(cat err))"
    grep -qF -- "$text" err || fail "no '$text' from assay sweep $*: $(cat err)"
}

expect 2 matmul --op matmull --dtype f32 --shape m=1,n=1,k=1
expect 2 f31 --op matmul --dtype f31 --shape m=1,n=1,k=1
expect 2 trans_a --op matmul --dtype f32 --shape m=1,n=1,kk=1
expect 2 "'k'" --op matmul --dtype f32 --shape m=1,n=1
expect 2 m=-1 --op matmul --dtype f32 --shape m=-1,n=1,k=1
expect 2 "64 bits" --op matmul --dtype f32 --shape m=99999999999999999999,n=1,k=1
expect 2 "2^62" --op matmul --dtype f32 --shape m=1099511627776,n=1099511627776,k=1
expect 2 shape --op exp --dtype f32
expect 2 nothing
expect 2 profile --op exp --dtype f32 --shape n=1 --profile slow
expect 2 align --op exp --dtype f32 --shape n=1 --align 32
expect 2 flag --flag
expect 2 missing.csv --shapes missing.csv
: >empty.csv
expect 2 empty.csv --shapes empty.csv
printf 'op,dtype,n\nexp,f32,64\nexp,f32,6x\n' >bad.csv
expect 2 bad.csv:3 --shapes bad.csv
printf 'op,dtype,n,n\nexp,f32,64,64\n' >twice.csv
expect 2 twice.csv --shapes twice.csv
printf 'op,dtype,q\nexp,f32,64\n' >unknown.csv
expect 2 unknown.csv --shapes unknown.csv
printf 'op,dtype,n\nexp,f33,64\n' >dtype.csv
expect 2 "dtype.csv:2: column 2 (dtype)" --shapes dtype.csv
expect 4 "'cuda9'" --op exp --dtype f32 --shape n=16 --backend cpu,cuda9
# A filter that leaves nothing is a typing error, and says what there is.
expect 2 "no kernel of fake is called 'fake_aa'; did you mean 'fake_a'?" --op add --dtype f32 --shape n=16 --backend fake --kernel fake_b --kernel fake_aa
expect 2 "no kernel is called 'nosuch*'; 'assay kernels' lists them" --op add --dtype f32 --shape n=16 --kernel 'nosuch*'
printf 'op,dtype,n\nexp,f32,64\nadd,f32,6\n' >two.csv
expect 2 "two.csv: no row is of --op tanh; its rows are of exp, add" --shapes two.csv --op tanh
# What tests set would weaken checks: nothing but what they need is taken.
for value in 12x nan 0 1e30 ''; do
    ASSAY_TEST_SAMPLE_ABOVE_FLOPS=$value expect 2 "ASSAY_TEST_SAMPLE_ABOVE_FLOPS is '$value'" --op exp --dtype f32 --shape n=16
    ASSAY_TEST_RUN_TIMEOUT_MS=$value expect 2 "ASSAY_TEST_RUN_TIMEOUT_MS is '$value'" --op exp --dtype f32 --shape n=16
done
[ ! -e s.db ] || fail "a store was made for bad input"

echo "this is no store" >s.db
before=$(sha256sum s.db)
expect 3 s.db --op exp --dtype f32 --shape n=16 --profile quick
[ "$before" = "$(sha256sum s.db)" ] || fail "a foreign file was changed"
rm s.db
printf 'op,dtype,n\nexp,i32,64\n' >unsupported.csv
expect 1 i32 --shapes unsupported.csv --profile quick
