%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Of one process: when it runs. The flag `running` has no budget in the VM. It stands on this
%% process only, and goes off when the collector has too many messages in its queue, which it looks
%% at every 64 of them, or gets too many per second (`second`: {Since, N}).
%%
%% In the collector's process dictionary: `one`, the process, `first` that calls, or none; `off`,
%% since when it does not run: {Mono, Mfa, Why, AskedAt}; `short`, short times at one place, which
%% are sent as one event; `ran`, events of this turn; `offs`, events that may still be sent, 0 once
%% the flag is off; `over`, events that came after that; `gone`, that it has ended, its last event
%% before; `shut`, when the budget was shut for good: a result after that would hide that calls
%% before it are missing.

Add = fun(Key, N) -> put(Key, get(Key) + N) end,

MostQueued = 1000,
%% Messages of `running` per second: where the collector runs after each, its queue stays short.
MostRan = 5000,
DueNs = 100000000,
ShortNs = 200000,

%% From Mono on it is not known any more when it runs. Newest first.
FollowEnds = fun(Mono) ->
    Short = put(short, none),
    put(offs, 0),
    put(off, none),
    catch SetFlags(get(at), get(one), false, [running]),
    [{q, Mono, false} | [Short || Short =/= none]]
end,

SendOff = fun(Event) ->
    case get(offs) of
        0 -> [];
        1 -> FollowEnds(element(3, Event)) ++ [Event];
        N -> put(offs, N - 1), [Event]
    end
end,
FlushShort = fun() -> case put(short, none) of none -> []; Event -> SendOff(Event) end end,

%% It ran again at Mono. Newest first.
OffEnds = fun(Mono, {From, Mfa, Told, AskedAt}) ->
    Why = case Mono >= AskedAt of true -> Told; false -> unknown end,
    Ns = Mono - From,
    case {get(short), Ns < ShortNs andalso Why =:= unknown} of
        {{o, Began, _, Mfa, unknown, N, Sum}, true} ->
            put(short, {o, Began, Mono, Mfa, unknown, N + 1, Sum + Ns}), [];
        _ ->
            Before = FlushShort(),
            put(short, {o, From, Mono, Mfa, Why, 1, Ns}), Before
    end
end,

%% It stops again at once: to ask a process why it waits may have woken it.
OffBegins = fun(Mono, Mfa) ->
    case get(short) of
        {o, From, Until, Mfa, Why, 1, _} when Why =/= unknown, Mono - Until < ShortNs ->
            put(short, none),
            put(off, {From, Mfa, Why, From}), [];
        _ ->
            put(off, {Mono, Mfa, unknown, Mono}), []
    end
end,

TooMany = fun(Mono) ->
    {Since, N} = get(second),
    Passed = Mono - Since > 1000000000,
    put(second, case Passed of true -> {Mono, 1}; false -> {Since, N + 1} end),
    not Passed andalso N >= MostRan
end,

%% Each takes tens of us here, and a process that computes brings 40,000 of them a second: what came
%% before the flag went off is passed over. More than the queue can have held: the flag is still on.
OnRunning = fun(Pid, Kind, Mfa, Mono) ->
    Add(ran, 1),
    Events = case {get(offs), get(one), Kind, get(off)} of
        {0, Pid, _, _} ->
            Add(over, 1),
            get(over) rem (8 * MostQueued) =:= 0
                andalso (catch SetFlags(get(at), Pid, false, [running])),
            [];
        {0, _, _, _} -> [];
        {_, Pid, out, _} -> OffBegins(Mono, Mfa);
        {_, Pid, in, {From, _, _, _} = Off} when Mono >= From ->
            put(off, none), OffEnds(Mono, Off);
        _ -> []
    end,
    Many = get(offs) > 0 andalso (TooMany(Mono) orelse (get(ran) rem 64 =:= 0
        andalso element(2, process_info(self(), message_queue_len)) > MostQueued)),
    case Many of true -> FollowEnds(Mono) ++ Events; false -> Events end
end,

%% It may have stopped before the flag was there.
AskOff = fun(Pid) ->
    At = Now(),
    case process_info(Pid, [status, current_function]) of
        [{_, Status}, {_, Mfa}] when Status =:= waiting; Status =:= runnable ->
            put(off, {At, Mfa, Status, At});
        _ -> ok
    end,
    At
end,

%% Of a call: {true, Events before it}, or false: calls of others do not count once it is known who
%% is first.
IsOne = fun(Pid) ->
    case get(one) of
        Pid -> {true, FlushShort()};
        first ->
            put(one, Pid),
            monitor(process, Pid),
            get(trace_keeper) ! {self(), first, Pid},
            catch SetFlags(get(at), Pid, true, [running]),
            {true, [{q, AskOff(Pid), true}]};
        _ -> false
    end
end,

%% Messages of `running` may come without a pause: then too a turn is due.
IsDue = fun(Last_) ->
    get(one) =/= none andalso get(ran) rem 64 =:= 63 andalso Now() - Last_ > DueNs
end,
MostDrained = fun() -> case get(one) of none -> 2000; _ -> 200 end end,

%% At the end of each turn: short times so far, and why it does not run now. What it was asked holds
%% for a time that had not ended then. A process that is gone has sent its last event before. One
%% that does not run at the end of the last turn did not run until then.
OneTurn = fun(Last_) ->
    put(ran, 0),
    One = get(one),
    case get(off) of
        {From, Mfa, unknown, _} ->
            At = Now(),
            case process_info(One, status) of
                {_, Status} when Status =:= waiting; Status =:= runnable ->
                    put(off, {From, Mfa, Status, At});
                _ -> ok
            end;
        _ -> ok
    end,
    Ended = case get(off) of
        Off when Off =/= none, Last_ -> put(off, none), OffEnds(Now(), Off);
        _ -> []
    end,
    FlushShort() ++ Ended
end,
