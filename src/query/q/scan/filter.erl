%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of scan.erl, filtering: who the processes of a part are, kept beside the pids as
%% {Name | [], InitialCall, Label | undefined, Application | undefined, PidMatches}

%% Identities of Pids. Before OTP 26.2 stacks stand in for the dictionary.
Identify = fun(Pids, Apps, #{caps := #{dict_key := HasKey, label := HasLabel},
                             calls_behind := CallsBehind}) ->
    Items = [registered_name, initial_call, group_leader],
    {Infos, Calls} =
        case HasKey of
            true ->
                Keyed = Items ++ [{dictionary, '$initial_call'}, {dictionary, '$process_label'}],
                Answers = Ask(Pids, Keyed),
                {Run(Answers, [{['$1', '$2', '$3', '_', '$4'], [], [['$1', '$2', '$3', '$4']]},
                               {undefined, [], [undefined]}]),
                 Run(Answers, [{['_', '_', '_', {'_', '$1'}, '_'], [], [{{call, '$1'}}]},
                               {undefined, [], [false]}])};
            false ->
                {Run(Ask(Pids, Items), [{['$1', '$2', '$3'], [],
                                         [['$1', '$2', '$3', {const, {label, undefined}}]]},
                                        {undefined, [], [undefined]}]),
                 CallsBehind(Pids)}
        end,
    Row = [{'_', '$1'}, {'_', '$2'}, {'_', '$3'}, {'_', '$4'}],
    Leaders = Run(Infos, [{Row, [], ['$3']}, {'_', [], [undefined]}]),
    IsMfa = {'andalso', {is_atom, '$5'}, {'andalso', {is_atom, '$6'}, {is_integer, '$7'}}},
    Known = Run(lists:zip3(Infos, Calls, Looked(Leaders, Apps, undefined)),
                [{{Row, {'_', {'$5', '$6', '$7'}}, '$8'}, [IsMfa],
                  [{{'$1', {{'$5', '$6', '$7'}}, '$4', '$8'}}]},
                 {{Row, '_', '$8'}, [], [{{'$1', '$2', '$4', '$8'}}]},
                 {'_', [], [{const, {[], undefined, undefined, undefined}}]}]),
    {Known, HasLabel}
end,

%% Matches a process whose identity stands in '$4'..'$7', its current function in '$8' and what
%% the pid expression said in '$9'.
Passes = fun(Fields, Maps) ->
    In = fun(Field, Variable) ->
        {is_map_key, Variable, {const, maps:get(Field, Maps, #{})}}
    end,
    Variables = [{name, '$4'}, {initial_call, '$5'}, {label, '$6'}, {application, '$7'},
                 {current_function, '$8'}],
    Tests = [In(Field, Variable) || {Field, Variable} <- Variables, lists:member(Field, Fields)]
        ++ [{'=:=', '$9', match} || lists:member(pid, Fields)],
    case Tests of
        [] -> false;
        [Test] -> Test;
        _ -> list_to_tuple(['orelse' | Tests])
    end
end,

PidMatches = fun(Pids, Maps) ->
    case maps:get(pid, Maps, none) of
        none ->
            lists:duplicate(length(Pids), nomatch);
        {re, Pattern, Options} ->
            {ok, Compiled} = re:compile(Pattern, Options),
            N = length(Pids),
            Limits = [{capture, none}, {match_limit, 1000}, {match_limit_recursion, 1000}],
            lists:zipwith3(fun re:run/3, lists:map(fun erlang:pid_to_list/1, Pids),
                           lists:duplicate(N, Compiled), lists:duplicate(N, Limits))
    end
end,

%% The distinct labels of some identities, or functions, in the fields asked for.
LabelsOf = fun(Identities, Functions, Fields) ->
    Column = fun(Field, Variable) ->
        case lists:member(Field, Fields) of
            true ->
                Unknown = [{'=/=', Variable, []}, {'=/=', Variable, undefined}],
                lists:usort(Run(Identities, [{{'$1', '$2', '$3', '$4'}, Unknown,
                                              [{{Field, Variable}}]}]));
            false ->
                []
        end
    end,
    Column(name, '$1') ++ Column(initial_call, '$2') ++ Column(label, '$3')
        ++ Column(application, '$4')
        ++ lists:usort(Run(Functions, [{{current_function, {'_', '_', '_'}}, [], ['$_']}]))
end,

%% Value: {Triples that pass, all identities, labels not sent yet}.
Filter = fun(Triples, Pids, Known, #{filter := {_, Fields, Maps}, apps := Apps,
                                      all_labels := All, ctx := Ctx}) ->
    Strangers = lists:nthtail(length(Known), Pids),
    Identify1 = fun(Slice) ->
        {Found, HasLabels} = Identify(Slice, Apps, Ctx),
        #{label_text := LabelText} = Ctx,
        case HasLabels of
            true ->
                [case Identity of
                     {_, _, undefined, _} -> Identity;
                     {_, _, Label, _} -> setelement(3, Identity, LabelText(Label))
                 end || Identity <- Found];
            false ->
                Found
        end
    end,
    Identities = Known ++ InSlices(Identify1, Strangers, 500),
    Functions =
        case lists:member(current_function, Fields) of
            true -> Ask(Pids, current_function);
            false -> lists:duplicate(length(Pids), {current_function, undefined})
        end,
    Rows = lists:zip3(Triples, Identities, lists:zip(Functions, PidMatches(Pids, Maps))),
    Passing = Run(Rows, [{{{'$1', '$2', '$3'}, {'$4', '$5', '$6', '$7'}, {{'_', '$8'}, '$9'}},
                          [{is_integer, '$3'}, Passes(Fields, Maps)],
                          [{{'$1', '$2', '$3'}}]}]),
    New = case All of true -> Identities; false -> lists:nthtail(length(Known), Identities) end,
    {Passing, Identities, LabelsOf(New, Functions, Fields)}
end,
