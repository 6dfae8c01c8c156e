%% The header's numbers, asked for at every tick: only calls that cost microseconds. Arg: [].
{[k, own_reductions],
fun([], #{k := Keeper, own_reductions := OwnReductions}) ->
    Types = [total, processes, processes_used, system, atom, atom_used, binary, code, ets],
    %% Not supported where the allocators are switched off.
    Memory =
        try lists:unzip(erlang:memory(Types)) of
            {_, Bytes} -> list_to_tuple(Bytes)
        catch
            error:_ -> undefined
        end,
    Counts = {erlang:system_info(process_count), erlang:system_info(port_count),
              erlang:system_info(atom_count), erlang:system_info(ets_count)},
    Queues = {erlang:statistics(total_run_queue_lengths),
              erlang:statistics(run_queue_lengths_all)},

    {Reductions, _} = erlang:statistics(reductions),
    {ContextSwitches, _} = erlang:statistics(context_switches),
    {Gcs, GcWords, _} = erlang:statistics(garbage_collection),
    {{input, InBytes}, {output, OutBytes}} = erlang:statistics(io),

    %% The flag is on as long as a process that set it lives. The keeper sets it once, also where
    %% it is on already: whoever did that may go before us.
    Keeper ! scheduler_wall_time,
    Swt =
        case erlang:statistics(scheduler_wall_time_all) of
            undefined -> undefined;
            Times -> lists:sort(Times)
        end,

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
     Swt, Rss}
end}.
