%% Supervision trees. Arg: {AppBinary | Pid, MaxNodes, Ms}; all applications for <<>>.
%%
%% Walked breadth-first, so that a tree that is cut lacks its lowest levels. Only a process that
%% says in its dictionary that it is a supervisor is asked for its children (anything else could
%% crash on the question), through a process that is killed when no answer comes in time: a late
%% one reaches nobody. A supervisor with a long mailbox is not asked at all.

%% Asks in a process of its own: {ok, Value} | busy.
InTime = fun(Ask, Arg, Ms) ->
    Me = self(),
    Start = erlang:monotonic_time(),
    Ref = make_ref(),
    Asking = fun() ->
        try Ask(Arg) of Value -> Me ! {Ref, {ok, Value}} catch _:_ -> Me ! {Ref, busy} end
    end,
    Size = 16 * 1048576 div erlang:system_info(wordsize),
    SpawnOwn = get(spawn),
    Pid = SpawnOwn(Asking, [],
                   [link, {max_heap_size, #{size => Size, kill => true, error_logger => false}}]),
    Answer = receive {Ref, Got} -> Got after Ms -> busy end,
    unlink(Pid),
    exit(Pid, kill),
    receive {Ref, _} -> ok after 0 -> ok end,
    put(waited, get(waited) + erlang:monotonic_time() - Start),
    Answer
end,

IsSupervisor = fun({_, {supervisor, _, _}, _, _, _}) -> true;
                  ({_, {'Elixir.DynamicSupervisor', init, 1}, _, _, _}) -> true;
                  (_) -> false
end,

%% Breadth first: [{Pid, [{Id, Child, Type}]}] of what answers, busy supervisors as {Pid, busy}.
Walk = fun Walk(Queue, Found, Left, End, Tools) ->
    #{children := Children, identify := Identify} = Tools,
    Now = erlang:monotonic_time(millisecond),
    case Queue of
        [] ->
            {Found, false};
        _ when Left =< 0; Now >= End ->
            {Found, true};
        [Pid | Rest] ->
            case is_map_key(Pid, Found) orelse not IsSupervisor(Identify(Pid)) of
                true ->
                    Walk(Rest, Found, Left, End, Tools);
                false ->
                    case Children(Pid, max(20, (End - Now) div 4)) of
                        busy ->
                            Walk(Rest, Found#{Pid => busy}, Left, End, Tools);
                        Kids ->
                            Kept = lists:sublist(Kids, Left),
                            Below = [P || {_, P, supervisor} <- Kept, is_pid(P)],
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
             | lists:append([Rows(Depth + 1, Kid, Found, Row) || Kid <- Kids])];
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
    #{id := IdOf, apps := AppsOf, print := Print, spawn := SpawnOwn}) ->
    put(spawn, SpawnOwn),
    End = erlang:monotonic_time(millisecond) + Ms,
    Apps = AppsOf(),
    %% A name that is no atom here must not become one.
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
    %% One that sys suspended while it hibernated would spin as long as our question waits for it: it
    %% wakes for the message, takes none but those of sys, and hibernates again.
    Ask = fun(Pid) ->
        case process_info(Pid, current_function) of
            {_, {erlang, hibernate, 3}} ->
                {status, Pid, _, [_, running | _]} = sys:get_status(Pid);
            _ ->
                running
        end,
        supervisor:which_children(Pid)
    end,
    Children = fun(Pid, Wait) ->
        case process_info(Pid, message_queue_len) of
            {message_queue_len, Len} when Len < 100 ->
                case InTime(Ask, Pid, Wait) of
                    {ok, Kids} when is_list(Kids) ->
                        [{Id, Child, Type} || {Id, Child, Type, _} <- lists:reverse(Kids)];
                    _ ->
                        busy
                end;
            _ ->
                busy
        end
    end,
    Row = fun(Depth, Pid, Id, Type) ->
        Alive = is_pid(Pid) andalso node(Pid) =:= node()
            andalso process_info(Pid, [message_queue_len, memory]),
        Info = case Alive of
            [{_, Len}, {_, Bytes}] ->
                case Identify(Pid) of
                    {Name, Call, _, _, _} -> {Name, Call, Len, Bytes};
                    gone -> {undefined, undefined, Len, Bytes}
                end;
            _ ->
                {undefined, undefined, 0, 0}
        end,
        {Depth, case is_pid(Pid) of true -> Pid; false -> undefined end, Print(Id, 80), Type, Info}
    end,
    {Found, Partial} = Walk([Pid || {_, Pid} <- Tops], #{}, MaxNodes - length(Tops), End,
                            #{children => Children, identify => Identify}),
    {tree, Root, lists:append([Rows(0, {Id, Pid, root}, Found, Row) || {Id, Pid} <- Tops]), Partial}
end.
