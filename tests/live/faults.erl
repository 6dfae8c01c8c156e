%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_faults.sh and test_planted.sh: a healthy system in which faults are planted: those that
%% `erl -faults KIND…` names, else the first nine. What is at fault is in the name of its process.
%%   mailbox    fault_mailbox gets more messages than it takes
%%   slow       fault_slow serves callers one at a time, and slowly
%%   busy       fault_busy_N compute without end
%%   heap       fault_heap keeps what it makes
%%   binaries   fault_binaries holds 64 MB of binaries
%%   atoms      fault_atoms makes atoms of text
%%   processes  fault_spawner starts processes that never end
%%   table      fault_tables owns a table, fault_table, that only grows
%%   churn      fault_churner starts a thousand short-lived processes a second
%%   terms      fault_terms replaces a persistent term ten times a second
%%   loads      fault_loads loads a module twenty times a second
%%   restarts   children of fault_sup end, and are started again: twenty a second
%%   core       fault_core computes without end, where schedulers are free
%%   suspended  fault_suspended is a server that was suspended (sys), with two messages
%%   deaf       fault_deaf waits for what never comes, with seven messages that it does not match
%%   calls      fault_calls waits for the answer of fault_called, which never answers
%%   hot        fault_hot and, in relays, processes without a name take all there is
%%   senders    fault_sender_N send more to another node than it takes
%%   ports      fault_ports opens sockets (inet) that stay
%%   sockets    fault_sockets opens sockets (module socket) that stay
%%   timers     fault_timers starts timers of an hour
%%   monitors   fault_monitors monitors a process again and again
%%   brief      fault_brief starts 150 processes a second, a millisecond of work each
%%   locked     fault_writer writes one large object of fault_locked all the time; others read small ones
-module(faults).
-behaviour(gen_server).
-export([start/2, feed/1, slow/0, call/1, busy/0, heap/1, atoms/1, spawner/0, leaked/0, tables/1,
         churner/0, short_lived/0, worker/1, requests/0, request/1]).
-export([terms/1, loads/1, child/0, relay/0, send/1, opens/1, timers/0, monitors/1, brief/0, work/0,
         writes/2, reads/1]).
-export([init/1, handle_call/3, handle_cast/2]).

start(Dir, _) ->
    [spawn(?MODULE, worker, [N]) || N <- lists:seq(1, 100)],
    named(fault_requests, fun() -> ?MODULE:requests() end),
    [plant(Kind) || Kind <- kinds()],
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

kinds() ->
    case init:get_argument(faults) of
        {ok, Lists} -> [list_to_atom(Kind) || Kind <- lists:append(Lists)];
        error -> [mailbox, slow, busy, heap, binaries, atoms, processes, table, churn]
    end.

plant(mailbox) ->
    named(fault_mailbox, fun wait/0),
    spawn(?MODULE, feed, [fault_mailbox]);
plant(slow) ->
    named(fault_slow, fun() -> ?MODULE:slow() end),
    [spawn(?MODULE, call, [N]) || N <- lists:seq(1, 12)];
plant(busy) ->
    [named(Name, fun() -> ?MODULE:busy() end) || Name <- [fault_busy_1, fault_busy_2, fault_busy_3]];
plant(heap) ->
    named(fault_heap, fun() -> ?MODULE:heap([]) end);
plant(binaries) ->
    named(fault_binaries, fun() ->
        Held = [binary:copy(<<N>>, 1000000) || N <- lists:seq(1, 64)],
        wait(),
        length(Held)
    end);
plant(atoms) ->
    named(fault_atoms, fun() -> ?MODULE:atoms(0) end);
plant(processes) ->
    named(fault_spawner, fun() -> ?MODULE:spawner() end);
plant(table) ->
    named(fault_tables, fun() ->
        ets:new(fault_table, [named_table, public]),
        ?MODULE:tables(0)
    end);
plant(churn) ->
    named(fault_churner, fun() -> ?MODULE:churner() end);
plant(terms) ->
    crowd(),
    named(fault_terms, fun() -> ?MODULE:terms(0) end);
plant(loads) ->
    crowd(),
    named(fault_loads, fun() -> ?MODULE:loads(small_module()) end);
plant(restarts) ->
    ok = logger:set_primary_config(level, critical),
    spawn(fun() -> {ok, _} = supervisor:start_link({local, fault_sup}, ?MODULE, sup), wait() end);
plant(core) ->
    named(fault_core, fun() -> ?MODULE:busy() end);
plant(suspended) ->
    {ok, _} = gen_server:start({local, fault_suspended}, ?MODULE, server, []),
    ok = sys:suspend(fault_suspended),
    [spawn(fun() -> gen_server:call(fault_suspended, N, infinity) end) || N <- [1, 2]];
plant(deaf) ->
    named(fault_deaf, fun wait/0),
    [fault_deaf ! {message, N} || N <- lists:seq(1, 7)];
plant(calls) ->
    {ok, _} = gen_server:start({local, fault_called}, ?MODULE, server, []),
    named(fault_calls, fun() -> gen_server:call(fault_called, wait, infinity) end),
    [fault_calls ! {message, N} || N <- lists:seq(1, 6)];
plant(hot) ->
    named(fault_hot, fun() -> ?MODULE:busy() end),
    [spawn(fun() -> ?MODULE:relay() end) || _ <- [1, 2]];
plant(senders) ->
    Peer = peer(),
    [named(Name, fun() -> ?MODULE:send({nobody, Peer}) end)
     || Name <- [fault_sender_1, fault_sender_2, fault_sender_3]];
plant(ports) ->
    named(fault_ports, fun() -> ?MODULE:opens(fun() -> {ok, _} = gen_udp:open(0) end) end);
plant(sockets) ->
    named(fault_sockets, fun() ->
        ?MODULE:opens(fun() -> {ok, _} = socket:open(inet, dgram, udp) end)
    end);
plant(timers) ->
    named(fault_timers, fun() -> ?MODULE:timers() end);
plant(monitors) ->
    named(fault_monitors, fun() -> ?MODULE:monitors(spawn(fun wait/0)) end);
plant(brief) ->
    named(fault_brief, fun() -> ?MODULE:brief() end);
plant(locked) ->
    named(fault_writer, fun() ->
        Table = ets:new(fault_locked, [named_table, public]),
        ets:insert(Table, {small, 1}),
        [spawn(?MODULE, reads, [Table]) || _ <- lists:seq(1, 4)],
        ?MODULE:writes(Table, lists:seq(1, 300000))
    end).

named(Name, Run) ->
    Planter = self(),
    Pid = spawn(fun() -> register(Name, self()), Planter ! {planted, self()}, Run() end),
    receive {planted, Pid} -> ok end.

wait() -> receive never -> ok end.

%% Processes whose heaps the VM looks through.
crowd() ->
    Hold = fun(Kept) -> wait(), length(Kept) end,
    [spawn(fun() -> Hold(lists:seq(1, 500)) end) || _ <- lists:seq(1, 10000)].

%% An insertion counts as one reduction, whatever its size: who makes a time slice of them holds a
%% scheduler for seconds.
writes(Table, Large) ->
    ets:insert(Table, {large, Large}),
    erlang:yield(),
    ?MODULE:writes(Table, Large).

reads(Table) ->
    [{small, 1}] = ets:lookup(Table, small),
    erlang:yield(),
    ?MODULE:reads(Table).

%% ---- What is healthy

worker(N) ->
    lists:seq(1, 200),
    timer:sleep(500 + N),
    ?MODULE:worker(N).

%% Processes that come and go, and a cache of a size that stays.
requests() ->
    Cache = ets:new(fault_cache, [public]),
    requests(Cache, 0).

requests(Cache, N) ->
    spawn(?MODULE, request, [Cache]),
    timer:sleep(20),
    requests(Cache, N + 1).

request(Cache) ->
    ets:insert(Cache, {erlang:unique_integer([positive]) rem 500, lists:seq(1, 50)}),
    timer:sleep(30).

%% ---- What is not

feed(Name) ->
    [Name ! {message, N} || N <- lists:seq(1, 25)],
    timer:sleep(100),
    ?MODULE:feed(Name).

%% In steps: a mailbox that is never empty, and as much work as is given.
slow() ->
    receive {call, From, Ref} ->
        lists:foldl(fun(X, Sum) -> X * X + Sum end, 0, lists:seq(1, 3000)),
        From ! Ref
    end,
    ?MODULE:slow().

call(N) ->
    Ref = make_ref(),
    fault_slow ! {call, self(), Ref},
    receive Ref -> ok end,
    ?MODULE:call(N).

busy() ->
    lists:sum(lists:seq(1, 1000)),
    ?MODULE:busy().

heap(Kept) ->
    timer:sleep(100),
    ?MODULE:heap([lists:seq(1, 12500) | Kept]).

atoms(N) ->
    [list_to_atom("fault_atom_" ++ integer_to_list(N + I)) || I <- lists:seq(1, 10)],
    timer:sleep(100),
    ?MODULE:atoms(N + 10).

spawner() ->
    [spawn(?MODULE, leaked, []) || _ <- [1, 2]],
    timer:sleep(100),
    ?MODULE:spawner().

leaked() -> wait().

tables(N) ->
    ets:insert(fault_table, [{N + I, lists:seq(1, 60)} || I <- lists:seq(1, 50)]),
    timer:sleep(100),
    ?MODULE:tables(N + 50).

churner() -> spawns(short_lived, 2000, now_ms(), 0).

%% So many a second by the clock, so that a machine with other load does not make it slower.
spawns(Function, PerS, Start, Done) ->
    timer:sleep(10),
    Due = (now_ms() - Start) * PerS div 1000,
    [spawn(?MODULE, Function, []) || _ <- lists:seq(1, min(Due - Done, 1000))],
    spawns(Function, PerS, Start, Due).

now_ms() -> erlang:monotonic_time(millisecond).

short_lived() -> lists:sum(lists:seq(1, 100)).

%% A term that is replaced makes the VM look through all heaps; so does old code.
terms(N) ->
    persistent_term:put({?MODULE, terms}, #{n => N, list => lists:seq(1, 20)}),
    timer:sleep(100),
    ?MODULE:terms(N + 1).

small_module() ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, fault_module},
                                   {attribute, 2, export, [{f, 0}]},
                                   {function, 3, f, 0, [{clause, 3, [], [], [{nil, 3}]}]}]),
    {M, Code}.

loads({M, Code} = Module) ->
    {module, M} = code:load_binary(M, "fault_module.beam", Code),
    code:purge(M),
    timer:sleep(50),
    ?MODULE:loads(Module).

init(server) -> {ok, server};
init(sup) ->
    {ok, {#{strategy => one_for_one, intensity => 100000, period => 1},
          [#{id => N, start => {?MODULE, child, []}} || N <- [1, 2]]}}.

handle_call(wait, _, State) -> wait(), {reply, ok, State};
handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

child() ->
    {ok, proc_lib:spawn_link(fun() -> timer:sleep(100), exit({badmatch, {error, econnrefused}}) end)}.

%% Always one at work, and none of them for long.
relay() ->
    [lists:sum(lists:seq(1, 1000)) || _ <- lists:seq(1, 1000)],
    spawn(fun() -> ?MODULE:relay() end).

%% A node that takes messages for 0.3 of each 3.3 s. A shell stops it and lets it go on, and ends it once
%% this one has ended.
peer() ->
    Peer = "peer_" ++ atom_to_list(node()),
    Port = open_port({spawn, "erl -noinput -name " ++ Peer ++ " -start_epmd false -setcookie "
                      ++ atom_to_list(erlang:get_cookie())}, []),
    {os_pid, Os} = erlang:port_info(Port, os_pid),
    connect(list_to_atom(Peer), 600),
    open_port({spawn, io_lib:format("sh -c 'while kill -0 ~s && kill -STOP ~b; do sleep 3; kill -CONT ~b;"
                                    " sleep 0.3; done 2>/dev/null; kill -9 ~b'",
                                    [os:getpid(), Os, Os, Os])}, []),
    list_to_atom(Peer).

connect(Peer, Left) when Left > 0 ->
    net_kernel:connect_node(Peer) orelse begin timer:sleep(100), connect(Peer, Left - 1) end.

send(To) ->
    To ! binary:copy(<<0>>, 100000),
    timer:sleep(20),
    ?MODULE:send(To).

%% Fewer than the descriptors that a VM has.
opens(Open) -> opens(Open, 1500).

opens(_, 0) -> wait();
opens(Open, Left) ->
    Open(),
    timer:sleep(50),
    opens(Open, Left - 1).

timers() ->
    [erlang:start_timer(3600000, self(), N) || N <- lists:seq(1, 500)],
    timer:sleep(100),
    ?MODULE:timers().

monitors(Pid) ->
    [erlang:monitor(process, Pid) || _ <- lists:seq(1, 500)],
    timer:sleep(100),
    ?MODULE:monitors(Pid).

brief() -> spawns(work, 150, now_ms(), 0).

work() -> lists:sum(lists:seq(1, 30000)).
