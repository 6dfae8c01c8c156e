#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nine faults planted in a running system are found, with the culprit's name, on the screen and in a
# recording that runs at the same time. The load is faults.erl. How long each took is in a comment.
# BEAMTOP_FAULTS_RUNS: so many times, each with a recording of two minutes.
# Screen and report judge by the same rules, and the screen waits 30 s for trends: in the quick check it is
# left out on OTP 23.
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

records() {
    rm -f "$work"/recording*
    began=$(date +%s)
    "$beamtop" record "$node" --cookie-file "$work/cookie" -o "$work/recording" --interval 1s --budget 20 --timeout 60 \
        --for "$for_s" >"$work/recorder" 2>&1 &
    recorder=$!
}

finds_all_on_the_screen() {
    BEAMTOP_DEMO_NODE=$node
    BEAMTOP_DEMO_COOKIE_FILE=$work/cookie
    bt_start 160 60 -- --interval 1s --budget 20 --timeout 60 --view findings || return 1
    tm_wait_s=90
    tm_wait 'live' && all_within "$1" from_the_screen || return 1
    echo "# OTP $1, on the screen after (s):${found%,}" >>"$work/remark"
    bt_quit
}

finds_all_in_a_recording() {
    if [ -n "$runs" ]; then
        wait "$recorder"
    fi
    all_within "$1" from_the_report || return 1
    echo "# OTP $1, in the report after (s):${found%,}" >>"$work/remark"
    "$beamtop" record stop >/dev/null 2>&1
    wait "$recorder"
    true
}

# Those who do nothing wrong are in no title.
blames_nobody_else() {
    ! grep -E -e 'fault_requests|faults:(worker|request)/|fault_cache' "$work/lines"
}

has_a_screen() { [ "$1" != 23 ] || [ -n "${BEAMTOP_CHECK:-}" ]; }

finds_what_was_planted() {
    records || return 1
    ! has_a_screen "$1" || finds_all_on_the_screen "$1" || return 1
    finds_all_in_a_recording "$1" && blames_nobody_else && stop_node
}

# In the place of that of releases.sh.
stop_all() {
    tm_close
    [ -z "${recorder:-}" ] || kill "$recorder" 2>/dev/null
    stop_node
    stop_epmd
    rm -rf "$work"
}

left=${runs:-1}
while [ "$left" -gt 0 ]; do
    differ finds_what_was_planted
    left=$((left - 1))
done
run_on_releases
