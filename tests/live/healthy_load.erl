%% SPDX-License-Identifier: GPL-3.0-or-later
%% Four healthy systems for test_healthy.sh: nothing in them should be changed.
%%   idle    a supervisor, a few servers, timers that fire now and then
%%   steady  20 clients that ask 4 servers all the time, and a process for each of 100 requests per
%%           second, some 20 of them alive at once
%%   bursts  a quiet node with a burst of messages, log lines, garbage and batch work every 7 s
%%   cache   an ETS table that is filled at start and kept at its size, read and written through a
%%           server; workers below a supervisor, one of which ends and is restarted now and then
-module(healthy_load).
-behaviour(gen_server).
-export([start/2, sup/1, worker/1, batch/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

start(Dir, Kind) ->
    spawn(fun() ->
              {ok, _} = sup(Kind),
              ok = file:write_file(filename:join(Dir, "pid"), "up"),
              receive never -> ok end
          end).

sup(Kind) -> supervisor:start_link({local, healthy_sup}, ?MODULE, {sup, Kind}).

worker({Name, _} = What) -> gen_server:start_link({local, Name}, ?MODULE, {server, What}, []).

children(idle) -> [{healthy_a, 0}, {healthy_b, 0}, {healthy_timer, 1000}];
children(steady) -> [{server(N), 0} || N <- [0, 1, 2, 3]] ++ [{healthy_clients, 0}, {healthy_web, 10}];
children(bursts) -> [{healthy_sink, 0}, {healthy_burst, 7000}];
children(cache) ->
    [{healthy_cache, 0}, {healthy_readers, 5}, {healthy_writer, 20}, {healthy_brief, 5000}].

server(N) -> list_to_atom("healthy_server_" ++ integer_to_list(N rem 4)).

init({sup, Kind}) ->
    {ok, {#{intensity => 10, period => 10},
          [#{id => Name, start => {?MODULE, worker, [{Name, Ms}]}} || {Name, Ms} <- children(Kind)]}};
init({server, {Name, Ms}}) ->
    begin_as(Name),
    _ = [erlang:send_after(Ms, self(), tick) || Ms > 0],
    {ok, {Name, Ms, 0}}.

begin_as(healthy_cache) -> ets:new(healthy_table, [named_table, public, {read_concurrency, true}]);
begin_as(healthy_clients) -> [spawn_link(fun() -> client(N) end) || N <- lists:seq(0, 19)];
begin_as(_) -> ok.

handle_call({work, N}, _, State) -> {reply, lists:sum(lists:seq(1, N)), State};
handle_call({put, Key, Value}, _, State) ->
    {reply, ets:insert(healthy_table, {Key, Value}), State}.

handle_cast(_, State) -> {noreply, State}.

handle_info(tick, {Name, Ms, N}) ->
    erlang:send_after(Ms, self(), tick),
    case Name =:= healthy_brief andalso N > 0 of
        true -> {stop, shutdown, {Name, Ms, N}};
        false -> tick(Name, N), {noreply, {Name, Ms, N + 1}}
    end;
handle_info(_, State) ->
    {noreply, State}.

client(N) ->
    _ = [gen_server:call(server(N + I), {work, 200}) || I <- lists:seq(1, 8)],
    timer:sleep(1),
    client(N).

tick(healthy_web, N) ->
    spawn(fun() ->
              _ = gen_server:call(server(N), {work, 100}),
              _ = [begin timer:sleep(20), lists:seq(1, 1000) end || _ <- lists:seq(1, N rem 20)]
          end);
tick(healthy_burst, N) ->
    [healthy_sink ! {line, I, <<"a short message">>} || I <- lists:seq(1, 3000)],
    [logger:warning("burst ~p, line ~p", [N, I]) || I <- lists:seq(1, 20)],
    _ = [byte_size(binary:copy(<<"x">>, 500000)) || _ <- lists:seq(1, 20)],
    spawn(?MODULE, batch, []);
tick(healthy_readers, N) ->
    [ets:lookup(healthy_table, (N * 7 + I) rem 20000) || I <- lists:seq(1, 20)];
tick(healthy_writer, N) ->
    [gen_server:call(healthy_cache, {put, (N * 100 + I) rem 20000, {N, I, <<"a row of a table">>}})
     || I <- lists:seq(1, 100)];
tick(_, _) ->
    ok.

%% As a compile run: much memory for a moment, then none.
batch() -> batch(10).

batch(0) -> ok;
batch(N) ->
    Rows = [{I, integer_to_list(I)} || I <- lists:seq(1, 30000)],
    Map = maps:from_list(Rows),
    30000 = maps:size(Map),
    batch(N - 1).
