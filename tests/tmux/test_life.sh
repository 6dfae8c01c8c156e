#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The program in a real terminal: start, resize, suspend and resume, exit, kill and crash.
# shellcheck disable=SC1091,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/lib.sh"
bt_setup

opens_and_leaves() {
    bt_open 120 40 && tm_wait "$BEAMTOP_DEMO_NODE" && tm_wait OTP && bt_quit
}

leaves_the_shell_its_screen() {
    bt_open 80 24 && tm_keys q && tm_wait 'code 0' && tm_has_not shop_pricing
}

# Every row of the new size is drawn, none of the old one is left.
fits() {
    tm_resize "$1" "$2" && tm_wait shop_pricing || return 1
    wait_until 30 no_row_is_longer "$1" || {
        tm_text
        return 1
    }
}

no_row_is_longer() {
    tm_text | awk -v most="$1" '{ gsub(/[\200-\277]/, "") } length($0) > most { bad = 1 } END { exit bad }'
}

follows_the_size_of_the_terminal() {
    bt_open 120 40 && fits 80 24 && fits 60 16 && fits 160 50 && bt_quit
}

survives_a_tiny_terminal() {
    bt_open 80 24 && tm_resize 10 3 && tm_keys Down && tm_resize 80 24 && tm_keys g && tm_wait shop_pricing && bt_quit
}

stops_and_goes_on() {
    bt_open 80 24 && tm_keys C-z && tm_wait Stopped && tm_restored || return 1
    tm_run 'fg; echo code $?'
    tm_wait_gone 'ready>' && tm_wait shop_pricing && bt_quit
}

follows_a_resize_while_stopped() {
    bt_open 80 24 && tm_keys C-z && tm_wait Stopped && tm_resize 100 30 || return 1
    tm_run 'fg; echo code $?'
    tm_wait_gone 'ready>' && tm_wait shop_pricing && fits 100 30 && bt_quit
}

# opens_by COMMAND: a terminal in which COMMAND starts the program, as "$BT" with its arguments.
opens_by() {
    tm_close
    tm_open 80 24 BT="$beamtop" NODE="$BEAMTOP_DEMO_NODE" COOKIE="$BEAMTOP_DEMO_COOKIE_FILE" || return 1
    tm_run "$1" && bt_wait_list
}

# Without a shell that waits for it, as by `ssh -t HOST beamtop`, nothing could resume it.
does_not_stop_as_the_leader_of_its_session() {
    # shellcheck disable=SC2016
    opens_by 'exec "$BT" "$NODE" --cookie-file "$COOKIE" --budget 100' || return 1
    pid=$(tm_pid beamtop)
    tm_keys C-z && tm_wait 'cannot suspend: no shell to return to' && tm_keys Q && wait_until 30 has_ended "$pid"
}

# The shell waits for the script: all of the job stops, or the terminal hangs.
stops_together_with_the_script_that_started_it() {
    # shellcheck disable=SC2016
    opens_by 'sh -c '"'"'"$BT" "$NODE" --cookie-file "$COOKIE" --budget 100; echo code $?'"'" || return 1
    tm_keys C-z && tm_wait Stopped && tm_restored || return 1
    tm_run fg
    tm_wait_gone 'ready>' && tm_wait shop_pricing && tm_keys Q && tm_wait 'code 0'
}

is_stopped() { ps -o stat= -p "$pid" | grep -q '^T'; }
opens_in_bash() {
    command -v bash >/dev/null || { not_tried "no bash here"; return 1; }
    tm_close
    tm_open 80 24 BT="$beamtop" NODE="$BEAMTOP_DEMO_NODE" COOKIE="$BEAMTOP_DEMO_COOKIE_FILE" &&
        tm_run "exec bash --norc" && starts_again
}
goes_on_in_front() {
    tm_run 'clear; fg; echo code $?'
    tm_wait shop_pricing && tm_type ':quit' && tm_wait_line '^:quit' && tm_keys Enter && tm_wait 'code 0' && tm_restored
}
stops() { wait_until "$tm_wait_s" is_stopped || { echo "it goes on in the background"; return 1; }; }
# SIGSTOP gives nothing back: the shell has the screen, and the modes of its line editor.
goes_on_after_a_stop_from_elsewhere() {
    opens_in_bash || { [ -e "$work/not_tried" ]; return; }
    pid=$(tm_pid beamtop)
    kill -STOP "$pid" && tm_wait Stopped && tm_run 'clear; echo still here' && tm_wait_line '^still here' || return 1
    kill -CONT "$pid" && stops && tm_run bg && stops && goes_on_in_front
}

# As a program that ends within a paste, or a line that loses bytes. Each try is silent for long enough.
takes_keys_again_after_a_paste_without_end() {
    bt_open 80 24 && tm_type "$(printf '\033[200~lost')" || return 1
    for try in 1 2 3 4 5 6 7 8 9 10; do
        tm_keys Q
        wait_until 3 tm_has 'code 0' && return 0
    done
    tm_text
    return 1
}

# dies_of SIGNAL: the terminal is a shell's again.
dies_of() {
    bt_open 80 24 || return 1
    kill -"$1" "$(tm_pid beamtop)" && tm_wait_line 'code 1[0-9][0-9]$' && tm_wait_restored
}

restores_the_terminal_when_killed() { dies_of TERM; }
restores_the_terminal_when_hung_up() { dies_of HUP; }
restores_the_terminal_when_it_crashes() { dies_of SEGV; }
restores_the_terminal_when_it_aborts() { dies_of ABRT; }

leaves_when_the_terminal_closes() {
    bt_open 80 24 || return 1
    pid=$(tm_pid beamtop)
    tm_close
    wait_until 30 has_ended "$pid"
}

shell_flags() { sed -n 's/^flags:[[:space:]]*//p' "/proc/$(tm display-message -p '#{pane_pid}')/fdinfo/0"; }

has_flags() { # WHEN
    [ "$(shell_flags)" = "$flags" ] || {
        echo "standard input of the shell has the flags $(shell_flags) $1, $flags before"
        return 1
    }
}

starts_again() {
    # shellcheck disable=SC2016
    tm_run 'clear; "$BT" "$NODE" --cookie-file "$COOKIE" --budget 100; echo code $?' && bt_wait_list
}

# The shell shares its open file with the program: also when that is killed, it must find none changed.
keeps_the_flags_of_standard_input() {
    tm_close
    tm_open 80 24 BT="$beamtop" NODE="$BEAMTOP_DEMO_NODE" COOKIE="$BEAMTOP_DEMO_COOKIE_FILE" || return 1
    flags=$(shell_flags)
    [ -n "$flags" ] && starts_again && has_flags 'while it runs' && tm_keys C-z && tm_wait Stopped &&
        has_flags 'while it is stopped' || return 1
    tm_run 'fg; echo code $?'
    tm_wait_gone 'ready>' && tm_wait shop_pricing && has_flags 'after fg' || return 1
    tm_keys Q
    tm_wait 'code 0' && has_flags 'after it has ended' && starts_again || return 1
    kill -TERM "$(tm_pid beamtop)" && tm_wait 'code 143' && has_flags 'after SIGTERM' && starts_again || return 1
    kill -KILL "$(tm_pid beamtop)" && tm_wait 'code 137' && has_flags 'after SIGKILL'
}

run opens_and_leaves
run leaves_the_shell_its_screen
run follows_the_size_of_the_terminal
run survives_a_tiny_terminal
run stops_and_goes_on
run follows_a_resize_while_stopped
run does_not_stop_as_the_leader_of_its_session
run stops_together_with_the_script_that_started_it
run goes_on_after_a_stop_from_elsewhere
run takes_keys_again_after_a_paste_without_end
run keeps_the_flags_of_standard_input
run restores_the_terminal_when_killed
run restores_the_terminal_when_hung_up
run restores_the_terminal_when_it_crashes
run restores_the_terminal_when_it_aborts
run leaves_when_the_terminal_closes
finish
