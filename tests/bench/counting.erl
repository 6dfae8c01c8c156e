%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What counting calls costs a node: a call, the arming, the reading; and beside it what OTP's tprof and
%%% eprof and tracing by messages cost, of one workload in one run. All loads are short.
-module(counting).
-export([main/1]).

-define(FUNCTIONS, 15000).
-define(WINDOWS, 9). % an odd number

main([Program, Root]) ->
    {Node, _} = Target = queries:start_target(Root, ["+sbwt", "none"]),
    io:setopts([{encoding, unicode}]),
    io:format("counting calls, OTP ~s~n", [rpc:call(Node, erlang, system_info, [otp_release])]),
    load_functions(Node),
    [Test(Node, Program) || Test <- [fun per_call/2, fun windows/2, fun beside/2]],
    queries:stop_target(Target).

figure(What, Value, Goal, Good) ->
    Word = case Good of true -> "ok"; false -> "MISSED"; told -> "" end,
    io:format("  ~-62ts ~16ts  ~-10s ~s~n", [What, Value, Goal, Word]).

below(What, Value, Goal) ->
    figure(What, text("~.1f", [Value]), text("< ~w", [Goal]), Value < Goal).

told(What, Value) -> figure(What, text("~.2f", [float(Value)]), "", told).

text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).
median(Values) -> lists:nth((length(Values) + 1) div 2, lists:sort(Values)).

%% Modules of OTP until there are that many functions, besides those of the tools themselves.
load_functions(Node) ->
    queries:evaluate(Node,
        "[code:add_pathz(D) || A <- [\"tools\", \"runtime_tools\", \"compiler\", \"syntax_tools\"],"
        "   D <- filelib:wildcard(filename:dirname(code:lib_dir(kernel)) ++ \"/\" ++ A ++ \"-*/ebin\")],"
        " Count = fun() -> erlang:trace_pattern({'_', '_', '_'}, false, [call_count]) end,"
        " All = [list_to_atom(filename:basename(F, \".beam\")) ||"
        "   A <- [\"compiler\", \"kernel\", \"stdlib\", \"tools\", \"syntax_tools\", \"ssl\", \"inets\", \"public_key\"],"
        "   F <- filelib:wildcard(filename:dirname(code:lib_dir(kernel)) ++ \"/\" ++ A ++ \"-*/ebin/*.beam\")],"
        " [code:load_file(M) || M <- [tprof, eprof]],"
        " lists:foldl(fun(M, _) -> case code:is_loaded(M) =:= false andalso Count() < Most of"
        "   true -> code:load_file(M); false -> ok end end, ok, All), Count().", [{'Most', ?FUNCTIONS}]).

%% ---- Nanoseconds a counted call: lists:foreach/2 over lists:last([a]), which is more than one call. The
%% quickest of 50 times. Value: {ns an iteration, calls an iteration that were counted}.

iteration(Node, How) ->
    queries:evaluate(Node,
        "Mfas = case How of one -> {lists, last, 1}; _ -> {'_', '_', '_'} end,"
        " N = 5000, L = lists:duplicate(N, [a]), Me = self(),"
        " Go = fun(_) -> T = erlang:monotonic_time(nanosecond), lists:foreach(fun lists:last/1, L),"
        "   (erlang:monotonic_time(nanosecond) - T) / N end,"
        " W = spawn(fun() -> receive go -> ok end, Me ! {self(), lists:map(Go, lists:seq(1, 50))} end),"
        " How =:= bare orelse erlang:trace_pattern(Mfas, true, [call_count]),"
        " W ! go, Ns = receive {W, All} -> lists:min(All) after 20000 -> none end,"
        " Sum = lists:sum([C || {F, A} <- [{last, 1}, {foreach, 2}, {foreach_1, 2}],"
        "   {call_count, C} <- [erlang:trace_info({lists, F, A}, call_count)], is_integer(C)]),"
        " erlang:trace_pattern(Mfas, false, [call_count]), {Ns, Sum / (50 * N)}.", [{'How', How}]).

per_call(Node, _) ->
    {Bare, _} = iteration(Node, bare),
    {One, OneCalls} = iteration(Node, one),
    {All, AllCalls} = iteration(Node, all),
    told("an iteration uncounted, ns", Bare),
    below("a counted call more, ns, that function alone counted", (One - Bare) / OneCalls, 10),
    below("a counted call more, ns, every function counted", (All - Bare) / AllCalls, 10).

%% ---- Windows over every function

windows(Node, Program) ->
    Worker = busy(Node),
    {Windows, Bares} = lists:unzip([{window(Node, Program), bare(Node)} || _ <- lists:seq(1, ?WINDOWS)]),
    exit(Worker, kill),
    All = fun(Key) -> [number(W, Key) || W <- Windows] end,
    Of = fun(Key) -> median(All(Key)) end,
    Functions = Of("functions_counted"),
    figure("functions counted", text("~w", [Functions]), text("> ~w", [?FUNCTIONS]), Functions > ?FUNCTIONS),
    [begin
         Bare = [element(Nth, Us) || Us <- Bares],
         below(text("~s, ms, median of ~w", [What, ?WINDOWS]), Of(Key) / 1000, 10),
         below("  the quickest of them", lists:min(All(Key)) / 1000, 10),
         told("  the VM's call alone, between them, median", median(Bare) / 1000),
         told("  the quickest of them", lists:min(Bare) / 1000)
     end || {What, Key, Nth} <- [{"armed", "armed_us", 1}, {"disarmed", "disarmed_us", 2}]],
    told("read, ranked and added up, ms", Of("read_us") / 1000),
    told("listed, ms", Of("listed_us") / 1000),
    told("all of beamtop's work on the node for a window, ms", Of("target_us") / 1000),
    below("bytes of the answer with the top 100, KiB", Of("bytes") / 1024, 64).

%% What the VM itself takes to arm and to disarm everything: the same calls and nothing else. Value: {µs, µs}.
bare(Node) ->
    queries:evaluate(Node,
        "process_flag(priority, high), All = {'_', '_', '_'}, Items = [call_count],"
        " Us = fun(F) -> T = erlang:monotonic_time(), F(),"
        "   erlang:convert_time_unit(erlang:monotonic_time() - T, native, microsecond) end,"
        " {Set, Off} = case Otp >= 27 of"
        "   true -> S = trace:session_create(bench, self(), []),"
        "     {fun(How) -> trace:function(S, All, How, Items) end, fun() -> trace:session_destroy(S) end};"
        "   false -> {fun(How) -> erlang:trace_pattern(All, How, Items) end,"
        "     fun() -> erlang:trace_pattern(All, false, Items) end} end,"
        " On = Us(fun() -> Set(true) end), timer:sleep(200), Set(pause), timer:sleep(30),"
        " Gone = Us(Off), process_flag(priority, normal), {On, Gone}.",
        [{'Otp', list_to_integer(rpc:call(Node, erlang, system_info, [otp_release]))}]).

%% Hundreds of functions are called meanwhile: a small module is read, looked through and printed, over and over.
busy(Node) ->
    queries:evaluate(Node,
        "Text = \"-module(m). -export([f/1]). f(X) -> lists:map(fun(Y) -> {Y, X} end, [1, 2, 3]).\","
        " Forms = fun(T) -> {ok, Tokens, _} = erl_scan:string(T), {ok, Form} = erl_parse:parse_form(Tokens), Form end,"
        " All = [Forms(T ++ \".\") || T <- string:split(string:trim(Text, trailing, \".\"), \". \", all)],"
        " spawn(fun() -> F = fun F(0) -> ok; F(N) -> erl_lint:module(All), lists:map(fun erl_pp:form/1, All),"
        "   io_lib:format(\"~p ~s\", [All, lists:duplicate(9, $a)]), timer:sleep(20), F(N - 1) end,"
        "   F(500) end).", []).

window(Node, Program) ->
    lists:flatten(os:cmd(lists:join($ , [Program, "calls", atom_to_list(Node), "--cookie beamtop_test --for 200ms",
                                         "--top 100 --force --format json 2>&1"]))).

number(Json, Key) ->
    case re:run(Json, "\"" ++ Key ++ "\":([0-9]+)", [{capture, all_but_first, list}]) of
        {match, [Text]} -> list_to_integer(Text);
        nomatch -> error({none, Key, string:slice(Json, 0, 300)})
    end.

%% ---- The workload: a hundred scans of a line of Erlang, again and again for Ms

worker(Node, Ms) ->
    queries:evaluate(Node,
        "spawn(fun() -> L = lists:duplicate(100, \"foo(X) -> {bar, X + 1, [a, b | Y]}.\"),"
        "   End = erlang:monotonic_time(millisecond) + Ms,"
        "   Go = fun F(All) -> T = erlang:monotonic_time(microsecond), lists:foreach(fun erl_scan:string/1, L),"
        "     Now = erlang:monotonic_time(microsecond),"
        "     receive {told, Who} -> Who ! {self(), All}, F([])"
        "     after 0 -> case Now < End * 1000 of true -> F([{T, Now - T} | All]); false -> ok end end end,"
        "   Go([]) end).", [{'Ms', Ms}]).

%% µs of the workload's turns in the next Ms: the tenth part from below, so that what got in between does
%% not count.
turns(Node, Worker, Ms) ->
    Take = "W ! {told, self()}, receive {W, All} -> All after 20000 -> [] end.",
    queries:evaluate(Node, Take, [{'W', Worker}]),
    timer:sleep(Ms),
    Times = lists:sort([Us || {_, Us} <- queries:evaluate(Node, Take, [{'W', Worker}])]),
    lists:nth(length(Times) div 10 + 1, Times).

beside(Node, Program) ->
    Alone = worker(Node, 3000),
    Bare = turns(Node, Alone, 800),
    exit(Alone, kill),
    told("the workload, µs: 100 lines scanned", Bare),
    {Counted, Timed} = with_beamtop(Node, Program),
    ratio("beamtop calls, every function", Counted, Bare),
    ratio("beamtop calls --time, its second window", Timed, Bare),
    [ratio(Text, with_tool(Node, Tool), Bare)
     || {Text, Tool} <- [{"tprof, call_count, every function", call_count},
                         {"tprof, call_time, every function", call_time},
                         {"eprof, every function", eprof},
                         {"messages, of that module, to a process that drops them", messages}],
        is_there(Node, Tool)].

is_there(Node, Tool) when Tool =:= call_count; Tool =:= call_time ->
    rpc:call(Node, code, is_loaded, [tprof]) =/= false;
is_there(Node, eprof) -> rpc:call(Node, code, is_loaded, [eprof]) =/= false;
is_there(_, messages) -> true.

ratio(Text, {none, Why}, _) -> figure("  " ++ Text, text("no figure: ~0p", [Why]), "", told);
ratio(Text, {Us, ToolMs}, Bare) ->
    figure("  " ++ Text, text("~.2f times", [Us / Bare]), "", told),
    ToolMs =:= none orelse figure("    from its start to its table, less the workload, ms", text("~.1f", [ToolMs]), "", told);
ratio(Text, Us, Bare) -> ratio(Text, {Us, none}, Bare).

%% Both windows last 2 s; the holder has its name from the first to the end, and lists and arms before it.
with_beamtop(Node, Program) ->
    Worker = worker(Node, 9000),
    Port = open_port({spawn_executable, Program},
                     [{args, ["calls", atom_to_list(Node), "--cookie", "beamtop_test", "--for", "2s", "--time",
                              "--force", "--format", "json"]}, {line, 100000}, binary, exit_status, hide]),
    ok = queries:evaluate(Node,
        "F = fun F(0) -> late; F(N) -> case whereis(beamtop_calls) of undefined -> receive after 5 -> ok end, F(N - 1);"
        "   _ -> ok end end, F(2000).", []),
    timer:sleep(600),
    Counted = turns(Node, Worker, 800),
    timer:sleep(1600),
    Timed = turns(Node, Worker, 500),
    receive {Port, {exit_status, 0}} -> ok after 15000 -> error(silent) end,
    exit(Worker, kill),
    {Counted, Timed}.

%% A tool profiles five turns and tells them (what it prints is dropped). Value: {µs a turn, ms that the tool took
%% beside them}.
with_tool(Node, messages) -> {with_messages(Node), none};
with_tool(Node, Tool) ->
    queries:evaluate(Node,
        "L = lists:duplicate(100, \"foo(X) -> {bar, X + 1, [a, b | Y]}.\"), Me = self(), Tag = make_ref(),"
        " Go = fun(_) -> T = erlang:monotonic_time(microsecond), lists:foreach(fun erl_scan:string/1, L),"
        "   erlang:monotonic_time(microsecond) - T end,"
        " Work = fun() -> Me ! {Tag, lists:map(Go, lists:seq(1, 5))}, ok end,"
        " Mute = fun F() -> receive {io_request, From, As, _} -> From ! {io_reply, As, ok}, F() end end,"
        " Leader = group_leader(), Nobody = spawn(Mute), group_leader(Nobody, self()),"
        " T0 = erlang:monotonic_time(microsecond),"
        " R = try case Tool of eprof -> eprof:start(),"
        "     {ok, ok} = eprof:profile([], Work), eprof:analyze(total), eprof:stop();"
        "   _ -> tprof:profile(Work, #{type => Tool, report => return}), ok end, ok"
        "   catch _:Why -> {none, Why} end,"
        " All = erlang:monotonic_time(microsecond) - T0,"
        " group_leader(Leader, self()), exit(Nobody, kill),"
        " receive {Tag, Us} -> {lists:min(Us), (All - lists:sum(Us)) / 1000} after 100 -> R end.",
        [{'Tool', Tool}]).

%% As dbg and redbug do it: each call of the module is a message. One turn, so that few wait.
with_messages(Node) ->
    queries:evaluate(Node,
        "L = lists:duplicate(100, \"foo(X) -> {bar, X + 1, [a, b | Y]}.\"), Me = self(),"
        " Drop = spawn_opt(fun() -> F = fun F() -> receive _ -> F() end end, F() end, [{message_queue_data, off_heap}]),"
        " Go = fun(_) -> T = erlang:monotonic_time(microsecond), lists:foreach(fun erl_scan:string/1, L),"
        "   erlang:monotonic_time(microsecond) - T end,"
        " W = spawn(fun() -> receive go -> ok end, Me ! {self(), lists:map(Go, lists:seq(1, 5))} end),"
        " erlang:trace_pattern({erl_scan, '_', '_'}, true, [local]),"
        " erlang:trace(W, true, [call, timestamp, {tracer, Drop}]), W ! go,"
        " Us = receive {W, All} -> lists:min(All) after 20000 -> 0 end,"
        " erlang:trace_pattern({erl_scan, '_', '_'}, false, [local]), exit(Drop, kill), Us.", []).
