%% SPDX-License-Identifier: GPL-3.0-or-later
%% A major garbage collection of one process, on request. Arg: {Pid | PidOrNameBinary, Ms, Agreed}.
%%
%% The process collects by itself: it stops for as long as copying what is alive takes, and its live
%% data exist twice until it is done, so its heap is the most that it takes. Nothing is done unless
%% the user agreed. The request cannot be taken back: when it is not done after Ms, the process does
%% it later, and the answer reaches nobody. A major collection counts the old heap and all of the
%% new one against max_heap_size: a process that lives with 60% of its limit was killed by one. So
%% nothing is done to a process that its limit may end.
-include("part/walked.erl").

Items = [memory, total_heap_size, message_queue_len, garbage_collection_info],
WordBytes = erlang:system_info(wordsize),
%% {{Memory, heap, binaries} in bytes, MessageQueueLen}
Sizes = fun(Infos) ->
    case Infos of
        [{_, Memory}, {_, Heap}, {_, Len}, {_, Info}] ->
            Held = [proplists:get_value(Key, Info, 0)
                    || Key <- [bin_vheap_size, bin_old_vheap_size]],
            {{Memory, Heap * WordBytes, lists:sum(Held) * WordBytes}, Len};
        undefined ->
            gone
    end
end,
%% Who agreed has the long queue walked, which a collection does as well; who only asks has not.
Look = fun(Pid) -> Sizes(process_info(Pid, Items)) end,
LookSpared = fun(Pid) -> Sizes(hd(element(1, AskSpared([Pid], Items)))) end,
Collect = fun(Pid, Before, Most) ->
    Ref = make_ref(),
    Start = erlang:monotonic_time(),
    _ = erlang:garbage_collect(Pid, [{async, Ref}, {type, major}]),
    Done = receive {garbage_collect, Ref, Is} -> Is after Most -> late end,
    Took = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Took),
    case {Done, Look(Pid)} of
        {late, _} -> {late, Most};
        {true, {After, _}} ->
            {collected, erlang:convert_time_unit(Took, native, microsecond), Before, After};
        _ -> gone
    end
end,

%% Bytes of its limit, or `none` where a collection stays below it.
Limit = fun(Pid, {_, Heap, _}) ->
    case process_info(Pid, garbage_collection) of
        {_, Settings} ->
            case proplists:get_value(max_heap_size, Settings) of
                #{size := Size, kill := true} when Size > 0, 3 * Heap > Size * WordBytes ->
                    Size * WordBytes;
                _ ->
                    none
            end;
        undefined ->
            none
    end
end,

{[pid_of], fun({Asked, Most, Agreed}, #{pid_of := PidOf}) ->
    Pid = PidOf(Asked),
    Read = case Agreed of true -> Look; _ -> LookSpared end,
    case is_pid(Pid) andalso node(Pid) =:= node() andalso Read(Pid) of
        {Before, Len} ->
            case Limit(Pid, Before) of
                none when Agreed =/= true -> {ask, Len, Before};
                none -> Collect(Pid, Before, Most);
                Bytes -> {refused, Bytes, Before}
            end;
        _ -> gone
    end
end}.
