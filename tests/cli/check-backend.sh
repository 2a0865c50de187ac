#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Assay authors
# assay check --backend: the backends of this build keep the contract, and so does the example that is built
# from the public headers alone; each way of breaking the example fails the rule that is named after it.
. tests/support/expect.bash
fail() { echo "$*" && exit 1; }
lib=$ASSAY_BUILD/lib/assay

# build NAME [-D...] -- the example out of tree, in a folder of its own.
build() {
    local folder=$WORK/$1
    mkdir -p "$folder" "$WORK/include" && cp -r include/assay "$WORK/include/" || exit 1
    cc -std=c11 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -Wl,-z,defs -Wl,--build-id "${@:2}" \
        -I"$WORK/include" examples/backend_minimal/backend_minimal.c -pthread -o "$folder/assay_minimal.so" || exit 1
}

# What is here passes; a library that is not installed is exit code 4 of its backend.
for backend in ref cpu fake openblas; do
    assay check --backend $backend --plugins "$lib" >"$WORK/out" 2>"$WORK/err"
    code=$?
    [ $code = 4 ] && [ $backend = openblas ] && continue
    [ $code = 0 ] || fail "$backend: exit $code: $(grep '^FAIL' "$WORK/out"; tail -n 1 "$WORK/out"; cat "$WORK/err")"
    grep -q '^pass life_before_init$' "$WORK/out" || fail "$backend: no line a rule"
    grep -qE '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' <(tail -n 1 "$WORK/out") || fail "$backend: $(tail -n 1 "$WORK/out")"
    # No rule is lost: as many lines as the sum says.
    [ "$(grep -cE '^(pass|skip) ' "$WORK/out")" = "$(tail -n 1 "$WORK/out" | awk '{ print $1 + $5 }')" ] || fail "$backend: lines and sum differ"
done

# A device whose memory the host does not reach.
ASSAY_FAKE=discrete=1 expect 0 '*skip memory_map: the backend has no unified_memory*pass memory_peer_copy*pass kernels_matmul*0 failed*' '' \
    assay check --backend fake --plugins "$lib"

# Nothing of it is here.
expect 4 '' "assay check: backend 'nobody' is not here: no assay_nobody.so in $lib, $WORK; set ASSAY_PLUGIN_PATH*" \
    assay check --backend nobody --plugins "$lib:$WORK"
expect 2 '' 'assay check: *one is tried at a time*' assay check --backend ref,cpu --plugins "$lib"
expect 2 '' 'assay check: --rule: no rule *' assay check --backend ref --plugins "$lib" --rule 'no_such*'
expect 0 $'pass life_state\n1 passed, 0 failed, 0 skipped' '' assay check --backend ref --plugins "$lib" --rule life_state
# With a store it narrows what is looked at, as before; so does the environment.
expect 3 '' '*none.db: store does not exist*' assay check --backend ref --db "$WORK/none.db"
ASSAY_BACKEND=ref expect 3 '' 'assay check: assay.db: *' env -C "$WORK" assay check

# Out of tree, found by the environment beside what is installed.
build good
export ASSAY_PLUGIN_PATH=$WORK/good
expect 0 '*pass call_binary*pass kernels_add*[0-9] passed, 0 failed, *' '' assay check --backend minimal
grep -q '^skip queue_runs_in_order: the backend has no async_compute$' "$WORK/stdout" || fail "queues: $(grep queue_ "$WORK/stdout")"
# What was only refused has not passed.
grep -q '^skip call_gemm: every call was refused, with nothing written: ' "$WORK/stdout" || fail "gemm: $(grep call_gemm "$WORK/stdout")"
grep -q '^skip kernels_matmul: the backend has no kernel of matmul$' "$WORK/stdout" || fail "matmul: $(grep kernels_matmul "$WORK/stdout")"
for rule in handle_foreign handle_freed_twice memory_offsets memory_batch_all_or_nothing measure_spans call_by_forwarder; do
    grep -q "^pass $rule$" "$WORK/stdout" || fail "$rule: $(grep "$rule" "$WORK/stdout")"
done
expect 0 '*' '' assay check --backend minimal --json
query '.schema == "assay.check.backend/1" and .backend == "minimal" and .failed == 0'
query '(.rules | length) == .passed + .failed + .skipped'
query '[.rules[] | select(.verdict == "skip") | .reason | length > 0] | all'
# Without the reference what needs it is left out, and nothing fails.
unset ASSAY_PLUGIN_PATH
expect 0 "*skip kernels_add: the plug-in 'ref'*0 failed*" '' assay check --backend minimal --plugins "$WORK/good"

# broken SWITCH RULE REASON -- that rule fails, for that reason.
broken() {
    build "$1" "-D$1"
    # The costly rules are not of interest here.
    expect 1 '*' "assay check: backend 'minimal' breaks *" assay check --backend minimal --plugins "$WORK/$1:$lib" \
        --rule 'life_*' --rule 'memory_*' --rule 'handle_*' --rule 'faults_*' --rule call_binary --rule kernels_add
    # shellcheck disable=SC2053 # a glob on purpose
    [[ $(grep "^FAIL $2: " "$WORK/stdout") == $3 ]] || fail "$1: $2 says: $(grep " $2" "$WORK/stdout")"
    grep '^FAIL' "$WORK/stdout" >>"$WORK/fails"
}
broken BREAK_DOUBLE_FREE handle_freed_twice '*OK instead of FREED*'
grep -q '^pass memory_offsets$' "$WORK/stdout" || fail "BREAK_DOUBLE_FREE: $(grep ^FAIL "$WORK/stdout")"
broken BREAK_COPY memory_offsets '*byte * of the buffer is *'
grep -q '^pass handle_freed_twice$' "$WORK/stdout" || fail "BREAK_COPY: $(grep ^FAIL "$WORK/stdout")"
broken BREAK_FEATURE faults_inject '*UNSUPPORTED instead of OK*fault injection*'
[ "$(grep ^FAIL "$WORK/stdout" | grep -cv '^FAIL faults_')" = 0 ] || fail "BREAK_FEATURE: $(grep ^FAIL "$WORK/stdout")"
broken BREAK_ADD kernels_add '*minimal_add_f32*element * instead of *'
grep -q '^FAIL call_binary: ' "$WORK/stdout" || fail "BREAK_ADD: $(grep call_ "$WORK/stdout")"
broken BREAK_CRASH memory_alloc_free '*signal 6*in slot free*'
grep -q '^pass memory_round_trip$' "$WORK/stdout" && fail "BREAK_CRASH: a rule that frees passed"
grep -q '^pass life_before_init$' "$WORK/stdout" || fail "BREAK_CRASH: a crash took other rules with it"
assay check --backend minimal --plugins "$WORK/BREAK_ADD:$lib" --rule 'kernels_a*' --json >"$WORK/stdout" 2>"$WORK/stderr"
query '.failed > 0 and ([.rules[] | select(.rule == "kernels_add") | .verdict == "fail" and (.reason | length) > 0] | all)'

# A whole backend, with queues, faults and recovery, that breaks what ASSAY_CROOKED names (tests/crooked/): straight
# it passes, and each way of breaking it fails the rule beside it, for that reason.
crooked=$ASSAY_BUILD/tests/crooked:$lib
expect 0 '*pass memory_peer_copy*pass queue_transfers_run_beside*pass faults_lost_lets_go*pass metrics_keep_to_cap*pass call_gather*pass kernels_matmul*[0-9] passed, 0 failed, *' '' \
    assay check --backend crooked --plugins "$crooked"
# crooked WHAT RULE REASON
crooked() {
    ASSAY_CROOKED=$1 expect 1 "FAIL $2: $3
0 passed, 1 failed, 0 skipped" "assay check: backend 'crooked' breaks 1 *" assay check --backend crooked --plugins "$crooked" --rule "$2"
    cat "$WORK/stdout" >>"$WORK/fails"
}
crooked lost_free faults_lost_lets_go 'free(l.a) gave DEVICE_LOST instead of OK*'
crooked lost_map faults_lost_is_refused 'map(*) gave OK instead of DEVICE_LOST'
crooked lost_queue faults_lost_is_refused 'queue_create(*) gave DEVICE instead of DEVICE_LOST*'
crooked lost_synchronize faults_lost_is_refused 'synchronize of a lost device gave DEVICE*'
crooked empty kernels_add 'crooked_add, dense, of *n=0* gave INVALID instead of OK*'
crooked nan kernels_maximum 'crooked_maximum, NaN, infinities*'
crooked zeros kernels_maximum 'crooked_maximum, NaN, infinities*'
crooked zeros kernels_max_reduce 'crooked_max, zeros of both signs*'
crooked masked kernels_softmax_last_dim 'crooked_softmax, lines of -inf*'
crooked in_place kernels_softmax_last_dim 'crooked_softmax, in place of its first input*'
crooked index kernels_gather 'crooked_gather, an index beyond the last row*gave OK instead of INVALID*'
crooked index_late kernels_gather 'crooked_gather, an index beyond the last row*was refused, and wrote to operand 2*'
crooked alpha kernels_matmul 'crooked_matmul, alpha 0 over NaN in A and B*'
crooked beta kernels_matmul 'crooked_matmul, *'
crooked k0 kernels_matmul 'crooked_matmul, *'
crooked batch kernels_matmul 'crooked_matmul, *batch=3*'
for what in problem operands tunables; do
    crooked keeps_$what queue_copies_its_arguments "a queued launch used its caller's problem, operands or tunables*"
done
crooked blocks queue_lets_its_caller_go 'a launch into a queue that takes *ms longer returned after *'
crooked serial queue_runs_beside_others 'a launch in one queue waited for one in another*'
crooked copies_wait queue_transfers_run_beside 'an upload and a download of another buffer ended only when a kernel*'
ASSAY_CROOKED=copies_unseen expect 0 '*skip queue_transfers_run_beside: a kernel that is to wait for [124]00 ms ended after *' '' \
    assay check --backend crooked --plugins "$crooked" --rule queue_transfers_run_beside
crooked no_text queue_tells_first_failure 'queue_wait(queue) gave DEVICE and left no text*'
crooked last_failure queue_tells_first_failure 'queue_wait(queue) gave DEVICE_LOST instead of DEVICE*'
crooked any_failure queue_keeps_failures_apart 'queue_wait(sound) gave DEVICE instead of OK*'
crooked destroy_tells queue_keeps_failures_apart 'queue_destroy(&failed) gave DEVICE instead of OK*'
crooked metrics_cap metrics_keep_to_cap 'with room for 0 metrics it wrote number 0'
crooked metrics_count metrics_keep_to_cap 'metrics says that there are *'
crooked metrics_name metrics_that_grow_are_totals "'frees' only grows*"
# A sensor that goes up all the while is no sum.
ASSAY_FAKE='board_celsius=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16' expect 0 'pass metrics_that_grow_are_totals*' '' \
    assay check --backend fake --rule metrics_that_grow_are_totals
crooked metrics_fall metrics_never_fall 'launches_total falls from *'
crooked subgroups features_match_profile 'it has subgroup_ops, and subgroup_size is 0'
crooked metrics_deaf measure_spans 'its slot metrics fails when sink calls it between spans'
crooked timestamps measure_spans 'it has device_timestamps, and its slot measure reports quality *'
crooked counters measure_spans 'it has hardware_counters, and its slot measure reports quality *'
crooked grid features_have_their_slots 'its profile says grid_sync, and its manifest has no slot grid_fits'
crooked pinned_twice memory_pinned 'host_free(pinned) gave OK instead of FREED*'
crooked peer_words memory_peer_copy 'after a copy from another instance: byte 1 *'
crooked peer_more memory_peer_copy 'after a copy from another instance: byte 1 *'
crooked peer_foreign memory_peer_copy 'peer_copy(*) gave OK instead of FOREIGN*'
crooked peer_range memory_peer_copy 'peer_copy(*) gave OK instead of INVALID*'
crooked peer_freed memory_peer_copy 'peer_copy(*) gave OK instead of FREED*'
crooked probe_run probe_does_its_work 'a spin of ns is offered without a function to run'
crooked probe_short probe_does_its_work 'a spin of ns, asked for 4007, says that it waited for 4006'
crooked probe_copy probe_does_its_work 'after a copy: byte 4006 *'
crooked digest memory_digest 'digest of piece 0 of 1, 8 bytes, is another*'
crooked digest_range memory_digest 'digest of piece 1 of 64, *'
crooked probe_work probe_does_its_work 'a copy does a work of 0'
crooked probe_status probe_does_its_work 'an empty kernel gave DEVICE instead of UNSUPPORTED*'
crooked probe_silent probe_does_its_work 'an empty kernel gave UNSUPPORTED and left no text*'
crooked shown_wrong features_are_shown 'shared_memory: byte 0 *'
crooked shown_constant features_are_shown 'specialization: byte *'
crooked shown_run features_are_shown 'what shows mul_high has 2 operands and no function to run'
crooked shown_silent features_are_shown 'subgroup_shuffle gave DEVICE instead of UNSUPPORTED*'
ASSAY_CROOKED=shown_nowhere expect 0 'skip features_are_shown: claimed, and no probe shows it: mul_high*' '' \
    assay check --backend crooked --plugins "$crooked" --rule features_are_shown
crooked judge_run judge_agrees 'a judge of relu is offered without a function to run'
crooked judge_digest judge_agrees 'crooked_relu f32, batch 0: digest: *'
crooked judge_blind judge_agrees "crooked_relu f32, batch * gave NUMERIC instead of OK: the device's judge counted what it should not"
crooked judge_loses judge_agrees "crooked_relu f32, batch 0 gave NUMERIC instead of OK: the device's judge counted * of 8192 outputs*"
crooked judge_status judge_agrees 'judge gave DEVICE instead of UNSUPPORTED*'
crooked judge_silent judge_agrees 'judge gave UNSUPPORTED and left no text*'
crooked crash memory_alloc_free '*signal 6*in slot free*'
export ASSAY_CHECK_LIMIT_S=1
crooked hang memory_alloc_free 'no reply within 1000 ms*killed*in slot free*'
unset ASSAY_CHECK_LIMIT_S
# Texts are in words of who writes a backend.
grep -nE 'assay__|c->' "$WORK/fails" && fail "a text names what is the library's own"
exit 0
