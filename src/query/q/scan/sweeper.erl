%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of scan.erl, of large nodes: the *sweeper*, one process that keeps all pids and their last
%% numbers, and works on PartSize of them at a time. Pids are lists, the numbers external terms: a
%% number takes 2 to 5 bytes so, and none of them in a heap.

%% ---- A part: {Slices of pids, slices of their last numbers, Identities, {Count, InOrder}}
%% Identities are of the first of the pids only, or none; InOrder: whether the pids are. Of a slice
%% whose numbers are those of the sweep before nothing is made but the numbers to compare.

%% Slices of what process_info/2 said => slices of numbers, `undefined` of who is gone.
NumberSpec = ets:match_spec_compile([{{'_', '$1'}, [], ['$1']}, {'_', [], ['$_']}]),
NumbersOf = fun(Infos) ->
    try lists:unzip(lists:map(fun lists:unzip/1, Infos)) of
        {_, Numbers} -> Numbers
    catch
        error:_ ->
            Specs = lists:duplicate(length(Infos), NumberSpec),
            lists:zipwith(fun ets:match_spec_run/2, Infos, Specs)
    end
end,
Packed = fun(Numbers) -> lists:map(fun erlang:term_to_binary/1, Numbers) end,

%% Which slices may have one of the best: [1 | 2], 2 where they may. By what they did those where
%% something changed, by their numbers those with one above the floor; `undefined` is above all.
SameSpec = ets:match_spec_compile([{{'$1', '$1'}, [], [1]}, {'_', [], [2]}]),
AboveSpec = ets:match_spec_compile([{{'$1', '$2'}, [{'>', '$1', '$2'}], [2]}, {'_', [], [1]}]),
IsByNumber = fun(#{filter := none, order := desc, first := First, mode := Mode}) ->
        First orelse Mode =:= absolute;
    (_) -> false
end,
IsByChange = fun(#{filter := none, order := desc, first := false, mode := delta, floor := Floor}) ->
        Floor >= 0;
    (_) -> false
end,
MayHave = fun(Changed, Numbers, #{floor := Floor} = Job) ->
    case IsByChange(Job) of
        true ->
            Changed;
        false ->
            N = length(Numbers),
            case IsByNumber(Job) of
                true ->
                    Most = lists:map(fun lists:max/1, Numbers),
                    ets:match_spec_run(lists:zip(Most, lists:duplicate(N, Floor)), AboveSpec);
                false ->
                    lists:duplicate(N, 2)
            end
    end
end,
%% Of the slices that may, after those that may not.
TriplesOf = fun(Which, Slices, Olds, Numbers, #{first := First}) ->
    None = 2 * length(Which) - lists:sum(Which),
    Tagged = lists:zip(Which, lists:zip3(Slices, Olds, Numbers)),
    {_, Those} = lists:unzip(lists:nthtail(None, lists:keysort(1, Tagged))),
    {Pids, Old, New} = lists:unzip3(Those),
    Before = case First of true -> New; false -> lists:map(fun erlang:binary_to_term/1, Old) end,
    lists:append(lists:zipwith3(fun lists:zip3/3, Pids, Before, New))
end,
PartOf = fun(Pids, Numbers) -> {Cut(Pids), Packed(Cut(Numbers)), [], {length(Pids), true}} end,
%% Without the dead, where identities are read again when they are needed; cut again where births
%% made many slices that are not full, or came out of order.
Purged = fun({Slices, _, Identities, {Count, InOrder}} = Part, Numbers) ->
    Dead = lists:member(true, lists:zipwith(fun lists:member/2,
                                            lists:duplicate(length(Numbers), undefined), Numbers)),
    Changed = Dead orelse not InOrder,
    case Changed orelse length(Slices) > 2 * (Count div SliceSize + 2) of
        true ->
            Alive = Run(lists:zip(lists:append(Slices), lists:append(Numbers)),
                        [{{'_', '$1'}, [{is_integer, '$1'}], ['$_']}]),
            Sorted_ = case InOrder of true -> Alive; false -> lists:sort(Alive) end,
            {Pids, Kept} = lists:unzip(Sorted_),
            setelement(3, PartOf(Pids, Kept), case Changed of true -> []; false -> Identities end);
        false ->
            Part
    end
end,
%% {Triples, values}. What is as it was stays where it is in memory.
Compared = fun(Slices, Olds, Numbers, Job) ->
    News = Packed(Numbers),
    Before = case Job of #{first := true} -> News; #{} -> Olds end,
    Both = lists:zip(Before, News),
    Changed = ets:match_spec_run(Both, SameSpec),
    {TriplesOf(MayHave(Changed, Numbers, Job), Slices, Before, Numbers, Job),
     lists:zipwith(fun erlang:element/2, Changed, Both)}
end,
PurgedIf = fun(true, Part, Numbers) -> Purged(Part, Numbers); (false, Part, _) -> Part end,
%% {Best, how many pass the filter, labels, part}. erl_eval looks at every variable in sight for
%% each argument of each call: so this is cut into funs with few of them.
SweepPart = fun({Slices, Olds, Known, Count}, #{filter := none, purge := Purge} = Job) ->
        Numbers = NumbersOf(Sweep(Slices, maps:get(attr, Job))),
        {Triples, Kept} = Compared(Slices, Olds, Numbers, Job),
        {Rank(Triples, Job), 0, [], PurgedIf(Purge, {Slices, Kept, Known, Count}, Numbers)};
    ({Slices, Olds, Known, Count}, #{purge := Purge} = Job) ->
        Numbers = NumbersOf(Sweep(Slices, maps:get(attr, Job))),
        {Triples, Kept} = Compared(Slices, Olds, Numbers, Job),
        {Passing, Identities, Labels} = Filter(Triples, lists:append(Slices), Known, Job),
        {Rank(Passing, Job), length(Passing), Labels,
         PurgedIf(Purge, {Slices, Kept, Identities, Count}, Numbers)}
end,

%% ---- All parts, the first of which is small: it ranks all that it has, to find what the others
%% must exceed.

%% How far the first sweep of many is, said now and then; nothing waits for it.
SayMs = 100,
Advance = fun(More) ->
    {Client, Far, All, Said} = get(progress),
    Now_ = erlang:monotonic_time(millisecond),
    case Now_ - Said >= SayMs of
        true ->
            erlang:send(Client, {p, scan, min(All, Far + More), All}, [nosuspend, noconnect]),
            put(progress, {Client, Far + More, All, Now_});
        false ->
            put(progress, {Client, Far + More, All, Said})
    end
end,

%% One part after the other; the best so far set the floor for the next. Where Turn counts down to
%% 0 the part is purged. Value: {Best, how many pass, labels, parts}.
SweepEach = fun SweepEach([], _, _, {Best, Passed, Labels, Done}) ->
    {Best, Passed, Labels, lists:reverse(Done)};
    SweepEach([{_, _, _, {Count, _}} = Part | Rest], Turn, #{rows := N} = Job, Sofar) ->
    {Best, Passed, Labels, Done} = Sofar,
    Floor = case length(Best) of N -> element(1, lists:last(Best)); _ -> Lowest end,
    {More, Passing, Found, Next} = SweepPart(Part, Job#{floor => Floor, purge => Turn =:= 0}),
    get(progress) =:= undefined orelse Advance(Count),
    erlang:garbage_collect(self(), [{type, minor}]),
    Merged = case More of [] -> Best; _ -> Highest(More ++ Best, N) end,
    SweepEach(Rest, Turn - 1, Job, {Merged, Passed + Passing,
                                    lists:umerge(lists:usort(Found), Labels), [Next | Done]})
end,

%% One part of two, the second of which was born later.
Merged = fun({Slices, Olds, Known, {Count, InOrder}}, {More, Packs, _, {Others, AreInOrder}}) ->
    IsBehind = Slices =:= [] orelse More =:= []
        orelse lists:last(lists:last(Slices)) < hd(hd(More)),
    {Slices ++ More, Olds ++ Packs, Known,
     {Count + Others, InOrder andalso AreInOrder andalso IsBehind}}
end,
%% Births, in order and without ours, get a number of 0. The last part takes them, or a new one when
%% that is full.
WithBirths = fun WithBirths(Parts, [], _) -> Parts;
    WithBirths(Parts, Births, Own) ->
    Size = case Parts of [] -> FirstSize; _ -> PartSize end,
    {Some, Rest} = try lists:split(Size, Births) catch error:_ -> {Births, []} end,
    These = Some -- Own,
    {Born, Count} = {Cut(These), length(These)},
    New = {Born, Packed(Alike(Born, 0)), [], {Count, true}},
    Last = case Parts of [] -> none; _ -> lists:last(Parts) end,
    Next = case Last of
        {_, _, _, {Has, _}} when Has + Count =< PartSize ->
            lists:droplast(Parts) ++ [Merged(Last, New)];
        _ ->
            Parts ++ [New]
    end,
    Rest =:= [] orelse erlang:garbage_collect(self(), [{type, minor}]),
    WithBirths(Next, Rest, Own)
end,
%% Neighbours that have few become one.
Joined = fun Joined([{_, _, _, {Has, _}} = Part, {_, _, _, {Count, _}} = Other | Rest]) ->
        case Has + Count =< PartSize div 2 of
            true -> Joined([Merged(Part, Other) | Rest]);
            false -> [Part | Joined([Other | Rest])]
        end;
    Joined(Parts) ->
        Parts
end,

%% ---- The census: which processes are new
%% They are what is left of the list when that of each part is taken away, all in order: then the
%% rest of the list stays what it is. The VM lists a table that was not filled yet in up to eight
%% runs, one process of each in turn: the first one of each, if it lives, separates them. Later the
%% list has no order. Up to some size a compiled match specification that finds the others costs
%% less than sorting: {Spec, for how many it was made, which of those it finds are known, in order}.
RunsMost = 4,
FirstsOf = fun FirstsOf([One, Other | Rest], Most) when One < Other, Most > 0 ->
        [One | FirstsOf([Other | Rest], Most - 1)];
    FirstsOf([One | _], _) ->
        [One]
end,
RunOf = fun(Listed, From, To) ->
    Run(Listed, [{'$1', [{'>=', '$1', {const, From}}, {'<', '$1', {const, To}}], ['$1']}])
end,
%% In order, or `none`. A tuple is above all pids.
InRuns = fun(Listed) ->
    Firsts = FirstsOf(Listed, RunsMost),
    Runs = case length(Firsts) of
        N when N > 1, N =< RunsMost ->
            lists:append(lists:zipwith3(RunOf, lists:duplicate(N, Listed), Firsts,
                                        tl(Firsts) ++ [{}]));
        _ ->
            []
    end,
    case length(Runs) =:= length(Listed) andalso ordsets:is_set(Runs) of
        true -> Runs;
        false -> none
    end
end,
%% {The list, whether it is in order now}.
Ordered = fun(Listed) ->
    case ordsets:is_set(Listed) of
        true ->
            {Listed, true};
        false ->
            case InRuns(Listed) of none -> {Listed, false}; Runs -> {Runs, true} end
    end
end,
UnsortedMost = 2,
StrangersMost = 200000,
StrangersTo = fun(Pids) ->
    Map = try maps:from_keys(Pids, [])
          catch error:undef -> maps:from_list(lists:zip(Pids, lists:duplicate(length(Pids), [])))
          end,
    Spec = [{'$1', [{'not', {is_map_key, '$1', {const, Map}}}], ['$1']}],
    {ets:match_spec_compile(Spec), length(Pids), []}
end,
NotIn = fun({Slices, _, _, {_, true}}, Left) -> ordsets:subtract(Left, lists:append(Slices));
    ({Slices, _, _, _}, Left) -> ordsets:subtract(Left, lists:sort(lists:append(Slices)))
end,
%% Unsorted: how often in a row they were listed in no order. Value: {the new ones, in order,
%% strangers or `none`}.
NewIn = fun(Listed, _, Parts, 0) ->
        {lists:foldl(NotIn, Listed, Parts), none};
    (Listed, {Compiled, Count, Recent}, _, _) ->
        Found = lists:sort(ets:match_spec_run(Listed, Compiled)),
        {ordsets:subtract(Found, Recent),
         case length(Found) > Count div 8 of
             true -> StrangersTo(Listed);
             false -> {Compiled, Count, Found}
         end};
    (Listed, none, Parts, Unsorted) ->
        IsSoon = Unsorted < UnsortedMost orelse length(Listed) > StrangersMost,
        {lists:foldl(NotIn, lists:sort(Listed), Parts),
         case IsSoon of true -> none; false -> StrangersTo(Listed) end}
end,

%% ---- Its jobs
%% State: {Parts, strangers or `none`, how often in a row pids were listed in no order, whose turn
%% it is to drop its dead}. Value: {Answer, State, rest | pack | stop}. The new ones are kept in the
%% process dictionary from the look to the sweep: evaluated code keeps all that it has named.

%% Own: our pids. Those of ours that are listed: some end on their own.
FewBirths = 1000,
Look = fun(Own, {Parts, Strangers, Unsorted, Turn}) ->
    {Listed, InOrder} = Ordered(erlang:processes()),
    Times = case InOrder of true -> 0; false -> Unsorted + 1 end,
    {Found, Next} = NewIn(Listed, Strangers, Parts, Times),
    put(births, Found),
    HasNew = length(Found) > FewBirths orelse Found -- Own =/= [],
    Ours = [P || P <- Own, is_process_alive(P)],
    {{length(Listed) - length(Ours), HasNew}, {Parts, Next, Times, Turn}, rest}
end,
%% Own: our pids; Late: those of ours that were born since the look at ours.
IsBorn = fun(Pid) -> lists:member(Pid, get(births)) end,
SweepParts = fun({Own, Late}, Progress, Job, {Old, Strangers, Unsorted, Turn}) ->
    #{ledger := {Keeper, Heavies}} = Job,
    put(keeper, Keeper),
    put(heavies, Heavies),
    put(progress, Progress),
    Ours = length(lists:filter(IsBorn, Late)),
    Parts = WithBirths(Old, erase(births), Own ++ Late),
    {Best, Passed, Labels, Swept} = SweepEach(Parts, Turn, Job, {[], 0, [], []}),
    Kept = case Swept of [First | Rest] -> [First | Joined(Rest)]; [] -> [] end,
    Next = case Turn + 1 < length(Kept) of true -> Turn + 1; false -> 0 end,
    {{Ours, Best, Passed, Labels}, {Kept, Strangers, Unsorted, Next}, pack}
end,
SweeperWork = fun({look, Own}, State) -> Look(Own, State);
    ({sweep, Own, Progress, Job}, State) -> SweepParts(Own, Progress, Job, State);
    ({take, Pids, Numbers}, {[], none, 0, 0}) ->
        {ok, {[PartOf(Pids, Numbers)], none, 0, 0}, rest};
    (retire, {Parts, _, _, _} = State) ->
        Unpacked = fun(Packs) -> lists:append(lists:map(fun erlang:binary_to_term/1, Packs)) end,
        {[lists:zip(lists:append(Slices), Unpacked(Packs)) || {Slices, Packs, _, _} <- Parts],
         State, stop}
end,
%% Room for what the work makes, in words.
SweeperWords = fun(_) ->
    Count = erlang:system_info(process_count),
    2 * Count + Count div 8 + 16 * min(Count, PartSize)
end,
