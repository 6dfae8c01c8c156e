%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_stall.sh: all dirty I/O schedulers of the node wait for a disk. Opening a FIFO stands
%% for it. Files in the directory are how the script asks; each is deleted when it is done:
%%   busy     ten processes never wait, for two minutes or until `idle`
%%   stall    as many processes as there are such schedulers open the FIFOs there
%%   suspend_NAME, resume_NAME    of a server: it takes no other message
%%   audit    `left` is written, by audit.erl
-module(stall_load).

-export([start/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() ->
        Baseline = processes(),
        ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
        loop(Dir, Baseline)
    end)),
    ok.

loop(Dir, Baseline) ->
    Servers = [{Order ++ atom_to_list(Name), fun() -> Do(Name) end}
               || {Order, Do} <- [{"suspend_", fun sys:suspend/1}, {"resume_", fun sys:resume/1}],
                  Name <- [code_server, rex, net_kernel, auth]],
    Orders = [{"crowd", fun() -> put(crowd, crowd(60000)) end},
              {"scatter", fun() -> [exit(P, kill) || P <- erase(crowd)] end},
              {"busy", fun() -> put(busy, [spawn(fun() -> turn(0, 120) end) || _ <- lists:seq(1, 10)]) end},
              {"idle", fun() -> [exit(P, kill) || P <- erase(busy)] end},
              {"audit", fun() -> audit:write(Dir, Baseline) end},
              {"stall", fun() -> ok end} | Servers],
    [begin
         Do(),
         ok = file:delete(File),
         Name =:= "stall" andalso stall(Dir)
     end || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

crowd(N) ->
    [spawn(fun() -> group_leader(self(), self()), receive stop -> ok end end)
     || _ <- lists:seq(1, N)].

%% Once they are deleted nothing of a file can be done until somebody writes to the FIFOs.
stall(Dir) ->
    N = erlang:system_info(dirty_io_schedulers),
    [spawn(fun() -> file:open(filename:join(Dir, "fifo" ++ integer_to_list(I)), [read, raw]) end)
     || I <- lists:seq(1, N)].

%% A look at the clock now and then bounds it.
turn(N, Seconds) when N rem 1000000 =:= 0 ->
    Seconds > 0 orelse exit(normal),
    Began = get(began),
    Now = erlang:monotonic_time(second),
    Began =:= undefined andalso put(began, Now),
    Left = case Began of undefined -> Seconds; _ -> 120 - (Now - Began) end,
    turn(N + 1, Left);
turn(N, Seconds) ->
    turn(N + 1, Seconds).
