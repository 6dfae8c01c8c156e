%% SPDX-License-Identifier: GPL-3.0-or-later
%% Top processes: sweeps one attribute over all processes, ranks them, and reads the rest only for
%% the rows that are shown. Runs in a holder: state in, {Answer, State} out.
%%
%% The pids and their last values are kept by the *sweeper*, another process: its heap is large
%% only while it works, and packed after that. It works on a part of the pids at a time, and each
%% part gets how good a process must be to get among the best so far, so that it makes little.
%% Whatever is done for every process is one call of a native function over a list: lists:zipwith/3
%% with an external fun, ets:match_spec_run/2.
%%
%% On a small node all that costs more than it spares: there the coordinator sweeps by itself.

%% Processes of a small node; one with more stays large until it has half as many.
SmallMost = 1000,
PartSize = 5000,
FirstSize = 500,
SliceSize = 100,
LabelsAtATime = 5000,
LabelsMax = 200000,
Lowest = -(1 bsl 58),

-include("part/walked.erl").
-include("scan/rank.erl").

-include("scan/filter.erl").

-include("scan/sweeper.erl").

%% ---- A long-lived helper: the sweeper
%% It makes a heap as large as it needs only while it works. Before the answer what is left of it is
%% collected, or, at the end of a sweep, packed into a heap of just its size, by hibernation. Its
%% clock sees neither that nor the pages which a large heap takes and gives back: an estimate from
%% its size is added to what it worked.

WordsPerUs = 70,

%% Sends the answer when what the work left is collected.
Tell = fun({Ref, Answer, Start, Rest}, Words, CountWork, Coordinator) ->
    process_flag(min_heap_size, 233),
    erlang:garbage_collect(self(), [{type, minor}]),
    Memory = erlang:convert_time_unit(Words div WordsPerUs, microsecond, native),
    Coordinator ! {Ref, Answer, Memory + get(helped),
                   max(0, erlang:monotonic_time() - Start - get(waited)), CountWork()}
end,
%% Waits for one job, works, answers {Ref, Answer, Memory, Wall, Reductions}. Ends with its
%% coordinator. Calling itself in the last place drops everything but the new state.
Serve = fun Serve(Coordinator, Work, Words, CountWork, State, Done) ->
    Done =:= none orelse Tell(Done, Words(State), CountWork, Coordinator),
    case Done of
        {_, _, _, pack} ->
            erlang:hibernate(erlang, apply, [Serve, [Coordinator, Work, Words, CountWork, State,
                none]]);
        {_, _, _, stop} ->
            ok;
        _ ->
            receive
                {Ref, Job} ->
                    put('$process_label', beamtop),
                    put('$initial_call', {beamtop, keeper, 0}),
                    Start = erlang:monotonic_time(),
                    put(waited, 0),
                    put(helped, 0),
                    %% One step to the heap that the work needs, not one collection a step.
                    process_flag(min_heap_size, Words(State)),
                    {Answer, Next, Rest} = try Work(Job, State) catch _:_ -> exit(shutdown) end,
                    Serve(Coordinator, Work, Words, CountWork, Next, {Ref, Answer, Start, Rest})
            end
    end
end,
StartHelper = fun(Work, Words, State, HeapBytes) ->
    Limit = #{size => HeapBytes div erlang:system_info(wordsize), kill => true,
              error_logger => false},
    SpawnOwn = get(spawn),
    SpawnOwn(Serve, [self(), Work, Words, get(count_work), State, none],
             [link, {message_queue_data, off_heap}, {max_heap_size, Limit},
              {min_bin_vheap_size, 1000000}])
end,

%% Asks a helper and waits; what it worked is ours, the wait is not.
AskHelper = fun(Pid, Request) ->
    Ref = make_ref(),
    Start = erlang:monotonic_time(),
    Pid ! {Ref, Request},
    receive
        {Ref, Answer, Memory, Wall, Reductions} ->
            put(waited, get(waited) + erlang:monotonic_time() - Start),
            put(helped, get(helped) + Memory),
            {OtherWalls, OtherReductions} = get(helpers),
            put(helpers, {OtherWalls + Wall, OtherReductions + Reductions}),
            Answer
    end
end,

StartSweeper = fun() ->
    HeapMiB = 64 + erlang:system_info(process_count) div 2048,
    StartHelper(SweeperWork, SweeperWords, {[], none, 0, 0}, HeapMiB * 1048576)
end,

-include("part/supervisors.erl").
-include("part/items.erl").

-include("scan/rows.erl").

%% ---- The coordinator
%% State: small (pid => last number, of a small node; none of a large one, or with a filter),
%% sweeper (its pid), attr and at (of the last sweep), lasts (values of the rows, for those that are
%% followed), calls (initial calls and supervisors of the rows), labels (Label => Id), untold
%% (labels found but not sent), fields (those whose labels have all been found).

Fresh = #{small => #{}, sweeper => none, attr => none, at => 0, lasts => #{},
          calls => {#{}, #{}}, labels => #{}, untold => [], fields => []},

%% Numbers labels not seen before: {LabelIds sent now, Labels, Untold}.
NumberNew = fun(Found, Labels, Untold) ->
    New = [L || L <- Found, not is_map_key(L, Labels)],
    Room = max(0, LabelsMax - map_size(Labels)),
    Numbered = lists:zip(lists:seq(map_size(Labels) + 1, map_size(Labels) + min(Room, length(New))),
                         lists:sublist(New, Room)),
    Known = maps:merge(Labels, maps:from_list([{L, N} || {N, L} <- Numbered])),
    All = Untold ++ Numbered,
    {lists:sublist(All, LabelsAtATime), Known, lists:nthtail(min(LabelsAtATime, length(All)), All)}
end,

%% erl_eval looks at every variable in sight for each argument of each call: what runs at every tick
%% is cut into funs with few of them.

%% What the sweeper gets.
JobOf = fun(#{filter := Filtering} = Arg, #{fields := OldFields}, Apps, Ctx) ->
    Given = maps:with([attr, mode, order, rows, filter, first], Arg),
    Base = Given#{ledger => {get(keeper), get(heavies)}},
    case Filtering of
        none ->
            %% A fun is copied with all that it needs: only to who needs it.
            Base#{fields => OldFields, all_labels => false, apps => #{}, ctx => none};
        {_, Asked, _} ->
            Fields = lists:usort(Asked),
            Base#{fields => Fields, all_labels => Fields =/= OldFields, apps => Apps,
                  ctx => maps:with([caps, label_text, calls_behind], Ctx)}
    end
end,

%% One of ours that was the node's when it was born, such as a beamtop's that had no name yet, is in
%% a part: it has no place among the best.
WithoutOurs = fun(Best, Own, N) ->
    Pids = ets:match_spec_run(Best, PidOfEntry),
    Theirs = case Pids -- Own of
        Pids -> Best;
        Others -> [Entry || {_, _, _, Pid} = Entry <- Best, lists:member(Pid, Others)]
    end,
    lists:sublist(Theirs, N)
end,
%% Everybody but ours is counted, and all parts are asked. Who answers another question may be born
%% between the look at ours and the census, which would take it for the node's.
SweepLarge = fun(#{sweeper := Sweeper} = State, Arg, Apps, Own,
                 #{k := Keeper, own := OwnOf} = Ctx) ->
    #{rows := N, first := First, fields := Fields} = Job = JobOf(Arg, State, Apps, Ctx),
    {Counted, HasNew} = AskHelper(Sweeper, {look, Own}),
    Progress = case First of
        true -> {maps:get(c, Ctx), 0, Counted, erlang:monotonic_time(millisecond)};
        false -> undefined
    end,
    Late = case HasNew of true -> OwnOf(Keeper) -- Own; false -> [] end,
    {Ours, Best, Passed, Found} =
        AskHelper(Sweeper, {sweep, {Own, Late}, Progress, Job#{rows := N + length(Own)}}),
    {Counted - Ours, {WithoutOurs(Best, Own, N), Passed, Found}, State#{fields := Fields}}
end,

%% The same of a small node. Births are deltas from 0, as above.
SmallSpecOf = fun(#{first := First, mode := Mode, order := Order} = Arg) ->
    case get(small_spec) of
        {First, Mode, Order, Known} ->
            Known;
        _ ->
            Spec = ets:match_spec_compile(RankSpec(Arg, Lowest)),
            put(small_spec, {First, Mode, Order, Spec}),
            Spec
    end
end,
SweepSmall = fun(Lasts, #{attr := Attr, first := First, rows := N} = Arg, Own, OwnNow) ->
    Listed = erlang:processes() -- Own,
    Pids = case Listed -- maps:keys(Lasts) of
        [] -> Listed;
        _ -> Listed -- OwnNow()
    end,
    %% What is cheap waits only for those that run.
    News = case lists:member(Attr, [reductions, message_queue_len]) of
        true -> Apart(fun() -> SweepAllOf(Pids, Attr) end, 5 + length(Pids) div 10);
        false -> SweepAllOf(Pids, Attr)
    end,
    Numbers = ets:match_spec_run(News, NumberSpec),
    Olds = case First of
        true -> Numbers;
        false -> Looked(Pids, Lasts, 0)
    end,
    Ranked = ets:match_spec_run(lists:zip3(Pids, Olds, Numbers), SmallSpecOf(Arg)),
    {length(Pids), {Highest(Ranked, N), 0, []}, maps:from_list(lists:zip(Pids, Numbers))}
end,
%% From one to the other, with the last values.
Grown = fun(#{small := Lasts} = State) ->
    {Pids, Numbers} = lists:unzip(lists:sort(maps:to_list(Lasts))),
    Sweeper = StartSweeper(),
    Pids =:= [] orelse AskHelper(Sweeper, {take, Pids, Numbers}),
    State#{small := none, sweeper := Sweeper}
end,
Shrunk = fun(#{sweeper := Sweeper} = State) ->
    State#{small := maps:from_list(lists:append(AskHelper(Sweeper, retire))), sweeper := none}
end,
%% {Everybody, {Best, Passed, labels}, next state}.
SweepAll = fun SweepAll(#{small := Lasts} = State, #{filter := Filtering} = Arg, Apps, Own, Ctx) ->
    Few = case Lasts of none -> SmallMost div 2; _ -> SmallMost end,
    case Filtering =:= none andalso erlang:system_info(process_count) =< Few of
        true when Lasts =:= none ->
            SweepAll(Shrunk(State), Arg, Apps, Own, Ctx);
        true ->
            #{k := Keeper, own := OwnOf} = Ctx,
            {Count, Found, Values} = SweepSmall(Lasts, Arg, Own, fun() -> OwnOf(Keeper) end),
            {Count, Found, State#{small := Values}};
        false when Lasts =:= none ->
            SweepLarge(State, Arg, Apps, Own, Ctx);
        false ->
            SweepLarge(Grown(State), Arg, Apps, Own, Ctx)
    end
end,

%% {Entries, Ours}: the best, ours among them if wanted, then the followed ones that are not.
EntriesOf = fun(Best, #{own := false, pids := []}, _, _) ->
    {Best, []};
   (Best0, #{own := ShowOwn, rows := N, pids := Followed} = Arg, Own, Lasts) ->
    Ours = case ShowOwn of true -> Extra(Own, Lasts, Arg); false -> [] end,
    Best = case Ours of
        [] -> Best0;
        _ -> Highest(Ours ++ Best0, N)
    end,
    case Followed -- ets:match_spec_run(Best, PidOfEntry) of
        [] -> {Best, Ours};
        Pids -> {Best ++ Extra(Pids, Lasts, Arg), Ours}
    end
end,

%% Those that are watched have rows of their own, unless they have one already.
Watched = fun(Ranked, Arg, Lasts) ->
    case maps:get(watch, Arg, []) of
        [] -> [];
        Pids -> Extra(Pids -- ets:match_spec_run(Ranked, PidOfEntry), Lasts, Arg)
    end
end,
PidValue = ets:match_spec_compile([{{'_', '$1', '_', '$2'}, [], [{{'$2', '$1'}}]}]),

Tick = fun(#{attr := Attr} = Given, State, Ctx, Own) ->
    #{lasts := Lasts, calls := OldCalls, at := At, attr := OldAttr} = State,
    Apps = (maps:get(apps, Ctx))(),
    Arg = Given#{first => Attr =/= OldAttr},
    SweptNs = erlang:monotonic_time(nanosecond),
    {Everybody, {Best, Passed, Found}, Swept} = SweepAll(State, Arg, Apps, Own, Ctx),
    SweepUs = (erlang:monotonic_time(nanosecond) - SweptNs) div 1000,
    {Ranked, Ours} = EntriesOf(Best, Arg, Own, Lasts),
    Others = Watched(Ranked, Arg, Lasts),
    {Rows, Calls} = ReadRows(Ranked, Others, maps:get(items, Arg), OldCalls, Apps, Ctx),
    Interval = case OldAttr of Attr -> SweptNs - At; _ -> 0 end,
    {{SweptNs, Interval, SweepUs, Everybody, Passed, Rows}, Found,
     Swept#{attr := Attr, at := SweptNs, calls := Calls,
            lasts := maps:from_list(ets:match_spec_run(Ranked ++ Others ++ Ours, PidValue))}}
end,

%% The state after the tick: labels numbered.
After = fun(#{untold := []} = State, []) ->
    {[], State};
   (#{labels := Labels, untold := Untold} = State, Found) ->
    {Told, AllLabels, StillUntold} = NumberNew(Found, Labels, Untold),
    {Told, State#{labels := AllLabels, untold := StillUntold}}
end,

%% Who is ours takes so much for some 15 processes.
OwnReads = 20,

Begin = fun(Given, Reset, #{spawn := SpawnOwn, count_work := CountWork}) ->
    State = case Given of
        new ->
            put(spawn, SpawnOwn),
            put(count_work, CountWork),
            Fresh;
        _ ->
            Given
    end,
    case Reset of
        true -> State#{labels := #{}, untold := [], fields := []};
        false -> State
    end
end,

{holder, [c, k, own, apps, caps, label_text, id_keys, initial_call, calls_behind, spawn,
          count_work],
fun(#{reset := Reset, filter := Filtering} = Arg, Ctx) ->
    #{state := Given, k := Keeper, own := OwnOf} = Ctx,
    State = Begin(Given, Reset, Ctx),
    %% Of a small node that is a millisecond or two: its place in a run queue is not work.
    process_flag(priority, case State of #{small := none} -> normal; #{} -> high end),
    Own = Apart(fun() -> OwnOf(Keeper) end, OwnReads),
    put(ours, Own),
    {Numbers, Found, Ticked} = Tick(Arg, State, Ctx, Own),
    {SweptNs, Interval, SweepUs, Everybody, Passed, {Rows, Watches}} = Numbers,
    {Told, Next} = After(Ticked, Found),
    Candidates = case Filtering of none -> Everybody; _ -> Passed end,
    Scan = {scan, SweptNs, Interval, SweepUs, Everybody, Candidates, length(Own), Rows, Told},
    {case Arg of #{watch := [_ | _]} -> erlang:append_element(Scan, Watches); _ -> Scan end, Next}
end}.
