%% SPDX-License-Identifier: GPL-3.0-or-later
%% The header's numbers, asked for at every tick: only calls that cost microseconds. Arg: [].
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

%% Linux: bytes of resident memory and of address space, whatever the size of a page. The file stays
%% open: opening and closing it each cost as much as reading. prim_file, since file:read_file/1
%% would go through the node's file server.
Rss = fun(File) ->
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

%% Looked for once while one is late: calls that still wait from before are late at once.
Which = fun(LateSchedulers) ->
    Looked = erlang:monotonic_time(),
    Found = LateSchedulers(WhichMs),
    put(waited, get(waited) + erlang:monotonic_time() - Looked),
    case Found of {ok, Ids} -> Ids; _ -> [] end
end,

{[own_reductions, in_time, late_schedulers],
fun([], #{state := State, own_reductions := OwnReductions, in_time := InTime,
          late_schedulers := LateSchedulers}) ->
    File = case State of new -> Open(); _ -> State end,
    {[MemoryOf, GcOf, IoOf, WallOf] = Answers, WaitedMs} = InTime(Waiting, LateMs),
    %% Not supported where the allocators are switched off.
    Memory = case MemoryOf of
        {ok, Pairs} -> list_to_tuple(element(2, lists:unzip(Pairs)));
        _ -> undefined
    end,
    Unknown = [undefined, undefined],
    Gc = case GcOf of {ok, {N, Words, _}} -> [N, Words]; _ -> Unknown end,
    Io = case IoOf of {ok, {{_, In}, {_, Out}}} -> [In, Out]; _ -> Unknown end,
    Swt = case WallOf of {ok, [_ | _] = Times} -> lists:sort(Times); _ -> undefined end,
    Ids = case lists:member(late, Answers) andalso WaitedMs < 2 * LateMs of
        true -> Which(LateSchedulers);
        false -> []
    end,
    Counts = lists:map(fun erlang:system_info/1,
                       [process_count, port_count, atom_count, ets_count]),
    [{Reductions, _}, {Switches, _} | Queues] =
        lists:map(fun erlang:statistics/1, [reductions, context_switches,
                                            total_run_queue_lengths, run_queue_lengths_all]),
    MonoNs = erlang:monotonic_time(nanosecond),
    UptimeMs = erlang:convert_time_unit(
        erlang:monotonic_time() - erlang:system_info(start_time), native, millisecond),
    Sums = list_to_tuple([Reductions, Switches] ++ Gc ++ Io ++ [counters:get(OwnReductions, 1)]),
    {{system, MonoNs, erlang:system_time(microsecond), UptimeMs, Memory, list_to_tuple(Counts),
      list_to_tuple(Queues), Sums, Swt, Rss(File), {WaitedMs, Ids}},
     File}
end}.
