%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What questions about memory cost a target whose message queues are long: one of 2,000,000 messages
%%% and 40 of 200,000, that nobody takes. CPU time of the VM's threads while the program looks, without
%%% that of the node left alone; beside it what the program says it costs.
-module(queues).
-export([main/1]).

-define(MS, 30000).

%% Args: [Program, Root]
main([Program, Root]) ->
    {Target, Node, OsPid} = cheap:target(Root, 0),
    [fill(Node, Messages) || Messages <- [2000000 | lists:duplicate(40, 200000)]],
    settled(OsPid),
    io:format("OTP ~s, queues of 10,000,000 messages~n  ~-40s ~10s ~10s~n",
              [rpc:call(Node, erlang, system_info, [otp_release]), "ms of a second", "used", "said"]),
    Idle = used(OsPid, ?MS div 3),
    [look(Program, Node, OsPid, Idle, Args)
     || Args <- [["top", "-n", "0"], ["top", "-n", "0", "-s", "memory"], ["record", "-i", "1"]]],
    queries:stop_target(Target).

fill(Node, Messages) ->
    queries:evaluate(Node,
        "P = spawn(timer, sleep, [infinity]),"
        " lists:foreach(fun(_) -> lists:zipwith(fun erlang:send/2, lists:duplicate(100000, P),"
        "                                       lists:duplicate(100000, {event, P})) end,"
        "               lists:seq(1, N div 100000)), ok.", [{'N', Messages}]).

%% What the messages left to collect is collected.
settled(OsPid) ->
    case used(OsPid, 1000) < 20 of true -> ok; false -> settled(OsPid) end.

used(OsPid, Ms) ->
    Start = scan:cpu_us(OsPid),
    timer:sleep(Ms),
    (scan:cpu_us(OsPid) - Start) / Ms.

look(Program, Node, OsPid, Idle, [Command | Options]) ->
    File = "/tmp/queues" ++ os:getpid() ++ ".btr",
    Rest = case Command of "record" -> ["-o", File]; _ -> ["-F", "json"] end,
    Port = open_port({spawn_executable, Program},
                     [{args, [Command, atom_to_list(Node), "--cookie", "beamtop_test" | Options] ++ Rest},
                      {line, 1000000}, binary, exit_status, hide, stderr_to_stdout]),
    {os_pid, Pid} = erlang:port_info(Port, os_pid),
    timer:sleep(2000),
    flush(Port, 0),
    Used = used(OsPid, ?MS) - Idle,
    Said = flush(Port, 0) / ?MS,
    os:cmd("kill " ++ integer_to_list(Pid)),
    receive {Port, {exit_status, _}} -> ok after 10000 -> ok end,
    file:delete(File),
    io:format("  ~-40s ~10.1f ~10s~n",
              [lists:join(" ", [Command | Options]), Used,
               case Said > 0 of true -> io_lib:format("~.1f", [Said]); false -> "" end]).

%% Microseconds that the ticks say they cost.
flush(Port, Sum) ->
    receive
        {Port, {data, {_, Line}}} ->
            flush(Port, Sum + case re:run(Line, "\"target_us\": ?(\\d+)", [{capture, [1], list}]) of
                                  {match, [Us]} -> list_to_integer(Us);
                                  nomatch -> 0
                              end)
    after 0 -> Sum
    end.
