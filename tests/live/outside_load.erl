%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_outside.sh: a node that does not answer, in several ways. Files in the directory are
%% how the script asks; each is deleted before it is done where nothing comes back, else after it:
%%   suspend, resume   net_kernel takes no other message
%%   compare           scheduler 2 compares equal terms, which does not yield, until `free` or four minutes
%%   crash             the VM writes a crash dump
%%   audit             `left` is written, by audit.erl
%% `pid` has the OS pid.
-module(outside_load).

-export([start/2, compare/2]).

-define(MOST_MS, 240000).

start(Dir, _Code) ->
    spawn_opt(fun() ->
        Baseline = processes(),
        ok = file:write_file(filename:join(Dir, "pid.new"), os:getpid()),
        ok = file:rename(filename:join(Dir, "pid.new"), filename:join(Dir, "pid")),
        loop(Dir, Baseline)
    end, [{scheduler, 1}]),
    ok.

loop(Dir, Baseline) ->
    Orders = [{"suspend", fun() -> sys:suspend(net_kernel) end},
              {"resume", fun() -> sys:resume(net_kernel) end},
              {"compare", fun begin_comparing/0},
              {"free", fun() -> exit(erase(compares), kill) end},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    Crash = filename:join(Dir, "crash"),
    filelib:is_file(Crash) andalso begin ok = file:delete(Crash), erlang:halt("on request") end,
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

begin_comparing() ->
    Until = erlang:monotonic_time(millisecond) + ?MOST_MS,
    put(compares, spawn_opt(?MODULE, compare, [22, Until], [{scheduler, 2}])).

%% Two equal terms of shared parts: compared in one go.
shared(0) -> [];
shared(N) -> Part = shared(N - 1), [Part | Part].

compare(Depth, Until) ->
    true = shared(Depth) == shared(Depth),
    erlang:monotonic_time(millisecond) < Until andalso compare(Depth, Until).
