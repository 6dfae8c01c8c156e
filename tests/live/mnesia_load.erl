%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_mnesia.sh: Mnesia in memory. Files in the directory are how the script asks; each is
%% deleted when it is done:
%%   join    Mnesia of the node that stands in the file `name` joins
%%   cut     the two are disconnected until Mnesia has seen it, then connected again
%%   audit   `left` is written, by audit.erl
-module(mnesia_load).

-export([start/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() ->
        ok = mnesia:start(),
        {atomic, ok} = mnesia:create_table(mnesia_people, []),
        Baseline = processes(),
        ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
        loop(Dir, Baseline)
    end)),
    ok.

loop(Dir, Baseline) ->
    Orders = [{"join", fun() -> until(fun() -> joins(peer(Dir)) end) end},
              {"cut", fun() -> cut(peer(Dir)) end},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    [begin Do(), ok = file:delete(File) end
     || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline).

peer(Dir) ->
    {ok, Name} = file:read_file(filename:join(Dir, "name")),
    binary_to_atom(string:trim(Name), utf8).

joins(Peer) ->
    net_kernel:connect_node(Peer) =:= true andalso
        mnesia:change_config(extra_db_nodes, [Peer]) =:= {ok, [Peer]} andalso
        lists:member(Peer, mnesia:system_info(running_db_nodes)).

cut(Peer) ->
    true = erlang:disconnect_node(Peer),
    until(fun() -> mnesia:system_info(running_db_nodes) =:= [node()] end),
    until(fun() -> net_kernel:connect_node(Peer) =:= true end).

until(Holds) ->
    case Holds() of
        true -> ok;
        false -> timer:sleep(100), until(Holds)
    end.
