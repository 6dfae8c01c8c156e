#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The trace prompt: what it shows as you type, a trace from Enter to the proof, the ways out.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

never='shop_pricing:start_link/0 --time 300s' # nobody calls it any more

# Asks the node itself, by other means than ours: breakpoints, flags, the control word, holders.
target_is_clean() {
    bt_ask '
        Points = [F || F <- [{timer,sleep,1}, {shop_pricing,start_link,0}, {lists,keyfind,3},
                             {shop,burn,2}],
                       Ask(erlang, trace_info, [F, all]) =/= {all, false}],
        Flags = [P || P <- Ask(erlang, processes, []),
                      Ask(erlang, trace_info, [P, flags]) =/= {flags, []}],
        Word = Ask(erlang, system_info, [trace_control_word]),
        io:format("~p ~p ~p~n", [Points, [P || P <- Flags, Ask(erlang, is_process_alive, [P])], Word])
    ' >"$work/clean"
    grep -qxF '[] [] 0' "$work/clean" || {
        cat "$work/clean"
        return 1
    }
}

# trace_is STATE: waits for the line of the trace's state, with what follows in it. The bare words
# stand elsewhere, too: processes of the list are running or suspended.
trace_is() { tm_wait_line "^ *$1( |\$)"; }

# prompt_with TEXT: the prompt, with that typed into it.
prompt_with() {
    tm_type t
    tm_wait 'trace>' && tm_type "$1"
}

shows_the_log() {
    tm_type 7
    tm_wait 'WHAT BEAMTOP DID'
}

has_calls() { [ "$(grep -cs '"kind": *"call"' "$2")" = "$1" ]; }

traces() {
    bt_open 120 40 && prompt_with 'timer:sleep/1 -> return --events 3' || return 1
    tm_wait '1 function: timer:sleep/1' && tm_wait 'calls of timer:sleep/1' &&
        tm_wait 'C-o: match specification' && tm_has_not get_tcw || return 1
    tm_keys C-o
    tm_wait get_tcw && tm_wait 'calls of timer:sleep/1' || return 1
    tm_keys Enter
    trace_is 'ended   events: 3 of 3' || return 1
    tm_type ":trace-save $work/saved.json"
    tm_keys Enter
    wait_until 30 has_calls 3 "$work/saved.json" || {
        cat "$work/saved.json"
        return 1
    }
    shows_the_log && tm_wait 'trace started: 1 function' && tm_wait 'events: 3 of 3' &&
        tm_wait 'nothing left on the node' && target_is_clean && bt_quit
}

# An error stands out: its style begins in bold.
is_marked() { tm_ansi | grep -q "$(printf '\033')\\[1m[^ ]*m$1"; }
is_not_marked() { tm_has "$1" && ! is_marked "$1"; }

lists_what_may_follow_and_marks_errors() {
    bt_open 120 40 && prompt_with 'timer:' && tm_wait_line '^apply_after  .*  cancel ' || return 1
    tm_wait 'expected a function' && is_not_marked 'expected a function' || return 1
    tm_type 'slee'
    tm_wait_line '^sleep$' || return 1
    tm_type 'p(_'
    tm_wait 'expected' && is_not_marked expected || return 1
    tm_keys Enter
    wait_until 30 is_marked expected || return 1
    tm_type ') -> retrun, caller' # marked when typing stops
    wait_until 30 is_marked 'there is no action retrun' && tm_wait 'did you mean return?' || return 1
    tm_keys Enter
    tm_wait 'trace> timer:sleep(_) -> retrun' && tm_has_not 'trace> timer:sleep(_) -> return' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' && shows_the_log && tm_has_not 'trace started' && bt_quit
}

# Before Enter that nothing can match it; after it what may have been meant, too.
says_why_nothing_matches() {
    bt_open 120 40 && prompt_with 'timer:slep/1' && tm_wait 'did you mean timer:sleep/1' || return 1
    tm_keys Enter
    tm_wait '── Trace' && tm_wait 'trace> timer:slep/1' && tm_wait 'did you mean timer:sleep/1' || return 1
    tm_keys BSpace BSpace BSpace
    tm_type 'ep(infinty)'
    tm_wait 'does not know the atom infinty, so nothing there can match it' || return 1
    tm_keys Enter
    tm_wait 'can match it; did you mean infinity?' || return 1
    tm_keys BSpace BSpace BSpace
    tm_type 'ity) --procs rx'
    tm_wait 'no process is registered as rx; did you mean rex?' || return 1
    tm_keys BSpace
    tm_type 'e'
    tm_keys Tab
    tm_wait '1 function' && tm_wait 'trace> timer:sleep(infinity) --procs rex' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' && shows_the_log && tm_wait 'nothing was traced' && target_is_clean && bt_quit
}

# What is quoted stays with this run, wherever it was typed.
writes_no_values() {
    bt_open 120 40 && prompt_with 'timer:sleep("sesame") --time 200ms' || return 1
    tm_keys Enter
    trace_is 'ended   time: 200 ms' || return 1
    tm_type /
    tm_type sesame
    tm_keys Enter
    tm_type :
    tm_type 'trace timer:sleep(<<"sesame">>) --time 300ms'
    tm_keys Enter
    trace_is 'ended   time: 300 ms' && bt_quit || return 1
    ! grep -r sesame "$work/.local/state/beamtop"
}

begins_one_that_stays() {
    bt_open 120 40 && prompt_with "$never" && tm_wait '1 function' || return 1
    tm_keys Enter
    tm_wait_gone 'trace>' && shows_the_log && tm_wait 'trace started'
}

leaves_a_trace() {
    tm_type Q
    tm_wait 'Stop it and quit' || return 1
    tm_type y
    bt_is_left 'the trace was ended; verified after' 'the node clears what is left with the connection'
}

stays_when_asked() {
    begins_one_that_stays || return 1
    tm_type Q
    tm_wait 'Stop it and quit' || return 1
    tm_type n
    tm_wait_gone 'Stop it and quit' && tm_wait 'trace started'
}

asks_before_it_leaves_a_trace() { bt_is_told stays_when_asked leaves_a_trace; }

ends_one_for_the_next() {
    begins_one_that_stays && prompt_with 'timer:sleep/1 --events 2' || return 1
    tm_keys Enter
    tm_wait 'Stop it and start this one' || return 1
    tm_type y
    tm_wait 'timer:sleep(' && shows_the_log && tm_wait 'trace ended: stopped' &&
        tm_wait 'events: 2 of 2' && target_is_clean && bt_quit
}

ends_when_told_and_begins_again() {
    bt_open 80 24 && prompt_with "$never" && tm_wait '1 function' || return 1
    tm_keys Enter
    trace_is running || return 1
    tm_type x
    trace_is ended || return 1
    tm_type A
    trace_is running || return 1
    tm_type p
    trace_is paused || return 1
    tm_type e
    tm_wait_line 'until .* 100 events' || return 1
    tm_type x
    trace_is ended && shows_the_log && tm_wait 'nothing left on the node' && target_is_clean && bt_quit
}

ends_from_what_is_armed() {
    bt_open 120 40 && prompt_with "$never" && tm_wait '1 function' || return 1
    tm_keys Enter
    trace_is running || return 1
    tm_type a
    tm_wait 'OWNER' && tm_wait ' self ' && tm_wait 'shop_pricing:start_link/0' || return 1
    tm_type x
    shows_the_log && tm_wait 'trace ended: stopped' && tm_wait 'nothing left on the node' || return 1
    target_is_clean || return 1
    tm_type a
    tm_wait 'No active tracing' || return 1
    tm_type x
    tm_wait 'this beamtop has set nothing' && bt_quit
}

tells_whose_trace_it_is() {
    "$beamtop" trace "$BEAMTOP_DEMO_NODE" "${never%% *}" --time 300s \
        --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" >"$work/other" 2>&1 &
    other=$!
    sees_another
    rc=$?
    kill -TERM "$other"
    wait "$other"
    [ "$rc" -eq 0 ] && bt_quit && target_is_clean
}

sees_another() {
    bt_open 120 40 || return 1
    tm_type a
    tm_wait trace_control_word && tm_has ' beamtop ' && tm_has_not ' self ' || return 1
    tm_type x
    tm_wait 'another beamtop is connected' || return 1
    tm_keys Down
    tm_type x
    tm_wait 'beamtop clears only its own' && is_running "$other"
}

survives_being_suspended() {
    bt_open 120 40 && prompt_with "$never" && tm_wait '1 function' || return 1
    tm_keys Enter
    trace_is running || return 1
    tm_keys C-z
    tm_wait 'ready>' || return 1
    tm_run 'fg; echo code $?'
    trace_is running || return 1
    tm_type x
    trace_is ended && target_is_clean && bt_quit
}

# As when its window is closed, or the connection of ssh is lost.
leaves_nothing_when_the_terminal_vanishes() {
    bt_open 120 40 && prompt_with "$never" && tm_wait '1 function' || return 1
    tm_keys Enter
    trace_is running || return 1
    pid=$(tm_pid beamtop)
    tm_close
    wait_until 30 has_ended "$pid" && wait_until 30 target_is_clean
}

asks_to_overwrite() {
    tm_type ":trace-save $work/kept.txt"
    tm_keys Enter
    tm_wait 'Overwrite it?'
}

does_not_write_over_a_file_and_remembers_lines_of_the_node() {
    bt_open 120 40 && prompt_with 'timer:sleep/1 --events 1' || return 1
    tm_keys Enter
    trace_is 'ended   events: 1 of 1' || return 1
    echo mine >"$work/kept.txt"
    asks_to_overwrite || return 1
    tm_type n
    tm_wait_gone 'Overwrite it?' && grep -q mine "$work/kept.txt" && asks_to_overwrite || return 1
    tm_type y
    wait_until 30 grep -q timer:sleep "$work/kept.txt" && bt_quit && bt_open 120 40 || return 1
    tm_type t
    tm_wait 'trace>' || return 1
    tm_keys Up
    tm_wait 'trace> timer:sleep/1 --events 1' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' || return 1
    tm_type L
    tm_wait 'typed before' && tm_wait 'GenServer calls' || return 1
    tm_keys Enter
    tm_wait 'trace> timer:sleep/1 --events 1' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' && bt_quit &&
        grep -qxF 'timer:sleep/1 --events 1' "$work/.local/state/beamtop/traces/$BEAMTOP_DEMO_NODE"
}

begins_with_what_is_under_the_cursor() {
    bt_open 120 40 && tm_keys g && tm_type T && tm_wait 'messages it receives' && tm_wait 'its callers' ||
        return 1
    tm_keys End Enter
    tm_wait "trace> receive({'\$gen_call', _, _}) --procs <0." || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' && bt_quit
}

# The words that go on from the cursor stand in the hint; once Tab lists them, only in the list.
lists_what_completes_once() {
    bt_open 120 40 || return 1
    tm_type t
    tm_wait 'trace>' || return 1
    tm_type erlang:
    tm_wait "'++'" || return 1
    tm_keys Tab
    tm_wait 'words fit: type more' || return 1
    [ "$(tm_text | grep -oF "'++'" | wc -l)" = 1 ] || {
        tm_text
        return 1
    }
    tm_keys Escape
    tm_wait_gone 'trace>' && bt_quit
}

# Those of the stack of one process: a line of it is chosen like a row.
traces_a_function_of_a_stack() {
    bt_open 120 40 -- --filter "'^shop_pricing\$'" || return 1
    tm_wait_gone shop_order && tm_wait_line '> +shop_pricing ' || return 1
    tm_keys g Enter
    tm_wait_line '^── Process ' && tm_wait 'shop_pricing:' || return 1
    tm_keys Down
    tm_type T
    tm_wait_line 'trace> .*:.*/[0-9]+ -> return --procs <0' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' && bt_quit
}

# A process on the target that calls shop:burn/2 all the time, until it is killed.
begins_to_burn() {
    bt_ask 'P = Ask(erlang, spawn, [shop, burn, [1 bsl 58]]), io:format("~s", [Ask(erlang, pid_to_list, [P])])' \
        >"$work/burns" && grep -qx '<[0-9.]*>' "$work/burns"
}

ends_to_burn() { bt_ask "Ask(erlang, exit, [Ask(erlang, list_to_pid, [\"$(cat "$work/burns")\"]), kill])"; }

asks_before_what_is_expensive() {
    begins_to_burn && asks_before_it_traces_what_burns
    rc=$?
    ends_to_burn && [ "$rc" -eq 0 ]
}

asks_before_it_traces_what_burns() {
    bt_open 120 40 && prompt_with 'shop:burn/2 --events 5' && tm_wait '1 function' || return 1
    tm_keys Enter
    tm_wait 'Trace anyway?' || return 1
    tm_type n
    tm_wait_gone 'anyway?' && shows_the_log && tm_wait 'stopped before it was set' || return 1
    tm_type :trace-again
    tm_keys Enter
    tm_wait 'Trace anyway?' || return 1
    tm_type y
    tm_wait_gone 'anyway?' && shows_the_log && tm_wait 'events: 5 of 5' &&
        tm_wait 'nothing left on the node' && target_is_clean && bt_quit
}

keeps_its_log_when_the_link_is_lost() {
    bt_open 120 40 && prompt_with 'timer:sleep/1 --time 600s --events 10000 --rate 5' || return 1
    tm_wait '1 function' || return 1
    tm_keys Enter
    tm_wait 'timer:sleep(' || return 1
    "$BEAMTOP_SRCDIR/demo/run.sh" stop && tm_wait_gone '● live' && tm_wait 'timer:sleep(' || return 1
    prompt_with 'timer:sleep/1' && tm_keys Enter && tm_wait 'not connected' || return 1
    tm_keys Escape
    tm_wait_gone 'trace>' || return 1
    "$BEAMTOP_SRCDIR/demo/run.sh" start >"$work/env" && . "$work/env" || return 1
    tm_wait '● live' && shows_the_log && tm_wait 'trace ended: connection lost' || return 1
    prompt_with 'timer:sleep/1 --events 2' && tm_wait '1 function' || return 1
    tm_keys Enter
    tm_wait 'timer:sleep(' && shows_the_log && tm_wait 'events: 2 of 2' &&
        tm_wait 'nothing left on the node' && bt_quit
}

# in_backquotes FILE BEGINNING: the words between backquotes that begin like that.
in_backquotes() {
    tr '`' '\n' <"$BEAMTOP_SRCDIR/$1" | grep -m 1 "^$2"
}

# What README.md and docs/tour.md tell you to type, on the demo.
does_what_the_readme_says() {
    trace=$(in_backquotes README.md "shop_web:serve(_) ->") || return 1
    spans=$(in_backquotes docs/tour.md 'shop_audit:event/1 ') || return 1
    bt_open 120 40 && prompt_with "$trace" && tm_wait '1 function' || return 1
    tm_keys Enter
    tm_wait_line 'shop_web:serve\([0-9]+\) +-> ok' && tm_wait 'events: 100 of 100' && trace_is ended &&
        tm_wait 'nothing left on the node' || return 1
    tm_type Y
    tm_wait 'spans>' && tm_type "$spans" || return 1
    tm_keys Enter
    tm_wait_line 'shop_audit:event/1 .* ok .*logger_std_h_shop_audit' && bt_quit
}

run traces
run lists_what_may_follow_and_marks_errors
run says_why_nothing_matches
run asks_before_it_leaves_a_trace
run ends_one_for_the_next
run ends_when_told_and_begins_again
run ends_from_what_is_armed
run tells_whose_trace_it_is
run survives_being_suspended
run leaves_nothing_when_the_terminal_vanishes
run does_not_write_over_a_file_and_remembers_lines_of_the_node
run writes_no_values
run begins_with_what_is_under_the_cursor
run traces_a_function_of_a_stack
run lists_what_completes_once
run asks_before_what_is_expensive
# On OTP 25 its tokens stay.
run does_what_the_readme_says
run keeps_its_log_when_the_link_is_lost
finish
