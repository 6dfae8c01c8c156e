%% SPDX-License-Identifier: GPL-3.0-or-later
%% A node that connects and disconnects, for tests/live/test_mesh.sh. Files in the directory are how the
%% script asks; each is deleted when it is done. The file `peers` names other nodes, one a line:
%%   meet    pings them           part    disconnects them
%%   ports   `ends` has the local and the remote port of the connection to the first of them
%%   hold    sends to the first of them until a send would wait for the network
%%   raft    the tables of ra have the rows that the file `rows` has: {Leaderboard, States}
%%   audit   `left` is written, by audit.erl
-module(mesh_load).
-export([start/2, watch/2]).

start(Dir, _) ->
    spawn(fun() ->
        timer:sleep(100),
        ?MODULE:watch(Dir, processes())
    end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, Baseline) ->
    timer:sleep(50),
    {ok, Names} = file:list_dir(Dir),
    [
        begin
            asked(Name, Dir, Baseline),
            ok = file:delete(filename:join(Dir, Name))
        end
     || Name <- Names, lists:member(Name, ["meet", "part", "ports", "hold", "raft", "audit"])
    ],
    ?MODULE:watch(Dir, Baseline).

asked("meet", Dir, _) -> [net_adm:ping(Peer) || Peer <- peers(Dir)];
asked("part", Dir, _) -> [erlang:disconnect_node(Peer) || Peer <- peers(Dir)];
asked("ports", Dir, _) ->
    {_, Port} = lists:keyfind(hd(peers(Dir)), 1, erlang:system_info(dist_ctrl)),
    {ok, {_, Local}} = inet:sockname(Port),
    {ok, {_, Remote}} = inet:peername(Port),
    ok = file:write_file(filename:join(Dir, "ends"), io_lib:format("~b ~b~n", [Local, Remote]));
asked("hold", Dir, _) ->
    {_, Port} = lists:keyfind(hd(peers(Dir)), 1, erlang:system_info(dist_ctrl)),
    hold({nobody, hd(peers(Dir))}, binary:copy(<<0>>, 10000), Port);
asked("raft", Dir, _) ->
    {ok, [{Leaders, States}]} = file:consult(filename:join(Dir, "rows")),
    [played(Table, Rows) || {Table, Rows} <- [{ra_leaderboard, Leaders}, {ra_state, States}]];
asked("audit", Dir, Baseline) -> audit:write(Dir, Baseline).

%% The kernel takes some megabytes before the port has to wait.
hold(To, Message, Port) ->
    Sent = erlang:send(To, Message, [nosuspend]),
    {queue_size, Queued} = erlang:port_info(Port, queue_size),
    case Sent of
        nosuspend when Queued > 8192 -> ok;
        nosuspend -> timer:sleep(20), hold(To, Message, Port);
        ok -> hold(To, Message, Port)
    end.

peers(Dir) ->
    {ok, Text} = file:read_file(filename:join(Dir, "peers")),
    [binary_to_atom(Name, utf8) || Name <- binary:split(Text, <<"\n">>, [global, trim_all])].

played(Table, Rows) ->
    ets:info(Table, size) =:= undefined orelse ets:delete(Table),
    Table = ets:new(Table, [named_table, public]),
    true = ets:insert(Table, Rows).
