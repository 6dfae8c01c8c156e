%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Which processes did most: behind part/sweep.erl
Slice = 5000,

Reductions = fun Reductions(Pids, Sofar) ->
    case Pids of
        [] ->
            lists:append(lists:reverse(Sofar));
        _ ->
            {These, Rest} = Split(Pids, Slice),
            Numbers = Run(Ask(These, reductions),
                          [{{'_', '$1'}, [], ['$1']}, {undefined, [], [0]}]),
            Reductions(Rest, [Numbers | Sofar])
    end
end,
%% Those with a thousandth of all work at least: a few to be sorted, whatever the node's size.
Busiest = fun(Pids, Done, N) ->
    Floor = lists:sum(Done) div 1000,
    Best(Run(lists:zip(Done, Pids), [{{'$1', '_'}, [{'>', '$1', Floor}], ['$_']}]), N)
end,

%% Where a turn begins that was to begin at Place; whose turn it is then, and where the next one
%% begins: 0 for a new round.
From = fun(Place, Total) -> case Place < Total of true -> Place; false -> 0 end end,
Turn = fun(All, Total, Place, Many) ->
    Begin = From(Place, Total),
    {These, Rest} = Split(lists:nthtail(Begin, All), Many),
    {These, case Rest of [] -> 0; _ -> Begin + Many end}
end,
Wait = fun(ForMs) ->
    Start = erlang:monotonic_time(),
    receive after max(0, ForMs) -> ok end,
    put(waited, get(waited) + erlang:monotonic_time() - Start)
end,
Now = fun() -> erlang:monotonic_time(nanosecond) end,
