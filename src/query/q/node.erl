%% SPDX-License-Identifier: GPL-3.0-or-later
%% What does not change while the node lives. Arg: [].
-include("part/servers.erl").

fun([], _Ctx) ->
    Text = fun(Chars) -> unicode:characters_to_binary(Chars) end,
    Try = fun(Read, Default) -> try Read() catch _:_ -> Default end end,
    Info = fun(Item) -> erlang:system_info(Item) end,

    {OsFamily, OsName} = os:type(),
    OsVersion =
        case os:version() of
            {Major, Minor, Release} -> io_lib:format("~w.~w.~w", [Major, Minor, Release]);
            Chars -> Chars
        end,
    StartWallUs = erlang:convert_time_unit(
        Info(start_time) + erlang:time_offset(), native, microsecond),
    %% As it was set at the start, where it cannot be asked.
    AtStart = application:get_env(kernel, net_ticktime, 60),
    NetTickS =
        case AskServer(net_kernel, fun net_kernel:get_net_ticktime/0, AtStart) of
            {ongoing_change_to, Seconds} -> Seconds;
            Seconds when is_integer(Seconds) -> Seconds;
            _ -> 0
        end,
    Elixir = case application:get_key(elixir, vsn) of {ok, Vsn} -> Vsn; undefined -> "" end,
    Cpus = case Info(logical_processors_available) of unknown -> 0; N -> N end,

    {node, node(),
     Text(Info(otp_release)),
     Text(Info(version)),
     %% OTP 24 brought the item and the JIT.
     Text(atom_to_list(Try(fun() -> Info(emu_flavor) end, emu))),
     Info(wordsize),
     Info(schedulers), Info(schedulers_online),
     Info(dirty_cpu_schedulers), Info(dirty_cpu_schedulers_online), Info(dirty_io_schedulers),
     {Info(process_limit), Info(port_limit), Info(atom_limit), Info(ets_limit)},
     Text(io_lib:format("~w/~w ~s", [OsFamily, OsName, OsVersion])),
     Text(os:getpid()),
     StartWallUs,
     NetTickS,
     CodeMode(),
     Text(Elixir),
     Cpus}
end.
