%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of scan.erl: one attribute over all processes, and the best of them.

%% ---- Sweeping: [Pid] -> [{Attr, Number} | undefined], undefined for a process that is gone

ProcessInfo = fun erlang:process_info/2,
Ask = fun(Pids, Item) ->
    lists:zipwith(ProcessInfo, Pids, lists:duplicate(length(Pids), Item))
end,

%% What a map has of each, or Default. Not by map_get in a match specification, which copies the
%% map for each that matches.
Looked = fun(Keys, Map, Default) ->
    N = length(Keys),
    lists:zipwith3(fun maps:get/3, Keys, lists:duplicate(N, Map), lists:duplicate(N, Default))
end,

Run = fun(List, Spec) ->
    ets:match_spec_run(List, ets:match_spec_compile(Spec))
end,

%% {minor_gcs, N} stands at one place of a list whose length differs between releases.
MinorGcs =
    [case Key of minor_gcs -> {minor_gcs, '$1'}; _ -> '_' end
     || {Key, _} <- element(2, process_info(self(), garbage_collection))],

%% Sum of the sizes in [{Id, Size, RefCount}], for a list of such lists.
BinaryBytes = fun(Lists) ->
    Unzipped = lists:map(fun lists:unzip3/1, Lists),
    Sizes = lists:zipwith(fun erlang:element/2, lists:duplicate(length(Lists), 2), Unzipped),
    lists:map(fun lists:sum/1, Sizes)
end,

%% The same of one that may be long, in less memory.
SizeSpec = ets:match_spec_compile([{{'_', '$1', '_'}, [], ['$1']}]),
BytesOf = fun(List) -> lists:sum(ets:match_spec_run(List, SizeSpec)) end,
CountOf = fun(Pid, Item) ->
    case process_info(Pid, Item) of
        {binary, List} -> {binary, {length(List), BytesOf(List)}};
        {_, List} -> {Item, length(List)};
        undefined -> {Item, undefined}
    end
end,
%% What is left of a long list is collected before the next. Not by who has counted it: evaluated
%% code keeps all that it has named.
CollectMost = 10000,
Collected = fun(Counted) ->
    case Counted of
        {_, {N, _}} when N > CollectMost -> erlang:garbage_collect();
        {_, N} when is_integer(N), N > CollectMost -> erlang:garbage_collect();
        _ -> ok
    end,
    Counted
end,

SweepSlice = fun(Pids, Attr) ->
    Infos = Ask(Pids, Attr),
    case Attr of
        _ when Attr =:= links; Attr =:= monitors ->
            Run(Infos, [{{Attr, '$1'}, [], [{{Attr, {length, '$1'}}}]},
                        {undefined, [], [undefined]}]);
        garbage_collection ->
            Run(Infos, [{{Attr, MinorGcs}, [], [{{Attr, '$1'}}]},
                        {'_', [], [undefined]}]);
        binary ->
            Lists = Run(Infos, [{{binary, '$1'}, [], ['$1']}, {undefined, [], [[]]}]),
            Run(lists:zip(Infos, BinaryBytes(Lists)),
                [{{undefined, '_'}, [], [undefined]}, {{'_', '$1'}, [], [{{binary, '$1'}}]}]);
        _ ->
            Infos
    end
end,

%% Calls a fun on slices of a list and puts the results together: lists of lists (links, binaries,
%% stacks) are copied to us, and not all of them at once.
InSlices = fun InSlices(Work, List, Size) ->
    case length(List) > Size of
        true ->
            {Slice, Rest} = lists:split(Size, List),
            Work(Slice) ++ InSlices(Work, Rest, Size);
        false ->
            Work(List)
    end
end,

CutFew = fun(List) ->
    Starts = lists:seq(1, length(List), SliceSize),
    Same = fun(Term) -> lists:duplicate(length(Starts), Term) end,
    lists:zipwith3(fun lists:sublist/3, Same(List), Starts, Same(SliceSize))
end,
%% Each slice is looked for from the beginning of its list: of short ones.
Cut = fun(List) -> InSlices(CutFew, List, 10 * SliceSize) end,
%% A list with that element for each slice, as long as the slice.
Alike = fun(Slices, Element) ->
    Lengths = lists:map(fun erlang:length/1, Slices),
    Lists = maps:from_list([{N, lists:duplicate(N, Element)} || N <- lists:usort(Lengths)]),
    lists:zipwith(fun maps:get/2, Lengths, lists:duplicate(length(Slices), Lists))
end,
%% A list of a million monitors is 54 MiB before it is counted: with room for that. What is left of
%% it is collected before the limit is what it was.
RoomBytes = 320 * 1048576,
WithRoom = fun(Work) ->
    {_, Settings} = process_info(self(), garbage_collection),
    #{size := Words} = Before = proplists:get_value(max_heap_size, Settings),
    process_flag(max_heap_size,
                 Before#{size := Words + RoomBytes div erlang:system_info(wordsize)}),
    Result = Work(),
    erlang:garbage_collect(),
    process_flag(max_heap_size, Before),
    Result
end,
%% Attributes that come as lists, and those of which a list may be long: 1.1 times the memory of its
%% process at most. The lists of a slice are there together, so one of a process with much memory is
%% counted by itself.
Copied = [links, monitors, binary, garbage_collection],
Long = [links, monitors, binary],
AloneBytes = 1048576,
AloneSpec = ets:match_spec_compile([{{'$1', {memory, '$2'}}, [{'>=', '$2', AloneBytes}], ['$1']}]),
AloneOf = fun(Pids, Attr) ->
    case lists:member(Attr, Long) of
        true ->
            {Infos, _} = AskSpared(Pids, memory),
            ets:match_spec_run(lists:zip(Pids, Infos), AloneSpec);
        false ->
            []
    end
end,
SweepAlone = fun(Pid, Attr) ->
    {Pid, case Collected(CountOf(Pid, Attr)) of
              {_, undefined} -> undefined;
              {binary, {_, Bytes}} -> {binary, Bytes};
              Counted -> Counted
          end}
end,
SweepCopied = fun(Pids, [], Attr) ->
        SweepSlice(Pids, Attr);
    (Pids, Alone, Attr) ->
        case Pids -- Alone of
            Pids ->
                SweepSlice(Pids, Attr);
            Others ->
                Values = lists:zip(Others, SweepSlice(Others, Attr))
                    ++ [SweepAlone(Pid, Attr) || Pid <- Pids -- Others],
                lists:zipwith(fun maps:get/2, Pids,
                              lists:duplicate(length(Pids), maps:from_list(Values)))
        end
end,
SweepPlainly = fun(Slices, Attr) ->
    Asks = lists:duplicate(length(Slices), fun erlang:process_info/2),
    lists:zipwith3(fun lists:zipwith/3, Asks, Slices, Alike(Slices, Attr))
end,
Sweep = fun(Slices, Attr) when Attr =:= reductions; Attr =:= message_queue_len ->
    SweepPlainly(Slices, Attr);
    (Slices, Attr) ->
    Costly = case lists:member(Attr, Walking) of
        true -> CostlyOf(lists:append(Slices), Attr);
        false -> {[], 0}
    end,
    case lists:member(Attr, Copied) of
        true ->
            Alone = AloneOf(lists:append(Slices), Attr),
            WithRoom(fun() -> [SweepCopied(Slice, Alone, Attr) || Slice <- Slices] end);
        false when element(1, Costly) =/= [] ->
            {Infos, _} = AskWith(lists:append(Slices), Attr, Costly, false),
            {Swept, []} = lists:mapfoldl(fun(Slice, Left) -> lists:split(length(Slice), Left) end,
                                         Infos, Slices),
            Swept;
        false ->
            Swept = SweepPlainly(Slices, Attr),
            Attr =:= memory
                andalso FindHeavy(lists:append(Slices), lists:append(Swept), Attr,
                                  element(2, Costly)),
            Swept
    end
end,

%% The same of pids in one list.
SweepAllOf = fun(Pids, Attr) ->
    case lists:member(Attr, Copied) of
        true -> lists:append(Sweep(Cut(Pids), Attr));
        false -> element(1, AskSpared(Pids, Attr))
    end
end,

%% ---- Ranking: the best of [{Pid, Old, New}] as [{Key, Value, Delta, Pid}], best first

Delta = {'-', '$3', '$2'},

%% The key in a match spec: the larger, the better.
KeyOf = fun(ByDelta, Order) ->
    Number = case ByDelta of true -> Delta; false -> '$3' end,
    case Order of desc -> Number; asc -> {'-', 0, Number} end
end,

%% The best N, best first.
Highest = fun(Entries, N) -> lists:sublist(lists:reverse(lists:sort(Entries)), N) end,
%% The same of many: the best of the first few are known before all are sorted.
BestOf = fun(Entries, N) ->
    {Few, Rest} = try lists:split(20 * N, Entries) catch error:_ -> {Entries, []} end,
    Sofar = Highest(Few, N),
    case Rest of
        [] ->
            Sofar;
        _ ->
            Better = Run(Rest, [{'$1', [{'>', '$1', {const, lists:last(Sofar)}}], ['$1']}]),
            Highest(Better ++ Sofar, N)
    end
end,

%% Floor: a number that the key must exceed.
RankSpec = fun(#{first := First, mode := Mode, order := Order}, Floor) ->
    Key = KeyOf(Mode =:= delta andalso not First, Order),
    Change = case First of true -> undefined; false -> Delta end,
    [{{'$1', '$2', '$3'}, [{is_integer, '$3'}, {'>', Key, Floor}], [{{Key, '$3', Change, '$1'}}]}]
end,
Rank = fun([], _) -> [];
   (Triples, #{floor := Floor, rows := N} = Job) ->
    BestOf(Run(Triples, RankSpec(Job, Floor)), N)
end,
