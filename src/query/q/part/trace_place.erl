%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What traces and spans share: processes of ours, the place of tracing, setting, clearing

%% How long after its end a trace waits for results, and its processes for each other.
GraceMs = 1000,
%% Holds what is to be disarmed: of 10,000 functions some MiB, while memory is collected twice that.
SentinelBytes = 16777216,

SpawnOptions = fun(HeapBytes) ->
    Words = HeapBytes div erlang:system_info(wordsize),
    [link, {message_queue_data, off_heap}, {fullsweep_after, 0}, {priority, high},
     {max_heap_size, #{size => Words, kill => true, error_logger => false}}]
end,

%% Who looks at the node with any tool finds our name.
SignAs = fun(Traps) ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, trace, 0}),
    Traps andalso process_flag(trap_exit, true)
end,
Sign = fun() -> SignAs(true) end,

Now = fun() -> erlang:monotonic_time(nanosecond) end,
Text = fun(Format, Values) -> unicode:characters_to_binary(io_lib:format(Format, Values)) end,

%% ---- The budget and the place: {legacy, Collector}, the node's single space, or {session, S}

Budget = {'>', {get_tcw}, 0},
Take = {set_tcw, {'-', {get_tcw}, 1}},
Word = fun(N) -> erlang:system_flag(trace_control_word, N) end,

SetFlags = fun(Place, P, On, Flags) ->
    case Place of
        {session, S} -> trace:process(S, P, On, Flags);
        {legacy, Collector} when On -> erlang:trace(P, true, [{tracer, Collector} | Flags]);
        {legacy, _} -> erlang:trace(P, false, Flags)
    end
end,
%% Of more than one process. A separate function, since each that names it holds a copy of it.
SetFlagsOfAll = fun(Place, Who, On, Flags) ->
    case Place of
        {session, _} -> SetFlags(Place, Who, On, Flags);
        {legacy, Collector} when On -> FlagLegacy(Who, true, [{tracer, Collector} | Flags]);
        {legacy, _} -> FlagLegacy(Who, false, Flags)
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

%% ---- Of many functions at once. What is evaluated for each of them costs 50 us and more, and
%% calls hundreds of functions; so native functions do it.

EachWith = fun(Targets, Value) -> lists:zip(Targets, lists:duplicate(length(Targets), Value)) end,

%% [{What, Spec}]. Value: how many functions took it.
SetAll = fun(Place, Pairs, Options) ->
    Copies = fun(Value) -> lists:duplicate(length(Pairs), Value) end,
    {Targets, Specs} = lists:unzip(Pairs),
    {Function, Arguments} = case Place of
        {legacy, _} ->
            {fun erlang:trace_pattern/3, lists:zip3(Targets, Specs, Copies(Options))};
        {session, S} ->
            {fun trace:function/4, lists:zipwith(fun erlang:append_element/2,
                                                 lists:zip3(Copies(S), Targets, Specs),
                                                 Copies(Options))}
    end,
    Lists = lists:map(fun erlang:tuple_to_list/1, Arguments),
    case catch lists:sum(lists:zipwith(fun erlang:apply/2, Copies(Function), Lists)) of
        N when is_integer(N) -> N;
        %% One that the VM refuses keeps no other from being set or cleared.
        _ -> lists:sum([N || List <- Lists, N <- [catch apply(Function, List)], is_integer(N)])
    end
end,

ReadAll = fun(Place, Mfas, Item) ->
    N = length(Mfas),
    Items = lists:duplicate(N, Item),
    case Place of
        {legacy, _} -> lists:zipwith(fun erlang:trace_info/2, Mfas, Items);
        {session, S} -> lists:zipwith3(fun trace:info/3, lists:duplicate(N, S), Mfas, Items)
    end
end,

%% ---- Disarming. May run twice, and by any of the three processes: nothing in it needs another.
%% Plan: #{place, flags, local => [Mfa], messages => [send | 'receive'], counters => [{Item,
%% [Mfa]}], who => Which, word => whether the control word is ours (without it: yes)}. What a
%% foreign tool has put in place of ours since is left.

OursOf = fun(Mfas) ->
    Ours = ets:match_spec_compile(
        [{{'$1', {match_spec, [{'_', [{'>', {get_tcw}, 0} | '_'], [{set_tcw, '_'} | '_']} | '_']}},
          [], ['$1']}]),
    ets:match_spec_run(lists:zip(Mfas, ReadAll({legacy, none}, Mfas, match_spec)), Ours)
end,

%% The tracer is dead: looking at a process is what makes the VM drop the flags of ours there.
Unflag = fun(Flags, Who) ->
    case Who of
        {pids, Pids} ->
            lists:foreach(fun(P) -> catch erlang:trace(P, false, Flags) end, Pids);
        _ ->
            catch erlang:trace(new_processes, false, Flags),
            LookAtEach(Flags)
    end
end,

%% Flags of all are cleared after a moment in which the whole node stands still: not where single
%% processes have them, or none.
UnflagSession = fun(S, Flags, Who) ->
    case Who of
        none -> ok;
        {pids, Pids} -> lists:foreach(fun(P) -> catch trace:process(S, P, false, Flags) end, Pids);
        _ -> catch trace:process(S, all, false, Flags)
    end
end,

Disarm = fun(#{place := Place, flags := Flags, local := Local, messages := Messages,
               counters := Counters, who := Who} = Plan) ->
    Counts = maps:get(word, Plan, true),
    Counts andalso Word(0),
    case Place of
        {session, S} ->
            UnflagSession(S, Flags, Who),
            catch trace:session_destroy(S);
        {legacy, _} ->
            Flags =/= [] andalso Unflag(Flags, Who),
            %% What was being set when its process was killed still comes; this waits for it.
            catch erlang:trace_pattern({beamtop, none, 0}, false, [local]),
            SetAll(Place, EachWith(OursOf(Local), false), [local]),
            lists:foreach(fun(M) -> erlang:trace_pattern(M, true, []) end, Messages),
            [SetAll(Place, EachWith(Mfas, false), [Item]) || {Item, Mfas} <- Counters]
    end,
    %% Once more: a caller between reading and writing may have put an old value back.
    Counts andalso Word(0)
end,

%% Kills a process of ours, and waits for its end.
KillOurs = fun(P) ->
    exit(P, kill),
    Gone = monitor(process, P),
    receive {'DOWN', Gone, _, _, _} -> ok after GraceMs -> ok end
end,

%% Does Work, which may run twice. Whoever is killed at it is followed by another that does it: also
%% when the process that was to watch for that has been killed before. Not linked: it would end with
%% the process that it follows, before it traps exits.
Surely = fun Surely(Work) ->
    Doer = self(),
    Follow = fun() ->
        Sign(),
        Gone = monitor(process, Doer),
        receive
            {Doer, done} -> ok;
            {'DOWN', Gone, process, _, _} -> Surely(Work)
        end
    end,
    Follower = spawn_opt(erlang, apply, [Follow, []], SpawnOptions(SentinelBytes) -- [link]),
    Value = Work(),
    Follower ! {Doer, done},
    Value
end,
