%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load that test_trace_batch.sh traces, some 25 rounds a second. Files in the directory are how
%% the script asks, since it may stand outside of the node's root; each is deleted when it is done:
%%   hot     from now on another process calls as fast as it can; `cold` ends it, and two minutes do
%%   bursts  another process calls 200,000 times, again and again 400 ms after; ended as `hot` is
%%   paced   800 bursts of five calls of two functions, a millisecond apart
%%   audit   `left` is written, by audit.erl
%%   foreign `never` gets a breakpoint of somebody else; `own` takes it off again
%% The one process does all the rest, so that nothing else runs while it looks.
-module(batch_load).

-export([start/2, loop/2, helper/1]).
-export([tick/1, hot/1, fact/1, tail/1, hop/1, landed/1, slow/1, big/1, raise/1, value/1,
         doomed/1, never/0, child/1, paced/1, paused/1]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    Echo = spawn(fun echo/0),
    register(batch_echo, Echo),
    spawn(?MODULE, helper, [0]),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    Big = {binary:copy(<<"b">>, 50000), lists:seq(1, 20000), #{deep => [{I, I} || I <- lists:seq(1, 500)]}},
    put(big, Big),
    loop(Dir, 1).

loop(Dir, N) ->
    round_of(N),
    N =:= 1 andalso put(baseline, processes()),
    asked(Dir, "hot", fun() ->
              put(hot, spawn_monitor(fun() -> heat(erlang:monotonic_time(millisecond) + 120000, 0) end))
          end),
    asked(Dir, "bursts", fun() ->
              put(hot, spawn_monitor(fun() -> bursts(erlang:monotonic_time(millisecond) + 120000) end))
          end),
    asked(Dir, "cold", fun() ->
              {Heater, Gone} = erase(hot),
              exit(Heater, kill),
              receive {'DOWN', Gone, process, Heater, _} -> ok end
          end),
    asked(Dir, "paced", fun() ->
              [begin [?MODULE:paced(I) || I <- lists:seq(1, 4)], ?MODULE:paused(Burst) end
               || Burst <- lists:seq(1, 800)]
          end),
    asked(Dir, "foreign", fun() -> erlang:trace_pattern({?MODULE, never, 0}, true, [local]) end),
    asked(Dir, "own", fun() -> erlang:trace_pattern({?MODULE, never, 0}, false, [local]) end),
    asked(Dir, "audit", fun() -> audit:write(Dir, get(baseline)) end),
    receive after 30 -> ok end,
    ?MODULE:loop(Dir, N + 1).

asked(Dir, Name, Do) ->
    File = filename:join(Dir, Name),
    case filelib:is_file(File) of
        true -> Do(), file:delete(File);
        false -> ok
    end.

round_of(N) ->
    tick(N),
    6 = fact(3),
    done = tail(2),
    landed = hop(N),
    ok = slow(N),
    big(get(big)),
    catch raise(N),
    {error, badarg} = value(N),
    batch_echo ! {ping, self(), N},
    receive {pong, N} -> ok end,
    {Child, Ref} = spawn_monitor(?MODULE, child, [N]),
    receive {'DOWN', Ref, process, Child, _} -> ok end,
    {Doomed, Mon} = spawn_monitor(fun() -> doomed(N) end),
    receive after 2 -> exit(Doomed, kill) end,
    receive {'DOWN', Mon, process, Doomed, _} -> ok end.

%% Calls of itself, with its own initial call.
helper(N) ->
    tick({helper, N}),
    receive after 50 -> ok end,
    ?MODULE:helper(N + 1).

echo() ->
    receive {ping, From, N} -> From ! {pong, N} end,
    echo().

tick(N) -> {ok, N}.
hot(N) -> N + 1.
fact(0) -> 1;
fact(N) -> N * fact(N - 1).
tail(0) -> done;
tail(N) -> tail(N - 1).
hop(N) -> landed(N).
landed(_) -> landed.
slow(_) -> receive after 8 -> ok end.
big(Term) -> size(Term).
raise(N) -> error({oops, N}).
value(_) -> {error, badarg}.
doomed(_) -> receive never -> ok end.
paced(N) -> {ok, N}.
paused(N) -> receive after 1 -> {ok, N} end.

never() -> ok.
child(N) -> tick({child, N}).

heat(Until, N) ->
    Next = heat_some(1000, N),
    case erlang:monotonic_time(millisecond) < Until of
        true -> heat(Until, Next);
        false -> ok
    end.

bursts(Until) ->
    heat_some(200000, 0),
    receive after 400 -> ok end,
    erlang:monotonic_time(millisecond) < Until andalso bursts(Until).

heat_some(0, N) -> N;
heat_some(K, N) -> heat_some(K - 1, ?MODULE:hot(N)).
