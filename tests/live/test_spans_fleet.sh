#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Requests over three real nodes of a release, as one capture: followed wherever they begin and go, set on
# all or on none, each node with its part of the events, and nothing left wherever it is cut off. The load
# is spans_fleet_load.erl.
# shellcheck disable=SC1091,SC2016,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"

load=spans_fleet_load
. "$(dirname "$0")/releases.sh"

# Of a, b and c: the names, the directories; pid of the second's VM.
start_three() {
    names='' dirs='' pids=''
    for part in a b c; do
        start_node "$otp" "$part" || return 1
        pids="$pids $node_pid"
        eval "$part=\$node dir_$part=\$dir"
        names="$names${names:+,}$node" dirs="$dirs $dir"
    done
}
stop_three() {
    # shellcheck disable=SC2086
    [ -z "${pids:-}" ] || { kill -9 $pids 2>/dev/null; wait $pids 2>/dev/null; }
    for dir in ${dirs:-}; do rm -rf "${dir:?}"; done
    pids='' dirs='' node_pid=''
}
os_vm() { pgrep -f -- "-name $1 " | head -n 1; }

spans() { patient asks_spans "$@"; }
asks_spans() {
    captured=$1
    shift
    "$beamtop" spans "$captured" "$@" --timeout 60 --cookie-file "$work/cookie" --format json \
        >"$work/out" 2>"$work/err" </dev/null
}

# begins PATTERN OPTION…: in place of the shell that calls it.
begins() {
    exec "$beamtop" spans "$names" "$@" --time 2m --roots 1000 --force --timeout 60 --format json \
        --cookie-file "$work/cookie" >"$work/out" 2>"$work/err" </dev/null
}
is_captured() { grep -q 'nodes\{0,1\} \(is\|are\) captured' "$work/err" 2>/dev/null; }
arms() {
    rm -f "$work/err"
    until_armed "$work/err" is_captured begins "$@"
}

# goes FROM ORDER NODE,…: requests of that node go there.
goes() {
    eval "dir=\$dir_$1"
    echo "$3" >"$dir/route"
    order "$2"
}
all_rest() {
    for dir in $dirs; do order rest || return 1; done
}
all_clean() {
    for dir in $dirs; do is_clean || return 1; done
}

prelude='
def inside($span): .offset_us >= $span.offset_us
    and .offset_us + .duration_us <= $span.offset_us + $span.duration_us;
# A call on a node, which is a whole span, and what it led to.
def called($node): [.children[] | select(.kind == "call" and .node == $node and (.leaf | not) and .name == "relay"
    and .outcome == "ok" and .queued_us >= 0)];
'
shows() {
    jq -e --arg a "$a" --arg b "$b" --arg c "$c" "$prelude $1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c 'del(.roots, .parts)' "$work/out"
        jq -c '.roots[] | [recurse(.children[]) | [.kind, .node, .name, .operation, .outcome, .offset_us,
            .duration_us, .queued_us, .leaf]]' "$work/out" | cut -c1-1500 | head -n 5
        cat "$work/err"
        return 1
    }
}
verified='.verification.clean and (.sides | length) == 2 and all(.sides[]; .verification.clean)'
fits='all(.sides[]; .clock_within_us > 0 and .clock_messages_there > 0 and .clock_messages_back > 0)'
over_three='. as $root | called($b) | length == 1 and (.[0] | inside($root) and .duration_us >= 6000
    and (. as $first | called($c) | length == 1 and (.[0] | inside($first) and .duration_us >= 4000)))'

a_request_goes_over_three_nodes() {
    goes a requests "$b,$c" || return 1
    spans "$names" 'spans_fleet_load:request(_)' --roots 3 --time 60s --force
    ended=$?
    all_rest
    ends_with 0 "$ended" && all_clean && shows ".ended_by == \"roots\" and .roots_taken >= 3 and .roots_open == 0
        and all(.sides[]; .ended_by == \"roots\")
        and .dropped.leaked == 0 and $verified and $fits
        and ([.sides[].node] | sort) == ([\$b, \$c] | sort) and all(.roots[]; .node == \$a and ($over_three))"
}

# Its own pid may have the numbers of another's.
requests_begin_anywhere() {
    goes a requests "$b,$c" && goes c requests "$a" && goes b requests "$c,$a" || return 1
    spans "$names" 'spans_fleet_load:request(_)' --roots 12 --time 60s --force
    ended=$?
    all_rest
    ends_with 0 "$ended" && all_clean && shows ".roots_taken >= 12 and $verified
        and ([.roots[].node] | unique | length) == 3
        and .roots_taken == ([.sides[].roots_taken] | add) + ([.roots[] | select(.node == \$a)] | length)
        and all(.roots[] | select(.node == \$a); $over_three)
        and all(.roots[] | select(.node == \$c); called(\$a) | length == 1)
        and all(.roots[] | select(.node == \$b); (called(\$c) | length == 1) and (called(\$c)[0] | called(\$a) | length == 1))"
}

# A module that one node has: the others take part.
they_begin_where_a_function_fits() {
    goes b only "$c,$a" || return 1
    spans "$names" 'fleet_only:request(_)' --calls 'fleet_only:request(_)' --roots 2 --time 60s --force
    ended=$?
    all_rest
    ends_with 0 "$ended" && all_clean && told '1 root function on 1 of them' && shows "$verified
        and .functions == 0 and ([.sides[].functions] | add) == 1
        and all(.roots[]; .node == \$b and (called(\$c) | length == 1) and (called(\$c)[0] | called(\$a) | length == 1))" ||
        return 1
    asks_spans "$names" 'fleet_none:request(_)' --time 1s
    ends_with 1 $? && told 'no root function on any of these nodes' && all_clean
}

all_or_none() {
    asks_spans "$names,nobody$$@127.0.0.1" 'spans_fleet_load:request(_)' --time 1s --force
    ends_with 3 $? && told 'nobody.*no node' && [ ! -s "$work/out" ] || return 1
    dir=$dir_b
    order system_tracer || return 1
    spans "$names" 'spans_fleet_load:request(_)' --time 1s --force
    refused=$?
    spans "$names" 'spans_fleet_load:request(_)' --time 1s --force --partial
    partial=$?
    dir=$dir_b
    order no_system_tracer && ends_with 5 "$refused" && ends_with 5 "$partial" || return 1
    [ "$(jq -r '.node + " " + ([.sides[].node] | join(" "))' "$work/out")" = "$a $c" ] || { cat "$work/out"; return 1; }
    asks_spans "$names" 'spans_fleet_load:request(_)' --full
    ends_with 2 $? && told 'light mode: leave out --full' || return 1
    asks_spans "$names" 'spans_fleet_load:request(_)' --events 2 --time 1s --force
    ends_with 2 $? && told '2 events for 3 nodes' || return 1
    asks_spans "$a,${a%@*}@localhost" 'spans_fleet_load:request(_)' --time 1s --force
    ends_with 2 $? && told 'the same node' && all_clean
}

events_are_divided() {
    goes a requests "$b,$c" && goes c requests "$a" || return 1
    spans "$names" 'spans_fleet_load:request(_)' --events 100 --roots 1000 --time 60s --force
    all_rest
    all_clean && shows ".events <= 34 and all(.sides[]; .events <= 34) and $verified
        and ([.ended_by, .sides[].ended_by] | any(. == \"events\"))"
}

# What the others have is shown.
one_is_lost() {
    goes a requests "$c" && goes c requests "$b,$a" && arms 'spans_fleet_load:request(_)' || return 1
    kill -9 "$(os_vm "$b")"
    wait_until 120 says_lost || { cat "$work/err"; return 1; }
    kill -INT "$armed"
    wait "$armed"
    ends_with 4 $? || return 1
    all_dirs=$dirs
    dirs="$dir_a $dir_c"
    all_rest && all_clean && shows ".ended_by == \"stopped\" and .verification.clean
        and (.sides[] | select(.node == \$b) | .ended_by == \"connection\")
        and (.sides[] | select(.node == \$c) | .ended_by == \"stopped\" and .verification.clean)
        and any(.roots[]; .node == \$a and .outcome == \"ok\" and (called(\$c) | length == 1))"
    shown=$?
    dirs=$all_dirs
    return "$shown"
}
says_lost() { grep -q "$b: .*connection" "$work/err"; }

# The second Ctrl-C does not wait for it. The first may come before a request has ended.
one_hangs() { one_of 8 shows_the_rest; }
shows_the_rest() {
    goes a requests "$b" && arms 'spans_fleet_load:request(_)' || return 1
    dir=$dir_a
    wait_until 60 captures
    kill -STOP "$(os_vm "$c")"
    kill -INT "$armed"
    wait_until 120 waits_for_it
    ended=$?
    kill -INT "$armed"
    wait "$armed"
    code=$?
    kill -CONT "$(os_vm "$c")"
    [ "$ended" = 0 ] && ends_with 130 "$code" && told "$c has not ended" && all_rest && all_clean &&
        shows ".ended_by == \"stopped\" and (.sides[] | select(.node == \$c) | .ended_by == null)
            and any(.roots[]; .outcome == \"ok\" and (called(\$b) | length == 1))"
}

captures() { order audit && grep -q system_tracer "$dir/left"; }
waits_for_it() { grep -q "waiting for $c to end" "$work/err"; }

a_kill_leaves_nothing() {
    goes a requests "$b,$c" && goes c requests "$a" || return 1
    for _ in 1 2 3; do
        arms 'spans_fleet_load:request(_)' || return 1
        kill -9 "$armed"
        wait "$armed" 2>/dev/null
    done
    all_rest && all_clean
}

trap 'stop_three; stop_epmd; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
for otp in $(releases_of differ); do
    "$otp_sh" --root "$otp" >/dev/null 2>&1 || continue
    run start_three
    for case in a_request_goes_over_three_nodes requests_begin_anywhere they_begin_where_a_function_fits \
        all_or_none events_are_divided one_hangs a_kill_leaves_nothing one_is_lost; do
        case " ${BEAMTOP_TESTS-$case} " in *" $case "*) run "$case" ;; esac
    done
    stop_three
done
finish
