%% SPDX-License-Identifier: GPL-3.0-or-later
%% Load of test_spans.sh: requests with known answers. Files in the directory are how the script
%% asks; each is deleted when it is done:
%%   audit          `left` is written, by audit.erl
%%   loop_REQUEST   root(REQUEST) is called again and again, each time by a fresh process
%%   loop_GROUP     … those of groups() in turn
%%   stop           … no more
%%   emits          `said` is written: how many events tokens of before give a new system tracer
%%   system_tracer, no_system_tracer   another tool's
%%   overtake       a capture gets events of a request of b in the order in which they come when b hands
%%                  over its own last; it calls c
%%   kill_armed     two of beamtop's four processes there are killed, once it captures
%%   kill_arming    … one or two, as soon as it begins to set anything
%%   kill_in_turn   … the sentinel, and a moment later the holder, which clears what is set
%%   token, own_token, no_token   this process has a token of its application, one that looks like
%%                  one of beamtop's, or none
%%   has_token      `said` is written: whether it has one
%%   watch, no_watch   processes ask again and again for the queue of one that runs, as monitors do
%%   meet           the node whose name the file `other` has is the one that far/0 asks
-module(spans_load).

-compile([export_all, nowarn_export_all]).

-define(MOST_MS, 1200000).

start(Dir, _Code) ->
    spawn(fun() -> begin_load(Dir) end),
    ok.

begin_load(Dir) ->
    serve_requests(),
    say(Dir, "pid", os:getpid()),
    serve(Dir, processes(), erlang:monotonic_time(millisecond) + ?MOST_MS).

serve_requests() ->
    logger:set_primary_config(level, none),
    [{ok, _} = gen_server:start({local, N}, ?MODULE, N, []) || N <- [b, c, w, front]],
    {ok, _} = gen_statem:start({local, machine}, ?MODULE, machine, []),
    register(pool, spawn(fun pool_server/0)),
    register(replier, spawn(fun replier/0)),
    register(pump, spawn(fun pump_server/0)),
    %% The first calls load code and make atoms.
    [one(R) || {_, Group} <- groups(), R <- Group, R =/= called, R =/= heavy].

%% The bench starts them here, and calls root/1.
warm() ->
    Me = self(),
    spawn(fun() -> serve_requests(), Me ! {self(), warm}, receive stop -> ok end end),
    receive {_, warm} -> true end.

groups() ->
    [{requests, [chain, task, crash, timeout, pool, cast, defer, noproc, statem, raise]},
     {capped, [fan, deep, many, twice, crowd]},
     {context, [called, chain]},
     {heavy, [heavy]}].

serve(Dir, Baseline, Until) ->
    Loops = [{File, fun() -> stop(), register(looper, spawn(fun() -> loop(group(Name), Until) end)) end}
             || "loop_" ++ Name = File <- filelib:wildcard("loop_*", Dir)],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- [{"audit", fun() -> audit:write(Dir, Baseline) end}] ++ Loops ++ orders(Dir),
        File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 20 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso serve(Dir, Baseline, Until).

group(Name) ->
    Of = list_to_atom(Name),
    proplists:get_value(Of, groups(), [Of]).

orders(Dir) ->
    [{"stop", fun stop/0},
     {"emits", fun() -> say(Dir, "said", integer_to_list(emits())) end},
     {"system_tracer", fun() -> seq_trace:set_system_tracer(whereis(replier)) end},
     {"no_system_tracer", fun() -> seq_trace:set_system_tracer(false) end},
     {"overtake", fun() -> wait_for(fun captures/0), overtake(seq_trace:get_system_tracer()) end},
     {"kill_armed", fun() -> wait_for(fun captures/0), timer:sleep(rand:uniform(150)), kill(2) end},
     {"kill_arming", fun() ->
         wait_for(fun() -> is_pid(whereis(beamtop_trace)) end),
         burn(rand:uniform(3000)),
         kill(rand:uniform(2))
     end},
     {"kill_in_turn", fun() -> wait_for(fun captures/0), kill_in_turn() end},
     {"token", fun() -> seq_trace:set_token(label, 17) end},
     {"own_token", fun() ->
         [seq_trace:set_token(K, V)
          || {K, V} <- [{label, self()}, {send, true}, {strict_monotonic_timestamp, true}]]
     end},
     {"has_token", fun() -> say(Dir, "said", io_lib:format("~p", [seq_trace:get_token() =/= []])) end},
     {"no_token", fun() -> seq_trace:set_token([]) end},
     {"watch", fun() ->
         register(watched, spawn(fun() -> until(infinity) end)),
         [register(Name, spawn(fun Look() -> process_info(whereis(watched), message_queue_len), Look() end))
          || Name <- [watcher_1, watcher_2]]
     end},
     {"no_watch", fun() -> [exit(whereis(N), kill) || N <- [watcher_1, watcher_2, watched]] end},
     {"meet", fun() ->
         {ok, Name} = file:read_file(filename:join(Dir, "other")),
         Other = binary_to_atom(Name, utf8),
         true = net_kernel:connect_node(Other),
         persistent_term:put(other, Other)
     end}].

captures() -> erlang:system_info(trace_control_word) > 0.

wait_for(True) ->
    True() orelse wait_for(True).

%% The processes of a capture: the holder, and those that it has started; at once, so that none sees
%% another's end.
kill(N) ->
    Mixed = [P || {_, P} <- lists:sort([{rand:uniform(), P} || P <- ours()])],
    Killed = lists:sublist(Mixed, N),
    [catch erlang:suspend_process(P) || P <- Killed],
    [exit(P, kill) || P <- Killed].

ours() ->
    [P || P <- processes(), {dictionary, D} <- [process_info(P, dictionary)],
          lists:member(proplists:get_value('$initial_call', D),
                       [{beamtop, spans, 0}, {beamtop, trace, 0}])].

%% Only the sentinel watches the holder.
kill_in_turn() ->
    Holder = whereis(beamtop_trace),
    [Sentinel] = [P || P <- ours(), {monitors, Of} <- [process_info(P, monitors)],
                       lists:member({process, Holder}, Of)],
    exit(Sentinel, kill),
    burn(rand:uniform(20000)),
    exit(Holder, kill).

say(Dir, Name, Text) ->
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".new", Text),
    ok = file:rename(File ++ ".new", File).

stop() ->
    Ref = monitor(process, looper),
    catch looper ! stop,
    receive {'DOWN', Ref, _, _, _} -> ok end.

loop([hot], Until) ->
    Workers = [spawn_link(fun() -> hot_loop(Until) end) || _ <- [1, 2, 3, 4]],
    receive stop -> ok end,
    [begin unlink(W), exit(W, kill) end || W <- Workers];
loop([Request | Others], Until) ->
    one(Request),
    %% What goes on behind a timeout is over by then.
    receive stop -> ok
    after case Request of timeout -> 100; raise -> 100; _ -> 10 end ->
        erlang:monotonic_time(millisecond) < Until andalso loop(Others ++ [Request], Until)
    end.

hot_loop(Until) ->
    hot(),
    erlang:monotonic_time(millisecond) < Until andalso hot_loop(Until).

hot() -> X = gen_server:call(b, {busy, 0}, infinity), X.

one(Case) ->
    Me = self(),
    {P, R} = spawn_monitor(fun() ->
        before_root(Case, Me),
        catch ?MODULE:root(Case),
        after_root(Case)
    end),
    receive {'DOWN', R, _, P, _} -> ok end.

%% As Task of Elixir and opentelemetry_api keep them.
before_root(Request, Me) when Request =:= called; Request =:= cast ->
    put('$callers', [Me, whereis(b), whereis(c), whereis(replier)]),
    in_otel(16#4bf92f3577b34da6a3ce929d0e0e4736);
before_root(heavy, Me) -> put('$callers', lists:duplicate(3000000, Me));
before_root(_, _) -> ok.

in_otel(Trace) ->
    Span = {span_ctx, Trace, 16#f067aa0ba902b7, 1, [], true, false, true, undefined},
    put('$__current_otel_ctx', #{{otel_tracer, span_ctx} => Span, baggage => #{}}).

%% It has the token of its root still.
after_root(stale) ->
    [begin
         [gen_server:call(b, {busy, 0}) || _ <- lists:seq(1, 4)],
         receive after 3 -> ok end,
         until_collected()
     end || _ <- lists:seq(1, 125)];
after_root(called) ->
    in_otel(1),
    ?MODULE:root(other),
    in_otel(2);
after_root(heavy) -> before_root(called, self()), ?MODULE:root(called);
after_root(crowd) -> ?MODULE:root(calm);
after_root(raise) -> has_gone();
after_root(_) -> ok.

%% A collector with little of a core would end its capture: its queue grows above 5,000.
until_collected() ->
    case seq_trace:get_system_tracer() of
        Collector when is_pid(Collector) ->
            case process_info(Collector, message_queue_len) of
                {_, N} when N > 500 -> timer:sleep(1), until_collected();
                _ -> ok
            end;
        _ -> ok
    end.

%% When a process has its events handed over cannot be arranged. The count of roots is taken as it
%% takes it.
overtake(Collector) ->
    [B, C] = [whereis(Name) || Name <- [b, c]],
    Ref = make_ref(),
    At = erlang:monotonic_time(),
    T = fun(Ms) -> {At + erlang:convert_time_unit(Ms, millisecond, native), Ms} end,
    Message = fun(Kind, From, To, Sent, Ms) ->
        {seq_trace, B, {Kind, {Ms, Ms}, From, To, Sent}, T(Ms)}
    end,
    Call = {'$gen_call', {B, Ref}, work},
    Root = [{trace_ts, B, call, {?MODULE, root, [nobody]}, {root, undefined}, T(1)},
            Message(send, B, C, Call, 2),
            Message('receive', C, B, {Ref, ok}, 12),
            {trace_ts, B, return_from, {?MODULE, root, 1}, ok, T(13)}],
    Callee = [Message('receive', B, C, Call, 2),
              {trace_ts, C, call, {?MODULE, busy, [1]}, {call, B}, T(4)},
              {trace_ts, C, return_from, {?MODULE, busy, 1}, ok, T(10)},
              Message(send, C, B, {Ref, ok}, 12)],
    erlang:system_flag(trace_control_word, 0),
    [Collector ! Event || Event <- Callee ++ Root].

%% What a stale token would still give to whoever sets a system tracer next.
emits() ->
    Count = fun Count(N) ->
        receive
            {how_many, From} -> From ! {self(), N};
            T when element(1, T) =:= seq_trace -> Count(N + 1)
        end
    end,
    Tracer = spawn(fun() -> Count(0) end),
    seq_trace:set_system_tracer(Tracer),
    timer:sleep(100),
    seq_trace:set_system_tracer(false),
    Tracer ! {how_many, self()},
    receive {Tracer, N} -> N end.

%% ---- requests

%% Each is a function, and what root/1 calls.
root(Request) -> ?MODULE:Request().

chain() -> busy(5), gen_server:call(b, {chain, c}), busy(3).
task() ->
    Tasks = [begin_task(Ms) || Ms <- [10, 20, 30]],
    [await(T) || T <- Tasks],
    busy(2).
crash() ->
    {ok, D} = gen_server:start(?MODULE, d, []),
    busy(2),
    catch gen_server:call(D, crash),
    busy(2).
timeout() ->
    catch gen_server:call(b, {sleep, 50, gone()}, 20),
    has_gone(),
    busy(4).
pool() ->
    W = gen_server:call(pool, checkout),
    gen_server:call(W, {busy, 10}),
    gen_server:cast(pool, {checkin, W, gone()}),
    until_gone(get(gone)),
    busy(2).
cast() -> gen_server:cast(c, {busy, 6}), busy(3), gen_server:call(b, {busy, 2}).
defer() -> gen_server:call(b, {defer, 8}), busy(1).
noproc() ->
    busy(2),
    catch gen_server:call(no_such_name, x),
    catch gen_server:call(dead(), x),
    busy(2).
waits() ->
    receive after 30 -> ok end,
    erlang:send_after(30, self(), own),
    own().
own() -> receive own -> busy(1) end.
statem() -> gen_statem:call(machine, sleep).
fan() -> [spawn(fun() -> busy(1) end) || _ <- lists:seq(1, 30)], busy(2).
deep() -> level(20), busy(20).
many() ->
    [spawn(fun() -> [spawn(fun() -> busy(1) end) || _ <- lists:seq(1, 5)] end)
     || _ <- lists:seq(1, 15)],
    busy(100).
twice() ->
    [spawn(fun() -> [spawn(fun told/0) ! {'$gen_cast', again} || _ <- lists:seq(1, 5)] end)
     || _ <- lists:seq(1, 15)],
    busy(100).
called() -> gen_server:call(b, {busy, 300}).
heavy() -> gen_server:call(b, {busy, 300}).
other() -> gen_server:call(b, {defer, 0}).
crowd() ->
    [spawn(fun() -> [spawn(fun late/0) || _ <- lists:seq(1, 5)], late() end)
     || _ <- lists:seq(1, 15)],
    busy(20).
calm() -> [spawn(fun() -> busy(1) end) || _ <- lists:seq(1, 10)], busy(100).
big() -> gen_server:call(b, {busy, 1, lists:duplicate(4000000, large)}).
stale() -> gen_server:call(b, {busy, 1}).
erpc() -> erpc:call(persistent_term:get(other), erlang, node, []).
far() ->
    Other = persistent_term:get(other),
    busy(2),
    %% The answer, which comes through c, shows that c has taken what came before.
    gen_server:cast({c, Other}, {busy, 1}),
    gen_server:call({b, Other}, {chain, c}),
    busy(2).
front() -> gen_server:call(front, work).
pump() -> pump ! tick.
raise() -> gen_server:call(b, {sleep, 50, gone()}, 10).

%% Who answers waits until the caller has gone on, or who casts until that is taken, however late that
%% may be.
gone() -> Gone = atomics:new(1, []), put(gone, Gone), Gone.
has_gone() -> atomics:put(get(gone), 1, 1).
until_gone(Gone) -> atomics:get(Gone, 1) =:= 1 orelse begin timer:sleep(1), until_gone(Gone) end.

late() -> timer:sleep(50), gen_server:cast(c, {busy, 0}).
told() -> receive {'$gen_cast', again} -> busy(1) end.

level(0) -> busy(1);
level(N) -> spawn(fun() -> level(N - 1), busy(1) end).

dead() ->
    {P, R} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', R, _, _, _} -> P end.

begin_task(Ms) ->
    Me = self(),
    {P, R} = spawn_monitor(fun() -> receive {Me, go, T} -> busy(2), timer:sleep(Ms), Me ! {T, done} end end),
    P ! {Me, go, R},
    {P, R}.
await({_, R}) ->
    receive
        {R, X} -> demonitor(R, [flush]), X;
        {'DOWN', R, _, _, Why} -> {down, Why}
    end.

%% ---- servers

init(machine) -> {ok, idle, []};
init(Name) -> {ok, Name}.

handle_call({chain, Next}, _, S) ->
    busy(10),
    %% A node that was stopped for a while goes on with its timers over: the server must not end.
    R = gen_server:call(Next, leaf, infinity),
    busy(5),
    {reply, R, S};
handle_call(leaf, _, S) -> busy(20), timer:sleep(15), {reply, leaf, S};
handle_call({defer, Ms}, From, S) -> replier ! {reply_for, From, Ms}, {noreply, S};
handle_call(work, _, S) ->
    R = gen_server:call(b, {busy, 5}, infinity),
    gen_server:cast(c, {busy, 1}),
    gen_server:call(b, {busy, 2}, infinity),
    {reply, R, S};
handle_call({busy, Ms}, _, S) -> busy(Ms), {reply, ok, S};
handle_call({busy, Ms, What}, _, S) -> busy(Ms), {reply, What, S};
handle_call({sleep, Ms, Gone}, _, S) -> timer:sleep(Ms), until_gone(Gone), {reply, ok, S};
handle_call(crash, _, _) -> busy(5), exit(boom).
handle_cast({busy, Ms}, S) -> busy(Ms), {noreply, S}.
handle_info(_, S) -> {noreply, S}.
terminate(_, _) -> ok.

callback_mode() -> handle_event_function.
handle_event({call, From}, sleep, _, _) ->
    timer:sleep(10),
    {keep_state_and_data, [{reply, From, ok}]};
handle_event(_, _, _, _) -> keep_state_and_data.
terminate(_, _, _) -> ok.

%% Speaks the protocol of gen_server by hand; somebody without a token keeps the worker
%% long enough for the collector to see that, also on a busy machine.
pool_server() ->
    receive
        {'$gen_call', From, checkout} ->
            Me = self(),
            spawn(fun() -> seq_trace:set_token([]), timer:sleep(500), Me ! {back, From} end);
        {back, From} -> gen_server:reply(From, w);
        {'$gen_cast', {checkin, w, Taken}} -> atomics:put(Taken, 1, 1);
        _ -> ok
    end,
    pool_server().
replier() ->
    receive
        {reply_for, From, Ms} -> busy(Ms), gen_server:reply(From, done);
        _ -> ok
    end,
    replier().

%% Takes messages without an answer.
pump_server() ->
    receive tick -> gen_server:call(b, {busy, 3}) end,
    pump_server().

busy(Ms) -> until(erlang:monotonic_time(microsecond) + Ms * 1000).
until(T) ->
    case erlang:monotonic_time(microsecond) of
        N when N >= T -> ok;
        _ -> burn(50), until(T)
    end.
burn(0) -> ok;
burn(N) -> burn(N - 1).
