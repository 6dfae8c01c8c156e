%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What following requests (`beamtop spans`) costs a node: a gen_server call of a process that has
%%% nothing to do with it, and one of a request that is followed; a node whose callers never pause.
%%% All loads are short.
-module(following).
-export([main/1]).

-define(CALLS, 1500).

main([Program, Root]) ->
    {Node, _} = Target = queries:start_target(Root, ["+sbwt", "none"]),
    io:setopts([{encoding, unicode}]),
    io:format("following requests, OTP ~s~n", [rpc:call(Node, erlang, system_info, [otp_release])]),
    load(Node),
    calls(Node, Program),
    busy(Node, Program),
    queries:stop_target(Target).

figure(What, Value, Goal, Good) ->
    Word = case Good of true -> "ok"; false -> "MISSED"; told -> "" end,
    io:format("  ~-62ts ~16ts  ~-10s ~s~n", [What, Value, Goal, Word]).
below(What, Value, Goal) ->
    figure(What, text("~.2f", [float(Value)]), text("< ~w", [Goal]), Value < Goal).
told(What, Value) -> figure(What, text("~.2f", [float(Value)]), "", told).
text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).

%% A server and its callers, compiled so that the oldest release takes it.
load(Node) ->
    Source = "-module(bench_srv). -compile([export_all, nowarn_export_all])."
        " init(S) -> {ok, S}. handle_call(X, _, S) -> {reply, X, S}. handle_cast(_, S) -> {noreply, S}."
        " never() -> ok. request(N) -> loop(N), ok."
        " loop(0) -> ok; loop(N) -> gen_server:call(bench_srv, N), loop(N - 1)."
        " one() -> gen_server:call(bench_srv, x), ok."
        " us(F, N) -> {P, M} = spawn_monitor(fun() -> exit({took, element(1, timer:tc(fun() ->"
        "   bench_srv:F(N) end)) / N}) end), receive {'DOWN', M, _, P, {took, Us}} -> Us end."
        " least(F, N, 0, Us) -> Us; least(F, N, R, Us) -> least(F, N, R - 1, min(Us, us(F, N)))."
        " hot(Counter, Until) -> one(), counters:add(Counter, 1, 1),"
        "   erlang:monotonic_time(millisecond) < Until andalso hot(Counter, Until)."
        " rate(Callers, Ms) -> C = counters:new(1, []), Until = erlang:monotonic_time(millisecond) + Ms,"
        "   All = [spawn_monitor(fun() -> hot(C, Until) end) || _ <- lists:seq(1, Callers)],"
        "   [receive {'DOWN', M, _, _, _} -> ok end || {_, M} <- All], counters:get(C, 1) * 1000 / Ms."
        " queue(Most, Until) -> L = case seq_trace:get_system_tracer() of P when is_pid(P) ->"
        "   case process_info(P, message_queue_len) of {_, N} -> N; _ -> 0 end; _ -> 0 end,"
        "   receive after 1 -> ok end, case erlang:monotonic_time(millisecond) < Until of"
        "   true -> queue(max(Most, L), Until); false -> max(Most, L) end.",
    Old = rpc:call(Node, erlang, system_info, [otp_release]) < "25",
    {ok, Module, Code} = compile:forms(forms(Source ++ " ", 1), [r23 || Old]),
    {module, Module} = rpc:call(Node, code, load_binary, [Module, "", Code]),
    queries:evaluate(Node, "{ok, P} = gen_server:start({local, bench_srv}, bench_srv, [], []), P.", []).

forms(Text, Line) ->
    case erl_scan:tokens([], Text, Line) of
        {done, {ok, Tokens, Next}, Rest} ->
            {ok, Form} = erl_parse:parse_form(Tokens),
            [Form | forms(Rest, Next)];
        _ -> []
    end.

least(Node, F, N, Runs) -> rpc:call(Node, bench_srv, least, [F, N, Runs, infinity], 60000).

%% The program, until its capture ends.
start(Program, Node, Arguments) ->
    open_port({spawn_executable, Program},
              [{args, ["spans", atom_to_list(Node), "--cookie", "beamtop_test", "--force",
                       "--format", "json" | Arguments]},
               binary, exit_status, stderr_to_stdout, hide]).
wait_armed(Node) ->
    queries:evaluate(Node, "W = fun W(0) -> none; W(N) -> seq_trace:get_system_tracer() =/= false"
                           "   orelse begin receive after 5 -> ok end, W(N - 1) end end, W(4000).", []).
wait(Port) -> wait(Port, []).
wait(Port, All) ->
    receive
        {Port, {exit_status, _}} -> iolist_to_binary(All);
        {Port, {data, Data}} -> wait(Port, [All, Data])
    end.

%% A run of the same calls before each: the machine changes.
calls(Node, Program) ->
    Plain = least(Node, loop, ?CALLS, 80),
    told("µs a gen_server call, nothing armed", Plain),
    lists:foreach(fun({Mode, Full}) ->
        Bystander = begin
            Port = start(Program, Node, ["bench_srv:never()", "--time", "3s" | Full]),
            wait_armed(Node),
            Us = least(Node, loop, ?CALLS, 80),
            wait(Port),
            Us
        end,
        below("µs more for others' calls, " ++ Mode, Bystander - least(Node, loop, ?CALLS, 80), 0.4),
        Followed = [begin
            P = start(Program, Node, ["bench_srv:request(_)", "--roots", "1", "--time", "20s" | Full]),
            wait_armed(Node),
            Took = least(Node, request, 400, 1),
            wait(P),
            Took
        end || _ <- lists:seq(1, 5)],
        below("µs a call of a followed request, " ++ Mode, lists:min(Followed), 12)
    end, [{"light", []}, {"full", ["--full"]}]),
    told("µs a gen_server call, after all that", least(Node, loop, ?CALLS, 80)).

%% Four callers that never pause: one of ten calls is followed.
busy(Node, Program) ->
    Plain = rpc:call(Node, bench_srv, rate, [4, 1000], 60000),
    told("calls/s of four callers without a pause", Plain),
    Port = start(Program, Node, ["bench_srv:one()", "--roots", "1000", "--every", "10", "--time", "5s"]),
    wait_armed(Node),
    Me = self(),
    spawn(fun() ->
        Until = rpc:call(Node, erlang, monotonic_time, [millisecond]) + 1000,
        Me ! {queue, rpc:call(Node, bench_srv, queue, [0, Until], 60000)}
    end),
    During = rpc:call(Node, bench_srv, rate, [4, 1000], 60000),
    Output = wait(Port),
    {match, [Events]} = re:run(Output, "\"events\":([0-9]+)", [{capture, all_but_first, list}]),
    {match, [Seconds]} = re:run(Output, "\"seconds\":([0-9.]+)", [{capture, all_but_first, list}]),
    told("calls/s in the second in which 1,000 of 10,000 are followed", During),
    told("events", list_to_integer(Events)),
    told("seconds that it captured", list_to_float(Seconds)),
    receive {queue, Most} -> told("longest queue of the collector, looked at each ms", Most) end.
