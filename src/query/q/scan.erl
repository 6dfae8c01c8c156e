%% SPDX-License-Identifier: GPL-3.0-or-later
%% Top processes: sweeps one attribute over all processes, ranks them, and reads the rest only for
%% the rows that are shown. Runs in a holder: state in, {Answer, State} out.
%%
%% The pids and their last values are kept by *parts*, small processes with about PartSize pids
%% each. They work one after the other, so that no more than one has a large heap at a time, and
%% each gets how good a process must be to get among the best so far, so that answers are short.
%% On a small node the coordinator sweeps by itself (`Few`): what costs there is each evaluated step
%% and each message. Terms that do not change are evaluated once, outside of all funs.
%% Whatever is done for every process is one call of a native function over a list: lists:zipwith/3
%% with an external fun, ets:match_spec_run/2. Pids and values are lists of *slices*: of one whose
%% values are those of the tick before nothing is made but the values to compare.

PartSize = 8000,
%% The first part is small: it ranks all that it has, to find what the others must exceed.
FirstSize = 500,
SliceSize = 100,
%% A key that every other one exceeds.
Lowest = -(1 bsl 58),
LabelsAtATime = 5000,
LabelsMax = 200000,
%% A node with no more processes than this is swept by the coordinator itself.
FewMost = 1000,

%% ---- Sweeping: [Pid] -> [{Attr, Number} | undefined], undefined for a process that is gone

InfoOf = fun erlang:process_info/2,
Ask = fun(Pids, Item) -> lists:zipwith(InfoOf, Pids, lists:duplicate(length(Pids), Item)) end,

Run = fun(List, Spec) ->
    ets:match_spec_run(List, ets:match_spec_compile(Spec))
end,

%% {minor_gcs, N} stands at one place of a list whose length differs between releases.
MinorGcs =
    [case Key of minor_gcs -> {minor_gcs, '$1'}; _ -> '_' end
     || {Key, _} <- element(2, process_info(self(), garbage_collection))],

%% Sum of the sizes in [{Id, Size, RefCount}], for a list of such lists.
BinaryBytes = fun(Lists) ->
    Unzipped = lists:map(fun lists:unzip3/1, Lists),
    Sizes = lists:zipwith(fun erlang:element/2, lists:duplicate(length(Lists), 2), Unzipped),
    lists:map(fun lists:sum/1, Sizes)
end,

SweepSlice = fun(Pids, Attr) ->
    Infos = Ask(Pids, Attr),
    case Attr of
        _ when Attr =:= links; Attr =:= monitors ->
            Run(Infos, [{{Attr, '$1'}, [], [{{Attr, {length, '$1'}}}]},
                        {undefined, [], [undefined]}]);
        garbage_collection ->
            Run(Infos, [{{Attr, MinorGcs}, [], [{{Attr, '$1'}}]},
                        {'_', [], [undefined]}]);
        binary ->
            Lists = Run(Infos, [{{binary, '$1'}, [], ['$1']}, {undefined, [], [[]]}]),
            Run(lists:zip(Infos, BinaryBytes(Lists)),
                [{{undefined, '_'}, [], [undefined]}, {{'_', '$1'}, [], [{{binary, '$1'}}]}]);
        _ ->
            Infos
    end
end,

%% Calls a fun on slices of a list and puts the results together: lists of lists (links, binaries,
%% stacks) are copied to us, and not all of them at once.
InSlices = fun InSlices(Work, List, Size) ->
    case length(List) > Size of
        true ->
            {Slice, Rest} = lists:split(Size, List),
            Work(Slice) ++ InSlices(Work, Rest, Size);
        false ->
            Work(List)
    end
end,

CutFew = fun(List) ->
    Starts = lists:seq(1, length(List), SliceSize),
    Same = fun(Term) -> lists:duplicate(length(Starts), Term) end,
    lists:zipwith3(fun lists:sublist/3, Same(List), Starts, Same(SliceSize))
end,
%% Each slice is looked for from the beginning of its list: of short ones.
Cut = fun(List) -> InSlices(CutFew, List, 10 * SliceSize) end,
%% A list with that element for each slice, as long as the slice.
Alike = fun(Slices, Element) ->
    Lengths = lists:map(fun erlang:length/1, Slices),
    Lists = maps:from_list([{N, lists:duplicate(N, Element)} || N <- lists:usort(Lengths)]),
    lists:zipwith(fun maps:get/2, Lengths, lists:duplicate(length(Slices), Lists))
end,
Listing = [links, monitors, binary, garbage_collection],
Sweep = fun(Slices, Attr) ->
    case lists:member(Attr, Listing) of
        true ->
            [SweepSlice(Slice, Attr) || Slice <- Slices];
        false ->
            Asks = lists:duplicate(length(Slices), fun erlang:process_info/2),
            lists:zipwith3(fun lists:zipwith/3, Asks, Slices, Alike(Slices, Attr))
    end
end,

%% ---- Ranking: the best of [{Pid, Old, New}] as [{Key, Value, Delta, Pid}], best first

Delta = {'-', '$3', '$2'},

%% The key in a match spec: the larger, the better.
KeyOf = fun(ByDelta, Order) ->
    Number = case ByDelta of true -> Delta; false -> '$3' end,
    case Order of desc -> Number; asc -> {'-', 0, Number} end
end,

%% The best N, best first.
Highest = fun(Entries, N) -> lists:sublist(lists:reverse(lists:sort(Entries)), N) end,
%% The same of many: the best of the first few are known before all are sorted.
BestOf = fun(Entries, N) ->
    {Few, Rest} = try lists:split(20 * N, Entries) catch error:_ -> {Entries, []} end,
    Sofar = Highest(Few, N),
    case Rest of
        [] ->
            Sofar;
        _ ->
            Better = Run(Rest, [{'$1', [{'>', '$1', {const, lists:last(Sofar)}}], ['$1']}]),
            Highest(Better ++ Sofar, N)
    end
end,

%% Floor: a number that the key must exceed.
RankSpec = fun(#{first := First, mode := Mode, order := Order}, Floor) ->
    Key = KeyOf(Mode =:= delta andalso not First, Order),
    Change = case First of true -> undefined; false -> Delta end,
    [{{'$1', {'_', '$2'}, {'_', '$3'}}, [{'>', Key, Floor}], [{{Key, '$3', Change, '$1'}}]}]
end,
Rank = fun(Triples, #{floor := Floor, rows := N} = Job) ->
    BestOf(Run(Triples, RankSpec(Job, Floor)), N)
end,

%% ---- Filtering: who the processes of a part are, kept beside the pids as
%% {Name | [], InitialCall, Label | undefined, Application | undefined, PidMatches}

%% Identities of Pids. Before OTP 26.2 stacks stand in for the dictionary.
Identify = fun(Pids, Apps, #{caps := #{dict_key := HasKey, label := HasLabel},
                             calls_behind := CallsBehind}) ->
    Items = [registered_name, initial_call, group_leader],
    {Infos, Calls} =
        case HasKey of
            true ->
                Keyed = Items ++ [{dictionary, '$initial_call'}, {dictionary, '$process_label'}],
                Answers = Ask(Pids, Keyed),
                {Run(Answers, [{['$1', '$2', '$3', '_', '$4'], [], [['$1', '$2', '$3', '$4']]},
                               {undefined, [], [undefined]}]),
                 Run(Answers, [{['_', '_', '_', {'_', '$1'}, '_'], [], [{{call, '$1'}}]},
                               {undefined, [], [false]}])};
            false ->
                {Run(Ask(Pids, Items), [{['$1', '$2', '$3'], [],
                                         [['$1', '$2', '$3', {const, {label, undefined}}]]},
                                        {undefined, [], [undefined]}]),
                 CallsBehind(Pids)}
        end,
    Leader = {const, Apps},
    Body = fun(Call, App) -> [{{'$1', Call, '$4', App}}] end,
    Row = [{'_', '$1'}, {'_', '$2'}, {'_', '$3'}, {'_', '$4'}],
    IsMfa = {'andalso', {is_atom, '$5'}, {'andalso', {is_atom, '$6'}, {is_integer, '$7'}}},
    Mfa = {{'$5', '$6', '$7'}},
    HasApp = {is_map_key, '$3', Leader},
    App = {map_get, '$3', Leader},
    Known = Run(lists:zip(Infos, Calls),
                [{{Row, {'_', {'$5', '$6', '$7'}}}, [{'andalso', IsMfa, HasApp}], Body(Mfa, App)},
                 {{Row, {'_', {'$5', '$6', '$7'}}}, [IsMfa], Body(Mfa, undefined)},
                 {{Row, '_'}, [HasApp], Body('$2', App)},
                 {{Row, '_'}, [], Body('$2', undefined)},
                 {'_', [], [{const, {[], undefined, undefined, undefined}}]}]),
    {Known, HasLabel}
end,

%% Matches a process whose identity stands in '$4'..'$7', its current function in '$8' and what
%% the pid expression said in '$9'.
Passes = fun(Fields, Maps) ->
    In = fun(Field, Variable) ->
        {is_map_key, Variable, {const, maps:get(Field, Maps, #{})}}
    end,
    Variables = [{name, '$4'}, {initial_call, '$5'}, {label, '$6'}, {application, '$7'},
                 {current_function, '$8'}],
    Tests = [In(Field, Variable) || {Field, Variable} <- Variables, lists:member(Field, Fields)]
        ++ [{'=:=', '$9', match} || lists:member(pid, Fields)],
    case Tests of
        [] -> false;
        [Test] -> Test;
        _ -> list_to_tuple(['orelse' | Tests])
    end
end,

PidMatches = fun(Pids, Maps) ->
    case maps:get(pid, Maps, none) of
        none ->
            lists:duplicate(length(Pids), nomatch);
        {re, Pattern, Options} ->
            {ok, Compiled} = re:compile(Pattern, Options),
            N = length(Pids),
            Limits = [{capture, none}, {match_limit, 1000}, {match_limit_recursion, 1000}],
            lists:zipwith3(fun re:run/3, lists:map(fun erlang:pid_to_list/1, Pids),
                           lists:duplicate(N, Compiled), lists:duplicate(N, Limits))
    end
end,

%% The distinct labels of some identities, or functions, in the fields asked for.
LabelsOf = fun(Identities, Functions, Fields) ->
    Column = fun(Field, Variable) ->
        case lists:member(Field, Fields) of
            true ->
                Unknown = [{'=/=', Variable, []}, {'=/=', Variable, undefined}],
                lists:usort(Run(Identities, [{{'$1', '$2', '$3', '$4'}, Unknown,
                                              [{{Field, Variable}}]}]));
            false ->
                []
        end
    end,
    Column(name, '$1') ++ Column(initial_call, '$2') ++ Column(label, '$3')
        ++ Column(application, '$4')
        ++ lists:usort(Run(Functions, [{{current_function, {'_', '_', '_'}}, [], ['$_']}]))
end,

%% Value: {Triples that pass, all identities, labels not sent yet}.
Filter = fun(Triples, Pids, Known, #{filter := {_, Fields, Maps}, apps := Apps,
                                      all_labels := All, ctx := Ctx}) ->
    Strangers = lists:nthtail(length(Known), Pids),
    Identify1 = fun(Slice) ->
        {Found, HasLabels} = Identify(Slice, Apps, Ctx),
        #{label_text := LabelText} = Ctx,
        case HasLabels of
            true ->
                [case Identity of
                     {_, _, undefined, _} -> Identity;
                     {_, _, Label, _} -> setelement(3, Identity, LabelText(Label))
                 end || Identity <- Found];
            false ->
                Found
        end
    end,
    Identities = Known ++ InSlices(Identify1, Strangers, 500),
    Functions =
        case lists:member(current_function, Fields) of
            true -> Ask(Pids, current_function);
            false -> lists:duplicate(length(Pids), {current_function, undefined})
        end,
    Rows = lists:zip3(Triples, Identities, lists:zip(Functions, PidMatches(Pids, Maps))),
    Passing = Run(Rows, [{{{'$1', '$2', '$3'}, {'$4', '$5', '$6', '$7'}, {{'_', '$8'}, '$9'}},
                          [{is_tuple, '$3'}, Passes(Fields, Maps)],
                          [{{'$1', '$2', '$3'}}]}]),
    New = case All of true -> Identities; false -> lists:nthtail(length(Known), Identities) end,
    {Passing, Identities, LabelsOf(New, Functions, Fields)}
end,

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

WordsPerUs = 100,

%% Sends the answer when what the work left is collected.
Tell = fun({Ref, Answer, Start, Before, Rest}, Words, {CountWork, Charge}, Coordinator) ->
    process_flag(min_heap_size, 233),
    Rest =:= pack orelse erlang:garbage_collect(self(), [{type, minor}]),
    Memory = erlang:convert_time_unit(Words div WordsPerUs, microsecond, native),
    {_, Reductions} = process_info(self(), reductions),
    {Cost, Rate} = Charge(erlang:monotonic_time() - Start, Reductions - Before, get(rate)),
    put(rate, Rate),
    CountWork(),
    Coordinator ! {Ref, Answer, Cost + Memory}
end,
%% Waits for one job, works, answers {Ref, Answer, Worked}. Ends with its coordinator. Calling
%% itself in the last place drops everything but the new state.
Serve = fun Serve(Coordinator, Work, Words, Counting, State, Done) ->
    Done =:= none orelse Tell(Done, Words(State), Counting, Coordinator),
    case Done of
        {_, _, _, _, pack} ->
            erlang:hibernate(erlang, apply, [Serve, [Coordinator, Work, Words, Counting, State,
                none]]);
        _ ->
            receive
                {Ref, retire} ->
                    (element(1, Counting))(),
                    Coordinator ! {Ref, State, 0};
                {Ref, Job} ->
                    put('$process_label', beamtop),
                    put('$initial_call', {beamtop, keeper, 0}),
                    Start = erlang:monotonic_time(),
                    {_, Before} = process_info(self(), reductions),
                    %% One step to the heap that the work needs, not one collection a step.
                    process_flag(min_heap_size, Words(State)),
                    {Answer, Next, Rest} = try Work(Job, State) catch _:_ -> exit(shutdown) end,
                    Serve(Coordinator, Work, Words, Counting, Next,
                          {Ref, Answer, Start, Before, Rest})
            end
    end
end,
StartHelper = fun(Work, Words, State, HeapBytes) ->
    Limit = #{size => HeapBytes div erlang:system_info(wordsize), kill => true,
              error_logger => false},
    SpawnOwn = get(spawn),
    SpawnOwn(Serve, [self(), Work, Words, get(counting), State, none],
             [link, {message_queue_data, off_heap}, {max_heap_size, Limit}])
end,

%% Asks a helper and waits; what it worked is ours, the wait is not.
AskHelper = fun(Pid, Request) ->
    Ref = make_ref(),
    Start = erlang:monotonic_time(),
    Pid ! {Ref, Request},
    receive
        {Ref, Answer, Worked} ->
            put(waited, get(waited) + erlang:monotonic_time() - Start),
            put(helped, get(helped) + Worked),
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
CensusWork = fun({known, Pids}, _) ->
    {ok, {Pids, [], 0}, rest};
   (Job, {Known0, Unsaid, Unsorted0}) ->
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
StartCensus = fun() ->
    HeapMiB = 64 + erlang:system_info(process_count) div 2048,
    StartHelper(CensusWork, CensusWords, {[], [], 0}, HeapMiB * 1048576)
end,

%% ---- Rows: one process_info/2 for each, everything after that for all rows at once

-include("part/supervisors.erl").
-include("part/items.erl").

%% How an item's value is matched and what is made of it: {Item, Variable} -> {Pattern, Body}.
%% Sizes of binaries are summed elsewhere, and stand in '$2'; supervisors in '$8'.
Column = fun({Item, V}, Id) ->
    Counted = lists:member(Item, [links, monitors, monitored_by, suspending]),
    case Item of
        id -> {'_', Id};
        binary -> {'_', '$2'};
        dictionary -> {'_', undefined};
        supervisor -> {'_', '$8'};
        garbage_collection -> {GcSettings, {{'$3', '$4'}}};
        _ when Counted -> {V, {length, V}};
        _ -> {V, V}
    end
end,

%% {Count, Bytes} of the binaries of each process, `none` where nobody asks. Tail: patterns of what
%% stands behind the items.
BinariesOf = fun(Infos, Items, Tail) ->
    case lists:member(binary, Items) of
        false ->
            lists:duplicate(length(Infos), none);
        true ->
            Head = [case Item of binary -> {binary, '$1'}; _ -> '_' end || Item <- Items],
            Lists = Run(Infos, [{Head ++ Tail, [], ['$1']}, {'_', [], [[]]}]),
            lists:zip(lists:map(fun erlang:length/1, Lists), BinaryBytes(Lists))
    end
end,

%% Initial calls never change: those of rows seen before are known. Where a stack showed only what
%% calls the callbacks, it may tell the callbacks' module later.
Engines = {const, #{proc_lib => [], gen => [], gen_server => [], gen_statem => [],
                    gen_event => [], gen_fsm => [], sys => []}},
Settled = ets:match_spec_compile(
    [{{'_', {'$1', '$2', '_'}},
      [{'orelse', {'=:=', '$2', init}, {'not', {is_map_key, '$1', Engines}}}], ['$_']}]),
%% Those that are in the function where they were when they were looked at show no more.
MovedOf = fun(Pids) ->
    Now = lists:zip(Pids, Ask(Pids, current_function)),
    Before = case put(looked, Now) of undefined -> []; Pairs -> Pairs end,
    element(1, lists:unzip(Now -- Before))
end,
BehindOf = fun(Pids, CallsBehind) ->
    [case Both of
         {{_, _}, {call, Call}} -> Call;
         {{_, Mfa}, false} -> Mfa;
         {undefined, _} -> undefined
     end || Both <- lists:zip(Ask(Pids, initial_call), CallsBehind(Pids))]
end,
CallsOf = fun(Pids, Calls, #{caps := #{dict_key := HasKey}, initial_call := InitialCall,
                             calls_behind := CallsBehind}) ->
    Strangers = Pids -- maps:keys(Calls),
    New = case HasKey of
        true ->
            Strangers;
        false ->
            Known = maps:to_list(Calls),
            case Known -- ets:match_spec_run(Known, Settled) of
                [] -> Strangers;
                Unsettled ->
                    Strangers ++ MovedOf(maps:keys(maps:with(Pids, maps:from_list(Unsettled))))
            end
    end,
    Found = case HasKey of
        _ when New =:= [] ->
            [];
        true ->
            [case Info of {_, Mfa} -> InitialCall(Pid, Mfa); undefined -> undefined end
             || {Pid, Info} <- lists:zip(New, Ask(New, initial_call))];
        false ->
            BehindOf(New, CallsBehind)
    end,
    case Found =:= [] andalso map_size(Calls) < 2 * length(Pids) of
        true -> Calls;
        false -> maps:with(Pids, maps:merge(Calls, maps:from_list(lists:zip(New, Found))))
    end
end,

%% What is asked of each row, and the compiled specifications that make a row of the answer: made
%% once for the same items. `dictionary`: how many keys there are is not known without a copy.
%% A row: its name has one of two forms. Who: its group leader and label.
PlanOf = fun(Items, IdKeys) ->
    case get(row_plan) of
        {Items, Plan} ->
            Plan;
        _ ->
            Elsewhere = [id, dictionary, supervisor],
            Keys = [case lists:member(I, Elsewhere) of true -> registered_name; false -> I end
                    || I <- Items] ++ IdKeys,
            Skip = lists:duplicate(length(Items), '_'),
            Row = fun(NamePattern, Name) ->
                Id = {{Name, '$102', '$103', '$104', '$105'}},
                Columns = lists:zip(Items, Variables(10, Items)),
                {Patterns, Values} = lists:unzip([Column(C, Id) || C <- Columns]),
                Tail = lists:sublist([{'_', NamePattern}, {'_', '$105'}, '_', '_'], length(IdKeys)),
                {{{'_', '$5', '$6', '$7'}, [{'_', P} || P <- Patterns] ++ Tail,
                  {{'$102', '$104', '$103'}, {'$2', '$8'}}},
                 [], [{{'$7', '$5', '$6', {list_to_tuple(Values)}}}]}
            end,
            Leader = [{Skip ++ ['_', '_', {'_', '$1'}], [], [{{'$1', undefined}}]},
                      {Skip ++ ['_', '_', {'_', '$1'}, {'_', '$2'}], [], [{{'$1', '$2'}}]},
                      {'_', [], [{{undefined, undefined}}]}],
            Plan = {Keys, lists:duplicate(length(IdKeys), '_'),
                    ets:match_spec_compile([Row([], undefined), Row('$101', '$101')]),
                    ets:match_spec_compile(Leader)},
            put(row_plan, {Items, Plan}),
            Plan
    end
end,

%% {Initial call, application, label} of each row. A label is made text where there is one.
WhoOf = fun(Pids, Infos, Who, Calls, Apps, LabelText) ->
    N = length(Pids),
    None = lists:duplicate(N, undefined),
    {Leaders, Labels} = lists:unzip(ets:match_spec_run(Infos, Who)),
    Texts = case Labels of
        None -> None;
        _ -> [case Label of undefined -> undefined; _ -> LabelText(Label) end || Label <- Labels]
    end,
    lists:zip3(lists:zipwith3(fun maps:get/3, Pids, lists:duplicate(N, Calls), None),
               lists:zipwith3(fun maps:get/3, Leaders, lists:duplicate(N, Apps), None),
               Texts)
end,

%% Rows of entries, initial calls and supervisors. Entries: [{Key, Value, Delta, Pid}].
PidOfEntry = ets:match_spec_compile([{{'_', '_', '_', '$1'}, [], ['$1']}]),
ReadRows = fun(Entries, Items, {Calls0, Supervisors0}, Apps, #{label_text := LabelText} = Ctx) ->
    Pids = ets:match_spec_run(Entries, PidOfEntry),
    HasId = lists:member(id, Items),
    IdKeys = case HasId of true -> maps:get(id_keys, Ctx); false -> [] end,
    {Keys, Tail, Spec, Who} = PlanOf(Items, IdKeys),
    Infos = Ask(Pids, Keys),
    {Calls, Ids} = case HasId of
        true ->
            Known = CallsOf(Pids, Calls0, Ctx),
            {Known, WhoOf(Pids, Infos, Who, Known, Apps, LabelText)};
        false ->
            {#{}, lists:duplicate(length(Pids), {none, none, none})}
    end,
    {Supervisors, Above} = case lists:member(supervisor, Items) of
        true ->
            Found = SupervisorsOf(Pids, Supervisors0, Ctx),
            {Found, lists:zipwith(fun maps:get/2, Pids, lists:duplicate(length(Pids), Found))};
        false ->
            {#{}, Pids}
    end,
    Beside = lists:zip(BinariesOf(Infos, Items, Tail), Above),
    {ets:match_spec_run(lists:zip3(Entries, Infos, lists:zip(Ids, Beside)), Spec),
     {Calls, Supervisors}}
end,

%% Processes ranked by the coordinator itself: followed ones and, if wanted, our own.
Extra = fun(Pids, Lasts, Job) ->
    #{attr := Attr, mode := Mode, order := Order, first := First} = Job,
    Sign = case Order of desc -> 1; asc -> -1 end,
    Olds = [case First of true -> undefined; false -> maps:get(Pid, Lasts, undefined) end
            || Pid <- Pids],
    [case Old of
         undefined -> {Sign * Value, Value, undefined, Pid};
         _ when Mode =:= delta -> {Sign * (Value - Old), Value, Value - Old, Pid};
         _ -> {Sign * Value, Value, Value - Old, Pid}
     end || {Pid, Old, {_, Value}} <- lists:zip3(Pids, Olds, lists:append(Sweep(Cut(Pids), Attr)))]
end,

%% ---- The coordinator
%% State: few (Pid => what it was, on a small node), or census (its pid) and parts ([{Pid, Count}]),
%% turn (whose turn it is to drop its dead), attr
%% and at (of the last sweep), lasts (values of the rows, for those that are followed), calls
%% (initial calls and supervisors of the rows), labels (Label => Id), untold (labels found but not
%% sent), fields (those whose labels have all been found).

Fresh = #{few => #{}, census => none, parts => [], turn => 0, attr => none, at => 0,
          lasts => #{}, calls => {#{}, #{}}, labels => #{}, untold => [], fields => []},

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

JobKeys = [attr, mode, order, rows, filter, first, turn, fields],
%% What the parts get; a small node's own sweep needs no more than the first lines.
JobOf = fun(#{filter := Filtering, attr := Attr} = Arg, State, Listed, Apps, Ctx) ->
    #{attr := OldAttr, turn := Turn, fields := OldFields} = State,
    Base = Arg#{first => Attr =/= OldAttr, turn => Turn, fields => OldFields},
    case Filtering of
        none when Listed =/= none ->
            Base;
        none ->
            %% A fun is copied with all that it needs: only to who needs it.
            (maps:with(JobKeys, Base))#{all_labels => false, apps => #{}, ctx => none};
        {_, Asked, _} ->
            Fields = lists:usort(Asked),
            (maps:with(JobKeys, Base))#{fields => Fields, all_labels => Fields =/= OldFields,
                apps => Apps, ctx => maps:with([caps, label_text, calls_behind], Ctx)}
    end
end,

%% A small node, swept here. Listed: its processes, read before it was looked which are ours.
FewSpec = fun(#{first := First, mode := Mode, order := Order} = Job) ->
    case get(few_spec) of
        {First, Mode, Order, Spec} ->
            Spec;
        _ ->
            Spec = ets:match_spec_compile(RankSpec(Job, Lowest)),
            put(few_spec, {First, Mode, Order, Spec}),
            Spec
    end
end,
SweepFew = fun(Listed, Own, #{attr := Attr, rows := Rows} = Job, Few) ->
    Pids = Listed -- Own,
    N = length(Pids),
    Infos = case lists:member(Attr, Listing) of
        true -> InSlices(fun(Slice) -> SweepSlice(Slice, Attr) end, Pids, SliceSize);
        false -> Ask(Pids, Attr)
    end,
    Olds = lists:zipwith3(fun maps:get/3, Pids, lists:duplicate(N, Few),
                          lists:duplicate(N, {Attr, 0})),
    Found = ets:match_spec_run(lists:zip3(Pids, Olds, Infos), FewSpec(Job)),
    {length(Found), BestOf(Found, Rows), maps:from_list(lists:zip(Pids, Infos))}
end,
%% It has grown, or is filtered: what is known of it goes to the census and to the first part.
Grown = fun(#{few := Few} = State) ->
    Census = StartCensus(),
    {Pids, Olds} = lists:unzip(lists:sort(maps:to_list(Few))),
    Parts = case Pids of
        [] ->
            [];
        _ ->
            ok = AskHelper(Census, {known, Pids}),
            Part = StartPart(),
            ok = AskHelper(Part, {take, Cut(Pids), Cut(Olds)}),
            [{Part, length(Pids)}]
    end,
    State#{few := none, census := Census, parts := Parts}
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
            {_, More, IsStill} =
                case IsMore of true -> AskHelper(Census, more); false -> {none, [], false} end,
            SettleAll(Next, More, IsStill, Ours + length(Newborn) - length(Births), Same)
    end
end,
SweepAll = fun(#{census := Census, parts := Old}, #{attr := Attr} = Job, Own,
               #{k := Keeper, own := OwnOf}) ->
    {Counted, Newborn, IsMore} = AskHelper(Census, {look, Own}),
    {Parts, Ours} = SettleAll(Old, Newborn, IsMore, 0,
                              {Census, Attr, fun() -> OwnOf(Keeper) end}),
    {Counted - Ours, AskParts(Parts, Job, 0, {[], 0, [], []})}
end,

%% {Entries, Ours}: the best, ours among them if wanted, then the followed ones that are not.
EntriesOf = fun(Best0, #{own := ShowOwn, rows := N, pids := Followed}, Own, Lasts, Job) ->
    Ours = case ShowOwn of true -> Extra(Own, Lasts, Job); false -> [] end,
    Best = case Ours of
        [] -> Best0;
        _ -> Highest(Ours ++ Best0, N)
    end,
    case Followed -- ets:match_spec_run(Best, PidOfEntry) of
        [] -> {Best, Ours};
        Pids -> {Best ++ Extra(Pids, Lasts, Job), Ours}
    end
end,

%% Those that are watched have rows of their own, unless they have one already.
Watched = fun(Ranked, Arg, Lasts, Job) ->
    case maps:get(watch, Arg, []) of
        [] -> [];
        Pids -> Extra(Pids -- ets:match_spec_run(Ranked, PidOfEntry), Lasts, Job)
    end
end,
%% Part of the answer: with a watch, its rows, which are the last ones, stand by themselves.
Answered = fun(Rows, Ranked, Arg) ->
    case Arg of
        #{watch := [_ | _]} ->
            Pairs = Run(Ranked, [{{'_', '_', '_', '$1'}, [], [{{'$1', []}}]}]),
            Known = {is_map_key, '$1', {const, maps:from_list(Pairs)}},
            {Run(Rows, [{{'$1', '_', '_', '_'}, [Known], ['$_']}]),
             Run(Rows, [{{'$1', '_', '_', '_'}, [{'not', Known}], ['$_']}])};
        #{} ->
            {Rows, none}
    end
end,

PidValue = ets:match_spec_compile([{{'_', '$1', '_', '$2'}, [], [{{'$2', '$1'}}]}]),
%% {Swept, State}: how many there are, {the best, how many passed, counts of the parts, labels}.
SweepOf = fun(Listed, Own, Job, #{few := Few} = State, Ctx) ->
    case Listed of
        none ->
            {SweepAll(State, Job, Own, Ctx), State};
        _ ->
            {Everybody, Best, Next} = SweepFew(Listed, Own, Job, Few),
            {{Everybody, {Best, 0, [], []}}, State#{few := Next}}
    end
end,
Tick = fun(#{attr := Attr, items := Items} = Arg, State, #{apps := AppsOf} = Ctx, Listed, Own) ->
    #{lasts := Lasts, calls := OldCalls, at := At} = State,
    Apps = AppsOf(),
    #{first := First, fields := Fields} = Job = JobOf(Arg, State, Listed, Apps, Ctx),
    SweptNs = erlang:monotonic_time(nanosecond),
    {{Everybody, {Best, Passed, Counts, Found}}, Swept} = SweepOf(Listed, Own, Job, State, Ctx),
    SweepUs = (erlang:monotonic_time(nanosecond) - SweptNs) div 1000,
    {Ranked, Ours} = EntriesOf(Best, Arg, Own, Lasts, Job),
    Entries = Ranked ++ Watched(Ranked, Arg, Lasts, Job),
    {Rows, Calls} = ReadRows(Entries, Items, OldCalls, Apps, Ctx),
    Interval = case First of true -> 0; false -> SweptNs - At end,
    {{SweptNs, Interval, SweepUs, Everybody, Passed, Answered(Rows, Ranked, Arg)}, Found,
     lists:reverse(Counts),
     Swept#{attr := Attr, at := SweptNs, calls := Calls, fields := Fields,
            lasts := maps:from_list(ets:match_spec_run(Entries ++ Ours, PidValue))}}
end,

%% The state after the tick: labels numbered, small parts retired, another part's turn.
After = fun(#{labels := Labels, untold := Untold, turn := Turn} = State, Found, Counts) ->
    case Counts of
        [] when Found =:= [], Untold =:= [] ->
            {[], State};
        _ ->
            {Told, AllLabels, StillUntold} = NumberNew(Found, Labels, Untold),
            Kept = Retire(Counts),
            {Told, State#{parts := Kept,
                          turn := case Turn + 1 < length(Kept) of true -> Turn + 1; false -> 0 end,
                          labels := AllLabels, untold := StillUntold}}
    end
end,

%% {State, its processes if they are to be swept here, else `none`}.
Begin = fun(Given, Reset, Filtering) ->
    State = case Given of
        new -> Fresh;
        _ when Reset -> Given#{labels := #{}, untold := [], fields := []};
        _ -> Given
    end,
    case State of
        #{few := none} ->
            {State, none};
        _ ->
            case Filtering =:= none andalso erlang:system_info(process_count) =< FewMost of
                true -> {State, erlang:processes()};
                false -> {Grown(State), none}
            end
    end
end,

{holder, [k, own, apps, caps, label_text, id_keys, initial_call, calls_behind, spawn, count_work,
  charge],
fun(#{reset := Reset, filter := Filtering} = Arg, Ctx) ->
    #{state := Given, k := Keeper, own := OwnOf, spawn := SpawnOwn, count_work := CountWork,
      charge := Charge} = Ctx,
    Given =:= new andalso put(spawn, SpawnOwn),
    Given =:= new andalso put(counting, {CountWork, Charge}),
    {State, Listed} = Begin(Given, Reset, Filtering),
    Own = OwnOf(Keeper),
    {Numbers, Found, Counts, Ticked} = Tick(Arg, State, Ctx, Listed, Own),
    {SweptNs, Interval, SweepUs, Everybody, Passed, {Rows, Watches}} = Numbers,
    {Told, Next} = After(Ticked, Found, Counts),
    Candidates = case Filtering of none -> Everybody; _ -> Passed end,
    Scan = {scan, SweptNs, Interval, SweepUs, Everybody, Candidates, length(Own), Rows, Told},
    {case Watches of none -> Scan; _ -> erlang:append_element(Scan, Watches) end, Next}
end}.
