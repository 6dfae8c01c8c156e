%% SPDX-License-Identifier: GPL-3.0-or-later
%% The operating system's count of the scheduler threads, of the cgroup and of the host's CPUs.
%% Runs in a holder, whose state are the threads with what was read of them. Arg: []. Value:
%% docs/queries.md. Texts of /proc go as they are, cut to size: the model reads them.
-include("part/proc_file.erl").
-include("part/threads.erl").

{ok, AllowedAt} = re:compile(<<"Cpus_allowed_list:\\s*([-,0-9]{1,200})">>),

%% The switches stand at the end, behind lines that name every CPU and every node of memory.
Tail = fun({ok, Read}, Bytes) ->
           Size = min(Bytes, byte_size(Read)),
           binary:part(Read, byte_size(Read), -Size);
          (_, _) -> <<>>
end,

%% A thread that did not run since has the other numbers of before. [{Schedstat, Stat, Switches}]
DidRun = fun
    ({{ok, Text} = Same, {Same_, _, _}}) when Same =:= Same_, Text =/= <<"0 0 0\n">> -> false;
    (_) -> true
end,
Readings = fun(Read, Of, Schedstats, Before) ->
    Pairs = lists:zip(Schedstats, Before),
    Others = [tl(Paths) || {{_, _, _, Paths}, Pair} <- lists:zip(Of, Pairs), DidRun(Pair)],
    Texts = Read(lists:append(Others)),
    {[], Now} = lists:foldl(
        fun({Schedstat, _} = Pair, {Left, Done}) ->
            case DidRun(Pair) of
                true ->
                    [Stat, Status | Rest] = Left,
                    {Rest, [{Schedstat, FileText(Stat, 500), Tail(Status, 200)} | Done]};
                false ->
                    {Left, [element(2, Pair) | Done]}
            end
        end, {Texts, []}, Pairs),
    lists:reverse(Now)
end,

%% The file stays open, in the waiter that opened it.
HostStat = fun() ->
    get(host) =:= undefined andalso put(host, prim_file:open("/proc/stat", [read, binary])),
    case get(host) of {ok, File} -> prim_file:pread(File, 0, 200); Error -> Error end
end,

%% {State, what the answer has of it}; throws `late`.
ReadNow = fun(InTime, State) ->
    Read = fun([]) -> []; (Paths) -> ByWaiter(InTime, length(Paths), ReadAll, [Paths]) end,
    {Of, Files, Before} = case State of
        new ->
            process_flag(priority, high),
            Found = Threads(InTime, erlang:monotonic_time(millisecond) + FilesMs),
            {Found, ByWaiter(InTime, 5, Cgroup, []), [none || _ <- Found]};
        _ ->
            State
    end,
    Schedstats = Read([hd(Paths) || {_, _, _, Paths} <- Of]),
    MonoNs = erlang:monotonic_time(nanosecond),
    Now = Readings(Read, Of, Schedstats, Before),
    Host = FileText(ByWaiter(InTime, 1, HostStat, []), 200),
    [Own | Group] = Read(["/proc/self/status" | Files]),
    {{Of, Files, Now}, MonoNs, Host, Own, Group}
end,

{holder, [in_time],
fun([], #{state := State, in_time := InTime}) ->
    {{Of, _, Now} = Next, MonoNs, Stat, Own, Group} =
        try ReadNow(InTime, State)
        catch throw:late ->
            {{[], [], []}, erlang:monotonic_time(nanosecond), <<>>, none, []}
        end,
    [Throttled | Quota] = case Group of [] -> [none]; _ -> Group end,
    Allowed = case re:run(FileText(Own, 8192), AllowedAt, [{capture, all_but_first, binary}]) of
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
     case Own of none -> State; _ -> Next end}
end}.
