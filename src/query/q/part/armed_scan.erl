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
%% the node's single one, or a session.
Marks = fun(Space, Things, Item) ->
    Each = lists:duplicate(length(Things), Item),
    Infos = case Space of
        legacy -> lists:zipwith(fun erlang:trace_info/2, Things, Each);
        _ -> lists:zipwith3(fun trace:info/3, lists:duplicate(length(Things), Space), Things, Each)
    end,
    Spec = [{{'$1', {Item, '$2'}}, [{is_list, '$2'}, {'=/=', '$2', []}], [{{'$1', '$2'}}]}],
    ets:match_spec_run(lists:zip(Things, Infos), ets:match_spec_compile(Spec))
end,
