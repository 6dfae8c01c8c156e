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
SpansDisarm = fun(#{collector := C} = Plan) ->
    Word(0),
    TracerOff(C),
    case C of
        none -> ok;
        _ ->
            exit(C, kill),
            Gone = monitor(process, C),
            receive {'DOWN', Gone, _, _, _} -> ok after GraceMs -> ok end
    end,
    Disarm(Plan),
    seq_trace:get_system_tracer() =:= false andalso seq_trace:reset_trace(),
    Word(0)
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
Watcher = fun(C, MostQueued, Ms) ->
    Sign(),
    process_flag(trap_exit, false),
    Until = erlang:monotonic_time(millisecond) + Ms,
    End = fun(Why) ->
        Word(0),
        TracerOff(C),
        C ! {finish, Why}
    end,
    Watch = fun Watch(Set) ->
        Tracer = seq_trace:get_system_tracer(),
        case process_info(C, message_queue_len) of
            {_, Length} when Length > MostQueued -> End(queue);
            {_, _} when Set, Tracer =/= C, Tracer =/= false -> End(traced);
            {_, _} ->
                case erlang:monotonic_time(millisecond) > Until of
                    true -> End(time);
                    false -> receive after WatchMs -> Watch(Set orelse Tracer =:= C) end
                end;
            undefined -> ok
        end
    end,
    Watch(false),
    receive after infinity -> ok end
end,

%% S: holder, place, full, left, kept (newest first), counts, opens (root process => open roots),
%% known, seen ({Label, Process} => [], and Label => how many), skipped. In the process dictionary:
%% processes that do not run, since when and where.
Tally = fun(#{roots := Roots, opens := Opens, events := Events, skipped := Skipped}) ->
    {Roots, lists:sum(maps:values(Opens)), Events, Skipped}
end,

%% Sets the pattern again after a change of the open roots or of the known processes.
Reseed = fun(#{place := At, opens := Opens, known := Known, full := Full, process := Root}) ->
    Labels = maps:from_list([{P, P} || P <- maps:keys(Opens)]),
    catch SetPattern(At, send, SendSpec(Labels, Known, Full, Root), [])
end,

Keep = fun(Event, #{left := Left, kept := Kept, events := Events, skipped := Skipped} = S) ->
    case Left of
        0 -> S#{skipped := Skipped + 1};
        _ ->
            Left =:= 1 andalso (self() ! {finish, events}),
            S#{left := Left - 1, kept := [Event | Kept], events := Events + 1}
    end
end,

%% An event of a process that takes part; too many of one root do not.
Member = fun(P, Label, #{seen := Seen, participants := Most} = S) ->
    Key = {Label, P},
    case Seen of
        #{Key := _} -> S;
        #{Label := N} when N >= Most -> full;
        _ -> S#{seen := Seen#{Key => [], Label => maps:get(Label, Seen, 0) + 1}}
    end
end,

Flagged = fun(P, #{full := Full, known := Known} = S) ->
    case Known of
        _ when not Full -> S;
        #{P := _} -> S;
        _ ->
            S#{known := Known#{P => []}, stale := true}
    end
end,

%% The root processes that live: one that died does not return.
Living = fun(#{opens := Opens} = S) ->
    S#{opens := maps:filter(fun(P, _) -> is_process_alive(P) end, Opens)}
end,
Linger = fun(#{opens := Opens, until := Until} = S) ->
    case map_size(Opens) =:= 0 andalso erlang:system_info(trace_control_word) =:= 0 of
        true when Until =:= infinity ->
            erlang:send_after(LingerMs, self(), linger),
            S#{until := erlang:monotonic_time()
                   + erlang:convert_time_unit(LingerMs, millisecond, native)};
        true -> S;
        false -> S#{until := infinity}
    end
end,

OnSpan = fun(Event, S) ->
    #{opens := Opens, roots := Roots, denied := Denied_} = S,
    P = element(3, Event),
    Label = element(5, Event),
    case element(2, Event) of
        _ when is_map_key(P, Denied_) -> S;
        root ->
            %% A process as root has one at a time.
            Open = case element(7, Event) of none -> maps:get(P, Opens, 0) + 1; _ -> 1 end,
            Next = Keep(Event, S#{roots := Roots + 1, opens := Opens#{P => Open}}),
            (Flagged(P, Next))#{stale := true};
        over ->
            Linger(S#{opens := maps:remove(P, Opens), stale := true});
        return ->
            Left = case Opens of
                #{P := N} when N > 1 -> Opens#{P := N - 1};
                _ -> maps:remove(P, Opens)
            end,
            Linger(Keep(Event, S#{opens := Left, stale := true}));
        _ when is_pid(Label) ->
            case Member(P, Label, S) of
                full -> S#{skipped := maps:get(skipped, S) + 1};
                Next -> Keep(Event, Flagged(P, Next))
            end;
        _ -> Keep(Event, S)
    end
end,

OnMessage = fun(Message, S) ->
    case Strip(Message) of
        skip -> S;
        Event -> OnSpan(Event, S)
    end
end,

%% The event of a process that stops running waits, in the process dictionary, for the next one:
%% when it soon goes on where it was, it has only used up its time slice. Handled before all
%% others: a process that computes makes 100,000 a second.
Waiting = #{gen => [], gen_server => [], gen_statem => [], gen_event => [], timer => [],
            prim_inet => [], proc_lib => []},
Scheduled = fun(P, Mfa, {Mono, _} = Ts, S) ->
    In = {Ts, in, P, none, none, 0, none, none, 0, MfaOf(Mfa)},
    case erase(P) of
        {{Since, _}, {M, _, _} = Mfa}
          when Mono - Since < Fold, not is_map_key(M, Waiting) -> S;
        {Since, Where} ->
            Out = {Since, out, P, none, none, 0, none, none, 0, MfaOf(Where)},
            Keep(In, Keep(Out, S));
        undefined -> Keep(In, S)
    end
end,
%% A process as root runs for other requests too.
Ran = fun(P, Mfa, Ts, S) ->
    case S of
        #{process := {P, _}, opens := Opens} when not is_map_key(P, Opens) -> erase(P), S;
        _ -> Scheduled(P, Mfa, Ts, S)
    end
end,
Stopped = fun(S) ->
    lists:foldl(fun({P, {Since, Where}}, Next) when is_pid(P) ->
                        Keep({Since, out, P, none, none, 0, none, none, 0, MfaOf(Where)}, Next);
                   (_, Next) -> Next
                end, S, get())
end,

%% The end. When it was not reached by events, those in the queue still count. Then the collector
%% waits until it is killed, by whoever disarms or with the holder. Nothing here looks through the
%% queue for a message that fits: of a long queue that takes seconds, and memory.
SpansFinish = fun(Why, #{holder := H, plan := Plan} = S) ->
    TracerOff(self()),
    Word(0),
    {_, Queued} = process_info(self(), message_queue_len),
    Drain = fun Drain(N, Next) ->
        case N of
            0 -> Next;
            _ ->
                receive
                    {trace_ts, P, out, Mfa, Ts} -> put(P, {Ts, Mfa}), Drain(N - 1, Next);
                    {trace_ts, P, in, Mfa, Ts} -> Drain(N - 1, Ran(P, Mfa, Ts, Next));
                    Message -> Drain(N - 1, OnMessage(Message, Next))
                after 0 -> Next
                end
        end
    end,
    Last = Drain(case lists:member(Why, [time, stopped]) of true -> Queued; false -> 0 end, S),
    #{kept := Kept, left := Left} = All = Stopped(Last),
    process_flag(trap_exit, false),
    H ! {self(), over, case Left of 0 -> events; _ -> Why end, Tally(All), Kept},
    receive after 5 * GraceMs -> DisarmAlone(Plan) end
end,

%% Setting the pattern takes 0.3 to 8 ms: while there is more in the queue, not each time.
FreshMs = 20,
Fresh = fun(#{stale := Stale, seeded := At} = S) ->
    case Stale andalso erlang:monotonic_time() of
        false -> S;
        Now_ ->
            Late = erlang:convert_time_unit(Now_ - At, native, millisecond) >= FreshMs,
            case Late orelse process_info(self(), message_queue_len) =:= {message_queue_len, 0} of
                true -> Reseed(S), S#{stale := false, seeded := erlang:monotonic_time()};
                false -> S
            end
    end
end,

SpansCollect = fun Collect(#{holder := H} = S) ->
    receive
        {trace_ts, _, _, _, {Mono, _}} when Mono > map_get(until, S) ->
            SpansFinish(roots, S);
        {trace_ts, P, out, Mfa, Ts} ->
            put(P, {Ts, Mfa}),
            Collect(S);
        {trace_ts, P, in, Mfa, Ts} ->
            Collect(Ran(P, Mfa, Ts, S));
        {take, H} ->
            #{kept := Kept} = Next = Linger(Living(Fresh(S))),
            {Some, Rest} = lists:split(min(BatchEvents, length(Kept)), Kept),
            H ! {self(), took, Tally(Next), Some},
            (maps:get(count_work, S))(),
            Collect(Next#{kept := Rest});
        {finish, Why} ->
            SpansFinish(Why, S);
        linger ->
            case Linger(S#{until := infinity}) of
                #{until := infinity} = Next -> Collect(Next);
                _ -> SpansFinish(roots, S)
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
                       events => 0, roots => 0, opens => #{}, known => Known, seen => #{},
                       skipped => 0, until => infinity, stale => false,
                       seeded => erlang:monotonic_time()},
            Reseed(S),
            Full andalso SetPattern(At, 'receive', ReceiveSpec, []),
            H ! {self(), ready},
            SpansCollect(S);
        {'EXIT', H, _} -> DisarmAlone(Plan)
    end
end,
