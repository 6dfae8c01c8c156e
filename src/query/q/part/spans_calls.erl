%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Without payloads: the token of a root emits nothing, and only says at breakpoints who works
%% for it. They show calls of gen_server and gen_statem: who calls, the callback, the reply, and
%% that the caller waits no longer. What travels is pids, references and functions.

%% Of what seeds a token. Its only bit says that it is one of ours, and alive.
Mute = fun(Actions) ->
    Actions -- [{set_seq_token, send, true}, {set_seq_token, 'receive', true}]
end,
BareFlags = [return_to | LightFlags],

MostCallbacks = 2000,

%% [{Mfa, Spec}]
BareSpecs = fun(Otp) ->
    Label = {element, 2, {get_seq_token}},
    Shown = fun(What) -> [{message, {'andalso', IsLive(StrictMonotonic), {What}}}] end,
    Spec = fun(Clauses) ->
        InRoot([{Head, Guards, Shown(What)} || {Head, Guards, What} <- Clauses])
    end,
    %% Who asked, and by which reference. Another tag is the caller's own business.
    From = fun(Head, Kind) ->
        [{Head({'$1', Tag}), [{is_pid, '$1'}, {is_reference, '$2'}], {Kind, Label, '$1', '$2'}}
         || Tag <- ['$2', [alias | '$2'], [[alias | '$2'] | '_'], {'$gen_request_id', '$2'}]]
    end,
    Reply = Spec(From(fun(Who) -> [Who, '_'] end, answer)),
    Replies = case Otp >= 25 of true -> [gen]; false -> [gen_server, gen_statem] end,
    Whom = [{'orelse', {is_pid, '$1'}, {'orelse', {is_atom, '$1'}, {is_tuple, '$1'}}}],
    Serve = fun(Head) -> Spec(From(Head, serve)) end,
    Callbacks = [{handle_call, 3, Serve(fun(Who) -> ['_', Who, '_'] end)},
                 {handle_event, 4, Serve(fun(Who) -> [{call, Who}, '_', '_', '_'] end)}],
    Served = [{{M, F, A}, S} || {F, A, S} <- Callbacks, M <- erlang:loaded(),
                                erlang:function_exported(M, F, A)],
    length(Served) =< MostCallbacks orelse throw({bad_spec, <<"more than 2,000 callbacks">>}),
    IsRef = [{is_reference, '$1'}],
    [{{gen, do_call, 4}, Spec([{['$1', '_', '_', '_'], Whom, {ask, Label, '$1'}}])},
     {{erlang, demonitor, 2}, Spec([{['$1', '_'], IsRef, {answered, Label, '$1'}}])}]
    ++ [{{M, reply, 2}, Reply} || M <- Replies] ++ Served
end,

%% What a root's process has gone by and not returned from, frames: process => the last one first,
%% `inner`, or a root with the function that called it.
WentBy = fun(Message, S) ->
    Frames = map_get(frames, S),
    case map_get(bare, S) andalso Message of
        {trace_ts, P, call, _, {root, Caller}, _} ->
            S#{frames := Frames#{P => [{root, Caller} | maps:get(P, Frames, [])]}};
        {trace_ts, P, call, _, _, _} when is_map_key(P, Frames) ->
            S#{frames := Frames#{P => [inner | map_get(P, Frames)]}};
        _ -> S
    end
end,

%% A chain of tail calls returns once. {Events, S}: roots that returned.
Returned = fun(P, Mfa, Ts, S) ->
    Frames = map_get(frames, S),
    Roots = fun Roots(N, Left) ->
        case Left of
            [{root, Mfa} | Rest] -> Roots(N + 1, Rest);
            _ -> {N, Left}
        end
    end,
    {N, Left} = case maps:get(P, Frames, []) of
        [] -> {0, []};
        [inner | Rest] -> Roots(0, Rest);
        [{root, _} | Rest] -> Roots(1, Rest)
    end,
    Next = case Left of [] -> maps:remove(P, Frames); _ -> Frames#{P => Left} end,
    {lists:duplicate(N, {Ts, return, P, none, none, 0, unknown, none, 0, none}),
     S#{frames := Next}}
end,
