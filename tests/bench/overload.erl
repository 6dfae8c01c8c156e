%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What the program says it costs a node whose own processes never wait, for a reduction of its work,
%%% against what that costs the same node at rest: said then, and CPU time of the VM's threads, which
%%% other programs on the host do not make longer. And how many ticks a recording has beside them.
-module(overload).
-export([main/1]).

-define(TICKS, 12).
-define(FIRST, 2). %% ticks in which queries are loaded
-define(RECORD_S, 30).
%% A header is never older than this, whatever the cost limit says.
-define(HEADER_S, 2).

%% Args: [Program, Root | numbers of processes]
main([Program, Root | Sizes]) ->
    [size(Program, Root, Processes) || Processes <- Sizes].

size(Program, Root, Processes) ->
    {Target, Node, OsPid} = cheap:target(Root, Processes),
    io:format("OTP ~s, ~w processes, load of the host ~s~n  ~-30s ~10s ~10s ~10s ~8s ~8s~n",
              [rpc:call(Node, erlang, system_info, [otp_release]), Processes, host_load(),
               "", "ms a tick", "reductions", "ns each", "to said", "to CPU"]),
    {Quiet, Cpu} = at_rest(Program, Node, OsPid),
    io:format("  ~-30s ~10.1f~n", ["CPU time at rest", element(1, Cpu) / 1000]),
    row("said at rest", Quiet, Quiet, Cpu),
    [beside(Program, Node, Loops, Quiet, Cpu) || Loops <- [6, 10]],
    queries:stop_target(Target).

beside(Program, Node, Loops, Quiet, Cpu) ->
    Pids = busy(Node, Loops),
    Busy = price(Program, Node, fun() -> ok end),
    row("said beside " ++ integer_to_list(Loops), Busy, Quiet, Cpu),
    Loops =:= 10 andalso record(Program, Node),
    queries:evaluate(Node, "lists:foreach(fun(P) -> exit(P, kill) end, Ps).", [{'Ps', Pids}]).

%% What is said of a tick, and what it is outside, without what the node does by itself.
at_rest(Program, Node, OsPid) ->
    Since = fun(Ms) -> Us = scan:cpu_us(OsPid), timer:sleep(Ms), scan:cpu_us(OsPid) - Us end,
    Idle = Since(3000) / 3000000,
    put(marks, []),
    Mark = fun() ->
        put(marks, [{scan:cpu_us(OsPid), erlang:monotonic_time(microsecond)} | get(marks)])
    end,
    {_, Reductions} = Quiet = price(Program, Node, Mark),
    Marks = lists:reverse(get(marks)),
    {{Cpu0, At0}, {Cpu1, At1}} = {lists:nth(?FIRST, Marks), lists:last(Marks)},
    {Quiet, {(Cpu1 - Cpu0 - Idle * (At1 - At0)) / (length(Marks) - ?FIRST), Reductions}}.

%% Native work, a few turns of a scheduler for each step of the evaluator.
busy(Node, Loops) ->
    queries:evaluate(Node,
        "Turn = fun Turn(List) -> lists:sort(List), lists:seq(1, 10000), Turn(List) end,"
        "lists:map(fun(_) -> spawn(fun() -> Turn(lists:reverse(lists:seq(1, 10000))) end) end,"
        "          lists:seq(1, Loops)).", [{'Loops', Loops}]).

host_load() ->
    {ok, Text} = file:read_file("/proc/loadavg"),
    [One | _] = binary:split(Text, <<" ">>),
    One.

row(Name, {Us, Reductions} = Price, Quiet, Cpu) ->
    Each = fun({Of, Count}) -> Of / Count end,
    [Said, Outside] = [Each(Price) / Each(Of) || Of <- [Quiet, Cpu]],
    Good = fun(Ratio) -> Ratio >= 0.8 andalso Ratio =< 1.5 end,
    %% Other programs make what is said at rest too high, and never what is measured.
    Word = case Good(Said) orelse Good(Outside) of true -> "ok"; false -> "MISSED" end,
    io:format("  ~-30s ~10.1f ~10w ~10.1f ~8.2f ~8.2f  ~s~n",
              [Name, Us / 1000, round(Reductions), 1000 * Each(Price), Said, Outside, Word]).

%% {Us, Reductions} of a tick, means.
price(Program, Node, Each) ->
    Port = run(Program, ["top", atom_to_list(Node), "-n", integer_to_list(?TICKS), "-i", "0.5",
                         "-R", "40", "-F", "json", "-b", "100"]),
    Ticks = [tick(Line) || Line <- lines(Port, Each),
                           binary:match(Line, <<"\"target_us\"">>) =/= nomatch],
    {Us, Reductions} = lists:unzip(lists:nthtail(?FIRST, Ticks)),
    {lists:sum(Us) / length(Us), lists:sum(Reductions) / length(Reductions)}.

tick(Line) ->
    [Us, PerS, Interval] = [number(Line, Key) || Key <- ["target_us", "own_reductions_per_s",
                                                         "interval_us"]],
    {Us, PerS * Interval / 1000000}.

number(Line, Key) ->
    {match, [Text]} = re:run(Line, "\"" ++ Key ++ "\": ?([0-9.e+-]+)", [{capture, [1], list}]),
    case string:to_float(Text) of
        {error, no_float} -> list_to_integer(Text);
        {Number, _} -> Number
    end.

record(Program, Node) ->
    File = "/tmp/overload" ++ os:getpid() ++ ".btr",
    lines(run(Program, ["record", atom_to_list(Node), "-o", File, "-i", "1",
                        "--for", integer_to_list(?RECORD_S) ++ "s"])),
    Ticks = length(lines(run(Program, ["export", File, "system"]))) - 1,
    Least = ?RECORD_S div ?HEADER_S,
    Good = case Ticks >= Least of true -> "ok"; false -> "MISSED" end,
    io:format("  a recording of ~w s has ~w ticks (>= ~w)  ~s~n", [?RECORD_S, Ticks, Least, Good]),
    Report = lines(run(Program, ["report", File])),
    [io:format("  ~s~n", [Line]) || Line <- Report, re:run(Line, "^(\\[|Watching)") =/= nomatch],
    file:delete(File).

run(Program, [Command | Args]) ->
    Cookie = case lists:member(Command, ["export", "report"]) of
        true -> [];
        false -> ["--cookie", "beamtop_test", "-t", "30"]
    end,
    open_port({spawn_executable, Program},
              [{args, [Command | Args] ++ Cookie}, {line, 1000000}, binary, exit_status, hide]).

lines(Port) -> lines(Port, fun() -> ok end).

lines(Port, Each) ->
    receive
        {Port, {data, {eol, Line}}} -> Each(), [Line | lines(Port, Each)];
        {Port, {data, {noeol, _}}} -> lines(Port, Each);
        {Port, {exit_status, 0}} -> [];
        {Port, {exit_status, N}} -> error({program_ended, N})
    after 180000 -> error(silent)
    end.
