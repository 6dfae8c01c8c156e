%% SPDX-License-Identifier: GPL-3.0-or-later
%% A node that joins others and leaves them, for tests/live/test_members.sh. Files in the directory are how
%% the script asks; each is deleted when it is done:
%%   join    connects to the nodes that the file `peers` names, in words
%%   leave   disconnects from all
%%   audit   `left` is written, by audit.erl
-module(members_load).
-export([start/2, watch/2]).

start(Dir, _) ->
    spawn(fun() -> ?MODULE:watch(Dir, processes()) end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, Baseline) ->
    timer:sleep(100),
    {ok, Names} = file:list_dir(Dir),
    [asked(Name, Dir, Baseline) || Name <- Names],
    ?MODULE:watch(Dir, Baseline).

asked("join", Dir, _) ->
    {ok, Peers} = file:read_file(filename:join(Dir, "peers")),
    [net_kernel:connect_node(list_to_atom(Peer)) || Peer <- string:tokens(binary_to_list(Peers), " \n")],
    done(Dir, "join");
asked("leave", Dir, _) ->
    [erlang:disconnect_node(Node) || Node <- nodes()],
    done(Dir, "leave");
asked("audit", Dir, Baseline) ->
    audit:write(Dir, Baseline),
    done(Dir, "audit");
asked(_, _, _) ->
    ok.

done(Dir, Name) -> ok = file:delete(filename:join(Dir, Name)).
