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
%% processes adds its own when it has done something. Value: all that it has used so far.
OwnReductions = counters:new(1, []),
CountWork = fun() ->
    {_, Now} = process_info(self(), reductions),
    counters:add(OwnReductions, 1,
                 case put(counted, Now) of undefined -> Now; Before -> Now - Before end),
    Now
end,

%% The native time of 1,000 reductions of compiled code that neither waits nor touches much memory:
%% the least of a few bursts, each so short that a busy host hardly takes the core away in it.
Burst = fun() ->
    {_, Before} = process_info(self(), reductions),
    Start = erlang:monotonic_time(),
    lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, 100)]),
    Took = erlang:monotonic_time() - Start,
    {_, After} = process_info(self(), reductions),
    Took * 1000 div (After - Before)
end,
%% Where the clock is too coarse for a burst there is no bound.
PlainRate =
    case lists:min([Burst() || _ <- lists:seq(1, 8)]) of 0 -> 1 bsl 40; Plain -> Plain end,

%% What work cost. The CPU time of a process is not known in the VM, and wall time counts also the
%% time without a core or a scheduler. So wall time shows what a reduction of that kind of work
%% costs, and the reductions say how much work it was.
%% Rate: native time for 1,000 reductions, a mean that follows what is lower by a quarter and what
%% is higher, where others may have been in the way, by a 16th; undefined before the first. The
%% first is at most Times the plain rate, three times what was measured for that work: on a busy
%% host it may be any number of times too high. Value: {native time, next rate}.
Charge = fun(Wall, Count, Rate, Times) ->
    Seen = Wall * 1000 div max(1, Count),
    Next =
        case Rate of
            undefined -> min(Seen, Times * PlainRate);
            _ when Seen > Rate -> Rate + min(Seen - Rate, Rate) div 16 + 1;
            _ -> Rate - (Rate - Seen) div 4
        end,
    {Count * Next div 1000, Next}
end,
TimesOf = fun(Name) ->
    case Name of
        system -> 4;
        scan -> 8;
        _ -> 25
    end
end,
LoadTimes = 10,
