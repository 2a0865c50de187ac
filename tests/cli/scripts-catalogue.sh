#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# check-catalogue: the catalogue as it is passes; a row that lacks something is named with what.
set -u
fail() { echo "FAIL: $*"; exit 1; }
scripts/check-catalogue "$ASSAY_BUILD/bin/assay" || fail "our own catalogue is refused"

# A program that prints what is planted.
mkdir -p "$WORK/tree/tests/unit" "$WORK/tree/docs"
cat >"$WORK/assay" <<'EOS'
#!/bin/bash
cat "$(dirname "$0")/$1.json"
EOS
chmod +x "$WORK/assay"
cat >"$WORK/clean-ops" <<'EOS'
{"ops": [{"op": "twice", "dtype_rule": ["T", "T"], "dtypes": ["f64", "f32"], "tuples": ["f64,f64", "f32,f32"], "flops": "n", "bytes": "2*n*dtype_bytes(0)",
  "doc": "y = 2 x", "params": [{"name": "n", "doc": "elements"}]},
 {"op": "pick", "dtype_rule": ["u8", "T", "U"], "dtypes": ["f32"], "tuples": ["u8,f32,f16"], "flops": "0", "bytes": "rows", "doc": "y = x[i]",
  "params": [{"name": "rows", "doc": "rows"}]}]}
EOS
cat >"$WORK/clean-kernels" <<'EOS'
{"kernels": [
 {"kernel": "ref_twice_f64", "backend": "ref", "op": "twice", "dtypes": ["f64", "f64"], "claims": {"max_ulp": 0}},
 {"kernel": "ref_twice_f32", "backend": "ref", "op": "twice", "dtypes": ["f32", "f32"], "claims": {"max_ulp": 0}},
 {"kernel": "cpu_twice", "backend": "cpu", "op": "twice", "dtypes": ["f32", "f32"], "claims": {"stability": "machine"}},
 {"kernel": "ref_pick", "backend": "ref", "op": "pick", "dtypes": ["u8", "f32", "f16"], "claims": {"max_ulp": 0}}]}
EOS
plant() {
    jq "${1:-.}" "$WORK/clean-ops" >"$WORK/ops.json" && jq "${2:-.}" "$WORK/clean-kernels" >"$WORK/kernels.json" || exit 1
    echo 'int a = ASSAY_OP_twice, b = ASSAY_OP_pick;' >"$WORK/tree/tests/unit/test_x.c"
    printf '# Ops\n\n## twice\n\n## pick\n' >"$WORK/tree/docs/ops.md"
}
# refuse MESSAGE -- what is planted lacks just that.
refuse() {
    if scripts/check-catalogue "$WORK/assay" "$WORK/tree" >"$WORK/out" 2>&1; then
        fail "accepted without: $1"
    fi
    [ "$(cat "$WORK/out")" = "$1" ] || { cat "$WORK/out" && fail "wanted: $1"; }
}

plant
scripts/check-catalogue "$WORK/assay" "$WORK/tree" || fail "the clean catalogue is refused"
plant . '.kernels |= map(select(.kernel != "ref_twice_f64"))' && refuse 'twice: no reference for f64,f64'
plant . '.kernels |= map(if .kernel == "ref_twice_f64" then .backend = "cpu" else . end)' &&
    refuse 'twice: no reference for f64,f64'
plant . '.kernels |= map(if .kernel == "ref_pick" then .dtypes[0] = "i8" else . end)' &&
    refuse 'pick: no reference for u8,f32,f16'
plant '.ops[0].flops = ""' && refuse 'twice: no flops'
plant '.ops[0].bytes = ""' && refuse 'twice: no bytes'
plant '.ops[0].bytes = "2*nn"' && refuse 'twice: bytes depend on no parameter: 2*nn'
plant . '.kernels |= map(if .backend == "cpu" then .claims = {} else . end)' &&
    refuse 'twice: kernel cpu/cpu_twice of f32,f32 claims nothing'
plant '.ops[1].tuples = []' '.kernels |= map(select(.op != "pick"))' && refuse 'pick: no kernel, so no claim'
plant '.ops[1].doc = ""' && refuse 'pick: no doc line'
plant 'del(.ops[1].params[0].doc)' && refuse 'pick: no doc line of parameter rows'
plant && echo 'int a = ASSAY_OP_twice, b = ASSAY_OP_pick_rows;' >"$WORK/tree/tests/unit/test_x.c" &&
    refuse 'pick: no test; no file of tests/unit names ASSAY_OP_pick'
plant && sed -i '/pick/d' "$WORK/tree/docs/ops.md" && refuse 'pick: no section in docs/ops.md; make docs'

# A catalogue that cannot be read is no clean one.
plant '.ops = []'
scripts/check-catalogue "$WORK/assay" "$WORK/tree" 2>/dev/null && fail "no ops are accepted"
echo '{' >"$WORK/ops.json"
scripts/check-catalogue "$WORK/assay" "$WORK/tree" 2>/dev/null && fail "broken JSON is accepted"
scripts/check-catalogue "$WORK/none" "$WORK/tree" 2>/dev/null && fail "no program is accepted"
exit 0
