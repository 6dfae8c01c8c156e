#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nine faults planted in a running system of every release are found, with the culprit's name, on the
# screen and in a recording that runs at the same time. The load is faults.erl. How long each took on
# the screen is in a comment. BEAMTOP_FAULTS_RUNS: so many times, each with a recording of two minutes.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
command -v tmux >/dev/null 2>&1 || skip_all "no tmux here"

load=faults
. "$(dirname "$0")/releases.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

# One scheduler, so that three busy processes are too many on any machine, and no more of it than one
# core is taken.
ERL_FLAGS='+S 1:1'
export ERL_FLAGS

limit_s=600
runs=${BEAMTOP_FAULTS_RUNS:-}
for_s=${runs:+120}
for_s=${for_s:-$((limit_s + 30))}s
faults='mailbox slow busy heap binaries atoms processes table churn'

# title_of FAULT OTP: what the title of its finding matches. Who has spawned a process can be asked
# from OTP 25 on.
title_of() {
    case $1-$2 in
    mailbox-*) echo 'fault_mailbox' ;;
    slow-*) echo 'fault_slow' ;;
    busy-*) echo 'overloads .* schedulers|[Ss]chedulers are overloaded' ;;
    heap-*) echo 'fault_heap is growing' ;;
    binaries-*) echo 'fault_binaries holds' ;;
    atoms-*) echo 'Atoms fault_atom_.* are leaking' ;;
    processes-23) echo 'faults:leaked/0 processes are accumulating' ;;
    processes-*) echo 'fault_spawner spawns processes that stay: .*faults:leaked/0' ;;
    table-*) echo 'ETS table fault_table is growing: .*fault_tables' ;;
    churn-23) echo 'faults:short_lived/0 processes are short-lived' ;;
    churn-*) echo 'fault_churner spawns short-lived processes: .*faults:short_lived/0' ;;
    esac
}

# lacks OTP FILE: the faults of $missing without a line in the file that matches; it becomes $missing.
lacks() {
    still=
    for fault in $missing; do
        if grep -q -E -e "$(title_of "$fault" "$1")" "$2"; then
            found="$found $fault $(($(date +%s) - began)),"
        else
            still="$still $fault"
        fi
    done
    missing=$still
}

# all_within OTP TAKE: as TAKE fills $work/lines, again and again until none is missing.
all_within() {
    missing=$faults found=
    while [ $(($(date +%s) - began)) -lt "$limit_s" ]; do
        "$2" && lacks "$1" "$work/lines"
        [ -n "$missing" ] || return 0
        sleep 1
    done
    echo "not found in $limit_s s:$missing; found after (s):$found in:"
    cat "$work/lines"
    return 1
}

from_the_screen() { tm_text >"$work/lines"; }

from_the_report() {
    "$beamtop" report "$work/recording" --format json >"$work/out" 2>"$work/err" &&
        jq -r '.findings[] | .title' "$work/out" >"$work/lines"
}

starts_looking() {
    BEAMTOP_DEMO_NODE=$node
    BEAMTOP_DEMO_COOKIE_FILE=$work/cookie
    rm -f "$work"/recording*
    began=$(date +%s)
    "$beamtop" record "$node" --cookie-file "$work/cookie" -o "$work/recording" --interval 1s --budget 20 --timeout 60 \
        --for "$for_s" >"$work/recorder" 2>&1 &
    recorder=$!
    bt_start 160 60 -- --interval 1s --budget 20 --timeout 60 --view findings || return 1
    tm_wait_s=90
    tm_wait 'live'
}

finds_all_on_the_screen() {
    all_within "$1" from_the_screen || return 1
    echo "# OTP $1, on the screen after (s):${found%,}" >"$work/remark"
    bt_quit
}

finds_all_in_a_recording() {
    if [ -n "$runs" ]; then
        wait "$recorder"
    fi
    all_within "$1" from_the_report || return 1
    echo "# OTP $1, in the report after (s):${found%,}" >"$work/remark"
    "$beamtop" record stop >/dev/null 2>&1
    wait "$recorder"
    true
}

# Those who do nothing wrong are in no title.
blames_nobody_else() {
    ! grep -E -e 'fault_requests|faults:(worker|request)/|fault_cache' "$work/lines"
}

ends_what_it_started() {
    tm_close
    [ -z "${recorder:-}" ] || kill "$recorder" 2>/dev/null
    recorder=
    stop_node
}

# In the place of that of releases.sh.
stop_all() {
    ends_what_it_started
    stop_epmd
    rm -rf "$work"
}

is_planted_again() { ends_what_it_started && start_node "$1" && starts_looking; }

tests='starts_looking'
left=${runs:-1}
while [ "$left" -gt 0 ]; do
    tests="$tests finds_all_on_the_screen finds_all_in_a_recording blames_nobody_else"
    left=$((left - 1))
    [ "$left" = 0 ] || tests="$tests is_planted_again"
done
# shellcheck disable=SC2086
differ $tests ends_what_it_started
run_on_releases
