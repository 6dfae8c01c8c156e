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

title_says() { tm_text | grep -q 'Findings ─' && tm_text | grep -qE "$1"; }

wait_title() { # EXPRESSION COMMAND
    wait_until 45 title_says "$1" || {
        echo "no '$1' on:"
        tm_text
        return 1
    }
    [ -z "${2:-}" ] || { tm_type ":$2" && tm_keys Enter; }
}

# Ticks that were dropped at a long interval are not looked for at a short one.
tells_its_span_when_the_interval_changes() {
    bt_start 120 45 -- --interval 0.25 --budget 25 --view findings && tm_wait 'live' || return 1
    wait_title ' s, [4-9][0-9] ticks' 'set interval 10' &&
        wait_title ' [2-5][0-9] s, [4-9][0-9] ticks' 'set interval 0.5' &&
        wait_title ' ([4-9][0-9] s|00:01:[0-9]+), ([7-9][0-9]|1[0-9][0-9]) ticks' && bt_quit
}

run start
run finds_with_a_list_by_memory
run finds_behind_a_filter
run finds_without_a_list
run tells_its_span_when_the_interval_changes
finish
