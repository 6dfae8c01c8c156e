%% SPDX-License-Identifier: GPL-3.0-or-later
%% Causal spans: seeds trace tokens at the calls of root functions, collects the events of the
%% tokens under hard caps, and clears everything again. docs/spans.md is the protocol.
%%
%% A separate process beside the workers: the holder. The count of roots and the sampling are kept
%% by the VM, in the trace control word: they hold when nothing of ours gets to run.

-include("part/may_stop.erl").
-include("part/flags.erl").
-include("part/trace_place.erl").
-include("part/armed_scan.erl").
-include("part/in_use.erl").
-include("part/trace_refuse.erl").
-include("part/spans_events.erl").
-include("part/spans_calls.erl").
-include("part/spans_caps.erl").
-include("part/spans_context.erl").
-include("part/spans_collect.erl").
-include("part/carriers.erl").

MostMs = 600000,
MostEvents = 20000,
MostRoots = 1000,
MostOrigins = 15,
MostEvery = 100000,
MostParticipants = 1000,
MostRootFunctions = 100,
MostCalledFunctions = 1000,
CollectorBytes = 33554432,
Within = fun(N, Most) when is_integer(N) -> max(1, min(N, Most)) end,

Answer = fun(Keeper, AskId, Start, Value) ->
    (get(count_work))(),
    Keeper ! {done, AskId, ok, {erlang:monotonic_time() - Start, 0}, Value}
end,

%% What the system tracer is, for a refusal; `none`.
SystemTracer = fun() ->
    case seq_trace:get_system_tracer() of
        false -> none;
        Tracer -> Text("~0p", [Tracer])
    end
end,

%% {How many, Old}: processes that have a token of an application, or of another tool, as clearing
%% ours would clear theirs too; and those that have one of an earlier capture, where they are not
%% cleared. Not counted: what another node has sent back since; and tokens of the other nodes of the
%% capture, whose label is a pid of such a node.
MostOld = 20000,
Tokens = fun(Origins) ->
    {Label, Sender} = {{element, 2, '$1'}, {element, 4, '$1'}},
    Here = {'=:=', {node, Label}, {node}},
    Back = {'andalso', {is_pid, Sender}, {'=/=', {node, Sender}, {node}}},
    There = lists:foldl(
        fun(Origin, Others) ->
            case catch binary_to_existing_atom(Origin, utf8) of
                Node when is_atom(Node) ->
                    {'orelse', {'=:=', {node, Label}, {const, Node}}, Others};
                _ -> Others
            end
        end, false, Origins),
    IsStrict = {'=/=', {'band', {element, 1, '$1'}, StrictMonotonic}, 0},
    Ours = {'andalso', {is_pid, Label},
            {'orelse', {'andalso', Here, {'orelse', not MayReset, {'andalso', IsStrict, Back}}},
             {'andalso', There, IsStrict}}},
    Those = fun(Is, Value) ->
        ets:match_spec_compile(
            [{{'$2', {sequential_trace_token, '$1'}}, [{'=/=', '$1', []}, Is], [Value]}])
    end,
    Theirs = Those({'not', Ours}, true),
    Kept = Those({'andalso', not MayReset, {'andalso', {is_pid, Label}, {'orelse', Here, There}}},
                 '$2'),
    Count = fun Count(Left, N, Old) ->
        {Some, Rest} = lists:split(min(200, length(Left)), Left),
        Infos = lists:zip(Some, lists:zipwith(fun erlang:process_info/2, Some,
                              lists:duplicate(length(Some), sequential_trace_token))),
        Found = N + length(ets:match_spec_run(Infos, Theirs)),
        All = ets:match_spec_run(Infos, Kept) ++ Old,
        case Rest of
            [] -> {Found, lists:sublist(All, MostOld)};
            _ -> Count(Rest, Found, All)
        end
    end,
    Count(processes(), 0, [])
end,

%% {At a call that begins a root, at one that does not in a process with its own old token}. Label:
%% an immediate, as any other kills the VM. Without payloads the return comes as `return_to`.
RootActions = fun(Bare, Full) ->
    Other = {'=/=', {element, 2, {get_seq_token}}, {self}},
    Said = {message, {{root, {caller}}}},
    case Bare of
        true ->
            {Mute(Seed({self})) ++ [{trace, [], BareFlags}, Said],
             [{set_seq_token, strict_monotonic_timestamp, Other}]};
        false ->
            {Seed({self}) ++ [{trace, [], FlagsOf(Full, none)}, Said, {exception_trace}],
             [{set_seq_token, send, Other}, {set_seq_token, 'receive', Other}]}
    end
end,

%% All clauses of a root function.
RootSpec = fun(Clauses, Every, {Begin, Drop}) ->
    Sampled = {'=:=', {'rem', {'-', {get_tcw}, 1}, Every}, 0},
    Clear = Drop ++ [{message, false}],
    Plain = [{Head, Guards -- [Budget]} || {Head, Guards, _} <- Clauses],
    [{Head, [Budget, Sampled | Guards], [Take | Begin]} || {Head, Guards} <- Plain]
    ++ [{Head, [Budget, {is_seq_trace} | Guards], [Take | Clear]} || {Head, Guards} <- Plain]
    ++ [{Head, [{is_seq_trace} | Guards], Clear} || {Head, Guards} <- Plain]
    ++ [{Head, [Budget | Guards], [Take, {message, false}]} || {Head, Guards} <- Plain]
end,

%% A call that is shown where it is made by a process whose token emits.
CallSpec = fun(Clauses) ->
    Live = IsLive(1),
    Shown = [{message, {'andalso', Live, {{call, {element, 2, {get_seq_token}}}}}},
             {'andalso', Live, {exception_trace}}],
    InRoot([{Head, Guards -- [Budget], Shown} || {Head, Guards, _} <- Clauses])
end,

%% [{Mfa, Spec}]; a function of several patterns has the clauses of all.
Specs = fun(Patterns, SpecOf) ->
    Each = lists:append([[{Mfa, Term(Told)} || Mfa <- Mfas] || {Mfas, Told} <- Patterns]),
    [{Mfa, SpecOf(lists:append([C || {M, C} <- Each, M =:= Mfa]))}
     || Mfa <- lists:usort([M || {M, _} <- Each])]
end,

%% {armed, Capture}, or {Why, Capture} to be cleared again. Throws a refusal before anything is on.
Arm = fun(#{keeper := Keeper, otp := Otp, untraced := Untraced}, Asked) ->
    #{patterns := Patterns, calls := Nested, procs := Chosen, roots := Roots, every := Every,
      time := Time, events := Events, participants := Participants, full := Full,
      force := Force, context := Context, origins := Origins, payloads := Payloads} = Asked,
    true = is_boolean(Full) andalso is_boolean(Payloads),
    Bare = not Payloads,
    %% Other nodes of the capture: their tokens come here.
    true = is_list(Origins) andalso length(Origins) =< MostOrigins
        andalso lists:all(fun erlang:is_binary/1, Origins),
    Context andalso (HasDictionaryKeys() orelse throw(no_keys)),
    Bare andalso (Full orelse Context orelse Origins =/= [] orelse Nested =/= []
                  orelse Patterns =:= [] orelse Chosen =/= all)
        andalso throw({bad_spec, <<"calls of functions by any process, without payloads">>}),
    RootSpecs = Specs(Patterns, fun(Clauses) ->
        RootSpec(Clauses, Within(Every, MostEvery), RootActions(Bare, Full))
    end),
    Mfas = [Mfa || {Mfa, _} <- RootSpecs],
    %% Nothing is seeded, and the control word is not used.
    Guest = Origins =/= [] andalso Mfas =:= [],
    Inner = case Bare of true -> BareSpecs(Otp); false -> Specs(Nested, CallSpec) end,
    %% Of a root function the call begins a root.
    Called = [Call || {Mfa, _} = Call <- Inner, not lists:member(Mfa, Mfas)],
    Spawns = [Spec || Full, {Mfa, _} = Spec <- SpawnSpecs,
                      not lists:keymember(Mfa, 1, RootSpecs ++ Called)],
    length(Mfas) =< MostRootFunctions andalso (Bare orelse length(Called) =< MostCalledFunctions)
        orelse throw(too_many),
    [case erlang:match_spec_test([], Spec, trace) of
         {error, Errors} -> throw({bad_spec, Text("~p", [Errors])});
         _ -> ok
     end || {_, Spec} <- RootSpecs ++ Called ++ Spawns],
    %% Without a pattern: a process is the root.
    Process = case {Patterns, Chosen} of
        _ when Guest -> none;
        {[], {pids, [Root_]}} when node(Root_) =:= node() -> {Root_, Within(Every, MostEvery)};
        {[], _} -> throw({bad_spec, <<"one process">>});
        _ -> none
    end,
    Stops = Chosen =:= all orelse Chosen =:= running,
    is_pid(whereis(beamtop_trace)) andalso throw({session, beamtop}),
    case Bare orelse SystemTracer() of
        Text_ when is_binary(Text_) -> throw({system_tracer, Text_});
        _ -> ok
    end,
    %% Looking for tokens waits for each process that runs, as flags do.
    case MayStop(true) of ok -> ok; Stuck -> throw(Stuck) end,
    Old = case Force =:= true andalso MayReset orelse Tokens(Origins) of
        {Theirs, _} when Theirs > 0, Force =/= true -> throw({tokens, Theirs});
        {_, Pids_} -> maps:from_list([{P, []} || P <- Pids_]);
        true -> #{}
    end,
    case MayStop(Stops) of ok -> ok; Late -> throw(Late) end,
    case MayArm(Otp) of ok -> ok; Why -> throw(Why) end,
    process_flag(priority, high),
    Self = self(),
    C = spawn_opt(erlang, apply, [SpansCollector, [Self, get(count_work)]],
                  SpawnOptions(CollectorBytes)),
    At = case Otp >= 27 of
        true -> {session, trace:session_create(beamtop, C, [])};
        false -> {legacy, C}
    end,
    Flags = case Process of
        _ when Guest, Called =:= [] -> [];
        none when Bare -> [call, arity | BareFlags];
        none -> [call, arity | FlagsOf(Full, none)];
        _ -> FlagsOf(Full, Process)
    end,
    First = case Process of none -> [call, arity, strict_monotonic_timestamp]; _ -> Flags end,
    Inherited = [set_on_first_spawn || Full],
    Plan = #{place => At, flags => Flags ++ Inherited, word => not Guest,
             local => Mfas ++ [Mfa || {Mfa, _} <- Called ++ Spawns],
             messages => case Guest of true -> []; false -> [send, 'receive'] end,
             counters => [], collector => C,
             who => case Full of
                        _ when Flags =:= [] -> {pids, []};
                        false -> Chosen;
                        _ -> children
                    end},
    Ms = Within(Time, MostMs),
    Z = spawn_opt(erlang, apply, [SpansSentinel, [Self, C, Plan, Ms + 5 * GraceMs]],
                  SpawnOptions(SentinelBytes)),
    C ! {Self, plan, Plan},
    Queue = case Full of true -> MostFullQueue; false -> MostQueue end,
    Watching = [Self, C, Queue, Called =/= [], not Guest, Ms],
    W = spawn_opt(erlang, apply, [Watcher, Watching],
                  SpawnOptions(SentinelBytes)),
    Key = make_ref(),
    R = case Context of true -> StartReader(C, Key); false -> none end,
    Unflagged = Unflagging(At, maps:get(flags, Plan)),
    Keeper ! {shield, Self, Unflagged},
    receive {shielded, Keeper} -> ok after GraceMs -> ok end,
    Capture = #{collector => C, sentinel => Z, watcher => W, reader => R, key => Key,
                plan => Plan},
    Free = case Chosen of {pids, Pids} -> {pids, Pids -- Untraced()}; _ -> Chosen end,
    Set = fun(Who) ->
        case catch SetFlagsOfAll(At, Who, true, First) of
            N when is_integer(N) -> N;
            _ -> 0
        end
    end,
    %% From here on something may be set: whatever happens, it is cleared.
    try
        Began = erlang:monotonic_time(),
        Functions = SetAll(At, RootSpecs, [local]),
        SetAll(At, Called ++ Spawns, [local]),
        Apart = Denied() -- [P || {P, _} <- [Process]],
        Shown = case Bare of true -> []; false -> Called end,
        C ! {Self, go, #{place => At, full => Full, bare => Bare, process => Process,
                         seeds => not Guest, old => Old,
                         origins => maps:from_list([{Origin, []} || Origin <- Origins]),
                         reader => R, key => Key,
                         left => Within(Events, MostEvents),
                         most_roots => Within(Roots, MostRoots),
                         called => maps:from_list([{Mfa, []} || {Mfa, _} <- Shown]),
                         participants => Within(Participants, MostParticipants),
                         denied => maps:from_list([{P, []} || P <- Apart ++ Untraced()])}},
        receive {C, ready} -> ok after GraceMs -> ok end,
        Processes = case Free of
            _ when Flags =:= [] -> 1;
            {pids, Some} -> lists:sum(lists:map(Set, Some));
            all -> Set(processes);
            running -> Set(existing_processes);
            new -> Set(new_processes), 1
        end,
        lists:foreach(fun(Pid) -> catch Unflagged(Pid) end, Untraced()),
        case {Functions, Processes, SystemTracer()} of
            {0, _, _} when Process =:= none, not Guest -> {no_functions, Capture};
            {_, 0, _} -> {no_processes, Capture};
            {_, _, Tracer} when Bare; Tracer =:= none ->
                Bare orelse seq_trace:set_system_tracer(C),
                Bare orelse (W ! {Self, set}),
                First_ = (Within(Roots, MostRoots) - 1) * Within(Every, MostEvery) + 1,
                Origins =/= [] orelse Word(First_),
                Opens = case Guest orelse Origins =:= [] of true -> 0; false -> First_ end,
                {armed, Capture#{arm_us => Us(Began), word => Opens}};
            {_, _, Foreign} -> {{system_tracer, Foreign}, Capture}
        end
    catch
        _:_ -> {killed, Capture}
    end
end,

%% Everything off. Value: how long it took.
TakeOff = fun(Keeper, #{sentinel := Z, watcher := W, reader := R, plan := Plan}) ->
    Began = erlang:monotonic_time(),
    SpansDisarm(Plan),
    Took = Us(Began),
    Killed = [W | [R || is_pid(R)]],
    [exit(P, kill) || P <- Killed],
    Z ! {self(), bye},
    [receive {'EXIT', P, _} -> ok after GraceMs -> exit(P, kill) end || P <- Killed ++ [Z]],
    Keeper ! {unshield, self()},
    catch unregister(beamtop_trace),
    process_flag(priority, normal),
    Took
end,

%% What is kept when a capture is over: answers to `take` come from it.
Over = fun(Keeper, Capture, Why, Counts, Kept) ->
    Took = TakeOff(Keeper, Capture),
    Result = #{over => Why, counts => Counts, kept => Kept, disarm_us => Took,
               at => erlang:monotonic_time()},
    erlang:garbage_collect(),
    Result
end,

Nothing = none,
Zeroes = {0, 0, 0, 0, 0, 0, 0, 0, 0},

%% {Value, Next}
Taken = fun(State) ->
    case State of
        none -> {{refused, not_armed}, none};
        #{over := Why, counts := Counts, kept := Kept, disarm_us := Took, at := At} ->
            {Some, Rest} = lists:split(min(BatchEvents, length(Kept)), Kept),
            {{took, Why, Counts, At, Took, Some}, State#{kept := Rest}};
        #{late := Late} ->
            {{took, running, none, erlang:monotonic_time(), 0, Late}, maps:remove(late, State)};
        #{collector := C} ->
            Unheard = {{took, running, none, erlang:monotonic_time(), 0, []}, State},
            C ! {take, self()},
            receive
                {C, took, Counts, Some} ->
                    {{took, running, Counts, erlang:monotonic_time(), 0, Some}, State};
                {'EXIT', _, _} = Exit -> self() ! Exit, Unheard;
                {C, over, _, _, _} = Ended -> self() ! Ended, Unheard
            after GraceMs ->
                Unheard
            end
    end
end,

%% {Value of the answer, the next state}
Started = fun(#{keeper := Keeper} = Here, Asked) ->
    try Arm(Here, Asked) of
        {armed, #{arm_us := ArmUs, plan := #{place := Place}} = Capture} ->
            erlang:garbage_collect(),
            {{armed, 0, #{mono => erlang:monotonic_time(),
                          wall_us => erlang:system_time(microsecond),
                          per_second => erlang:convert_time_unit(1, second, native),
                          arm_us => ArmUs, session => element(1, Place) =:= session}}, Capture};
        {Why, Capture} ->
            TakeOff(Keeper, Capture),
            {{refused, Why}, Nothing}
    catch
        throw:Why -> {{refused, Why}, Nothing}
    end
end,

Loop = fun Loop(#{keeper := Keeper} = Here, State) ->
    {C, Z, W} = case State of
        #{collector := C_, sentinel := Z_, watcher := W_} -> {C_, Z_, W_};
        _ -> {none, none, none}
    end,
    Killed = fun() ->
        {Why, Left} = case State of
            #{ends := Ended} -> {Ended, maps:get(late, State, [])};
            _ -> {killed, []}
        end,
        Loop(Here, Over(Keeper, State, Why, none, Left))
    end,
    receive
        {ask, AskId, {arm, Asked}} when C =:= none ->
            Start = erlang:monotonic_time(),
            {Value, Next} = Started(Here, Asked),
            Answer(Keeper, AskId, Start, Value),
            Loop(Here, Next);
        {ask, AskId, take} ->
            Start = erlang:monotonic_time(),
            {Value, Next} = Taken(State),
            Answer(Keeper, AskId, Start, Value),
            Loop(Here, Next);
        {ask, AskId, _} ->
            Answer(Keeper, AskId, erlang:monotonic_time(), {refused, busy}),
            Loop(Here, State);
        {tell, stop} when C =/= none ->
            C ! {finish, stopped},
            Loop(Here, State);
        %% With other nodes: roots may begin when all of them are set, and end everywhere.
        {tell, open} when map_get(word, State) > 0 ->
            Word(map_get(word, State)),
            Loop(Here, State#{word := 0});
        {tell, enough} when is_map_key(word, State) ->
            map_get(word, map_get(plan, State)) andalso Word(0),
            Loop(Here, State#{word := 0});
        {tell, returned} when C =/= none ->
            C ! {finish, roots},
            Loop(Here, State);
        {tell, forget} when C =/= none ->
            Over(Keeper, State, stopped, Zeroes, []),
            Loop(Here, Nothing);
        {tell, forget} ->
            Loop(Here, Nothing);
        %% Later than was waited for: it has left the collector, and is taken next.
        {C, took, _, Some} ->
            Loop(Here, State#{late => Some ++ maps:get(late, State, [])});
        {ends, C, Why} ->
            Loop(Here, State#{ends => Why});
        {C, over, Why, Counts, Kept} ->
            Loop(Here, Over(Keeper, State, Why, Counts, maps:get(late, State, []) ++ Kept));
        {'EXIT', Pid, Reason} when Pid =:= Keeper; Reason =:= shutdown ->
            C =:= none orelse TakeOff(Keeper, State);
        {'EXIT', Pid, _} when Pid =:= C; Pid =:= Z; Pid =:= W ->
            Killed();
        %% A value was larger than its heap.
        {'EXIT', Pid, _} when C =/= none, Pid =:= map_get(reader, State) ->
            #{key := Key} = State,
            R = StartReader(C, Key),
            C ! {reader, Key, R},
            Loop(Here, State#{reader := R});
        _ ->
            Loop(Here, State)
    end
end,

{process, [c, otp, own, count_work, late_schedulers],
 fun(Keeper, #{c := Client, otp := Otp, own := OwnOf, count_work := CountWork} = Ctx) ->
     Sign(),
     put('$initial_call', {beamtop, spans, 0}),
     put(count_work, CountWork),
     put(late_schedulers, maps:get(late_schedulers, Ctx)),
     Untraced = fun() -> lists:usort(OwnOf(Keeper) ++ Carriers(Client)) end,
     Loop(#{keeper => Keeper, otp => Otp, untraced => Untraced}, Nothing)
 end}.
