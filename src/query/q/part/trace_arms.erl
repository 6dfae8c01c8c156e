%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Limits, as in the program's own table: kept to, whatever is sent

Ceilings = #{time => 600000, events => 10000, rate => 5000, window => 256,
             window_bytes => 4194304, term => 262144, bytes => 67108864, heap => 33554432},
%% Calls whose results are waited for, at most.
MostOpen = 10000,
MostFunctions = 10000,
%% What the VM may hold on OTP 24 and before for calls that a trace looks at: see HoldsMuch.
MostHeld = 12582912,
TurnMs = 10,
%% While little comes, or little may: turns are what a quiet trace costs.
QuietTurnMs = 25,
QuietRate = 400,
SoonLeft = 16,
%% Before the size of a call is known: takes the whole of the commonest event cap.
FirstWindow = 16,
%% What the VM may take to arm a function (OTP 27, and a machine with much to do).
ArmMs = 2,

Clamp = fun(Key, Value) -> max(0, min(Value, maps:get(Key, Ceilings))) end,

%% What each pattern counts: rows of one counters array, eight to a pattern.
[Seen, Sent, Filtered, WasCut, Over, Lost, Open] = Columns = [1, 2, 3, 4, 5, 6, 7],
Count = fun(Counters, Index, Column, N) -> counters:add(Counters, 8 * Index + Column, N) end,

%% Whatever arrives, no clause goes without the budget.
Budgeted = fun({Head, Guards, Body}, More) ->
    {Head, [Budget | Guards -- [Budget]] ++ More, [Take | Body -- [Take]]}
end,

%% How often each was called, -1 where the counter is gone with its module.
CallsOf = fun(Place, Mfas) ->
    Known = [{{call_count, '$1'}, [{is_integer, '$1'}], ['$1']}, {'_', [], [-1]}],
    ets:match_spec_run(ReadAll(Place, Mfas, call_count), ets:match_spec_compile(Known))
end,

%% The time of each, in us. Few have been called.
TimesOf = fun(Place, Mfas) ->
    [case Read of
         {_, [_ | _] = Times} -> lists:sum([S * 1000000 + Us || {_, _, S, Us} <- Times]);
         _ -> 0
     end || Read <- ReadAll(Place, Mfas, call_time)]
end,

%% Does nothing until both others are gone or long overdue.
Sentinel = fun(TraceKeeper, Collector, Plan, UntilMs) ->
    Sign(),
    A = monitor(process, TraceKeeper),
    B = monitor(process, Collector),
    Wait = fun Wait(Left, Until) ->
        receive
            {TraceKeeper, bye} -> ok;
            {Collector, bye} -> ok;
            {until, Later} -> Wait(Left, Later);
            {'DOWN', M, process, _, _} when [M] =:= Left -> Disarm(Plan);
            {'DOWN', M, process, _, _} -> Wait(Left -- [M], Until);
            _ -> Wait(Left, Until)
        after max(0, Until - erlang:monotonic_time(millisecond)) ->
            Disarm(Plan)
        end
    end,
    Wait([A, B], UntilMs)
end,
