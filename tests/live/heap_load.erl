%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_heaps.sh: processes whose sizes are known, and carriers that are mostly free.
%% Files in the directory are how the script asks; each is deleted when it is done:
%%   numbers  `sizes` is written: what this node says of heap_big and heap_queue, as JSON
%%   burst    4,000 processes of 400 to 2,200 list cells are made and nine of ten killed at random
%%   busy     another process runs from now on
%%   audit    `left` is written, by audit.erl
-module(heap_load).

-export([start/2, big/1, garbage/1, queue/1, spin/1]).

-define(NAMES, [heap_big, heap_queue, heap_garbage]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    [begin
         register(Name, spawn(?MODULE, Function, [self()])),
         receive {ready, Function} -> ok end
     end || {Name, Function} <- lists:zip(?NAMES, [big, queue, garbage])],
    [heap_queue ! lists:seq(1, 100) || _ <- lists:seq(1, 300)],
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline).

%% Two collections: the list is old.
big(To) ->
    Kept = {lists:seq(1, 100000), [binary:copy(<<I:32>>, 500) || I <- lists:seq(1, 50)]},
    erlang:garbage_collect(),
    erlang:garbage_collect(),
    {_, Young} = lists:split(1, lists:seq(1, 20)),
    To ! {ready, big},
    receive stop -> {Kept, Young} end.

queue(To) ->
    To ! {ready, queue},
    receive never -> ok end.

garbage(To) ->
    _ = length(lists:seq(1, 500000)),
    To ! {ready, garbage},
    receive never -> ok end.

spin(N) -> spin(N + 1).

loop(Dir, Baseline) ->
    Numbers = fun() -> ["[", lists:join(",", [sizes(N) || N <- [heap_big, heap_queue]]), "]\n"] end,
    Orders = [{"numbers", fun() -> ok = file:write_file(filename:join(Dir, "sizes"), Numbers()) end},
              {"burst", fun burst/0},
              {"busy", fun() -> register(heap_busy, spawn(?MODULE, spin, [0])) end},
              {"audit", fun() -> audit:write(Dir, Baseline ++ processes_made()) end}],
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

processes_made() ->
    case get(made) of undefined -> []; Made -> Made end ++ [P || P <- [whereis(heap_busy)], is_pid(P)].

sizes(Name) ->
    Pid = whereis(Name),
    [{_, Memory}, {_, Len}, {_, Info}, {_, Binaries}] =
        process_info(Pid, [memory, message_queue_len, garbage_collection_info, binary]),
    Word = erlang:system_info(wordsize),
    Distinct = lists:ukeysort(1, Binaries),
    Bytes = [{Key, proplists:get_value(Item, Info) * Word}
             || {Key, Item} <- [{young_bytes, heap_size}, {young_block_bytes, heap_block_size},
                                {old_bytes, old_heap_size}, {old_block_bytes, old_heap_block_size},
                                {stack_bytes, stack_size}, {fragment_bytes, mbuf_size}]],
    Numbers = [{memory_bytes, Memory}, {message_queue_len, Len}, {binaries, length(Distinct)},
               {binary_bytes, lists:sum([Size || {_, Size, _} <- Distinct])} | Bytes],
    ["{\"name\":\"", atom_to_list(Name), "\"",
     [[",\"", atom_to_list(Key), "\":", integer_to_list(N)] || {Key, N} <- Numbers], "}"].

burst() ->
    Self = self(),
    Hold = fun(N) -> L = lists:seq(1, N), Self ! ready, receive stop -> L end end,
    Pids = [spawn(fun() -> Hold(400 + rand:uniform(1800)) end) || _ <- lists:seq(1, 4000)],
    [receive ready -> ok end || _ <- Pids],
    {Killed, Kept} = lists:partition(fun(_) -> rand:uniform(10) > 1 end, Pids),
    Refs = [monitor(process, P) || P <- Killed],
    [exit(P, kill) || P <- Killed],
    [receive {'DOWN', R, _, _, _} -> ok end || R <- Refs],
    put(made, Kept).
