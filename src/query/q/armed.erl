%% SPDX-License-Identifier: GPL-3.0-or-later
%% All that is armed on the node, by anyone, or what tracing in one session may leave there. Arg:
%% #{most => N}, with `session => NameBin` for the latter; value: docs/tracing.md.
%%
%% It only reads, and is quick when nothing is armed: one native sweep over all functions and one
%% over all processes for the node's single space, and again for each session of OTP 27 and later,
%% where `erlang:trace_info/2` shows legacy tracing, and `trace:info/3` a session. One more sweep
%% counts processes with a sequential trace token.
-include("part/armed_scan.erl").
-include("part/walked.erl").

Text = fun(Name) when is_atom(Name) -> atom_to_binary(Name, utf8); (_) -> <<"?">> end,

%% What a space says of one thing, `undefined` when it is gone. Space: legacy, or a weak reference
%% to a session, which does not keep it.
AskOne = fun(Space, Thing, Item) ->
    Info = try case Space of
        legacy -> erlang:trace_info(Thing, Item);
        _ -> trace:info(Space, Thing, Item)
    end catch error:_ -> undefined end,
    case Info of {Item, Value} -> Value; _ -> undefined end
end,

SystemOf = fun(Space) ->
    try trace:info(Space, system, all) of {_, What} -> What catch error:_ -> undefined end
end,

Sum = fun(Counts) -> lists:sum([N || N <- Counts, is_integer(N)]) end,
Times = fun(List) ->
    Sum([S * 1000000 + Us || {_, _, S, Us} <- List])
end,

%% The items of one breakpoint as they travel: match specifications cut, times and words as sums.
Items = fun(All, Name, Print) ->
    Get = fun(Key) -> proplists:get_value(Key, All, false) end,
    Spec = fun(undefined) -> <<>>; (false) -> <<>>; (S) -> Print(S, 200) end,
    Traced = case Get(traced) of
        Where when Where =:= local; Where =:= global -> [{Where, Spec(Get(match_spec))}];
        _ -> []
    end,
    Meta = case Get(meta) of
        false -> [];
        Tracer -> [{meta, Name(Tracer)}]
    end,
    Count = case Get(call_count) of N when is_integer(N) -> [{call_count, N}]; _ -> [] end,
    Time = case Get(call_time) of L when is_list(L) -> [{call_time, Times(L)}]; _ -> [] end,
    Memory = case Get(call_memory) of
        Ms when is_list(Ms) -> [{call_memory, Sum([W || {_, _, W} <- Ms])}];
        _ -> []
    end,
    Traced ++ Meta ++ Count ++ Time ++ Memory
end,

%% [{SessionBin, M, F, A, All}] of a space; message patterns and what is loaded next beside them.
Breakpoints = fun({Space, Session}) ->
    Functions = [{Session, M, F, A, Info} || {{M, F, A}, Info} <- Marks(Space, functions, all)],
    Messages = [{Session, Kind, 0, 0, [{traced, global}, {match_spec, Spec}]}
                || Kind <- [send, 'receive'], Spec <- [AskOne(Space, Kind, match_spec)],
                   Spec =/= true, Spec =/= undefined, Spec =/= false],
    Next = case AskOne(Space, on_load, all) of
        [_ | _] = Info1 -> [{Session, on_load, 0, 0, Info1}];
        _ -> []
    end,
    Messages ++ Next ++ Functions
end,

%% [{SessionBin, Who, [Flag], Tracer}]
Flags = fun({Space, Session}, Pids) ->
    Found = Marks(Space, Pids, flags),
    New = [{Who, F} || Who <- [new_processes, new_ports],
                       [_ | _] = F <- [AskOne(Space, Who, flags)]],
    [{Session, Who, F, AskOne(Space, Who, tracer)} || {Who, F} <- New ++ Found]
end,

%% How many have a sequential trace token. A label may be any term and is copied with the token, so
%% few at a time.
Tokens = fun(Pids) ->
    Held = ets:match_spec_compile([{{sequential_trace_token, '$1'}, [{'=/=', '$1', []}], [1]}]),
    Count = fun Count(Left, N) ->
        {Some, Rest} = try lists:split(200, Left) catch error:_ -> {Left, []} end,
        Infos = lists:zipwith(fun erlang:process_info/2, Some,
                              lists:duplicate(length(Some), sequential_trace_token)),
        Total = N + length(ets:match_spec_run(Infos, Held)),
        case Rest of [] -> Total; _ -> Count(Rest, Total) end
    end,
    Count(Pids, 0)
end,

%% [{Weak reference, Name}] of all sessions but {legacy, default}. A weak one is {Name, Number}.
%% By apply: before OTP 27 there is no module of that name.
Sessions = fun() ->
    try apply(trace, session_info, [all]) of
        List when is_list(List) -> [{Weak, Text(Name)} || {Name, N} = Weak <- List, is_integer(N)];
        _ -> []
    catch
        error:_ -> []
    end
end,

%% Before OTP 26.2 the name of our processes stands in a dictionary, which is never read: a tracer
%% of ours is linked to what its keeper is linked to, and that to a process of a node of our name.
NearBytes = 8388608,
LinkedTo = fun(Pid) ->
    case AskSpared([Pid], memory) of
        {[{memory, Bytes}], []} when Bytes < NearBytes ->
            case process_info(Pid, links) of
                {links, Links} -> lists:sublist([P || P <- Links, is_pid(P)], 50);
                undefined -> []
            end;
        _ ->
            []
    end
end,
IsClient = fun(P) -> node(P) =/= node() andalso lists:prefix("beamtop", atom_to_list(node(P))) end,
IsBeamtop = fun IsBeamtop(Pids, Steps) ->
    Next = lists:usort(lists:append([LinkedTo(P) || P <- Pids, node(P) =:= node()])),
    lists:any(IsClient, Next)
        orelse Steps > 1 andalso IsBeamtop(lists:sublist(Next, 50), Steps - 1)
end,

{[k, otp, own, mine, keepers, holder_of, print, id, apps],
 fun(#{most := Most} = Arg, #{k := Keeper, own := OwnOf, mine := MineOf, keepers := KeepersOf,
                              otp := Otp, holder_of := HolderOf, print := Print, id := IdOf,
                              apps := AppsOf}) ->
    %% Asked after each trace, on nodes whose schedulers may all be busy; it is short.
    process_flag(priority, high),
    Word = erlang:system_info(trace_control_word),
    Only = maps:get(session, Arg, all),
    Open = [S || Otp >= 27, {_, Name} = S <- Sessions(), Only =:= all orelse Only =:= Name],
    Spaces = [{legacy, <<>>} | Open],
    Own = OwnOf(Keeper),
    Mine = MineOf(Keeper),
    Apps = AppsOf(),
    Called = fun(Who) ->
        case is_pid(Who) andalso node(Who) =:= node() andalso IdOf(Who, Apps) of
            {Name, _, _, _, _} when Name =/= undefined -> Text(Name);
            {_, {M, F, A}, _, _, _} ->
                case M =:= erlang andalso IsBeamtop([Who], 3) of
                    true -> <<"beamtop:keeper/0">>;
                    false ->
                        <<(Print(M, 255))/binary, ":", (Print(F, 255))/binary, "/",
                            (integer_to_binary(A))/binary>>
                end;
            _ when is_atom(Who) -> <<>>;
            _ -> Print(Who, 60)
        end
    end,
    %% What else lists call it by; ours say beamtop.
    Labelled = fun(Who) ->
        case is_pid(Who) andalso node(Who) =:= node() andalso IdOf(Who, Apps) of
            {undefined, _, Label, _, _} when is_binary(Label), Label =/= <<"beamtop">> -> Label;
            _ -> Called(Who)
        end
    end,
    PortOf = fun(Node) ->
        case lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)) of
            {_, Port} when is_port(Port) -> list_to_binary(erlang:port_to_list(Port));
            _ -> <<>>
        end
    end,
    Tracer = fun
        (Who) when is_pid(Who) ->
            iolist_to_binary([pid_to_list(Who), " ", Called(Who)]);
        (undefined) -> <<>>;
        ([]) -> <<>>;
        (Who) -> Print(Who, 60)
    end,
    %% What follows new processes follows us too, which nobody armed.
    Pids = ordsets:subtract(lists:sort(erlang:processes()), Own),
    %% A session may end in between, and has nothing then.
    Of = fun(Look, Args) -> try apply(Look, Args) catch error:badarg -> [] end end,
    Points = lists:append([Of(Breakpoints, [Space]) || Space <- Spaces]),
    Flagged = lists:append([Of(Flags, [Space, Pids]) || Space <- Spaces]),
    Profile = try erlang:system_profile() catch error:_ -> undefined end,
    %% The system events of sessions (OTP 28), beside the one system monitor of the node.
    Monitor = [<<"system_monitor ", (Tracer(Who))/binary, " ", (Print(What, 200))/binary>>
               || {Who, What} <- [erlang:system_monitor()]]
        ++ [<<"trace:system ", Name/binary, " ", (Print(What, 200))/binary>>
            || Otp >= 28, {Space, Name} <- Open, [_ | _] = What <- [SystemOf(Space)]]
        ++ [<<"system_profile ", (Tracer(Who))/binary, " ", (Print(What, 200))/binary>>
            || {Who, What} <- [Profile]],
    %% What seq_trace:get_system_tracer/0 says, whose module need not be loaded.
    System = case erlang:system_info(sequential_tracer) of
        {sequential_tracer, Set} when Set =/= false, Only =/= <<"beamtop_calls">> -> Set;
        _ -> undefined
    end,
    %% A process of ours that stands while a trace does is the tracer of something.
    Tracers = lists:usort([T || T <- [System | [F || {_, _, _, F} <- Flagged]], is_pid(T)]),
    {armed, erlang:monotonic_time(nanosecond), Word,
     [{Name, lists:member(Name, [<<"beamtop">>, <<"beamtop_calls">>, <<"beamtop_events">>])}
      || {_, Name} <- Open],
     {length(Points), [{S, M, F, A, Items(Info, Tracer, Print)}
                       || {S, M, F, A, Info} <- lists:sublist(Points, Most)]},
     {length(Flagged), [{S, Who, Labelled(Who), F, Tracer(T)}
                        || {S, Who, F, T} <- lists:sublist(Flagged, Most)]},
     Monitor,
     length([T || T <- case Only of
                           <<"beamtop_events">> -> [whereis(beamtop_events)];
                           _ -> Tracers
                       end,
                  lists:member(T, Mine)]),
     Tracer(System),
     Tokens(Pids),
     %% Other beamtops that are connected, with how many processes each has, and its port.
     [{Text(Node), Other, length(MineOf(Other)) + length(HolderOf(Node)), PortOf(Node)}
      || {Node, Other} <- lists:sublist(KeepersOf(), Most), Other =/= Keeper],
     %% Whether this connection counts calls: counters have no tracer.
     lists:member(whereis(beamtop_calls), Mine)}
end}.
