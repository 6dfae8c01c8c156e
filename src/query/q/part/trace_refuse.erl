%% ---- What stands against a trace

%% All that another tool has armed in the node's single space, as text.
InUse = fun() ->
    Functions = fun({Module, _}) ->
        Known = erlang:get_module_info(Module, functions),
        N = length(Known),
        lists:zipwith3(fun erlang:insert_element/3, lists:duplicate(N, 1), Known,
                       lists:duplicate(N, Module))
    end,
    Marked = fun(Things, Item, None) ->
        Infos = lists:zipwith(fun erlang:trace_info/2, Things,
                              lists:duplicate(length(Things), Item)),
        case lists:usort(Infos) -- [{Item, None}, {Item, undefined}, undefined] of
            [] -> [];
            _ -> [T || {T, I} <- lists:zip(Things, Infos), I =/= {Item, None},
                       I =/= {Item, undefined}, I =/= undefined]
        end
    end,
    Breakpoints = Marked(lists:append(lists:map(Functions, code:all_loaded())), all, false),
    Flagged = Marked([new_processes, new_ports | processes()], flags, []),
    Messages = [K || K <- [send, 'receive'],
                     erlang:trace_info(K, match_spec) =/= {match_spec, true}],
    lists:sublist([Text("breakpoint on ~p:~p/~p", [M, F, A]) || {M, F, A} <- Breakpoints]
                  ++ [Text("~p is traced by ~p", [P, element(2, erlang:trace_info(P, tracer))])
                      || P <- Flagged]
                  ++ [Text("a pattern on ~p", [K]) || K <- Messages], 10)
end,

%% `ok`, or why not. A name, held while something of ours is armed, keeps two of us apart.
MayArm = fun(Otp) ->
    Sessions = case Otp >= 27 of true -> trace:session_info(all); false -> [] end,
    Standing = whereis(beamtop_trace) =/= undefined orelse lists:keymember(beamtop, 1, Sessions),
    case erlang:system_info(trace_control_word) of
        _ when Standing ->
            {session, beamtop};
        V when V =/= 0 ->
            {control_word, V};
        _ ->
            case Otp < 27 andalso InUse() of
                [_ | _] = Texts -> {in_use, Texts};
                _ -> try register(beamtop_trace, self()), ok
                     catch error:_ -> {session, beamtop} end
            end
    end
end,

%% The terms of a client, without new names but those of variables. Throws the refusal.
Term = fun({Atoms, Bytes}) ->
    lists:foreach(fun(Name) ->
                      try binary_to_existing_atom(Name, utf8)
                      catch error:_ -> throw({unknown_atom, Name}) end
                  end, Atoms),
    try
        binary_to_term(Bytes, [safe])
    catch
        error:_ ->
            [list_to_atom("$" ++ integer_to_list(N)) || N <- lists:seq(1, 255)],
            try binary_to_term(Bytes, [safe])
            catch error:_ -> throw({bad_spec, <<"names that this node does not know">>}) end
    end
end,
