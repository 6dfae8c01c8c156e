%% SPDX-License-Identifier: GPL-3.0-or-later
%% A process that does one thing so many times a second, by the clock: M:F(Count) each time.
-module(shop_pace).

-export([start_link/3, init/3]).

-define(TICK_MS, 20).
-define(BURST, 10).                     % ticks made up for at most after a stall

start_link(Name, RateKey, What) ->
    proc_lib:start_link(?MODULE, init, [Name, RateKey, What]).

init(Name, RateKey, What) ->
    register(Name, self()),
    proc_lib:init_ack({ok, self()}),
    loop(now_ms(), shop:setting(RateKey), What, 0).

loop(Start, PerSecond, {M, F} = What, Done) ->
    Due = (now_ms() - Start) * PerSecond div 1000,
    Most = max(1, ?BURST * ?TICK_MS * PerSecond div 1000),
    From = max(Done, Due - Most),
    _ = [M:F(N) || N <- lists:seq(From + 1, Due)],
    timer:sleep(?TICK_MS),
    loop(Start, PerSecond, What, Due).

now_ms() -> erlang:monotonic_time(millisecond).
