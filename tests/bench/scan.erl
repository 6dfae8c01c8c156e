%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What a scan costs a target: time against a bare sweep timed on the same node in the same run,
%%% bytes shipped, peak growth of the node's memory, and the collection of etop beside it.
-module(scan).
-export([bare/2, cpu_us/1, resident/2, etop/2, main/1, target/2, default_scan/0]).

-define(TICKS, 20).

default_scan() ->
    #{attr => reductions, mode => delta, order => desc, rows => 40,
      items => [id, reductions, memory, message_queue_len, current_function, status],
      pids => [], own => false, filter => none, reset => false}.

%% Args: [Processes, Root…]
main([Processes | Roots]) ->
    io:format("~-6s ~9s ~9s ~9s ~6s ~9s ~8s ~8s ~8s ~9s ~7s~n",
              ["otp", "processes", "bare us", "tick us", "ratio", "cpu us", "agree %", "bytes",
               "peak MiB", "etop cpu", "etop kB"]),
    lists:foreach(fun(Root) -> bench(Root, Processes) end, Roots).

target(Root, Processes) ->
    %% No busy waiting: what the VM's threads use is then what it worked.
    %% processes() looks at all of the table: a small node keeps the size that it has by default.
    Table = case Processes > 10000 of true -> ["+P", "4000000"]; false -> [] end,
    Target = {Node, _} = queries:start_target(Root,
        Table ++ ["+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"]),
    queries:evaluate(Node, "P = spawn(timer, sleep, [infinity]), register(churn, P), ok.", []),
    queries:evaluate(Node, "lists:foreach(fun(_) -> spawn(timer, sleep, [infinity]) end, lists:seq(1, N)).",
         [{'N', Processes}]),
    Target.

%% 100 deaths, 100 births, 50 processes that do something.
churn(Node) ->
    queries:evaluate(Node, "Ps = lists:nthtail(length(processes()) div 2, processes()),"
               "lists:foreach(fun(P) -> exit(P, kill) end, lists:sublist("
               "  [P || P <- lists:sublist(Ps, 1000),"
               "   process_info(P, current_function) =:= {current_function, {timer, sleep, 1}}],"
               "  100)),"
               "lists:foreach(fun erlang:garbage_collect/1, lists:sublist(processes(), 100, 50)),"
               "lists:foreach(fun(_) -> spawn(timer, sleep, [infinity]) end, lists:seq(1, 100)).",
         []).

bare(Node, Times) ->
    Us = [queries:evaluate(Node,
               "T = erlang:monotonic_time(), Ps = processes(),"
               "lists:zipwith(fun erlang:process_info/2, Ps,"
               "  lists:duplicate(length(Ps), reductions)),"
               "erlang:convert_time_unit(erlang:monotonic_time() - T, native, microsecond).", [])
          || _ <- lists:seq(1, Times)],
    median(Us).

bench(Root, Processes) ->
    {Node, Port} = Target = target(Root, Processes),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    Peak = peak(Node),
    Keeper = queries:connect(Node),
    queries:load_all(Keeper),
    [begin churn(Node), timer:sleep(60), tick(Keeper, OsPid) end || _ <- lists:seq(1, 3)],
    Ticks = [begin
                 churn(Node),
                 timer:sleep(60),
                 T = tick(Keeper, OsPid),
                 {T, bare(Node, 5)}
             end || _ <- lists:seq(1, ?TICKS)],
    Bare = median([B || {_, B} <- Ticks]),
    Told = median([U || {{U, _, _}, _} <- Ticks]),
    Cpu = median([C || {{_, C, _}, _} <- Ticks]),
    Sizes = [S || {{_, _, S}, _} <- Ticks],
    {Etop, EtopBytes} = etop(Node, OsPid),
    Otp = rpc:call(Node, erlang, system_info, [otp_release]),
    io:format("~-6s ~9w ~9w ~9w ~6.2f ~9w ~8.1f ~8w ~8.1f ~9w ~7w~n",
              [Otp, Processes, Bare, Told, Told / Bare, Cpu, 100 * Told / Cpu, lists:max(Sizes),
               Peak / 1048576, Etop, EtopBytes div 1024]),
    queries:stop_target(Target).

tick(Keeper, OsPid) ->
    Before = cpu_us(OsPid),
    {ok, {Us, _}, Answer} = queries:ask(Keeper, scan, {in, scan, default_scan()}, 60000),
    timer:sleep(5),
    {Us, cpu_us(OsPid) - Before, erlang:external_size(Answer)}.

%% Highest growth of the node's memory while a client connects and takes some ticks.
peak(Node) ->
    queries:evaluate(Node, "lists:foreach(fun erlang:garbage_collect/1, processes()).", []),
    Sampler = queries:evaluate(Node,
        "spawn_opt(fun() -> (fun Loop(Max) ->"
        " receive {stop, P} -> P ! {max, Max} after 1 ->"
        " Loop(max(Max, erlang:memory(total))) end end)(0) end, [{priority, max}]).", []),
    churn(Node),
    timer:sleep(500),
    Before = rpc:call(Node, erlang, memory, [total]),
    Me = self(),
    {Client, Mon} = spawn_monitor(fun() ->
        Keeper = queries:connect(Node),
        queries:load_all(Keeper),
        [begin
             {ok, _, _} = queries:ask(Keeper, scan, {in, scan, default_scan()}, 60000),
             timer:sleep(20)
         end || _ <- lists:seq(1, 8)],
        Sampler ! {stop, Me}
    end),
    receive {'DOWN', Mon, process, Client, normal} -> ok; {'DOWN', Mon, process, Client, Why} -> error(Why) end,
    receive {max, Max} -> Max - Before end.

%% CPU time of all threads of a process, from the scheduler of the kernel.
cpu_us(OsPid) ->
    Dir = lists:concat(["/proc/", OsPid, "/task/"]),
    {ok, Tasks} = file:list_dir(Dir),
    lists:sum([case file:read_file(Dir ++ Task ++ "/schedstat") of
                   {ok, Text} -> binary_to_integer(hd(binary:split(Text, <<" ">>)));
                   {error, _} -> 0
               end || Task <- Tasks]) div 1000.

%% In KiB; Key: VmRSS or VmHWM.
resident(OsPid, Key) ->
    {ok, Text} = file:read_file(lists:concat(["/proc/", OsPid, "/status"])),
    {match, [Number]} = re:run(Text, Key ++ ":\\s+(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(Number).

etop(Node, OsPid) ->
    %% The target runs in embedded mode, which loads nothing by itself.
    {module, _} = queries:evaluate(Node,
        "[Dir | _] = filelib:wildcard(code:root_dir() ++ \"/lib/runtime_tools-*/ebin\"),"
        "code:load_abs(filename:join(Dir, observer_backend)).", []),
    Runs = [begin
                Before = cpu_us(OsPid),
                Collected = rpc:call(Node, observer_backend, etop_collect, [self()], 60000),
                case Collected of
                    {badrpc, _} -> {0, 0};
                    _ ->
                        receive {_, Info} when element(1, Info) =:= etop_info ->
                            timer:sleep(5),
                            {cpu_us(OsPid) - Before, erlang:external_size(Info)}
                        after 60000 -> {0, 0}
                        end
                end
            end || _ <- [1, 2, 3]],
    {median([Us || {Us, _} <- Runs]), lists:max([Bytes || {_, Bytes} <- Runs])}.

median(List) -> lists:nth((length(List) + 1) div 2, lists:sort(List)).
