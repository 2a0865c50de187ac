#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay ops: four forms of one catalogue; unknown names.
. tests/support/expect.bash
expect 0 'op *dtypes *T *parameters*matmul*T,T,U*f64|f32|f16|bf16 *m n k \[batch=1\]*softmax_last_dim*rows cols*' '' assay ops
expect 0 $'matmul\n*parameter*m *int *shape *required*alpha *real *class *1 *finite*' '' assay ops --op matmul
[[ $(cat "$WORK/stdout") != *softmax* ]] || { echo "--op does not filter" && exit 1; }
expect 0 'op,parameter,kind,class,default,range,meaning*add,n,int,shape,required,*' '' assay ops --format csv
expect 0 '*' '' assay ops --json
query '.schema == "assay.ops/1"'
query '[.ops[].op] | index("matmul") == 0 and index("softmax_last_dim") > 0 and length == (unique | length)'
query '.ops[0].params | map(select(.default == null) | .name) == ["m", "n", "k"]'
query '.ops[0] | .inputs == 2 and .outputs == 1 and (.dtypes | index("bf16")) != null'
expect 0 '*' '' assay ops --json --op exp,add
query '[.ops[].op] == ["add", "exp"]'
expect 2 '' "assay ops: *'matmull'*matmul*" assay ops --op matmull
expect 2 '' "*--format*text, csv, md*" assay ops --format html
expect 2 '' "*extra*" assay ops extra
# A closed pipe ends the program quietly; a full disk does not look like success.
{ assay ops --format csv 2>"$WORK/err"; echo $? >"$WORK/rc"; } | true
[ ! -s "$WORK/err" ] || { cat "$WORK/err" && exit 1; }
if [ -w /dev/full ]; then
    assay ops >/dev/full 2>"$WORK/err" && echo "a full disk looks like success" && exit 1
    assay ops --json >/dev/full 2>"$WORK/err" && echo "a full disk looks like success" && exit 1
    # However it was written, whether the command looks or not: one exit code, and it is said why.
    for args in ops "ops --json" devices --help "ops --help"; do
        rc=0
        # shellcheck disable=SC2086 # a list of words
        assay $args >/dev/full 2>"$WORK/err" || rc=$?
        [ "$rc" = 2 ] && grep -q 'cannot write' "$WORK/err" && continue
        echo "assay $args on a full disk: exit $rc, $(cat "$WORK/err")" && exit 1
    done
fi
exit 0
