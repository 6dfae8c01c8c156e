%% SPDX-License-Identifier: GPL-3.0-or-later
%% A name server for tests/live/test_record_fleet.sh: answers each question for SRV with the hosts that a
%% file names, in words, as they are when it is asked; all else with nothing.
-module(dns_answers).
-export([start/2]).

start(Address, File) ->
    {ok, Ip} = inet:parse_address(Address),
    {ok, Socket} = gen_udp:open(53, [binary, {ip, Ip}]),
    ok = file:write_file(File ++ ".asked", "0"),
    loop(Socket, File, 1).

loop(Socket, File, N) ->
    receive
        {udp, Socket, From, Port, <<Id:16, _:16, 1:16, _:48, Rest/binary>>} ->
            {Name, <<Type:16, _/binary>>} = name(Rest, <<>>),
            Records = case Type of 33 -> records(File); _ -> [] end,
            ok = gen_udp:send(Socket, From, Port,
                [<<Id:16, 16#8180:16, 1:16, (length(Records)):16, 0:32, Name/binary, Type:16, 1:16>> | Records]),
            ok = file:write_file(File ++ ".asked", integer_to_list(N)),
            loop(Socket, File, N + 1)
    end.

name(<<0, Rest/binary>>, Name) -> {<<Name/binary, 0>>, Rest};
name(<<Len, Label:Len/binary, Rest/binary>>, Name) -> name(Rest, <<Name/binary, Len, Label/binary>>).

records(File) ->
    {ok, Hosts} = file:read_file(File),
    [record(Host) || Host <- string:tokens(binary_to_list(Hosts), " \n")].

record(Host) ->
    Labels = [<<(length(Label)), (list_to_binary(Label))/binary>> || Label <- string:tokens(Host, ".")],
    Data = list_to_binary([<<0:32, 4369:16>>, Labels, 0]),
    <<16#c00c:16, 33:16, 1:16, 30:32, (byte_size(Data)):16, Data/binary>>.
