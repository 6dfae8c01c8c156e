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
once opens_by_its_pid stopped other_cookie closed_port unknown_host other_host_part text_has_no_cookie without_distribution
run_on_releases
