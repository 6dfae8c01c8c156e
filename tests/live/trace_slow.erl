%% SPDX-License-Identifier: GPL-3.0-or-later
%%% A slow link: once a trace is armed on a hot function, 10 kB a second pass. The target must not
%%% fill its buffers for us, its memory must stay flat, the trace must say that it was shut for want
%%% of credit, end by itself and be proved gone. Prints TAP; proxy.erl is the link.
-module(trace_slow).
-export([main/1]).

-define(RATE, 10000).
-define(LIMIT_KIB, 256).
-define(MOST_GROWTH, 16 * 1024 * 1024).

main(Targets) ->
    io:format("1..~w~n", [length(Targets)]),
    lists:foldl(fun run_root/2, 1, Targets).

run_root({Otp, none}, N) ->
    io:format("ok ~w # SKIP no root of OTP ~w on this machine~n", [N, Otp]),
    N + 1;
run_root({Otp, Root}, N) ->
    %% The limit at which a sender of the node would have to wait for the link.
    Target = {Node, _} =
        queries:start_target(Root, ["+zdbbl", integer_to_list(?LIMIT_KIB)]),
    Base = trace_kills:left(Node, [], []),
    try
        Figures = traces:some(fun() -> slow(Node) end),
        [] = trace_kills:clean(Node, erlang:monotonic_time(millisecond) + 20000, false, [], Base),
        io:format("ok ~w - ~p: a link of 10 kB/s (~s)~n", [N, Otp, Figures])
    catch
        Class:Reason:Stack ->
            io:format("not ok ~w - ~p: a link of 10 kB/s~n# ~0p ~0P~n# ~0p~n",
                      [N, Otp, Class, Reason, 60,
                       [{F, proplists:get_value(line, L)} || {trace_slow, F, _, L} <- Stack]])
    end,
    queries:stop_target(Target),
    N + 1.

slow(Node) ->
    {Proxy, PortNumber} = proxy:start(trace_kills:port_of(Node)),
    Callers = callers(Node),
    Port = beamtop(Node, PortNumber),
    Watcher = watch(Node),
    ok = wait_armed(Node),
    ok = proxy:slow(Proxy, ?RATE),
    {From, _} = proxy:relayed(Proxy),
    Began = erlang:monotonic_time(millisecond),
    Watcher ! go,
    {0, Text} = said(Port, <<>>),
    Took = erlang:monotonic_time(millisecond) - Began,
    {Until, _} = proxy:relayed(Proxy),
    Watcher ! {stop, self()},
    {Samples, Queue, Busy, Growth} =
        receive {Watcher, Seen} -> Seen after 60000 -> error(watch) end,
    [exit(P, kill) || P <- Callers],
    proxy:close(Proxy),
    %% Before OTP 25 the VM's memory may end it first, on a machine that gave nobody time to free it.
    case has(Text, <<"\"reason\":\"heap\"">>) andalso traces:otp(Node) < 25 of
        true -> {again, heap};
        false -> judged(Text, {Samples, Queue, Busy, Growth}, (Until - From) / Took)
    end.

judged(Text, {Samples, Queue, Busy, Growth}, Rate) ->
    Credit = binary:matches(Text, <<"\"why\":\"credit\"">>),
    {_, _, true} = {credit, Text, Credit =/= []},
    {_, true} = {Text, has(Text, <<"\"reason\":\"time\"">>)},
    true = has(Text, <<"\"done\":true,\"clean\":true">>),
    {_, true, 0} = {{Samples, Queue}, Queue < ?LIMIT_KIB * 1024, Busy},
    {_, true} = {Growth, Growth < ?MOST_GROWTH},
    io_lib:format("~w calls shown, ~.1f kB/s, ~w times shut for credit; the port's queue at most ~w"
                  " bytes, the link's buffer never at ~w KiB in ~w looks, memory +~.1f MiB",
                  [length(binary:matches(Text, <<"\"kind\":\"call\"">>)), Rate,
                   length(Credit), Queue, ?LIMIT_KIB, Samples, Growth / 1048576]).

has(Text, Part) -> binary:match(Text, Part) =/= nomatch.

beamtop(Node, Port) ->
    open_port({spawn_executable, os:getenv("BEAMTOP")},
              [{args, ["trace", atom_to_list(Node), "queue:is_queue(_) -> return",
                       "--port", integer_to_list(Port), "--cookie-file", os:getenv("COOKIE_FILE"),
                       "--time", "6s", "--events", "10000", "--rate", "5000", "--bytes", "64MiB",
                       "--on-rate", "shed", "--force", "--format", "json"]},
               binary, exit_status, stderr_to_stdout, hide]).

said(Port, Text) ->
    receive
        {Port, {exit_status, Code}} -> {Code, Text};
        {Port, {data, More}} -> said(Port, <<Text/binary, More/binary>>)
    after 90000 -> error({still_running, Text})
    end.

%% In bursts, half a million calls a second and more, for 60 s at most.
callers(Node) ->
    queries:evaluate(Node,
        "[spawn(fun() -> L = lists:duplicate(1000, lists:seq(1, 20)),"
        "   End = erlang:monotonic_time(millisecond) + 60000,"
        "   F = fun F() -> lists:foreach(fun queue:is_queue/1, L), receive after 1 -> ok end,"
        "     erlang:monotonic_time(millisecond) < End andalso F() end, F() end) || _ <- [1, 2]].",
        []).

%% Ours are three then; the window itself is open for moments only.
wait_armed(Node) ->
    queries:evaluate(Node,
        "Ours = fun() -> [P || P <- processes(), {dictionary, D} <- [process_info(P, dictionary)],"
        "   lists:member({'$initial_call', {beamtop, trace, 0}}, D)] end,"
        " Wait = fun Wait(0) -> late; Wait(N) ->"
        "   case length(Ours()) >= 3 of"
        "     true -> ok; false -> receive after 2 -> ok end, Wait(N - 1) end end, Wait(10000).",
        []).

%% Every 20 ms from `go` on: what waits in the port of the program's link, whether a sender would
%% have to wait for the link's buffer, and the memory above what it was half a second after `go`.
watch(Node) ->
    queries:evaluate(Node,
        "spawn_opt(fun() ->"
        "  receive go -> ok end, receive after 500 -> ok end,"
        "  Links = [{N, P} || {N, P} <- erlang:system_info(dist_ctrl), is_port(P),"
        "    lists:prefix(\"beamtop\", atom_to_list(N))],"
        "  Start = erlang:memory(total),"
        "  Go = fun Go(Samples, Queue, Busy, Most) ->"
        "    receive {stop, From} -> From ! {self(), {Samples, Queue, Busy, Most - Start}}"
        "    after 20 ->"
        "      Queued = [Q || {_, P} <- Links,"
        "        {queue_size, Q} <- [erlang:port_info(P, queue_size)]],"
        "      Waits = [N || {N, _} <- Links, Samples rem 10 =:= 0,"
        "        erlang:send({nobody, N}, x, [nosuspend, noconnect]) =:= nosuspend],"
        "      Go(Samples + 1, lists:max([Queue | Queued]), Busy + length(Waits),"
        "         max(Most, erlang:memory(total))) end end,"
        "  Go(0, 0, 0, Start) end, [{priority, max}]).", []).
