%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Items of process_info/2 that walk the message queue
%% Those walk all of it under the main lock of the process, 4 to 27 ns a message for each. So how
%% long it is, is asked first, which walks nothing. Of a process with more messages than WalkedMost
%% they are read when the keeper says that it is its turn (keeper/turns.erl). Else they are *older*:
%% as they were read last, or, where they never were, the least that they can be.
Walking = [memory, total_heap_size, garbage_collection_info],
WalkedMost = 50000,
%% What was read no longer ago than that, for another part of an answer, is not older.
RecentMs = 1000,
%% The least that a message takes, and what both walks over it cost at most: on a busy host the wall
%% shows more than that.
MessageWords = 5,
MessageNs = 30,

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

LongSpec = ets:match_spec_compile(
    [{{{message_queue_len, '$1'}, '$2'}, [{'>', '$1', WalkedMost}], [{{'$1', '$2'}}]}]),
%% [{Messages, Pid}] of those that have more.
LongOf = fun(Pids) ->
    Lengths = lists:zipwith(fun erlang:process_info/2, Pids,
                            lists:duplicate(length(Pids), message_queue_len)),
    ets:match_spec_run(lists:zip(Lengths, Pids), LongSpec)
end,

%% [{Pid, [{Item, Value}]}], empty when it has ended. The time is ours, but for what it waited for a
%% process that runs. The heaps' size follows from what the collector says: one walk less.
WalkOne = fun({Messages, Pid}) ->
    Most = erlang:convert_time_unit(Messages * MessageNs, nanosecond, native),
    case AtMost(Most, fun() -> process_info(Pid, [memory, garbage_collection_info]) end) of
        [Memory, {_, Info} = Collector] ->
            Sizes = [proplists:get_value(Key, Info, 0)
                     || Key <- [heap_block_size, old_heap_block_size, mbuf_size]],
            [{Pid, [Memory, {total_heap_size, lists:sum(Sizes)}, Collector]}];
        undefined ->
            []
    end
end,
Least = fun({Messages, Pid}) ->
    case process_info(Pid, heap_size) of
        {_, Words} ->
            Bytes = erlang:system_info(wordsize) * (Words + MessageWords * Messages),
            [{Pid, [{memory, Bytes}, {total_heap_size, Words}, {garbage_collection_info, []}]}];
        undefined ->
            []
    end
end,
%% {#{Pid => [{Item, Value}]}, [Pid]}: of all that live, and those for which it is older.
WalkedOf = fun(Long) ->
    {Start, Ref, Keeper} = {erlang:monotonic_time(), make_ref(), get(keeper)},
    Keeper ! {turns, self(), Ref, Long},
    {Turns, Before} = receive {Ref, Whose, Was} -> {Whose, Was} end,
    put(waited, get(waited) + erlang:monotonic_time() - Start),
    Read = lists:append([WalkOne(One) || One <- Turns]),
    Turns =:= [] orelse begin Keeper ! {walked, Read}, ok end,
    Rest = Long -- Turns,
    Kept = [{Pid, Values} || {_, Pid} <- Rest, {_, Values} <- [maps:get(Pid, Before, none)]],
    Never = lists:append([Least(One) || {_, Pid} = One <- Rest, not is_map_key(Pid, Before)]),
    {maps:from_list(Read ++ Kept ++ Never),
     [Pid || {Pid, {AgeMs, _}} <- maps:to_list(Before), AgeMs > RecentMs,
             not lists:keymember(Pid, 1, Read)]
     ++ [Pid || {Pid, _} <- Never]}
end,

%% What process_info/2 says, with these values.
InfoWith = fun(Pid, Item, Values) when is_atom(Item) ->
    case lists:keyfind(Item, 1, Values) of
        false -> process_info(Pid, Item);
        Info -> Info
    end;
   (Pid, Items, Values) ->
    Unwalked = [I || I <- Items, not lists:member(I, Walking)],
    case process_info(Pid, Unwalked) of
        undefined ->
            undefined;
        Infos ->
            {List, []} = lists:mapfoldl(
                fun(Item, Left) ->
                    case lists:keyfind(Item, 1, Values) of
                        false -> {hd(Left), tl(Left)};
                        Info -> {Info, Left}
                    end
                end, Infos, Items),
            List
    end
end,
%% {Infos, [Pid]}: what process_info/2 says of each, in their order, and whose are older.
AskWith = fun(Pids, Items, {Spared, Older}) ->
    Natively = Pids -- maps:keys(Spared),
    Infos = ReadEach(Natively, Items),
    All = maps:merge(maps:from_list(lists:zip(Natively, Infos)),
                     maps:map(fun(Pid, Values) -> InfoWith(Pid, Items, Values) end,
                              maps:with(Pids, Spared))),
    {lists:zipwith(fun maps:get/2, Pids, lists:duplicate(length(Pids), All)), Older}
end,
AskSpared = fun(Pids, Items) ->
    Walks = lists:any(fun(Item) -> lists:member(Item, Walking) end,
                      case Items of [_ | _] -> Items; _ -> [Items] end),
    Spared = case Walks andalso LongOf(Pids) of
        false -> {#{}, []};
        [] -> {#{}, []};
        Long -> WalkedOf(Long)
    end,
    case Spared of
        {Map, _} when map_size(Map) =:= 0 ->
            {ReadEach(Pids, Items), []};
        _ ->
            AskWith(Pids, Items, Spared)
    end
end,

%% Older values in rows are {older, Value}. Of rows that begin with the pid, element At is a tuple
%% of the items' values.
Marked = fun(Rows, [], _, _) ->
    Rows;
   (Rows, Older, Items, At) ->
    Mark = fun({Item, Value}) ->
        case lists:member(Item, Walking) of true -> {older, Value}; false -> Value end
    end,
    [case is_tuple(element(At, Row)) andalso lists:member(element(1, Row), Older) of
         true ->
             Values = lists:zip(Items, tuple_to_list(element(At, Row))),
             setelement(At, Row, list_to_tuple(lists:map(Mark, Values)));
         false ->
             Row
     end || Row <- Rows]
end,
