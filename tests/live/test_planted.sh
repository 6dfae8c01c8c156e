#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Faults that are planted one by one, or some together, are found on the screen and in a recording that runs
# at the same time, with the culprit in the title. The kinds are in faults.sh, the load is faults.erl. How
# long each took is in a comment.
# BEAMTOP_PLANTED       kinds: `core deaf` on a node each, `core+deaf` on one; `each`: all kinds, on a node each
# BEAMTOP_PLANTED_RUNS  so many times; by hand, on a machine with a core to spare: the program has its own
#                       interval and cost limit, and each must be shown within its seconds
# BEAMTOP_PLANTED_PATIENCE  within so many times its seconds (5 in check, where other tests run beside)
# In check those that take no trend, together; in check all all that test_faults.sh has not.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/faults.sh"

runs=${BEAMTOP_PLANTED_RUNS:-}
options='--interval 1s --budget 20' patience=5
[ -z "$runs" ] || options='' patience=1
patience=${BEAMTOP_PLANTED_PATIENCE:-$patience}

nodes='suspended+deaf+calls+core+restarts'
[ -z "${BEAMTOP_CHECK:-}" ] || nodes="$nodes terms loads hot senders ports"
nodes=${BEAMTOP_PLANTED:-$nodes}
[ "$nodes" != each ] || nodes=$(echo "$fault_rows" | sed -n 's/^\([a-z]*\):.*/\1/p')

# What is too much for all schedulers has one.
schedulers() { case " $faults " in *' hot '* | *' busy '*) echo 1:1 ;; *) echo 2:2 ;; esac; }

# limit OTP: seconds for all of them.
limit() {
    for fault in $faults; do
        seconds_of "$fault" "$1"
    done | sort -n | tail -n 1 | awk -v patience="$patience" '{ print $1 * patience }'
}

shows() {
    # shellcheck disable=SC2086
    tm_open 200 60 BT="$beamtop" NODE="$node" COOKIE="$work/cookie" &&
        tm_run "clear; \"\$BT\" \"\$NODE\" --cookie-file \"\$COOKIE\" --no-config --timeout 60 $options --view findings; echo code \$?"
}

# is_found_in PLACE OTP SECONDS TAKE
is_found_in() {
    lines=$work/lines-$1
    all_within "$3" "$2" "$4"
    all_found=$?
    echo "# OTP $2, in the $1 after (s):${found%,}" >>"$work/remarks-$1"
    [ "$all_found" = 0 ] && blames_nobody_else
}

plants() {
    ERL_FLAGS="+S $(schedulers) -faults $faults"
    export ERL_FLAGS
    start_node "$1"
}

# Both look at the same time; each says what it misses.
are_found() {
    seconds=$(limit "$1")
    rm -f "$work"/remarks-*
    # shellcheck disable=SC2086
    records "$((seconds + 60))s" $options || return 1
    is_found_in report "$1" "$seconds" from_the_report >"$work/told" 2>&1 &
    reporter=$!
    shows && is_found_in screen "$1" "$seconds" from_the_screen
    on_screen=$?
    wait "$reporter"
    in_report=$?
    [ "$in_report" = 0 ] || cat "$work/told"
    ends_recording
    ended=$?
    tm_close
    [ "$on_screen$in_report$ended" = 000 ]
}

finds() { # OTP KIND…
    otp=$1
    shift
    faults=$*
    plants "$otp" && are_found "$otp"
    all_are=$?
    stop_node
    return "$all_are"
}

on_release() {
    for kinds in $nodes; do
        # shellcheck disable=SC2046
        run finds "$1" $(echo "$kinds" | tr + ' ')
        cat "$work"/remarks-* 2>/dev/null
    done
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
left=${runs:-1}
while [ "$left" -gt 0 ]; do
    for otp in $(releases_of same); do
        if reason=$("$otp_sh" --root "$otp" 2>&1); then
            on_release "$otp"
            [ -z "$reason" ] || rm -rf "${reason:?}$work"
        else
            skip "finds_on_OTP_$otp" "$reason"
        fi
    done
    left=$((left - 1))
done
finish
