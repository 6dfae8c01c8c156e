%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The collector's turns

Next = fun(S) ->
    #{window := Window, tokens := Tokens, flight := Flight, credit := {CreditEvents, CreditBytes},
      caps := #{term := TermBytes}, paused := Paused, outbox := Outbox, filters := Filters} = S,
    Left = get(left),
    %% Where results are filtered most calls spend nothing: the collector keeps to the exact number.
    Spendable = case Filters of true -> infinity; false -> Left - Flight end,
    case S of
        _ when Left =< 0 -> {0, spent};
        _ when Paused -> {0, paused};
        _ when Outbox =/= [] -> {0, credit};
        _ ->
            {N, Why} = lists:min([{Window, window}, {trunc(Tokens), rate},
                                  {MostOpen - get(open), bytes}, {CreditEvents - Flight, credit},
                                  {CreditBytes div (min(TermBytes, 512) + 128), credit}]),
            case N >= Spendable of
                true -> {max(0, Spendable), spent};
                false -> {max(0, N), Why}
            end
    end
end,

%% Before OTP 25 the VM takes a small block (56 bytes on OTP 23) for each call of a traced function
%% by a traced process, whether its clauses pass or not, and gives it back when the callers pause:
%% with callers that never do, a million calls hold 55 MB. Ended in time, that stays bounded. Only
%% when the node has grown, and the calls were enough to be the cause.
HoldsMuch = fun(#{held := Before, counted := {Place, Mfas}}) ->
    is_integer(Before) andalso erlang:memory(processes) - Before > MostHeld
        andalso 56 * lists:sum(CallsOf(Place, Mfas)) > MostHeld
end,

Verdict = fun(S) ->
    #{until := Until, spent_at := SpentAt, on_rate := OnRate, over_rate := OverRate, full := Full,
      last := At, caps := #{heap := Heap}, stopped := Stopped, outbox := Outbox} = S,
    {_, Words} = process_info(self(), total_heap_size),
    HeapBytes = Words * erlang:system_info(wordsize),
    Spent = SpentAt =/= none,
    Gone = get(gone),
    case S of
        _ when Stopped -> stopped;
        _ when Full -> bytes;
        _ when At >= Until -> time;
        _ when Gone, Outbox =:= [] -> gone;
        _ when Spent, Outbox =:= [] ->
            case get(waiting) =< 0 orelse At - SpentAt > GraceMs * 1000000 of
                true -> events;
                false -> go
            end;
        _ when Spent -> go;
        _ when OnRate =:= stop, OverRate -> rate;
        _ when HeapBytes > Heap * 3 div 4 -> heap;
        _ -> case HoldsMuch(S) of true -> heap; false -> go end
    end
end,

%% A cap of a running trace. Time and events are counted from the start.
SetCap = fun(S, Key, Value) ->
    #{caps := Caps, began := Began, conf := {Counters, Patterns, _} = Conf,
      bytes_left := BytesLeft} = S,
    Wanted = Clamp(Key, Value),
    Changed = S#{caps := Caps#{Key := Wanted}},
    case Key of
        time -> Changed#{until := Began + Wanted * 1000000};
        events -> Add(left, Wanted - maps:get(events, Caps)), Changed#{spent_at := none};
        bytes -> Changed#{bytes_left := BytesLeft + Wanted - maps:get(bytes, Caps)};
        term -> Changed#{conf := {Counters, Patterns, Wanted}};
        _ -> Changed#{conf := Conf}
    end
end,

Drain = fun Drain(Conf, Out, Most) ->
    receive
        Message when element(1, Message) =:= trace_ts, Most > 0 ->
            Drain(Conf, OnEvent(Message, Conf) ++ Out, Most - 1)
    after 0 ->
        Out
    end
end,

%% Sets the budget, that was at Rest, to N, less what was taken since. Calls that come in the very
%% instant are cleared again, with the budget shut until then. Untouched it costs no call.
%% Value: {Given, Late, Shut}; Shut: a call may have found no budget.
Grant = fun(N, Rest) ->
    Found = erlang:system_info(trace_control_word),
    Late = max(0, Rest - Found),
    Given = max(0, N - Late),
    case Given =:= Found orelse Word(Given) of
        Before when Before =:= true; Before =:= Found ->
            {Given, Late, Found =:= 0 andalso Rest > 0};
        Fewer ->
            All = Late + max(0, Found - Fewer) + max(0, Given - Word(0)),
            Less = max(0, N - All),
            Word(Less),
            {Less, All, true}
    end
end,

%% The time of a turn in which the budget was found empty, though there was some when it began.
RanDry = fun(#{loss := Loss, why := Why, last := At}, Shut) ->
    case Loss of
        _ when not Shut; Why =:= spent -> Loss;
        none -> {At, Now(), Why};
        {From, _, _} -> {From, Now(), Why}
    end
end,

%% Short while a window was used up and another may follow at once: a small event cap is soon over.
TurnOf = fun(Rest, #{caps := #{rate := Rate}}) ->
    case Rest =:= 0 andalso (Rate > QuietRate orelse get(left) < 64) of
        true -> TurnMs;
        false -> QuietTurnMs
    end
end,

%% One turn: take what came, send, set the budget for the next window. It stays open in that time,
%% since a call that comes then would be missed; shut first only when this turn is the last.
Turn = fun(#{conf := Conf, until := Until, stopped := Stopped, given := Had} = S, Out) ->
    Began = Now(),
    {Unused, Settled} = case Stopped orelse Began >= Until of
        true ->
            %% No call since the turn before: all others are known.
            Read = case Had > 0 of true -> CountSettled(S, Had, 64); false -> none end,
            put(shut, Began),
            case Word(0) of Had -> {Had, Read}; Fewer -> {Fewer, none} end;
        false ->
            {none, none}
    end,
    LastTurn = Unused =/= none orelse get(gone),
    Drained = Drain(Conf, Out, case LastTurn of true -> 2000; false -> MostDrained() end),
    All = OneTurn(LastTurn andalso not get(gone)) ++ Drained,
    Rest = case Unused of none -> erlang:system_info(trace_control_word); _ -> Unused end,
    At = Now(),
    Left = get(left),
    Accounted = Account(S, Rest, All, At),
    #{spent_at := SpentAt} = Accounted,
    Noted = Accounted#{spent_at := case SpentAt of none when Left =< 0 -> At; _ -> SpentAt end},
    #{loss := Kept, loss_told := ToldAt} = Noted,
    TellBefore(S, case ToldAt of At -> {told, At, now}; _ -> Kept end),
    Shipped = Ship(Noted),
    Verdict_ = Verdict(Shipped),
    %% Read last before the budget opens: a call in between finds none, and has settled counts only.
    LossCounts = CountLoss(Shipped, Accounted),
    case Verdict_ of
        go ->
            Rest > 0 andalso CountBefore(Shipped, Rest),
            {N, Why} = Next(Shipped),
            {Given, Late, Shut} = Grant(N, Rest),
            LossCounts =:= none orelse Push(Shipped, LossCounts),
            #{flight := Flight, tokens := Tokens} = Shipped,
            %% Those that came late are paid for now: as they arrive they are in flight.
            {go, Shipped#{given := Given, granted := N, why := Why, flight := Flight + Late,
                          tokens := Tokens - Late,
                          loss := RanDry(Shipped, Shut), turn := TurnOf(Rest, Shipped)}};
        Why ->
            Word(0),
            Settled =:= none orelse Push(Shipped, Settled),
            LossCounts =:= none orelse Push(Shipped, LossCounts),
            {done, Why, Shipped#{given := 0, why := spent}}
    end
end,

%% What is left when it ends: events without credit, or that do not fit, are lost; the last losses
%% are one event, for which there is always room.
Last = fun(S) ->
    #{loss := Loss, outbox := Unsent, counters := Counters, bytes_left := Left} = S,
    lists:foreach(fun(I) -> Count(Counters, I, Lost, 1) end, Indexed(Unsent)),
    case [L || {l, _, _, _} = L <- Unsent] ++ LossEvents(Loss) of
        [] ->
            Status(S);
        [{l, From, _, _} | _] = Losses ->
            {l, _, Until, Why} = lists:last(Losses),
            #{credit := {CreditEvents, _}} = S,
            Status(Ship(S#{outbox := [{l, From, Until, Why}], bytes_left := Left + LossBytes,
                           credit := {CreditEvents, LossBytes}}))
    end
end,

%% The last few of the event cap have their turn as soon as the window is used up, and the end when
%% the last result is there. Where results are filtered calls do not spend it: no end is near.
Soon = fun(#{given := Given, filters := Filters} = S) ->
    Left = get(left),
    Ends = Left =< 0 andalso get(waiting) =< 0,
    case Ends orelse (not Filters andalso Given > 0 andalso get(received) >= Given) of
        true when Left =< SoonLeft -> S#{turn := 0};
        _ -> S
    end
end,

%% A loss that is still kept goes before the counts that it is in.
PushCounts = fun(#{loss := Loss, outbox := Outbox} = S, Body) ->
    case Older(Body) of
        true ->
            S;
        false ->
            Told_ = case Loss of
                        none -> S;
                        _ -> Ship(S#{outbox := Outbox ++ LossEvents(Loss), loss := none})
                    end,
            Push(Told_, Body),
            put(before, none),
            Told_
    end
end,

Collect = fun Collect(TraceKeeper, Plan, #{conf := Conf, last := At} = S, Out) ->
    Due = IsDue(At),
    receive
        Message when not Due, element(1, Message) =:= trace_ts ->
            Next_ = OnEvent(Message, Conf) ++ Out,
            Collect(TraceKeeper, Plan, Soon(S), Next_);
        {credit, Events, Bytes} ->
            #{credit := {E, B}} = S,
            Collect(TraceKeeper, Plan, S#{credit := {E + Events, B + Bytes}}, Out);
        {pause, Paused} ->
            Collect(TraceKeeper, Plan, S#{paused := Paused}, Out);
        {cap, Key, Value} ->
            Collect(TraceKeeper, Plan, SetCap(S, Key, Value), Out);
        {push, Body} ->
            Collect(TraceKeeper, Plan, PushCounts(S, Body), Out);
        stop ->
            Collect(TraceKeeper, Plan, S#{stopped := true}, Out);
        {'EXIT', TraceKeeper, _} ->
            Disarm(Plan);
        {'DOWN', _, process, _, _} when not Due ->
            put(gone, true),
            Collect(TraceKeeper, Plan, S, Out);
        _ when not Due ->
            Collect(TraceKeeper, Plan, S, Out)
    after max(0, maps:get(turn, S) - (Now() - At) div 1000000) ->
        case Turn(S, Out) of
            {go, Then_} ->
                Collect(TraceKeeper, Plan, Then_, []);
            {done, Why, Ended} ->
                TraceKeeper ! {self(), done, Why, Last(Ended)},
                %% It kills us. When it does not get to it, we take off what we can.
                receive {'EXIT', TraceKeeper, _} -> ok after 2 * GraceMs -> ok end,
                Disarm(Plan)
        end
    end
end,

Collector = fun(TraceKeeper, Otp, CountWork) ->
    Sign(),
    put(count_work, CountWork),
    [put(Key, 0) || Key <- [id, waiting, open, received, raw, ran, over]],
    [put(Key, none) || Key <- [pushed, before, off, short, shut]],
    put(second, {Now(), 0}),
    put(gone, false),
    put(secret, Secret()),
    receive
        {TraceKeeper, #{place := Place} = Plan, #{one := One} = S} ->
            put(one, One),
            is_pid(One) andalso monitor(process, One),
            put(at, Place),
            put(trace_keeper, TraceKeeper),
            receive
                {TraceKeeper, go} ->
                    #{caps := #{events := Events, time := TimeMs}} = S,
                    put(left, Events),
                    put(offs, Events),
                    At = case is_pid(One) of true -> AskOff(One); false -> Now() end,
                    Held0 = Otp < 25 andalso erlang:memory(processes),
                    Begun = S#{last => At, began => At, held => Held0,
                               until => At + TimeMs * 1000000, next_status => At,
                               loss_told => At - LossEveryNs,
                               rate_seen => {At, 0, 0}},
                    %% Open before it is said to be armed.
                    {Given, Why} = Next(Begun),
                    Word(Given),
                    TraceKeeper ! {self(), opened},
                    Collect(TraceKeeper, Plan,
                            Begun#{given := Given, granted := Given, why := Why}, []);
                {'EXIT', TraceKeeper, _} ->
                    Disarm(Plan)
            end;
        {'EXIT', TraceKeeper, _} ->
            ok
    end
end,
