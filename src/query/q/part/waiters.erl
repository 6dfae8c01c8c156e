%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Calls that wait for every scheduler
%% A NIF or BIF that does not yield keeps each of them until it returns, and a process that waits
%% for a scheduler cannot be ended before. So each kind of call has one process, asked again only
%% when it is back: no more than one call of a kind ever waits, whatever is asked of us. One that
%% died the keeper starts again, when it is asked for.

WaitKinds = [header, alloc, tables, sockets, binary, probe],

%% Slots of a kind: when it was asked (0: it is back), and the longest that was not reported.
Slots = atomics:new(2 * length(WaitKinds), []),

%% At high priority: its own place in a run queue does not count as late.
WaiterOptions = [{priority, high}, {fullsweep_after, 0} | SpawnOptions(64 * MiB)],
LargeWords = 100000,
%% In milliseconds it shows from here on.
ShownWait = erlang:convert_time_unit(1, millisecond, native),
Make = fun({_, Call, Args}) -> try {ok, apply(Call, Args)} catch _:_ -> failed end end,
NoteWait = fun(Slot, Took) ->
    Took > ShownWait andalso atomics:put(Slots, Slot, max(Took, atomics:get(Slots, Slot)))
end,
%% One call after the other, each with its own wait: none begins when nobody waits for it any more.
Each = fun Each(Calls, Slot, Until, Start) ->
    case Calls of
        [First | Rest] when Start < Until ->
            Answer = Make(First),
            Now = erlang:monotonic_time(),
            NoteWait(Slot, Now - Start),
            [Answer | Each(Rest, Slot, Until, Now)];
        _ ->
            lists:duplicate(length(Calls), late)
    end
end,
%% When the first one has shown that all schedulers answer at once, the others are made natively.
MakeAll = fun([First | Rest], Slot, Until) ->
    Start = erlang:monotonic_time(),
    Answer = Make(First),
    Now = erlang:monotonic_time(),
    Others = try
        true = Now - Start < ShownWait,
        {_, Functions, Args} = lists:unzip3(Rest),
        Values = lists:zipwith(fun erlang:apply/2, Functions, Args),
        NoteWait(Slot, erlang:monotonic_time() - Now),
        lists:zip(lists:duplicate(length(Rest), ok), Values)
    catch
        _:_ -> NoteWait(Slot, Now - Start), Each(Rest, Slot, Until, Now)
    end,
    [Answer | Others]
end,
Waiter = fun Waiter(Index) ->
    receive
        {From, Ref, Calls, Until} ->
            Answers = MakeAll(Calls, Index + 1, Until),
            atomics:put(Slots, Index, 0),
            CountWork(),
            From ! {Ref, Answers}
    end,
    {_, Words} = process_info(self(), total_heap_size),
    Words > LargeWords andalso erlang:garbage_collect(),
    Waiter(Index)
end,

%% The waiter of a kind, {Pid, Index, AgainMs}: the keeper's, or the one that took its place.
WaiterOf = fun(Waiters, Kind) ->
    case get({waiter, Kind}) of undefined -> maps:get(Kind, Waiters); Newer -> Newer end
end,
Renew = fun(Keeper, Kind, Dead, LeftMs) ->
    Ref = make_ref(),
    Keeper ! {renew, self(), Ref, Kind, Dead},
    receive
        {Ref, none} -> none;
        {Ref, Newer} -> put({waiter, Kind}, Newer), Newer
    after LeftMs -> none
    end
end,

%% Asks one: {asked, Ref, Waiter, Since}, or {out, Since}.
AskWaiter = fun({Pid, Index, _} = Waiter_, Calls, Until) ->
    %% Never 0, which is one that is back.
    Now = erlang:monotonic_time() bor 1,
    case atomics:compare_exchange(Slots, Index, 0, Now) of
        ok ->
            Ref = monitor(process, Pid),
            Pid ! {self(), Ref, Calls, Until},
            {asked, Ref, Waiter_, Now};
        Since ->
            {out, Since}
    end
end,
MsUntil = fun(Until) ->
    max(0, erlang:convert_time_unit(Until - erlang:monotonic_time(), native, millisecond))
end,
%% Another question may have asked just now: its turn is waited for. Of what is out for as long as
%% anybody waits nothing is expected.
AgainMs = 5,
TakeWaiter = fun TakeWaiter(Keeper, Waiters, Kind, Calls, Asked, Ms, Until) ->
    Next = case Asked of
        {asked, Ref, {Pid, Index, _}, Since} ->
            Answer = receive
                {Ref, Is} -> Is;
                {'DOWN', Ref, _, _, _} -> atomics:compare_exchange(Slots, Index, Since, 0), down
            after MsUntil(Until) -> late
            end,
            demonitor(Ref, [flush]),
            case Answer =:= down andalso Renew(Keeper, Kind, Pid, MsUntil(Until)) of
                false -> Answer;
                none -> failed;
                Newer -> {again, Newer}
            end;
        {out, Since} ->
            Left = MsUntil(Until),
            Waited = erlang:convert_time_unit(Until - Since, native, millisecond),
            case Left =:= 0 orelse Waited > 2 * Ms of
                true -> late;
                false -> receive after AgainMs -> {again, WaiterOf(Waiters, Kind)} end
            end
    end,
    case Next of
        {again, Waiter_} ->
            Again = AskWaiter(Waiter_, Calls, Until),
            TakeWaiter(Keeper, Waiters, Kind, Calls, Again, Ms, Until);
        _ ->
            Next
    end
end,
%% How long it waited at most since this was last asked, in native time: what still waits since the
%% first of its calls.
WaitOf = fun({_, Index, _}) ->
    Longest = atomics:exchange(Slots, Index + 1, 0),
    case atomics:get(Slots, Index) of
        0 -> Longest;
        Since -> max(Longest, erlang:monotonic_time() - Since)
    end
end,
%% What came too late for the question before: one answer of a kind at most.
DropLate = fun DropLate() ->
    receive {Ref, _} when is_reference(Ref) -> DropLate() after 0 -> ok end
end,

%% Does all of [{Kind, Function, Arguments}], which are of one kind, and waits for Ms at most.
%% Value: {[{ok, Value} | failed | late], the longest that one of them waited since the last time}.
AllInTime = fun(Keeper, Waiters, [{Kind, _, _} | _] = Calls, Ms) ->
    DropLate(),
    Until = erlang:monotonic_time() + Ms * ShownWait,
    Waiter_ = WaiterOf(Waiters, Kind),
    Asked = AskWaiter(Waiter_, Calls, Until),
    Answers = case TakeWaiter(Keeper, Waiters, Kind, Calls, Asked, Ms, Until) of
        [_ | _] = Found -> Found;
        Why -> lists:duplicate(length(Calls), Why)
    end,
    {Answers, WaitOf(WaiterOf(Waiters, Kind)) div ShownWait}
end,
%% Waiting for schedulers is not the work of a question: of each call no more is counted than it
%% takes without.
CallCost = 200 * erlang:convert_time_unit(1, microsecond, native),
InTime = fun(Keeper, Waiters, Calls, Ms) ->
    Start = erlang:monotonic_time(),
    Answers = AllInTime(Keeper, Waiters, Calls, Ms),
    Waited = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Waited),
    put(helped, get(helped) + min(Waited, CallCost * length(Calls))),
    Answers
end,

%% ---- Schedulers that do not answer for Ms: their ids
%% A process that is bound to each of those online does nothing but send: it runs as soon as its
%% scheduler is done with what runs there now. They are linked to the waiter which starts them, and
%% a scheduler that is late has one for as long as it is, however often it is asked.
Answered = fun Answered(Out, Until) ->
    case Out of
        [] -> [];
        _ ->
            receive {probed, N} -> Answered(lists:delete(N, Out), Until)
            after max(0, Until - erlang:monotonic_time(millisecond)) -> Out
            end
    end
end,
Probe = fun(Ms) ->
    Now = erlang:monotonic_time(millisecond),
    Before = Answered(case get(probes) of undefined -> []; Ns -> Ns end, Now),
    Online = lists:seq(1, erlang:system_info(schedulers_online)),
    [SpawnOwn(fun erlang:send/2, [self(), {probed, N}], [link, {scheduler, N}, {priority, max}])
     || N <- Online -- Before],
    Out = Answered(lists:usort(Before ++ Online), Now + Ms),
    put(probes, Out),
    [N || N <- Out, lists:member(N, Online)]
end,
%% {ok, Ids}, or that it is not known: the one that asks may itself have waited for its turn.
LateSchedulers = fun(Keeper, Waiters, Ms) ->
    {[Answer], _} = AllInTime(Keeper, Waiters, [{probe, Probe, [Ms]}], 4 * Ms),
    Answer
end,

StartWaiter = fun(Keeper, Index) ->
    Sign(),
    put(keeper, Keeper),
    Waiter(Index)
end,
StartWaiters = fun() ->
    Indexes = lists:seq(1, 2 * length(WaitKinds), 2),
    maps:from_list([{Kind, {spawn_opt(erlang, apply, [StartWaiter, [self(), Index]], WaiterOptions),
                            Index, none}}
                    || {Kind, Index} <- lists:zip(WaitKinds, Indexes)])
end,
