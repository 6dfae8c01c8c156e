%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_holders.sh: processes of some kinds, of which this node knows what they hold. Files
%% in the directory are how the script asks; each is deleted when it is done:
%%   numbers  `sums` is written: what this node says of its kinds, as JSON
%%   grow     each keeper holds 100 kB more in its heap, and 10 of the refs end
%%   queue    holders_long gets 2,000,000 messages
%%   spin     holders_spin runs until
%%   calm     … it is killed
%%   many     20,000 processes more wait
%%   audit    `left` is written, by audit.erl
-module(holders_load).

-export([start/2, ref/1, keep/1, wait/0, tie/1, long/0, spin/0]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    Refs = [spawn(?MODULE, ref, [N]) || N <- lists:seq(1, 400)],
    Keepers = [spawn(?MODULE, keep, [lists:seq(1, 5000)]) || _ <- lists:seq(1, 20)],
    Waiting = [spawn(?MODULE, wait, []) || _ <- lists:seq(1, 50)],
    Tied = spawn(?MODULE, tie, [Waiting]),
    register(holders_tied, Tied),
    Long = spawn(?MODULE, long, []),
    register(holders_long, Long),
    [ready(P) || P <- [Tied | Refs ++ Keepers]],
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, Refs, Keepers).

ready(P) ->
    P ! {ready, self()},
    receive {ready, P} -> ok end.

%% A few bytes of a large binary keep all of it.
ref(N) ->
    F = binary:copy(<<N:32>>, 25000),
    <<H:80/binary, _/binary>> = F,
    garbage_collect(),
    hold(H).

keep(L) ->
    garbage_collect(),
    hold(L).

hold(Held) ->
    receive
        {ready, From} -> From ! {ready, self()}, hold(Held);
        {more, From} -> More = [Held | lists:seq(1, 6250)], From ! {ready, self()}, hold(More);
        stop -> Held
    end.

wait() -> receive never -> ok end.

tie(Of) ->
    [link(P) || P <- Of],
    [monitor(process, P) || P <- Of],
    hold(Of).

long() -> receive never -> ok end.

spin() -> spin().

loop(Dir, Baseline, Refs, Keepers) ->
    {Ending, _} = lists:split(10, Refs),
    Grow = fun() ->
        [begin P ! {more, self()}, receive {ready, P} -> ok end end || P <- Keepers],
        [P ! stop || P <- Ending]
    end,
    Queue = fun() -> [holders_long ! N || N <- lists:seq(1, 2000000)] end,
    Many = fun() -> [spawn(?MODULE, wait, []) || _ <- lists:seq(1, 20000)] end,
    Numbers = fun() ->
        ok = file:write_file(filename:join(Dir, "sums"), sums(Refs, Keepers))
    end,
    Spin = fun() -> register(holders_spin, spawn(?MODULE, spin, [])) end,
    Calm = fun() -> exit(whereis(holders_spin), kill) end,
    Orders = [{"numbers", Numbers}, {"spin", Spin}, {"calm", Calm}, {"grow", Grow}, {"queue", Queue}, {"many", Many},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    [begin Do(), ok = file:delete(filename:join(Dir, Name)) end
     || {Name, Do} <- Orders, filelib:is_file(filename:join(Dir, Name))],
    timer:sleep(50),
    loop(Dir, Baseline, Refs, Keepers).

sums(Refs, Keepers) ->
    Sum = fun(Item, Of) ->
        lists:sum([N || {_, N} <- [process_info(P, Item) || P <- Of]])
    end,
    Binaries = [B || P <- Refs, {binary, L} <- [process_info(P, binary)], B <- L],
    io_lib:format("{\"ref_memory\":~b,\"ref_binaries\":~b,\"ref_bytes\":~b,\"keep_memory\":~b}",
                  [Sum(memory, Refs), length(Binaries), lists:sum([S || {_, S, _} <- Binaries]),
                   Sum(memory, Keepers)]).
