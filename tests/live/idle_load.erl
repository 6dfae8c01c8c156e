%% SPDX-License-Identifier: GPL-3.0-or-later
%% A node that does nothing, for tests/tmux/test_idle.sh. Files in the directory are how the script
%% asks; each is deleted when it is done:
%%   work   a process runs from now on
%%   rest   it is ended
%%   audit  `left` is written, by audit.erl
-module(idle_load).
-export([start/2, watch/2, work/1]).

start(Dir, _) ->
    spawn(fun() -> ?MODULE:watch(Dir, {processes(), none}) end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, State) ->
    timer:sleep(200),
    {ok, Names} = file:list_dir(Dir),
    ?MODULE:watch(Dir, lists:foldl(fun(Name, S) -> asked(Name, Dir, S) end, State, Names)).

asked("work", Dir, {Baseline, none}) ->
    {Baseline, done(Dir, "work", spawn(fun() -> ?MODULE:work(0) end))};
asked("rest", Dir, {Baseline, Pid}) ->
    exit(Pid, kill),
    {Baseline, done(Dir, "rest", none)};
asked("audit", Dir, {Baseline, Pid} = State) ->
    audit:write(Dir, [Pid | Baseline]),
    done(Dir, "audit", State);
asked(_, _, State) ->
    State.

done(Dir, Name, State) ->
    ok = file:delete(filename:join(Dir, Name)),
    State.

work(N) -> ?MODULE:work((N * 7 + 1) band 16#ffff).
