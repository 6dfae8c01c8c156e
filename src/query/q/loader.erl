%% SPDX-License-Identifier: GPL-3.0-or-later
%% Reads texts on the target: first this one, then, by it, the keeper.
%%
%% Bindings: C and O of the keeper; K, the keeper's text. Value: that of the keeper.
%%
%% erl_eval and erl_lint go through all variables in sight again and again: for each fun that is
%% made, and each argument of a call. So a text is read one expression at a time, and each sees the
%% variables that it names. That also bounds the memory: text as a list and its tokens take 25 times
%% its size.

%% Natively: the names of the variables among tokens.
VariableNames = ets:match_spec_compile([{{var, '_', '$1'}, [], ['$1']}]),
%% Kept in a map where erl_eval can (OTP 25), variables cost a third: it compares those of every
%% argument with those of the one before.
HasMaps = list_to_integer(erlang:system_info(otp_release)) >= 25,
InSight = fun(Tokens, Known) ->
    Named = maps:with(ets:match_spec_run(Tokens, VariableNames), Known),
    case HasMaps of true -> Named; false -> orddict:from_list(maps:to_list(Named)) end
end,

%% With handlers named, if only as `none`, erl_eval does not look for mistakes first.
ReadNext = fun(Text, {_, Known}) ->
    {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list([Text, $.])),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    {value, Value, Next} = erl_eval:exprs(Forms, InSight(Tokens, Known), none, none),
    {Value, maps:merge(Known, case HasMaps of true -> Next; false -> maps:from_list(Next) end)}
end,
ReadTexts = fun(Texts, Known) -> element(1, lists:foldl(ReadNext, {none, Known}, Texts)) end,

%% A new expression begins with a line that is not indented.
TextsOf = fun(Source) -> re:split(Source, ",\\n+(?=[A-Z{])|\\.\\n*\\z", [trim]) end,

ReadTexts(TextsOf(K), #{'C' => C, 'O' => O, 'ReadTexts' => ReadTexts, 'TextsOf' => TextsOf}).
