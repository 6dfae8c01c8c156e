%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of keeper.erl: what our processes may use, and what they used.

SpawnOptions = fun(HeapBytes) ->
    [link,
     {message_queue_data, off_heap},
     {max_heap_size, #{size => HeapBytes div WordBytes, kill => true, error_logger => false}}]
end,

%% Who looks at the node with any tool finds our name: labels on OTP 27+, and the initial call that
%% such tools find behind proc_lib.
Sign = fun() ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, keeper, 0})
end,

%% Reductions of ours, so that shares of the node's work leave them out. Each of our
%% processes adds its own when it has done something. Value: what it did since it last did so.
OwnReductions = counters:new(1, []),
CountWork = fun() ->
    {_, Now} = process_info(self(), reductions),
    Did = case put(counted, Now) of undefined -> Now; Before -> Now - Before end,
    counters:add(OwnReductions, 1, Did),
    Did
end,

%% Reductions of an answer, whose query may have counted in between: those since so many.
CountedSince = fun(Before) ->
    CountWork(),
    get(counted) - Before
end,

%% What the client needs to say what an answer cost (src/query/price.h): native time of a second,
%% and of 1,000 reductions of compiled code that neither waits nor touches much memory: the least of
%% a few bursts, each so short that a busy host hardly takes the core away in it.
Burst = fun() ->
    {_, Before} = process_info(self(), reductions),
    Start = erlang:monotonic_time(),
    lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, 100)]),
    Took = erlang:monotonic_time() - Start,
    {_, After} = process_info(self(), reductions),
    Took * 1000 div (After - Before)
end,
%% At high priority, since each burst has to give way once or twice: on a busy node that would be
%% waits for a turn.
Prices = (fun() ->
    PriorityBefore = process_flag(priority, high),
    Plain = lists:min([Burst() || _ <- lists:seq(1, 8)]),
    process_flag(priority, PriorityBefore),
    {erlang:convert_time_unit(1, second, native), Plain}
end)(),
