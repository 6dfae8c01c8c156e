%% SPDX-License-Identifier: GPL-3.0-or-later
%% The first messages of a mailbox, as text. Arg: {Pid | PidText, First, BytesEach, Agreed}.
%%
%% The VM has no way to read part of a mailbox: process_info(Pid, messages) copies all of it to the
%% caller, outside of any heap limit. Messages were copied when they were sent, so that the memory
%% of the process bounds the copy, but for literals and persistent terms in them: those count
%% nothing there and are copied as well. So nothing is read unless the user agreed, and never above
%% MostMessages and MostBytes. Only text cut to size leaves the node.
MostMessages = 50000,
MostBytes = 16 * 1048576,

-include("part/walked.erl").

Mailbox = fun({Asked, First, BytesEach, Agreed}, #{print := Print, pid_of := PidOf}) ->
    Pid = PidOf(Asked),
    Alive = is_pid(Pid) andalso node(Pid) =:= node()
        andalso element(1, AskSpared([Pid], [message_queue_len, memory])),
    case Alive of
        [[{_, 0}, {_, Bytes}]] ->
            {mailbox, 0, Bytes, []};
        [[{_, Len}, {_, Bytes}]] when Len > MostMessages; Bytes > MostBytes ->
            {refused, Len, Bytes};
        [[{_, Len}, {_, Bytes}]] when Agreed =/= true ->
            {ask, Len, Bytes};
        [[{_, Len}, {_, Bytes}]] ->
            WordBytes = erlang:system_info(wordsize),
            Size = (16 * 1048576 + 3 * Bytes) div WordBytes,
            process_flag(max_heap_size, #{size => Size, kill => true, error_logger => false}),
            case process_info(Pid, messages) of
                {messages, Messages} ->
                    {mailbox, Len, Bytes,
                     [{WordBytes * erts_debug:flat_size(M), Print(M, BytesEach)}
                      || M <- lists:sublist(Messages, First)]};
                undefined ->
                    gone
            end;
        _ ->
            gone
    end
end,

{[print, pid_of], Mailbox}.
