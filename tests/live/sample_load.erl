%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load that test_sample.sh samples: known work in one process. Files in the directory are how the
%% script asks; each is deleted when it is done:
%%   chain  chain_main/0 -> f1/1 -> f2/1 -> f3/1, which calls leaf_a/2 for some three quarters of its
%%          time and leaf_b/2 for one
%%   timed  chain, and what leaf_a/2 and leaf_b/2 take here is in `shares`: how fast equal code runs
%%          depends on where it is
%%   copy   copy_loop/2 calls copier/2, which sends a list of 2,000 tuples and waits for the answer
%%   gc     gc_work/1 builds 5,000 tuples again and again beside a live list of 200,000
%%   large  large_build/2 builds a list of 300,000 beside a live one of 1,500,000 for large_loop/1: a
%%          dirty scheduler collects
%%   maps   maps_loop/1 builds maps of 20,000 keys, mostly in functions that the VM does not export
%%   nat    nat/1 is erlang:phash2(binary:copy(…)), called by a chain of body calls
%%   nif    user/1 calls a NIF that spins; duser/1 the same on a dirty scheduler
%%   dirty  duser/1
%%   held   luser/1 calls a NIF that spins long, beside user/1
%%   files  files/0 asks a dirty I/O scheduler for a file's information
%%   deep   body recursion of 5,000
%%   many   100,000 processes are started and end
%%   loads  a module is compiled and loaded again and again, beside what runs
%%   still  whatever runs is ended
%% `worker` is the pid of what runs, as it prints.
-module(sample_load).
-compile([export_all, nowarn_export_all]).

start(Dir, _) ->
    spawn(fun() -> put(baseline, processes()), ?MODULE:watch(Dir, []) end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, Running) ->
    timer:sleep(20),
    ?MODULE:watch(Dir, lists:foldl(fun({Name, Do}, R) ->
        case filelib:is_file(filename:join(Dir, Name)) of
            true ->
                New = Do(Dir, R),
                file:delete(filename:join(Dir, Name)),
                New;
            false -> R
        end
    end, Running, orders())).

orders() ->
    [{"still", fun(_, R) -> [begin unlink(P), exit(P, kill) end || P <- R], [] end},
     {"chain", runs(fun() -> chain_main() end)},
     {"timed", fun(Dir, R) -> times(Dir), (runs(fun() -> chain_main() end))(Dir, R) end},
     {"named", runs(fun() -> register(sample_worker, self()), chain_main() end)},
     {"copy", runs(fun() -> copy() end)},
     {"gc", runs(fun() -> gc_work(lists:seq(1, 200000)) end)},
     {"large", runs(fun() -> large_loop(large_build(1500000, [])) end)},
     {"maps", runs(fun() -> maps_loop([{N, N} || N <- lists:seq(1, 20000)]) end)},
     {"nat", runs(fun() -> nat_loop(0) end)},
     {"nif", fun(Dir, R) -> loaded(Dir), (runs(fun() -> user_loop() end))(Dir, R) end},
     {"dirty", fun(Dir, R) -> loaded(Dir), (runs(fun() -> duser_loop() end))(Dir, R) end},
     {"held", fun(Dir, R) ->
                  loaded(Dir),
                  Short = spawn(fun() -> user_loop() end),
                  (runs(fun() -> luser_loop() end))(Dir, [Short | R])
              end},
     {"files", runs(fun() -> files() end)},
     {"deep", runs(fun() -> deep_loop() end)},
     {"many", fun(_, R) -> many(100000), R end},
     {"loads", runs(fun() -> loads() end)},
     {"audit", fun(Dir, R) -> audit:write(Dir, get(baseline) ++ R), R end}].

runs(Work) ->
    fun(Dir, R) ->
        P = spawn(fun() -> process_flag(priority, normal), Work() end),
        ok = file:write_file(filename:join(Dir, "worker"), pid_to_list(P)),
        [P | R]
    end.

%% The shares of leaf_a/2 and leaf_b/2, by the first quartile of the times for a turn of each in 40,000
%% rounds: what else has the processor is in the others.
times(Dir) ->
    Round = fun(N) ->
        Start = erlang:monotonic_time(),
        leaf_a(3 * N, 0),
        Between = erlang:monotonic_time(),
        leaf_b(N, 0),
        {(Between - Start) / N, (erlang:monotonic_time() - Between) / N}
    end,
    {As, Bs} = lists:unzip([Round(length_of_round()) || _ <- lists:seq(1, 40000)]),
    [A, B] = [lists:nth(10000, lists:sort(Times)) || Times <- [As, Bs]],
    ok = file:write_file(filename:join(Dir, "shares"), io_lib:format("~.4f ~.4f~n", [A / (A + B), B / (A + B)])).

%% Samples come at equal distances, and would see rounds of equal length at the same places again and
%% again.
length_of_round() -> 500 + erlang:system_time() band 1023.

%% Each call has work behind it, so that its frame stays.
chain_main() -> f1(length_of_round()), chain_main().
f1(N) -> A = f2(N), A + 1.
f2(N) -> A = f3(N), A + 2.
f3(N) -> A = leaf_a(3 * N, 0), B = leaf_b(N, 0), A + B.
leaf_a(0, A) -> A;
leaf_a(N, A) -> leaf_a(N - 1, (A * 7 + N) band 16#ffff).
leaf_b(0, A) -> A;
leaf_b(N, A) -> leaf_b(N - 1, (A * 7 + N) band 16#ffff).

copy() ->
    Sink = spawn_link(fun() -> sink() end),
    copy_loop(Sink, [{N, N + 1, N + 2} || N <- lists:seq(1, 2000)]).
copy_loop(Sink, List) -> copier(Sink, List), copy_loop(Sink, List).
copier(Sink, List) -> Sink ! {self(), List}, receive ok -> ok end.
sink() -> receive {From, _} -> From ! ok end, sink().

gc_work(Live) ->
    _ = [{N, N} || N <- lists:seq(1, 5000)],
    _ = hd(Live),
    gc_work(Live).

%% Small steps of garbage, so that a dirty scheduler collects and not the one that runs it.
large_loop(Live) ->
    _ = large_build(300000, []),
    _ = hd(Live),
    large_loop(Live).

large_build(0, List) -> List;
large_build(N, List) -> large_build(N - 1, [{N, N} | List]).

maps_loop(List) -> _ = maps:from_list(List), maps_loop(List).

nat_loop(N) -> A = nat(N), nat_loop(A band 1).
nat(N) -> erlang:phash2(binary:copy(<<1, 2, 3>>, 20000 + N)).

loaded(Dir) ->
    case erlang:load_nif(filename:join(Dir, "sample_nif"), 0) of
        ok -> ok;
        {error, {reload, _}} -> ok
    end.
user_loop() -> user(1), user_loop().
user(N) -> A = spin(N), A + 1.
duser_loop() -> duser(1), duser_loop().
duser(N) -> A = dirty_spin(N), A + 1.
spin(_) -> erlang:nif_error(not_loaded).
dirty_spin(_) -> erlang:nif_error(not_loaded).
luser_loop() -> luser(1), luser_loop().
luser(N) -> A = long_spin(N), A + 1.
long_spin(_) -> erlang:nif_error(not_loaded).

files() -> prim_file:read_file_info("/tmp"), files().

deep_loop() -> deep(5000), deep_loop().
deep(0) -> leaf_a(30000, 0);
deep(N) -> A = deep(N - 1), A + 1.

many(0) -> ok;
many(N) -> spawn(fun() -> ok end), many(N - 1).

loads() ->
    Forms = [{attribute, 1, module, sample_loaded}, {attribute, 1, export, [{f, 0}]},
             {function, 1, f, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}],
    {ok, M, Code} = compile:forms(Forms),
    again(M, Code).
again(M, Code) ->
    code:purge(M),
    {module, M} = code:load_binary(M, "sample_loaded.beam", Code),
    again(M, Code).
