#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The screen over a recording, in a real terminal: it plays, stands still, steps, goes to a moment and
# from mark to mark, changes its pace, sorts and filters what was recorded, and says what was not.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
. "$BEAMTOP_SRCDIR/tests/record.sh"

command -v tmux >/dev/null 2>&1 || skip_all "there is no tmux"
demo=$BEAMTOP_SRCDIR/demo/run.sh
BEAMTOP_DEMO_APP=gateway
BEAMTOP_DEMO_DIR=$work/demo
export BEAMTOP_DEMO_APP BEAMTOP_DEMO_DIR
trap 'tm_close; "$demo" stop >/dev/null 2>&1; rm -rf "$work"' EXIT
start_demo

ticks_pass() { wait_until 60 record_has ticks "$(($(record_number ticks) + 5))"; }

# Marks stand some ticks behind the first one, before the last one, and away from each other.
marks() {
    wait_until 60 record_has ticks 4 && record_of mark "deploy 2" && ticks_pass && record_of mark cold &&
        ticks_pass && wait_until 60 record_has windows 3
}

# The node is gone when its recording is looked at.
records() {
    record_of "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" \
        -o "$work/a.btr" -i 0.25 -b 100 --for 120s --calls ets --window 0.5s --every 1s &
    recorder=$!
    marks
    marked=$?
    record_of stop
    wait "$recorder" && [ "$marked" -eq 0 ] && "$demo" stop
}

plays_a_recording() {
    tm_open 120 30 || return 1
    tm_run "'$beamtop' replay '$work/a.btr' --no-config -i 60"
    tm_wait ' Logger ' && tm_wait 'a recording of gateway@127.0.0.1' && tm_wait '▶ replay' &&
        tm_wait 'tick 2/'
}

command_line() {
    tm_type ":$1"
    tm_keys Enter
}

seeks_and_steps() {
    command_line 'seek #5'
    tm_wait 'tick 5/' || return 1
    tm_type p
    tm_wait '‖ replay' || return 1
    tm_type .
    tm_wait 'tick 6/' || return 1
    tm_type ,
    tm_wait 'tick 5/' || return 1
    command_line 'seek nowhere'
    tm_wait 'no time, mark or' || return 1
    command_line 'seek +1h'
    tm_wait 'the end' || return 1
    tm_type .
    tm_wait 'that is the end of the recording'
}

goes_from_mark_to_mark() {
    command_line 'seek #1'
    tm_wait 'tick 1/' || return 1
    tm_type ']'
    tm_wait 'mark deploy 2' || return 1
    tm_type ']'
    tm_wait 'mark cold' || return 1
    tm_type ']'
    tm_wait 'there is no mark after this tick' || return 1
    tm_type '['
    tm_wait 'mark deploy 2' || return 1
    command_line 'seek cold'
    tm_wait 'mark cold'
}

changes_its_pace() {
    command_line 'speed 50'
    tm_wait 'speed 50' && tm_wait '50×' || return 1
    tm_type -
    tm_wait '100×' || return 1
    tm_type +
    tm_wait '50×' || return 1
    command_line 'speed fast'
    tm_wait 'invalid speed' || return 1
    command_line 'seek #1'
    tm_type p
    tm_wait 'the end'
}

# Which of those that did nothing are on the screen is not known.
has_others() { tm_text | grep '<0\.' | grep -qv gateway; }
has_none_but_the_gateways() { tm_text | grep -q '<0\..*gateway' && ! has_others; }

shows_rows() {
    wait_until "$tm_wait_s" "$1" || {
        echo "not so: $1"
        tm_text
        return 1
    }
}

sorts_and_filters_the_rows_recorded() {
    command_line 'sort memory_bytes'
    tm_wait 'by memory of the' || return 1
    command_line 'filter app=gateway'
    tm_wait 'recorded' && tm_wait 'matching' && shows_rows has_none_but_the_gateways || return 1
    command_line 'sort links'
    tm_wait 'links: not recorded' || return 1
    command_line 'sort reductions_per_s'
    tm_keys Escape
    shows_rows has_others
}

shows_owners_calls_and_findings() {
    command_line 'view owners'
    tm_wait ' Load ' && tm_wait 'gateway' || return 1
    command_line 'view calls'
    tm_wait 'ets:' && tm_wait 'recorded, window' || return 1
    command_line 'view findings'
    tm_wait 'logger' || return 1
    command_line 'view top'
}

says_what_was_not_recorded() {
    tm_wait ' Logger ' || return 1
    tm_keys Enter
    tm_wait 'not recorded' || return 1
    command_line 'view tree'
    tm_wait 'Not recorded' || return 1
}

ends() {
    command_line quit
    tm_wait 'ready>'
}

for test in records plays_a_recording seeks_and_steps goes_from_mark_to_mark changes_its_pace \
    sorts_and_filters_the_rows_recorded shows_owners_calls_and_findings says_what_was_not_recorded ends; do
    run "$test"
done
finish
