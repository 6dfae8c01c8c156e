#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Healthy systems get no finding to act on or to look at, in a report or on the screen: four loads beside
# each other, each recorded and shown for BEAMTOP_HEALTHY_S seconds (40; an hour on one release is 3600).
# BEAMTOP_HEALTHY_RELEASES: on which OTP releases (`host`: the machine's own); _KINDS: which of them;
# _LOOPS: so many busy loops beside, which starve a CPU to which all are bound (taskset). The loads are
# healthy_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/tmux/lib.sh"
. "$(dirname "$0")/epmd.sh"

otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
seconds=${BEAMTOP_HEALTHY_S:-40}
kinds=${BEAMTOP_HEALTHY_KINDS:-idle steady bursts cache}
XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
command -v jq >/dev/null || skip_all "no jq here"
command -v tmux >/dev/null || skip_all "no tmux here"
umask 077
loops=
printf 'healthy' >"$work/cookie"
pids=

end_nodes() {
    tm_close
    for pid in $pids; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    pids=
}

stop_all() {
    end_nodes
    for pid in $loops; do
        kill "$pid" 2>/dev/null
    done
    stop_epmd
    [ -z "${root:-}" ] || rm -rf "${root:?}$work"
    rm -rf "$work"
}

node_of() { echo "healthy_$1_$$@127.0.0.1"; }

# The log goes to the node's own output, as it does by default.
start_node() {
    dir=$root$work/$1
    mkdir -p "$dir"
    cp "$BEAMTOP_SRCDIR/tests/live/healthy_load.erl" "$dir"
    # shellcheck disable=SC2086
    "$otp_sh" ${otp:-} erl -noinput -name "$(node_of "$1")" -setcookie healthy -start_epmd false \
        +S 2:2 -eval "
        {ok, M, Code} = compile:file(\"$work/$1/healthy_load\", [binary]),
        {module, M} = code:load_binary(M, \"healthy_load.beam\", Code),
        M:start(\"$work/$1\", $1),
        timer:sleep($((seconds + 300)) * 1000), halt()." >"$work/$1.log" 2>&1 </dev/null &
    pids="$pids $!"
    wait_until 60 test -s "$dir/pid" || { cat "$work/$1.log"; return 1; }
}

record() {
    "$beamtop" record "$(node_of "$1")" --cookie-file "$work/cookie" --timeout 30 -o "$work/$1.btr" --interval 1 \
        --for "${seconds}s" >"$work/$1.out" 2>&1
}

show() {
    tm new-window -d -n "$1" "$beamtop" "$(node_of "$1")" --cookie-file "$work/cookie" --timeout 30 --interval 1 \
        --budget 100 --no-config --view findings
}

# What a screen has to act on or to look at, where it has: kept, since it may go again.
note_screens() {
    for kind in $kinds; do
        tm capture-pane -p -t "$kind" >"$work/screen"
        if grep -qE '[0-9]+ to fix, [0-9]+ to check' "$work/screen"; then
            : >"$work/$kind.judged"
            grep -q ' 0 to fix, 0 to check' "$work/screen" || cp "$work/screen" "$work/$kind.found"
        fi
    done
}

# A screen may have come up long after its recorder.
all_are_judged() {
    note_screens
    for kind in $kinds; do
        [ -f "$work/$kind.judged" ] || return 1
    done
}

recorders_end() {
    for pid in $recorders; do
        is_running "$pid" && return 1
    done
    return 0
}

watches_while_they_are_recorded() {
    recorders=
    # shellcheck disable=SC2154
    tm_open 150 50 || return 1
    for kind in $kinds; do
        record "$kind" &
        recorders="$recorders $!"
        show "$kind"
    done
    until recorders_end; do
        note_screens
        sleep 2
    done
    wait_until 60 all_are_judged
    for pid in $recorders; do
        wait "$pid" || { cat "$work"/*.out; return 1; }
    done
}

reports_nothing() {
    "$beamtop" report "$work/$1.btr" --format json >"$work/report" || return 1
    jq -e '[.findings[] | select(.severity != "note")] == []' "$work/report" >/dev/null && return 0
    jq -r '.findings[] | select(.severity != "note")
           | "\(.severity) \(.rule): \(.title)", "    \(.evidence[].text)"' "$work/report"
    return 1
}

shows_nothing() {
    [ -f "$work/$1.judged" ] || { echo "nothing was judged on:"; cat "$work/screen"; return 1; }
    [ ! -f "$work/$1.found" ] || { cat "$work/$1.found"; return 1; }
}

on_release() {
    rm -f "$work"/*.btr "$work"/*.found "$work"/*.judged
    for kind in $kinds; do
        run start_node "$kind"
    done
    run watches_while_they_are_recorded
    for kind in $kinds; do
        run reports_nothing "$kind"
        run shows_nothing "$kind"
    done
    end_nodes
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
while [ "$(echo "$loops" | wc -w)" -lt "${BEAMTOP_HEALTHY_LOOPS:-0}" ]; do
    sh -c 'while :; do :; done' &
    loops="$loops $!"
done
for otp in ${BEAMTOP_HEALTHY_RELEASES-host}; do
    [ "$otp" != host ] || otp=$(erl -noinput -eval 'io:put_chars(erlang:system_info(otp_release)), halt().')
    if root=$("$otp_sh" --root "$otp" 2>&1); then
        on_release
    else
        skip "on_OTP_$otp" "$root"
        root=
    fi
done
finish
