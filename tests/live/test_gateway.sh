#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The gateway demo does exactly what its README says, in each scenario, on every OTP release. It counts
# against the clock, so only with BEAMTOP_CHECK; what its findings go by is in test_report.sh and
# test_findings.sh. Beside that, recordings of it at other rates all have the same five findings.
# BEAMTOP_GATEWAY_RATES       requests per second (100 200 300 400); without BEAMTOP_CHECK only these
# BEAMTOP_GATEWAY_RECORDINGS  of each (10)
# shellcheck disable=SC1091,SC2154,SC2317
set -u
. "$(dirname "$0")/../tap.sh"
. "$BEAMTOP_SRCDIR/tests/record.sh"

demo=$BEAMTOP_SRCDIR/demo/run.sh
otp_sh=$BEAMTOP_SRCDIR/tests/live/otp.sh
BEAMTOP_DEMO_APP=gateway
export BEAMTOP_DEMO_APP

# Counts calls for a while, and asks how much of the work is the logger's. A machine that stands still
# for a moment loses requests, and counts some functions longer than others: it is asked again, some times.
questions='
    [Node] = [list_to_atom(N) || {ok, [[N]]} <- [init:get_argument(gateway_node)]],
    [[[Scenario]]] = [S || {ok, S} <- [init:get_argument(gateway_scenario)]],
    Ask = fun(M, F, A) -> rpc:call(Node, M, F, A, 60000) end,
    Repo = list_to_atom("Elixir.Gateway.Repo"),
    Counted = [{gateway_http, handle, 1}, {gateway_plug, call, 2}, {gateway_schemas, fetch, 3},
               {gateway_schemas, register, 4}, {Repo, default_options, 1},
               {Repo, prepare_query, 3}, {Repo, insert, 2}],
    Reductions = fun(P) -> {_, N} = Ask(erlang, process_info, [P, reductions]), N end,
    Logger = Ask(erlang, whereis, [list_to_atom("Elixir.Logger")]),
    Count = fun(F) -> {call_count, N} = Ask(erlang, trace_info, [F, call_count]), N end,
    Near = fun(A, B) -> B > 0 andalso abs(A / B - 1) < 0.06 end,
    Measure = fun() ->
        [1 = Ask(erlang, trace_pattern, [F, true, [call_count, local]]) || F <- Counted],
        timer:sleep(500),
        Start = Ask(erlang, monotonic_time, [millisecond]),
        [1 = Ask(erlang, trace_pattern, [F, restart, [call_count, local]]) || F <- Counted],
        {All0, _} = Ask(erlang, statistics, [reductions]), L0 = Reductions(Logger),
        timer:sleep(2500),
        {All1, _} = Ask(erlang, statistics, [reductions]), L1 = Reductions(Logger),
        Seconds = (Ask(erlang, monotonic_time, [millisecond]) - Start) / 1000,
        [1 = Ask(erlang, trace_pattern, [F, pause, [call_count, local]]) || F <- Counted],
        [Handled, Plugs, Fetched, Registered, Options, Prepared, Inserted] = [Count(F) || F <- Counted],
        Ask(erlang, trace_pattern, [{'"'_', '_', '_'"'}, false, [call_count, local]]),
        Share = (L1 - L0) / (All1 - All0),
        io:format(standard_error, "# ~s: ~p requests in ~.2f s, logger ~.3f, counts ~p~n",
                  [Scenario, Handled, Seconds, Share,
                   [Plugs, Fetched, Registered, Options, Prepared, Inserted]]),
        [["requests", Near(Handled, 400 * Seconds)],
         ["plugs", Near(Plugs, 1.38 * Handled)],
         ["lookups", Near(Fetched + Registered, 3 * Handled)],
         ["reads", Near(Fetched, 0.87 * (Fetched + Registered))],
         ["writes", Near(Inserted, Registered)],
         ["queried", case Scenario of
              "healthy" -> Prepared =:= 0 andalso Near(Options, Registered);
              _ -> Near(Prepared, Fetched) andalso Near(Options, Fetched + Registered)
          end],
         ["logger", case Scenario of
              "sync" -> Share > 0.2 andalso Share < 0.5;
              "debug" -> Share > 0.5;
              _ -> Share < 0.05
          end]]
    end,
    Best = fun Best(Left) ->
        Found = Measure(),
        case Left =:= 1 orelse lists:all(fun([_, Holds]) -> Holds end, Found) of
            true -> Found;
            false -> Best(Left - 1)
        end
    end,
    [io:format("~s ~p~n", F) || F <- Best(20)],
    halt().'

expected='requests true
plugs true
lookups true
reads true
writes true
queried true
logger true'

ask() {
    . "$work/env"
    "$otp_sh" "$1" erl -noinput -hidden -name "asker@127.0.0.1" -start_epmd false \
        -setcookie "$(cat "$BEAMTOP_DEMO_COOKIE_FILE")" -gateway_node "$BEAMTOP_DEMO_NODE" \
        -gateway_scenario "$2" -eval "$questions"
}

does_what_it_says_on_OTP() {
    "$demo" start -gateway scenario "$2" >"$work/env" || return 1
    answer=$(ask "$1" "$2")
    "$demo" stop || return 1
    [ "$answer" = "$expected" ] || {
        echo "$answer"
        return 1
    }
}

# The logger that blocks, the lookup that queries, the share of reads, the pipeline, and the room that is
# left, as its README has them.
five='
    ([.findings[] | select(.severity == "act") | .rule] | sort == ["repository_lookup", "sync_logger"])
    and any(.findings[]; .rule == "sync_logger" and (.title | test("^Logger Logger ")))
    and any(.findings[]; .rule == "repository_lookup" and (.title | test("^gateway_schemas queries ")))
    and any(.findings[]; .rule == "read_write" and (.title | test("^Repositories: "))
            and (.title | capture(" (?<n>[0-9.]+)% reads").n | tonumber | . > 85.5 and . < 88.5))
    and any(.findings[]; .rule == "pipeline_overhead" and .severity == "note"
            and (.title | capture(" (?<n>[0-9.]+) pipeline").n | tonumber | . > 1.34 and . < 1.42))
    and any(.findings[]; .rule == "headroom")'

# Three windows of calls: as many as tell changes of functions from noise.
is_recorded() {
    rm -f "$work/gateway"
    record_of "$BEAMTOP_DEMO_NODE" --cookie-file "$BEAMTOP_DEMO_COOKIE_FILE" -o "$work/gateway" --interval 1 \
        --budget 100 --for 600s --calls all --window 2s --every 4s >"$work/recorder" 2>&1 &
    recorder=$!
    if ! until_recorded "$recorder" windows 4 || ! record_of stop >/dev/null || ! wait "$recorder"; then
        cat "$work/recorder"
        return 1
    fi
    "$beamtop" report "$work/gateway" --format json >"$work/report"
}

finds_all_five_at() { # REQUESTS-PER-S RECORDINGS
    "$demo" start -gateway requests_per_s "$1" +S 16:16 >"$work/env" || return 1
    . "$work/env"
    five_in=0
    for recording in $(seq "$2"); do
        if is_recorded && jq -e "$five" "$work/report" >/dev/null; then
            five_in=$((five_in + 1))
        else
            echo "recording $recording:"
            jq -r '.findings[] | "  \(.severity) \(.rule): \(.title)"' "$work/report"
        fi
    done
    "$demo" stop || return 1
    echo "in $five_in of $2"
    [ "$five_in" = "$2" ]
}

# What is said, without a node.
refuses() { # WHAT-IS-SAID ERL-ARGUMENT…
    says=$1
    shift
    if said=$("$demo" start "$@" 2>&1); then
        "$demo" stop
        echo "it starts with $*"
        return 1
    fi
    [ "$said" = "demo: $says" ] || {
        echo "$said"
        return 1
    }
}

refuses_what_it_does_not_know() {
    settings='scenario requests_per_s workers lookups reads_percent plugs_percent connections schemas '
    refuses "gateway has no setting logger: $settings" -gateway logger x &&
        refuses "gateway has no setting worker: $settings" -sname x -gateway workers 4 worker 8 &&
        refuses 'gateway has no scenario quiet: sync debug async healthy' -gateway scenario quiet &&
        refuses 'gateway has no scenario without a name: sync debug async healthy' -gateway scenario &&
        refuses 'workers is a number, not many' -gateway workers many &&
        refuses 'workers is a number, not nothing' -gateway workers
}

trap '"$demo" stop; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM PIPE
BEAMTOP_DEMO_DIR=$work/none
export BEAMTOP_DEMO_DIR
run refuses_what_it_does_not_know
[ -n "${BEAMTOP_CHECK:-}${BEAMTOP_GATEWAY_RATES:-}" ] || finish
for rate in ${BEAMTOP_GATEWAY_RATES-100 200 300 400}; do
    run finds_all_five_at "$rate" "${BEAMTOP_GATEWAY_RECORDINGS:-10}"
done
[ -n "${BEAMTOP_CHECK:-}" ] || finish
for otp in ${BEAMTOP_RELEASES:-23 25 27 29}; do
    scenarios=sync
    [ "$otp" != 25 ] || scenarios='sync debug async healthy'
    for scenario in $scenarios; do
        if reason=$("$otp_sh" --root "$otp" 2>&1); then
            BEAMTOP_DEMO_OTP=$otp
            BEAMTOP_DEMO_DIR=$work/otp-$otp
            export BEAMTOP_DEMO_OTP BEAMTOP_DEMO_DIR
            run does_what_it_says_on_OTP "$otp" "$scenario"
            [ -z "$reason" ] || rm -rf "${reason:?}$work"
        else
            skip "does_what_it_says_on_OTP_$otp" "$reason"
        fi
    done
done
finish
