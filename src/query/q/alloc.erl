%% SPDX-License-Identifier: GPL-3.0-or-later
%% Memory allocators: what their carriers hold and what of it is in use. Arg: [], or `local`: the
%% program reads the resident memory of a VM of its host itself.
%%
%% Every scheduler answers for its own instances: without one of them nothing is known, no rows.
AllocMs = 1000,
%% Instances with most unused memory in carriers: a node of many schedulers has hundreds, one of
%% eight has 99.
Worst = 100,
%% Linux: sizes that the kernel keeps as counters, so reading them costs the same however large the
%% node is. smaps_rollup would walk the page table.
Status = <<"/proc/self/status">>,
Counters = ["VmRSS", "RssAnon", "VmSwap", "VmHWM"],
Resident = fun() ->
    {ok, File} = prim_file:open(Status, [read, binary]),
    {ok, Text} = prim_file:pread(File, 0, 8192),
    _ = prim_file:close(File),
    list_to_tuple(
        [case re:run(Text, ["^", Counter, ":\\s+([0-9]+) kB"],
                     [multiline, {capture, all_but_first, binary}]) of
             {match, [Kb]} -> 1024 * binary_to_integer(Kb);
             nomatch -> undefined
         end || Counter <- Counters])
end,

-include("part/proc_file.erl").

{[in_time], fun(Place, #{in_time := InTime}) ->
    Names = erlang:system_info(alloc_util_allocators),
    Asked = [{allocator, Name} || Name <- [mseg_alloc | Names]],
    {Segments, Known} =
        case InTime([{alloc, fun lists:map/2, [fun erlang:system_info/1, Asked]}], AllocMs) of
            {[{ok, [Mseg0 | Sizes0]}], _} -> {Mseg0, lists:zip(Names, Sizes0)};
            _ -> {false, []}
        end,
    Blocks = fun(Props) ->
        {blocks, Types} = lists:keyfind(blocks, 1, Props),
        Of = fun(What) ->
            lists:sum([element(2, lists:keyfind(What, 1, Counts)) || {_, Counts} <- Types])
        end,
        {Of(count), Of(size)}
    end,
    Number = fun(Key, Props) ->
        case lists:keyfind(Key, 1, Props) of false -> 0; Tuple -> element(2, Tuple) end
    end,
    Carriers = fun(Kind, Instance) ->
        case lists:keyfind(Kind, 1, Instance) of
            {_, Props} when is_list(Props) ->
                {Count, Bytes} = Blocks(Props),
                [Count, Bytes, Number(carriers, Props), Number(carriers_size, Props)];
            _ ->
                [0, 0, 0, 0]
        end
    end,
    Sum = fun(Kind, Instances) ->
        list_to_tuple(lists:foldl(
            fun(I, Sums) -> lists:zipwith(fun erlang:'+'/2, Carriers(Kind, I), Sums) end,
            [0, 0, 0, 0], Instances))
    end,

    Rows =
        [begin
             Instances = [Props || {instance, _, Props} <- Sizes],
             {_, PoolBytes, PoolCarriers, PoolTaken} = Sum(mbcs_pool, Instances),
             {Name, length(Instances), Sum(mbcs, Instances), Sum(sbcs, Instances),
              {PoolCarriers, PoolTaken, PoolBytes}}
         end || {Name, Sizes} <- Known, is_list(Sizes)],

    %% {Unused, Allocator, Instance, Blocks, BlockBytes, Carriers, CarrierBytes}
    Unused =
        [begin
             [N1, B1, K1, C1] = Carriers(mbcs, I),
             [N2, B2, K2, C2] = Carriers(sbcs, I),
             [N3, B3, K3, C3] = Carriers(mbcs_pool, I),
             {C1 + C2 + C3 - B1 - B2 - B3, Name, N, N1 + N2 + N3, B1 + B2 + B3, K1 + K2 + K3,
              C1 + C2 + C3}
         end || {Name, Sizes} <- Known, is_list(Sizes), {instance, N, I} <- Sizes],
    Largest = [{Name, N, In, B, K, C}
               || {_, Name, N, In, B, K, C} <-
                      lists:sublist(lists:reverse(lists:sort(Unused)), Worst), C > 0],

    %% Cached segments: found in the cache of how many asked for.
    Mseg =
        case is_list(Segments) of
            true ->
                Of = fun(Section, Key) ->
                    lists:sum(
                        [case lists:keyfind(Key, 1, Values) of
                             {_, N} -> N;
                             {_, Billions, N} -> Billions * 1000000000 + N;
                             false -> 0
                         end || {instance, _, Props} <- Segments,
                                {memkind, Kind} <- Props,
                                {S, Values} <- Kind, S =:= Section])
                end,
                {Of(status, cache_hits), Of(calls, mseg_alloc)};
            false ->
                undefined
        end,
    OfVm = case Place of local -> undefined; [] -> ReadInTime(InTime, Resident) end,
    {alloc, erlang:monotonic_time(nanosecond), Rows, Mseg, Largest, OfVm}
end}.
