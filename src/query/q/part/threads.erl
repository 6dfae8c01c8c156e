%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Scheduler threads and the cgroup, by the operating system's files
%% Only files of /proc and of the cgroup are read, by prim_file: file:read_file/1 would ask the
%% node's file server. After proc_file.erl.

Most = 256,
Listed = 8192,
{ok, Named} = re:compile(
    <<"^(?:erts_(sched|dcpus|dios)_)?(\\d+)(?:_(scheduler|dirty_cpu|dirty_io))?">>),
{ok, Version1} = re:compile(
    <<"^\\d+:(?:[^:\n]*,)?cpu(?:,[^:\n]*)?:(/[^\n]{0,400})$">>, [multiline]),
{ok, Version2} = re:compile(<<"^0::(/[^\n]{0,400})$">>, [multiline]),
Kinds = #{<<"sched">> => 0, <<"scheduler">> => 0, <<"dcpus">> => 1, <<"dirty_cpu">> => 1,
          <<"dios">> => 2, <<"dirty_io">> => 2},

%% Each file is read on a dirty I/O scheduler: on a busy node that waits for its turn, there and
%% back. The waiter `file` does it, so that an answer does not wait for a stalled disk.
ReadAll = fun(Paths) -> lists:map(fun prim_file:read_file/1, Paths) end,
%% Of that many files; no more is counted than they take without waiting. Throws `late`.
FilesMs = 1000,
FilesTries = 20,
FileUs = 40,
ByWaiter = fun(InTime, Files, Call, Args) ->
    IsFree(FilesTries) orelse throw(late),
    Helped = get(helped),
    Waited = get(waited),
    case InTime([{file, Call, Args}], FilesMs) of
        {[{ok, Read}], _} ->
            Work = erlang:convert_time_unit(FileUs * Files, microsecond, native),
            put(helped, Helped + min(get(waited) - Waited, Work)),
            Read;
        _ ->
            throw(late)
    end
end,

FileText = fun({ok, Read}, Bytes) -> binary:part(Read, 0, min(Bytes, byte_size(Read)));
          (_, _) -> <<>>
end,

%% [{Tid, Dir}] of threads.
Tasks = fun() ->
    case prim_file:list_dir("/proc/self/task") of
        {ok, Tids} ->
            [{list_to_integer(T), "/proc/self/task/" ++ T} || T <- lists:sublist(Tids, Listed)];
        _ -> []
    end
end,

%% [{Kind, Number, Tid, [Path]}] of those that are scheduler threads.
Schedulers = fun(Some) ->
    Comms = ReadAll([Dir ++ "/comm" || {_, Dir} <- Some]),
    [{maps:get(<<A/binary, B/binary>>, Kinds), binary_to_integer(N), Tid,
      [Dir ++ File || File <- ["/schedstat", "/stat", "/status"]]}
     || {{Tid, Dir}, {ok, Comm}} <- lists:zip(Some, Comms),
        {match, [A, N, B]} <- [re:run(Comm, Named, [{capture, [1, 2, 3], binary}])],
        is_map_key(<<A/binary, B/binary>>, Kinds),
        lists:member(binary_to_integer(N), lists:seq(1, 1024))]
end,

%% All of them, normal ones first. They live as long as the VM, so that names are read once: those
%% that were read stay in the dictionary when the rest is late.
AtOnce = 500,
Threads = fun All(InTime, UntilMs) ->
    case get(threads) of
        undefined ->
            put(threads, {ByWaiter(InTime, 1, Tasks, []), []}),
            All(InTime, UntilMs);
        {[], Found} ->
            lists:sublist(lists:sort(Found), Most);
        {Left, Found} ->
            erlang:monotonic_time(millisecond) < UntilMs orelse throw(late),
            {Now, Later} = lists:split(min(AtOnce, length(Left)), Left),
            More = ByWaiter(InTime, length(Now), Schedulers, [Now]),
            put(threads, {Later, More ++ Found}),
            All(InTime, UntilMs)
    end
end,

%% The files of the node's cgroup: cpu.stat, and those of the quota. Without one of its name the
%% node sees its own as the root of the tree.
Cgroup = fun() ->
    Own = FileText(prim_file:read_file("/proc/self/cgroup"), 8192),
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
