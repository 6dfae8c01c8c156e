%% SPDX-License-Identifier: GPL-3.0-or-later
%% The nearest supervisor among the ancestors that proc_lib keeps in the dictionary: by its
%% registered name, else by the module that lists its children. Processes that one has started have
%% equal lists, so few are looked at. Before OTP 26.2 (behind.erl) parents are followed, which OTP
%% 25 shows, and before that the one link to what has the name of a supervisor is taken.
%% Needs Ask/2 and Run/2.
HasParent = try process_info(self(), parent) of _ -> true catch error:_ -> false end,
IsSupervisor = fun(Module) ->
    Name = atom_to_binary(Module, utf8),
    lists:any(fun(End) -> binary:longest_common_suffix([Name, End]) =:= byte_size(End) end,
              [<<"_sup">>, <<"_supervisor">>, <<"Supervisor">>])
end,
AncestorsOf = fun(Pids, HasKey) ->
    case HasKey of
        true ->
            Run(Ask(Pids, {dictionary, '$ancestors'}),
                [{{'_', '$1'}, [{is_list, '$1'}], ['$1']}, {'_', [], [[]]}]);
        false when HasParent ->
            Run(Ask(Pids, [initial_call, parent]),
                [{[{'_', {proc_lib, '_', '_'}}, {'_', '$1'}], [{is_pid, '$1'}], [['$1']]},
                 {'_', [], [[]]}]);
        false ->
            [case Info of
                 [{_, {proc_lib, _, _}}, {_, Name}, {_, Links}] ->
                     %% One that is a supervisor itself is linked to those below it as well.
                     case is_atom(Name) andalso IsSupervisor(Name) of true -> []; _ -> Links end;
                 _ ->
                     []
             end || Info <- Ask(Pids, [initial_call, registered_name, links])]
    end
end,
%% A supervisor without a name is known by its module; before OTP 26.2 only while it works.
SupervisorName = fun(Ancestor, #{caps := #{dict_key := HasKey}, initial_call := InitialCall}) ->
    Pid = case Ancestor of _ when is_atom(Ancestor) -> whereis(Ancestor); _ -> Ancestor end,
    IsLocal = is_pid(Pid) andalso node(Pid) =:= node(),
    Name = case IsLocal andalso process_info(Pid, registered_name) of {_, N} -> N; _ -> none end,
    Named = fun(Module) -> case Name of none -> Module; _ -> Name end end,
    Call = case IsLocal andalso process_info(Pid, initial_call) of
        {_, Mfa} -> InitialCall(Pid, Mfa);
        _ -> undefined
    end,
    case Call of
        {supervisor, init, _} -> case Name of none -> undefined; _ -> Name end;
        {supervisor, Module, _} -> Named(Module);
        {supervisor_bridge, Module, _} -> Named(Module);
        {Module, _, _} when is_atom(Module) ->
            Told = case HasKey of true -> Module; false -> Name end,
            case IsSupervisor(Told) of true -> Named(Module); false -> undefined end;
        undefined ->
            undefined
    end
end,
Nearest = fun Nearest(Ancestors, Ctx, Left) ->
    case Ancestors of
        [First | Rest] when Left > 0 ->
            case SupervisorName(First, Ctx) of
                undefined ->
                    #{caps := #{dict_key := HasKey}} = Ctx,
                    Above = case HasKey of true -> Rest; false -> lists:append(AncestorsOf([First],
                        false)) end,
                    Nearest(Above, Ctx, Left - 1);
                Name ->
                    Name
            end;
        _ ->
            undefined
    end
end,
%% From links: one with the name of a supervisor, else those of the only process that it is linked
%% to, which has most likely started it.
Linked = fun Linked(Links, Left) ->
    Local = [P || P <- lists:sublist(Links, 1000), is_pid(P), node(P) =:= node()],
    Named = Run(Ask(Local, registered_name), [{{registered_name, '$1'}, [], ['$1']}]),
    case {lists:filter(IsSupervisor, Named), Local} of
        {[Name], _} -> Name;
        {[], [_]} when Left > 0 -> Linked(lists:append(AncestorsOf(Local, false)), Left - 1);
        _ -> undefined
    end
end,
%% They never change either.
SupervisorsOf = fun(Pids, Supervisors, #{caps := #{dict_key := HasKey}} = Ctx) ->
    case Pids -- maps:keys(Supervisors) of
        [] ->
            maps:with(Pids, Supervisors);
        New ->
            Lists = AncestorsOf(New, HasKey),
            Find = case HasKey orelse HasParent of
                true -> fun(List) -> Nearest(List, Ctx, 20) end;
                false -> fun(List) -> Linked(List, 5) end
            end,
            Found = maps:from_list([{List, Find(List)} || List <- lists:usort(Lists)]),
            Names = lists:zipwith(fun maps:get/2, Lists, lists:duplicate(length(New), Found)),
            maps:with(Pids, maps:merge(Supervisors, maps:from_list(lists:zip(New, Names))))
    end
end,
