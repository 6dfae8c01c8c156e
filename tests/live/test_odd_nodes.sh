#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes among several that are not as the others: a slow way to one, another release under the name of one
# that ended, another cookie, and a clock that steps in the middle of a trace. Each shows in its row, in
# words, and what causes one another is never shown the other way round. The load is fleet_load.erl.
# shellcheck disable=SC1091,SC2016,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=fleet_load
. "$(dirname "$0")/releases.sh"
. "$(dirname "$0")/several.sh"

otp=$(BEAMTOP_RELEASES='' releases_of once) # whose libraries faketime's is made for

# adds SUFFIX [FLAGS [NAME [COOKIE]]]
adds() {
    start_node "$otp" "$@" || return 1
    pids="$pids $node_pid" dirs="$dirs $dir" names="$names${names:+,}$node"
}

both_are_up() { adds a && adds b && one=${names%,*} two=${names#*,} two_dir=$dir two_pid=$node_pid; }

# ---- rows

# watches NODE,…: ticks in $work/ticks, until `ends_watch`.
watches() {
    "$beamtop" fleet "$1" --cookie-file "$work/cookie" --timeout 30 -n 0 -i 0.5 --format json >"$work/ticks" \
        2>"$work/err" &
    looker=$!
}
ends_watch() {
    kill -INT "$looker"
    wait "$looker"
    ended=$?
    [ "$1$ended" = 00 ] && return
    echo "exit code $ended"
    tail -n 2 "$work/ticks"
    cat "$work/err"
    return 1
}
now() { tail -n 1 "$work/ticks" | jq -e "$1" >/dev/null 2>&1; }
all_up() { now '[.rows[].state] | unique == ["up"]'; }

other_cookie_shows() {
    adds c '' "cookie_x$$" other || return 1
    "$beamtop" fleet "$names" --cookie-file "$work/cookie" --timeout 30 --format json >"$work/out" 2>"$work/err"
    ends_with 0 $? && holds ".[0].rows | map(select(.node == \"$node\")) | .[0] | .state == \"failed\" and (.note | test(\"rejected the cookie\"))" &&
        holds ".[0].rows | map(select(.state == \"failed\")) | length == 1"
    shown=$?
    names=$one,$two
    return $shown
}

# With as few bytes as that an answer takes longer than a tick.
slow_way_shows() {
    export ERL_EPMD_PORT
    first_port=$ERL_EPMD_PORT first_epmd=$epmd_pid
    ERL_EPMD_PORT=$((ERL_EPMD_PORT + 1))
    start_epmd
    other_port=$ERL_EPMD_PORT other_epmd=$epmd_pid
    adds s '' "slow_x$$"
    started=$?
    ERL_EPMD_PORT=$first_port epmd_pid=$first_epmd
    [ "$started" = 0 ] || return 1
    port=$(epmd -port "$other_port" -names | sed -n "s/^name slow_x$$ at port //p")
    for module in proxy slow_way; do
        erlc -o "$work" "$BEAMTOP_SRCDIR/tests/live/$module.erl" || return 1
    done
    erl -noinput -pa "$work" -eval "slow_way:start(\"$dir\", \"slow_x$$\", $port)." >"$work/way" 2>&1 &
    way=$!
    pids="$pids $way"
    wait_until 120 test -s "$dir/way" || { cat "$work/way"; return 1; }
    watches "$names"
    becomes_slow
    slow=$?
    ends_watch $slow
    slow=$?
    kill "$way" "$other_epmd"
    return $slow
}
becomes_slow() {
    wait_until 120 all_up || { echo "not up"; return 1; }
    order slow
    wait_until 120 now ".rows | all(.[]; .state == if .node == \"$node\" then \"late\" else \"up\" end)" ||
        { echo "not late"; return 1; }
    order fast
    wait_until 120 all_up || { echo "late for ever"; return 1; }
}

# Under the name of one that ended.
other_release_shows() {
    another=$(BEAMTOP_RELEASES='' releases_of each | tr ' ' '\n' | grep -vx "$otp" | tail -n 1)
    reason=$("$otp_sh" --root "$another" 2>&1) || { not_tried "$reason"; return 0; }
    adds r && third=$node third_pid=$node_pid || return 1
    watches "$names"
    changes
    changed=$?
    ends_watch $changed
}
changes() {
    wait_until 120 all_up || { echo "not up"; return 1; }
    now '[.rows[].unlike] | all(. == false or . == null or (test("OTP") | not))' || { echo "unlike before"; return 1; }
    kill -9 "$third_pid"
    wait "$third_pid" 2>/dev/null
    wait_until 120 now ".rows[] | select(.node == \"$third\") | .state == \"lost\"" || { echo "not lost"; return 1; }
    start_node "$another" '' '' "${third%@*}" || return 1
    pids="$pids $node_pid" dirs="$dirs $dir"
    wait_until 120 now ".rows[] | select(.node == \"$third\") | .state == \"up\" and .otp == \"$another\"" ||
        { echo "not found again"; return 1; }
}

# ---- order

trace_begins() {
    exec "$beamtop" trace "$names" 'fleet_load:ping/1' 'fleet_load:pong/1' 'fleet_load:back/1' --events 600 \
        --time 10m --cookie-file "$work/cookie" --timeout 60 --format json >"$work/out" 2>"$work/err"
}
is_traced() { grep -q 'nodes are traced' "$work/err" 2>/dev/null; }
calls_back() { [ "$(grep -c '"fleet_load:back/1"' "$work/out")" -ge "$1" ]; }

# faked_clock adds…: with a clock that $dir/clock moves.
faked_clock() {
    for library in /usr/lib/*/faketime/libfaketimeMT.so.1; do [ -f "$library" ] || return 1; done
    clock=$work/clock
    echo '+0' >"$clock"
    LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$clock FAKETIME_NO_CACHE=1
    export LD_PRELOAD FAKETIME_TIMESTAMP_FILE FAKETIME_NO_CACHE
    "$@"
    faked=$?
    unset LD_PRELOAD FAKETIME_TIMESTAMP_FILE FAKETIME_NO_CACHE FAKETIME_DONT_FAKE_MONOTONIC
    return $faked
}

# steps CLOCKS LAST FLAGS: 5 s forwards, and later to LAST, while calls go from one node to the other.
steps() {
    command -v faketime >/dev/null || { not_tried "no faketime here"; return 0; }
    [ "$1" = all ] || { FAKETIME_DONT_FAKE_MONOTONIC=1 && export FAKETIME_DONT_FAKE_MONOTONIC; }
    names=$one
    faked_clock adds "t$1" "$3" || return 1
    echo "$one" >"$dir/peer"
    rm -f "$work/err"
    until_armed "$work/err" is_traced trace_begins || return 1
    order rounds && wait_until 120 calls_back 5 && echo '+5' >"$clock" && wait_until 120 calls_back 12 &&
        echo "$2" >"$clock" && wait_until 120 calls_back 20
    came=$?
    kill -INT "$armed"
    wait "$armed"
    ended=$?
    [ "$came$ended" = 00 ] || { echo "came $came, exit code $ended"; cat "$work/err"; return 1; }
    holds '[.[] | select(.kind == "call")] | length == 60 and ([.[].node] | unique | length == 2)' &&
        holds "$in_order" && is_clean || return 1
    order clock || return 1
    away=$(($(cat "$dir/seconds") - $(date +%s)))
    away=$((away - $2))
    [ "${away#-}" -le 2 ] || { echo "the clock is $away s further away than $2"; return 1; }
}

# A VM whose monotonic clock goes back ends: there is no such step.
wall_clock_steps() { steps wall -5 ''; }
warped_clock_steps() { steps wall -5 '+C multi_time_warp'; }
all_clocks_step() { steps all +10 ''; }

trap stop_nodes EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
run both_are_up
for case in other_cookie_shows slow_way_shows other_release_shows wall_clock_steps warped_clock_steps all_clocks_step; do
    case " ${BEAMTOP_TESTS-$case} " in *" $case "*) run "$case" ;; esac
done
names=$one,$two
finish
