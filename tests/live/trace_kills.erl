%% SPDX-License-Identifier: GPL-3.0-or-later
%%% Ends of `beamtop trace`, or of `beamtop spans`, that nobody planned: kill -9, SIGTERM, SIGSTOP, a link that is cut, and
%%% one that loses everything without being closed (the target cannot tell it from a slow one), at
%%% random moments of a trace's life, on a function that is called as fast as the VM can. After
%%% each, the node itself is asked what is left: breakpoints, flags, sessions, the control word,
%%% processes, modules. Where there are sessions, another tool's session and its legacy trace stand
%%% meanwhile and must miss nothing. Prints TAP; queries.erl has the tools.
-module(trace_kills).
-export([main/2, main/3, left/3, clean/5, port_of/1]).

%% Each: {Text, how it ends, how long the target may need to be clean, in ms}. A target that nobody
%% tells anything ends the trace by its own time. From the moment that the program is dead, or that
%% the connection is cut; by the time that the target ran: see disarmed/2. What ends a trace that is
%% told of it is never its own time: that is longer than we wait.
ends() ->
    [{"kill -9", {signal, "KILL"}, 1000},
     {"SIGTERM", {signal, "TERM"}, 1000},
     {"SIGSTOP, then the trace's own time", stop, 4000},
     {"the link is cut by the node", cut, 1000},
     {"the network is gone, then the trace's own time", partition, 4000}].

%% Half of the ends come before it is armed, or on the way, half while it is.
tests(Times) ->
    [{differ, Text, fun({Node, _}, {_, Base}) ->
          told([end_of(Node, How, Ms, I rem 2 =:= 0, Base) || I <- lists:seq(1, Times)])
      end} || {Text, How, Ms} <- ends()]
    ++ [{differ, "another tool's traces missed nothing meanwhile",
         fun({Node, _}, {Others, _}) -> whole(Node, Others) end},
        {differ, "another tool's trace works after all that", fun({Node, _}, _) -> foreign(Node) end},
        {differ, "no token of a trace emits anything", fun({Node, _}, _) -> quiet(Node) end},
        {differ, "the node has logged nothing", fun({Node, Port}, _) -> silent(Node, Port) end}].

main(Targets, Times) -> main(Targets, Times, trace).

%% Command: trace | spans.
main(Targets, Times, Command) ->
    put(command, Command),
    queries:main(Targets, tests(Times), [], fun({Node, _}) -> {others(Node), left(Node, [], [])} end).

%% Ends: [{WasArmed, MsUntilOff, InTime}]. How late they are is judged in `check all` only: of ten one
%% may be, since a thread of the VM may have got no turn.
told(Ends) ->
    Late = [E || {_, _, false} = E <- Ends],
    {_, true} = {Late, os:getenv("BEAMTOP_CHECK") =/= "all" orelse length(Late) * 10 =< length(Ends)},
    Ms = lists:sort([M || {_, M, _} <- Ends]),
    {said, io_lib:format("~w times, ~w of them armed, ~w late; off after ~w ms, at most ~w",
                         [length(Ends), length([1 || {true, _, _} <- Ends]), length(Late),
                          lists:nth((length(Ms) + 1) div 2, Ms), lists:last(Ms)])}.

%% Two callers, for so long at most. lists:foreach/2 calls the function natively.
callers(Node) ->
    queries:evaluate(Node,
        "L = lists:duplicate(1000, [1, 2]), End = erlang:monotonic_time(millisecond) + 600,"
        " [spawn(fun() -> F = fun F() -> lists:foreach(fun lists:last/1, L),"
        " erlang:monotonic_time(millisecond) < End andalso F() end, F() end) || _ <- [1, 2]].", []).

%% Where it is to be armed by then, it is: else that is tried again.
end_of(Node, How, Ms, WhenArmed, Base) -> end_of(Node, How, Ms, WhenArmed, Base, 8).
end_of(Node, How, Ms, WhenArmed, Base, Tries) ->
    case one(Node, How, Ms, WhenArmed, Base) of
        {false, _, _} when WhenArmed, Tries > 1 -> end_of(Node, How, Ms, WhenArmed, Base, Tries - 1);
        {Armed, _, _} = End when Armed; not WhenArmed -> End
    end.

one(Node, How, Ms, WhenArmed, Base) ->
    Proxy = case How of partition -> proxy:start(port_of(Node)); _ -> none end,
    %% A stopped program's keeper stays, since its connection does; it goes with the program. What is
    %% armed goes with the trace's own time.
    Stays = How =:= stop orelse How =:= partition,
    Port = beamtop(Node, Proxy, case Stays of true -> "1s"; false -> "5m" end),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    Hot = some_time(Node, WhenArmed),
    Hidden = case How of cut -> hidden(Node, 2000); _ -> [] end,
    Armed = rpc:call(Node, erlang, whereis, [beamtop_trace]) =/= undefined,
    Told = case How of
        {signal, "TERM"} -> signal("TERM", OsPid), as_told(drain(Port));
        {signal, "KILL"} -> signal("KILL", OsPid), drain(Port), true;
        stop -> signal("STOP", OsPid), true;
        partition -> proxy:stop_flow(element(1, Proxy)), true;
        cut -> [rpc:call(Node, erlang, disconnect_node, [N]) || N <- Hidden], true
    end,
    {InTime, Took} = disarmed(Node, Ms),
    Left = clean(Node, now_ms() + 60000, Stays, Hot, Base),
    How =:= partition andalso proxy:close(element(1, Proxy)),
    is_tuple(How) orelse begin
        erlang:port_info(Port) =:= undefined orelse signal("KILL", OsPid),
        drain(Port)
    end,
    After = clean(Node, now_ms() + 60000, false, Hot, Base),
    [exit(P, kill) || P <- Hot],
    {How, [], [], true} = {How, Left, After, Told},
    {Armed, Took, InTime}.

%% Whether what the trace had armed is off within so many ms, and how many it took. Waits on the node,
%% before all others. A look that comes late stands for 20 ms and no more: what the machine kept from
%% the node is none of its time.
disarmed(Node, Ms) ->
    queries:evaluate(Node,
        "Off = fun() -> whereis(beamtop_trace) =:= undefined"
        "   andalso seq_trace:get_system_tracer() =:= false"
        "   andalso erlang:system_info(trace_control_word) =:= 0"
        "   andalso erlang:trace_info({lists, last, 1}, all) =:= {all, false}"
        "   andalso not (erlang:function_exported(trace, session_info, 1)"
        "     andalso lists:keymember(beamtop, 1, trace:session_info(all))) end,"
        " Me = self(), Now = fun() -> erlang:monotonic_time(millisecond) end, Began = Now(),"
        " spawn_opt(fun() -> (fun Wait(Ran, At) ->"
        "   case {Off(), Ran > Ms} of {false, false} ->"
        "     receive after 2 -> ok end, Next = Now(), Wait(Ran + min(20, Next - At), Next);"
        "   {IsOff, _} -> Me ! {off, IsOff, Now() - Began} end end)(0, Began) end,"
        "   [{priority, max}]),"
        " receive {off, IsOff, Took} -> {IsOff, Took} end.", [{'Ms', Ms}]).

now_ms() -> erlang:monotonic_time(millisecond).

port_of(Node) ->
    [Name, Host] = string:split(atom_to_list(Node), "@"),
    {port, Port, _} = erl_epmd:port_please(Name, Host),
    Port.

%% A moment of a trace's life. Value: the callers, who call at that moment. The budget of a trace that
%% nobody calls stays open.
some_time(Node, false) ->
    Hot = callers(Node),
    timer:sleep(rand:uniform(600)),
    Hot;
some_time(Node, true) ->
    queries:evaluate(Node,
        "Wait = fun Wait(0) -> ok; Wait(N) -> erlang:system_info(trace_control_word) > 0"
        "   orelse begin receive after 2 -> ok end, Wait(N - 1) end end, Wait(5000).", []),
    Hot = callers(Node),
    timer:sleep(rand:uniform(200) - 1),
    Hot.

%% The program's node, as soon as it is connected: there is nothing to cut before.
hidden(Node, Tries) ->
    case [N || N <- rpc:call(Node, erlang, nodes, [hidden]), N =/= node(),
               lists:prefix("beamtop", atom_to_list(N))] of
        [] when Tries > 0 -> timer:sleep(10), hidden(Node, Tries - 1);
        Found -> Found
    end.

beamtop(Node, Proxy, Time) ->
    Way = case Proxy of none -> []; {_, P} -> ["--port", integer_to_list(P)] end,
    Common = ["--cookie-file", os:getenv("COOKIE_FILE"), "--timeout", "60", "--time", Time, "--force",
              "--format", "json" | Way],
    open_port({spawn_executable, os:getenv("BEAMTOP")},
              [{args, arguments(get(command), atom_to_list(Node)) ++ Common},
               binary, exit_status, stderr_to_stdout, hide]).

arguments(trace, Node) ->
    ["trace", Node, "lists:last(_) -> return", "--events", "10000", "--rate", "5000",
     "--bytes", "8MiB"];
arguments(spans, Node) ->
    Full = ["--full" || rand:uniform(2) =:= 1],
    Calls = case rand:uniform(2) of 1 -> ["--calls", "lists:_"]; 2 -> [] end,
    %% Refused before OTP 26.2.
    Context = ["--context"
               || rand:uniform(2) =:= 1,
                  queries:otp(list_to_atom(Node)) >= 27],
    ["spans", Node, "lists:last(_)", "--roots", "1000", "--every", "100", "--events", "20000"]
        ++ Calls ++ Context ++ Full.

%% One that is told to end does that as such (1: before it was armed), not when its time is over. The
%% calls may have ended it before: by another of its caps; and a late scheduler may have refused it.
as_told({Code, Output}) ->
    Capped = get(command) =:= spans
        orelse re:run(Output, "\"reason\":\"(events|rate|bytes|heap)\"") =/= nomatch,
    Code =:= 128 + 15 orelse Code =:= 1 orelse Code =:= 0 andalso Capped
        orelse Code =:= 5 andalso re:run(Output, "did not answer for") =/= nomatch
        orelse begin io:format("# ended with ~w: ~0P~n", [Code, Output, 200]), false end.

signal(Name, OsPid) -> os:cmd("kill -" ++ Name ++ " " ++ integer_to_list(OsPid)).

%% {ExitCode, WhatItPrinted}
drain(Port) -> drain(Port, []).

drain(Port, Printed) ->
    receive
        {Port, {exit_status, Code}} -> {Code, iolist_to_binary(Printed)};
        {Port, {data, Data}} -> drain(Port, [Printed, Data])
    after 30000 -> error(still_running)
    end.

%% ---- What is left

%% At last, [] when nothing is; asked again until then.
clean(Node, Until, KeeperStays, Hot, Base) ->
    Asked = now_ms(),
    All = left(Node, Hot, Base),
    Mine = [L || {What, _} = L <- All, not KeeperStays orelse What =/= processes],
    case Mine =:= [] orelse Asked > Until of
        true -> Mine;
        false -> timer:sleep(20), clean(Node, Until, KeeperStays, Hot, Base)
    end.

%% Without the load's processes, and what there was before.
left(Node, Hot, Base) ->
    queries:evaluate(Node,
        "Mfas = [{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(functions)],"
        " Points = [X || {Mfa, {all, Said}} = X <- lists:zip(Mfas, lists:zipwith("
        "   fun erlang:trace_info/2, Mfas, lists:duplicate(length(Mfas), all))), Said =/= false],"
        " Flags = [{P, L} || P <- [new | processes()],"
        "   {flags, [_ | _] = L} <- [try erlang:trace_info(P, flags) catch error:_ -> none end]],"
        " Messages = [{K, S} || K <- [send, 'receive'],"
        "   {match_spec, S} <- [erlang:trace_info(K, match_spec)], S =/= true],"
        " Sessions = case erlang:function_exported(trace, session_info, 1) of"
        "   true -> [N || {N, Id} <- trace:session_info(all), Id =/= default]; false -> [] end,"
        " Processes = [P || P <- processes() -- Hot, {dictionary, D} <-"
        "   [process_info(P, dictionary)], {_, beamtop} <- D],"
        " Known = length(processes() -- Hot),"
        " Tracers = [T || T <- [seq_trace:get_system_tracer()], T =/= false],"
        " Left = [{system_tracer, T} || T <- Tracers] ++ [{point, P} || P <- Points] ++ [{flags, F} || F <- Flags]"
        " ++ [{messages, M} || M <- Messages] ++ [{session, S} || S <- Sessions]"
        " ++ [{control_word, W} || W <- [erlang:system_info(trace_control_word)], W =/= 0]"
        " ++ [{processes, Ps} || Ps <- [Processes], Ps =/= []]"
        " ++ [{module, M} || {M, _} <- code:all_loaded()],"
        " case Base of [] -> [{count, Known} | Left];"
        "   [{count, Before} | Was] -> (Left -- Was)"
        "     ++ [{processes, Known} || Known > Before + 2] end.",
        [{'Hot', Hot}, {'Base', Base}]).

%% Tokens that are left are seen by whoever sets a system tracer next.
quiet(Node) ->
    [] = queries:evaluate(Node,
        "T = spawn(fun() -> (fun L(Seen) -> receive {what, P} -> P ! {seen, lists:sublist(Seen, 5)};"
        "   X -> L([X | Seen]) end end)([]) end),"
        " seq_trace:set_system_tracer(T), receive after 300 -> ok end,"
        " seq_trace:set_system_tracer(false), T ! {what, self()}, receive {seen, S} -> S end.", []),
    ok.

silent(Node, Port) ->
    [] = output(Port, 0),
    queries:evaluate(Node, "group_leader(whereis(user), self()),"
                           " error_logger:error_msg(\"that the log is heard~n\").", []),
    [_ | _] = output(Port, 20000),
    ok.

output(Port, Ms) ->
    receive {Port, {data, Text}} -> [Text | output(Port, 0)] after Ms -> [] end.

%% ---- Other tools

%% Where there are sessions: a process that calls the function that we trace, and one more,
%% traced by another session and by the single space; both count. Value: {Process, Counters}.
others(Node) ->
    queries:evaluate(Node,
        "case erlang:function_exported(trace, session_create, 3) of false -> none; true ->"
        " Me = self(), Count = fun Count(N) -> receive {trace, _, call, _} -> Count(N + 1);"
        "   {ask, From} -> From ! {self(), N}, Count(N) end end,"
        " Calls = fun Calls(N) -> lists:last([N]), lists:max([N]), erlang:send_after(10, self(), next),"
        "   receive {ask, From} -> From ! {self(), N + 1}, receive never -> ok end;"
        "           next -> Calls(N + 1) end end,"
        " A = spawn(fun() -> Count(0) end), B = spawn(fun() -> Count(0) end),"
        " P = spawn(fun() -> receive go -> Calls(0) end end),"
        " H = spawn(fun() -> S = trace:session_create(other, A, []),"
        "   trace:function(S, {lists, last, 1}, true, [local]), trace:process(S, P, true, [call]),"
        "   erlang:trace(P, true, [call, {tracer, B}]),"
        "   erlang:trace_pattern({lists, max, 1}, true, [local]), P ! go,"
        "   Me ! {stands, self()}, receive stop -> trace:session_destroy(S) end end),"
        " receive {stands, H} -> {P, A, B, H} end end.", []).

%% Every call of it was seen by both. Value: {Calls, Seen}.
whole(_, none) -> {skip, "there is one session before OTP 27"};
whole(Node, {P, A, B, H}) ->
    {N, N, N} = Counts = queries:evaluate(Node,
        "Ask = fun(X) -> X ! {ask, self()}, receive {X, N} -> N after 20000 -> none end end,"
        " N = Ask(P), D = erlang:trace_delivered(P), receive {trace_delivered, P, D} -> ok end,"
        " {N, Ask(A), Ask(B)}.",
        [{'P', P}, {'A', A}, {'B', B}]),
    true = N > 0,
    queries:evaluate(Node, "H ! stop, erlang:trace(P, false, [call]),"
                           " erlang:trace_pattern({lists, max, 1}, false, [local]),"
                           " [exit(X, kill) || X <- [P, A, B]].",
                     [{'P', P}, {'A', A}, {'B', B}, {'H', H}]),
    {element(1, Counts), element(2, Counts)}.

%% In the single space, by somebody else: it gets its events and takes its things away.
foreign(Node) ->
    [{lists, last, 1}] = queries:evaluate(Node,
        "Me = self(), T = spawn(fun() -> receive {trace, _, call, {M, F, As}} ->"
        "   Me ! {got, {M, F, length(As)}} end end),"
        " P = spawn(fun() -> receive go -> lists:last([1]) end end),"
        " erlang:trace(P, true, [call, {tracer, T}]),"
        " erlang:trace_pattern({lists, last, 1}, true, [local]), P ! go,"
        " R = receive {got, X} -> [X] after 20000 -> [] end,"
        " erlang:trace_pattern({lists, last, 1}, false, [local]), R.", []),
    ok.
