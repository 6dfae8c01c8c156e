%% SPDX-License-Identifier: GPL-3.0-or-later
%% The operating system's count of the scheduler threads, of the cgroup and of the host's CPUs.
%% Runs in a holder, whose state are the threads with what was read of them. Arg: []. Value:
%% docs/queries.md. Texts of /proc go as they are, cut to size: the model reads them.
%%
%% Only files of /proc and of the cgroup are read, by prim_file: file:read_file/1 would ask the
%% node's file server.

Most = 256,
Listed = 8192,
{ok, Named} = re:compile(
    <<"^(?:erts_(sched|dcpus|dios)_)?(\\d+)(?:_(scheduler|dirty_cpu|dirty_io))?">>),
{ok, Version1} = re:compile(
    <<"^\\d+:(?:[^:\n]*,)?cpu(?:,[^:\n]*)?:(/[^\n]{0,400})$">>, [multiline]),
{ok, Version2} = re:compile(<<"^0::(/[^\n]{0,400})$">>, [multiline]),
{ok, AllowedAt} = re:compile(<<"Cpus_allowed_list:\\s*([-,0-9]{1,200})">>),
Kinds = #{<<"sched">> => 0, <<"scheduler">> => 0, <<"dcpus">> => 1, <<"dirty_cpu">> => 1,
          <<"dios">> => 2, <<"dirty_io">> => 2},

%% Each file is read on a dirty I/O scheduler: on a busy node that waits for its turn, there and
%% back. No more is counted than it takes without.
FileUs = 40,
ReadAll = fun(Paths) ->
    Start = erlang:monotonic_time(),
    Files = lists:map(fun prim_file:read_file/1, Paths),
    Took = erlang:monotonic_time() - Start,
    Work = erlang:convert_time_unit(FileUs * length(Paths), microsecond, native),
    put(waited, get(waited) + Took),
    put(helped, get(helped) + min(Took, Work)),
    Files
end,

Text = fun({ok, Read}, Bytes) -> binary:part(Read, 0, min(Bytes, byte_size(Read)));
          (_, _) -> <<>>
end,
%% The switches stand at the end, behind lines that name every CPU and every node of memory.
Tail = fun({ok, Read}, Bytes) ->
           Size = min(Bytes, byte_size(Read)),
           binary:part(Read, byte_size(Read), -Size);
          (_, _) -> <<>>
end,

%% [{Kind, Number, Tid, [Path]}] of scheduler threads, normal ones first. They live as long as the
%% VM, so that names are read once.
Threads = fun() ->
    Dirs = case prim_file:list_dir("/proc/self/task") of
        {ok, Tids} ->
            [{list_to_integer(T), "/proc/self/task/" ++ T} || T <- lists:sublist(Tids, Listed)];
        _ -> []
    end,
    Comms = ReadAll([Dir ++ "/comm" || {_, Dir} <- Dirs]),
    Found = [{maps:get(<<A/binary, B/binary>>, Kinds), binary_to_integer(N), Tid,
              [Dir ++ File || File <- ["/schedstat", "/stat", "/status"]]}
             || {{Tid, Dir}, {ok, Comm}} <- lists:zip(Dirs, Comms),
                {match, [A, N, B]} <- [re:run(Comm, Named, [{capture, [1, 2, 3], binary}])],
                is_map_key(<<A/binary, B/binary>>, Kinds)],
    lists:sublist(lists:sort(Found), Most)
end,

%% A thread that did not run since has the other numbers of before. [{Schedstat, Stat, Switches}]
Readings = fun(Of, Before) ->
    Schedstats = ReadAll([hd(Paths) || {_, _, _, Paths} <- Of]),
    [case Last of
         {Ran, _, _} when Ran =:= Schedstat, Ran =/= {ok, <<"0 0 0\n">>}, element(1, Ran) =:= ok ->
             Last;
         _ ->
             [Stat, Status] = ReadAll(tl(Paths)),
             {Schedstat, Text(Stat, 500), Tail(Status, 200)}
     end
     || {{_, _, _, Paths}, Schedstat, Last} <- lists:zip3(Of, Schedstats, Before)]
end,

%% The files of the node's cgroup: cpu.stat, and those of the quota. Without one of its name the
%% node sees its own as the root of the tree.
Cgroup = fun() ->
    Own = Text(prim_file:read_file("/proc/self/cgroup"), 8192),
    Path = fun(Pattern) ->
        case re:run(Own, Pattern, [{capture, all_but_first, list}]) of
            {match, [P]} -> [P || string:find(P, "..") =:= nomatch];
            _ -> []
        end
    end,
    Dirs = [{"/sys/fs/cgroup/cpu" ++ P, ["/cpu.cfs_quota_us", "/cpu.cfs_period_us"]}
            || P <- Path(Version1) ++ [""]]
        ++ [{"/sys/fs/cgroup" ++ P, ["/cpu.max"]} || P <- Path(Version2) ++ [""]],
    case [{Dir, Files} || {Dir, Files} <- Dirs,
                          element(1, prim_file:read_file(Dir ++ "/cpu.stat")) =:= ok] of
        [{Dir, Files} | _] -> [Dir ++ File || File <- ["/cpu.stat" | Files]];
        [] -> []
    end
end,

Open = fun() ->
    case prim_file:open("/proc/stat", [read, binary]) of {ok, File} -> File; _ -> none end
end,

{[],
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
    Stat = case Host of none -> <<>>; _ -> Text(prim_file:pread(Host, 0, 200), 200) end,
    [Throttled | Quota] = case ReadAll(Files) of
        [] -> [none];
        Read -> Read
    end,
    Allowed = case re:run(Text(prim_file:read_file("/proc/self/status"), 8192), AllowedAt,
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
             Text(Schedstat, 100), ThreadStat, Switches}
            || {{Kind, Number, Tid, _}, {Schedstat, ThreadStat, Switches}} <- lists:zip(Of, Now)],
    {{threads, MonoNs, erlang:system_info(scheduler_bind_type), Allowed, Stat,
      [Text(Q, 100) || Q <- Quota], Text(Throttled, 1000), Rows},
     {Of, Files, Host, Now}}
end}.
