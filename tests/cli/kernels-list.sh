#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay kernels: keys of the JSON, filters, unavailable rows, plug-ins that cannot be used.
. tests/support/expect.bash
expect 0 '*' '' assay kernels --json
query '.schema == "assay.kernels/1" and (.kernels | length) >= 16'
query '.kernels | all(has("kernel", "op", "dtypes", "backend", "tunables", "default_rank", "claims", "available"))'
query '.kernels | all(if .available then (has("reason") | not) and (.revision | test("^[0-9a-f]{64}$")) else (.reason | length) > 0 end)'
query '.kernels | map(select(.op == "matmul" and .dtypes == ["f32", "f32", "f32"] and .backend == "ref")) | length == 1'
query '.kernels | map([.backend, .op, .dtypes, .kernel]) | length == (unique | length)'

expect 0 '*' '' assay kernels --json --op exp --dtype f16 --backend ref
query '.kernels | length == 1 and .[0].dtypes == ["f16", "f16"]'
expect 0 '*' '' assay kernels --json --dtype f16,f16 --backend ref
query '(.kernels | all(.dtypes == ["f16", "f16"])) and ([.kernels[].op] | index("exp") != null and index("add") == null)'
expect 0 '*' '' assay kernels --json --kernel 'ref_add_*' --kernel 'ref_exp_f32'
query '.kernels | length == 5'
expect 0 'op*' 'assay kernels: no kernel matches' assay kernels --kernel nothing
expect 0 'op*' "assay kernels: no kernel matches; did you mean 'ref_matmul_f32'?" assay kernels --kernel ref_matmul_f23
expect 0 'op*' '' assay kernels --kernel nothing --quiet
expect 0 'op,dtypes,backend,kernel,rank,tunables,claims,revision,available*' '' assay kernels --format csv

expect 2 '' "assay kernels: *'matmull'*" assay kernels --op matmull
expect 2 '' "assay kernels: --dtype: *'f33'*" assay kernels --dtype f33
expect 2 '' "assay kernels: --dtype: *" assay kernels --dtype f32,,f32
expect 4 '' "assay kernels: *nobody*" assay kernels --backend nobody

# Plug-ins that cannot be used are named with the reason and keep nothing else away.
mkdir "$WORK/plugins"
echo 'not an object' >"$WORK/plugins/assay_text.so"
cp "$ASSAY_BUILD/tests/loader/assay_foreign.so" "$ASSAY_BUILD/tests/loader/assay_broken.so" "$WORK/plugins/" ||
    exit 1
ln -s "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/plugins/assay_ref.so"
expect 0 '*ref_matmul_f32*' '*assay_broken.so: *assay_foreign.so: *ABI 99*assay_text.so: *' \
    assay kernels --plugins "$WORK/plugins"
expect 0 '*ref_matmul_f32*' '' assay kernels --plugins "$WORK/plugins" --quiet
expect 4 '' '*foreign*ABI 99*' assay kernels --plugins "$WORK/plugins" --backend foreign
# Those that --plugins names must be usable, and a folder must hold one that is.
expect 4 '' 'assay kernels: --plugins: *text.so*' assay kernels --plugins "$WORK/plugins/assay_text.so"
expect 4 '' 'assay kernels: --plugins: */nowhere: cannot be read*' assay kernels --plugins "$ASSAY_BUILD/lib/assay:/nowhere"
expect 4 '' 'assay bench: --plugins: */nowhere: cannot be read*' assay bench --only start --plugins /nowhere
expect 4 '' 'assay kernels: --plugins: *ABI 99*' \
    assay kernels --plugins "$WORK/plugins/assay_ref.so:$WORK/plugins/assay_foreign.so"
mkdir "$WORK/empty"
expect 4 '' 'assay kernels: --plugins: */empty: a folder without*' assay kernels --plugins "$WORK/empty"
expect 0 '*ref_matmul_f32*' '' assay kernels --plugins "$WORK/plugins" --backend ref
expect 0 '*ref_matmul_f32*' '' assay kernels --plugins "$WORK/plugins/assay_ref.so:$ASSAY_BUILD/lib/assay/assay_cpu.so" --backend ref
question=(--op add --dtype f32 --shape n=64)
expect 4 '' '*assay pick: --plugins: */nowhere: cannot be read*' assay pick --plugins /nowhere "${question[@]}"
for dry in --dry-run --quiet; do
    expect 4 '' 'assay sweep: --plugins: */nowhere: cannot be read*' \
        assay sweep --db "$WORK/s.db" --plugins /nowhere "${question[@]}" $dry
done
[ ! -e "$WORK/s.db" ] || { echo "a store was made without a plug-in" && exit 1; }

# Kernels that cannot run here stay in the list with the reason; without its library one has no revision.
loader=$ASSAY_BUILD/tests/loader
expect 0 '*' '' assay kernels --plugins "$loader/assay_alpha.so:$loader/assay_beta.so" --json
query '.kernels | map(select(.available | not)) | length == 3'
query '.kernels[] | select(.backend == "beta" and .kernel == "third") | (.reason | test("imaginary9")) and has("revision")'
query '.kernels[] | select(.backend == "alpha" and .kernel == "second") | (.reason | test("libplug")) and (has("revision") | not)'
