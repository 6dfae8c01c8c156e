%% SPDX-License-Identifier: GPL-3.0-or-later
%% Flags of more than single processes stop the whole node until every scheduler has answered: of a
%% node that would stop for long they are refused. One that is held up again and again answers in
%% between, and what was asked before may have waited for just that: all must answer once more a
%% moment later. Value: ok | {late, Scheduler, Ms}, 0 where it is not known which. Needs
%% `late_schedulers` in the process dictionary (waiters.erl).
AnswerMs = 500,
AgainMs = 30,
AllAnswer = fun() ->
    case (get(late_schedulers))(AnswerMs) of
        {ok, []} -> ok;
        {ok, [Id | _]} -> {late, Id, AnswerMs};
        _ -> {late, 0, AnswerMs}
    end
end,
MayStop = fun(Stops) ->
    case Stops andalso AllAnswer() of
        false -> ok;
        ok -> receive after AgainMs -> AllAnswer() end;
        Late -> Late
    end
end,
