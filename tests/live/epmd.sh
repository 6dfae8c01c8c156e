# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# An epmd of this script's own. Sourced, after ../tap.sh. Nodes start with `-start_epmd false`, or they
# would start another, which stays.

command -v erl >/dev/null || skip_all "no Erlang on this machine"
ERL_EPMD_PORT=$((20000 + $$ % 12000)) # below the ports that the system gives away
export ERL_EPMD_PORT
epmd_pid=

epmd_answers() { epmd -port "$ERL_EPMD_PORT" -names >/dev/null 2>&1; }
epmd_settles() { epmd_answers || ! is_running "$epmd_pid"; }

# On the first port from there on that nobody has; it answers when this returns, for a node that starts
# before gives up.
start_epmd() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        if ! epmd_answers; then
            epmd -port "$ERL_EPMD_PORT" >"$work/epmd.log" 2>&1 &
            epmd_pid=$!
            wait_until 60 epmd_settles && is_running "$epmd_pid" && return 0
            stop_epmd
        fi
        ERL_EPMD_PORT=$((ERL_EPMD_PORT + 1))
    done
    fail_all "no epmd answers on the ports up to $ERL_EPMD_PORT" "$work/epmd.log"
}

stop_epmd() {
    [ -z "$epmd_pid" ] || kill "$epmd_pid" 2>/dev/null
    epmd_pid=
}
