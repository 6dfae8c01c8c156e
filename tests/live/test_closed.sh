#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every command when the standard descriptors are closed: it ends by itself, and nothing that is printed
# gets into a file or a socket that has taken the descriptor's place.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/epmd.sh"

XDG_STATE_HOME=$work/state
# What sanitizers find ends the program as an assertion does, where nothing can be printed.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}abort_on_error=1
UBSAN_OPTIONS=${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:abort_on_error=1
export XDG_STATE_HOME ASAN_OPTIONS UBSAN_OPTIONS
node=closed@127.0.0.1
cookie=$work/cookie

is_up() { "$beamtop" info "$node" --cookie-file "$cookie" --timeout 30 >/dev/null 2>&1; }

starts() {
    printf secret >"$cookie"
    erl -noinput -start_epmd false -name "$node" -setcookie secret -eval 'timer:sleep(1200000), halt().' \
        >"$work/node" 2>&1 &
    node_pid=$!
    wait_until 60 is_up || { cat "$work/node"; return 1; }
    "$beamtop" record "$node" --cookie-file "$cookie" --timeout 30 -o "$work/a.btr" -i 0.5 --for 1.2s >"$work/out" 2>&1 ||
        { cat "$work/out"; return 1; }
}

stop_all() {
    [ -z "${node_pid:-}" ] || { kill "$node_pid"; wait "$node_pid"; } 2>/dev/null
    stop_epmd
    rm -rf "$work"
}

# With descriptors closed as the first word says: a crash is a code above 127.
closed() {
    how=$1
    shift
    case $how in
    0) "$@" <&- >"$work/out" 2>"$work/err" ;;
    1) "$@" >&- </dev/null 2>"$work/err" ;;
    2) "$@" 2>&- </dev/null >"$work/out" ;;
    all) "$@" <&- >&- 2>&- ;;
    esac
}

# survives COMMAND WORDS…: without any. 124 is what `timeout` says of one that does not end.
survives() { survives_without all "$@"; }

survives_without() {
    how=$1
    shift
    rm -f "$work/out" "$work/err"
    closed "$how" timeout -k 5 100 "$beamtop" "$@"
    code=$?
    [ "$code" -lt 124 ] || { echo "$* without $how: exit code $code"; cat "$work/out" "$work/err"; return 1; }
}

of_node() { # of the node, COMMAND WORDS…
    command=$1
    shift
    survives "$command" "$node" --cookie-file "$cookie" --timeout 30 "$@"
}

# Whatever is closed is seen to before any command begins. Output that is lost is an error.
without_one() {
    for how in 0 2 1; do
        survives_without "$how" --help && survives_without "$how" report "$work/a.btr" &&
            survives_without "$how" info "$node" --cookie-file "$cookie" --timeout 30 || return 1
    done
    [ "$code" -eq 1 ] && grep -q 'write error' "$work/err" && return
    echo "exit code $code"
    cat "$work/err"
    return 1
}

without_a_node() {
    survives --help && survives --version && survives nodes && survives explain 'lists:seq/2' &&
        survives info nobody@127.0.0.1 --cookie x && survives no-such-command@127.0.0.1 --cookie x
}

once() {
    for command in info memory schedulers apps armed; do
        of_node "$command" -i 0.25 || return 1
    done
    of_node process init && of_node top -n 1 -i 0.25 && of_node capture -n 2 -i 0.25
}

tracing_and_counting() { of_node trace 'lists:seq/2' --time 0.3s && of_node calls 'lists:seq/2' --for 0.2s; }

reading_recordings() {
    survives report "$work/a.btr" && survives diff "$work/a.btr" "$work/a.btr" &&
        survives export "$work/a.btr" && survives top "$work/a.btr" && survives replay "$work/a.btr" &&
        survives record status
}

# What it prints is in none of its files, and the file is one.
recording() {
    for how in 0 1 2 all; do
        rm -f "$work/b.btr"
        closed "$how" timeout -k 5 100 "$beamtop" record "$node" --cookie-file "$cookie" --timeout 30 -o "$work/b.btr" -i 0.5 \
            --for 1.2s
        code=$?
        [ "$code" -lt 124 ] || { echo "without $how: exit code $code"; return 1; }
        "$beamtop" report "$work/b.btr" >"$work/out" 2>&1 || { echo "without $how:"; cat "$work/out"; return 1; }
        ! grep -aq 'beamtop report' "$work/b.btr" || { echo "without $how: it printed into its file"; return 1; }
    done
}

in_the_background() {
    for how in 0 1 2 all; do
        rm -f "$work/c.btr" "$work/c.btr.log"
        closed "$how" timeout -k 5 100 "$beamtop" record start "$node" --cookie-file "$cookie" --timeout 30 -o "$work/c.btr" -i 0.5
        code=$?
        [ "$code" -lt 124 ] || { echo "without $how: exit code $code"; return 1; }
        "$beamtop" record stop >"$work/out" 2>&1 || { echo "without $how:"; cat "$work/out"; return 1; }
        wait_until 60 nothing_records || return 1
        "$beamtop" report "$work/c.btr" >"$work/out" 2>&1 || { echo "without $how:"; cat "$work/out"; return 1; }
    done
}
nothing_records() { "$beamtop" record status | grep -q 'nothing is being recorded'; }

# A line and code 1 where the event loop and its threads would abort. The stack of a thread: no memory
# is enough for it.
says_which_limit_is_too_low() {
    is_too_low -n 12 'descriptors are left.*ulimit -n' && is_too_low -s 1000000000000 'threads cannot be started.*ulimit'
}

# is_too_low LIMIT VALUE TEXT
is_too_low() {
    # shellcheck disable=SC2016
    sh -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' sh "$1" "$2" "$beamtop" info "$node" --cookie-file "$cookie" \
        >"$work/out" 2>"$work/err"
    code=$?
    if [ "$code" != 1 ] || ! grep -q "$3" "$work/err"; then
        echo "$1 $2: exit code $code"
        cat "$work/err"
        return 1
    fi
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd

run starts
run says_which_limit_is_too_low
run without_one
run without_a_node
run once
run tracing_and_counting
run reading_recordings
run recording
run in_the_background
finish
