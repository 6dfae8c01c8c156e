%% SPDX-License-Identifier: GPL-3.0-or-later
%% Names of what is loaded, and of what a trace can follow. Arg: {modules, Most} |
%% {functions, ModuleBinary} | {who, Most}.
%%
%% Nothing is loaded and no atom is made: a name that is not an atom here is the name of no loaded
%% module. All lists are worked on natively.
-include("part/servers.erl").
-include("part/proc_file.erl").
-include("part/code.erl").

Texts = fun(Atoms) ->
    lists:zipwith(fun erlang:atom_to_binary/2, Atoms, lists:duplicate(length(Atoms), utf8))
end,

%% [{Name, Arity, Exported}]
Listed = fun(Functions, Exported) ->
    {Names, Arities} = lists:unzip(Functions),
    lists:zip3(Texts(Names), Arities, lists:duplicate(length(Names), Exported))
end,

Sorted = fun(Atoms, Most) -> lists:sublist(lists:sort(Texts(Atoms)), Most) end,

{[apps, in_time], fun
    ({who, Most}, #{apps := AppsOf}) ->
        {who, Sorted(registered(), Most), Sorted(lists:usort(maps:values(AppsOf())), Most)};
    ({modules, Most}, _) ->
        Loaded = lists:sort(Texts(lists:filter(fun erlang:module_loaded/1, erlang:loaded()))),
        {modules, lists:sublist(Loaded, Most), length(Loaded)};
    ({functions, Name}, #{in_time := InTime}) ->
        put(in_time, InTime),
        Module = try binary_to_existing_atom(Name, utf8) catch error:_ -> none end,
        case is_binary(Name) andalso Module =/= none andalso erlang:module_loaded(Module) of
            true ->
                Exports = lists:usort(erlang:get_module_info(Module, exports)),
                All = lists:usort(erlang:get_module_info(Module, functions)),
                Local = ordsets:subtract(All, Exports),
                {functions, Name, lists:sort(Listed(Exports, true) ++ Listed(Local, false))};
            false ->
                {functions, Name, Missing(Name)}
        end
end}.
