%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- ETS tables, in bounded time. Needs sweep.erl
%% Every scheduler is asked for the list, and for the size of a table whose counters are spread over
%% them: by a process that may wait (waiters.erl), whose heap has room for the list of a million.
TablesMost = 5000,
TablesAtATime = 200,
TablesMs = 50,
SpreadMost = 100,
ListMs = 500,
ListTables = fun(Most) ->
    Count = erlang:system_info(ets_count),
    Bytes = 64 * 1048576 + 256 * min(Count, 1048576),
    process_flag(max_heap_size, #{size => Bytes div erlang:system_info(wordsize), kill => true,
                                  error_logger => false}),
    All = ets:all(),
    {length(All), lists:sublist(All, Most)}
end,
%% Value: {how many there are, what Read returns of up to TablesMost of them}, or `late`.
TablesBy = fun(Read, InTime) ->
    Slices = fun Slices(List, Until, Sofar) ->
        case List =:= [] orelse Ms() > Until of
            true ->
                Sofar;
            false ->
                {These, Rest} = Split(List, TablesAtATime),
                Slices(Rest, Until, Read(These) ++ Sofar)
        end
    end,
    Start = erlang:monotonic_time(),
    case InTime([{tables, ListTables, [TablesMost]}], ListMs) of
        {[{ok, {Count, Some}}], _} ->
            %% In the list's time there is no other word for what is work.
            put(helped, get(helped) + erlang:monotonic_time() - Start),
            Spread = lists:zip(Each(fun ets:info/2, Some, decentralized_counters), Some),
            Slow = lists:sublist(Run(Spread, [{{true, '$1'}, [], ['$1']}]), SpreadMost),
            Quick = Slices(Run(Spread, [{{'$1', '$2'}, [{'=/=', '$1', true}], ['$2']}]),
                           Ms() + TablesMs, []),
            case Slow =/= [] andalso InTime([{tables, Read, [Slow]}], ListMs) of
                {[{ok, Last}], _} -> {Count, Last ++ Quick};
                _ -> {Count, Quick}
            end;
        _ ->
            late
    end
end,
