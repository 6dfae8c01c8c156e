%% SPDX-License-Identifier: GPL-3.0-or-later
%% What each application's processes add up to. Arg: a map with `ms`, the time to stop after; by
%% default what a busy machine needs for all, and less than the question has.
%%
%% A sweep with a signal to each process, in slices. A process belongs to the application of its
%% group leader. Slices are grouped by group leader, of which a slice has few.
Items = [group_leader, memory, reductions, message_queue_len],

-include("part/walked.erl").

Run = fun(List, Spec) ->
    ets:match_spec_run(List, ets:match_spec_compile(Spec))
end,
Split = fun(List, Size) -> try lists:split(Size, List) catch error:_ -> {List, []} end end,

%% #{App => {Processes, Memory, Reductions, MessageQueueLen}} with a slice added; {older, App} is a
%% key too where the memory of one of them is older (part/walked.erl), with the age of the oldest,
%% which is undefined where one was never read.
AddSlice = fun(Pids, Apps, Totals) ->
    {Infos, Older} = AskSpared(Pids, Items),
    Old = [{{older, maps:get(Leader, Apps, undefined)}, AgeMs}
           || Older =/= [], {Pid, [{_, Leader} | _]} <- lists:zip(Pids, Infos),
              {_, AgeMs} <- [lists:keyfind(Pid, 1, Older)]],
    WithOld = lists:foldl(
        fun({Key, AgeMs}, Sums) -> Sums#{Key => max(AgeMs, maps:get(Key, Sums, 0))} end,
        Totals, Old),
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
        end, WithOld, Leaders)
end,

-include("part/lister.erl").

%% On a node whose processes never wait each of them answers when its turn has come: few at a time,
%% so that the end is seen. {Totals, how many the next time; late: it is over}.
FewSize = 20,
FewMs = 5, %% and 50 us for each
AddSome = fun AddSome([], _, Totals, _, Size) ->
    {Totals, Size};
   AddSome(Pids, Apps, Totals, End, Size) ->
    Start = erlang:monotonic_time(millisecond),
    {Some, Rest} = Split(Pids, Size),
    Sums = AddSlice(Some, Apps, Totals),
    case erlang:monotonic_time(millisecond) of
        Now when Now > End -> {Sums, late};
        Now when Now - Start > FewMs + Size div 20 -> AddSome(Rest, Apps, Sums, End, FewSize);
        _ -> AddSome(Rest, Apps, Sums, End, min(SliceSize, 10 * Size))
    end
end,

%% {Totals, Partial}
%% Another beamtop may start processes while this goes on: who is ours is asked for each slice.
AddAll = fun AddAll({Pid, Ref} = From, OwnNow, Apps, Totals, {End, Size}) ->
    Pid ! {self(), Ref, next},
    case receive {Ref, Slice} -> Slice end of
        [] ->
            {Totals, false};
        Pids ->
            {Sums, Next} = AddSome(Pids -- OwnNow(), Apps, Totals, End, Size),
            erlang:garbage_collect(),
            case Next of
                late -> {Sums, true};
                _ -> AddAll(From, OwnNow, Apps, Sums, {End, Next})
            end
    end
end,

{[apps, own, k, spawn, count_work],
fun(Arg, #{apps := AppsOf, own := OwnOf, k := Keeper} = Ctx) ->
    End = erlang:monotonic_time(millisecond) + maps:get(ms, Arg, TimeForAll()),
    Apps = AppsOf(),
    {Pid, _} = From = StartLister(Ctx),
    {Totals, Partial} =
        try AddAll(From, fun() -> OwnOf(Keeper) end, Apps, #{}, {End, FewSize})
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
          Memory = case Totals of #{{older, App} := AgeMs} -> {older, M, AgeMs}; #{} -> M end,
          {App, Text(App, description), Text(App, vsn), P, Memory, R, Q}
      end || App <- Running],
     Partial}
end}.
