#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Counted calls from their prompt to the proof, a trace from a function's row, sums by owner.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

# Nothing counts: no breakpoint on what was counted, and nobody has our name.
target_is_clean() {
    bt_ask '
        Points = [F || F <- [{timer,sleep,1}, {lists,keyfind,3}, {gen_server,call,2}],
                       Ask(erlang, trace_info, [F, all]) =/= {all, false}],
        io:format("~p ~p~n", [Points, Ask(erlang, whereis, [beamtop_calls])])
    ' >"$work/clean"
    grep -qxF '[] undefined' "$work/clean" || {
        cat "$work/clean"
        return 1
    }
}

# Quick windows, so that several pass in a test.
open_quick() {
    bt_open 120 40 || return 1
    tm_type ':set calls-every 1s'
    tm_keys Enter
    tm_type ':set calls-window 200ms'
    tm_keys Enter
}

# has_window N: that one or a later one.
has_window() { [ "$(tm_text | sed -n 's/.*window \([0-9][0-9]*\).*/\1/p' | sort -n | tail -n 1)" -ge "$1" ] 2>/dev/null; }

# agreeing_until COMMAND…: waits until it holds. On a machine that makes the demo call much the question
# comes before; each is answered once.
question='anyway? (y/n)'
agreeing_until() {
    wait_until "$tm_wait_s" asked_or "$@" || {
        tm_text
        return 1
    }
    ! "$@" || return 0
    tm_type y
    tm_wait_gone "$question" && agreeing_until "$@"
}

asked_or() { "$@" || tm_has "$question"; }

counts() {
    open_quick || return 1
    tm_type C
    tm_wait 'calls>' && tm_wait 'every function' || return 1
    tm_keys Enter
    tm_wait 'counting costs' && agreeing_until has_window 2 && tm_wait CALLS/s || return 1
    tm_type b
    tm_wait MODULE && tm_wait FUNCS || return 1
    tm_type b
    tm_wait stdlib || return 1
    tm_type x
    tm_wait 'nothing left on the node' && target_is_clean && bt_quit
}

begins_to_count() {
    open_quick || return 1
    tm_type ':calls lists:keyfind/3, timer'
    tm_keys Enter
    agreeing_until has_window 1
}

begins_to_measure() {
    begins_to_count || return 1
    tm_type %
    agreeing_until tm_has 'A CALL' && tm_wait_line 'lists:keyfind/3 .*[0-9] ?(µ|n|m)s'
}

leaves_while_it_counts() {
    tm_keys Q
    bt_is_left 'nothing left on the node' 'the node clears what is left with the connection'
}

measures_time_and_tells_the_proof_when_it_leaves() { bt_is_told begins_to_measure leaves_while_it_counts; }

# In a window without a call there is no row.
traces_a_function() {
    open_quick || return 1
    tm_type ':calls timer:sleep/1'
    tm_keys Enter
    agreeing_until tm_has_line 'timer:sleep/1 +[0-9]' || return 1
    tm_keys Enter
    tm_wait 'trace> timer:sleep/1 -> return' || return 1
    tm_keys Enter
    # The counting's own verification may still be in sight.
    agreeing_until tm_has_line '^ *ended +events' && tm_wait 'nothing left on the node' && bt_quit &&
        target_is_clean
}

# Tab does nothing while the names have not come from the node.
completes_to() {
    for _ in $(seq 20); do
        tm_keys Tab
        wait_until 2 tm_has "$1" && return 0
    done
    tm_wait "$1"
}

completes_names_of_the_target() {
    open_quick || return 1
    tm_type C
    tm_wait 'calls>' || return 1
    tm_type shop_pric
    completes_to 'calls> shop_pricing:' || return 1
    tm_type sta
    completes_to 'calls> shop_pricing:start_link' || return 1
    tm_keys Tab
    tm_wait 'calls> shop_pricing:start_link/0' || return 1
    tm_type ', app:ker'
    tm_keys Tab
    tm_wait 'app:kernel' || return 1
    tm_keys Escape
    tm_wait_gone 'calls>' && bt_quit
}

shows_how_many_match() {
    open_quick || return 1
    tm_type C
    tm_wait 'calls>' && tm_wait 'the cost is measured first' || return 1
    tm_type timer:sleep
    tm_wait '1 function; the cost is measured first' || return 1
    tm_type ', _:_'
    tm_wait_line '^at least [0-9,]+ functions; the cost' || return 1
    tm_keys Enter
    agreeing_until has_window 1 && tm_type C && tm_wait 'the last window cost' || return 1
    tm_keys Escape
    tm_wait_gone 'calls>' && tm_type x
    tm_wait 'nothing left on the node' && target_is_clean && bt_quit
}

tells_why_nothing_was_counted() {
    open_quick || return 1
    tm_type ':calls no_such_module:f/1'
    tm_keys Enter
    tm_wait 'before its first window' && tm_wait no_such_module && bt_quit
}

shows_an_error_in_its_place() {
    open_quick || return 1
    tm_type ':calls lists:map(X) -> return'
    tm_keys Enter
    tm_wait 'calls> lists:map(X) -> return' || return 1
    tm_keys Escape
    tm_wait_gone 'calls>' && bt_quit
}

sums_by_owner() {
    bt_open 120 40 || return 1
    tm_type W
    tm_wait ' Load ' && tm_wait shop && tm_wait 'the rest' || return 1
    tm_type b
    tm_wait 'by supervisor' && tm_wait shop_sup || return 1
    tm_type b
    tm_wait 'by module' && tm_wait shop_pricing || return 1
    tm_type ':by kind'
    tm_keys Enter
    tm_wait_gone ':by kind' && tm_wait 'by kind' && bt_quit
}

# From outside where the host lets us, else by the node; both show functions, until it is stopped.
samples() {
    bt_open 120 40 || return 1
    tm_type ':set sample-time 0'
    tm_keys Enter
    tm_type H
    tm_wait 'running, ' && tm_wait FUNCTION && tm_wait_line ':.*/[0-9].* erlang' || return 1
    tm_type b
    tm_wait 'WHAT IT CALLS' || return 1
    tm_type x
    tm_wait 'ended, ' || return 1
    tm_type 7
    tm_wait 'sampling ended' && target_is_clean && bt_quit
}

# Another user may not look into the VM: the screen says so, and the node does it.
is_sampled_for_strangers() {
    stranger='setpriv --reuid 65534 --regid 65534 --clear-groups'
    if [ "$(id -u)" != 0 ] || ! $stranger "$beamtop" --version >/dev/null 2>&1; then
        not_tried "only root can become another user who can run beamtop"
        return 0
    fi
    tm_close
    tm_open 120 40 BT="$beamtop" NODE="$BEAMTOP_DEMO_NODE" COOKIE="$BEAMTOP_DEMO_COOKIE_FILE" || return 1
    tm_run "clear; $stranger \"\$BT\" \"\$NODE\" --cookie \"\$(cat \"\$COOKIE\")\" --budget 100; echo code \$?"
    bt_wait_list || return 1
    tm_type H
    tm_wait 'at yield points' && tm_wait_line ':.*/[0-9].* erlang' || return 1
    tm_type 7
    tm_wait 'samples its busiest processes' && target_is_clean || return 1
    tm_keys Q
    tm_wait 'code 0'
}

run counts
run samples
run is_sampled_for_strangers
run measures_time_and_tells_the_proof_when_it_leaves
run traces_a_function
run completes_names_of_the_target
run shows_how_many_match
run tells_why_nothing_was_counted
run shows_an_error_in_its_place
run sums_by_owner
finish
