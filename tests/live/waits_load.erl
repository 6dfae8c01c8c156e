%% SPDX-License-Identifier: GPL-3.0-or-later
%% Processes that wait for each other, for test_waits.sh. Files in the directory are how the script asks:
%%   deadlock   waits_left and waits_right call each other; waits_third calls waits_left
%%   pool       12 processes wait for a worker of waits_pool, which has lent its only one
%%   suspend    waits_held is left in sys:suspend/1; two processes call it; nobody calls waits_left_alone, which is, too
%%   other      a process calls another node, which does not answer; `other_ends` ends that node
%%   many       a process that monitors five servers calls one of them
%%   places     processes wait in io, a start, two ports and a file's server
%%   free       all of these end
%%   audit      `left` is written, by audit.erl
-module(waits_load).

-export([start/2, init/1, handle_call/3, handle_cast/2, handle_info/2, slow_start/0]).

start(Dir, _Code) ->
    spawn(fun() ->
        file:write_file(filename:join(Dir, "pid"), "1"),
        loop(Dir, processes())
    end),
    ok.

loop(Dir, Baseline) ->
    Orders = [{atom_to_list(Name), fun() -> do(Name) end}
              || Name <- [deadlock, pool, suspend, other, other_ends, many, places, free]],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- [{"audit", fun() -> audit:write(Dir, Baseline) end} | Orders],
        File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

do(deadlock) ->
    [server(Name) || Name <- [waits_left, waits_right, waits_third]],
    gen_server:cast(waits_left, {call, waits_right}),
    gen_server:cast(waits_right, {call, waits_left}),
    gen_server:cast(waits_third, {call, waits_left});
do(pool) ->
    server(waits_pool),
    [caller(waits_pool) || _ <- lists:seq(1, 12)];
do(suspend) ->
    [sys:suspend(server(Name)) || Name <- [waits_held, waits_left_alone]],
    [caller(waits_held) || _ <- lists:seq(1, 2)];
do(other) ->
    Name = lists:concat(["waits_other", os:getpid(), "@127.0.0.1"]),
    Watch = "N = list_to_atom(hd(init:get_plain_arguments())), monitor_node(N, true), "
            "receive {nodedown, N} -> halt(0) end.",
    Port = open_port({spawn_executable, os:find_executable("erl")},
                     [{args, ["-noinput", "-name", Name, "-setcookie", atom_to_list(erlang:get_cookie()),
                              "-start_epmd", "false", "-eval", Watch, "-extra", atom_to_list(node())]}]),
    put(other, {list_to_atom(Name), Port}),
    connect(list_to_atom(Name), 600),
    keep(spawn(fun() -> rpc:call(list_to_atom(Name), timer, sleep, [infinity]) end));
do(other_ends) ->
    {Name, Port} = erase(other),
    rpc:cast(Name, erlang, halt, [0]),
    receive {Port, _} -> ok after 1000 -> ok end,
    catch port_close(Port);
do(many) ->
    Servers = [server(list_to_atom(lists:concat(["waits_many", I]))) || I <- lists:seq(1, 5)],
    keep(spawn(fun() -> [monitor(process, S) || S <- Servers], gen_server:call(hd(Servers), hang, infinity) end));
do(places) ->
    Own = self(),
    Leader = server(waits_leader),
    keep(spawn(fun() -> group_leader(Leader, self()), Own ! on, io:get_line("") end)),
    receive on -> ok end,
    keep(spawn(fun() -> register(waits_starter, self()), proc_lib:start_link(?MODULE, slow_start, []) end)),
    keep(spawn(fun() ->
        Port = open_port({spawn, "sleep 600"}, [binary]),
        [port_command(Port, binary:copy(<<"x">>, 100000)) || _ <- lists:seq(1, 100)]
    end)),
    keep(spawn(fun() -> os:cmd("sleep 600") end)),
    keep(spawn(fun() ->
        {ok, File} = file:open("/dev/null", [read]),
        register(waits_file, File),
        erlang:suspend_process(File),
        file:read(File, 1)
    end));
do(free) ->
    [begin R = monitor(process, P), exit(P, kill), receive {'DOWN', R, _, _, _} -> ok end end
     || P <- lists:reverse(get_kept())],
    put(kept, []).

slow_start() -> register(waits_child, self()), receive never -> ok end.

connect(Node, N) when N > 0 ->
    case net_kernel:connect_node(Node) of
        true -> ok;
        _ -> receive after 100 -> connect(Node, N - 1) end
    end.

get_kept() -> case get(kept) of undefined -> []; Pids -> Pids end.

keep(Pid) -> put(kept, [Pid | get_kept()]), Pid.

server(Name) ->
    {ok, Pid} = gen_server:start({local, Name}, ?MODULE, [], []),
    keep(Pid).

caller(Name) -> keep(spawn(fun() -> gen_server:call(Name, hang, infinity), ok end)).

init([]) -> {ok, []}.
handle_call(_, _, State) -> {noreply, State}.
handle_cast({call, Other}, State) ->
    gen_server:call(Other, hang, infinity),
    {noreply, State}.
handle_info(_, State) -> {noreply, State}.
