%% SPDX-License-Identifier: GPL-3.0-or-later
%% What each application's processes add up to. Arg: a map with `ms`, the time to stop after; by
%% default what a busy machine needs for all, and less than the question has.
%%
%% A sweep with a signal to each process, in slices. A process belongs to the application of its
%% group leader. Slices are grouped by group leader, of which a slice has few.
SliceSize = 2000,
LeastMs = 2000,
PerMs = 50,
MostMs = 25000,
Items = [group_leader, memory, reductions, message_queue_len],

Run = fun(List, Spec) ->
    ets:match_spec_run(List, ets:match_spec_compile(Spec))
end,

%% #{App => {Processes, Memory, Reductions, MessageQueueLen}} with a slice added.
AddSlice = fun(Pids, Apps, Totals) ->
    Infos = lists:zipwith(fun erlang:process_info/2, Pids, lists:duplicate(length(Pids), Items)),
    Leaders = lists:usort(Run(Infos, [{[{group_leader, '$1'} | '_'], [], ['$1']}])),
    lists:foldl(
        fun(Leader, Sums) ->
            Numbers = Run(Infos, [{[{'_', Leader}, {'_', '$1'}, {'_', '$2'}, {'_', '$3'}], [],
                                   [{{'$1', '$2', '$3'}}]}]),
            {Memories, Reductions, Queues} = lists:unzip3(Numbers),
            App = maps:get(Leader, Apps, undefined),
            {P, M, R, Q} = maps:get(App, Sums, {0, 0, 0, 0}),
            Sums#{App => {P + length(Numbers), M + lists:sum(Memories),
                          R + lists:sum(Reductions), Q + lists:sum(Queues)}}
        end, Totals, Leaders)
end,

%% ---- The list of processes: 16 bytes for each, more than a worker may hold of a large node. A
%% helper has it, with a heap as large as that takes, and hands it out a slice at a time.
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

%% {Totals, Partial}
AddAll = fun AddAll({Pid, Ref} = From, Own, Apps, Totals, End) ->
    Pid ! {self(), Ref, next},
    case receive {Ref, Slice} -> Slice end of
        [] ->
            {Totals, false};
        Pids ->
            Sums = AddSlice(Pids -- Own, Apps, Totals),
            erlang:garbage_collect(),
            case erlang:monotonic_time(millisecond) > End of
                true -> {Sums, true};
                false -> AddAll(From, Own, Apps, Sums, End)
            end
    end
end,

{[apps, own, k, spawn, count_work],
fun(Arg, #{apps := AppsOf, own := OwnOf, k := Keeper} = Ctx) ->
    Most = min(MostMs, LeastMs + erlang:system_info(process_count) div PerMs),
    End = erlang:monotonic_time(millisecond) + maps:get(ms, Arg, Most),
    Apps = AppsOf(),
    {Pid, _} = From = StartLister(Ctx),
    {Totals, Partial} =
        try AddAll(From, OwnOf(Keeper), Apps, #{}, End)
        after unlink(Pid), exit(Pid, kill)
        end,
    Text = fun(App, Key) ->
        case App =/= undefined andalso application:get_key(App, Key) of
            {ok, Chars} ->
                try unicode:characters_to_binary(Chars) of
                    Binary when is_binary(Binary) -> Binary;
                    _ -> <<>>
                catch
                    error:_ -> <<>>
                end;
            _ ->
                <<>>
        end
    end,
    Running = lists:usort([undefined | maps:values(Apps)]),
    {apps, erlang:monotonic_time(nanosecond),
     [begin
          {P, M, R, Q} = maps:get(App, Totals, {0, 0, 0, 0}),
          {App, Text(App, description), Text(App, vsn), P, M, R, Q}
      end || App <- Running],
     Partial}
end}.
