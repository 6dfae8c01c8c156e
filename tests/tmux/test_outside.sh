#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A VM of this host that does not answer, on the screen: what holds it stands in the header and in the view
# `outside`, which opens by itself where nothing can be connected to.
# shellcheck disable=SC1091,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"

bt_setup
command -v erl >/dev/null 2>&1 || skip_all "no erl here"

# while_stopped COMMAND…: of the node, which goes on afterwards.
while_stopped() {
    kill -STOP "$BEAMTOP_DEMO_PID"
    "$@"
    rc=$?
    kill -CONT "$BEAMTOP_DEMO_PID"
    return "$rc"
}

says_in_the_header_what_holds_a_silent_node() {
    bt_open 160 40 && tm_wait '● live' && while_stopped header_says && tm_wait 'the node answers again' &&
        tm_wait '● live' && tm_wait_gone 'stopped by a signal'
}
header_says() { tm_wait '◌ no answer' && tm_wait_line '^ .*◌ no answer.*stopped by a signal'; }

shows_the_node_on_request() {
    tm_run ':outside' && tm_wait_line "^ *OS process +$BEAMTOP_DEMO_PID" &&
        tm_wait_line '^ *crash dump +none is being written' &&
        tm_wait_line '^ *scheduler 1 ' && tm_wait 'the VM is not asked' || return 1
    tm_keys Escape
    tm_wait shop_pricing && bt_quit
}

opens_the_view_where_the_connection_fails() {
    while_stopped opens_view && tm_wait_gone 'stopped by a signal' && bt_quit
}
opens_view() {
    bt_start 160 40 -- --timeout 1 && tm_wait '── Outside' && tm_wait_line '^ *state +stopped by a signal' &&
        tm_wait "kill -CONT $BEAMTOP_DEMO_PID" && tm_wait_line '^ *connection +.*does not answer'
}

shows_a_vm_without_distribution() {
    erl -noinput -eval 'timer:sleep(600000), halt().' >/dev/null 2>&1 &
    plain=$!
    bt_open 160 40 && wait_until 60 shows_plain
    rc=$?
    kill -9 "$plain"
    wait "$plain" 2>/dev/null
    [ "$rc" = 0 ] && tm_wait "ended: there is no OS process $plain" && bt_quit
}
# Until it is the VM, no such VM is there.
shows_plain() {
    tm_run ":outside $plain" && tm_wait_line "OS process +$plain|process $plain is not a BEAM VM" &&
        tm_wait_line "^ *OS process +$plain" && tm_wait 'nothing: no node can connect'
}

run says_in_the_header_what_holds_a_silent_node
run shows_the_node_on_request
run opens_the_view_where_the_connection_fails
run shows_a_vm_without_distribution
finish
