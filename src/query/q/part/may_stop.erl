%% SPDX-License-Identifier: GPL-3.0-or-later
%% Flags of more than single processes stop the whole node until every scheduler has answered: of a
%% node that would stop for long they are refused. Value: ok | {late, Scheduler, Ms}, 0 where it is
%% not known which. Needs `late_schedulers` in the process dictionary (waiters.erl).
AnswerMs = 500,
MayStop = fun(Stops) ->
    case Stops andalso (get(late_schedulers))(AnswerMs) of
        Is when Is =:= false; Is =:= {ok, []} -> ok;
        {ok, [Id | _]} -> {late, Id, AnswerMs};
        _ -> {late, 0, AnswerMs}
    end
end,
