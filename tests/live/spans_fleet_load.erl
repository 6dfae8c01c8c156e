%% SPDX-License-Identifier: GPL-3.0-or-later
%% Nodes that work together for requests, for tests/live/test_spans_fleet.sh. Files in the directory are
%% how the script asks; each is deleted when it is done:
%%   requests   a process makes a request every 20 ms, which goes to the relay of each node that the file
%%              `route` names, one after the other, and back by the same way
%%   only       the same, by a module that only this node has
%%   rest       these end
%%   system_tracer, no_system_tracer   another tool's
%%   audit      `left` is written, by audit.erl
-module(spans_fleet_load).
-behaviour(gen_server).
-export([start/2, watch/2, requests/2, request/1, init/1, handle_call/3, handle_cast/2]).

start(Dir, _) ->
    spawn(fun() ->
        {ok, _} = gen_server:start({local, relay}, ?MODULE, [], []),
        timer:sleep(100),
        ?MODULE:watch(Dir, {processes(), []})
    end),
    file:write_file(filename:join(Dir, "pid"), os:getpid()).

watch(Dir, State) ->
    timer:sleep(50),
    {ok, Names} = file:list_dir(Dir),
    ?MODULE:watch(Dir, lists:foldl(fun(Name, S) -> asked(Name, Dir, S) end, State, Names)).

asked("requests", Dir, State) -> begun("requests", Dir, State, ?MODULE);
asked("only", Dir, State) ->
    Forms = [{attribute, 1, module, fleet_only}, {attribute, 1, export, [{request, 1}]},
             {function, 1, request, 1,
              [{clause, 1, [{var, 1, 'R'}], [],
                [{call, 1, {remote, 1, {atom, 1, ?MODULE}, {atom, 1, request}}, [{var, 1, 'R'}]},
                 {atom, 1, ok}]}]}],
    {ok, fleet_only, Code} = compile:forms(Forms),
    {module, fleet_only} = code:load_binary(fleet_only, "fleet_only.beam", Code),
    begun("only", Dir, State, fleet_only);
asked("rest", Dir, {Baseline, Pids}) ->
    [exit(Pid, kill) || Pid <- Pids],
    done("rest", Dir),
    {Baseline, []};
asked("system_tracer", Dir, State) ->
    seq_trace:set_system_tracer(spawn(fun() -> receive after infinity -> ok end end)),
    done("system_tracer", Dir),
    State;
asked("no_system_tracer", Dir, State) ->
    exit(seq_trace:set_system_tracer(false), kill),
    done("no_system_tracer", Dir),
    State;
asked("audit", Dir, {Baseline, Pids} = State) ->
    audit:write(Dir, Pids ++ Baseline),
    done("audit", Dir),
    State;
asked(_, _, State) -> State.

done(Name, Dir) -> ok = file:delete(filename:join(Dir, Name)).

begun(Name, Dir, {Baseline, Pids}, Module) ->
    {ok, Text} = file:read_file(filename:join(Dir, "route")),
    Route = [list_to_atom(N) || N <- string:lexemes(binary_to_list(Text), ",\n")],
    Pid = spawn(?MODULE, requests, [Module, Route]),
    done(Name, Dir),
    {Baseline, [Pid | Pids]}.

requests(Module, Route) ->
    catch Module:request(Route),
    timer:sleep(20),
    ?MODULE:requests(Module, Route).

request([First | Rest]) -> gen_server:call({relay, First}, {go, Rest}, infinity).

init(_) -> {ok, none}.

handle_call({go, []}, _, State) ->
    timer:sleep(5),
    {reply, ok, State};
handle_call({go, [Next | Rest]}, _, State) ->
    timer:sleep(2),
    {reply, catch gen_server:call({relay, Next}, {go, Rest}, 5000), State}.

handle_cast(_, State) -> {noreply, State}.
