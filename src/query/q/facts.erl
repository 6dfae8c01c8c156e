%% SPDX-License-Identifier: GPL-3.0-or-later
%% What findings need to know of the node's configuration: read at the start of a recording, and
%% seldom after that. Arg: []. Value: docs/queries.md.
%%
%% Everything comes from tables and native functions, so that no process of the node is asked and
%% a busy one delays nothing; the code server is, where it does nothing else. No atom is made: names
%% are put together and looked for as texts.
-include("part/sweep.erl").
-include("part/tables.erl").
-include("part/proc_file.erl").
-include("part/threads.erl").

Text = fun
    (Atom) when is_atom(Atom) -> atom_to_binary(Atom, utf8);
    (Other) -> unicode:characters_to_binary(io_lib:format("~0tP", [Other, 12]))
end,
Chars = fun(String) ->
    try unicode:characters_to_binary(String) of
        Binary when is_binary(Binary) -> Binary;
        _ -> <<>>
    catch
        error:_ -> <<>>
    end
end,
Existing = fun(Name) -> try binary_to_existing_atom(Name, utf8) catch error:_ -> undefined end end,
Try = fun(Read, Default) -> try Read() catch _:_ -> Default end end,
Plain = fun(Value) -> is_integer(Value) orelse is_atom(Value) end,

%% ---- Logger: handlers, and what a handler's process does about a long mailbox

%% The process of a handler of OTP is registered under its module and id; others mostly use one
%% of the two.
ProcessOf = fun(Module, Id) ->
    Names = [Existing(<<(Text(Module))/binary, "_", (Text(Id))/binary>>), Id, Module],
    case [Name || Name <- Names, Name =/= undefined, is_pid(whereis(Name))] of
        [Name | _] -> Name;
        [] -> undefined
    end
end,
QueueOf = fun(Name) ->
    case Name =/= undefined andalso process_info(whereis(Name), message_queue_len) of
        {message_queue_len, Len} -> Len;
        _ -> undefined
    end
end,
TypeOf = fun
    (#{type := {Kind, _}}) when is_atom(Kind) -> Kind;
    (#{type := Kind}) when is_atom(Kind) -> Kind;
    (_) -> undefined
end,
Handler = fun(#{id := Id, module := Module} = Whole) ->
    Config = maps:get(config, Whole, #{}),
    Given = case is_map(Config) of true -> Config; false -> #{} end,
    Setting = fun(Key) ->
        case Given of #{Key := Value} -> case Plain(Value) of true -> Value; false -> undefined end;
                      _ -> undefined
        end
    end,
    Process = ProcessOf(Module, Id),
    #{id => Text(Id), module => Module, level => maps:get(level, Whole, undefined),
      mode => Try(fun() -> persistent_term:get({logger_olp, Process}) end, Setting(mode)),
      process => Process, message_queue_len => Try(fun() -> QueueOf(Process) end, undefined),
      type => TypeOf(Given),
      sync_mode_qlen => Setting(sync_mode_qlen), drop_mode_qlen => Setting(drop_mode_qlen),
      flush_qlen => Setting(flush_qlen), overload_kill => Setting(overload_kill_enable),
      burst_limit => Setting(burst_limit_enable),
      burst_limit_max_count => Setting(burst_limit_max_count)}
end,

%% Elixir's own settings, where it is there: its application is called `logger`.
ElixirLogger = fun() ->
    case application:get_key(logger, vsn) of
        {ok, Vsn} ->
            Get = fun(Key) ->
                case application:get_env(logger, Key) of
                    {ok, Value} -> case Plain(Value) of true -> Value; false -> Text(Value) end;
                    undefined -> undefined
                end
            end,
            #{version => Chars(Vsn), level => Get(level), sync_threshold => Get(sync_threshold),
              discard_threshold => Get(discard_threshold), backends => Get(backends),
              truncate => Get(truncate)};
        undefined ->
            undefined
    end
end,
Logger = fun() ->
    Handlers = lists:sublist(logger:get_handler_config(), 32),
    #{handlers => lists:map(Handler, Handlers),
      primary_level => maps:get(level, logger:get_primary_config(), undefined),
      elixir => ElixirLogger()}
end,

%% ---- Limits, applications, code, distribution

Limits = fun() ->
    Read = fun({Key, Count, Limit}) ->
        {Key, #{count => erlang:system_info(Count), limit => erlang:system_info(Limit)}}
    end,
    maps:from_list([Read(L) || L <- [{processes, process_count, process_limit},
                                     {ports, port_count, port_limit},
                                     {atoms, atom_count, atom_limit},
                                     {ets_tables, ets_count, ets_limit}]])
end,

%% All that are loaded, from the table of application:get_key/2; those with processes run.
Applications = fun(AppsOf) ->
    Running = maps:values(AppsOf()),
    Loaded = lists:sort(lists:append(ets:match(ac_tab, {{loaded, '$1'}, '_'}))),
    [#{name => App, runs => lists:member(App, Running),
       version => case application:get_key(App, vsn) of {ok, Vsn} -> Chars(Vsn); _ -> undefined end}
     || App <- lists:sublist(Loaded, 500)]
end,

%% With what is waiting to be sent to each node; a port is busy from `busy_limit_bytes` on.
Distribution = fun(WithoutOwn) ->
    Queue = fun
        (Port) when is_port(Port) ->
            case erlang:port_info(Port, queue_size) of {_, Bytes} -> Bytes; _ -> undefined end;
        (_) -> undefined
    end,
    Sent = fun
        (Port) when is_port(Port) ->
            case erlang:port_info(Port, output) of {_, Bytes} -> Bytes; _ -> undefined end;
        (_) -> undefined
    end,
    #{busy_limit_bytes => Try(fun() -> erlang:system_info(dist_buf_busy_limit) end, undefined),
      nodes => [#{node => Node, queue_bytes => Queue(Control), sent_bytes => Sent(Control)}
                || {Node, Control} <- lists:sublist(WithoutOwn(erlang:system_info(dist_ctrl)), 200),
                   is_port(Control)]}
end,

%% The largest tables; of many, those that are seen in time.
Sizes = fun(These) ->
    Words = Each(fun ets:info/2, These, memory),
    Objects = Each(fun ets:info/2, These, size),
    [{N, Table, Size} || {N, Table, Size} <- lists:zip3(Words, These, Objects), is_integer(N)]
end,
Ets = fun(InTime) ->
    {_, Known} = TablesBy(Sizes, InTime),
    Owner = fun(Pid) ->
        case is_pid(Pid) andalso process_info(Pid, registered_name) of
            {registered_name, Name} -> Name;
            _ -> Pid
        end
    end,
    #{tables => [#{name => ets:info(Table, name), owner => Owner(ets:info(Table, owner)),
                   objects => Objects,
                   memory_bytes => Words * WordBytes,
                   read_concurrency => ets:info(Table, read_concurrency),
                   write_concurrency => ets:info(Table, write_concurrency) =/= false}
                 || {Words, Table, Objects} <- lists:sublist(lists:reverse(lists:sort(Known)), 10)]}
end,

%% Counters since the start of the threads, of the host and of the cgroup: two answers show what the
%% normal schedulers waited in between, and for what. A part that is not there is undefined.
CpuFiles = fun() ->
    Normal = [hd(Paths) || {0, _, _, Paths} <- Threads()],
    Host = case prim_file:open("/proc/stat", [read, binary]) of
        {ok, File} ->
            Text_ = prim_file:pread(File, 0, 200),
            prim_file:close(File),
            Text_;
        Error ->
            Error
    end,
    {ReadAll(Normal), Host, case Cgroup() of [Stat | _] -> ReadAll([Stat]); [] -> [] end}
end,
Cpus = fun(InTime) ->
    Numbers = fun(Read) ->
        Words = binary:split(FileText(Read, 500), [<<" ">>, <<"\n">>], [global, trim_all]),
        [try binary_to_integer(W) catch error:_ -> W end || W <- Words]
    end,
    {Schedstats, HostText, GroupTexts} = ByWaiter(InTime, 40, CpuFiles, []),
    Ran = [RunWait || [_, _, _ | _] = RunWait <- lists:map(Numbers, Schedstats)],
    {Runs, Waits_} = {lists:sum([R || [R | _] <- Ran]), lists:sum([W || [_, W | _] <- Ran])},
    Host = case Numbers(HostText) of [_ | Ticks] -> lists:sublist(Ticks, 8); [] -> [] end,
    Group = lists:append(lists:map(Numbers, GroupTexts)),
    After = fun(Key) ->
        case lists:dropwhile(fun(W) -> W =/= Key end, Group) of
            [_, N | _] when is_integer(N) -> N;
            _ -> undefined
        end
    end,
    Ran =/= [] orelse exit(none),
    #{mono_us => erlang:monotonic_time(microsecond), schedulers => length(Ran),
      run_us => Runs div 1000, wait_us => Waits_ div 1000,
      host_ticks => case Host of [_, _, _, _, _, _, _, _] -> lists:sum(Host); _ -> undefined end,
      steal_ticks => case Host of [_, _, _, _, _, _, _, Steal] -> Steal; _ -> undefined end,
      periods => After(<<"nr_periods">>), throttled_periods => After(<<"nr_throttled">>)}
end,

-include("part/servers.erl").

LoadedModules = fun() -> lists:filter(fun erlang:module_loaded/1, erlang:loaded()) end,

%% Modules that are Ecto's repositories: they have a function that `use Ecto.Repo` makes, and say
%% that they behave as one.
IsRepository = fun(Module) ->
    Attributes = erlang:get_module_info(Module, attributes),
    lists:any(fun({behaviour, Is}) -> lists:member(<<"Elixir.Ecto.Repo">>, lists:map(Text, Is));
                 (_) -> false
              end, Attributes)
end,
Repositories = fun() ->
    case Existing(<<"__adapter__">>) of
        undefined ->
            [];
        Adapter ->
            Loaded = LoadedModules(),
            N = length(Loaded),
            Has = lists:zipwith3(fun erlang:function_exported/3, Loaded, lists:duplicate(N,
                Adapter),
                                 lists:duplicate(N, 0)),
            Those = Run(lists:zip(Loaded, Has), [{{'$1', true}, [], ['$1']}]),
            [Module || Module <- lists:sublist(Those, 200), IsRepository(Module)]
    end
end,

%% One part that cannot be read leaves the others.
{[apps, in_time, without_own],
 fun([], #{apps := AppsOf, in_time := InTime, without_own := WithoutOwn}) ->
    Parts = [{logger, Logger}, {limits, Limits}, {applications, fun() -> Applications(AppsOf) end},
             {cpus, fun() -> Cpus(InTime) end},
             {distribution, fun() -> Distribution(WithoutOwn) end},
             {repositories, Repositories}, {ets, fun() -> Ets(InTime) end},
             {code, fun() -> #{mode => CodeMode(), modules => length(LoadedModules())} end}],
    {facts, erlang:monotonic_time(nanosecond),
     maps:from_list([{Key, Try(Read, undefined)} || {Key, Read} <- Parts])}
end}.
