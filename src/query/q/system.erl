%% SPDX-License-Identifier: GPL-3.0-or-later
%% The header's numbers, asked for at every tick: only calls that cost microseconds. Arg: [].
%%
%% What every scheduler must answer is asked for in time: late, it is not known, and all else is.

LateMs = 200,
WhichMs = 50,
Types = [total, processes, processes_used, system, atom, atom_used, binary, code, ets],
%% The scheduler_wall_time flag is on as long as a process that set it lives. It is set also where
%% it is on already: whoever did that may go before us.
Waiting = [{memory, fun erlang:memory/1, [Types]},
           {gc, fun erlang:statistics/1, [garbage_collection]},
           {io, fun erlang:statistics/1, [io]},
           {flag, fun erlang:system_flag/2, [scheduler_wall_time, true]},
           {wall, fun erlang:statistics/1, [scheduler_wall_time_all]}],

{[own_reductions, in_time, late_schedulers],
fun([], #{own_reductions := OwnReductions, in_time := InTime, late_schedulers := LateSchedulers}) ->
    {[MemoryOf, GcOf, IoOf, _, WallOf] = Answers, WaitedMs} = InTime(Waiting, LateMs),
    %% Not supported where the allocators are switched off.
    Memory =
        case MemoryOf of
            {ok, Pairs} -> list_to_tuple(element(2, lists:unzip(Pairs)));
            _ -> undefined
        end,
    {Gcs, GcWords} = case GcOf of {ok, {N, Words, _}} -> {N, Words}; _ -> {undefined,
        undefined} end,
    {InBytes, OutBytes} =
        case IoOf of
            {ok, {{input, In}, {output, Out}}} -> {In, Out};
            _ -> {undefined, undefined}
        end,
    %% Looked for once while one is late: calls that still wait from before are late at once.
    Which =
        case lists:member(late, Answers) andalso WaitedMs < 2 * LateMs of
            true ->
                Looked = erlang:monotonic_time(),
                Found = LateSchedulers(WhichMs),
                put(waited, get(waited) + erlang:monotonic_time() - Looked),
                case Found of {ok, Ids} -> Ids; _ -> [] end;
            false ->
                []
        end,
    Counts = {erlang:system_info(process_count), erlang:system_info(port_count),
              erlang:system_info(atom_count), erlang:system_info(ets_count)},
    Queues = {erlang:statistics(total_run_queue_lengths),
              erlang:statistics(run_queue_lengths_all)},

    {Reductions, _} = erlang:statistics(reductions),
    {ContextSwitches, _} = erlang:statistics(context_switches),
    Swt = case WallOf of {ok, [_ | _] = Times} -> lists:sort(Times); _ -> undefined end,

    %% Linux: kB of address space and of resident memory, whatever the size of a page.
    %% prim_file, since file:read_file/1 would go through the node's file server.
    Rss =
        case prim_file:read_file("/proc/self/status") of
            {ok, Status} ->
                Fields = "VmSize:\\s+(\\d+) kB.*VmRSS:\\s+(\\d+) kB",
                case re:run(Status, Fields, [dotall, {capture, all_but_first, binary}]) of
                    {match, [Virtual, Resident]} ->
                        {1024 * binary_to_integer(Resident), 1024 * binary_to_integer(Virtual)};
                    nomatch ->
                        undefined
                end;
            {error, _} ->
                undefined
        end,

    MonoNs = erlang:monotonic_time(nanosecond),
    UptimeMs = erlang:convert_time_unit(
        erlang:monotonic_time() - erlang:system_info(start_time), native, millisecond),
    {system, MonoNs, erlang:system_time(microsecond), UptimeMs, Memory, Counts, Queues,
     {Reductions, ContextSwitches, Gcs, GcWords, InBytes, OutBytes, counters:get(OwnReductions, 1)},
     Swt, Rss, {WaitedMs, Which}}
end}.
