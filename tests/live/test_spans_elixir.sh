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
. "$(dirname "$0")/spans.sh"

# In short: a span is [kind, name, operation, outcome, children]. What has no registered name is "-":
# a process that soon ends may or may not have been asked for its initial call.
# shellcheck disable=SC2016
prelude=$prelude'
def short: [.kind, (.name // "-" | if test("^Elixir.[A-Za-z.]+$") then . else "-" end), .operation // "-", .outcome, [.children[] | short]];
def callees: [.children[] | select(.kind == "call") | .pid];
def children($list): (short | .[4]) == $list;
def each($request; f): [.roots[] | select(.operation == "Elixir.Request:" + $request + "/0")]
    | length > 0 and all(.[]; sums and f);
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

# captures [OPTION…]: each request twice.
captures() {
    capture_of "'Elixir.Request':/^[a-z]+\$/" requests --roots 22 "$@" && shows '.ended_by == "roots"'
}

task='["task","-","proc_lib:init_p/5","ok",[]]'

# What both modes know.
requests_are_known() {
    shows "each(\"task\"; children([$task, $task]) and (wait(\"call\") | length) == 2
            and ([.children[].pid] | sort) == ([.waits[] | select(.kind == \"call\") | .pid] | sort))" &&
        shows "each(\"sup\"; children([[\"call\",\"Elixir.Shop.Tasks\",\"start_task\",\"ok\",[$task]]])
            and wait(\"call\")[1].pid == .children[0].children[0].pid and took(5))" &&
        shows "each(\"stream\"; children([[\"spawn\",\"-\",\"erlang:apply/2\",\"ok\",[$task, $task, $task]]])
            and took(30))" &&
        shows 'each("agent"; children([["call","Elixir.Shop.Prices","get","ok",[]],
                ["call","Elixir.Shop.Prices","update","ok",[]],
                ["call","Elixir.Shop.Prices","get_and_update","ok",[]]])
            and (callees | unique | length) == 1 and took(10))' &&
        shows 'each("nimble"; [.children[] | [.kind, .name]] == [["message","Elixir.Nimble"],["message","Elixir.Nimble"]]
            and (wait("message") | length == 1 and .[0].outcome == "ok" and .[0].name == "Elixir.Nimble")
            and .children[0].pid == wait("message")[0].pid and took(5))' &&
        shows 'each("event"; children([["call","Elixir.Shop.Events","sync_notify","ok",[]],
            ["call","Elixir.Shop.Events","call","ok",[]]]) and took(8))'
}

light_mode() { settles 5 light_mode_knows; }
full_mode() { settles 5 full_mode_knows; }

light_mode_knows() {
    captures && requests_are_known && shows 'each("genserver"; children([
        ["call","Elixir.Shop.Cart","add","ok",[["call","Elixir.Shop.Prices","get","ok",[]]]],
        ["cast","Elixir.Shop.Cart","note","unknown",[]]]) and .children[1].ended_at_least)'
}

# Of a pool (queue) the second of two waits until the first has given the worker back. An ETS-TRANSFER
# (ecto) has no event: the wait for it shows the function that waits. A state machine postpones
# (statem) until a state timeout: the process was idle in between.
full_mode_knows() {
    captures --full && requests_are_known &&
        shows 'each("task"; all(.children[]; [.waits[] | select(.at == "Elixir.Process:sleep/1")] | length == 1)
            and took(20))' &&
        shows 'each("genserver"; children([
                ["call","Elixir.Shop.Cart","add","ok",[["call","Elixir.Shop.Prices","get","ok",[]]]],
                ["cast","Elixir.Shop.Cart","note","ok",[]]])
            and wait("call")[0].pid == callees[0] and (.children[0] | took(7)))' &&
        shows 'each("pool"; [.children[] | [.kind, .operation, .outcome]] == [
                ["call","checkout","ok"],["call","query","ok"],["cast","checkin","ok"]]
            and .children[0].pid == .children[2].pid and .children[0].name == "Elixir.Pool"
            and .children[1].pid != .children[0].pid and (.children[1] | took(6)))' &&
        shows 'each("queue"; (.children | length) == 2
            and ([.children[].children[] | select(.operation == "checkout") | .outcome] | sort)
                == ["elsewhere","ok"]
            and ([.children[].children[] | select(.operation == "query") | .pid] | unique | length) == 1
            and any(.children[].waits[]; .name == "Elixir.Pool" and .duration_us >= 5000))' &&
        shows 'each("ecto"; any(.waits[]; .kind == "WAITING"
                and (.at | test("^Elixir.DBConnection.Holder:")) and .duration_us >= 15000)
            and any(.children[]; .name == "Elixir.Repo.Database" and .operation == "query"
                and .outcome == "ok" and took(8)))' &&
        shows 'each("statem"; children([["call","Elixir.Door","enter","elsewhere",[]]])
            and (wait("call") | length == 1 and .[0].outcome == "ok" and .[0].duration_us >= 9000))'
}

trap stop_all EXIT
trap 'exit 130' HUP INT TERM PIPE
start_epmd
run start_elixir
run light_mode
run full_mode
finish
