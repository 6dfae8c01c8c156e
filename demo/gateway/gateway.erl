%% SPDX-License-Identifier: GPL-3.0-or-later
%% The application, its supervisor, its settings.
-module(gateway).
-behaviour(application).
-behaviour(supervisor).

-export([settings/0, work/1]).
-export([start/2, stop/1, init/1]).

%% Read once by each process: nothing but the gateway's own work shall be seen when calls are
%% counted.
settings() ->
    maps:from_list(application:get_all_env(gateway)).

%% What lists:member/2 looks through in vain: native work of a known size and without calls.
work(Reductions) ->
    lists:seq(1, 16 * Reductions).

start(_Type, _Args) ->
    supervisor:start_link({local, gateway_sup}, ?MODULE, []).

stop(_State) ->
    gateway_log:remove().

init([]) ->
    #{workers := Workers, requests_per_s := PerS, connections := Connections,
      scenario := Scenario} = settings(),
    Child = fun(Id, M, Args) -> #{id => Id, start => {M, start_link, Args}} end,
    {ok, {#{strategy => one_for_one},
          [Child(log, gateway_log, [Scenario]), Child(schemas, gateway_schemas, [])]
          ++ [Child({db, N}, gateway_db, [N]) || N <- lists:seq(1, Connections)]
          ++ [Child({http, N}, gateway_http, [N, PerS div Workers]) || N <- lists:seq(1, Workers)]}}.
