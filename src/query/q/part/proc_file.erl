%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Files of /proc
%% A dirty I/O scheduler reads them, so a read waits as long as all of these wait for a disk. It
%% is a call of the waiter `file`. Where others wait for such a scheduler nothing is asked: a read
%% that waits there ends after beamtop, and the next beamtop must not add one.

FileMs = 50,
ReadInTime = fun(InTime, Read) ->
    case lists:last(erlang:statistics(run_queue_lengths_all)) of
        0 ->
            case InTime([{file, Read, []}], FileMs) of
                {[{ok, Is}], _} -> Is;
                _ -> undefined
            end;
        _ ->
            undefined
    end
end,
