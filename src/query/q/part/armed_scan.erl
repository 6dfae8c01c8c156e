%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What is armed on the node, looked for natively however many functions it has

%% Of all that is loaded.
LoadedMfas = fun() ->
    Of = fun(Module) ->
        try lists:unzip(erlang:get_module_info(Module, functions)) of
            {Names, Arities} -> lists:zip3(lists:duplicate(length(Names), Module), Names, Arities)
        catch
            error:_ -> []
        end
    end,
    lists:append(lists:map(Of, lists:filter(fun erlang:module_loaded/1,
                                            lists:usort(erlang:loaded()))))
end,

%% [{Thing, List}] of the functions or processes that have something for the item. Space: legacy,
%% the node's single one, or a session. Some at a time, so that a node with 100,000 functions fits
%% into our heap; and where all of them are armed, the list of each but the first, which is as many
%% as any tracer has, is empty.
Marks = fun(Space, Things, Item) ->
    Most = 5000,
    Told = 1000,
    Compiled = ets:match_spec_compile(
        [{{'$1', {Item, '$2'}}, [{is_list, '$2'}, {'=/=', '$2', []}], [{{'$1', '$2'}}]}]),
    Emptied = ets:match_spec_compile([{{'$1', '_'}, [], [{{'$1', []}}]}]),
    Next = fun Next(Left, Room, Sofar) ->
        {Some, Rest} = case length(Left) > Most of
            true -> lists:split(Most, Left);
            false -> {Left, []}
        end,
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
    Next(Things, Told, [])
end,
