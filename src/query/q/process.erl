%% SPDX-License-Identifier: GPL-3.0-or-later
%% One process. Arg: {Pid | PidOrNameBinary, #{stack => N, links => N}}.
%% Lists are counted whole and sent in part. The dictionary is not read (behind.erl), so how many
%% keys it has is unknown.
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
    Sizes = lists:reverse(lists:sort([{Size, Refs} || {_, Size, Refs} <- Distinct])),
    {length(Distinct), lists:sum([Size || {Size, _} <- Sizes]), lists:sublist(Sizes, 20)}
end,

-include("part/walked.erl").

Items = [status, priority, trap_exit, group_leader, reductions, message_queue_len,
         message_queue_data, memory, total_heap_size, heap_size, stack_size, suspending,
         current_function, current_stacktrace, links, monitors,
         monitored_by, garbage_collection, garbage_collection_info, binary],

Process = fun({Who, Limits}, #{id := IdOf, apps := Apps, caps := Caps, pid_of := PidOf}) ->
    #{stack := StackMost, links := LinksMost} = Limits,
    Pid = PidOf(Who),
    {[Info], Older} = case is_pid(Pid) andalso node(Pid) =:= node() of
        true -> AskSpared([Pid], Items);
        false -> {[undefined], []}
    end,
    case is_list(Info) andalso IdOf(Pid, Apps()) of
        Id when is_tuple(Id) ->
            Get = fun(Key) -> element(2, lists:keyfind(Key, 1, Info)) end,
            Value = fun(Key) ->
                case Older =/= [] andalso lists:member(Key, Walking) of
                    true -> {older, Get(Key)};
                    false -> Get(Key)
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
             [{group_leader, {Leader, NameOf(Leader)}},
              {ancestors, Ancestors},
              {parent, Parent},
              {heap_fragments, proplists:get_value(mbuf_size, Get(garbage_collection_info), 0)},
              {garbage_collection,
               [{Key, N} || {Key, N} <- Get(garbage_collection), is_integer(N)]},
              {current_location, case Stack of [Top | _] -> Top; [] -> undefined end},
              {stack, Stack},
              {links, Named(Get(links), LinksMost)},
              {monitors, Monitored(Get(monitors), LinksMost)},
              {monitored_by, Named(Get(monitored_by), LinksMost)},
              {dictionary, undefined},
              {binary, Binaries(Get(binary))},
              {suspending, length(Get(suspending))}]};
        _ ->
            gone
    end
end,

{[id, apps, caps, pid_of], Process}.
