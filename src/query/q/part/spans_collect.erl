%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- The collector of spans, its watcher and its sentinel

MostQueue = 5000,
%% Of full mode: a process that computes brings two small messages for each of its time slices.
MostFullQueue = 50000,
WatchMs = 10,
BatchEvents = 2000,
%% Casts and tasks of the last root go on after it.
LingerMs = 200,
%% A process that is preempted for less, and goes on where it was, has not waited.
Fold = erlang:convert_time_unit(200, microsecond, native),

Us = fun(Since) ->
    erlang:convert_time_unit(erlang:monotonic_time() - Since, native, microsecond)
end,
TracerOff = fun(C) ->
    seq_trace:get_system_tracer() =:= C andalso seq_trace:set_system_tracer(false)
end,

%% May run twice, and by any of ours. Tokens of ours are dead without a system tracer; whoever sets
%% one next would see them, so they are cleared where nobody else can have any.
SpansDisarm = fun(#{collector := C, word := Counts} = Plan) ->
    Surely(fun() ->
        Counts andalso Word(0),
        TracerOff(C),
        C =:= none orelse KillOurs(C),
        Disarm(Plan),
        ClearTokens(),
        Counts andalso Word(0)
    end)
end,

%% By the collector, when nobody else is there to do it.
DisarmAlone = fun(Plan) ->
    TracerOff(self()),
    SpansDisarm(Plan#{collector := none})
end,

SpansSentinel = fun(H, C, Plan, Ms) ->
    Sign(),
    A = monitor(process, H),
    B = monitor(process, C),
    Until = erlang:monotonic_time(millisecond) + Ms,
    Wait = fun Wait() ->
        receive
            {H, bye} -> ok;
            {'DOWN', M, process, _, _} when M =:= A -> SpansDisarm(Plan);
            %% The holder does it; when it is gone too that is seen here.
            {'DOWN', M, process, _, _} when M =:= B -> Wait();
            _ -> Wait()
        after max(0, Until - erlang:monotonic_time(millisecond)) ->
            SpansDisarm(Plan)
        end
    end,
    Wait()
end,

%% A system tracer with a long queue is memory of the node, and nothing in the VM bounds it. The
%% collector may be far behind: what ends the capture is seen here. Set: the system tracer was ours.
%% Counts: roots are counted by the control word.
Watcher = fun(H, C, MostQueued, Calls, Counts, Ms) ->
    SignAs(false),
    Until = erlang:monotonic_time(millisecond) + Ms,
    %% Flags of full mode stay until the collector has come to the end of its queue: processes that
    %% compute go on filling it. A collector that does not get there is killed: no more events. A
    %% function in a root may be called 10,000 times between two looks.
    MostLast = case Calls of true -> 4 * MostQueued; false -> 2 * MostQueued end,
    Last = fun Last(Killed) ->
        case process_info(C, message_queue_len) of
            undefined -> ok;
            {_, Length} ->
                case Length > MostLast orelse erlang:monotonic_time(millisecond) > Killed of
                    true -> exit(C, kill);
                    false -> receive after WatchMs -> Last(Killed) end
                end
        end
    end,
    End = fun(Why) ->
        Counts andalso Word(0),
        TracerOff(C),
        Calls andalso ClearTokens(),
        H ! {ends, C, Why},
        C ! {finish, Why},
        Last(erlang:monotonic_time(millisecond) + 4 * GraceMs)
    end,
    Full = MostQueued =:= MostFullQueue,
    Watch = fun Watch(Set) ->
        Tracer = seq_trace:get_system_tracer(),
        case process_info(C, message_queue_len) of
            {_, 0} when Full -> C ! who_waits;
            _ -> ok
        end,
        case process_info(C, message_queue_len) of
            {_, Length} when Length > MostQueued -> End(queue);
            {_, _} when Set, Tracer =/= C, Tracer =/= false -> End(traced);
            {_, _} ->
                case erlang:monotonic_time(millisecond) > Until of
                    true -> End(time);
                    false ->
                        receive {H, set} -> Watch(true)
                        after WatchMs -> Watch(Set orelse Tracer =:= C)
                        end
                end;
            undefined -> ok
        end
    end,
    Watch(false),
    receive after infinity -> ok end
end,

%% S: holder, place, full, seeds (roots begin here), origins (node => [], of the other nodes of the
%% capture), guests (roots of theirs that came here), reader (or none), key (of its messages), left,
%% kept (newest first),
%% counts, opens (root process => open roots), closed (root process => when its last root ended),
%% known, old (who has a token of an earlier capture), frames (part/spans_calls.erl), and what
%% part/spans_caps.erl keeps. In the process dictionary: processes that do not run, since when and
%% where, and when it was seen that they wait; `young`, those that stopped since that was asked.
Tally = fun(#{roots := Roots, opens := Opens, events := Events, skips := Skips,
              resets := Resets}) ->
    Why = [map_get(W, Skips) || W <- [cap, participants, fanout, depth, stale]],
    list_to_tuple([Roots, lists:sum(maps:values(Opens)), Events | Why] ++ [Resets])
end,

%% Without the processes that died: they do not return.
Living = fun(#{opens := Opens, inside := Inside} = S) ->
    Lives = fun(P, _) -> is_process_alive(P) end,
    S#{opens := maps:filter(Lives, Opens), inside := maps:filter(Lives, Inside)}
end,
Linger = fun(S) ->
    case map_size(map_get(opens, S)) =:= 0 andalso not HasOrigins(S)
        andalso erlang:system_info(trace_control_word) =:= 0 of
        true when map_get(until, S) =:= infinity ->
            Until = erlang:monotonic_time()
                + erlang:convert_time_unit(LingerMs, millisecond, native),
            erlang:send_after(LingerMs, self(), linger),
            S#{until := Until};
        true -> S;
        false -> S#{until := infinity}
    end
end,

OnSpan = fun({Ts, Kind, P, _, Label, _, Tag, _, _, _} = Event, S) ->
    Opens = map_get(opens, S),
    case Kind of
        _ when is_map_key(P, map_get(denied, S)) -> S;
        'receive' when is_pid(Label) -> WhenOurs(OnToken, Event, Introduced(Label, S));
        enter -> OnEnter(Event, S);
        root ->
            Before = maps:get(P, Opens, 0),
            case Tag =:= none andalso Before =:= 0
                andalso map_get(roots, S) >= map_get(most_roots, S) of
                %% Of callers that race more than one may take the last root.
                true -> S;
                false ->
                    %% A process as root has one at a time.
                    Open = case Tag of none -> Before + 1; _ -> 1 end,
                    Next = Begun(P, S#{roots := map_get(roots, S) + 1, opens := Opens#{P => Open},
                                       until := infinity, stale := true}),
                    Reader = map_get(reader, S),
                    is_pid(Reader) andalso (Tag =/= none orelse Before =:= 0)
                        andalso (Reader ! {root, map_get(key, S), P, Ts}),
                    Claim(OnToken, P, Ts, Flagged(P, Keep(Event, Next)))
            end;
        over ->
            Linger(S#{opens := maps:remove(P, Opens), stale := true});
        return ->
            Left = case maps:get(P, Opens, 1) of
                1 -> maps:remove(P, Opens);
                N -> Opens#{P => N - 1}
            end,
            Closed = maps:put(P, Ts, map_get(closed, S)),
            Linger(Keep(Event, S#{opens := Left, closed := Closed, stale := true}));
        _ when is_pid(Label) -> WhenOurs(OnToken, Event, S);
        _ -> Keep(Event, S)
    end
end,

OnMessage = fun
    ({trace_ts, P, Way, Mfa, Value, Ts}, S)
      when is_map_key(Mfa, map_get(called, S)), Way =:= return_from;
           is_map_key(Mfa, map_get(called, S)), Way =:= exception_from ->
        Class = case {Way, Value} of {exception_from, {C, _}} -> C; _ -> none end,
        OnLeave({Ts, leave, P, none, none, 0, Class, none, 0, MfaOf(Mfa)}, S);
    ({context, Key, P, Ts, After_, Callers, Ids}, S) when Key =:= map_get(key, S) ->
        lists:foldl(Keep, S, ContextEvents(P, Ts, After_, Callers, Ids));
    ({reader, Key, Reader}, S) when Key =:= map_get(key, S) ->
        S#{reader := Reader};
    (Message, S) ->
        {Events, Next} = case Message of
            {trace_ts, P, return_to, Mfa, Ts} -> Returned(P, Mfa, Ts, S);
            _ -> {[Event || Event <- [Strip(Message)], Event =/= skip], WentBy(Message, S)}
        end,
        lists:foldl(OnSpan, Next, Events)
end,

%% The event of a process that stops running waits, in the process dictionary, for the next one:
%% when it soon goes on where it was, it has only used up its time slice. Handled before all
%% others: a process that computes makes 100,000 a second.
Waiting = #{gen => [], gen_server => [], gen_statem => [], gen_event => [], timer => [],
            prim_inet => [], proc_lib => [], erpc => []},
KeepRun = fun(P, Events, S) ->
    case map_get(process, S) of
        %% A process as root runs for other requests too.
        {P, _} when not is_map_key(P, map_get(opens, S)) -> S;
        _ -> lists:foldl(Keep, S, Events)
    end
end,
%% After so long without an event it is asked who waits; else the watcher has it asked.
QuietMs = 1,
StopsAt = fun(P, Mfa, Ts) ->
    put(P, {Ts, Mfa}),
    is_map_key(P, get(young)) orelse put(young, maps:put(P, [], get(young))),
    put(quiet, QuietMs)
end,

%% The event of a process that waits is that of one that is preempted. Asked is who is off when
%% all events so far are handled: who runs could keep the answer for the time of a long BIF. What is
%% said holds for the time that has not ended then.
MostAsked = 100,
AskWhoWaits = fun() ->
    put(quiet, infinity),
    {Off, Later} = lists:split(min(MostAsked, map_size(get(young))), maps:keys(get(young))),
    put(young, maps:from_list([{P, []} || P <- Later])),
    lists:foreach(
        fun(P) ->
            At = erlang:monotonic_time(),
            case element(2, process_info(self(), message_queue_len)) =:= 0 andalso get(P) of
                {Ts, Mfa} ->
                    process_info(P, status) =:= {status, waiting} andalso put(P, {Ts, Mfa, At});
                _ -> ok
            end
        end, Off)
end,
OutEvent = fun(P, {Since, Mfa}, _) ->
        {Since, out, P, none, none, 0, none, none, 0, MfaOf(Mfa)};
    (P, {Since, Mfa, AskedAt}, Mono) ->
        Waits = case Mono >= AskedAt of true -> 1; false -> 0 end,
        {Since, out, P, none, none, 0, none, none, Waits, MfaOf(Mfa)}
end,
Ran = fun(P, Mfa, {Mono, _} = Ts, S) ->
    In = {Ts, in, P, none, none, 0, none, none, 0, MfaOf(Mfa)},
    case erase(P) of
        {{Since, _}, {M, _, _} = Mfa}
          when Mono - Since < Fold, not is_map_key(M, Waiting) -> S;
        undefined -> KeepRun(P, [In], S);
        Off -> KeepRun(P, [OutEvent(P, Off, Mono), In], S)
    end
end,
Stopped = fun(S) ->
    Now_ = erlang:monotonic_time(),
    lists:foldl(fun({P, Off}, Next) when is_pid(P) -> Keep(OutEvent(P, Off, Now_), Next);
                   (_, Next) -> Next
                end, S, get())
end,

%% The end. When it was not reached by events, those in the queue still count. Then the collector
%% waits until it is killed, by whoever disarms or with the holder. Nothing here looks through the
%% queue for a message that fits: of a long queue that takes seconds, and memory.
SpansFinish = fun(Why, #{holder := H, plan := Plan} = S) ->
    TracerOff(self()),
    map_get(word, Plan) andalso Word(0),
    (map_get(bare, S) orelse map_size(map_get(called, S)) > 0) andalso ClearTokens(),
    {_, Queued} = process_info(self(), message_queue_len),
    Drain = fun Drain(N, Next) ->
        case N of
            0 -> Next;
            _ ->
                receive
                    {trace_ts, P, out, Mfa, Ts} -> StopsAt(P, Mfa, Ts), Drain(N - 1, Next);
                    {trace_ts, P, in, Mfa, Ts} -> Drain(N - 1, Ran(P, Mfa, Ts, Next));
                    Message -> Drain(N - 1, OnMessage(Message, Next))
                after 0 -> Next
                end
        end
    end,
    Last = Drain(case lists:member(Why, [time, stopped]) of true -> Queued; false -> 0 end, S),
    #{kept := Kept, left := Left} = All = lists:foldl(fun(_, Next) -> Skip(stale, Next) end,
                                                      Stopped(Last), map_get(early, Last)),
    process_flag(trap_exit, false),
    H ! {self(), over, case Left of 0 -> events; _ -> Why end, Tally(All), Kept},
    receive after 5 * GraceMs -> DisarmAlone(Plan) end
end,

%% Setting the pattern takes 0.3 to 8 ms: while there is more in the queue, not each time.
FreshMs = 20,
Fresh = fun(S) ->
    case map_get(stale, S) andalso erlang:monotonic_time() of
        false -> S;
        Now_ ->
            Late = erlang:convert_time_unit(Now_ - map_get(seeded, S), native, millisecond)
                >= FreshMs,
            case Late orelse process_info(self(), message_queue_len) =:= {message_queue_len, 0} of
                true -> Reseed(S), S#{stale := false, seeded := erlang:monotonic_time()};
                false -> S
            end
    end
end,

%% What is there is taken without a timer: one that ran out would leave its message behind all
%% others of a long queue, and to take that out is to look through them.
Incoming = fun() ->
    receive Any -> Any
    after 0 -> receive Any_ -> Any_ after get(quiet) -> who_waits end
    end
end,

SpansCollect = fun Collect(S) ->
    H = map_get(holder, S),
    case Incoming() of
        {trace_ts, _, _, _, {Mono, _}} when Mono > map_get(until, S) ->
            SpansFinish(roots, S);
        {trace_ts, P, out, Mfa, Ts} ->
            StopsAt(P, Mfa, Ts),
            Collect(Fresh(S));
        {trace_ts, P, in, Mfa, Ts} ->
            Collect(Fresh(Ran(P, Mfa, Ts, S)));
        {take, H} ->
            #{kept := Kept} = Next = Linger(Living(Fresh(S))),
            {Some, Rest} = lists:split(min(BatchEvents, length(Kept)), Kept),
            H ! {self(), took, Tally(Next), Some},
            (maps:get(count_work, S))(),
            Collect(Next#{kept := Rest});
        who_waits ->
            AskWhoWaits(),
            Collect(S);
        {finish, Why} ->
            SpansFinish(Why, S);
        linger ->
            #{until := Until} = Next = Linger(S),
            case erlang:monotonic_time() < Until of
                true -> Collect(Next);
                false -> SpansFinish(roots, S)
            end;
        {'EXIT', H, _} ->
            DisarmAlone(maps:get(plan, S));
        Message ->
            Collect(Fresh(OnMessage(Message, S)))
    end
end,

SpansCollector = fun(H, CountWork) ->
    Sign(),
    Plan = receive {H, plan, Plan_} -> Plan_; {'EXIT', H, _} -> none end,
    Plan =/= none andalso receive
        {H, go, #{place := At, full := Full, denied := Known} = Told_} ->
            S = Told_#{holder => H, plan => Plan, count_work => CountWork, kept => [],
                       events => 0, roots => 0, opens => #{}, closed => #{}, known => Known,
                       seen => #{}, beyond => #{}, dead => #{}, resets => 0,
                       window => {erlang:monotonic_time(), 0},
                       skips => #{cap => 0, participants => 0, fanout => 0, depth => 0, stale => 0},
                       guests => 0, until => infinity, stale => false, early => [],
                       inside => #{}, frames => #{},
                       seeded => erlang:monotonic_time()},
            Reseed(S),
            put(young, #{}),
            put(quiet, infinity),
            Full andalso SetPattern(At, 'receive', ReceiveSpec, []),
            H ! {self(), ready},
            SpansCollect(S);
        {'EXIT', H, _} -> DisarmAlone(Plan)
    end
end,
