#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Recording from the screen, in a real terminal: a key starts it, marks are put, it goes on without the
# screen and is found again, it is ended; and errors are shown.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
. "$BEAMTOP_SRCDIR/tests/record.sh"
bt_setup

recorder_pids() { record_number pid; }

# A recorder outlives all but this.
end_all() {
    tm_close
    for pid in $(recorder_pids); do
        kill "$pid" && wait_until 60 has_ended "$pid"
    done
    "$BEAMTOP_SRCDIR/demo/run.sh" stop
    BEAMTOP_DEMO_DIR=$work/twin "$BEAMTOP_SRCDIR/demo/run.sh" stop
    rm -rf "$work"
}
trap end_all EXIT

# A busy recorder may not answer in time: it is asked until it does.
status_says() { record_of status --format json | grep -qE "$1"; }
status_has() { wait_until 60 status_says "$1"; }
is_nothing_recorded() { record_of status | grep -qx 'nothing is being recorded'; }
is_idle() { wait_until 60 is_nothing_recorded; }
file_of() { record_of status --format json | sed -n 's/.*"file":"\([^"]*\)".*/\1/p'; }

command_is() { # LINE: typed after `:`
    tm_type ":$1"
    tm_keys Enter
}

# The screen, with room enough that no warning of costs takes the place of a message, and recordings
# of short ticks.
open_ready() {
    bt_open 140 30 -- -b 25 && command_is 'set record-interval 0.5s'
}

is_recorded() { tm_wait '● rec' && tm_wait 'ticks,'; }

# What a key asks for has proposals, which Enter takes.
takes_proposals() {
    tm_keys R
    tm_wait 'record to: ' && tm_keys Enter && tm_wait "size limit: ${1:-1GiB}" && tm_keys Enter
}

starts_by_a_key() {
    open_ready && takes_proposals && tm_wait 'beamtop record stop' && tm_wait 'stops it, B marks' && is_recorded || return 1
    file=$(file_of)
    expr "$file" : "$work/$BEAMTOP_DEMO_NODE-[0-9]*-[0-9]*\.btr$" >/dev/null || {
        echo "the file is $file"
        return 1
    }
}

is_on_every_view() {
    for view in memory schedulers apps log help findings owners trace; do
        command_is "view $view"
        tm_wait '● rec' || return 1
    done
    command_is 'view top'
}

puts_marks() {
    command_is 'mark deploy 1.2' && tm_wait 'marked “deploy 1.2”' || return 1
    tm_keys B
    tm_wait ':mark' || return 1
    tm_type 'second'
    tm_keys Enter
    tm_wait 'marked “second”' && status_has '"marks":2'
}

starts_no_second_one() {
    command_is 'record other.btr'
    tm_wait ':record stop' && [ ! -e "$work/other.btr" ]
}

# Nothing of the screen is open in it, and no cookie is among its arguments.
is_a_process_of_its_own() {
    pid=$(recorder_pids)
    [ "$(ps -o sid= -p "$pid" | tr -d ' ')" = "$pid" ] || {
        ps -o pid,sid,args -p "$pid"
        return 1
    }
    for fd in "/proc/$pid/fd/"*; do
        case $(readlink "$fd") in
        /dev/pts/* | /dev/ptmx | /dev/tty)
            ls -l "/proc/$pid/fd"
            return 1
            ;;
        esac
    done
    ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -F -e "$(cat "$BEAMTOP_DEMO_COOKIE_FILE")"
}

has_no_child() { [ -z "$(ps -o pid= --ppid "$1")" ]; }

leaves_no_child_behind() {
    screen=$(tm_pid beamtop)
    wait_until 60 has_no_child "$screen" || {
        ps -o pid,stat,args --ppid "$screen"
        return 1
    }
}

goes_on_without_the_screen() {
    tm_keys Q
    tm_wait 'goes on' && tm_wait 'code 0' && tm_wait_restored && tm_close || return 1
    before=$(record_number ticks)
    wait_until 60 record_has ticks $((before + 2))
}

# It is said for some seconds only, and the list may come after them.
is_found_again() {
    bt_start 140 30 -- -b 25 && tm_wait 'this node is being recorded' && bt_wait_list && is_recorded
}

ends_what_it_has_not_begun_after_a_question() {
    tm_keys R
    tm_wait '(y/n)' || return 1
    tm_type n
    tm_wait_gone '(y/n)' && status_has '"marks":2' || return 1
    tm_keys R
    tm_wait '(y/n)' || return 1
    tm_type y
    tm_wait 'is complete' && tm_wait_gone '● rec' && is_idle
}

has_what_was_seen() {
    "$beamtop" info "$file" | grep -qF "$BEAMTOP_DEMO_NODE" &&
        "$beamtop" export "$file" marks --format csv >"$work/marks" &&
        grep -qF 'deploy 1.2' "$work/marks" && grep -qF second "$work/marks"
}

never_writes_over_a_file() {
    echo precious >"$work/taken.btr"
    command_is 'record taken.btr'
    tm_wait 'taken.btr exists' && tm_wait_gone 'rec starts' && [ "$(cat "$work/taken.btr")" = precious ]
}

says_that_the_folder_is_not_there() {
    command_is 'record nowhere/a.btr'
    tm_wait 'not recorded: nowhere'
}

ends_its_own_without_a_question() {
    command_is 'set record-interval 0.5s' && command_is 'record own.btr' && is_recorded || return 1
    command_is 'record status'
    tm_wait 'own.btr, for' || return 1
    command_is 'record stop'
    tm_wait 'own.btr is complete' && is_idle && [ -s "$work/own.btr" ] && [ ! -e "$work/own.btr-wal" ]
}

# It asks its recorder, and looks for others, by connections that last a moment: what stays open is
# what is always there.
open_files() {
    set -- "/proc/$(tm_pid beamtop)/fd/"*
    echo $#
}

least_open_files() {
    least=$(open_files)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        now=$(open_files)
        [ "$now" -ge "$least" ] || least=$now
    done
    echo "$least"
}

has_open_files() { [ "$(open_files)" -le "$1" ]; }

keeps_nothing_open() {
    before=$(least_open_files)
    command_is 'record start twice.btr' && is_recorded && command_is 'record stop' &&
        tm_wait 'twice.btr is complete' || return 1
    command_is 'record twice.btr'
    tm_wait 'twice.btr exists' || return 1
    wait_until 60 has_open_files "$before" || {
        ls -l "/proc/$(tm_pid beamtop)/fd"
        return 1
    }
}

answers() { # PROMPT TEXT
    tm_wait "$1" || return 1
    tm_keys C-u
    tm_type "$2"
    tm_keys Enter
}

# Where no view runs anything the key of `stop` asks, then stops the recording.
is_stopped_by_x_after_a_question() {
    takes_proposals && is_recorded || return 1
    tm_type 3x
    tm_wait 'Stop the recording to ' && tm_type n && tm_wait_gone 'Stop the recording to ' && is_recorded || return 1
    tm_type x
    tm_wait 'Stop the recording to ' && tm_type y && tm_wait 'is complete' && tm_wait_gone '● rec'
}

# The recorder has the limit as an argument; the next prompt proposes it.
asks_for_file_and_size() {
    tm_keys R
    tm_wait 'record to: ' && tm_keys Escape && tm_wait_gone 'record to: ' || return 1
    tm_keys R
    answers 'record to: ' asked.btr && answers 'size limit: ' lots && tm_wait 'record-max-size' &&
        answers 'size limit: ' 2MiB && is_recorded || return 1
    tr '\0' ' ' <"/proc/$(recorder_pids)/cmdline" | grep -qF -e '--max-size 2097152' || return 1
    tm_keys R
    tm_wait 'asked.btr is complete' && takes_proposals 2MiB && is_recorded && command_is 'record stop' &&
        tm_wait 'is complete' && command_is 'set record-max-size 1GiB'
}

tells_that_it_was_killed() {
    command_is 'record killed.btr' && is_recorded || return 1
    kill -9 "$(recorder_pids)"
    tm_wait 'its recorder was killed' && tm_wait_gone '● rec'
}

marks_nothing_when_nothing_is_recorded() {
    command_is 'mark late'
    tm_wait 'nothing to mark'
}

tells_why_it_cannot_begin() {
    command_is 'set record-calls lists:nosuch(('
    command_is 'record patterns.btr'
    tm_wait 'not recorded: ' && tm_wait_gone 'rec starts' && [ ! -e "$work/patterns.btr" ] &&
        command_is 'set record-calls ""'
}

# Given on the command line, which hides it, it is in no other command line either.
hands_the_cookie_on_unseen() {
    cookie=$(cat "$BEAMTOP_DEMO_COOKIE_FILE")
    bt_quit && tm_close && tm_open 140 30 || return 1
    tm_run "clear; '$beamtop' '$BEAMTOP_DEMO_NODE' --cookie '$cookie' --no-config -b 25; echo code \$?"
    bt_wait_list && command_is 'set record-interval 0.5s' && command_is 'record secret.btr' && is_recorded ||
        return 1
    pid=$(recorder_pids)
    tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "BEAMTOP_COOKIE=$cookie" || return 1
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -F -e "$cookie" && return 1
    command_is 'record-stop'
    tm_wait 'secret.btr is complete'
}

explains_itself_over_a_recording() {
    tm_keys Q
    tm_wait 'code 0' && tm_close && tm_open 140 30 || return 1
    tm_run "'$beamtop' replay '$file' --no-config -i 60"
    tm_wait '▶ replay' && tm_wait shop_ || return 1
    tm_keys R
    tm_wait 'this is a recording already' || return 1
    command_is quit
    tm_wait 'ready>'
}

tm_text_has() { tm_text | grep -qE "$1"; }

# The screen is left before the first tick is there: the recorder does not mind.
is_left_while_it_begins() {
    bt_open 140 30 && command_is 'record left.btr' && tm_keys Q && tm_wait 'code 0' || return 1
    wait_until "$tm_wait_s" tm_text_has 'is starting|goes on' || {
        tm_text
        return 1
    }
    tm_close
    wait_until 60 record_has ticks 1 && record_of stop && is_idle && "$beamtop" info "$work/left.btr" >/dev/null
}

# As on a full disk: no file of this shell's children may grow further.
tells_that_the_file_cannot_grow() {
    tm_close && tm_open 140 30 || return 1
    tm_run "ulimit -f 1200; clear; '$beamtop' '$BEAMTOP_DEMO_NODE' --cookie-file \
        '$BEAMTOP_DEMO_COOKIE_FILE' --no-config -b 25; echo code \$?"
    bt_wait_list && command_is 'set record-interval 0.25s' && command_is 'record full.btr' || return 1
    tm_wait_s=90
    tm_wait 'ended after '
    told=$?
    tm_wait_s=30
    [ "$told" -eq 0 ] && tm_wait_gone '● rec' && is_idle && "$beamtop" info "$work/full.btr" >/dev/null || return 1
    tm_keys Q
    tm_wait 'code 0'
}

asks_what_is_silent() { # COMMAND…: fails, and says which process it is and what to do
    if record_of "$@" >"$work/said.$1$#" 2>&1 || ! grep -q "process $pid does not answer.*kill -CONT $pid" "$work/said.$1$#" ||
        grep -q 'nothing is being recorded' "$work/said.$1$#"; then
        echo "$* says:"
        cat "$work/said.$1$#"
        return 1
    fi
}

# A recorder that is stopped is there: nobody takes it as absent, and it goes on later.
is_not_absent_when_it_does_not_answer() {
    bt_open 140 30 -- -b 25 && command_is 'set record-interval 0.5s' && command_is 'record silent.btr' &&
        is_recorded || return 1
    pid=$(recorder_pids)
    kill -STOP "$pid" && tm_wait '◌ rec' && tm_wait "process $pid does not answer" || return 1
    asking= # each waits for some seconds
    for asked in status 'mark x' stop "stop -o $work/silent.btr"; do
        # shellcheck disable=SC2086
        asks_what_is_silent $asked &
        asking="$asking $!"
    done
    record_of status --format json | grep -qx "{\"pid\":$pid,\"answers\":false}" || return 1
    for asked in $asking; do
        wait "$asked" || return 1
    done
    tm_keys Q
    tm_wait 'code 0' && bt_open 140 30 -- -b 25 && tm_wait "process $pid does not answer" || return 1
    tm_keys R
    tm_wait 'Record anyway? (y/n)' || return 1
    tm_type n
    kill -CONT "$pid" && tm_wait 'silent.btr by OS process' && record_of stop && tm_wait 'silent.btr is complete' && bt_quit
}

# A node of the same name under another epmd: its recorder is none of this node's.
is_not_that_of_a_twin() {
    (
        BEAMTOP_DEMO_DIR=$work/twin
        export BEAMTOP_DEMO_DIR
        "$BEAMTOP_SRCDIR/demo/run.sh" start >"$work/twin.env" 2>"$work/demo.log" || exit 1
        # shellcheck disable=SC1090
        . "$work/twin.env"
        record_of start "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" -i 0.5s \
            -o "$work/twin.btr"
    ) || return 1
    status_has '"node_creation":[1-9].*"node_os_pid":[1-9].*"node_start_us":[1-9]' || return 1
    bt_open 140 30 -- -b 25 && command_is 'set record-interval 0.5s' || return 1
    # A recorder of this node is found, and ends: then the screen has looked for recorders, and the twin's goes on.
    record_of start "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" -i 0.5s -o "$work/here.btr" &&
        tm_wait '● rec' && command_is 'record stop' && tm_wait 'here.btr, of' && tm_type y &&
        tm_wait 'here.btr is complete' && tm_wait_gone '● rec' &&
        tm_has_not '◌ rec' && status_has 'twin\.btr' && record_of stop && bt_quit
    code=$?
    BEAMTOP_DEMO_DIR=$work/twin "$BEAMTOP_SRCDIR/demo/run.sh" stop
    return $code
}

life() { record_of status --format json | grep -o '"node_os_pid":[1-9][0-9]*'; }
has_no_life() { ! life; }
has_another_life() { [ -n "$(life)" ] && [ "$(life)" != "$1" ]; }

# Another life of the same node: recorder and screen both come to know it.
is_the_same_when_the_node_is_back() {
    bt_open 140 30 -- -b 25 && command_is 'set record-interval 0.5s' && command_is 'record back.btr' &&
        is_recorded || return 1
    before=$(life)
    "$BEAMTOP_SRCDIR/demo/run.sh" stop && tm_wait '◌ rec' && wait_until 60 has_no_life || return 1
    "$BEAMTOP_SRCDIR/demo/run.sh" start >"$work/env" 2>"$work/demo.log" && wait_until 60 has_another_life "$before" &&
        tm_wait '● rec' || return 1
    # Longer than a stranger would be followed, by its ticks of half a second.
    before=$(record_number ticks)
    wait_until 60 record_has ticks $((before + 12)) && tm_wait '● rec' && bt_quit && is_found_again &&
        record_of stop && tm_wait 'back.btr is complete' && bt_quit
}

tells_that_the_node_is_gone() {
    bt_open 140 30 -- -b 25 && command_is 'set record-interval 0.5s' && command_is 'record gone.btr' &&
        is_recorded && "$BEAMTOP_SRCDIR/demo/run.sh" stop || return 1
    tm_wait '◌ rec' || return 1
    command_is 'record stop'
    tm_wait 'gone.btr is complete' || return 1
    takes_proposals && tm_wait 'not recorded: ' && tm_wait_gone 'rec starts' && bt_quit
}

target_is_clean() { bt_target_says | grep -q '^nodes 0 ours 0 '; }

leaves_nothing_on_the_target() { wait_until 60 target_is_clean || bt_target_says; target_is_clean; }

for test in starts_by_a_key is_on_every_view puts_marks starts_no_second_one is_a_process_of_its_own \
    leaves_no_child_behind goes_on_without_the_screen is_found_again \
    ends_what_it_has_not_begun_after_a_question has_what_was_seen never_writes_over_a_file \
    says_that_the_folder_is_not_there ends_its_own_without_a_question is_stopped_by_x_after_a_question asks_for_file_and_size keeps_nothing_open tells_that_it_was_killed \
    marks_nothing_when_nothing_is_recorded tells_why_it_cannot_begin hands_the_cookie_on_unseen explains_itself_over_a_recording \
    is_left_while_it_begins is_not_absent_when_it_does_not_answer tells_that_the_file_cannot_grow leaves_nothing_on_the_target is_not_that_of_a_twin is_the_same_when_the_node_is_back tells_that_the_node_is_gone; do
    run "$test"
done
finish
