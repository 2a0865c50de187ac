#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay pick opens the libraries of its op's kernels and no others; what was measured with a library
# that is gone, or is another build by now, is never used as measured.
. tests/support/expect.bash
. tests/support/store.bash
opened() { # FLAG... -- file names of the shared objects that a pick loads
    LD_DEBUG=files assay pick "$@" 2>&1 >"$WORK/stdout" | sed -nE 's/.*calling init: .*\/(lib[a-z]+).*/\1/p' | sort -u
}
libraries='libopenblas|libblis|libdnnl|libOpenCL|libsleef'
opened --op rms_norm_last_dim --dtype f32 --shape rows=4,cols=64 >"$WORK/opened"
grep -qx libc "$WORK/opened" || { echo "the loader of this system does not tell" && exit 77; }
grep -Ex "$libraries" "$WORK/opened" && echo "rms_norm needs none of these" && exit 1
opened --op exp --dtype f32 --shape n=64 >"$WORK/opened"
grep -Ex 'libopenblas|libblis|libdnnl|libOpenCL' "$WORK/opened" && echo "exp needs none of these" && exit 1
sleef=$(assay kernels --json | jq -r '.kernels[] | select(.backend == "sleef" and .op == "exp" and .dtypes[0] == "f32" and .available) | .revision')
[ -n "$sleef" ] || { echo "SLEEF is not here" && exit 77; }
grep -qx libsleef "$WORK/opened" || { echo "exp needs SLEEF" && exit 1; }
# The rows of other ops keep their place: a backend without kernels of this op is still one.
expect 1 '*' '*' assay pick --op add --dtype f32 --shape n=64 --backend sleef

# A route for SLEEF, whose answer lives as long as the library stays what it was.
db=$WORK/s.db
ask=(assay pick --op exp --dtype f32 --shape n=64 --backend 'sleef,cpu' --db "$db" --json)
expect 0 '*' '' assay pick --op exp --dtype f32 --shape n=64 --backend 'sleef,cpu' --json --quiet
variant=$(jq -r '[.chosen, .others[]] | map(select(.backend == "sleef")) | .[0].revision' "$WORK/stdout")
tunables=$(jq -r '[.chosen, .others[]] | map(select(.backend == "sleef")) | .[0].tunables | to_entries | map("\(.key)=\(.value)") | join(",")' "$WORK/stdout")
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
store_problem "$db" 1 'exp f32,f32 n=64'
store_problem "$db" 2 'add f32,f32,f32 n=64'
store_variant "$db" 1 sleef exp f32,f32 sleef_exp_u10 "$tunables" "$sleef" "$variant"
store_variant "$db" 2 cpu add f32,f32,f32 cpu_add_portable threads=1 "$(printf 'a%.0s' {1..64})" "$(printf 'b%.0s' {1..64})"
store_measured "$db" 1 1 1000
store_measured "$db" 2 2 1000
store_route "$db" 1 1 "$(candidate 1 1 0 1000 990 1010 1 0.25)"
store_route "$db" 2 2 "$(candidate 2 2 0 1000 990 1010 0 0.25)"
sql "$db" "UPDATE route SET layout = 'cc' WHERE problem = 1"
expect 0 '*' '' "${ask[@]}"
query '.chosen.backend == "sleef" and .tier == "measured"'
# The route of add is stale; that is nothing to a question about exp.
query '.counts.routes_usable == 1 and .counts.routes_idle == 0'
expect 0 '*' '*nothing admissible is measured*1 measured variants are stale*' env ASSAY_SLEEF=/nonexistent/libsleef.so.3 "${ask[@]}"
query '.chosen.backend == "cpu" and .tier == "unknown" and .is_default'
query '.rejected | any(.kernel == "sleef_exp_u10" and (.reason | test("^unavailable.*stale: .*nonexistent")))'
file=$(LD_DEBUG=files "${ask[@]}" 2>&1 | sed -nE 's/.*calling init: (.*libsleef.*)/\1/p' | head -n 1)
id=$(readelf -n "$file" | sed -nE 's/.*Build ID: ([0-9a-f]+)/\1/p')
[ "${#id}" = 40 ] || { echo "no build-id in $file" && exit 1; }
cp "$file" "$WORK/libsleef.so.3"
perl -0777 -pi -e "my \$id = pack('H*', '$id'); s/\Q\$id\E/reverse \$id/e" "$WORK/libsleef.so.3"
expect 0 '*' '*nothing admissible is measured*1 measured variants are stale*' env ASSAY_SLEEF="$WORK/libsleef.so.3" "${ask[@]}"
query '.rejected | any(.kernel == "sleef_exp_u10" and (.reason | test("^stale: measured for revision")))'
