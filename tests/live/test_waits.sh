#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Which process waits for which, on real nodes: servers in a deadlock, a pool that is used up, a server that was
# left suspended, a call of another node, one of several that may be the one; what findings say of them. The load is waits_load.erl.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=waits_load
. "$(dirname "$0")/releases.sh"

asks() {
    "$beamtop" waits "$node" --timeout 60 --cookie-file "$work/cookie" "$@" >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $?
}
finds() { asks --format json && jq -s -e ".[-1] | $1" "$work/out" >/dev/null; }
# finds_at_last FILTER: of the last tick, in some seconds.
finds_at_last() {
    fact=$1
    wait_until 20 finds "$1" && return
    echo "does not hold: $1"
    jq -c '(.chains, .rows[])' "$work/out"
    return 1
}
row='def row(name): .rows[] | select(.name == name);'

nobody_waits() { finds_at_last '.waits.partial == false and .chains.deadlocks == 0 and .chains.for_unknown == 0'; }

a_deadlock() {
    order deadlock && finds_at_last "$row .chains.deadlocks == 1 and
        (.chains.deadlock | test(\"waits_left -> waits_right -> waits_left|waits_right -> waits_left -> waits_right\"))
        and row(\"waits_left\").waits_for_name == \"waits_right\" and row(\"waits_left\").deadlock == 1
        and row(\"waits_left\").waiters == 2 and row(\"waits_left\").behind == 2
        and row(\"waits_third\").deadlock == null and row(\"waits_third\").waits_for_name == \"waits_left\"
        and (row(\"waits_left\").caller | test(\"waits_load:handle_cast/2\"))" || return 1
    asks -n 2 -i 0.5 && says 'deadlock +waits_' || return 1
    "$beamtop" capture "$node" --view waits --size 120x40 --no-config --timeout 60 --cookie-file "$work/cookie" \
        >"$work/out" 2>"$work/err" </dev/null
    ends_with 0 $? && says 'Deadlock: waits_' && says 'deadlock .*waits for waits_' && order free
}

a_pool_that_is_used_up() {
    order pool && finds_at_last "$row row(\"waits_pool\").waiters == 12 and row(\"waits_pool\").kind == null
        and ([.rows[] | select(.waits_for_name == \"waits_pool\" and .kind == \"call\" and .among == 1)] | length) == 12" &&
        order free
}

a_suspended_server() {
    order suspend && finds_at_last "$row row(\"waits_left_alone\").kind == \"suspended\"
        and row(\"waits_left_alone\").waiters == 0 and row(\"waits_held\").suspended and row(\"waits_held\").waiters == 2
        and row(\"waits_held\").message_queue_len == 2" && order free
}

another_node() {
    order other && finds_at_last '.chains.for_other_nodes == 1 and
        any(.rows[]; .kind == "rpc" and (.node // "" | test("^waits_other")) and .waits_for == null and .among == 1)' &&
        order other_ends && order free
}

one_of_several() {
    order many && finds_at_last '.chains.for_unknown == 1 and any(.rows[]; .kind == "call" and .among == 5
        and .waits_for == null)' && order free
}

other_places() {
    order places && finds_at_last "$row any(.rows[]; .kind == \"io\" and .waits_for_name == \"waits_leader\")
        and row(\"waits_starter\").waits_for_name == \"waits_child\" and row(\"waits_starter\").kind == \"start\"
        and any(.rows[]; .kind == \"io\" and .waits_for_name == \"waits_file\" and .among == 1)
        and any(.rows[]; .kind == \"port\" and (.waits_for_name // \"\" | test(\"^#Port\")))
        and any(.rows[]; .kind == \"send\" and (.waits_for_name // \"\" | test(\"^#Port\")))" && order free
}

# ---- what findings say of it

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME

reports() {
    "$beamtop" report "$work/recording" --format json >"$work/out" 2>"$work/err" </dev/null &&
        jq -s -e ".[-1] | $1" "$work/out" >/dev/null
}

# The second look comes 10 s after the first.
findings() {
    order deadlock && order pool || return 1
    rm -f "$work/recording"
    "$beamtop" record "$node" -o "$work/recording" --interval 1s --budget 20 --for 600s --timeout 60 \
        --cookie-file "$work/cookie" >"$work/told" 2>&1 </dev/null &
    recorder=$!
    wait_long 600 reports '[.findings[] | select(.rule == "deadlock" or .rule == "waited_for") | .title] | sort
        | (.[0] | test("^Deadlock: waits_(left -> waits_right -> waits_left|right -> waits_left -> waits_right)$"))
        and .[1] == "waits_pool is waited for by 12 processes"'
    found=$?
    kill "$recorder" && wait "$recorder"
    [ "$found" -eq 0 ] && order free && return
    cat "$work/out" "$work/told"
    return 1
}

nothing_is_left() { nobody_waits && is_clean; }

differ nobody_waits a_deadlock a_pool_that_is_used_up a_suspended_server another_node one_of_several \
    other_places findings nothing_is_left
run_on_releases
