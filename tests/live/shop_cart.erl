%% SPDX-License-Identifier: GPL-3.0-or-later
%% What the examples of beamtop-trace(7) ask about: a shop whose functions are called all the time,
%% some dozen times a second, until the node ends.
-module(shop_cart).
-behaviour(gen_server).

-export([open/0]).
-export([add/2, stock/2, total/1, find/1, route/1, same/2, pay/1, checkout/1, note/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-record(item, {name, price, count = 1}).

open() ->
    shop_stock = ets:new(shop_stock, [named_table, public]),
    {ok, _} = gen_server:start({local, ?MODULE}, ?MODULE, [], []),
    true = register(shop_front, spawn(fun serve/0)),
    ok.

serve() ->
    process_flag(trap_exit, true),
    serve(1).

serve(N) ->
    Items = [#item{name = <<"tea">>, price = 120}, #item{name = <<"milk">>, price = 2}],
    _ = [stock(N, I) || I <- Items],
    {ok, _} = add(17, 120),
    {ok, _} = add(18, 5),
    _ = total(Items),
    _ = find(#{user => 17, basket => N}),
    _ = [route(R) || R <- [<<"GET /cart">>, <<"POST /order">>]],
    _ = same(N, N),
    _ = same(N, 0),
    ok = pay(N),
    _ = [catch checkout(C) || C <- [[], [milk], [tea]]],
    _ = [note(T) || T <- [binary:copy(<<"n">>, 200), "hello", none]],
    true = ets:insert(shop_stock, {tea, N rem 10}),
    _ = ets:lookup(shop_stock, tea),
    _ = (catch gen_server:call(?MODULE, {get, 4 + N rem 4})), % a machine may stand still for its five seconds
    gen_server:cast(?MODULE, {order, N}),
    ?MODULE ! {order, N},
    _ = lists:seq(1, 100),
    Helper = spawn_link(fun() -> add(1, N) end),
    receive {'EXIT', Helper, _} -> ok end,
    timer:sleep(40),
    serve(N + 1).

add(User, Price) -> {ok, {User, Price}}.

stock(_, #item{name = <<"milk">>}) -> {error, sold_out};
stock(_, #item{count = Count}) -> {ok, Count}.

total([#item{price = Price} | Rest]) -> Price + total(Rest);
total([]) -> 0.

find(#{user := User}) -> User.

route(<<"GET /", Page/binary>>) -> {page, Page};
route(_) -> none.

same(A, B) -> A =:= B.

pay(_) -> timer:sleep(10).

checkout([]) -> error(empty);
checkout([milk]) -> throw({sold_out, milk});
checkout(Items) -> {ok, length(Items)}.

note(Text) when is_binary(Text); is_list(Text) -> kept;
note(_) -> none.

init([]) -> {ok, []}.

handle_call({get, Key}, _, State) ->
    timer:sleep(5),
    {reply, Key, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(_, State) -> {noreply, State}.
