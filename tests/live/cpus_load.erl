%% SPDX-License-Identifier: GPL-3.0-or-later
%% Load of test_cpus.sh: two processes that never wait, and one that makes garbage and keeps some of
%% it. Files in the directory are how the script asks; each is deleted when it is done:
%%   audit          `left` is written, by audit.erl
%%   flag           `said` is written: whether microstate accounting is on
%%   on, off        switches it
-module(cpus_load).

-export([start/2, spin/1, garbage/1]).

-define(MOST_MS, 600000).

start(Dir, _Code) ->
    spawn(fun() -> begin_load(Dir) end),
    ok.

begin_load(Dir) ->
    [spawn_opt(?MODULE, spin, [0], [{priority, low}]) || _ <- [1, 2]],
    spawn_opt(?MODULE, garbage, [[]], [{priority, low}]),
    ok = file:write_file(filename:join(Dir, "pid.new"), os:getpid()),
    ok = file:rename(filename:join(Dir, "pid.new"), filename:join(Dir, "pid")),
    loop(Dir, processes(), erlang:monotonic_time(millisecond) + ?MOST_MS).

spin(N) -> spin(N + 1).

garbage(Kept) -> garbage(lists:sublist([lists:seq(1, 500) | Kept], 40)).

loop(Dir, Baseline, Until) ->
    Orders = [{"audit", fun() -> audit:write(Dir, Baseline) end}, {"flag", fun() -> say(Dir, is_on()) end}
              | [{Name, fun() -> erlang:system_flag(microstate_accounting, On) end}
                 || {Name, On} <- [{"on", true}, {"off", false}]]],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 20 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso loop(Dir, Baseline, Until).

%% What is on counts: asking for the flag in another way would change it.
is_on() ->
    Sums = fun() ->
        lists:sum([lists:sum(maps:values(C))
                   || #{counters := C, type := scheduler} <- statistics(microstate_accounting)])
    end,
    _ = Sums(),
    Before = Sums(),
    receive after 50 -> ok end,
    Sums() - Before > erlang:convert_time_unit(25, millisecond, perf_counter).

say(Dir, On) ->
    ok = file:write_file(filename:join(Dir, "said.new"), atom_to_list(On)),
    ok = file:rename(filename:join(Dir, "said.new"), filename:join(Dir, "said")).
