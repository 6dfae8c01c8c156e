%% SPDX-License-Identifier: GPL-3.0-or-later
%%% The questions before and after a trace (functions, preflight, armed, names, records) against real
%%% nodes, with foreign tracers that are really set up. Prints TAP. Uses queries.erl.
-module(preflights).
-export([main/1]).
-import(queries, [otp/1]).

-define(LONG_MS, 60000).

ask(K, Name, Arg) ->
    {ok, {Us, _}, Value} = queries:ask(K, Name, Arg, ?LONG_MS),
    put(us, Us),
    Value.

tests() ->
    [{each, "modules and their functions", fun functions_test/2},
     {each, "functions that patterns name", fun patterns_test/2},
     {each, "processes that a trace would follow", fun procs_test/2},
     {each, "names that are no atoms", fun atoms_test/2},
     {each, "who can be chosen", fun who_test/2},
     {each, "others who trace are told", fun others_test/2},
     {each, "all that is armed", fun armed_test/2},
     {each, "every function armed", fun every_test/2},
     {each, "sessions of others", fun sessions_test/2},
     {each, "records of debug information", fun records_test/2},
     {each, "files are unknown while the code server hangs, which is asked nothing", fun hangs_test/2},
     {each, "names of processes", fun names_test/2},
     {each, "no atom, no module, no word in the log", fun traceless_test/2}].

functions_test({Node, _}, K) ->
    {modules, [A, B], Total} = ask(K, functions, {modules, 2}),
    {modules, All, Total} = ask(K, functions, {modules, 100000}),
    [A, B | _] = All = lists:sort(All),
    Total = length(rpc:call(Node, erlang, loaded, [])),
    {functions, <<"lists">>, Functions} = ask(K, functions, {functions, <<"lists">>}),
    Functions = lists:sort(Functions),
    true = lists:member({<<"seq">>, 2, true}, Functions),
    true = lists:member({<<"thing_to_list">>, 1, false}, Functions),
    %% A module of a library on the path that nothing needs is the last one.
    [queries:one_of(20, fun() ->
         {functions, Name, Where} = ask(K, functions, {functions, Name}),
         true = lists:member(Where, Which)
     end) || {Name, Which} <- [{<<"surely none">>, [no_module]}, {<<"../lists">>, [no_module]},
                               {<<"xref_reader">>, [not_loaded, no_module]}]].

patterns(K, Most, Patterns) ->
    {preflight, Answers, {all, N}, _, []} =
        ask(K, preflight, #{patterns => Patterns, procs => {1, false, [all]},
                            most_functions => Most, most_processes => 1000}),
    true = N > 10,
    Answers.

pattern(K, Mod, Fun, Arity) ->
    [{7, Mfas, Total, Why}] = patterns(K, 100000, [{7, call, Mod, Fun, Arity}]),
    Total = length(Mfas),
    {Mfas, Why}.

%% On a busy machine the code server or the disk may be too late to know.
has_no_module(K, Mod) -> queries:one_of(20, fun() -> {[], no_module} = pattern(K, Mod, any, any) end).

patterns_test({Node, _}, K) ->
    Lists = {name, <<"lists">>},
    Seq = {name, <<"seq">>},
    {[{lists, seq, 2}], ok} = pattern(K, Lists, Seq, 2),
    {Stdlib, ok} = pattern(K, {app, <<"stdlib">>}, any, any),
    true = lists:member({lists, seq, 2}, Stdlib) andalso lists:member({maps, fold, 3}, Stdlib),
    true = lists:member({lists, thing_to_list, 1}, Stdlib),
    false = lists:keymember(file, 1, Stdlib),
    {[], no_application} = pattern(K, {app, <<"lists">>}, any, any),
    {[], no_application} = pattern(K, {app, <<"surely none">>}, any, any),
    {[{lists, seq, 2}, {lists, seq, 3}], ok} = pattern(K, Lists, Seq, any),
    {[], {arities, [2, 3]}} = pattern(K, Lists, Seq, 7),
    {[], no_function} = pattern(K, Lists, {name, <<"nothing of this name">>}, any),
    {[], no_function} = pattern(K, Lists, {name, <<"kernel_sup">>}, any),
    has_no_module(K, {name, <<"no module of this name">>}),
    has_no_module(K, {name, <<"kernel_sup">>}),
    {Local, ok} = pattern(K, Lists, any, any),
    true = lists:member({lists, thing_to_list, 1}, Local),
    {Ends, ok} = pattern(K, {re, <<"^lists$">>}, {re, <<"^key(take|find)$">>}, any),
    [{lists, keyfind, 3}, {lists, keytake, 3}, {lists, keytake, 4}] = Ends,
    {[], {bad_expression, <<_, _/binary>>}} = pattern(K, {re, <<"(">>}, any, any),
    {[], {bad_expression, _}} = pattern(K, Lists, {re, <<"a{2,1}">>}, any),
    {[], no_module} = pattern(K, {re, <<"^no such$">>}, any, any),
    %% An expression that would run for ever is ended by its limits.
    {_, _} = pattern(K, any, {re, <<"^(a+|.)*(b+|.)*$x">>}, any),
    {[{erlang, atom_to_binary, 2}], ok} =
        pattern(K, {name, <<"erlang">>}, {name, <<"atom_to_binary">>}, 2),
    [{[], instruction} = pattern(K, {name, <<"erlang">>}, {name, Name}, Arity)
     || {Name, Arity} <- [{<<"length">>, 1}, {<<"+">>, 2}, {<<"=:=">>, 2}, {<<"!">>, 2},
                          {<<"self">>, 0}, {<<"and">>, 2}, {<<"apply">>, 3}]],
    {[{erlang, '++', 2}], ok} = pattern(K, {name, <<"erlang">>}, {name, <<"++">>}, any),
    %% `_` is every export.
    {Every, ok} = pattern(K, any, any, any),
    %% When the machine lets us work.
    os:getenv("BEAMTOP_CHECK") =/= "all" orelse
        queries:one_of(20, fun() -> pattern(K, any, any, any), true = get(us) < 500000 end),
    true = lists:member({lists, seq, 2}, Every),
    false = lists:member({lists, thing_to_list, 1}, Every),
    false = lists:member({erlang, length, 1}, Every),
    Exports = queries:evaluate(Node,
        "lists:sum([length(M:module_info(exports)) || M <- erlang:loaded()]).", []),
    true = abs(Exports - length(Every)) < 150,
    %% The cap is over all.
    [{1, [_, _], 2, ok}, {2, [_], 3, too_many}, {3, [], 0, ok}, {4, [], Many, too_many}] =
        patterns(K, 3, [{1, call, Lists, Seq, any}, {2, call, Lists, {re, <<"^key(take|find)$">>}, any},
                        {3, send, any, any, any}, {4, call, Lists, any, any}]),
    Many = length(Local).

procs(K, Procs) -> procs(K, Procs, 100000).
procs(K, Procs, Most) ->
    {preflight, [], Answer, _, []} =
        ask(K, preflight, #{patterns => [], procs => Procs, most_functions => 10,
                            most_processes => Most}),
    Answer.

procs_test({Node, _}, K) ->
    Sup = rpc:call(Node, erlang, whereis, [kernel_sup]),
    SupText = list_to_binary(rpc:call(Node, erlang, pid_to_list, [Sup])),
    {new, 0} = procs(K, {1, false, [new]}),
    {running, N} = procs(K, {1, false, [running]}),
    {all, N1} = procs(K, {1, true, [new, running]}),
    true = abs(N - N1) < 5,
    {all, _} = procs(K, {1, true, []}),
    {pids, [Sup], 1} = procs(K, {1, false, [{pid, SupText}]}),
    {pids, [Sup], 1} = procs(K, {1, false, [{pid, SupText}, {name, <<"kernel_sup">>}]}),
    {none, <<"no process is registered as surely none">>} = procs(K, {1, false, [{name, <<"surely none">>}]}),
    {none, <<"no process ", _/binary>>} = procs(K, {1, false, [{pid, <<"<0.99999.9999999>">>}]}),
    {none, <<"no process ", _/binary>>} = procs(K, {1, false, [{pid, <<"<nonsense>">>}]}),
    {none, _} = procs(K, {1, false, [new, {name, <<"kernel_sup">>}]}),
    {none, _} = procs(K, {3, false, [new]}),
    {none, _} = procs(K, {3, false, [running, new]}),
    {new, 0} = procs(K, {1, false, [new, new]}),
    {all, _} = procs(K, {1, false, [{name, <<"kernel_sup">>}, all]}),
    {all, _} = procs(K, {1, false, [new, {name, <<"kernel_sup">>}, running]}),
    {running, _} = procs(K, {1, false, [running, {name, <<"kernel_sup">>}]}),
    {pids, _, Third} = procs(K, {3, false, [all]}),
    true = Third < N,
    {pids, Kernel, KernelTotal} = procs(K, {1, false, [{app, <<"kernel">>}]}),
    true = lists:member(Sup, Kernel) andalso KernelTotal > 5,
    {none, <<"no running application surely none">>} = procs(K, {1, false, [{app, <<"surely none">>}]}),
    {none, <<"the application stdlib has no process", _/binary>>} =
        procs(K, {1, false, [{app, <<"stdlib">>}]}),
    Sleepers = queries:evaluate(Node,
        "Begun = fun W(P) -> case proc_lib:translate_initial_call(P) of {timer, sleep, 1} -> P;"
        " _ -> timer:sleep(5), W(P) end end,"
        "[Begun(proc_lib:spawn(timer, sleep, [infinity])) || _ <- lists:seq(1, 60)].", []),
    Sorted = lists:sort(Sleepers),
    {pids, Sorted, 60} = procs(K, {1, false, [{call, <<"^timer:sleep/1$">>}]}),
    {pids, Few, Some} = procs(K, {3, false, [{call, <<"^timer:sleep/1$">>}]}),
    true = Some > 3 andalso Some < 50 andalso length(Few) =:= Some,
    [] = Few -- Sleepers,
    {none, <<"call:/(/: invalid regex", _/binary>>} = procs(K, {1, false, [{call, <<"(">>}]}),
    {none, <<"call:/^none:/ matches no initial call; there is ", Example/binary>>} =
        procs(K, {1, false, [{call, <<"^none:">>}]}),
    {match, _} = re:run(Example, "^[a-z_]+:.*/[0-9], .*, for example$"),
    {pids, [Sup], 1} = procs(K, {1, false, [{call, <<"^none:">>}, {name, <<"kernel_sup">>}]}),
    %% Any number may take one of any sixty.
    One = queries:evaluate(Node, "hd([N || N <- lists:seq(100000, 101000),"
                                 " [P || P <- Pids, erlang:phash2(P, N) =:= 0] =:= []]).",
                           [{'Pids', Sleepers}]),
    NoneOfThem = <<"1/", (integer_to_binary(One))/binary, " of 60 takes none of them">>,
    {none, NoneOfThem} = procs(K, {One, false, [{call, <<"^timer:sleep/1$">>}]}),
    {none, <<"none among", _/binary>>} = procs(K, {1, false, [{call, <<"^timer:sleep/1$">>}]}, 3),
    case otp(Node) >= 27 of
        true ->
            P = hold(Node, "proc_lib:set_label({cart, 42})"),
            {pids, [P], 1} = procs(K, {1, false, [{label, <<"cart.*42">>}]}),
            {none, <<"label:/^none/ matches no label; there is {cart,42}, for example">>} =
                procs(K, {1, false, [{label, <<"^none">>}]}),
            rpc:call(Node, erlang, exit, [P, kill]);
        false ->
            {none, <<"label:/./: this release has no labels, they came with OTP 27", _/binary>>} =
                procs(K, {1, false, [{label, <<".">>}]})
    end,
    %% Neither our own nor those that carry the connection.
    {pids, Half, _} = procs(K, {2, false, [running]}),
    Rex = rpc:call(Node, erlang, whereis, [rex]),
    Net = rpc:call(Node, erlang, whereis, [net_kernel]),
    [] = [P || P <- Half, lists:member(P, [K, Rex, Net])],
    [{none, <<"beamtop's own processes and those that carry", _/binary>>} =
         procs(K, {1, false, [{pid, list_to_binary(rpc:call(Node, erlang, pid_to_list, [P]))}]})
     || P <- [K, Rex, Net]],
    [rpc:call(Node, erlang, exit, [P, kill]) || P <- Sleepers].

unknown(K, Near, Atoms) ->
    {preflight, [], {all, _}, _, Unknown} =
        ask(K, preflight, #{patterns => [], procs => {1, false, [all]}, most_functions => 10,
                            most_processes => 10, atoms => Atoms, near => Near}),
    Unknown.

%% A name is asked about and is no atom afterwards either; names one letter away are told.
atoms_test({Node, _}, K) ->
    [] = unknown(K, true, []),
    [] = unknown(K, true, [<<"kernel_sup">>, <<"true">>, <<>>]),
    [{<<"kernel_spu">>, []}] = unknown(K, false, [<<"ok">>, <<"kernel_spu">>, <<"other none">>]),
    [begin
         [{Name, Near}] = unknown(K, true, [Name]),
         true = lists:member(<<"kernel_sup">>, Near)
     end || Name <- [<<"kernel_spu">>, <<"kernel_sp">>, <<"kernel_supp">>, <<"kernel_sux">>,
                     <<"ernel_sup">>, <<"ekrnel_sup">>, <<"kernelsup">>]],
    Long = binary:copy(<<"none">>, 60),
    [{Long, []}] = unknown(K, true, [Long]),
    [{<<"zq">>, []}] = unknown(K, true, [<<"zq">>]),
    [{<<"n\303\266ne at all">>, []}] = unknown(K, true, [<<"n\303\266ne at all">>]),
    [{<<255, 255, 255, 255>>, []}] = unknown(K, true, [<<255, 255, 255, 255>>]),
    false = queries:evaluate(Node, "try binary_to_existing_atom(<<\"kernel_spu\">>, utf8), true"
                                   " catch error:_ -> false end.", []).

who_test(_, K) ->
    {who, Names, Apps} = ask(K, functions, {who, 1000}),
    Names = lists:sort(Names),
    true = lists:member(<<"kernel_sup">>, Names),
    true = lists:member(<<"kernel">>, Apps),
    {who, [_], [_]} = ask(K, functions, {who, 1}).

others(K) ->
    {preflight, [], _, Others, []} =
        ask(K, preflight, #{patterns => [], procs => {1, false, [all]}, most_functions => 10,
                            most_processes => 10}),
    Others.

%% A process of the node that evaluates the text and stays; its value comes first.
hold(Node, Text) ->
    queries:evaluate(Node, "Me = self(), P = spawn(fun() -> V = begin " ++ Text ++ " end,"
                           " Me ! {held, self()}, timer:sleep(infinity), V end),"
                           " receive {held, P} -> P after 60000 -> exit(P, kill), error(P) end.", []).
release(Node, Pid) ->
    rpc:call(Node, erlang, exit, [Pid, kill]),
    queries:wait(fun() -> not rpc:call(Node, erlang, is_process_alive, [Pid])
                              andalso rpc:call(Node, erlang, system_monitor, []) =:= undefined end,
                 ?LONG_MS),
    queries:evaluate(Node, "erlang:trace_pattern({'_', '_', '_'}, false, [local]),"
                           " erlang:trace_pattern({'_', '_', '_'}, false, [call_count]),"
                           " erlang:trace_pattern({'_', '_', '_'}, false, [call_time]),"
                           " erlang:trace_pattern({'_', '_', '_'}, false, [meta]),"
                           " erlang:trace_pattern(send, true, []),"
                           " erlang:trace_pattern('receive', true, []),"
                           " erlang:system_flag(trace_control_word, 0),"
                           " erlang:trace(all, false, [all]).", []).

-define(FOREIGN,
        "erlang:trace_pattern({lists, seq, 2}, [{['$1', '_'], [{'>', '$1', 5}], []}], [local]),"
        "erlang:trace_pattern({lists, seq, 3}, true, [call_count]),"
        "erlang:trace_pattern(send, [{['_', {foo, '_'}], [], []}], []),"
        "erlang:trace(whereis(kernel_sup), true, [call]),"
        "erlang:trace(new_processes, true, [procs]),"
        "erlang:system_flag(trace_control_word, 17)").

others_test({Node, _}, K) ->
    {{0, 0, []}, [], 0} = others(K),
    P = hold(Node, ?FOREIGN),
    %% A process that the node starts meanwhile is followed as well, and is one more.
    queries:one_of(20, fun() ->
        {{2, 1, Texts}, [], 17} = others(K),
        [<<"lists:seq/2">>, <<"lists:seq/3">>, <<"new processes">>, <<"send">>] = lists:sort(Texts)
    end),
    release(Node, P),
    {{0, 0, []}, [], 0} = others(K).

%% What nobody has armed is said to be nothing.
clean_test(_, K) ->
    {armed, Mono, 0, [], {0, []}, {0, []}, [], 0, <<>>, 0, [], false} = ask(K, armed, #{most => 100}),
    true = is_integer(Mono).

armed_test({Node, _}, K) ->
    P = hold(Node, ?FOREIGN ", erlang:trace_pattern({lists, prefix, 2}, true, [call_time]),"
                            " erlang:trace_pattern({lists, suffix, 2}, true, [meta]),"
                            " erlang:system_monitor(self(), [{long_gc, 100000}])"),
    queries:evaluate(Node, "lists:seq(1, 10, 2), lists:seq(1, 10, 2).", []),
    queries:one_of(20, fun() -> all_armed(Node, K, P) end),
    release(Node, P),
    clean_test(Node, K).

all_armed(Node, K, P) ->
    {armed, _, 17, [], {5, Points}, {2, Flags}, [Monitor], 0, <<>>, 0, [], false} =
        ask(K, armed, #{most => 100}),
    [{<<>>, send, 0, 0, [{global, <<"[{['_',{foo,'_'}],[],[]}]">>}]} | Functions] = Points,
    [{<<>>, lists, prefix, 2, [{call_time, _}]}, {<<>>, lists, seq, 2, [{local, Spec}]},
     {<<>>, lists, seq, 3, [{call_count, Calls}]},
     {<<>>, lists, suffix, 2, [{meta, Tracer}]}] =
        lists:sort(Functions),
    true = Calls >= 2 andalso byte_size(Spec) > 10,
    Text = list_to_binary(rpc:call(Node, erlang, pid_to_list, [P])),
    <<Text:(byte_size(Text))/binary, _/binary>> = Tracer,
    Sup = rpc:call(Node, erlang, whereis, [kernel_sup]),
    [{<<>>, new_processes, <<>>, [procs], Tracer},
     {<<>>, Sup, <<"kernel_sup">>, [call], Tracer}] = lists:sort(Flags),
    <<"system_monitor ", _/binary>> = Monitor,
    {armed, _, _, _, {5, [_]}, {2, [_]}, _, _, <<>>, 0, [], false} = ask(K, armed, #{most => 1}).

%% As a tool that counts all calls does it: more than anybody tells, and none of it is too much. Times
%% of all calls are slow to read on OTP 29: there a session has them.
every_test({Node, _}, K) ->
    Sessions = otp(Node) >= 27,
    Times = case Sessions of
        true -> "";
        false -> ", erlang:trace_pattern({'_', '_', '_'}, true, [call_time])"
    end,
    P = hold(Node, "erlang:trace_pattern({'_', '_', '_'}, true, [call_count])" ++ Times),
    {armed, _, 0, [], {N, Points}, {0, []}, [], 0, <<>>, 0, [], false} = ask(K, armed, #{most => 1000}),
    true = N > 5000 andalso length(Points) =:= 1000,
    [] = [X || {_, _, _, _, Items} = X <- Points, not lists:keymember(call_count, 1, Items)],
    {{N, 0, [_, _, _, _, _, More]}, [], 0} = others(K),
    More = <<"and ", (integer_to_binary(N - 5))/binary, " more">>,
    release(Node, P),
    clean_test(Node, K),
    Sessions andalso every_in_session(Node, K).

%% With half the memory that it has: of a node with more functions it needs more. Where a connection
%% asks for the first time, the VM now and then keeps the session of one that dies just then.
every_in_session(Node, K) ->
    Small = queries:connect(Node, #{worker_heap_bytes => 30 * 1048576}),
    queries:load(Small, armed),
    clean_test(Node, Small),
    P = hold(Node, "S = trace:session_create(theirs, self(), []),"
                   " trace:function(S, {'_', '_', '_'}, true, [call_count, call_time]), S"),
    {armed, _, 0, [_], {N, Points}, {0, []}, [], 0, <<>>, 0, _, false} = ask(Small, armed, #{most => 1000}),
    true = N > 5000 andalso length(Points) =:= 1000,
    session_ends(Node, K, P),
    queries:stop_keeper(Small).

session_ends(Node, K, P) ->
    rpc:call(Node, erlang, exit, [P, kill]),
    queries:wait(fun() -> element(4, ask(K, armed, #{most => 100})) =:= [] end, ?LONG_MS),
    clean_test(Node, K).

sessions_test({Node, _}, K) ->
    case otp(Node) >= 27 of
        false -> {skip, "there is one session before OTP 27"};
        true ->
            P = hold(Node, "S = trace:session_create(theirs, self(), []),"
                           " trace:function(S, {lists, seq, 2}, true, [local]),"
                           " trace:function(S, {lists, seq, 2}, true, [call_count]),"
                           " trace:recv(S, [{['_', '_', {a, '_'}], [], []}], []),"
                           " trace:process(S, whereis(kernel_sup), true, [call]), S"),
            {{0, 0, []}, [<<"theirs">>], 0} = others(K),
            {armed, _, 0, [{<<"theirs">>, false}], {2, Points}, {1, [Flag]}, [], 0, <<>>, 0, [], false} =
                ask(K, armed, #{most => 100}),
            [{<<"theirs">>, lists, seq, 2, Items}] = [X || {_, lists, _, _, _} = X <- Points],
            [{call_count, _}, {local, _}] = lists:sort(Items),
            [{<<"theirs">>, 'receive', 0, 0, _}] = [X || {_, 'receive', _, _, _} = X <- Points],
            {<<"theirs">>, _, <<"kernel_sup">>, [call], _} = Flag,
            %% Reading did not keep the session.
            session_ends(Node, K, P)
    end.

names_test({Node, _}, K) ->
    Sup = rpc:call(Node, erlang, whereis, [kernel_sup]),
    Sleeper = queries:evaluate(Node, "proc_lib:spawn(timer, sleep, [infinity]).", []),
    Gone = queries:evaluate(Node, "spawn(fun() -> ok end).", []),
    queries:wait(fun() -> queries:is_in(Node, Sleeper, {timer, sleep, 1})
                              andalso not rpc:call(Node, erlang, is_process_alive, [Gone]) end,
                 ?LONG_MS),
    {who, [{Sup, {kernel_sup, _, _, kernel, _}}, {Sleeper, {undefined, {timer, sleep, 1}, _, _, _}},
           {Gone, gone}, {Me, gone}]} = ask(K, who, [Sup, Sleeper, Gone, self()]),
    Me = self(),
    rpc:call(Node, erlang, exit, [Sleeper, kill]).

%% OTP's own modules come without debug information in some distributions.
records_test(_, K) -> queries:one_of(20, fun() -> records_are_known(K) end).

records_are_known(K) ->
    {records, [{_, _, Io}, {_, _, {missing, Nonesuch}}, {_, _, {missing, NoModule}},
               {_, _, Lists}, {_, _, []}]} =
        ask(K, records, [{<<"file_io_server">>, <<"state">>}, {<<"file_io_server">>, <<"none">>},
                         {<<"no such module">>, <<"x">>}, {<<"lists">>, <<>>},
                         {<<"Elixir.No.Such">>, <<>>}]),
    case Lists of
        [] -> ok;
        {missing, <<"it was compiled without debug_info">>} -> ok
    end,
    <<"there is no such module">> = NoModule,
    case Io of
        {missing, Why} -> Why = Nonesuch;
        [<<"handle">> | _] -> <<"its records are ", _/binary>> = Nonesuch
    end.

hangs_test({Node, _}, K) ->
    Name = <<"kernel_sup">>,
    Asks = fun() ->
        {functions, _, Completed} = ask(K, functions, {functions, Name}),
        {[], Named} = pattern(K, {name, Name}, any, any),
        {[], Existing} = pattern(K, {name, <<"no module of this name">>}, any, any),
        {records, [{_, _, {missing, Why}}, {_, _, {missing, Why}}]} =
            ask(K, records, [{<<"lists">>, <<"x">>}, {<<"lists">>, <<"y">>}]),
        {Completed, Named, Existing, Why}
    end,
    ok = rpc:call(Node, sys, suspend, [code_server, ?LONG_MS]),
    {unknown, unknown, unknown, Why} = Asks(),
    <<"the node's code server or its disk does not answer">> = Why,
    {message_queue_len, 0} =
        rpc:call(Node, erlang, process_info, [rpc:call(Node, erlang, whereis, [code_server]), message_queue_len]),
    ok = rpc:call(Node, sys, resume, [code_server, ?LONG_MS]),
    queries:one_of(20, fun() -> {no_module, no_module, no_module, Known} = Asks(), true = Known =/= Why end).

%% Everything was asked once before, so that what is there now is all there may be.
traceless_test({Node, Port} = Target, K) ->
    State = fun() -> {rpc:call(Node, erlang, system_info, [atom_count]),
                      length(rpc:call(Node, erlang, loaded, []))} end,
    Before = State(),
    functions_test(Target, K),
    names_test(Target, K),
    Unique = integer_to_binary(erlang:unique_integer([positive])),
    Name = <<"never_seen_", Unique/binary>>,
    ask(K, functions, {functions, Name}),
    pattern(K, {name, Name}, {name, Name}, any),
    pattern(K, {name, <<"lists">>}, {name, Name}, any),
    pattern(K, {re, Name}, {re, Name}, any),
    [procs(K, {1, false, [{Kind, Name}]}) || Kind <- [pid, name, app, label, call]],
    Before = State(),
    receive {Port, {data, Text}} -> error({log, Text}) after 200 -> ok end.

main(Targets) -> queries:main(Targets, tests()).
