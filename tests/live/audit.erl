%% SPDX-License-Identifier: GPL-3.0-or-later
%% What is left on a node of those that traced or counted there. releases.sh loads it beside each load.
-module(audit).

-export([write/2]).

%% The file `left` in the directory: what is armed, and what evaluates in processes that were not there
%% at first. It is there when it is whole.
write(Dir, Baseline) ->
    File = filename:join(Dir, "left"),
    ok = file:write_file(File ++ ".new", io_lib:format("~0p~n", [left(Baseline)])),
    ok = file:rename(File ++ ".new", File).

left(Baseline) ->
    Points = [{M, F, A} || {M, _} <- code:all_loaded(), {F, A} <- erlang:get_module_info(M, functions),
                           {all, [_ | _]} <- [erlang:trace_info({M, F, A}, all)]],
    Messages = [K || K <- [send, 'receive'], {_, M} <- [catch erlang:trace_info(K, match_spec)],
                     M =/= true, M =/= [], M =/= undefined],
    Flags = [P || P <- [new_processes | processes()], {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
    Others = [{P, process_info(P, current_stacktrace)} || P <- processes() -- Baseline, evaluates(P)],
    Sessions = try length(trace:session_info(all)) - 1 catch error:_ -> 0 end,
    [X || {_, L} = X <- [{points, Points}, {messages, Messages}, {flags, Flags}, {processes, Others},
                         {sessions, Sessions}, {word, erlang:system_info(trace_control_word)},
                         {name, whereis(beamtop_calls)}, {trace_name, whereis(beamtop_trace)},
                         {events_name, whereis(beamtop_events)},
                         {system_monitor, erlang:system_monitor()},
                         {system_tracer, case seq_trace:get_system_tracer() of false -> []; T -> T end}],
          L =/= [], L =/= 0, L =/= undefined].

%% A connection's processes end with it, by and by; only those that evaluate are beamtop's.
evaluates(P) ->
    case process_info(P, [current_stacktrace, initial_call, dictionary]) of
        undefined -> false;
        Info -> string:find(io_lib:format("~0p", [Info]), "erl_eval") =/= nomatch
    end.
