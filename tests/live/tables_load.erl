%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_tables.sh: ETS tables of each kind. Files in the directory are how the script asks;
%% each is deleted when it is done:
%%   numbers  `sizes` is written: what this node says of tables_large and tables_fixed, as JSON
%%   grow     100 objects more are in tables_large
%% Where there is Mnesia, it runs, one process holds a lock and another waits for it.
%%   again    tables_again is deleted and made again, with 1,000 objects
%%   many     tables_cache makes 3,000 tables of one name, with an object each
%%   audit    `left` is written, by audit.erl
-module(tables_load).

-export([start/2, own/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    [spawn(?MODULE, own, [self(), Name]) || Name <- [tables_owner, tables_cache]],
    [receive {ready, Name} -> ok end || Name <- [tables_owner, tables_cache]],
    {ok, _} = dets:open_file(tables_dets, [{file, filename:join(Dir, "dets")}]),
    {ok, _} = disk_log:open([{name, tables_log}, {file, filename:join(Dir, "log")}]),
    start_mnesia(filename:join(Dir, "mnesia"), code:which(mnesia)),
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, 10001).

start_mnesia(_Dir, non_existing) ->
    ok;
start_mnesia(Dir, _) ->
    ok = application:set_env(mnesia, dir, Dir),
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(tables_people, [{disc_copies, [node()]}, {index, [b]},
                                                       {attributes, [a, b, c]}]),
    {atomic, ok} = mnesia:create_table(tables_archive, [{disc_only_copies, [node()]}]),
    Self = self(),
    Lock = fun() -> mnesia:write_lock_table(tables_people), Self ! held, receive never -> ok end end,
    %% Only an older transaction waits for one that is younger.
    Older = spawn(fun() -> mnesia:transaction(fun() -> Self ! begun, receive go -> Lock() end end) end),
    receive begun -> ok end,
    spawn(fun() -> mnesia:transaction(Lock) end),
    receive held -> ok end,
    Older ! go,
    wait_for_lock().

wait_for_lock() ->
    case ets:info(mnesia_lock_queue, size) of
        0 -> receive after 20 -> wait_for_lock() end;
        _ -> ok
    end.

own(To, tables_owner) ->
    register(tables_owner, self()),
    Heir = spawn_link(fun() -> receive never -> ok end end),
    register(tables_heir, Heir),
    tables_large = ets:new(tables_large, [named_table, public, {heir, Heir, none}]),
    [ets:insert(tables_large, {I, lists:seq(1, 20)}) || I <- lists:seq(1, 10000)],
    Fixed = ets:new(tables_fixed, [bag, {keypos, 2}, compressed]),
    ets:insert(Fixed, {a, b}),
    true = ets:safe_fixtable(Fixed, true),
    %% its counters are the schedulers'
    Spread = ets:new(tables_spread, [ordered_set, public, {write_concurrency, true}]),
    [ets:insert(Spread, {I, I}) || I <- lists:seq(1, 500)],
    ets:new(tables_private, [named_table, private]),
    Keys = ets:new(tables_keys, [named_table]),
    [ets:insert(Keys, {{user, I}, lists:seq(1, 100)}) || I <- lists:seq(1, 37)],
    make_again(0),
    To ! {ready, tables_owner},
    serve_again();
own(To, tables_cache) ->
    register(tables_cache, self()),
    To ! {ready, tables_cache},
    receive
        {many, From} ->
            [ets:insert(ets:new(tables_session, []), {a, I}) || I <- lists:seq(1, 3000)],
            From ! done
    end,
    receive never -> ok end.

serve_again() ->
    receive {again, From} -> ets:delete(tables_again), make_again(1000), From ! done end,
    serve_again().

make_again(Objects) ->
    tables_again = ets:new(tables_again, [named_table]),
    [ets:insert(tables_again, {I}) || I <- lists:seq(1, Objects)].

loop(Dir, Baseline, Next) ->
    Grow = fun() -> [ets:insert(tables_large, {I, []}) || I <- lists:seq(Next, Next + 99)] end,
    Tell = fun(Who, What) -> Who ! {What, self()}, receive done -> ok end end,
    Orders = [{"numbers", fun() -> ok = file:write_file(filename:join(Dir, "sizes"), sizes()) end},
              {"grow", Grow},
              {"again", fun() -> Tell(tables_owner, again) end},
              {"many", fun() -> Tell(tables_cache, many) end},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    Done = [begin Do(), ok = file:delete(File), Name end
            || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, case lists:member("grow", Done) of true -> Next + 100; false -> Next end).

sizes() ->
    Words = erlang:system_info(wordsize),
    Named = [{N, T} || T <- ets:all(), N <- [ets:info(T, name)],
                       lists:member(N, [tables_large, tables_fixed])],
    ["[", lists:join(",", [io_lib:format("{\"name\":\"~s\",\"memory_bytes\":~b,\"objects\":~b}",
                                         [N, Words * ets:info(T, memory), ets:info(T, size)])
                           || {N, T} <- Named]), "]\n"].
