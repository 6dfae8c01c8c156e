%% SPDX-License-Identifier: GPL-3.0-or-later
%% Which processes findings should look at, and what they say of binaries and collections. Runs in a
%% holder. Arg: a map with `most`, how many of each sort, `all`, how large a node is looked at as a
%% whole, and, where the scan has just ranked all by reductions, `busiest`, its pids; or `first`:
%% only the longest mailboxes are wanted, soon (docs/queries.md).
%%
%% Mailboxes are read without a signal, but to one that runs: of all processes, or, of a node with
%% more than `all`, of Swept in turn and the leaders known so far; reductions of the same, or, in
%% SavedMost answers between two such looks, only of those that the scan found, of the leaders, of
%% the busiest of the look before and of who has messages. Memory and binaries cost a signal each:
%% of the leaders known so far, and of Signals others in turn, for SweepMs at most.

Swept = 100000,
Signals = 2000,
SignalSlice = 100,
SweepMs = 100,
WaitMs = 250,
Known = 20,
LeastMessages = 10,
LeastIdle = 5,
MostAsleep = 2,
Candidates = 50,
WaitingMost = 10000,
SavedMost = 2,
IdleReductions = 10,
LeastBinaryBytes = 65536,
LeastTiesBytes = 32768,
MostTiesBytes = 2097152,
OnceTiesBytes = 16777216,
TiesKept = 50,
TiedMost = 5,
Sampled = 100,
Samples = 12,
SampleMs = 20,
NearBytes = 8388608,
NearLinks = 20,
BinaryMs = 200,
NodesMost = 200,

-include("part/sweep.erl").
-include("part/busiest.erl").
-include("part/walked.erl").

%% ---- Without signals, all processes

%% Those with messages, the longest mailbox first: [{Messages, Pid}].
Mailboxes = fun Mailboxes(Pids, Sofar) ->
    case Pids of
        [] ->
            Sofar;
        _ ->
            {These, Rest} = Split(Pids, Slice),
            Waiting = Run(lists:zip(These, Ask(These, message_queue_len)),
                          [{{'$1', {'_', '$2'}}, [{'>', '$2', 0}], [{{'$2', '$1'}}]}]),
            Mailboxes(Rest, Best(Waiting ++ Sofar, WaitingMost))
    end
end,

%% ---- By a signal each

%% Those that hibernate though messages wait for them, for which the VM may have lost the wake-up,
%% and those that are suspended (sys:suspend/1).
Asleep = fun(Idle) ->
    Pids = PidsOf(Idle),
    Run(lists:zip(Pids, Ask(Pids, current_function)),
        [{{'$1', {'_', {erlang, hibernate, '_'}}}, [], ['$1']},
         {{'$1', {'_', {'_', loop_hibernate, '_'}}}, [], ['$1']},
         {{'$1', {'_', {sys, suspend_loop, '_'}}}, [], ['$1']}])
end,

%% What matches garbage_collection_info, whose keys have one order, with these sizes taken.
SizesIn = fun(Sizes) ->
    {_, Info} = process_info(self(), garbage_collection_info),
    [case Sizes of #{Key := Variable} -> {Key, Variable}; #{} -> '_' end || {Key, _} <- Info]
end,
%% The number of words that are held in binaries stands in the state of the collector: it needs no
%% list of them. What is no longer used, and not collected yet, is in it: it is held as well.
Vheap = SizesIn(#{bin_vheap_size => '$3', bin_old_vheap_size => '$4'}),
%% What a process has beside its heaps: monitors, those of others on it, links; messages too, and
%% the places of its dictionary.
Heaps = SizesIn(#{heap_block_size => '$3', old_heap_block_size => '$4', mbuf_size => '$5'}),
BesideHeaps = {'-', '$2', {'*', WordBytes, {'+', '$3', {'+', '$4', '$5'}}}},
%% Value: {[{MemoryBytes, Pid}], [{BinaryWords, Pid}], [{BesideBytes, Pid}], Looked}, the best.
Look = fun Look(Pids, Until, {Memory, Binary, Beside, Looked}) ->
    case Pids =:= [] orelse Ms() > Until of
        true ->
            {Memory, Binary, Beside, Looked};
        false ->
            {These, Rest} = Split(Pids, SignalSlice),
            {Read, _} = AskSpared(These, [memory, garbage_collection_info]),
            Infos = lists:zip(These, Read),
            Large = Run(Infos, [{{'$1', [{'_', '$2'}, '_']}, [], [{{'$2', '$1'}}]}]),
            Held = Run(Infos, [{{'$1', ['_', {'_', Vheap}]}, [{'>', {'+', '$3', '$4'}, 0}],
                                [{{{'+', '$3', '$4'}, '$1'}}]}]),
            Ties = Run(Infos, [{{'$1', [{'_', '$2'}, {'_', Heaps}]},
                                [{'>', BesideHeaps, LeastTiesBytes}], [{{BesideHeaps, '$1'}}]}]),
            Look(Rest, Until, {Best(Large ++ Memory, Known), Best(Held ++ Binary, Known),
                               Best(Ties ++ Beside, Known), Looked + length(These)})
    end
end,

%% {minor_gcs, N} stands at one place of a list whose length differs between releases.
MinorGcs =
    [case Key of minor_gcs -> {Key, '$1'}; _ -> '_' end
     || {Key, _} <- element(2, process_info(self(), garbage_collection))],
Collections = fun(Pids) ->
    Run(Ask(Pids, garbage_collection), [{{'_', MinorGcs}, [], ['$1']}, {'_', [], [undefined]}])
end,
%% The number starts again with each full collection: then there were so many or more.
Collected = fun
    (Old, New) when is_integer(Old), is_integer(New), New >= Old -> New - Old;
    (_, New) when is_integer(New) -> New;
    (_, _) -> 0
end,

%% ---- Senders to other nodes

%% Nodes for which data is queued behind a full socket: only then senders can be suspended.
Congested = fun(#{without_own := WithoutOwn}) ->
    [Node || {Node, Port} <- lists:sublist(WithoutOwn(erlang:system_info(dist_ctrl)), NodesMost),
             is_port(Port), {queue_size, Bytes} <- [erlang:port_info(Port, queue_size)], Bytes > 0]
end,
%% Where a process stands that a full link has suspended: amid the fragments of a message, behind
%% the last one, in the demonitor of a call, in a spawn request.
SendsIn = [{{'$1', {'_', {'_', F, '_'}}}, [], ['$1']}
           || F <- [dsend_continue_trap, bif_return_trap, flush_monitor_messages,
                    spawn_request_yield]],
%% Those that are suspended in a send to another node, of all that are seen in time.
SuspendedIn = fun SuspendedIn(Pids, Until, Sofar) ->
    case Pids =:= [] orelse Ms() > Until of
        true ->
            Sofar;
        false ->
            {These, Rest} = Split(Pids, Slice),
            Held = Run(lists:zip(These, Ask(These, status)),
                       [{{'$1', {status, suspended}}, [], ['$1']}]),
            Sending = Run(lists:zip(Held, Ask(Held, current_function)), SendsIn),
            SuspendedIn(Rest, Until, Sending ++ Sofar)
    end
end,
%% Value: {Nodes, Pids}.
Suspended = fun(Pids, Ctx) ->
    case Congested(Ctx) of
        [] -> {[], []};
        Nodes -> {Nodes, lists:sort(SuspendedIn(Pids, Ms() + SweepMs, []))}
    end
end,

%% ---- What those that work wait for

%% Of these processes at one moment: {wait for the logger, wait in another call, run}. A handler is
%% called by the process that logs, through logger_backend: who waits below that waits for the log.
Moment = ets:match_spec_compile(
    [{[{status, Is}, '_'], [], [true]} || Is <- [running, runnable, garbage_collecting]]
    ++ [{[{status, waiting}, {current_stacktrace, '$1'}], [], ['$1']}]),
WaitsOf = ets:match_spec_compile([{{true, '_'}, [], [logger]},
                                  {{false, [{gen, do_call, '_', '_'} | '_']}, [], [call]}]),
Sample = fun Sample(Pids, Until, {Logger, Calls, Running}) ->
    case Pids =:= [] orelse Ms() > Until of
        true ->
            {Logger, Calls, Running};
        false ->
            {These, Rest} = Split(Pids, 25),
            Seen = ets:match_spec_run(Ask(These, [status, current_stacktrace]), Moment),
            Stacks = lists:filter(fun erlang:is_list/1, Seen),
            N = length(Stacks),
            InLog = lists:zipwith3(fun lists:keymember/3, lists:duplicate(N, logger_backend),
                                   lists:duplicate(N, 1), Stacks),
            Waits = ets:match_spec_run(lists:zip(InLog, Stacks), WaitsOf),
            InCalls = length(Waits -- lists:duplicate(N, logger)),
            Sample(Rest, Until, {Logger + length(Waits) - InCalls, Calls + InCalls,
                                 Running + length(Seen) - N})
    end
end,

%% What a process without a name is near to: who started it (OTP 25 and later), or a registered
%% process that it is linked to. Links are pids: a large process may have very many.
Near = fun(Pid) ->
    NameOf = fun(Of) ->
        case is_pid(Of) andalso node(Of) =:= node() andalso process_info(Of, registered_name) of
            {registered_name, Name} -> atom_to_binary(Name, utf8);
            _ -> none
        end
    end,
    Parent = try process_info(Pid, parent) of {parent, P} -> NameOf(P); _ -> none
             catch error:_ -> none end,
    Links = case Parent =:= none andalso AskSpared([Pid], memory) of
                {[{memory, Bytes}], []} when Bytes < NearBytes ->
                    case process_info(Pid, links) of
                        {links, All} -> lists:sublist(All, NearLinks);
                        undefined -> []
                    end;
                _ -> []
            end,
    case {Parent, [Name || Link <- Links, Name <- [NameOf(Link)], Name =/= none]} of
        {none, []} -> undefined;
        {none, [Name | _]} -> <<"linked to ", Name/binary>>;
        {Name, _} -> <<"started by ", Name/binary>>
    end
end,
%% Whom a process waits for in a call: the one that it monitors. Of several nobody knows which.
WaitsFor = fun(Pid) ->
    case AskSpared([Pid], [current_function, memory]) of
        {[[{_, {gen, do_call, _}}, {_, Bytes}]], []} when Bytes < NearBytes ->
            case process_info(Pid, monitors) of
                {monitors, [{process, For}]} -> For;
                _ -> none
            end;
        _ ->
            none
    end
end,
%% Of another node with that node. A label names nobody: the pid stands beside it.
Callers = fun(Pids, Apps, #{id := Id}) ->
    Called = fun({Name, Node}) when Node =:= node() -> #{waits_for => Name};
                ({Name, Node}) -> #{waits_for => Name, node => Node};
                (For) when node(For) =/= node() -> #{waits_for => For, node => node(For)};
                (For) ->
                    case Id(For, Apps) of
                        {undefined, _, undefined, _, _} -> #{waits_for => For};
                        {undefined, _, Label, _, _} -> #{waits_for => Label, called => For};
                        {Name, _, _, _, _} -> #{waits_for => Name};
                        gone -> #{waits_for => For}
                    end
    end,
    [(Called(For))#{pid => Pid} || Pid <- Pids, For <- [WaitsFor(Pid)], For =/= none]
end,
%% Of those whose initial call says nothing.
Kin = fun(Pids, Apps, #{id := Id}) ->
    IsGeneric = fun(Pid) ->
        case Id(Pid, Apps) of
            {undefined, {M, _, _}, undefined, _, _} ->
                lists:member(M, [erlang, proc_lib, gen, gen_server, gen_statem, gen_event]);
            _ -> false
        end
    end,
    [#{pid => Pid, near => Text}
     || Pid <- lists:sublist(lists:filter(IsGeneric, Pids), 20),
        Text <- [Near(Pid)], Text =/= undefined]
end,

-include("part/references.erl").

%% ---- The work of those that end

%% Of all processes but ours.
AllWork = fun(Keeper, Own) ->
    Ours = lists:sum(Reductions([Keeper | Own], [])),
    {All, _} = erlang:statistics(reductions),
    All - Ours
end,
%% What none of the others has done, who are there before and after, those did that were spawned or
%% ended in between. Value: {Of all, of those}, with what was there before.
Ended = fun(Done, All, {Sum, Of}) ->
    Lived = lists:sum(Run(Done, [{'$1', [{'>', '$1', 0}], ['$1']}])),
    {Sum + max(0, All), Of + max(0, All - Lived)}
end,

%% ---- The answer

Named = fun(Pid, Apps, Id) ->
    case Id(Pid, Apps) of
        gone -> #{pid => Pid, name => undefined, initial_call => undefined};
        {undefined, Call, Label, _, _} -> #{pid => Pid, name => Label, initial_call => Call};
        {Name, Call, _, _, _} -> #{pid => Pid, name => Name, initial_call => Call}
    end
end,
BinaryFact = fun(Held, Looked, Total, Apps, #{id := Id, spawn := Spawn, in_time := InTime}) ->
    Enough = [H || {Words, _} = H <- lists:sublist(Held, 10),
                   Words * WordBytes >= LeastBinaryBytes],
    Read = case Enough of [] -> []; _ -> lists:reverse(lists:sort(Holders(Enough, Spawn))) end,
    {[Bytes_], _} = InTime([{binary, fun erlang:memory/1, [binary]}], BinaryMs),
    #{bytes => case Bytes_ of {ok, N_} -> N_; _ -> undefined end,
      processes => Total, looked_at => Looked,
      holders => [(Named(Pid, Apps, Id))#{bytes => Bytes, binaries => N}
                  || {Bytes, N, Pid} <- Read]}
end,
%% Of those that may have many monitors or links, how many: of more than MostTiesBytes they are not
%% listed. What they have most is known of those with up to OnceTiesBytes, too: one of them is
%% listed in an answer, and not again until very many others were.
Tied = fun(Pid) ->
    case process_info(Pid, [monitors, monitored_by, links]) of
        undefined -> gone;
        Lists -> [length(List) || {_, List} <- Lists]
    end
end,
MostlyOf = fun(_, [Monitors, By, Links]) ->
    element(2, lists:max([{Monitors, monitors}, {By, monitored_by}, {Links, links}]))
end,
%% Value: {Fact, what those of it have most}.
MonitorsFact = fun(Beside, TiesKnown, Apps, #{id := Id, spawn := Spawn}) ->
    Most = lists:sublist(Beside, TiedMost),
    Few = [Pid || {Bytes, Pid} <- Most, Bytes =< MostTiesBytes],
    Large = [Pid || {Bytes, Pid} <- Most, Bytes > MostTiesBytes, Bytes =< OnceTiesBytes,
                    not is_map_key(Pid, TiesKnown)],
    Once = lists:sublist(Large, 1),
    Counted = case Few ++ Once of [] -> #{}; Listed_ -> CountedOf(Listed_, Tied, Spawn) end,
    Tried = maps:from_list([{Pid, undefined} || Pid <- Once]),
    Kinds_ = maps:merge(maps:merge(TiesKnown, Tried), maps:map(MostlyOf, Counted)),
    Kept = case map_size(Kinds_) > TiesKept of
        true -> maps:with(PidsOf(Most), Kinds_);
        false -> Kinds_
    end,
    {#{processes =>
           [begin
                [Monitors, By, Links] = maps:get(Pid, maps:with(Few, Counted),
                                                 [undefined, undefined, undefined]),
                (Named(Pid, Apps, Id))#{bytes => Bytes, monitors => Monitors, monitored_by => By,
                                        links => Links,
                                        mostly => maps:get(Pid, Kept, undefined)}
            end || {Bytes, Pid} <- Most]},
     Kept}
end,
GcFact = fun(Pids, Olds, News, Ns, Apps, #{id := Id}) ->
    Counts = lists:zip(lists:zipwith(Collected, Olds, News), Pids),
    #{processes => [(Named(Pid, Apps, Id))#{minor_gcs_per_s => N * 1.0e9 / Ns}
                    || {N, Pid} <- Best(Counts, 10), N > 0]}
end,

%% {Nodes, Pids} are of the last look that saw any.
SendersFact = fun({Looks, Held, {Nodes, Pids}}, Suspended_, Apps, Id) ->
    #{looks => Looks, suspended_looks => Held, suspended => Suspended_, nodes => Nodes,
      processes => [Named(Pid, Apps, Id) || Pid <- Pids]}
end,

Fresh = #{senders => {0, 0, {[], []}}, swept => 0, looked_to => 0, shown => [], looked => 0,
          memory => [], ties => #{}, works => {0, 0}, binary => [], beside => [],
          waits => {0, 0, 0}, moments => 0, busy => [], saved => SavedMost},

%% Those whose mailboxes and reductions are read, and who is next.
InTurn = fun(All, Total, #{swept := Place}, #{all := Most}) ->
    case Total =< Most of true -> {All, 0}; false -> Turn(All, Total, Place, Swept) end
end,

%% {Answer, State}: the next answer goes on behind those that were looked at.
First = fun(#{most := N} = Arg, State, OwnNow) ->
    All = erlang:processes() -- OwnNow(),
    {Some, SweptTo} = InTurn(All, length(All), State, Arg),
    Longest = PidsOf([Has || {Messages, _} = Has <- lists:sublist(Mailboxes(Some, []), N),
                             Messages >= LeastMessages]),
    {{leaders, Now(), #{}, #{message_queue_len => Longest}},
     State#{swept := SweptTo, shown := Longest}}
end,

Whole = fun(#{most := N} = Arg, State, Ctx) ->
    #{k := Keeper, own := OwnOf, apps := AppsOf, count_work := CountWork} = Ctx,
    Apps = AppsOf(),
    Listed = erlang:processes(),
    Own = OwnOf(Keeper),
    All = Listed -- Own,
    Total = length(All),
    {Some, SweptTo} = InTurn(All, Total, State, Arg),
    Led = maps:get(shown, State),
    Pids = Led ++ (Some -- Led),
    Mail = Mailboxes(Pids, []),
    Waiting = PidsOf(Mail),
    #{busy := KnownBusy, saved := SavedBefore} = State,
    {Others, Saved} = case Arg of
        #{busiest := Rows} when SavedBefore < SavedMost ->
            {lists:usort((Rows -- Own) ++ Led ++ KnownBusy), SavedBefore + 1};
        _ ->
            {Pids, 0}
    end,
    Watched = Waiting ++ (Others -- Waiting),
    Before = Reductions(Watched, []),
    Done0 = AllWork(Keeper, Own),
    CountWork(),
    Wait(WaitMs),
    After_ = Reductions(Watched, []),
    Done1 = AllWork(Keeper, Own),
    Done = lists:zipwith(fun erlang:'-'/2, After_, Before),
    Works = case Saved =:= 0 andalso Total =< maps:get(all, Arg) of
        true -> Ended(Done, Done1 - Done0, maps:get(works, State));
        false -> maps:get(works, State)
    end,
    Busy = Busiest(Watched, Done, Known),
    %% Who has ended in between does nothing, but is not idle.
    Had = length(Mail),
    Still = Run(lists:zip3(Mail, lists:sublist(Done, Had), lists:sublist(After_, Had)),
                [{{'$1', '$2', '$3'}, [{'>', '$3', 0}], [{{'$1', '$2'}}]}]),
    %% Few messages are a moment's, but before one that does nothing.
    Queues = [Has || {{Messages, _} = Has, Did} <- lists:sublist(Still, N),
                     Messages >= LeastMessages
                         orelse (Messages >= LeastIdle andalso Did < IdleReductions)],
    Idle = Run(Still, [{{'$1', '$2'}, [{'<', '$2', IdleReductions}], ['$1']}]),
    Sleeping = lists:sublist(Asleep(lists:sublist(Idle, Candidates)), MostAsleep),
    Busy0Ns = Now(),
    Workers = PidsOf(Busy),
    Worked = PidsOf(Busiest(Watched, Done, Sampled)),
    Gcs = Collections(Workers),
    Place = maps:get(looked_to, State),
    {These, NextPlace} = Turn(All, Total, Place, Signals),
    Again = lists:usort(lists:append([PidsOf(maps:get(Key, State))
                                      || Key <- [memory, binary, beside]])
                        ++ PidsOf(Queues) ++ Workers),
    New = These -- Again,
    {Memory, Binary, Beside, Looked} = Look(Again ++ New, Ms() + SweepMs, {[], [], [], 0}),
    %% Where a signal takes long the time is over before: the next answer goes on from there.
    LookedNew = max(0, Looked - length(Again)),
    LookedTo = case LookedNew >= length(New) of
        true -> NextPlace;
        false -> From(Place, Total) + LookedNew
    end,
    InRound = case State of #{looked_to := 0} -> Looked; #{looked := L} -> min(Total,
        L + Looked) end,
    Rest_ = max(0, WaitMs - (Now() - Busy0Ns) div 1000000),
    Waits = lists:foldl(fun(_, Sofar) ->
        Wait(Rest_ div Samples),
        Sample(Worked, Ms() + SampleMs, Sofar)
    end, maps:get(waits, State), lists:seq(1, Samples)),
    {InLogger, InCalls, Running} = Waits,
    Moments = maps:get(moments, State) + Samples,
    GcsNow = Collections(Workers),
    Ns = Now() - Busy0Ns,
    Longest = lists:sublist(PidsOf(Queues) -- Sleeping, N - length(Sleeping)),
    Leaders = #{message_queue_len => Longest ++ Sleeping, reductions => lists:sublist(Workers, N),
                memory => PidsOf(lists:sublist(Memory, N)),
                binary => PidsOf(lists:sublist(Binary, N))},
    Shown = lists:usort(Workers ++ lists:append(maps:values(Leaders))),
    {HeldFor, Held} = Suspended(Pids, Ctx),
    {Looks, HeldLooks, SendersBefore} = maps:get(senders, State),
    SendersNow = case Held of
        [] -> {Looks + 1, HeldLooks, SendersBefore};
        _ -> {Looks + 1, HeldLooks + 1, {HeldFor, lists:sublist(Held, 5)}}
    end,
    {Ties, TiesNow} = MonitorsFact([B || {_, P} = B <- Beside, not lists:member(P, Longest)],
                                   maps:get(ties, State), Apps, Ctx),
    Facts = #{senders => SendersFact(SendersNow, length(Held), Apps, maps:get(id, Ctx)),
              binaries => BinaryFact(Binary, InRound, Total, Apps, Ctx),
              monitors => Ties,
              gc => GcFact(Workers, Gcs, GcsNow, Ns, Apps, Ctx),
              waits => #{moments => Moments, logger => InLogger, calls => InCalls,
                         running => Running},
              ended => #{reductions => element(1, Works), of_ended => element(2, Works)},
              kin => #{processes => Kin(Shown, Apps, Ctx),
                       callers => Callers(Longest, Apps, Ctx)}},
    {{leaders, Now(), Facts, Leaders},
     State#{senders := SendersNow, ties := TiesNow, swept := SweptTo, looked_to := LookedTo,
            shown := Shown, looked := InRound, memory := Memory, binary := Binary,
            beside := Beside, waits := Waits, works := Works, moments := Moments,
            busy := case Saved of 0 -> Worked; _ -> KnownBusy end, saved := Saved}}
end,

{holder, [k, own, apps, id, spawn, count_work, in_time, without_own], fun(Arg, Ctx) ->
    #{state := Given, k := Keeper, own := OwnOf} = Ctx,
    State = case Given of new -> Fresh; _ -> Given end,
    case Arg of
        #{first := true} -> First(Arg, State, fun() -> OwnOf(Keeper) end);
        _ -> Whole(Arg, State, Ctx)
    end
end}.
