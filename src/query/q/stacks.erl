%% SPDX-License-Identifier: GPL-3.0-or-later
%% Stacks of the processes that do most, at the moments at which they yield. Runs in a holder. Arg:
%% a map with `most` processes, `looks`, `ms` from look to look, and `rank`: whether to look first
%% which they are (docs/queries.md).
%%
%% A stack costs a signal, which is handled where the process yields. It has the reductions since
%% the look before, so that shares are those of reductions. Who did nothing has no stack.

Swept = 100000,
RankMs = 250,
FramesMost = 200,

-include("part/sweep.erl").
-include("part/busiest.erl").

Read = fun(Pids) ->
    Run(Ask(Pids, [reductions, current_stacktrace]),
        [{[{reductions, '$1'}, {current_stacktrace, '$2'}], [], [{{'$1', '$2'}}]},
         {undefined, [], [{{0, []}}]}])
end,
%% [{Pid, Stack, Reductions}] of those that did something. A process that has ended has less.
Worked = fun(Pids, Before, Looked) ->
    {Was, _} = lists:unzip(Before),
    {Is, Stacks} = lists:unzip(Looked),
    Done = lists:zipwith(fun erlang:'-'/2, Is, Was),
    Run(lists:zip3(Pids, Stacks, Done),
        [{{'$1', '$2', '$3'}, [{'>', '$3', 0}, {'=/=', '$2', []}], ['$_']}])
end,
%% As deep as the node keeps them, FramesMost at most.
Functions = fun(Stack) ->
    All = Run(Stack, [{{'$1', '$2', '$3', '_'}, [], [{{'$1', '$2', '$3'}}]}]),
    lists:sublist(All, FramesMost)
end,
Add = fun({Pid, Stack, Done}, Sofar) ->
    case Sofar of
        #{{Pid, Stack} := {N, Sum}} -> Sofar#{{Pid, Stack} := {N + 1, Sum + Done}};
        #{} -> Sofar#{{Pid, Stack} => {1, Done}}
    end
end,
Look = fun Look(Pids, Before, Left, Ms_, CountWork, Sofar) ->
    case Left of
        0 ->
            Sofar;
        _ ->
            CountWork(),
            Wait(Ms_),
            Looked = Read(Pids),
            Look(Pids, Looked, Left - 1, Ms_, CountWork,
                 lists:foldl(Add, Sofar, Worked(Pids, Before, Looked)))
    end
end,
%% Of the slice whose turn it is, and those known.
Rank = fun(N, Known, OwnNow, Place, CountWork) ->
    All = erlang:processes() -- OwnNow(),
    {Slice_, Next} = Turn(All, length(All), Place, Swept),
    Pids = Known ++ (Slice_ -- Known),
    Before = Reductions(Pids, []),
    CountWork(),
    Wait(RankMs),
    Done = lists:zipwith(fun erlang:'-'/2, Reductions(Pids, []), Before),
    {PidsOf(Busiest(Pids, Done, N)), Next}
end,

{holder, [k, own, count_work],
fun(#{most := N, looks := Looks, ms := Ms_, rank := IsRanked}, Ctx) ->
    #{state := Given, k := Keeper, own := OwnOf, count_work := CountWork} = Ctx,
    {Known, Place} = case Given of new -> {[], 0}; _ -> Given end,
    {Pids, Next} = case IsRanked orelse Known =:= [] of
        true ->
            {Found, There} = Rank(N, Known, fun() -> OwnOf(Keeper) end, Place, CountWork),
            {lists:sublist(Found ++ (Known -- Found), N), There};
        false ->
            {Known, Place}
    end,
    Start = Now(),
    Sums = Look(Pids, Read(Pids), Looks, Ms_, CountWork, #{}),
    {{stacks, Start, Now() - Start, Looks, length(Pids),
      [{Pid, Times, Done, Functions(Stack)}
       || {{Pid, Stack}, {Times, Done}} <- maps:to_list(Sums)]},
     {Pids, Next}}
end}.
