%% SPDX-License-Identifier: GPL-3.0-or-later
%% A trace: arms, collects under hard caps, and takes everything off again. docs/tracing.md.
%%
%% Every clause draws on the VM's trace control word, which the collector opens a window at a time:
%% when nothing of ours gets to run, the VM stops by itself after the window.
%%
%% A separate process beside the workers: the trace keeper. Funs are made once, since making one
%% costs 200 us on OTP 23.

-include("part/may_stop.erl").
-include("part/flags.erl").
-include("part/trace_place.erl").
-include("part/trace_arms.erl").
-include("part/cut.erl").
-include("part/armed_scan.erl").
-include("part/in_use.erl").
-include("part/trace_secret.erl").
-include("part/trace_refuse.erl").
-include("part/trace_one.erl").
-include("part/trace_events.erl").
-include("part/trace_ship.erl").
-include("part/trace_turns.erl").

%% ---- The trace keeper

-include("part/carriers.erl").

Answer = fun(Keeper, AskId, Start, {Value, Waited}) ->
    (get(count_work))(),
    Keeper ! {done, AskId, ok, {erlang:monotonic_time() - Start - Waited, Waited}, Value}
end,

%% Where to trace: with a session of ours where there are sessions.
Place = fun(Otp, Tracer) ->
    case Otp >= 27 of
        true -> {session, trace:session_create(beamtop, Tracer, [])};
        false -> {legacy, Tracer}
    end
end,

%% Reads the counters every 20 ms, or less often when that would take 5% of a scheduler, until Ms
%% are over, the keeper ends, or there were as many calls as show that the functions are called
%% often. Before look 1 nobody waits: what reading and evaluating add themselves is the same each
%% time, no more than what came in any interval, and is subtracted; not when they were held up.
%% N: from -1 on, each evaluating the same. Value: {Ns, [calls of each], native time waited}.
LookMs = 20,
MostLooked = 100000,
Minus = fun(Later, Sooner) -> lists:zipwith(fun erlang:'-'/2, Later, Sooner) end,
Looks = fun Looks(Keeper, At, Mfas, Ms, N, {OwnNs, Own0}, {T1, C1} = First, Sooner, Waited) ->
    Began = Now(),
    Wait = min(max(0, N) * Ms, max(LookMs, 20 * OwnNs div 1000000)),
    Most = receive {'EXIT', Keeper, _} = Exit -> self() ! Exit, 0 after Wait -> Ms end,
    {T, C} = {Now(), CallsOf(At, Mfas)},
    Own = lists:zipwith(fun erlang:min/2, Own0, Minus(C, Sooner)),
    Off = case 3 * N * OwnNs < T - T1 of true -> max(0, N); false -> 0 end,
    Some = lists:sum(C) - lists:sum(C1) - Off * lists:sum(Own),
    Slept = Waited + T - Began,
    case T - T1 >= Most * 1000000 orelse Some > MostLooked of
        true ->
            Adds = lists:zipwith(fun erlang:'*'/2, Own, lists:duplicate(length(Own), Off)),
            {T - T1 - Off * OwnNs, Minus(Minus(C, C1), Adds),
             erlang:convert_time_unit(Slept, nanosecond, native)};
        false ->
            Base = {case N of 0 -> T - T1; _ -> OwnNs end,
                    case N < 0 of true -> Own0; false -> Own end},
            From = case N > 0 of true -> First; false -> {T, C} end,
            Looks(Keeper, At, Mfas, Ms, N + 1, Base, From, C, Slept)
    end
end,

CountCalls = fun(Keeper, Otp, Ms, Mfas) ->
    case MayArm(Otp) of
        ok ->
            At = Place(Otp, self()),
            Plan = #{place => At, flags => [], local => [], messages => [], who => none,
                     counters => [{call_count, Mfas}]},
            Self = self(),
            Until = erlang:monotonic_time(millisecond) + 5000 + ArmMs * length(Mfas),
            Guarding = [Sentinel, [Self, Self, Plan, Until]],
            %% A session ends with those who know it; of the single space any two may die.
            Guards = [spawn_opt(erlang, apply, Guarding, SpawnOptions(SentinelBytes))
                      || _ <- lists:seq(1, case At of {legacy, _} -> 2; _ -> 1 end)],
            try
                SetAll(At, EachWith(Mfas, true), [call_count]),
                {_, C} = First = {Now(), CallsOf(At, Mfas)},
                Most = {0, lists:duplicate(length(Mfas), MostLooked)},
                {Took, Calls, Waited} =
                    Looks(Keeper, At, Mfas, min(Ms, 1000), -1, Most, First, C, 0),
                {{count, max(1, Took), [max(0, N) || N <- Calls]}, Waited}
            after
                Disarm(Plan),
                [Guard ! {self(), bye} || Guard <- Guards],
                unregister(beamtop_trace)
            end;
        Why ->
            {{refused, Why}, 0}
    end
end,

%% A pattern as we use it: its clauses, and what becomes of its calls.
Prepare = fun(#{index := Index, kind := Kind, mfas := Mfas, clauses := Told, slower_ns := SlowerNs,
                results := Results, raises := Raises} = Pattern) when Index < 1000 ->
    Clauses = case Told of {_, _} -> [Budgeted(C, Unheard(Kind)) || C <- Term(Told)]; _ -> [] end,
    case Clauses =/= [] andalso erlang:match_spec_test([], Clauses, trace) of
        {error, Errors} -> throw({bad_spec, Text("~p", [Errors])});
        _ -> ok
    end,
    Wants = lists:any(fun({_, _, Body}) ->
                          lists:member({exception_trace}, Body)
                              orelse lists:member({return_trace}, Body)
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

%% [{Target, Clauses}]: those of several patterns on one function one after another. Sorting keeps
%% the order of the patterns.
Joined = fun Joined(Pairs) ->
    case Pairs of
        [{T, C}, {T, D} | More] -> Joined([{T, C ++ D} | More]);
        [Pair | More] -> [Pair | Joined(More)];
        [] -> []
    end
end,
Specs = fun(Patterns) ->
    Sorted = lists:keysort(1, lists:append([EachWith(Ts, Clauses)
                                            || {_, _, Ts, [_ | _] = Clauses, _, _} <- Patterns])),
    case length(lists:ukeysort(1, Sorted)) =:= length(Sorted) of
        true -> Sorted;
        false -> Joined(Sorted)
    end
end,

%% Value: how many functions and kinds of messages took it.
SetSpecs = fun(At, Patterns) ->
    {Messages, Calls} = lists:splitwith(fun({T, _}) -> is_atom(T) end, Specs(Patterns)),
    lists:sum([N || {T, Clauses} <- Messages, N <- [catch SetPattern(At, T, Clauses, [])],
                    is_integer(N)]) + SetAll(At, Calls, [local])
end,

%% Value: how many processes were chosen.
SetProcesses = fun(At, Procs, Flags) ->
    Set = fun(Who) ->
        case catch SetFlagsOfAll(At, Who, true, Flags) of N when is_integer(N) -> N; _ -> 0 end
    end,
    case Procs of
        _ when Flags =:= [] -> 1;
        {pids, Pids} -> lists:sum(lists:map(Set, Pids));
        all -> Set(processes);
        running -> Set(existing_processes);
        new -> Set(new_processes), 1
    end
end,

%% Our answer to {arm, …}: {armed, Trace}, or {Why, Trace} to be cleared again. Throws a refusal
%% before anything is on.
Arm = fun(Here, TraceId, Asked) ->
    #{keeper := Keeper, client := Client, otp := Otp, untraced := Untraced} = Here,
    #{patterns := Told, procs := Chosen, children := Children, on_rate := OnRate, caps := Wanted,
      credit := Credit} = Asked,
    Caps = maps:map(fun(Key, _) -> Clamp(Key, maps:get(Key, Wanted)) end, Ceilings),
    Patterns = lists:map(Prepare, Told),
    Indexes = [I || {I, _, _, _, _, _} <- Patterns],
    Emitting = [P || {_, _, _, [_ | _], _, _} = P <- Patterns],
    Kinds = lists:usort([K || {_, K, _, _, _, _} <- Emitting]),
    Timed = [call || {_, _, _, _, [_, call_time], _} <- Patterns],
    Free = case Chosen of {pids, Pids} -> {pids, Pids -- Untraced()}; _ -> Chosen end,
    One = case {maps:get(one, Asked, false), Free} of
              {false, _} -> none;
              {true, {pids, [Pid_]}} -> Pid_;
              {true, {pids, _}} -> throw(no_processes);
              {true, _} -> first
          end,
    Flags = case lists:usort(Kinds ++ Timed) of
                [] -> [];
                Some -> Some ++ [arity, monotonic_timestamp] ++ [set_on_spawn || Children]
                            ++ [running || One =/= none]
            end,
    Local = lists:usort(lists:append([Ts || {_, call, Ts, _, _, _} <- Emitting])),
    Counting = [{Index, Ts, Items} || {Index, call, Ts, _, [_ | _] = Items, _} <- Patterns],
    length(Local) =< MostFunctions orelse throw(no_functions),
    Stops = Flags =/= [] andalso (Chosen =:= all orelse Chosen =:= running),
    case MayStop(Stops) of ok -> ok; Late -> throw(Late) end,
    case MayArm(Otp) of ok -> ok; Why -> throw(Why) end,
    process_flag(priority, high),
    Self = self(),
    C = spawn_opt(erlang, apply, [Collector, [Self, Otp, get(count_work)]],
        SpawnOptions(maps:get(heap, Caps))),
    At = Place(Otp, C),
    Counters = [{Item, lists:usort(lists:append([Ts || {_, Ts, Items} <- Counting,
                                                       lists:member(Item, Items)]))}
                || Item <- [call_count, call_time]],
    Plan = #{place => At, flags => Flags, local => Local, messages => Kinds -- [call],
             counters => Counters,
             who => case Chosen of {pids, _} when Children -> children; _ -> Chosen end},
    LifeMs = maps:get(time, Caps) + 5 * GraceMs,
    EndMs = erlang:monotonic_time(millisecond) + LifeMs + ArmMs * length(Local),
    Z = spawn_opt(erlang, apply, [Sentinel, [Self, C, Plan, EndMs]], SpawnOptions(SentinelBytes)),
    Tally = counters:new(8 * (lists:max([0 | Indexes]) + 1), [write_concurrency]),
    Fates = maps:from_list([{I, F} || {I, _, _, _, _, F} <- Patterns]),
    S = #{client => Client, id => TraceId, seq => atomics:new(1, []), caps => Caps,
          conf => {Tally, Fates, maps:get(term, Caps)}, counters => Tally, indexes => Indexes,
          credit => Credit, bytes_left => maps:get(bytes, Caps) - LossBytes, sent_bytes => 0,
          given => 0, why => spent, window => min(FirstWindow, maps:get(window, Caps)),
          tokens => max(1.0, maps:get(rate, Caps) / 4), flight => 0, paused => false,
          outbox => [], loss => none, spent_at => none, on_rate => OnRate, over_rate => false,
          full => false, stopped => false, turn => TurnMs,
          granted => 0, one => One,
          filters => lists:any(fun({_, _, _, _, _, {_, Held, _}}) -> Held end, Patterns),
          counting => Counting,
          counted => {At, lists:usort(lists:append([Ts || {_, Ts, _} <- Counting]))}},
    C ! {Self, Plan, S},
    Unflagged = Unflagging(At, Flags),
    Keeper ! {shield, Self, Unflagged},
    receive {shielded, Keeper} -> ok after GraceMs -> ok end,
    Trace = #{id => TraceId, collector => C, sentinel => Z, plan => Plan, state => S, place => At,
              patterns => Patterns, counting => Counting,
              tick => erlang:monotonic_time(millisecond), until => EndMs - 3 * GraceMs},
    Taken = lists:sum([SetAll(At, EachWith(Mfas, true), [Item]) || {Item, Mfas} <- Counters]),
    Functions = SetSpecs(At, Emitting),
    %% What was set so far may have waited for a scheduler: asked again right before.
    Stop = MayStop(Stops),
    %% Who is the first is not known yet: the collector sets `running` on it.
    First = case One of first -> Flags -- [running]; _ -> Flags end,
    Processes = case Stop of ok -> SetProcesses(At, Free, First); _ -> 0 end,
    %% Asked after, so that what was spawned in between is among them.
    lists:foreach(fun(Pid) -> catch Unflagged(Pid) end, Untraced()),
    %% It lives from now on, however long arming took.
    LastMs = erlang:monotonic_time(millisecond) + LifeMs,
    Z ! {until, LastMs},
    case {Functions + Taken, Processes} of
        _ when Stop =/= ok -> {Stop, Trace#{plan := Plan#{who := none}}};
        {0, _} -> {no_functions, Trace};
        {_, 0} -> {no_processes, Trace};
        _ -> {armed, Trace#{until := LastMs - 3 * GraceMs}}
    end
end,

%% Everything off, in the order that leaves nothing behind.
TakeOff = fun(Keeper, #{collector := C, sentinel := Z, plan := Plan}) ->
    Surely(fun() -> KillOurs(C), Disarm(Plan) end),
    Z ! {self(), bye},
    receive {'EXIT', Z, _} -> ok after GraceMs -> exit(Z, kill) end,
    Keeper ! {unshield, self()},
    catch unregister(beamtop_trace),
    process_flag(priority, normal)
end,

%% Pushes the end; tries again while the link takes nothing.
LastWord = fun LastWord(S, Body, Tries) ->
    case Push(S, Body) of
        busy when Tries > 0 -> receive after 50 -> LastWord(S, Body, Tries - 1) end;
        _ -> ok
    end
end,

End = fun(Keeper, Trace, Why, Told) ->
    #{state := #{counters := Tally, indexes := Indexes} = S, counting := Counting,
      place := At} = Trace,
    Final = Counting =/= [] andalso CountsOf(counts, At, Counting),
    TakeOff(Keeper, Trace),
    Last_ = case Told of
                none -> {Now(), spent, 0, 0, 0, 0, 0, Rows(Tally, Indexes)};
                _ -> Told
            end,
    Final =/= false andalso LastWord(S, Final, 10),
    LastWord(S, {ended, Why, Last_}, 10)
end,

%% From now on only this process, or this pattern.
Narrow = fun(Trace, What) ->
    #{place := At, patterns := Patterns, plan := #{flags := Flags, local := Local}} = Trace,
    case What of
        {pid, Pid} ->
            catch SetFlagsOfAll(At, processes, false, Flags),
            catch SetFlags(At, Pid, true, Flags);
        {pattern, Index} ->
            Kept = [P || {I, _, _, _, _, _} = P <- Patterns, I =:= Index],
            Targets = [T || {T, _} <- Specs(Kept)],
            SetAll(At, EachWith(Local -- Targets, false), [local]),
            [catch SetPattern(At, T, false, []) || {_, K, [T], _, _, _} <- Patterns,
                                                   K =/= call, not lists:member(T, Targets)],
            SetSpecs(At, Kept)
    end
end,

%% From now on only calls of this process pass, and take of the budget.
Only = fun(#{place := At, patterns := Patterns}, Pid) ->
    Mine = {'=:=', {self}, {const, Pid}},
    SetSpecs(At, [setelement(4, P, [{Head, [Budget, Mine | Guards -- [Budget]], Body}
                                    || {Head, Guards, Body} <- Clauses])
                  || {_, _, _, [_ | _] = Clauses, _, _} = P <- Patterns])
end,

%% What a tell means for a trace that stands.
Tell = fun(#{untraced := Untraced}, Trace, What) ->
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
            lists:member(Pid, Untraced()) orelse Narrow(Trace, One),
            Trace;
        {narrow, TraceId, {pattern, _} = One} -> Narrow(Trace, One), Trace;
        {stop, TraceId} -> C ! stop, Trace;
        _ -> Trace
    end
end,

%% {Value of the answer, Trace or none}
Started = fun(#{keeper := Keeper} = Here, TraceId, Asked) ->
    try Arm(Here, TraceId, Asked) of
        {armed, #{collector := C, place := {Kind, _}} = Trace} ->
            Answered = #{mono => Now(), wall_us => erlang:system_time(microsecond),
                         per_second => 1000000000, session => Kind =:= session},
            %% Reading the source and arming left much behind; a small collection after it sets
            %% aside no more than what is kept takes.
            erlang:garbage_collect(),
            erlang:garbage_collect(self(), [{type, minor}]),
            C ! {self(), go},
            receive {C, opened} -> ok after GraceMs -> ok end,
            {{armed, TraceId, Answered}, Trace};
        {Why, Trace} ->
            TakeOff(Keeper, Trace),
            {{refused, Why}, none}
    catch
        throw:Why -> {{refused, Why}, none}
    end
end,

%% Here: #{keeper, client, otp, untraced => fun() -> [Pid]}.
Loop = fun Loop(#{keeper := Keeper, otp := Otp} = Here, Trace) ->
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
        Loop(Here, none)
    end,
    receive
        {ask, AskId, {count, Ms, Mfas}} when Trace =:= none ->
            Start = erlang:monotonic_time(),
            Answer(Keeper, AskId, Start, CountCalls(Keeper, Otp, Ms, Mfas)),
            Loop(Here, none);
        {ask, AskId, {arm, TraceId, Asked}} when Trace =:= none ->
            Start = erlang:monotonic_time(),
            {Value, Began} = Started(Here, TraceId, Asked),
            Answer(Keeper, AskId, Start, {Value, 0}),
            Loop(Here, Began);
        {ask, AskId, _} ->
            Answer(Keeper, AskId, erlang:monotonic_time(), {{refused, busy}, 0}),
            Loop(Here, Trace);
        {tell, What} when Trace =/= none ->
            Loop(Here, Tell(Here, Trace, What));
        {C, done, Why, Status_} ->
            Over_(Why, Status_);
        {C, first, Pid} when Trace =/= none ->
            Only(Trace, Pid),
            Loop(Here, Trace);
        %% The VM kills above the heap limit, and reports that as any kill.
        {'EXIT', C, killed} ->
            Over_(heap, none);
        {'EXIT', C, _} ->
            Over_({killed, <<"collector">>}, none);
        {'EXIT', Z, _} ->
            Over_({killed, <<"sentinel">>}, none);
        {'EXIT', Pid, Reason} when Pid =:= Keeper; Reason =:= shutdown ->
            Trace =:= none orelse End(Keeper, Trace, stopped, none);
        _ ->
            Loop(Here, Trace)
    after Wait ->
        At = erlang:monotonic_time(millisecond),
        case Trace of
            #{until := Until} when At > Until ->
                Over_({killed, <<"the collector does not answer">>}, none);
            #{counting := Counting, place := Place_} ->
                Counting =/= [] andalso begin C ! {push, CountsOf(counts, Place_, Counting)} end,
                Loop(Here, Trace#{tick := At + 1000})
        end
    end
end,

{process, [c, otp, own, count_work, late_schedulers],
 fun(Keeper, #{c := Client, otp := Otp, own := OwnOf, count_work := CountWork} = Ctx) ->
     Sign(),
     put(count_work, CountWork),
     put(late_schedulers, maps:get(late_schedulers, Ctx)),
     %% Ours, and what carries the connection.
     Untraced = fun() -> lists:usort(OwnOf(Keeper) ++ Carriers(Client)) end,
     Loop(#{keeper => Keeper, client => Client, otp => Otp, untraced => Untraced}, none)
 end}.
