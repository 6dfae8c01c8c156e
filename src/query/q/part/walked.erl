%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Items of process_info/2 that walk what may be long
%% `memory`, `total_heap_size` and `garbage_collection_info` walk all of the message queue under the
%% main lock of the process, 4 to 27 ns a message; `memory` also all links and monitors, 100 to 300
%% ns for each. How long the queue is, is asked first, which walks nothing, and says what a read of
%% a short one costs. How many links and monitors there are nothing says but a walk: `memory` of one
%% that has many is read at once the first time, and what is more than its heaps then bounds their
%% number. Of a process that costs WalkedNs or more, these items are read when the keeper says that
%% it is its turn (keeper/turns.erl). Else they are *older*: as they were read last, with their age,
%% or, where they never were, the least that they can be.
Walking = [memory, total_heap_size, garbage_collection_info],
WalkedMost = 50000,
%% A shorter one is read as fast as none.
PricedMost = 1000,
%% What a message and what a link or monitor costs, and the least bytes of the latter.
MessageNs = 20,
LinkNs = 100,
LinkBytes = 40,
WalkedNs = WalkedMost * MessageNs,
HeavyBytes = WalkedNs div LinkNs * LinkBytes,
%% What was read no longer ago than that, for another part of an answer, is not older.
RecentMs = 1000,
%% The least that a message takes.
MessageWords = 5,
WordSize = erlang:system_info(wordsize),

%% A process answers by a signal: one that is ready to run handles it when its turn comes. That wait
%% is not work: no more than Most is counted, in native units.
AtMost = fun(Most, Read) ->
    Start = erlang:monotonic_time(),
    Value = Read(),
    Took = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Took),
    put(helped, get(helped) + min(Took, Most)),
    Value
end,
%% So many processes are read: no more is counted than it takes without waits.
ReadNative = erlang:convert_time_unit(10, microsecond, native),
Apart = fun(Read, Reads) -> AtMost(ReadNative * Reads, Read) end,
ReadEach = fun(Pids, Items) ->
    Same = lists:duplicate(length(Pids), Items),
    Apart(fun() -> lists:zipwith(fun erlang:process_info/2, Pids, Same) end, length(Pids))
end,
%% Evaluated code is slow: what is done for each of many is one call of a native function.
Matched = fun(List, Spec) -> ets:match_spec_run(List, ets:match_spec_compile(Spec)) end,

QueueSpec = ets:match_spec_compile(
    [{{{message_queue_len, '$1'}, '$2'}, [{'>', '$1', PricedMost}],
      [{{{'*', '$1', MessageNs}, '$2'}}]}]),
LongSpec = ets:match_spec_compile([{{'$1', '_'}, [{'>', '$1', WalkedNs}], ['$_']}]),
ShortSpec = ets:match_spec_compile([{{'$1', '_'}, [{'=<', '$1', WalkedNs}], ['$1']}]),
%% {[{Ns, Pid}] of those that have a long queue, Ns that a walk of the others takes}.
LongOf = fun(Pids) ->
    Lengths = lists:zipwith(fun erlang:process_info/2, Pids,
                            lists:duplicate(length(Pids), message_queue_len)),
    case ets:match_spec_run(lists:zip(Lengths, Pids), QueueSpec) of
        [] ->
            {[], 0};
        Queues ->
            {ets:match_spec_run(Queues, LongSpec),
             lists:sum(ets:match_spec_run(Queues, ShortSpec))}
    end
end,
%% Reads of what walks queues for so many ns.
WalkingIn = fun(Items) when is_list(Items) -> length(Walking -- (Walking -- Items)); (_) -> 1 end,
ReadWalking = fun(Pids, Items, Ns) ->
    ItemsOfAll = lists:duplicate(length(Pids), Items),
    WalksTake = erlang:convert_time_unit(Ns * WalkingIn(Items), nanosecond, native),
    AtMost(ReadNative * length(Pids) + WalksTake,
           fun() -> lists:zipwith(fun erlang:process_info/2, Pids, ItemsOfAll) end)
end,
HasMemory = fun(Items) ->
    Items =:= memory orelse is_list(Items) andalso lists:member(memory, Items)
end,
%% The same with those that have many links or monitors, as the keeper knows them.
CostlyOf = fun(Pids, Items) ->
    {Long, QueuesNs} = LongOf(Pids),
    case HasMemory(Items) andalso counters:get(get(heavies), 1) > 0 of
        true ->
            Ref = make_ref(),
            get(keeper) ! {heavy, self(), Ref},
            Heavy = receive {Ref, All} -> maps:with(Pids, All) end,
            Both = [{Ns + case lists:keyfind(Pid, 2, Long) of {N, _} -> N; false -> 0 end, Pid}
                    || {Pid, Ns} <- maps:to_list(Heavy)],
            {Both ++ [One || {_, Pid} = One <- Long, not is_map_key(Pid, Heavy)], QueuesNs};
        false ->
            {Long, QueuesNs}
    end
end,

%% The heaps' size follows from what the collector says: one walk less.
HeapWords = fun(Info) ->
    lists:sum([proplists:get_value(Key, Info, 0)
               || Key <- [heap_block_size, old_heap_block_size, mbuf_size]])
end,
%% [{Pid, {Memory, Words, Info}, Ns}], empty when it has ended; Ns that of its links and monitors.
%% The time is ours, but for what it waited for a process that runs. What the memory has beyond the
%% heaps may be links: as many as could be walked in that time. A long queue is more than the heaps,
%% too: its process must have taken much longer than that.
WalkOne = fun({Ns, Pid}) ->
    Most = erlang:convert_time_unit(Ns + Ns div 2, nanosecond, native),
    Start = erlang:monotonic_time(nanosecond),
    Asked = [message_queue_len, memory, garbage_collection_info],
    case AtMost(Most, fun() -> process_info(Pid, Asked) end) of
        [{_, Messages}, {_, Memory}, {_, Info}] ->
            Took = erlang:monotonic_time(nanosecond) - Start,
            Words = HeapWords(Info),
            Links = min(Took, (Memory - WordSize * Words) div LinkBytes * LinkNs),
            IsMore = Links >= WalkedNs
                andalso (Messages =< WalkedMost orelse Took > 4 * Messages * MessageNs),
            [{Pid, {Memory, Words, Info}, case IsMore of true -> Links; false -> 0 end}];
        undefined ->
            []
    end
end,
%% What those were that were never read is at least, as the keeper gives what was read.
LeastOf = fun(Costly) ->
    {_, Pids} = lists:unzip(Costly),
    Bytes = {'*', WordSize, {'+', '$3', {'*', MessageWords, {'div', '$1', MessageNs}}}},
    Matched(lists:zip(Costly, ReadEach(Pids, heap_size)),
            [{{{'$1', '$2'}, {heap_size, '$3'}}, [], [{{'$2', {{undefined, Bytes, '$3', []}}}}]}])
end,
%% {[{Pid, {At, Memory, Words, Info}}], AtMs}: of all that live.
WalkedOf = fun(Costly) ->
    {Start, Ref, Keeper} = {erlang:monotonic_time(), make_ref(), get(keeper)},
    Keeper ! {turns, self(), Ref, Costly},
    {Turns, Earlier, AtMs} = receive {Ref, Whose, Was, At} -> {Whose, Was, At} end,
    put(waited, get(waited) + erlang:monotonic_time() - Start),
    Read = lists:append(lists:map(WalkOne, Turns)),
    Turns =:= [] orelse begin Keeper ! {walked, Read, 0}, ok end,
    New = maps:from_list([{Pid, {AtMs, Memory, Words, Info}}
                          || {Pid, {Memory, Words, Info}, _} <- Read]),
    All = maps:merge(Earlier, New),
    Never = case map_size(All) =:= length(Costly) of
        true -> [];
        false -> LeastOf([One || {_, Pid} = One <- Costly, not is_map_key(Pid, All)])
    end,
    {Never ++ maps:to_list(All), AtMs}
end,
%% [{Pid, AgeMs | undefined}] of those for which it is older; undefined of one that was never read.
OlderOf = fun(Walked, AtMs) ->
    Matched(Walked, [{{'$1', {undefined, '_', '_', '_'}}, [], [{{'$1', undefined}}]},
                     {{'$1', {'$2', '_', '_', '_'}}, [{'<', '$2', AtMs - RecentMs}],
                      [{{'$1', {'-', AtMs, '$2'}}}]}])
end,

%% Those that turn out to have many links or monitors, of those whose memory was read natively: the
%% keeper gets to know them, however many they are, since each look would walk them again. What has
%% much memory beyond its heaps is timed: some at once, then, where that took long and they have
%% most, one by one.
LargeSpecOf = fun(Items) ->
    case get(large_spec) of
        {Items, Made} ->
            Made;
        _ ->
            Pattern = case Items of
                memory -> {memory, '$1'};
                _ -> [case Item of memory -> {memory, '$1'}; _ -> '_' end || Item <- Items]
            end,
            Made = ets:match_spec_compile([{{Pattern, '$2'}, [{'>=', '$1', HeavyBytes}],
                                            [{{'$1', '$2'}}]}]),
            put(large_spec, {Items, Made}),
            Made
    end
end,
ExcessSpec = ets:match_spec_compile(
    [{{'$1', '$2', {total_heap_size, '$3'}},
      [{'>=', {'-', '$1', {'*', WordSize, '$3'}}, HeavyBytes}],
      [{{{'*', LinkNs, {'div', {'-', '$1', {'*', WordSize, '$3'}}, LinkBytes}}, '$2'}}]}]),
TimedMost = 20,
Together = [memory, garbage_collection_info],
TogetherSpec = ets:match_spec_compile(
    [{{'$1', [{memory, '$2'}, {garbage_collection_info, '$3'}]}, [], [{{'$1', '$2', '$3'}}]}]),
%% Of those that took Took ns together each has the share that its bytes say, and no more ns than
%% these say.
Shared = fun(Found, Infos, Took) ->
    All = lists:sum([Ns || {Ns, _} <- Found]),
    [{Pid, {Memory, HeapWords(Info), Info}, min(Ns, Took * Ns div All)}
     || {{Ns, Pid}, Memory, Info} <- ets:match_spec_run(lists:zip(Found, Infos), TogetherSpec),
        Took * Ns div All >= WalkedNs]
end,
WalkEach = fun(Found) ->
    [One || {_, _, Ns} = One <- lists:append(lists:map(WalkOne, Found)), Ns > 0]
end,
%% Found: TimedMost at most. One by one only those that have most, since evaluated code is slow.
Timed = fun([_] = Found, _) -> WalkEach(Found);
           (Found, IsFirst) ->
    {_, Pids} = lists:unzip(Found),
    Start = erlang:monotonic_time(nanosecond),
    Infos = ReadEach(Pids, Together),
    case erlang:monotonic_time(nanosecond) - Start of
        Took when Took < WalkedNs -> [];
        _ when IsFirst -> WalkEach(Found);
        Took -> Shared(Found, Infos, Took)
    end
end,
%% A few at a time: the asker may be ended at its deadline before it comes to the others.
Learn = fun Learn(Found, IsFirst) ->
    {These, Rest} = lists:split(min(TimedMost, length(Found)), Found),
    case Timed(These, IsFirst) of
        [] ->
            ok;
        Heavy ->
            %% Read three times by now, twice without being counted.
            Sum = lists:sum([Ns || {_, _, Ns} <- Heavy]),
            put(helped, get(helped) + erlang:convert_time_unit(2 * Sum, nanosecond, native)),
            get(keeper) ! {walked, Heavy, 3 * Sum}
    end,
    Rest =:= [] orelse Learn(Rest, false)
end,
FindHeavy = fun(Pids, Infos, Items, QueuesNs) ->
    Large = case HasMemory(Items) of
        true -> ets:match_spec_run(lists:zip(Infos, Pids), LargeSpecOf(Items));
        false -> []
    end,
    {Bytes, Those} = lists:unzip(Large),
    Words = ReadWalking(Those, total_heap_size, QueuesNs),
    case ets:match_spec_run(lists:zip3(Bytes, Those, Words), ExcessSpec) of
        [] -> ok;
        Found -> Learn(lists:reverse(lists:sort(Found)), true)
    end,
    ok
end,

%% What process_info/2 says of each, with these values in place of a walk; of an older one
%% {older, Value, AgeMs} where Marks is true. The specification is made once for the same items.
FillerOf = fun(Items) ->
    case get(filler) of
        {Items, Made} ->
            Made;
        _ ->
            Values = [{memory, '$1'}, {total_heap_size, '$2'}, {garbage_collection_info, '$3'}],
            Body = fun(Item) -> {{Item, element(2, lists:keyfind(Item, 1, Values))}} end,
            Made = case is_list(Items) of
                true ->
                    Rest = [Item || Item <- Items, not lists:member(Item, Walking)],
                    Numbered = lists:zip(Rest, [list_to_atom("$" ++ integer_to_list(N))
                                                || N <- lists:seq(10, 9 + length(Rest))]),
                    {Rest, [V || {_, V} <- Numbered],
                     [case lists:keyfind(Item, 1, Numbered) of
                          {_, V} -> V;
                          false -> Body(Item)
                      end || Item <- Items]};
                false ->
                    {[], [], Body(Items)}
            end,
            put(filler, {Items, Made}),
            Made
    end
end,
Filled = fun(Walked, Items, AtMs, Marks) ->
    {Rest, Pattern, Body} = FillerOf(Items),
    {Pids, Values} = lists:unzip(Walked),
    Shown = case Marks of
        false ->
            Values;
        true ->
            Matched(Values,
                [{{undefined, '$1', '$2', '$3'}, [],
                  [{{0, {{older, '$1', undefined}}, {{older, '$2', undefined}}, '$3'}}]},
                 {{'$4', '$1', '$2', '$3'}, [{'<', '$4', AtMs - RecentMs}],
                  [{{0, {{older, '$1', {'-', AtMs, '$4'}}}, {{older, '$2', {'-', AtMs, '$4'}}},
                     '$3'}}]},
                 {'_', [], ['$_']}])
    end,
    {Pids, Matched(lists:zip(ReadEach(Pids, Rest), Shown),
                   [{{undefined, '_'}, [], [undefined]},
                    {{Pattern, {'_', '$1', '$2', '$3'}}, [], [Body]}])}
end,

%% {Infos, Older}: what process_info/2 says of each, in their order, and whose are older.
AskWith = fun(Pids, Items, {Costly, QueuesNs}, Marks) ->
    {Walked, AtMs} = WalkedOf(Costly),
    {Those, Made} = Filled(Walked, Items, AtMs, Marks),
    Natively = Pids -- Those,
    Infos = ReadWalking(Natively, Items, QueuesNs),
    FindHeavy(Natively, Infos, Items, QueuesNs),
    All = maps:from_list(lists:zip(Those ++ Natively, Made ++ Infos)),
    {lists:zipwith(fun maps:get/2, Pids, lists:duplicate(length(Pids), All)), OlderOf(Walked, AtMs)}
end,
Ask_ = fun(Pids, Items, Marks) ->
    Walks = lists:any(fun(Item) -> lists:member(Item, Walking) end,
                      case Items of [_ | _] -> Items; _ -> [Items] end),
    case Walks andalso CostlyOf(Pids, Items) of
        false ->
            {ReadEach(Pids, Items), []};
        {[], QueuesNs} ->
            Infos = ReadWalking(Pids, Items, QueuesNs),
            FindHeavy(Pids, Infos, Items, QueuesNs),
            {Infos, []};
        Costly ->
            AskWith(Pids, Items, Costly, Marks)
    end
end,
AskSpared = fun(Pids, Items) -> Ask_(Pids, Items, false) end,
%% The same, with {older, Value, AgeMs} in place of older values of memory and total_heap_size.
AskMarked = fun(Pids, Items) -> element(1, Ask_(Pids, Items, true)) end,
