%% The nearest supervisor among the ancestors that proc_lib keeps in the dictionary: by its
%% registered name, else by the module that tells its children. Before OTP 26.2 a dictionary is
%% copied as a whole. Processes that one has started have equal lists, so few are looked at.
%% Needs Ask/2 and Run/2.
AncestorsOf = fun(Pids, #{caps := #{dict_key := HasKey}, with_dictionary := WithDictionary}) ->
    case HasKey of
        true ->
            Run(Ask(Pids, {dictionary, '$ancestors'}),
                [{{'_', '$1'}, [{is_list, '$1'}], ['$1']}, {'_', [], [[]]}]);
        false ->
            Find = fun(Pairs) -> lists:keyfind('$ancestors', 1, Pairs) end,
            [case WithDictionary(Pid, Find) of
                 {ok, {_, [_ | _] = List}} -> List;
                 _ -> []
             end || Pid <- Pids]
    end
end,
IsSupervisor = fun(Module) ->
    Name = atom_to_binary(Module, utf8),
    lists:any(fun(End) -> binary:longest_common_suffix([Name, End]) =:= byte_size(End) end,
              [<<"_sup">>, <<"_supervisor">>, <<"Supervisor">>])
end,
SupervisorName = fun(Ancestor, #{initial_call := InitialCall}) ->
    Pid = case Ancestor of _ when is_atom(Ancestor) -> whereis(Ancestor); _ -> Ancestor end,
    Call = case is_pid(Pid) andalso node(Pid) =:= node() of
        true -> InitialCall(Pid, undefined);
        false -> undefined
    end,
    Named = fun(Module) ->
        case process_info(Pid, registered_name) of {_, Name} -> Name; _ -> Module end
    end,
    case Call of
        {supervisor, Module, _} -> Named(Module);
        {supervisor_bridge, Module, _} -> Named(Module);
        {Module, _, _} when is_atom(Module) ->
            case IsSupervisor(Module) of true -> Named(Module); false -> undefined end;
        undefined ->
            undefined
    end
end,
Nearest = fun Nearest(Ancestors, Ctx) ->
    case Ancestors of
        [First | Rest] ->
            case SupervisorName(First, Ctx) of
                undefined -> Nearest(Rest, Ctx);
                Name -> Name
            end;
        _ ->
            undefined
    end
end,
%% They never change either.
SupervisorsOf = fun(Pids, Supervisors, Ctx) ->
    case Pids -- maps:keys(Supervisors) of
        [] ->
            maps:with(Pids, Supervisors);
        New ->
            Lists = AncestorsOf(New, Ctx),
            Found = maps:from_list([{List, Nearest(List, Ctx)} || List <- lists:usort(Lists)]),
            Names = lists:zipwith(fun maps:get/2, Lists, lists:duplicate(length(New), Found)),
            maps:with(Pids, maps:merge(Supervisors, maps:from_list(lists:zip(New, Names))))
    end
end,
