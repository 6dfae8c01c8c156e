%% SPDX-License-Identifier: GPL-3.0-or-later
%% Supervision trees. Arg: {AppBinary | Pid, MaxNodes, Ms}; all applications for <<>>.
%%
%% Walked breadth-first, so that a tree that is cut lacks its lowest levels. Only a supervisor is
%% asked for its children (anything else could crash on the question), through a process that is
%% killed when no answer comes in time: a late one reaches nobody. A supervisor with a long mailbox
%% is not asked at all. What is a supervisor proc_lib says; before OTP 26.2, where its word is not
%% read (behind.erl), its name or its entry at its own supervisor.

-include("part/walked.erl").

%% Asks in a separate process, which ends when its answer is too large: {ok, Value} | busy.
InTime = fun(Ask, Arg, Ms) ->
    Me = self(),
    Start = erlang:monotonic_time(),
    Ref = make_ref(),
    Asking = fun() ->
        try Ask(Arg) of Value -> Me ! {Ref, {ok, Value}} catch _:_ -> Me ! {Ref, busy} end
    end,
    Size = 16 * 1048576 div erlang:system_info(wordsize),
    SpawnOwn = get(spawn),
    process_flag(trap_exit, true),
    Pid = SpawnOwn(Asking, [],
                   [link, {max_heap_size, #{size => Size, kill => true, error_logger => false}}]),
    Answer = receive
        {Ref, Got} -> Got;
        {'EXIT', Pid, _} -> busy;
        {'EXIT', _, _} -> exit(shutdown)
    after Ms -> busy end,
    unlink(Pid),
    exit(Pid, kill),
    process_flag(trap_exit, false),
    receive {Ref, _} -> ok after 0 -> ok end,
    receive {'EXIT', Pid, _} -> ok after 0 -> ok end,
    receive {'EXIT', _, _} -> exit(shutdown) after 0 -> ok end,
    put(waited, get(waited) + erlang:monotonic_time() - Start),
    Answer
end,

Declares = fun(Module) ->
    try erlang:get_module_info(Module, attributes) of
        Attributes ->
            lists:any(fun(B) -> lists:member(B, [supervisor, 'Elixir.Supervisor',
                                                 'Elixir.DynamicSupervisor']) end,
                      lists:append([L || {K, L} <- Attributes, is_list(L),
                                         K =:= behaviour orelse K =:= behavior]))
    catch
        error:_ -> false
    end
end,
HasEnd = fun(Name) ->
    Text = atom_to_binary(Name, utf8),
    lists:any(fun(End) -> binary:longest_common_suffix([Text, End]) =:= byte_size(End) end,
              [<<"_sup">>, <<"_supervisor">>, <<".Supervisor">>])
end,

%% Of an identity, and the modules that its own supervisor knows. Only what is surely one is
%% asked: the question would crash any other server. Without the dictionary that is a behaviour's
%% loop (or, of one that hibernates, its start by proc_lib) and a module.
InLoop = fun({_, {M, _, _}, _, _, _}) -> lists:member(M, [gen_server, proc_lib, sys]); (_) ->
    false end,
IsSure = fun({Name, Call, _, _, _} = Identity, Modules, HasKey) ->
        case Call of
            {supervisor, _, _} -> true;
            {'Elixir.DynamicSupervisor', init, 1} -> true;
            _ -> not HasKey andalso InLoop(Identity)
                     andalso (Name =/= undefined andalso Declares(Name)
                                  orelse lists:any(Declares, Modules)
                                  orelse Modules =:= ['Elixir.DynamicSupervisor'])
        end;
   (gone, _, _) -> false
end,
%% The end of a name only says that its links are worth reading.
IsSupervisor = fun(Identity, Modules, HasKey) ->
    IsSure(Identity, Modules, HasKey)
        orelse not HasKey andalso InLoop(Identity) andalso element(1, Identity) =/= undefined
            andalso HasEnd(element(1, Identity))
end,

%% Breadth first, from [{Pid, Modules}]: [{Pid, [{Id, Child, Type, Modules}]}] of what answers, busy
%% supervisors as {Pid, busy}.
Walk = fun Walk(Queue, Found, Left, End, Tools) ->
    #{children := Children, identify := Identify, has_key := HasKey} = Tools,
    Now = erlang:monotonic_time(millisecond),
    case Queue of
        [] ->
            {Found, false};
        _ when Left =< 0; Now >= End ->
            {Found, true};
        [{Pid, Modules} | Rest] ->
            case is_map_key(Pid, Found) orelse not IsSupervisor(Identify(Pid), Modules, HasKey) of
                true ->
                    Walk(Rest, Found, Left, End, Tools);
                false ->
                    case Children(Pid, Modules, Found, max(20, (End - Now) div 4)) of
                        busy ->
                            Walk(Rest, Found#{Pid => busy}, Left, End, Tools);
                        Kids ->
                            Kept = lists:sublist(Kids, Left),
                            Below = [{P, case M of [_] -> M; _ -> [] end}
                                     || {_, P, supervisor, M} <- Kept, is_pid(P)],
                            {All, Cut} = Walk(Rest ++ Below, Found#{Pid => Kept},
                                              Left - length(Kept), End, Tools),
                            {All, Cut orelse length(Kids) > Left}
                    end
            end
    end
end,

%% In preorder, as rows.
Rows = fun Rows(Depth, {Id, Pid, Type}, Found, Row) ->
    case Found of
        #{Pid := busy} ->
            [Row(Depth, Pid, Id, busy)];
        #{Pid := Kids} ->
            [Row(Depth, Pid, Id, Type)
             | lists:append([Rows(Depth + 1, {I, P, T}, Found, Row) || {I, P, T, _} <- Kids])];
        #{} ->
            [Row(Depth, Pid, Id, Type)]
    end
end,

%% The top supervisor of an application, as its application master knows it.
TopOf = fun(App, Apps, Ms) ->
    case [Leader || {Leader, A} <- maps:to_list(Apps), A =:= App] of
        [Master | _] ->
            case InTime(fun(M) -> application_master:get_child(M) end, Master, Ms) of
                {ok, {Pid, _}} when is_pid(Pid) -> Pid;
                _ -> none
            end;
        [] ->
            none
    end
end,

fun({Asked, MaxNodes, Ms},
    #{id := IdOf, apps := AppsOf, print := Print, spawn := SpawnOwn,
      otp := Otp, caps := #{dict_key := HasKey}}) ->
    put(spawn, SpawnOwn),
    End = erlang:monotonic_time(millisecond) + Ms,
    Apps = AppsOf(),
    %% A name that is not an atom here must not become one.
    Root = case Asked of
        _ when is_binary(Asked) ->
            try binary_to_existing_atom(Asked, utf8) catch error:_ -> undefined end;
        _ ->
            Asked
    end,
    %% [{Id, Pid}]: of all applications when none is named.
    Tops = case Root of
        _ when is_pid(Root) ->
            [{Root, Root}];
        '' ->
            Running = lists:usort(maps:values(Apps)),
            Share = Ms div 4 div max(1, length(Running)),
            [{A, Pid} || A <- Running, Pid <- [TopOf(A, Apps, Share)], is_pid(Pid)];
        _ ->
            [{Root, Pid} || Pid <- [TopOf(Root, Apps, Ms div 4)], is_pid(Pid)]
    end,
    Identify = fun(Pid) -> IdOf(Pid, Apps) end,
    %% One that sys suspended while it hibernated would spin as long as our question waits for it:
    %% it wakes for the message, takes none but those of sys, and hibernates again. Nothing but a
    %% copy of all that it holds (sys:get_status/1) says so, up to OTP 27: there the links of one
    %% that hibernates, or has only a name, are taken which name it as their parent. Before
    %% OTP 25, which shows parents, those are taken that proc_lib has started and that are not
    %% above it; of a process as the root nothing is known above. Later no other supervisor is
    %% found in this function.
    IsBelow = fun(P, Pid, Found) ->
        case Otp >= 25 of
            true -> process_info(P, parent) =:= {parent, Pid};
            false -> process_info(P, initial_call) =:= {initial_call, {proc_lib, init_p, 5}}
                         andalso not is_map_key(P, Found)
        end
    end,
    Linked = fun(Pid, Found) ->
        {links, Links} = process_info(Pid, links),
        %% Not each of them is below it: more are read than a tree can have.
        Kids = [P || P <- lists:sublist(lists:sort(Links), MaxNodes + 1000), is_pid(P),
                     node(P) =:= node(), IsBelow(P, Pid, Found)],
        [case Identify(P) of
             gone -> {gone, undefined, worker, []};
             {Name, Call, Label, _, _} = Id ->
                 {hd([What || What <- [Name, Label, Call], What =/= undefined]), P,
                  case IsSupervisor(Id, [], HasKey) of true -> supervisor; false -> worker end, []}
         end || P <- Kids]
    end,
    Children = fun(Pid, Modules, Found, Wait) ->
        IsAsked = IsSure(Identify(Pid), Modules, HasKey),
        case process_info(Pid, [message_queue_len, current_function]) of
            [_, {_, Function}] when Function =:= {erlang, hibernate, 3}; not IsAsked ->
                HasLinks = Otp =< 27 andalso (Otp >= 25 orelse Pid =/= Root),
                try true = HasLinks, Linked(Pid, Found) catch error:_ -> busy end;
            [{_, Len}, _] when Len < 100 ->
                case InTime(fun supervisor:which_children/1, Pid, Wait) of
                    {ok, Kids} when is_list(Kids) ->
                        [Kid || {_, _, _, _} = Kid <- lists:reverse(Kids)];
                    _ ->
                        busy
                end;
            _ ->
                busy
        end
    end,
    Row = fun(Depth, Pid, Id, Type) ->
        Alive = is_pid(Pid) andalso node(Pid) =:= node()
            andalso AskSpared([Pid], [message_queue_len, memory]),
        Info = case Alive of
            {[[{_, Len}, {_, Read}]], Older} ->
                Bytes = case Older of [] -> Read; [{_, AgeMs}] -> {older, Read, AgeMs} end,
                case Identify(Pid) of
                    {Name, Call, Label, _, _} -> {Name, Call, Len, Bytes, Label};
                    gone -> {undefined, undefined, Len, Bytes, undefined}
                end;
            _ ->
                {undefined, undefined, 0, 0, undefined}
        end,
        {Depth, case is_pid(Pid) of true -> Pid; false -> undefined end, Print(Id, 80), Type, Info}
    end,
    {Found, Partial} = Walk([{Pid, []} || {_, Pid} <- Tops], #{}, MaxNodes - length(Tops), End,
                            #{children => Children, identify => Identify, has_key => HasKey}),
    {tree, Root, lists:append([Rows(0, {Id, Pid, root}, Found, Row) || {Id, Pid} <- Tops]), Partial}
end.
