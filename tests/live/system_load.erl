%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_system.sh. Files in the directory are how the script asks; each is deleted when it
%% is done:
%%   numbers  `said` is written: what this node says of itself, as JSON
%%   files    500 descriptors more are open
%%   audit    `left` is written, by audit.erl
-module(system_load).

-export([start/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    Baseline = processes(),
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, Baseline, []).

loop(Dir, Baseline, Open) ->
    Orders = [{"numbers", fun() -> ok = file:write_file(filename:join(Dir, "said"), said()), [] end},
              {"files", fun() -> [open(Dir) || _ <- lists:seq(1, 500)] end},
              {"audit", fun() -> audit:write(Dir, Baseline), [] end}],
    More = [begin Opened = Do(), ok = file:delete(File), Opened end
            || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, [More | Open]).

open(Dir) ->
    {ok, File} = file:open(filename:join(Dir, "pid"), [read, raw]),
    File.

said() ->
    Info = fun(Item) -> erlang:system_info(Item) end,
    Version = fun(App) -> {ok, V} = application:get_key(App, vsn), V end,
    {ok, Fds} = file:list_dir("/proc/self/fd"),
    Numbers = [{"limits.processes", Info(process_limit)}, {"limits.ports", Info(port_limit)},
               {"limits.atoms", Info(atom_limit)}, {"limits.ETS tables", Info(ets_limit)},
               {"limits.distribution buffer", Info(dist_buf_busy_limit)}],
    Texts = [{"versions.OTP", Info(otp_release)}, {"versions.ERTS", Info(version)},
             {"versions.kernel", Version(kernel)}, {"versions.stdlib", Version(stdlib)},
             {"applications.stdlib", Version(stdlib)},
             {"emulator.architecture", Info(system_architecture)},
             {"time.warp mode", atom_to_list(Info(time_warp_mode))},
             {"time.offset", atom_to_list(Info(time_offset))}],
    ["{\"limits\":{", lists:join(",", [io_lib:format("~p:~w", [K, N]) || {K, N} <- Numbers]),
     "},\"values\":{", lists:join(",", [io_lib:format("~p:~p", [K, V]) || {K, V} <- Texts]),
     "},\"descriptors\":", integer_to_list(length(Fds)),
     ",\"os_pid\":\"", os:getpid(), "\"}\n"].
