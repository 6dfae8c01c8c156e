%% A trace: arms, collects under hard caps, and takes everything off again. docs/tracing.md.
%%
%% Every clause draws on the VM's trace control word, which the collector opens a window at a time:
%% when nothing of ours gets to run, the VM stops by itself after the window.
%%
%% A process of its own beside the workers: the trace keeper. Funs are made once, since making one
%% costs 200 us on OTP 23.

%% ---- Limits, as in the program's own table: kept to, whatever is sent

Ceilings = #{time => 600000, events => 10000, rate => 5000, window => 256,
             window_bytes => 4194304, term => 262144, bytes => 67108864, heap => 33554432},
%% Calls whose results are waited for, at most.
MostOpen = 10000,
MostFunctions = 10000,
TurnMs = 10,
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
Budgeted = fun({Head, Guards, Body}) ->
    {Head, [Budget | Guards -- [Budget]], [Take | Body -- [Take]]}
end,

SetFlags = fun(Place, Who, On, Flags) ->
    case Place of
        {session, S} -> trace:process(S, Who, On, Flags);
        {legacy, Collector} when On -> erlang:trace(Who, true, [{tracer, Collector} | Flags]);
        {legacy, _} -> erlang:trace(Who, false, Flags)
    end
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

%% ---- Terms cut to size, as structure: never printed, since the text of a large term costs seconds

%% What io_lib:limit_term/2 leaves whole: binaries, strings, large integers, environments of funs.
%% Most: bytes of a binary, elements of a list. The term is small in everything else.
Shorten = fun Shorten(Term, Most) ->
    case Term of
        _ when is_bitstring(Term), bit_size(Term) > 8 * Most ->
            <<Head:Most/binary, _/bitstring>> = Term,
            {'$cut', byte_size(Term), Head};
        _ when is_tuple(Term) ->
            list_to_tuple(Shorten(tuple_to_list(Term), Most));
        _ when is_map(Term) ->
            maps:from_list(Shorten(maps:to_list(Term), Most));
        _ when is_integer(Term), abs(Term) bsr 512 > 0 ->
            {'$cut', erlang:external_size(Term), integer};
        _ when is_function(Term) ->
            case erlang:external_size(Term) of
                Size when Size > 256 ->
                    Info = [element(2, erlang:fun_info(Term, I)) || I <- [module, name, arity]],
                    {'$cut', Size, list_to_tuple(['fun' | Info])};
                _ ->
                    Term
            end;
        [Head | Tail] ->
            case catch length(Term) of
                Length when is_integer(Length), Length > Most ->
                    {'$cut', Length, Shorten(lists:sublist(Term, Most), Most)};
                Length when is_integer(Length) ->
                    [Shorten(Element, Most) || Element <- Term];
                _ ->
                    [Shorten(Head, Most) | Shorten(Tail, Most)]
            end;
        _ ->
            Term
    end
end,

Fit = fun Fit(Term, Full, Bytes, Rounds) ->
    case Rounds of
        [] ->
            {'$cut', Full, '...'};
        [{Depth, Most} | Less] ->
            Short = Shorten(io_lib:limit_term(Term, Depth), Most),
            case erlang:external_size(Short) =< Bytes of
                true -> Short;
                false -> Fit(Term, Full, Bytes, Less)
            end
    end
end,

%% {Term, FullBytes}: 0 when it is whole.
Cut = fun(Term, Bytes) ->
    case erlang:external_size(Term) of
        Full when Full =< Bytes ->
            {Term, 0};
        Full ->
            Rounds = [{100, Bytes div 2}, {30, Bytes div 4}, {12, 128}, {7, 64}, {4, 32}, {2, 16}],
            {Fit(Term, Full, Bytes, Rounds), Full}
    end
end,

%% Arguments stay a list, each with its share.
CutArgs = fun(Args, Bytes) ->
    case erlang:external_size(Args) of
        Full when Full =< Bytes ->
            {Args, 0};
        Full ->
            Share = Bytes div length(Args),
            {[element(1, Cut(Arg, Share)) || Arg <- Args], Full}
    end
end,

%% `stack` is a list of frames since OTP 27, and text to be read before.
ToAtom = fun(Bytes) ->
    try binary_to_existing_atom(string:trim(Bytes, both, "'"), utf8) catch error:_ -> '' end
end,
Frames = fun(Stack) ->
    case Stack of
        _ when is_binary(Stack) ->
            Head = binary:part(Stack, 0, min(65536, byte_size(Stack))),
            Expression = "\\((\\S+):(\\S+)/(\\d+) \\+ \\d+\\)",
            Options = [global, {capture, all_but_first, binary}],
            case re:run(Head, Expression, Options) of
                {match, Found} ->
                    [{ToAtom(M), ToAtom(F), binary_to_integer(A)}
                     || [M, F, A] <- lists:sublist(Found, 64)];
                _ ->
                    []
            end;
        [_ | _] ->
            [{M, F, case A of _ when is_list(A) -> length(A); _ -> A end} || {M, F, A, _} <- Stack];
        _ ->
            []
    end
end,

%% ---- What stands against a trace

%% All that another tool has armed in the node's single space, as text.
InUse = fun() ->
    Functions = fun({Module, _}) ->
        Known = erlang:get_module_info(Module, functions),
        N = length(Known),
        lists:zipwith3(fun erlang:insert_element/3, lists:duplicate(N, 1), Known,
                       lists:duplicate(N, Module))
    end,
    Marked = fun(Things, Item, None) ->
        Infos = lists:zipwith(fun erlang:trace_info/2, Things,
                              lists:duplicate(length(Things), Item)),
        case lists:usort(Infos) -- [{Item, None}, {Item, undefined}, undefined] of
            [] -> [];
            _ -> [T || {T, I} <- lists:zip(Things, Infos), I =/= {Item, None},
                       I =/= {Item, undefined}, I =/= undefined]
        end
    end,
    Breakpoints = Marked(lists:append(lists:map(Functions, code:all_loaded())), all, false),
    Flagged = Marked([new_processes, new_ports | processes()], flags, []),
    Messages = [K || K <- [send, 'receive'],
                     erlang:trace_info(K, match_spec) =/= {match_spec, true}],
    lists:sublist([Text("breakpoint on ~p:~p/~p", [M, F, A]) || {M, F, A} <- Breakpoints]
                  ++ [Text("~p is traced by ~p", [P, element(2, erlang:trace_info(P, tracer))])
                      || P <- Flagged]
                  ++ [Text("a pattern on ~p", [K]) || K <- Messages], 10)
end,

%% `ok`, or why not. A name, held while something of ours is armed, keeps two of us apart.
MayArm = fun(Otp) ->
    Sessions = case Otp >= 27 of true -> trace:session_info(all); false -> [] end,
    Standing = whereis(beamtop_trace) =/= undefined orelse lists:keymember(beamtop, 1, Sessions),
    case erlang:system_info(trace_control_word) of
        _ when Standing ->
            {session, beamtop};
        V when V =/= 0 ->
            {control_word, V};
        _ ->
            case Otp < 27 andalso InUse() of
                [_ | _] = Texts -> {in_use, Texts};
                _ -> try register(beamtop_trace, self()), ok
                     catch error:_ -> {session, beamtop} end
            end
    end
end,

%% The terms of a client, without new names but those of variables. Throws the refusal.
Term = fun({Atoms, Bytes}) ->
    lists:foreach(fun(Name) ->
                      try binary_to_existing_atom(Name, utf8)
                      catch error:_ -> throw({unknown_atom, Name}) end
                  end, Atoms),
    try
        binary_to_term(Bytes, [safe])
    catch
        error:_ ->
            [list_to_atom("$" ++ integer_to_list(N)) || N <- lists:seq(1, 255)],
            try binary_to_term(Bytes, [safe])
            catch error:_ -> throw({bad_spec, <<"names that this node does not know">>}) end
    end
end,

%% ---- The collector: is the tracer. In its process dictionary: `left` of the event cap, `id` the
%% next one, `waiting` for how many told calls' results, `open` how many calls have results to come,
%% `received` since the last turn and `raw`, their words; {open, Pid}: the calls of a process with
%% results to come, the last one first: [{Mfa, Index, {told, Id} | {over} | Event, Mono}].

Add = fun(Key, N) -> put(Key, get(Key) + N) end,

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
                {Short, Full} = CutArgs(Args, Bytes),
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
            {Short, Full} = Cut(Value, Bytes),
            {r, EventId, Mono, Short, Full};
        exception_from ->
            {Class, Reason} = Value,
            {Short, Full} = Cut(Reason, Bytes),
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
                {Short, Full} = Cut(Payload, Bytes),
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
            OnCall(Pid, Mfa, What, Mono, Conf);
        {trace_ts, Pid, Kind, Mfa, Value, Mono} when Kind =:= return_from;
                                                     Kind =:= exception_from ->
            OnResult(Kind, Pid, Mfa, Value, Mono, Conf);
        {trace_ts, Pid, 'receive', Payload, {Index}, Mono} ->
            Told(Index, fun(I, Short, Full) -> {v, I, Index, Pid, Mono, Short, Full} end, Payload);
        {trace_ts, Pid, Kind, Payload, To, {Index}, Mono} ->
            Exists = Kind =:= send,
            Told(Index, fun(I, Short, Full) -> {s, I, Index, Pid, Mono, To, Short, Exists, Full} end,
                 Payload);
        _ ->
            []
    end
end,

Push = fun(#{client := Client, id := TraceId, seq := Seq}, Body) ->
    Message = {t, TraceId, atomics:add_get(Seq, 1, 1), Body},
    case erlang:send(Client, Message, [nosuspend, noconnect]) of
        ok -> ok;
        _ -> atomics:sub(Seq, 1, 1), busy
    end
end,

Rows = fun(Counters, Indexes) ->
    [list_to_tuple([I | [max(0, counters:get(Counters, 8 * I + C)) || C <- Columns]])
     || I <- Indexes]
end,

Status = fun(S) ->
    #{why := Why, given := Given, window := Window, rate_seen := {_, _, Rate}, counters := Counters,
      sent_bytes := Bytes, indexes := Indexes} = S,
    [{_, HeapWords}, {_, Mailbox}] = process_info(self(), [total_heap_size, message_queue_len]),
    Shut = case Why of _ when Given > 0 -> open; bytes -> rate; _ -> Why end,
    {Now(), Shut, Window, Rate, Bytes, HeapWords * erlang:system_info(wordsize), Mailbox,
     Rows(Counters, Indexes)}
end,

%% A time in which the budget was shut, told at most once a second: one with the last when it is of
%% the same kind and close. Value: {Events, Loss}.
Lose = fun(Loss, From, Until, Why) ->
    case Loss of
        none -> {[], {From, Until, Why}};
        {Began, Ended, Why} when From - Ended < 200000000, Until - Began < 1000000000 ->
            {[], {Began, Until, Why}};
        {Began, Ended, Other} -> {[{l, Began, Ended, Other}], {From, Until, Why}}
    end
end,

%% What came of the last window, and the next size of it.
Account = fun(S, Rest, Out, At) ->
    #{caps := #{rate := Rate, window := Most, window_bytes := MostBytes}, given := Given, why := Why,
      window := Window, tokens := Tokens, flight := Flight, last := Last, outbox := Outbox,
      loss := Loss, rate_seen := {Since, N, PerSecond}} = S,
    Received = put(received, 0),
    Raw = put(raw, 0) * erlang:system_info(wordsize),
    Used = max(0, Given - Rest),
    BySize = case Received of 0 -> Most; _ -> MostBytes div (Raw div Received + 1) end,
    Wider = case Rest of 0 when Given >= Window -> 2 * Window; _ -> Window end,
    Seconds = (At - Since) / 1.0e9,
    {Events, NextLoss} =
        case Rest =:= 0 andalso Why =/= spent of
            true -> Lose(Loss, Last, At, Why);
            false -> {[], Loss}
        end,
    S#{outbox := Outbox ++ lists:reverse(Out) ++ Events,
       loss := NextLoss,
       window := max(1, min(min(Most, BySize), Wider)),
       tokens := min(max(1.0, Rate / 4), Tokens + (At - Last) * Rate / 1.0e9)
                 - max(Used, Received),
       flight := case {Used, Received} of {0, 0} -> 0; _ -> max(0, Flight + Used - Received) end,
       last := At,
       over_rate := Rest =:= 0 andalso Why =:= rate andalso Given < Window,
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
Next = fun(S) ->
    #{window := Window, tokens := Tokens, flight := Flight, credit := {CreditEvents, CreditBytes},
      caps := #{term := TermBytes}, paused := Paused, outbox := Outbox} = S,
    Left = get(left),
    case S of
        _ when Left =< 0 -> {0, spent};
        _ when Paused -> {0, paused};
        _ when Outbox =/= [] -> {0, credit};
        _ ->
            {N, Why} = lists:min([{Left - Flight, spent}, {Window, rate}, {trunc(Tokens), rate},
                                  {MostOpen - get(open), bytes}, {CreditEvents - Flight, credit},
                                  {CreditBytes div (min(TermBytes, 512) + 128), credit}]),
            {max(0, N), Why}
    end
end,

Verdict = fun(S) ->
    #{until := Until, spent_at := SpentAt, on_rate := OnRate, over_rate := OverRate, full := Full,
      last := At, caps := #{heap := Heap}, stopped := Stopped, outbox := Outbox} = S,
    {_, Words} = process_info(self(), total_heap_size),
    HeapBytes = Words * erlang:system_info(wordsize),
    Spent = SpentAt =/= none,
    case S of
        _ when Stopped -> stopped;
        _ when Full -> bytes;
        _ when At >= Until -> time;
        _ when Spent, Outbox =:= [] ->
            case get(waiting) =< 0 orelse At - SpentAt > GraceMs * 1000000 of
                true -> events;
                false -> go
            end;
        _ when Spent -> go;
        _ when OnRate =:= stop, OverRate -> rate;
        _ when HeapBytes > Heap * 3 div 4 -> heap;
        _ -> go
    end
end,

%% A cap of a running trace. Time and events are counted from the start.
SetCap = fun(S, Key, Value) ->
    #{caps := Caps, began := Began, conf := {Counters, Patterns, _} = Conf, bytes_left := BytesLeft} = S,
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

%% One turn: shut the budget, take what came, send, open it for the next window.
Turn = fun(#{conf := Conf} = S, Out) ->
    Rest = Word(0),
    All = Drain(Conf, Out, 2000),
    At = Now(),
    Left = get(left),
    Accounted = Account(S, Rest, All, At),
    #{spent_at := SpentAt} = Accounted,
    Noted = Accounted#{spent_at := case SpentAt of none when Left =< 0 -> At; _ -> SpentAt end},
    Shipped = Ship(Noted),
    case Verdict(Shipped) of
        go ->
            {Given, Why} = Next(Shipped),
            Word(Given),
            {go, Shipped#{given := Given, why := Why}};
        Why ->
            {done, Why, Shipped#{given := 0, why := spent}}
    end
end,

%% What is left when it ends: the last loss is told, and events without credit are lost.
Last = fun(S) ->
    #{loss := Loss, outbox := Outbox, counters := Counters} = S,
    Events = case Loss of none -> []; {From, Until, Why} -> [{l, From, Until, Why}] end,
    Final = Ship(S#{outbox := Outbox ++ Events}),
    #{outbox := Unsent} = Final,
    lists:foreach(fun(I) -> Count(Counters, I, Lost, 1) end, Indexed(Unsent)),
    Status(Final)
end,

Collect = fun Collect(TraceKeeper, Plan, #{conf := Conf, last := At} = S, Out) ->
    receive
        Message when element(1, Message) =:= trace_ts ->
            Collect(TraceKeeper, Plan, S, OnEvent(Message, Conf) ++ Out);
        {credit, Events, Bytes} ->
            #{credit := {E, B}} = S,
            Collect(TraceKeeper, Plan, S#{credit := {E + Events, B + Bytes}}, Out);
        {pause, Paused} ->
            Collect(TraceKeeper, Plan, S#{paused := Paused}, Out);
        {cap, Key, Value} ->
            Collect(TraceKeeper, Plan, SetCap(S, Key, Value), Out);
        {push, Body} ->
            Push(S, Body),
            Collect(TraceKeeper, Plan, S, Out);
        stop ->
            Collect(TraceKeeper, Plan, S#{stopped := true}, Out);
        {'EXIT', TraceKeeper, _} ->
            Disarm(Plan);
        _ ->
            Collect(TraceKeeper, Plan, S, Out)
    after max(0, TurnMs - (Now() - At) div 1000000) ->
        case Turn(S, Out) of
            {go, Next_} ->
                Collect(TraceKeeper, Plan, Next_, []);
            {done, Why, Ended} ->
                TraceKeeper ! {self(), done, Why, Last(Ended)},
                %% It kills us. When it does not get to it, we take off what we can.
                receive {'EXIT', TraceKeeper, _} -> ok after 2 * GraceMs -> ok end,
                Disarm(Plan)
        end
    end
end,

Collector = fun(TraceKeeper) ->
    Sign(),
    [put(Key, 0) || Key <- [id, waiting, open, received, raw]],
    receive
        {TraceKeeper, Plan, S} ->
            receive
                {TraceKeeper, go} ->
                    #{caps := #{events := Events, time := TimeMs}} = S,
                    put(left, Events),
                    At = Now(),
                    Collect(TraceKeeper, Plan,
                            S#{last => At, began => At, until => At + TimeMs * 1000000,
                               next_status => At, rate_seen => {At, 0, 0}}, []);
                {'EXIT', TraceKeeper, _} ->
                    Disarm(Plan)
            end;
        {'EXIT', TraceKeeper, _} ->
            ok
    end
end,

%% ---- The trace keeper

LinksOf = fun(Pid) ->
    case process_info(Pid, links) of
        {links, Links} -> [P || P <- Links, is_pid(P), node(P) =:= node()];
        undefined -> []
    end
end,

%% Ours, and what carries the connection.
Untraced = fun(Keeper, Client) ->
    Ours = [Keeper | LinksOf(Keeper)],
    Controllers = [P || {Node, P} <- erlang:system_info(dist_ctrl), is_pid(P), Node =:= node(Client)],
    Named = [P || Name <- [rex, net_kernel], P <- [whereis(Name)], is_pid(P)],
    lists:usort(Ours ++ LinksOf(self()) ++ Named ++ Controllers
                ++ lists:append(lists:map(LinksOf, Controllers))) -- [Client]
end,

AllOf = fun(Mfa) ->
    case Mfa of
        {M, '_', '_'} -> [{M, F, A} || {F, A} <- erlang:get_module_info(M, functions)];
        _ -> [Mfa]
    end
end,

Answer = fun(Keeper, AskId, Start, Value) ->
    Keeper ! {done, AskId, ok, {erlang:monotonic_time() - Start, 0}, Value}
end,

%% Where to trace: with a session of ours where there are sessions.
Place = fun(Otp, Tracer) ->
    case Otp >= 27 of
        true -> {session, trace:session_create(beamtop, Tracer, [])};
        false -> {legacy, Tracer}
    end
end,

Calls = fun(At, Mfa, Kind) ->
    case {Kind, catch Counted(At, Mfa, Kind)} of
        {call_count, {_, N}} when is_integer(N) -> N;
        {call_time, {_, Times}} when is_list(Times) ->
            lists:sum([S * 1000000 + Us || {_, _, S, Us} <- Times]);
        _ -> 0
    end
end,

CountCalls = fun(Keeper, Otp, Ms, Mfas) ->
    case MayArm(Otp) of
        ok ->
            At = Place(Otp, self()),
            Plan = #{place => At, flags => [], local => [], messages => [], who => none,
                     counters => [{Mfa, call_count} || Mfa <- Mfas]},
            Self = self(),
            Until = erlang:monotonic_time(millisecond) + 5000,
            Guard = spawn_opt(erlang, apply, [Sentinel, [Self, Self, Plan, Until]], SpawnOptions(4194304)),
            try
                lists:foreach(fun(Mfa) -> catch SetPattern(At, Mfa, true, [call_count]) end, Mfas),
                Began = Now(),
                receive {'EXIT', Keeper, _} = Exit -> self() ! Exit after min(Ms, 1000) -> ok end,
                Counts = [Calls(At, Mfa, call_count) || Mfa <- Mfas],
                {count, Now() - Began, Counts}
            after
                Disarm(Plan),
                Guard ! {self(), bye},
                unregister(beamtop_trace)
            end;
        Why ->
            {refused, Why}
    end
end,

%% A pattern as we use it: its clauses, and what becomes of its calls.
Prepare = fun(#{index := Index, kind := Kind, mfas := Mfas, clauses := Told, slower_ns := SlowerNs,
                results := Results, raises := Raises} = Pattern) when Index < 1000 ->
    Clauses = case Told of {_, _} -> [Budgeted(C) || C <- Term(Told)]; _ -> [] end,
    case Clauses =/= [] andalso erlang:match_spec_test([], Clauses, trace) of
        {error, Errors} -> throw({bad_spec, Text("~p", [Errors])});
        _ -> ok
    end,
    Wants = lists:any(fun({_, _, Body}) ->
                          lists:member({exception_trace}, Body) orelse lists:member({return_trace}, Body)
                      end, Clauses),
    Held = Wants andalso {SlowerNs, Results, Raises} =/= {0, none, none},
    Wanted = {Index, SlowerNs, Filter(Results), Filter(Raises)},
    Targets = case Kind of call -> Mfas; _ -> [Kind] end,
    Counters = case maps:get(counters, Pattern) of
                   none -> [];
                   count -> [call_count];
                   time -> [call_count, call_time]
               end,
    {Index, Kind, Targets, Clauses, Counters, {Wants, Held, Wanted}}
end,

%% [{Target, Clauses}]: those of several patterns on one function one after another.
Specs = fun(Patterns) ->
    All = [{T, Clauses} || {_, _, Ts, [_ | _] = Clauses, _, _} <- Patterns, T <- Ts],
    [{T, lists:append([C || {Key, C} <- All, Key =:= T])}
     || T <- lists:usort([Key || {Key, _} <- All])]
end,

%% Value: how many functions and kinds of messages took it.
SetSpecs = fun(At, Patterns) ->
    lists:sum([case catch SetPattern(At, T, Clauses, [local]) of
                   N when is_integer(N) -> N;
                   _ -> 0
               end || {T, Clauses} <- Specs(Patterns)])
end,

%% Value: how many processes were chosen.
SetProcesses = fun(At, Procs, Flags) ->
    Set = fun(Who) ->
        case catch SetFlags(At, Who, true, Flags) of N when is_integer(N) -> N; _ -> 0 end
    end,
    case Procs of
        _ when Flags =:= [] -> 1;
        {pids, Pids} -> lists:sum(lists:map(Set, Pids));
        all -> Set(processes);
        running -> Set(existing_processes);
        new -> Set(new_processes), 1
    end
end,

%% Our answer to {arm, …}: {armed, Trace} or {refused, Why}. Throws a refusal before anything is on.
Arm = fun(Keeper, Client, Otp, TraceId, Asked) ->
    #{patterns := Told, procs := Chosen, children := Children, on_rate := OnRate, caps := Wanted,
      credit := Credit} = Asked,
    Caps = maps:map(fun(Key, _) -> Clamp(Key, maps:get(Key, Wanted)) end, Ceilings),
    Patterns = lists:map(Prepare, Told),
    Indexes = [I || {I, _, _, _, _, _} <- Patterns],
    Emitting = [P || {_, _, _, [_ | _], _, _} = P <- Patterns],
    Kinds = lists:usort([K || {_, K, _, _, _, _} <- Emitting]),
    Timed = [call || {_, _, _, _, [_, call_time], _} <- Patterns],
    Flags = case lists:usort(Kinds ++ Timed) of
                [] -> [];
                Some -> Some ++ [arity, monotonic_timestamp] ++ [set_on_spawn || Children]
            end,
    Local = lists:usort([T || {_, call, Ts, _, _, _} <- Emitting, T <- Ts]),
    Counting = [{Index, lists:map(AllOf, Ts), Items}
                || {Index, call, Ts, _, [_ | _] = Items, _} <- Patterns],
    length(Local) =< MostFunctions orelse throw(no_functions),
    case MayArm(Otp) of ok -> ok; Why -> throw(Why) end,
    process_flag(priority, high),
    Self = self(),
    C = spawn_opt(erlang, apply, [Collector, [Self]], SpawnOptions(maps:get(heap, Caps))),
    At = Place(Otp, C),
    Counters = [{Mfa, Item} || {_, Lists, Items} <- Counting, Mfas <- Lists, Mfa <- Mfas,
                               Item <- Items],
    Plan = #{place => At, flags => Flags, local => Local, messages => Kinds -- [call],
             counters => lists:usort(Counters),
             who => case Chosen of {pids, _} when Children -> children; _ -> Chosen end},
    EndMs = erlang:monotonic_time(millisecond) + maps:get(time, Caps) + 5 * GraceMs,
    Z = spawn_opt(erlang, apply, [Sentinel, [Self, C, Plan, EndMs]], SpawnOptions(4194304)),
    Tally = counters:new(8 * (lists:max([0 | Indexes]) + 1), [write_concurrency]),
    Fates = maps:from_list([{I, F} || {I, _, _, _, _, F} <- Patterns]),
    S = #{client => Client, id => TraceId, seq => atomics:new(1, []), caps => Caps,
          conf => {Tally, Fates, maps:get(term, Caps)}, counters => Tally, indexes => Indexes,
          credit => Credit, bytes_left => maps:get(bytes, Caps), sent_bytes => 0, given => 0,
          why => spent, window => min(8, maps:get(window, Caps)),
          tokens => max(1.0, maps:get(rate, Caps) / 4), flight => 0, paused => false,
          outbox => [], loss => none, spent_at => none, on_rate => OnRate, over_rate => false,
          full => false,
          stopped => false},
    C ! {Self, Plan, S},
    Unflagged = fun(Pid) -> Flags =:= [] orelse SetFlags(At, Pid, false, Flags) end,
    Keeper ! {shield, Self, Unflagged},
    receive {shielded, Keeper} -> ok after GraceMs -> ok end,
    Trace = #{id => TraceId, collector => C, sentinel => Z, plan => Plan, state => S, place => At,
              patterns => Patterns, counting => Counting, tick => erlang:monotonic_time(millisecond),
              until => EndMs - 3 * GraceMs},
    Ours = Untraced(Keeper, Client),
    Free = case Chosen of {pids, Pids} -> {pids, Pids -- Ours}; _ -> Chosen end,
    Taken = [N || {Mfa, Item} <- lists:usort(Counters),
                      N <- [catch SetPattern(At, Mfa, true, [Item])], is_integer(N)],
    Functions = SetSpecs(At, Emitting),
    Processes = SetProcesses(At, Free, Flags),
    lists:foreach(fun(Pid) -> catch Unflagged(Pid) end, Ours),
    case {Functions + lists:sum(Taken), Processes} of
        {0, _} -> {no_functions, Trace};
        {_, 0} -> {no_processes, Trace};
        _ -> {armed, Trace}
    end
end,

%% Everything off, in the order that leaves nothing behind.
TakeOff = fun(Keeper, #{collector := C, sentinel := Z, plan := Plan}) ->
    exit(C, kill),
    receive {'EXIT', C, _} -> ok after GraceMs -> ok end,
    Disarm(Plan),
    Z ! {self(), bye},
    receive {'EXIT', Z, _} -> ok after GraceMs -> exit(Z, kill) end,
    Keeper ! {unshield, self()},
    catch unregister(beamtop_trace),
    process_flag(priority, normal)
end,

Counts = fun(#{place := At, counting := Counting}) ->
    Each = fun(Lists, Item) ->
        [lists:sum([Calls(At, Mfa, Item) || Mfa <- Mfas]) || Mfas <- Lists]
    end,
    {counts, Now(), [{I, Each(Lists, call_count)} || {I, Lists, _} <- Counting],
     [{I, Each(Lists, call_time)} || {I, Lists, [_, call_time]} <- Counting]}
end,

%% Pushes the end; tries again while the link takes nothing.
LastWord = fun LastWord(S, Body, Tries) ->
    case Push(S, Body) of
        busy when Tries > 0 -> receive after 50 -> LastWord(S, Body, Tries - 1) end;
        _ -> ok
    end
end,

End = fun(Keeper, Trace, Why, Told) ->
    #{state := #{counters := Tally, indexes := Indexes} = S, counting := Counting} = Trace,
    Final = Counting =/= [] andalso Counts(Trace),
    TakeOff(Keeper, Trace),
    Last_ = case Told of
                none -> {Now(), spent, 0, 0, 0, 0, 0, Rows(Tally, Indexes)};
                _ -> Told
            end,
    Final =/= false andalso LastWord(S, Final, 10),
    LastWord(S, {ended, Why, Last_}, 10)
end,

%% From now on only this process, or this pattern.
Narrow = fun(#{place := At, patterns := Patterns, plan := #{flags := Flags, local := Local}}, What) ->
    case What of
        {pid, Pid} ->
            catch SetFlags(At, new_processes, false, Flags),
            catch SetFlags(At, existing_processes, false, Flags),
            catch SetFlags(At, Pid, true, Flags);
        {pattern, Index} ->
            Kept = [P || {I, _, _, _, _, _} = P <- Patterns, I =:= Index],
            Targets = [T || {T, _} <- Specs(Kept)],
            [catch SetPattern(At, T, false, [local]) || T <- Local -- Targets],
            [catch SetPattern(At, T, false, []) || {_, K, [T], _, _, _} <- Patterns,
                                                   K =/= call, not lists:member(T, Targets)],
            SetSpecs(At, Kept)
    end
end,

%% What a tell means for a trace that stands.
Tell = fun(Keeper, Client, Trace, What) ->
    #{id := TraceId, collector := C, sentinel := Z} = Trace,
    case What of
        {credit, TraceId, Events, Bytes} -> C ! {credit, Events, Bytes}, Trace;
        {pause, TraceId, Paused} -> C ! {pause, Paused}, Trace;
        {cap, TraceId, time, Value} ->
            #{state := #{caps := #{time := Was}}, until := Until} = Trace,
            More = Clamp(time, Value) - Was,
            C ! {cap, time, Value},
            Z ! {until, Until + More + 3 * GraceMs},
            #{state := S} = Trace,
            Trace#{until := Until + More, state := SetCap(S#{began => 0, until => 0}, time, Value)};
        {cap, TraceId, Key, Value} -> C ! {cap, Key, Value}, Trace;
        {narrow, TraceId, {pid, Pid} = One} ->
            lists:member(Pid, Untraced(Keeper, Client)) orelse Narrow(Trace, One),
            Trace;
        {narrow, TraceId, {pattern, _} = One} -> Narrow(Trace, One), Trace;
        {stop, TraceId} -> C ! stop, Trace;
        _ -> Trace
    end
end,

%% {Value of the answer, Trace or none}
Started = fun(Keeper, Client, Otp, TraceId, Asked) ->
    try Arm(Keeper, Client, Otp, TraceId, Asked) of
        {armed, #{collector := C, place := {Kind, _}} = Trace} ->
            Answered = #{mono => Now(), wall_us => erlang:system_time(microsecond),
                         per_second => 1000000000, session => Kind =:= session},
            C ! {self(), go},
            {{armed, TraceId, Answered}, Trace};
        {Why, Trace} ->
            TakeOff(Keeper, Trace),
            {{refused, Why}, none}
    catch
        throw:Why -> {{refused, Why}, none}
    end
end,

Loop = fun Loop(Keeper, Client, Otp, Trace) ->
    Wait = case Trace of
               none -> infinity;
               #{tick := Tick} -> max(0, Tick - erlang:monotonic_time(millisecond))
           end,
    {C, Z} = case Trace of
                 none -> {none, none};
                 #{collector := C_, sentinel := Z_} -> {C_, Z_}
             end,
    Over_ = fun(Why, Status_) ->
        End(Keeper, Trace, Why, Status_),
        Loop(Keeper, Client, Otp, none)
    end,
    receive
        {ask, AskId, {count, Ms, Mfas}} when Trace =:= none ->
            Start = erlang:monotonic_time(),
            Answer(Keeper, AskId, Start, CountCalls(Keeper, Otp, Ms, Mfas)),
            Loop(Keeper, Client, Otp, none);
        {ask, AskId, {arm, TraceId, Asked}} when Trace =:= none ->
            Start = erlang:monotonic_time(),
            {Value, Began} = Started(Keeper, Client, Otp, TraceId, Asked),
            Answer(Keeper, AskId, Start, Value),
            Loop(Keeper, Client, Otp, Began);
        {ask, AskId, _} ->
            Answer(Keeper, AskId, erlang:monotonic_time(), {refused, busy}),
            Loop(Keeper, Client, Otp, Trace);
        {tell, What} when Trace =/= none ->
            Loop(Keeper, Client, Otp, Tell(Keeper, Client, Trace, What));
        {C, done, Why, Status_} ->
            Over_(Why, Status_);
        {'EXIT', C, _} ->
            Over_({killed, <<"collector">>}, none);
        {'EXIT', Z, _} ->
            Over_({killed, <<"sentinel">>}, none);
        {'EXIT', Pid, Reason} when Pid =:= Keeper; Reason =:= shutdown ->
            Trace =:= none orelse End(Keeper, Trace, stopped, none);
        _ ->
            Loop(Keeper, Client, Otp, Trace)
    after Wait ->
        At = erlang:monotonic_time(millisecond),
        case Trace of
            #{until := Until} when At > Until ->
                Over_({killed, <<"the collector does not answer">>}, none);
            #{counting := Counting} ->
                Counting =/= [] andalso begin C ! {push, Counts(Trace)} end,
                Loop(Keeper, Client, Otp, Trace#{tick := At + 1000})
        end
    end
end,

{process, [c, otp],
 fun(Keeper, #{c := Client, otp := Otp}) ->
     Sign(),
     Loop(Keeper, Client, Otp, none)
 end}.
