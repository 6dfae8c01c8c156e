#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Findings on the screen are of the node, not of what the view shows: an idle process whose mailbox
# grows is found where the list is ranked by something else, filtered, or not there at all. The load is
# tests/live/findings_load.erl; the log shows the cost.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup_load findings_load

# A trend is shown after 30 s: all screens run beside each other, each in a window of one terminal.
# screen NAME OPTION…
screen() {
    name=$1
    shift
    tm new-window -n "$name" "$beamtop" "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" --no-config \
        --interval 0.5s --budget 100 "$@" && tm_wait 'live'
}

goes_to() { tm select-window -t "$1"; }

shows_findings_of_all() {
    bt_start 120 45 -- --interval 0.25 --view findings && tm_wait 'live' && tm rename-window interval &&
        screen cause --view findings && screen memory --sort memory_bytes && tm_type f &&
        screen filter --filter logger && tm_wait 'matching' && wait_until 60 list_lacks_idle && tm_type f &&
        screen schedulers --view schedulers && tm_type f
}

# Judgements come ten seconds apart, and a request to watch ten seconds and more.
finds() {
    tm_wait_s=90
    tm_wait "$1"
    found=$?
    tm_wait_s=30
    return "$found"
}

idle='Message queue of findings_idle is growing'

finds_with_a_list_by_memory() { goes_to memory && finds "$idle" && finds 'findings_holder holds'; }

# The header names it, too, as the one with the longest message queue.
list_lacks_idle() { ! tm_text | grep -q '^.<[0-9.]*> *findings_idle'; }

finds_behind_a_filter() {
    goes_to filter && finds "$idle" || return 1
    tm_type 1
    tm_wait 'matching' && wait_until 60 list_lacks_idle
}

finds_without_a_list() {
    goes_to schedulers && finds "$idle" || return 1
    tm_type 7
    tm_wait 'looked for the longest message queues'
}

cursor_is_elsewhere() { [ "$(tm_text | grep '^▌')" != "$1" ]; }

cursor_is_first() { tm_text | grep -A 1 'Findings ─' | grep -q '^▌'; }

# Moves down from the first line until the cursor is on the finding with that text.
puts_cursor_on() {
    # Down before the screen shows the first line would pass it by.
    tm_keys Home
    wait_until 30 cursor_is_first || true
    for step in 1 2 3 4 5 6 7 8 9 10 11 12; do
        tm_has_line "^▌.*$1" && return 0
        line=$(tm_text | grep '^▌')
        tm_keys Down
        wait_until 5 cursor_is_elsewhere "$line" || true
    done
    echo "the cursor does not come to '$1' on:"
    tm_text
    return 1
}

# keys_do TEXT KEY EXPECTED: on the finding with that text. A judgement in between may move the cursor
# to another one, so that it is tried again.
keys_do() {
    for try in 1 2 3 4; do
        puts_cursor_on "$1" || return 1
        tm_keys "$2"
        wait_until 10 tm_has_line "$3" && return 0
        tm_keys Escape
        wait_until 10 tm_has Findings
    done
    echo "$2 on '$1' does not show '$3' on:"
    tm_text
    return 1
}

closes_prompt() {
    tm_keys C-u Escape
    tm_wait_gone 'trace>'
}

goes_from_a_finding_to_its_cause() {
    goes_to cause && finds "$idle" && finds 'ETS table findings_carts is growing' || return 1
    # A message stands in place of the hints for a while.
    wait_until 60 tm_has_line 'Enter> open.*Space> evidence.*T trace.*m mailbox' || {
        tm_text
        return 1
    }
    keys_do "$idle" Space 'message queue: from' && keys_do "$idle" Enter '^.<0\.[0-9]*\.0> *findings_idle' || return 1
    tm_keys Escape
    tm_wait 'Findings ─' && keys_do "$idle" T 'messages it receives' || return 1
    tm_keys Escape
    tm_wait_gone 'messages it receives' || return 1
    keys_do 'ETS table findings_carts' T 'trace> ets:insert\(findings_carts, _\) -> caller' && closes_prompt &&
        keys_do 'ETS table findings_carts' Enter '^.<0\.[0-9]*\.0> *findings_tables' || return 1
    tm_keys Escape
    tm_wait 'Findings ─' && keys_do "$idle" m 'Read [0-9,]* messages of <0\.[0-9]*\.0>.*\(y/n\)' || return 1
    tm_type n
    tm_wait_gone '(y/n)'
}

# What the title says of the span that was judged: seconds and ticks.
title() { tm_text | sed -n 's/.*Findings ─.* \([0-9.:]*\)\( s\)\{0,1\}, \([0-9,]*\) ticks.*/\1 \3/p' | tr -d ,; }

title_seconds() { title | cut -d' ' -f1 | awk -F: '{ s = 0; for (i = 1; i <= NF; i++) s = s * 60 + $i; print int(s) }'; }
title_ticks() { title | cut -d' ' -f2; }

# More ticks, and a longer span, than SECONDS and TICKS.
title_exceeds() { [ "$(title_seconds)" -gt "$1" ] && [ "$(title_ticks)" -gt "$2" ]; } 2>/dev/null

wait_title() { # SECONDS TICKS
    wait_until 120 title_exceeds "$1" "$2" || {
        echo "no more than $1 s and $2 ticks on:"
        tm_text
        return 1
    }
    seconds=$(title_seconds) ticks=$(title_ticks)
}

sets() {
    tm_type ":set interval $1"
    tm_keys Enter
}

# Ticks that were dropped at a long interval are not looked for at a short one.
tells_its_span_when_the_interval_changes() {
    goes_to interval && wait_title 3 40 && sets 10 && wait_title "$((seconds + 9))" "$ticks" &&
        sets 0.5 && wait_title "$((seconds + 9))" "$((ticks + 9))" && bt_quit
}

run bt_start_load
run shows_findings_of_all
run tells_its_span_when_the_interval_changes
run finds_with_a_list_by_memory
run finds_behind_a_filter
run finds_without_a_list
run goes_from_a_finding_to_its_cause
finish
