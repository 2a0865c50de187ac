#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# Field case B16: a store whose rows are of several libraries, of which one is absent today, or whose
# plug-in is: only its rows are idle, the best of the others answers as measured, other problems
# answer byte for byte as before, the store is not touched, and when the library is back all serve.
. tests/support/expect.bash
. tests/support/store.bash
db=$WORK/s.db
libraries=()
assay kernels --json >"$WORK/kernels" || exit 1
for library in openblas blis onednn sleef; do
    jq -e --arg b $library '.kernels | any(.backend == $b and .dtypes[0] == "f32" and .available and (.op == "matmul" or .op == "exp"))' "$WORK/kernels" >"$WORK/log" &&
        libraries+=("$library")
done
[ "${#libraries[@]}" -ge 2 ] || { echo "needs two optional libraries, has ${libraries[*]}" && exit 77; }

# plant PROBLEM TEXT LAYOUT BACKEND... -- a route whose candidates are the first kernel of each backend, each slower
# than the one before.
variant=0
plant() {
    local problem=$1 text=$2 layout=$3 op=${2%% *} tuple ns=1000 candidates=() winner=$((variant + 1)) backend row tunables
    shift 3
    tuple=$(cut -d ' ' -f 2 <<<"$text")
    store_problem "$db" "$problem" "$text"
    assay pick --op "$op" --dtype f32 --shape "${text##* }" --backend "$(tr ' ' , <<<"$*")" --json -q >"$WORK/all" || exit 1
    for backend in "$@"; do
        row=$(jq -c --arg b "$backend" '[.chosen, .others[]] | map(select(.backend == $b)) | .[0]' "$WORK/all")
        tunables=$(jq -r '.tunables | to_entries | map("\(.key)=\(.value)") | join(",")' <<<"$row")
        variant=$((variant + 1))
        store_variant "$db" $variant "$backend" "$op" "$tuple" "$(jq -r .kernel <<<"$row")" "$tunables" \
            "$(jq -r --arg k "$(jq -r .kernel <<<"$row")" --arg o "$op" '.kernels[] | select(.kernel == $k and .op == $o and .dtypes[0] == "f32") | .revision' "$WORK/kernels")" \
            "$(jq -r .revision <<<"$row")"
        store_measured "$db" $variant "$problem" $ns
        candidates+=("$(candidate $variant $variant 0 $ns $((ns - 10)) $((ns + 10)) 1 0.25)")
        ns=$((ns + 500))
    done
    store_route "$db" "$problem" $winner "${candidates[@]}"
    sql "$db" "UPDATE route SET layout = '$layout' WHERE problem = $problem;
        UPDATE measurement SET layout = '$layout' WHERE problem = $problem"
}
store_make "$db" "$(assay devices --json | jq -r .host.deployment)"
products=()
for library in "${libraries[@]}"; do [ "$library" = sleef ] || products+=("$library"); done
plant 1 'matmul f32,f32,f32 m=64,n=64,k=64' ccc "${products[@]}" cpu
plant 2 'add f32,f32,f32 n=64' ccc cpu
case " ${libraries[*]} " in *' sleef '*) plant 3 'exp f32,f32 n=64' cc sleef cpu ;; *) plant 3 'exp f32,f32 n=64' cc cpu ;; esac
sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' >"$WORK/log"
before=$(sha256sum <"$db")
ask() { # OP -- what answers, as "backend tier ns"
    local shape=n=64
    [ "$1" = matmul ] && shape=m=64,n=64,k=64
    assay pick --op "$1" --dtype f32 --shape $shape --db "$db" --json 2>"$WORK/stderr" >"$WORK/stdout" || return 1
    jq -r '"\(.chosen.backend) \(.tier) \(.chosen.time_ns)"' "$WORK/stdout"
}
is() { # WHAT WANTED GOT
    [ "$2" = "$3" ] || { echo "$1: '$3', not '$2'" && cat "$WORK/stdout" "$WORK/stderr" && exit 1; }
}
all_serve() {
    is "$1: matmul" "${products[0]} measured 1000" "$(ask matmul)"
    is "$1: add" 'cpu measured 1000' "$(ask add)"
    case " ${libraries[*]} " in *' sleef '*) is "$1: exp" 'sleef measured 1000' "$(ask exp)" ;; esac
    expect 0 '*' '' assay check --db "$db" --json
    query ".is_stale == false and .routes_usable == 3 and .routes_idle == 0"
    query "[.states[] | select(.state == \"usable\")][0].measurements == $variant"
}
all_serve 'all are here'

next=$((${#products[@]} > 1 ? 1 : 0))
without() { # LIBRARY -- what holds when it cannot be opened, or is not there at all
    local second=cpu
    [ "$next" = 1 ] && second=${products[1]}
    is "$1 absent: add" 'cpu measured 1000' "$(ask add)"
    if [ "$1" = "${products[0]}" ]; then
        is "$1 absent: matmul" "$second measured 1500" "$(ask matmul)"
    else
        is "$1 absent: matmul" "${products[0]} measured 1000" "$(ask matmul)"
    fi
    if [ "$1" = sleef ]; then
        is "$1 absent: exp" 'cpu measured 1500' "$(ask exp)"
    elif [[ " ${libraries[*]} " == *' sleef '* ]]; then
        is "$1 absent: exp" 'sleef measured 1000' "$(ask exp)"
    fi
    # Where nobody has measured, the default is one that is here.
    local shape
    for shape in 'matmul m=65,n=64,k=64' 'exp n=65'; do
        expect 0 '*' '*' assay pick --op "${shape% *}" --dtype f32 --shape "${shape#* }" --db "$db" --json
        query ".chosen.backend != \"$1\" and ([.others[] | select(.backend == \"$1\")] == [])"
    done
    expect '[01]' '*' '*' assay check --db "$db" --json
    # A route whose winner it was is idle as decided, and no other; one row is, and says why.
    local idle=0
    if [ "$1" = "${products[0]}" ] || [ "$1" = sleef ]; then idle=1; fi
    query ".routes_usable == $((3 - idle)) and .routes_idle == $idle"
    query "[.states[] | select(.measurements > 0) | {key: .state, value: .measurements}] | from_entries == {usable: $((variant - 1)), unavailable: 1}"
}
for library in "${libraries[@]}"; do
    export "ASSAY_${library^^}=/nonexistent/lib$library.so"
    without "$library"
    [ "$library" = sleef ] && op=exp || op=matmul
    ask $op >"$WORK/log"
    query ".rejected | any(.backend == \"$library\" and (.reason | test(\"nonexistent\")))"
    expect 0 '*' '*' assay report cost --db "$db" --format json
    query "[.problems[].candidates[] | select(.backend == \"$library\")] | length >= 1 and all(.state != \"current\")"
    query "[.problems[].candidates[] | select(.backend != \"$library\")] | length >= 4 and all(.state == \"current\")"
    unset "ASSAY_${library^^}"

    # The same without its plug-in: a backend that was not built, or not installed.
    mkdir "$WORK/some"
    for file in "$ASSAY_BUILD"/lib/assay/assay_*.so; do
        [ "${file##*/}" = "assay_$library.so" ] || ln -s "$file" "$WORK/some/"
    done
    export ASSAY_PLUGIN_PATH=$WORK/some
    ask_here() { assay pick --plugins "$WORK/some" "$@"; }
    expect 0 '*' '*' ask_here --op add --dtype f32 --shape n=64 --db "$db" --json
    query '.chosen.backend == "cpu" and .tier == "measured" and .chosen.time_ns == 1000'
    expect 0 '*' '*' ask_here --op matmul --dtype f32 --shape m=64,n=64,k=64 --db "$db" --json
    query ".tier == \"measured\" and .chosen.backend != \"$library\""
    unset ASSAY_PLUGIN_PATH
    rm -r "$WORK/some"
done

# All of them: what is left is Assay's own.
for library in "${libraries[@]}"; do export "ASSAY_${library^^}=/nonexistent/lib$library.so"; done
[[ $(ask matmul) == 'cpu measured '* ]] || { cat "$WORK/stdout" && exit 1; }
[[ $(ask exp) == 'cpu measured '* ]] || { cat "$WORK/stdout" && exit 1; }
is 'all absent: add' 'cpu measured 1000' "$(ask add)"
for library in "${libraries[@]}"; do unset "ASSAY_${library^^}"; done
all_serve 'all are back'
[ "$before" = "$(sha256sum <"$db")" ] || { echo "the store was written" && exit 1; }
