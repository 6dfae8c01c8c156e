%% SPDX-License-Identifier: GPL-3.0-or-later
%% Evaluates what src/query/prepare.erl made of the other texts: the keeper, and, by it, each query.
%%
%% Bindings: C and O of the keeper; K, the keeper as an external term. Value: that of the keeper.
%%
%% erl_eval and erl_lint go through all variables in sight again and again: for each fun that is
%% made, and each argument of a call. So each expression sees the variables that it names. That also
%% bounds the memory: one expression at a time is a term.

%% Kept in a map where erl_eval can (OTP 25), variables cost a third: it compares those of every
%% argument with those of the one before.
HasMaps = list_to_integer(erlang:system_info(otp_release)) >= 25,
InSight = fun(Names, Known) ->
    Named = maps:with(Names, Known),
    case HasMaps of true -> Named; false -> orddict:from_list(maps:to_list(Named)) end
end,

%% With handlers named, if only as `none`, erl_eval does not look for errors first.
EvaluateNext = fun({Names, Exprs}, {_, Known}) ->
    Sight = InSight(Names, Known),
    {value, Value, Next} = erl_eval:exprs(binary_to_term(Exprs), Sight, none, none),
    {Value, maps:merge(Known, case HasMaps of true -> Next; false -> maps:from_list(Next) end)}
end,
EvaluateAll = fun(Parts, Known) ->
    element(1, lists:foldl(EvaluateNext, {none, Known}, Parts))
end,

EvaluateAll(element(2, binary_to_term(K)), #{'C' => C, 'O' => O, 'EvaluateAll' => EvaluateAll}).
