%% SPDX-License-Identifier: GPL-3.0-or-later
%% All that another tool has armed in the node's single space, as text: some of each, and how many
%% more there are.
InUse = fun() ->
    Points = Marks(legacy, functions, all),
    Flagged = Marks(legacy, [new_processes, new_ports | processes()], flags),
    Kind = fun(Info) ->
        case [K || K <- [call_count, call_time, call_memory],
                   proplists:get_value(K, Info, false) =/= false] of
            [] -> <<"breakpoint">>;
            Kinds -> Text("~p", [hd(Kinds)])
        end
    end,
    Name = fun(Pid) ->
        case is_pid(Pid) andalso node(Pid) =:= node() andalso process_info(Pid, registered_name) of
            {_, Registered} when is_atom(Registered) -> Text("~p ~tp", [Pid, Registered]);
            _ -> Text("~p", [Pid])
        end
    end,
    More = length(Points) + length(Flagged) - min(length(Points), 3) - min(length(Flagged), 3),
    [Text("~ts on ~tp:~tp/~w", [Kind(Info), M, F, A])
     || {{M, F, A}, Info} <- lists:sublist(Points, 3)]
    ++ [Text("~p is traced by ~ts", [P, Name(element(2, erlang:trace_info(P, tracer)))])
        || {P, _} <- lists:sublist(Flagged, 3)]
    ++ [Text("and ~w more", [More]) || More > 0]
end,
