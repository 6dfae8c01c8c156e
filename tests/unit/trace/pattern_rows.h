/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of test_pattern.c: texts and their trees, wrong texts and what is said of them. */

static const struct good erlang_good[] = {
    {"lists", "call(module lists function any)"},
    {"lists:map", "call(module lists function map)"},
    {"lists:map->return", "call(module lists function map return)"},
    {"lists:map/2 -> return;stack", "call(module lists function map arity 2 return stack)"},
    {"'my mod':'f g'(_, X) when X > 100 -> return",
     "call(module my mod function f g arity 2 arguments(any var X) guard(op "
     ">(var X integer 100)) return)"},
    {"shop_cart:add(_, Item) when Item > 100 -> return",
     "call(module shop_cart function add arity 2 arguments(any var Item) "
     "guard(op >(var Item integer 100)) return)"},
    {"Mod:_/3", "call(module any function any arity 3)"},
    {"/^ssl_/:/^handle_/ -> count", "call(module /^ssl_/ function /^handle_/ count)"},
    {"_", "call(module any function any)"},
    {"send", "send"},
    {"receive", "receive"},
    {"send(To, {error, _})", "send(arguments(var To tuple(atom error any)))"},
    {"receive({'$gen_call', _, {get, K}}) when K > 5",
     "receive(arguments(tuple(atom $gen_call any tuple(atom get var K))) "
     "guard(op >(var K integer 5)))"},
    {"lists:map & send & ets:lookup(T, _)",
     "call(module lists function map) & send & call(module ets function "
     "lookup arity 2 arguments(var T any))"},
    {"m:f(16#fF, 1_000, -5, 1.5e3, $a, $\\n, \"abc\", 'q a', a@b)",
     "call(module m function f arity 9 arguments(integer 255 integer 1000 "
     "integer -5 float 1500 integer 97 integer 10 string \"abc\" atom q a "
     "atom a@b))"},
    {"m:f(- -9223372036854775808, - - -9223372036854775808, - -99999999999999999999)",
     "call(module m function f arity 3 arguments(integer 9223372036854775808 integer "
     "-9223372036854775808 integer 99999999999999999999))"},
    {"m:f(99999999999999999999, -9223372036854775808, 16#ffffffffffffffff)",
     "call(module m function f arity 3 arguments(integer "
     "99999999999999999999 integer -9223372036854775808 integer "
     "18446744073709551615))"},
    {"m:f(<<\"abc\",1,2:4,3:4>>, <<\"ab\",_/binary>>, <<X/binary>>, <<>>, "
     "<<1:4>>, <<513:16/little>>, <<\"é\">>, <<\"é\"/utf8>>)",
     "call(module m function f arity 8 arguments(binary 61 62 63 01 23 "
     "binary \"ab\"(tail(any)) binary \"\"(tail(var X)) binary \"\" binary 10:4 "
     "binary 01 02 binary e9 binary \"é\"))"},
    {"m:f([], [1,2|T], \"abc\" ++ T, [1]++[2|X], \"a\" \"b\")",
     "call(module m function f arity 5 arguments(list list(integer 1 "
     "integer 2 tail(var T)) list(integer 97 integer 98 integer 99 tail(var "
     "T)) list(integer 1 integer 2 tail(var X)) string \"ab\"))"},
    {"m:f({a, #{k := V, \"x\" => 1}}, #rec{f=V, g=0}, other#rec{}, #rec)",
     "call(module m function f arity 4 arguments(tuple(atom a map(atom k "
     "var V string \"x\" integer 1)) record m#rec(atom f var V atom g integer "
     "0) record other#rec record m#rec))"},
    {"m:f(#rec{a = 1, _ = _}, #rec{'_' = 2})",
     "call(module m function f arity 2 arguments(record m#rec(atom a integer 1 any any) "
     "record m#rec(atom _ integer 2)))"},
    {"m:f(<0.1.2>, #Port<0.5>, #Ref<0.1.2.3>, P = {a, _}, X = Y)",
     "call(module m function f arity 5 arguments(pid <0.1.2> port "
     "#Port<0.5> ref #Ref<0.1.2.3> alias(tuple(atom a any) var P) alias(var "
     "X var Y)))"},
    {"m:f(X,Y) when X > 1, Y < 2; is_atom(X)",
     "call(module m function f arity 2 arguments(var X var Y) guard(op ;(op "
     "andalso(op >(var X integer 1) op <(var Y integer 2)) call is_atom(var "
     "X))))"},
    {"m:f(X) when X == 1 and X == 2",
     "call(module m function f arity 1 arguments(var X) guard(op and(op "
     "==(var X integer 1) op ==(var X integer 2))))"},
    {"m:f(X) when X == 1 and X == 2 or X == 3",
     "call(module m function f arity 1 arguments(var X) guard(op or(op "
     "and(op ==(var X integer 1) op ==(var X integer 2)) op ==(var X "
     "integer 3))))"},
    {"m:f(X) when not is_atom(X) andalso X + 1 * 2 rem 3 =/= bnot 5 bsl 2 "
     "orelse element(1, X) =:= a",
     "call(module m function f arity 1 arguments(var X) guard(op orelse(op "
     "andalso(op not(call is_atom(var X)) op =/=(op +(var X op rem(op "
     "*(integer 1 integer 2) integer 3)) op bsl(op bnot(integer 5) integer "
     "2))) op =:=(call element(integer 1 var X) atom a))))"},
    {"m:f(X) when is_record(X, rec), is_record(o#rec, X), is_record(#r, X), "
     "is_record(X, rec, 3)",
     "call(module m function f arity 1 arguments(var X) guard(op andalso(op "
     "andalso(op andalso(is_record m#rec(var X) is_record o#rec(var X)) "
     "is_record m#r(var X)) call is_record(var X atom rec integer 3))))"},
    {"m:f(X) -> show(X, {X, 1}), slower 5ms; caller",
     "call(module m function f arity 1 arguments(var X) return caller "
     "show(var X tuple(var X integer 1)) slower 5000 us)"},
    {"m:f -> returns {ok, X} when X > 5, X < 9, stack",
     "call(module m function f return stack returns(tuple(atom ok var X)) "
     "returns when(op andalso(op >(var X integer 5) op <(var X integer 9))))"},
    {"m:f -> raises", "call(module m function f return raises)"},
    {"m:f -> raises badarg; stack", "call(module m function f return stack raises(atom badarg))"},
    {"m:f -> raises X when is_atom(X)",
     "call(module m function f return raises(var X) raises when(call "
     "is_atom(var X)))"},
    {"m:f -> returns '$_'", "call(module m function f return returns(atom $_))"},
    {"m:f(X) -> show('$_', self())",
     "call(module m function f arity 1 arguments(var X) show(all arguments "
     "call self))"},
    {"m:f(X) when erlang:is_atom(X), length(\"abc\") > 1",
     "call(module m function f arity 1 arguments(var X) guard(op "
     "andalso(call is_atom(var X) op >(call length(string \"abc\") integer "
     "1))))"},
    {"m", "call(module m function any)"},
    {"m:f(X) when X > 1 & m:g",
     "call(module m function f arity 1 arguments(var X) guard(op >(var X "
     "integer 1))) & call(module m function g)"},
    {"m:f([[a|[b|T]], {}, #{}, [[]]])",
     "call(module m function f arity 1 arguments(list(list(atom a atom b "
     "tail(var T)) tuple map list(list))))"},
    {"[\"ets:lookup\", \"ets:insert->return\"]",
     "call(module ets function lookup) & call(module ets function insert "
     "return)"},
    {"[ \"ets:lookup -> return, stack\" , send,'receive' ] ",
     "call(module ets function lookup return stack) & send & receive"},
    {"\"ets:lookup\"", "call(module ets function lookup)"},
    {"\"ets:lookup\", \"ets:insert -> time\"",
     "call(module ets function lookup) & call(module ets function insert "
     "time)"},
    {"[\"m:f(\\\"a b\\\", X) when X == \\\"c\\\"\", m:g(',', \"x\"), "
     "\"lists:map\"]",
     "call(module m function f arity 2 arguments(string \"a b\" var X) "
     "guard(op ==(var X string \"c\"))) & call(module m function g arity 2 "
     "arguments(atom , string \"x\")) & call(module lists function map)"},
    {"lists:map & \"ets:lookup\", 'ets:insert -> return'",
     "call(module lists function map) & call(module ets function lookup) & "
     "call(module ets function insert return)"},
    {"/^a/ & /,\"/:/b','/", "call(module /^a/ function any) & call(module /,\"/ function /b','/)"},
    {"[send, 'receive']", "send & receive"},
    {"[ets:lookup, ets:insert->return]",
     "call(module ets function lookup) & call(module ets function insert "
     "return)"},
    {"[lists, ets -> return]",
     "call(module lists function any) & call(module ets function any return)"},
    {"'ets:lookup -> return'", "call(module ets function lookup return)"},
    {"'my mod'", "call(module my mod function any)"},
    {"ets:lookup -> return, stack, ets:insert -> return, send",
     "call(module ets function lookup return stack) & call(module ets "
     "function insert return) & send"},
    {"'receive'", "receive"},
    {"X:_/Y -> return", "call(module any function any return)"},
    {"mod : fun / 2 -> return ; stack", "call(module mod function fun arity 2 return stack)"},
    {"x:c(S)when ((S==x);(S==y))",
     "call(module x function c arity 1 arguments(var S) guard(op orelse(op "
     "==(var S atom x) op ==(var S atom y))))"},
    {"x:c(S)when (S==x,is_atom(S));not (S==z;S==y)",
     "call(module x function c arity 1 arguments(var S) guard(op ;(op "
     "andalso(op ==(var S atom x) call is_atom(var S)) op not(op orelse(op "
     "==(var S atom z) op ==(var S atom y))))))"},
    {"a:b(X,Y)when X == 1 and is_atom(Y) or not Y",
     "call(module a function b arity 2 arguments(var X var Y) guard(op or(op "
     "and(op ==(var X integer 1) call is_atom(var Y)) op not(var Y))))"},
    {"a:b(X,Y)when {X,Y} and Y==Y",
     "call(module a function b arity 2 arguments(var X var Y) guard(op "
     "and(tuple(var X var Y) op ==(var Y var Y))))"},
    {"x:c(A)when [A,A] == [A]++[A]",
     "call(module x function c arity 1 arguments(var A) guard(op ==(list(var "
     "A var A) list(var A var A))))"},
    {"lists:reverse(\"\"++A) when A==\"\"",
     "call(module lists function reverse arity 1 arguments(list(tail(var "
     "A))) guard(op ==(var A string \"\")))"},
    {"a when binary_part('$_', {2, 1})=/=<<$a>>",
     "call(module a function any guard(op =/=(call binary_part(all arguments "
     "tuple(integer 2 integer 1)) binary \"a\")))"},
    {"m:f(<<_:3, R/bitstring>>, <<1, _, _:2>>, <<_/bits>>)",
     "call(module m function f arity 3 arguments(binary \"\" any 3 bits(tail "
     "of bits(var R)) binary 01 any 10 bits binary \"\"(tail of bits(any))))"},
};

static const struct wrong erlang_wrong[] = {
    {"m:f(X -> return", 6, "expected `,` or `)`, not ->"},
    {"m:f(X) -> retrun", 10, "there is no action retrun; did you mean return?"},
    {"m:f(X) -> xyzzy", 10,
     "expected an action: return, stack, caller, time, count, show(X), "
     "slower 5ms, returns X, raises, not xyzzy"},
    {"m:f(X) when X = 1", 14, "Erlang writes == or =:=, not ="},
    {"m:f(X) when X <= 1", 14, "Erlang writes =<, not <="},
    {"m:f(X) when X == Y == Z", 19, "comparisons do not chain: write andalso between"},
    {"m:f(_) when _ > 1", 12, "_ has no value; give it a name to use it here"},
    {"m:f(foo(X))", 4, "a call cannot stand in a pattern; put it behind `when`"},
    {"m:f(X) when is_atm(X)", 12, "is_atm is not allowed in a guard; did you mean is_atom?"},
    {"m:f(X) when element(X)", 12, "element takes 2 arguments, not 1"},
    {"m:f(1 + 2)", 6, "expected `,` or `)`, not +"},
    {"m:f(\"abc", 4, "no closing \" of this text"},
    {"m:f('abc", 4, "no closing ' of this name"},
    {"m:f(40#12)", 4, "the base of a number is 2 to 36"},
    {"m:f(2#)", 5, "expected `,` or `)`, not #"},
    {"m:f(X) -> slower 5", 18, "expected the time's unit: us, ms, s or min, but the text ends"},
    {"m:f(X) -> slower soon", 17, "expected a time, such as 5ms, not soon"},
    {"m:f(X) -> count, return", 0,
     "time and count show no single calls: no other action goes with them"},
    {"m:f/256", 4, "expected an arity, 0 to 255, not 256"},
    {"m:f(X) garbage", 7, "expected `when` or `->`, not garbage"},
    {"m:", 2, "expected a function's name, but the text ends"},
    {"m:f(", 4, "expected a term, but the text ends"},
    {"m:f([1,2", 8, "expected `,`, `|` or `]` of the list, but the text ends"},
    {"m:f({", 5, "expected a term, but the text ends"},
    {"m:f(#{a", 7, "expected `:=` and the value of that key, but the text ends"},
    {"m:f(<<1", 7, "expected `,` or `>>` of the binary, but the text ends"},
    {"m:f(<<X>>)", 6, "a variable here stands for the rest: write Name/binary"},
    {"m:f(<<\"ab\", X/binary, 1>>)", 20, "expected `>>`: nothing follows the rest, not ,"},
    {"_:f(#rec{a=1})", 4, "which module's record? write module#name{…}"},
    {"send(X)", 4, "send takes two: send(To, Message)"},
    {"send -> return", 8,
     "a message has no actions: it is shown whole, and chosen by its pattern and `when`"},
    {"receive({a, X}) when X > 1 -> stack", 30,
     "a message has no actions: it is shown whole, and chosen by its pattern and `when`"},
    {"send(_, X) show(X)", 11, "expected `when`, or the end, not show"},
    {"m:f(_, X, 7) -> count", 10, "count takes all calls of the function: expected `_` here"},
    {"m:f(X, {_, X}) -> time", 4, "time takes all calls of the function: expected `_` here"},
    {"m:f(X) when X > 1 -> count; time", 12,
     "count takes all calls of the function: expected `->`, without a guard, here"},
    {"/abc", 0, "no closing / of this regex"},
    {"//:f", 0, "expected a regex between the slashes"},
    {"m:f(\\)", 4, "this character has no meaning here"},
    {"m:f(X) when (X > 1", 18, "expected `)`, but the text ends"},
    {"lists:map & ", 12, "expected a module's name, but the text ends"},
    {" -> return", 1, "expected a module's name, not ->"},
    {"m:f(1.0e999)", 4, "a float beyond what 64 bits hold"},
    {"m:f(when)", 4, "expected a term; as an atom it is 'when'"},
    {"m:f(X) when X > and", 16, "expected a value; as an atom it is 'and'"},
    {"m:f(X) -> return when X", 17, "expected `,` and another action, or the end, not when"},
    {"m:f(<<1:4/foo>>)", 10, "expected a type: binary, utf8, integer, little, bitstring, not foo"},
    {"m:f(X) when X > 1 2", 18, "expected an operator or `->`, not 2"},
    {"[\"ets:lookup\"", 13, "expected `,` or `]` of the list of patterns"},
    {"[\"ets:lookup\" \"ets:insert\"]", 14, "expected `,` or `]` of the list of patterns"},
    {"[\"ets:lookup\"] x", 15, "expected `,` and another pattern, or the end"},
    {"[\"ets:lookup", 1, "no closing quote of this pattern"},
    {"\"m:f(\\\\n)\"", 5, "write a pattern with \\ in it without the quotes around it"},
    {"[]", 2, "expected a module's name, but the text ends"},
    {"[\"lists\", \"m:f(X\"]", 18, "expected `,` or `)`, but the text ends"},
    {"lists:map, stack", 9, "expected `(`, `/`, `when` or `->`, not ,"},
    {"[\"'a:b'\"]", 2, "write this pattern without quotes"},
    {"m:f(<<_,1>>)", 8,
     "expected `>>`, more of `_`, or the rest: what follows `_` has no "
     "place, not 1"},
    {"m:f(<<_:3/binary>>)", 6, "a variable here stands for the rest: write Name/binary"},
    {"m:f(X) when (X == 1; X", 22, "expected `)`, but the text ends"},
};

static const struct good elixir_good[] = {
    {"MyApp.Cart.add(_, %Item{price: p}) when p > 100 -> return",
     "call(module Elixir.MyApp.Cart function add arity 2 arguments(any "
     "struct Elixir.Item(atom price var p)) guard(op >(var p integer 100)) "
     "return)"},
    {":ets.lookup(tab, _)", "call(module ets function lookup arity 2 arguments(var tab any))"},
    {"Enum.map/2 :: return;stack", "call(module Elixir.Enum function map arity 2 return stack)"},
    {"Enum", "call(module Elixir.Enum function any)"},
    {"_.start_link/_", "call(module any function start_link)"},
    {"/^Elixir.MyApp/./^handle_/ -> count",
     "call(module /^Elixir.MyApp/ function /^handle_/ count)"},
    {":\"my mod\".\"f g\"(x)", "call(module my mod function f g arity 1 arguments(var x))"},
    {"MyApp.f(\"ab\", 'cd', ~c\"ef\", nil, true, :\"a b\", Foo.Bar, ?a, 0xFF, "
     "1_000, -1.5)",
     "call(module Elixir.MyApp function f arity 11 arguments(binary \"ab\" "
     "string \"cd\" string \"ef\" atom nil atom true atom a b atom "
     "Elixir.Foo.Bar integer 97 integer 255 integer 1000 float -1.5))"},
    {"MyApp.f([h | t], [a: 1, b: x], [1, 2 | [3]], \"ab\" <> rest, \"a\" <> \"b\" "
     "<> _, <<1, 2::4, r::binary>>)",
     "call(module Elixir.MyApp function f arity 6 arguments(list(var h "
     "tail(var t)) list(tuple(atom a integer 1) tuple(atom b var x)) "
     "list(integer 1 integer 2 integer 3) binary \"ab\"(tail(var rest)) "
     "binary \"ab\"(tail(any)) binary 01 20:4(tail(var r))))"},
    {"MyApp.f(%{}, %{:a => 1, \"b\" => x}, %{a: 1}, %_{id: 1}, %My.User{}, "
     "{:ok, x} = y, #PID<0.1.2>, pid(0, 41, 0))",
     "call(module Elixir.MyApp function f arity 8 arguments(map map(atom a "
     "integer 1 binary \"b\" var x) map(atom a integer 1) map(atom __struct__ "
     "any atom id integer 1) struct Elixir.My.User alias(tuple(atom ok var "
     "x) var y) pid <0.1.2> pid <0.41.0>))"},
    {"MyApp.f(x, key: 1, other: y)", "call(module Elixir.MyApp function f arity 2 arguments(var x "
                                     "list(tuple(atom key integer 1) tuple(atom other var y))))"},
    {"MyApp.f(\"\\x{e9}\\xFF\", 'é', \"é\")",
     "call(module Elixir.MyApp function f arity 3 arguments(binary c3 a9 ff "
     "string \"é\" binary \"é\"))"},
    {"M.f(x) when is_nil(x) or not is_atom(x) and x != 3",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "orelse(op =:=(var x atom nil) op andalso(op not(call is_atom(var x)) "
     "op /=(var x integer 3)))))"},
    {"M.f(x) when x in [1, :a] && !(x === 2) || x <= 3",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "orelse(op andalso(op orelse(op =:=(var x integer 1) op =:=(var x atom "
     "a)) op not(op =:=(var x integer 2))) op =<(var x integer 3))))"},
    {"M.f(x) when x in 1..5 and x not in [3] and not x in [4]",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "andalso(op andalso(op andalso(op andalso(call is_integer(var x) op "
     ">=(var x integer 1)) op =<(var x integer 5)) op not(op =:=(var x "
     "integer 3))) op not(op =:=(var x integer 4)))))"},
    {"M.f(x, y) when elem(x, 1) == 2 and is_map_key(x, :k) and elem(x, y) "
     ">= 1",
     "call(module Elixir.M function f arity 2 arguments(var x var y) "
     "guard(op andalso(op andalso(op ==(call element(integer 2 var x) "
     "integer 2) call is_map_key(atom k var x)) op >=(call element(op +(var "
     "y integer 1) var x) integer 1))))"},
    {"M.f(x) when x.price > 5 and div(x.n, 2) == rem(5, 3) + band(1, 3)",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "andalso(op >(call map_get(atom price var x) integer 5) op ==(op "
     "div(call map_get(atom n var x) integer 2) op +(op rem(integer 5 "
     "integer 3) op band(integer 1 integer 3))))))"},
    {"M.f(x) when is_struct(x) and is_struct(x, My.User)",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "andalso(op andalso(op andalso(call is_map(var x) call is_map_key(atom "
     "__struct__ var x)) call is_atom(call map_get(atom __struct__ var x))) "
     "op andalso(op andalso(call is_map(var x) call is_map_key(atom "
     "__struct__ var x)) op =:=(call map_get(atom __struct__ var x) atom "
     "Elixir.My.User)))))"},
    {"M.f(x) when :erlang.is_map_key(:k, x) and :erlang.element(1, x) == 1 "
     "and Kernel.hd(x) > 0",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "andalso(op andalso(call is_map_key(atom k var x) op ==(call "
     "element(integer 1 var x) integer 1)) op >(call hd(var x) integer 0))))"},
    {"M.f(x) when x > 1 when is_atom(x) -> show(x, {x, 1}); slower 5ms",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     ";(op >(var x integer 1) call is_atom(var x))) return show(var x "
     "tuple(var x integer 1)) slower 5000 us)"},
    {"M.f -> returns {:error, _}, caller",
     "call(module Elixir.M function f return caller returns(tuple(atom "
     "error any)))"},
    {"M.f -> raises %ArgumentError{}", "call(module Elixir.M function f return raises(struct "
                                       "Elixir.ArgumentError))"},
    {"send(to, {:error, _})", "send(arguments(var to tuple(atom error any)))"},
    {"receive({:\"$gen_call\", _, {:get, k}}) when k > 5",
     "receive(arguments(tuple(atom $gen_call any tuple(atom get var k))) "
     "guard(op >(var k integer 5)))"},
    {"M.f? & M.f!(x) & :ets.insert",
     "call(module Elixir.M function f?) & call(module Elixir.M function f! "
     "arity 1 arguments(var x)) & call(module ets function insert)"},
    {":MODULE.FUNCTION -> return", "call(module MODULE function FUNCTION return)"},
    {"M.f(x) when [1] ++ x == x",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "==(list(integer 1 tail(var x)) var x)))"},
    {"M.f([a: 1, 2])", "call(module Elixir.M function f arity 1 arguments(list(tuple(atom a "
                       "integer 1) integer 2)))"},
    {"[\"Map.get/_ :: return\", :send]", "call(module Elixir.Map function get return) & send"},
    {"[:send, :receive]", "send & receive"},
    {"[:send, \":ets\"]", "send & call(module ets function any)"},
    {"[\"Enum.member?([_, _, _], \\\"foo\\\")\", \"Foo.Bar.run(_, :ok, x) "
     "when x > 3 :: return\"]",
     "call(module Elixir.Enum function member? arity 2 arguments(list(any "
     "any any) binary \"foo\")) & call(module Elixir.Foo.Bar function run "
     "arity 3 arguments(any atom ok var x) guard(op >(var x integer 3)) "
     "return)"},
    {"[Enum.map, :ets, \"lists\"]",
     "call(module Elixir.Enum function map) & call(module ets function any) "
     "& call(module lists function any)"},
    {":receive", "receive"},
    {":cowboy.do_sth/really_whatever", "call(module cowboy function do_sth)"},
    {"Mod.fun/any::return", "call(module Elixir.Mod function fun return)"},
    {":cowboy.fun() :: ", "call(module cowboy function fun arity 0)"},
    {":a.b(foo, _els, %{__struct__: Foo.Bar}, %Foo.Bar{ba: 1})",
     "call(module a function b arity 4 arguments(var foo var _els map(atom "
     "__struct__ atom Elixir.Foo.Bar) struct Elixir.Foo.Bar(atom ba integer "
     "1)))"},
    {"M.f(x) when element(1, x) == size(x)",
     "call(module Elixir.M function f arity 1 arguments(var x) guard(op "
     "==(call element(integer 1 var x) call size(var x))))"},
    {"M.f(<<_::3, r::bitstring>>, \"a\" <> <<_, _::bits>>)",
     "call(module Elixir.M function f arity 2 arguments(binary \"\" any 3 "
     "bits(tail of bits(var r)) binary \"a\" any 8 bits(tail of bits(any))))"},
};

static const struct wrong elixir_wrong[] = {
    {"M.f(x) when length(x) + 1 * 2 - 3 > 4 and x ++ [] == 'a'", 42,
     "only a list that is written out may stand before ++"},
    {"M.f(x) when x = 1", 14, "compare with == or ===, not ="},
    {"M.f(^x)", 4, "nothing is bound here that ^ could stand for"},
    {"M.f(g(x))", 4, "a call cannot stand in a pattern; put it behind `when`"},
    {"M.f(1..2)", 4, "a range cannot stand in a pattern"},
    {"M.f(x) when 1..2", 12, "a range can only follow `in`"},
    {"M.f(x) when x in y", 17, "expected a list or a range behind `in`"},
    {"M.f(%{a})", 7, "expected `=>` and the value of that key, not }"},
    {"M.f(%Item{1})", 10, "expected a field, as in `price: p`, not 1"},
    {"M.f(x) when float(x) == 2", 12, "float is Erlang's: write :erlang.float"},
    {"M.f(x) when elem(x) == 2", 12, "elem takes 2 arguments, not 1"},
    {"M.f(x) when is_nul(x)", 12, "is_nul is not allowed in a guard"},
    {"M.f(_) when _ == 1", 12, "_ has no value; give it a name to use it here"},
    {"M.f(x <> \"a\")", 4, "only a string that is written out may stand before <>"},
    {"M.f(when)", 4, "expected a term, not when"},
    {"M.f(%", 5, "expected `{` or a struct's name, but the text ends"},
    {"M.f -> retrun", 7, "there is no action retrun; did you mean return?"},
    {"M.", 2, "expected a function's name, but the text ends"},
    {"M.f(<<x>>)", 6, "a variable here stands for the rest: write name::binary"},
    {"M.f(@x)", 4, "this character has no meaning here"},
};
