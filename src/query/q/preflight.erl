%% What a trace would touch; nothing is armed here. Arg: #{patterns => [{Index, Kind, Mod, Fun,
%% Arity}], procs => Procs, most_functions => N, most_processes => N}; see docs/tracing.md.

%% ---- Functions

Existing = fun(Text) ->
    try {ok, binary_to_existing_atom(Text, utf8)} catch error:_ -> unknown end
end,

Limits = [{match_limit, 100000}, {match_limit_recursion, 2000}],

%% Compiled once for each pattern; a mistake in it is an error of the question.
Compile = fun(Name) ->
    case Name of
        {re, Text} -> {ok, Re} = re:compile(Text, [unicode]), {re, Re};
        _ -> Name
    end
end,

Matches = fun(Re, Atom) ->
    re:run(atom_to_binary(Atom, utf8), Re, [{capture, none} | Limits]) =:= match
end,

%% {ok, [Module]} | {none, Why}: loaded modules only, nothing is loaded for a trace.
ModulesOf = fun(Mod) ->
    case Mod of
        any ->
            {ok, [M || {M, _} <- code:all_loaded()]};
        {re, Re} ->
            {ok, [M || {M, _} <- code:all_loaded(), Matches(Re, M)]};
        {name, Text} ->
            case Existing(Text) of
                unknown -> {none, no_module};
                {ok, M} ->
                    case erlang:module_loaded(M) of
                        true -> {ok, [M]};
                        false ->
                            {none, case code:which(M) of
                                       non_existing -> no_module;
                                       _ -> not_loaded
                                   end}
                    end
            end
    end
end,

%% Of every module, the exports of `_` alone (redbug's meaning), else local functions too. The
%% functions that the compiler makes of funs and comprehensions are no names a person means, unless
%% an expression asks for them.
FunctionsOf = fun(M, Mod, Fun) ->
    All = case Mod of
        any -> M:module_info(exports);
        _ -> M:module_info(functions)
    end,
    case Fun of
        any -> [{F, A} || {F, A} <- All, hd(atom_to_list(F)) =/= $-, F =/= module_info];
        {re, Re} -> [{F, A} || {F, A} <- All, Matches(Re, F)];
        {atom, Name} -> [{F, A} || {F, A} <- All, F =:= Name]
    end
end,

%% BIFs that the compiler turns into instructions: a call in source is never a call of the VM.
IsInstruction = fun(M, F, A) ->
    M =:= erlang andalso
        (erl_internal:guard_bif(F, A) orelse erl_internal:arith_op(F, A)
         orelse erl_internal:comp_op(F, A) orelse erl_internal:bool_op(F, A)
         orelse erl_internal:list_op(F, A) orelse erl_internal:send_op(F, A))
end,

%% {[Mfa], Total, Why}; Left is how many may still be taken.
Expand = fun({_, Kind, Mod, Fun, Arity}, Left) ->
    case Kind of
        call ->
            case ModulesOf(Compile(Mod)) of
                {none, Why} ->
                    {[], 0, Why};
                {ok, Modules} ->
                    Wanted = case Fun of
                        {name, Text} ->
                            case Existing(Text) of unknown -> unknown; {ok, F} -> {atom, F} end;
                        _ ->
                            Compile(Fun)
                    end,
                    Named = case Wanted of
                        unknown -> [];
                        _ -> lists:append([[{M, F, A} || {F, A} <- FunctionsOf(M, Mod, Wanted)]
                                           || M <- Modules])
                    end,
                    Found = case Arity of
                        any -> Named;
                        _ -> [Mfa || {_, _, A} = Mfa <- Named, A =:= Arity]
                    end,
                    Seen = [Mfa || {M, F, A} = Mfa <- Found, not IsInstruction(M, F, A)],
                    Total = length(Seen),
                    Why = if
                        Total > Left -> too_many;
                        Total > 0 -> ok;
                        Found =/= [] -> instruction;
                        Named =/= [] -> {arities, lists:usort([A || {_, _, A} <- Named])};
                        Modules =:= [] -> no_module;
                        true -> no_function
                    end,
                    {lists:sublist(lists:sort(Seen), Left), Total, Why}
            end;
        _ ->
            {[], 0, ok}
    end
end,

ExpandAll = fun(Patterns, Most) ->
    {Answers, _} = lists:mapfoldl(
        fun(Pattern, Left) ->
            {Mfas, Total, Why} = Expand(Pattern, Left),
            {{element(1, Pattern), Mfas, Total, Why}, Left - length(Mfas)}
        end, Most, Patterns),
    Answers
end,

%% ---- Processes

%% Ours, and those that the connection needs: never traced.
Exempt = fun(Own) ->
    Carriers = [P || {_, P} <- erlang:system_info(dist_ctrl), is_pid(P)],
    Named = [P || Name <- [rex, net_kernel], P <- [whereis(Name)], is_pid(P)],
    lists:usort([self() | Own] ++ Carriers ++ Named)
end,

Written = fun(Text) ->
    try [list_to_pid(binary_to_list(Text))] catch error:_ -> [] end
end,

%% Identities of processes, at most Most: {[{Pid, Id}], Complete}
Identities = fun(Most, Id, Apps) ->
    Pids = processes(),
    {[{P, I} || P <- lists:sublist(Pids, Most), I <- [Id(P, Apps)], I =/= gone],
     length(Pids) =< Most}
end,

MfaText = fun({M, F, A}) ->
    unicode:characters_to_binary(io_lib:format("~tp:~tp/~w", [M, F, A]))
end,

Chosen = fun(Item, Known) ->
    case Item of
        {pid, Text} ->
            [P || P <- Written(Text), node(P) =:= node(), is_process_alive(P)];
        {name, Text} ->
            case Existing(Text) of
                {ok, Name} -> [P || P <- [whereis(Name)], is_pid(P)];
                unknown -> []
            end;
        {app, Text} ->
            [P || {P, {_, _, _, App, _}} <- Known, App =/= undefined,
                  atom_to_binary(App, utf8) =:= Text];
        {label, Text} ->
            {ok, Re} = re:compile(Text, [unicode]),
            [P || {P, {_, _, Label, _, _}} <- Known, is_binary(Label),
                  re:run(Label, Re, [{capture, none} | Limits]) =:= match];
        {call, Text} ->
            {ok, Re} = re:compile(Text, [unicode]),
            [P || {P, {_, Call, _, _, _}} <- Known,
                  re:run(MfaText(Call), Re, [{capture, none} | Limits]) =:= match];
        running ->
            processes();
        _ ->
            []
    end
end,

NeedsIdentity = fun(Item) ->
    is_tuple(Item) andalso lists:member(element(1, Item), [app, label, call])
end,

Choose = fun({One, _, Items}, Most, Id, Apps, Own) ->
    Whole = [all, new, running],
    case Items of
        [Only] when One =< 1, Only =:= all; One =< 1, Only =:= new; One =< 1, Only =:= running ->
            {Only, case Only of new -> 0; _ -> length(processes() -- Own) end};
        _ ->
            {Known, Complete} =
                case lists:any(NeedsIdentity, Items) of
                    true -> Identities(Most, Id, Apps);
                    false -> {[], true}
                end,
            Mixed = [case I of all -> running; new -> running; _ -> I end
                     || I <- Items, One > 1 orelse not lists:member(I, Whole) orelse I =:= running],
            Pids = lists:usort(lists:append([Chosen(I, Known) || I <- Mixed])) -- Own,
            Taken = case One > 1 of
                true -> [P || P <- Pids, erlang:phash2(P, One) =:= 0];
                false -> Pids
            end,
            if
                Taken =:= [], Complete -> {none, <<"no process fits">>};
                Taken =:= [] -> {none, <<"none of the processes looked at fits; there are more "
                                         "than the cap lets look at">>};
                true -> {pids, lists:sublist(Taken, Most), length(Taken)}
            end
    end
end,

%% ---- Who else traces

Others = fun(Otp, Print) ->
    Mfas = [{M, F, A} || {M, _} <- code:all_loaded(),
                         {F, A} <- try M:module_info(functions) catch error:_ -> [] end],
    Answers = lists:zipwith(fun erlang:trace_info/2, Mfas, lists:duplicate(length(Mfas), all)),
    Armed = case lists:usort(Answers) of
        [{all, false}] -> [];
        _ -> [Mfa || {Mfa, {all, Items}} <- lists:zip(Mfas, Answers), is_list(Items)]
    end,
    Flagged = [{P, Tracer} || P <- [new_processes | processes()],
                              {flags, [_ | _]} <- [try erlang:trace_info(P, flags)
                                                   catch error:_ -> none end],
                              {tracer, Tracer} <- [erlang:trace_info(P, tracer)]],
    Sessions = case Otp >= 27 of
        true -> [Name || {Name, Id} <- trace:session_info(all), Id =/= default];
        false -> []
    end,
    Texts = [Print(Mfa, 120) || Mfa <- lists:sublist(Armed, 5)]
        ++ [Print({tracer, T}, 120) || T <- lists:sublist(lists:usort([T || {_, T} <- Flagged]), 3)],
    {{length(Armed), length(Flagged), Texts},
     [Print(S, 100) || S <- Sessions],
     erlang:system_info(trace_control_word)}
end,

{[otp, own, print, id, apps, id_keys, identity, initial_call, label_text, k],
 fun(#{patterns := Patterns, procs := Procs, most_functions := MostFunctions,
       most_processes := MostProcesses},
     #{otp := Otp, own := Own, print := Print, id := Id, apps := Apps, k := Keeper}) ->
     {preflight,
      ExpandAll(Patterns, MostFunctions),
      Choose(Procs, MostProcesses, Id, Apps(), Exempt(Own(Keeper))),
      Others(Otp, Print)}
 end}.
