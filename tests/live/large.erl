%% SPDX-License-Identifier: GPL-3.0-or-later
%%% Processes that are large in one way: expressions of src/query/q against real nodes. See queries.erl.
-module(large).
-export([main/1]).
-import(queries, [ask/4, evaluate/3, one_of/2]).

-define(LONG_MS, 60000).

main(Targets) ->
    queries:main(Targets, tests(), ["+P", "1100000"],
                 fun({Node, _}) -> K = queries:connect(Node), queries:load_all(K), K end).

tests() ->
    [{differ, "a long message queue is walked seldom, and its memory marked as older", fun queue_test/2},
     {differ, "what a walk gave is what the node says", fun walk_test/2},
     {same, "who chooses whose queue is walked does little work", fun work_test/2},
     {differ, "300,000 refc binaries and 1,000,000 monitors are counted, not listed; those are walked seldom",
      fun lists_test/2},
     {same, "all of many with 20,000 monitors are known after one look", fun many_test/2},
     {differ, "several with 800,000 refc binaries each are swept", fun several_test/2},
     {same, "1,000,000 links are counted, not listed, and walked seldom", fun links_test/2},
     {same, "reads of many queues that are not long count as what they take", fun short_queues_test/2},
     {same, "a list that is too long is left out, and nothing else", fun too_long_test/2}].

%% So many messages that nobody takes.
fill(Node, Pid, Messages) ->
    evaluate(Node, "lists:zipwith(fun erlang:send/2, lists:duplicate(N, P), lists:duplicate(N, {a, P})), ok.",
             [{'P', Pid}, {'N', Messages}]).
sleeper(Node, Options) ->
    evaluate(Node, "spawn_opt(timer, sleep, [infinity], Options).", [{'Options', Options}]).
ended(Node, Pid) ->
    true = rpc:call(Node, erlang, exit, [Pid, kill]),
    queries:wait(fun() -> not rpc:call(Node, erlang, is_process_alive, [Pid]) end, ?LONG_MS).

%% Each question that reads memory: the values of that process that walk the queue.
values(K, Pid) ->
    Scan = fun(Attr) ->
        {ok, _, {scan, _, _, _, _, _, _, Rows, []}} =
            ask(K, scan, {in, scan, #{attr => Attr, mode => absolute, order => desc, rows => 5, own => false,
                                      items => [memory, reductions, total_heap_size], pids => [Pid],
                                      filter => none, reset => false}}, ?LONG_MS),
        {_, _, _, {Memory, _, Heaps}} = lists:keyfind(Pid, 1, Rows),
        [Memory, Heaps]
    end,
    {ok, _, {rows, _, [{Pid, {_, Rows, Heaps}}]}} =
        ask(K, rows, {[reductions, memory, total_heap_size], [Pid]}, ?LONG_MS),
    {ok, _, {process, _, Pid, _, Items}} =
        ask(K, process, {Pid, #{stack => 5, links => 5}}, ?LONG_MS),
    {ok, _, {heaps, _, _, _, _, false, Heap, _}} = ask(K, heaps, #{most => 5, running => false}, ?LONG_MS),
    {ok, _, {apps, _, Apps, false}} = ask(K, apps, #{}, ?LONG_MS),
    {_, _, _, _, Sizes, _} = lists:keyfind(Pid, 1, Heap),
    Scan(memory) ++ Scan(total_heap_size) ++ Scan(reductions)
        ++ [Rows, Heaps, proplists:get_value(memory, Items), proplists:get_value(total_heap_size, Items),
            Sizes, element(5, lists:keyfind(undefined, 1, Apps))].

%% Each was read some time ago, and says how long ago, in ms.
older(Values) -> lists:all(fun({older, _, Ms}) -> is_integer(Ms); (_) -> false end, Values).

%% It takes ten seconds of the time that walks may have: in those the numbers are older, whichever
%% question they are of, and stay what they were.
queue_test({Node, _}, K) ->
    Pid = sleeper(Node, [{message_queue_data, on_heap}]),
    fill(Node, Pid, 1000000),
    Rows = fun() ->
        {ok, _, {rows, _, [{Pid, {V}}]}} = ask(K, rows, {[memory], [Pid]}, ?LONG_MS), V
    end,
    Memory = Rows(),
    true = is_integer(Memory) andalso Memory > 60000000,
    one_of(100, fun() ->
        true = older(values(K, Pid)),
        {older, Memory, _} = Rows()
    end),
    %% On a node that is swept by parts, too.
    Many = evaluate(Node, "lists:zipwith3(fun erlang:spawn/3, lists:duplicate(1500, timer),"
                          " lists:duplicate(1500, sleep), lists:duplicate(1500, [infinity])).", []),
    one_of(100, fun() -> true = older(values(K, Pid)) end),
    evaluate(Node, "lists:zipwith(fun erlang:exit/2, Ps, lists:duplicate(1500, kill)).", [{'Ps', Many}]),
    %% Leaders know it as the largest.
    one_of(30, fun() ->
        {ok, _, {leaders, _, _, #{memory := [Pid | _], message_queue_len := [Pid | _]}}} =
            ask(K, leaders, {in, leaders, #{most => 5, all => 150000}}, ?LONG_MS)
    end),
    {ok, _, {refused, 1000000, _}} = ask(K, mailbox, {Pid, 5, 60, true}, ?LONG_MS),
    %% Who only asks what a collection would take has nothing walked for it: what came since is missing.
    one_of(20, fun() ->
        {older, Known, _} = Rows(),
        fill(Node, Pid, 1000),
        {ok, _, {ask, _, {Known, _, _}}} = ask(K, collect, {Pid, 1000, false}, ?LONG_MS)
    end),
    %% Below the limit they are read each time; a look that took long may be taken for many links, until
    %% the next one.
    ended(Node, Pid),
    Short = sleeper(Node, []),
    fill(Node, Short, 40000),
    one_of(100, fun() -> [] = [V || {older, _, _} = V <- lists:droplast(values(K, Short))] end),
    ended(Node, Short).

%% The first walk is at once; the next thing that the node says itself is the same.
walk_test({Node, _}, _) ->
    [begin
         K = queries:connect(Node),
         queries:load_all(K),
         Pid = sleeper(Node, [{message_queue_data, Where}]),
         fill(Node, Pid, 60000),
         {ok, _, {rows, _, [{Pid, {Memory, Heaps}}]}} =
             ask(K, rows, {[memory, total_heap_size], [Pid]}, ?LONG_MS),
         [{_, Memory}, {_, Heaps}] =
             rpc:call(Node, erlang, process_info, [Pid, [memory, total_heap_size]]),
         ended(Node, Pid),
         queries:stop_keeper(K)
     end || Where <- [on_heap, off_heap]].

%% Reductions of an answer sorted by memory and of the keeper for it, which no load changes: with forty
%% long queues not much more than without (1.6 times; 2.9 where each was looked at by evaluated code).
work_test({Node, _}, _) ->
    K = queries:connect(Node),
    queries:load_all(K),
    Pids = [sleeper(Node, []) || _ <- lists:seq(1, 40)],
    Scan = fun() ->
        {ok, {_, {{_, Reductions, _, _}, OfKeeper, _}}, {scan, _, _, _, _, _, _, [_ | _], []}} =
            ask(K, scan, {in, scan, #{attr => memory, mode => absolute, order => desc, rows => 20, own => false,
                                      items => [id, memory, reductions], pids => [], filter => none,
                                      reset => false}}, ?LONG_MS),
        Reductions + OfKeeper
    end,
    Least = fun() -> lists:min([begin timer:sleep(20), Scan() end || _ <- lists:seq(1, 12)]) end,
    Without = Least(),
    [fill(Node, Pid, 60000) || Pid <- Pids],
    With = Least(),
    [ended(Node, Pid) || Pid <- Pids],
    queries:stop_keeper(K),
    case 10 * With < 22 * Without of true -> {said, io_lib:format("~w, ~w without", [With, Without])} end.

%% 800,000 messages are walked, 4 ns each or more: a read by itself is said to take 10 us at most.
short_queues_test({Node, _}, K) ->
    Pids = [sleeper(Node, []) || _ <- lists:seq(1, 20)],
    [fill(Node, Pid, 40000) || Pid <- Pids],
    {ok, {_, {{_, _, Helped, _}, _, _}}, {rows, _, Rows}} = ask(K, rows, {[memory], Pids}, ?LONG_MS),
    [ended(Node, Pid) || Pid <- Pids],
    20 = length([Memory || {_, {Memory}} <- Rows, is_integer(Memory)]),
    true = rpc:call(Node, erlang, convert_time_unit, [Helped, native, microsecond]) > 600.

%% The value of an item of one process.
item(K, Pid, Item) ->
    {ok, _, {process, _, Pid, _, Items}} = ask(K, process, {Pid, #{stack => 5, links => 5}}, ?LONG_MS),
    proplists:get_value(Item, Items).

lists_of(K, Attr) ->
    {ok, _, {scan, _, _, _, _, _, _, Rows, []}} =
        ask(K, scan, {in, scan, #{attr => Attr, mode => absolute, order => desc, rows => 5, own => false,
                                  items => [links, monitors, monitored_by, binary], pids => [],
                                  filter => none, reset => false}}, ?LONG_MS),
    Rows.

lists_test({Node, _}, K) ->
    Held = evaluate(Node,
        "F = fun() -> put(held, lists:zipwith(fun binary:copy/2, lists:duplicate(300000, <<0>>),"
        "                                     lists:duplicate(300000, 100))), timer:sleep(infinity) end,"
        " spawn(F).", []),
    Watched = sleeper(Node, []),
    Watcher = evaluate(Node,
        "F = fun() -> lists:zipwith(fun erlang:monitor/2, lists:duplicate(1000000, process),"
        "                           lists:duplicate(1000000, P)), timer:sleep(infinity) end,"
        " spawn(F).", [{'P', Watched}]),
    [queries:wait(fun() -> queries:is_in(Node, P, {timer, sleep, 1}) end, ?LONG_MS)
     || P <- [Held, Watcher]],
    seldom(K, Watcher, true),
    seldom(K, Watched, true),
    {Count, Bytes, Largest} = item(K, Held, binary),
    true = Count >= 300000 andalso Bytes >= 30000000,
    20 = length(Largest),
    {0, []} = item(K, Held, links),
    {1000000, [{process, Watched, {timer, sleep, 1}}, _, _, _, _]} = item(K, Watcher, monitors),
    {1000000, [{Watcher, {erlang, apply, 2}}, _, _, _, _]} = item(K, Watched, monitored_by),
    [{Watcher, 1000000, _, {0, 1000000, _, _}} | _] = lists_of(K, monitors),
    {Held, Bytes, _, {0, 0, 0, {Count, Bytes}}} = lists:keyfind(Held, 1, lists_of(K, binary)),
    {Watched, _, _, {_, _, 1000000, _}} = lists:keyfind(Watched, 1, lists_of(K, memory)),
    [ended(Node, P) || P <- [Held, Watcher, Watched]].

%% The memory of a process with as many links or monitors is read when it is first seen, and not again by
%% what asks next: by rows and the process itself, and where All is true by each question about all.
seldom(K, Pid, All) ->
    Rows = fun() ->
        {ok, _, {rows, _, [{Pid, {V}}]}} = ask(K, rows, {[memory], [Pid]}, ?LONG_MS), V
    end,
    First = case Rows() of {older, V, _} -> V; V -> V end,
    true = First >= 40000000,
    one_of(20, fun() ->
        timer:sleep(1100),
        {older, First, Ms} = Rows(),
        {older, First, _} = item(K, Pid, memory),
        true = is_integer(Ms) andalso (not All orelse older(values(K, Pid)))
    end).

%% What is walked the first time is not walked by what asks next, however many there are.
many_test({Node, _}, _) ->
    K = queries:connect(Node),
    queries:load_all(K),
    Watched = sleeper(Node, []),
    Pids = evaluate(Node,
        "F = fun() -> lists:zipwith(fun erlang:monitor/2, lists:duplicate(20000, process),"
        "                           lists:duplicate(20000, P)), timer:sleep(infinity) end,"
        " [spawn(F) || _ <- lists:seq(1, 60)].", [{'P', Watched}]),
    [queries:wait(fun() -> queries:is_in(Node, Pid, {timer, sleep, 1}) end, ?LONG_MS) || Pid <- Pids],
    Rows = fun() ->
        {ok, _, {rows, _, Rows}} = ask(K, rows, {[memory], Pids}, ?LONG_MS),
        [V || {_, {V}} <- Rows]
    end,
    60 = length([V || V <- Rows(), is_integer(V), V > 800000]),
    %% On a busy machine that is long enough ago for some to be due again.
    queries:one_of(8, fun() ->
        _ = Rows(),
        timer:sleep(1100),
        60 = length([V || {older, V, _} <- Rows()])
    end),
    [ended(Node, Pid) || Pid <- [Watched | Pids]],
    queries:stop_keeper(K).

%% Together they are more than whoever sweeps may hold at once. Of a term that is sent each reference is
%% one of its own.
several_test({Node, _}, K) ->
    Held = evaluate(Node,
        "Binaries = lists:duplicate(800000, binary:copy(<<0>>, 100)),"
        " F = fun(Its) -> put(held, Its), timer:sleep(infinity) end,"
        " [spawn(erlang, apply, [F, [Binaries]]) || _ <- lists:seq(1, 5)].", []),
    [queries:wait(fun() -> queries:is_in(Node, Pid, {timer, sleep, 1}) end, ?LONG_MS) || Pid <- Held],
    Sweep = fun() -> [] = Held -- [Pid || {Pid, 80000000, _, _} <- lists_of(K, binary)] end,
    Sweep(),
    %% On a node that is swept by parts, too.
    Many = [sleeper(Node, []) || _ <- lists:seq(1, 1200)],
    Sweep(),
    evaluate(Node, "lists:zipwith(fun erlang:exit/2, Ps, lists:duplicate(length(Ps), kill)).",
             [{'Ps', Many ++ Held}]),
    queries:wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) < 1000 end, ?LONG_MS).

links_test({Node, _}, K) ->
    Linked = evaluate(Node,
        "F = fun() -> lists:zipwith3(fun erlang:spawn_link/3, lists:duplicate(1000000, erlang),"
        "                            lists:duplicate(1000000, hibernate),"
        "                            lists:duplicate(1000000, [erlang, now, []])), timer:sleep(infinity) end,"
        " spawn(F).", []),
    queries:wait(fun() -> queries:is_in(Node, Linked, {timer, sleep, 1}) end, ?LONG_MS),
    seldom(K, Linked, false),
    {1000000, [{Pid, {erlang, hibernate, 3}}, _, _, _, _]} = item(K, Linked, links),
    {1, [{Linked, _}]} = item(K, Pid, links),
    ended(Node, Linked),
    queries:wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) < 1000 end, ?LONG_MS).

%% 2,000,000 references of 72 bytes each are more than a helper may sort.
too_long_test({Node, _}, K) ->
    Held = evaluate(Node,
        "F = fun() -> put(held, lists:zipwith(fun binary:copy/2, lists:duplicate(2000000, <<0>>),"
        "                                     lists:duplicate(2000000, 65))), timer:sleep(infinity) end,"
        " spawn(F).", []),
    queries:wait(fun() -> queries:is_in(Node, Held, {timer, sleep, 1}) end, ?LONG_MS),
    {undefined, {0, []}} = {item(K, Held, binary), item(K, Held, links)},
    ended(Node, Held).
