%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What can be done to a trace while it stands, who is traced, what its patterns tell, and what it
%%% leaves to others: tests of traces.erl, with its tools.
-module(trace_controls).
-export([tests/0]).
-import(queries, [evaluate/3, connect/1, load/2, ask/4, otp/1]).
-import(traces, [asked/2, pattern/2, clause/1, arm/3, answered/3, tell/2, follow/1, calls/1, clean/2, stopped/2,
                 settled/1, awaits/2, status_after/2, whereis_trace/1, some/1]).

tests() ->
    [{differ, "paused, and on again", fun pause/2},
     {differ, "narrowed to a process", fun narrow_pid/2},
     {same, "narrowed to a pattern", fun narrow_pattern/2},
     {same, "caps changed while it runs", fun cap_change/2},
     {differ, "children of a traced process", fun children/2},
     {same, "several patterns on one function", fun several/2},
     {differ, "counters alone: calls and time", fun counters/2},
     {differ, "stacks", fun stacks/2},
     {same, "results that raise, and that are filtered", fun raises/2},
     {differ, "a traced process that dies", fun dies/2},
     {differ, "a traced module loaded anew", fun reload/2},
     {differ, "our own processes are not traced", fun ours/2},
     {same, "a late scheduler has one process of ours, however often it is asked", fun late/2},
     {differ, "another connection's trace is told", fun second/2},
     {differ, "a heap that is too small ends as heap", fun heap/2}].

%% A process of the node that evaluates a text for each message that is told to it.
puppet(Node) ->
    evaluate(Node, "spawn(fun() -> (fun Go() -> receive {do, From, F} -> From ! {did, F()}, Go();"
                   " stop -> ok end end)() end).", []).

%% Value: of the text, evaluated in the puppet. Its events are delivered.
do(Node, Pid, Text) ->
    evaluate(Node, "P ! {do, self(), fun() -> " ++ Text ++ " end}, receive {did, V} ->"
                   " D = erlang:trace_delivered(P),"
                   " receive {trace_delivered, P, D} -> V end"
                   " after 20000 -> exit(stuck) end.", [{'P', Pid}]).

%% What the node's process does is over when it returns; what it told the collector is there.
ended(Node, Pid, Text) ->
    evaluate(Node, "M = monitor(process, P), " ++ Text ++ ", receive {'DOWN', M, _, _, _} ->"
                   " D = erlang:trace_delivered(all),"
                   " receive {trace_delivered, all, D} -> ok end"
                   " after 20000 -> exit(stuck) end.", [{'P', Pid}]).

last() -> {lists, last, 1}.
nth() -> {lists, nth, 2}.
args(Events) -> [element(8, E) || E <- calls(Events)].

armed(K, Patterns, Caps) -> armed(K, asked(Patterns, Caps)).
armed(K, Asked) ->
    Id = erlang:unique_integer([positive]),
    _ = traces:armed(K, Id, Asked),
    Id.

%% The collector opens and shuts it.
word(Node, Wanted) -> word(Node, Wanted, 400).
word(Node, Wanted, Tries) ->
    case Wanted(rpc:call(Node, erlang, system_info, [trace_control_word])) of
        true -> ok;
        false when Tries > 0 -> timer:sleep(50), word(Node, Wanted, Tries - 1)
    end.

pause({Node, _}, K) ->
    P = puppet(Node),
    Id = armed(K, (asked([pattern([last()], [])], #{time => 60000}))#{procs := {pids, [P]}}),
    do(Node, P, "lists:last([1])"),
    tell(K, {pause, Id, true}),
    word(Node, fun(W) -> W =:= 0 end),
    do(Node, P, "lists:last([2])"),
    0 = rpc:call(Node, erlang, system_info, [trace_control_word]),
    tell(K, {pause, Id, false}),
    word(Node, fun(W) -> W > 0 end),
    do(Node, P, "lists:last([3])"),
    {Events, {0, 2, 2, 0, 0, 0, 0, 0}, [{0, [3]}]} = stopped(K, Id),
    [[[1]], [[3]]] = args(Events).

narrow_pid({Node, _}, K) ->
    [P, Q] = [puppet(Node), puppet(Node)],
    Id = armed(K, [pattern([last()], [])], #{time => 60000}),
    [do(Node, X, "lists:last([1])") || X <- [P, Q]],
    tell(K, {narrow, Id, {pid, Q}}),
    settled(K),
    [do(Node, X, "lists:last([2])") || X <- [P, Q]],
    R = puppet(Node), do(Node, R, "lists:last([2])"),
    {Events, _, _} = stopped(K, Id),
    [P, Q, Q] = [element(4, E) || E <- calls(Events)].

narrow_pattern({Node, _}, K) ->
    P = puppet(Node),
    Id = armed(K, [pattern([last()], []), second(pattern([nth()], []))], #{time => 60000}),
    Both = fun() -> do(Node, P, "lists:last([1]), lists:nth(1, [2])") end,
    Both(), tell(K, {narrow, Id, {pattern, 1}}), settled(K), Both(),
    {Events, _, _} = stopped(K, Id),
    [0, 1, 1] = [element(3, E) || E <- calls(Events)].

%% The same, under index 1, with what its clauses say in it.
second(#{clauses := {Names, Bytes}} = Pattern) ->
    Clauses = [{H, G, [case B of {message, {{0, C, A, S}}} -> {message, {{1, C, A, S}}}; _ -> B end
                       || B <- Body]} || {H, G, Body} <- binary_to_term(Bytes)],
    Pattern#{index => 1, clauses => {Names, term_to_binary(Clauses)}}.

cap_change({Node, _}, K) ->
    P = puppet(Node),
    Id = some(fun() ->
        Of = armed(K, [pattern([last()], [])], #{time => 1000, events => 3}),
        tell(K, {cap, Of, time, 60000}), tell(K, {cap, Of, events, 5}), tell(K, {cap, Of, term, 64}),
        timer:sleep(1100), % the time that it had
        case whereis_trace(Node) of undefined -> {again, late}; _ -> Of end
    end),
    status_after(Node, Id),
    do(Node, P, "[lists:last(lists:duplicate(N, 500)) || N <- [1, 2, 3, 100]]"),
    do(Node, P, "lists:last([4])"),
    {Events, events, {0, _, 5, 0, 1, _, 0, 0}, _} = follow(Id),
    [_, _, _, Long, _] = args(Events),
    true = erlang:external_size(Long) < 400,
    %% A time that is over already ends it.
    Jd = armed(K, [pattern([last()], [])], #{time => 60000}),
    timer:sleep(20), tell(K, {cap, Jd, time, 10}),
    {_, time, _, _} = follow(Jd).

children({Node, _}, K) ->
    P = puppet(Node),
    Of = fun(Children) ->
        Asked = (asked([pattern([last()], [])], #{time => 60000}))#{procs := {pids, [P]}},
        Id = armed(K, Asked#{children := Children}),
        C = do(Node, P, "spawn(fun() -> receive go -> lists:last([2]) end end)"),
        do(Node, P, "lists:last([1])"),
        ended(Node, C, "P ! go"),
        {Events, _, _} = stopped(K, Id),
        clean(Node, 1),
        {C, [element(4, E) || E <- calls(Events)]}
    end,
    {_, [P]} = Of(false),
    {C, [P, C]} = Of(true).

several({Node, _}, K) ->
    P = puppet(Node),
    Head = fun(#{clauses := {[], B}} = Pattern, Args) ->
        Clauses = [setelement(1, C, Args) || C <- binary_to_term(B)],
        Pattern#{clauses => {[], term_to_binary(Clauses)}}
    end,
    One = Head(pattern([last()], []), [[1]]),
    Any = second(pattern([last(), nth()], [])),
    Id = armed(K, [One, Any], #{time => 60000}),
    do(Node, P, "lists:last([1]), lists:last([2]), lists:nth(1, [3])"),
    {Events, {0, 1, 1, 0, 0, 0, 0, 0}, Counts} = stopped(K, Id),
    [{0, [[1]]}, {1, [[2]]}, {1, [1, [3]]}] =
        [{element(3, E), element(8, E)} || E <- calls(Events)],
    [{0, [2]}, {1, [2, 1]}] = Counts.

counters({Node, _}, K) ->
    P = puppet(Node),
    Only = (pattern([last(), nth()], []))#{clauses => []},
    Timed = second(pattern([{lists, nthtail, 2}], [])),
    Id = armed(K, [Only, Timed#{clauses => [], counters => time}], #{time => 60000}),
    do(Node, P, "[begin lists:last([1]), lists:nthtail(9, lists:seq(1, 9)) end"
                " || _ <- lists:seq(1, 50)]"),
    {[], _, [{0, [50, 0]}, {1, [Tail]}]} = stopped(K, Id),
    true = Tail >= 50.

stacks({Node, _}, K) ->
    P = puppet(Node),
    Dump = case otp(Node) >= 27 of true -> {current_stacktrace}; false -> {process_dump} end,
    [{H, G, _}] = clause([]),
    Stacked = [{H, G, [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{0, {caller}, '$_', Dump}}}]}],
    Pattern = (pattern([last()], []))#{clauses => {[], term_to_binary(Stacked)}},
    Id = armed(K, [Pattern], #{time => 60000}),
    do(Node, P, "lists:map(fun lists:last/1, [[1]]), ok"),
    {[{c, _, 0, P, _, _, {lists, map, 2}, [[1]], Stack, 0, 0}], _, _} = stopped(K, Id),
    [{lists, map, 2} | _] = Stack, %% not where it waited last
    true = lists:all(fun({M, F, A}) -> is_atom(M) andalso is_atom(F) andalso is_integer(A) end,
                     Stack).

raises({Node, _}, K) ->
    P = puppet(Node),
    Raising = pattern([last()], [{exception_trace}]),
    Calls = "[catch lists:last(X) || X <- [[], [1], a]]",
    Told = fun(Pattern) ->
        Id = armed(K, [Pattern], #{time => 60000}),
        do(Node, P, Calls),
        {Events, {0, 3, Sent, Filtered, 0, 0, 0, 0}, _} = stopped(K, Id),
        {args(Events), [element(1, E) || E <- Events, element(1, E) =/= c], Sent, Filtered}
    end,
    {[[[]], [a]], [x, x], 2, 1} = Told(Raising#{raises := any}),
    Spec = fun(Match) -> {[], term_to_binary([{{Match}, [], [true]}])} end,
    {[[[]], [a]], [x, x], 2, 1} = Told(Raising#{raises := Spec(function_clause)}),
    {[], [], 0, 3} = Told(Raising#{raises := Spec(badarg)}),
    {[[[1]]], [r], 1, 2} = Told(Raising#{results := Spec(1)}),
    {[[[]], [[1]], [a]], [x, r, x], 3, 0} = Told(Raising#{results := Spec(1), raises := any}).

%% Its calls that are open stay open; the trace goes on.
dies({Node, _}, K) ->
    [P, Q] = [puppet(Node), puppet(Node)],
    Id = armed(K, [pattern([{timer, sleep, 1}, last()], [{exception_trace}])], #{time => 60000}),
    evaluate(Node, "P ! {do, self(), fun() -> timer:sleep(60000) end}.", [{'P', P}]),
    awaits(Id, fun(Bodies) -> lists:any(fun({batch, _, _}) -> true; (_) -> false end, Bodies) end),
    ended(Node, P, "exit(P, kill)"),
    do(Node, Q, "lists:last([1])"),
    {Events, {0, 2, 2, 0, 0, 0, 0, Open}, _} = stopped(K, Id),
    [P, Q] = [element(4, E) || E <- calls(Events)],
    [2] = [I || {r, I, _, 1, 0} <- Events],
    %% Killed in its call: an exception where the VM tells that, or never a result.
    Killed = [I || {x, I, _, exit, killed, 0} <- Events],
    {true, _} = {lists:member({Killed, Open}, [{[1], 0}, {[], 1}]), Events},
    %% One that is traced alone takes its flags with it.
    R = puppet(Node),
    Jd = armed(K, (asked([pattern([last()], [])], #{time => 500}))#{procs := {pids, [R]}}),
    rpc:call(Node, erlang, exit, [R, kill]),
    {[], time, _, _} = follow(Jd).

%% New code has no breakpoints: the trace goes on without them, and takes off what is left.
reload({Node, _}, K) ->
    Text = "{ok, M, B} = compile:forms([{attribute, 1, module, anew},"
           " {attribute, 1, export, [{f, 1}]},"
           " {function, 2, f, 1, [{clause, 2, [{var, 2, 'X'}], [], [{var, 2, 'X'}]}]}], []),"
           " {module, M} = code:load_binary(M, \"anew\", B), M.",
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    {value, anew, Made} = erl_eval:exprs(lists:droplast(lists:droplast(Forms)) ++
                                             [{atom, 1, anew}], []),
    Load = fun() -> {module, anew} = rpc:call(Node, code, load_binary,
                                              [anew, "anew", proplists:get_value('B', Made)]) end,
    Load(),
    P = puppet(Node),
    Id = armed(K, [pattern([{anew, f, 1}], [])], #{time => 60000}),
    do(Node, P, "anew:f(1)"), Load(), do(Node, P, "anew:f(2)"),
    {Events, _, _} = stopped(K, Id),
    [[1]] = args(Events),
    rpc:call(Node, code, purge, [anew]), rpc:call(Node, code, delete, [anew]),
    rpc:call(Node, code, purge, [anew]).

%% Nor what they spawn, though all new processes are traced.
ours({Node, _}, K) ->
    [load(K, Name) || Name <- [scan, tree, process]],
    Sleeper = evaluate(Node, "proc_lib:spawn(timer, sleep, [infinity]).", []),
    {ok, _, _} = ask(K, tree, {<<"kernel">>, 100, 500}, 20000),
    Pattern = pattern([{erl_eval, expr, 5}, {erl_eval, expr, 6}, {erl_eval, exprs, 5},
                       {erl_eval, exprs, 6}, {erl_eval, do_apply, 6}, {erl_eval, do_apply, 7}], []),
    [begin
         Id = armed(K, (asked([Pattern], #{time => 60000, events => 10000}))#{procs := Procs}),
         {ok, _, _} = ask(K, tree, {<<"kernel">>, 100, 500}, 20000),
         {ok, _, {process, _, Sleeper, _, _}} =
             ask(K, process, {Sleeper, #{stack => 5, links => 5}}, 20000),
         status_after(Node, Id),
         {Events, _, _} = stopped(K, Id),
         {Procs, []} = {Procs, Events}
     end || Procs <- [all, new]],
    rpc:call(Node, erlang, exit, [Sleeper, kill]),
    %% Nor those that find the schedulers which are late.
    queries:load(K, late, <<"{[late_schedulers], fun(Ms, #{late_schedulers := Late}) -> Late(Ms) end}.">>),
    Id = armed(K, (asked([pattern([{erlang, send, 2}], [])], #{time => 60000}))#{procs := new}),
    {ok, _, {ok, []}} = ask(K, late, 20000, 20000),
    status_after(Node, Id),
    {[], _, _} = stopped(K, Id).

%% Scheduler 2 compares two equal terms, twice as long with each level, which does not yield. The others
%% are kept awake, so that they take what was queued on it.
late(_, _) ->
    {Node, _} = Target = queries:start_target(get(root), ["+S", "3:3"]),
    K = connect(Node),
    load(K, trace),
    queries:load(K, late, <<"{[late_schedulers], fun([], #{late_schedulers := Late}) -> Late(50) end}.">>),
    Shared = "Shared = fun F(0) -> []; F(N) -> Part = F(N - 1), [Part | Part] end,"
             "Took = fun(N) -> {A, B} = {Shared(N), Shared(N)}, Start = erlang:monotonic_time(millisecond),"
             "  true = A == B, erlang:monotonic_time(millisecond) - Start end,",
    Deep = evaluate(Node, Shared ++ "(fun F(N) -> case lists:min([Took(N) || _ <- [1, 2, 3]]) of"
                                    " Ms when Ms < 250 -> F(N + 1); _ -> N end end)(18).", []),
    Stuck = evaluate(Node, Shared ++
        "[spawn_opt(fun() -> (fun F() -> receive after 1 -> F() end end)() end, [{scheduler, Id}])"
        " || Id <- [1, 3]], spawn_opt(fun() -> Took(N) end, [{scheduler, 2}]).",
        [{'N', Deep + 9}]),
    Arm = fun() ->
        {refused, {late, Who, _}} = arm(K, 1, asked([pattern([last()], [])], #{})),
        %% On a busy machine another one may be late, too, or it may not be known who.
        true = lists:member(Who, [0, 1, 2]),
        {ok, _, _} = ask(K, late, [], 60000),
        rpc:call(Node, erlang, system_info, [process_count])
    end,
    First = Arm(),
    Arm(),
    Arm(),
    true = is_pid(Stuck),
    queries:wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) =< First + 1 end, 20000),
    queries:stop_target(Target).

second({Node, _}, K) ->
    Id = armed(K, [pattern([last()], [])], #{time => 60000}),
    Other = connect(Node),
    load(Other, trace),
    {refused, {session, beamtop}} = answered(Other, 77, asked([pattern([nth()], [])], #{})),
    stopped(K, Id),
    {armed, 78, _} = answered(Other, 78, asked([pattern([nth()], [])], #{time => 60000})),
    {refused, {session, beamtop}} = answered(K, 79, asked([pattern([last()], [])], #{})),
    Other ! stop,
    receive {bye, Other} -> ok after 20000 -> error(no_bye) end,
    clean(Node, 1).

%% A message to the collector that its heap cannot hold: the VM kills it.
heap({Node, _}, K) ->
    Id = armed(K, [pattern([last()], [])], #{time => 60000, heap => 4194304}),
    C = evaluate(Node, "[C] = [P || P <- processes(), {links, L} <- [process_info(P, links)],"
                       " lists:member(whereis(beamtop_trace), L),"
                       " {priority, high} =:= process_info(P, priority),"
                       " {monitored_by, [_ | _]} <- [process_info(P, monitored_by)]], C.", []),
    evaluate(Node, "C ! lists:seq(1, 2000000).", [{'C', C}]),
    {_, heap, _, _} = follow(Id).
