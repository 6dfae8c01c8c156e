%% SPDX-License-Identifier: GPL-3.0-or-later
%% Which counts grow, and who makes them grow: processes, short-lived ones, timers, monitors, links,
%% atoms, ETS tables, ports, sockets, code. Runs in a holder, whose state are marks of earlier
%% moments; growth is since a mark of WindowMs to twice that ago. Arg: #{}. Value: docs/queries.md.
%%
%% Work on many elements is left to native functions. A pid that is larger was spawned later.

-include("part/sweep.erl").
-include("part/walked.erl").
-include("part/tables.erl").
-include("part/references.erl").

WindowMs = 150000,
SocketsMs = 500,
SocketsMost = 10000,
SocketsGrown = 25,
FixedMs = 500,
TimerBytes = 152,
PortsMost = 10000,
Sampled = 1000,
SampleSlice = 100,
SampleMs = 50,
ChurnPerS = 90,
YoungMost = 200,
Looks = 8,
Rounds = 12,
YoungMs = 1500,
KindsMost = 20,
Ahead = 64,
RestartsPerS = 10,
RestartLooks = 12,
RestartMs = 40,
RestartBytes = 1048576,
EndsMs = 20,
EndsLooks = 10,
EndsMost = 10,
EndsEnough = 5,
Names = 50,

Ends = fun(List, Most) ->
    case length(List) of
        N when N > Most ->
            lists:sublist(List, Most div 2) ++ lists:nthtail(N - Most div 2, List);
        _ ->
            List
    end
end,
%% The most frequent of them and how often: what an eighth of them are stands at one of seven places
%% of the sorted list. {none, 0} of none.
Frequent = fun([]) ->
    {none, 0};
   (Values) ->
    Sorted = lists:sort(Values),
    N = length(Sorted),
    Places = [lists:nth(max(1, N * I div 8), Sorted) || I <- lists:seq(1, 7)],
    Counts = [{N - length(Sorted -- lists:duplicate(N, V)), V} || V <- lists:usort(Places)],
    {Count, Value} = lists:max(Counts),
    {Value, Count}
end,
%% The most frequent name of pairs, and the owner of most that have it.
Commonest = fun(Pairs) ->
    case Frequent([Name || {Name, _} <- Pairs]) of
        {none, 0} ->
            #{sampled => 0, seen => 0, owned => 0, name => undefined, owner => none};
        {Often, N} ->
            {Owner, Owned} = Frequent([Of || {Name, Of} <- Pairs, Name =:= Often]),
            #{sampled => length(Pairs), seen => N, owned => Owned, name => Often, owner => Owner}
    end
end,
Named = fun(Pid, Apps, Id) when is_pid(Pid), node(Pid) =:= node() ->
           Gone = #{pid => Pid, name => undefined, initial_call => undefined,
                    application => undefined},
           case Id(Pid, Apps) of
               gone -> Gone;
               {undefined, Call, Label, App, _} ->
                   Gone#{name := Label, initial_call := Call, application := App};
               {Name, Call, _, App, _} ->
                   Gone#{name := Name, initial_call := Call, application := App}
           end;
       (_, _, _) ->
           undefined
end,

%% ---- Processes

%% The newest of some, and how many were spawned before it: a slot of the table that was held for
%% long gives a pid that looks older than it is. Numbered shows how the pid of such a number is
%% written.
Nothing = fun() -> put('$process_label', beamtop), put('$initial_call', {beamtop, keeper, 0}) end,
Newest = fun(Some, Otp, Spawn) ->
    Pid = lists:max([Spawn(Nothing, [], [link]) || _ <- Some]),
    Binary = term_to_binary(Pid),
    Skip = byte_size(Binary) - 12,
    <<Head:Skip/binary, Number:32, Serial:32, Creation/binary>> = Binary,
    Bits = case Otp >= 27 orelse Number bsr 15 > 0 of true -> 28; false -> 15 end,
    {Pid, Serial bsl Bits + Number, {Head, Bits, Creation}}
end,
Between = fun(Pids, Old, Recent) ->
    Run(Pids, [{'$1', [{'>', '$1', {const, Old}}, {'<', '$1', {const, Recent}}], ['$1']}])
end,
Parent = fun(Otp) -> [parent || Otp >= 25] end,
%% Where one is that was started as erlang:apply/2 or by proc_lib says more than that.
Kinds = fun(Rows) ->
    Run(Rows, [{{'_', [{'_', {erlang, apply, 2}}, {'_', '$2'} | '_']}, [], ['$2']},
               {{'_', [{'_', {proc_lib, '_', '_'}}, {'_', '$2'} | '_']}, [], ['$2']},
               {{'_', [{'_', '$1'} | '_']}, [], ['$1']}])
end,
Rows = fun(Pids, Items) ->
    Run(lists:zip(Pids, Ask(Pids, Items)),
        [{{'_', '$1'}, [{is_list, '$1'}], ['$_']}])
end,
SampleOf = fun SampleOf(Pids, Items, Until, Sofar) ->
    case Pids =:= [] orelse Ms() > Until of
        true ->
            Sofar;
        false ->
            {These, Rest} = Split(Pids, SampleSlice),
            SampleOf(Rest, Items, Until, Rows(These, Items) ++ Sofar)
    end
end,
%% The largest group of them by function, one of it, and who has spawned most of the group. Before
%% OTP 25 nobody knows that of one that is not linked.
Group = fun(Sample, Otp, Apps, #{id := Id}) ->
    Functions = Kinds(Sample),
    {Function, Count} = Frequent(Functions),
    Those = Run(lists:zip(Functions, Sample), [{{Function, '$1'}, [], ['$1']}]),
    Parents = Run(Those, [{{'_', ['_', '_', {'_', '$1'}]}, [], ['$1']}]),
    {Spawner, Spawned} = case Otp >= 25 of true -> Frequent(Parents); false -> {none, 0} end,
    {One, _} = lists:last([{none, []} | Those]),
    #{sampled => length(Sample), seen => Count,
      function => case Function of none -> undefined; _ -> Function end,
      example => Named(One, Apps, Id), spawner => Named(Spawner, Apps, Id), spawned => Spawned}
end,
Survivors = fun(#{pid := Old}, #{pid := Recent}, Otp, Apps, #{k := Keeper, own := OwnOf} = Ctx) ->
    Alive = lists:sort(Between(erlang:processes(), Old, Recent)) -- OwnOf(Keeper),
    Items = [initial_call, current_function | Parent(Otp)],
    Sample = SampleOf(Ends(Alive, Sampled), Items, Ms() + SampleMs, []),
    (Group(Sample, Otp, Apps, Ctx))#{alive => length(Alive)}
end,
%% The pids of those that are spawned next, made of the numbers that come next: processes/0 lets
%% others run while it reads the table, and who lives for microseconds is gone then.
Next = fun(Otp, Spawn) ->
    {_, N, {Head, Bits, Creation}} = Newest([1], Otp, Spawn),
    {Mask, Serials} = {1 bsl Bits - 1, 1 bsl 13 - 1},
    [binary_to_term(<<Head/binary, (I band Mask):32, ((I bsr Bits) band Serials):32,
        Creation/binary>>)
     || I <- lists:seq(N + 1, N + Ahead)]
end,
%% Looks at those pids, 3 * N times: when a timer fires, as it does for many who spawn, and when the
%% others of the run queue had their turn. One native call: evaluated code would be too slow to see
%% who only waits in the queue for its first and last turn. The waiting is not work of ours.
Look = fun(N, Pids, Items) ->
    Begin = erlang:monotonic_time(),
    _ = Rows(Pids, Items),
    Start = erlang:monotonic_time(),
    Asks = [[Pid, Items] || Pid <- Pids],
    Asking = fun(Module, Function, Args) ->
        Many = length(Pids),
        {[Module | lists:duplicate(Many, erlang)], [Function | lists:duplicate(Many, process_info)],
         [Args | Asks], [none | Pids]}
    end,
    {Modules, Functions, Arguments, Asked} =
        lists:foldl(fun({M, F, A, P}, {Ms1, Fs, As, Ps}) -> {M ++ Ms1, F ++ Fs, A ++ As, P ++
            Ps} end,
                    {[], [], [], []},
                    [Asking(erlang, yield, []), Asking(erlang, yield, []), Asking(timer, sleep,
                        [1])]),
    Times = fun(List) -> lists:append(lists:duplicate(N, List)) end,
    Infos = lists:zipwith3(fun erlang:apply/3, Times(Modules), Times(Functions), Times(Arguments)),
    Took = erlang:monotonic_time() - Start,
    put(waited, get(waited) + max(0, Took - 3 * N * (Start - Begin))),
    Run(lists:zip(Times(Asked), Infos), [{{'_', '$1'}, [{is_list, '$1'}], ['$_']}])
end,
%% One that is seen more than once lives for longer than a look, so that nearly all of its kind are
%% seen; of the others some are. Where those that last are not half of what was spawned, as many of
%% them count as would have been seen, had they been as short. Value: a row of each process.
Brief = fun(Seen, Spawned) ->
    Each1 = maps:to_list(maps:from_list(Seen)),
    {Kinds1, All} = {Kinds(Each1), Kinds(Seen)},
    Many = fun(Kind, List) -> length(List) - length(List -- lists:duplicate(length(List),
        Kind)) end,
    Lasting = [K || K <- lists:sublist(lists:usort(Kinds1), KindsMost),
                    Many(K, All) * 2 >= Many(K, Kinds1) * 3],
    Those = lists:zip(Kinds1, Each1),
    {Long, Short} = lists:partition(fun({K, _}) -> lists:member(K, Lasting) end, Those),
    Share = case length(Long) of
        L when L * 2 >= Spawned -> 1.0;
        L -> min(1.0, (length(Short) + 1) / (Spawned - L + 1))
    end,
    Some = [lists:sublist(Of, round(length(Of) * Share))
            || K <- Lasting, Of <- [[Row || {Kind, Row} <- Long, Kind =:= K]]],
    lists:append([[Row || {_, Row} <- Short] | Some])
end,
%% On a host without a free CPU each wait takes long.
LookAgain = fun LookAgain(Left, See, Until) ->
    Seen = See(),
    case Left > 1 andalso Ms() < Until of
        true -> [Seen | LookAgain(Left - 1, See, Until)];
        false -> [Seen]
    end
end,
%% What was seen at the last answers, and now: [{Ms, Row}]. Ours begin in erlang:hibernate/3.
Young = fun(PerS, Before, Otp, #{spawn := Spawn, count_work := CountWork}) ->
    Kept = [B || {Then, _} = B <- Before, Then > Ms() - WindowMs],
    case is_number(PerS) andalso PerS >= ChurnPerS of
        true ->
            CountWork(),
            Start = Ms(),
            Items = [initial_call, current_function | Parent(Otp)],
            Done = LookAgain(Rounds, fun() -> Look(Looks, Next(Otp, Spawn), Items) end,
                             Start + YoungMs),
            Looked = lists:append(Done),
            Others = Run(Looked, [{{'_', [{'_', {erlang, hibernate, '_'}} | '_']}, [], [false]},
                                  {'_', [], ['$_']}]) -- lists:duplicate(length(Looked), false),
            At = Ms(),
            Spawned = min(PerS * (At - Start) / 1000, length(Done) * Ahead),
            lists:sublist([{At, Row} || Row <- Brief(Others, Spawned)] ++ Kept, YoungMost);
        false ->
            Kept
    end
end,

%% ---- Restarts

%% Who has started, or is linked to, the youngest: [Pid]. Links are read of small ones only.
Above = fun(Pids, Otp) when Otp >= 25 ->
            Run(Ask(Pids, parent), [{{parent, '$1'}, [{is_pid, '$1'}], ['$1']}]);
           (Pids, _) ->
            Small = Run(lists:zip(Pids, element(1, AskSpared(Pids, memory))),
                        [{{'$1', {memory, '$2'}}, [{'<', '$2', RestartBytes}], ['$1']}]),
            lists:append(Run(Ask(Small, links), [{{links, '$1'}, [], ['$1']}]))
end,
%% The few of them that most have, of those that are supervisors and have few links. Before OTP 26.2
%% a server that waits and traps exits looks the same.
Suspects = fun(Pids, Own, Apps, #{id := Id, caps := #{dict_key := HasKey}}) ->
    Those = [P || P <- Pids, is_pid(P), node(P) =:= node()] -- Own,
    Counts = [{length(Those) - length(Those -- lists:duplicate(length(Those), P)), P}
              || P <- lists:sublist(lists:usort(Those), KindsMost)],
    Most = PidsOf(Best(Counts, 3)),
    Trap = Run(lists:zip(Most, element(1, AskSpared(Most, [trap_exit, memory]))),
               [{{'$1', [{trap_exit, true}, {memory, '$2'}]}, [{'<', '$2', RestartBytes}],
                 ['$1']}]),
    [Pid || Pid <- Trap,
            case Id(Pid, Apps) of
                {_, {supervisor, Module, _}, _, _, _} -> Module =/= 'Elixir.Task.Supervisor';
                {_, {gen_server, loop, _}, _, _, _} -> not HasKey;
                _ -> false
            end]
end,
%% As many children at nearly all looks, though others: each that ended was started again. Where
%% clients start them their number varies. Value: {NewPerS, Children, New}.
Restarted = fun(Seen, Seconds) ->
    Sizes = lists:map(fun erlang:length/1, Seen),
    {Size, Count} = Frequent(Sizes),
    [First | _] = Seen,
    New = lists:usort(lists:append(Seen)) -- First,
    case Count * 5 >= length(Seen) * 4 of
        true -> {length(New) / Seconds, Size, New};
        false -> {0.0, Size, New}
    end
end,
LinksOf = fun(Pids) ->
    Run(Ask(Pids, links), [{{links, '$1'}, [], ['$1']}, {'_', [], [[]]}])
end,
%% How some that it has now end, in the next moments: #{normal => N, failed => N}. What one ends
%% with is copied to who monitors it: of the few youngest and oldest, and only until some have.
EndsOf = fun(Supervisor, Spawn) ->
    Sum = fun Sum(Normal, Failed) ->
        receive
            {'DOWN', _, process, _, noproc} -> Sum(Normal, Failed);
            {'DOWN', _, process, _, normal} -> Sum(Normal + 1, Failed);
            {'DOWN', _, process, _, shutdown} -> Sum(Normal + 1, Failed);
            {'DOWN', _, process, _, {shutdown, _}} -> Sum(Normal + 1, Failed);
            {'DOWN', _, process, _, _} -> Sum(Normal, Failed + 1)
        after 0 ->
            {Normal, Failed}
        end
    end,
    Until = fun Until(Left, {Normal, Failed}) ->
        case Left =:= 0 orelse Normal + Failed >= EndsEnough of
            true -> {Normal, Failed};
            false -> timer:sleep(EndsMs), Until(Left - 1, Sum(Normal, Failed))
        end
    end,
    Read = fun(Pid) ->
        Linked = case process_info(Pid, links) of {links, All} -> All; undefined -> [] end,
        Children = [C || C <- lists:sort(Linked), is_pid(C), node(C) =:= node()],
        [erlang:monitor(process, C) || C <- Ends(Children, EndsMost)],
        Slept = erlang:monotonic_time(),
        {Normal, Failed} = Until(EndsLooks, {0, 0}),
        {#{normal => Normal, failed => Failed}, erlang:monotonic_time() - Slept}
    end,
    Before = get(helped),
    case CountedOf([Supervisor], Read, Spawn) of
        #{Supervisor := {Ends_, Took}} ->
            %% Its sleep is not counted as work.
            put(helped, max(Before, get(helped) - Took)),
            Ends_;
        #{} ->
            put(helped, Before),
            #{}
    end
end,
Restarts = fun(PerS, #{pid := Old}, Otp, Apps, #{k := Keeper, own := OwnOf} = Ctx)
                when is_number(PerS), PerS >= RestartsPerS ->
    Own = [Keeper | OwnOf(Keeper)],
    Young1 = Run(erlang:processes(), [{'$1', [{'>', '$1', {const, Old}}], ['$1']}]),
    Youngest = lists:sublist(lists:reverse(lists:sort(Young1)), SampleSlice) -- Own,
    case Suspects(Above(Youngest, Otp), Own, Apps, Ctx) of
        [] ->
            undefined;
        Suspected ->
            Start = erlang:monotonic_time(millisecond),
            Seen = [begin
                         Slept = erlang:monotonic_time(),
                         timer:sleep(RestartMs),
                         put(waited, get(waited) + erlang:monotonic_time() - Slept),
                         LinksOf(Suspected)
                     end || _ <- lists:seq(1, RestartLooks)],
            Seconds = max(1, erlang:monotonic_time(millisecond) - Start) / 1000,
            Of = [{Restarted([lists:nth(N, Look1) || Look1 <- Seen], Seconds), Pid}
                  || {N, Pid} <- lists:zip(lists:seq(1, length(Suspected)), Suspected)],
            case lists:max(Of) of
                {{Rate, Children, [One | _]}, Pid} when Rate >= RestartsPerS ->
                    (EndsOf(Pid, maps:get(spawn, Ctx)))#{
                        per_s => Rate, children => Children, example => One,
                        supervisor => Named(Pid, Apps, maps:get(id, Ctx))};
                _ ->
                    undefined
            end
    end;
   (_, _, _, _, _) ->
    undefined
end,

%% ---- ETS tables and sockets

Words = fun(Tables) ->
    Run(lists:zip(Tables, Each(fun ets:info/2, Tables, memory)),
        [{{'_', '$1'}, [{is_integer, '$1'}], ['$_']}])
end,
Sockets = fun() ->
    case erlang:module_loaded(socket) andalso erlang:function_exported(socket, number_of, 0) of
        true -> socket:number_of();
        false -> 0
    end
end,
%% Of those that are open: {how many of them were looked at, the owner of most, how many it has}.
%% What holds a socket's reference keeps its memory: it is let go at once.
SocketOwners = fun() ->
    OwnerOf1 = fun(Socket) ->
        try socket:info(Socket) of
            #{owner := Pid} -> [Pid];
            #{ctrl := Pid} -> [Pid];
            _ -> []
        catch _:_ -> []
        end
    end,
    Owners = fun() -> lists:append(lists:map(OwnerOf1, Ends(socket:which_sockets(), 200))) end,
    Those = Owners(),
    erlang:garbage_collect(),
    {Owner, N} = Frequent(Those),
    {length(Those), Owner, N}
end,
SocketFact = fun(#{sockets := Now}, #{sockets := Old}, Apps, #{id := Id, in_time := InTime})
                    when is_integer(Now), is_integer(Old) ->
    IsAsked = Now - Old >= SocketsGrown andalso Now =< SocketsMost
        andalso erlang:function_exported(socket, which_sockets, 0)
        andalso erlang:function_exported(socket, info, 1),
    Fact = #{count => Now, grown => Now - Old},
    case IsAsked andalso InTime([{sockets, SocketOwners, []}], SocketsMs) of
        {[{ok, {Looked, Owner, Seen}}], _} ->
            Fact#{sampled => Looked, seen => Seen, owner => Named(Owner, Apps, Id)};
        _ ->
            Fact
    end;
   (_, _, _, _) ->
    undefined
end,

%% ---- Timers, monitors, links

%% The VM counts the bytes of each for each scheduler: erlang:memory/0 asks so too, for more. What a
%% scheduler counts may be below zero, for what another one has allocated. A timer has its size on
%% all releases, of 64 bits.
TypesOf = fun({fix_alloc, _, Info}) ->
    case lists:keyfind(fix_types, 1, Info) of
        {fix_types, Types} -> Types;
        {fix_types, _, Types} -> Types;
        false -> []
    end;
   (_) ->
    []
end,
Fixed = fun() ->
    Ref = make_ref(),
    case erlang:system_info({memory_internal, Ref, [fix_alloc]}) of
        true ->
            Each1 = [receive {Ref, _, Part} -> Part end
                     || _ <- lists:seq(1, erlang:system_info(schedulers))],
            Types = lists:append(lists:map(TypesOf, lists:append(Each1))),
            [lists:sum([Used || {T, _, Used} <- Types, T =:= Type]) band (1 bsl 64 - 1)
             || Type <- [bif_timer, monitor, link]];
        _ ->
            none
    end
end,
KeptFact = fun(#{in_time := InTime}) ->
    case WordBytes =:= 8 andalso InTime([{alloc, Fixed, []}], FixedMs) of
        {[{ok, [Timers, Monitors, Links]}], _} ->
            #{timers => Timers div TimerBytes, timer_bytes => Timers, monitor_bytes => Monitors,
              link_bytes => Links};
        _ ->
            undefined
    end
end,

%% ---- Marks of tables and sockets

%% Value: what a mark keeps of them; of what is late nothing.
Waited = fun(#{in_time := InTime}) ->
    Tables = case TablesBy(Words, InTime) of
        {Count, Sizes} -> #{tables => Count, words => Sizes};
        late -> #{}
    end,
    case InTime([{sockets, Sockets, []}], SocketsMs) of
        {[{ok, N}], _} -> Tables#{sockets => N};
        _ -> Tables
    end
end,
OwnerOf = fun(Table, Apps, Id) -> Named(ets:info(Table, owner), Apps, Id) end,
%% A name is an atom; of a table that has none registered the reference identifies it.
Described = fun({Grown, Words, Table}, Apps, Id) ->
    #{name => ets:info(Table, name), owner => OwnerOf(Table, Apps, Id),
      id => case is_reference(Table) of
                true -> list_to_binary(ref_to_list(Table));
                false -> undefined
            end,
      objects => case ets:info(Table, decentralized_counters) of
                     false -> ets:info(Table, size);
                     _ -> undefined
                 end,
      memory_bytes => Words * WordBytes, grown_bytes => Grown * WordBytes}
end,
EtsFact = fun(#{words := Now, tables := Count}, #{words := Old}, Apps, #{id := Id})
                when is_list(Old) ->
    Before = maps:from_list(Old),
    Grown = [{Words - maps:get(Table, Before, 0), Words, Table}
             || {Table, Words} <- Now -- Old],
    Largest = lists:sublist(lists:reverse(lists:sort([G || {N, _, _} = G <- Grown, N > 0])), 5),
    New = Ends([Table || {_, _, Table} <- Grown, not is_map_key(Table, Before)], 200),
    Made = lists:zip(Each(fun ets:info/2, New, name), Each(fun ets:info/2, New, owner)),
    Of = Commonest(Made),
    #{tables => Count, measured => length(Now), new => length(New),
      most_new => Of#{owner := Named(maps:get(owner, Of), Apps, Id)},
      growing => [Described(G, Apps, Id) || G <- Largest, ets:info(element(3, G),
          owner) =/= undefined]};
   (_, _, _, _) ->
    undefined
end,

%% ---- Atoms, ports, code

%% The longest text that half of them begin with: sorted, those that share one stand together.
Common = fun(Sorted) ->
    Half = (length(Sorted) + 1) div 2,
    Firsts = lists:sublist(Sorted, length(Sorted) - Half + 1),
    Pairs = lists:zip(Firsts, lists:nthtail(Half - 1, Sorted)),
    lists:max([{binary:longest_common_prefix([A, B]), A, B} || {A, B} <- Pairs])
end,
AtomFact = fun(Now, Old, #{prefix := Prefix}) when Now - Old >= Names ->
                Places = [Old + (Now - Old) * I div Names || I <- lists:seq(0, Names - 1)],
                Read = fun(Place) ->
                    try [atom_to_binary(binary_to_term(<<131, 75, Place:24>>), utf8)]
                    catch error:_ -> []
                    end
                end,
                %% What is beyond has no name in this form.
                case lists:append(lists:map(Read, [P || P <- Places, P < 1 bsl 24])) of
                    [] ->
                        #{prefix => undefined, examples => []};
                    Texts ->
                        {Len, A, B} = Common(lists:sort(Texts)),
                        #{prefix => Prefix(binary:part(A, 0, Len), 40),
                          examples => [Prefix(X, 40) || X <- lists:usort([A, B])]}
                end;
              (_, _, _) ->
                undefined
end,
PortFact = fun(Now, Old, Apps, #{id := Id, prefix := Prefix}) ->
    New = Now -- Old,
    Sample = Ends(New, 200),
    Known = lists:zip(Each(fun erlang:port_info/2, Sample, name),
                      Each(fun erlang:port_info/2, Sample, connected)),
    Those = Run(Known, [{{{'_', '$1'}, {'_', '$2'}}, [], [{{'$1', '$2'}}]}]),
    case Commonest(Those) of
        #{seen := 0} = None ->
            None#{new => length(New), owner := undefined};
        #{name := Name, owner := Pid} = Of ->
            %% Of a command its name: what follows may be anything.
            [Command | _] = binary:split(unicode:characters_to_binary(Name), <<" ">>),
            Of#{new => length(New), name := Prefix(Command, 60), owner := Named(Pid, Apps, Id)}
    end
end,
CodeFact = fun(Now, Old) ->
    New = Now -- Old,
    #{modules => length(Now), new => length(New), examples => lists:sublist(New, 5)}
end,

%% ---- Marks

Mark = fun(Otp, #{spawn := Spawn, without_own := WithoutOwn}, Got) ->
    {Pid, Number, _} = Newest([1, 2, 3], Otp, Spawn),
    Controllers = erlang:system_info(dist_ctrl),
    {_, Ours} = lists:unzip(Controllers -- WithoutOwn(Controllers)),
    maps:merge(#{ms => Ms(), pid => Pid, spawned => Number, atoms => erlang:system_info(atom_count),
                 ports => lists:sublist(lists:sort(erlang:ports() -- Ours), PortsMost),
                     code => erlang:loaded(),
                 words => unknown, sockets => undefined},
               maps:without([tables], Got))
end,
Turned = fun(Now, #{mid := #{ms := Then} = Mid} = State) ->
    case maps:get(ms, Now) - Then >= WindowMs of
        true -> State#{old := Mid, mid := Now, last := Now};
        false -> State#{last := Now}
    end
end,
PerS = fun(#{spawned := Now, ms := To}, #{spawned := Old, ms := From}) when Now >= Old, To > From ->
           (Now - Old) * 1000 / (To - From);
          (_, _) -> undefined
end,

{holder, [k, otp, caps, own, apps, id, spawn, count_work, prefix, in_time, without_own],
 fun(#{}, Ctx) ->
    #{state := Given, otp := Otp, apps := AppsOf} = Ctx,
    Got = Waited(Ctx),
    Now = Mark(Otp, Ctx, Got),
    #{old := Old, last := Last} = State =
        case Given of
            new -> #{old => Now, mid => Now, last => Now, young => []};
            #{old := #{words := unknown} = First} ->
                Given#{old := First#{words := maps:get(words, Now)}};
            _ -> Given
        end,
    Apps = AppsOf(),
    Rate = PerS(Now, Last),
    Short = Young(Rate, maps:get(young, State), Otp, Ctx),
    Fact = #{over_s => (maps:get(ms, Now) - maps:get(ms, Old)) / 1000,
             spawned_per_s => PerS(Now, Old), spawned_lately_per_s => Rate,
             processes => Survivors(Old, Last, Otp, Apps, Ctx),
             short_lived => Group([Row || {_, Row} <- Short], Otp, Apps, Ctx),
             restarts => Restarts(Rate, Last, Otp, Apps, Ctx),
             atoms => AtomFact(maps:get(atoms, Now), maps:get(atoms, Old), Ctx),
             ets => EtsFact(Got, Old, Apps, Ctx), kept => KeptFact(Ctx),
             sockets => SocketFact(Now, Old, Apps, Ctx),
             ports => PortFact(maps:get(ports, Now), maps:get(ports, Old), Apps, Ctx),
             code => CodeFact(maps:get(code, Now), maps:get(code, Old))},
    {{growth, erlang:monotonic_time(nanosecond), #{growth => Fact}},
     (Turned(Now, State))#{young => Short}}
end}.
