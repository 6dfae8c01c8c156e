%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The collector: is the tracer. In its process dictionary: `left` of the event cap, `id` the
%% next one, `waiting` for how many reported calls' results, `open` how many calls have results to
%% come, `received` since the last turn and `raw`, their words; {open, Pid}: the calls of a process
%% with results to come, the last one first: [{Mfa, Index, `{told, Id}` | {over} | Event, Mono}].

NextId = fun() -> Add(id, 1), get(id) end,

%% A result's filter: compiled for ets; `any`; or `none`.
Filter = fun(Spec) ->
    case Spec of
        {_, _} = Bytes -> ets:match_spec_compile(Term(Bytes));
        _ -> Spec
    end
end,

Passes = fun(Kind, Value, Took, {_, SlowerNs, Results, Raises}) ->
    Took >= SlowerNs andalso
        case {Kind, Results, Raises} of
            {_, none, none} -> true;
            {return_from, none, _} -> false;
            {return_from, _, _} -> ets:match_spec_run([{Value}], Results) =:= [true];
            {_, _, none} -> false;
            {_, _, any} -> true;
            _ -> ets:match_spec_run([{element(2, Value)}], Raises) =:= [true]
        end
end,

%% How much of the event cap an event takes: `false` when nothing is left.
Spend = fun(Counters, Index) ->
    case get(left) of
        Left when Left > 0 -> put(left, Left - 1), true;
        _ -> Count(Counters, Index, Over, 1), false
    end
end,

OnCall = fun(Pid, Mfa, {Index, Caller, Args, Stack}, Mono, {Counters, Patterns, Bytes}) ->
    {Wants, Held, _} = maps:get(Index, Patterns),
    Count(Counters, Index, Seen, 1),
    Calls = case Wants andalso get({open, Pid}) of [_ | _] = Above -> Above; _ -> [] end,
    {What, Out} =
        case Held orelse Spend(Counters, Index) of
            true ->
                {Short, Full} = ShownArgs(Args, Bytes),
                Full > 0 andalso Count(Counters, Index, WasCut, 1),
                Event = {c, NextId(), Index, Pid, Mono, Mfa, Caller, Short, Frames(Stack),
                         length(Calls), Full},
                case Held of true -> {Event, []}; false -> {{told, get(id)}, [Event]} end;
            false ->
                {{over}, []}
        end,
    case Wants of
        true ->
            put({open, Pid}, [{Mfa, Index, What, Mono} | Calls]),
            Add(open, 1),
            Count(Counters, Index, Open, 1),
            element(1, What) =:= told andalso Add(waiting, 1);
        false ->
            ok
    end,
    Out
end,

ResultEvent = fun(Kind, EventId, Mono, Value, Bytes) ->
    case Kind of
        return_from ->
            {Short, Full} = Shown(Value, Bytes),
            {r, EventId, Mono, Short, Full};
        exception_from ->
            {Class, Reason} = Value,
            {Short, Full} = Shown(Reason, Bytes),
            {x, EventId, Mono, Class, Short, Full}
    end
end,

%% The last open call of the same function; those above it have lost their results.
OnResult = fun(Kind, Pid, Mfa, Value, Mono, {Counters, Patterns, Bytes}) ->
    Calls = case get({open, Pid}) of undefined -> []; Known -> Known end,
    case lists:splitwith(fun(C) -> element(1, C) =/= Mfa end, Calls) of
        {_, []} ->
            [];
        {Above, [{_, Index, What, Began} | Rest]} ->
            case Rest of [] -> erase({open, Pid}); _ -> put({open, Pid}, Rest) end,
            Add(open, -1 - length(Above)),
            lists:foreach(fun(C) -> Count(Counters, element(2, C), Open, -1) end, Above),
            Add(waiting, -length([told || {_, _, {told, _}, _} <- Above])),
            Count(Counters, Index, Open, -1),
            {_, _, Wanted} = maps:get(Index, Patterns),
            case What of
                {over} ->
                    [];
                {told, EventId} ->
                    Add(waiting, -1),
                    [ResultEvent(Kind, EventId, Mono, Value, Bytes)];
                Event ->
                    case Passes(Kind, Value, Mono - Began, Wanted) of
                        false ->
                            Count(Counters, Index, Filtered, 1),
                            [];
                        true ->
                            case Spend(Counters, Index) of
                                true ->
                                    [ResultEvent(Kind, element(2, Event), Mono, Value, Bytes),
                                     Event];
                                false ->
                                    []
                            end
                    end
            end
    end
end,

%% What to tell of a message of the VM: newest first.
OnEvent = fun(Message, {Counters, _, Bytes} = Conf) ->
    Told = fun(Index, Make, Payload) ->
        Add(received, 1),
        Count(Counters, Index, Seen, 1),
        case Spend(Counters, Index) of
            true ->
                {Short, Full} = Shown(Payload, Bytes),
                Full > 0 andalso Count(Counters, Index, WasCut, 1),
                [Make(NextId(), Short, Full)];
            false ->
                []
        end
    end,
    Add(raw, erts_debug:flat_size(Message)),
    case Message of
        {trace_ts, Pid, call, Mfa, What, Mono} ->
            Add(received, 1),
            case get(one) =:= none orelse IsOne(Pid) of
                true -> OnCall(Pid, Mfa, What, Mono, Conf);
                {true, Before} -> OnCall(Pid, Mfa, What, Mono, Conf) ++ Before;
                false -> []
            end;
        {trace_ts, Pid, Kind, Mfa, Value, Mono} when Kind =:= return_from;
                                                     Kind =:= exception_from ->
            case get(one) of
                none -> OnResult(Kind, Pid, Mfa, Value, Mono, Conf);
                _ ->
                    Before = FlushShort(),
                    case Mono > get(shut) of
                        true -> Before;
                        false -> OnResult(Kind, Pid, Mfa, Value, Mono, Conf) ++ Before
                    end
            end;
        {trace_ts, Pid, Kind, Mfa, Mono} when Kind =:= in; Kind =:= out ->
            OnRunning(Pid, Kind, Mfa, Mono);
        {trace_ts, Pid, 'receive', Payload, {Index}, Mono} ->
            Told(Index, fun(I, Short, Full) -> {v, I, Index, Pid, Mono, Short, Full} end, Payload);
        {trace_ts, Pid, Kind, Payload, To, {Index}, Mono} ->
            Exists = Kind =:= send,
            Make = fun(I, Short, Full) -> {s, I, Index, Pid, Mono, To, Short, Exists, Full} end,
            Told(Index, Make, Payload);
        _ ->
            []
    end
end,
