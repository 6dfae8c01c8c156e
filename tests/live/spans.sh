# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# What the tests of causal spans on the load spans_load share; sourced after releases.sh.

# A pattern, or `--process` with its value, comes first.
spans() {
    "$beamtop" spans "$node" --timeout 60 --cookie-file "$work/cookie" --format json \
        "$@" >"$work/out" 2>"$work/err" </dev/null
}

# emits_nothing TRIES: a system tracer that is set now gets no event of a token.
emits_nothing() {
    tries=$1
    while [ "$tries" -gt 0 ]; do
        order emits || return 1
        [ "$(cat "$dir/said")" != 0 ] || return 0
        tries=$((tries - 1))
    done
    echo "events: $(cat "$dir/said")"
    return 1
}

# That of another tool, set by the order system_tracer, is all that stands; then it is taken away.
system_tracer_stood() {
    order audit || return 1
    left=$(cat "$dir/left")
    order no_system_tracer || return 1
    case $left in
    '[{system_tracer,<'*'>}]') ;;
    *) echo "left: $left"; return 1 ;;
    esac
}
