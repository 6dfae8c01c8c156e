%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- What the dictionary of a root's process says: who called it (`$callers`, set by Elixir's
%% tasks) and the span of OpenTelemetry that it is in.
%%
%% A helper process reads it, since it waits until the other one handles a signal. Values are read
%% by key: they are copied without sharing, and nothing can bound them before.

%% The nearest ones.
MostCallers = 3,
ContextKeys = ['$callers', '$__current_otel_ctx'],

%% Since OTP 26.2.
HasDictionaryKeys = fun() ->
    try process_info(self(), {dictionary, beamtop}) of _ -> true catch error:_ -> false end
end,

CallersOf = fun CallersOf(Pids, N) ->
    case Pids of
        [P | Rest] when N =< MostCallers, is_pid(P) -> [{N, P} | CallersOf(Rest, N + 1)];
        _ -> []
    end
end,
%% The record span_ctx of opentelemetry_api: ids as integers of 128 and 64 bits.
OtelOf = fun(Context) ->
    case is_map(Context) andalso maps:get({otel_tracer, span_ctx}, Context, none) of
        Span when tuple_size(Span) > 2, element(1, Span) =:= span_ctx ->
            case {element(2, Span), element(3, Span)} of
                {T, S} when is_integer(T), is_integer(S), T > 0, S > 0,
                            T < 1 bsl 128, S < 1 bsl 64 ->
                    Text("~32.16.0b-~16.16.0b", [T, S]);
                _ -> none
            end;
        _ -> none
    end
end,

%% They stand at the time of their root's call, right after it. After: how much later they had been
%% read, in place of the size of a message.
ContextEvents = fun(P, Ts, After_, Callers, Ids) ->
    [{Ts, caller, P, Caller, P, N, none, none, After_, none} || {N, Caller} <- Callers]
    ++ [{Ts, context, P, none, P, 0, none, none, After_, Ids}]
end,

%% Key: the collector takes its messages from nobody else, nor it the collector's.
ContextReader = fun(C, Key) ->
    SignAs(false),
    Read = fun Read() ->
        receive
            {root, Key, P, {Mono, _} = Ts} ->
                case process_info(P, [{dictionary, K} || K <- ContextKeys]) of
                    [{_, Callers}, {_, Otel}] ->
                        C ! {context, Key, P, Ts, erlang:monotonic_time() - Mono,
                             CallersOf(Callers, 1), OtelOf(Otel)};
                    undefined -> ok
                end,
                Read();
            {'EXIT', _, _} -> ok;
            _ -> Read()
        end
    end,
    Read()
end,
StartReader = fun(C, Key) ->
    spawn_opt(erlang, apply, [ContextReader, [C, Key]], SpawnOptions(SentinelBytes))
end,
