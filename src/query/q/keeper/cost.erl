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
