%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The collector's way to the client

Push = fun(#{client := Client, id := TraceId, seq := Seq}, Body) ->
    Message = {t, TraceId, atomics:add_get(Seq, 1, 1), Body},
    case erlang:send(Client, Message, [nosuspend, noconnect]) of
        ok -> put(pushed, Now()), ok;
        _ -> atomics:sub(Seq, 1, 1), busy
    end
end,

Rows = fun(Counters, Indexes) ->
    [list_to_tuple([I | [max(0, counters:get(Counters, 8 * I + C)) || C <- Columns]])
     || I <- Indexes]
end,

Status = fun(S) ->
    (get(count_work))(),
    #{why := Why, given := Given, window := Window, rate_seen := {_, _, Rate}, counters := Counters,
      sent_bytes := Bytes, indexes := Indexes} = S,
    [{_, HeapWords}, {_, Mailbox}] = process_info(self(), [total_heap_size, message_queue_len]),
    Shut = case Why of _ when Given > 0 -> open; bytes -> rate; _ -> Why end,
    {Now(), Shut, Window, Rate, Bytes, HeapWords * erlang:system_info(wordsize), Mailbox,
     Rows(Counters, Indexes)}
end,

%% The room that the cap of bytes keeps for the last loss.
LossBytes = 64,
LossEveryNs = 1000000000,

LossEvents = fun(Loss) ->
    case Loss of none -> []; {From, Until, Why} -> [{l, From, Until, Why}] end
end,

%% A time in which the budget was shut: sent at once, then at most once a second while it lasts,
%% and before what comes after it. Value: {EventsOfTheTurnWithIt, Loss, ToldAt}.
Lose = fun(#{loss := Loss, last := From, why := Why, loss_told := ToldAt}, Shut, Out, At) ->
    Longer = case {Shut, Loss} of
                 {false, _} -> Loss;
                 {true, none} -> {From, At, Why};
                 {true, {Began, _, _}} -> {Began, At, Why}
             end,
    Due = At - ToldAt >= LossEveryNs,
    case Longer of
        none -> {Out, none, ToldAt};
        _ when Due, Shut -> {Out ++ LossEvents(Longer), none, At};
        _ when Due; Out =/= [], not Shut -> {LossEvents(Longer) ++ Out, none, At};
        _ -> {Out, Longer, ToldAt}
    end
end,

CountsOf = fun(Tag, At, Counting) ->
    {Tag, Now(),
     [{I, CallsOf(At, Mfas)} || {I, Mfas, _} <- Counting],
     [{I, TimesOf(At, Mfas)} || {I, Mfas, [_, call_time]} <- Counting]}
end,

%% How much a loss cost is in the counts: read while the budget is still shut, when they are few.
CountLoss = fun(#{outbox := Outbox, counting := Counting, counted := {Place, Mfas}},
                #{loss_told := ToldAt, last := At}) ->
    case ToldAt of
        At when Outbox =:= [], Counting =/= [], length(Mfas) =< 64 ->
            CountsOf(counts, Place, Counting);
        _ ->
            none
    end
end,

%% Counts with nothing under way to us: the calls that were seen by then are known to the client,
%% and all others were missed, those too that came between the counts of a loss and the next window.
%% Value: none when that is not so, or a call passes as they are read; Rest: the budget of now.
CountSettled = fun(#{outbox := Outbox, counting := Counting, counted := {Place, Mfas},
                     flight := Flight, filters := Filters, loss := Loss}, Rest, Most) ->
    case Counting of
        [_ | _] when length(Mfas) =< Most, Outbox =:= [], Flight =:= 0, Loss =:= none,
                     not Filters ->
            Read = CountsOf(settled, Place, Counting),
            case erlang:system_info(trace_control_word) of Rest -> Read; _ -> none end;
        _ ->
            none
    end
end,

%% What was counted before a window, to be sent if that is used up: what a shut budget cost is then
%% sent for that window's time only.
CountBefore = fun(S, Rest) ->
    case CountSettled(S, Rest, 4) of none -> ok; Read -> put(before, Read) end
end,
TellBefore = fun(S, Loss) ->
    case {Loss, get(before)} of
        {{_, _, _}, {settled, _, _, _} = Read} ->
            Push(S, Read),
            put(before, none);
        _ ->
            ok
    end
end,

%% Those of the trace keeper that it began to read before we pushed ours, or how many calls we saw:
%% counts never go back, and the calls that the client knows of are in them.
Older = fun(Body) ->
    Read = get(pushed),
    case Body of {counts, At, _, _} when is_integer(Read) -> At < Read; _ -> false end
end,

%% What came of the last window, and the next size of it.
Account = fun(S, Rest, Out, At) ->
    #{caps := #{rate := Rate, window := Most, window_bytes := MostBytes}, given := Given,
      why := Why, window := Window, tokens := Tokens, flight := Flight, last := Last,
      outbox := Outbox, granted := Granted, rate_seen := {Since, N, PerSecond}} = S,
    Received = put(received, 0),
    Raw = put(raw, 0) * erlang:system_info(wordsize),
    Used = max(0, Given - Rest),
    BySize = case Received of 0 -> Most; _ -> MostBytes div (Raw div Received + 1) end,
    Wider = case Rest of 0 when Granted >= Window -> 2 * Window; _ -> Window end,
    Seconds = (At - Since) / 1.0e9,
    {Events, NextLoss, ToldAt} = Lose(S, Rest =:= 0 andalso Why =/= spent, lists:reverse(Out), At),
    S#{outbox := Outbox ++ Events, loss := NextLoss, loss_told := ToldAt,
       window := max(1, min(min(Most, BySize), Wider)),
       tokens := min(max(1.0, Rate / 4), Tokens + (At - Last) * Rate / 1.0e9)
                 - max(Used, Received - Flight),
       flight := case {Used, Received} of {0, 0} -> 0; _ -> max(0, Flight + Used - Received) end,
       last := At,
       over_rate := Rest =:= 0 andalso Why =:= rate,
       rate_seen := case Seconds >= 1 of
                        true -> {At, 0, round((N + Received) / Seconds)};
                        false -> {Since, N + Received, max(PerSecond, N + Received)}
                    end}
end,

%% Sends what fits; what does not waits for credit. Value: the state; `full` when the cap of bytes
%% is reached.
Fitting = fun Fitting(Events, Room, Taken, Size) ->
    case Events of
        [{Bytes, Event} | Rest] when Size + Bytes =< Room ->
            Fitting(Rest, Room, [Event | Taken], Size + Bytes);
        _ ->
            {lists:reverse(Taken), Size}
    end
end,
Indexed = fun(Events) -> [element(3, E) || E <- Events, lists:member(element(1, E), [c, s, v])] end,
Ship = fun(#{outbox := Outbox} = S) ->
    #{credit := {CreditEvents, CreditBytes}, bytes_left := BytesLeft, counters := Counters,
      sent_bytes := SentBytes, next_status := NextStatus, last := At} = S,
    Sizes = [{erlang:external_size(E), E} || E <- Outbox],
    First = case Sizes of [] -> 0; [{Size, _} | _] -> Size end,
    Room = case CreditBytes > 0 of true -> max(First, CreditBytes); false -> 0 end,
    {Batch, Bytes} = Fitting(Sizes, min(Room, BytesLeft), [], 0),
    Full = First > BytesLeft,
    case Batch of
        [] when At < NextStatus ->
            S#{full := Full};
        [] ->
            Push(S, {status, Status(S)}),
            S#{full := Full, next_status := At + 500000000};
        _ ->
            Indexes = Indexed(Batch),
            lists:foreach(fun(I) -> Count(Counters, I, Sent, 1) end, Indexes),
            case Push(S#{sent_bytes := SentBytes + Bytes}, {batch, Batch, Status(S)}) of
                ok ->
                    S#{outbox := lists:nthtail(length(Batch), Outbox),
                       credit := {CreditEvents - length(Indexes), CreditBytes - Bytes},
                       bytes_left := BytesLeft - Bytes, sent_bytes := SentBytes + Bytes,
                       next_status := At + 500000000, full := Full};
                busy ->
                    lists:foreach(fun(I) -> Count(Counters, I, Sent, -1) end, Indexes),
                    S
            end
    end
end,

%% How many events the next window lets pass, and what keeps it from more.
