%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Who takes part in a root, and what is beyond its caps: such events are counted only.
%%
%% seen: label => {How many, #{Pid => {Depth, Receivers}}}; {Depth, Receivers, before} of one that
%% took part in an earlier root of the process, and is not counted until it takes part in this one.
%% In place of that the cap that the process is beyond, `earlier` where it was beyond one of an
%% earlier root, or `stale`: it has the token of a root that is over, and works for no span.
%% Receivers are those of its last request. beyond: the processes at a cap, whose receivers get no
%% flags in full mode. dead: messages that were sent with a stale token, by sender, receiver (or
%% `none`: a name) and serial: the VM gives a sender the same serial again after some 16 spawns.

%% No patterns of maps in what handles an event: erl_eval compiles an expression for each of their
%% keys.

%% Why an event is not kept: beyond a cap of the capture or of a root, or `stale`.
Skip = fun(Why, S) ->
    Skips = map_get(skips, S),
    S#{skips := Skips#{Why := map_get(Why, Skips) + 1}}
end,
Keep = fun(Event, S) ->
    case map_get(left, S) of
        0 -> Skip(cap, S);
        Left ->
            Left =:= 1 andalso (self() ! {finish, events}),
            S#{left := Left - 1, kept := [Event | map_get(kept, S)],
               events := map_get(events, S) + 1}
    end
end,

Flagged = fun(P, S) ->
    case map_get(full, S) andalso not is_map_key(P, map_get(known, S)) of
        false -> S;
        true -> S#{known := maps:put(P, [], map_get(known, S)), stale := true}
    end
end,

%% Distinct receivers of what a process does for one request; calls between a root and a callee.
MostFanout = 20,
MostDepth = 16,
%% So many events a second without an open span, which are 1% of a core: the tokens are cleared, all
%% of them, and open roots lose theirs.
MostStale = 1000,
MostDead = 1000,
Second = erlang:convert_time_unit(1, second, native),
Asks = #{call => [], cast => [], spawn => [], message => []},
Begins = #{call => [], cast => [], spawn => []},

Skipped = fun(Why, P, S) ->
    case map_get(full, S) andalso not is_map_key(P, map_get(beyond, S)) of
        true -> Skip(Why, S#{beyond := maps:put(P, [], map_get(beyond, S)), stale := true});
        false -> Skip(Why, S)
    end
end,

%% Sets the pattern again after a change of the open roots or of the known processes.
Reseed = fun(#{seeds := true, place := At, opens := Opens, known := Known, beyond := Beyond,
               full := Full, process := Root, bare := Bare}) ->
        Labels = maps:from_list([{P, P} || P <- maps:keys(Opens)]),
        Only = case Bare of true -> Mute; false -> fun(All) -> All end end,
        catch SetPattern(At, send, SendSpec(Only, Labels, Known, Beyond, Full, Root), []);
    (_) -> ok
end,

%% Whether roots of other nodes go on here, too; of which kind a label is, of a process here or of
%% one of these.
HasOrigins = fun(S) -> map_size(map_get(origins, S)) > 0 end,
IsForeign = fun(Label, S) -> HasOrigins(S) andalso node(Label) =/= node() end,

%% Without tokens nothing emits any more, and no call of a function within a root is shown. Those of
%% another tool, which has a system tracer, are not cleared.
ClearTokens = fun() ->
    MayReset andalso seq_trace:get_system_tracer() =:= false andalso seq_trace:reset_trace()
end,

%% Setting the pattern waits for all schedulers while the node runs; clearing the tokens stops it
%% until each has answered. A root that returned would be seeded again by the pattern as it was.
%% Tokens of messages sent before count no more.
DropStale = fun({{Mono, _}, _, _, _, Label, _, _, _, _, _}, S) ->
    {Since, N} = map_get(window, S),
    Next = Skip(stale, S),
    %% Whether another node's root is over is not known.
    case IsForeign(Label, S) orelse Mono - Since of
        true -> Next;
        _ when not MayReset; not map_get(seeds, S) -> Next;
        Earlier when Earlier < 0 -> Next;
        Later when Later > Second -> Next#{window := {Mono, 1}};
        _ when N + 1 < MostStale -> Next#{window := {Since, N + 1}};
        _ ->
            Reseed(Next),
            case map_get(bare, S) of true -> ClearTokens(); false -> seq_trace:reset_trace() end,
            Now_ = erlang:monotonic_time(),
            Next#{window := {Now_, 0}, stale := false, seeded := Now_,
                  resets := map_get(resets, S) + 1}
    end
end,
%% The message that it sends must not make a participant.
MessageOf = fun(F, To, Serial) -> {F, case is_pid(To) of true -> To; false -> none end, Serial} end,
StaleSend = fun({_, _, F, To, _, Serial, _, _, _, _} = Event, S) ->
    Dead = map_get(dead, S),
    Room = case map_size(Dead) < MostDead of true -> Dead; false -> #{} end,
    DropStale(Event, S#{dead := maps:put(MessageOf(F, To, Serial), [], Room)})
end,
IsDead = fun(F, P, Serial, S) ->
    Dead = map_get(dead, S),
    map_size(Dead) > 0 andalso (is_map_key({F, P, Serial}, Dead)
                                orelse is_map_key({F, none, Serial}, Dead))
end,
%% The same serial again, of a message that counts.
Alive = fun({_, _, F, To, _, Serial, _, _, _, _}, S) ->
    Dead = map_get(dead, S),
    case map_size(Dead) of
        0 -> S;
        _ -> S#{dead := maps:remove(MessageOf(F, To, Serial), Dead)}
    end
end,

%% What followed an earlier root of this process goes on.
Begun = fun(P, S) ->
    Seen = map_get(seen, S),
    {_, Of} = maps:get(P, Seen, {0, #{}}),
    Few = case map_size(Of) > MostDead of true -> #{}; false -> Of end,
    Before = maps:map(fun(_, {Depth, Out}) -> {Depth, Out, before};
                         (_, {_, _, before} = State) -> State;
                         (_, stale) -> stale;
                         (_, _) -> earlier
                      end, Few),
    S#{seen := Seen#{P => {1, Before#{P => {0, #{}}}}}}
end,

%% Of the root's process. Events of the token may come later than the return that they precede.
IsOver = fun(Label, Label, Ts, S) ->
    not is_map_key(Label, map_get(opens, S)) andalso Ts > maps:get(Label, map_get(closed, S), Ts);
   (_, _, _, _) -> false
end,

%% {How many take part, who}, the state of a process there.
SeenOf = fun(Label, S) -> maps:get(Label, map_get(seen, S), none) end,
StateOf = fun(P, {_, Of}) -> maps:get(P, Of, unknown) end,
%% Whether a process has a place in the root; `unknown`: no.
IsCounted = fun(State) ->
    case State of
        unknown -> false;
        earlier -> false;
        stale -> false;
        {_, _, before} -> false;
        _ -> true
    end
end,
SetState = fun(Label, P, State, {N, Of}, S) ->
    Was = IsCounted(maps:get(P, Of, unknown)),
    More = case not Was andalso IsCounted(State) of true -> N + 1; false -> N end,
    S#{seen := maps:put(Label, {More, Of#{P => State}}, map_get(seen, S))}
end,

%% A process that cannot put an event into the collector's queue at once does so when it is
%% scheduled out. Events of others, which its message has caused, come before then: without the call
%% that began their root they would be stale. early: those of a label without a root, newest first.
MostEarly = 200,
TooEarly = fun(Event, S) ->
    case element(2, Event) of
        send -> StaleSend(Event, S);
        leave -> Skip(stale, S);
        _ -> DropStale(Event, S)
    end
end,
Early = fun(Event, S) ->
    Held_ = map_get(early, S),
    case length(Held_) < MostEarly of
        true -> S#{early := [Event | Held_]};
        false ->
            {New, Old} = lists:split(MostEarly div 2, Held_),
            lists:foldr(TooEarly, S#{early := [Event | New]}, Old)
    end
end,

OnSend = fun({Ts, _, F, To, Label, _, Tag, _, _, _} = Event, S) ->
    Seen = SeenOf(Label, S),
    case Seen =:= none orelse IsOver(F, Label, Ts, S) orelse StateOf(F, Seen) of
        true when Seen =:= none -> Early(Event, S);
        true -> StaleSend(Event, S);
        stale -> StaleSend(Event, S);
        unknown when is_map_key(F, map_get(old, S)) -> StaleSend(Event, S);
        unknown -> Keep(Event, S);
        earlier -> Skip(participants, S);
        State when is_tuple(State) ->
            {Depth, Out} = {element(1, State), element(2, State)},
            R = case To of _ when is_atom(To) -> whereis(To); _ -> To end,
            case is_pid(R) andalso is_map_key(Tag, Asks) andalso not is_map_key(R, Out) of
                false -> Keep(Event, Alive(Event, S));
                true when map_size(Out) >= MostFanout -> Skipped(fanout, F, S);
                true when Depth >= MostDepth -> Skipped(depth, F, S);
                true ->
                    Next = SetState(Label, F, setelement(2, State, Out#{R => []}), Seen, S),
                    Keep(Event, Alive(Event, Next))
            end;
        Why -> Skipped(Why, F, S)
    end
end,

%% How its receiver is after a message: as before, and the message is kept; or the new state.
After = fun(P, Tag, By, Now_, N, Most) when is_tuple(By) ->
    {Depth, Out} = {element(1, By), element(2, By)},
    HasPlace = IsCounted(Now_),
    case Now_ of
        _ when is_tuple(Now_), not is_map_key(Tag, Begins) -> keep;
        participants -> participants;
        _ when N >= Most, not HasPlace -> participants;
        _ when Depth >= MostDepth -> depth;
        _ when map_size(Out) >= MostFanout, not is_map_key(P, Out), is_map_key(Tag, Asks) -> fanout;
        {0, _} -> keep;
        _ -> {Depth + 1, #{}}
    end;
   (_, _, Why, _, _, _) -> Why
end,

%% Of another node's process it is not known where one request ends and the next begins.
MostForeign = 1000,
MostOf = fun(Label, S) ->
    case IsForeign(Label, S) of true -> MostForeign; false -> map_get(participants, S) end
end,

%% A sender that is not known takes part when it is of this node: it has a place, and what it got
%% comes later.
WithSender = fun(F, Label, {N, _} = Seen, S) ->
    Comes = N < MostOf(Label, S) andalso StateOf(F, Seen) =:= unknown
        andalso is_pid(F) andalso node(F) =:= node() andalso not is_map_key(F, map_get(denied, S))
        andalso not is_map_key(F, map_get(old, S)),
    case Comes of
        true -> Flagged(F, SetState(Label, F, {1, #{}}, Seen, S));
        false -> S
    end
end,

OnReceive = fun({Ts, _, P, F, Label, Serial, Tag, _, _, _} = Event, Before) ->
    case SeenOf(Label, Before) of
        none -> Early(Event, Before);
        Seen_ ->
            Dead = IsDead(F, P, Serial, Before) orelse IsOver(P, Label, Ts, Before),
            S = case Dead of true -> Before; false -> WithSender(F, Label, Seen_, Before) end,
            {N, _} = Seen = SeenOf(Label, S),
            By = case Dead orelse StateOf(F, Seen) of
                true -> stale;
                unknown when is_map_key(F, map_get(old, S)) -> stale;
                unknown -> {0, #{}}; %% of another node, or denied
                Sender -> Sender
            end,
            Mine = StateOf(P, Seen),
            case After(P, Tag, By, Mine, N, MostOf(Label, S)) of
                keep -> Keep(Event, S);
                {_, _} = Next -> Keep(Event, Flagged(P, SetState(Label, P, Next, Seen, S)));
                stale when P =:= Label -> DropStale(Event, S);
                %% Its work for the root is over: no later event of it counts.
                stale when is_tuple(Mine), is_map_key(Tag, Begins) ->
                    Keep(Event, SetState(Label, P, stale, Seen, S));
                stale -> DropStale(Event, SetState(Label, P, stale, Seen, S));
                %% It is asked by who was refused: no place is lost by that.
                earlier when Mine =:= unknown ->
                    Skip(participants, SetState(Label, P, earlier, Seen, S));
                earlier -> Skip(participants, S);
                Why when is_tuple(Mine), tuple_size(Mine) =:= 2 -> Skip(Why, S);
                Why -> Skipped(Why, P, SetState(Label, P, Why, Seen, S))
            end
    end
end,

%% Where a process stands in the root of its token.
PlaceOf = fun({Ts, _, P, _, Label, _, _, _, _, _}, S) ->
    Seen = SeenOf(Label, S),
    case Seen =:= none orelse IsOver(P, Label, Ts, S) orelse StateOf(P, Seen) of
        true -> stale;
        State when is_tuple(State) -> kept;
        earlier -> participants;
        Why -> Why
    end
end,

%% Without payloads, who has the token by another message than a call has no place; what it answers
%% counts.
OnToken = fun(Event, S) ->
    case element(2, Event) of
        send -> OnSend(Event, S);
        Kind when Kind =:= 'receive'; Kind =:= serve -> OnReceive(Event, S);
        Kind ->
            case SeenOf(element(5, Event), S) =:= none orelse PlaceOf(Event, S) of
                true -> Early(Event, S);
                kept -> Keep(Event, S);
                stale -> DropStale(Event, S);
                unknown when Kind =:= answer; Kind =:= enter; Kind =:= leave -> Keep(Event, S);
                unknown -> Skip(stale, S);
                Why -> Skip(Why, S)
            end
    end
end,

%% Another node's root begins here with its first message; whether its roots are over is not known.
%% So many of all these nodes.
MostGuests = 1000,
Introduced = fun(Label, S) ->
    Seen = map_get(seen, S),
    case not IsForeign(Label, S) orelse is_map_key(Label, Seen)
        orelse map_get(guests, S) >= MostGuests
        orelse not is_map_key(atom_to_binary(node(Label), utf8), map_get(origins, S)) of
        true -> S;
        false -> S#{seen := Seen#{Label => {0, #{}}}, guests := map_get(guests, S) + 1}
    end
end,

%% What has a token of no root of theirs is of another capture, and none of our business.
IsOurs = fun(Label, S) ->
    not HasOrigins(S) orelse is_map_key(Label, map_get(seen, S))
        orelse map_get(seeds, S) andalso node(Label) =:= node()
end,
WhenOurs = fun(On, Event, S) ->
    case IsOurs(element(5, Event), S) of
        true -> On(Event, S);
        false -> Skip(stale, S)
    end
end,

%% The root of process P, which began at Ts, has come. On: OnToken, which is large: each fun that
%% uses it is sent to the collector with a copy.
Claim = fun(On, P, Ts, S) ->
    case map_get(early, S) of
        [] -> S;
        Held_ ->
            {Mine, Others} = lists:partition(
                fun(E) -> element(5, E) =:= P andalso element(1, E) > Ts end, Held_),
            lists:foldr(On, S#{early := Others}, Mine)
    end
end,

%% Calls of functions within a span. inside: process => of the calls that have not returned, the
%% last one first, the place of each: `kept`, why it was not, or {early, Label}: it came before the
%% root of its token, and is held as its return is. The VM returns from them in that order.
OnEnter = fun({_, _, P, _, Label, _, _, _, _, _} = Event, S) ->
    Calls = maps:get(P, map_get(inside, S), []),
    IsEarly = SeenOf(Label, S) =:= none andalso IsOurs(Label, S),
    Next = case IsEarly orelse PlaceOf(Event, S) of
        true -> {early, Label};
        unknown -> kept;
        Place -> Place
    end,
    Inside = maps:put(P, [Next | Calls], map_get(inside, S)),
    case Next of
        {early, _} -> Early(Event, S#{inside := Inside});
        kept -> Keep(Event, S#{inside := Inside});
        stale -> DropStale(Event, S#{inside := Inside});
        _ -> Skip(Next, S#{inside := Inside})
    end
end,
OnLeave = fun({_, _, P, _, _, _, _, _, _, _} = Event, S) ->
    case maps:get(P, map_get(inside, S), []) of
        [] -> S; %% it began before
        [Was | Calls] ->
            Next = S#{inside := case Calls of
                [] -> maps:remove(P, map_get(inside, S));
                _ -> maps:put(P, Calls, map_get(inside, S))
            end},
            case Was of
                kept -> Keep(Event, Next);
                {early, Label} ->
                    case SeenOf(Label, Next) of
                        none -> Early(setelement(5, Event, Label), Next);
                        _ -> Keep(Event, Next)
                    end;
                _ -> Next
            end
    end
end,
