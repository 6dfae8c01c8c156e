%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The list of processes: 16 bytes for each, more than a worker may hold of a large node. A
%% helper has it, with a heap as large as that takes, and hands it out a slice at a time.
SliceSize = 2000,
%% Time for a sweep with a signal to each process: what a busy machine needs, and less than the
%% question has.
LeastMs = 2000,
PerMs = 50,
MostMs = 25000,
TimeForAll = fun() -> min(MostMs, LeastMs + erlang:system_info(process_count) div PerMs) end,
ListBytes = 128,
Give = fun Give(To, Ref, Left, Pids) ->
    receive
        {To, Ref, next} ->
            Taken = min(SliceSize, Left),
            {Slice, Rest} = lists:split(Taken, Pids),
            To ! {Ref, Slice},
            Taken > 0 andalso Give(To, Ref, Left - Taken, Rest)
    end
end,
Lister = fun(To, Ref, CountWork) ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, keeper, 0}),
    Pids = erlang:processes(),
    Give(To, Ref, length(Pids), Pids),
    CountWork()
end,
StartLister = fun(#{spawn := SpawnOwn, count_work := CountWork}) ->
    Ref = make_ref(),
    Bytes = 64 * 1048576 + ListBytes * erlang:system_info(process_count),
    Limit = #{size => Bytes div erlang:system_info(wordsize), kill => true, error_logger => false},
    Pid = SpawnOwn(Lister, [self(), Ref, CountWork],
                   [link, {message_queue_data, off_heap}, {fullsweep_after, 0},
                    {max_heap_size, Limit}]),
    {Pid, Ref}
end,
