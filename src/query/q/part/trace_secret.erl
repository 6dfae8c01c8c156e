%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The node's cookie, which whoever has it owns the node by: it never leaves in a trace

%% What auth sends holds cookies, those of other nodes too. It is not traced itself; this
%% keeps its messages from those that receive them.
Unheard = fun(Kind) ->
    case whereis(auth) of
        Auth when Kind =:= 'receive', is_pid(Auth) ->
            [{'=/=', {hd, {tl, '$_'}}, {const, Auth}}];
        _ -> []
    end
end,

Secret = fun() ->
    case erlang:get_cookie() of
        nocookie -> none;
        Cookie -> {Cookie, atom_to_binary(Cookie, utf8)}
    end
end,

%% Within longer texts only what cannot be there by chance.
Tells = fun(Text, Name) ->
    Text =:= Name orelse byte_size(Name) >= 8 andalso binary:match(Text, Name) =/= nomatch
end,

Hide = fun Hide(Term, {Cookie, Name} = Known) ->
    case Term of
        Cookie -> '...';
        [First | _] when is_integer(First) ->
            case catch Tells(list_to_binary(Term), Name) of true -> "..."; _ -> Term end;
        [First | Rest] -> [Hide(First, Known) | Hide(Rest, Known)];
        _ when is_binary(Term) -> case Tells(Term, Name) of true -> <<"...">>; _ -> Term end;
        _ when is_tuple(Term) -> list_to_tuple([Hide(E, Known) || E <- tuple_to_list(Term)]);
        _ when is_map(Term) ->
            maps:from_list([{Hide(K, Known), Hide(V, Known)} || {K, V} <- maps:to_list(Term)]);
        _ when is_function(Term) ->
            {env, Env} = erlang:fun_info(Term, env),
            case Hide(Env, Known) of Env -> Term; _ -> '...' end;
        _ -> Term
    end
end,

%% A short term as it may leave. The collector has what Secret gave as `secret`. Nearly all are
%% through with one native search.
Safe = fun(Term) ->
    case get(secret) of
        {_, Name} = Known ->
            case binary:match(term_to_binary(Term), Name) of
                nomatch -> Term;
                _ -> Hide(Term, Known)
            end;
        _ -> Term
    end
end,

Shown = fun(Term, Bytes) ->
    {Short, Full} = Cut(Term, Bytes),
    {Safe(Short), Full}
end,
ShownArgs = fun(Args, Bytes) ->
    {Short, Full} = CutArgs(Args, Bytes),
    {tuple_to_list(Safe(list_to_tuple(Short))), Full}
end,
