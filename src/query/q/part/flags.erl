%% SPDX-License-Identifier: GPL-3.0-or-later
%% Trace flags before OTP 27, where the node has one place for them. Set or cleared for all
%% processes at once they end a node now and then: the VM stands still for it, but its dirty
%% schedulers do not, and one that takes up a process at that moment reads a tracer that is gone
%% (erl_process.c, trace_schedule_in; since OTP 27 each process is locked). So processes get them
%% one by one, under their locks, and those to come before those that there are. Value: how many
%% took them.
MostOneByOne = 200000, %% a list of more pids is too large for who holds it
OneByOne = 1000,
PidsToFlag = fun() ->
    case erlang:system_info(process_count) > MostOneByOne of
        true -> [existing_processes];
        false -> processes()
    end
end,
TookFlags = fun(N) -> case is_integer(N) of true -> N; false -> 0 end end,
FlagEach = fun FlagEach(Pids_, On, Flags, Sofar) ->
    {Some, Rest} = lists:split(min(OneByOne, length(Pids_)), Pids_),
    Same = fun(Value) -> lists:duplicate(length(Some), Value) end,
    N = case catch lists:sum(lists:zipwith3(fun erlang:trace/3, Some, Same(On), Same(Flags))) of
        All when is_integer(All) -> All;
        %% One of them has ended.
        _ -> lists:sum([TookFlags(catch erlang:trace(P, On, Flags)) || P <- Some])
    end,
    case Rest of [] -> Sofar + N; _ -> FlagEach(Rest, On, Flags, Sofar + N) end
end,
FlagLegacy = fun(Who, On, Flags) ->
    case Who of
        processes ->
            erlang:trace(new_processes, On, Flags) + FlagEach(PidsToFlag(), On, Flags, 0);
        existing_processes ->
            FlagEach(PidsToFlag(), On, Flags, 0);
        _ ->
            erlang:trace(Who, On, Flags)
    end
end,
%% For flags whose tracer is dead.
LookAtEach = fun(Flags) ->
    case PidsToFlag() of
        [existing_processes] ->
            catch erlang:trace(existing_processes, false, Flags);
        All -> lists:zipwith(fun erlang:trace_info/2, All, lists:duplicate(length(All), tracer))
    end
end,
