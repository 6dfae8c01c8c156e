%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Native work over many processes
WordBytes = erlang:system_info(wordsize),
Run = fun(List, Spec) ->
    ets:match_spec_run(List, ets:match_spec_compile(Spec))
end,
Each = fun(Read, List, Item) ->
    lists:zipwith(Read, List, lists:duplicate(length(List), Item))
end,
Ask = fun(Pids, Item) -> Each(fun erlang:process_info/2, Pids, Item) end,
%% Not by its length: of a list of a million that would take as long for each slice.
Split = fun(List, Size) -> try lists:split(Size, List) catch error:_ -> {List, []} end end,
%% Of pairs of a number and a pid.
Best = fun(Pairs, N) -> lists:sublist(lists:reverse(lists:sort(Pairs)), N) end,
PidsOf = fun(Pairs) -> Run(Pairs, [{{'_', '$1'}, [], ['$1']}]) end,
Ms = fun() -> erlang:monotonic_time(millisecond) end,
