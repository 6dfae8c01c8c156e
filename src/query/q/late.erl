%% SPDX-License-Identifier: GPL-3.0-or-later
%% Which schedulers do not answer, while the header waits for one. Arg: [].
WhichMs = 50,

{[late_schedulers], fun([], #{late_schedulers := LateSchedulers}) ->
    case LateSchedulers(WhichMs) of
        {ok, Ids} -> {late, Ids};
        _ -> {late, []}
    end
end}.
