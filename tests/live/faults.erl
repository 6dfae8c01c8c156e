%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_faults.sh: a healthy system in which nine faults are planted, each by a process with
%% a name that tells which.
%%   fault_mailbox   gets more messages than it takes
%%   fault_slow      serves callers one at a time, and slowly
%%   fault_busy_N    compute without end
%%   fault_heap      keeps what it makes
%%   fault_binaries  holds 64 MB of binaries
%%   fault_atoms     makes atoms of text
%%   fault_spawner   starts processes that never end
%%   fault_tables    owns a table, fault_table, that only grows
%%   fault_churner   starts a thousand short-lived processes a second
-module(faults).
-export([start/2, feed/1, slow/0, call/1, busy/0, heap/1, atoms/1, spawner/0, leaked/0, tables/1,
         churner/0, short_lived/0, worker/1, requests/0, request/1]).

start(Dir, _) ->
    [spawn(?MODULE, worker, [N]) || N <- lists:seq(1, 100)],
    plant(fault_requests, fun() -> ?MODULE:requests() end),
    plant(fault_mailbox, fun wait/0),
    spawn(?MODULE, feed, [fault_mailbox]),
    plant(fault_slow, fun() -> ?MODULE:slow() end),
    [spawn(?MODULE, call, [N]) || N <- lists:seq(1, 12)],
    [plant(Name, fun() -> ?MODULE:busy() end) || Name <- [fault_busy_1, fault_busy_2, fault_busy_3]],
    plant(fault_heap, fun() -> ?MODULE:heap([]) end),
    plant(fault_binaries, fun() ->
        Held = [binary:copy(<<N>>, 1000000) || N <- lists:seq(1, 64)],
        wait(),
        length(Held)
    end),
    plant(fault_atoms, fun() -> ?MODULE:atoms(0) end),
    plant(fault_spawner, fun() -> ?MODULE:spawner() end),
    plant(fault_tables, fun() ->
        ets:new(fault_table, [named_table, public]),
        ?MODULE:tables(0)
    end),
    plant(fault_churner, fun() -> ?MODULE:churner() end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

plant(Name, Run) ->
    Planter = self(),
    Pid = spawn(fun() -> register(Name, self()), Planter ! {planted, self()}, Run() end),
    receive {planted, Pid} -> ok end.

wait() -> receive never -> ok end.

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

%% By the clock, so that a machine with other load does not make it slower.
churner() -> churner(erlang:monotonic_time(millisecond)).

churner(Before) ->
    timer:sleep(10),
    Now = erlang:monotonic_time(millisecond),
    [spawn(?MODULE, short_lived, []) || _ <- lists:seq(1, min(1000, 2 * (Now - Before)))],
    churner(Now).

short_lived() -> lists:sum(lists:seq(1, 100)).
