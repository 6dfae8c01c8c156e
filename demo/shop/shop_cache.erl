%% SPDX-License-Identifier: GPL-3.0-or-later
%% Holds large binaries: the process is small, what it keeps alive is not.
-module(shop_cache).
-behaviour(gen_server).

-export([start_link/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

start_link() ->
    gen_server:start_link({local, shop_image_cache}, ?MODULE, [], []).

init([]) ->
    Images = [image(N) || N <- lists:seq(1, shop:setting(cache_binaries))],
    {ok, #{images => queue:from_list(Images), next => 0}, again()}.

handle_call(count, _From, #{images := Images} = State) ->
    {reply, queue:len(Images), State, again()}.

handle_cast(_, State) ->
    {noreply, State, again()}.

%% The oldest goes, a new one comes; a collection at once, so that no more than the stated number lives.
handle_info(timeout, #{images := Images, next := N}) ->
    Next = queue:in(image(N), queue:drop(Images)),
    erlang:garbage_collect(),
    {noreply, #{images => Next, next => N + 1}, again()};
handle_info(_, State) ->
    {noreply, State, again()}.

image(N) ->
    binary:copy(<<N>>, shop:setting(cache_binary_bytes)).

again() ->
    1000 div shop:setting(cache_replaced_per_s).
