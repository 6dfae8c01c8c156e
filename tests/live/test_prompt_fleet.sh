#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The trace prompt on the screen of several real nodes: set on all of them or on those that are marked, one log
# with the node of each event, ended by hand and verified, one node that is lost, and nothing left after a kill.
# The load is fleet_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"

command -v tmux >/dev/null || skip_all "no tmux here"

all_order() {
    for dir in $dirs; do order "$1" || return 1; done
}

# A killed one leaves the cursor anywhere, so that a line may go on in the next one.
opens() {
    tm_open 160 40 &&
        tm_run "$beamtop $names --cookie-file $work/cookie --no-config --timeout 30; printf '\\r\\nended=%s\\r\\n' \$?" &&
        tm_wait_line "$count nodes +$count answering"
}

# traces LINE: at the prompt.
traces() {
    tm_keys t && tm_wait 'nodes>' && tm_type "$1" && tm_wait "$1" && tm_keys Enter
}

# A log without an end: what stops it is the case.
traces_long() {
    traces 'fleet_load:work/1 --events 10000 --rate 5000 --force --time 10m' &&
        tm_wait_line 'running.*function' && tm_wait_line '<0\.[0-9]+\.0>.*fleet_load:work'
}

quits() { tm_keys Q && tm_wait 'ended=0'; }

on_screen() {
    opens && "$@"
    shown=$?
    tm_close
    all_order rest
    [ "$shown" = 0 ] && all_clean
}

# As many events as were asked for, over all; those of one are found by its name.
has_one_log() {
    all_order work
    traces 'fleet_load:work/1 -> return --events 60 --rate 5000 --force --time 10m' &&
        tm_wait "$count of $count nodes: events" && tm_wait 'nothing left on any node' &&
        tm_wait_line ' 60 events' && tm_wait_line 'NODE.*PID.*NAME' || return 1
    tm_keys / && tm_type "${last%@*}" && tm_keys Enter && tm_wait_line 'of [0-9]+ matching' &&
        tm_has_line "${last%@*} +<0" && ! tm_has_line "${names%%@*} +<0" && tm_keys Escape && tm_wait_line ' 60 events' && quits
}

# The last one only: no line names another.
traces_marked() {
    all_order work
    tm_keys Down Down Down Space && tm_wait '1 marked' && tm_keys t && tm_wait 'trace 1 marked node>' &&
        tm_type 'fleet_load:work/1 --events 5 --rate 5000 --force' && tm_keys Enter &&
        tm_wait '1 of 1 nodes: events' && tm_wait_line ' 5 events' && tm_has_line "${last%@*} +ended.*verified" &&
        ! tm_has "${names%%@*} " && quits
}

is_stopped() {
    all_order work
    traces_long && tm_keys x && tm_wait "$count of $count nodes verified, nothing left" &&
        tm_wait_line 'ended +[0-9]+ of' && quits
}

# Caps that are changed in mid-trace are those that end it: each node gets its share of the events.
is_extended() {
    traces "fleet_load:work/1 --events $((count * 2)) --rate 5000 --force --time 10m" && tm_wait_line 'running.*function' &&
        tm_keys : && tm_type 'trace-set nonsense 1' && tm_keys Enter && tm_wait 'a trace has no cap' &&
        tm_keys : && tm_type 'trace-set events 1' && tm_keys Enter && tm_wait "1 events for $count nodes" &&
        tm_keys : && tm_type 'trace-extend' && tm_keys Enter && tm_wait "$count nodes may send as much again" &&
        tm_keys : && tm_type "trace-set events $((count * 10))" && tm_keys Enter &&
        tm_wait_line "events .* of $((count * 10)) " || return 1
    all_order work
    tm_wait "$count of $count nodes: events" && tm_wait_line " $((count * 10)) events" && quits
}

# From an event to its process on its node, and back; then only that process, and the parts of others end.
is_narrowed() {
    traces 'fleet_load:watch(_, _) --events 10000 --force --time 10m' && tm_wait_line '<0\.[0-9]+\.0>.*fleet_load:watch' &&
        tm_keys End u && tm_wait_line '^ Activity' && tm_keys Escape && tm_wait_line 'running.*function' && tm_keys End i &&
        tm_wait 'from now on only this process of' && wait_until "$tm_wait_s" one_runs && tm_keys x &&
        tm_wait "$count of $count nodes verified, nothing left" && quits
}
one_runs() { [ "$(tm_text | grep -cE '^ fleet_load[0-9]+x[0-9]+ +running')" = 1 ]; }

# The first k events anywhere end it everywhere.
ends_by_the_first() {
    all_order work
    traces 'fleet_load:work/1 --first 3 --rate 5000 --force --time 10m' && tm_wait 'nothing left on any node' &&
        tm_wait_line ' 3 events' && quits
}

# One cannot: it is asked whether the others are to be traced, and no sets nothing anywhere.
asks_for_the_rest() {
    end_last
    tm_wait_line "${last%@*}.* (lost|failed|connecting) " && traces 'fleet_load:ping/1 --time 10m' && tm_wait '(y/n)' &&
        tm_keys n && tm_wait 'stopped before it was set' && traces 'fleet_load:ping/1 --time 10m' && tm_wait '(y/n)' &&
        tm_keys y && tm_wait_line "${last%@*} +not traced" && tm_wait_line 'running.*function' && tm_keys x &&
        tm_wait 'verified, nothing left' && quits
    asked=$?
    start_last && [ "$asked" = 0 ]
}

# Tab asks a node that answers, when the one that was asked does not, or is lost. A stopped one may be lost, too.
completes_by_another() {
    [ "$count" -ge 2 ] || { not_tried "one release here"; return 0; }
    first=${names%%,*}
    tm_keys t && tm_wait 'nodes>' && tm_type 'lists:seq(_, _)' && tm_wait "on $first: " || return 1
    stopped=$(pgrep -f -- "-name $first " | head -n 1)
    kill -STOP "$stopped"
    tm_wait_line "${first%@*}.* (late|lost) " && tm_keys C-u && tm_type 'fleet_load:po' && tm_keys Tab && tm_wait 'fleet_load:pong'
    completed=$?
    kill -CONT "$stopped"
    [ "$completed" = 0 ] && tm_keys Escape && tm_wait_line "$count nodes +$count answering" && quits
}

# The part of one ends with it, the others go on until they are stopped.
loses_one() {
    traces 'fleet_load:ping/1 --time 10m' && tm_wait_line 'running.*function' && end_last && tm_wait_line "${last%@*} +ended.*NOT VERIFIED" && tm_wait_line 'running.*function' &&
        tm_keys x && tm_wait "not verified: $last" && quits
    lost=$?
    start_last && [ "$lost" = 0 ]
}

a_kill_leaves_nothing() {
    all_order work
    traces_long || return 1
    kill -9 "$(pgrep -f -- "^$beamtop $names ")"
    tm_wait 'ended=137'
}

for case in has_one_log traces_marked is_stopped is_extended is_narrowed ends_by_the_first asks_for_the_rest completes_by_another loses_one a_kill_leaves_nothing; do
    eval "shows_$case() { on_screen $case; }"
done

run_on_several shows_has_one_log shows_traces_marked shows_is_stopped shows_is_extended shows_is_narrowed shows_ends_by_the_first shows_asks_for_the_rest \
    shows_completes_by_another shows_loses_one shows_a_kill_leaves_nothing
