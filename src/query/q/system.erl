%% SPDX-License-Identifier: GPL-3.0-or-later
%% The header's numbers, asked for at every tick: only calls that cost microseconds. Arg: [],
%% or `local`: the program reads the resident memory of a VM of its host itself.
%%
%% What every scheduler must answer is asked for in time: late, it is not known, and all else is.

LateMs = 200,
WhichMs = 50,
Types = [total, processes, processes_used, system, atom, atom_used, binary, code, ets],
Status = <<"/proc/self/status">>,
{ok, Fields} = re:compile(<<"VmSize:\\s+(\\d+) kB.*VmRSS:\\s+(\\d+) kB">>, [dotall]),

%% All that waits for the schedulers, in processes of ours that live on. The scheduler_wall_time
%% flag is on as long as a process that set it lives. It is set also where it is on already: whoever
%% did that may go before us.
Wall = fun() ->
    get(flag) =:= undefined andalso put(flag, erlang:system_flag(scheduler_wall_time, true)),
    erlang:statistics(scheduler_wall_time_all)
end,
Waiting = [{memory, fun erlang:memory/1, [Types]},
           {gc, fun erlang:statistics/1, [garbage_collection]},
           {io, fun erlang:statistics/1, [io]},
           {wall, Wall, []}],

-include("part/items.erl").

%% {Answer, what the header gets of it}: of each kind, then where it is late.
Answered = ets:match_spec_compile(
    [{{memory, {ok, lists:zip(Types, Variables(1, Types))}}, [],
      [{list_to_tuple(Variables(1, Types))}]},
     %% Not supported where the allocators are switched off.
     {{memory, '_'}, [], [undefined]},
     {{gc, {ok, {'$1', '$2', '_'}}}, [], [{{'$1', '$2'}}]},
     {{io, {ok, {{'_', '$1'}, {'_', '$2'}}}}, [], [{{'$1', '$2'}}]},
     {{wall, {ok, '$1'}}, [{is_list, '$1'}], ['$1']},
     {{wall, '_'}, [], [[]]},
     {'_', [], [{{undefined, undefined}}]}]),
{Kinds, _, _} = lists:unzip3(Waiting),

%% What waits for nothing, as modules, functions and arguments for one native call.
Numbers = [{system_info, [process_count]}, {system_info, [port_count]}, {system_info, [atom_count]},
           {system_info, [ets_count]}, {statistics, [reductions]}, {statistics, [context_switches]},
           {statistics, [total_run_queue_lengths]}, {statistics, [run_queue_lengths_all]},
           {monotonic_time, [nanosecond]}, {system_time, [microsecond]},
           {monotonic_time, []}, {system_info, [start_time]}],
{Functions, Arguments} = lists:unzip(Numbers),
Modules = lists:duplicate(length(Numbers), erlang),

%% The answer, from {Numbers, UptimeMs, Memory, Gc, Io, Swt, Own, Rss, Late}.
WholeOf = fun(Swt, SwtIs) ->
    {{['$1', '$2', '$3', '$4', {'$5', '_'}, {'$6', '_'}, '$7', '$8', '$9', '$10', '_', '_'], '$11',
      '$12', {'$13', '$14'}, {'$15', '$16'}, Swt, '$18', '$19', '$20'}, [],
     [{{system, '$9', '$10', '$11', '$12', {{'$1', '$2', '$3', '$4'}}, {{'$7', '$8'}},
        {{'$5', '$6', '$13', '$14', '$15', '$16', '$18'}}, SwtIs, '$19', '$20'}}]}
end,
Whole = ets:match_spec_compile([WholeOf([], undefined), WholeOf('$17', '$17')]),

-include("part/proc_file.erl").

%% Linux: bytes of resident memory and of address space, whatever the size of a page. The file stays
%% open: opening and closing it each cost as much as reading. prim_file, since file:read_file/1
%% would go through the node's file server.
Captured = [{capture, all_but_first, binary}],
Rss = fun() ->
    get(status) =:= undefined andalso
        put(status, element(2, {ok, _} = prim_file:open(Status, [read, binary]))),
    {ok, Text} = prim_file:pread(get(status), 0, 4096),
    {match, Kb} = re:run(Text, Fields, Captured),
    [Virtual, Resident] = lists:map(fun erlang:binary_to_integer/1, Kb),
    {1024 * Resident, 1024 * Virtual}
end,

%% Looked for once while one is late: calls that still wait from before are late at once.
Which = fun(LateSchedulers) ->
    Looked = erlang:monotonic_time(),
    Found = LateSchedulers(WhichMs),
    put(waited, get(waited) + erlang:monotonic_time() - Looked),
    case Found of {ok, Ids} -> Ids; _ -> [] end
end,

%% Reductions of other beamtops that are connected, since each was first seen here: their counters,
%% which they share when they are asked; an answer is read at the next tick. Of those that are gone
%% the sum stays. {Keepers, Keeper => {Counter, what it had before}, the sum of those gone}.
TakeShared = fun TakeShared(Counters) ->
    receive {shared, From, Counter} ->
        TakeShared(Counters#{From => {Counter, counters:get(Counter, 1)}})
    after 0 ->
        Counters
    end
end,
SumOf = fun(Counters) ->
    lists:sum([counters:get(Counter, 1) - Before || {Counter, Before} <- maps:values(Counters)])
end,
Followed = fun(Now, {Seen, Counters, Past}) ->
    [Keeper ! {share, self()} || Keeper <- Now -- Seen],
    All = TakeShared(Counters),
    With = maps:with(Now, All),
    Gone = Past + SumOf(maps:without(Now, All)),
    put(beamtops, {Now, With, Gone}),
    Gone + SumOf(With)
end,
OfOthers = fun(Mine, KeepersOf) ->
    case {[Keeper || {_, Keeper} <- KeepersOf(), Keeper =/= Mine], get(beamtops)} of
        {[], undefined} -> 0;
        {Others, undefined} -> Followed(Others, {[], #{}, 0});
        {Others, Before} -> Followed(Others, Before)
    end
end,

{holder, [own_reductions, in_time, late_schedulers, k, keepers],
 fun(Place, #{own_reductions := OwnReductions, in_time := InTime,
              late_schedulers := LateSchedulers, k := Keeper, keepers := KeepersOf}) ->
    %% A millisecond: it is there in time on a busy node, and waits in no run queue count as work.
    get(high) =:= undefined andalso put(high, process_flag(priority, high)),
    {Answers, WaitedMs} = InTime(Waiting, LateMs),
    Ids = case lists:member(late, Answers) andalso WaitedMs < 2 * LateMs of
        true -> Which(LateSchedulers);
        false -> []
    end,
    [Memory, Gc, Io, Times] = ets:match_spec_run(lists:zip(Kinds, Answers), Answered),
    [_, _, _, _, _, _, _, _, _, _, Now, Began] = Read =
        lists:zipwith3(fun erlang:apply/3, Modules, Functions, Arguments),
    UptimeMs = erlang:convert_time_unit(Now - Began, native, millisecond),
    Own = counters:get(OwnReductions, 1) + OfOthers(Keeper, KeepersOf),
    Resident = case Place of local -> undefined; [] -> ReadInTime(InTime, Rss) end,
    [Answer] = ets:match_spec_run(
        [{Read, UptimeMs, Memory, Gc, Io, lists:sort(Times), Own, Resident, {WaitedMs, Ids}}],
        Whole),
    {Answer, none}
end}.
