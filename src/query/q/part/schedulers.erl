%% SPDX-License-Identifier: GPL-3.0-or-later
%% Schedulers that do not answer for Ms: their ids. A process is bound to each that is online and does
%% nothing but send: it runs as soon as its scheduler is done with what runs there now.
LateSchedulers = fun(Ms) ->
    Ref = make_ref(),
    Until = erlang:monotonic_time(millisecond) + Ms,
    Asked = [{Id, spawn_opt(erlang, send, [self(), {Ref, Id}],
                            [link, {scheduler, Id}, {priority, max}])}
             || Id <- lists:seq(1, erlang:system_info(schedulers_online))],
    Wait = fun Wait(Left) ->
        case Left of
            [] ->
                [];
            _ ->
                receive
                    {Ref, Id} -> Wait(lists:keydelete(Id, 1, Left))
                after max(0, Until - erlang:monotonic_time(millisecond)) ->
                    Left
                end
        end
    end,
    %% One that has not begun ends when its scheduler comes to it.
    [begin unlink(Pid), exit(Pid, kill), Id end || {Id, Pid} <- Wait(Asked)]
end,
