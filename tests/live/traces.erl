%% SPDX-License-Identifier: GPL-3.0-or-later
%%% Traces (src/query/q/trace.erl) against real nodes, played as docs/tracing.md says by an Erlang
%%% node. After each test the target is asked for what is left of it. Prints TAP.
-module(traces).
-export([main/1, asked/2, pattern/2, clause/1, arm/3, armed/3, answered/3, tell/2, follow/1, calls/1,
         clean/2, stopped/2, settled/1, awaits/2, status_after/2, whereis_trace/1, some/1]).
-import(queries, [evaluate/3, connect/1, load/2, ask/5, otp/1]).

%% ---- Callers of 100,000 calls a second and more, for a bounded time. They pause, as callers do: a
%% trace of callers that never do ends on OTP 23 for what the VM holds (trace_caps.erl).

%% How long at most: each is ended with its test, or before.
-define(HOT_MS, 30000).

%% Begins when the next trace is armed, however long that takes on a busy machine.
hot(Node) -> put(heat, [Node | get_list(heat)]).

hot_now(Node) -> hot_now(Node, ?HOT_MS).

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

%% They are gone when it returns: what is traced next counts calls of the same function.
cool() ->
    Refs = [begin M = monitor(process, P), exit(P, kill), M end || P <- get_list(hot)],
    [receive {'DOWN', M, _, _, _} -> ok after 20000 -> error(hot) end || M <- Refs],
    erase(hot),
    erase(heat).

%% ---- The client's part

clause(Body) ->
    [{'_', [{'>', {get_tcw}, 0}],
      [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{0, {caller}, '$_', []}}} | Body]}].

pattern(Mfas, Body) ->
    #{index => 0, kind => call, mfas => Mfas, clauses => {[], term_to_binary(clause(Body))},
      counters => count, return => Body =/= [], slower_ns => 0, results => none, raises => none}.

caps() ->
    #{time => 60000, events => 10, rate => 5000, window => 256, window_bytes => 524288,
      term => 2048, bytes => 1048576, heap => 33554432}.

asked(Patterns, Caps) ->
    #{patterns => Patterns, procs => all, children => false, on_rate => shed,
      caps => maps:merge(caps(), Caps), credit => {100000, 10000000}}.

arm(Keeper, Id, Asked) ->
    {ok, _, Answer} = ask(Keeper, Id, trace, {in, trace, {arm, Id, Asked}}, 20000),
    [hot_now(Node) || Node <- get_list(heat)],
    erase(heat),
    put(armed, Id),
    Answer.

%% Refused where a scheduler is late, as on a busy machine, it is tried again.
answered(Keeper, Id, Asked) ->
    Heat = get_list(heat),
    some(fun() ->
        put(heat, Heat),
        case arm(Keeper, Id, Asked) of
            {refused, {late, _, _} = Late} -> {again, Late};
            Answer -> Answer
        end
    end).

armed(Keeper, Id, Asked) ->
    {armed, Id, How} = answered(Keeper, Id, Asked),
    How.

tell(Keeper, Term) -> Keeper ! {tell, trace, Term}, ok.

%% All that came of a trace, as it came: bodies in their order, the last one first.
come(Id) -> case get({come, Id}) of undefined -> []; Bodies -> Bodies end.

%% Until Enough says so of what came so far. What came stays for follow/1.
awaits(Id, Enough) ->
    case Enough(come(Id)) of
        true ->
            ok;
        false ->
            Last = case get({seq, Id}) of undefined -> 0; N -> N end,
            receive
                {t, Id, Seq, Body} when Seq > Last ->
                    put({seq, Id}, Seq),
                    put({come, Id}, [Body | come(Id)]),
                    awaits(Id, Enough)
            after 20000 ->
                error({no_more, come(Id)})
            end
    end.

events_of(Bodies) -> lists:append(lists:reverse([Batch || {batch, Batch, _} <- Bodies])).

%% Until the collector has told its status in a turn after what was done on the node so far.
status_after(Node, Id) ->
    Now = rpc:call(Node, erlang, monotonic_time, [nanosecond]),
    awaits(Id, fun(Bodies) ->
        lists:any(fun({status, S}) -> element(1, S) > Now; (_) -> false end, Bodies)
    end).

%% Until it ends: {Events, Why, Row of pattern 0, Calls}.
follow(Id) ->
    awaits(Id, fun([{ended, _, _} | _]) -> true; (_) -> false end),
    [{ended, Why, Status} | _] = Bodies = come(Id),
    erase({come, Id}),
    erase({seq, Id}),
    Calls = case [Counts || {counts, _, Counts, _} <- Bodies] of [C | _] -> C; [] -> none end,
    [Row | _] = element(8, Status),
    {events_of(Bodies), Why, Row, Calls}.

%% A trace that stands is stopped.
stopped(K, Id) ->
    tell(K, {stop, Id}),
    {Events, stopped, Row, Counts} = follow(Id),
    {Events, Row, Counts}.

%% What was told to a trace that stands has been done by its keeper, though maybe not by its collector.
settled(K) ->
    {ok, _, {refused, busy}} = ask(K, 1, trace, {in, trace, {arm, -1, asked([], #{})}}, 20000),
    ok.

%% Evaluates in a process of its own, and returns when that has ended and its events are delivered.
there(Node, Text, Bindings) ->
    evaluate(Node,
        "{P_, M_} = spawn_monitor(fun() -> " ++ Text ++ " end),"
        " receive {'DOWN', M_, process, P_, Why_} -> normal = Why_ end,"
        " D_ = erlang:trace_delivered(all),"
        " receive {trace_delivered, all, D_} -> ok end.", Bindings).

%% Nothing else runs on the node meanwhile, so that no turn of the collector is in the midst of it.
at_once(Text) ->
    "erlang:system_flag(multi_scheduling, block_normal), erlang:yield(), " ++ Text ++
        ", erlang:system_flag(multi_scheduling, unblock_normal)".

%% What happens on the node while a trace stands that is stopped then: as stopped/2.
during({Node, K}, Asked, Text) ->
    Id = erlang:unique_integer([positive]),
    _ = armed(K, Id, Asked),
    there(Node, Text, []),
    stopped(K, Id).

%% Of some attempts one: the machine may have given nobody a turn meanwhile. Each attempt checks what
%% always holds; its value, unless that is {again, What}.
some(Attempt) -> some(Attempt, 8).
some(Attempt, Tries) ->
    case Attempt() of
        {again, Seen} when Tries =:= 1 -> error(Seen);
        {again, Seen} -> io:format("# again: ~0P~n", [Seen, 20]), some(Attempt, Tries - 1);
        Value -> Value
    end.

%% Before OTP 25 a trace may end for what the VM holds for calls, when nobody got to free that.
may_be_heap(Node, heap) -> otp(Node) < 25;
may_be_heap(_, _) -> false.

calls(Events) -> [E || E <- Events, element(1, E) =:= c].

run(Keeper, Asked) ->
    Id = erlang:unique_integer([positive]),
    #{per_second := _} = armed(Keeper, Id, Asked),
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

%% By and by nothing but trace keepers that wait for the next question. How soon, trace_kills.erl says.
clean(Node, Processes) -> clean(Node, Processes, erlang:monotonic_time(millisecond) + 20000).
clean(Node, Processes, Until) ->
    Late = erlang:monotonic_time(millisecond) > Until,
    case left(Node) of
        {0, [], [], [], [], Ours} when length(Ours) =< Processes -> ok;
        _ when not Late -> timer:sleep(50), clean(Node, Processes, Until);
        Left -> error({left, Left})
    end.

%% ---- Tests

tests() ->
    [{each, "ten means ten under a hot caller", fun ten/2},
     {each, "an exception is joined with its call", fun exceptions/2},
     {same, "only calls slower than so much", fun held/2},
     {same, "ends at its time", fun time/2},
     {differ, "little memory is held while it runs, and after", fun memory/2},
     {differ, "the rate sheds, or stops", fun rate/2},
     {same, "credit that is not renewed stays shut", fun credit/2},
     {same, "large terms are cut as structure", fun cut/2},
     {same, "the cap of bytes holds, and what it cost is told", fun bytes/2},
     {differ, "a used-up window is told at once, before what comes later", fun window_loss/2},
     {differ, "a loss is counted for its window alone", fun guard_loss/2},
     {same, "a burst of as many as the event cap is whole", fun burst/2},
     {each, "messages by pattern, also to nobody", fun messages/2},
     {same, "the node's cookie does not leave", fun cookie/2},
     {same, "calls counted before", fun count/2},
     {differ, "thousands of functions", fun many/2},
     {each, "refused: control word, bad names, nothing there", fun refused/2},
     {differ, "suspended processes: no more than the window", fun suspended/2},
     {differ, "flags of all processes beside busy dirty schedulers", fun flags/2}].

%% Behind it the keeper of the others is gone.
last_tests() -> [{differ, "nothing is left after any one or two deaths", fun deaths/2}].

last() -> {lists, last, 1}.

ten({Node, _}, K) ->
    hot(Node),
    {Events, events, {0, Seen, 10, 0, 0, Over, 0, 0}, [{0, [Calls]}]} =
        run(K, asked([pattern([last()], [])], #{})),
    10 = length(calls(Events)),
    Seen = 10 + Over,
    true = Calls >= 10,
    [{c, _, 0, Pid, _, {lists, last, 1}, _, [[_]], [], 0, 0} | _] = Events,
    Node = node(Pid).

exceptions({Node, _}, K) ->
    {Events, _, _} =
        during({Node, K}, asked([pattern([last()], [{exception_trace}])], #{}),
               "[catch apply(lists, last, [X]) || X <- [[], [1], a]]"),
    [{c, I, _, _, _, _, _, [[]], _, 0, 0}, {x, I, _, error, function_clause, 0}, {c, J, _, _, _, _, _, [[1]], _, 0, 0},
     {r, J, _, 1, 0}, {c, L, _, _, _, _, _, [a], _, 0, 0}, {x, L, _, error, _, 0}] = Events.

%% How long a call took by its own events: on a busy machine a short one may be slow.
held({Node, _}, K) ->
    Slow = (pattern([{timer, sleep, 1}], [{exception_trace}]))#{slower_ns => 250000000},
    some(fun() ->
        {A, {0, 2, Sent, Filtered, _, _, _, 0}, _} =
            during({Node, K}, asked([Slow], #{}), "timer:sleep(1), timer:sleep(300)"),
        {2, Sent} = {Sent + Filtered, length(calls(A))},
        [true = Until - At >= 250000000
         || {c, I, _, _, At, _, _, _, _, _, _} <- A, {r, J, Until, ok, 0} <- A, I =:= J],
        case A of
            [{c, I, _, _, _, _, _, [300], _, _, _}, {r, I, _, ok, 0}] -> ok;
            [{c, _, _, _, _, _, _, [1], _, _, _}, {r, _, _, ok, 0} | _] -> {again, A}
        end
    end).

%% Not before, and by that; in `check all`, when the machine lets it, soon after.
time(_, K) ->
    some(fun() ->
        Start = erlang:monotonic_time(millisecond),
        {[], time, _, _} = run(K, asked([pattern([{lists, nth, 2}], [])], #{time => 300})),
        Took = erlang:monotonic_time(millisecond) - Start,
        {Took, true} = {Took, Took >= 290},
        case Took < 1500 orelse os:getenv("BEAMTOP_CHECK") =/= "all" of true -> ok; false -> {again, Took} end
    end).

%% A quarter of a second's worth at first, then so many a second.
rate({Node, _}, K) ->
    Asked = asked([pattern([last()], [])], #{rate => 100, events => 1000}),
    some(fun() ->
        hot(Node),
        Start = erlang:monotonic_time(millisecond),
        {Events, Why, _, _} = run(K, (asked([pattern([last()], [])],
                                            #{time => 1000, rate => 100, events => 1000}))),
        Took = erlang:monotonic_time(millisecond) - Start,
        cool(),
        {Why, true} = {Why, Why =:= time orelse may_be_heap(Node, Why)},
        N = length(calls(Events)),
        Losses = [L || {l, From, Until, rate} = L <- Events, Until > From],
        {N, Took, true} = {N, Took, N < 75 + 125 * Took div 1000},
        Enough = case os:getenv("BEAMTOP_CHECK") of "all" -> 60; _ -> 0 end,
        case N > Enough andalso Losses =/= [] of true -> ok; false -> {again, {N, Losses}} end
    end),
    hot(Node),
    {_, rate, _, _} = run(K, Asked#{on_rate := stop}).

%% Schedulers that race may let a few more through.
credit({Node, _}, K) ->
    Asked = asked([pattern([last()], [])], #{time => 1000, events => 1000}),
    some(fun() ->
        hot(Node),
        {Events, Why, _, _} = run(K, Asked#{credit := {20, 1000000}}),
        cool(),
        {Why, true} = {Why, Why =:= time orelse may_be_heap(Node, Why)},
        N = length(calls(Events)),
        {N, true} = {N, N =< 40},
        case N >= 20 andalso N =< 22 of true -> ok; false -> {again, N} end
    end).

%% One after another, each when the window is open again.
cut({Node, _}, K) ->
    _ = armed(K, 13, asked([pattern([last()], [])], #{})),
    %% The budget opens again at the end of a turn.
    Opens = fun() -> rpc:call(Node, erlang, system_info, [trace_control_word]) > 0 end,
    [begin there(Node, Text, []), status_after(Node, 13), queries:wait(Opens, 20000) end
     || Text <- ["lists:last([X || X <- lists:seq(1, 20000)])",
                 "lists:last([binary:copy(<<1>>, 100000)])",
                 "lists:last([maps:from_list([{X, X} || X <- lists:seq(1, 9999)])])"]],
    {Events, {0, 3, 3, 0, 3, 0, 0, 0}, _} = stopped(K, 13),
    [true = Full > 10000 andalso length(Args) =:= 1 andalso erlang:external_size(Args) < 2200
     || {c, _, _, _, _, _, _, Args, _, _, Full} <- calls(Events)].

%% Nothing was missed when the callers happened to pause as it ended: then no loss is told.
bytes({Node, _}, K) ->
    some(fun() ->
        hot(Node),
        {Events, bytes, {0, Seen, Sent, _, _, Over, Lost, 0}, [{0, [Calls]}]} =
            run(K, asked([pattern([last()], [])], #{events => 10000, bytes => 5000})),
        cool(),
        {Sent, Sent, true} = {length(calls(Events)), Seen - Over - Lost, Calls >= Seen},
        %% As the target measures them: this node's own release may write atoms otherwise.
        Sizes = [rpc:call(Node, erlang, external_size, [E]) || E <- Events],
        true = lists:sum(Sizes) =< 5000 andalso Sizes =/= [],
        case lists:last(Events) of
            {l, From, Until, _} when Calls > Seen, Lost > 0 -> true = Until > From;
            Last -> {again, {Last, Calls, Seen, Lost}}
        end
    end).

%% 20 calls at once, and one when that was told: what the window did not take stands between them,
%% with the counts of that moment.
window_loss({Node, _}, K) ->
    _ = armed(K, 12, asked([pattern([last()], [])], #{events => 50})),
    there(Node, at_once("lists:foreach(fun lists:last/1, lists:duplicate(20, [1]))"), []),
    awaits(12, fun(Bodies) -> length(events_of(Bodies)) >= 17 end),
    status_after(Node, 12),
    there(Node, "lists:last([2])", []),
    {Events, Counts} = counted(K),
    [c] = lists:usort([element(1, E) || E <- lists:sublist(Events, 16)]),
    [{l, From, Until, window}, {c, _, _, _, At, _, _, [[2]], _, _, _}] = lists:nthtail(16, Events),
    true = From < Until andalso Until < At,
    {true, _} = {lists:member({20, 17}, Counts), Counts}.

%% Of 40 calls that the pattern refuses, 20 that it takes, and 30 that it refuses. The counts of each
%% second may come between the 20 calls and the turn that tells of them.
guard_loss({Node, _}, K) ->
    Clauses = [setelement(1, C, [[1]]) || C <- clause([])],
    Asked = asked([(pattern([last()], []))#{clauses := {[], term_to_binary(Clauses)}}],
                  #{events => 50}),
    Calls = fun(N, X) ->
        there(Node, at_once("lists:foreach(fun lists:last/1, lists:duplicate(N, [X]))"),
              [{'N', N}, {'X', X}])
    end,
    some(fun() ->
        _ = armed(K, 12, Asked),
        Calls(40, 2),
        status_after(Node, 12),
        Calls(20, 1),
        awaits(12, fun(Bodies) -> length(events_of(Bodies)) >= 17 end),
        status_after(Node, 12),
        Calls(30, 2),
        {Events, Counts} = counted(K),
        17 = length(Events),
        {[{90, 17} | _], _} = {lists:reverse(Counts), Counts},
        case once([C || {N, _} = C <- Counts, N > 0]) of
            [{40, 0}, {60, 17} | _] -> ok;
            _ -> {again, Counts}
        end
    end).

once([A, A | Rest]) -> once([A | Rest]);
once([A | Rest]) -> [A | once(Rest)];
once([]) -> [].

%% Stops trace 12. Value: {Events, [{Calls, EventsBefore}]}.
counted(K) ->
    tell(K, {stop, 12}),
    awaits(12, fun([{ended, _, _} | _]) -> true; (_) -> false end),
    Bodies = lists:reverse(come(12)),
    {Events, stopped, _, _} = follow(12),
    {_, Counts} = lists:foldl(
        fun({batch, Batch, _}, {Before, Told}) -> {Before + length(Batch), Told};
           ({Tag, _, [{0, [N]}], _}, {Before, Told}) when Tag =:= counts; Tag =:= settled ->
                {Before, [{N, Before} | Told]};
           (_, Seen) -> Seen
        end, {0, []}, Bodies),
    {Events, lists:reverse(Counts)}.

burst({Node, _}, K) ->
    _ = armed(K, 14, asked([pattern([last()], [])], #{events => 10})),
    there(Node, at_once("lists:foreach(fun lists:last/1, lists:duplicate(12, [1]))"), []),
    {Events, events, {0, 10, 10, 0, 0, 0, 0, 0}, _} = follow(14),
    {10, 10} = {length(Events), length(calls(Events))}.

messages({Node, _}, K) ->
    Spec = fun(Head, Index) ->
        {[<<"told">>], term_to_binary([{Head, [{'>', {get_tcw}, 0}],
            [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{Index}}}]}])}
    end,
    Of = (pattern([], []))#{counters => none},
    evaluate(Node, "told.", []),
    {Events, _, _} =
        during({Node, K},
               asked([Of#{kind => send, clauses => Spec(['_', {told, '_'}], 0)},
                      Of#{index => 1, kind => 'receive', clauses => Spec(['_', '_', {told, '_'}], 1)}],
                     #{}),
               "self() ! {told, 1}, self() ! {other, 2},"
               " receive {told, _} -> ok end, receive {other, _} -> ok end,"
               " {Dead, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, _, _} -> ok end,"
               " Dead ! {told, 3}"),
    [{s, 1, 0, P, _, P, {told, 1}, true, 0}, {v, 2, 1, P, _, {told, 1}, 0},
     {s, 3, 0, P, _, _, {told, 3}, false, 0}] = lists:keysort(2, Events).

%% As a process that shakes hands asks auth; and the cookie among what a program itself sends.
cookie({Node, _}, K) ->
    Spec = fun(Head, Index) ->
        {[], term_to_binary([{Head, [{'>', {get_tcw}, 0}],
            [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{Index}}}]}])}
    end,
    Of = (pattern([], []))#{counters => none},
    Asked = asked([Of#{kind => send, clauses => Spec('_', 0)},
                   Of#{index => 1, kind => 'receive', clauses => Spec('_', 1)}], #{events => 1000}),
    Auth = rpc:call(Node, erlang, whereis, [auth]),
    some(fun() ->
        {Events, _, _} = during({Node, K}, Asked,
            "C = auth:get_cookie(), self() ! {told, C, [atom_to_binary(C, utf8), atom_to_list(C)]},"
            " self() ! {left, fun() -> C end, #{C => 1, b => <<\"other\">>}},"
            " receive {told, _, _} -> ok end"),
        nomatch = binary:match(term_to_binary(Events),
                               atom_to_binary(erlang:get_cookie(), utf8)),
        [] = [E || {s, _, 0, Auth_, _, _, _, _, _} = E <- Events, Auth_ =:= Auth],
        [] = [E || {v, _, 1, _, _, {_, '...'}, _} = E <- Events],
        case [L || {l, _, _, _} = L <- Events] of
            [] ->
                [_] = [E || {s, _, 0, _, _, _, {told, '...', [<<"...">>, "..."]}, _, _} = E <- Events],
                [_] = [E || {v, _, 1, _, _, {told, '...', [<<"...">>, "..."]}, _} = E <- Events],
                [_] = [E || {s, _, 0, _, _, _, {left, '...', #{'...' := 1, b := <<"other">>}}, _, _}
                                = E <- Events];
            %% Others on the node sent more than the window takes.
            Lost -> {again, Lost}
        end
    end).

count({Node, _}, K) ->
    hot_now(Node),
    some(fun() ->
        {ok, _, {count, Ns, [N, 0]}} =
            ask(K, 1, trace, {in, trace, {count, 20, [last(), {lists, nth, 2}]}}, 20000),
        %% What reading took, at most a third of it, is taken off.
        {Ns, true} = {Ns, Ns >= 13000000},
        case N > 100 of true -> ok; false -> {again, N} end
    end),
    cool(),
    %% Nobody calls these but what we evaluate there, which is taken off unless it was held up: a
    %% look of 20 ms can be no longer than three of ours on a slow release. Of each look a few remain.
    some(fun() ->
        {ok, _, {count, _, [Own, 0]}} =
            ask(K, 1, trace, {in, trace, {count, 300, [{lists, foldl, 3}, {lists, nth, 2}]}}, 20000),
        case Own < 200 of true -> ok; false -> timer:sleep(500), {again, Own} end
    end, 60).

%% What is done for each of many functions is not evaluated for each, nor for each pair of them.
many({Node, _}, K) ->
    All = evaluate(Node, "[{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- M:module_info(exports)].",
                   []),
    Mfas = lists:sublist(lists:usort(All), 2500),
    {ok, _, {count, _, Counts}} = ask(K, 1, trace, {in, trace, {count, 20, Mfas}}, 30000),
    2500 = length(Counts),
    Twice = [pattern(Mfas, []), (pattern([last(), {lists, nth, 2}], []))#{index := 1}],
    _ = armed(K, 2, asked(Twice, #{events => 10000})),
    tell(K, {stop, 2}),
    {_, stopped, _, [{0, Each}, {1, [_, _]}]} = follow(2),
    2500 = length(Each).

refused({Node, _}, K) ->
    evaluate(Node, "erlang:system_flag(trace_control_word, 7).", []),
    try {refused, {control_word, 7}} = answered(K, 1, asked([pattern([last()], [])], #{}))
    after evaluate(Node, "erlang:system_flag(trace_control_word, 0).", [])
    end,
    Pattern = pattern([last()], []),
    {refused, {unknown_atom, <<"no such atom there">>}} =
        arm(K, 1, asked([Pattern#{clauses => {[<<"no such atom there">>], <<>>}}], #{})),
    {refused, {bad_spec, _}} =
        arm(K, 1, asked([Pattern#{clauses => {[], term_to_binary([{[], [{abs}], []}])}}], #{})),
    {refused, no_functions} = answered(K, 1, asked([pattern([{lists, nothing, 9}], [])], #{})),
    {refused, no_processes} = arm(K, 1, (asked([Pattern], #{}))#{procs := {pids, []}}).

%% Ours that wait hold what they read, and no areas that were set aside for more; where the machine
%% had them take many messages at once, those of them until the next collection.
memory({Node, _}, K) ->
    [load(K, Query) || Query <- [scan, process, functions, preflight, who, armed]],
    some(fun() ->
        _ = armed(K, 7, asked([pattern([{lists, nth, 2}], [])], #{time => 60000})),
        [begin ask(K, N, who, [], 20000), tell(K, {credit, 7, 1, 1}) end || N <- lists:seq(1, 500)],
        Pids = [K, whereis_trace(Node)],
        Words = fun() ->
            Sizes = [rpc:call(Node, erlang, process_info, [P, total_heap_size]) || P <- Pids],
            lists:sum([N || {total_heap_size, N} <- Sizes])
        end,
        Running = little(Words, 25),
        {[], _, _} = stopped(K, 7),
        case {Running, little(Words, 25)} of {ok, ok} -> ok; Sizes -> {again, Sizes} end
    end).

%% They come to rest, and then it is little: ok, or how much.
little(Words, Tries) ->
    case Words() of
        N when N =< 1000000 -> ok;
        _ when Tries > 0 -> timer:sleep(200), little(Words, Tries - 1);
        N -> N
    end.

%% Ours that hold a trace: {TraceKeeper, [Collector, Sentinel]}.
parts(Node) ->
    Ours = element(6, left(Node)),
    TraceKeeper = whereis_trace(Node),
    {TraceKeeper, lists:sort(Ours -- [TraceKeeper])}.

%% A VM of OTP 23 or 25 whose flags are set and cleared for all processes at once ends in half a
%% minute, of two schedulers in 4 to 26 s.
flags({Node, _}, _) ->
    Ms = case os:getenv("BEAMTOP_CHECK") of "all" -> 30000; _ -> 1000 end,
    {ok, Flags} = file:read_file(filename:join([os:getenv("BEAMTOP_SRCDIR", "."),
                                                "src/query/q/part/flags.erl"])),
    Rounds = evaluate(Node, binary_to_list(Flags) ++
        "Files = lists:duplicate(1000, \"/\"),"
        " Reads = [spawn(fun() -> (fun Go() -> lists:map(fun prim_file:read_file_info/1, Files), Go() end)()"
        "                end) || _ <- lists:seq(1, 60)],"
        " Tracer = spawn(fun() -> (fun Go() -> receive stop -> ok; _ -> Go() end end)() end),"
        " End = erlang:monotonic_time(millisecond) + Ms,"
        " Round = fun Go(N) -> case erlang:monotonic_time(millisecond) < End of"
        "  true -> 60 = length([P || P <- Reads, is_process_alive(P)]),"
        "   true = FlagLegacy(processes, true, [call, {tracer, Tracer}]) > 60,"
        "   true = FlagLegacy(processes, false, [call]) > 60, Go(N + 1);"
        "  false -> N end end,"
        " Done = Round(0),"
        " [exit(P, kill) || P <- [Tracer | Reads]],"
        " Done.", [{'Ms', Ms}]),
    true = Rounds > 0.


whereis_trace(Node) -> rpc:call(Node, erlang, whereis, [beamtop_trace]).

suspended({Node, _}, K) ->
    some(fun() ->
        {armed, 3, _} = answered(K, 3, asked([pattern([last()], [])], #{events => 10000})),
        {Keeper, [C, Z]} = parts(Node),
        Pids = [Keeper, C, Z],
        hot_now(Node),
        N = evaluate(Node, "[erlang:suspend_process(P) || P <- Pids], timer:sleep(400),"
                           " {message_queue_len, N} = process_info(C, message_queue_len),"
                           " [erlang:resume_process(P) || P <- Pids], N.",
                     [{'Pids', Pids}, {'C', C}]),
        cool(),
        tell(K, {stop, 3}),
        {_, Why, _, _} = follow(3),
        {Why, true} = {Why, Why =:= stopped orelse may_be_heap(Node, Why)},
        %% Schedulers that race let a few more through.
        case N > 0 andalso N =< 300 of true -> ok; false -> {again, N} end
    end).

deaths({Node, _}, Keeper) ->
    queries:stop_keeper(Keeper),
    clean(Node, 0),
    [begin
         {Client, Mon} = spawn_monitor(fun() ->
             K = connect(Node),
             load(K, trace),
             {armed, 1, _} = answered(K, 1, asked([pattern([last()], [{exception_trace}])],
                                                  #{time => 60000, events => 10000})),
             {TraceKeeper, [C, Z]} = parts(Node),
             hot_now(Node, 60),
             timer:sleep(rand:uniform(40)),
             Pids = [case W of k -> K; t -> TraceKeeper; c -> C; z -> Z;
                         later -> rand:uniform(500) end || W <- Which],
             evaluate(Node, "Sum = fun Sum(0) -> ok; Sum(N) -> Sum(N - 1) end,"
                            " [if is_pid(P) -> exit(P, kill); true -> Sum(P) end || P <- Pids].",
                      [{'Pids', Pids}]),
             Which =:= [] orelse clean(Node, 1),
             exit(done)
         end),
         receive {'DOWN', Mon, process, Client, Why} when Why =:= done; Why =:= killed -> ok;
                 {'DOWN', Mon, process, Client, Why} -> error({Which, Why})
         after 100000 -> error({Which, stuck}) end,
         try clean(Node, 0) catch error:Left -> error({Which, Left}) end
     end || Which <- [[], [k], [t], [c], [z], [k, t], [k, c], [k, z], [t, c], [t, z], [c, z],
                  %% Of what clears after another's end it is not the last.
                  [z, later, t], [z, later, t]]].

%% ---- Main: one TAP line a test and release. Each leaves the target clean, also when it fails

main(Targets) ->
    queries:main(Targets, [{Kind, Text, leaves_nothing(Test)}
                           || {Kind, Text, Test} <- tests() ++ trace_controls:tests() ++ last_tests()]).

leaves_nothing(Test) ->
    fun(Target = {Node, _}, Keeper) ->
        try Test(Target, Keeper), cool(), ok = clean(Node, 1)
        catch
            Class:Reason:Stack ->
                catch cool(),
                tell(Keeper, {stop, get(armed)}), timer:sleep(300), flush(),
                erlang:raise(Class, Reason, Stack)
        end
    end.

flush() ->
    [erase(Key) || {{What, _} = Key, _} <- get(), What =:= come orelse What =:= seq],
    receive {t, _, _, _} -> flush() after 0 -> ok end.
