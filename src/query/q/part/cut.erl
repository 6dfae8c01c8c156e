%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Terms cut to size, as structure: never printed, since the text of a large term costs seconds

%% What io_lib:limit_term/2 leaves whole: binaries, strings, large integers, environments of funs.
%% Most: bytes of a binary, elements of a list. The term is small in everything else.
Shorten = fun Shorten(Term, Most) ->
    case Term of
        _ when is_bitstring(Term), bit_size(Term) > 8 * Most ->
            <<Head:Most/binary, _/bitstring>> = Term,
            {'$cut', byte_size(Term), Head};
        _ when is_tuple(Term) ->
            list_to_tuple(Shorten(tuple_to_list(Term), Most));
        _ when is_map(Term) ->
            maps:from_list(Shorten(maps:to_list(Term), Most));
        _ when is_integer(Term), abs(Term) bsr 512 > 0 ->
            {'$cut', erlang:external_size(Term), integer};
        _ when is_function(Term) ->
            case erlang:external_size(Term) of
                Size when Size > 256 ->
                    Info = [element(2, erlang:fun_info(Term, I)) || I <- [module, name, arity]],
                    {'$cut', Size, list_to_tuple(['fun' | Info])};
                _ ->
                    Term
            end;
        [Head | Tail] ->
            case catch length(Term) of
                Length when is_integer(Length), Length > Most ->
                    {'$cut', Length, Shorten(lists:sublist(Term, Most), Most)};
                Length when is_integer(Length) ->
                    [Shorten(Element, Most) || Element <- Term];
                _ ->
                    [Shorten(Head, Most) | Shorten(Tail, Most)]
            end;
        _ ->
            Term
    end
end,

Fit = fun Fit(Term, Full, Bytes, Rounds) ->
    case Rounds of
        [] ->
            {'$cut', Full, '...'};
        [{Depth, Most} | Less] ->
            Short = Shorten(io_lib:limit_term(Term, Depth), Most),
            case erlang:external_size(Short) =< Bytes of
                true -> Short;
                false -> Fit(Term, Full, Bytes, Less)
            end
    end
end,

%% {Term, FullBytes}: 0 when it is whole.
Cut = fun(Term, Bytes) ->
    case erlang:external_size(Term) of
        Full when Full =< Bytes ->
            {Term, 0};
        Full ->
            Rounds = [{100, Bytes div 2}, {30, Bytes div 4}, {12, 128}, {7, 64}, {4, 32}, {2, 16}],
            {Fit(Term, Full, Bytes, Rounds), Full}
    end
end,

%% Arguments stay a list, each with its share.
CutArgs = fun(Args, Bytes) ->
    case erlang:external_size(Args) of
        Full when Full =< Bytes ->
            {Args, 0};
        Full ->
            Share = Bytes div length(Args),
            {[element(1, Cut(Arg, Share)) || Arg <- Args], Full}
    end
end,

%% `stack` is a list of frames since OTP 27, text to be read before. Of that the return addresses
%% are frames. The program counter is not: the VM keeps it when a process is scheduled out, so it is
%% where the process waited or was preempted last.
ToAtom = fun(Bytes) ->
    try binary_to_existing_atom(string:trim(Bytes, both, "'"), utf8) catch error:_ -> '' end
end,
Frames = fun(Stack) ->
    case Stack of
        _ when is_binary(Stack) ->
            Head = binary:part(Stack, 0, min(65536, byte_size(Stack))),
            Expression = "^0x\\w+ Return addr 0x\\w+ \\((\\S+):(\\S+)/(\\d+) \\+ \\d+\\)",
            Options = [global, multiline, {capture, all_but_first, binary}],
            case re:run(Head, Expression, Options) of
                {match, Found} ->
                    [{ToAtom(M), ToAtom(F), binary_to_integer(A)}
                     || [M, F, A] <- lists:sublist(Found, 64)];
                _ ->
                    []
            end;
        [_ | _] ->
            [{M, F, case A of _ when is_list(A) -> length(A); _ -> A end} || {M, F, A, _} <- Stack];
        _ ->
            []
    end
end,
