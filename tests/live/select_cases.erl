%% SPDX-License-Identifier: GPL-3.0-or-later
%% Random patterns with arguments, and the check of what the VM selects by their compiled form
%% against what Erlang itself selects with the same text. Runs on OTP 23 and later.
-module(select_cases).
-export([generate/3, check/2]).

%% DIR/patterns: a pattern a line. DIR/cases: {Pattern, Fun, [Args]} each, Fun the text of a function
%% that takes the list of arguments and gives what the pattern shows, or `no`.
generate(Dir, Seed, N) ->
    rand:seed(exsss, {Seed, 1, 2}),
    Cases = fixed() ++ [a_case() || _ <- lists:seq(1, N)],
    ok = file:write_file(Dir ++ "/patterns", [[P, $\n] || {P, _, _} <- Cases]),
    ok = file:write_file(Dir ++ "/cases", [io_lib:format("~w.~n", [C]) || C <- Cases]).

%% What chance would seldom meet.
fixed() ->
    Big = maps:from_list([{K, K * K} || K <- lists:seq(1, 100)]),
    Words = maps:from_list([{list_to_atom("k" ++ integer_to_list(K)), K} || K <- lists:seq(1, 40)]),
    Rows = [
        {["#{}"], "", [[#{}], [#{a => 1}], [a], [Big]]},
        {["#{a := #{}}"], "", [[#{}], [#{a => #{b => 1}}], [#{a => b}], [#{a => #{}}]]},
        {["#{50 := X}"], "", [[Big], [#{}], [#{50 => 1}]]},
        {["#{k7 := X, k8 := 8}"], "", [[Words], [Words#{k8 := 9}], [maps:remove(k7, Words)]]},
        {["X", "X"], "", [[0.0, -0.0], [1, 1.0], [[], []]]},
        {["0.0"], "", [[0.0], [-0.0], [0]]},
        {["{0.0, X}"], "", [[{0.0, 1}], [{-0.0, 1}]]},
        {["'_'"], "", [['_'], [a]]}, {["{'$1', X}"], "", [[{'$1', 2}], [{3, 2}]]},
        {["'$_'"], "", [['$_'], [['$_']]]}, {["#{'$1' := X}"], "", [[#{'$1' => 2}], [#{a => 2}]]},
        {["<<>>"], "", [[<<>>], [<<1>>], [<<1:3>>]]},
        {["<<255, _/binary>>"], "", [[<<255>>], [<<254>>], [<<255, 255>>], [<<255, 1:1>>]]},
        {["<<\"a\", 255, T/binary>>"], "", [[<<"a", 255>>], [<<"a", 255, 0>>], [<<"b">>], [<<"a">>]]},
        {["<<5:3, _/binary>>"], "", [[<<5:3>>], [<<5:3, 1:5>>], [<<5:3, 1>>], [<<5:4>>], [<<4:3>>]]},
        {["<<_:3, _/bitstring>>"], "", [[<<5:3>>], [<<1:2>>], [<<1>>], [a], [{}], [<<>>], [[]]]},
        {["<<1, _, _:2>>"], "", [[<<1, 7, 1:2>>], [<<1, 7>>], [<<2, 7, 1:2>>], [<<1, 7, 1:3>>], [a]]},
        {["<<255, _:4, _/binary>>"], "", [[<<255, 1:4>>], [<<255, 1:4, 7>>], [<<255, 7>>], [<<254, 1:4>>],
            [<<255, 1:3>>], [<<255>>]]},
        {["<<5:3, _/bitstring>>"], "", [[<<5:3>>], [<<5:3, 1:1>>], [<<4:3, 1>>], [<<5:3, 200>>], [<<1:1>>]]},
        {["<<_/bitstring>>"], "", [[<<>>], [<<1:1>>], [<<1>>], [a], [1]]},
        {["<<X/bitstring>>"], "bit_size(X) > 3", [[<<>>], [<<1:4>>], [<<1>>], [a], [1]]},
        {["<<_:8, T/binary>>"], {"", ""}, [[<<>>], [<<1:4>>], [<<1>>], [<<1, 2>>], [<<1, 2:2>>]]},
        %% redbug's: guards in parentheses, and words that join comparisons.
        {["X"], {"(X == a; X == b), not (X == b, is_atom(X))", "X == a"}, [[a], [b], [c], [1]]},
        {["X", "Y"], {"X == 1 and is_atom(Y)", "(X == 1) and is_atom(Y)"}, [[1, a], [1, 1], [2, a], [true, true]]},
        {["X", "Y"], {"is_atom(X) and Y == 0 or Y == 1", "(is_atom(X) and (Y == 0)) or (Y == 1)"},
            [[a, 0], [a, 1], [1, 1], [1, 0], [a, 2]]},
        {["X"], "tuple_size(X) =/= 2", [[{}], [{1, 2}], [<<1, 2>>], [<<1>>], [a]]},
        {["X"], "is_bitstring(X)", [[<<1>>], [<<1:1>>], [a], [1], [#{}], [[]], [{}], [1.5]]},
        {["X"], "floor(X) == -2; ceil(X) == 3", [[-1.5], [-2], [2.5], [3], [a], [2.0], [-2.5]]},
        {["X", "Y"], {"min(X, Y) =:= 1; max(X, Y) =:= 1.0",
            "X =< Y, X =:= 1; X > Y, Y =:= 1; X >= Y, X =:= 1.0; X < Y, Y =:= 1.0"}, [[1, 1.0], [1.0, 1], [1, 2], [a, 1], [0, 1.0]]},
        {["X"], "byte_size(X) =:= 2", [[<<1, 2>>], [<<1, 2:2>>], [<<1:1, 2, 3>>], [a], [{1, 2}]]},
        {["X"], "is_boolean(X)", [[true], [false], [a], [1]]},
        {["X"], "is_record(X, a, 1); is_record(X, b, 2)", [[{a}], [{a, 1}], [{b}], [{b, 1}], [{}], [a]]},
        {["X"], "hd(X) == 1; X == a", [[[1]], [a], [[]], [[2]]]},
        {["X"], "not X", [[true], [false], [a]]},
        {["X"], "X andalso true", [[true], [false], [a]]},
        {["X"], "(true andalso X) =:= 5", [[5], [true]]},
        {["X"], "(false and X) =:= false", [[true], [5]]},
        {["X"], "false andalso X; true", [[true], [5]]},
        {["X"], "X =:= {'$1', '_', 1}", [[{'$1', '_', 1}], [{1, 2, 1}]]},
        {["X"], "[X, '_' | a] =:= [1, '_' | a]", [[1], [2]]},
        {["X"], "#{k => X} =:= #{k => 1}", [[1], [2]]},
        {["X"], "{X, {X}} =:= {1, {1}}", [[1], [2]]},
        {["123456789012345678901234567890"], "", [[123456789012345678901234567890], [1]]},
        {["X"], "X > -123456789012345678901234567890", [[1], [-1 bsl 200]]},
        {["\"ab\" ++ T"], "", [["abc"], ["ab"], ["a"], [[$a, $b | c]]]},
        {["{a, _} = X"], "element(2, X) > 1", [[{a, 2}], [{a, 1}], [{b, 2}]]},
        {["[_ | _] = X", "X"], "", [[[1], [1]], [[1], [2]], [[], []], [[1 | 2], [1 | 2]]]}],
    [text(Heads, Guard, Tests) || {Heads, Guard, Tests} <- Rows].

%% The language's guard, and one that says the same to each release: Erlang took min and max late.
text(Heads, {Guard, Same}, Tests) ->
    {Text, _, _} = text(Heads, Guard, Tests),
    {_, Fun, _} = text(Heads, Same, Tests),
    {Text, Fun, Tests};
text(Heads, Guard, Tests) ->
    When = case Guard of "" -> ""; _ -> " when " ++ Guard end,
    Vars = lists:usort([V || V <- ["A", "B", "C", "X", "Y", "T"], uses(Heads, V)]),
    Show = case Vars of [] -> ""; _ -> " -> show(" ++ lists:join(", ", Vars) ++ ")" end,
    Head = lists:join(", ", Heads),
    Args = case Vars of [] -> "All"; _ -> ["[", lists:join(", ", Vars), "]"] end,
    {lists:flatten(["m:f(", Head, ")", When, Show]),
     lists:flatten(["fun([", Head, "] = All)", When, " -> ", Args, "; (_) -> no end."]), Tests}.

uses(Heads, Var) ->
    lists:any(fun(H) ->
        {ok, Tokens, _} = erl_scan:string(H),
        lists:keymember(list_to_atom(Var), 3, [T || {var, _, _} = T <- Tokens])
    end, Heads).

%% A pattern is made of a term, so that it often matches; other arguments are that term changed.
a_case() ->
    Args = [term(3) || _ <- lists:seq(1, rand:uniform(2))],
    put(vars, []),
    Heads = [lists:flatten(head(A)) || A <- Args],
    Bound = lists:usort(get(vars)),
    Guard = case {Bound, rand:uniform(3)} of
        {[], _} -> "";
        {_, 1} -> "";
        _ -> lists:flatten(guard(Bound))
    end,
    Others = [[change(A) || A <- Args] || _ <- lists:seq(1, 5)],
    text(Heads, Guard, [Args | Others]).

pick(L) -> lists:nth(rand:uniform(length(L)), L).

term(0) ->
    pick([0, 1, 2, -3, 1.5, -2.25, a, b, true, false, '$1', '_', 'hello world', [], {}, <<>>,
        <<"abc">>, <<"ab">>, <<5:3>>, <<255, 0>>, "ab", 1 bsl 70, #{}]);
term(D) ->
    case rand:uniform(6) of
        1 -> list_to_tuple(terms(D));
        2 -> terms(D);
        3 -> terms(D) ++ term(0);
        4 -> maps:from_list([{pick([a, b, c, 1, "k", <<"k">>, {a, 1}, '_']), term(D - 1)}
                || _ <- lists:seq(1, rand:uniform(3))]);
        5 -> list_to_binary([pick("abc") || _ <- lists:seq(1, rand:uniform(4))]);
        _ -> term(0)
    end.

terms(D) -> [term(D - 1) || _ <- lists:seq(0, rand:uniform(3) - 1)].

change(T) ->
    case rand:uniform(3) of
        1 -> T;
        2 -> term(2);
        _ -> inside(T)
    end.

inside(T) when is_tuple(T), T =/= {} ->
    I = rand:uniform(tuple_size(T)),
    setelement(I, T, change(element(I, T)));
inside([H | T]) -> case rand:uniform(2) of 1 -> [change(H) | T]; 2 -> [H | change(T)] end;
inside(T) when is_map(T), map_size(T) > 0 ->
    K = pick(maps:keys(T)),
    case rand:uniform(2) of 1 -> T#{K := change(maps:get(K, T))}; 2 -> T#{extra => 1} end;
inside(T) when is_binary(T) -> <<T/binary, "x">>;
inside(_) -> term(1).

head(T) ->
    case rand:uniform(10) of
        1 -> "_";
        N when N < 4 -> variable();
        4 -> [shape(T), " = ", variable()];
        _ -> shape(T)
    end.

variable() ->
    V = pick(["A", "B", "C"]),
    put(vars, [V | get(vars)]),
    V.

shape(T) when is_tuple(T) -> ["{", lists:join(", ", [head(E) || E <- tuple_to_list(T)]), "}"];
shape([_ | _] = T) -> ["[", cells(T), "]"];
shape(T) when is_map(T) ->
    Pairs = [[literal(K), " := ", head(V)] || {K, V} <- maps:to_list(T), rand:uniform(3) > 1],
    ["#{", lists:join(", ", Pairs), "}"];
shape(<<A, _/binary>> = T) when byte_size(T) > 1 ->
    case rand:uniform(3) of
        1 -> ["<<", integer_to_list(A), ", _/binary>>"];
        2 -> ["<<", integer_to_list(A), ", ", variable(), "/binary>>"];
        _ -> literal(T)
    end;
shape(T) -> literal(T).

cells([H | T]) when is_list(T), T =/= [] ->
    case rand:uniform(4) of
        1 -> [head(H), " | ", head(T)];
        _ -> [head(H), ", ", cells(T)]
    end;
cells([H | []]) -> head(H);
cells([H | T]) -> [head(H), " | ", head(T)].

literal(T) -> io_lib:format("~w", [T]).

guard(Vars) ->
    case rand:uniform(5) of
        1 -> [guard(Vars), "; ", guard(Vars)];
        2 -> [guard(Vars), ", ", guard(Vars)];
        _ -> condition(Vars, 2)
    end.

condition(Vars, 0) ->
    [pick(["is_atom", "is_integer", "is_float", "is_number", "is_list", "is_tuple", "is_map", "is_binary",
        "is_bitstring", "is_boolean", "is_pid"]), "(", pick(Vars), ")"];
condition(Vars, D) ->
    case rand:uniform(6) of
        1 -> condition(Vars, 0);
        2 -> ["not (", condition(Vars, D - 1), ")"];
        3 -> ["(", condition(Vars, D - 1), " ", pick(["andalso", "orelse", "and", "or", "xor"]), " ",
            condition(Vars, D - 1), ")"];
        4 -> ["is_map_key(", pick(["a", "b", "1"]), ", ", pick(Vars), ")"];
        _ -> ["(", value(Vars, D), " ", pick(["==", "/=", "=:=", "=/=", "<", ">", "=<", ">="]), " ",
            value(Vars, D), ")"]
    end.

value(Vars, 0) -> pick([pick(Vars), literal(term(0))]);
value(Vars, D) ->
    case rand:uniform(7) of
        1 -> [pick(["abs", "byte_size", "bit_size", "ceil", "floor", "hd", "tl", "length", "map_size",
                "round", "size", "trunc", "tuple_size"]), "(", value(Vars, D - 1), ")"];
        2 -> [pick(["min", "max"]), "(", value(Vars, D - 1), ", ", value(Vars, D - 1), ")"];
        3 -> ["(", value(Vars, D - 1), " ", pick(["+", "-", "*", "/", "div", "rem", "band", "bor"]),
            " ", value(Vars, D - 1), ")"];
        4 -> ["{", value(Vars, D - 1), ", ", value(Vars, D - 1), "}"];
        5 -> ["[", value(Vars, D - 1), " | ", value(Vars, D - 1), "]"];
        6 -> ["element(", pick(["1", "2"]), ", ", value(Vars, D - 1), ")"];
        _ -> value(Vars, 0)
    end.

%% Compares, tells what differs, and ends the node with 1 then.
check(Dir, Specs) ->
    {ok, Cases} = file:consult(Dir ++ "/cases"),
    {ok, Compiled} = file:consult(Specs),
    true = length(Cases) =:= length(Compiled),
    All = lists:zipwith(fun one/2, Cases, Compiled),
    Bad = [B || {bad, B} <- All],
    Count = fun(What) -> lists:sum([N || {What0, N} <- lists:flatten(All), What0 =:= What]) end,
    io:format("# OTP ~s: ~w cases, ~w of them selected; ~w patterns that this release cannot do~n",
        [erlang:system_info(otp_release), Count(case_), Count(yes), Count(refused)]),
    [io:format("# ~s~n#   ~p~n", [P, What]) || {P, What} <- lists:sublist(Bad, 10)],
    trace_off(),
    %% With few selected, or many refused, equality would prove little.
    case Bad =:= [] andalso Count(yes) * 5 > Count(case_) andalso Count(refused) * 3 < length(Cases) of
        true -> accepted([C || {ok, C, _, _} <- Compiled]);
        false -> halt(1)
    end.

one({Text, _, _}, {error, Why}) ->
    case string:find(Why, "OTP before") of
        nomatch -> {bad, {Text, Why}};
        _ -> {refused, 1}
    end;
one({Text, FunText, Tests}, {ok, Clauses, none, _}) ->
    {ok, Tokens, _} = erl_scan:string(FunText),
    {ok, Exprs} = erl_parse:parse_exprs(Tokens),
    try
        {value, Fun, _} = erl_eval:exprs(Exprs, []),
        [{Args, Fun(Args), selected(Args, Clauses)} || Args <- Tests]
    of
        Results -> compared(Text, Clauses, Results)
    catch
        error:illegal_guard_expr -> [{refused, 1}] %% Erlang itself cannot, before OTP 26
    end.

compared(Text, Clauses, Results) ->
    case [R || {_, Want, Got} = R <- Results, Want =/= Got] of
        [] -> [{case_, length(Results)}, {yes, length([1 || {_, W, _} <- Results, W =/= no])}];
        [R | _] -> {bad, {Text, {R, Clauses}}}
    end.

selected(Args, Clauses) ->
    erlang:system_flag(trace_control_word, 1000),
    case erlang:match_spec_test(Args, Clauses, trace) of
        {ok, {0, _, Shown, []}, _, _} -> Shown;
        {ok, false, _, _} -> no;
        Other -> Other
    end.

trace_off() -> erlang:system_flag(trace_control_word, 0).

%% The test function takes what trace_pattern might not: so that is asked too, for every one.
accepted(All) ->
    code:ensure_loaded(lists),
    Refused = [C || C <- All, catch_pattern(C) =/= 1],
    erlang:trace_pattern({lists, map, 2}, false, [local]),
    [io:format("# not taken by trace_pattern: ~p~n", [C]) || C <- lists:sublist(Refused, 5)],
    halt(case Refused of [] -> 0; _ -> 1 end).

catch_pattern(Clauses) -> catch erlang:trace_pattern({lists, map, 2}, Clauses, [local]).
