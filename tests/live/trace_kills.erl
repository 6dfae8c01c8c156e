%%% Ends of `beamtop trace` that nobody planned: kill -9, SIGTERM, SIGSTOP and a link that is cut, at
%%% random moments of a trace's life, on a function that is called as fast as the VM can. After
%%% each, the node itself is asked what is left: breakpoints, flags, sessions, the control word,
%%% processes. Prints TAP; queries.erl has the tools.
-module(trace_kills).
-export([main/2]).

%% Each: {Text, how it ends, how long the target may need to be clean, in ms}
ends() ->
    [{"kill -9", {signal, "KILL"}, 1000},
     {"SIGTERM", {signal, "TERM"}, 2000},
     {"SIGSTOP, then the trace's own time", stop, 4000},
     {"the link is cut by the node", cut, 1000}].

main(Targets, Times) ->
    io:format("1..~w~n", [length(Targets) * (length(ends()) + 1)]),
    lists:foldl(fun(Target, First) -> run_root(Target, Times, First) end, 1, Targets).

run_root({Otp, none}, _, First) ->
    Last = First + length(ends()),
    [io:format("ok ~w # SKIP no root of OTP ~w on this machine~n", [N, Otp])
     || N <- lists:seq(First, Last)],
    Last + 1;
run_root({Otp, Root}, Times, First) ->
    Target = {Node, _} = queries:start_target(Root, []),
    Callers = callers(Node),
    Before = processes_of(Node),
    [test(N, Otp, Text, fun() -> [one(Node, How, Ms, Before) || _ <- lists:seq(1, Times)] end)
     || {N, {Text, How, Ms}} <- lists:zip(lists:seq(First, First + length(ends()) - 1), ends())],
    test(First + length(ends()), Otp, "another tool's trace works after all that",
         fun() -> foreign(Node) end),
    [exit(P, kill) || P <- Callers],
    queries:stop_target(Target),
    First + length(ends()) + 1.

test(N, Otp, Text, Run) ->
    try Run() of
        _ -> io:format("ok ~w - ~p: ~s~n", [N, Otp, Text])
    catch
        Class:Reason:Stack ->
            io:format("not ok ~w - ~p: ~s~n# ~0p ~0P~n# ~0p~n",
                      [N, Otp, Text, Class, Reason, 40,
                       [{F, proplists:get_value(line, L)}
                        || {trace_kills, F, _, L} <- Stack]])
    end.

%% Two callers, for two minutes at most. lists:foreach/2 calls the function natively.
callers(Node) ->
    queries:evaluate(Node,
        "L = lists:duplicate(1000, [1, 2]), End = erlang:monotonic_time(second) + 120,"
        " [spawn(fun() -> F = fun F() -> lists:foreach(fun lists:last/1, L),"
        " erlang:monotonic_time(second) < End andalso F() end, F() end) || _ <- [1, 2]].", []).

processes_of(Node) -> length(rpc:call(Node, erlang, processes, [])).

one(Node, How, Ms, Before) ->
    Port = beamtop(Node),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    timer:sleep(rand:uniform(600)),
    Ended = erlang:monotonic_time(millisecond),
    Hidden = hidden(Node),
    case How of
        {signal, Signal} -> signal(Signal, OsPid);
        stop -> signal("STOP", OsPid);
        cut -> [rpc:call(Node, erlang, disconnect_node, [N]) || N <- Hidden]
    end,
    Left = clean(Node, Ended + Ms, How =:= stop, Before),
    signal("KILL", OsPid),
    drain(Port),
    %% A stopped program's keeper stays, since its connection does; it goes with the program.
    After = clean(Node, erlang:monotonic_time(millisecond) + 3000, false, Before),
    {How, [], []} = {How, Left, After}.

hidden(Node) ->
    [N || N <- rpc:call(Node, erlang, nodes, [hidden]), N =/= node(),
          lists:prefix("beamtop", atom_to_list(N))].

beamtop(Node) ->
    open_port({spawn_executable, os:getenv("BEAMTOP")},
              [{args, ["trace", atom_to_list(Node), "lists:last(_) -> return",
                       "--cookie-file", os:getenv("COOKIE_FILE"), "--time", "2s",
                       "--events", "10000", "--rate", "5000", "--bytes", "8MiB", "--force",
                       "--format", "json"]},
               binary, exit_status, stderr_to_stdout, hide]).

signal(Name, OsPid) -> os:cmd("kill -" ++ Name ++ " " ++ integer_to_list(OsPid)).

drain(Port) ->
    receive
        {Port, {exit_status, _}} -> ok;
        {Port, _} -> drain(Port)
    after 5000 -> error(still_running)
    end.

%% What is left at last, [] when nothing is; asked again until then.
clean(Node, Until, KeeperStays, Before) ->
    case left(Node, KeeperStays, Before) of
        [] -> [];
        Left ->
            case erlang:monotonic_time(millisecond) > Until of
                true -> Left;
                false -> timer:sleep(20), clean(Node, Until, KeeperStays, Before)
            end
    end.

left(Node, KeeperStays, Before) ->
    Left = queries:evaluate(Node,
        "Mfas = [{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(functions)],"
        " Points = [X || {Mfa, {all, Said}} = X <- lists:zip(Mfas, lists:zipwith("
        "   fun erlang:trace_info/2, Mfas, lists:duplicate(length(Mfas), all))), Said =/= false],"
        " Flags = [{P, L} || P <- [new | processes()],"
        "   {flags, [_ | _] = L} <- [try erlang:trace_info(P, flags) catch error:_ -> none end]],"
        " Messages = [{K, S} || K <- [send, 'receive'],"
        "   {match_spec, S} <- [erlang:trace_info(K, match_spec)], S =/= true],"
        " Sessions = case erlang:function_exported(trace, session_info, 1) of"
        "   true -> [N || {N, Id} <- trace:session_info(all), Id =/= default]; false -> [] end,"
        " [{points, Points} || Points =/= []] ++ [{flags, Flags} || Flags =/= []]"
        " ++ [{messages, Messages} || Messages =/= []]"
        " ++ [{sessions, Sessions} || Sessions =/= []]"
        " ++ [{control_word, W} || W <- [erlang:system_info(trace_control_word)], W =/= 0].", []),
    More = processes_of(Node) - Before,
    Left ++ [{processes, More} || More > 2, not KeeperStays].

%% In the single space, by somebody else: it gets its events and takes its things away.
foreign(Node) ->
    [{lists, last, 1}] = queries:evaluate(Node,
        "Me = self(), T = spawn(fun() -> receive {trace, _, call, {M, F, As}} ->"
        "   Me ! {got, {M, F, length(As)}} end end),"
        " P = spawn(fun() -> receive go -> lists:last([1]) end end),"
        " erlang:trace(P, true, [call, {tracer, T}]),"
        " erlang:trace_pattern({lists, last, 1}, true, [local]), P ! go,"
        " R = receive {got, X} -> [X] after 2000 -> [] end,"
        " erlang:trace_pattern({lists, last, 1}, false, [local]), R.", []).
