#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What the program costs a target and its own machine, as tables of figures and goals; asserts
# nothing. See docs/performance.md.
# usage: bench.sh [budget|calls|cheap|clients|cost|findings|light|opening|overload|peers|queues|
#                  recording|spans|standing|trace]…
#                 all of them without an argument
#   BEAMTOP        the program (default: the one of the build)
#   BENCH_RELEASES releases beside the machine's own (default: 23 27 29; those that are there)
#   BENCH_PROCESSES, BENCH_MANY   processes of the targets (100000, 1000000)
#   OBSERVER_CLI, RECON   their source directories (peers: observer_cli has a row where both are given)
#   BENCH_CLIENTS  clients at once (8, as many names as there are)
#   BENCH_PEERS    processes of the targets of peers (0 10000 100000 1000000)
#   BENCH_LOADS    and of cheap (0 10000 and BENCH_PROCESSES)
#   BENCH_SOCKETS  sockets of standing (9000; each is an open file)
#   BENCH_OVERLOAD and of overload (2000 10000 and BENCH_PROCESSES)
# All but calls, findings, overload, queues, recording, spans and standing: quiet, and beside ten busy loops.
set -u
src=${BEAMTOP_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${BEAMTOP_BUILDDIR:-$src}
roots=${BEAMTOP_ROOTS:-/var/cache/beamtop}
program=${BEAMTOP:-$build/src/beamtop}
some=${BENCH_PROCESSES:-100000}
many=${BENCH_MANY:-1000000}
BEAMTOP_SRCDIR=$src
ERL_EPMD_PORT=$((20000 + $$ % 12000))
BEAMTOP_BUILDDIR=$build
ERL_CRASH_DUMP=/dev/null
export BEAMTOP_SRCDIR BEAMTOP_BUILDDIR ERL_EPMD_PORT ERL_CRASH_DUMP

command -v erlc >/dev/null || { echo "no Erlang on this machine"; exit 77; }
work=$(mktemp -d) || exit 1
feeder=
cleanup() {
    [ -z "$feeder" ] || kill "$feeder" 2>/dev/null
    stop_loops
    ERL_EPMD_PORT=$ERL_EPMD_PORT epmd -kill >/dev/null 2>&1
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
erlc -o "$work" "$src/tests/live/queries.erl" "$src/src/query/prepare.erl" "$src/tests/bench/scan.erl" \
    "$src/tests/bench/cheap.erl" "$src/tests/bench/tracing.erl" \
    "$src/tests/bench/counting.erl" "$src/tests/bench/findings.erl" \
    "$src/tests/bench/following.erl" "$src/tests/bench/overload.erl" \
    "$src/tests/bench/queues.erl" "$src/tests/bench/standing.erl" || exit 1

erlang() {
    timeout "$1" erl -noinput -hidden -pa "$work" -name "bench$$_$2@127.0.0.1" \
        -setcookie beamtop_test -eval "$3, halt(0)."
}

# Every release: "" is the machine's own.
each_root() {
    for release in "" ${BENCH_RELEASES-23 27 29}; do
        root=
        if [ -n "$release" ]; then
            root=$roots/otp-$release
            if [ "$(id -u)" != 0 ] || [ ! -x "$root/usr/bin/erl" ]; then continue; fi
        fi
        case $1 in
        calls) erlang 240 calls "counting:main([\"$program\", \"$root\"])" ;;
        findings) erlang 600 findings "findings:main([\"$root\",
            {processes, $some}, {processes, $many}, {tables, 50000}, {atoms, 1000000}])" ;;
        spans) erlang 900 spans "following:main([\"$program\", \"$root\"])" ;;
        overload) for n in ${BENCH_OVERLOAD:-2000 10000 $some}; do
            erlang 600 overload "overload:main([\"$program\", \"$root\", $n])"
        done ;;
        queues) erlang 600 queues "queues:main([\"$program\", \"$root\"])" ;;
        standing) erlang 900 standing "standing:main([\"$program\", \"$root\", {tables, 100000},
            {spread, 1000}, {ports, 50000}, {sockets, ${BENCH_SOCKETS:-9000}},
            {timers, 1000000}, {processes, $some}])" ;;
        trace) erlang 240 trace "tracing:main([\"$program\", \"$root\"])" ;;
        *) erlang 600 cheap "cheap:main([\"$program\", \"$root\", $1])" ;;
        esac
    done
}

word() { awk -v v="$2" -v g="$3" -v what="$1" 'BEGIN {
    printf "  %-52s %14s  < %-10s %s\n", what, v, g, v == "" ? "no figure" : v + 0 < g + 0 ? "ok" : "MISSED" }'; }
value() { awk -v n="$1" '$1 == n { print $2 }' "$work/figures"; }

# A target that stays while the program is measured on it: sets node and os_pid.
open_target() {
    mkfifo "$work/in" "$work/out"
    timeout 300 erl -noshell -hidden -pa "$work" -name "bench$$_light@127.0.0.1" \
        -setcookie beamtop_test -eval "cheap:light([\"\", $1]), halt(0)." <"$work/in" >"$work/out" &
    feeder=$!
    exec 3>"$work/in" 4<"$work/out"
    read -r _ node os_pid <&4
    node=$(echo "$node" | tr -d "'")
}

close_target() {
    exec 3>&- 4<&-
    wait "$feeder"
    feeder=
    rm -f "$work/in" "$work/out"
}

run_pty() {
    "$build/tests/bench/pty" "$@" "$program" "$node" --cookie beamtop_test --no-config \
        >"$work/figures" 2>&1 || echo "  the program did not show a full screen"
}

light_figures() {
    echo "the program's own side, target of $1 more processes"
    open_target "$1"
    starts=
    for _ in 1 2 3 4 5; do
        run_pty
        starts="$starts $(value first_screen_ms)"
    done
    median=$(echo "$starts" | tr ' ' '\n' | grep . | sort -n | sed -n 3p)
    word "first full screen, ms after start, median of 5" "$median" 150
    run_pty -t 30
    word "share of a core over 30 s, %" "$(value cpu_percent)" 0.1
    word "resident memory after it, MiB" "$(value resident_kib | awk '{ printf "%.1f", $1 / 1024 }')" 6
    word "highest resident memory, MiB" "$(value peak_kib | awk '{ printf "%.1f", $1 / 1024 }')" 6
    run_pty -k 500
    word "key to screen, ms, p99 of 500, target as it is" "$(value key_p99_ms)" 16
    run_pty -k 500 -s "$os_pid"
    word "key to screen, ms, p99, target stopped" "$(value key_p99_ms)" 16
    echo busy >&3
    read -r _ <&4
    run_pty -k 500
    word "key to screen, ms, p99, target's schedulers busy" "$(value key_p99_ms)" 16
    echo "  keys without an answer: $(value keys_lost)"
    close_target
}

# ---- what a target pays for being looked at, by tool: its CPU time while a screen of 120x40 is
# renewed each second, less that of the same target by itself

PEERS_SETTLE_S=6
PEERS_S=15

# CPU time of all threads of the target, in ms.
target_cpu_ms() {
    cat /proc/"$os_pid"/task/*/schedstat 2>/dev/null | awk '{ sum += $1 } END { printf "%.1f", sum / 1e6 }'
}

# peer_ms COMMAND…: while the program runs; none: only the target. ms per second.
peer_ms() {
    peer=
    if [ $# -gt 0 ]; then
        timeout $((PEERS_SETTLE_S + PEERS_S + 10)) "$@" >"$work/peer" 2>&1 </dev/null &
        peer=$!
    fi
    sleep "$PEERS_SETTLE_S"
    before=$(target_cpu_ms)
    sleep "$PEERS_S"
    after=$(target_cpu_ms)
    if [ -n "$peer" ] && ! kill -0 "$peer" 2>/dev/null; then
        echo "-"
        return
    fi
    [ -z "$peer" ] || wait "$peer"
    awk -v a="$before" -v b="$after" -v s="$PEERS_S" 'BEGIN { printf "%.2f", (b - a) / s }'
}

peer_row() {
    ms=$(peer_ms "$@")
    awk -v all="$ms" -v alone="$alone" 'BEGIN {
        if (all == "-") print "no figure"; else printf "%.2f", all - alone }'
}

build_observer_cli() {
    mkdir -p "$work/peers"
    erlc -I "$OBSERVER_CLI/include" -o "$work/peers" "$RECON"/src/*.erl "$OBSERVER_CLI"/src/*.erl >"$work/peers.log" 2>&1 &&
        cp "$OBSERVER_CLI/src/observer_cli.app.src" "$work/peers/observer_cli.app"
}

# in_terminal COMMAND…: a row of a program that needs a terminal.
in_terminal() {
    peer_row "$build/tests/bench/pty" -t $((PEERS_SETTLE_S + PEERS_S + 2)) "$@"
}

# erl_peer HOW EXPRESSION
erl_peer() {
    "$1" env TERM=xterm erl -noshell -hidden -name "$1$$@127.0.0.1" -setcookie beamtop_test \
        -pa "$work/peers" -eval "$2"
}

# Busy loops beside what is measured, which end by themselves.
loops=
start_loops() {
    i=0
    while [ "$i" -lt "$1" ]; do
        timeout 10800 sh -c 'while :; do :; done' &
        loops="$loops $!"
        i=$((i + 1))
    done
}

stop_loops() {
    # shellcheck disable=SC2086
    [ -z "$loops" ] || kill $loops 2>/dev/null
    loops=
}

# quiet_and_busy COMMAND…
quiet_and_busy() {
    "$@"
    echo "beside ten busy loops"
    start_loops 10
    "$@"
    stop_loops
}

million_figures() { erlang 480 budget "cheap:main([\"$program\", \"\", {budget, $many}])"; }
both_light_figures() {
    light_figures 0
    light_figures "$some"
}

# open_peers_target PROCESSES LOAD: a node as a user has it, with the modules that the others need on
# it: sets node and os_pid.
open_peers_target() {
    rm -f "$work/target"
    node=peers$$x$1x$2@127.0.0.1
    timeout 600 erl +P $((262144 + 2 * $1)) -noinput -hidden -pa "$work/peers" -name "$node" \
        -setcookie beamtop_test -eval "
        [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, $1)],
        file:write_file(\"$work/target.new\", os:getpid()),
        file:rename(\"$work/target.new\", \"$work/target\")" >/dev/null 2>&1 &
    feeder=$!
    tries=300
    while [ ! -s "$work/target" ]; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || { echo "  the target did not start"; return 1; }
        sleep 0.1
    done
    os_pid=$(cat "$work/target")
}

# peers_figures PROCESSES LOAD
peers_figures() {
    echo "CPU time of a target of $1 more processes for a screen each second, ms/s, $2 busy loops"
    open_peers_target "$1" "$2" || return
    start_loops "$2"
    alone=$(peer_ms)
    printf '  %-40s %10s\n' "the target alone" "$alone" \
        "beamtop" "$(in_terminal "$program" "$node" --cookie beamtop_test --no-config)" \
        "beamtop, no cost limit" "$(in_terminal "$program" "$node" --cookie beamtop_test --no-config --budget 100)" \
        "beamtop, when it knows that the node is idle" \
        "$(PEERS_SETTLE_S=30 in_terminal "$program" "$node" --cookie beamtop_test --no-config)"
    printf '  %-40s %10s\n' "the floor: processes() and a bare sweep" "$(peer_row erl -noinput -hidden \
        -name "floor$$@127.0.0.1" -setcookie beamtop_test -pa "$work" -eval "
            (fun F() -> scan:bare('$node', 1), timer:sleep(1000), F() end)()")"
    [ ! -f "$work/peers/observer_cli.beam" ] || printf '  %-40s %10s\n' "observer_cli" \
        "$(erl_peer in_terminal "observer_cli:start(list_to_atom(\"$node\"), [{interval, 1000}])")"
    printf '  %-40s %10s\n' "etop" "$(erl_peer peer_row \
        "etop:start([{node, list_to_atom(\"$node\")}, {output, text}, {interval, 1}, {lines, 40}])")"
    stop_loops
    kill "$feeder"
    wait "$feeder" 2>/dev/null
    feeder=
}

# As when each of a team looks at the same node: as many as it takes, a name each.
clients_figures() {
    number=${BENCH_CLIENTS:-8}
    open_target 0
    rm -f "$work/clients"
    clients=
    begun=$(date +%s%N)
    for _ in $(seq "$number"); do
        (timeout 120 "$program" top "$node" --cookie beamtop_test -n 1 --timeout 60 >"$work/client" 2>&1 &&
            echo $((($(date +%s%N) - begun) / 1000000)) >>"$work/clients") &
        clients="$clients $!"
    done
    # shellcheck disable=SC2086
    wait $clients
    echo "$number clients at once, $(wc -l <"$work/clients") of them with an answer"
    word "first line, ms, median" "$(sort -n "$work/clients" | sed -n "$(((number + 1) / 2))p")" 2000
    word "first line, ms, the last" "$(sort -n "$work/clients" | sed -n "${number}p")" 2000
    close_target
}

names_figures() {
    "$build/tests/bench/names" >"$work/figures" || return
    word "20,000 functions taken from 20 answers, ms" "$(value take_ms)" 50
    word "a keystroke: a module's functions and the nearest, µs" "$(value look_us)" 50000
}

# On the demo node, whose functions are called by themselves.
prompt_figures() (
    BEAMTOP_DEMO_DIR=$work/shop
    export BEAMTOP_DEMO_DIR
    "$src/demo/run.sh" start >"$work/env" || return
    # shellcheck disable=SC1091
    . "$work/env"
    "$build/tests/bench/pty" -p 'timer:sleep/1 --events 1' -w 'sleep(' "$program" \
        "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" --no-config >"$work/figures"
    "$src/demo/run.sh" stop
    word "trace prompt: Enter to first event, ms, median of 9" "$(value first_event_p50_ms)" 300
    word "trace prompt: Enter to first event, ms, worst of 9" "$(value first_event_max_ms)" 300
)

recording_figures() {
    "$build/tests/bench/recording" "$work/bench.btr" >"$work/figures" || return
    echo "a recording of 7,200 ticks with 60 rows each"
    word "a tick written, ms, median" "$(value tick_p50_ms)" 5
    word "a tick written, ms, p99" "$(value tick_p99_ms)" 50
    word "bytes a tick in the file" "$(value tick_bytes)" 9320
    word "the file, MiB" "$(value file_mib)" 64
    word "opening it, ms" "$(value open_ms)" 200
    word "opening it and seeking once, ms" "$(value open_and_seek_ms)" 200
    word "seeking, ms, median of 200" "$(value seek_p50_ms)" 200
    word "seeking, ms, worst" "$(value seek_max_ms)" 200
    for format in text markdown html json; do
        word "beamtop report as $format: opened, looked through, told, ms" "$(value report_${format}_ms)" 2000
    done
    word "beamtop diff of two of them, ms" "$(value diff_ms)" 4000
    word "beamtop report of seven of them, ms" "$(value sessions_ms)" 14000
}

[ $# -gt 0 ] || set -- cheap opening clients cost budget light peers trace calls findings overload queues \
    recording spans standing
for what; do
    echo "== $what"
    case $what in
    cheap)
        loads=
        for n in ${BENCH_LOADS:-0 10000 $some}; do loads="$loads${loads:+, }{load, $n}"; done
        quiet_and_busy each_root "$loads" ;;
    cost) quiet_and_busy each_root "{cost, 0}, {cost, 10000}, {cost, $some}" ;;
    opening) quiet_and_busy each_root "{opening, 0}, {opening, 10000}, {opening, $some}" ;;
    budget) quiet_and_busy million_figures ;;
    light) quiet_and_busy both_light_figures ;;
    peers)
        if [ -n "${OBSERVER_CLI:-}" ] && [ -n "${RECON:-}" ]; then build_observer_cli || cat "$work/peers.log"; fi
        mkdir -p "$work/peers"
        for n in ${BENCH_PEERS:-0 10000 100000 1000000}; do
            peers_figures "$n" 0
            peers_figures "$n" 10
        done ;;
    calls | findings | overload | queues | spans | standing) each_root "$what" ;;
    recording) recording_figures ;;
    clients) quiet_and_busy clients_figures ;;
    trace) quiet_and_busy each_root trace; names_figures; quiet_and_busy prompt_figures ;;
    *) echo "bench.sh: no bench $what" >&2; exit 2 ;;
    esac
done
