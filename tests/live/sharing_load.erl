%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_sharing.sh: an application whose processes hold terms that are small there and huge
%% in a copy. A tree of 24 levels is 24 cells that stand for 2^24, which are 256 MiB without sharing;
%% the persistent term has 128 MB.
%%   sharing_sup     a supervisor, with a tree in its dictionary
%%   sharing_server  a server, with one in its state and in its dictionary
%%   sharing_idle    waits, with one in its dictionary
%%   sharing_busy    works now and then, with one in its dictionary
%%   sharing_held    has the persistent term in its dictionary, and in a message
%% and, without a name, one that waits and a server whose state is an integer of 100 kbit at 2^8
%% places. `pid` has the number of the OS process.
-module(sharing_load).
-export([start/2, stop/1, init/1, handle_call/3, handle_cast/2, started/2]).

-define(LEVELS, 24).
-define(ELEMENTS, 8000000).

start(normal, []) ->
    supervisor:start_link({local, sharing_sup}, ?MODULE, sup);
start(Dir, _) ->
    Made = spawn_monitor(fun() -> persistent_term:put(?MODULE, lists:seq(1, ?ELEMENTS)) end),
    receive {'DOWN', Ref, process, Pid, normal} when {Pid, Ref} =:= Made -> ok end,
    ok = application:load({application, sharing,
        [{description, "sharing"}, {vsn, "1"}, {modules, [?MODULE]}, {registered, []},
         {applications, [kernel, stdlib]}, {mod, {?MODULE, []}}]}),
    ok = application:start(sharing),
    ok = file:write_file(filename:join(Dir, "pid"), os:getpid()).

stop(_) -> ok.

init(sup) ->
    put(tree, tree(?LEVELS)),
    Server = {gen_server, start_link, [{local, sharing_server}, ?MODULE, server, []]},
    Digits = {gen_server, start_link, [?MODULE, digits, []]},
    Started = [#{id => Name, start => {?MODULE, started, [Name, What]}}
               || {Name, What} <- [{sharing_idle, idle}, {sharing_busy, busy}, {sharing_held, held},
                                   {undefined, idle}]],
    {ok, {#{}, [#{id => server, start => Server}, #{id => digits, start => Digits} | Started]}};
init(digits) ->
    {ok, tree(8, 1 bsl 100000)};
init(server) ->
    put(tree, tree(?LEVELS)),
    {ok, tree(?LEVELS)}.

handle_call(_, _, State) -> {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.

tree(N) -> tree(N, []).

tree(0, Leaf) -> Leaf;
tree(N, Leaf) ->
    Below = tree(N - 1, Leaf),
    [Below | Below].

started(Name, What) ->
    Parent = self(),
    Process = fun() ->
        Name =:= undefined orelse register(Name, self()),
        put(tree, case What of held -> persistent_term:get(?MODULE); _ -> tree(?LEVELS) end),
        What =:= held andalso (self() ! {held, get(tree)}),
        proc_lib:init_ack(Parent, {ok, self()}),
        run(What)
    end,
    Pid = proc_lib:spawn_link(Process),
    receive {ack, Pid, Answer} -> Answer end.

run(busy) ->
    _ = lists:seq(1, 2000),
    receive never -> ok after 1 -> run(busy) end;
run(What) ->
    receive never -> run(What) end.
