%% SPDX-License-Identifier: GPL-3.0-or-later
%% Where the memory of the largest processes is. Arg: #{most => N, running => bool}.
%%
%% `memory` of all processes, or with `running` of those that run or are ready to: a signal to each,
%% in slices of a list that a helper holds, for TimeForAll() at most. What the collector says, and
%% who it is, of the N largest. References to binaries are listed for Listed of these at most, and
%% only where the process is small enough: each reference takes 48 bytes or more of its heap, and
%% 72 in the list, so a list has at most 1.5 times the memory of the process.
Listed = 20,
ListedBytes = 16 * 1048576,
%% So many others are only pid and memory, for growth.
Others = 1000,

-include("part/sweep.erl").
-include("part/lister.erl").
-include("part/references.erl").
-include("part/walked.erl").

Works = fun(Pids) ->
    Run(lists:zip(Ask(Pids, status), Pids),
        [{{{status, S}, '$1'}, [], ['$1']} || S <- [running, runnable, garbage_collecting]])
end,
%% {[{Bytes, Pid}] best first, bytes of all, how many, those whose bytes are older}. Of a slice only
%% those are sorted that are larger than the last of these.
Floor = fun(Sofar) ->
    case length(Sofar) of Others -> element(1, lists:last(Sofar)); _ -> -1 end
end,
AddSlice = fun(Pids, Running, {Sofar, Sum, Looked, Olds}) ->
    These = case Running of true -> Works(Pids); false -> Pids end,
    {Infos, Older} = AskSpared(These, memory),
    Larger = Run(lists:zip(Infos, These),
                 [{{{memory, '$1'}, '$2'}, [{'>', '$1', Floor(Sofar)}], [{{'$1', '$2'}}]}]),
    Bytes = Run(Infos, [{{memory, '$1'}, [], ['$1']}]),
    Next = case Larger of [] -> Sofar; _ -> Best(Larger ++ Sofar, Others) end,
    {Next, Sum + lists:sum(Bytes), Looked + length(Bytes), Older ++ Olds}
end,
%% {what AddSlice gives, how many there are, whether some are left because the time was up}
AddAll = fun AddAll({Pid, Ref} = From, OwnNow, Running, {Found, Total}, End) ->
    IsOver = Ms() > End,
    Pid ! {self(), Ref, next},
    case receive {Ref, Slice} -> Slice end of
        [] ->
            {Found, Total, false};
        _ when IsOver ->
            {Found, Total, true};
        Slice ->
            Pids = Slice -- OwnNow(),
            Next = {AddSlice(Pids, Running, Found), Total + length(Pids)},
            erlang:garbage_collect(),
            AddAll(From, OwnNow, Running, Next, End)
    end
end,

%% Sizes in words, but `memory`. Value: [{Pid, Status, MessageQueueLen, Sizes in bytes, bytes of
%% binaries, {Pid, Ms} where these are older, or false}].
SizeKeys = [heap_size, heap_block_size, old_heap_size, old_heap_block_size, stack_size, mbuf_size],
VheapKeys = [bin_vheap_size, bin_old_vheap_size],
Look = fun(Pids) ->
    Items = [status, message_queue_len, memory, garbage_collection_info],
    {Infos, Older} = AskSpared(Pids, Items),
    [begin
         Words = fun(Keys) -> [proplists:get_value(Key, Info, 0) * WordBytes || Key <- Keys] end,
         {Pid, Status, Len, [Memory | Words(SizeKeys)], lists:sum(Words(VheapKeys)),
          lists:keyfind(Pid, 1, Older)}
     end || {Pid, [{_, Status}, {_, Len}, {_, Memory}, {_, Info}]} <- lists:zip(Pids, Infos)]
end,
%% #{Pid => {Bytes, Binaries}}, of those whose references were listed.
Binaries = fun(Looks, Spawn) ->
    Small = [{Held div WordBytes, Pid} || {Pid, _, _, [Memory | _], Held, _} <- Looks,
                                          Held > 0, Memory =< ListedBytes],
    case Best(Small, Listed) of
        [] -> #{};
        Those -> maps:from_list([{Pid, {Bytes, N}} || {Bytes, N, Pid} <- Holders(Those, Spawn)])
    end
end,

{[apps, own, k, id, spawn, count_work],
fun(#{most := Most, running := Running},
    #{apps := AppsOf, own := OwnOf, k := Keeper, id := Id, spawn := Spawn} = Ctx) ->
    {Lister_, _} = From = StartLister(Ctx),
    {{Found, Sum, Looked, Olds}, Total, Partial} =
        try AddAll(From, fun() -> OwnOf(Keeper) end, Running, {{[], 0, 0, []}, 0},
                   Ms() + TimeForAll())
        after unlink(Lister_), exit(Lister_, kill)
        end,
    {Largest, Rest} = Split(Found, Most),
    Looks = Look(PidsOf(Largest)),
    Counted = Binaries(Looks, Spawn),
    Apps = AppsOf(),
    Rows = [{Pid, Who, Status, Len,
             case Old of
                 {_, AgeMs} -> {older, list_to_tuple(Sizes), AgeMs};
                 false -> list_to_tuple(Sizes)
             end,
             maps:get(Pid, Counted, {Held, case Held of 0 -> 0; _ -> undefined end})}
            || {Pid, Status, Len, Sizes, Held, Old} <- Looks, Who <- [Id(Pid, Apps)],
               Who =/= gone],
    {heaps, erlang:monotonic_time(nanosecond), Total, Looked, Sum, Partial, Rows,
     Run([B || {_, P} = B <- Rest, Olds =:= [] orelse not lists:keymember(P, 1, Olds)],
         [{{'$1', '$2'}, [], [{{'$2', '$1'}}]}])}
end}.
