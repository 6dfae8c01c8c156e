%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_suspenders.sh: held_process, which holding_process suspends. Files in the directory
%% are how the script asks; each is deleted when it is done:
%%   two      busy_process, which never waits, suspends it twice
%%   free     both let it go
%%   many     25,000 processes, and then late_process, which suspends it
%%   audit    `left` is written, by audit.erl
-module(suspenders_load).

-export([start/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    Held = spawn(fun() -> register(held_process, self()), wait() end),
    suspend(holding_process, Held, fun wait/0),
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, Held).

wait() -> receive never -> ok end.

spin(N) -> spin(N + 1).

suspend(Name, Held, Then) ->
    Self = self(),
    spawn(fun() ->
        register(Name, self()),
        true = erlang:suspend_process(Held),
        Self ! {suspended, Name},
        Then()
    end),
    receive {suspended, Name} -> ok end.

loop(Dir, Baseline, Held) ->
    Twice = fun() -> true = erlang:suspend_process(Held), spin(0) end,
    Orders = [{"two", fun() -> suspend(busy_process, Held, Twice) end},
              {"free", fun() -> [exit(P, kill) || N <- [holding_process, busy_process],
                                                  P <- [whereis(N)], is_pid(P)] end},
              {"many", fun() -> [spawn(fun wait/0) || _ <- lists:seq(1, 25000)],
                                suspend(late_process, Held, fun wait/0) end},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, Held).
