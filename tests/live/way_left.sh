# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# Calls of beamtop with nodes that are named by URLs, and what they leave on this host; sourced after
# releases.sh.

# What beamtop starts is known by its environment, and what it makes by its folder.
by_way() { XDG_RUNTIME_DIR=$work/run "$beamtop" "$@" --timeout 60 --cookie-file "$work/cookie" </dev/null; }

left_here() { grep -ls "XDG_RUNTIME_DIR=$work/run" /proc/[0-9]*/environ; ls -A "$work/run"; }
nothing_is_left_here() { [ -z "$(left_here 2>/dev/null)" ]; }
leaves_nothing_here() {
    wait_until 60 nothing_is_left_here || { echo "left here:"; left_here; return 1; }
}

name_of() { echo "${node%@*}"; }

prints_its_name() { # URL [NOTICE]
    by_way info "$1" --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds '.[0].node == "'"$node"'"' || return 1
    if [ $# -gt 1 ]; then
        told "$2"
    else
        [ ! -s "$work/err" ] || { cat "$work/err"; return 1; }
    fi
}

# fails_with CODE WORDS URL OPTION…
fails_with() {
    code=$1 words=$2
    shift 2
    by_way info "$@" >"$work/out" 2>"$work/err"
    ends_with "$code" $? && told "$words"
}

traces() {
    exec env XDG_RUNTIME_DIR="$work/run" "$beamtop" trace "$1" 'fleet_load:watch/2' --time 10m \
        --events 10000 --timeout 60 --cookie-file "$work/cookie" --format json >"$work/out" 2>"$work/err" </dev/null
}
has_events() { grep -q '"fleet_load:watch/2"' "$work/out"; }
traces_or_ended() { has_events || has_ended "$tracer"; }

starts_a_trace() { # URL: then $tracer has events
    : >"$work/out"
    traces "$1" &
    tracer=$!
    wait_until 120 traces_or_ended
    has_events || { cat "$work/err" "$work/out"; return 1; }
}

# in_a_trace URL COMMAND…: ends the processes that it prints; then beamtop has ended, with $ended.
in_a_trace() {
    starts_a_trace "$1" || return 1
    shift
    "$@" >"$work/killed"
    # shellcheck disable=SC2046
    kill -9 $(cat "$work/killed") || return 1
    wait "$tracer"
    ended=$? # for the case that calls it
    : "$ended"
    is_clean && leaves_nothing_here
}
beamtop_itself() { echo "$tracer"; }
with_words() { pgrep -f -- "$1"; } # which name a folder of this test
