%% The load that test_calls_batch.sh counts. Files in the directory are how the script asks, since it
%% may stand outside of the node's root; each is deleted when it is done:
%%   go       leaf/1 is called 12345 times, by loop/2
%%   busy     busy loops, 500 of 0.4 ms; `took` is written: µs by the clock
%%   reload   this module is loaded again
%%   foreign  another tool's breakpoint; `alone` takes it off
%%   audit    `left` is written, by audit.erl
%% What is asked for is done by itself, so that a window sees only that and a few calls of `idle/1`.
-module(calls_load).
-export([start/2, idle/1, loop/2, leaf/1, spin/1, mark/1, watch/2]).

start(Dir, Code) ->
    spawn(fun() -> idle(0) end),
    spawn(fun() -> put(baseline, processes()), ?MODULE:watch(Dir, Code) end),
    file:write_file(filename:join(Dir, "pid"), "up").

idle(N) -> timer:sleep(20), mark(N), ?MODULE:idle(N + 1).

mark(N) -> N.

loop(_, 0) -> ok;
loop(F, N) -> F(N), loop(F, N - 1).

leaf(N) -> N.

%% Products of large numbers: much time, few reductions, so that the VM takes it off its scheduler in
%% no short call of this.
spin(Until) ->
    case product(now_us()) of
        {_, Now} when Now >= Until -> ok;
        _ -> spin(Until)
    end.

product(Now) -> {((Now bsl 4000) + 1) * ((Now bsl 4000) + 3), Now}.

now_us() -> erlang:monotonic_time(microsecond).

%% Funs of lists, so that nothing here is called while it waits but file functions.
watch(Dir, Code) ->
    timer:sleep(20),
    [begin
         Do(Dir, Code),
         file:delete(filename:join(Dir, Name))
     end || {Name, Do} <- orders(), filelib:is_file(filename:join(Dir, Name))],
    ?MODULE:watch(Dir, Code).

orders() ->
    [{"go", fun(_, _) -> loop(fun ?MODULE:leaf/1, 12345) end},
     {"busy", fun(Dir, _) -> write(Dir, "took", lists:sum([busy(400) || _ <- lists:seq(1, 500)])) end},
     {"reload", fun(_, Code) ->
                        code:purge(?MODULE),
                        {module, ?MODULE} = code:load_binary(?MODULE, "calls_load.beam", Code)
                end},
     {"foreign", fun(_, _) -> erlang:trace_pattern({?MODULE, mark, 1}, true, [local]) end},
     {"alone", fun(_, _) -> erlang:trace_pattern({?MODULE, mark, 1}, false, [local]) end},
     {"audit", fun(Dir, _) -> audit:write(Dir, get(baseline)) end}].

busy(Us) ->
    erlang:yield(),
    Began = now_us(),
    spin(Began + Us),
    now_us() - Began.

write(Dir, Name, Term) ->
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".new", io_lib:format("~0p~n", [Term])),
    ok = file:rename(File ++ ".new", File).
