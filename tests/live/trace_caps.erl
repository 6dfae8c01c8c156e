%% SPDX-License-Identifier: GPL-3.0-or-later
%%% Caps are hard: a function called as fast as the VM can, on all schedulers, with small arguments
%%% and with 100 KiB of them. Each cap alone must end `beamtop trace` at its value; the node's
%%% memory, looked at every few ms from within, must grow by less than 160 MiB; nothing may remain.
%%% Then a slow link: the node must not fill its buffers for us, and the trace must say that it was
%%% shut for want of credit. Prints TAP; queries.erl, trace_kills.erl and proxy.erl have the tools.
-module(trace_caps).
-export([main/1]).

%% The goal is told when it is missed, with figures (docs/performance.md): what the match specification
%% leaves on the heaps of callers that never pause, and before OTP 25 in the VM, is theirs to collect.
%% Without the budget it is gigabytes in that time.
-define(GOAL, 32 * 1048576).
-define(BOUND, 160 * 1048576).
-define(FUNCTION, "queue:is_queue(_)"). % looks at no more than the head of its argument
%% At which a sender of the node would have to wait for the link.
-define(LINK_KIB, 256).

%% {Kind, Text, arguments, options, reason, shown calls: a number or {at_most, N}}. What is large is
%% much slower.
caps() ->
    [{differ, "time", small, "--time 300ms --events 10000 --rate 5000 --bytes 64MiB --on-rate shed",
      <<"time">>, {at_most, 10000}},
     {differ, "events", small, "--events 10 --rate 5000 --time 60s", <<"events">>, 10},
     {same, "rate", small, "--rate 10 --on-rate stop --events 10000 --bytes 64MiB", <<"rate">>,
      {at_most, 10}},
     {same, "bytes", small, "--bytes 8KiB --events 10000 --rate 5000 --on-rate shed", <<"bytes">>,
      {at_most, 1000}},
     {differ, "events of 100 KiB", large, "--events 50 --rate 5000 --bytes 64MiB --time 60s",
      <<"events">>, 50},
     {same, "bytes of 100 KiB", large, "--bytes 8KiB --events 10000 --rate 5000 --on-rate shed",
      <<"bytes">>, {at_most, 1000}}].

tests() ->
    [{Kind, Text, leaves_nothing(Test)}
     || {Kind, Text, Test} <-
            [{Kind, "cap of " ++ Text, fun(Node) -> cap(Node, Size, Options, Reason, Most) end}
             || {Kind, Text, Size, Options, Reason, Most} <- caps()]
            ++ [{differ, "results count too", fun results/1}, {differ, "a link of 10 kB/s", fun slow/1}]].

main(Targets) ->
    queries:main(Targets, tests(), ["+zdbbl", integer_to_list(?LINK_KIB)], fun({Node, _}) ->
        {0, _} = trace(Node, "--events 1 --time 200ms"), % what is loaded once is there now
        trace_kills:left(Node, [], [])
    end).

leaves_nothing(Test) ->
    fun({Node, _}, Base) ->
        Clean = fun() -> trace_kills:clean(Node, now_ms() + 20000, false, [], Base) end,
        Said = try Test(Node) after Clean() end,
        [] = Clean(),
        {said, Said}
    end.

now_ms() -> erlang:monotonic_time(millisecond).

%% ---- The load, and who watches it

%% One caller to a scheduler, all flat out from the moment that a trace has opened its first window, for
%% at most 15 s. lists:foreach/2 calls the function natively. Value: a fun that ends them.
load(Node, Size) ->
    Pids = queries:evaluate(Node,
        "Callers = [spawn(fun() ->"
        "   Arg = case Size of small -> [a]; large -> lists:seq(1, 6400) end,"
        "   L = lists:duplicate(1000, Arg), receive go -> ok end,"
        "   End = erlang:monotonic_time(millisecond) + 15000,"
        "   F = fun F() -> lists:foreach(fun queue:is_queue/1, L),"
        "     erlang:monotonic_time(millisecond) < End andalso F() end, F() end)"
        "  || _ <- lists:seq(1, erlang:system_info(schedulers_online))],"
        "[spawn(fun() ->"
        "   (fun Wait() -> erlang:system_info(trace_control_word) > 0"
        "     orelse begin receive after 1 -> ok end, Wait() end end)(),"
        "   [C ! go || C <- Callers] end) | Callers].",
        [{'Size', Size}]),
    fun() -> [exit(P, kill) || P <- Pids] end.

%% In bursts, half a million calls a second and more, for 60 s at most.
bursts(Node) ->
    Pids = queries:evaluate(Node,
        "[spawn(fun() -> L = lists:duplicate(1000, lists:seq(1, 20)),"
        "   End = erlang:monotonic_time(millisecond) + 60000,"
        "   F = fun F() -> lists:foreach(fun queue:is_queue/1, L), receive after 1 -> ok end,"
        "     erlang:monotonic_time(millisecond) < End andalso F() end, F() end) || _ <- [1, 2]].",
        []),
    fun() -> [exit(P, kill) || P <- Pids] end.

%% Every 4 ms, by a process that goes before the others: the node's memory, what waits in the port of
%% the program's link, and now and then whether a sender would have to wait for the link's buffer.
%% Value: a fun that ends it and gives {GrowthAtMost, QueueAtMost, TimesFull}.
watch(Node) ->
    Pid = queries:evaluate(Node,
        "spawn_opt(fun() ->"
        "  erlang:garbage_collect(), Start = erlang:memory(total),"
        "  Go = fun Go(Looks, Most, Queue, Full) ->"
        "    erlang:send_after(4, self(), look),"
        "    receive {stop, From} -> From ! {self(), {Most - Start, Queue, Full}}; look ->"
        "      Links = [{N, P} || {N, P} <- erlang:system_info(dist_ctrl), is_port(P),"
        "        lists:prefix(\"beamtop\", atom_to_list(N))],"
        "      Queued = [Q || {_, P} <- Links, {queue_size, Q} <- [erlang:port_info(P, queue_size)]],"
        "      Waits = [N || {N, _} <- Links, Looks rem 50 =:= 0,"
        "        erlang:send({nobody, N}, x, [nosuspend, noconnect]) =:= nosuspend],"
        "      Go(Looks + 1, max(Most, erlang:memory(total)), lists:max([Queue | Queued]),"
        "         Full + length(Waits)) end end,"
        "  Go(0, Start, 0, 0) end, [{priority, max}]).", []),
    fun() ->
        Pid ! {stop, self()},
        receive {Pid, Seen} -> Seen after 60000 -> error(no_watcher) end
    end.

%% {Value of Run, what was watched}, while those that Load has started call.
loaded(Node, Load, Run) ->
    Cool = Load(),
    Watched = watch(Node),
    try {Run(), Watched()} after Cool() end.

grown({Growth, _, _}) ->
    {_, true} = {Growth, Growth < ?BOUND},
    Text = io_lib:format("memory +~.1f MiB", [Growth / 1048576]),
    case Growth < ?GOAL of true -> Text; false -> Text ++ ", OVER THE GOAL of 32" end.

%% ---- The program

%% {ExitCode, Lines}
trace(Node, Options) -> trace(Node, ?FUNCTION, Options).
trace(Node, Pattern, Options) -> trace(Node, Pattern, Options, 8).

%% Again where a scheduler was late: nothing was armed then, and the load still waits.
trace(Node, Pattern, Options, Tries) ->
    case lines(program(Node, Pattern, Options), []) of
        {5, _} when Tries > 1 -> trace(Node, Pattern, Options, Tries - 1);
        Traced -> Traced
    end.

program(Node, Pattern, Options) ->
    open_port({spawn_executable, os:getenv("BEAMTOP")},
              [{args, ["trace", atom_to_list(Node), Pattern, "--cookie-file",
                       os:getenv("COOKIE_FILE"), "--timeout", "60", "--force", "--format", "json"
                       | string:tokens(Options, " ")]},
               {line, 65536}, binary, exit_status, hide]).

lines(Port, Lines) ->
    receive
        {Port, {data, {eol, Line}}} -> lines(Port, [Line | Lines]);
        {Port, {exit_status, Code}} -> {Code, lists:reverse(Lines)}
    after 90000 -> error({still_running, Lines})
    end.

of_kind(Kind, Lines) -> having(["\"kind\":\"", Kind, "\""], Lines).
having(Text, Lines) -> [L || L <- Lines, binary:match(L, iolist_to_binary(Text)) =/= nomatch].

%% A value of the closing object by the name before it.
told(Key, Lines) ->
    [End] = of_kind("end", Lines),
    {match, [Value]} =
        re:run(End, ["\"", Key, "\":\"?([^\",}]*)"], [{capture, all_but_first, binary}]),
    Value.

%% A trace that ends by its time or rate may have seen nothing where its collector had no turn.
cap(Node, Size, Options, Reason, Most) ->
    traces:some(fun() -> capped(Node, Size, Options, Reason, Most) end).

capped(Node, Size, Options, Reason, Most) ->
    {{Code, Lines}, Watched} =
        loaded(Node, fun() -> load(Node, Size) end, fun() -> trace(Node, Options) end),
    Calls = length(of_kind("call", Lines)),
    {true, Why, <<"true">>} = {Code < 2, told("reason", Lines), told("clean", Lines)},
    {_, _, true} = {Why, told("reason_text", Lines), Why =:= Reason orelse may_be_heap(Node, Why)},
    case Most of
        N when is_integer(N), Why =:= Reason -> {Calls, N} = {N, Calls};
        N when is_integer(N) -> {Calls, true} = {Calls, Calls < N};
        {at_most, N} -> {Calls, true} = {Calls, Calls =< N}
    end,
    case Calls of
        0 -> {again, {Why, no_calls}};
        _ -> io_lib:format("~s, ~w calls, ~s beyond, ~s",
                           [Why, Calls, told("over", Lines), grown(Watched)])
    end.

%% Before OTP 25 the VM takes memory for each call of a traced function until the callers pause, so
%% a trace may end for that first.
may_be_heap(Node, Why) -> Why =:= <<"heap">> andalso queries:otp(Node) < 25.

%% Ten calls are ten calls, and each has its result; but for a caller to a scheduler, that may have got
%% no turn in its call for the second that a trace waits.
results(Node) -> traces:some(fun() -> resulted(Node) end).

resulted(Node) ->
    {{_, Lines}, Watched} =
        loaded(Node, fun() -> load(Node, large) end,
               fun() -> trace(Node, ?FUNCTION ++ " -> return", "--events 10") end),
    Open = binary_to_integer(told("not_returned", Lines)),
    Why = told("reason", Lines),
    case may_be_heap(Node, Why) of
        true ->
            {again, heap};
        false ->
            {10, 10, <<"events">>, <<"true">>} =
                {length(of_kind("call", Lines)), length(of_kind("return", Lines)) + Open,
                 Why, told("clean", Lines)},
            {Open, true} =
                {Open, Open =:= 0 orelse
                           Open =< min(9, rpc:call(Node, erlang, system_info, [schedulers_online]))},
            grown(Watched)
    end.

%% ---- A slow link

slow(Node) -> traces:some(fun() -> slowed(Node) end).

slowed(Node) ->
    {Proxy, Port} = proxy:start(trace_kills:port_of(Node)),
    {{Code, Lines}, {_, Queue, Full} = Watched} = loaded(Node, fun() -> bursts(Node) end, fun() ->
        Running = program(Node, ?FUNCTION ++ " -> return",
                          "--time 3s --events 10000 --rate 5000 --bytes 64MiB --on-rate shed --port "
                          ++ integer_to_list(Port)),
        wait_armed(Node),
        ok = proxy:slow(Proxy, 10000),
        lines(Running, [])
    end),
    proxy:close(Proxy),
    case Code of
        %% A scheduler was late.
        5 -> {again, refused};
        0 -> slowed(Node, Lines, Queue, Full, Watched)
    end.

slowed(Node, Lines, Queue, Full, Watched) ->
    Short = length(having("\"why\":\"credit\"", Lines)),
    case {told("reason", Lines), told("clean", Lines)} of
        %% On a machine that gave nobody time to free it.
        {<<"heap">>, <<"true">>} -> true = queries:otp(Node) < 25, {again, heap};
        %% The trace was over before the link was slow.
        {<<"time">>, <<"true">>} when Short =:= 0 -> {again, never_short};
        {<<"time">>, <<"true">>} ->
            {_, _, true} = {Queue, Full, Queue < ?LINK_KIB * 1024 andalso Full =:= 0},
            io_lib:format("~w calls, ~w times shut for credit, at most ~w bytes in the port's queue, ~s",
                          [length(of_kind("call", Lines)), Short, Queue, grown(Watched)])
    end.

%% Ours are three then; the window itself is open for moments only.
wait_armed(Node) ->
    queries:evaluate(Node,
        "Ours = fun() -> [P || P <- processes(), {dictionary, D} <- [process_info(P, dictionary)],"
        "   lists:member({'$initial_call', {beamtop, trace, 0}}, D)] end,"
        " Wait = fun Wait(0) -> late; Wait(N) ->"
        "   case length(Ours()) >= 3 of"
        "     true -> ok; false -> receive after 2 -> ok end, Wait(N - 1) end end, Wait(10000).",
        []).
