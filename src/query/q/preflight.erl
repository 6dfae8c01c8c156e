%% SPDX-License-Identifier: GPL-3.0-or-later
%% What a trace would do, before anything is armed: which functions its patterns name, which
%% processes it would follow, and who traces already. Arg, Value: docs/tracing.md.
%%
%% Names are binaries: one that is not an atom here names nothing here. Nothing is loaded.
-include("part/functions.erl").
-include("part/servers.erl").
-include("part/proc_file.erl").
-include("part/code.erl").

Compile = fun(Text) ->
    try re:compile(Text, [unicode]) of
        {ok, Compiled} ->
            {ok, Compiled};
        {error, {Why, At}} ->
            {bad, iolist_to_binary([Why, " at ", integer_to_list(At)])}
    catch
        error:_ -> {bad, <<"not UTF-8">>}
    end
end,

%% {any | {is, Atom} | {re, Compiled} | {app, Atom}} of a name in a pattern, or {bad, Why} |
%% unknown.
Selector = fun(Name) ->
    case Name of
        any -> any;
        {name, Text} ->
            try {is, binary_to_existing_atom(Text, utf8)} catch error:_ -> unknown end;
        {app, Text} ->
            try {app, binary_to_existing_atom(Text, utf8)} catch error:_ -> {app, none} end;
        {re, Text} ->
            case Compile(Text) of {ok, Compiled} -> {re, Compiled}; Bad -> Bad end
    end
end,

%% Calls of these are instructions in compiled code, which no breakpoint sees.
IsInstruction = fun({erlang, F, A}) ->
        erl_internal:guard_bif(F, A) orelse erl_internal:arith_op(F, A)
            orelse erl_internal:comp_op(F, A) orelse erl_internal:bool_op(F, A)
            orelse lists:member({F, A}, [{'!', 2}, {apply, 2}, {apply, 3}, {get, 1}]);
    (_) -> false
end,

%% `_:_` means exports; a module that is named gives its local functions too.
FunctionsOf = fun(Module, Kind) ->
    try lists:usort(erlang:get_module_info(Module, Kind)) catch error:_ -> [] end
end,

%% Why a function that was named is not among those of the modules.
WhyNone = fun(Modules, Fun, Kind) ->
    Arities = case Fun of
        {is, _} -> lists:usort(lists:append([[A || {_, A} <- Chosen(FunctionsOf(M, Kind), Fun, any)]
                                             || M <- Modules]));
        _ -> []
    end,
    case Arities of [] -> no_function; _ -> {arities, Arities} end
end,

%% {[Mfa], Why}. Own: the modules of the one process that is chosen, for the name `own`. What the
%% compiler made of list comprehensions and funs is left out there.
Expand = fun(own, _, _, []) ->
    {[], no_own};
    (own, _, _, Own) ->
    Functions = [{M, F, A} || M <- Own, {F, A} <- FunctionsOf(M, functions), F =/= module_info,
                              hd(atom_to_list(F)) =/= $-],
    {Functions, case Functions of [] -> no_function; _ -> ok end};
    (Mod, Fun, Arity, _) ->
    Modules = case Selector(Mod) of
        any -> Loaded();
        {is, M} ->
            case erlang:module_loaded(M) of
                true -> [M];
                false -> {none, Missing(element(2, Mod))}
            end;
        {re, Re} ->
            case MatchingAtoms(Loaded(), Re) of [] -> {none, no_module}; Some -> Some end;
        {app, App} ->
            case application:get_key(App, modules) of
                {ok, Its} -> lists:filter(fun erlang:module_loaded/1, lists:usort(Its));
                undefined -> {none, no_application}
            end;
        {bad, ModWhy} -> {none, {bad_expression, ModWhy}};
        unknown -> {none, Missing(element(2, Mod))}
    end,
    case {Modules, Selector(Fun)} of
        {{none, Why}, _} -> {[], Why};
        {_, {bad, FunWhy}} -> {[], {bad_expression, FunWhy}};
        {_, unknown} -> {[], no_function};
        {_, Select} ->
            Kind = case {Mod, Fun} of {any, any} -> exports; _ -> functions end,
            All = lists:append([MfasOf(M1, Chosen(FunctionsOf(M1, Kind), Select, Arity))
                                || M1 <- Modules]),
            %% Only `erlang` has any: the rest is not looked at one by one.
            {Bifs, Others} = {Run(All, [{{erlang, '_', '_'}, [], ['$_']}]),
                              Run(All, [{{'$1', '_', '_'}, [{'=/=', '$1', erlang}], ['$_']}])},
            case lists:filter(fun(B) -> not IsInstruction(B) end, Bifs) ++ Others of
                [] when Bifs =/= [] -> {[], instruction};
                [] -> {[], WhyNone(Modules, Select, Kind)};
                Traced -> {lists:sort(Traced), ok}
            end
    end
end,

%% {[{Index, [Mfa], Total, Why}], Left}: the cap is over all patterns.
ExpandAll = fun(Patterns, Most, Own) ->
    {Answers, _} = lists:mapfoldl(
        fun({Index, call, Mod, Fun, Arity}, Left) ->
                {List, Why} = Expand(Mod, Fun, Arity, Own),
                case length(List) of
                    Total when Total > Left ->
                        {{Index, lists:sublist(List, Left), Total, too_many}, 0};
                    Total ->
                        {{Index, List, Total, Why}, Left - Total}
                end;
           ({Index, _, _, _, _}, Left) ->
                {{Index, [], 0, ok}, Left}
        end, Most, Patterns),
    Answers
end,

%% ---- Processes

-include("part/carriers.erl").

%% The values of an item, natively; `undefined` where a process is gone.
Sweep = fun(Pids, Item) ->
    lists:zipwith(fun erlang:process_info/2, Pids, lists:duplicate(length(Pids), Item))
end,

CallText = fun({M, F, A}) ->
    iolist_to_binary([atom_to_binary(M, utf8), ":", atom_to_binary(F, utf8), "/",
                      integer_to_list(A)])
end,

%% [{Text, Pid}] of labels, cut to size by the keeper's way; without any before OTP 27.
Labels = fun(Pids, LabelText) ->
    Infos = Sweep(Pids, {dictionary, '$process_label'}),
    Known = Run(lists:zip(Pids, Infos),
                [{{'$1', {{dictionary, '$process_label'}, '$2'}}, [{'=/=', '$2', undefined}],
                  [{{'$1', '$2'}}]}]),
    [{LabelText(Label), Pid} || {Pid, Label} <- Known]
end,

%% Initial calls as the VM says, or as is known behind proc_lib.
Calls = fun(Pids, #{caps := #{dict_key := false}, calls_behind := CallsBehind}) ->
    Behind = fun Behind(Left) ->
        {These, Rest} = lists:split(min(50, length(Left)), Left),
        case Rest of [] -> CallsBehind(These); _ -> CallsBehind(These) ++ Behind(Rest) end
    end,
    [{case Call of {_, Found} -> Found; false -> Mfa end, Pid}
     || {Pid, {_, Mfa}, Call} <- lists:zip3(Pids, Sweep(Pids, initial_call), Behind(Pids))];
   (Pids, #{initial_call := InitialCall}) ->
    Known = Run(lists:zip(Pids, Sweep(Pids, initial_call)),
                [{{'$1', {initial_call, '$2'}}, [], [{{'$1', '$2'}}]}]),
    [{case Mfa of {proc_lib, _, _} -> InitialCall(Pid, Mfa); _ -> Mfa end, Pid}
     || {Pid, Mfa} <- Known]
end,
CallTexts = fun(Pids, Ctx) -> [{CallText(Mfa), Pid} || {Mfa, Pid} <- Calls(Pids, Ctx)] end,

%% The modules of its initial call and of its stack, without those in which every process is.
Everywhere = [erlang, init, erts_internal, proc_lib, gen, gen_server, gen_statem, gen_event,
              supervisor, timer, lists, maps, application_master, prim_inet, 'Elixir.GenServer',
              'Elixir.Process', 'Elixir.Task', 'Elixir.Task.Supervised', 'Elixir.Enum'],
%% Their loops do not return: each turn would leave its frames on the stack for good.
Loops = [erlang, init, erts_internal, proc_lib, gen, gen_server, gen_statem, gen_event,
         application_master, prim_inet],
ModulesOf = fun({pids, [Pid], 1}, Ctx) ->
        Called = [M || {{M, _, _}, _} <- Calls([Pid], Ctx)],
        Stack = case process_info(Pid, current_stacktrace) of
                    {_, Frames} -> [M || {M, _, _, _} <- Frames];
                    undefined -> []
                end,
        case lists:usort(Called ++ Stack) -- Everywhere of
            [] -> lists:usort(Called) -- Loops;
            Own -> Own
        end;
    (_, _) -> []
end,

%% `nobody` comes with up to three names that a regular expression could have meant.
ByExpression = fun(Kind, Text, What, Read) ->
    Typed = <<Kind/binary, ":/", Text/binary, "/">>,
    case Compile(Text) of
        {ok, Compiled} ->
            {Texts, Pids} = lists:unzip(Read()),
            case {Matching(Texts, Pids, Compiled), lists:sublist(lists:usort(Texts), 3)} of
                {[], []} ->
                    {nobody, <<Typed/binary, ": no process has any ", What/binary>>};
                {[], Some} ->
                    There = iolist_to_binary(lists:join(", ", Some)),
                    {nobody, <<Typed/binary, " matches no ", What/binary, "; there is ",
                               There/binary, ", for example">>};
                {Matched, _} ->
                    {ok, Matched}
            end;
        {bad, Why} ->
            {none, <<Typed/binary, ": invalid regex: ", Why/binary>>}
    end
end,

%% {ok, [Pid]} | {nobody, Why}, when others of the list may be somebody, | {none, Why}.
Resolve = fun(Item, Looked, Ctx) ->
    #{apps := AppsOf, label_text := LabelText, pid_of := PidOf,
      caps := Caps} = Ctx,
    case Item of
        running ->
            {ok, Looked};
        {Kind, Text} when Kind =:= pid; Kind =:= name ->
            case PidOf(Text) of
                Pid when is_pid(Pid), node(Pid) =:= node() ->
                    case is_process_alive(Pid) of
                        true -> {ok, [Pid]};
                        false -> {none, <<"no process ", Text/binary>>}
                    end;
                _ ->
                    {none, case Kind of
                               name -> <<"no process is registered as ", Text/binary>>;
                               pid -> <<"no process ", Text/binary>>
                           end}
            end;
        {app, Text} ->
            App = try binary_to_existing_atom(Text, utf8) catch error:_ -> none end,
            case [Leader || {Leader, A} <- maps:to_list(AppsOf()), A =:= App, App =/= none] of
                [] ->
                    case App =/= none andalso ets:member(ac_tab, {loaded, App}) of
                        true -> {none, <<"the application ", Text/binary, " has no process: it is "
                                         "a library, or it is not started">>};
                        false -> {none, <<"no running application ", Text/binary>>}
                    end;
                Leaders ->
                    Set = maps:from_list([{Leader, []} || Leader <- Leaders]),
                    {ok, Run(lists:zip(Looked, Sweep(Looked, group_leader)),
                             [{{'$1', {group_leader, '$2'}}, [{is_map_key, '$2', {const, Set}}],
                               ['$1']}])}
            end;
        {label, Text} ->
            case Caps of
                #{label := true} ->
                    ByExpression(<<"label">>, Text, <<"label">>,
                                 fun() -> Labels(Looked, LabelText) end);
                _ ->
                    {none, <<"label:/", Text/binary, "/: this release has no labels, they came "
                             "with OTP 27; call:/RE/ chooses by initial call">>}
            end;
        {call, Text} ->
            ByExpression(<<"call">>, Text, <<"initial call">>,
                         fun() -> CallTexts(Looked, Ctx) end)
    end
end,

Sampled = fun(Pids, One) ->
    case One > 1 of
        true -> [Pid || Pid <- Pids, erlang:phash2(Pid, One) =:= 0];
        false -> Pids
    end
end,

%% `all`, `new`, `running` are flags of the VM unless one in N or others stand beside them.
Processes = fun({One, _Children, Items}, Most, Ctx) ->
    #{own := OwnOf, k := Keeper, c := Client} = Ctx,
    Excluded = lists:usort(OwnOf(Keeper) ++ Carriers(Client)),
    Running = ordsets:subtract(lists:sort(erlang:processes()), Excluded),
    Has = fun(Item) -> lists:member(Item, Items) end,
    FollowsNew = Has(new),
    WithOthers = lists:any(fun(Item) -> Item =/= new end, Items),
    Whole = case {Has(all), FollowsNew, Has(running)} of
        {true, _, _} -> all;
        {_, true, true} -> all;
        {_, true, false} -> new;
        {_, _, true} -> running;
        _ when Items =:= [] -> all;
        _ -> none
    end,
    case Whole of
        new when WithOthers ->
            {none, <<"new processes go with running ones or alone">>};
        _ when One > 1, FollowsNew ->
            {none, <<"one in ", (integer_to_binary(One))/binary, " of new processes is unknown">>};
        new ->
            {new, 0};
        _ when Whole =/= none, One =< 1 ->
            {Whole, length(Running)};
        _ ->
            Looked = lists:sublist(Running, Most),
            Wanted = case Whole of none -> Items; _ -> [running] end,
            Found = [Resolve(Item, Looked, Ctx) || Item <- Wanted],
            case [Why || {none, Why} <- Found] of
                [Why | _] ->
                    {none, Why};
                [] ->
                    Pids = lists:usort(lists:append([List || {ok, List} <- Found])),
                    Traceable = ordsets:subtract(Pids, Excluded),
                    Nobody = iolist_to_binary(lists:join("; ", [W || {nobody, W} <- Found])),
                    case {Sampled(Traceable, One), Nobody} of
                        {[], _} when length(Running) > Most ->
                            {none, <<"none among the first ", (integer_to_binary(Most))/binary,
                                     " processes; more were not looked at">>};
                        {[], _} when Traceable =/= [] ->
                            {none, <<"1/", (integer_to_binary(One))/binary, " of ",
                                     (integer_to_binary(length(Traceable)))/binary,
                                     " takes none of them">>};
                        {[], <<>>} when Pids =/= [] ->
                            {none, <<"beamtop's own processes and those that carry its connection "
                                     "are never traced">>};
                        {[], <<>>} -> {none, <<"no process is chosen">>};
                        {[], _} -> {none, Nobody};
                        {Chosen1, _} -> {pids, lists:sublist(Chosen1, Most), length(Chosen1)}
                    end
            end
    end
end,

%% ---- Others who trace

-include("part/armed_scan.erl").

Others = fun(Excluded) ->
    Points = Marks(legacy, functions, all),
    Pids = ordsets:subtract(lists:sort(erlang:processes()), Excluded),
    Flagged = length(Marks(legacy, Pids, flags)),
    Of = fun(What, Item) -> try erlang:trace_info(What, Item) catch error:_ -> none end end,
    Texts = lists:append(
        [[CallText(Mfa) || {Mfa, _} <- lists:sublist(Points, 5)],
         [<<"new processes">> || {flags, [_ | _]} <- [Of(new_processes, flags)]],
         [<<"new ports">> || {flags, [_ | _]} <- [Of(new_ports, flags)]],
         [<<"what is loaded next">> || {all, [_ | _]} <- [Of(on_load, all)]],
         [<<"send">> || {match_spec, S} <- [Of(send, match_spec)], S =/= true],
         [<<"receive">> || {match_spec, R} <- [Of('receive', match_spec)], R =/= true],
         [iolist_to_binary(["and ", integer_to_binary(length(Points) - 5), " more"])
          || length(Points) > 5]]),
    {length(Points), Flagged, Texts}
end,

%% By apply: before OTP 27 there is no module of that name.
Sessions = fun() ->
    try apply(trace, session_info, [all]) of
        List when is_list(List) ->
            %% {Name, Number}, and {legacy, default} of the single space.
            [atom_to_binary(Name, utf8) || {Name, Number} <- List, is_integer(Number)];
        _ -> []
    catch
        error:_ -> []
    end
end,

-include("part/unknown_atoms.erl").

{[k, c, otp, own, mine, apps, caps, pid_of, label_text, initial_call, calls_behind, in_time],
 fun(#{patterns := Patterns, procs := Procs, most_functions := MostFunctions,
       most_processes := MostProcesses} = Asked1,
     #{otp := Otp, own := OwnOf, mine := MineOf, k := Keeper, in_time := InTime} = Ctx) ->
    put(in_time, InTime),
    Word = erlang:system_info(trace_control_word),
    %% One beamtop at a time holds this name, on every release; our own trace is nobody else's.
    Mine = MineOf(Keeper),
    Held = [{<<"beamtop">>, whereis(beamtop_trace)}, {<<"beamtop_calls">>, whereis(beamtop_calls)}],
    Another = [Name || {Name, Holder} <- Held, is_pid(Holder), not lists:member(Holder, Mine)],
    %% System events trace nothing.
    Names = [S || Otp >= 27, S <- Sessions(), S =/= <<"beamtop_events">>,
                  not lists:keymember(S, 1, Held)] ++ Another,
    Who = Processes(Procs, MostProcesses, Ctx),
    Own = case [own || {_, call, own, _, _} <- Patterns] of [] -> []; _ -> ModulesOf(Who, Ctx) end,
    {preflight, ExpandAll(Patterns, MostFunctions, Own), Who,
     {Others(OwnOf(Keeper)), Names, Word},
     UnknownAtoms(maps:get(atoms, Asked1, []), maps:get(near, Asked1, false))}
end}.
