%% SPDX-License-Identifier: GPL-3.0-or-later
%% The keeper: our one anchor on the target. Everything else of ours is spawned by it and linked to
%% it; it lives as long as the connection to the client C and leaves nothing behind.
%%
%% Bindings: C, the client's pid; O, options (a map): worker_heap_bytes, the heap limit of a worker;
%% EvaluateAll of loader.erl.
%% Value: {keeper, Pid, Version}.
%%
%% This is evaluated by erl_eval, so: funs are made once (each costs 200 us on OTP 23), values
%% go through arguments rather than environments (an environment is copied at every spawn, and
%% sharing is lost), and work on many elements is left to native functions.

%% What our expressions need later is loaded now: a disk or a code server that hangs by then hides
%% nothing.
lists:foreach(fun(Module) -> Module:module_info(module) end, [eval_bits, re]),

Version = 3,
WordBytes = erlang:system_info(wordsize),
MiB = 1048576,

-include("keeper/cost.erl").

%% ---- What this VM can do

HasDictionaryKey =
    try process_info(self(), {dictionary, beamtop}) of _ -> true catch error:_ -> false end,
Otp = list_to_integer(erlang:system_info(otp_release)),
Caps = #{dict_key => HasDictionaryKey,
         label => Otp >= 27},

-include("keeper/terms.erl").

-include("part/behind.erl").

-include("keeper/who.erl").

%% ---- Which processes are ours: the keeper, what is linked to it, and what is linked to that; and
%% what holds the connection. Mine: of this connection, but for the last. Own: of every beamtop

%% Natively: [{links, Links} | undefined] => [Links] => [local pids].
LinkLists = ets:match_spec_compile([{{links, '$1'}, [], ['$1']}, {undefined, [], [[]]}]),
LocalPids = ets:match_spec_compile(
    [{'$1', [{is_pid, '$1'}, {'=:=', {node, '$1'}, {node}}], ['$1']}]),
LinksOf = fun(Pids) ->
    Infos = lists:zipwith(fun erlang:process_info/2, Pids, lists:duplicate(length(Pids), links)),
    Links = lists:append(ets:match_spec_run(Infos, LinkLists)),
    ets:match_spec_run(Links, LocalPids)
end,
Family = fun(Keepers) ->
    Children = LinksOf(Keepers),
    lists:usort(Keepers ++ Children ++ LinksOf(Children))
end,
Mine = fun(Keeper) -> Family([Keeper]) end,

%% Each keeper is registered under the name of its client's node, an atom that the connection has
%% made already. So all of them are found by one native look-up for each hidden node, whoever asks:
%% [{Node, Keeper}].
IsNamed = ets:match_spec_compile([{{'_', '$1'}, [{is_pid, '$1'}], ['$_']}]),
Keepers = fun() ->
    Nodes = erlang:nodes(hidden),
    Named = ets:match_spec_run(lists:zip(Nodes, lists:map(fun erlang:whereis/1, Nodes)), IsNamed),
    [Known || {Node, _} = Known <- Named, lists:prefix("beamtop", atom_to_list(Node))]
end,
%% The process that holds the connection to such a node, which net_kernel's table names: neither a
%% call nor a signal.
HolderOf = fun(Node) ->
    try ets:lookup_element(sys_dist, Node, 5) of
        Pid when is_pid(Pid) -> [Pid];
        _ -> []
    catch
        error:_ -> []
    end
end,
Own = fun(Keeper) ->
    {Nodes, Others} = lists:unzip(Keepers()),
    Holders = lists:append(lists:map(HolderOf, [node(C) | Nodes])),
    lists:usort(Holders ++ Family(lists:usort([Keeper | Others])))
end,
%% Takes beamtops out of [{Node, Port | Pid}], as system_info(dist_ctrl) gives it.
WithoutOwn = fun(Controllers) ->
    {Nodes, _} = lists:unzip(Keepers()),
    [Controller || {Node, _} = Controller <- Controllers,
                   Node =/= node(C), not lists:member(Node, Nodes)]
end,
%% The name of a connection that was lost is free when its keeper has ended.
Register = fun(Client) ->
    try register(node(Client), self())
    catch error:_ -> monitor(process, node(Client))
    end
end,

%% What the user wrote comes as a binary: a name that is not an atom here must not become one, nor
%% need a pid be one that this release can have. Value: a pid, maybe of no process, or `undefined`.
Registered = fun(Name) ->
    try whereis(binary_to_existing_atom(Name, utf8)) catch error:_ -> undefined end
end,
%% MyApp.Repo is the module of Elixir, unless a process has that very name.
PidOf = fun(Who) ->
    try
        case Who of
            _ when is_pid(Who) -> Who;
            <<"<", _/binary>> -> list_to_pid(binary_to_list(Who));
            <<First, _/binary>> when First >= $A, First =< $Z ->
                case Registered(Who) of
                    undefined -> Registered(<<"Elixir.", Who/binary>>);
                    Found -> Found
                end;
            _ -> Registered(Who)
        end
    of
        Pid when is_pid(Pid) -> Pid;
        _ -> undefined
    catch
        error:_ -> undefined
    end
end,

-include("part/waiters.erl").

-include("keeper/turns.erl").
%% How many processes with many links or monitors are known: who reads memory asks for them only
%% then.
Heavies = counters:new(1, []),

%% ---- Evaluation and answers

%% A query that names the keys of Ctx which it needs gets no others: all of it is 100 kB, copied to
%% every worker.
Evaluate = fun(Parts, Everything) ->
    try
        Value = EvaluateAll(Parts, #{}),
        {Kind, Query, Ctx} =
            case Value of
                {process, Keys, F} -> {process, F, maps:with(Keys, Everything)};
                {holder, Keys, F} -> {holder, F, maps:with(Keys, Everything)};
                {Keys, F} -> {ok, F, maps:with(Keys, Everything)};
                F -> {ok, F, Everything}
            end,
        true = is_function(Query, 2),
        {Kind, Query, Ctx}
    catch
        Class:Reason -> {error, {Class, Cut(Reason, 1000)}}
    end
end,

%% A query that lives on evaluates its parts itself: what they make is kept there, and nowhere else,
%% and a fun that is copied to another process loses what its parts share, which makes it many times
%% as large.
Read = fun(Source, Everything) ->
    case binary_to_term(Source) of
        {query, Parts} -> Evaluate(Parts, Everything);
        {Kind, Parts} -> {Kind, Parts, Everything}
    end
end,

%% Calls a query. The wall time in between is without the time that the query says it waited for
%% others; its helpers say what their work cost: native time, and wall time with reductions. The
%% query keeps all of it in the process dictionary.
%% Value: {ok | error, Value, Wall, Helped, Helpers}.
Measured = fun(Query, Arg, Ctx) ->
    Start = erlang:monotonic_time(),
    {Kind, Value} =
        try {ok, Query(Arg, Ctx)}
        catch Class:Reason -> {error, {Class, Cut(Reason, 1000)}}
        end,
    Took = erlang:monotonic_time() - Start,
    {Kind, Value, Took - put(waited, 0), put(helped, 0), put(helpers, {0, 0})}
end,
%% Of a worker or holder that begins.
Work = fun(Keeper) ->
    Sign(),
    put(keeper, Keeper),
    put(heavies, Heavies),
    put(waited, 0),
    put(helped, 0),
    put(helpers, {0, 0})
end,

%% One answer, then the end.
Worker = fun(Keeper, AskId, Query, Arg, Ctx) ->
    Work(Keeper),
    {Kind, Value, Wall, Helped, Helpers} = Measured(Query, Arg, Ctx),
    Keeper ! {done, AskId, Kind, {Wall, CountedSince(0), Helped, Helpers}, Value}
end,

%% Answers again and again; its query takes and gives a state. Calling itself in the last place
%% drops everything but the new state, so that the collection that comes before the answer leaves
%% a small heap and is part of what the answer cost. A heap that is small stays as it is.
%% Counted: reductions up to the answer before.
HolderWords = 250000,
Holder = fun Holder(Keeper, Query, Ctx, State, Counted, Pending) ->
    case Pending of
        none ->
            ok;
        {AskId, Kind, Value, Wall, Helped, Helpers} ->
            Start = erlang:monotonic_time(),
            {_, Words} = process_info(self(), total_heap_size),
            Words > HolderWords andalso erlang:garbage_collect(),
            Did = CountedSince(Counted),
            Cost = {Wall + erlang:monotonic_time() - Start, Did, Helped, Helpers},
            Keeper ! {done, AskId, Kind, Cost, Value}
    end,
    Now = get(counted),
    receive
        {ask, NextId, Arg} ->
            case Measured(Query, Arg, Ctx#{state => State}) of
                {ok, {V, Next}, W, H, Hs} ->
                    Holder(Keeper, Query, Ctx, Next, Now, {NextId, ok, V, W, H, Hs});
                {error, Why, W, H, Hs} ->
                    %% The state may be half changed: end, and start again at the next ask.
                    Keeper ! {done, NextId, error, {W, CountedSince(Now), H, Hs}, Why},
                    exit(shutdown)
            end
    end
end,
%% After reading: the small collection after the other gives what was read an area of its size, else
%% the next one would set aside three times as much for it.
Settle = fun() ->
    erlang:garbage_collect(),
    erlang:garbage_collect(self(), [{type, minor}])
end,
%% A query that lives on: a holder, or a process, which answers, and ends, by itself.
Begin = fun(Kind, Keeper, Query, Ctx, Start) ->
    Settle(),
    Keeper ! {spent, erlang:monotonic_time() - Start, CountWork()},
    case Kind of
        process -> Query(Keeper, Ctx);
        holder -> Work(Keeper), Holder(Keeper, Query, Ctx, new, 0, none)
    end
end,
Resident = fun(Keeper, Parts, Everything) ->
    Start = erlang:monotonic_time(),
    Sign(),
    case Evaluate(Parts, Everything) of
        {error, Why} ->
            receive
                {ask, AskId, _} ->
                    CountWork(),
                    Spent = erlang:monotonic_time() - Start,
                    Keeper ! {done, AskId, error, {Spent, 0}, Why}
            end,
            exit(shutdown);
        {Kind, Query, Ctx} ->
            Begin(Kind, Keeper, Query, Ctx, Start)
    end
end,

%% Takes the flags of the standing trace off a process of ours that sleeps, and wakes it: it
%% evaluates nothing before. Shield: `none`, or a fun that takes them off a pid.
Wake = fun(Pid, Shield) ->
    try Shield =:= none orelse Shield(Pid) catch _:_ -> ok end,
    Pid ! {wake, beamtop}
end,
Spawn = fun(Entry, Args, Options, Shield) ->
    case Shield of
        none ->
            spawn_opt(erlang, apply, [Entry, Args], Options);
        _ ->
            Parts = [erlang, apply, [Asleep, [Entry, Args]]],
            Pid = spawn_opt(erlang, hibernate, Parts, Options),
            Wake(Pid, Shield),
            Pid
    end
end,

%% ---- The loop
%% State: client, ctx, queries (name => {ok, Fun, Ctx} | {error, Why}), asked (id => {Pid, Timer,
%% Start, DeadlineMs, reductions before}}), holders (name => Pid), gentle (pid => [], of holders
%% that are asked to end and have GraceMs for it), turns (keeper/turns.erl), shield ({Pid, Fun} of a
%% standing trace, or none), owed ({wall time, reductions} of reading texts, which the next answer
%% says).

NothingOwed = {0, 0},
Answer = fun(AskId, Kind, Cost, What, #{client := Client, owed := Owed} = State) ->
    erlang:send(Client, {a, AskId, Kind, {Cost, CountWork(), Owed}, What}, [nosuspend, noconnect]),
    case Owed of NothingOwed -> State; _ -> State#{owed := NothingOwed} end
end,

Done = fun(AskId, Kind, Cost, What, #{asked := Asked} = State) ->
    case Asked of
        #{AskId := {_, Timer, _, _, _}} ->
            erlang:cancel_timer(Timer),
            Answer(AskId, Kind, Cost, What, State#{asked := maps:remove(AskId, Asked)});
        #{} ->
            State
    end
end,

%% An ask whose worker ended without an answer. Kind: timeout, {exit, Reason}. The time since is the
%% most that it can have cost: on a busy node nearly all of it was waiting, and reductions, where
%% they are known, say what was not.
Fail = fun(AskId, Kind, Did, #{asked := Asked} = State) ->
    #{AskId := {_, _, Start, DeadlineMs, _}} = Asked,
    {Status, What} =
        case Kind of
            timeout -> {timeout, DeadlineMs};
            {exit, killed} -> {killed, max_heap};
            {exit, Reason} -> {error, {exit, Cut(Reason, 1000)}}
        end,
    Cost = case erlang:monotonic_time() - Start of
        Wall when Did =:= unknown -> {Wall, 0};
        Wall -> {Wall, Did, at_most}
    end,
    Done(AskId, Status, Cost, What, State)
end,

%% What one did since it last answered, read at its deadline. Where it runs, it answers by a signal:
%% so another process reads it, and nothing waits for that longer than TallyMs. Did: before it was
%% asked, where its dictionary cannot be read.
TallyMs = 200,
Tally = fun(Keeper, AskId, Pid, Did) ->
    Sign(),
    Counted = case HasDictionaryKey andalso process_info(Pid, {dictionary, counted}) of
        {_, Before} when is_integer(Before) -> Before;
        _ -> Did
    end,
    case process_info(Pid, reductions) of
        {_, All} -> Keeper ! {did, AskId, All - Counted};
        undefined -> ok
    end,
    CountWork()
end,

WorkerOptions = SpawnOptions(maps:get(worker_heap_bytes, O, 64 * MiB)),
%% A holder's list of pids grows with the node.
HolderOptions = fun() ->
    SpawnOptions(64 * MiB + 512 * erlang:system_info(process_count))
end,

ShieldOf = fun(#{shield := Shield}) ->
    case Shield of none -> none; {_, Unflag} -> Unflag end
end,

StartResident = fun(Kind, Name, Parts, Everything, State) ->
    #{holders := Holders, gentle := Gentle} = State,
    Options = case Kind of process -> WorkerOptions; holder -> HolderOptions() end,
    Pid = Spawn(Resident, [self(), Parts, Everything], Options, ShieldOf(State)),
    {Pid, State#{holders := Holders#{Name => Pid},
                 gentle := case Kind of process -> Gentle#{Pid => []}; holder -> Gentle end}}
end,

%% Another waiter for one that died. One that dies again and again is not started at each question.
RestMs = 10000,
Renewed = fun(Kind, Dead, State) ->
    #{waiters := Waiters} = State,
    Now = erlang:monotonic_time(millisecond),
    case Waiters of
        #{Kind := {Dead, Index, At}} when At =:= none; Now >= At ->
            Pid = Spawn(StartWaiter, [self(), Kind, Index], WaiterOptions, ShieldOf(State)),
            Waiter_ = {Pid, Index, Now + RestMs},
            {Waiter_, State#{waiters := Waiters#{Kind := Waiter_}}};
        #{Kind := {Dead, _, _}} ->
            {none, State};
        #{Kind := Newer} ->
            {Newer, State}
    end
end,

%% What holds something on the node gets time to take it off; anything else ends at once.
GraceMs = 1000,
End = fun(Pid, #{gentle := Gentle}) ->
    case Gentle of
        #{Pid := _} ->
            exit(Pid, shutdown),
            erlang:send_after(GraceMs, self(), {kill, Pid});
        #{} ->
            exit(Pid, kill)
    end
end,

%% erl_eval looks at every variable in sight for each argument: what each tick needs stands in funs
%% with few, apart from the rest.
Await = fun(AskId, Pid, DeadlineMs, Did, #{asked := Asked} = State) ->
    Timer = erlang:start_timer(DeadlineMs, self(), AskId),
    State#{asked := Asked#{AskId => {Pid, Timer, erlang:monotonic_time(), DeadlineMs, Did}}}
end,
%% One that is at work is not waited for: only a holder waits for its questions.
DidOf = fun(Pid, Gentle) ->
    case not HasDictionaryKey andalso not is_map_key(Pid, Gentle)
        andalso process_info(Pid, reductions) of
        {_, Did} -> Did;
        _ -> 0
    end
end,
AskNew = fun(AskId, Name, Arg, DeadlineMs, #{queries := Queries} = State) ->
    case maps:get(Name, Queries, {error, {error, not_loaded}}) of
        {error, Why} ->
            Answer(AskId, error, {0, 0}, Why, State);
        {ok, Query, Ctx} ->
            Pid = Spawn(Worker, [self(), AskId, Query, Arg, Ctx], WorkerOptions, ShieldOf(State)),
            Await(AskId, Pid, DeadlineMs, 0, State);
        {Kind, Parts, Everything} when is_tuple(Arg), element(1, Arg) =:= in ->
            {in, HolderName, HolderArg} = Arg,
            {Pid, Next} = StartResident(Kind, HolderName, Parts, Everything, State),
            Pid ! {ask, AskId, HolderArg},
            Await(AskId, Pid, DeadlineMs, 0, Next);
        _ ->
            Answer(AskId, error, {0, 0}, {error, {in, Name}}, State)
    end
end,
Ask = fun(AskId, Name, Arg, DeadlineMs, #{holders := Holders, gentle := Gentle} = State) ->
    case Arg of
        {in, Holder_, HolderArg} when is_map_key(Holder_, Holders) ->
            #{Holder_ := Pid} = Holders,
            Did = DidOf(Pid, Gentle),
            Pid ! {ask, AskId, HolderArg},
            Await(AskId, Pid, DeadlineMs, Did, State);
        _ ->
            AskNew(AskId, Name, Arg, DeadlineMs, State)
    end
end,

%% What is read takes many reductions of another kind.
Load = fun(Name, Source, #{queries := Queries, ctx := Ctx, owed := Owed} = State) ->
    {Wall, Count} = Owed,
    Start = erlang:monotonic_time(),
    Before = CountWork(),
    Query = Read(Source, Ctx),
    Read_ = {Wall + erlang:monotonic_time() - Start, Count + Before + CountWork()},
    Settle(),
    State#{queries := Queries#{Name => Query}, owed := Read_}
end,

%% Ends one at its deadline. A holder is forgotten at once: its successor must not wait for its end.
Lapse = fun(AskId, Pid, Did, #{holders := Holders} = State) ->
    End(Pid, State),
    Left = maps:from_list([H || {_, P} = H <- maps:to_list(Holders), P =/= Pid]),
    Fail(AskId, timeout, Did, State#{holders := Left})
end,
Late = fun(AskId, {Pid, _, Start, DeadlineMs, Did}, #{asked := Asked} = State) ->
    Spawn(Tally, [self(), AskId, Pid, Did], [{priority, high} | WorkerOptions], ShieldOf(State)),
    Timer = erlang:start_timer(TallyMs, self(), AskId),
    State#{asked := Asked#{AskId := {{late, Pid}, Timer, Start, DeadlineMs, Did}}}
end,

%% The next state, or `stop`.
HandleOther = fun(Message, State) ->
    #{client := Client, asked := Asked, holders := Holders, gentle := Gentle} = State,
    case Message of
        {timeout, _, AskId} when is_map_key(AskId, Asked) ->
            case maps:get(AskId, Asked) of
                {{late, Pid}, _, _, _, _} -> Lapse(AskId, Pid, unknown, State);
                Waiting -> Late(AskId, Waiting, State)
            end;
        {did, AskId, Did} when is_map_key(AskId, Asked) ->
            {{late, Pid}, _, _, _, _} = maps:get(AskId, Asked),
            Lapse(AskId, Pid, Did, State);
        {load, Name, Source} when is_atom(Name), is_binary(Source) ->
            Load(Name, Source, State);
        {spent, Wall, Count} when is_integer(Wall), is_integer(Count) ->
            #{owed := {Walls, Counts}} = State,
            State#{owed := {Walls + Wall, Counts + Count}};
        {drop, Name} when is_map_key(Name, Holders) ->
            {Pid, Left} = maps:take(Name, Holders),
            End(Pid, State),
            State#{holders := Left};
        {tell, Name, Term} ->
            case Holders of
                #{Name := Pid} when is_map_key(Pid, Gentle) -> Pid ! {tell, Term};
                #{} -> ok
            end,
            State;
        {kill, Pid} when is_map_key(Pid, Gentle) ->
            exit(Pid, kill),
            State;
        {renew, From, Ref, Kind, Dead} ->
            {Waiter_, Next} = Renewed(Kind, Dead, State),
            From ! {Ref, renewed, Waiter_},
            Next;
        {turns, From, Ref, Costly} ->
            Now = erlang:monotonic_time(millisecond),
            {Whose, Known, Turns} = TurnsOf(Costly, maps:get(turns, State), Now),
            From ! {Ref, Whose, Known, Now},
            State#{turns := Turns};
        {heavy, From, Ref} ->
            From ! {Ref, element(3, maps:get(turns, State))},
            State;
        {walked, Walks, Unpaid} ->
            Turns = WithRead(Walks, Unpaid, maps:get(turns, State),
                             erlang:monotonic_time(millisecond)),
            counters:put(Heavies, 1, map_size(element(3, Turns))),
            State#{turns := Turns};
        {shade, Pid} ->
            Wake(Pid, ShieldOf(State)),
            State;
        {shield, Pid, Unflag} when is_map_key(Pid, Gentle), is_function(Unflag, 1) ->
            Pid ! {shielded, self()},
            State#{shield := {Pid, Unflag}};
        {'DOWN', _, process, {Name, _}, _} when Name =:= node(Client) ->
            Register(Client),
            State;
        {adopt, Pid} when node(Pid) =:= node() ->
            link(Pid),
            State;
        {share, From} ->
            From ! {shared, self(), OwnReductions},
            State;
        {unshield, Pid} ->
            case State of
                #{shield := {Pid, _}} -> State#{shield := none};
                #{} -> State
            end;
        {'EXIT', Client, _} ->
            stop;
        {'EXIT', Pid, normal} when not is_map_key(Pid, Gentle) ->
            State;
        {'DOWN', _, process, Client, _} ->
            stop;
        stop ->
            stop;
        {'EXIT', Pid, Reason} ->
            [atomics:put(Slots, Index, 0) || {P, Index, _} <- maps:values(maps:get(waiters, State)),
                                   P =:= Pid],
            Left = maps:from_list([H || {_, P} = H <- maps:to_list(Holders), P =/= Pid]),
            Unanswered = [A || {A, {P, _, _, _, _}} <- maps:to_list(Asked), P =:= Pid],
            Shield = case State of #{shield := {Pid, _}} -> none; #{shield := Other} -> Other end,
            Kept = State#{holders := Left, gentle := maps:remove(Pid, Gentle), shield := Shield},
            lists:foldl(fun(A, S) -> Fail(A, {exit, Reason}, unknown, S) end, Kept, Unanswered);
        _ ->
            State
    end
end,
Handle = fun(Message, State) ->
    case Message of
        {ask, AskId, Name, Arg, DeadlineMs} when is_integer(DeadlineMs), DeadlineMs >= 0 ->
            Ask(AskId, Name, Arg, DeadlineMs, State);
        {done, AskId, Kind, Cost, What} ->
            Done(AskId, Kind, Cost, What, State);
        _ ->
            HandleOther(Message, State)
    end
end,

Finish = fun(#{client := Client}) ->
    Children = LinksOf([self()]),
    EndAll = fun(Pids, Reason) ->
        lists:foreach(fun(Pid) -> exit(Pid, Reason) end, Pids),
        Until = erlang:monotonic_time(millisecond) + GraceMs,
        Left = fun() -> max(0, Until - erlang:monotonic_time(millisecond)) end,
        lists:foreach(fun(Pid) -> receive {'EXIT', Pid, _} -> ok after Left() -> ok end end, Pids)
    end,
    EndAll(Children, shutdown),
    EndAll(lists:filter(fun erlang:is_process_alive/1, Children), kill),
    erlang:send(Client, {bye, self()}, [nosuspend, noconnect])
end,

Loop = fun Loop(State) ->
    receive
        Message ->
            case (try Handle(Message, State) catch _:_ -> State end) of
                stop -> Finish(State);
                Next -> Loop(Next)
            end
    end
end,

%% Linked from its first moment to nobody but the client, watching it too: a client that is gone
%% already shows as an exit signal.
Start = fun(Client) ->
    try
        process_flag(trap_exit, true),
        case whereis(user) of
            User when is_pid(User) -> group_leader(User, self());
            _ -> ok
        end,
        Sign(),
        link(Client),
        monitor(process, Client),
        Register(Client),
        Keeper = self(),
        Waiters = StartWaiters(),
        Ctx = #{c => Client, k => Keeper, otp => Otp, caps => Caps, own => Own,
                mine => Mine, keepers => Keepers, holder_of => HolderOf,
                without_own => WithoutOwn,
                cut => Cut, print => Print, prefix => Prefix, id => Id, id_keys => IdKeys,
                identity => Identity, label_text => LabelText,
                initial_call => InitialCall, calls_behind => CallsBehind, apps => Apps,
                pid_of => PidOf, spawn => SpawnOwn,
                own_reductions => OwnReductions, count_work => CountWork,
                in_time => fun(Calls, Ms) -> InTime(Keeper, Waiters, Calls, Ms) end,
                late_schedulers => fun(Ms) -> LateSchedulers(Keeper, Waiters, Ms) end},
        Loop(#{client => Client, ctx => Ctx, queries => #{}, asked => #{}, holders => #{},
               gentle => #{}, waiters => Waiters, shield => none, owed => NothingOwed,
               turns => {Never, #{}, #{}}})
    catch
        _:_ -> ok
    end
end,

{keeper,
 spawn_opt(erlang, apply, [Start, [C]], SpawnOptions(128 * MiB) -- [link]),
 Version}.
