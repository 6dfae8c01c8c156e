%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load that test_calls_batch.sh counts. Files in the directory are how the script asks, since it
%% may stand outside of the node's root; each is deleted when it is done:
%%   go       leaf/1 is called 12345 times, by loop/2
%%   counting a window that counts calls of leaf/1 stands, and is not the sample before it:
%%            mark/1 is called in it
%%   lasting  the same, a second later too
%%   foreign  another tool's breakpoint; `alone` takes it off
%%   spinning a process that never waits calls turn/1, on the one scheduler that is online, for a
%%            minute at most; `still` ends it
%%   audit    `left` is written, by audit.erl
%% What is asked for is done by itself, so that a window sees only that and a few calls of `idle/1`.
-module(calls_load).
-export([start/2, idle/1, loop/2, leaf/1, mark/1, turn/1, watch/1]).

start(Dir, _Code) ->
    spawn(fun() -> idle(0) end),
    spawn(fun() -> put(baseline, processes()), ?MODULE:watch(Dir) end),
    file:write_file(filename:join(Dir, "pid"), "up").

idle(N) -> timer:sleep(20), mark(N), ?MODULE:idle(N + 1).

mark(N) -> N.

loop(_, 0) -> ok;
loop(F, N) -> F(N), loop(F, N - 1).

leaf(N) -> N.

%% Funs of lists, so that nothing here is called while it waits but file functions.
watch(Dir) ->
    timer:sleep(20),
    [begin
         Do(Dir),
         file:delete(filename:join(Dir, Name))
     end || {Name, Do} <- orders(), filelib:is_file(filename:join(Dir, Name))],
    ?MODULE:watch(Dir).

orders() ->
    [{"go", fun(_) -> loop(fun ?MODULE:leaf/1, 12345) end},
     {"counting", fun(_) -> lasts(40), mark(0) end},
     {"lasting", fun(_) -> lasts(200) end},
     {"foreign", fun(_) -> erlang:trace_pattern({?MODULE, mark, 1}, true, [local]) end},
     {"alone", fun(_) -> erlang:trace_pattern({?MODULE, mark, 1}, false, [local]) end},
     {"spinning", fun(_) -> spinning() end},
     {"still", fun(_) ->
                       Monitor = monitor(process, calls_load_spins),
                       catch calls_load_spins ! still,
                       receive {'DOWN', Monitor, _, _, _} -> ok end
               end},
     {"audit", fun(Dir) -> audit:write(Dir, get(baseline)) end}].

turn(N) -> ?MODULE:turn(N).

spinning() ->
    Me = self(),
    spawn(fun() ->
                  register(calls_load_spins, self()),
                  erlang:system_flag(schedulers_online, 1),
                  {Spins, _} = spawn_monitor(fun() -> turn(0) end),
                  Me ! spins,
                  receive still -> ok after 600000 -> ok end,
                  exit(Spins, kill),
                  erlang:system_flag(schedulers_online, erlang:system_info(schedulers))
          end),
    receive spins -> ok end.

%% The counters begin anew when all are armed: then the one who armed them waits for the end. At so
%% many looks of ours in a row, 5 ms apart at least: the looks of others have gaps. For a while only:
%% a window that never comes must not keep us from the next order.
lasts(Looks) -> lasts(Looks, Looks, erlang:monotonic_time(millisecond) + 100000).

lasts(_, 0, _) -> true;
lasts(Looks, Left, Until) ->
    Stands = is_standing(),
    erlang:monotonic_time(millisecond) < Until andalso begin
        timer:sleep(5),
        lasts(Looks, case Stands of true -> Left - 1; false -> Looks end, Until)
    end.

%% Where OTP has them: a call of a module that is not there would go through all of the code path.
sessions() ->
    case list_to_integer(erlang:system_info(otp_release)) >= 27 of
        true -> apply(trace, session_info, [all]);
        false -> []
    end.

is_standing() ->
    Mfa = {?MODULE, leaf, 1},
    Infos = [erlang:trace_info(Mfa, call_count)
             | [catch apply(trace, info, [S, Mfa, call_count]) || {beamtop_calls, _} = S <- sessions()]],
    Holder = whereis(beamtop_calls),
    Waits = is_pid(Holder) andalso process_info(Holder, [status, current_function]),
    case {[N || {call_count, N} <- Infos, is_integer(N)], Waits} of
        {[_ | _], [{_, waiting}, {_, {prim_eval, 'receive', 2}}]} -> true;
        _ -> false
    end.
