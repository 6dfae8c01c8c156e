%% SPDX-License-Identifier: GPL-3.0-or-later
%% Microstate accounting: what each thread of the VM does. A process; Arg: []. Value:
%% docs/queries.md.
%%
%% The flag is the node's, not a process's: it is set here, and what it was before is restored when
%% this process ends, however that is. For that there is a second process, which does nothing else:
%% who kills this one, or cuts the connection, does not reach it before it has restored the flag.
%% A flag that is on already is somebody else's and stays on. Nothing is reset: others may read.
%%
%% The calls wait for each scheduler. A read of before is waited for before the next is begun, so
%% that no more than one is ever on its way.

SpawnOptions = [link, {message_queue_data, off_heap}, {priority, high},
                {max_heap_size, #{size => 4194304 div erlang:system_info(wordsize), kill => true,
                                  error_logger => false}}],
Sign = fun() ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, msacc, 0}),
    process_flag(trap_exit, true)
end,

%% Restores it at the end of who asked. Sets it again on request: that it was off is what it was
%% before then.
Guard = fun(Asker) ->
    Sign(),
    Monitor = monitor(process, Asker),
    Keep = fun Keep(Sofar) ->
        Before = erlang:system_flag(microstate_accounting, true) andalso Sofar,
        Asker ! {self(), Before},
        receive
            {'DOWN', Monitor, process, _, _} -> Before;
            {Asker, bye} -> Before;
            {Asker, again} -> Keep(Before)
        end
    end,
    Keep(true) orelse erlang:system_flag(microstate_accounting, false)
end,

{process, [spawn],
fun(Keeper, #{spawn := Spawn}) ->
    Sign(),
    Guarding = Spawn(Guard, [self()], SpawnOptions),
    %% What schedulers have counted, and the time that they had.
    Counted = fun(Threads) ->
        All = [lists:sum(maps:values(C)) || #{type := scheduler, counters := C} <- Threads],
        {lists:sum(All), length(All) * os:perf_counter()}
    end,
    %% Last: at the question before. Where less than half of the time was counted since, the flag is
    %% off: another tool switched it off, or the guard of one that was stopped at a deadline
    %% restored it late.
    IsOff = fun(Now, Last) ->
        is_tuple(Last) andalso 2 * (element(1, Now) - element(1, Last))
                               < element(2, Now) - element(2, Last)
    end,
    Loop = fun Loop(Before, Last) ->
        receive
            {Guarding, Was} ->
                Loop(Was, Last);
            {ask, Id, _} when Before =/= unknown ->
                Start = erlang:monotonic_time(),
                Threads = erlang:statistics(microstate_accounting),
                Now = Counted(Threads),
                Took = erlang:monotonic_time() - Start,
                Work = min(Took, erlang:convert_time_unit(200, microsecond, native)),
                Value = {msacc, erlang:monotonic_time(nanosecond), Before,
                         erlang:convert_time_unit(1, second, perf_counter), Threads},
                Keeper ! {done, Id, ok, {Work, Took - Work}, Value},
                IsOff(Now, Last) andalso (Guarding ! {self(), again}),
                Loop(Before, Now);
            {'EXIT', Guarding, _} ->
                Before =:= false andalso erlang:system_flag(microstate_accounting, false);
            {'EXIT', _, _} ->
                Guarding ! {self(), bye},
                receive {'EXIT', Guarding, _} -> ok end
        end
    end,
    Loop(unknown, none)
end}.
