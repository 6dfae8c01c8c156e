%% Names of processes for a person. Arg: [Pid], at most 64. A process that is gone has none.
%% The registered name, else the label, else the initial call behind proc_lib.
Text = fun(Pid, Id, Print) ->
    case Id(Pid, #{}) of
        {Name, _, _, _, _} when Name =/= undefined ->
            atom_to_binary(Name, utf8);
        {_, _, Label, _, _} when is_binary(Label) ->
            Label;
        {_, {M, F, A}, _, _, _} ->
            unicode:characters_to_binary(io_lib:format("~tp:~tp/~w", [M, F, A]));
        _ ->
            Print(gone, 0)
    end
end,

{[id, initial_call, print, label_text, identity, id_keys],
 fun(Pids, #{id := Id, print := Print}) ->
     {names, [{Pid, Text(Pid, Id, Print)}
              || Pid <- lists:sublist(Pids, 64), is_pid(Pid), node(Pid) =:= node()]}
 end}.
