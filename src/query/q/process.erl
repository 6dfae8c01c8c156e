%% SPDX-License-Identifier: GPL-3.0-or-later
%% One process. Arg: {Pid | PidOrNameBinary, #{stack => N, links => N}}.
%% Lists are counted whole and sent in part; `undefined` of one that is too long for that. The
%% dictionary is not read (behind.erl), so how many keys it has is unknown.
NameOf = fun(Who) ->
    case is_pid(Who) andalso node(Who) =:= node() andalso process_info(Who, registered_name) of
        {registered_name, Name} -> Name;
        _ -> undefined
    end
end,

Location = fun({M, F, A, Place}) ->
    Arity = case A of _ when is_list(A) -> length(A); _ -> A end,
    File = unicode:characters_to_binary(proplists:get_value(file, Place, "")),
    {M, F, Arity, File, proplists:get_value(line, Place, 0)}
end,

Named = fun(List, Most) ->
    {length(List), [{Who, NameOf(Who)} || Who <- lists:sublist(List, Most)]}
end,

%% What the first ones without a name were started with. One that may not yield is not asked.
CallOf = fun(Who, IdOf, Apps) ->
    Local = is_pid(Who) andalso node(Who) =:= node(),
    case Local andalso process_info(Who, status) of
        {status, Status} when Status =:= waiting; Status =:= suspended ->
            case IdOf(Who, Apps) of
                {_, undefined, _, _, Call} -> Call;
                {_, Call, _, _, _} -> Call;
                _ -> undefined
            end;
        _ ->
            undefined
    end
end,
WithCalls = fun(undefined, _IdOf, _Apps) ->
        undefined;
    ({Count, List}, IdOf, Apps) ->
        {Few, Rest} = lists:split(min(20, length(List)), List),
        {Count, lists:map(fun({Who, undefined}) -> {Who, CallOf(Who, IdOf, Apps)};
                             ({Kind, Who, undefined}) -> {Kind, Who, CallOf(Who, IdOf, Apps)};
                             (Named) -> Named
                          end, Few) ++ Rest}
end,

%% Monitors come as {process, Pid}, {process, {Name, Node}}, {port, Port}, {time_offset, _}…
Monitored = fun(List, Most) ->
    {length(List), [{Kind, Who, NameOf(Who)} || {Kind, Who} <- lists:sublist(List, Most)]}
end,

%% What proc_lib says, by key where that can be asked.
AncestorsOf = fun(Pid, #{dict_key := HasKey}) ->
    case HasKey andalso process_info(Pid, {dictionary, '$ancestors'}) of
        {_, [_ | _] = List} -> [A || A <- lists:sublist(List, 20), is_pid(A) orelse is_atom(A)];
        _ -> []
    end
end,

Binaries = fun(List) ->
    Distinct = lists:ukeysort(1, List),
    {_, Sizes, _} = lists:unzip3(Distinct),
    Count = length(Distinct),
    Largest = lists:nthtail(max(0, Count - 20), lists:keysort(2, Distinct)),
    {Count, lists:sum(Sizes),
     lists:reverse(lists:sort([{Size, Refs} || {_, Size, Refs} <- Largest]))}
end,

%% A list is copied whole to the one that asks. Those of a process of LargeBytes are read by one
%% helper each, one after the other, whose heap ends at ListBytes: what is too long ends the helper,
%% not the answer.
LargeBytes = 4 * 1048576,
ListBytes = 256 * 1048576,
ListOf = fun(To, Ref, Pid, Item, Shorten) ->
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, keeper, 0}),
    case process_info(Pid, Item) of
        {_, All} -> To ! {Ref, Shorten(All)};
        undefined -> ok
    end
end,
ByHelper = fun(Pid, {Item, Shorten}, Spawn) ->
    {Ref, Start} = {make_ref(), erlang:monotonic_time()},
    Limit = #{size => ListBytes div erlang:system_info(wordsize), kill => true,
              error_logger => false},
    Trapped = process_flag(trap_exit, true),
    Helper = Spawn(ListOf, [self(), Ref, Pid, Item, Shorten],
                   [link, {message_queue_data, off_heap}, {max_heap_size, Limit}]),
    receive {'EXIT', Helper, _} -> ok end,
    process_flag(trap_exit, Trapped),
    Took = erlang:monotonic_time() - Start,
    put(waited, get(waited) + Took),
    put(helped, get(helped) + Took),
    receive {'EXIT', _, _} when not Trapped -> exit(shutdown) after 0 -> ok end,
    {Item, receive {Ref, Short} -> Short after 0 -> undefined end}
end,
%% [{Item, Value}] of lists, each with what shortens it; `gone`.
ListsOf = fun(Pid, Lists, IsLarge, Spawn) ->
    case IsLarge of
        true ->
            [ByHelper(Pid, List, Spawn) || List <- Lists];
        false ->
            {Keys, Shortens} = lists:unzip(Lists),
            case process_info(Pid, Keys) of
                undefined -> gone;
                Infos ->
                    [{Key, Shorten(All)} || {{Key, All}, Shorten} <- lists:zip(Infos, Shortens)]
            end
    end
end,

-include("part/walked.erl").

Items = [status, priority, trap_exit, group_leader, reductions, message_queue_len,
         message_queue_data, memory, total_heap_size, heap_size, stack_size, suspending,
         current_function, current_stacktrace, garbage_collection, garbage_collection_info],

Process = fun({Who, Limits}, #{id := IdOf, apps := Apps, caps := Caps, pid_of := PidOf,
                               spawn := Spawn}) ->
    #{stack := StackMost, links := LinksMost} = Limits,
    Pid = PidOf(Who),
    {[Info], Older} = case is_pid(Pid) andalso node(Pid) =:= node() of
        true -> AskSpared([Pid], Items);
        false -> {[undefined], []}
    end,
    Some = fun(All) -> Named(All, LinksMost) end,
    Lists = case Info of
        undefined ->
            gone;
        _ ->
            IsLarge = Older =/= [] orelse element(2, lists:keyfind(memory, 1, Info)) >= LargeBytes,
            ListsOf(Pid, [{links, Some}, {monitors, fun(All) -> Monitored(All, LinksMost) end},
                          {monitored_by, Some}, {binary, Binaries}], IsLarge, Spawn)
    end,
    case is_list(Lists) andalso IdOf(Pid, Apps()) of
        Id when is_tuple(Id) ->
            Get = fun(Key) -> element(2, lists:keyfind(Key, 1, Info)) end,
            Value = fun(Key) ->
                case lists:member(Key, Walking) andalso Older of
                    [{_, AgeMs}] -> {older, Get(Key), AgeMs};
                    _ -> Get(Key)
                end
            end,
            Plain = [{Key, Value(Key)}
                     || Key <- [status, priority, trap_exit, reductions, message_queue_len,
                                message_queue_data, memory, total_heap_size, heap_size,
                                stack_size, current_function]],
            Ancestors = AncestorsOf(Pid, Caps),
            Parent =
                try process_info(Pid, parent) of {parent, P} -> P; undefined -> undefined
                catch error:_ -> case Ancestors of [A | _] when is_pid(A) -> A; _ -> undefined end
                end,
            Stack = lists:map(Location, lists:sublist(Get(current_stacktrace), StackMost)),
            Leader = Get(group_leader),
            {process, erlang:monotonic_time(nanosecond), Pid, Id,
             Plain ++
             [case Key of
                  binary -> {Key, List};
                  _ -> {Key, WithCalls(List, IdOf, Apps())}
              end || {Key, List} <- Lists] ++
             [{group_leader, {Leader, NameOf(Leader)}},
              {ancestors, Ancestors},
              {parent, Parent},
              {heap_fragments, proplists:get_value(mbuf_size, Get(garbage_collection_info), 0)},
              {garbage_collection,
               [{Key, N} || {Key, N} <- Get(garbage_collection), is_integer(N)]},
              {current_location, case Stack of [Top | _] -> Top; [] -> undefined end},
              {stack, Stack},
              {dictionary, undefined},
              {suspending, length(Get(suspending))}]};
        _ ->
            gone
    end
end,

{[id, apps, caps, pid_of, spawn], Process}.
