%% SPDX-License-Identifier: GPL-3.0-or-later
%% A pool worker, and the two desks that give out work: orders in turn to registered workers,
%% images to workers which only their supervisor knows.
-module(shop_worker).
-behaviour(gen_server).

-export([start_link/3, order/1, image/1]).
-export([init/1, handle_call/3, handle_cast/2]).

start_link(anonymous, Label, StepsKey) ->
    gen_server:start_link(?MODULE, {Label, StepsKey}, []);
start_link(Name, Label, StepsKey) ->
    gen_server:start_link(Name, ?MODULE, {Label, StepsKey}, []).

order(N) ->
    Worker = 1 + N rem shop:setting(order_workers),
    gen_server:cast(list_to_existing_atom("shop_order_" ++ integer_to_list(Worker)), {job, N}).

image(N) ->
    Workers = [Pid || {{image_worker, _}, Pid, _, _} <- supervisor:which_children(shop_images_sup),
                      is_pid(Pid)],
    Workers =:= [] orelse gen_server:cast(lists:nth(1 + N rem length(Workers), Workers), {job, N}).

init({{Kind, N}, StepsKey}) ->
    shop:label({Kind, N}),
    {ok, #{kind => Kind, number => N, steps => shop:setting(StepsKey), done => 0}}.

handle_call(done, _From, State) ->
    {reply, maps:get(done, State), State}.

handle_cast({job, _}, #{steps := Steps, done := Done} = State) ->
    _ = shop:burn(Steps),
    {noreply, State#{done := Done + 1}}.
