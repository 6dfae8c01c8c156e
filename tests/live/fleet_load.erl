%% SPDX-License-Identifier: GPL-3.0-or-later
%% Nodes that work together, for tests/live/test_trace_fleet.sh. Files in the directory are how the script
%% asks; each is deleted when it is done:
%%   rounds   a process goes 20 times to the node that the file `peer` names: ping(N) here, pong(N) there,
%%            back(N) here, 20 ms between them
%%   work     a process calls work(N) for N = 1, 2 … as fast as it may
%%   crash    the same, and every 1,000th call raises an error, which is caught
%%   rarely   the same, every 10,000th
%%   rest     these end
%%   clock    `seconds` is written, what the system's clock says there
%%   join     connects to the node that the file `peer` names
%%   leave    disconnects from all
%%   audit    `left` is written, by audit.erl
-module(fleet_load).
-export([start/2, watch/2, echo/0, rounds/2, working/2, ping/1, pong/1, back/1, work/1]).

start(Dir, _) ->
    spawn(fun() ->
        register(fleet_echo, spawn(?MODULE, echo, [])),
        timer:sleep(100),
        ?MODULE:watch(Dir, {processes(), []})
    end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, State) ->
    timer:sleep(50),
    {ok, Names} = file:list_dir(Dir),
    ?MODULE:watch(Dir, lists:foldl(fun(Name, S) -> asked(Name, Dir, S) end, State, Names)).

asked("rounds", Dir, State) ->
    {ok, Peer} = file:read_file(filename:join(Dir, "peer")),
    begun("rounds", Dir, State, spawn(?MODULE, rounds, [list_to_atom(string:trim(binary_to_list(Peer))), 1]));
asked("work", Dir, State) -> begun("work", Dir, State, spawn(?MODULE, working, [1, never]));
asked("crash", Dir, State) -> begun("crash", Dir, State, spawn(?MODULE, working, [1, 1000]));
asked("rarely", Dir, State) -> begun("rarely", Dir, State, spawn(?MODULE, working, [1, 10000]));
asked("rest", Dir, {Baseline, Pids}) ->
    [exit(Pid, kill) || Pid <- Pids],
    ok = file:delete(filename:join(Dir, "rest")),
    {Baseline, []};
asked("clock", Dir, State) ->
    ok = file:write_file(filename:join(Dir, "seconds"), integer_to_list(os:system_time(second))),
    ok = file:delete(filename:join(Dir, "clock")),
    State;
asked("join", Dir, State) ->
    {ok, Peer} = file:read_file(filename:join(Dir, "peer")),
    net_kernel:connect_node(list_to_atom(string:trim(binary_to_list(Peer)))),
    ok = file:delete(filename:join(Dir, "join")),
    State;
asked("leave", Dir, State) ->
    [erlang:disconnect_node(Node) || Node <- nodes()],
    ok = file:delete(filename:join(Dir, "leave")),
    State;
asked("audit", Dir, {Baseline, Pids} = State) ->
    audit:write(Dir, Pids ++ Baseline),
    ok = file:delete(filename:join(Dir, "audit")),
    State;
asked(_, _, State) -> State.

begun(Name, Dir, {Baseline, Pids}, Pid) ->
    ok = file:delete(filename:join(Dir, Name)),
    {Baseline, [Pid | Pids]}.

echo() ->
    receive
        {N, From} ->
            timer:sleep(20),
            ?MODULE:pong(N),
            timer:sleep(20),
            From ! N
    end,
    ?MODULE:echo().

rounds(_, 21) -> ok;
rounds(Peer, N) ->
    ?MODULE:ping(N),
    {fleet_echo, Peer} ! {N, self()},
    receive N -> ?MODULE:back(N) end,
    timer:sleep(20),
    ?MODULE:rounds(Peer, N + 1).

working(N, Rare) ->
    try ?MODULE:work({N, Rare}) catch error:_ -> ok end,
    case N rem 10 of 0 -> timer:sleep(10); _ -> ok end,
    ?MODULE:working(N + 1, Rare).

ping(N) -> N.
pong(N) -> N.
back(N) -> N.
work({N, Rare}) when is_integer(Rare), N rem Rare =:= 0 -> error({rare, N});
work({N, _}) -> N.
