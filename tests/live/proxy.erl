%% SPDX-License-Identifier: GPL-3.0-or-later
%%% A TCP proxy on loopback between the program and a node: as slow as asked for, and it can stop
%%% without closing anything, as a network does that loses all packets. One connection. Its buffers
%%% are small, so that a slow link is felt by both sides at once.
-module(proxy).
-export([start/1, slow/2, stop_flow/1, close/1]).

-define(PIECE, 1024).
%% Of its counters.
-define(RATE, 3).

%% As fast as it can, at first. Value: {Proxy, Port to connect to}.
start(TargetPort) ->
    Owner = self(),
    Proxy = spawn_link(fun() -> listen(Owner, TargetPort) end),
    receive {Proxy, Port} -> {Proxy, Port} after 20000 -> error(proxy) end.

%% From now on so many bytes a second pass in each direction.
slow(Proxy, Rate) -> ask(Proxy, {slow, Rate}).

%% From now on nothing passes; the connections stay.
stop_flow(Proxy) -> ask(Proxy, stop_flow).

%% Both connections go.
close(Proxy) ->
    unlink(Proxy),
    exit(Proxy, kill),
    ok.

%% Answered once somebody has connected, which takes its time on a busy machine.
%% One whose connection has ended (before OTP 25 a trace may be over for the VM's memory) stops nothing.
ask(Proxy, What) ->
    Ref = monitor(process, Proxy),
    Proxy ! {What, self(), Ref},
    receive
        {Ref, Answer} -> demonitor(Ref, [flush]), Answer;
        {'DOWN', Ref, process, Proxy, _} when What =:= stop_flow -> ok
    after 20000 -> error({proxy, What})
    end.

options() ->
    [binary, {active, false}, {packet, raw}, {nodelay, true}, {recbuf, 4096}, {sndbuf, 4096},
     {buffer, ?PIECE}, {ip, {127, 0, 0, 1}}].

listen(Owner, TargetPort) ->
    {ok, L} = gen_tcp:listen(0, [{backlog, 4} | options()]),
    {ok, Port} = inet:port(L),
    Owner ! {self(), Port},
    Self = self(),
    spawn_link(fun() ->
        {ok, Client} = gen_tcp:accept(L),
        {ok, Target} = gen_tcp:connect({127, 0, 0, 1}, TargetPort, options()),
        Count = counters:new(3, []),
        Ways = [spawn_link(fun() -> relay(From, To, Count, Which, now_ms()) end)
                || {From, To, Which} <- [{Target, Client, 1}, {Client, Target, 2}]],
        Self ! {ways, Ways, Count},
        receive stay -> ok end
    end),
    serve(none, none).

serve(Ways, Count) ->
    receive
        {ways, W, C} -> serve(W, C);
        {stop_flow, From, Ref} when Ways =/= none ->
            [catch erlang:suspend_process(Way) || Way <- Ways],
            From ! {Ref, ok},
            serve(Ways, Count);
        {{slow, Rate}, From, Ref} when Ways =/= none ->
            counters:put(Count, ?RATE, Rate),
            From ! {Ref, ok},
            serve(Ways, Count);
        {relayed, From, Ref} when Ways =/= none ->
            From ! {Ref, {counters:get(Count, 1), counters:get(Count, 2)}},
            serve(Ways, Count)
    end.

now_ms() -> erlang:monotonic_time(millisecond).

%% Next: when the next piece may go.
relay(From, To, Count, Which, Next) ->
    case gen_tcp:recv(From, 0) of
        {ok, Bytes} -> relay(From, To, Count, Which, pass(To, Bytes, Count, Which, Next));
        {error, _} -> gen_tcp:shutdown(To, read_write)
    end.

pass(_, <<>>, _, _, Next) ->
    Next;
pass(To, Bytes, Count, Which, Next) ->
    case counters:get(Count, ?RATE) of
        0 ->
            counters:add(Count, Which, byte_size(Bytes)),
            _ = gen_tcp:send(To, Bytes),
            now_ms();
        Rate ->
            N = min(max(64, Rate div 20), byte_size(Bytes)),
            <<Piece:N/binary, Rest/binary>> = Bytes,
            timer:sleep(max(0, Next - now_ms())),
            counters:add(Count, Which, N),
            _ = gen_tcp:send(To, Piece),
            pass(To, Rest, Count, Which, max(Next, now_ms()) + N * 1000 div Rate)
    end.
