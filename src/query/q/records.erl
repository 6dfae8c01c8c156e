%% SPDX-License-Identifier: GPL-3.0-or-later
%% Definitions of records and structs. Arg: [{ModBin, RecBin}], RecBin empty for a struct. Read from
%% the debug information of the beam file, or of the code that a boot server keeps; no function of
%% the module is called.
-include("part/servers.erl").
-include("part/proc_file.erl").
-include("part/code.erl").

%% Only reading is done by the waiter: what is read is decoded by the asker, at its own priority.
Beam = fun(M) ->
    case code:which(M) of
        File when is_list(File), File =/= [] ->
            prim_file:read_file(File);
        _ ->
            case code:get_object_code(M) of
                {_, Bytes, _} -> {ok, Bytes};
                error -> none
            end
    end
end,

%% {records, [{Name, Fields}]} | {struct, Fields} | {missing, Why} | no_module
Definitions = fun(M, Find) ->
    case AskCode(Find, [M]) of
        unknown ->
            {missing, <<"the node's code server or its disk does not answer">>};
        {error, _} ->
            {missing, <<"its beam file cannot be read">>};
        none ->
            case erlang:module_loaded(M) of
                true -> {missing, <<"its beam file is not on the node">>};
                false -> no_module
            end;
        {ok, Source} ->
            case beam_lib:chunks(Source, [debug_info]) of
                {ok, {_, [{debug_info, {debug_info_v1, erl_abstract_code, {Forms, _}}}]}}
                  when is_list(Forms) ->
                    {records, [Record || {attribute, _, record, Record} <- Forms]};
                {ok, {_, [{debug_info, {debug_info_v1, elixir_erl, {elixir_v1, Map, _}}}]}} ->
                    case maps:get(struct, Map, nil) of
                        [_ | _] = Fields -> {struct, [maps:get(field, F) || F <- Fields]};
                        #{} = Fields -> {struct, maps:keys(Fields) -- ['__struct__']};
                        nil -> {struct, []};
                        _ -> {missing, <<"its fields are written in another form">>}
                    end;
                {error, beam_lib, _} ->
                    {missing, <<"its beam file cannot be read">>};
                _ ->
                    {missing, <<"it was compiled without debug_info">>}
            end
    end
end,

Bin = fun(Atom) -> atom_to_binary(Atom, utf8) end,

%% A field of the abstract format: with or without default, with or without type.
Field = fun Field(Form) ->
    case Form of
        {typed_record_field, Inner, _} -> Field(Inner);
        {record_field, _, {atom, _, Name}} -> atom_to_binary(Name, utf8);
        {record_field, _, {atom, _, Name}, _} -> atom_to_binary(Name, utf8)
    end
end,

Listed = fun(Names) ->
    Texts = lists:sublist(lists:sort(Names), 12),
    iolist_to_binary(lists:join(<<", ">>, Texts))
end,

One = fun(ModText, Rec) ->
    M = try binary_to_existing_atom(ModText, utf8) catch error:_ -> undefined end,
    Found = case M of
        undefined -> no_module;
        _ -> try Definitions(M, Beam)
             catch _:_ -> {missing, <<"its debug information cannot be read">>}
             end
    end,
    case Found of
        {missing, Why} -> {missing, Why};
        no_module when Rec =:= <<>> -> [];
        no_module -> {missing, <<"there is no such module">>};
        {struct, Names} when Rec =:= <<>> -> lists:map(Bin, Names);
        {struct, _} -> {missing, <<"it is an Elixir module: records of it are tuples">>};
        {records, _} when Rec =:= <<>> -> [];
        {records, Records} ->
            case [Fields || {Name, Fields} <- Records, Bin(Name) =:= Rec] of
                [Fields | _] -> lists:map(Field, Fields);
                [] when Records =:= [] -> {missing, <<"it defines no records">>};
                [] -> {missing, <<"its records are ",
                                   (Listed([Bin(Name) || {Name, _} <- Records]))/binary>>}
            end
    end
end,

{[in_time],
 fun(Wanted, #{in_time := InTime}) ->
     put(in_time, InTime),
     {records, [{ModText, Rec, One(ModText, Rec)} || {ModText, Rec} <- lists:sublist(Wanted, 64)]}
 end}.
