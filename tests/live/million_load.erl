%% SPDX-License-Identifier: GPL-3.0-or-later
%% A node of a million processes that sleep, for test_million.sh. `audit` in the directory: `left` is
%% written, by audit.erl.
-module(million_load).

-export([start/2, awake/1]).

-define(PROCESSES, 1000000).

start(Dir, _Code) ->
    spawn(fun() ->
              Most = erlang:system_info(process_limit) - 1000,
              many(min(?PROCESSES, Most)),
              ok = file:write_file(filename:join(Dir, "pid.new"), "there"),
              ok = file:rename(filename:join(Dir, "pid.new"), filename:join(Dir, "pid")),
              awake(Dir)
          end),
    ok.

many(0) -> ok;
many(N) ->
    spawn(erlang, hibernate, [timer, sleep, [infinity]]),
    many(N - 1).

awake(Dir) ->
    receive after 1000 -> ?MODULE:awake(Dir) end.
