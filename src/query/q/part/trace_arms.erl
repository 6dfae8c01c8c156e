%% ---- Limits, as in the program's own table: kept to, whatever is sent

Ceilings = #{time => 600000, events => 10000, rate => 5000, window => 256,
             window_bytes => 4194304, term => 262144, bytes => 67108864, heap => 33554432},
%% Calls whose results are waited for, at most.
MostOpen = 10000,
MostFunctions = 10000,
%% What the VM may hold on OTP 24 and before for calls that a trace looks at: see HoldsMuch.
MostHeld = 12582912,
TurnMs = 10,
%% While little comes, or little may: turns are what a quiet trace costs.
QuietTurnMs = 25,
QuietRate = 400,
SoonLeft = 16,
%% Before the size of a call is known: takes the whole of the commonest event cap.
FirstWindow = 16,
%% How long after its end a trace waits for results, and its processes for each other.
GraceMs = 1000,

Clamp = fun(Key, Value) -> max(0, min(Value, maps:get(Key, Ceilings))) end,

%% What each pattern counts: rows of one counters array, eight to a pattern.
[Seen, Sent, Filtered, WasCut, Over, Lost, Open] = Columns = [1, 2, 3, 4, 5, 6, 7],
Count = fun(Counters, Index, Column, N) -> counters:add(Counters, 8 * Index + Column, N) end,

SpawnOptions = fun(HeapBytes) ->
    Words = HeapBytes div erlang:system_info(wordsize),
    [link, {message_queue_data, off_heap}, {fullsweep_after, 0}, {priority, high},
     {max_heap_size, #{size => Words, kill => true, error_logger => false}}]
end,

%% Who looks at the node with any tool finds our name.
Sign = fun() ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, trace, 0}),
    process_flag(trap_exit, true)
end,

Now = fun() -> erlang:monotonic_time(nanosecond) end,
Text = fun(Format, Values) -> unicode:characters_to_binary(io_lib:format(Format, Values)) end,

%% ---- The budget and the place: {legacy, Collector}, the node's single space, or {session, S}

Budget = {'>', {get_tcw}, 0},
Take = {set_tcw, {'-', {get_tcw}, 1}},
Word = fun(N) -> erlang:system_flag(trace_control_word, N) end,

%% Whatever arrives, no clause goes without the budget.
Budgeted = fun({Head, Guards, Body}, More) ->
    {Head, [Budget | Guards -- [Budget]] ++ More, [Take | Body -- [Take]]}
end,

SetFlags = fun(Place, Who, On, Flags) ->
    case Place of
        {session, S} -> trace:process(S, Who, On, Flags);
        {legacy, Collector} when On -> erlang:trace(Who, true, [{tracer, Collector} | Flags]);
        {legacy, _} -> erlang:trace(Who, false, Flags)
    end
end,

%% Takes the flags off a process. Made here, where few names are in sight: it is copied to the
%% keeper with all of them.
Unflagging = fun(Place, Flags) ->
    fun(Pid) -> Flags =:= [] orelse SetFlags(Place, Pid, false, Flags) end
end,

SetPattern = fun(Place, What, Spec, Options) ->
    case {Place, What} of
        {{legacy, _}, _} when is_atom(What) -> erlang:trace_pattern(What, Spec, []);
        {{legacy, _}, _} -> erlang:trace_pattern(What, Spec, Options);
        {{session, S}, send} -> trace:send(S, Spec, []);
        {{session, S}, 'receive'} -> trace:recv(S, Spec, []);
        {{session, S}, _} -> trace:function(S, What, Spec, Options)
    end
end,

Counted = fun(Place, Mfa, Item) ->
    case Place of
        {session, S} -> trace:info(S, Mfa, Item);
        {legacy, _} -> erlang:trace_info(Mfa, Item)
    end
end,

CallsOf = fun(Place, Mfa, Kind) ->
    case {Kind, catch Counted(Place, Mfa, Kind)} of
        {call_count, {_, N}} when is_integer(N) -> N;
        {call_time, {_, Times}} when is_list(Times) ->
            lists:sum([S * 1000000 + Us || {_, _, S, Us} <- Times]);
        _ -> 0
    end
end,

%% ---- Disarming. May run twice, and by any of the three processes: nothing in it needs another.
%% Plan: #{place, flags, local => [Mfa], messages => [send | 'receive'], counters => [{Mfa, Kind}],
%% who => Which}. What a foreign tool has put in place of ours since is left.

IsOurs = fun(Mfa) ->
    case catch erlang:trace_info(Mfa, match_spec) of
        {match_spec, [{_, [{'>', {get_tcw}, 0} | _], [{set_tcw, _} | _]} | _]} -> true;
        {match_spec, _} -> false;
        _ -> true
    end
end,

%% The tracer is dead: looking at a process is what makes the VM drop the flags of ours there. All
%% are taken off in one go where no other tool can have any.
Unflag = fun(Flags, Who) ->
    case Who of
        {pids, Pids} ->
            lists:foreach(fun(P) -> catch erlang:trace(P, false, Flags) end, Pids);
        all ->
            catch erlang:trace(all, false, Flags);
        _ ->
            catch erlang:trace(new_processes, false, Flags),
            Pids = processes(),
            lists:zipwith(fun erlang:trace_info/2, Pids, lists:duplicate(length(Pids), tracer))
    end
end,

Disarm = fun(#{place := Place, flags := Flags, local := Local, messages := Messages,
               counters := Counters, who := Who}) ->
    Word(0),
    case Place of
        {session, S} ->
            catch trace:process(S, all, false, Flags),
            catch trace:session_destroy(S);
        {legacy, _} ->
            Flags =/= [] andalso Unflag(Flags, Who),
            lists:foreach(fun(M) -> IsOurs(M) andalso erlang:trace_pattern(M, false, [local]) end,
                          Local),
            lists:foreach(fun(M) -> erlang:trace_pattern(M, true, []) end, Messages),
            lists:foreach(fun({M, Kind}) -> erlang:trace_pattern(M, false, [Kind]) end, Counters)
    end,
    %% Once more: a caller between reading and writing may have put an old value back.
    Word(0)
end,

%% Does nothing until both others are gone without a word, or are long overdue.
Sentinel = fun(TraceKeeper, Collector, Plan, UntilMs) ->
    Sign(),
    A = monitor(process, TraceKeeper),
    B = monitor(process, Collector),
    Wait = fun Wait(Left, Until) ->
        receive
            {TraceKeeper, bye} -> ok;
            {Collector, bye} -> ok;
            {until, Later} -> Wait(Left, Later);
            {'DOWN', M, process, _, _} when [M] =:= Left -> Disarm(Plan);
            {'DOWN', M, process, _, _} -> Wait(Left -- [M], Until);
            _ -> Wait(Left, Until)
        after max(0, Until - erlang:monotonic_time(millisecond)) ->
            Disarm(Plan)
        end
    end,
    Wait([A, B], UntilMs)
end,
