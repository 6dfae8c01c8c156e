#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Causal spans from their prompt to the check, the tree of a request, and what excludes them.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

request='shop_web:serve/1'

# No system tracer, no breakpoint, no flag, and the control word is 0.
target_is_clean() {
    bt_ask '
        Flags = [P || P <- Ask(erlang, processes, []),
                      Ask(erlang, trace_info, [P, flags]) =/= {flags, []}],
        io:format("~p ~p ~p ~p~n",
                  [Ask(seq_trace, get_system_tracer, []),
                   Ask(erlang, trace_info, [{shop_web,serve,1}, all]),
                   [P || P <- Flags, Ask(erlang, is_process_alive, [P])],
                   Ask(erlang, system_info, [trace_control_word])])
    ' >"$work/clean"
    grep -qxF 'false {all,false} [] 0' "$work/clean" || {
        cat "$work/clean"
        return 1
    }
}

# agreeing_until COMMAND…: answers yes to what is asked before.
agreeing_until() {
    wait_until "$tm_wait_s" asked_or "$@" || {
        tm_text
        return 1
    }
    ! "$@" || return 0
    tm_type y
    tm_wait_gone 'Capture anyway? (y/n)' && agreeing_until "$@"
}
asked_or() { "$@" || tm_has 'Capture anyway? (y/n)'; }

captures() {
    bt_open 120 40 || return 1
    tm_type ':view spans'
    tm_keys Enter
    tm_wait 'Press Y to choose' || return 1
    tm_type Y
    tm_wait 'spans>' && tm_type shop_we || return 1
    tm_keys Tab
    tm_wait 'spans> shop_web:' && tm_type ser || return 1
    tm_keys Tab
    tm_wait 'spans> shop_web:serve' && tm_type '/1 --roots 3 --ti' || return 1
    tm_keys Tab
    tm_wait 'roots 3 --time' && tm_type '20s' && tm_wait '1 function' || return 1
    tm_keys Enter
    agreeing_until tm_has 'nothing left on the node' && tm_wait '3 of 3 requests' || return 1
    tm_keys Enter
    tm_wait 'OUTCOME' && tm_wait_line '^.shop_web:serve/1 .* root ' || return 1
    tm_type J
    tm_wait_line 'shop_web:serve/1  .*shop_web.erl:[0-9]+|cannot be read' || return 1
    tm_type T
    tm_wait 'trace> shop_web:serve/1 -> return' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' || return 1
    tm_type ':by parts'
    tm_keys Enter
    tm_wait SLOWEST || return 1
    tm_type '*' # raw waits, in the tree
    tm_wait_line '^.shop_web:serve/1 .* root ' && target_is_clean && bt_quit
}

asks_before_full_mode() {
    bt_open 120 40 || return 1
    tm_type ":spans $request --roots 2 --time 20s --full"
    tm_keys Enter
    tm_wait 'senders wait for long BIFs' || return 1
    tm_type n
    tm_wait_gone 'Capture anyway? (y/n)' && tm_has_not 'requests' || return 1
    tm_type ":spans $request --roots 2 --time 20s --full"
    tm_keys Enter
    tm_wait 'senders wait for long BIFs' || return 1
    agreeing_until tm_has 'nothing left on the node' && tm_wait 'full: CPU' &&
        target_is_clean && bt_quit
}

# What nobody calls any more waits until it is stopped; a trace ends it first.
makes_room_for_a_trace() {
    bt_open 120 40 || return 1
    tm_type ':spans shop_pricing:start_link/0 --time 300s'
    tm_keys Enter
    agreeing_until tm_has 'No call of shop_pricing:start_link/0 yet' || return 1
    tm_type ':trace timer:sleep/1 --events 1 --time 20s'
    tm_keys Enter
    wait_until "$tm_wait_s" tm_has_line '^ *ended   events: 1 of 1' || {
        tm_text
        return 1
    }
    target_is_clean && bt_quit
}

stops_when_it_leaves() {
    bt_open 120 40 || return 1
    tm_type ':spans shop_pricing:start_link/0 --time 300s'
    tm_keys Enter
    agreeing_until tm_has 'No call of shop_pricing:start_link/0 yet' || return 1
    tm_keys Q
    bt_is_left 'nothing left on the node' 'the node clears what is left with the connection'
}

# Whatever had been set by then: it says what it left, and that nothing was set when nothing was.
stops_before_it_is_set() {
    for pause in 0 0.05; do
        bt_open 120 40 || return 1
        tm_type ':spans shop_pricing:start_link/0 --time 300s --force'
        tm_keys Enter
        sleep "$pause"
        tm_keys Q
        tm_wait 'code 0' && wait_until 30 target_is_clean || return 1
        { ! tm_has 'requests captured;' || tm_has 'nothing left on the node'; } && continue
        tm_text
        return 1
    done
}

for test in captures asks_before_full_mode makes_room_for_a_trace \
    stops_when_it_leaves stops_before_it_is_set; do
    run "$test"
done
finish
