%%% Traces (src/query/q/trace.erl) against real nodes, played as docs/tracing.md says by an Erlang
%%% node. After each test the target is asked for what is left of it. Prints TAP.
-module(traces).
-export([main/1, main/3, asked/2, pattern/2, clause/1, arm/3, tell/2, follow/1, calls/1, clean/2,
         run/2]).
-import(queries, [evaluate/3, connect/1, load/2, ask/5]).

%% ---- Callers of 100,000 calls a second and more, for a bounded time. They pause, as callers do: a
%% trace of callers that never do ends on OTP 23 for what the VM holds (test `growth`).

%% Begins when the next trace is armed, however long that takes on a busy machine.
hot(Node, Ms) -> put(heat, [{Node, Ms} | get_list(heat)]).

%% Ended with its test: the next one counts calls of the same function.
hot_now(Node, Ms) ->
    Pids = evaluate(Node,
        "[spawn(fun() -> U = erlang:monotonic_time(millisecond) + Ms,"
        " (fun Go() -> lists:foreach(fun erlang:abs/1, L), lists:map(fun lists:last/1, Ls),"
        "   receive after 1 -> ok end,"
        "   case erlang:monotonic_time(millisecond) < U of true -> Go(); _ -> ok end end)() end)"
        " || _ <- [1, 2]].",
        [{'Ms', Ms}, {'L', lists:seq(1, 10)}, {'Ls', [[X] || X <- lists:seq(1, 200)]}]),
    put(hot, Pids ++ get_list(hot)),
    Pids.

get_list(Key) -> case get(Key) of undefined -> []; List -> List end.

cool() -> [exit(P, kill) || P <- get_list(hot)], erase(hot), erase(heat), erase(pending).

%% ---- The client's part

clause(Body) ->
    [{'_', [{'>', {get_tcw}, 0}],
      [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{0, {caller}, '$_', []}}} | Body]}].

pattern(Mfas, Body) ->
    #{index => 0, kind => call, mfas => Mfas, clauses => {[], term_to_binary(clause(Body))},
      counters => count, return => Body =/= [], slower_ns => 0, results => none, raises => none}.

caps() ->
    #{time => 3000, events => 10, rate => 5000, window => 256, window_bytes => 524288,
      term => 2048, bytes => 1048576, heap => 33554432}.

asked(Patterns, Caps) ->
    #{patterns => Patterns, procs => all, children => false, on_rate => shed,
      caps => maps:merge(caps(), Caps), credit => {100000, 10000000}}.

arm(Keeper, Id, Asked) ->
    {ok, _, Answer} = ask(Keeper, Id, trace, {in, trace, {arm, Id, Asked}}, 10000),
    [hot_now(Node, Ms) || {Node, Ms} <- get_list(heat)],
    [evaluate(Node, "spawn(fun() -> " ++ Text ++ " end).", [])
     || {Node, Text} <- get_list(pending)],
    erase(heat),
    erase(pending),
    Answer.

tell(Keeper, Term) -> Keeper ! {tell, trace, Term}, ok.

%% Until it ends: {Events, Why, Row of pattern 0, Calls}.
follow(Id) -> follow(Id, [], none, 0).
follow(Id, Events, Calls, LastSeq) ->
    receive
        {t, Id, Seq, Body} when Seq > LastSeq ->
            case Body of
                {batch, Batch, _} -> follow(Id, Events ++ Batch, Calls, Seq);
                {status, _} -> follow(Id, Events, Calls, Seq);
                {counts, _, Counts, _} -> follow(Id, Events, Counts, Seq);
                {ended, Why, Status} ->
                    [Row | _] = element(8, Status),
                    {Events, Why, Row, Calls}
            end
    after 4000 ->
        error({no_end, Events})
    end.

calls(Events) -> [E || E <- Events, element(1, E) =:= c].

run(Keeper, Asked) ->
    Id = erlang:unique_integer([positive]),
    {armed, Id, #{per_second := _}} = arm(Keeper, Id, Asked),
    follow(Id).

%% ---- What is left on the target

left(Node) ->
    evaluate(Node,
        "Fs = [{M, F, A} || {M, _} <- code:all_loaded(),"
        "      {F, A} <- erlang:get_module_info(M, functions)],"
        "{erlang:system_info(trace_control_word),"
        " [X || {X, {all, L}} <- lists:zip(Fs, lists:zipwith(fun erlang:trace_info/2, Fs,"
        "    lists:duplicate(length(Fs), all))), L =/= false],"
        " [{P, I} || P <- [new_processes | processes()], {flags, [_ | _] = I} <-"
        "    [erlang:trace_info(P, flags)]],"
        " [erlang:trace_info(K, match_spec) || K <- [send, 'receive']] -- [{match_spec, true},"
        "    {match_spec, true}],"
        " case erlang:function_exported(trace, session_info, 1) of"
        "    true -> trace:session_info(all) -- [{legacy, default}, default]; false -> [] end,"
        " [P || P <- processes(), {dictionary, D} <- [process_info(P, dictionary)],"
        "    lists:keyfind('$initial_call', 1, D) =:= {'$initial_call', {beamtop, trace, 0}}]}.",
        []).

%% Within a second: nothing but trace keepers that wait for the next question.
clean(Node, Processes) -> clean(Node, Processes, 20).
clean(Node, Processes, Tries) ->
    case left(Node) of
        {0, [], [], [], [], Ours} when length(Ours) =< Processes -> ok;
        _ when Tries > 0 -> timer:sleep(50), clean(Node, Processes, Tries - 1);
        Left -> error({left, Left})
    end.

%% ---- Tests

tests() ->
    [{"ten means ten under a hot caller", fun ten/2},
     {"a result is joined with its call", fun results/2},
     {"an exception is joined with its call", fun exceptions/2},
     {"only calls slower than so much, or with such a result", fun held/2},
     {"ends at its time", fun time/2},
     {"ends when told", fun stop/2},
     {"little memory is held while it runs, and after", fun memory/2},
     {"the rate sheds, or stops", fun rate/2},
     {"credit that is not renewed stays shut", fun credit/2},
     {"large terms are cut as structure", fun cut/2},
     {"the cap of bytes holds", fun bytes/2},
     {"what the cap of bytes cost is told", fun bytes_loss/2},
     {"a used-up window is told at once, before what comes later", fun window_loss/2},
     {"a loss is counted for its window alone", fun guard_loss/2},
     {"a burst of as many as the event cap is whole", fun burst/2},
     {"messages by pattern", fun messages/2},
     {"the node's cookie does not leave", fun cookie/2},
     {"calls counted before", fun count/2},
     {"thousands of functions", fun many/2},
     {"refused: control word, bad names, nothing there", fun refused/2},
     {"another tool's trace is left as it is", fun foreign/2},
     {"suspended processes: no more than the window", fun suspended/2},
     {"nothing is left after any one or two deaths", fun deaths/2}].

last() -> {lists, last, 1}.

ten({Node, _}, K) ->
    hot(Node, 1500),
    {Events, events, {0, Seen, 10, 0, 0, Over, 0, 0}, [{0, [Calls]}]} =
        run(K, asked([pattern([last()], [])], #{})),
    10 = length(calls(Events)),
    Seen = 10 + Over,
    true = Calls >= 10,
    [{c, _, 0, Pid, _, {lists, last, 1}, _, [[_]], [], 0, 0} | _] = Events,
    Node = node(Pid).

results({Node, _}, K) ->
    hot(Node, 700),
    {Events, events, _, _} = run(K, asked([pattern([last()], [{exception_trace}])], #{})),
    [C | _] = Calls = calls(Events),
    10 = length(Calls),
    10 = length([R || {r, _, _, _, 0} = R <- Events]),
    [begin {r, _, At, X, 0} = lists:keyfind(element(2, E), 2, [R || R <- Events, element(1, R) =:= r]),
           true = At >= element(5, E), [[X]] = element(8, E) end || E <- Calls],
    c = element(1, C).

%% Happens Ms after the next trace is armed.
later(Node, Ms, Text) ->
    Sleep = "timer:sleep(" ++ integer_to_list(Ms) ++ "), ",
    put(pending, get_list(pending) ++ [{Node, Sleep ++ Text}]).

exceptions({Node, _}, K) ->
    timer:sleep(900),
    later(Node, 200, "[catch apply(lists, last, [X]) || X <- [[], [1], a]]"),
    {Events, time, _, _} =
        run(K, asked([pattern([last()], [{exception_trace}])], #{time => 600})),
    [{c, I, _, _, _, _, _, [[]], _, 0, 0}, {x, I, _, error, function_clause, 0}, {c, J, _, _, _, _, _, [[1]], _, 0, 0},
     {r, J, _, 1, 0}, {c, L, _, _, _, _, _, [a], _, 0, 0}, {x, L, _, error, _, 0}]
        = [E || E <- Events, element(1, E) =/= l].

held({Node, _}, K) ->
    later(Node, 200, "timer:sleep(1), timer:sleep(300)"),
    Slow = (pattern([{timer, sleep, 1}], [{exception_trace}]))#{slower_ns => 250000000},
    Spec = {[], term_to_binary([{{'$1'}, [{'>', '$1', 2}], [true]}])},
    Three = (pattern([last()], [{exception_trace}]))#{results => Spec},
    {A, time, {0, _, 1, _, _, _, _, _}, _} = run(K, asked([Slow], #{time => 1000})),
    [{c, I, _, _, _, _, _, [300], _, _, _}, {r, I, _, ok, 0}] = A,
    later(Node, 200, "[lists:last([X]) || X <- [1, 2, 3]]"),
    {B, time, {0, 3, 1, 2, _, _, _, 0}, _} = run(K, asked([Three], #{time => 500})),
    [{c, J, _, _, _, _, _, [[3]], _, _, _}, {r, J, _, 3, 0}] = B.

time(_, K) ->
    Start = erlang:monotonic_time(millisecond),
    {[], time, _, _} = run(K, asked([pattern([{lists, nth, 2}], [])], #{time => 300})),
    true = erlang:monotonic_time(millisecond) - Start < 1500.

stop(_, K) ->
    {armed, 5, _} = arm(K, 5, asked([pattern([{lists, nth, 2}], [])], #{time => 60000})),
    {refused, busy} = arm(K, 6, asked([], #{})),
    tell(K, {stop, 5}),
    {[], stopped, _, _} = follow(5).

rate({Node, _}, K) ->
    hot(Node, 1200),
    Asked = asked([pattern([last()], [])], #{time => 1000, rate => 100, events => 1000}),
    {Events, time, _, _} = run(K, Asked),
    N = length(calls(Events)),
    true = N > 60 andalso N < 200, timer:sleep(400),
    [_ | _] = [L || {l, From, Until, rate} = L <- Events, Until > From],
    hot(Node, 800),
    {_, rate, _, _} = run(K, Asked#{on_rate := stop}).

credit({Node, _}, K) ->
    hot(Node, 1000),
    Asked = asked([pattern([last()], [])], #{time => 1000, events => 1000}),
    {Events, time, _, _} = run(K, Asked#{credit := {20, 1000000}}),
    N = length(calls(Events)),
    true = N >= 20 andalso N =< 22.

cut({Node, _}, K) ->
    timer:sleep(400),
    later(Node, 200, "lists:last([X || X <- lists:seq(1, 20000)]), timer:sleep(100),"
                     "lists:last([binary:copy(<<1>>, 100000)]), timer:sleep(100), lists:last([maps:from_list([{X, X} || X <- lists:seq(1, 9999)])])"),
    {Events, time, {0, 3, 3, 0, 3, 0, 0, 0}, _} =
        run(K, asked([pattern([last()], [])], #{time => 800})),
    [true = Full > 10000 andalso length(Args) =:= 1 andalso erlang:external_size(Args) < 2200
     || {c, _, _, _, _, _, _, Args, _, _, Full} <- calls(Events)].

bytes({Node, _}, K) ->
    hot(Node, 1000),
    {Events, bytes, _, _} =
        run(K, asked([pattern([last()], [])], #{events => 10000, bytes => 5000})),
    %% As the target measures them: this node's own release may write atoms otherwise.
    Sizes = [rpc:call(Node, erlang, external_size, [E]) || E <- Events],
    true = lists:sum(Sizes) =< 5000 andalso Sizes =/= [].

bytes_loss({Node, _}, K) ->
    hot(Node, 1000),
    {Events, bytes, {0, Seen, Sent, _, _, Over, Lost, 0}, [{0, [Calls]}]} =
        run(K, asked([pattern([last()], [])], #{events => 10000, bytes => 5000})),
    {l, From, Until, _} = lists:last(Events),
    {true, Sent, Sent} = {Until > From, length(calls(Events)), Seen - Over - Lost},
    true = Calls > Seen andalso Lost > 0.

%% 20 calls at once, and one 400 ms later: what the window did not take stands between them, with
%% the counts of that moment.
window_loss({Node, _}, K) ->
    later(Node, 200, "lists:foreach(fun lists:last/1, lists:duplicate(20, [1])),"
                     " timer:sleep(400), lists:last([2])"),
    {Events, Counts} = watched(K, pattern([last()], [])),
    [c] = lists:usort([element(1, E) || E <- lists:sublist(Events, 16)]),
    [{l, From, Until, window}, {c, _, _, _, At, _, _, [[2]], _, _, _}] = lists:nthtail(16, Events),
    true = From < Until andalso Until < At,
    {true, _} = {lists:member({20, 17}, Counts), Counts}.

%% Of 40 calls that the pattern refuses, 20 that it takes, and 30 that it refuses.
guard_loss({Node, _}, K) ->
    later(Node, 100, "lists:foreach(fun lists:last/1, lists:duplicate(40, [2])), timer:sleep(200),"
                     " lists:foreach(fun lists:last/1, lists:duplicate(20, [1])), timer:sleep(200),"
                     " lists:foreach(fun lists:last/1, lists:duplicate(30, [2]))"),
    Clauses = [setelement(1, C, [[1]]) || C <- clause([])],
    {Events, Counts} =
        watched(K, (pattern([last()], []))#{clauses := {[], term_to_binary(Clauses)}}),
    17 = length(Events),
    {[{40, 0}, {60, 17} | _], _} = {[C || {N, _} = C <- Counts, N > 0], Counts}.

%% Value: {Events, [{Calls, EventsBefore}]} of a second.
watched(K, Pattern) ->
    {armed, 12, _} = arm(K, 12, asked([Pattern], #{time => 1000, events => 50})),
    Next = fun Next(Events, Counts) ->
        receive
            {t, 12, _, {batch, Batch, _}} -> Next(Events ++ Batch, Counts);
            {t, 12, _, {counts, _, [{0, [N]}], _}} -> Next(Events, [{N, length(Events)} | Counts]);
            {t, 12, _, {ended, time, _}} -> {Events, Counts};
            {t, 12, _, {status, _}} -> Next(Events, Counts)
        after 4000 -> error({no_end, Events})
        end
    end,
    {Events, Counts} = Next([], []),
    {Events, lists:reverse(Counts)}.

burst({Node, _}, K) ->
    later(Node, 200, "lists:foreach(fun lists:last/1, lists:duplicate(12, [1]))"),
    {Events, events, {0, 10, 10, 0, 0, 0, 0, 0}, _} =
        run(K, asked([pattern([last()], [])], #{time => 1000, events => 10})),
    {10, 10} = {length(Events), length(calls(Events))}.

messages({Node, _}, K) ->
    later(Node, 200, "self() ! {told, 1}, self() ! {other, 2},"
                     " receive {told, _} -> ok end, receive {other, _} -> ok end"),
    Spec = fun(Head, Index) ->
        {[<<"told">>], term_to_binary([{Head, [{'>', {get_tcw}, 0}],
            [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{Index}}}]}])}
    end,
    Of = (pattern([], []))#{counters => none},
    evaluate(Node, "told.", []),
    {Events, time, _, _} =
        run(K, asked([Of#{kind => send, clauses => Spec(['_', {told, '_'}], 0)},
                      Of#{index => 1, kind => 'receive', clauses => Spec(['_', '_', {told, '_'}], 1)}],
                     #{time => 600})),
    [{s, 1, 0, P, _, P, {told, 1}, true, 0}, {v, 2, 1, P, _, {told, 1}, 0}] = lists:keysort(2, Events).

%% As a process that shakes hands asks auth; and the cookie among what a program itself sends.
cookie({Node, _}, K) ->
    later(Node, 200,
          "C = auth:get_cookie(), self() ! {told, C, [atom_to_binary(C, utf8), atom_to_list(C)]},"
          " self() ! {left, fun() -> C end, #{C => 1, b => <<\"other\">>}},"
          " receive {told, _, _} -> ok end"),
    Spec = fun(Head, Index) ->
        {[], term_to_binary([{Head, [{'>', {get_tcw}, 0}],
            [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{Index}}}]}])}
    end,
    Of = (pattern([], []))#{counters => none},
    {Events, _, _, _} =
        run(K, asked([Of#{kind => send, clauses => Spec('_', 0)},
                      Of#{index => 1, kind => 'receive', clauses => Spec('_', 1)}],
                     #{time => 600, events => 1000})),
    nomatch = binary:match(term_to_binary(Events), atom_to_binary(erlang:get_cookie(), utf8)),
    [_] = [E || {s, _, 0, _, _, _, {told, '...', [<<"...">>, "..."]}, _, _} = E <- Events],
    [_] = [E || {v, _, 1, _, _, {told, '...', [<<"...">>, "..."]}, _} = E <- Events],
    [_] = [E || {s, _, 0, _, _, _, {left, '...', #{'...' := 1, b := <<"other">>}}, _, _}
                    = E <- Events],
    Auth = rpc:call(Node, erlang, whereis, [auth]),
    [] = [E || {s, _, 0, Auth_, _, _, _, _, _} = E <- Events, Auth_ =:= Auth],
    [] = [E || {v, _, 1, _, _, {_, '...'}, _} = E <- Events].

count({Node, _}, K) ->
    hot_now(Node, 1000),
    {ok, _, {count, Ns, [N, 0]}} =
        ask(K, 1, trace, {in, trace, {count, 20, [last(), {lists, nth, 2}]}}, 5000),
    true = N > 100 andalso Ns >= 15000000,
    cool(),
    %% Nobody calls these but what we evaluate there.
    {ok, _, {count, _, [Own, 0]}} =
        ask(K, 1, trace, {in, trace, {count, 20, [{lists, foldl, 3}, {lists, nth, 2}]}}, 5000),
    true = Own < 10.

%% What is done for each of many functions is not evaluated for each, nor for each pair of them.
many({Node, _}, K) ->
    All = evaluate(Node, "[{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(exports)].",
                   []),
    Mfas = lists:sublist(lists:usort(All), 2500),
    {ok, _, {count, _, Counts}} = ask(K, 1, trace, {in, trace, {count, 20, Mfas}}, 10000),
    2500 = length(Counts),
    Twice = [pattern(Mfas, []), (pattern([last(), {lists, nth, 2}], []))#{index := 1}],
    {armed, 2, _} = arm(K, 2, asked(Twice, #{events => 100})),
    tell(K, {stop, 2}),
    {_, stopped, _, [{0, Each}, {1, [_, _]}]} = follow(2),
    2500 = length(Each).

refused({Node, _}, K) ->
    evaluate(Node, "erlang:system_flag(trace_control_word, 7).", []),
    {refused, {control_word, 7}} = arm(K, 1, asked([pattern([last()], [])], #{})),
    evaluate(Node, "erlang:system_flag(trace_control_word, 0).", []),
    Pattern = pattern([last()], []),
    {refused, {unknown_atom, <<"no such atom there">>}} =
        arm(K, 1, asked([Pattern#{clauses => {[<<"no such atom there">>], <<>>}}], #{})),
    {refused, {bad_spec, _}} =
        arm(K, 1, asked([Pattern#{clauses => {[], term_to_binary([{[], [{abs}], []}])}}], #{})),
    {refused, no_functions} = arm(K, 1, asked([pattern([{lists, nothing, 9}], [])], #{})),
    {refused, no_processes} = arm(K, 1, (asked([Pattern], #{}))#{procs := {pids, []}}).

foreign({Node, _}, K) ->
    Tracer = evaluate(Node, "spawn(fun() -> receive stop -> ok end end).", []),
    Legacy = fun(Text) -> evaluate(Node, Text, [{'T', Tracer}]) end,
    Legacy("erlang:trace(T, true, [call, {tracer, whereis(init)}]),"
           "erlang:trace_pattern({lists, nth, 2}, true, [local])."),
    Otp = list_to_integer(rpc:call(Node, erlang, system_info, [otp_release])),
    case arm(K, 9, asked([pattern([last()], [])], #{time => 100})) of
        {refused, {in_use, [_ | _]}} -> true = Otp < 27;
        {armed, 9, _} -> true = Otp >= 27, {_, time, _, _} = follow(9)
    end,
    {flags, [call]} = Legacy("erlang:trace_info(T, flags)."),
    {traced, local} = Legacy("erlang:trace_info({lists, nth, 2}, traced)."),
    Legacy("erlang:trace(T, false, [call]), erlang:trace_pattern({lists, nth, 2}, false, [local]),"
           " T ! stop.").

%% Ours that wait hold what they read, and no areas that were set aside for more.
memory({Node, _}, K) ->
    [load(K, Query) || Query <- [scan, system, process, functions, preflight, names, armed]],
    {armed, 7, _} = arm(K, 7, asked([pattern([{lists, nth, 2}], [])], #{time => 60000})),
    [begin ask(K, N, names, [], 5000), tell(K, {credit, 7, 1, 1}) end || N <- lists:seq(1, 500)],
    Pids = [K, whereis_trace(Node)],
    Words = fun() ->
        Sizes = [rpc:call(Node, erlang, process_info, [P, total_heap_size]) || P <- Pids],
        lists:sum([N || {total_heap_size, N} <- Sizes])
    end,
    timer:sleep(300),
    {running, true, _} = {running, Words() =< 1000000, Words()},
    tell(K, {stop, 7}),
    {[], stopped, _, _} = follow(7),
    {after_it, true, _} = {after_it, Words() =< 1000000, Words()}.

%% Ours that hold a trace: {TraceKeeper, [Collector, Sentinel]}.
parts(Node) ->
    Ours = element(6, left(Node)),
    TraceKeeper = whereis_trace(Node),
    {TraceKeeper, lists:sort(Ours -- [TraceKeeper])}.

whereis_trace(Node) -> rpc:call(Node, erlang, whereis, [beamtop_trace]).

suspended({Node, _}, K) ->
    Asked = asked([pattern([last()], [])], #{time => 1500, events => 10000}),
    {armed, 3, _} = arm(K, 3, Asked),
    {Keeper, [C, Z]} = parts(Node),
    Pids = [Keeper, C, Z],
    timer:sleep(50),
    hot_now(Node, 700),
    N = evaluate(Node, "[erlang:suspend_process(P) || P <- Pids], timer:sleep(400),"
                       " {message_queue_len, N} = process_info(C, message_queue_len),"
                       " [erlang:resume_process(P) || P <- Pids], N.", [{'Pids', Pids}, {'C', C}]),
    true = N =< 300,
    {_, time, _, _} = follow(3).

deaths({Node, _}, Keeper) ->
    queries:stop_keeper(Keeper),
    [begin
         {Client, Mon} = spawn_monitor(fun() ->
             K = connect(Node),
             load(K, trace),
             {armed, 1, _} = arm(K, 1, asked([pattern([last()], [{exception_trace}])],
                                             #{time => 60000, events => 10000})),
             {TraceKeeper, [C, Z]} = parts(Node),
             hot_now(Node, 60),
             timer:sleep(rand:uniform(40)),
             Pids = [case W of k -> K; t -> TraceKeeper; c -> C; z -> Z end || W <- Which],
             evaluate(Node, "[exit(P, kill) || P <- Pids].", [{'Pids', Pids}]),
             Which =:= [] orelse clean(Node, 1),
             exit(done)
         end),
         receive {'DOWN', Mon, process, Client, Why} when Why =:= done; Why =:= killed -> ok;
                 {'DOWN', Mon, process, Client, Why} -> error({Which, Why})
         after 20000 -> error({Which, stuck}) end,
         try clean(Node, 0) catch error:Left -> error({Which, Left}) end
     end || Which <- [[], [k], [t], [c], [z], [k, t], [k, c], [k, z], [t, c], [t, z], [c, z]]].

%% ---- Main: one TAP line a test and release

main(Roots) -> main(Roots, ?MODULE, tests()).

%% Tests as of queries:main/3; each leaves the target clean, also when it fails.
main(Roots, Module, Tests) ->
    queries:main(Roots, Module, [{Text, leaves_nothing(Test)} || {Text, Test} <- Tests]).

leaves_nothing(Test) ->
    fun(Target = {Node, _}, Keeper) ->
        try Test(Target, Keeper), cool(), ok = clean(Node, 1)
        catch
            Class:Reason:Stack ->
                tell(Keeper, {stop, 1}), timer:sleep(300), flush(),
                erlang:raise(Class, Reason, Stack)
        end
    end.

flush() -> receive {t, _, _, _} -> flush() after 0 -> ok end.
