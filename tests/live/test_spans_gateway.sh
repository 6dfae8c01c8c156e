#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Causal spans of the gateway demo: a request of a worker makes three lookups at one
# connection of the repository, then logs a line, for which it waits in the scenario `sync`. With
# --calls the functions that it goes through are spans too, in its own and in the other processes.
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/which.sh"
. "$(dirname "$0")/spans.sh"
command -v jq >/dev/null || skip_all "no jq here"

demo=$BEAMTOP_SRCDIR/demo/run.sh
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
BEAMTOP_DEMO_APP=gateway
export BEAMTOP_DEMO_APP

# The pids of registered names, as {"name": "<0.88.0>"}.
names_of() {
    "$otp_sh" "$1" erl -noinput -hidden -name "asker@127.0.0.1" -start_epmd false \
        -setcookie "$(cat "$BEAMTOP_DEMO_COOKIE_FILE")" -eval "
            Node = '$BEAMTOP_DEMO_NODE',
            Ask = fun(F, A) -> rpc:call(Node, erlang, F, A, 60000) end,
            Pids = [{N, Ask(pid_to_list, [P])} || N <- Ask(registered, []), P <- [Ask(whereis, [N])], is_pid(P)],
            io:format(\"{~s}~n\", [lists:join(\",\", [io_lib:format(\"\\\"~s\\\":\\\"~s\\\"\", [N, P]) || {N, P} <- Pids])]),
            halt()."
}

# captured [OPTION…]: of all requests.
captured() {
    spans 'gateway_http:handle/1' --roots 10 --time 60s --force "$@" || { cat "$work/err"; return 1; }
}

holds() {
    jq -e --slurpfile names "$work/names" "$1" "$work/out" >/dev/null || {
        echo "does not hold: $1"
        jq -c '[.ended_by, .called, .stale, .skipped], (.roots[] | [.. | objects | select(.kind? and .operation?)
            | [.kind, .name, .pid, .operation, .outcome, .offset_us, .waiting_on_name]])' "$work/out"
        return 1
    }
}

# Each connection is asked by the workers that have it, so all three lookups go to one.
# shellcheck disable=SC2016
lookups='.ended_by == "roots" and (.roots | length) == 10 and all(.roots[];
    .operation == "gateway_http:handle/1" and .outcome == "ok"
    and ([.children[] | select(.operation == "query")] as $q
        | ($q | length) == 3 and ([$q[].pid] | unique | length) == 1
        and all($q[]; .kind == "call" and .outcome == "ok" and .children == []
            and (.name | test("^gateway_db_[0-9]+$")) and .pid == $names[0][.name]))'
# shellcheck disable=SC2016
waits=' and ([.waits[] | select(.kind == "call")] | length) == 4
    and (.children | length) == 4 and (.children[3] | .kind == "call" and .operation == "line"
        and .name == "Elixir.Logger" and .pid == $names[0][.name] and .outcome == "ok")
    and ([.children[].pid] == [.waits[] | select(.kind == "call") | .pid]))'
# shellcheck disable=SC2016
casts=' and ([.waits[] | select(.kind == "call")] | length) == 3
    and (.children | length) == 4 and (.children[3] | .kind == "cast" and .name == "Elixir.Logger"))'

# A lookup goes through the registry and the repository to the connection, whose server answers by
# another function.
# shellcheck disable=SC2016
within='.ended_by == "roots" and .called > 10 and (.roots | length) == 10 and all(.roots[];
    . as $root | .outcome == "ok" and (.children | length) == 4
    and ([.children[:3][] | select(.kind == "function" and .pid == $root.pid and .outcome == "ok"
        and (.operation | test("^gateway_schemas:(fetch/3|register/4)$"))
        and all(.. | objects | select(.operation? == "gateway_db:query/2");
            .pid == $root.pid and (.children | length) == 1 and .children[0].kind == "call"
            and .waiting_on_name == .children[0].name and .outcome == "ok"))] | length) == 3
    and ([.. | objects | select(.kind? == "call" and .operation == "query")] as $calls
        | ($calls | length) == 3 and all($calls[]; .outcome == "ok" and (.pid != $root.pid)
            and (.children | length) == 1
            and (.children[0] | .kind == "function" and .operation == "gateway_db:handle_call/3"
                and (.children | length) == 1
                and (.children[0] | .operation == "gateway_db:answer/1" and .children == []))))
    and ([.. | objects | select(.parent_span_id? != null and .kind == "function")
        | select(.offset_us < 0 or .duration_us < 0 or .offset_us + .duration_us > $root.duration_us
            and .pid == $root.pid)] | length) == 0
    and ([.. | objects | select(.kind? == "call" and .operation == "line")] as $lines
        | ($lines | length) == 1 and all($lines[]; .name == "Elixir.Logger")))'

# both FILTER [OPTION…]: of light and of full mode.
both() {
    filter=$1
    shift
    captured "$@" && holds "$filter" && captured --full "$@" && holds "$filter"
}

shows_calls_within() { both "$within" --calls "gateway_schemas:_ & 'Elixir.Gateway.Repo':_ & gateway_db:_"; }
follows_requests() { case $1 in sync) both "$lookups$waits" ;; *) both "$lookups$casts" ;; esac }

# on_OTP RELEASE SCENARIO CASE
on_OTP() {
    "$demo" start -gateway scenario "$2" >"$work/env" || return 1
    . "$work/env"
    node=$BEAMTOP_DEMO_NODE
    cp -p "$BEAMTOP_DEMO_COOKIE_FILE" "$work/cookie" || return 1
    names_of "$1" >"$work/names" && "$3" "$2"
    found=$?
    "$demo" stop || return 1
    return "$found"
}

trap '"$demo" stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
BEAMTOP_DEMO_DIR=$work/none
export BEAMTOP_DEMO_DIR
{
    for otp in $(releases_of differ); do echo "$otp sync shows_calls_within"; done
    for otp in $(releases_of same); do echo "$otp sync follows_requests"; done
    for otp in $(releases_of once); do echo "$otp async follows_requests"; done
} >"$work/cases"
while read -r otp scenario case <&3; do
    if reason=$("$otp_sh" --root "$otp" 2>&1); then
        BEAMTOP_DEMO_OTP=$otp
        BEAMTOP_DEMO_DIR=$work/otp-$otp
        export BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
        run on_OTP "$otp" "$scenario" "$case"
        [ -z "$reason" ] || rm -rf "${reason:?}$work"
    else
        skip "on_OTP_$otp $scenario $case" "$reason"
    fi
done 3<"$work/cases"
finish
