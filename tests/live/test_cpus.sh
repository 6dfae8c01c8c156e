#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Schedulers and CPUs on a real node: a VM of two schedulers, pinned to one CPU beside
# a busy loop, is seen to wait for it; microstate accounting is what it was before, after the end,
# after a kill, and where another tool had switched it on. The load is cpus_load.erl.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
command -v taskset >/dev/null || skip_all "no taskset here"

load=cpus_load
ERL_FLAGS="+S 2:2 -kernel net_ticktime 300"
export ERL_FLAGS
. "$(dirname "$0")/releases.sh"

# Shares of a time in which others run are judged by `check all`.
[ "${BEAMTOP_CHECK:-}" = all ] && judged=true || judged=false

beam() {
    command=$1
    shift
    "$beamtop" "$command" "$@" --timeout 60 --cookie-file "$work/cookie" >"$work/out" 2>"$work/err"
}

first_cpu() { taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/'; }

on_one_cpu() {
    taskset -apc "$(first_cpu)" "$(cat "$dir/pid")" >"$work/taskset" 2>&1 || { cat "$work/taskset"; return 1; }
}

# is_flag ON: it takes a moment, on a busy machine a long one.
is_flag() {
    for _ in $(seq 100); do
        rm -f "$dir/said"
        order flag || return 1
        [ "$(cat "$dir/said")" != "$1" ] || return 0
        sleep 0.1
    done
    echo "microstate accounting is on: $(cat "$dir/said")"
    return 1
}

# ---- a CPU for two schedulers, and for a busy loop

waiting_for_a_cpu_is_seen() {
    on_one_cpu || return 1
    timeout 300 taskset -c "$(first_cpu)" sh -c 'while :; do :; done' &
    loop=$!
    # For as long as it takes until each has run.
    for seconds in 2 8 32; do
        beam cpus "$node" --for "${seconds}s" --format json
        code=$?
        ! jq -se '[.[0].rows[] | select(.kind == "normal")] | length == 2 and all(.[]; .run > 0)' \
            "$work/out" >/dev/null 2>&1 || break
    done
    kill "$loop"
    wait "$loop" 2>/dev/null
    ends_with 0 "$code" &&
        holds '.[0].cpus.allowed_cpus == 1' &&
        holds '[.[0].rows[] | select(.kind == "normal")] | length == 2' &&
        holds '[.[0].rows[] | select(.kind == "normal") | .wait] | add > 0.3' &&
        holds "all(.[0].rows[] | select(.kind == \"normal\"); .run > 0 and .cpu >= 0 and
                   (.run + .wait <= 1.5 and .utilisation > 0.3 or ($judged | not)))"
    result=$?
    holds 'all(.[0].rows[]; .bound == null)' || return 1
    is_clean && return "$result"
}

# ---- microstate accounting

its_states_are_shown() {
    beam msacc "$node" --for 1s --format json
    ends_with 0 $? && told 'up to 28%' &&
        holds '.[0].msacc.on_before == false and .[0].msacc.switched_off == false' &&
        holds ".[0].rows[0] | .type == \"scheduler\" and .id == null and .threads == 2
               and .emulator > 0 and .counted > 0 and (.emulator > 0.1 and .counted > 0.8 or ($judged | not))" &&
        holds "[.[0].rows[0, 1] | .gc, .other] | add | . > 0 and (. > 0.01 or ($judged | not))" &&
        is_flag false && is_clean
}

# begins and is killed, when it is on.
a_kill_restores_it() {
    "$beamtop" msacc "$node" --for 300s --timeout 60 --cookie-file "$work/cookie" \
        >"$work/out" 2>"$work/err" &
    killed=$!
    is_flag true || { kill "$killed"; cat "$work/err"; return 1; }
    kill -9 "$killed"
    wait "$killed" 2>/dev/null
    is_flag false && is_clean
}

it_stays_on_where_it_was() {
    order on && is_flag true || return 1
    beam msacc "$node" --for 1s --format json
    ends_with 0 $? && holds '.[0].msacc.on_before' && is_clean && is_flag true
    result=$?
    order off && is_flag false && return "$result"
}

# It is switched off while it is measured: seen by what was counted. For as long as that takes on the
# machine as it is.
switching_it_off_is_seen() {
    for seconds in 3 12 48; do
        "$beamtop" msacc "$node" --for "${seconds}s" --timeout 60 --format json --cookie-file "$work/cookie" \
            >"$work/out" 2>"$work/err" &
        measuring=$!
        is_flag true && order off
        wait "$measuring"
        ends_with 0 $? || return 1
        ! jq -s -e '.[0].msacc.switched_off' "$work/out" >/dev/null || break
    done
    holds '.[0].msacc.switched_off' && is_flag false && is_clean
}

same waiting_for_a_cpu_is_seen its_states_are_shown a_kill_restores_it \
    it_stays_on_where_it_was switching_it_off_is_seen
run_on_releases
