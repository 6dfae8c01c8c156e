#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One trace on real nodes of several releases: set on all or on none, its events divided and never more, in
# an order that causes keep, ended anywhere by the first that come, and nothing left wherever it is cut off.
# The load is fleet_load.erl.
# shellcheck disable=SC1091,SC2016,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"

trace() {
    patient traces "$@"
    ends_with 0 $?
}
traces() {
    traced=$1
    shift
    "$beamtop" trace "$traced" "$@" --cookie-file "$work/cookie" --timeout 60 --format json >"$work/out" \
        2>"$work/err"
}

# begins PATTERN… OPTION…: in place of the shell that calls it.
begins() {
    exec "$beamtop" trace "$names" "$@" --time 10m --cookie-file "$work/cookie" --timeout 60 --format json \
        >"$work/out" 2>"$work/err"
}

# What it says once it is set on all.
is_traced() { grep -q 'nodes\{0,1\} \(is\|are\) traced' "$work/err" 2>/dev/null; }

# arms PATTERN… OPTION…: what an earlier one said is gone.
arms() {
    rm -f "$work/err"
    until_armed "$work/err" is_traced begins "$@"
}

all_order() {
    for dir in $dirs; do order "$1" || return 1; done
}

# The last node goes to the one before it, which is of no much older release, and back; 20 ms are between
# cause and what it causes.
causes_come_first() {
    dir=$last_dir
    peer=${names%,*}
    echo "${peer##*,}" >"$dir/peer"
    arms 'fleet_load:ping/1' 'fleet_load:pong/1' 'fleet_load:back/1' \
        --events 600 || return 1
    order rounds && wait_until 120 came_back
    came=$?
    kill -INT "$armed"
    wait "$armed"
    ended=$?
    [ "$came$ended" = 00 ] || { echo "came $came, exit code $ended"; cat "$work/err"; return 1; }
    holds '[.[] | select(.kind == "call")] as $calls | ($calls | length) == 60 and
        ([range(1; 60) as $i | $calls[$i].late or $calls[$i - 1].here_us <= $calls[$i].here_us] | all)' &&
        holds "$in_order" && holds "[.[] | select(.kind == \"call\") | .node] | unique | length == 2" && all_clean
}
came_back() { grep -c '"fleet_load:back/1"' "$work/out" | grep -qx 20; }

# 10 over all of them, whatever each could give.
events_are_divided() {
    all_order work && trace "$names" 'fleet_load:work/1' --events 10 --rate 5000 --force --time 2m
    rc=$?
    all_order rest
    [ "$rc" = 0 ] && holds '[.[] | select(.kind == "call")] | length == 10' &&
        holds "[.[] | select(.kind == \"end\")] | length == $count and all(.[]; .reason == \"events\" and .verification.clean)" &&
        all_clean
}

# Whatever comes from all of them before they have ended.
the_first_are_exact() {
    all_order work && trace "$names" 'fleet_load:work/1' --first 7 --rate 5000 --force --time 10m
    rc=$?
    all_order rest
    [ "$rc" = 0 ] && holds '[.[] | select(.kind == "call")] | length == 7' && all_clean
}

# One in 10,000 calls takes minutes on a busy machine.
the_first_ends_all() {
    crash=crash
    [ "${BEAMTOP_CHECK-}" != all ] || crash=rarely
    all_order work && dir=$last_dir && order "$crash" &&
        trace "$names" 'fleet_load:work/1 -> raises;stack' --first 1 --rate 5000 --force --time 10m
    rc=$?
    all_order rest
    [ "$rc" = 0 ] && holds '[.[] | select(.kind == "call")] | length == 1 and (.[0].stack | length) > 0
        and (.[0].args[0] | test("000,10+\\}?$"))' &&
        holds "[.[] | select(.kind == \"exception\")] | length == 1 and .[0].node == \"$last\"
            and (.[0].result | test(\"rare\"))" && all_clean
}

all_or_none() {
    traces "$names,nobody$$@127.0.0.1" 'fleet_load:ping/1' --time 5s
    ends_with 3 $? && told 'nobody.*no node' && [ ! -s "$work/out" ] || return 1
    trace "$names,nobody$$@127.0.0.1" 'fleet_load:ping/1' --time 1s --partial && told 'nobody.* is left out' || return 1
    ! traces "$names" 'fleet_load:nothing/7' --time 1s && told 'nothing' && [ ! -s "$work/out" ] || return 1
    traces "$names" 'fleet_load:ping/1' --events 1
    ends_with 2 $? && told 'events for' || return 1
    traces "$last,${last%@*}@localhost" 'fleet_load:ping/1'
    ends_with 2 $? && told 'the same node' && all_clean
}

# The VM of one ends; the others go on, and give all of theirs.
one_is_lost() {
    arms 'fleet_load:ping/1' --events 600 || return 1
    end_last
    wait_until 120 lacks_one
    kill -INT "$armed"
    wait "$armed"
    ends_with 4 $? || return 1
    holds "[.[] | select(.kind == \"end\")] | length == $count and ([.[] | select(.verification.clean)] | length) == $((count - 1))" ||
        return 1
    start_last && all_clean
}
lacks_one() { ! is_running "$last_pid"; }

# BEAMTOP_KILLS: how many, in place of these.
a_kill_leaves_nothing() {
    all_order work
    kills=5
    [ "${BEAMTOP_CHECK-}" != all ] || kills=100
    for _ in $(seq "${BEAMTOP_KILLS:-$kills}"); do
        arms 'fleet_load:work/1' --events 10000 --rate 5000 --force || return 1
        kill -9 "$armed"
        wait "$armed" 2>/dev/null
    done
    all_order rest && all_clean
}

run_on_several causes_come_first events_are_divided the_first_are_exact the_first_ends_all all_or_none one_is_lost a_kill_leaves_nothing
