%% SPDX-License-Identifier: GPL-3.0-or-later
%% A worker: takes so many requests a second, by the clock, and answers each.
-module(gateway_http).

-export([start_link/2, init/2]).

-define(TICK_MS, 10).
-define(BURST, 20).                     % ticks made up for at most after a stall
-define(RENDER_REDUCTIONS, 600).

start_link(N, PerS) ->
    proc_lib:start_link(?MODULE, init, [N, PerS]).

init(N, PerS) ->
    proc_lib:init_ack({ok, self()}),
    _ = try apply(proc_lib, set_label, [{http, N}]) catch error:undef -> ok end,
    Settings = #{connections := Connections} = gateway:settings(),
    State = Settings#{per_s => PerS, number => 37 * N, work => gateway:work(?RENDER_REDUCTIONS),
                      connection => gateway_db:name(1 + N rem Connections)},
    loop(now_ms(), 0, State).

loop(Start, Done, #{per_s := PerS} = State) ->
    Due = (now_ms() - Start) * PerS div 1000,
    N = min(Due - Done, max(1, ?BURST * ?TICK_MS * PerS div 1000)),
    After = handle_all(N, State),
    timer:sleep(?TICK_MS),
    loop(Start, Due, After).

handle_all(N, State) when N < 1 -> State;
handle_all(N, State) -> handle_all(N - 1, handle(State)).

%% Known numbers: of 100 requests in a row, plugs_percent calls of the pipeline; of 100 lookups in
%% a row, reads_percent read.
handle(#{number := Number, lookups := Lookups, plugs_percent := Percent, work := Work} = State) ->
    Extra = case is_among(Number, Percent rem 100) of true -> 1; false -> 0 end,
    Request = gateway_plug:run(#{number => Number}, Percent div 100 + Extra),
    Rows = [look_up(I, State) || I <- lists:seq(Number * Lookups, (Number + 1) * Lookups - 1)],
    false = lists:member(none, Work),
    gateway_log:request(Request, Rows),
    State#{number := Number + 1}.

look_up(I, #{reads_percent := Percent, schemas := Schemas, connection := Connection} = State) ->
    Id = I rem Schemas,
    case is_among(I, Percent) of
        true -> gateway_schemas:fetch(Id, Connection, State);
        false -> gateway_schemas:register(Id, <<"{\"type\":\"object\"}">>, Connection, State)
    end.

%% True of so many of 100 numbers in a row, evenly spread.
is_among(Number, Percent) -> Number * Percent rem 100 < Percent.

now_ms() -> erlang:monotonic_time(millisecond).
