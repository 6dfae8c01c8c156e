%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What the program costs a target: its own `top`, default columns, 40 rows, as an OS process of its
%%% own; beside it, on the same node in the same run, a bare sweep and the collection of etop.
-module(cheap).
-export([main/1, light/1, target/2, churn/1, sampler/1, stop_sampler/1]).

-define(ROWS, 40).
-define(MIB, 1048576).

%% Args: [Program, Root | Tests]; a test is {load, Processes}, {opening, Processes}, {budget, Processes}
%% or {cost, Processes}.
main([Program, Root | Tests]) ->
    [test(Program, Root, Test) || Test <- Tests].

%% ---- A target with many processes, and what it is told to do

target(Root, Processes) ->
    Target = {Node, Port} = scan:target(Root, Processes),
    {os_pid, OsPid} = erlang:port_info(Port, os_pid),
    {Target, Node, OsPid}.


%% 100 births and 100 deaths, a second, by the node itself; and some processes that do something.
churn(Node) ->
    queries:evaluate(Node,
        "spawn(fun() -> register(bench_churn, self()), (fun Loop(Old) -> "
        " lists:foreach(fun(P) -> exit(P, kill) end, Old),"
        " New = lists:map(fun(_) -> spawn(timer, sleep, [infinity]) end, lists:seq(1, 100)),"
        " receive stop -> ok after 1000 -> Loop(New) end end)([]) end).", []).

figure(What, Value, Goal, Good) ->
    Word = case Good of true -> "ok"; false -> "MISSED"; told -> "" end,
    io:format("  ~-52s ~14s  ~-12s ~s~n", [What, Value, Goal, Word]).

%% A goal of large nodes.
goal(Processes, What, Value, Goal, Good) when Processes >= 50000 -> figure(What, Value, Goal, Good);
goal(_, What, Value, _, _) -> figure(What, Value, "", told).

text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).

%% ---- The program: one JSON object a tick

open(Program, Node, Ticks, Budget) ->
    open_port({spawn_executable, Program},
              [{args, ["top", atom_to_list(Node), "--cookie", "beamtop_test", "-n", integer_to_list(Ticks),
                       "-R", integer_to_list(?ROWS), "-F", "json", "-b", Budget, "-t", "30"]},
               {line, 1000000}, binary, exit_status, hide]).

%% {TargetUs, Bytes, Share} of the next tick, or done.
next(Port) ->
    receive
        {Port, {data, {eol, Line}}} ->
            {match, [Us, Bytes, Share]} =
                re:run(Line, "\"target_us\": ?(\\d+).*?\"bytes\": ?(\\d+).*?\"share\": ?([0-9.e+-]+)",
                       [{capture, all_but_first, list}]),
            {list_to_integer(Us), list_to_integer(Bytes), number(Share)};
        {Port, {exit_status, 0}} -> done;
        {Port, {exit_status, N}} -> error({program_ended, N})
    after 60000 -> error(silent)
    end.

number(Text) ->
    try list_to_float(Text) catch error:_ ->
        try float(list_to_integer(Text)) catch error:_ ->
            [A, B] = string:split(Text, "e"), list_to_float(A ++ ".0e" ++ B)
        end
    end.

ticks(Port, Each) ->
    case next(Port) of
        done -> [];
        Tick -> Each(), [Tick | ticks(Port, Each)]
    end.

%% ---- Tests

test(Program, Root, {load, Processes}) ->
    {Target, Node, OsPid} = target(Root, Processes),
    churn(Node),
    timer:sleep(1000),
    Sampler = sampler(Node),
    Before = rpc:call(Node, erlang, memory, [total]),
    Rss0 = scan:resident(OsPid, "VmRSS"),
    ok = file:write_file(lists:concat(["/proc/", OsPid, "/clear_refs"]), <<"5">>),
    P = open(Program, Node, 8, "100"),
    _ = ticks(P, fun() -> ok end),
    Peak = stop_sampler(Sampler) - Before,
    Rss = scan:resident(OsPid, "VmHWM") - Rss0,

    %% CPU time of the VM's threads from one bare sweep to the next, and of each of those. The node's
    %% own work is in the ticks: a millisecond.
    put(marks, []),
    P2 = open(Program, Node, 15, "100"),
    Ticks = ticks(P2, fun() ->
        timer:sleep(300),
        From = scan:cpu_us(OsPid),
        _ = bare(Node, 1),
        timer:sleep(5),
        put(marks, [{From, scan:cpu_us(OsPid)} | get(marks)])
    end),
    [_, _ | Steady] = Ticks,
    Marks = lists:nthtail(2, lists:reverse(get(marks))),
    Bare = median([To - From || {From, To} <- Marks]),
    Us = median(lists:zipwith(fun({_, Then}, {Now, _}) -> Now - Then end,
                              lists:droplast(Marks), tl(Marks))),
    Told = median([U || {U, _, _} <- Steady]),
    Bytes = lists:max([B || {_, B, _} <- Steady]),
    {EtopUs, EtopBytes} = scan:etop(Node, OsPid),
    {List, Census} = census(Node),
    heading(Node, Processes),
    figure("bare processes() and a sweep, us of CPU time", text("~w", [Bare]), "", told),
    figure("default tick, us of CPU time", text("~w", [Us]), "", told),
    figure("the same as the header tells it, us", text("~w", [Told]), "", told),
    %% Smaller nodes are swept another way, and a tick's fixed part is most of it.
    goal(Processes, "ratio of the tick to the bare sweep", text("~.2f", [Us / max(1, Bare)]), "<= 1.8",
         Us =< 1.8 * Bare),
    goal(Processes, "finding new ones, a multiple of processes()", text("~.2f", [Census / max(1, List)]),
         "<= 1.3", Census =< 1.3 * List),
    figure("bytes of a tick, both directions, largest", text("~w", [Bytes]), "<= 16384", Bytes =< 16384),
    figure("growth of the node's memory, MiB, highest", text("~.1f", [Peak / ?MIB]), "<= 16", Peak =< 16 * ?MIB),
    figure("growth of its resident memory, MiB, highest", text("~.1f", [Rss / 1024]), "<= 24", Rss =< 24 * 1024),
    figure("etop's collection, us of CPU time", text("~w", [EtopUs]), "", told),
    goal(Processes, "times cheaper than etop", text("~.1f", [EtopUs / Us]), ">= 4", EtopUs >= 4 * Us),
    figure("etop's collection, bytes", text("~w", [EtopBytes]), "", told),
    goal(Processes, "times fewer bytes than etop", text("~w", [round(EtopBytes / Bytes)]), ">= 500",
         EtopBytes >= 500 * Bytes),
    figure("first tick, us (expressions loaded, parts filled)", text("~w", [element(1, hd(Ticks))]), "", told),
    queries:stop_target(Target);

%% The screen, from its start on.
test(Program, Root, {opening, Processes}) ->
    {Target, Node, OsPid} = target(Root, Processes),
    timer:sleep(2000),
    I0 = scan:cpu_us(OsPid), timer:sleep(3000),
    Idle = scan:cpu_us(OsPid) - I0,
    C0 = scan:cpu_us(OsPid),
    Screen = spawn_link(fun() -> screen(Program, Node, 3) end),
    timer:sleep(3000),
    Us = scan:cpu_us(OsPid) - C0 - Idle,
    heading(Node, Processes),
    figure("the first 3 s, us of CPU time", text("~w", [Us]), "<= 160000", Us =< 160000),
    unlink(Screen),
    queries:stop_target(Target);

%% The header's number against the CPU time of the VM's threads, its idle time taken off.
test(Program, Root, {cost, Processes}) ->
    {Target, Node, OsPid} = target(Root, Processes),
    timer:sleep(1000),
    Count = 20,
    P = open(Program, Node, Count, "100"),
    {_, _, _} = next(P), {_, _, _} = next(P), {_, _, _} = next(P),
    Start = scan:cpu_us(OsPid), T0 = erlang:monotonic_time(microsecond),
    Told = [begin {U, _, _} = next(P), U end || _ <- lists:seq(4, Count)],
    timer:sleep(20),
    Cpu = scan:cpu_us(OsPid) - Start, Took = erlang:monotonic_time(microsecond) - T0,
    done = next(P),
    timer:sleep(500),
    I0 = scan:cpu_us(OsPid), timer:sleep(3000),
    Idle = (scan:cpu_us(OsPid) - I0) / 3000000,
    Outside = Cpu - Idle * Took,
    heading(Node, Processes),
    figure("told in the header, us a tick", text("~w", [round(lists:sum(Told) / length(Told))]), "", told),
    Each = round(Outside / length(Told)),
    {Goal, Good} = case Processes of 0 -> {"<= 3000", Each =< 3000}; _ -> {"", told} end,
    figure("measured outside, us of CPU time a tick", text("~w", [Each]), Goal, Good),
    figure("from tick to tick, ms, asked for 1000", text("~w", [round(Took / length(Told) / 1000)]),
           "<= 1250", Took =< 1250000 * length(Told)),
    Share = lists:sum(Told) / Outside,
    figure("told / measured", text("~.2f", [Share]), "0.8 to 1.25", Share >= 0.8 andalso Share =< 1.25),
    queries:stop_target(Target);

%% Within its budget at any size: the screen, since a batch command prints nothing before it has an
%% interval behind it, and that is minutes here.
test(Program, Root, {budget, Processes}) ->
    Seconds = 150,
    {Target, Node, OsPid} = target(Root, Processes),
    churn(Node),
    Bare = bare(Node),
    Sampler = sampler(Node),
    Before = rpc:call(Node, erlang, memory, [total]),
    I0 = scan:cpu_us(OsPid), timer:sleep(10000),
    Idle = (scan:cpu_us(OsPid) - I0) / 10000000,
    C0 = scan:cpu_us(OsPid), T0 = erlang:monotonic_time(microsecond),
    Me = self(),
    spawn_link(fun() -> timer:sleep(60000), Me ! {minute, scan:cpu_us(OsPid) - C0} end),
    Figures = screen(Program, Node, Seconds),
    Minute = receive {minute, MinuteUs} -> MinuteUs / 60000000 - Idle end,
    Outside = (scan:cpu_us(OsPid) - C0) / (erlang:monotonic_time(microsecond) - T0) - Idle,
    Peak = stop_sampler(Sampler) - Before,
    P = open(Program, Node, 3, "100"),
    [{Us, Bytes, _} | _] = lists:reverse(ticks(P, fun() -> ok end)),
    heading(Node, Processes),
    [Totals, First] =
        [begin {match, [Ms]} = re:run(Figures, Name ++ " ([0-9.]+)", [{capture, [1], list}]), Ms end
         || Name <- ["totals_ms", "first_screen_ms"]],
    figure("totals in the header, ms after start", Totals, "<= 300", list_to_float(Totals) =< 300.0),
    figure("first full screen, ms after start", First, "", told),
    figure("bare processes() and a sweep, us", text("~w", [Bare]), "", told),
    figure("tick, us", text("~w", [Us]), "", told),
    figure("ratio of the tick to the bare sweep", text("~.2f", [Us / Bare]), "", told),
    figure("share of a core, first 60 s less a sweep, %",
           text("~.2f", [(Minute - Bare / 60000000) * 100]), "<= 2.5",
           Minute - Bare / 60000000 =< 0.025),
    figure(text("share of a core outside, first ~w s, %", [Seconds]),
           text("~.2f", [Outside * 100]), "<= 2.4", Outside =< 0.024),
    figure("bytes of a tick", text("~w", [Bytes]), "<= 16384", Bytes =< 16384),
    figure("growth of the node's memory, MiB, highest", text("~.1f", [Peak / ?MIB]), "", told),
    queries:stop_target(Target).

heading(Node, Processes) ->
    io:format("OTP ~s, ~w processes~n", [rpc:call(Node, erlang, system_info, [otp_release]), Processes]).

%% Times of processes(), and of the calls with which the scan finds who is new.
census(Node) ->
    queries:evaluate(Node,
        "Known = processes(),"
        "Times = lists:map(fun(_) ->"
        "  A = erlang:monotonic_time(), _ = processes(),"
        "  B = erlang:monotonic_time(), Listed = processes(), _ = ordsets:is_set(Listed),"
        "  _ = length(ordsets:subtract(Listed, Known)), _ = length(Listed),"
        "  {B - A, erlang:monotonic_time() - B} end, lists:seq(1, 9)),"
        "{Lists, Censuses} = lists:unzip(Times),"
        "{lists:nth(5, lists:sort(Lists)), lists:nth(5, lists:sort(Censuses))}.", []).

bare(Node) -> bare(Node, 5).
bare(Node, Times) -> scan:bare(Node, Times).

screen(Program, Node, Seconds) ->
    Pty = filename:join(os:getenv("BEAMTOP_BUILDDIR"), "tests/bench/pty"),
    os:cmd(lists:concat(["'", Pty, "' -t ", Seconds, " '", Program, "' '", Node,
                         "' --cookie beamtop_test --no-config"])).

median(List) -> lists:nth((length(List) + 1) div 2, lists:sort(List)).

%% A process of the target at the highest priority looks at the memory every millisecond.
sampler(Node) ->
    queries:evaluate(Node, "lists:foreach(fun erlang:garbage_collect/1, processes()).", []),
    queries:evaluate(Node,
        "spawn_opt(fun() -> (fun Loop(Max) ->"
        " receive {stop, P} -> P ! {max, Max} after 1 ->"
        " Loop(max(Max, erlang:memory(total))) end end)(0) end, [{priority, max}]).", []).

stop_sampler(Sampler) ->
    Sampler ! {stop, self()},
    receive {max, Max} -> Max after 5000 -> error(sampler) end.

%% A target that waits for "stop" lines: for the bench of the program's own side. Prints its name
%% and OS pid, and ends when its input does. Args: [Root, Processes].
light([Root, Processes]) ->
    {Target, Node, OsPid} = target(Root, Processes),
    io:format("target ~w ~w~n", [Node, OsPid]),
    light_loop(Node),
    queries:stop_target(Target).

light_loop(Node) ->
    case io:get_line("") of
        "busy\n" ->
            queries:evaluate(Node,
                "lists:foreach(fun(_) -> spawn(fun() -> (fun Spin(End) ->"
                " lists:seq(1, 1000), case erlang:monotonic_time(millisecond) > End of true -> ok;"
                " false -> Spin(End) end end)(erlang:monotonic_time(millisecond) + 40000) end) end,"
                " lists:seq(1, 50)).", []),
            io:format("ok~n"),
            light_loop(Node);
        _ -> ok
    end.
