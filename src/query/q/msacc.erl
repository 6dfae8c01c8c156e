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

%% Restores it at the end of who asked.
Guard = fun(Asker) ->
    Sign(),
    Monitor = monitor(process, Asker),
    Before = erlang:system_flag(microstate_accounting, true),
    Asker ! {self(), Before},
    receive {'DOWN', Monitor, process, _, _} -> ok; {Asker, bye} -> ok end,
    Before orelse erlang:system_flag(microstate_accounting, false)
end,

{process, [spawn],
fun(Keeper, #{spawn := Spawn}) ->
    Sign(),
    Guarding = Spawn(Guard, [self()], SpawnOptions),
    Loop = fun Loop(Before) ->
        receive
            {Guarding, Was} ->
                Loop(Was);
            {ask, Id, _} when Before =/= unknown ->
                Start = erlang:monotonic_time(),
                Threads = erlang:statistics(microstate_accounting),
                Took = erlang:monotonic_time() - Start,
                Work = min(Took, erlang:convert_time_unit(200, microsecond, native)),
                Value = {msacc, erlang:monotonic_time(nanosecond), Before,
                         erlang:convert_time_unit(1, second, perf_counter), Threads},
                Keeper ! {done, Id, ok, {Work, Took - Work}, Value},
                Loop(Before);
            {'EXIT', Guarding, _} ->
                Before =:= false andalso erlang:system_flag(microstate_accounting, false);
            {'EXIT', _, _} ->
                Guarding ! {self(), bye},
                receive {'EXIT', Guarding, _} -> ok end
        end
    end,
    Loop(unknown)
end}.
