%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Calls that wait for every scheduler
%% A NIF or BIF that does not yield keeps each of them until it returns, and a process that waits for
%% a scheduler cannot be ended before. So each kind of call has one process, asked again only when it
%% is back: no more than one call of a kind ever waits, whatever is asked of us.

WaitKinds = [memory, gc, io, flag, alloc, tables, binary],

%% Slots of a kind: when it was asked (0: it is back), the longest that nobody was told of, and
%% whether it was ever done.
Slots = atomics:new(3 * length(WaitKinds), []),

%% At high priority: its own place in a run queue is no lateness.
WaiterOptions = [{priority, high}, {fullsweep_after, 0} | SpawnOptions(64 * MiB)],
Waiter = fun Waiter(Index) ->
    receive
        {From, Ref, Call, Args} ->
            Answer = try {ok, apply(Call, Args)} catch _:_ -> failed end,
            Took = erlang:monotonic_time() - atomics:get(Slots, Index),
            atomics:put(Slots, Index + 1, max(Took, atomics:get(Slots, Index + 1))),
            atomics:put(Slots, Index + 2, 1),
            atomics:put(Slots, Index, 0),
            CountWork(),
            From ! {Ref, Answer}
    end,
    Waiter(Index)
end,

%% Asks one: {asked, Ref}, or what is known at once. A flag is set once, and stands while its process
%% lives.
AskWaiter = fun(Waiters, {Kind, Call, Args}) ->
    {Pid, Index} = maps:get(Kind, Waiters),
    Ref = make_ref(),
    Done = Kind =:= flag andalso atomics:get(Slots, Index + 2) =:= 1,
    %% Never 0, which is one that is back.
    case Done orelse atomics:compare_exchange(Slots, Index, 0, erlang:monotonic_time() bor 1) of
        true -> {ok, true};
        ok -> Pid ! {self(), Ref, Call, Args}, {asked, Ref};
        Since -> case is_process_alive(Pid) of true -> {out, Since}; false -> failed end
    end
end,
%% Another question may have asked just now: its turn is waited for. Of what is out for as long as
%% anybody waits nothing is expected.
AgainMs = 5,
TakeWaiter = fun TakeWaiter(Waiters, Call, Asked, Start, Until) ->
    Left = erlang:convert_time_unit(Until - erlang:monotonic_time(), native, millisecond),
    case Asked of
        {asked, Ref} ->
            receive {Ref, Answer} -> Answer after max(0, Left) -> late end;
        {out, Since} when Left =< 0; Since < Start + Start - Until ->
            late;
        {out, _} ->
            receive after AgainMs -> ok end,
            TakeWaiter(Waiters, Call, AskWaiter(Waiters, Call), Start, Until);
        _ ->
            Asked
    end
end,
%% How long it waited at most since this was last asked, in native time.
WaitOf = fun({Pid, Index}) ->
    Longest = atomics:exchange(Slots, Index + 1, 0),
    case atomics:get(Slots, Index) of
        0 -> Longest;
        Since -> case is_process_alive(Pid) of
                     true -> max(Longest, erlang:monotonic_time() - Since);
                     false -> Longest
                 end
    end
end,

%% Does all of [{Kind, Function, Arguments}] side by side and waits for Ms at most. Value:
%% {[{ok, Value} | failed | late], the longest that one of them waited since the last time in ms}.
%% Waiting for schedulers is not our work: of each no more is counted than it takes without.
CountedUs = 200,
InTime = fun(Waiters, Calls, Ms) ->
    Start = erlang:monotonic_time(),
    Until = Start + erlang:convert_time_unit(Ms, millisecond, native),
    Asked = [AskWaiter(Waiters, Call) || Call <- Calls],
    Answers = [TakeWaiter(Waiters, Call, A, Start, Until) || {Call, A} <- lists:zip(Calls, Asked)],
    Longest = lists:max([WaitOf(maps:get(Kind, Waiters)) || {Kind, _, _} <- Calls]),
    Waited = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Waited),
    put(helped, get(helped)
                + min(Waited, erlang:convert_time_unit(CountedUs * length(Calls), microsecond, native))),
    {Answers, erlang:convert_time_unit(Longest, native, millisecond)}
end,
StartWaiter = fun(Index) ->
    Sign(),
    Waiter(Index)
end,
StartWaiters = fun() ->
    Indexes = lists:seq(1, 3 * length(WaitKinds), 3),
    maps:from_list([{Kind, {spawn_opt(erlang, apply, [StartWaiter, [Index]], WaiterOptions), Index}}
                    || {Kind, Index} <- lists:zip(WaitKinds, Indexes)])
end,
