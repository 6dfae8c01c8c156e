%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What a trace costs a node, beside the same without one and beside OTP's own dbg, in one run; and
%%% how long the steps of a trace take. The function is lists:last([a]), called by lists:foreach/2,
%%% so that nothing but it and its call is measured. All loads are short.
-module(tracing).
-export([main/1]).

main([Program, Root]) ->
    {Node, _} = Target = queries:start_target(Root, ["+sbwt", "none"]),
    io:format("a trace, OTP ~s~n", [rpc:call(Node, erlang, system_info, [otp_release])]),
    [Test(Node, Program)
     || Test <- [fun per_call/2, fun growth/2, fun steps/2, fun first/2, fun names/2, fun share/2, fun kept/2]],
    queries:stop_target(Target).

figure(What, Value, Goal, Good) ->
    Word = case Good of true -> "ok"; false -> "MISSED"; told -> "" end,
    io:format("  ~-62s ~16s  ~-10s ~s~n", [What, Value, Goal, Word]).

text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).
signed(Value) -> [case Value >= 0 of true -> "+"; false -> "" end | text("~.1f", [Value])].
median(Values) -> lists:nth((length(Values) + 1) div 2, lists:sort(Values)).
now_us() -> erlang:monotonic_time(microsecond).

%% ---- Nanoseconds a call

%% The spec of every clause that we send, as docs/tracing.md says it. Setup: what is set before. So
%% many calls by one process, the quickest of 50 times: nothing else got in between.
ns_per_call(Node, Setup, Calls) ->
    queries:evaluate(Node,
        "Spec = fun(Body) -> [{'_', [{'>', {get_tcw}, 0}],"
        "   [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{0, {caller}, '$_', []}}} | Body]}] end,"
        " Mfa = {lists, last, 1},"
        " Drop = spawn(fun() -> F = fun F() -> receive _ -> F() end end, F() end),"
        " Flags = [call, arity, monotonic_timestamp, {tracer, Drop}],"
        " Me = self(),"
        " Worker = spawn(fun() -> receive go -> ok end, L = lists:duplicate(Calls, [a]),"
        "   Go = fun(_) -> erlang:system_flag(trace_control_word, case Setup of passing -> Calls;"
        "                    results -> Calls; _ -> 0 end),"
        "     T = erlang:monotonic_time(nanosecond), lists:foreach(fun lists:last/1, L),"
        "     (erlang:monotonic_time(nanosecond) - T) / Calls end,"
        "   Go(0), Me ! {self(), lists:map(Go, lists:seq(1, 50))} end),"
        " case Setup of none -> ok;"
        "   other -> erlang:trace_pattern({lists, max, 1}, Spec([]), [local]),"
        "     erlang:trace(Worker, true, Flags);"
        "   unflagged -> erlang:trace_pattern(Mfa, Spec([]), [local]);"
        "   counted -> erlang:trace_pattern(Mfa, true, [call_count]);"
        "   shut -> erlang:trace_pattern(Mfa, Spec([]), [local]),"
        "     erlang:trace_pattern(Mfa, true, [call_count]), erlang:trace(Worker, true, Flags);"
        "   passing -> erlang:trace_pattern(Mfa, Spec([]), [local]),"
        "     erlang:trace_pattern(Mfa, true, [call_count]), erlang:trace(Worker, true, Flags);"
        "   results -> erlang:trace_pattern(Mfa, Spec([{exception_trace}]), [local]),"
        "     erlang:trace_pattern(Mfa, true, [call_count]), erlang:trace(Worker, true, Flags) end,"
        " Worker ! go,"
        " Ns = receive {Worker, All} -> lists:min(All) after 20000 -> none end,"
        " [erlang:trace_pattern(M, false, [O]) || M <- [Mfa, {lists, max, 1}],"
        "   O <- [local, call_count]], erlang:system_flag(trace_control_word, 0),"
        " exit(Drop, kill), Ns.", [{'Setup', Setup}, {'Calls', Calls}]).

per_call(Node, _) ->
    Bare = ns_per_call(Node, none, 2000),
    figure("a call of a trivial function, untraced, ns", text("~.1f", [Bare]), "", told),
    [begin
         Ns = ns_per_call(Node, Setup, Calls),
         Good = case Goal of none -> told; _ -> Ns - Bare < Goal end,
         figure(Text, signed(Ns - Bare), case Goal of none -> ""; _ -> text("< ~w", [Goal]) end,
                Good)
     end || {Setup, Text, Calls, Goal} <-
                [{other, "  a traced process, in a function that is not", 2000, 5},
                 {unflagged, "  the traced function, in a process that is not", 2000, 20},
                 {counted, "  counted only (preflight, `count`)", 2000, none},
                 {shut, "  armed and counted, budget shut", 2000, 500},
                 {passing, "  told (budget open)", 500, 2000},
                 {results, "  told with its result", 500, 4000}]],
    ok.

%% ---- Calls that a busy node keeps

%% Two callers for 3 s at most, who count each batch. Value: {Counter, Pids}.
callers(Node, {Module, Function, Arg, Batch}) ->
    queries:evaluate(Node,
        "C = counters:new(1, []), {C, [spawn(fun() ->"
        "   L = lists:duplicate(Batch, Arg), Fun = fun Module:Function/1,"
        "   End = erlang:monotonic_time(millisecond) + 3000,"
        "   F = fun F() -> lists:foreach(Fun, L), counters:add(C, 1, Batch),"
        "     erlang:monotonic_time(millisecond) < End andalso F() end, F() end) || _ <- [1, 2]]}.",
        [{'Module', Module}, {'Function', Function}, {'Arg', Arg}, {'Batch', Batch}]).

%% Waits until a trace stands, or does not.
armed(Node, Wanted) ->
    queries:evaluate(Node,
        "F = fun F(0) -> late; F(N) -> case {whereis(beamtop_trace) =/= undefined,"
        "     erlang:system_info(trace_control_word) > 0} of {Wanted, Wanted} -> ok;"
        "   _ -> receive after 10 -> ok end, F(N - 1) end end, F(1000).", [{'Wanted', Wanted}]).

%% {Calls a second, calls a second of the VM's CPU time}: the second does not mind who else wants
%% the cores.
calls_per_s(Node, Counter, Ms) ->
    Look = fun() -> {rpc:call(Node, counters, get, [Counter, 1]), now_us(), cpu_s(Node)} end,
    {A, T1, C1} = Look(),
    timer:sleep(Ms),
    {B, T2, C2} = Look(),
    {(B - A) * 1.0e6 / (T2 - T1), (B - A) / max(0.01, C2 - C1)}.

stop(Pids) -> [exit(P, kill) || P <- Pids], timer:sleep(100).

kept(Node, Program) ->
    kept(Node, Program, "lists:last([a])", {lists, last, [a], 20000}),
    kept(Node, Program, "erl_scan:string/1", {erl_scan, string, "foo(X) -> {bar, X + 1}.", 500}).

kept(Node, Program, What, {Module, Function, _, _} = How) ->
    {A, AllOfA} = callers(Node, How),
    Bare = calls_per_s(Node, A, 1000),
    stop(AllOfA),
    Pattern = text("~s:~s(_)", [Module, Function]),
    Port = program(Program, Node, Pattern,
                   ["--time", "8s", "--events", "10000", "--rate", "200", "--on-rate", "shed",
                    "--bytes", "64MiB", "--force"]),
    ok = armed(Node, true),
    {B, AllOfB} = callers(Node, How),
    timer:sleep(500),
    _ = lines(Port, 0),
    Traced = calls_per_s(Node, B, 1500),
    Shown = lines(Port, 0),
    stop(AllOfB),
    %% Before OTP 25 it may have ended by itself, as `heap`.
    Stood = erlang:port_info(Port) =/= undefined,
    Stood andalso port_close(Port),
    ok = armed(Node, false),
    {C, AllOfC} = callers(Node, How),
    Until = dbg(Node, Module, Function),
    Before = rpc:call(Node, erlang, memory, [total]),
    Dbg = calls_per_s(Node, C, 200),
    Growth = rpc:call(Node, erlang, memory, [total]) - Before,
    InTime = now_us() < Until,
    timer:sleep(600),
    stop(AllOfC),
    told_rate("calls/s of two callers of " ++ What ++ ", untraced", Bare, Bare),
    case Stood of
        true ->
            told_rate("  while beamtop shows 200 a second", Traced, Bare),
            figure("    shown meanwhile, a second", text("~w", [round(Shown / 1.5)]), "", told);
        false ->
            figure("  while beamtop shows 200 a second", "it ended first", "", told)
    end,
    case InTime of
        true -> told_rate("  while dbg sends each to a process that drops it, 0.2 s", Dbg, Bare);
        false -> figure("  while dbg sends each call", "no figure", "", told)
    end,
    figure("    growth of memory at its end, MiB", text("~.1f", [Growth / 1048576]), "", told).

told_rate(Text, {Rate, PerCpu}, {_, Bare}) ->
    figure(Text, text("~.3e", [Rate]), "", told),
    PerCpu =:= Bare
        orelse figure("    calls for the same CPU time, %", text("~.1f", [100 * PerCpu / Bare]), "",
                      told).

%% dbg as one would type it, but with a handler that drops what comes, and for 0.5 s at most.
%% Value: until when it stands.
dbg(Node, Module, Function) ->
    queries:evaluate(Node,
        "[code:add_pathz(D) || D <- filelib:wildcard(code:lib_dir() ++ \"/runtime_tools-*/ebin\")],"
        " {module, dbg} = code:load_file(dbg), Me = self(),"
        " spawn_opt(fun() -> dbg:tracer(process, {fun erlang:'=:='/2, ok}),"
        "   {ok, T} = dbg:get_tracer(), dbg:p(all, c), dbg:tpl(Module, Function, 1, []), Me ! on,"
        "   receive after 500 -> ok end,"
        "   erlang:trace(all, false, [call]),"
        "   erlang:trace_pattern({Module, Function, 1}, false, [local]),"
        "   exit(T, kill), catch dbg:stop() end, [{priority, high}]),"
        " receive on -> ok end.", [{'Module', Module}, {'Function', Function}]),
    now_us() + 450000.

%% CPU time of the VM, s.
cpu_s(Node) ->
    Text = os:cmd("cat /proc/" ++ rpc:call(Node, os, getpid, []) ++ "/stat"),
    Fields = string:tokens(lists:last(string:split(Text, ")", trailing)), " "),
    lists:sum([list_to_integer(lists:nth(N, Fields)) || N <- [12, 13]]) / 100.

%% A function called each ms: what the collector and its pushing cost, without what the VM needs
%% anyway.
share(Node, Program) ->
    Caller = queries:evaluate(Node,
        "spawn(fun() -> F = fun F(0) -> ok; F(N) -> lists:foreach(fun lists:last/1, [[a]]),"
        " receive after 1 -> ok end, F(N - 1) end, F(20000) end).", []),
    Used = fun() -> A = cpu_s(Node), T = now_us(), timer:sleep(3000),
                    (cpu_s(Node) - A) * 1.0e8 / (now_us() - T) end,
    Idle = Used(),
    Port = program(Program, Node, ["--time", "8s", "--events", "10000", "--rate", "200",
                                   "--on-rate", "shed", "--bytes", "64MiB"]),
    ok = armed(Node, true),
    _ = lines(Port, 0),
    Traced = Used(),
    Shown = lines(Port, 0),
    port_close(Port),
    ok = armed(Node, false),
    exit(Caller, kill),
    figure("a trace that shows 200 a second of 1000, % of a core", text("~.1f", [Traced - Idle]),
           "", told),
    figure("  shown, a second", text("~w", [round(Shown / 3)]), "", told).

%% ---- The program

program(Program, Node, Options) -> program(Program, Node, "lists:last(_)", Options).
program(Program, Node, Pattern, Options) ->
    open_port({spawn_executable, Program},
              [{args, ["trace", atom_to_list(Node), Pattern, "--cookie", "beamtop_test",
                       "--format", "json" | Options]},
               {line, 100000}, binary, exit_status, hide]).

line(Port) ->
    receive
        {Port, {data, {eol, Line}}} -> {line, now_us(), Line};
        {Port, {exit_status, Code}} -> {ended, now_us(), Code}
    after 15000 -> error(silent)
    end.

%% Calls that are here already.
lines(Port, N) ->
    receive
        {Port, {data, {eol, Line}}} ->
            IsCall = binary:match(Line, <<"\"kind\":\"call\"">>) =/= nomatch,
            lines(Port, case IsCall of true -> N + 1; false -> N end)
    after 0 -> N
    end.

%% From the start of the program to the first event, of a function called each 2 ms.
first(Node, Program) ->
    Caller = queries:evaluate(Node,
        "spawn(fun() -> F = fun F(0) -> ok; F(N) -> lists:foreach(fun lists:last/1, [[a]]),"
        " receive after 2 -> ok end, F(N - 1) end, F(10000) end).", []),
    All = [begin
               T = now_us(),
               Port = program(Program, Node, ["--events", "10", "--force"]),
               {line, At, _} = line(Port),
               {End, Code} = ended(Port),
               0 = Code,
               {(At - T) / 1000, (End - T) / 1000}
           end || _ <- lists:seq(1, 7)],
    exit(Caller, kill),
    First = median([F || {F, _} <- All]),
    figure("program start to first event, ms, median of 7", text("~.1f", [First]), "< 300",
           First < 300),
    figure("  to its end, 10 events and the proof", text("~.1f", [median([E || {_, E} <- All])]),
           "", told).

ended(Port) -> case line(Port) of {line, _, _} -> ended(Port); {ended, At, Code} -> {At, Code} end.

%% ---- The steps, as the target does them

%% The node's memory from a connection that stands on.
growth(Node, _) ->
    K = queries:connect(Node),
    timer:sleep(300),
    OsPid = rpc:call(Node, os, getpid, []),
    Highest = scan:resident(OsPid, "VmHWM"),
    Sampler = cheap:sampler(Node),
    Before = rpc:call(Node, erlang, memory, [total]),
    [queries:load(K, Q) || Q <- [preflight, trace]],
    {_, _, _, Held} =
        traced_once(K, 1, 300, fun() -> rpc:call(Node, erlang, memory, [total]) end),
    Peak = cheap:stop_sampler(Sampler) - Before,
    Risen = scan:resident(OsPid, "VmHWM") - Highest,
    K ! stop,
    figure("growth of memory at the start of a trace, MiB, highest",
           text("~.1f", [Peak / 1048576]), "<= 6", Peak =< 6 * 1048576),
    figure("  of its highest resident memory, MiB", text("~.1f", [Risen / 1024]), "<= 6",
           Risen =< 6 * 1024),
    figure("  while it runs", text("~.1f", [(Held - Before) / 1048576]), "", told).

ask(K, Name, Arg) ->
    T = now_us(),
    {ok, _, V} = queries:ask(K, Name, Arg, 10000),
    {(now_us() - T) / 1000, V}.

preflight(K) ->
    ask(K, preflight,
        #{patterns => [{0, call, {name, <<"lists">>}, {name, <<"last">>}, 1}],
          procs => {1, false, [all]}, most_functions => 1000, most_processes => 1000}).

%% {Ms of the preflight, of arming, until all is off, what Look said while it ran}
traced_once(K, Id, For, Look) ->
    {P, _} = preflight(K),
    {A, {armed, Id, _}} = ask(K, trace, {in, trace, {arm, Id, asked()}}),
    timer:sleep(For),
    Seen = Look(),
    T = now_us(),
    K ! {tell, trace, {stop, Id}},
    {P, A, until_ended(Id, T), Seen}.

steps(Node, _) ->
    K = queries:connect(Node),
    [queries:load(K, Q) || Q <- [preflight, trace, armed]],
    preflight(K), % reads the expression
    Times = [begin
                 {P, A, Off, _} = traced_once(K, Id, 30, fun() -> ok end),
                 {V, _} = ask(K, armed, #{most => 1000}),
                 {P, A, Off, V}
             end || Id <- lists:seq(1, 9)],
    K ! stop,
    [figure(Text, text("~.1f", [median([element(I, T) || T <- Times])]), "", told)
     || {I, Text} <- [{1, "preflight, ms, median of 9"}, {2, "arming, ms"},
                      {3, "from stop to `ended`, everything off, ms"},
                      {4, "the proof (what is armed on the node), ms"}]],
    ok.

until_ended(Id, T) ->
    receive {t, Id, _, {ended, _, _}} -> (now_us() - T) / 1000 after 5000 -> error(no_end) end.

asked() ->
    Clauses = [{'_', [{'>', {get_tcw}, 0}],
                [{set_tcw, {'-', {get_tcw}, 1}}, {message, {{0, {caller}, '$_', []}}}]}],
    #{patterns => [#{index => 0, kind => call, mfas => [{lists, last, 1}],
                     clauses => {[], term_to_binary(Clauses)}, counters => count, return => false,
                     slower_ns => 0, results => none, raises => none}],
      procs => all, children => false, on_rate => shed, credit => {512, 32768},
      caps => #{time => 5000, events => 100, rate => 200, window => 256, window_bytes => 524288,
                term => 2048, bytes => 1048576, heap => 33554432}}.

%% ---- Completion: 20,000 functions in 20 modules

names(Node, _) ->
    Modules = [list_to_atom("bench_names_" ++ integer_to_list(N)) || N <- lists:seq(1, 20)],
    [begin
         Code = forms(M, 1000),
         {module, M} = rpc:call(Node, code, load_binary, [M, "bench", Code])
     end || M <- Modules],
    K = queries:connect(Node),
    queries:load(K, functions),
    Ask = fun(Arg) -> T = now_us(),
                      {ok, _, V} = queries:ask(K, functions, Arg, 10000),
                      {(now_us() - T) / 1000, V} end,
    {_, {modules, _, _}} = Ask({modules, 20000}),
    All = [begin
               {A, {modules, _, _}} = Ask({modules, 20000}),
               {B, {functions, _, Functions}} = Ask({functions, <<"bench_names_7">>}),
               {A, B, length(Functions)}
           end || _ <- lists:seq(1, 9)],
    K ! stop,
    [{_, _, N} | _] = All,
    M_ = median([A || {A, _, _} <- All]),
    F_ = median([B || {_, B, _} <- All]),
    figure("names of the modules, node with 20,000 more functions, ms", text("~.1f", [M_]), "< 50",
           M_ < 50),
    figure(text("names of one module's functions (~w), ms", [N]), text("~.1f", [F_]), "< 50",
           F_ < 50).

%% With the host's compiler, so not on an older release than it: those read the forms themselves.
forms(Module, N) ->
    Names = [list_to_atom("function_" ++ integer_to_list(I)) || I <- lists:seq(1, N)],
    Forms = [{attribute, 1, module, Module}, {attribute, 2, export, [{F, 1} || F <- Names]}
             | [{function, 3, F, 1, [{clause, 3, [{var, 3, 'X'}], [], [{var, 3, 'X'}]}]}
                || F <- Names]],
    {ok, Module, Code} = compile:forms(Forms, [r23]),
    Code.
