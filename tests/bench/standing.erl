%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What is known of a node with many of one thing, and what a bystander on it feels: how long the
%%% first line takes, CPU time of the VM while the program looks, and the longest pause of a process
%%% that wakes each millisecond, with the program and without.
-module(standing).
-export([main/1]).

-define(LOOK_S, 12).

%% Args: [Program, Root | Loads]; a load is {tables | spread | ports | sockets | timers | processes, N}.
main([Program, Root | Loads]) -> [load(Program, Root, Load) || Load <- Loads].

load(Program, Root, {What, N}) ->
    Target = {Node, _} = queries:start_target(Root, ["+P", "2000000", "+Q", "200000"]),
    Release = rpc:call(Node, erlang, system_info, [otp_release]),
    load_bystander(Node),
    Made = queries:evaluate(Node, make(What), [{'N', N}]),
    OsPid = rpc:call(Node, os, getpid, []),
    {Alone, Idle, _} = felt(Node, OsPid, fun() -> timer:sleep(?LOOK_S * 1000), 0 end),
    io:format("OTP ~s, ~w ~w: a bystander's longest pause ~.1f ms, CPU ~.2f % of a core~n",
              [Release, Made, What, Alone / 1000, Idle]),
    [begin
         {Long, Cpu, First} = felt(Node, OsPid, fun() -> look(Program, Node, Command) end),
         io:format("  ~-10s first line ~6.2f s, longest pause ~6.1f ms, CPU ~6.2f %~n",
                   [Command, First / 1000000, Long / 1000, Cpu - Idle])
     end || Command <- commands(What)],
    queries:stop_target(Target).

commands(tables) -> ["tables"];
commands(spread) -> ["tables"];
commands(ports) -> ["ports"];
commands(sockets) -> ["ports"];
commands(timers) -> ["terms"];
commands(processes) -> ["waits", "holders"].

make(tables) -> owner("[ets:new(bench, []) || _ <- lists:seq(1, N)]") ++ "N.";
make(spread) ->
    "[spawn(fun() -> Turn = fun T(L) -> lists:sort(L), T(L) end, Turn(lists:seq(10000, 1, -1)) end)"
    " || _ <- lists:seq(1, 4)]," ++
        owner("[ets:new(bench, [ordered_set, public, {write_concurrency, true}])"
              " || _ <- lists:seq(1, N)]") ++ "N.";
%% Without files: as many as the host allows are too few.
make(ports) ->
    owner("[open_port({spawn_driver, \"udp_inet\"}, [binary]) || _ <- lists:seq(1, N)]") ++
        count("port_count");
make(sockets) ->
    owner("[element(2, socket:open(inet, dgram, udp)) || _ <- lists:seq(1, N)]") ++
        "socket:number_of().";
make(timers) -> owner("[erlang:send_after(3600000, self(), x) || _ <- lists:seq(1, N)]") ++ "N.";
make(processes) ->
    "[spawn(erlang, hibernate, [timer, sleep, [infinity]]) || _ <- lists:seq(1, N)], "
    ++ count("process_count").

count(Item) -> "erlang:system_info(" ++ Item ++ ").".

%% A process that made them, and keeps them.
owner(Text) ->
    "Me = self(), spawn(fun() -> Kept = " ++ Text ++
        ", Me ! made, timer:sleep(infinity), length(Kept) end),"
        " receive made -> ok after 110000 -> exit(slow) end, ".

%% {longest pause in µs, CPU in percent of a core, what Fun returns}
felt(Node, OsPid, Fun) ->
    Bystander = rpc:call(Node, bystander, start, []),
    Us = scan:cpu_us(OsPid),
    At = erlang:monotonic_time(microsecond),
    Value = Fun(),
    Cpu = 100 * (scan:cpu_us(OsPid) - Us) / (erlang:monotonic_time(microsecond) - At),
    Bystander ! {tell, self()},
    receive {felt, Most} -> {Most, Cpu, Value} after 60000 -> error(silent) end.

%% Compiled, for releases from 23 on: it costs little, and its pauses are not those of the evaluator.
load_bystander(Node) ->
    Forms = [form(Text) || Text <- [
        "-module(bystander).",
        "-export([start/0, init/0]).",
        "start() -> spawn(bystander, init, []).",
        "init() -> turn(erlang:monotonic_time(microsecond), 0).",
        "turn(At, Most) -> receive {tell, To} -> To ! {felt, Most} after 1 ->"
        " Now = erlang:monotonic_time(microsecond), turn(Now, max(Most, Now - At)) end."]],
    {ok, bystander, Code} = compile:forms(Forms, [r23]),
    {module, bystander} = rpc:call(Node, code, load_binary, [bystander, "bystander", Code]).

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

%% µs until the first line.
look(Program, Node, Command) ->
    At = erlang:monotonic_time(microsecond),
    Port = open_port({spawn_executable, Program},
                     [{args, [Command, atom_to_list(Node), "--cookie", "beamtop_test", "-t", "30",
                              "-n", "0", "-F", "json"]}, {line, 1000000}, binary, hide]),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    First = receive {Port, {data, _}} -> erlang:monotonic_time(microsecond) - At
            after 60000 -> error(silent) end,
    timer:sleep(max(0, ?LOOK_S * 1000 - First div 1000)),
    os:cmd("kill -INT " ++ integer_to_list(OsPid)),
    catch port_close(Port),
    First.
