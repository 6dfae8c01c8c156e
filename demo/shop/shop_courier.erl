%% SPDX-License-Identifier: GPL-3.0-or-later
%% Ends after each tour; its supervisor starts the next: one name, a new pid each time.
-module(shop_courier).
-behaviour(gen_server).

-export([start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

init([]) ->
    erlang:send_after(shop:setting(courier_tour_ms), self(), home),
    {ok, []}.

handle_call(_, _From, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(home, State) -> {stop, {shutdown, home}, State}.
