%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_ports.sh: one of each kind of port and socket, in known states. Files in the
%% directory are how the script asks; each is deleted when it is done:
%%   waits   three processes send to ports_full, whose other end does not read; one to a socket
%%   pool    1,000 connections that are idle, then 400 more, whose other ends close
%%   leak    40 connections more, whose other ends close
%%   peer    connected to the node that stands in the file `name`; ports_flood sends to it
%%   many    2,500 ports more
%%   audit   `left` is written, by audit.erl
-module(ports_load).

-export([start/2, send/2, send_socket/1, flood/1]).

-define(LOCAL, {ip, {127, 0, 0, 1}}).
-define(PLAIN, [binary, {active, false}]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    {ok, Listener} = gen_tcp:listen(0, [?LOCAL, {backlog, 100} | ?PLAIN]),
    {ok, Port} = inet:port(Listener),
    {ok, Udp} = gen_udp:open(0, [?LOCAL]),
    Path = filename:join(Dir, "socket"),
    {ok, Local} = gen_tcp:listen(0, [{ifaddr, {local, Path}}]),
    Program = open_port({spawn, "sleep 1000"}, []),
    Open = connect(Listener, Port),
    Closed = connect(Listener, Port),
    close_other(Closed),
    {Full, _} = connect(Listener, Port),
    Sockets = sockets(),
    Numbers = [Port, element(2, inet:port(Udp)), element(2, Sockets)],
    ok = file:write_file(filename:join(Dir, "numbers"),
                         io_lib:format("~w ~w ~w ~s ~w ~w~n", Numbers ++
                             [Path, element(2, erlang:port_info(Program, os_pid)), Full])),
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, {Listener, Port, Full, Sockets, [Open, Closed, Local, Udp]}).

connect(Listener, Port) ->
    {ok, Client} = gen_tcp:connect({127, 0, 0, 1}, Port, ?PLAIN),
    {ok, Server} = gen_tcp:accept(Listener),
    {Client, Server}.

close_other({Client, _Server}) -> gen_tcp:close(Client).

pool(Listener, Port) ->
    Idle = [connect(Listener, Port) || _ <- lists:seq(1, 1000)],
    Left = [connect(Listener, Port) || _ <- lists:seq(1, 400)],
    lists:foreach(fun close_other/1, Left),
    {Idle, Left}.

%% One that listens, and a connection to it; OTP 23 says the port that it got.
sockets() ->
    {ok, Listener} = socket:open(inet, stream, tcp),
    Address = #{family => inet, addr => {127, 0, 0, 1}},
    _ = socket:bind(Listener, Address#{port => 0}),
    ok = socket:listen(Listener),
    {ok, #{port := Port}} = socket:sockname(Listener),
    {ok, Client} = socket:open(inet, stream, tcp),
    _ = socket:connect(Client, Address#{port => Port}),
    {ok, Server} = socket:accept(Listener),
    {Client, Port, Listener, Server}.

loop(Dir, Baseline, {Listener, Port, Full, Sockets, _} = Kept) ->
    Start = fun(Name, Function, Arguments) ->
        Pid = spawn(?MODULE, Function, Arguments),
        register(Name, Pid)
    end,
    Orders = [{"waits", fun() ->
                  [Start(Name, send, [Full, 1000]) || Name <- [ports_one, ports_two, ports_three]],
                  Start(ports_four, send_socket, [element(1, Sockets)])
               end},
              {"leak", fun() -> put(leak, [begin
                                               Both = connect(Listener, Port),
                                               close_other(Both),
                                               Both
                                           end || _ <- lists:seq(1, 40)])
               end},
              {"pool", fun() -> put(pool, pool(Listener, Port)) end},
              {"peer", fun() ->
                  {ok, Name} = file:read_file(filename:join(Dir, "name")),
                  Node = binary_to_atom(string:trim(Name), utf8),
                  ok = connect_node(Node, 100),
                  Start(ports_flood, flood, [Node])
               end},
              {"many", fun() ->
                  put(many, [erlang:open_port({spawn_driver, "udp_inet"}, [binary])
                             || _ <- lists:seq(1, 2500)])
               end},
              {"audit", fun() -> audit:write(Dir, Baseline ++ made()) end}],
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, Kept).

made() ->
    [P || N <- [ports_one, ports_two, ports_three, ports_four, ports_flood], P <- [whereis(N)],
          is_pid(P)].

%% Its name is known before it lets anyone in.
connect_node(Node, Left) when Left > 0 ->
    case net_kernel:connect_node(Node) of
        true -> ok;
        _ -> timer:sleep(100), connect_node(Node, Left - 1)
    end.

send(_, 0) -> ok;
send(Port, N) ->
    _ = gen_tcp:send(Port, binary:copy(<<"x">>, 100000)),
    send(Port, N - 1).

send_socket(Socket) ->
    _ = socket:send(Socket, binary:copy(<<"x">>, 1000000)),
    send_socket(Socket).

flood(Node) ->
    {ports_sink, Node} ! binary:copy(<<"x">>, 100000),
    flood(Node).
