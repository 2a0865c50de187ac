#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# With --threads the default is the one that a question with that max_threads gets: the same kernel
# with fewer threads, not the next kernel whose own default would fit.
. tests/support/expect.bash
expect 0 '*' '*' assay kernels --op matmul --dtype f32 --backend openblas --json
if ! jq -e '.kernels[0] | .available and .tunables[0].default > 1' "$WORK/stdout" >"$WORK/log"; then
    echo "needs OpenBLAS and two CPUs, both of which it takes unless told"
    exit 77
fi
# Were another one the default, it would be told that it competes too.
sweep=(assay sweep --db "$WORK/t.db" --op matmul --dtype f32 --shape 'm=8,n=8,k=8' --threads 1 --profile quick --dry-run)
expect 0 '*1 variants*' '*1 variants*' "${sweep[@]}" --kernel openblas_gemm
expect 0 '*2 variants*' '*openblas_gemm competes too*2 variants*' "${sweep[@]}" --kernel cpu_matmul_portable
