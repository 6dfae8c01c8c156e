%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What seeds a token, and what is kept of its events: pids, references, functions, tags,
%% sizes. Nothing of a payload but the first atom of a request or reason.

%% Label: {self} or {const, Pid} of this node.
Seed = fun(Label) ->
    [{set_seq_token, label, Label}, {set_seq_token, send, true}, {set_seq_token, 'receive', true},
     {set_seq_token, strict_monotonic_timestamp, true}]
end,
%% Of the flags of a token.
StrictMonotonic = 16,
%% Whether the process has a token of ours with this bit. An application's may have any label: it is
%% not sent.
IsLive = fun(Bit) ->
    {'andalso', {is_pid, {element, 2, {get_seq_token}}},
     {'=/=', {'band', {element, 1, {get_seq_token}}, Bit}, 0}}
end,
%% A function whose calls matter where they are made for a root. The first clause matches nothing;
%% by it whoever clears up knows the function for one of ours.
InRoot = fun(Clauses) ->
    [{'_', [Budget, false], [Take]}
     | [{Head, [{is_seq_trace} | Guards], Actions} || {Head, Guards, Actions} <- Clauses]]
end,
%% The VM of OTP 25 ends in `seq_trace:reset_trace()` when any process waits for the length of the
%% queue of one that runs (docs/performance.md, faults of the VM); 26 was not tried. Tokens stay
%% there.
MayReset = not lists:member(erlang:system_info(otp_release), ["25", "26"]),
LightFlags = [send, strict_monotonic_timestamp],
FullFlags = [running, procs, send, 'receive', strict_monotonic_timestamp],
%% Root: a process as root, or none. Without root functions the flag `call` shows only who spawns.
FlagsOf = fun(false, _) -> LightFlags; (true, none) -> FullFlags;
             (true, _) -> [call, arity | FullFlags]
end,
%% Who works for a root gives its flags to what it spawns for it, and to nothing else. Every spawn
%% of this node goes through these.
SpawnSpecs =
    [{Mfa, InRoot([{'_', [], [{message, false},
                              {'andalso', IsLive(1), {trace, [], [set_on_first_spawn]}}]}])}
     || Mfa <- [{erlang, spawn, 3}, {erlang, spawn_link, 3}, {erlang, spawn_opt, 4},
                {erts_internal, spawn_request, 4}]],

%% Of a process as root, P: the first call or cast that it sends for a request is a root, one of
%% Every; its reply to whoever asked is the end. In between its token has the bit `print`, also that
%% of a request that is not captured; after it the token is dead, without bits: the reply carries it
%% to the requester, and it may come back. A message without a token takes it away. Open: it has an
%% open root, which is over when it sends without a token and all roots are taken. What an action
%% asks of the token is what those before it have left.
ProcessSpec = fun(P, Every, Open, Push) ->
    Is = {'=:=', {self}, {const, P}},
    Lost = {'not', {is_seq_trace}},
    Sampled = {'=:=', {'rem', {'-', {get_tcw}, 1}, Every}, 0},
    Off = fun(Bits) -> {'=:=', {'band', {element, 1, {get_seq_token}}, Bits}, 0} end,
    [Send, Receive, Print, Fresh] = [Off(1), Off(2), Off(4), Off(5)],
    Root = {const, #{true => {root}, false => false}},
    One = {const, #{true => 1, false => 0}},
    Set = fun(Flag, Value) when Flag =/= label -> {set_seq_token, Flag, Value} end,
    Begin = {'andalso', Fresh, Sampled},
    Again = [{message, {map_get, Begin, Root}},
             Set('receive', {'orelse', {'not', Receive}, Begin}),
             {set_tcw, {'-', {get_tcw}, {map_get, Fresh, One}}},
             Set(print, {'orelse', {'not', Print}, Fresh}), Set(send, {'not', Receive})],
    Quiet = [{message, false}, {set_seq_token, label, {self}}, Set(print, true),
             Set(strict_monotonic_timestamp, true)],
    Answer = [{message, {'not', Send}} | [Set(Flag, false) || Flag <- [send, 'receive', print]]],
    Replies = [{{['alias' | '_'], '_'}, []}, {{[['alias' | '_'] | '_'], '_'}, []},
               {{'$2', '_'}, [{is_reference, '$2'}]}, {{{'$2', '_'}, '_'}, [{is_reference, '$2'}]}],
    Requests = [{Request, G, A} || Request <- [{'$gen_call', '_', '_'}, {'$gen_cast', '_'}],
        {G, A} <- [{[Lost, Budget, Sampled],
                    [Take | Seed({self})] ++ [Set(print, true), {message, {{root}}} | Push]},
                   {[Lost, Budget], [Take | Quiet]},
                   {[{is_seq_trace}, Budget], Again ++ Push}]
                  ++ [{[Lost], [{message, {{over}}}]} || Open]],
    [{['$1', Sent], [Is | G], A} || {Sent, G, A} <- Requests]
    ++ [{['_', Reply], [Is, {is_seq_trace} | G], Answer} || {Reply, G} <- Replies]
end,

%% Acts in processes with the flag `send`, and keeps that flag silent. Labels: root => root, of the
%% open ones, which lose their token with a reply that has none; one that returned a moment ago has
%% it still. Known: who needs no flags in full mode: those that have them, and the denied. Root: a
%% process as root, {Pid, Every}, or none. Beyond: whose receivers get none. Only: what of
%% the bits of a token is set.
SendSpec = fun(Only, Labels, Known, Beyond, Full, Root) ->
    Again = Only(Seed({map_get, {self}, {const, Labels}})),
    Quiet = [{message, false}],
    Flag = [{trace, '$1', [], FlagsOf(true, Root)} || Full],
    Push = Quiet ++ Flag,
    Mine = {is_map_key, {self}, {const, Labels}},
    Kn = {'orelse', {is_map_key, '$1', {const, Known}}, {is_map_key, {self}, {const, Beyond}}},
    Call = {'$gen_call', '_', '_'},
    Cast = {'$gen_cast', '_'},
    Lost = {'not', {is_seq_trace}},
    Whom = {'orelse', {is_pid, '$1'}, {is_atom, '$1'}},
    case Root of
        none -> [];
        {P, Every} -> ProcessSpec(P, Every, is_map_key(P, Labels), Flag)
    end
    ++ [{['$1', M], G, A} || {M, G, A} <-
        [{Call, [Lost, Mine, Kn], Again ++ Quiet}, {Call, [Lost, Mine], Again ++ Push},
         {Cast, [Lost, Mine, Kn], Again ++ Quiet}, {Cast, [Lost, Mine], Again ++ Push},
         {'_', [Kn], Quiet}]
        ++ [{'_', [{is_seq_trace}, Whom], Push} || Full] ++ [{'_', [], Quiet}]]
end,
ReceiveSpec =
    [{['_', '$1', {['alias' | '_'], '_'}], [], [{message, '$1'}]},
     {['_', '$1', {'$2', '_'}], [{is_reference, '$2'}], [{message, '$1'}]},
     {['_', '_', {'DOWN', '_', process, '_', '_'}], [], [{message, down}]},
     {'_', [], [{message, false}]}],

%% Who takes part only by loading code, logging or starting.
Denied = fun() ->
    [P || Name <- [code_server, erl_prim_loader, logger, logger_proxy, logger_std_h_default, user,
                   init, application_controller, kernel_sup, global_name_server, file_server_2,
                   error_logger, erl_signal_server],
          P <- [whereis(Name)], is_pid(P)]
end,

%% The cookie is an atom like any other.
HeadOf = fun Head(What) ->
    case What of
        _ when is_atom(What) ->
            case erlang:get_cookie() of What -> '...'; _ -> What end;
        _ when is_tuple(What), tuple_size(What) > 0 -> Head(element(1, What));
        _ -> none
    end
end,

%% Why a process ended. The answer of erpc is such a reason.
EndOf = fun(Reason) ->
    case Reason of
        {Ref, return, _} when is_reference(Ref) -> normal;
        {Ref, Class, What} when is_reference(Ref), is_atom(Class) -> HeadOf(What);
        {Ref, Class, What, _} when is_reference(Ref), is_atom(Class) -> HeadOf(What);
        _ -> HeadOf(Reason)
    end
end,

RefOf = fun(Tag) ->
    case Tag of
        [alias | R] when is_reference(R) -> R;
        [[alias | R] | _] when is_reference(R) -> R;
        {'$gen_request_id', R} when is_reference(R) -> R;
        {R, _} when is_reference(R) -> R;
        _ when is_reference(Tag) -> Tag;
        _ -> none
    end
end,

MfaOf = fun(Mfa) ->
    case Mfa of
        {M, F, A} when is_atom(M), is_atom(F), is_integer(A) -> Mfa;
        {M, F, A} when is_atom(M), is_atom(F) ->
            {M, F, case catch length(A) of N when is_integer(N) -> N; _ -> 0 end};
        _ -> none
    end
end,

%% {Tag, Ref, Text} of a message.
TagOf = fun(Message) ->
    case Message of
        {'$gen_cast', Request} -> {cast, none, HeadOf(Request)};
        {'EXIT', P, Reason} when is_pid(P) -> {exit, none, EndOf(Reason)};
        {spawn_request, Id, _, _, {erts_internal, spawn_init, _}, _, _, [Mfa]} ->
            {spawn, RefOf(Id), MfaOf(Mfa)};
        {spawn_request, Id, _, _, Mfa, _, _, _} -> {spawn, RefOf(Id), MfaOf(Mfa)};
        {spawn_request, Id, _, _, Mfa, _} -> {spawn, RefOf(Id), MfaOf(Mfa)}; %% of another node
        {spawn_reply, _, _, _} -> {spawned, none, none};
        {Label, {P, Tag}, Request} when is_pid(P) ->
            case RefOf(Tag) of
                none -> {message, none, HeadOf(Label)};
                Ref -> {call, Ref, HeadOf(Request)}
            end;
        %% To a task of Elixir 1.10.
        {P, Ref} when is_pid(P), is_reference(Ref) -> {message, Ref, none};
        {Tag, _} ->
            case RefOf(Tag) of
                none -> {message, none, HeadOf(Message)};
                Ref -> {reply, Ref, none}
            end;
        _ when is_tuple(Message) ->
            First = [element(I, Message) || I <- lists:seq(1, min(4, tuple_size(Message)))],
            case {lists:any(fun erlang:is_pid/1, First),
                  lists:filter(fun erlang:is_reference/1, First)} of
                {true, [Ref | _]} -> {message, Ref, HeadOf(Message)};
                _ -> {message, none, HeadOf(Message)}
            end;
        _ -> {message, none, HeadOf(Message)}
    end
end,

%% {Ts, Kind, Process, Peer, Label, Serial, Tag, Ref, Words, Text} of a message of the VM, or skip.
%% What names a process is a pid, a name, {Name, Node}; an alias names none.
PeerOf = fun(Who) ->
    case Who of
        _ when is_pid(Who); is_atom(Who) -> Who;
        {Name, Node} when is_atom(Name), is_atom(Node) -> Who;
        _ -> none
    end
end,
Strip = fun(Message) ->
    case Message of
        {seq_trace, Label, {Kind, {_, Serial}, From, To, Sent}, Ts} when is_pid(Label) ->
            {Tag, Ref, What} = TagOf(Sent),
            Words = erts_debug:flat_size(Sent),
            case Kind of
                send -> {Ts, send, From, PeerOf(To), Label, Serial, Tag, Ref, Words, What};
                'receive' ->
                    {Ts, 'receive', To, PeerOf(From), Label, Serial, Tag, Ref, Words, What};
                _ -> skip
            end;
        {trace_ts, P, call, Mfa, {root, _}, Ts} ->
            {Ts, root, P, none, P, 0, none, none, 0, MfaOf(Mfa)};
        {trace_ts, P, call, Mfa, {call, Label}, Ts} when is_pid(Label) ->
            {Ts, enter, P, none, Label, 0, none, none, 0, MfaOf(Mfa)};
        %% Without payloads.
        {trace_ts, P, call, _, {ask, Label, To}, Ts} ->
            {Ts, ask, P, PeerOf(To), Label, 0, call, none, 0, none};
        {trace_ts, P, call, Mfa, {serve, Label, From, Ref}, Ts} ->
            {Ts, serve, P, From, Label, 0, call, Ref, -1, MfaOf(Mfa)};
        {trace_ts, P, call, _, {answer, Label, From, Ref}, Ts} ->
            {Ts, answer, P, From, Label, 0, reply, Ref, 0, none};
        {trace_ts, P, call, _, {answered, Label, Ref}, Ts} ->
            {Ts, answered, P, none, Label, 0, reply, Ref, 0, none};
        %% Of a process as root, which sends: a request that begins a root, or after one; a reply.
        {trace_ts, P, _, Sent, _, {root}, Ts} ->
            {Tag, _, _} = TagOf(Sent),
            {Ts, root, P, none, P, 0, Tag, none, 0, none};
        {trace_ts, P, _, _, _, {over}, Ts} ->
            {Ts, over, P, none, P, 0, none, none, 0, none};
        {trace_ts, P, send, _, _, Ts} ->
            {Ts, return, P, none, none, 0, none, none, 0, none};
        {trace_ts, P, return_from, _, _, Ts} ->
            {Ts, return, P, none, none, 0, none, none, 0, none};
        {trace_ts, P, exception_from, _, {Class, Reason}, Ts} ->
            {Ts, return, P, none, none, 0, Class, none, 0, HeadOf(Reason)};
        {trace_ts, P, 'receive', {'DOWN', Ref, _, Who, Why}, down, Ts} ->
            {Ts, down, P, PeerOf(Who), none, 0, none, RefOf(Ref), 0, EndOf(Why)};
        {trace_ts, P, 'receive', {Tag, _}, By, Ts} ->
            {Ts, arrival, P, PeerOf(By), none, 0, none, RefOf(Tag), 0, none};
        {trace_ts, P, exit, Reason, Ts} ->
            {Ts, exit, P, none, none, 0, none, none, 0, EndOf(Reason)};
        _ -> skip
    end
end,
