%% SPDX-License-Identifier: GPL-3.0-or-later
%% What rows of the last scan are now, between two scans that are far apart. Arg: {[Item], [Pid]}.
%%
%% Value: {rows, MonoNs, [{Pid, Values} | {Pid, gone}]}, in the order of the pids. Only numbers, and
%% what is always small: no item that is a list, no dictionary.
-include("part/items.erl").
-include("part/walked.erl").
Bounded = [reductions, message_queue_len, memory, total_heap_size, heap_size, stack_size, status,
           current_function, garbage_collection],

{[], fun({Items, Pids}, _) ->
    [] = Items -- Bounded,
    Parts = [case Item of
                 garbage_collection -> {{Item, GcSettings}, {{'$3', '$4'}}};
                 _ -> {{Item, Variable}, Variable}
             end || {Item, Variable} <- lists:zip(Items, Variables(10, Items))],
    {Patterns, Values} = lists:unzip(Parts),
    Infos = AskMarked(Pids, Items),
    Spec = [{{'$1', Patterns}, [], [{{'$1', {list_to_tuple(Values)}}}]},
            {{'$1', undefined}, [], [{{'$1', gone}}]}],
    {rows, erlang:monotonic_time(nanosecond),
     ets:match_spec_run(lists:zip(Pids, Infos), ets:match_spec_compile(Spec))}
end}.
