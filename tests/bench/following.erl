%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What following requests (`beamtop spans`) costs a node: a gen_server call of a process that has
%%% nothing to do with it, and one of a request that is followed; arming; callers that never pause.
%%% Then how near the numbers are, with the requests of spans_load.erl, whose times are known.
%%% All loads are short. Needs jq.
-module(following).
-export([main/1]).

-define(CALLS, 1500).

main([Program, Root]) ->
    {Node, _} = Target = queries:start_target(Root, ["+sbwt", "none"]),
    io:setopts([{encoding, unicode}]),
    io:format("following requests, OTP ~s~n", [rpc:call(Node, erlang, system_info, [otp_release])]),
    load(Node),
    calls(Node, Program),
    within(Node, Program),
    [busy(Node, Program, Every) || Every <- [1, 10, 1000]],
    numbers(Node, Program),
    known(Node, Program),
    ok = file:delete(kept()),
    queries:stop_target(Target).

figure(What, Value, Goal, Good) ->
    Word = case Good of true -> "ok"; false -> "MISSED"; told -> "" end,
    io:format("  ~-62ts ~16ts  ~-10s ~s~n", [What, Value, Goal, Word]).
below(What, Value, Goal) ->
    figure(What, text("~.2f", [float(Value)]), text("< ~w", [Goal]), Value < Goal).
told(What, Value) -> figure(What, text("~.2f", [float(Value)]), "", told).
text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).

%% A server and its callers, compiled so that the oldest release takes it.
load(Node) ->
    Source = "-module(bench_srv). -compile([export_all, nowarn_export_all])."
        " init(S) -> {ok, S}. handle_call(X, _, S) -> {reply, X, S}. handle_cast(_, S) -> {noreply, S}."
        " never() -> ok. request(N) -> loop(N), ok."
        " loop(0) -> ok; loop(N) -> gen_server:call(bench_srv, N), loop(N - 1)."
        " one() -> gen_server:call(bench_srv, x), ok."
        " tiny(X) -> X. tinies(0) -> ok; tinies(N) -> tiny(N), tinies(N - 1)."
        " nested(N) -> tinies(N), ok."
        " us(F, N) -> {P, M} = spawn_monitor(fun() -> exit({took, element(1, timer:tc(fun() ->"
        "   bench_srv:F(N) end)) / N}) end), receive {'DOWN', M, _, P, {took, Us}} -> Us end."
        " spaced(F, N, R) -> lists:min([begin receive after 30 -> ok end, us(F, N) end || _ <- lists:seq(1, R)])."
        " least(F, N, 0, Us) -> Us; least(F, N, R, Us) -> least(F, N, R - 1, min(Us, us(F, N)))."
        " hot(Counter, Until) -> one(), counters:add(Counter, 1, 1),"
        "   erlang:monotonic_time(millisecond) < Until andalso hot(Counter, Until)."
        " rate(Callers, Ms) -> {C, All} = start(Callers, Ms),"
        "   [receive {'DOWN', M, _, _, _} -> ok end || {_, M} <- All], counters:get(C, 1) * 1000 / Ms."
        " start(Callers, Ms) -> C = counters:new(1, []), Until = now_ms() + Ms,"
        "   {C, [spawn_monitor(fun() -> hot(C, Until) end) || _ <- lists:seq(1, Callers)]}."
        " now_ms() -> erlang:monotonic_time(millisecond)."
        %% The longest queue of the collector, looked at each ms, and calls/s while it is there.
        " watched(Callers, Ms) -> {C, All} = start(Callers, Ms), W = watch(C, none, {0, 0}, now_ms() + Ms),"
        "   [exit(P, kill) || {P, _} <- All], W."
        " watch(C, First, {Most, Last}, Until) -> receive after 1 -> ok end, Now = {now_us(), counters:get(C, 1)},"
        "   L = case seq_trace:get_system_tracer() of P when is_pid(P) ->"
        "     case process_info(P, message_queue_len) of {_, N} -> N; _ -> 0 end; _ -> gone end,"
        "   case {L, First, now_ms() < Until} of"
        "     {gone, none, true} -> watch(C, none, {0, Now}, Until);"
        "     {gone, none, false} -> {0, 0};"
        "     {gone, {T, N0}, _} -> {T1, N1} = Last, {Most, (N1 - N0) * 1.0e6 / max(1, T1 - T)};"
        "     {_, none, _} -> watch(C, Now, {L, Now}, Until);"
        "     {_, _, _} -> watch(C, First, {max(Most, L), Now}, Until) end."
        " now_us() -> erlang:monotonic_time(microsecond)."
        %% Requests one after the other, with the time that each took by its own clock.
        " known(Case, Took) -> {P, M} = spawn_monitor(fun() -> T = now_us(), catch spans_load:root(Case),"
        "   exit({took, now_us() - T}) end), Us = receive {'DOWN', M, _, _, {took, U}} -> U end,"
        "   All = [{pid_to_list(P), Us} | Took],"
        "   receive {stop, From} -> From ! {took, All} after 60 -> known(Case, All) end."
        " knowing(Case) -> spawn(fun() -> known(Case, []) end)."
        " known_of(P) -> P ! {stop, self()}, receive {took, All} -> All end.",
    Old = rpc:call(Node, erlang, system_info, [otp_release]) < "25",
    {ok, Module, Code} = compile:forms(forms(Source ++ " ", 1), [r23 || Old]),
    {module, Module} = rpc:call(Node, code, load_binary, [Module, "", Code]),
    queries:evaluate(Node, "{ok, P} = gen_server:start({local, bench_srv}, bench_srv, [], []), P.", []),
    Known = filename:join(os:getenv("BEAMTOP_SRCDIR", "."), "tests/live/spans_load.erl"),
    {ok, spans_load, Requests} = compile:file(Known, [binary | [r23 || Old]]),
    {module, spans_load} = rpc:call(Node, code, load_binary, [spans_load, "", Requests]),
    true = rpc:call(Node, spans_load, warm, [], 60000).

forms(Text, Line) ->
    case erl_scan:tokens([], Text, Line) of
        {done, {ok, Tokens, Next}, Rest} ->
            {ok, Form} = erl_parse:parse_form(Tokens),
            [Form | forms(Rest, Next)];
        _ -> []
    end.

least(Node, F, N, Runs) -> rpc:call(Node, bench_srv, least, [F, N, Runs, infinity], 60000).

%% The program, until its capture ends.
start(Program, Node, Arguments) ->
    open_port({spawn_executable, Program},
              [{args, ["spans", atom_to_list(Node), "--cookie", "beamtop_test", "--force",
                       "--timeout", "60", "--format", "json" | Arguments]},
               binary, exit_status, stderr_to_stdout, hide]).
armed(Node) -> rpc:call(Node, seq_trace, get_system_tracer, []) =/= false.
wait_armed(Node) -> queries:wait(fun() -> armed(Node) end, 60000).
%% Its object, in a file.
wait(Port) -> wait(Port, []).
wait(Port, All) ->
    receive
        {Port, {exit_status, _}} ->
            Lines = binary:split(iolist_to_binary(All), <<"\n">>, [global]),
            ok = file:write_file(kept(), [L || <<"{", _/binary>> = L <- Lines]),
            kept();
        {Port, {data, Data}} -> wait(Port, [All, Data])
    end.
kept() -> filename:join(os:getenv("TMPDIR", "/tmp"), "beamtop-following-" ++ os:getpid() ++ ".json").
capture(Program, Node, Arguments) -> wait(start(Program, Node, Arguments)).

%% Numbers that a filter prints, one a line.
jq(File, Filter) ->
    [number(T) || T <- string:lexemes(os:cmd("jq -r '" ++ Filter ++ "' " ++ File), "\n")].
number(Text) ->
    case string:to_float(Text) of
        {error, _} -> float(list_to_integer(Text));
        {F, _} -> F
    end.

%% A run of the same calls before each: the machine changes.
calls(Node, Program) ->
    Plain = least(Node, loop, ?CALLS, 80),
    told("µs a gen_server call, nothing armed", Plain),
    lists:foreach(fun({Mode, Full}) ->
        Bystander = [bystander(Node, Program, Full) || _ <- [1, 2, 3]],
        [Before, During] = [lists:min([element(N, B) || B <- Bystander]) || N <- [1, 2]],
        below("µs more for others' calls, " ++ Mode, During - Before, 0.4),
        Followed = [begin
            P = start(Program, Node, ["bench_srv:request(_)", "--roots", "12", "--time", "30s" | Full]),
            wait_armed(Node),
            Took = rpc:call(Node, bench_srv, spaced, [request, 100, 12], 60000),
            File = wait(P),
            {Took, hd(jq(File, ".arm_us")), hd(jq(File, ".disarm_us"))}
        end || _ <- lists:seq(1, 4)],
        below("µs a call of a followed request, " ++ Mode, lists:min([T || {T, _, _} <- Followed]), 12),
        told("µs of the node to arm, " ++ Mode, lists:min([A || {_, A, _} <- Followed])),
        told("µs of the node to disarm, " ++ Mode, lists:min([D || {_, _, D} <- Followed]))
    end, [{"light", []}, {"full", ["--full"]}]),
    told("µs a gen_server call, after all that", least(Node, loop, ?CALLS, 80)).

%% Calls of a function of --calls: for no root, and for one.
within(Node, Program) ->
    Calls = ["--calls", "bench_srv:tiny(_)"],
    Others = [bystander(Node, Program, tinies, Calls) || _ <- [1, 2, 3]],
    [Before, During] = [lists:min([element(N, B) || B <- Others]) || N <- [1, 2]],
    told("µs a call of a function, nothing armed", Before),
    told("µs more with --calls, for no root", During - Before),
    Followed = [begin
        P = start(Program, Node, ["bench_srv:nested(_)", "--roots", "12", "--time", "30s" | Calls]),
        wait_armed(Node),
        Took = rpc:call(Node, bench_srv, spaced, [nested, 100, 12], 60000),
        wait(P),
        Took
    end || _ <- lists:seq(1, 4)],
    told("µs a call with --calls, for a root", lists:min(Followed)).

bystander(Node, Program, Full) -> bystander(Node, Program, loop, Full).

%% Only where the capture was there to the end.
bystander(Node, Program, F, Options) ->
    Before = least(Node, F, ?CALLS, 80),
    Port = start(Program, Node, ["bench_srv:never()", "--time", "4s" | Options]),
    wait_armed(Node),
    During = least(Node, F, ?CALLS, 80),
    Valid = armed(Node),
    wait(Port),
    After = least(Node, F, ?CALLS, 80),
    case Valid of
        true -> {min(Before, After), During};
        false -> bystander(Node, Program, F, Options)
    end.

%% Four callers that never pause: one of so many calls is followed. The best of two runs.
busy(Node, Program, Every) ->
    Plain = rpc:call(Node, bench_srv, rate, [4, 2000], 60000),
    Runs = [watched(Node, Program, Every) || _ <- [1, 2]],
    Most = fun(N) -> lists:max([element(N, R) || R <- Runs]) end,
    What = text("1,000 roots, one of ~w calls: ", [Every]),
    told(What ++ "calls/s, nothing armed", Plain),
    told(What ++ "calls/s while armed", Most(1)),
    told(What ++ "roots, of two runs the least", lists:min([element(2, R) || R <- Runs])),
    told(What ++ "events/s", Most(3)),
    told(What ++ "longest queue of the collector", Most(4)).

watched(Node, Program, Every) ->
    Me = self(),
    spawn(fun() -> Me ! {watched, rpc:call(Node, bench_srv, watched, [4, 40000], 90000)} end),
    File = capture(Program, Node, ["bench_srv:one()", "--roots", "1000", "--every",
                                   integer_to_list(Every), "--time", "20s"]),
    {Most, Rate} = receive {watched, W} -> W end,
    [Roots, PerSecond] = jq(File, ".roots_taken, .events / ([.roots[].started_at
        | (.[11:13] | tonumber) * 3600 + (.[14:16] | tonumber) * 60 + (.[17:-1] | tonumber)]
        | [0.000001, max - min] | max)"),
    {Rate, Roots, PerSecond, Most}.

%% Sampled by the VM: callers that race may make it one more or less.
numbers(Node, Program) ->
    {_, Loops} = queries:evaluate(Node, "bench_srv:start(4, 120000).", []),
    All = [jq(capture(Program, Node, ["bench_srv:one()", "--roots", "50", "--every", "100",
                                      "--time", "30s"]), ".roots_taken, .events / .roots_taken")
           || _ <- lists:seq(1, 5)],
    [exit(P, kill) || {P, _} <- Loops],
    below("50 roots of 5,000 calls: furthest from it, of 5 runs",
          lists:max([abs(Roots - 50) || [Roots, _] <- All]), 1.5),
    below("events a root of one call", lists:max([Events || [_, Events] <- All]), 9.5).

%% What is known of a request: a filter that finds it, and how long it lasts, in ms.
-define(KNOWN, [
    {chain, [{".", 58}, {".children[0]", 50}, {".children[0].children[0]", 35},
             {".waits[] | select(.kind == \"call\")", 50}]},
    {task, [{".", 34}, {"[.children[] | select(.kind == \"task\")] | sort_by(.duration_us)[0]", 12},
            {"[.children[] | select(.kind == \"task\")] | sort_by(.duration_us)[1]", 22},
            {"[.children[] | select(.kind == \"task\")] | sort_by(.duration_us)[2]", 32}]},
    {crash, [{".", 9}, {".children[] | select(.outcome == \"exit\")", 5},
             {".waits[] | select(.outcome == \"exit\")", 5}]},
    {timeout, [{".", 24}, {".waits[] | select(.outcome == \"timeout\")", 20}]},
    {pool, [{".", 512}, {".children[] | select(.operation == \"busy\")", 10},
            {".waits[] | select(.outcome == \"elsewhere\")", 500}]},
    {cast, [{".children[] | select(.kind == \"cast\")", 6}]},
    {defer, [{".", 9}, {".children[0].children[0]", 8},
             {".waits[] | select(.kind == \"call\")", 8}]},
    {statem, [{".", 10.5}, {".children[0]", 10.5}]}]).

known(Node, Program) ->
    Found = [known(Node, Program, Case, Times) || {Case, Times} <- ?KNOWN],
    Add = fun(N) -> lists:sum([element(N, F) || F <- Found]) end,
    [Near, Missing, All, Roots] = [Add(N) || N <- [1, 2, 3, 4]],
    [Busy, Off] = [lists:append([element(N, F) || F <- Found]) || N <- [5, 6]],
    Share = 100 * Near / max(1, All),
    figure(text("known times within -1/+15 ms, % of ~w", [All]), text("~.1f", [Share]), "100", Share >= 100),
    [told("of them, of " ++ atom_to_list(Case), N)
     || {{Case, _}, {_, N, _, _, _, _}} <- lists:zip(?KNOWN, Found), N > 0],
    figure("known spans and waits that are not there", text("~w", [Missing]), "0", Missing =:= 0),
    below("ms that a root is off its process's own clock, at most", lists:max([abs(O) || O <- Off]) / 1000, 1),
    figure(text("roots with busy time told as WAITING, of ~w", [Roots]), text("~w", [length(Busy)]), "0",
           Busy =:= []),
    told("ms of it, most of a root", lists:max([0.0 | Busy]) / 1000).

known(Node, Program, Case, Times) ->
    Looper = rpc:call(Node, bench_srv, knowing, [Case]),
    File = capture(Program, Node, [text("spans_load:root(~w)", [Case]), "--roots", "20", "--time", "60s",
                                   "--full"]),
    Took = rpc:call(Node, bench_srv, known_of, [Looper]),
    [Roots] = jq(File, ".roots | length"),
    Each = [{Ms, jq(File, ".roots[] | " ++ What ++ " | values | .duration_us / 1000")} || {What, Ms} <- Times],
    Near = [1 || {Ms, Values} <- Each, V <- Values, V - Ms >= -1, V - Ms =< 15],
    All = round(Roots) * length(Times),
    Busy = jq(File, ".roots[] | [.. | objects | select(.kind == \"WAITING\"
        and (.at // \"\" | test(\":(busy|until|burn)/\"))) | .net_us] | add | values"),
    Pids = string:lexemes(os:cmd("jq -r '.roots[].pid' " ++ File), "\n"),
    Off = [Us - Own || {Pid, Us} <- lists:zip(Pids, jq(File, ".roots[].duration_us")),
                       {P, Own} <- Took, P =:= Pid],
    {length(Near), All - lists:sum([length(V) || {_, V} <- Each]), All, round(Roots), Busy, Off}.
