%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What the program says it costs a node whose own processes never wait, for a reduction of its work,
%%% against what it says of the same node at rest; and how many ticks a recording has beside them.
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
    {Target, Node, _} = cheap:target(Root, Processes),
    io:format("OTP ~s, ~w processes, load of the host ~s~n  ~-30s ~10s ~10s ~10s ~7s~n",
              [rpc:call(Node, erlang, system_info, [otp_release]), Processes, host_load(),
               "", "ms a tick", "reductions", "ns each", "ratio"]),
    Quiet = price(Program, Node),
    row("at rest", Quiet, Quiet),
    [beside(Program, Node, Loops, Quiet) || Loops <- [6, 10]],
    queries:stop_target(Target).

beside(Program, Node, Loops, Quiet) ->
    Pids = busy(Node, Loops),
    Busy = price(Program, Node),
    Name = "beside " ++ integer_to_list(Loops) ++ " that never wait",
    row(Name, Busy, Quiet),
    Loops =:= 10 andalso record(Program, Node),
    queries:evaluate(Node, "lists:foreach(fun(P) -> exit(P, kill) end, Ps).", [{'Ps', Pids}]),
    %% The last price was of a busy node.
    row(Name ++ ", after", price(Program, Node), Quiet).

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

row(Name, {Us, Reductions}, {QuietUs, QuietReductions}) ->
    Ratio = (Us / Reductions) / (QuietUs / QuietReductions),
    Word = case Ratio >= 0.8 andalso Ratio =< 1.5 of true -> "ok"; false -> "MISSED" end,
    io:format("  ~-30s ~10.1f ~10w ~10.1f ~7.2f  ~s~n",
              [Name, Us / 1000, round(Reductions), 1000 * Us / Reductions, Ratio, Word]).

%% {Us, Reductions} of a tick, means.
price(Program, Node) ->
    Port = run(Program, ["top", atom_to_list(Node), "-n", integer_to_list(?TICKS), "-i", "0.5",
                         "-R", "40", "-F", "json", "-b", "100"]),
    Ticks = [tick(Line) || Line <- lines(Port), binary:match(Line, <<"\"target_us\"">>) =/= nomatch],
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
    Scans = lists:usort([hd(binary:split(Line, <<",">>))
                         || Line <- tl(lines(run(Program, ["export", File, "processes"])))]),
    io:format("  with processes: ~w~n", [length(Scans)]),
    [io:format("  found: ~s~n", [Title]) || Title <- titles(lines(run(Program, ["report", File])))],
    file:delete(File).

titles(Lines) -> [Line || Line <- Lines, re:run(Line, "^ *[0-9]+\\. ") =/= nomatch].

run(Program, [Command | Args]) ->
    Cookie = case lists:member(Command, ["export", "report"]) of
        true -> [];
        false -> ["--cookie", "beamtop_test", "-t", "30"]
    end,
    open_port({spawn_executable, Program},
              [{args, [Command | Args] ++ Cookie}, {line, 1000000}, binary, exit_status, hide]).

lines(Port) ->
    receive
        {Port, {data, {eol, Line}}} -> [Line | lines(Port)];
        {Port, {data, {noeol, _}}} -> lines(Port);
        {Port, {exit_status, 0}} -> [];
        {Port, {exit_status, N}} -> error({program_ended, N})
    after 180000 -> error(silent)
    end.
