#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field cases B12 and B2: the fake plug-in, its rows registered in another order, its tunables in
# another order, and one kernel inserted at the front, each with the code of its kernels unchanged:
# what was measured with the plain one serves as before, and of a resumed sweep only the new kernel
# is measured.
. tests/support/fake_sweep.bash
[ -d "$ASSAY_BUILD/plugin/fake" ] || { echo "needs the objects of the build" && exit 77; }
db=$WORK/s.db

# build NAME SED-OF-HEADERS SED-OF-ROWS -- a plug-in "fake" in the folder NAME, with the source hashes
# of the plain one, as where the table stands in a file of its own.
build() {
    local objects
    mkdir -p "$WORK/$1/src/backends/fake"
    cp backends/fake/*.[ch] "$WORK/$1/src/backends/fake/"
    sed -i "$2" "$WORK/$1"/src/backends/fake/*.[ch]
    sed -i "$3" "$WORK/$1/src/backends/fake/fake_kernels.c"
    [ -z "$2$3" ] || ! diff -rq backends/fake "$WORK/$1/src/backends/fake" | grep -v '^Only' | grep -q . &&
        fail "$1: nothing was edited"
    objects=$(find "$ASSAY_BUILD/plugin/fake" -name '*.o' -not -path '*/backends/*')
    # shellcheck disable=SC2086 # a list of files
    cc -std=c11 -O1 -fPIC -fvisibility=hidden -D_GNU_SOURCE -DASSAY_SOURCE_COUNT="$(wc -l <<<"$sources")" \
        -I"$WORK/$1/src" -I. -Iinclude -I"$ASSAY_BUILD" -I"$ASSAY_BUILD/gen" -shared -Wl,--build-id=sha1 \
        -Wl,--version-script=backends/plugin.map "$WORK/$1"/src/backends/fake/*.c $objects -lm -ldl \
        -o "$WORK/$1/assay_fake.so" >"$WORK/log" 2>&1 || { cat "$WORK/log" && exit 1; }
    ln -s "$ASSAY_BUILD/lib/assay/assay_ref.so" "$WORK/$1/"
}
sources=$(grep -E '^    \{"' "$ASSAY_BUILD/gen/fake_source_hash.c")

# answers FOLDER -- what each question gets, without what is said of the kernel that is new
answers() {
    local n
    for n in 100 300 1000; do
        assay pick --db "$db" --plugins "$WORK/$1" --backend fake --op add --dtype f32 --shape "n=$n" --json --quiet ||
            fail "pick with $1"
    done | jq -S 'del(.counts, .store) | (.others, .rejected, .ties) |= map(select(.kernel != "fake_new"))'
    assay pick --db "$db" --plugins "$WORK/$1" --backend fake --op add --dtype f32 --shape "n=100" --json --quiet \
        --max-ulp 0 --stability config | jq -S .chosen
}
sweep() { # FOLDER
    expect 0 '*' '' assay sweep --db "$db" --plugins "$WORK/$1" --backend fake --op add --dtype f32 --shape 'n=100|1000' \
        --threads 1 --profile quick --quiet --json --resume
}
visits() { # KERNEL-LIKE
    sqlite3 "$db" "SELECT count(*) FROM visit v JOIN measurement m ON m.id = v.measurement JOIN revision r
        ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE v.kind <> 'confirm' AND k.name LIKE '$1'"
}

# fake_b wins; fake_a is the first row and fake_c the last.
script 9 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000'
sweep plugins
[ "$(count '.kernel == "fake_b"')" = 2 ] || fail "fake_b does not win"
answers plugins >"$WORK/plain"
[ "$(jq -s 'map(select(.tier == "measured" and .chosen.kernel == "fake_b")) | length' "$WORK/plain")" = 2 ] || fail "no evidence"
before=$(visits '%')

reversed='s/ADD("fake_a", run_a, 10),  *ADD("fake_b", run_b, 20),  *ADD("fake_c", run_c, 30)/ADD("fake_c", run_c, 30), ADD("fake_a", run_a, 10), ADD("fake_b", run_b, 20)/'
build reversed '' "$reversed"
build swapped 's/FAKE_THREADS = 0, FAKE_VARIANT = 1/FAKE_VARIANT = 0, FAKE_THREADS = 1/' \
    '/^    {"threads", thread_values/{h;d};/^    {"variant", variant_values/{s/}};/},/;G;s/\(.*\),$/\1};/}'
build inserted 's/2 \* FAKE_KERNELS\]/2 * FAKE_KERNELS + 1]/' 's/ADD("fake_a", run_a, 10),/ADD("fake_new", run_a, 15), ADD("fake_a", run_a, 10),/'
for folder in reversed swapped inserted; do
    answers "$folder" >"$WORK/now"
    cmp -s "$WORK/plain" "$WORK/now" || { diff "$WORK/plain" "$WORK/now"; fail "$folder: other answers"; }
    expect 0 '*sound*' '' assay check --db "$db" --plugins "$WORK/$folder" --backend fake
done
expect 0 '*' '' assay kernels --plugins "$WORK/inserted" --backend fake --json
query '.kernels[] | select(.op == "add" and .kernel == "fake_new") | .default_rank == 15'
for folder in reversed swapped; do
    sweep "$folder"
    [ "$(visits '%')" = "$before" ] || fail "$folder: measured again"
done
sweep inserted
[ "$(visits fake_new)" -ge 10 ] || fail "the new kernel was not measured"
[ "$(($(visits '%') - $(visits fake_new)))" = "$before" ] || fail "kernels that did not change were measured again"
# The new decision is confirmed by visits of its own.
[ "$(sqlite3 "$db" "SELECT count(*) FROM visit WHERE kind = 'confirm' AND sweep = (SELECT max(id) FROM sweep)")" -ge 8 ] ||
    fail "confirmed by the visits of an earlier decision"
# Faster by the default's standard only: the winner stays, with the kernel in front or without it.
for folder in plugins inserted reversed; do
    expect 0 '*' '' assay pick --db "$db" --plugins "$WORK/$folder" --backend fake --op add --dtype f32 --shape n=100 --json --quiet
    query '.tier == "measured" and .chosen.kernel == "fake_b"'
done

# Another day: all run at seven tenths of their times, so that the new kernel, measured today alone, beats
# what the winner showed then, and the winner beats it side by side.
rm "$db"*
script 9 'kernel=* ns=10000 sd=0.01' 'kernel=fake_b ns=8000'
sweep plugins
script 10 'kernel=* ns=7000 sd=0.01' 'kernel=fake_b ns=5600'
sweep inserted
[ "$(visits fake_new)" -ge 10 ] || fail "the new kernel was not measured"
[ "$(sqlite3 "$db" "SELECT count(DISTINCT k.name) FROM route t JOIN revision r ON r.id = t.winner_revision JOIN kernel k
    ON k.id = r.kernel WHERE t.superseded_utc IS NULL AND k.name = 'fake_b'")" = 1 ] || fail "the published winner was deposed"
expect 0 '*' '' assay pick --db "$db" --plugins "$WORK/inserted" --backend fake --op add --dtype f32 --shape n=100 --json --quiet
query '.tier == "measured" and .chosen.kernel == "fake_b" and .chosen.ratio_hi < 0.9'
