%% Names for completion and near misses. Arg: {modules, Max} | {functions, ModBin}. Only what is
%% loaded is looked at; nothing is loaded for it.
Module = fun(Text) ->
    try binary_to_existing_atom(Text, utf8) catch error:_ -> unknown end
end,

Known = fun(M) ->
    case M =/= unknown andalso erlang:module_loaded(M) of
        true -> loaded;
        false when M =:= unknown -> no_module;
        false -> case code:which(M) of non_existing -> no_module; _ -> not_loaded end
    end
end,

{[k],
 fun({modules, Max}, _) ->
         Sorted = lists:sort([atom_to_binary(M, utf8) || {M, _} <- code:all_loaded()]),
         {modules, lists:sublist(Sorted, Max), length(Sorted)};
    ({functions, Text}, _) ->
         M = Module(Text),
         case Known(M) of
             loaded ->
                 Exports = maps:from_list([{FA, []} || FA <- M:module_info(exports)]),
                 {functions, Text,
                  lists:sort([{atom_to_binary(F, utf8), A, is_map_key({F, A}, Exports)}
                              || {F, A} <- M:module_info(functions)])};
             Why ->
                 {functions, Text, Why}
         end
 end}.
