%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_findings.sh: what findings must see though it is not among the busiest.
%%   findings_idle    waits for what never comes, while its mailbox grows
%%   findings_holder  refers to 40 MB of binaries and does nothing
%%   findings_gets    serves a few messages at a time, and empties its mailbox
%%   findings_boss    has started a process without a name, whose mailbox grows too
%%   findings_tables  owns a table, findings_carts, that only grows
%%   findings_suspended  was suspended, with a few messages
%%   findings_hub     monitors findings_gets again and again
%%   findings_timers  starts timers that are never cancelled
%%   findings_sockets opens sockets and closes none, for nine minutes
%% and 150 workers with a little to do, below a supervisor, which rank above all of these.
-module(findings_load).
-export([start/2, init/1, workers/0, work/0, feed/0, tables/1, hub/0, timers/0,
         sockets/1]).

start(Dir, _) ->
    spawn(fun() -> {ok, _} = supervisor:start_link({local, findings_sup}, ?MODULE, []), wait() end),
    spawn(fun() -> register(findings_idle, self()), wait() end),
    spawn(fun() -> register(findings_gets, self()), gets() end),
    spawn(fun() ->
              register(findings_holder, self()),
              Held = [binary:copy(<<N>>, 1000000) || N <- lists:seq(1, 40)],
              wait(),
              length(Held)
          end),
    spawn(fun() ->
              register(findings_boss, self()),
              persistent_term:put(findings_nameless, spawn_link(fun wait/0)),
              wait()
          end),
    spawn(fun() ->
              register(findings_tables, self()),
              ets:new(findings_carts, [named_table, public]),
              ?MODULE:tables(0)
          end),
    spawn(fun() -> register(findings_hub, self()), ?MODULE:hub() end),
    spawn(fun() -> register(findings_timers, self()), ?MODULE:timers() end),
    spawn(fun() -> register(findings_sockets, self()), ?MODULE:sockets(900) end),
    {ok, _} = gen_event:start({local, findings_suspended}),
    ok = sys:suspend(findings_suspended),
    [findings_suspended ! N || N <- lists:seq(1, 7)],
    timer:sleep(300),
    spawn(?MODULE, feed, []),
    file:write_file(filename:join(Dir, "pid"), "up").

wait() -> receive never -> ok end.

gets() -> receive _ -> gets() end.

feed() ->
    [findings_idle ! N || N <- lists:seq(1, 30)],
    [persistent_term:get(findings_nameless) ! N || N <- lists:seq(1, 20)],
    [findings_gets ! N || N <- lists:seq(1, 30)],
    timer:sleep(100),
    ?MODULE:feed().

tables(N) ->
    ets:insert(findings_carts, [{N + I, lists:seq(1, 60)} || I <- lists:seq(1, 50)]),
    timer:sleep(100),
    ?MODULE:tables(N + 50).

hub() ->
    [monitor(process, whereis(findings_gets)) || _ <- lists:seq(1, 20)],
    timer:sleep(100),
    ?MODULE:hub().

timers() ->
    [erlang:send_after(36000000, findings_timers, late) || _ <- lists:seq(1, 20)],
    timer:sleep(100),
    ?MODULE:timers().

sockets(0) ->
    wait();
sockets(Left) ->
    {ok, _} = socket:open(inet, stream, tcp),
    timer:sleep(600),
    ?MODULE:sockets(Left - 1).

init([]) ->
    {ok, {#{}, [#{id => workers, start => {?MODULE, workers, []}}]}}.

workers() ->
    Parent = self(),
    Start = fun() ->
        Pids = [proc_lib:spawn_link(?MODULE, work, []) || _ <- lists:seq(1, 150)],
        proc_lib:init_ack(Parent, {ok, self()}),
        receive stop -> Pids end
    end,
    proc_lib:start_link(erlang, apply, [Start, []]).

work() ->
    lists:seq(1, 3000),
    timer:sleep(100),
    ?MODULE:work().
