%% SPDX-License-Identifier: GPL-3.0-or-later
%% Those that carry the connection: tracing them would trace what the trace itself sends. And auth,
%% whose messages are cookies.
Carriers = fun(Client) ->
    Controllers = [P || {Node, P} <- erlang:system_info(dist_ctrl), Node =:= node(Client),
                        is_pid(P)],
    Owner = try element(5, hd(ets:lookup(sys_dist, node(Client)))) catch error:_ -> none end,
    Linked = [P || Controller <- Controllers,
                   {links, Links} <- [process_info(Controller, links)], P <- Links],
    [P || P <- [Owner, whereis(net_kernel), whereis(rex), whereis(auth) | Controllers ++ Linked],
        is_pid(P),
          node(P) =:= node()]
end,
