%% SPDX-License-Identifier: GPL-3.0-or-later
%% System events of the node: long garbage collections, long schedules, large heaps, long message
%% queues, busy ports. docs/events.md.
%%
%% The VM sends a message for each and knows no cap. The collector takes them: it sleeps in compiled
%% code, looks at its queue ten times a second, and reads no more than the rate allows. Above that
%% it takes the event off that comes most, and drops what is queued by compiled code. The holder
%% keeps events until they are asked for, and tries an event again with a doubled limit. The
%% sentinel disarms when the holder has ended without notice.

-include("part/may_stop.erl").

TurnMs = 100,
TickMs = 1000,
LeaseMs = 10000,       %% without a question for so long the client is gone
GraceMs = 1000,
SlackMs = 5000,
MostMs = 3600000,
MostEvents = 100000,
MostKept = 10000,
BatchEvents = 1000,
MostRate = 1000,       %% events a second
LookAt = 200,          %% of a flood, to see which event it is
AtOnce = 10000,        %% of a flood, dropped by one call
MostQueued = 300000,   %% the collector does not get its turn
RetryMs = 10000,       %% until an event is tried again; doubled each time

SpawnOptions = [link, {message_queue_data, off_heap}, {priority, high},
                {max_heap_size, #{size => 33554432 div erlang:system_info(wordsize), kill => true,
                                  error_logger => false}}],

%% Who looks at the node with any tool finds our name.
Sign = fun(Traps) ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, events, 0}),
    Traps andalso process_flag(trap_exit, true)
end,

Ms = fun() -> erlang:monotonic_time(millisecond) end,
WallUs = fun() -> erlang:system_time(microsecond) end,
Text = fun(Format, Values) -> unicode:characters_to_binary(io_lib:format(Format, Values)) end,

%% ---- The place: {legacy, Collector}, the node's one system monitor, or {session, S}

Option = fun({Kind, Value}) ->
    case Value of true -> Kind; _ -> {Kind, Value} end
end,
%% One call for each event of a session, one for all of the system monitor.
SetOne = fun(Place, {Kind, Value} = One) ->
    case Place of
        {session, S} ->
            trace:system(S, Kind, Value);
        {legacy, C} ->
            case erlang:system_monitor() of
                {C, Options} ->
                    erlang:system_monitor(C, [Option(One) | Options]);
                undefined ->
                    case catch erlang:system_monitor(C, [Option(One)]) of
                        undefined -> ok;
                        {'EXIT', _} -> taken;
                        Other -> erlang:system_monitor(Other), taken
                    end;
                _ ->
                    taken
            end
    end
end,
%% Without its last event the system monitor is `undefined`.
ClearOne = fun(Place, Kind) ->
    case Place of
        {session, S} ->
            trace:system(S, Kind, false);
        {legacy, C} ->
            case erlang:system_monitor() of
                {C, Options} ->
                    erlang:system_monitor(C, lists:keydelete(Kind, 1, Options -- [Kind]));
                _ ->
                    taken
            end
    end
end,

%% May run twice, and by any of our processes.
Disarm = fun(Place) ->
    case Place of
        {session, S} ->
            catch trace:session_destroy(S);
        {legacy, C} ->
            case erlang:system_monitor() of
                {C, _} -> erlang:system_monitor(undefined);
                _ -> ok
            end
    end
end,

%% The system monitor of another: its pid, its registered name, what it has asked for. No process is
%% asked.
Owner = fun({Pid, Options}) ->
    Names = registered(),
    Name = case lists:keyfind(Pid, 2, lists:zip(Names, lists:map(fun erlang:whereis/1, Names))) of
        {Registered, _} -> Registered;
        false -> unregistered
    end,
    Text("~p ~tp ~tp", [Pid, Name, Options])
end,

%% ---- What the header says of it: wall time and reductions between two answers

%% Of the collector and the sentinel, a turn each; what is read is taken out.
CountHelped = fun(Helped, CountWork) ->
    fun(Start) ->
        counters:add(Helped, 1, erlang:monotonic_time() - Start),
        counters:add(Helped, 2, CountWork())
    end
end,
TakeHelped = fun(Helped) ->
    [Wall, Did] = [counters:get(Helped, Index) || Index <- [1, 2]],
    counters:sub(Helped, 1, Wall),
    counters:sub(Helped, 2, Did),
    {Wall, Did}
end,
%% Of the holder, beside its answers.
Timed = fun(Do) ->
    Start = erlang:monotonic_time(),
    Value = Do(),
    put(spent, get(spent) + erlang:monotonic_time() - Start),
    Value
end,

%% ---- The collector. It ends with the holder.

%% Compiled code sleeps, and drops: an external fun that takes any message out.
Sleep = fun(For) -> gen:wait_response(make_ref(), For) end,
Queued = fun() -> element(2, process_info(self(), message_queue_len)) end,
Drain = fun Drain(N, Sofar) ->
    case N of
        0 ->
            lists:reverse(Sofar);
        _ ->
            receive
                {monitor, _, _, _} = Event -> Drain(N - 1, [Event | Sofar]);
                _ -> Drain(N - 1, Sofar)
            after 0 ->
                lists:reverse(Sofar)
            end
    end
end,
%% What is queued now: of a flood of two events the other goes on, and would be dropped for ever.
Drop = fun Drop(Left) ->
    case min(Left, AtOnce) of
        0 ->
            ok;
        N ->
            lists:zipwith(fun prim_eval:'receive'/2, lists:duplicate(N, fun erlang:is_tuple/1),
                          lists:duplicate(N, 0)),
            Drop(Left - N)
    end
end,
MostOf = fun(Events) ->
    Kinds = [Kind || {monitor, _, Kind, _} <- Events],
    case lists:reverse(lists:sort([{length([K || K <- Kinds, K =:= Kind]), Kind}
                                   || Kind <- lists:usort(Kinds)])) of
        [{_, Kind} | _] -> Kind;
        [] -> none
    end
end,
Collect = fun Collect(Holder, Place, Count, Began, Taken) ->
    Sleep(TurnMs),
    Start = erlang:monotonic_time(),
    Now = Ms(),
    {From, Had} = case Now - Began >= 1000 of
        true -> {Now, 0};
        false -> {Began, Taken}
    end,
    Next = case Queued() of
        0 ->
            Had;
        N when Had + N =< MostRate ->
            Holder ! {self(), events, WallUs(), Drain(N, [])},
            Had + N;
        _ ->
            Some = Drain(LookAt, []),
            Kind = MostOf(Some),
            Kind =:= none orelse ClearOne(Place, Kind),
            Dropped = Queued(),
            Drop(Dropped),
            Holder ! {self(), shed, WallUs(), Some, Kind, Dropped},
            Had
    end,
    Count(Start),
    Collect(Holder, Place, Count, From, Next)
end,
Collector = fun(Holder, Count) ->
    Sign(false),
    receive {Holder, go, Place} -> Collect(Holder, Place, Count, Ms(), 0) end
end,

%% ---- The sentinel

Sentinel = fun(Holder, C, Place, UntilMs, Count) ->
    Sign(true),
    Gone = monitor(process, Holder),
    Stop = fun() -> exit(C, kill), Disarm(Place) end,
    Watch = fun Watch() ->
        receive
            {Holder, bye} -> ok;
            {'DOWN', Gone, process, _, _} -> Stop();
            _ -> Watch()
        after 500 ->
            Start = erlang:monotonic_time(),
            case process_info(C, message_queue_len) of
                {_, N} when N > MostQueued -> Stop();
                _ -> Ms() > UntilMs andalso Stop()
            end,
            Count(Start),
            Watch()
        end
    end,
    Holder ! {self(), watching},
    Watch()
end,

%% ---- The holder

%% What the VM takes, whatever is sent.
Clamp = fun({Kind, Value}) ->
    case Kind of
        long_message_queue ->
            {Low, High} = Value,
            {Kind, {max(1, min(Low, High - 1)), max(10, High)}};
        large_heap -> {Kind, max(262144, Value)};
        _ when is_integer(Value) -> {Kind, max(1, Value)};
        _ -> {Kind, true}
    end
end,
Doubled = fun(Value) ->
    case Value of
        {Low, High} -> {2 * Low, 2 * High};
        true -> true;
        _ -> 2 * Value
    end
end,

%% Throws the refusal. The name keeps two of us apart.
Reserve = fun() ->
    case MayStop(true) of ok -> ok; Late -> throw(Late) end,
    try register(beamtop_events, self())
    catch error:_ -> throw({session, beamtop_events}) end
end,
PlaceFor = fun(Otp, C) ->
    case Otp >= 28 of
        true ->
            {session, trace:session_create(beamtop_events, C, [])};
        false ->
            case erlang:system_monitor() of
                undefined -> {legacy, C};
                Other -> throw({monitored, Owner(Other)})
            end
    end
end,
%% Of the system monitor, what another has set in between is put back.
ArmAll = fun(Place, Limits) ->
    case Place of
        {session, _} ->
            lists:foreach(fun(One) -> SetOne(Place, One) end, Limits);
        {legacy, C} ->
            case erlang:system_monitor(C, lists:map(Option, Limits)) of
                undefined -> ok;
                Other -> erlang:system_monitor(Other), throw({monitored, Owner(Other)})
            end
    end
end,

End = fun(#{collector := C, sentinel := Z, place := Place} = State, Why) ->
    exit(C, kill),
    receive {'EXIT', C, _} -> ok after GraceMs -> ok end,
    Disarm(Place),
    Z ! {self(), bye},
    receive {'EXIT', Z, _} -> ok after GraceMs -> exit(Z, kill) end,
    catch unregister(beamtop_events),
    (maps:with([kept, n, seen, missed], State))#{over => Why}
end,

Arm = fun(#{limits := Asked, time := ForMs, events := Events}, Otp) ->
    Limits = lists:map(Clamp, Asked),
    Reserve(),
    Self = self(),
    Count = CountHelped(get(helped), get(count_work)),
    C = spawn_opt(erlang, apply, [Collector, [Self, Count]], SpawnOptions),
    try
        Place = PlaceFor(Otp, C),
        Until = Ms() + max(1, min(ForMs, MostMs)),
        Z = spawn_opt(erlang, apply, [Sentinel, [Self, C, Place, Until + SlackMs, Count]],
                      SpawnOptions),
        receive {Z, watching} -> ok after GraceMs -> ok end,
        C ! {Self, go, Place},
        State = #{collector => C, sentinel => Z, place => Place, until => Until, asked => Ms(),
                  left => max(1, min(Events, MostEvents)), limits => maps:from_list(Limits),
                  tick => Ms() + TickMs, off => [], pauses => #{}, kept => [], n => 0,
                  seen => 0, missed => 0, unset => 0},
        Start = erlang:monotonic_time(),
        try ArmAll(Place, Limits) of
            _ -> State#{arm_us => erlang:convert_time_unit(erlang:monotonic_time() - Start, native,
                                                           microsecond)}
        catch throw:Why -> End(State, refused), throw(Why)
        end
    catch
        Class:Reason ->
            exit(C, kill),
            catch unregister(beamtop_events),
            erlang:Class(Reason)
    end
end,

%% Ports as text, and for a busy connection the node behind it.
Readable = fun({monitor, Who, Kind, Info}) ->
    Port = fun(P) ->
        if is_port(P) -> list_to_binary(erlang:port_to_list(P));
           is_pid(P) -> list_to_binary(pid_to_list(P));
           true -> P
        end
    end,
    Known = case Kind of
        busy_dist_port ->
            case lists:keyfind(Info, 2, erlang:system_info(dist_ctrl)) of
                {Node, _} -> {Port(Info), Node};
                false -> {Port(Info), undefined}
            end;
        busy_port ->
            Name = case is_port(Info) andalso erlang:port_info(Info, name) of
                {name, Driver} -> unicode:characters_to_binary(lists:sublist(Driver, 100));
                _ -> <<>>
            end,
            {Port(Info), Name};
        _ ->
            Info
    end,
    {Kind, case is_port(Who) of true -> Port(Who); false -> Who end, Known}
end,

%% The newest first; what nobody has asked for in time is counted.
Keep = fun(#{kept := Kept, n := N, missed := Missed} = State, At, Events) ->
    Fit = lists:sublist(Events, max(0, MostKept - N)),
    State#{kept := [{At, E} || E <- lists:reverse(Fit)] ++ Kept, n := N + length(Fit),
           missed := Missed + length(Events) - length(Fit)}
end,
Took = fun(#{seen := Seen, left := Left, missed := Missed} = State, At, Events) ->
    Some = lists:sublist(Events, Left),
    Next = Keep(State#{seen := Seen + length(Events), left := Left - length(Some),
                       missed := Missed + length(Events) - length(Some)}, At,
                lists:map(Readable, Some)),
    case Left =< length(Some) of true -> End(Next, events); false -> Next end
end,
Shed = fun(State, At, Some, Kind, Dropped) ->
    case Took(State, At, Some) of
        #{limits := Limits, off := Off, pauses := Pauses, missed := Missed, seen := Seen} = Next
          when is_map_key(Kind, Limits) ->
            Limit = Doubled(maps:get(Kind, Limits)),
            Pause = maps:get(Kind, Pauses, RetryMs),
            Kept = Keep(Next#{limits := maps:remove(Kind, Limits),
                              off := [{Ms() + Pause, Kind, Limit} | Off],
                              pauses := Pauses#{Kind => 2 * Pause}}, At,
                        [{off, Kind, Dropped, Pause, Limit}]),
            Kept#{missed := Missed + Dropped, seen := Seen + Dropped};
        #{missed := Missed, seen := Seen} = Next ->
            Next#{missed := Missed + Dropped, seen := Seen + Dropped}
    end
end,

%% An event that was off for long enough, where no scheduler is late.
Again = fun(#{off := Off, limits := Limits, place := Place} = State) ->
    case [O || {At, _, _} = O <- Off, At =< Ms()] of
        [] ->
            State;
        [{_, Kind, Limit} = One | _] ->
            case MayStop(true) =:= ok andalso SetOne(Place, {Kind, Limit}) of
                false -> State;
                taken -> End(State, taken);
                _ -> Keep(State#{off := Off -- [One], limits := Limits#{Kind => Limit}}, WallUs(),
                          [{on, Kind, Limit}])
            end
    end
end,
%% Taken: the session is destroyed; the system monitor is of another, or twice of nobody. Once, the
%% collector may have taken the last event off and not said so yet.
Tick = fun(#{until := Until, asked := Asked, place := Place, limits := Limits} = Before) ->
    Now = Ms(),
    Unset = case Place of
        {legacy, C} ->
            case erlang:system_monitor() of
                {C, _} -> 0;
                undefined when Limits =:= #{} -> 0;
                undefined -> maps:get(unset, Before) + 1;
                _ -> 2
            end;
        {session, S} ->
            try trace:info(S, system, all) of _ -> 0 catch error:_ -> 2 end
    end,
    State = Before#{tick := Now + TickMs, unset := Unset},
    case State of
        _ when Now >= Until -> End(State, time);
        _ when Now - Asked > LeaseMs -> End(State, unasked);
        _ when Unset > 1 -> End(State, taken);
        _ when Unset =:= 1 -> State;
        _ -> Again(State)
    end
end,

%% {Value, Next}: {took, running | Why, Seen, Missed, [{Kind, Limit}], [{WallUs, Event}]}
Taken = fun(State) ->
    case State of
        #{kept := Kept, n := N, seen := Seen, missed := Missed} ->
            {Rest, Some} = lists:split(max(0, N - BatchEvents), Kept),
            {{took, maps:get(over, State, running), Seen, Missed,
              maps:to_list(maps:get(limits, State, #{})), lists:reverse(Some)},
             State#{kept := Rest, n := length(Rest), asked => Ms()}};
        none ->
            {{refused, not_armed}, none}
    end
end,

Answer = fun(Keeper, AskId, Start, Value) ->
    Wall = put(spent, 0) + erlang:monotonic_time() - Start,
    Cost = {Wall, (get(count_work))(), 0, TakeHelped(get(helped))},
    Keeper ! {done, AskId, ok, Cost, Value}
end,

%% Looks at the clock whatever comes.
Loop = fun Loop(Keeper, Otp, Last) ->
    State = case Last of
        #{tick := Due} ->
            case Ms() >= Due of
                true -> Timed(fun() -> Tick(Last) end);
                false -> Last
            end;
        _ -> Last
    end,
    {C, Z} = case State of
        #{collector := C_, sentinel := Z_} -> {C_, Z_};
        _ -> {none, none}
    end,
    receive
        {ask, AskId, {arm, Asked}} when C =:= none ->
            Start = erlang:monotonic_time(),
            {Value, Next} = try Arm(Asked, Otp) of
                #{place := {Kind, _}, arm_us := Us} = Armed ->
                    {{armed, WallUs(), Us, Kind}, Armed}
            catch
                throw:Why -> {{refused, Why}, none}
            end,
            Answer(Keeper, AskId, Start, Value),
            erlang:garbage_collect(),
            Loop(Keeper, Otp, Next);
        {ask, AskId, take} ->
            Start = erlang:monotonic_time(),
            {Value, Next} = Taken(State),
            Answer(Keeper, AskId, Start, Value),
            Loop(Keeper, Otp, Next);
        {ask, AskId, _} ->
            Answer(Keeper, AskId, erlang:monotonic_time(), {refused, busy}),
            Loop(Keeper, Otp, State);
        {tell, stop} when C =/= none ->
            Loop(Keeper, Otp, End(State, stopped));
        {C, events, At, Events} ->
            Loop(Keeper, Otp, Timed(fun() -> Took(State, At, Events) end));
        {C, shed, At, Some, Kind, Dropped} ->
            Loop(Keeper, Otp, Timed(fun() -> Shed(State, At, Some, Kind, Dropped) end));
        {'EXIT', Pid, Reason} when Pid =:= Keeper; Reason =:= shutdown ->
            C =:= none orelse End(State, stopped);
        {'EXIT', Pid, _} when Pid =:= C; Pid =:= Z ->
            Loop(Keeper, Otp, End(State, killed));
        _ ->
            Loop(Keeper, Otp, State)
    after case C of none -> infinity; _ -> TickMs end ->
        Loop(Keeper, Otp, State)
    end
end,

{process, [otp, count_work, late_schedulers],
 fun(Keeper, #{otp := Otp, count_work := CountWork, late_schedulers := Late}) ->
     Sign(true),
     put(late_schedulers, Late),
     put(count_work, CountWork),
     put(helped, counters:new(2, [])),
     put(spent, 0),
     Loop(Keeper, Otp, none)
 end}.
