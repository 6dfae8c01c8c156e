%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of scan.erl, the rows that are shown: one process_info/2 for each, everything after that for
%% all rows at once.

%% How an item's value is matched and what is made of it: {Item, Variable} -> {Pattern, Body}.
%% Identities stand in '$1', supervisors in '$8'.
Column = fun({Item, V}) ->
    case Item of
        id -> {'_', '$1'};
        dictionary -> {'_', undefined};
        supervisor -> {'_', '$8'};
        garbage_collection -> {GcSettings, {{'$3', '$4'}}};
        _ -> {V, V}
    end
end,

%% What is a list is counted one by one: {Item, Count}, of binaries {binary, {Count, Bytes}}.
Lists = [links, monitors, monitored_by, suspending, binary],
AskRows = fun(Pids, Keys) ->
    IsList = [lists:member(Key, Lists) || Key <- Keys],
    case lists:member(true, IsList) of
        false ->
            AskMarked(Pids, Keys);
        true ->
            Plain = [case L of true -> status; false -> Key end
                     || {Key, L} <- lists:zip(Keys, IsList)],
            Infos = AskMarked(Pids, Plain),
            Counted = fun(Pid, Info) ->
                [case L of true -> Collected(CountOf(Pid, Key)); false -> Had end
                 || {Key, L, Had} <- lists:zip3(Keys, IsList, Info)]
            end,
            WithRoom(fun() ->
                [case Info of undefined -> undefined; _ -> Counted(Pid, Info) end
                 || {Pid, Info} <- lists:zip(Pids, Infos)]
            end)
    end
end,

%% The item `id` of each process: what Identity of the keeper makes of one, for many. Skip: patterns
%% of what stands before the keys of the identity. Value: compiled specifications of a leader, a
%% label (none before OTP 27), and of {Info, {Call, Application, Label}}.
IdSpecsOf = fun(Skip, IdKeys) ->
    {Labels, Labelled} =
        case IdKeys of
            [_, _, _, _] -> {[{'_', '$2'}], true};
            _ -> {[], false}
        end,
    Keys = fun(Name) -> Skip ++ [{'_', Name}, {'_', '$3'}, {'_', '$1'} | Labels] end,
    IdOf = fun(Pattern, Name) ->
        {{Keys(Pattern), {'$5', '$6', '$7'}}, [], [{{Name, '$5', '$7', '$6', '$3'}}]}
    end,
    {ets:match_spec_compile([{Keys('_'), [], ['$1']}, {'_', [], [undefined]}]),
     Labelled andalso ets:match_spec_compile([{Keys('_'), [], ['$2']}, {'_', [], [undefined]}]),
     ets:match_spec_compile([IdOf([], undefined), IdOf('$4', '$4'), {'_', [], [gone]}])}
end,
%% Any term can be a label: it is made text.
LabelsOfRows = fun(Infos, Spec, LabelText) ->
    case Spec =/= false andalso ets:match_spec_run(Infos, Spec) of
        false ->
            lists:duplicate(length(Infos), undefined);
        Labels ->
            Terms = lists:delete(undefined, lists:usort(Labels)),
            Looked(Labels, maps:from_list([{Term, LabelText(Term)} || Term <- Terms]), undefined)
    end
end,
IdsOf = fun(Pids, Infos, {LeaderSpec, LabelSpec, IdSpec}, Calls, Apps, LabelText) ->
    Applications = Looked(ets:match_spec_run(Infos, LeaderSpec), Apps, undefined),
    Parts = lists:zip3(Looked(Pids, Calls, undefined), Applications,
                       LabelsOfRows(Infos, LabelSpec, LabelText)),
    ets:match_spec_run(lists:zip(Infos, Parts), IdSpec)
end,

%% Initial calls never change: those of rows seen before are known. Where a stack showed only what
%% calls the callbacks, it may tell the callbacks' module later.
Engines = {const, #{proc_lib => [], gen => [], gen_server => [], gen_statem => [],
                    gen_event => [], gen_fsm => [], sys => []}},
Settled = ets:match_spec_compile(
    [{{'$3', {'$1', '$2', '_'}},
      [{'orelse', {'=:=', '$2', init}, {'not', {is_map_key, '$1', Engines}}}], ['$3']}]),
%% Those that are in the function that was reported, or hibernate, show no more.
Still = ets:match_spec_compile(
    [{{'$1', {current_function, '$2'}, '$2'}, [], ['$1']},
     {{'$1', {current_function, {erlang, hibernate, 3}}, '_'}, [], ['$1']}]),
StillOf = fun(Pids, Calls) ->
    Known = Looked(Pids, Calls, undefined),
    ets:match_spec_run(lists:zip3(Pids, ReadEach(Pids, current_function), Known), Still)
end,
BehindOf = fun(Pids, CallsBehind) ->
    Behind = Apart(fun() -> CallsBehind(Pids) end, 10 * length(Pids)),
    [case Both of
         {{_, _}, {call, Call}} -> Call;
         {{_, Mfa}, false} -> Mfa;
         {undefined, _} -> undefined
     end || Both <- lists:zip(ReadEach(Pids, initial_call), Behind)]
end,
CallsOf = fun(Pids, Calls, #{caps := #{dict_key := HasKey}, initial_call := InitialCall,
                             calls_behind := CallsBehind}) ->
    New = case Pids -- maps:keys(Calls) of
        Strangers when HasKey ->
            Strangers;
        Strangers ->
            Unsettled = (Pids -- Strangers) -- ets:match_spec_run(maps:to_list(Calls), Settled),
            Strangers ++ (Unsettled -- StillOf(Unsettled, Calls))
    end,
    case New of
        [] when map_size(Calls) =:= length(Pids) ->
            Calls;
        [] ->
            maps:with(Pids, Calls);
        _ ->
            Found = case HasKey of
                true ->
                    [case Info of {_, Mfa} -> InitialCall(Pid, Mfa); undefined -> undefined end
                     || {Pid, Info} <- lists:zip(New, Ask(New, initial_call))];
                false ->
                    BehindOf(New, CallsBehind)
            end,
            maps:with(Pids, maps:merge(Calls, maps:from_list(lists:zip(New, Found))))
    end
end,

%% Before OTP 26.2 the initial call that our processes say they have stands in a dictionary, which
%% is never read; and what holds the connection of a beamtop says nothing.
SignedOf = fun(Pids, Calls) ->
    Ours = ordsets:intersection(get(ours), lists:sort(Pids)),
    maps:merge(Calls, maps:from_list([{Pid, {beamtop, keeper, 0}} || Pid <- Ours]))
end,

%% What is asked of each row, and the compiled specification that makes a row of the answer: made
%% once for the same items. `dictionary`: how many keys there are is not known without a copy.
PlanOf = fun(Items, Ctx) ->
    case get(row_plan) of
        {Items, Plan} ->
            Plan;
        _ ->
            HasId = lists:member(id, Items),
            IdKeys = case HasId of true -> maps:get(id_keys, Ctx); false -> [] end,
            Elsewhere = [id, dictionary, supervisor],
            Keys = [case lists:member(I, Elsewhere) of true -> registered_name; false -> I end
                    || I <- Items] ++ IdKeys,
            {Patterns, Values} =
                lists:unzip(lists:map(Column, lists:zip(Items, Variables(10, Items)))),
            Tail = lists:duplicate(length(IdKeys), '_'),
            Head = [{'_', Pattern} || Pattern <- Patterns] ++ Tail,
            Spec = ets:match_spec_compile(
                [{{{'_', '$5', '$6', '$7'}, Head, {'$1', '$8'}}, [],
                  [{{'$7', '$5', '$6', {list_to_tuple(Values)}}}]}]),
            IdSpecs = HasId andalso IdSpecsOf(lists:duplicate(length(Items), '_'), IdKeys),
            Plan = {Keys, Spec, IdSpecs, lists:member(supervisor, Items)},
            put(row_plan, {Items, Plan}),
            Plan
    end
end,

PidOfEntry = ets:match_spec_compile([{{'_', '_', '_', '$1'}, [], ['$1']}]),

%% {Rows of the ranked, rows of the others}, initial calls and supervisors. Both are lists of {Key,
%% Value, Delta, Pid}.
ReadRows = fun(Ranked, Others, Items, {Calls0, Supervisors0}, Apps, Ctx) ->
    Entries = Ranked ++ Others,
    Pids = ets:match_spec_run(Entries, PidOfEntry),
    {Keys, Spec, IdSpecs, HasSupervisor} = PlanOf(Items, Ctx),
    Infos = AskRows(Pids, Keys),
    Nothing = lists:duplicate(length(Pids), undefined),
    {Calls, Ids} = case IdSpecs of
        false ->
            {#{}, Nothing};
        _ ->
            Known = CallsOf(Pids, Calls0, Ctx),
            {Known, IdsOf(Pids, Infos, IdSpecs, SignedOf(Pids, Known), Apps,
                          maps:get(label_text, Ctx))}
    end,
    {Supervisors, Above} = case HasSupervisor of
        true ->
            Of = SupervisorsOf(Pids, Supervisors0, Ctx),
            {Of, Looked(Pids, Of, undefined)};
        false ->
            {#{}, Nothing}
    end,
    Shown = lists:zip3(Entries, Infos, lists:zip(Ids, Above)),
    {First, Last} = lists:split(length(Ranked), Shown),
    {{ets:match_spec_run(First, Spec), ets:match_spec_run(Last, Spec)}, {Calls, Supervisors}}
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
     end || {Pid, Old, {_, Value}} <- lists:zip3(Pids, Olds, SweepAllOf(Pids, Attr))]
end,
