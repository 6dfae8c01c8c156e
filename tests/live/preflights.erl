%%% What a trace asks before and after it: preflight, armed, names, functions, records, on real
%%% nodes. Nothing here may change anything on the target. Prints TAP; queries.erl has the tools.
-module(preflights).
-export([main/1]).

main(Targets) ->
    io:format("1..~w~n", [length(Targets) * length(tests())]),
    lists:foldl(fun run_root/2, 1, Targets).

tests() ->
    [{"functions that patterns mean", fun functions_test/2},
     {"why a pattern means none", fun none_test/2},
     {"processes by name, pid, application, initial call, one in N", fun procs_test/2},
     {"names, modules and functions for completion", fun names_test/2},
     {"records of debug information", fun records_test/2},
     {"a quiet node has nothing armed", fun quiet_test/2},
     {"what others have armed is listed, and stays", fun armed_test/2},
     {"sessions of others are listed, and stay", fun session_test/2},
     {"no atom is made", fun atoms_test/2}].

run_root({Otp, none}, First) ->
    Last = First + length(tests()) - 1,
    [io:format("ok ~w # SKIP no root of OTP ~w on this machine~n", [N, Otp])
     || N <- lists:seq(First, Last)],
    Last + 1;
run_root({Otp, Root}, First) ->
    Target = {Node, _} = queries:start_target(Root, []),
    Keeper = queries:connect(Node),
    [queries:load(Keeper, Q) || Q <- [preflight, armed, names, functions, records]],
    [begin
         try Test(Node, Keeper) of
             {skip, Why} -> io:format("ok ~w - ~p: ~s # SKIP ~s~n", [N, Otp, Text, Why]);
             _ -> io:format("ok ~w - ~p: ~s~n", [N, Otp, Text])
         catch
             Class:Reason:Stack ->
                 io:format("not ok ~w - ~p: ~s~n# ~0p ~0P~n# ~0p~n",
                           [N, Otp, Text, Class, Reason, 30,
                            [{F, proplists:get_value(line, L)}
                             || {preflights, F, _, L} <- Stack]])
         end
     end || {N, {Text, Test}} <- lists:zip(lists:seq(First, First + length(tests()) - 1), tests())],
    queries:stop_target(Target),
    First + length(tests()).

ask(K, Name, Arg) ->
    {ok, _, Answer} = queries:ask(K, Name, Arg, 10000),
    Answer.

preflight(K, Patterns, Procs) ->
    {preflight, Found, Chosen, Others} =
        ask(K, preflight, #{patterns => Patterns, procs => Procs, most_functions => 10,
                            most_processes => 10000}),
    {Found, Chosen, Others}.

name(Text) -> {name, Text}.
call(M, F, A) -> {0, call, M, F, A}.
all() -> {1, false, [all]}.

functions_test(_, K) ->
    Lists = name(<<"lists">>),
    {[{0, [{lists, map, 2}], 1, ok}], {all, N}, {{0, 0, []}, [], 0}} =
        preflight(K, [call(Lists, name(<<"map">>), 2)], all()),
    true = N > 10,
    {[{0, Ten, Total, too_many}], _, _} = preflight(K, [call(Lists, any, any)], all()),
    10 = length(Ten),
    true = Total > 150,
    {[{0, Expressed, _, ok}], _, _} =
        preflight(K, [call({re, <<"^lists$">>}, {re, <<"^map(foldl)?$">>}, any)], all()),
    [{lists, map, 2}, {lists, mapfoldl, 3}] = Expressed,
    {[{0, Sends, 2, ok}], _, _} =
        preflight(K, [call(name(<<"erlang">>), name(<<"send">>), any)], all()),
    [{erlang, send, 2}, {erlang, send, 3}] = Sends.

none_test(_, K) ->
    Why = fun(M, F, A) ->
        {[{0, [], 0, W}], _, _} = preflight(K, [call(name(M), F, A)], all()),
        W
    end,
    {arities, [2]} = Why(<<"lists">>, name(<<"map">>), 7),
    no_function = Why(<<"lists">>, name(<<"mapp">>), any),
    no_function = Why(<<"lists">>, name(<<"no atom of this name">>), any),
    no_module = Why(<<"no module of this name">>, any, any),
    instruction = Why(<<"erlang">>, name(<<"length">>), any).

procs_test(Node, K) ->
    Init = rpc:call(Node, erlang, whereis, [init]),
    One = [call(name(<<"lists">>), name(<<"map">>), 2)],
    Procs = fun(Spec) -> {_, Chosen, _} = preflight(K, One, Spec), Chosen end,
    {pids, [Init], 1} = Procs({1, false, [name(<<"init">>), name(<<"nobody">>)]}),
    {pids, [Init], 1} = Procs({1, false, [{pid, list_to_binary(
        "<0." ++ lists:nth(2, string:tokens(pid_to_list(Init), ".")) ++ ".0>")}]}),
    {none, _} = Procs({1, false, [name(<<"nobody">>)]}),
    {new, 0} = Procs({1, false, [new]}),
    {running, _} = Procs({1, false, [running]}),
    {pids, Kernel, _} = Procs({1, false, [{app, <<"kernel">>}]}),
    true = lists:member(rpc:call(Node, erlang, whereis, [kernel_sup]), Kernel),
    {pids, [_ | _], _} = Procs({1, false, [{call, <<"^logger">>}]}),
    {pids, Third, _} = Procs({3, false, [all]}),
    {all, N} = Procs(all()),
    true = length(Third) > N div 8 andalso length(Third) < N div 3 * 2,
    %% Ours, and what carries the connection, are in no list.
    Never = [K, rpc:call(Node, erlang, whereis, [rex]),
             rpc:call(Node, erlang, whereis, [net_kernel])],
    {pids, Everyone, _} = Procs({1, false, [running, name(<<"init">>)]}),
    [] = [P || P <- Never, lists:member(P, Everyone)].

names_test(Node, K) ->
    Init = rpc:call(Node, erlang, whereis, [init]),
    {names, [{Init, <<"init">>}]} = ask(K, names, [Init]),
    {modules, [_, _, _], Total} = ask(K, functions, {modules, 3}),
    true = Total > 100,
    {functions, <<"lists">>, Functions} = ask(K, functions, {functions, <<"lists">>}),
    true = lists:member({<<"map">>, 2, true}, Functions),
    true = lists:sort(Functions) =:= Functions,
    {functions, <<"nomod">>, no_module} = ask(K, functions, {functions, <<"nomod">>}).

records_test(_, K) ->
    {records, Answers} = ask(K, records, [{<<"file_io_server">>, <<"state">>},
                                          {<<"file_io_server">>, <<"nonesuch">>},
                                          {<<"no such module">>, <<"x">>},
                                          {<<"lists">>, <<>>}]),
    case Answers of
        [{_, _, {missing, <<"it was compiled without debug_info">>}} | _] ->
            {skip, "OTP's own modules have no debug information here"};
        _ ->
            [{_, _, [<<"handle">> | _]}, {_, _, {missing, Others}}, {_, _, {missing, NoModule}},
             {_, _, {missing, _}}] = Answers,
            <<"its records are ", _/binary>> = Others,
            <<"there is no such module">> = NoModule
    end.

armed(K) -> ask(K, armed, #{most => 20}).

quiet_test(_, K) ->
    {armed, _, 0, [], {0, []}, {0, []}, [], 0} = armed(K).

armed_test(Node, K) ->
    Tracer = queries:evaluate(Node,
        "T = spawn(fun() -> erlang:trace(whereis(init), true, [call, {tracer, self()}]),"
        " timer:sleep(infinity) end),"
        " erlang:trace_pattern({lists, map, 2}, [{'_', [], [{return_trace}]}], [local]),"
        " erlang:trace_pattern({lists, seq, 2}, true, [call_count]),"
        " erlang:trace_pattern('receive', [{['_', '_', foo], [], []}], []),"
        " timer:sleep(100), T.", []),
    Init = rpc:call(Node, erlang, whereis, [init]),
    Look = fun() ->
        {armed, _, 0, [], {3, Points}, {1, [{<<>>, Init, <<"init">>, [call], _}]}, [], 0} =
            armed(K),
        Sorted = lists:sort(Points),
        [{<<>>, lists, map, 2, [{local, _}]}, {<<>>, lists, seq, 2, [{call_count, _}]},
         {<<>>, 'receive', 0, 0, [_]}] = Sorted
    end,
    Look(),
    {_, _, {{2, 1, [_ | _]}, [], 0}} =
        preflight(K, [call(name(<<"lists">>), name(<<"map">>), 2)], all()),
    Look(),
    queries:evaluate(Node, "exit(T, kill), erlang:trace_pattern({'_', '_', '_'}, false, [local]),"
        " erlang:trace_pattern({'_', '_', '_'}, false, [call_count]),"
        " erlang:trace_pattern('receive', true, []), timer:sleep(50).", [{'T', Tracer}]),
    quiet_test(Node, K).

session_test(Node, K) ->
    case rpc:call(Node, erlang, system_info, [otp_release]) >= "27" of
        false ->
            {skip, "the release has no trace sessions"};
        true ->
            Holder = queries:evaluate(Node,
                "H = spawn(fun() -> S = trace:session_create(other, self(), []),"
                " trace:function(S, {lists, nth, 2}, [], [local]),"
                " trace:process(S, whereis(init), true, [call]),"
                " receive stop -> trace:session_destroy(S) end end), timer:sleep(100), H.", []),
            {armed, _, 0, [{<<"other">>, false}],
             {1, [{<<"other">>, lists, nth, 2, [{local, _}]}]},
             {1, [{<<"other">>, _, <<"init">>, [call], _}]}, [], 0} = armed(K),
            Holder ! stop,
            timer:sleep(50),
            quiet_test(Node, K)
    end.

atoms_test(Node, K) ->
    Count = fun() -> rpc:call(Node, erlang, system_info, [atom_count]) end,
    Before = Count(),
    none_test(Node, K),
    preflight(K, [call(name(<<"never heard of 1">>), {re, <<"never heard of 2">>}, any)],
              {1, false, [name(<<"never heard of 3">>), {app, <<"never heard of 4">>}]}),
    ask(K, functions, {functions, <<"never heard of 5">>}),
    ask(K, records, [{<<"never heard of 6">>, <<"never heard of 7">>}]),
    Before = Count().
