%% Everything that is armed on the node, by anyone. Arg: #{most => N}, the entries of each list that
%% are sent; all are counted. Also the proof after a trace's end, so it looks at every function.
%%
%% trace_info/2 of a function costs half a microsecond; lists:zipwith over external funs keeps the
%% loop native. Of a process it is a signal.
Spaces = fun(Otp) ->
    case Otp >= 27 of
        false -> [];
        true -> [S || {_, Id} = S <- trace:session_info(all), Id =/= default]
    end
end,

%% A session's handle prints as {Name, Id}; Name is what it was created with.
SessionName = fun({Name, _}, Print) ->
    case is_atom(Name) of
        true -> atom_to_binary(Name, utf8);
        false -> Print(Name, 100)
    end
end,

Info = fun(Space, What, Item) ->
    try
        case Space of
            legacy -> erlang:trace_info(What, Item);
            _ -> trace:info(Space, What, Item)
        end
    of
        {_, Value} -> Value
    catch
        error:_ -> undefined
    end
end,

AllFunctions = fun() ->
    Modules = [M || {M, _} <- code:all_loaded()],
    Exports = [{M, F, A} || M <- Modules, {F, A} <- try M:module_info(functions) catch error:_ -> [] end],
    Exports
end,

%% [{Mfa, Answer}] of those that something is armed at.
ArmedFunctions = fun(Space, Mfas) ->
    N = length(Mfas),
    Answers =
        case Space of
            legacy ->
                lists:zipwith(fun erlang:trace_info/2, Mfas, lists:duplicate(N, all));
            _ ->
                lists:zipwith3(fun trace:info/3, lists:duplicate(N, Space), Mfas,
                               lists:duplicate(N, all))
        end,
    case lists:usort(Answers) of
        [] -> [];
        [{all, false}] -> [];
        [{all, undefined}] -> [];
        _ ->
            [{Mfa, Items} || {Mfa, {all, Items}} <- lists:zip(Mfas, Answers), is_list(Items)]
    end
end,

%% A tracer as text: a pid with its name, a port, a module.
TracerText = fun(Tracer, Print) ->
    case Tracer of
        Pid when is_pid(Pid), node(Pid) =:= node() ->
            case process_info(Pid, registered_name) of
                {registered_name, Name} -> Print({Pid, Name}, 120);
                _ -> Print(Pid, 120)
            end;
        _ ->
            Print(Tracer, 120)
    end
end,

%% [Item] of one function, from what trace_info/2 said to `all`.
Items = fun(Said, Print, Tracer) ->
    Traced = proplists:get_value(traced, Said, false),
    Spec = proplists:get_value(match_spec, Said, []),
    Number = fun(Value) ->
        case Value of
            _ when is_integer(Value) -> Value;
            _ when is_list(Value) ->
                lists:sum([C || Entry <- Value, is_tuple(Entry), tuple_size(Entry) >= 2,
                                C <- [element(2, Entry)], is_integer(C)]);
            _ -> 0
        end
    end,
    [{Traced, Print(Spec, 200)} || Traced =:= local orelse Traced =:= global]
    ++ [{meta, Tracer(Meta, Print)}
        || Meta <- [proplists:get_value(meta, Said, false)], Meta =/= false, Meta =/= []]
    ++ [{Key, Number(Value)}
        || Key <- [call_count, call_time, call_memory],
           Value <- [proplists:get_value(Key, Said, false)], Value =/= false]
end,

%% Message patterns: `true` is what a node starts with.
MessagePatterns = fun(Space, Name, Get, Print) ->
    [{Name, Kind, 0, 0, [{local, Print(Spec, 200)}]}
     || Kind <- [send, 'receive'],
        Spec <- [Get(Space, Kind, match_spec)],
        Spec =/= true, Spec =/= undefined, Spec =/= []]
end,

%% [{Space, Who, Name, Flags, Tracer}] of processes and of the defaults of new ones.
FlagsIn = fun(Space, SpaceName, Get, Tracer, Print) ->
    Ask = fun(Who) ->
        case Get(Space, Who, flags) of
            [_ | _] = Flags ->
                Name = case is_pid(Who) andalso process_info(Who, registered_name) of
                    {registered_name, Registered} -> atom_to_binary(Registered, utf8);
                    _ -> <<>>
                end,
                [{SpaceName, Who, Name, Flags, Tracer(Get(Space, Who, tracer), Print)}];
            _ ->
                []
        end
    end,
    lists:append([Ask(Who) || Who <- [new_processes, new_ports | processes()]])
end,

Monitors = fun(Print) ->
    [Print({system_monitor, M}, 200) || M <- [erlang:system_monitor()], M =/= undefined]
    ++ [Print({system_profile, M}, 200) || M <- [erlang:system_profile()], M =/= undefined]
end,

{[otp, own, print],
 fun(#{most := Most}, #{otp := Otp, own := _, print := Print}) ->
     Sessions = Spaces(Otp),
     Mfas = AllFunctions(),
     All = [{legacy, <<>>} | [{S, SessionName(S, Print)} || S <- Sessions]],
     Breakpoints = lists:append(
         [MessagePatterns(Space, Name, Info, Print)
          ++ [{Name, M, F, A, Items(Said, Print, TracerText)}
              || {{M, F, A}, Said} <- ArmedFunctions(Space, Mfas)]
          || {Space, Name} <- All]),
     Flags = lists:append([FlagsIn(Space, Name, Info, TracerText, Print) || {Space, Name} <- All]),
     Ours = [Name || {_, Name} <- All, Name =:= <<"beamtop">>],
     {armed, erlang:monotonic_time(), erlang:system_info(trace_control_word),
      [{Name, Name =:= <<"beamtop">>} || {_, Name} <- tl(All)],
      {length(Breakpoints), lists:sublist(Breakpoints, Most)},
      {length(Flags), lists:sublist(Flags, Most)},
      Monitors(Print),
      length(Ours)}
 end}.
