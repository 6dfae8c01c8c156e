%% SPDX-License-Identifier: GPL-3.0-or-later
%% Load of test_spans_shapes.sh: requests of many shapes, one after the other, while processes are
%% spawned all the time. What each process of a request did is measured in it: the truth.
%% Files in the directory are how the script asks; each is deleted when it is done:
%%   audit        `left` is written, by audit.erl
%%   loop_SHAPE   root(SHAPE) is called again and again, each time by a fresh process; `all`: in turn
%%   stop         … no more
%%   meet         the node whose name the file `other` has is the one that erpc and remote ask
%%   truth        `truth.json` is written: by root and operation, in µs, how long it took at least (in
%%                its own process) and at most (for who asked), and how long it waited within
-module(spans_shapes).

-compile([export_all, nowarn_export_all]).

-define(MOST_MS, 1200000).
-define(SHAPES, [call, chain, task, nolink, nolink_crash, agent, cast, timer, own_timer, sleep,
                 pool, pubsub, statem, crash, timeout, raise, noproc, defer, helper, helper_wait, erpc,
                 erpc_timeout, remote, send_request]).

start(Dir, _Code) ->
    spawn(fun() -> begin_load(Dir) end),
    ok.

begin_load(Dir) ->
    logger:set_primary_config(level, none),
    truth = ets:new(truth, [named_table, public, duplicate_bag]),
    [{ok, _} = gen_server:start({local, N}, ?MODULE, N, []) || N <- [b, c, w, pool, tasks, agent]],
    {ok, _} = gen_statem:start({local, machine}, ?MODULE, machine, []),
    register(replier, spawn(fun replier/0)),
    [register(N, spawn(fun subscriber/0)) || N <- [first, second, third]],
    [one(S) || S <- ?SHAPES -- [erpc, remote]],
    Started = processes(),
    say(Dir, "pid", os:getpid()),
    serve(Dir, Started, erlang:monotonic_time(millisecond) + ?MOST_MS).

serve(Dir, Baseline, Until) ->
    Loops = [{File, fun() -> stop(), loop(shapes(list_to_atom(Name)), Until) end}
             || "loop_" ++ Name = File <- filelib:wildcard("loop_*", Dir)],
    Orders = [{"audit", fun() -> audit:write(Dir, Baseline) end},
              {"stop", fun stop/0},
              {"meet", fun() -> meet(Dir) end},
              {"truth", fun() -> say(Dir, "truth.json", truth()) end}],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- Loops ++ Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 20 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso serve(Dir, Baseline, Until).

say(Dir, Name, Text) ->
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".new", Text),
    ok = file:rename(File ++ ".new", File).

meet(Dir) ->
    {ok, Name} = file:read_file(filename:join(Dir, "other")),
    Other = binary_to_atom(Name, utf8),
    true = net_kernel:connect_node(Other),
    persistent_term:put(other, Other),
    [one(S) || S <- [erpc, remote]].

shapes(all) -> ?SHAPES;
shapes(Shape) -> [Shape].

%% Who asks has the token of the request before: its spawns and messages carry it. Another one
%% spawns 500 processes a second.
loop(Shapes, Until) ->
    ets:delete_all_objects(truth),
    register(looper, spawn(fun() -> loop_on(Shapes, Until) end)),
    register(spawner, spawn(fun() -> spawn_on(Until) end)).

loop_on([Shape | Others], Until) ->
    one(Shape),
    [first ! log || _ <- lists:seq(1, 7)],
    receive after 10 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso loop_on(Others ++ [Shape], Until).

spawn_on(Until) ->
    [spawn(fun() -> ok end) || _ <- lists:seq(1, 5)],
    receive after 10 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso spawn_on(Until).

stop() ->
    [begin
         Ref = monitor(process, P),
         unlink(P),
         exit(P, kill),
         receive {'DOWN', Ref, _, _, _} -> ok end
     end || N <- [looper, spawner], P <- [whereis(N)], is_pid(P)].

one(Shape) ->
    Me = self(),
    P = spawn(fun() ->
        receive go -> ok end,
        timed([{{self(), name(Shape)}, most}], fun() -> catch ?MODULE:root(Shape) end),
        Me ! {self(), done}
    end),
    R = monitor(process, P),
    P ! go,
    receive {P, done} -> demonitor(R, [flush]); {'DOWN', R, _, P, _} -> ok end.

name(Shape) -> list_to_atom("root " ++ atom_to_list(Shape)).

root(Shape) ->
    works(self(), name(Shape), fun() -> ?MODULE:Shape() end).

%% ---- the truth

timed(Noted, Do) ->
    At = erlang:monotonic_time(),
    try Do()
    after
        Us = erlang:convert_time_unit(erlang:monotonic_time() - At, native, microsecond),
        [ets:insert(truth, {What, Which, Us}) || {What, Which} <- Noted]
    end.

%% A process is in that operation of a root.
works(Root, What, Do) ->
    Before = put(works, {Root, What}),
    try timed([{{Root, What}, least}], Do) after put(works, Before) end.

%% … and waits there; for what another one does.
waits(Do) -> timed([{get(works), waited}], Do).
asks(What, Do) ->
    {Root, _} = Here = get(works),
    timed([{Here, waited}, {{Root, What}, most}], Do).

truth() ->
    Keys = lists:usort([K || {{_, What} = K, _, _} <- ets:tab2list(truth), What =/= gone]),
    Line = fun({Root, What} = Key) ->
        Sum = fun(Which) ->
            case [Us || {_, W, Us} <- ets:lookup(truth, Key), W =:= Which] of
                [] -> "null";
                All -> integer_to_list(lists:sum(All))
            end
        end,
        io_lib:format("{\"root\":\"~p\",\"operation\":\"~s\",~n"
                      " \"least\":~s,\"most\":~s,\"waited\":~s}~n",
                      [Root, What, Sum(least), Sum(most), Sum(waited)])
    end,
    [Line(K) || K <- Keys].

%% ---- shapes

call(Server, Request) ->
    {Root, _} = get(works),
    asks(Request, fun() -> gen_server:call(Server, {Request, Root}, infinity) end).
gives_up() -> waits(fun() -> gen_server:call(b, {sleep, self()}, 12) end).

call() -> busy(1), call(b, work).
chain() -> busy(2), call(b, chain), busy(1).
task() ->
    Root = self(),
    Tasks = [{spawn_monitor(?MODULE, Task, [Root]), Task} || Task <- [short, long]],
    [P ! {self(), go, R} || {{P, R}, _} <- Tasks],
    [waits(fun() -> receive {R, done} -> demonitor(R, [flush]) end end) || {{_, R}, _} <- Tasks].
short(Root) -> a_task(Root, 'spans_shapes:short/1', 5).
long(Root) -> a_task(Root, 'spans_shapes:long/1', 12).
a_task(Root, What, Ms) ->
    works(Root, What, fun() ->
        R = receive {Root, go, Ref} -> Ref end,
        busy(2),
        waits(fun() -> timer:sleep(Ms) end),
        Root ! {R, done}
    end).
%% As Task.Supervisor.async_nolink of Elixir 1.10 does.
nolink() -> nolink(good).
nolink_crash() -> nolink(bad).
nolink(Task) ->
    {ok, P} = call(tasks, Task),
    R = monitor(process, P),
    P ! {self(), R},
    waits(fun() -> receive {R, _} -> demonitor(R, [flush]); {'DOWN', R, _, _, _} -> ok end end),
    busy(1).
agent() ->
    {Root, _} = get(works),
    asks(get, fun() -> gen_server:call(agent, {get, Root, fun() -> busy(4) end}) end).
cast() -> gen_server:cast(c, {noted, self()}), busy(3), call(b, work).
timer() -> waits(fun() -> receive after 40 -> ok end end), busy(1).
own_timer() ->
    erlang:send_after(40, self(), own),
    waits(fun() -> receive own -> ok end end),
    busy(1).
sleep() -> waits(fun() -> timer:sleep(12) end), busy(1).
pool() ->
    call(pool, checkout),
    call(w, query),
    gen_server:cast(pool, {checkin, self()}),
    busy(1).
pubsub() ->
    All = [first, second, third],
    [N ! {sold, self()} || N <- All],
    waits(fun() -> [receive {heard, N} -> ok end || N <- All] end),
    busy(1).
statem() ->
    Root = self(),
    asks(sleep, fun() -> gen_statem:call(machine, {sleep, Root}) end).
crash() -> catch call(waits(fun d/0), crash), busy(1).
timeout() -> catch gives_up(), has_gone(), busy(1).
raise() -> try gives_up() after has_gone() end.
noproc() -> catch call(no_such_name, work), busy(2).
defer() -> call(b, defer), busy(1).
helper() -> call(b, helper), busy(1).
helper_wait() -> call(b, helper_wait), busy(1).
erpc() -> waits(fun() -> erpc:call(persistent_term:get(other), timer, sleep, [12]) end), busy(1).
erpc_timeout() ->
    catch waits(fun() -> erpc:call(node(), timer, sleep, [30], 12) end),
    busy(1).
remote() -> waits(fun() -> gen_server:call({b, persistent_term:get(other)}, {work, nobody}) end).
send_request() ->
    Root = self(),
    R = gen_server:send_request(b, {work, Root}),
    busy(1),
    waits(fun() -> gen_server:wait_response(R, infinity) end).

d() -> {ok, D} = gen_server:start(?MODULE, d, []), D.

%% ---- servers

init(machine) -> {ok, idle, []};
init(Name) -> {ok, Name}.

%% Whoever answers a request that is given up waits until its caller has gone on.
has_gone() -> ets:insert(truth, {{self(), gone}, gone, 0}).
until_gone(Root) ->
    ets:member(truth, {Root, gone}) orelse begin timer:sleep(1), until_gone(Root) end.

handle_call({defer, Root}, From, S) -> replier ! {reply_for, Root, From}, {noreply, S};
handle_call({helper, Root}, From, S) ->
    spawn(?MODULE, helps, [Root, From]),
    {noreply, S};
handle_call({Good, Root}, {Owner, _}, S) when Good =:= good; Good =:= bad ->
    {reply, {ok, proc_lib:spawn(?MODULE, supervised, [Root, Owner, Good])}, S};
handle_call({get, Root, Do}, _, S) -> works(Root, get, Do), {reply, ok, S};
handle_call({Request, nobody}, _, S) -> busy(8), {reply, Request, S};
handle_call({Request, Root}, _, S) ->
    works(Root, Request, fun() -> do(Request, Root) end),
    {reply, ok, S}.

do(work, _) -> busy(5);
do(chain, _) -> busy(2), call(c, leaf), busy(1);
do(leaf, _) -> busy(2), waits(fun() -> timer:sleep(8) end);
do(checkout, _) -> ok;
do(query, _) -> busy(4);
do(crash, _) -> busy(3), exit(boom);
do(sleep, Root) -> waits(fun() -> timer:sleep(25), until_gone(Root) end);
do(helper_wait, Root) ->
    asks('spans_shapes:helps/1', fun() ->
        {P, R} = spawn_monitor(?MODULE, helps, [Root]),
        receive {'DOWN', R, _, P, _} -> ok end
    end).

helps(Root) -> works(Root, 'spans_shapes:helps/1', fun helps/0).
helps(Root, From) ->
    works(Root, 'spans_shapes:helps/2', fun() -> helps(), gen_server:reply(From, ok) end).
helps() -> busy(3), waits(fun() -> timer:sleep(8) end).
supervised(Root, Owner, Good) ->
    R = receive {Owner, Ref} -> Ref end,
    works(Root, 'proc_lib:init_p/5', fun() ->
        busy(2),
        waits(fun() -> timer:sleep(8) end),
        case Good of good -> Owner ! {R, done}; bad -> exit(boom) end
    end).

handle_cast({Request, Root}, S) -> works(Root, Request, fun() -> busy(2) end), {noreply, S}.
handle_info(_, S) -> {noreply, S}.
terminate(_, _) -> ok.

callback_mode() -> handle_event_function.
handle_event({call, From}, {sleep, Root}, _, _) ->
    works(Root, sleep, fun() -> waits(fun() -> timer:sleep(10) end) end),
    {keep_state_and_data, [{reply, From, ok}]};
handle_event(_, _, _, _) -> keep_state_and_data.
terminate(_, _, _) -> ok.

replier() ->
    receive
        {reply_for, Root, From} ->
            works(Root, reply_for, fun() -> busy(4), gen_server:reply(From, done) end);
        _ -> ok
    end,
    replier().

subscriber() ->
    receive
        {sold, Root} ->
            {_, Name} = process_info(self(), registered_name),
            works(Root, sold, fun() -> busy(2), Root ! {heard, Name} end);
        _ -> ok
    end,
    subscriber().

busy(Ms) -> until(erlang:monotonic_time(microsecond) + Ms * 1000).
until(T) ->
    case erlang:monotonic_time(microsecond) of
        N when N >= T -> ok;
        _ -> burn(50), until(T)
    end.
burn(0) -> ok;
burn(N) -> burn(N - 1).
