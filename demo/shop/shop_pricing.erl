%% SPDX-License-Identifier: GPL-3.0-or-later
%% The busy one: computes for a fixed share of every period.
-module(shop_pricing).

-export([start_link/0, init/0]).

-define(STEPS, 2000).                   % between two looks at the clock

start_link() ->
    proc_lib:start_link(?MODULE, init, []).

init() ->
    register(?MODULE, self()),
    proc_lib:init_ack({ok, self()}),
    loop(now_us()).

loop(Start) ->
    compute(Start + 1000 * shop:setting(pricing_busy_ms)),
    Next = max(now_us(), Start + 1000 * shop:setting(pricing_period_ms)),
    timer:sleep((Next - now_us()) div 1000),
    loop(Next).

compute(Until) ->
    _ = shop:burn(?STEPS),
    now_us() >= Until orelse compute(Until).

now_us() -> erlang:monotonic_time(microsecond).
