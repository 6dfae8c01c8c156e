%% SPDX-License-Identifier: GPL-3.0-or-later
%% Counting calls: arms the VM's counters for a window, reads and ranks them natively, takes them
%% off. No message is sent for a call. docs/calls.md.
%%
%% A separate process beside the workers: the holder. What is done for each function of the node
%% is done by native functions; what is evaluated runs once for a module or a row.

MostMs = 45000,
MostSampleMs = 1000,
MostRows = 1000,
MostApplications = 1000,
%% One call of the VM for each function costs up to 1 ms (OTP 27): beyond this, all at once is less.
MostArms = 50,
MostHot = 20,
MostRead = 10000,
%% How long a window with its arming, and its reading, may be overdue before a sentinel ends it.
SlackMs = 5000,
Everything = {'_', '_', '_'},

SpawnOptions = [link, {message_queue_data, off_heap}, {priority, high},
                {max_heap_size, #{size => 4194304 div erlang:system_info(wordsize), kill => true,
                                  error_logger => false}}],

%% Who looks at the node with any tool finds our name.
Sign = fun() ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, calls, 0}),
    process_flag(trap_exit, true)
end,

Ms = fun() -> erlang:monotonic_time(millisecond) end,
Us = fun(Since) ->
    erlang:convert_time_unit(erlang:monotonic_time() - Since, native, microsecond)
end,
Text = fun(Format, Values) -> unicode:characters_to_binary(io_lib:format(Format, Values)) end,

-include("part/functions.erl").
-include("part/servers.erl").
-include("part/proc_file.erl").
-include("part/code.erl").
-include("part/flags.erl").

%% ---- The place: `legacy`, the node's single space, or {session, S}

Set = fun(Place, What, How, Items) ->
    case Place of
        legacy -> erlang:trace_pattern(What, How, Items);
        {session, S} -> trace:function(S, What, How, Items)
    end
end,

%% The values of a counter, `false` or `undefined` where it is lost.
Read = fun(Place, Mfas, Item) ->
    N = length(Mfas),
    Items = lists:duplicate(N, Item),
    case Place of
        legacy -> lists:zipwith(fun erlang:trace_info/2, Mfas, Items);
        {session, S} -> lists:zipwith3(fun trace:info/3, lists:duplicate(N, S), Mfas, Items)
    end
end,

%% [{Mfa, {call_count, N}}] of the functions whose counter is not zero, `false` or `undefined` for
%% one that is lost. Few at a time: of a node with 100,000 functions most were not called.
NotZero = fun(Place, Mfas) ->
    Next = fun Next(Left, Sofar) ->
        {Some, Rest} = case length(Left) > MostRead of
            true -> lists:split(MostRead, Left);
            false -> {Left, []}
        end,
        Found = Run(lists:zip(Some, Read(Place, Some, call_count)),
                    [{{'_', {'_', '$1'}}, [{'=/=', '$1', 0}], ['$_']}]),
        case Rest of
            [] -> lists:append([Found | Sofar]);
            _ -> Next(Rest, [Found | Sofar])
        end
    end,
    Next(Mfas, [])
end,

%% The spec of processes as the VM takes it: a list of them.
Whom = fun(Procs) ->
    case Procs of
        {pids, Pids} -> Pids;
        all -> [processes];
        running -> [existing_processes];
        new -> [new_processes]
    end
end,

Flag = fun(Place, Who, On, Flags) ->
    case Place of
        legacy when On -> FlagLegacy(Who, true, [{tracer, self()} | Flags]);
        legacy -> FlagLegacy(Who, false, Flags);
        {session, S} -> trace:process(S, Who, On, Flags)
    end
end,

%% May run twice, and by any of our processes. Plan: #{place, items, flags, who}.
Disarm = fun(#{place := Place, items := Items, flags := Flags, who := Who}) ->
    case Place of
        {session, S} ->
            catch trace:session_destroy(S);
        legacy ->
            lists:foreach(fun(W) -> catch FlagLegacy(W, false, Flags) end, Who),
            catch erlang:trace_pattern(Everything, false, Items)
    end
end,

%% Does nothing until all that it watches are gone, or the window is overdue.
Sentinel = fun(Holder, Others, Plan, UntilMs) ->
    Sign(),
    Wait = fun Wait(Left, Until) ->
        receive
            {Holder, bye} -> ok;
            {Holder, until, Later} -> Wait(Left, Later);
            {'DOWN', M, process, _, _} when [M] =:= Left -> Disarm(Plan);
            {'DOWN', M, process, _, _} -> Wait(Left -- [M], Until);
            _ -> Wait(Left, Until)
        after max(0, Until - Ms()) ->
            Disarm(Plan)
        end
    end,
    Monitors = [monitor(process, P) || P <- [Holder | Others]],
    Holder ! {self(), watching},
    Wait(Monitors, UntilMs)
end,

%% ---- What stands against it

-include("part/may_stop.erl").
-include("part/armed_scan.erl").
-include("part/in_use.erl").

%% Throws the refusal. The name, held from the first window on, keeps two of us apart.
MayArm = fun(Otp) ->
    case whereis(beamtop_calls) =:= self() of
        true -> ok;
        false ->
            try register(beamtop_calls, self())
            catch error:_ -> throw({session, beamtop_calls}) end
    end,
    case Otp < 27 andalso InUse() of
        [_ | _] = Texts -> throw({in_use, Texts});
        _ -> ok
    end
end,

%% ---- Which functions

FunctionsOf = fun(Module) ->
    try lists:usort(erlang:get_module_info(Module, functions)) catch error:_ -> [] end
end,

%% any | {is, Atom} | {re, Compiled} | {app, Atom}; throws why there is none.
Selector = fun(Name, Unknown) ->
    case Name of
        any -> any;
        {re, Bytes} ->
            case (catch re:compile(Bytes, [unicode])) of
                {ok, Compiled} -> {re, Compiled};
                {error, {Why, At}} -> throw({bad_expression, Text("~ts at ~w", [Why, At])});
                _ -> throw({bad_expression, <<"not UTF-8">>})
            end;
        {Kind, Bytes} ->
            {case Kind of name -> is; app -> app end,
             try binary_to_existing_atom(Bytes, utf8) catch error:_ -> throw(Unknown(Bytes)) end}
    end
end,

ModulesOf = fun(Mod) ->
    Unknown = case Mod of {app, _} -> fun(_) -> no_application end; _ -> Missing end,
    case {Selector(Mod, Unknown), Mod} of
        {any, _} -> Loaded();
        {{is, Module}, {_, Bytes}} ->
            case erlang:module_loaded(Module) of
                true -> [Module];
                false -> throw(Missing(Bytes))
            end;
        {{re, Compiled}, _} ->
            case MatchingAtoms(Loaded(), Compiled) of [] -> throw(no_module); Found -> Found end;
        {{app, App}, _} ->
            case application:get_key(App, modules) of
                {ok, Modules} -> lists:filter(fun erlang:module_loaded/1, lists:usort(Modules));
                undefined -> throw(no_application)
            end
    end
end,

%% {[Mfa], [what to arm]}; throws why there is none.
Expand = fun({Mod, Fun, Arity}) ->
    Modules = ModulesOf(Mod),
    Select = Selector(Fun, fun(_) -> no_function end),
    Mfas = lists:append([MfasOf(M, Chosen(FunctionsOf(M), Select, Arity)) || M <- Modules]),
    Arms = case {Mod, Select, Arity} of
        _ when Mfas =:= [] -> throw(no_function);
        {any, any, any} -> [Everything];
        {_, any, any} -> [{M, '_', '_'} || M <- Modules];
        _ -> Mfas
    end,
    {Mfas, Arms}
end,

%% {[Mfa], [what to arm], [how many functions each gives, or why none]}
Functions = fun(Wanted) ->
    Each = case Wanted of
        all -> [Expand({any, any, any})];
        _ -> [try Expand(One) catch throw:Why -> Why end || One <- Wanted]
    end,
    Found = [case E of {Mfas, _} when is_list(Mfas) -> length(Mfas); Why -> Why end || E <- Each],
    {Lists, Arms} = lists:unzip([E || {Mfas, _} = E <- Each, is_list(Mfas)]),
    All = case Lists of [Single] -> Single; _ -> lists:usort(lists:append(Lists)) end,
    Distinct = lists:usort(lists:append(Arms)),
    {All, case lists:member(Everything, Distinct) orelse length(Distinct) > MostArms of
              true -> [Everything];
              false -> Distinct
          end, Found}
end,

%% Module => application, of those that are loaded.
Applications = fun() ->
    Names = [App || {App, _, _} <- application:loaded_applications()],
    maps:from_list([{Module, erts} || Module <- erlang:pre_loaded()] ++ lists:append(
        [case application:get_key(App, modules) of
             {ok, Modules} -> lists:zip(Modules, lists:duplicate(length(Modules), App));
             undefined -> []
         end || App <- Names]))
end,

%% ---- A window

%% Waits; `stop` and the end of the keeper cut it short.
Sleep = fun(Keeper, For) ->
    receive
        {tell, stop} -> ok;
        {'EXIT', Keeper, _} = Exit -> self() ! Exit
    after For -> ok
    end
end,

%% The counters of what is armed run from one instant to another. Done as one native call: what we
%% evaluate in between would be counted. How: `true` arms too, `restart` starts again.
%% Value: {IntervalNative, WaitedNative, when they began}.
Between = fun(Keeper, For, Place, How, Items) ->
    {Module, Function, First} = case Place of
        legacy -> {erlang, trace_pattern, []};
        {session, S} -> {trace, function, [S]}
    end,
    [Before, _, Began, _, Ended, _, After] = lists:zipwith3(
        fun erlang:apply/3,
        [erlang, Module, erlang, erlang, erlang, Module, erlang],
        [monotonic_time, Function, monotonic_time, apply, monotonic_time, Function, monotonic_time],
        [[], First ++ [Everything, How, Items], [], [Sleep, [Keeper, For]],
         [], First ++ [Everything, pause, Items], []]),
    {(Ended + After - Before - Began) div 2, Ended - Began, Began}
end,

%% Arms all but the exceptions, lets it run, stops it, gives what Reading(Place) reads to the
%% caller, and takes everything off. Value: {IntervalNs, Read, {ArmedUs, ReadUs, DisarmedUs},
%% WaitedNative, Flagged}.
Window = fun(Keeper, Otp, For, {Arms, Except}, Items, {Flags, Who, Ours}, Reading) ->
    Self = self(),
    Place = case Otp >= 27 of
        true -> {session, trace:session_create(beamtop_calls, Self, [])};
        false -> legacy
    end,
    %% Children are not known one by one.
    Flagging = case lists:member(set_on_spawn, Flags) of true -> [processes]; false -> Who end,
    Plan = #{place => Place, items => Items, flags => Flags, who => Flagging},
    Until = Ms() + For + SlackMs,
    Z = spawn_opt(erlang, apply, [Sentinel, [Self, [], Plan, Until]], SpawnOptions),
    %% A session ends with those who know it; the single space needs somebody.
    Y = [spawn_opt(erlang, apply, [Sentinel, [Self, [Z], Plan, Until]], SpawnOptions)
         || Place =:= legacy],
    %% What they do first must not be counted either.
    [receive {P, watching} -> ok; {'EXIT', P, _} -> ok end || P <- [Z | Y]],
    process_flag(priority, high),
    Arming = erlang:monotonic_time(),
    %% Whatever happens, clearing comes first and once: all else may wait.
    Done = try
        Flagged = lists:sum([case (catch Flag(Place, W, true, Flags)) of
                                 N when is_integer(N) -> N; _ -> 0 end || W <- Who]),
        [catch Flag(Place, P, false, Flags) || Who =/= [], P <- Ours],
        How = case {Arms, Except} of
            {[Everything], []} ->
                true;
            _ ->
                lists:foreach(fun(Arm) -> Set(Place, Arm, true, Items) end, Arms),
                lists:foreach(fun(Arm) -> Set(Place, Arm, false, Items) end, Except),
                restart
        end,
        {Interval, Waited, Began} = Between(Keeper, For, Place, How, Items),
        [P ! {Self, until, Ms() + SlackMs} || P <- [Z | Y]],
        {done, Interval, Waited, Began, Flagged, Reading(Place)}
    catch
        Class:Why -> {failed, Class, Why}
    end,
    Stop = erlang:monotonic_time(),
    Disarm(Plan),
    DisarmedUs = Us(Stop),
    [P ! {Self, bye} || P <- [Z | Y]],
    [receive {'EXIT', P, _} -> ok after 1000 -> exit(P, kill) end || P <- [Z | Y]],
    process_flag(priority, normal),
    case Done of
        {done, Ns, Slept, From, N, Told} ->
            Costs = {erlang:convert_time_unit(From - Arming, native, microsecond),
                     erlang:convert_time_unit(Stop - From - Slept, native, microsecond),
                         DisarmedUs},
            {erlang:convert_time_unit(Ns, native, nanosecond), Told, Costs, Slept, N};
        {failed, Kind, Reason} ->
            erlang:Kind(Reason)
    end
end,

None = {[], [], []},
Stamp = fun() -> {erlang:monotonic_time(nanosecond), erlang:system_time(microsecond)} end,

%% [{Calls, M, F, A}] of what was read, and the most called of them.
CallsFirst = [{{{'$1', '$2', '$3'}, {'_', '$4'}}, [{is_integer, '$4'}],
               [{{'$4', '$1', '$2', '$3'}}]}],
MostCalled = fun(Called, N) -> lists:sublist(lists:reverse(lists:sort(Called)), N) end,

Sample = fun(Keeper, Otp, For, Wanted) ->
    {Mfas, Arms, Found} = Functions(Wanted),
    Schedulers = erlang:system_info(schedulers_online),
    case lists:all(fun erlang:is_integer/1, Found) of
        false ->
            {{sampled, 0, Schedulers, length(Mfas), 0, Found, length(Arms), []}, 0};
        true ->
            MayArm(Otp),
            erlang:garbage_collect(),
            Reading = fun(Place) -> NotZero(Place, Mfas) end,
            {Ns, Told, _, Waited, _} =
                Window(Keeper, Otp, max(1, min(For, MostSampleMs)), {Arms, []}, [call_count], None,
                       Reading),
            Called = Run(Told, CallsFirst),
            Hot = [{M, F, A, undefined, C} || {C, M, F, A} <- MostCalled(Called, MostHot)],
            {{sampled, Ns, Schedulers, length(Mfas), lists:sum([C || {C, _, _, _} <- Called]),
              Found, length(Arms), Hot}, Waited}
    end
end,

%% [{Calls, Functions, Key}], most calls first: added up in a table, natively.
Sums = fun(Keys, Counts) ->
    N = length(Keys),
    Zeros = lists:duplicate(N, 0),
    Table = ets:new(beamtop, [private]),
    ets:insert(Table, lists:zip3(Keys, Zeros, Zeros)),
    Adding = Run(lists:zip(Counts, Zeros), [{{'$1', '_'}, [], [[{{2, 1}}, {{3, '$1'}}]]}]),
    lists:zipwith3(fun ets:update_counter/3, lists:duplicate(N, Table), Keys, Adding),
    Summed = Run(ets:tab2list(Table), [{{'$1', '$2', '$3'}, [], [{{'$3', '$2', '$1'}}]}]),
    ets:delete(Table),
    lists:reverse(lists:sort(Summed))
end,

%% Value: {answer, waited, [Mfa of the rows]}
CountAll = fun(Keeper, Otp, For, Wanted, MostTop, Except) ->
    Start = erlang:monotonic_time(),
    Top = max(1, min(MostTop, MostRows)),
    {All, Arms, Found} = Functions(Wanted),
    Mfas = case Except of [] -> All; _ -> lists:subtract(All, Except) end,
    lists:all(fun erlang:is_integer/1, Found) orelse throw(no_functions),
    MayArm(Otp),
    AppOf = Applications(),
    erlang:garbage_collect(),
    Listed = Us(Start),
    %% Only what goes with the breakpoints is read before they are cleared.
    Reading = fun(Place) -> NotZero(Place, Mfas) end,
    {Ns, Told, {Armed, ReadUs, Off}, Waited, _} =
        Window(Keeper, Otp, max(1, min(For, MostMs)), {Arms, Except}, [call_count], None, Reading),
    {Mono, Wall} = Stamp(),
    Ranking = erlang:monotonic_time(),
    Called = Run(Told, CallsFirst),
    Lost = Run(Told, [{{{'$1', '_', '_'}, {'_', '$2'}}, [{'not', {is_integer, '$2'}}], ['$1']}]),
    Counts = Run(Called, [{{'$1', '_', '_', '_'}, [], ['$1']}]),
    Modules = Run(Called, [{{'_', '$1', '_', '_'}, [], ['$1']}]),
    N = length(Called),
    Apps = lists:zipwith3(fun maps:get/3, Modules, lists:duplicate(N, AppOf),
                          lists:duplicate(N, undefined)),
    Best = MostCalled(Called, Top),
    Rows = [{M, F, A, maps:get(M, AppOf, undefined), C} || {C, M, F, A} <- Best],
    OfModules = [{M, maps:get(M, AppOf, undefined), Fs, C}
                 || {C, Fs, M} <- lists:sublist(Sums(Modules, Counts), Top)],
    OfApps = [{App, Fs, C} || {C, Fs, App} <- lists:sublist(Sums(Apps, Counts), MostApplications)],
    {{counted, Mono, Wall, Ns, length(Mfas), N, lists:sum(Counts),
      {length(Lost), lists:sublist(lists:usort(Lost), 20)}, Rows, OfModules, OfApps,
      {Listed, Armed, ReadUs + Us(Ranking), Off}},
     Waited, [{M, F, A} || {_, M, F, A} <- Best]}
end,

%% Sums over processes, ours left out. Value: {Calls, Sum} or lost.
OverProcesses = fun(Place, Mfa, Item, Ours) ->
    case Read(Place, [Mfa], Item) of
        [{Item, List}] when is_list(List) ->
            Not = [{'not', {is_map_key, '$1', {const, Ours}}}],
            {Spec, Value} = case Item of
                call_time -> {{'$1', '$2', '$3', '$4'}, {'+', {'*', '$3', 1000000}, '$4'}};
                call_memory -> {{'$1', '$2', '$3'}, '$3'}
            end,
            {lists:sum(Run(List, [{Spec, Not, ['$2']}])),
             lists:sum(Run(List, [{Spec, Not, [Value]}]))};
        _ ->
            lost
    end
end,

Time = fun(Keeper, Otp, For, Items, Procs, OurPids, Leaders) ->
    Start = erlang:monotonic_time(),
    Leaders =:= [] andalso throw(no_functions),
    Otp < 26 andalso lists:member(call_memory, Items) andalso throw(no_memory),
    {Which, Flags} = case Procs of
        {Some, children} -> {Some, [call, set_on_spawn]};
        _ -> {Procs, [call]}
    end,
    Ours = maps:from_list([{P, []} || P <- OurPids]),
    Who = case Whom(Which) of [P | _] = Pids when is_pid(P) -> Pids -- OurPids; Spec -> Spec end,
    Stops = lists:member(processes, Who) orelse lists:member(existing_processes, Who),
    case MayStop(Stops) of ok -> ok; Late -> throw(Late) end,
    MayArm(Otp),
    Listed = Us(Start),
    Reading = fun(Place) ->
        [{Mfa, [OverProcesses(Place, Mfa, Item, Ours) || Item <- Items]} || Mfa <- Leaders]
    end,
    {Ns, Told, {Armed, ReadUs, Off}, Waited, Flagged} =
        Window(Keeper, Otp, max(1, min(For, MostMs)), {Leaders, []}, Items, {Flags, Who, OurPids},
               Reading),
    Which =/= new andalso Flagged =:= 0 andalso throw(no_processes),
    {Mono, Wall} = Stamp(),
    Value = fun(Item, Of) ->
        case [Sum || {I, {_, Sum}} <- Of, I =:= Item] of [Sum] -> Sum; [] -> undefined end
    end,
    Row = fun({{M, F, A}, Values}) ->
        Of = lists:zip(Items, Values),
        {M, F, A, case Values of [{Calls, _} | _] -> Calls; _ -> lost end,
         Value(call_time, Of), Value(call_memory, Of)}
    end,
    {{timed, Mono, Wall, Ns, Flagged, lists:map(Row, Told), {Listed, Armed, ReadUs, Off}}, Waited}
end,

%% ---- The holder

%% {Value, WaitedNative, Leaders}
Do = fun(Keeper, Otp, Own, Ask, Leaders) ->
    try
        case Ask of
            {sample, For, Wanted} ->
                {Value, Waited} = Sample(Keeper, Otp, For, Wanted),
                {Value, Waited, Leaders};
            {count, For, Wanted, Top} ->
                CountAll(Keeper, Otp, For, Wanted, Top, []);
            {count, For, Wanted, Top, Except} ->
                CountAll(Keeper, Otp, For, Wanted, Top, lists:sublist(Except, MostHot));
            {time, For, Items, Procs} ->
                {Value, Waited} = Time(Keeper, Otp, For, Items, Procs, Own(Keeper), Leaders),
                {Value, Waited, Leaders};
            close ->
                catch unregister(beamtop_calls),
                {closed, 0, []}
        end
    catch
        throw:Why -> {{refused, Why}, 0, Leaders}
    end
end,

Loop = fun Loop(Keeper, Otp, Own, CountWork, Leaders) ->
    erlang:garbage_collect(),
    receive
        {ask, AskId, Ask} ->
            Start = erlang:monotonic_time(),
            put(waited, 0),
            put(helped, 0),
            {Value, Slept, Next} = Do(Keeper, Otp, Own, Ask, Leaders),
            CountWork(),
            Waited = Slept + get(waited),
            Keeper ! {done, AskId, ok, {erlang:monotonic_time() - Start - Waited, Waited}, Value},
            Loop(Keeper, Otp, Own, CountWork, Next);
        {'EXIT', Keeper, _} ->
            ok;
        _ ->
            Loop(Keeper, Otp, Own, CountWork, Leaders)
    end
end,

{process, [otp, own, count_work, late_schedulers, in_time],
 fun(Keeper, #{otp := Otp, own := Own, count_work := CountWork, late_schedulers := Late,
               in_time := InTime}) ->
     Sign(),
     put(late_schedulers, Late),
     put(in_time, InTime),
     %% One heap: the lists of all functions are kept for a window, and then gone.
     Otp >= 24 andalso process_flag(fullsweep_after, 0),
     Loop(Keeper, Otp, Own, CountWork, [])
 end}.
