#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The connection to the target as the user sees it: silence, loss, coming back, net ticks, and what
# is left on the target afterwards.
# shellcheck disable=SC1091,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"

demo=$BEAMTOP_SRCDIR/demo/run.sh
net_tick_s=6        # of the target after its restart: it gives a silent peer up after 7.5 s at most
at_once_s=2         # until a key shows, on a busy machine at one of a few times
[ "${BEAMTOP_CHECK:-}" = all ] || at_once_s=60
storm_s=10

bt_setup
command -v erl >/dev/null 2>&1 || skip_all "no erl here"

# has_us: the keeper and perhaps its helpers, over one connection. is_clean: nothing.
has_us() { bt_target_says | grep -qE "^nodes 1 ours [1-9][0-9]* net_ticktime $net_tick_s\$"; }
is_clean() { bt_target_says | grep -qxF "nodes 0 ours 0 net_ticktime $net_tick_s"; }

# or_show COMMAND…: the screen when it fails.
or_show() {
    "$@" || {
        echo "not so: $*"
        tm_text
        return 1
    }
}

wait_live() {
    tm_wait '● live' && tm_wait_gone stale && tm_wait_gone '× lost' && tm_wait_gone '◌ no answer'
}

# By a clock that nobody sets.
uptime_s() { cut -d. -f1 /proc/uptime; }

# holds_for SECONDS COMMAND…: looks again and again, and fails at the first time that it does not hold.
holds_for() {
    holds_until=$(($(uptime_s) + $1))
    shift
    while [ "$(uptime_s)" -lt "$holds_until" ]; do
        or_show "$@" || return 1
        sleep 0.1
    done
}

# shows_at_once TEXT: it is there within a moment; says so in $late, and then waits for it.
shows_at_once() {
    wait_until "$at_once_s" tm_has "$1" || {
        late="$1"
        tm_wait "$1"
    }
}

# reacts: opens and closes the help: each time it comes while the node is silent, or the storm lasts.
# With BEAMTOP_CHECK=all also within a moment, which may take a few times on a machine that gives us no
# core for a while.
reacts() {
    for try in 1 2 3 4 5 6; do
        late=
        tm_type '?'
        shows_at_once 'every action can be typed' || return 1
        tm_keys Escape
        wait_until "$at_once_s" tm_has_not 'every action can be typed' || late='the list'
        tm_wait_gone 'every action can be typed' || return 1
        [ -n "$late" ] || return 0
    done
    echo "'$late' comes late, at each of $try times"
    return 1
}

open_log() {
    tm_type 7
    or_show wait_until 30 title_is Log
}

title_is() { tm_text | grep -q "^── $1"; }
count_of() { tm_text | grep -cF -e "$1"; }
were_at_least() { [ "$(count_of "$1")" -ge "$2" ]; }
is_as_many() { [ "$(count_of "$1")" -eq "$2" ]; }

# ---- the target stops and goes on

says_that_the_target_does_not_answer_and_takes_keys() {
    bt_open 120 40 && wait_live || return 1
    kill -STOP "$BEAMTOP_DEMO_PID"
    stopped_and_used
    rc=$?
    kill -CONT "$BEAMTOP_DEMO_PID"
    return "$rc"
}

stopped_and_used() {
    tm_wait '◌ no answer' && tm_wait stale && tm_wait shop_pricing && reacts || return 1
    tm_type '/'
    tm_type 'typed_while_silent'
    tm_wait typed_while_silent || return 1
    tm_keys Escape
    tm_wait_gone typed_while_silent && or_show tm_has '◌ no answer'
}

is_live_again_when_the_target_goes_on() {
    wait_live && tm_wait shop_pricing && open_log || return 1
    or_show wait_until 30 is_as_many 'connected to' 1 && or_show tm_has_not 'next try in' && bt_quit
}

# ---- the target is killed and started again

says_that_the_target_is_lost_and_when_it_tries_again() {
    bt_open 160 60 && wait_live || return 1
    kill -KILL "$BEAMTOP_DEMO_PID"
    tm_wait '× lost' && tm_wait 'next try in' && tm_wait stale &&
        tm_wait shop_pricing && or_show tm_has_not '● live' && reacts
}

is_live_again_when_the_target_is_back() {
    lost_pid=$BEAMTOP_DEMO_PID
    "$demo" start -kernel net_ticktime "$net_tick_s" >"$work/env" && . "$work/env" || return 1
    [ "$BEAMTOP_DEMO_PID" != "$lost_pid" ] && wait_live && tm_wait shop_pricing
}

tells_loss_and_return_in_the_log() {
    open_log && tm_wait 'next try in' || return 1
    or_show wait_until 30 is_as_many 'asked once what the node is' 2 && or_show were_at_least 'connected to' 2 && bt_quit
}

# ---- net ticks

# While paused nothing is asked: answers to the target's ticks are all that it hears of us. And far more
# keys come than anybody types, for longer than the target waits.
stays_connected_while_nothing_is_asked_in_a_storm_of_keys() {
    bt_open 120 40 && wait_live || return 1
    wait_until 30 has_us || {
        cat "$work/target"
        return 1
    }
    tm_type p
    tm_wait paused && holds_for "$storm_s" storm && tm_wait paused && reacts || return 1
    tm_type p
    wait_live && open_log || return 1
    or_show wait_until 30 is_as_many 'connected to' 1 && or_show tm_has_not 'next try in'
}

storm() {
    tm send-keys -N 40 Down && tm send-keys -N 40 Up && tm_has paused
}

# ---- afterwards

leaves_nothing_on_the_target() {
    bt_quit || return 1
    wait_until 30 is_clean || {
        cat "$work/target"
        return 1
    }
}

run says_that_the_target_does_not_answer_and_takes_keys
run is_live_again_when_the_target_goes_on
run says_that_the_target_is_lost_and_when_it_tries_again
run is_live_again_when_the_target_is_back
run tells_loss_and_return_in_the_log
run stays_connected_while_nothing_is_asked_in_a_storm_of_keys
run leaves_nothing_on_the_target
finish
