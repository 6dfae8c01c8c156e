%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Lists of references, each copied to the one that asks: a helper's heap is the limit

%% What Read says of each; it says `gone` of one that has ended.
TellEach = fun(To, Ref, Pids, Read) ->
    Tell = fun(Pid) ->
        case Read(Pid) of
            gone -> ok;
            Is -> To ! {Ref, {Pid, Is}}
        end,
        erlang:garbage_collect()
    end,
    put('$process_label', beamtop),
    put('$initial_call', {beamtop, keeper, 0}),
    lists:foreach(Tell, Pids)
end,
CountBytes = 48 * 1048576,
%% #{Pid => what Read says}, without those whose list is too long.
CountedOf = fun(Pids, Read, Spawn) ->
    Ref = make_ref(),
    Limit = #{size => CountBytes div WordBytes, kill => true, error_logger => false},
    Start = erlang:monotonic_time(),
    Trapped = process_flag(trap_exit, true),
    Helper = Spawn(TellEach, [self(), Ref, Pids, Read],
                   [link, {message_queue_data, off_heap}, {max_heap_size, Limit}]),
    receive {'EXIT', Helper, _} -> ok end,
    process_flag(trap_exit, Trapped),
    put(waited, get(waited) + erlang:monotonic_time() - Start),
    put(helped, get(helped) + erlang:monotonic_time() - Start),
    receive {'EXIT', _, _} when not Trapped -> exit(shutdown) after 0 -> ok end,
    Take = fun Take(Sofar) ->
        receive {Ref, {Pid, Is}} -> Take(Sofar#{Pid => Is}) after 0 -> Sofar end
    end,
    Take(#{})
end,
%% [{Bytes, Binaries | undefined, Pid}]: of those whose list is too long, what the collector says.
Holders = fun(Held, Spawn) ->
    Read = fun(Pid) ->
        case process_info(Pid, binary) of
            {binary, All} ->
                %% One that came several times is held once.
                Distinct = lists:ukeysort(1, All),
                {_, Sizes, _} = lists:unzip3(Distinct),
                {length(Distinct), lists:sum(Sizes)};
            undefined ->
                gone
        end
    end,
    Counted = CountedOf(PidsOf(Held), Read, Spawn),
    [case Counted of
         #{Pid := {N, Bytes}} -> {Bytes, N, Pid};
         #{} -> {Words * WordBytes, undefined, Pid}
     end || {Words, Pid} <- Held]
end,
