#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Mnesia of two real nodes that are cut from one another: what its table says, and the finding. The load is
# mnesia_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=mnesia_load
. "$(dirname "$0")/releases.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

is_so() {
    "$beamtop" tables "$node" --mnesia --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/out" 2>"$work/err" </dev/null && jq -s -e ".[-1].rows[0] | $1" "$work/out" >/dev/null
}

reports() {
    "$beamtop" report "$work/recording" --format json >"$work/out" 2>"$work/err" </dev/null &&
        jq -s -e ".[-1] | $1" "$work/out" >/dev/null
}

peer_is_up() { "$beamtop" nodes --cookie-file "$work/cookie" 2>/dev/null | grep -q "${peer%@*}"; }

nodes_join() {
    peer=mnesia_peer$1x$$@127.0.0.1
    "$otp_sh" "$1" erl -noinput -name "$peer" -setcookie releases -start_epmd false -eval 'mnesia:start().' \
        >/dev/null 2>&1 &
    peer_pid=$!
    wait_until 120 peer_is_up || return 1
    echo "$peer" >"$dir/name"
    order join && wait_until 120 is_so '.running_nodes == 2 and .down_nodes == null and .cut_nodes == null' &&
        is_clean
}

# Of the third look, half a minute after the second; of those before nothing is said.
a_partition_is_found() {
    rm -f "$work/recording"
    "$beamtop" record "$node" -o "$work/recording" --interval 1s --budget 20 --for 600s --timeout 60 \
        --cookie-file "$work/cookie" >"$work/told" 2>&1 </dev/null &
    recorder=$!
    wait_long 120 reports '.ticks > 5 and all(.findings[]; .rule != "mnesia_cut")' && order cut &&
        is_so ".running_nodes == 1 and .schema_nodes == 2 and .down_nodes == \"$peer\" and .cut_nodes == \"$peer\"" &&
        wait_long 1200 reports "any(.findings[]; .rule == \"mnesia_cut\" and .severity == \"look\"
            and .title == \"Mnesia runs without $peer, which is connected\")"
    found=$?
    kill "$recorder" && wait "$recorder"
    [ "$found" -eq 0 ] && is_clean && return
    jq -c '.findings, .not_evaluated' "$work/out"
    cat "$work/told"
    return 1
}

# Each side runs it, and names the other as down.
mesh_has_both_sides() {
    "$beamtop" mesh "$node,$peer" -n 1 --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/out" 2>"$work/err" </dev/null &&
        jq -e '.rows | any(.kind == "mnesia" and .level == "fix" and (.note | test("each counts the other")))' \
            "$work/out" >/dev/null && is_clean && return
    cat "$work/err" "$work/out"
    return 1
}

one_that_is_gone_is_not_cut() {
    kill -9 "$peer_pid"
    wait "$peer_pid" 2>/dev/null
    wait_until 120 is_so ".down_nodes == \"$peer\" and .cut_nodes == null" && is_clean
}

same nodes_join a_partition_is_found mesh_has_both_sides one_that_is_gone_is_not_cut
run_on_releases
