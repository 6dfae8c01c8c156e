%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Files of /proc
%% A dirty I/O scheduler reads them, so a read waits as long as all of these wait for a disk. It
%% is a call of the waiter `file`. Where others wait for such a scheduler, which on a busy
%% host lasts a moment, nothing is asked: a read that waits there ends after beamtop, and the next
%% beamtop must not add one.

FreeMs = 5,
FreeNative = erlang:convert_time_unit(FreeMs, millisecond, native),
Becomes = fun Becomes(Is, Left) ->
    case Is() of
        true -> true;
        false when Left =:= 0 -> false;
        false ->
            receive after FreeMs -> ok end,
            put(waited, get(waited) + FreeNative),
            Becomes(Is, Left - 1)
    end
end,
IsFree = fun(Left) ->
    Becomes(fun() -> lists:last(erlang:statistics(run_queue_lengths_all)) =:= 0 end, Left)
end,

FileMs = 50,
FileTries = 4,
ReadInTime = fun(InTime, Read) ->
    case IsFree(FileTries) of
        true ->
            case InTime([{file, Read, []}], FileMs) of
                {[{ok, Is}], _} -> Is;
                _ -> undefined
            end;
        false ->
            undefined
    end
end,
