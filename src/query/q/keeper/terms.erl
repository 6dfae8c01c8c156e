%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of keeper.erl: terms of the node cut to size.

%% What io_lib:limit_term/2 leaves whole: binaries, strings, large integers, environments of funs.
%% Its argument is small in everything else.
Shorten = fun Shorten(Term) ->
    case Term of
        _ when is_binary(Term), byte_size(Term) > 200 ->
            <<(binary:copy(binary:part(Term, 0, 197)))/binary, "...">>;
        _ when is_bitstring(Term), bit_size(Term) > 1600 ->
            '...';
        _ when is_tuple(Term) ->
            list_to_tuple(Shorten(tuple_to_list(Term)));
        _ when is_map(Term) ->
            maps:from_list(Shorten(maps:to_list(Term)));
        _ when is_integer(Term), abs(Term) bsr 512 > 0 ->
            '...';
        _ when is_function(Term) ->
            case erlang:external_size(Term) > 200 of
                true ->
                    {module, M} = erlang:fun_info(Term, module),
                    {arity, A} = erlang:fun_info(Term, arity),
                    {'fun', M, A};
                false ->
                    Term
            end;
        [Head | Tail] ->
            case catch length(Term) of
                Length when is_integer(Length), Length > 200 ->
                    lists:sublist(Term, 197) ++ "...";
                Length when is_integer(Length) ->
                    lists:map(Shorten, Term);
                _ ->
                    [Shorten(Head) | Shorten(Tail)]
            end;
        _ ->
            Term
    end
end,

%% The term with as much depth as fits.
Fit = fun Fit(Term, Bytes, [Depth | Less]) ->
    Short = Shorten(io_lib:limit_term(Term, Depth)),
    case Less =:= [] orelse erlang:external_size(Short) =< Bytes of
        true -> Short;
        false -> Fit(Term, Bytes, Less)
    end
end,

Cut = fun(Term, Bytes) ->
    case erlang:external_size(Term) of
        Full when Full =< Bytes -> Term;
        Full -> {'$cut', Full, Fit(Term, Bytes, [30, 12, 7, 4, 2])}
    end
end,

%% Valid UTF-8 of at most Bytes from the start of a binary.
Prefix = fun(Text, Bytes) ->
    Head = binary:part(Text, 0, min(Bytes, byte_size(Text))),
    case unicode:characters_to_binary(Head) of
        {_, Valid, _} -> Valid;
        Valid -> Valid
    end
end,

%% The term as text: cut first, since the text of a large term costs seconds.
Print = fun(Term, Bytes) ->
    Small = Fit(Term, Bytes, [100, 30, 12, 7, 4, 2]),
    Text = unicode:characters_to_binary(io_lib:format("~0tp", [Small])),
    Prefix(binary:replace(Text, <<"'...'">>, <<"...">>, [global]), Bytes)
end,
