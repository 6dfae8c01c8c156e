#!/bin/sh
# Findings on the screen are of the node, not of what the view shows: an idle process whose mailbox
# grows is found where the list is ranked by something else, filtered, or not there at all. The load is
# tests/live/findings_load.erl; the log tells what looking costs.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null 2>&1 || skip_all "no tmux here"
otp=25
load=findings_load
live=$BEAMTOP_SRCDIR/tests/live

# releases.sh finds otp.sh and the load beside the live tests.
. "$live/releases.sh"
trap 'tm_close; stop_all' EXIT
trap 'exit 130' HUP INT TERM PIPE

start() {
    epmd -port "$ERL_EPMD_PORT" >/dev/null 2>&1 &
    epmd_pid=$!
    start_node "$otp" || return 1
    BEAMTOP_DEMO_NODE=$node
    BEAMTOP_DEMO_COOKIE_FILE=$work/cookie
}

open_view() {
    bt_start 120 45 -- --interval 0.5s "$@" && tm_wait 'live' || return 1
}

# Two judgements come ten seconds apart.
finds_the_mailbox() {
    tm_wait_s=30
    tm_type f
    tm_wait 'The mailbox of findings_idle grows' || return 1
    tm_wait_s=15
}

finds_with_a_list_by_memory() {
    open_view --sort memory_bytes && finds_the_mailbox && tm_wait 'refer to' && bt_quit
}

finds_behind_a_filter() {
    open_view --filter logger && tm_wait 'matching' && tm_wait_gone findings_idle || return 1
    finds_the_mailbox || return 1
    tm_type 1
    tm_wait 'matching' && tm_wait_gone 'findings_idle   ' && bt_quit
}

finds_without_a_list() {
    open_view --view schedulers && finds_the_mailbox || return 1
    tm_type 7
    tm_wait 'looked for the longest mailboxes' && bt_quit
}

run start
run finds_with_a_list_by_memory
run finds_behind_a_filter
run finds_without_a_list
finish
