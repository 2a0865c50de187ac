#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# --seed: the same seed makes the same stays in the same order, screening, measuring and confirming, whatever
# becomes of a variant among them; another seed makes them in another.
. tests/support/fake_sweep.bash
ln -s "$ASSAY_BUILD/tests/plugins/assay_villains.so" "$WORK/plugins/" || exit 1
db=$WORK/s.db
stays() { # which variant of which problem each stay of a scripted kernel was of
    sqlite3 "$db" "SELECT v.kind || ' ' || v.ordinal || ' ' || v.is_twin || ' ' || p.text || ' ' || k.name || ' ' || r.tunables FROM visit v
        JOIN measurement m ON m.id = v.measurement JOIN problem p ON p.id = m.problem
        JOIN revision r ON r.id = m.revision JOIN kernel k ON k.id = r.kernel WHERE k.backend = 'fake' ORDER BY v.id"
}
order() { # SEED LINE...
    rm -f "$db"
    script 1 resolution=0 'kernel=* ns=2000' 'kernel=fake_b ns=1800' 'kernel=fake_c ns=1900' "${@:2}"
    fake_sweep "$db" add 'n=16|32' --seed "$1"
    stays
}
kind() { grep "^$1 " "$2"; }
order 7 >"$WORK/a"
order 7 >"$WORK/b"
order 8 >"$WORK/c"
for k in screen measure confirm; do
    [ "$(kind $k "$WORK/a" | wc -l)" -ge 16 ] || fail "$k: only $(kind $k "$WORK/a" | wc -l) stays"
    cmp -s <(kind $k "$WORK/a") <(kind $k "$WORK/c") && fail "$k: another seed gave the same order"
done
cmp -s "$WORK/a" "$WORK/b" || fail "the same seed gave another order: $(diff "$WORK/a" "$WORK/b")"
cmp -s <(sort "$WORK/a") <(sort "$WORK/c") || fail "another seed measured other variants"

# Of two visits the second goes backwards.
for n in 16 32; do
    diff <(grep "^measure 1 .*n=$n " "$WORK/a" | cut -d ' ' -f 3- | tac) <(grep "^measure 2 .*n=$n " "$WORK/a" | cut -d ' ' -f 3-) ||
        fail "not backwards"
done

# Who crashes when he is checked, or timed, has his worker replaced, and changes the order of nobody else.
for at in 1 3; do
    order 7 "kernel=fake_c variant=0 crash_at=$at" >"$WORK/d"
    [ "$(sqlite3 "$db" "SELECT count(*) FROM measurement WHERE verdict = 'crashed'")" = 2 ] || fail "nobody crashed"
    diff <(grep -v 'fake_c.*variant=0' "$WORK/a") "$WORK/d" || fail "a crash changed the order of others"
done
# Nor does a leak.
among() { # KERNEL...
    rm -f "$db"
    script 1 resolution=0 'kernel=* ns=2000' 'kernel=fake_b ns=1800' 'kernel=fake_c ns=1900'
    expect 0 '*' '*' assay sweep --db "$db" --plugins "$WORK/plugins" --backend fake,villains --op add --dtype f32 \
        --shape 'n=30000|30001' --threads 1 --profile quick --seed 7 "${@/#/--kernel=}"
    stays
}
among 'fake_*' >"$WORK/e"
among 'fake_*' v_leak >"$WORK/f"
grep -q 'v_leak leaks .* its worker is replaced' "$WORK/stderr" || fail "nobody leaked"
diff "$WORK/e" "$WORK/f" || fail "a leak changed the order of others"

for bad in -1 x 1.5 99999999999999999999999; do
    expect 2 '*' '*--seed*' assay sweep --db "$db" --op add --dtype f32 --shape n=16 --seed "$bad"
done
