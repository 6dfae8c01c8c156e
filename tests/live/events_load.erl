%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_events.sh: what a node's system events are about. Files in the directory are how
%% the script asks; each is deleted when it is done:
%%   gc      events_gc has a large heap, whose collections take long
%%   busy    events_busy keeps its scheduler for long
%%   queue   events_queue has 100 messages, and reads them
%%   request events_caller calls serve/0 five times a second, which collects its large heap
%%   port    three processes send to a port whose other end does not read
%%   dist    events_dist sends to a node that has been stopped; undist: that node is killed
%%   flood   two processes collect large heaps as fast as they can; calm: they end
%%   take    events_owner has the node's system monitor; give: it has ended
%%   cut     the connections of beamtops are cut
%%   kill    the process that holds what is set is killed
%%   look    `monitor` is written: what erlang:system_monitor/0 says
%%   audit   `left` is written, by audit.erl
-module(events_load).

-export([start/2, call/1, serve/0, collect/1, compare/0, read/0, send/2, send_peer/2, flood/0, own/1]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    Options = [binary, {active, false}, {ip, {127, 0, 0, 1}}],
    {ok, Listener} = gen_tcp:listen(0, Options),
    {ok, Port} = inet:port(Listener),
    {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    {ok, Server} = gen_tcp:accept(Listener),
    put(sockets, [Listener, Server]),
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, Client).

loop(Dir, Baseline, Client) ->
    Orders = [{"gc", fun() -> run(events_gc, collect, [3000000]) end},
              {"busy", fun() -> run(events_busy, compare, []) end},
              {"queue", fun() ->
                  Pid = run(events_queue, read, []),
                  [Pid ! N || N <- lists:seq(1, 100)],
                  Pid ! go
               end},
              {"request", fun() -> run(events_caller, call, [400000]) end},
              {"port", fun() -> [run(Name, send, [Client, 200])
                                 || Name <- [events_one, events_two, events_three]] end},
              {"dist", fun() ->
                  {Peer, OsPid} = start_peer(),
                  [] = os:cmd("kill -STOP " ++ OsPid),
                  put(peer, OsPid),
                  run(events_dist, send_peer, [Peer, 1000])
               end},
              {"undist", fun() ->
                  exit(whereis(events_dist), kill),
                  [] = os:cmd("kill -KILL " ++ erase(peer))
               end},
              {"flood", fun() ->
                  put(flood, [spawn_opt(?MODULE, flood, [], [{min_heap_size, 300000}])
                              || _ <- [1, 2]])
               end},
              {"calm", fun() -> [exit(P, kill) || P <- erase(flood)] end},
              {"take", fun() ->
                  Pid = run(events_owner, own, [self()]),
                  receive {Pid, owns} -> ok end
               end},
              {"give", fun() ->
                  Pid = whereis(events_owner),
                  Gone = monitor(process, Pid),
                  exit(Pid, kill),
                  receive {'DOWN', Gone, _, _, _} -> ok end
               end},
              {"cut", fun() ->
                  [erlang:disconnect_node(N) || N <- nodes(hidden),
                                                lists:prefix("beamtop", atom_to_list(N))]
               end},
              {"kill", fun() -> exit(whereis(beamtop_events), kill) end},
              {"look", fun() -> write(Dir, "monitor", erlang:system_monitor()) end},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, Client).

write(Dir, Name, Term) ->
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".new", io_lib:format("~0p~n", [Term])),
    ok = file:rename(File ++ ".new", File).

run(Name, Function, Arguments) ->
    Before = whereis(Name),
    Before =:= undefined orelse begin unregister(Name), exit(Before, kill) end,
    Pid = spawn(?MODULE, Function, Arguments),
    true = register(Name, Pid),
    Pid.

collect(N) ->
    List = lists:seq(1, N),
    erlang:garbage_collect(),
    receive stop -> List after 60000 -> length(List) end.

call(N) -> call_with(lists:seq(1, N)).

call_with(List) ->
    ok = ?MODULE:serve(),
    receive stop -> List after 200 -> call_with(List) end.

serve() ->
    erlang:garbage_collect(),
    ok.

%% Two equal terms that are not the same: compared in one go.
compare() ->
    true = deep(24) =:= deep(24),
    receive after 60000 -> ok end.

deep(0) -> [];
deep(N) -> D = deep(N - 1), [D | D].

read() ->
    receive go -> ok end,
    read_all().

read_all() ->
    receive N when is_integer(N) -> read_all() after 60000 -> ok end.

send(_, 0) -> ok;
send(Port, N) ->
    _ = gen_tcp:send(Port, binary:copy(<<0>>, 65536)),
    send(Port, N - 1).

%% A second node of this release.
start_peer() ->
    Name = "events_peer" ++ os:getpid() ++ "@127.0.0.1",
    Peer = list_to_atom(Name),
    Arguments = ["-noinput", "-hidden", "-name", Name, "-setcookie",
                 atom_to_list(erlang:get_cookie()), "-start_epmd", "false"],
    Erl = filename:join([code:root_dir(), "bin", "erl"]),
    put(peer_port, open_port({spawn_executable, Erl}, [{args, Arguments}])),
    true = is_connected(Peer, 600),
    {Peer, rpc:call(Peer, os, getpid, [])}.

is_connected(_, 0) -> false;
is_connected(Peer, Tries) ->
    net_kernel:connect_node(Peer) =:= true orelse
        begin receive after 100 -> ok end, is_connected(Peer, Tries - 1) end.

send_peer(_, 0) -> ok;
send_peer(Peer, N) ->
    {events_sink, Peer} ! binary:copy(<<0>>, 65536),
    send_peer(Peer, N - 1).

flood() ->
    erlang:garbage_collect(),
    flood().

own(Who) ->
    undefined = erlang:system_monitor(self(), [{long_gc, 4711}, busy_port]),
    Who ! {self(), owns},
    receive after infinity -> ok end.
