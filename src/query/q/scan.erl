%% SPDX-License-Identifier: GPL-3.0-or-later
%% Top processes: sweeps one attribute over all processes, ranks them, and reads the rest only for
%% the rows that are shown. Runs in a holder: state in, {Answer, State} out.
%%
%% The pids and their last values are kept by *parts*, small processes with about PartSize pids
%% each. They work one after the other, so that no more than one has a large heap at a time, and
%% each gets how good a process must be to get among the best so far, so that answers are short.
%% Whatever is done for every process is one call of a native function over a list: lists:zipwith/3
%% with an external fun, ets:match_spec_run/2. Pids and values are lists of *slices*: of one whose
%% values are those of the tick before nothing is made but the values to compare.
%%
%% On a small node all that costs more than it spares: there the coordinator sweeps by itself.

%% Processes of a small node; one with more stays large until it has half as many.
SmallMost = 1000,
PartSize = 8000,
%% The first part is small: it ranks all that it has, to find what the others must exceed.
FirstSize = 500,
SliceSize = 100,
LabelsAtATime = 5000,
LabelsMax = 200000,

-include("part/walked.erl").
-include("scan/rank.erl").

-include("scan/filter.erl").

%% ---- A part
%% State: {Slices of pids, slices of their last values, Identities}; identities of the first of the
%% pids only, or none.

%% Which slices are as they were: [1 | 2], 2 where something changed.
Compared = fun(Both) -> Run(Both, [{{'$1', '$1'}, [], [1]}, {'_', [], [2]}]) end,
%% Who did nothing is not among the best where one must have done something.
NeedsAll = fun(#{filter := Filtering, floor := Floor, first := First, mode := Mode,
                 order := Order}) ->
    First orelse Floor < 0 orelse {Filtering, Mode, Order} =/= {none, delta, desc}
end,
TriplesOf = fun(Slices, Olds, News, Which, Job) ->
    {Pids, Old, New} =
        case NeedsAll(Job) of
            true ->
                {Slices, Olds, News};
            false ->
                Same = 2 * length(Which) - lists:sum(Which),
                Tagged = lists:zip(Which, lists:zip3(Slices, Olds, News)),
                {_, Changed} = lists:unzip(lists:nthtail(Same, lists:keysort(1, Tagged))),
                lists:unzip3(Changed)
        end,
    lists:append(lists:zipwith3(fun lists:zip3/3, Pids, Old, New))
end,
CountIn = fun(Slices) -> lists:sum(lists:map(fun erlang:length/1, Slices)) end,
%% Without the dead, where identities are read again when they are needed; cut again where births
%% made many slices that are not full.
Purged = fun({Slices, Values, Identities} = State) ->
    Dead = lists:member(true, lists:zipwith(fun lists:member/2,
                                            lists:duplicate(length(Values), undefined), Values)),
    case Dead orelse length(Slices) > 2 * (CountIn(Slices) div SliceSize + 2) of
        true ->
            Alive = Run(lists:zip(lists:append(Slices), lists:append(Values)),
                        [{{'_', {'_', '_'}}, [], ['$_']}]),
            {Pids, Kept} = lists:unzip(Alive),
            {Cut(Pids), Cut(Kept), case Dead of true -> []; false -> Identities end};
        false ->
            State
    end
end,

%% {Answer, State, rest | pack}: packed when it is its turn.
PartWork = fun({take, More, MoreOlds}, {Slices, Olds, Known}) ->
    {ok, {Slices ++ More, Olds ++ MoreOlds, Known}, rest};
   ({born, Pids, Attr}, {Slices, Olds, Known}) ->
    More = Cut(Pids),
    {ok, {Slices ++ More, Olds ++ Alike(More, {Attr, 0}), Known}, rest};
   (#{attr := Attr, first := First, purge := Purge} = Job, {Slices, Olds0, Known}) ->
    #{ledger := {Keeper, Heavies}} = Job,
    put(keeper, Keeper),
    put(heavies, Heavies),
    News = Sweep(Slices, Attr),
    Olds = case First of true -> News; false -> Olds0 end,
    Both = lists:zip(Olds, News),
    Which = Compared(Both),
    Triples = TriplesOf(Slices, Olds, News, Which, Job),
    {Passing, Identities, Labels} =
        case Job of
            #{filter := none} -> {Triples, Known, []};
            _ -> Filter(Triples, lists:append(Slices), Known, Job)
        end,
    Candidates = case Job of #{filter := none} -> 0; _ -> length(Passing) end,
    %% What is as it was stays where it is in memory.
    Swept = {Slices, lists:zipwith(fun erlang:element/2, Which, Both), Identities},
    Next = case Purge of true -> Purged(Swept); false -> Swept end,
    {{Rank(Passing, Job), Candidates, CountIn(element(1, Next)), Labels}, Next,
     case Purge orelse NeedsAll(Job) of true -> pack; false -> rest end}
end,

%% ---- Long-lived helpers: the parts, and the census
%% They make a heap as large as they need only while they work. What is left of it is collected
%% before the answer: what is old stays where it is. Once in a while they pack all of it into a heap
%% of just its size, by hibernation. Their clock sees neither that nor the pages which a large heap
%% takes and gives back: an estimate from its size is added to what they worked.

WordsPerUs = 70,

%% Sends the answer when what the work left is collected.
Tell = fun({Ref, Answer, Start, Rest}, Words, CountWork, Coordinator) ->
    process_flag(min_heap_size, 233),
    Rest =:= pack orelse erlang:garbage_collect(self(), [{type, minor}]),
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
        _ ->
            receive
                {Ref, retire} ->
                    Coordinator ! {Ref, State, 0, 0, CountWork()};
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
             [link, {message_queue_data, off_heap}, {max_heap_size, Limit}])
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

PartWords = fun({Slices, _, Identities}) ->
    8 * CountIn(Slices) + 10 * length(Identities)
end,
StartPart = fun() -> StartHelper(PartWork, PartWords, {[], [], []}, 64 * 1048576) end,

%% ---- The census: which processes are there, which of them are new
%% State: {Known, the new ones that were not handed over yet, how often in a row the VM did not list
%% them in order}. Known: all pids, in order. Where the VM never lists them in order (its table of
%% processes was filled once, or is spread out), sorting is expensive, and Known is {Spec, Count,
%% Recent}: a compiled match specification that finds the others, for how many it was made, and
%% which of those it finds are known, in order.
UnsortedMost = 2,
StrangersTo = fun(Pids) ->
    Map = try maps:from_keys(Pids, [])
          catch error:undef -> maps:from_list(lists:zip(Pids, lists:duplicate(length(Pids), [])))
          end,
    Spec = [{'$1', [{'not', {is_map_key, '$1', {const, Map}}}], ['$1']}],
    {ets:match_spec_compile(Spec), length(Pids), []}
end,
NewIn = fun(Listed, {Compiled, Count, Recent}, Unsorted) ->
    Found = lists:sort(ets:match_spec_run(Listed, Compiled)),
    {ordsets:subtract(Found, Recent),
     case length(Found) > Count div 8 of
         _ when Unsorted =:= 0 -> Listed;
         true -> StrangersTo(Listed);
         false -> {Compiled, Count, Found}
     end};
   (Listed, Known, Unsorted) ->
    Sorted = case Unsorted of 0 -> Listed; _ -> lists:sort(Listed) end,
    {ordsets:subtract(Sorted, Known),
     case Unsorted < UnsortedMost of true -> Sorted; false -> StrangersTo(Listed) end}
end,
%% The next of the new ones, not all of a large node at once. Own: our pids.
CensusWork = fun(Job, {Known0, Unsaid, Unsorted0}) ->
    {Known, Births, Everybody, Unsorted} = case Job of
        {look, Own} ->
            Listed = erlang:processes(),
            Times = case ordsets:is_set(Listed) of true -> 0; false -> Unsorted0 + 1 end,
            {Found, Now} = NewIn(Listed, Known0, Times),
            %% Those of ours that are among them: some end on their own.
            Ours = [P || P <- Own, is_process_alive(P)],
            {Now, ordsets:subtract(Found, Own), length(Listed) - length(Ours), Times};
        more ->
            {Known0, Unsaid, none, Unsorted0}
    end,
    Many = case Known0 of [] -> FirstSize; _ -> PartSize end,
    {These, Rest} = try lists:split(Many, Births) catch error:_ -> {Births, []} end,
    {{Everybody, These, Rest =/= []}, {Known, Rest, Unsorted},
     case Rest of [] -> pack; _ -> rest end}
end,
CensusWords = fun
    ({_, [_ | _], _}) -> 0;
    ({{_, Count, _}, [], _}) -> 2 * Count + Count div 2;
    ({Known, [], _}) -> 2 * length(Known) + length(Known) div 2
end,
StartCensus = fun(Known) ->
    HeapMiB = 64 + erlang:system_info(process_count) div 2048,
    StartHelper(CensusWork, CensusWords, {Known, [], 0}, HeapMiB * 1048576)
end,


-include("part/supervisors.erl").
-include("part/items.erl").

-include("scan/rows.erl").

%% ---- The coordinator
%% State: small (pid => last value, of a small node; none of a large one, or with a filter), census
%% (its pid), parts ([{Pid, Count}]), turn (whose turn it is to drop its dead), attr and at (of the
%% last sweep), lasts (values of the rows, for those that are followed), calls (initial calls and
%% supervisors of the rows), labels (Label => Id), untold (labels found but not sent), fields (those
%% whose labels have all been found).

Fresh = #{small => #{}, census => none, parts => [], turn => 0, attr => none, at => 0,
          lasts => #{}, calls => {#{}, #{}}, labels => #{}, untold => [], fields => []},
Lowest = -(1 bsl 58),

%% How far the first sweep of many is, said now and then; nothing waits for it. Giving the pids to
%% the parts is half of it.
SayMs = 100,
Advance = fun(More) ->
    {Client, Far, All, Said} = get(progress),
    Now_ = erlang:monotonic_time(millisecond),
    case Now_ - Said >= SayMs of
        true ->
            Done = min(All, (Far + More) div 2),
            erlang:send(Client, {p, scan, Done, All}, [nosuspend, noconnect]),
            put(progress, {Client, Far + More, All, Now_});
        false ->
            put(progress, {Client, Far + More, All, Said})
    end
end,

%% Gives pids to the last part, or to a new one when that is full: its parts after that.
Settle = fun(Parts, Pids, Attr) ->
    Last = case Parts of [] -> none; _ -> lists:last(Parts) end,
    {Full, {Pid, Count}} = case Last of
        {_, Has} when Has + length(Pids) =< PartSize -> {lists:droplast(Parts), Last};
        _ -> {Parts, {StartPart(), 0}}
    end,
    ok = AskHelper(Pid, {born, Pids, Attr}),
    Full ++ [{Pid, Count + length(Pids)}]
end,

%% One part after the other; the best so far set the floor for the next.
AskParts = fun AskParts(Parts, Job, Index, Sofar) ->
    {Best, Candidates, Counts, Labels} = Sofar,
    case Parts of
        [] ->
            Sofar;
        [{Pid, _} | Rest] ->
            #{rows := N, turn := Turn} = Job,
            Floor = case length(Best) of N -> element(1, lists:last(Best)); _ -> Lowest end,
            {More, Passed, Count, NewLabels} =
                AskHelper(Pid, Job#{floor => Floor, purge => Index =:= Turn}),
            get(progress) =:= undefined orelse Advance(Count),
            Merged = case More of
                [] -> Best;
                _ -> Highest(More ++ Best, N)
            end,
            AskParts(Rest, Job, Index + 1,
                     {Merged, Candidates + Passed, [{Pid, Count} | Counts],
                      lists:umerge(lists:usort(NewLabels), Labels)})
    end
end,

%% When two parts but the first are nearly empty, one gives its pids to the other.
Retire = fun(Parts) ->
    case [P || {_, Count} = P <- lists:nthtail(min(1, length(Parts)), Parts),
               Count < PartSize div 4] of
        [{Pid, Few} = Small, {Other, Count} | _] ->
            {Slices, Olds, _} = AskHelper(Pid, retire),
            ok = AskHelper(Other, {take, Slices, Olds}),
            lists:keyreplace(Other, 1, lists:delete(Small, Parts), {Other, Count + Few});
        _ ->
            Parts
    end
end,

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

%% What the parts get.
JobOf = fun(#{filter := Filtering} = Arg, #{turn := Turn, fields := OldFields}, Apps, Ctx) ->
    Given = maps:with([attr, mode, order, rows, filter, first], Arg),
    Base = Given#{turn => Turn, ledger => {get(keeper), get(heavies)}},
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

%% Everybody but ours counted, births given to the parts, all parts asked. Who answers another
%% question may be born between the look at ours and the census, which would take it for the node's.
SettleAll = fun SettleAll(Parts, Newborn, IsMore, Ours, {Census, Attr, OwnNow} = Same) ->
    case Newborn of
        [] ->
            {Parts, Ours};
        _ ->
            Births = ordsets:subtract(Newborn, OwnNow()),
            Next = case Births of [] -> Parts; _ -> Settle(Parts, Births, Attr) end,
            get(progress) =:= undefined orelse Advance(length(Newborn)),
            {_, More, IsStill} =
                case IsMore of true -> AskHelper(Census, more); false -> {none, [], false} end,
            SettleAll(Next, More, IsStill, Ours + length(Newborn) - length(Births), Same)
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
SweepParts = fun(#{census := Census, parts := Old} = State, Arg, Apps, Own,
                 #{k := Keeper, own := OwnOf} = Ctx) ->
    #{attr := Attr, fields := Fields} = Job = JobOf(Arg, State, Apps, Ctx),
    {Counted, Newborn, IsMore} = AskHelper(Census, {look, Own}),
    Far = case Old of [] -> 0; _ -> Counted end,
    maps:get(first, Arg) andalso
        put(progress, {maps:get(c, Ctx), Far, Counted, erlang:monotonic_time(millisecond)}),
    {Parts, Ours} = SettleAll(Old, Newborn, IsMore, 0,
                              {Census, Attr, fun() -> OwnOf(Keeper) end}),
    #{rows := N} = Job,
    {Best, Passed, Counts, Found} =
        AskParts(Parts, Job#{rows := N + length(Own)}, 0, {[], 0, [], []}),
    erase(progress),
    {Counted - Ours, {WithoutOurs(Best, Own, N), Passed, Counts, Found}, State#{fields := Fields}}
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
    Olds = case First of
        true -> News;
        false -> Looked(Pids, Lasts, {Attr, 0})
    end,
    Ranked = ets:match_spec_run(lists:zip3(Pids, Olds, News), SmallSpecOf(Arg)),
    {length(Pids), {Highest(Ranked, N), 0, [], []}, maps:from_list(lists:zip(Pids, News))}
end,
%% From one to the other, with the last values.
Grown = fun(#{small := Lasts} = State) ->
    {Pids, Values} = lists:unzip(maps:to_list(Lasts)),
    Parts = case Pids of
        [] ->
            [];
        _ ->
            Part = StartPart(),
            ok = AskHelper(Part, {take, Cut(Pids), Cut(Values)}),
            [{Part, length(Pids)}]
    end,
    State#{small := none, census := StartCensus(lists:sort(Pids)), parts := Parts}
end,
Shrunk = fun(#{census := Census, parts := Parts} = State) ->
    {_, _, _} = AskHelper(Census, retire),
    All = [lists:zip(lists:append(Slices), lists:append(Values))
           || {Part, _} <- Parts, {Slices, Values, _} <- [AskHelper(Part, retire)]],
    State#{small := maps:from_list(lists:append(All)), census := none, parts := []}
end,
%% {Everybody, {Best, Passed, parts with their counts, labels}, next state}.
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
            SweepParts(State, Arg, Apps, Own, Ctx);
        false ->
            SweepParts(Grown(State), Arg, Apps, Own, Ctx)
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
    {Everybody, {Best, Passed, Counts, Found}, Swept} = SweepAll(State, Arg, Apps, Own, Ctx),
    SweepUs = (erlang:monotonic_time(nanosecond) - SweptNs) div 1000,
    {Ranked, Ours} = EntriesOf(Best, Arg, Own, Lasts),
    Others = Watched(Ranked, Arg, Lasts),
    {Rows, Calls} = ReadRows(Ranked, Others, maps:get(items, Arg), OldCalls, Apps, Ctx),
    Interval = case OldAttr of Attr -> SweptNs - At; _ -> 0 end,
    {{SweptNs, Interval, SweepUs, Everybody, Passed, Rows}, Found, Counts,
     Swept#{attr := Attr, at := SweptNs, calls := Calls,
            lasts := maps:from_list(ets:match_spec_run(Ranked ++ Others ++ Ours, PidValue))}}
end,

%% The state after the tick: labels numbered, small parts retired, another part's turn.
After = fun(#{untold := []} = State, [], []) ->
    {[], State};
   (#{labels := Labels, untold := Untold, turn := Turn} = State, Found, Counts) ->
    {Told, AllLabels, StillUntold} =
        case Found =:= [] andalso Untold =:= [] of
            true -> {[], Labels, []};
            false -> NumberNew(Found, Labels, Untold)
        end,
    Kept = Retire(lists:reverse(Counts)),
    {Told, State#{parts := Kept,
                  turn := case Turn + 1 < length(Kept) of true -> Turn + 1; false -> 0 end,
                  labels := AllLabels, untold := StillUntold}}
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
    {Numbers, Found, Counts, Ticked} = Tick(Arg, State, Ctx, Own),
    {SweptNs, Interval, SweepUs, Everybody, Passed, {Rows, Watches}} = Numbers,
    {Told, Next} = After(Ticked, Found, Counts),
    Candidates = case Filtering of none -> Everybody; _ -> Passed end,
    Scan = {scan, SweptNs, Interval, SweepUs, Everybody, Candidates, length(Own), Rows, Told},
    {case Arg of #{watch := [_ | _]} -> erlang:append_element(Scan, Watches); _ -> Scan end, Next}
end}.
