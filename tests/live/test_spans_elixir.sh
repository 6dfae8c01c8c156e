#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Causal spans of what Elixir programs are made of (spans_load.exs), on the machine's own Elixir:
# which spans, on which processes, how they ended, what was waited for. Of times only the least is
# held: on a busy machine everything may take longer.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
command -v elixir >/dev/null || skip_all "no Elixir on this machine"

load=spans_load
. "$(dirname "$0")/releases.sh"

# In short: a span is [kind, name, operation, outcome, children]. What has no registered name is "-":
# a process that soon ends may or may not have been asked for its initial call.
# shellcheck disable=SC2016
prelude='
def short: [.kind, (.name // "-" | if test("^Elixir.[A-Za-z.]+$") then . else "-" end), .operation // "-", .outcome, [.children[] | short]];
def took($ms): .duration_us >= ($ms - 1) * 1000;
def wait($kind): [.waits[] | select(.kind == $kind)];
def callees: [.children[] | select(.kind == "call") | .pid];
def sums: if .self_us == null or .off_cpu_us == null then true
    else ((.self_us + .wait_us + .unattributed_us + .off_cpu_us - .duration_us) | fabs) < 2 end;
def every_root(f): (.roots | length) > 0 and .ended_by == "roots"
    and all(.roots[]; sums and .operation == "Elixir.Request:run/1" and f);
def children($list): (short | .[4]) == $list;
'

start_elixir() {
    dir=$work/elixir
    node=${load}x$$@127.0.0.1
    mkdir -p "$dir"
    cp "$BEAMTOP_SRCDIR/tests/live/spans_load.exs" "$BEAMTOP_SRCDIR/tests/live/audit.erl" "$dir"
    elixir --name "$node" --cookie releases --erl "-start_epmd false" "$dir/spans_load.exs" "$dir" \
        >"$work/node" 2>&1 </dev/null &
    node_pid=$!
    wait_until 120 test -s "$dir/pid" || { cat "$work/node"; return 1; }
    node_pid=$(cat "$dir/pid")
}

# capture CASE [OPTION…]: five requests of the case.
capture() {
    case=$1
    shift
    order "loop_$case" || return 1
    "$beamtop" spans "$node" "'Elixir.Request':run($case)" --roots 5 --time 60s --force \
        --timeout 60 --cookie-file "$work/cookie" --format json "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    code=$?
    order stop || return 1
    ends_with 0 "$code" && is_clean
}

shows() {
    jq -e "$prelude every_root($1)" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c "$prelude .ended_by, (.roots[] | [short, .waits])" "$work/out"
        return 1
    }
}

task='["task","-","proc_lib:init_p/5","ok",[]]'

# Light, and full: the same spans.
both() {
    capture "$1" && shows "$2" && capture "$1" --full && shows "$2"
}

tasks_are_awaited() {
    both task "children([$task, $task]) and (wait(\"call\") | length) == 2
        and ([.children[].pid] | sort) == ([.waits[] | select(.kind == \"call\") | .pid] | sort)" &&
        shows 'all(.children[]; [.waits[] | select(.at == "Elixir.Process:sleep/1")] | length == 1)
            and took(20)'
}

a_supervised_task() {
    both sup "children([[\"call\",\"Elixir.Shop.Tasks\",\"start_task\",\"ok\",[$task]]])
        and wait(\"call\")[1].pid == .children[0].children[0].pid and took(5)"
}

a_stream_of_tasks() {
    both stream "children([[\"spawn\",\"-\",\"erlang:apply/2\",\"ok\",[$task, $task, $task]]])
        and took(30)"
}

a_server_asks_another() {
    capture genserver --full && shows 'children([
        ["call","Elixir.Shop.Cart","add","ok",[["call","Elixir.Shop.Prices","get","ok",[]]]],
        ["cast","Elixir.Shop.Cart","note","ok",[]]])
        and wait("call")[0].pid == callees[0] and (.children[0] | took(7))' &&
        capture genserver && shows 'children([
        ["call","Elixir.Shop.Cart","add","ok",[["call","Elixir.Shop.Prices","get","ok",[]]]],
        ["cast","Elixir.Shop.Cart","note","unknown",[]]]) and .children[1].ended_at_least'
}

a_server_that_crashes() {
    capture crash --full && shows '.outcome == "ok"
        and (.children | length == 1 and (.[0] | .kind == "call" and .operation == "crash"
             and .outcome == "exit" and .reason == "no_such_item"))
        and any(wait("call")[]; .outcome == "exit" and .at == "no_such_item")'
}

a_call_that_times_out() {
    capture timeout --full && shows '(.children | length) == 1
        and (.children[0] | .name == "Elixir.Shop.Cart" and .operation == "later"
             and (.outcome == "late" or .outcome == "elsewhere"))
        and any(wait("call")[]; .outcome == "timeout" and .duration_us >= 14000)'
}

a_deferred_reply() {
    capture later --full &&
        shows 'children([["call","Elixir.Shop.Cart","later","elsewhere",[]]])
            and (wait("call") | length == 1 and .[0].outcome == "ok" and .[0].duration_us >= 14000)'
}

an_agent() {
    both agent 'children([["call","Elixir.Shop.Prices","get","ok",[]],
        ["call","Elixir.Shop.Prices","update","ok",[]],
        ["call","Elixir.Shop.Prices","get_and_update","ok",[]]])
        and (callees | unique | length) == 1 and took(10)'
}

a_pool_hands_out_a_worker() {
    capture pool --full && shows '[.children[] | [.kind, .operation, .outcome]] == [
        ["call","checkout","ok"],["call","query","ok"],["cast","checkin","ok"]]
        and .children[0].pid == .children[2].pid and .children[0].name == "Elixir.Pool"
        and .children[1].pid != .children[0].pid and (.children[1] | took(6))'
}

# The second of two waits at the pool, until the first has given the worker back.
a_queue_at_a_pool() {
    capture queue --full && shows '(.children | length) == 2
        and ([.children[].children[] | select(.operation == "checkout") | .outcome] | sort)
            == ["elsewhere","ok"]
        and ([.children[].children[] | select(.operation == "query") | .pid] | unique | length) == 1
        and any(.children[].waits[]; .name == "Elixir.Pool" and .duration_us >= 5000)'
}

a_pool_by_plain_messages() {
    both nimble '[.children[] | [.kind, .name]] == [["message","Elixir.Nimble"],["message","Elixir.Nimble"]]
        and (wait("message") | length == 1 and .[0].outcome == "ok" and .[0].name == "Elixir.Nimble")
        and .children[0].pid == wait("message")[0].pid and took(5)'
}

# An ETS-TRANSFER has no event: the wait for it shows the function that waits.
a_connection_of_a_repository() {
    capture ecto --full && shows 'any(.waits[]; .kind == "WAITING"
            and (.at | test("^Elixir.DBConnection.Holder:")) and .duration_us >= 15000)
        and any(.children[]; .name == "Elixir.Repo.Database" and .operation == "query"
            and .outcome == "ok" and took(8))'
}

event_handlers() {
    both event 'children([["call","Elixir.Shop.Events","sync_notify","ok",[]],
        ["call","Elixir.Shop.Events","call","ok",[]]]) and took(8)'
}

# Postponed until a state timeout: the process was idle in between.
a_state_machine() {
    capture statem --full && shows 'children([["call","Elixir.Door","enter","elsewhere",[]]])
        and (wait("call") | length == 1 and .[0].outcome == "ok" and .[0].duration_us >= 9000)'
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
run start_elixir
for test in ${BEAMTOP_TESTS-tasks_are_awaited a_supervised_task a_stream_of_tasks \
    a_server_asks_another a_server_that_crashes a_call_that_times_out a_deferred_reply an_agent \
    a_pool_hands_out_a_worker a_queue_at_a_pool a_pool_by_plain_messages \
    a_connection_of_a_repository event_handlers a_state_machine}; do
    run "$test"
done
finish
