%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Functions that names and expressions choose. Expressions are compiled once, and matched
%% natively with limits, so that none can hold a scheduler

Run = fun(List, Spec) -> ets:match_spec_run(List, ets:match_spec_compile(Spec)) end,

Loaded = fun() -> lists:sort(lists:filter(fun erlang:module_loaded/1, erlang:loaded())) end,

%% The texts that match, each with what stands beside it in Things.
ReOptions = [{capture, none}, {match_limit, 10000}, {match_limit_recursion, 1000}],
Matching = fun(Texts, Things, Compiled) ->
    N = length(Texts),
    Found = lists:zipwith3(fun re:run/3, Texts, lists:duplicate(N, Compiled),
                           lists:duplicate(N, ReOptions)),
    Run(lists:zip(Things, Found), [{{'$1', match}, [], ['$1']}])
end,
MatchingAtoms = fun(Atoms, Compiled) ->
    N = length(Atoms),
    Texts = lists:zipwith(fun erlang:atom_to_binary/2, Atoms, lists:duplicate(N, utf8)),
    Matching(Texts, Atoms, Compiled)
end,

%% [{F, A}] that the name and the arity let pass.
Chosen = fun(Functions, Fun, Arity) ->
    WithArity = case Arity of
        any -> Functions;
        _ -> Run(Functions, [{{'_', Arity}, [], ['$_']}])
    end,
    case Fun of
        any -> WithArity;
        {is, Name} -> Run(WithArity, [{{'$1', '_'}, [{'=:=', '$1', {const, Name}}], ['$_']}]);
        {re, Compiled} ->
            Names = lists:usort(Run(WithArity, [{{'$1', '_'}, [], ['$1']}])),
            Set = maps:from_list([{Name, []} || Name <- MatchingAtoms(Names, Compiled)]),
            Run(WithArity, [{{'$1', '_'}, [{is_map_key, '$1', {const, Set}}], ['$_']}])
    end
end,

MfasOf = fun(Module, Functions) ->
    {Names, Arities} = lists:unzip(Functions),
    lists:zip3(lists:duplicate(length(Names), Module), Names, Arities)
end,
