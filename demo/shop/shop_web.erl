%% SPDX-License-Identifier: GPL-3.0-or-later
%% Requests are short-lived processes; sessions are rows of a busy table.
-module(shop_web).
-behaviour(gen_server).

-export([start_link/0, request/1, touch/1, serve/1]).
-export([init/1, handle_call/3, handle_cast/2]).

-define(LIFE_MS, 5).                    % the shortest life of a request
-define(LIFE_SPREAD_MS, 46).

start_link() ->
    gen_server:start_link({local, shop_sessions}, ?MODULE, [], []).

request(N) ->
    proc_lib:spawn(?MODULE, serve, [N]).

serve(N) ->
    shop:label({request, N}),
    _ = shop:burn(1000),
    timer:sleep(?LIFE_MS + N rem ?LIFE_SPREAD_MS).

touch(N) ->
    ets:update_counter(shop_sessions, erlang:phash2({self(), N}, shop:setting(sessions)), {3, 1}).

init([]) ->
    Payload = binary:copy(<<"s">>, shop:setting(session_bytes)),
    shop_sessions = ets:new(shop_sessions, [named_table, public, {write_concurrency, true}]),
    true = ets:insert(shop_sessions, [{K, Payload, 0}
                                      || K <- lists:seq(0, shop:setting(sessions) - 1)]),
    {ok, [], hibernate}.

handle_call(rows, _From, State) ->
    {reply, ets:info(shop_sessions, size), State}.

handle_cast(_, State) ->
    {noreply, State}.
