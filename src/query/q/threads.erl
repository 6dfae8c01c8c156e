%% SPDX-License-Identifier: GPL-3.0-or-later
%% The operating system's count of the scheduler threads, of the cgroup and of the host's CPUs.
%% Runs in a holder, whose state are the threads with what was read of them. Arg: []. Value:
%% docs/queries.md. Texts of /proc go as they are, cut to size: the model reads them.
-include("part/threads.erl").

{ok, AllowedAt} = re:compile(<<"Cpus_allowed_list:\\s*([-,0-9]{1,200})">>),

%% The switches stand at the end, behind lines that name every CPU and every node of memory.
Tail = fun({ok, Read}, Bytes) ->
           Size = min(Bytes, byte_size(Read)),
           binary:part(Read, byte_size(Read), -Size);
          (_, _) -> <<>>
end,

%% A thread that did not run since has the other numbers of before. [{Schedstat, Stat, Switches}]
Readings = fun(Of, Before) ->
    Schedstats = ReadAll([hd(Paths) || {_, _, _, Paths} <- Of]),
    [case Last of
         {Ran, _, _} when Ran =:= Schedstat, Ran =/= {ok, <<"0 0 0\n">>}, element(1, Ran) =:= ok ->
             Last;
         _ ->
             [Stat, Status] = ReadAll(tl(Paths)),
             {Schedstat, FileText(Stat, 500), Tail(Status, 200)}
     end
     || {{_, _, _, Paths}, Schedstat, Last} <- lists:zip3(Of, Schedstats, Before)]
end,

Open = fun() ->
    case prim_file:open("/proc/stat", [read, binary]) of {ok, File} -> File; _ -> none end
end,

{holder, [],
fun([], #{state := State}) ->
    {Of, Files, Host, Before} = case State of
        new ->
            process_flag(priority, high),
            Found = Threads(),
            {Found, Cgroup(), Open(), [none || _ <- Found]};
        _ ->
            State
    end,
    Now = Readings(Of, Before),
    MonoNs = erlang:monotonic_time(nanosecond),
    Stat = case Host of none -> <<>>; _ -> FileText(prim_file:pread(Host, 0, 200), 200) end,
    [Throttled | Quota] = case ReadAll(Files) of
        [] -> [none];
        Read -> Read
    end,
    Allowed = case re:run(FileText(prim_file:read_file("/proc/self/status"), 8192), AllowedAt,
                          [{capture, all_but_first, binary}]) of
        {match, [Cpus]} -> Cpus;
        _ -> <<>>
    end,
    Bound = erlang:system_info(scheduler_bindings),
    Rows = [{Kind, Number, Tid,
             case Kind =:= 0 andalso Number =< tuple_size(Bound) andalso element(Number, Bound) of
                 Cpu when is_integer(Cpu) -> Cpu;
                 _ -> undefined
             end,
             FileText(Schedstat, 100), ThreadStat, Switches}
            || {{Kind, Number, Tid, _}, {Schedstat, ThreadStat, Switches}} <- lists:zip(Of, Now)],
    {{threads, MonoNs, erlang:system_info(scheduler_bind_type), Allowed, Stat,
      [FileText(Q, 100) || Q <- Quota], FileText(Throttled, 1000), Rows},
     {Of, Files, Host, Now}}
end}.
