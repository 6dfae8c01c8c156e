#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `beamtop doctor` on real nodes: one that opens, ones that do not for one reason each, and all of this host. It
# connects and leaves nothing there.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=idle_load
. "$(dirname "$0")/releases.sh"

# examines CODE WORDS…: rows of JSON in $work/out.
examines() {
    expected=$1
    shift
    "$beamtop" doctor "$@" --timeout 30 --format json >"$work/out" 2>"$work/err" </dev/null
    ends_with "$expected" $?
}
# row CHECK STATE TEXT: of this node.
row() {
    holds ".[0].rows | map(select(.node == \"$node\" and .check == \"$1\" and .state == \"$2\" and
        (.text | test(\"$3\")))) | length == 1"
}

opens() {
    examines 0 "$node" && row name ok 'long names' && row cookie ok 'command line' && row otp ok "^$1" &&
        row connection ok "to $node" && row epmd ok "port $ERL_EPMD_PORT" && row process ok 'OS process [0-9]' &&
        is_clean
}
opens_by_its_pid() {
    pid=$("$beamtop" nodes --format json | jq ".rows[] | select(.name == \"$node\") | .os_pid")
    examines 0 "$pid" && row connection ok "to $node"
}
other_cookie() {
    printf 'another' >"$work/another"
    examines 3 "$node" --cookie-file "$work/another" && row cookie fail "not this node's" &&
        row connection fail 'rejected the cookie' &&
        holds '[.[0].rows[] | select(.state == "fail") | .fix] | all(. == null or test("cookie-file"))'
}
stopped() {
    pid=$(cat "$dir/pid")
    kill -STOP "$pid" || return 1
    "$beamtop" doctor "$node" --timeout 2 --format json >"$work/out" 2>"$work/err" </dev/null
    code=$?
    kill -CONT "$pid"
    ends_with 3 "$code" && row state fail 'stopped by a signal' &&
        row connection fail 'does not answer' &&
        holds "[.[0].rows[] | select(.check == \"connection\") | .fix | test(\"beamtop outside $node\")] == [true]" &&
        holds "[.[0].rows[] | select(.check == \"state\") | .fix] == [\"Next: kill -CONT $pid\"]"
}
closed_port() { examines 3 "$node" --host 127.0.0.1 --port 1 && row connection fail 'refuses'; }
# behind ROUTES WORDS…: `doctor` of a node of another host, whose way has these routes.
behind() {
    routes=$1
    shift
    unshare -n sh -c "ip link set lo up && ip addr add 198.51.100.1/32 dev lo && $routes"' && exec "$@"' - \
        "$beamtop" doctor far@192.0.2.1 "$@" --timeout 2 --format json >"$work/out" 2>"$work/err" </dev/null
    ends_with 3 $?
}
# The loopback has no such address: what is sent there is dropped.
four_ways() {
    asked=$node
    node=far@192.0.2.1
    behind 'ip route add 192.0.2.1 dev lo src 198.51.100.1' && row epmd fail 'does not answer: a firewall' &&
        behind 'ip route add 192.0.2.1 dev lo src 198.51.100.1' --port 4711 &&
        row connection fail 'does not answer to a connection: a firewall' &&
        behind 'ip route add unreachable 192.0.2.1' && row epmd fail 'a firewall rejects it' &&
        behind 'ip route add prohibit 192.0.2.1' --port 4711 && row connection fail 'a firewall rejects it'
    said=$?
    node=$asked
    return $said
}
a_firewall_drops_or_rejects() {
    if ! unshare -n true 2>/dev/null || ! command -v ip >/dev/null; then
        not_tried "no network namespace can be made here"
        return 0
    fi
    four_ways
}
text_has_no_cookie() {
    "$beamtop" doctor "$node" >"$work/out" 2>"$work/err"
    ends_with 0 $? && says '^  ok    connection ' || return 1
    ! grep -q releases "$work/out"
}
unknown_host() {
    asked=$node
    node=nobody@host.invalid
    examines 3 "$node" && row host fail 'not found' && row connection fail 'not found'
    found=$?
    node=$asked
    return $found
}
other_host_part() {
    asked=$node
    node=${node%@*}@other.invalid
    examines 3 "$node" && row name note "OS process [0-9]* is $asked" &&
        holds "[.[0].rows[] | select(.check == \"name\") | .fix] | .[0] | test(\"beamtop doctor [0-9]\")"
    found=$?
    node=$asked
    return $found
}
without_distribution() {
    erl -noinput -eval 'timer:sleep(600000)' &
    plain=$!
    wait_until 60 plain_is_listed
    "$beamtop" doctor "$plain" >"$work/out" 2>"$work/err"
    ends_with 1 $? && says '^  fail  connection .*without distribution: start it with -sname'
    said=$?
    kill -9 "$plain"
    wait "$plain" 2>/dev/null
    return $said
}
plain_is_listed() { "$beamtop" nodes --format json | jq -e ".rows[] | select(.os_pid == $plain)" >/dev/null; }

differ opens
once opens_by_its_pid stopped other_cookie closed_port unknown_host other_host_part a_firewall_drops_or_rejects text_has_no_cookie without_distribution
run_on_releases
