%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What stands against a trace

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
            Messages = [Text("a pattern on ~p", [K])
                        || K <- [send, 'receive'],
                           erlang:trace_info(K, match_spec) =/= {match_spec, true}],
            case Otp < 27 andalso Messages ++ InUse() of
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
