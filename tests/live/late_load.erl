%% SPDX-License-Identifier: GPL-3.0-or-later
%% A node of which one scheduler does not yield, for test_lateness.sh. Files in the directory are how the
%% script asks, since it may stand outside of the node's root; each is deleted when it is done:
%%   stuck   from now on scheduler 2 compares two equal terms, which does not yield, again and again;
%%           with a quarter of a second in between; `stuck_always`: with 1 to 15 ms; `free`
%%           ends it, and four minutes do
%%   audit   `left` is written, by audit.erl
%% What asks stands on scheduler 1, so that it runs meanwhile. Processes that wake up every millisecond
%% on 1 and 3 keep these from sleeping: awake they take what was queued on 2.
-module(late_load).

-export([start/2, tick/1, paced/0, awake/0]).

-define(MOST_MS, 240000).
-define(LEAST_MS, 650).
%% A trace is refused where a scheduler does not answer for 500 ms.
-define(LEAST_ALWAYS_MS, 1000).

start(Dir, _Code) ->
    spawn_opt(fun() -> begin_load(Dir) end, [{scheduler, 1}]),
    [spawn_opt(fun awake/0, [{scheduler, Id}]) || Id <- [1, 3]],
    register(late_paced, spawn_opt(fun paced/0, [{scheduler, 1}])),
    ok.

begin_load(Dir) ->
    put(depth, depth(15)),
    ok = file:write_file(filename:join(Dir, "pid.new"), integer_to_list(get(depth))),
    ok = file:rename(filename:join(Dir, "pid.new"), filename:join(Dir, "pid")),
    receive after 100 -> ok end,
    put(stuck, spawn(fun() -> ok end)),
    loop(Dir, processes()).

%% Two equal terms of shared parts: compared in one go, twice as long with each level.
shared(0) -> [];
shared(N) -> Part = shared(N - 1), [Part | Part].

compare(Depth) ->
    A = shared(Depth),
    true = A == shared(Depth).

%% So deep that it takes long enough as things are now: where `stick` begins.
depth(N) ->
    case min(took(N), took(N)) of
        Ms when Ms < ?LEAST_MS -> depth(N + 1);
        _ -> N
    end.

took(N) ->
    Before = erlang:monotonic_time(millisecond),
    compare(N),
    erlang:monotonic_time(millisecond) - Before.

loop(Dir, Baseline) ->
    Stuck = fun(PauseMs, LeastMs) ->
        end_stuck(),
        Depth = get(depth),
        Until = erlang:monotonic_time(millisecond) + ?MOST_MS,
        put(stuck, spawn_opt(fun() -> stick(Depth, LeastMs, PauseMs, Until) end, [{scheduler, 2}]))
    end,
    Orders = [{"stuck", fun() -> Stuck(250, ?LEAST_MS) end},
              {"stuck_always", fun() -> Stuck(often, ?LEAST_ALWAYS_MS) end},
              {"free", fun end_stuck/0}, {"audit", fun() -> audit:write(Dir, Baseline) end}],
    [begin Do(), file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

end_stuck() ->
    Pid = get(stuck),
    Gone = monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', Gone, process, Pid, _} -> ok end.

%% A comparison takes no reductions: without a pause the next one would follow at once. Beside other
%% programs the same depth takes many times as long, and whatever waits for a scheduler would miss its
%% deadline: each comparison says how deep the next one is.
stick(Depth, LeastMs, PauseMs, Until) ->
    Next = case took(Depth) of
        Ms when Ms < LeastMs -> Depth + 1;
        Ms when Ms > 3 * LeastMs -> Depth - 1;
        _ -> Depth
    end,
    receive after case PauseMs of often -> rand:uniform(15); _ -> PauseMs end -> ok end,
    erlang:monotonic_time(millisecond) > Until orelse stick(Next, LeastMs, PauseMs, Until).

%% What a trace sees.
paced() ->
    ?MODULE:tick(now),
    receive after 20 -> ?MODULE:paced() end.

awake() -> receive after 1 -> ?MODULE:awake() end.

tick(When) -> {ok, When}.
