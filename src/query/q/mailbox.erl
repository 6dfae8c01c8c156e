%% The first messages of a mailbox, as text. Arg: {Pid | PidText, First, BytesEach, Force}.
%%
%% The VM has no way to read part of a mailbox: process_info(Pid, messages) copies all of it to the
%% caller. So the length and the memory of the process are looked at first; Force raises the
%% guard, and nothing lifts the second one. What is copied lands in this worker, which has a heap
%% limit and a deadline and ends after the answer. What arrives between the guard and the copy is
%% bounded by that heap limit. Only text cut to size leaves the node.
Mailbox = fun({Asked, First, BytesEach, Force}, #{print := Print, pid_of := PidOf}) ->
    Pid = PidOf(Asked),
    MiB = 1048576,
    Guarded = fun(Len, Bytes, MostLen, MostBytes) -> Len > MostLen orelse Bytes > MostBytes end,
    Alive = is_pid(Pid) andalso node(Pid) =:= node()
        andalso process_info(Pid, [message_queue_len, memory]),
    case Alive of
        [{_, Len}, {_, Bytes}] ->
            case {Guarded(Len, Bytes, 50000, 64 * MiB), Guarded(Len, Bytes, 1000, 8 * MiB)} of
                {true, _} ->
                    {refused, Len, Bytes};
                {false, true} when Force =/= true ->
                    {too_large, Len, Bytes};
                _ ->
                    %% With the guard passed by force the copy may be larger than a worker's heap.
                    WordBytes = erlang:system_info(wordsize),
                    Size = (16 * MiB + 3 * Bytes) div WordBytes,
                    process_flag(max_heap_size,
                                 #{size => Size, kill => true, error_logger => false}),
                    case process_info(Pid, messages) of
                        {messages, Messages} ->
                            {mailbox, Len, Bytes,
                             [{WordBytes * erts_debug:flat_size(M), Print(M, BytesEach)}
                              || M <- lists:sublist(Messages, First)]};
                        undefined ->
                            gone
                    end
            end;
        _ ->
            gone
    end
end,

{[print, pid_of], Mailbox}.
