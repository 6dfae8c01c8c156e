%% SPDX-License-Identifier: GPL-3.0-or-later
%% Load of test_stacks.sh: one process with known answers, asked again and again until it is told
%% to stop. Files in the directory are how the script asks; each is deleted when it is done:
%%   audit      `left` is written, by audit.erl
%%   loop_CASE  the process `subject` does CASE, waits 20 ms, and so on
%%   loop_all   … those of cases() in turn
%%   stop       `subject` does nothing any more
-module(stacks_load).

-compile([export_all, nowarn_export_all]).

-define(MOST_MS, 1200000).

start(Dir, _Code) ->
    spawn(fun() -> begin_load(Dir) end),
    ok.

begin_load(Dir) ->
    logger:set_primary_config(level, none),
    register(echo, spawn(fun echo/0)),
    register(subject, spawn(fun() -> subject([]) end)),
    {ok, _} = gen_server:start({local, server}, ?MODULE, [], []),
    [run(C) || C <- cases()],
    ok = file:write_file(filename:join(Dir, "pid.new"), os:getpid()),
    ok = file:rename(filename:join(Dir, "pid.new"), filename:join(Dir, "pid")),
    serve(Dir, processes(), erlang:monotonic_time(millisecond) + ?MOST_MS).

cases() -> [nested, sleeps, asks, raises, tail, recurses].

serve(Dir, Baseline, Until) ->
    Subject = fun(Cases) -> fun() -> subject ! {do, Cases} end end,
    Orders = [{"audit", fun() -> audit:write(Dir, Baseline) end},
              {"loop_all", Subject(cases())}, {"stop", Subject([])}
              | [{"loop_" ++ atom_to_list(C), Subject([C])} || C <- [hot, computes, fresh | cases()]]],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 20 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso serve(Dir, Baseline, Until).

subject(Cases) ->
    receive {do, Next} -> subject(Next)
    after case Cases of [] -> infinity; _ -> 20 end -> run(hd(Cases)), subject(tl(Cases) ++ [hd(Cases)])
    end.

run(tail) -> tail(3);
run(Case) -> ?MODULE:Case().

%% outer: 30 ms of its own, twice inner (10 ms and a leaf of 5).
nested() ->
    R = outer(2),
    {done, R}.

outer(N) ->
    busy(30),
    [inner(I) || I <- lists:seq(1, N)].

inner(I) ->
    busy(10),
    {I, leaf()}.

leaf() ->
    busy(5),
    leaf.

sleeps() ->
    timer:sleep(60),
    busy(5),
    slept.

%% In processes that end.
fresh() ->
    spawn(fun sleeps/0),
    receive after 100 -> ok end.

%% The answer comes after 40 ms.
asks() ->
    echo ! {self(), 40},
    receive answer -> ok end,
    server = gen_server:call(server, {sleep, 30}),
    asked.

raises() ->
    R = (catch caught(boom)),
    {raised, R}.

caught(Why) ->
    busy(2),
    error(Why).

%% Each calls the next as its last act.
tail(0) -> tail_end();
tail(N) -> tail(N - 1).

tail_end() ->
    busy(3),
    ended.

recurses() -> {depth, down(5)}.

down(0) -> 0;
down(N) -> 1 + down(N - 1).

%% Never waits: preempted again and again.
computes() ->
    N = burn(300),
    {burnt, N}.

burn(Ms) -> until(erlang:monotonic_time(microsecond) + Ms * 1000, 0).

hot() -> hot(20000).
hot(0) -> cool;
hot(N) -> tiny(N), hot(N - 1).

tiny(N) -> N + 1.

until(T, N) ->
    case erlang:monotonic_time(microsecond) of
        Now when Now >= T -> N;
        _ -> until(T, N + 1)
    end.

%% In time slices of a millisecond: hashing takes 0.3 us and more for a reduction. Slices as short as
%% those of burn/1 are too many to follow, on an idle host even for a second.
busy(Ms) -> hash_until(erlang:monotonic_time(microsecond) + Ms * 1000, binary:copy(<<0>>, 5000)).

hash_until(T, Bytes) ->
    erlang:phash2(Bytes),
    erlang:monotonic_time(microsecond) >= T orelse hash_until(T, Bytes).

echo() ->
    receive {From, Ms} -> receive after Ms -> ok end, From ! answer end,
    echo().

init([]) -> {ok, none}.
handle_call({sleep, Ms}, _, S) -> receive after Ms -> ok end, {reply, server, S}.
handle_cast(_, S) -> {noreply, S}.
