%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of keeper.erl: when a process with a long message queue is read by walking that queue
%% (part/walked.erl), for all questions of the connection together.

%% A walk is priced by the length of the queue. All of them may take a share of one core, one in
%% PauseTimes, and those of one process as well: so many times its price later it is read again.
%% AheadMs of that may be taken at once, so that a few are read when they are first seen.
WalkNs = 20,
PauseTimes = 500,
AheadMs = 20000,
Never = -(1 bsl 58),

%% Turns: {when all is paid for, in ms, #{Pid => {Ms, Values}}}. Value: those whose turn it is, and
%% what is known of them, with its age.
TurnsOf = fun(Long, {Paid, Read}, Now) ->
    Since = fun(Pid) -> case Read of #{Pid := {At, _}} -> At; #{} -> Never end end,
    {Whose, Next} = lists:foldl(
        fun({At, _, {Messages, _} = One}, {Ones, Until}) ->
            PauseMs = Messages * WalkNs * PauseTimes div 1000000,
            case Until =< Now + AheadMs andalso Now - At >= PauseMs of
                true -> {[One | Ones], max(Until, Now) + PauseMs};
                false -> {Ones, Until}
            end
        end, {[], Paid}, lists:sort([{Since(Pid), -N, One} || {N, Pid} = One <- Long])),
    Known = maps:map(fun(_, {At, Values}) -> {Now - At, Values} end,
                     maps:with([Pid || {_, Pid} <- Long], Read)),
    {Whose, Known, {Next, Read}}
end,
%% So many stay known; beyond that those that were read last.
ReadMost = 1000,
WithRead = fun(New, {Paid, Read}, Now) ->
    All = maps:merge(Read, maps:from_list([{Pid, {Now, Values}} || {Pid, Values} <- New])),
    case map_size(All) > ReadMost of
        false ->
            {Paid, All};
        true ->
            Latest = lists:reverse(lists:sort([{At, Pid} || {Pid, {At, _}} <- maps:to_list(All)])),
            {Paid, maps:with([Pid || {_, Pid} <- lists:sublist(Latest, ReadMost div 2)], All)}
    end
end,
