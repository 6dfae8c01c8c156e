%% SPDX-License-Identifier: GPL-3.0-or-later
%% Memory allocators: what their carriers hold and what of it is in use. Arg: [].
%%
%% Every scheduler answers for its own instances: without one of them nothing is known, no rows.
AllocMs = 1000,

{[in_time], fun([], #{in_time := InTime}) ->
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
    Pool = fun(Instance) ->
        case lists:keyfind(mbcs_pool, 1, Instance) of
            {_, Props} ->
                {_, Bytes} = Blocks(Props),
                [Number(carriers, Props), Number(carriers_size, Props), Bytes];
            false ->
                [0, 0, 0]
        end
    end,
    Sum = fun(Lists, Zero) ->
        list_to_tuple(lists:foldl(
            fun(A, B) -> lists:zipwith(fun erlang:'+'/2, A, B) end, Zero, Lists))
    end,

    Rows =
        [begin
             Instances = [Props || {instance, _, Props} <- Sizes],
             {Name, length(Instances),
              Sum([Carriers(mbcs, I) || I <- Instances], [0, 0, 0, 0]),
              Sum([Carriers(sbcs, I) || I <- Instances], [0, 0, 0, 0]),
              Sum([Pool(I) || I <- Instances], [0, 0, 0])}
         end || {Name, Sizes} <- Known, is_list(Sizes)],

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
    {alloc, erlang:monotonic_time(nanosecond), Rows, Mseg}
end}.
