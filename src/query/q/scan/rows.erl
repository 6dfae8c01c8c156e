%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of scan.erl, the rows that are shown: one process_info/2 for each, everything after that for
%% all rows at once.


%% How an item's value is matched and what is made of it: {Item, Variable} -> {Pattern, Body}.
%% Sizes of binaries are summed elsewhere, and stand in '$2'; supervisors in '$8'.
Column = fun({Item, V}) ->
    Counted = lists:member(Item, [links, monitors, monitored_by, suspending]),
    case Item of
        id -> {'_', '$1'};
        binary -> {'_', '$2'};
        dictionary -> {'_', undefined};
        supervisor -> {'_', '$8'};
        garbage_collection -> {GcSettings, {{'$3', '$4'}}};
        _ when Counted -> {V, {length, V}};
        _ -> {V, V}
    end
end,

%% {Count, Bytes} of the binaries of each process, `none` where nobody asks. Tail: patterns of what
%% stands behind the items.
BinariesOf = fun(Infos, Items, Tail) ->
    case lists:member(binary, Items) of
        false ->
            lists:duplicate(length(Infos), none);
        true ->
            Head = [case Item of binary -> {binary, '$1'}; _ -> '_' end || Item <- Items],
            Lists = Run(Infos, [{Head ++ Tail, [], ['$1']}, {'_', [], [[]]}]),
            lists:zip(lists:map(fun erlang:length/1, Lists), BinaryBytes(Lists))
    end
end,

%% The item `id` of each process: what Identity of the keeper makes of one, for many. Calls: Pid =>
%% initial call. A label is made text where there is one.
IdsOf = fun(Pids, Infos, Skip, Calls, Apps, #{id_keys := IdKeys, label_text := LabelText}) ->
    {Label, Labels} =
        case IdKeys of
            [_, _, _, _] -> {'$5', [{'_', '$5'}]};
            _ -> {undefined, []}
        end,
    Rest = [{'_', '$3'}, {'_', '$4'} | Labels],
    Unnamed = {'$1', Skip ++ [{'_', []} | Rest]},
    Named = {'$1', Skip ++ [{'_', '$2'} | Rest]},
    Call = {map_get, '$1', {const, Calls}},
    Known = {is_map_key, '$4', {const, Apps}},
    App = {map_get, '$4', {const, Apps}},
    Ids = Run(lists:zip(Pids, Infos),
              [{Unnamed, [Known], [{{undefined, Call, Label, App, '$3'}}]},
               {Unnamed, [], [{{undefined, Call, Label, undefined, '$3'}}]},
               {Named, [Known], [{{'$2', Call, Label, App, '$3'}}]},
               {Named, [], [{{'$2', Call, Label, undefined, '$3'}}]},
               {'_', [], [gone]}]),
    Labelled = Run(Ids, [{{'_', '_', '$1', '_', '_'}, [{'=/=', '$1', undefined}], ['$1']}]),
    case lists:usort(Labelled) of
        [] ->
            Ids;
        Terms ->
            Texts = {const, maps:from_list([{Term, LabelText(Term)} || Term <- Terms])},
            Run(Ids, [{{'$1', '$2', '$3', '$4', '$5'}, [{is_map_key, '$3', Texts}],
                       [{{'$1', '$2', {map_get, '$3', Texts}, '$4', '$5'}}]},
                      {'_', [], ['$_']}])
    end
end,

%% Initial calls never change: those of rows seen before are known. Where a stack showed only what
%% calls the callbacks, it may tell the callbacks' module later.
Engines = {const, #{proc_lib => [], gen => [], gen_server => [], gen_statem => [],
                    gen_event => [], gen_fsm => [], sys => []}},
Settled = [{{'_', {'$1', '$2', '_'}},
            [{'orelse', {'=:=', '$2', init}, {'not', {is_map_key, '$1', Engines}}}], ['$_']}],
%% Those that are in the function that was reported, or hibernate, show no more.
StillOf = fun(Calls) ->
    Unsettled = maps:to_list(Calls) -- Run(maps:to_list(Calls), Settled),
    {Pids, Known} = lists:unzip(Unsettled),
    Run(lists:zip3(Pids, Ask(Pids, current_function), Known),
        [{{'$1', {current_function, '$2'}, '$2'}, [], ['$1']},
         {{'$1', {current_function, {erlang, hibernate, 3}}, '_'}, [], ['$1']}])
end,
BehindOf = fun(Pids, CallsBehind) ->
    [case Both of
         {{_, _}, {call, Call}} -> Call;
         {{_, Mfa}, false} -> Mfa;
         {undefined, _} -> undefined
     end || Both <- lists:zip(Ask(Pids, initial_call), CallsBehind(Pids))]
end,
CallsOf = fun(Pids, Calls, #{caps := #{dict_key := HasKey}, initial_call := InitialCall,
                             calls_behind := CallsBehind}) ->
    New = case HasKey of
        true ->
            Pids -- maps:keys(Calls);
        false ->
            Kept = maps:with(Pids, Calls),
            {Known, _} = lists:unzip(Run(maps:to_list(Kept), Settled)),
            (Pids -- Known) -- StillOf(Kept)
    end,
    Found = case HasKey of
        _ when New =:= [] ->
            [];
        true ->
            [case Info of {_, Mfa} -> InitialCall(Pid, Mfa); undefined -> undefined end
             || {Pid, Info} <- lists:zip(New, Ask(New, initial_call))];
        false ->
            BehindOf(New, CallsBehind)
    end,
    maps:with(Pids, maps:merge(Calls, maps:from_list(lists:zip(New, Found))))
end,

%% What is asked of each row, and the compiled specification that makes a row of the answer: made
%% once for the same items. `dictionary`: how many keys there are is not known without a copy.
PlanOf = fun(Items, IdKeys) ->
    case get(row_plan) of
        {Items, Plan} ->
            Plan;
        _ ->
            Elsewhere = [id, dictionary, supervisor],
            Keys = [case lists:member(I, Elsewhere) of true -> registered_name; false -> I end
                    || I <- Items] ++ IdKeys,
            {Patterns, Values} =
                lists:unzip(lists:map(Column, lists:zip(Items, Variables(10, Items)))),
            Tail = lists:duplicate(length(IdKeys), '_'),
            Head = [{'_', Pattern} || Pattern <- Patterns] ++ Tail,
            Spec = ets:match_spec_compile(
                [{{{'_', '$5', '$6', '$7'}, Head, {'$1', '$2', '$8'}}, [],
                  [{{'$7', '$5', '$6', {list_to_tuple(Values)}}}]}]),
            Plan = {Keys, Tail, Spec},
            put(row_plan, {Items, Plan}),
            Plan
    end
end,

%% Rows of entries, initial calls and supervisors. Entries: [{Key, Value, Delta, Pid}].
ReadRows = fun(Entries, Items, {Calls0, Supervisors0}, Apps, Ctx) ->
    Pids = Run(Entries, [{{'_', '_', '_', '$1'}, [], ['$1']}]),
    HasId = lists:member(id, Items),
    IdKeys = case HasId of true -> maps:get(id_keys, Ctx); false -> [] end,
    {Keys, Tail, Spec} = PlanOf(Items, IdKeys),
    Infos = Ask(Pids, Keys),
    Calls = case HasId of true -> CallsOf(Pids, Calls0, Ctx); false -> #{} end,
    Ids = case HasId of
        true -> IdsOf(Pids, Infos, lists:duplicate(length(Items), '_'), Calls, Apps, Ctx);
        false -> lists:duplicate(length(Pids), none)
    end,
    Supervisors = case lists:member(supervisor, Items) of
        true -> SupervisorsOf(Pids, Supervisors0, Ctx);
        false -> #{}
    end,
    Above = case Supervisors =:= #{} of
        true -> lists:duplicate(length(Pids), undefined);
        false -> lists:zipwith(fun maps:get/2, Pids, lists:duplicate(length(Pids), Supervisors))
    end,
    Shown = lists:zip3(Entries, Infos, lists:zip3(Ids, BinariesOf(Infos, Items, Tail), Above)),
    {ets:match_spec_run(Shown, Spec),
     {Calls, Supervisors}}
end,

%% Processes ranked by the coordinator itself: followed ones and, if wanted, our own.
Extra = fun(Pids, Lasts, Job) ->
    #{attr := Attr, mode := Mode, order := Order, first := First} = Job,
    Sign = case Order of desc -> 1; asc -> -1 end,
    Olds = [case First of true -> undefined; false -> maps:get(Pid, Lasts, undefined) end
            || Pid <- Pids],
    [case Old of
         undefined -> {Sign * Value, Value, undefined, Pid};
         _ when Mode =:= delta -> {Sign * (Value - Old), Value, Value - Old, Pid};
         _ -> {Sign * Value, Value, Value - Old, Pid}
     end || {Pid, Old, {_, Value}} <- lists:zip3(Pids, Olds, lists:append(Sweep(Cut(Pids), Attr)))]
end,
