%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What is armed on the node, looked for natively however many functions it has

LoadedOf = fun(Module) ->
    try lists:unzip(erlang:get_module_info(Module, functions)) of
        {Names, Arities} -> lists:zip3(lists:duplicate(length(Names), Module), Names, Arities)
    catch
        error:_ -> []
    end
end,

%% [{Thing, List}] of those that have something for the item. Space: legacy, the node's single
%% one, or a session. What: `functions`, all that are loaded, or a list of processes. Some at a
%% time, so that the heap does not grow with the node; and where all of them are armed, the list of
%% each but the first, which is as many as any tracer has, is empty.
Marks = fun(Space, What, Item) ->
    Told = 1000,
    {Whole, Most, Things} = case What of
        functions ->
            {lists:filter(fun erlang:module_loaded/1, lists:usort(erlang:loaded())), 20,
             fun(Modules) -> lists:append(lists:map(LoadedOf, Modules)) end};
        _ ->
            {What, 2000, fun(Pids) -> Pids end}
    end,
    Compiled = ets:match_spec_compile(
        [{{'$1', {Item, '$2'}}, [{is_list, '$2'}, {'=/=', '$2', []}], [{{'$1', '$2'}}]}]),
    Emptied = ets:match_spec_compile([{{'$1', '_'}, [], [{{'$1', []}}]}]),
    Next = fun Next(Left, Room, Sofar) ->
        {Batch, Rest} = try lists:split(Most, Left) catch error:_ -> {Left, []} end,
        Some = Things(Batch),
        Each = lists:duplicate(length(Some), Item),
        Infos = case Space of
            legacy -> lists:zipwith(fun erlang:trace_info/2, Some, Each);
            _ -> lists:zipwith3(fun trace:info/3, lists:duplicate(length(Some), Space), Some, Each)
        end,
        Found = ets:match_spec_run(lists:zip(Some, Infos), Compiled),
        N = length(Found),
        Kept = case N > Room of
            true ->
                {First, Others} = lists:split(Room, Found),
                First ++ ets:match_spec_run(Others, Emptied);
            false ->
                Found
        end,
        case Rest of
            [] -> lists:append(lists:reverse([Kept | Sofar]));
            _ -> Next(Rest, max(0, Room - N), [Kept | Sofar])
        end
    end,
    Next(Whole, Told, [])
end,
