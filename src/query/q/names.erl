%% SPDX-License-Identifier: GPL-3.0-or-later
%% What to call some processes. Arg: [Pid], at most 64 are looked at.
%%
%% Value: the registered name, else the label, else the initial call; <<>> for one that is gone.
Text = fun(Name) -> atom_to_binary(Name, utf8) end,

{[id, apps, prefix], fun(Pids, #{id := IdOf, apps := AppsOf, prefix := Prefix}) ->
    Apps = AppsOf(),
    NameOf = fun(Pid) ->
        case is_pid(Pid) andalso node(Pid) =:= node() andalso IdOf(Pid, Apps) of
            {Name, _, _, _, _} when Name =/= undefined -> Text(Name);
            {_, _, Label, _, _} when is_binary(Label) -> Label;
            {_, {M, F, A}, _, _, _} ->
                <<(Text(M))/binary, ":", (Text(F))/binary, "/", (integer_to_binary(A))/binary>>;
            _ -> <<>>
        end
    end,
    {names, [{Pid, Prefix(NameOf(Pid), 255)} || Pid <- lists:sublist(Pids, 64)]}
end}.
