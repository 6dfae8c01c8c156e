%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of keeper.erl: when a process is read whose memory takes long to read (part/walked.erl), for
%% all questions of the connection together.

%% A read has a price in ns. All of them may take a share of one core, one in PauseTimes, and those
%% of one process as well: so many times its price later it is read again. AheadMs of that may be
%% taken at once, so that a few are read when they are first seen.
PauseTimes = 500,
AheadMs = 20000,
PauseOf = fun(Ns) -> Ns * PauseTimes div 1000000 end,
Never = -(1 bsl 58),

%% Turns: {when all is paid for, in ms, #{Pid => {Ms, Memory, Words, Info}}, #{Pid => Ns}}: what was
%% read, and what the links and monitors of those that have many cost. Evaluated code is slow: what
%% is done for each process of many is one call of a native function.
DueSpec = fun(Now) ->
    Pause = {'div', {'*', '$1', PauseTimes}, 1000000},
    [{{{'$1', '$2'}, {'$3', '_', '_', '_'}}, [{'>=', {'-', Now, '$3'}, Pause}],
      [{{'$3', {'-', 0, '$1'}, {{'$1', '$2'}}}}]}]
end,
%% Who was not read for longest comes first, then who costs most.
TakeTurns = fun TakeTurns([{_, _, {Ns, _} = One} | Rest], Until, Now)
                    when Until =< Now + AheadMs ->
                    {Ones, Next} = TakeTurns(Rest, max(Until, Now) + PauseOf(Ns), Now),
                    {[One | Ones], Next};
                TakeTurns(_, Until, _) ->
                    {[], Until}
end,
%% Costly: [{Ns, Pid}]. Value: those whose turn it is, and what was read of all before.
TurnsOf = fun(Costly, {Paid, Read, Heavy}, Now) ->
    {_, Pids} = lists:unzip(Costly),
    Known = maps:with(Pids, Read),
    case Paid > Now + AheadMs of
        true ->
            {[], Known, {Paid, Read, Heavy}};
        false ->
            N = length(Pids),
            Lasts = lists:zipwith3(fun maps:get/3, Pids, lists:duplicate(N, Known),
                                   lists:duplicate(N, {Never, 0, 0, []})),
            Spec = ets:match_spec_compile(DueSpec(Now)),
            Due = lists:sort(ets:match_spec_run(lists:zip(Costly, Lasts), Spec)),
            {Whose, Next} = TakeTurns(Due, Paid, Now),
            {Whose, Known, {Next, Read, Heavy}}
    end
end,

%% So many stay known; beyond that those that were read last.
ReadMost = 1000,
Lately = fun(All) ->
    case map_size(All) > ReadMost of
        false ->
            All;
        true ->
            Latest = lists:reverse(lists:sort([{At, Pid} || {Pid, {At, _, _, _}}
                                                                <- maps:to_list(All)])),
            maps:with([Pid || {_, Pid} <- lists:sublist(Latest, ReadMost div 2)], All)
    end
end,
%% New: [{Pid, {Memory, Words, Info}, Ns}], Ns that of its links and monitors, 0 where they are few.
%% Unpaid: what was read without a turn, in ns.
WithRead = fun(New, Unpaid, {Paid, Read, Heavy}, Now) ->
    All = Lately(maps:merge(Read, maps:from_list([{Pid, {Now, Memory, Words, Info}}
                                                  || {Pid, {Memory, Words, Info}, _} <- New]))),
    Those = maps:merge(maps:without([Pid || {Pid, _, _} <- New], Heavy),
                       maps:from_list([{Pid, Ns} || {Pid, _, Ns} <- New, Ns > 0])),
    Kept = maps:keys(maps:with(maps:keys(All), Those)),
    {case Unpaid of 0 -> Paid; _ -> max(Paid, Now) + PauseOf(Unpaid) end, All,
     maps:with(lists:filter(fun erlang:is_process_alive/1, Kept), Those)}
end,
