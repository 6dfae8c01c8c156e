#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop sample --remote` of real nodes of several releases at once: one sum, below the names of the
# nodes; one that is not there is said, and one that is lost ends only its part. The load is sample_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=sample_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"

remote() {
    sampled=$1
    shift
    "$beamtop" sample "$sampled" --remote --cookie-file "$work/cookie" --timeout 60 "$@" >"$work/out" 2>"$work/err"
}

works() {
    for dir in $dirs; do
        rm -f "$dir/worker"
        order chain && wait_until 60 test -s "$dir/worker" || return 1
    done
}
rests() {
    for dir in $dirs; do order still || return 1; done
}
# The other cases need samples of any: what works takes the cores of all other tests.
rests_but_one() {
    for dir in $dirs; do
        [ "$dir" = "$last_dir" ] || order still || return 1
    done
}

# Each node's name is the first frame of a stack with the load in it.
has_each() {
    for sampled in $(echo "$names" | tr , ' '); do
        grep -q "^$sampled;.*sample_load:leaf_a/2 [0-9]" "$work/out" || return 1
    done
}

adds_up_stacks() {
    works || return 1
    for seconds in 1 4 16; do
        remote "$names" --for "${seconds}s" --budget 50 --format folded
        rc=$?
        if [ $rc != 0 ] || has_each; then break; fi
    done
    ends_with 0 "$rc" || return 1
    has_each || { cat "$work/out" "$work/err"; return 1; }
    remote "$names" --for 2s --budget 50 --format json
    rc=$?
    rests_but_one && ends_with 0 "$rc" || return 1
    holds ".[0].node == \"$count nodes\" and .[0].at_yields and .[0].processes == []" &&
        holds '[.[0].functions[] | select(.function == "sample_load:chain_main/0") | .total_share] | length == 1 and .[0] > 0.5'
}

one_is_not_there() {
    remote "$names,nobody$$@127.0.0.1" --for 2s --budget 50 --format folded
    ends_with 3 $? && told 'nobody.*no node' && [ -s "$work/out" ] || return 1
    remote "nobody$$@127.0.0.1,nowhere$$@127.0.0.1" --for 2s
    ends_with 3 $? && [ ! -s "$work/out" ] || return 1
    "$beamtop" sample "$names" --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
    ends_with 2 $? && told 'with --remote'
}

ends_when_it_is_interrupted() {
    : >"$work/err"
    "$beamtop" sample "$names" --remote --cookie-file "$work/cookie" --timeout 60 --for 600s --budget 50 \
        >"$work/out" 2>"$work/err" &
    run_pid=$!
    wait_until 120 grep -q 'are sampled' "$work/err" || { kill "$run_pid"; cat "$work/err"; return 1; }
    sleep 8
    kill -INT "$run_pid"
    wait "$run_pid"
    ends_with 0 $? && says "$count nodes" && rests && all_clean
}

run_on_several adds_up_stacks one_is_not_there ends_when_it_is_interrupted
