%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Calls that wait for every scheduler
%% A NIF or BIF that does not yield keeps each of them until it returns, and a process that waits
%% for a scheduler cannot be ended before. So each kind of call has one process, asked again only
%% when it is back: no more than one call of a kind ever waits, whatever is asked of us. One that
%% died the keeper starts again, when it is asked for.

WaitKinds = [alloc, tables, sockets, binary, file, probe],
%% How many calls a waiter makes before it counts its work and gives back its heap. What is asked at
%% each tick has a small answer.
CallsOf = fun(Kind) -> case Kind of file -> 4; _ -> 1 end end,

%% Slots of a kind: when it was asked (0: it is back), and how long its last call took, 0 when that
%% has been reported.
Slots = atomics:new(2 * length(WaitKinds), []),

%% At high priority: its own place in a run queue does not count as late.
WaiterOptions = [{priority, high}, {fullsweep_after, 0} | SpawnOptions(64 * MiB)],
LargeWords = 100000,
Waiter = fun Waiter(Index, Calls, Left) ->
    receive
        {{From, Ref, Since}, Call, Args} ->
            Answer = try {ok, apply(Call, Args)} catch _:_ -> failed end,
            atomics:put(Slots, Index + 1, erlang:monotonic_time() - Since),
            atomics:put(Slots, Index, 0),
            From ! {Ref, Index, Answer};
        {free, Since} ->
            atomics:compare_exchange(Slots, Index, Since, 0)
    end,
    case Left of
        1 ->
            CountWork(),
            {_, Words} = process_info(self(), total_heap_size),
            Words > LargeWords andalso erlang:garbage_collect(),
            Waiter(Index, Calls, Calls);
        _ ->
            Waiter(Index, Calls, Left - 1)
    end
end,

%% The waiter of a kind, {Pid, Index, AgainMs}: the keeper's, or the one that took its place.
WaiterOf = fun(Waiters, Kind) ->
    case get({waiter, Kind}) of undefined -> maps:get(Kind, Waiters); Newer -> Newer end
end,
Renew = fun(Keeper, Kind, Dead, LeftMs) ->
    Ref = make_ref(),
    Keeper ! {renew, self(), Ref, Kind, Dead},
    receive
        {Ref, renewed, none} -> none;
        {Ref, renewed, Newer} -> put({waiter, Kind}, Newer), Newer
    after LeftMs -> none
    end
end,

%% Who takes a slot and is ended before it asks leaves it taken. So one that is out for long is
%% given back: by its waiter, when that is not busy with it, or in place of one that is dead.
LongTime = erlang:convert_time_unit(100, millisecond, native),
GiveBack = fun(Pid, Index, Since) ->
    case put({given_back, Index}, Since) of
        Since -> ok;
        _ -> Pid ! {free, Since}
    end,
    Ref = monitor(process, Pid),
    receive {'DOWN', Ref, _, _, _} -> atomics:compare_exchange(Slots, Index, Since, 0)
    after 0 -> demonitor(Ref, [flush])
    end
end,
%% Asks one: {asked, Ref, Waiter, Since}, or {out, Since}.
AskWaiter = fun({Pid, Index, _} = Waiter_, {_, Call, Args}) ->
    %% Never 0, which is one that is back.
    Now = erlang:monotonic_time() bor 1,
    case atomics:compare_exchange(Slots, Index, 0, Now) of
        ok ->
            Ref = monitor(process, Pid),
            Pid ! {{self(), Ref, Now}, Call, Args},
            {asked, Ref, Waiter_, Now};
        Since ->
            Now - Since > LongTime andalso GiveBack(Pid, Index, Since),
            {out, Since}
    end
end,
%% Another question may have asked just now: its turn is waited for. Of what is out for as long as
%% anybody waits nothing is expected.
AgainMs = 5,
TakeWaiter = fun TakeWaiter(Keeper, Waiters, {Kind, _, _} = Call, Asked, Start, Until) ->
    Left = max(0, erlang:convert_time_unit(Until - erlang:monotonic_time(), native, millisecond)),
    Next = case Asked of
        {asked, Ref, {Pid, Index, _}, Since} ->
            Answer = receive
                {Ref, Index, Is} -> Is;
                {'DOWN', Ref, _, _, _} -> atomics:compare_exchange(Slots, Index, Since, 0), down
            after Left -> late
            end,
            demonitor(Ref, [flush]),
            case Answer =:= down andalso Renew(Keeper, Kind, Pid, Left) of
                false -> Answer;
                none -> failed;
                Newer -> {again, Newer}
            end;
        {out, Since} when Left =:= 0; Since < Start + Start - Until ->
            late;
        {out, _} ->
            receive after AgainMs -> ok end,
            {again, WaiterOf(Waiters, Kind)}
    end,
    case Next of
        {again, Waiter_} ->
            TakeWaiter(Keeper, Waiters, Call, AskWaiter(Waiter_, Call), Start, Until);
        _ ->
            Next
    end
end,
%% What came too late for the question before: one answer of a kind at most.
DropLate = fun DropLate() ->
    receive {Ref, _, _} when is_reference(Ref) -> DropLate() after 0 -> ok end
end,

%% Calls as lists for native functions, which do for all of them what an evaluated loop would take
%% hundreds of steps for at each tick: made once.
Exchange = fun atomics:exchange/3,
WaitsOf = fun(Waiters, Calls) ->
    case get(waits) of
        {Calls, Waits} ->
            Waits;
        _ ->
            {Kinds, Functions, Arguments} = lists:unzip3(Calls),
            {Pids, Indexes, _} = lists:unzip3([WaiterOf(Waiters, Kind) || Kind <- Kinds]),
            Each = fun(Term) -> lists:duplicate(length(Calls), Term) end,
            Waits = {Pids, Indexes, [Index + 1 || Index <- Indexes], Functions, Arguments,
                     Each(Slots), Each(0)},
            put(waits, {Calls, Waits}),
            Waits
    end
end,
%% Where all of them are taken: asks them natively. Value: as below, in native time.
AskAtOnce = fun({Pids, Indexes, Lasts, Functions, Arguments, Same, Zeros}, Now, Until) ->
    Reported = lists:zipwith3(Exchange, Same, Lasts, Zeros),
    Ref = make_ref(),
    Heads = lists:duplicate(length(Pids), {self(), Ref, Now}),
    lists:zipwith(fun erlang:send/2, Pids, lists:zip3(Heads, Functions, Arguments)),
    Answers = [receive {Ref, Index, Answer} -> Answer
               after max(0, Until - erlang:monotonic_time(millisecond)) -> late
               end || Index <- Indexes],
    Longest = case lists:member(late, Answers) of
        true -> [erlang:monotonic_time() - Now];
        false -> lists:zipwith3(Exchange, Same, Lasts, Zeros)
    end,
    {Answers, lists:max(Reported ++ Longest)}
end,
%% Where some are not.
AskEach = fun(Keeper, Waiters, Calls, Start, Ms) ->
    Until = Start + erlang:convert_time_unit(Ms, millisecond, native),
    Those = [WaiterOf(Waiters, Kind) || {Kind, _, _} <- Calls],
    Reported = [atomics:exchange(Slots, Index + 1, 0) || {_, Index, _} <- Those],
    Asked = [{Call, AskWaiter(Waiter_, Call)} || {Waiter_, Call} <- lists:zip(Those, Calls)],
    Answers = [TakeWaiter(Keeper, Waiters, Call, A, Start, Until) || {Call, A} <- Asked],
    Longest = [case atomics:get(Slots, Index) of
                   0 -> atomics:exchange(Slots, Index + 1, 0);
                   Since -> erlang:monotonic_time() - Since
               end || {_, Index, _} <- Those],
    {Answers, lists:max(Reported ++ Longest)}
end,
%% Takes all slots, or none where another question has taken one just now: it gets back what it had,
%% and one that came back since then keeps its 0.
TakeAll = fun({_, Indexes, _, _, _, Same, Zeros}, Now) ->
    case lists:zipwith3(Exchange, Same, Indexes, lists:duplicate(length(Zeros), Now)) of
        Zeros ->
            true;
        Out ->
            [atomics:compare_exchange(Slots, Index, Now, Since)
             || {Index, Since} <- lists:zip(Indexes, Out)],
            false
    end
end,
%% Many at once, where all are back and alive: both are seen before a slot is taken, since to ask
%% whether one lives may wait for it.
AskMany = fun(Keeper, Waiters, Calls, Ms) ->
    {Pids, Indexes, _, _, _, Same, Zeros} = Waits = WaitsOf(Waiters, Calls),
    IsReady = lists:all(fun erlang:is_process_alive/1, Pids)
        andalso lists:zipwith(fun atomics:get/2, Same, Indexes) =:= Zeros,
    %% Never 0, which is one that is back.
    Now = erlang:monotonic_time() bor 1,
    case IsReady andalso TakeAll(Waits, Now) of
        true ->
            AskAtOnce(Waits, Now, Ms + erlang:monotonic_time(millisecond));
        false ->
            erase(waits),
            AskEach(Keeper, Waiters, Calls, Now, Ms)
    end
end,
%% Does all of [{Kind, Function, Arguments}] side by side and waits for Ms at most. Value:
%% {[{ok, Value} | failed | late], the longest that one of them waited since the last time in ms}.
AllInTime = fun(Keeper, Waiters, Calls, Ms) ->
    DropLate(),
    {Answers, Longest} = case Calls of
        [_] -> AskEach(Keeper, Waiters, Calls, erlang:monotonic_time(), Ms);
        _ -> AskMany(Keeper, Waiters, Calls, Ms)
    end,
    {Answers, erlang:convert_time_unit(Longest, native, millisecond)}
end,
%% Waiting for schedulers is not the work of a question: of each call no more is counted than it
%% takes without.
CountedTime = erlang:convert_time_unit(200, microsecond, native),
InTime = fun(Keeper, Waiters, Calls, Ms) ->
    Start = erlang:monotonic_time(),
    Answers = AllInTime(Keeper, Waiters, Calls, Ms),
    Waited = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Waited),
    put(helped, get(helped) + min(Waited, CountedTime * length(Calls))),
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

StartWaiter = fun(Keeper, Kind, Index) ->
    Sign(),
    put(keeper, Keeper),
    CountWork(),
    Calls = CallsOf(Kind),
    Waiter(Index, Calls, Calls)
end,
StartWaiters = fun() ->
    Indexes = lists:seq(1, 2 * length(WaitKinds), 2),
    Start = fun(Kind, Index) ->
        spawn_opt(erlang, apply, [StartWaiter, [self(), Kind, Index]], WaiterOptions)
    end,
    maps:from_list([{Kind, {Start(Kind, Index), Index, none}}
                    || {Kind, Index} <- lists:zip(WaitKinds, Indexes)])
end,
