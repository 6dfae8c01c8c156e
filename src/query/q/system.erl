%% SPDX-License-Identifier: GPL-3.0-or-later
%% The header's numbers, asked for at every tick: only calls that cost microseconds. Arg: [].
%%
%% What every scheduler must answer is asked for in time: late, it is not known, and all else is.

LateMs = 200,
WhichMs = 50,
Types = [total, processes, processes_used, system, atom, atom_used, binary, code, ets],
Status = <<"/proc/self/status">>,
{ok, Fields} = re:compile(<<"VmSize:\\s+(\\d+) kB.*VmRSS:\\s+(\\d+) kB">>, [dotall]),

%% All that waits for the schedulers, in a process of ours that lives on. The scheduler_wall_time
%% flag is on as long as a process that set it lives. It is set also where it is on already: whoever
%% did that may go before us.
Wall = fun() ->
    get(flag) =:= undefined andalso put(flag, erlang:system_flag(scheduler_wall_time, true)),
    erlang:statistics(scheduler_wall_time_all)
end,
Plain = [{header, fun erlang:memory/1, [Types]},
         {header, fun erlang:statistics/1, [garbage_collection]},
         {header, fun erlang:statistics/1, [io]},
         {header, fun erlang:statistics/1, [scheduler_wall_time_all]}],
Setting = lists:droplast(Plain) ++ [{header, Wall, []}],

%% Made once: a term inside of a fun is made again at each call, element by element.
Counted = [process_count, port_count, atom_count, ets_count],
Statistics = [reductions, context_switches, total_run_queue_lengths, run_queue_lengths_all],
StartNs = erlang:convert_time_unit(erlang:system_info(start_time), native, nanosecond),
Unknown = [undefined, undefined],

%% Linux: bytes of resident memory and of address space, whatever the size of a page. The file stays
%% open: opening and closing it each cost as much as reading. prim_file, since file:read_file/1
%% would go through the node's file server.
Read = fun(File) ->
    case File =/= none andalso prim_file:pread(File, 0, 4096) of
        {ok, Text} ->
            case re:run(Text, Fields, [{capture, all_but_first, binary}]) of
                {match, Kb} ->
                    [Virtual, Resident] = lists:map(fun erlang:binary_to_integer/1, Kb),
                    {1024 * Resident, 1024 * Virtual};
                nomatch ->
                    undefined
            end;
        _ ->
            undefined
    end
end,
Open = fun() ->
    case prim_file:open(Status, [read, binary]) of {ok, File} -> File; _ -> none end
end,
%% It wakes a dirty scheduler, which costs as much as half of the rest: read again where the VM's
%% own memory has changed by a 64th, else at each fifth question.
RssEach = 5,
RssOf = fun(Total, State) ->
    case State of
        {_, Rss, Then, Left} when Left > 0, abs(Total - Then) * 64 < Then ->
            {Rss, setelement(4, State, Left - 1)};
        {File, _, _, _} ->
            Rss = Read(File),
            {Rss, {File, Rss, Total, RssEach - 1}};
        new ->
            File = Open(),
            Rss = Read(File),
            {Rss, {File, Rss, Total, 0}}
    end
end,

%% Looked for once while one is late: calls that still wait from before are late at once.
Which = fun(LateSchedulers) ->
    Looked = erlang:monotonic_time(),
    Found = LateSchedulers(WhichMs),
    put(waited, get(waited) + erlang:monotonic_time() - Looked),
    case Found of {ok, Ids} -> Ids; _ -> [] end
end,

{holder, [own_reductions, in_time, late_schedulers],
fun([], #{state := State, own_reductions := OwnReductions, in_time := InTime,
          late_schedulers := LateSchedulers}) ->
    {IsSet, RssState} = case State of new -> {false, new}; _ -> State end,
    Waiting = case IsSet of true -> Plain; false -> Setting end,
    {[MemoryOf, GcOf, IoOf, WallOf] = Answers, WaitedMs} = InTime(Waiting, LateMs),
    %% Not supported where the allocators are switched off.
    {Total, Memory} = case MemoryOf of
        {ok, [{total, Bytes} | _] = Pairs} ->
            {_, Sizes} = lists:unzip(Pairs),
            {Bytes, list_to_tuple(Sizes)};
        _ ->
            {0, undefined}
    end,
    Gc = case GcOf of {ok, {N, Words, _}} -> [N, Words]; _ -> Unknown end,
    Io = case IoOf of {ok, {{_, In}, {_, Out}}} -> [In, Out]; _ -> Unknown end,
    Swt = case WallOf of {ok, [_ | _] = Times} -> lists:sort(Times); _ -> undefined end,
    Ids = case lists:member(late, Answers) andalso WaitedMs < 2 * LateMs of
        true -> Which(LateSchedulers);
        false -> []
    end,
    Counts = lists:map(fun erlang:system_info/1, Counted),
    [{Reductions, _}, {Switches, _} | Queues] = lists:map(fun erlang:statistics/1, Statistics),
    {Rss, Next} = RssOf(Total, RssState),
    MonoNs = erlang:monotonic_time(nanosecond),
    Sums = list_to_tuple([Reductions, Switches] ++ Gc ++ Io ++ [counters:get(OwnReductions, 1)]),
    {{system, MonoNs, erlang:system_time(microsecond), (MonoNs - StartNs) div 1000000, Memory,
      list_to_tuple(Counts), list_to_tuple(Queues), Sums, Swt, Rss, {WaitedMs, Ids}},
     {Swt =/= undefined, Next}}
end}.
