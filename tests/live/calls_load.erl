%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load that test_calls_batch.sh counts. Files in the directory are how the script asks, since it
%% may stand outside of the node's root; each is deleted when it is done:
%%   go       leaf/1 is called 12345 times, by loop/2
%%   busy     busy loops, 500 of 0.4 ms; `took` is written: µs by the clock; and `least`: those of
%%            loops that took less than twice as long, so that nothing else had its scheduler
%%   counting a window that counts calls of spin/1 stands, and is not the sample before it:
%%            mark/1 is called in it
%%   lasting  the same, a second later too
%%   timing   the same of a window that times them
%%   reload   this module is loaded again
%%   foreign  another tool's breakpoint; `alone` takes it off
%%   spinning a process that never waits calls turn/1, on the one scheduler that is online, for a
%%            minute at most; `still` ends it
%%   audit    `left` is written, by audit.erl
%% What is asked for is done by itself, so that a window sees only that and a few calls of `idle/1`.
-module(calls_load).
-export([start/2, idle/1, loop/2, leaf/1, spin/1, mark/1, turn/1, watch/2]).

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
     {"busy", fun(Dir, _) ->
                      Took = [busy(400) || _ <- lists:seq(1, 500)],
                      write(Dir, "least", lists:sum([T || T <- Took, T < 800])),
                      write(Dir, "took", lists:sum(Took))
              end},
     {"counting", fun(_, _) -> lasts(40), mark(0) end},
     {"lasting", fun(_, _) -> lasts(200) end},
     {"timing", fun(_, _) -> stands(call_time) end},
     {"reload", fun(_, Code) ->
                        code:purge(?MODULE),
                        {module, ?MODULE} = code:load_binary(?MODULE, "calls_load.beam", Code)
                end},
     {"foreign", fun(_, _) -> erlang:trace_pattern({?MODULE, mark, 1}, true, [local]) end},
     {"alone", fun(_, _) -> erlang:trace_pattern({?MODULE, mark, 1}, false, [local]) end},
     {"spinning", fun(_, _) -> spinning() end},
     {"still", fun(_, _) ->
                       Monitor = monitor(process, calls_load_spins),
                       catch calls_load_spins ! still,
                       receive {'DOWN', Monitor, _, _, _} -> ok end
               end},
     {"audit", fun(Dir, _) -> audit:write(Dir, get(baseline)) end}].

turn(N) -> ?MODULE:turn(N).

spinning() ->
    Me = self(),
    spawn(fun() ->
                  register(calls_load_spins, self()),
                  erlang:system_flag(schedulers_online, 1),
                  {Spins, _} = spawn_monitor(fun() -> turn(0) end),
                  Me ! spins,
                  receive still -> ok after 60000 -> ok end,
                  exit(Spins, kill),
                  erlang:system_flag(schedulers_online, erlang:system_info(schedulers))
          end),
    receive spins -> ok end.

%% The counters begin anew when all are armed: then the one who armed them waits for the end.
stands(Item) -> stands(Item, now_us() + 30000000).

%% For half a minute: one that never comes must not keep us from the next order.
stands(Item, Until) ->
    is_standing(Item) orelse
        (now_us() < Until andalso begin timer:sleep(5), stands(Item, Until) end).

%% At so many looks of ours in a row, 5 ms apart at least: the looks of others have gaps.
lasts(Looks) -> lasts(Looks, Looks, now_us() + 30000000).

lasts(_, 0, _) -> true;
lasts(Looks, Left, Until) ->
    Stands = is_standing(call_count),
    now_us() < Until andalso begin
        timer:sleep(5),
        lasts(Looks, case Stands of true -> Left - 1; false -> Looks end, Until)
    end.

%% Where OTP has them: a call of a module that is not there would go through all of the code path.
sessions() ->
    case list_to_integer(erlang:system_info(otp_release)) >= 27 of
        true -> apply(trace, session_info, [all]);
        false -> []
    end.

is_standing(Item) ->
    Mfa = {?MODULE, spin, 1},
    Infos = [erlang:trace_info(Mfa, Item)
             | [catch apply(trace, info, [S, Mfa, Item]) || {beamtop_calls, _} = S <- sessions()]],
    Holder = whereis(beamtop_calls),
    Waits = is_pid(Holder) andalso process_info(Holder, [status, current_function]),
    case {[N || {I, N} <- Infos, I =:= Item, is_integer(N) orelse is_list(N)], Waits} of
        {[_ | _], [{_, waiting}, {_, {prim_eval, 'receive', 2}}]} -> true;
        _ -> false
    end.

busy(Us) ->
    erlang:yield(),
    Began = now_us(),
    spin(Began + Us),
    now_us() - Began.

write(Dir, Name, Term) ->
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".new", io_lib:format("~0p~n", [Term])),
    ok = file:rename(File ++ ".new", File).
