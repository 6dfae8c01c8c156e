%% SPDX-License-Identifier: GPL-3.0-or-later
%% A slow way to a node, for tests/live/test_odd_nodes.sh: proxy.erl, under the node's name at the epmd that
%% the looker asks; the node itself is known to another. Files in the directory are how the script asks;
%% each is deleted when it is done:
%%   slow   few bytes pass in a second
%%   fast   all pass at once
-module(slow_way).
-export([start/3]).

%% Pid: of this VM, written when the name is known.
start(Dir, Name, TargetPort) ->
    {Proxy, Port} = proxy:start(TargetPort),
    {ok, _} = erl_epmd:start(),
    {ok, _} = erl_epmd:register_node(Name, Port, inet),
    ok = file:write_file(filename:join(Dir, "way"), os:getpid()),
    watch(Dir, Proxy).

watch(Dir, Proxy) ->
    timer:sleep(50),
    {ok, Files} = file:list_dir(Dir),
    [begin
         ok = proxy:slow(Proxy, Rate),
         ok = file:delete(filename:join(Dir, File))
     end || {File, Rate} <- [{"slow", 400}, {"fast", 0}], lists:member(File, Files)],
    watch(Dir, Proxy).
