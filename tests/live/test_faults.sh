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
. "$(dirname "$0")/faults.sh"

# One scheduler, so that three busy processes are too many on any machine, and no more of it than one
# core is taken.
ERL_FLAGS='+S 1:1'
export ERL_FLAGS

limit_s=600
runs=${BEAMTOP_FAULTS_RUNS:-}
for_s=${runs:+120}
for_s=${for_s:-$((limit_s + 30))}s
faults='mailbox slow busy heap binaries atoms processes table churn'

finds_all_on_the_screen() {
    BEAMTOP_DEMO_NODE=$node
    BEAMTOP_DEMO_COOKIE_FILE=$work/cookie
    bt_start 160 60 -- --interval 1s --budget 20 --timeout 60 --view findings || return 1
    tm_wait_s=90
    tm_wait 'live' && all_within "$limit_s" "$1" from_the_screen || return 1
    echo "# OTP $1, on the screen after (s):${found%,}" >>"$work/remark"
    bt_quit
}

finds_all_in_a_recording() {
    if [ -n "$runs" ]; then
        wait "$recorder"
    fi
    all_within "$limit_s" "$1" from_the_report || return 1
    echo "# OTP $1, in the report after (s):${found%,}" >>"$work/remark"
    ends_recording
}

has_a_screen() { [ "$1" != 23 ] || [ -n "${BEAMTOP_CHECK:-}" ]; }

finds_what_was_planted() {
    records "$for_s" --interval 1s --budget 20 || return 1
    ! has_a_screen "$1" || finds_all_on_the_screen "$1" || return 1
    finds_all_in_a_recording "$1" && blames_nobody_else && stop_node
}

left=${runs:-1}
while [ "$left" -gt 0 ]; do
    differ finds_what_was_planted
    left=$((left - 1))
done
run_on_releases
