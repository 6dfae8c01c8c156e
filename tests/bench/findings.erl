%% SPDX-License-Identifier: GPL-3.0-or-later
%%% What the questions of findings cost a large node: `growth` and `leaders`, asked in turn.
-module(findings).
-export([main/1]).

-define(ASKS, 6).
-define(MIB, 1048576).

%% Args: [Root | Loads]; a load is {processes | tables | atoms, N}.
main([Root | Loads]) -> [load(Root, Load) || Load <- Loads].

load(Root, {What, N}) ->
    Target = {Node, _} = queries:start_target(Root, ["+P", "4000000", "+t", "4000000"]),
    queries:evaluate(Node, make(What), [{'N', N}]),
    Keeper = queries:connect(Node),
    [queries:load(Keeper, Name) || Name <- [growth, leaders]],
    io:format("~s, ~w ~s~n", [rpc:call(Node, erlang, system_info, [otp_release]), N, What]),
    Rows = lists:sublist(rpc:call(Node, erlang, processes, []), 40),
    [figures(Node, Keeper, Called, Name, Arg)
     || {Called, Name, Arg} <- [{"growth", growth, #{}}, {"leaders", leaders, #{most => 10, all => 150000}},
                                {"leaders with rows of a scan", leaders, #{most => 10, all => 150000, busiest => Rows}}]],
    queries:stop_target(Target).

make(processes) -> "[spawn(erlang, hibernate, [timer, sleep, [infinity]]) || _ <- lists:seq(1, N)], ok.";
make(tables) -> "spawn(fun() -> [ets:new(bench, []) || _ <- lists:seq(1, N)], timer:sleep(infinity) end),"
                " (fun F() -> erlang:system_info(ets_count) >= N orelse F() end)().";
make(atoms) -> "[list_to_atom(integer_to_list(I)) || I <- lists:seq(1, N)], ok.".

%% The largest of some, and the first, which has nothing to compare with.
figures(Node, Keeper, Called, Name, Arg) ->
    Watch = watch(Node),
    Costs = [Us || _ <- lists:seq(1, ?ASKS),
                   {ok, {Us, _}, _} <- [queries:ask(Keeper, Name, {in, Name, Arg}, 60000)]],
    {Peak, Long} = watched(Node, Watch, Keeper),
    Rest = lists:sum([M || P <- ours(Node, Keeper),
                           {memory, M} <- [rpc:call(Node, erlang, process_info, [P, memory])]]),
    Ms = [Us / 1000 || Us <- Costs],
    io:format("  ~-27s answers ~w of ~w; ms: first ~.1f, median ~.1f, most ~.1f; MiB: most ~.1f, at rest"
              " ~.1f; ms without a yield: ~w~n",
              [Called, length(Ms), ?ASKS | [case Ms of [] -> 0.0; _ -> F() end ||
               F <- [fun() -> hd(Ms) end, fun() -> lists:nth(length(Ms) div 2 + 1, lists:sort(Ms)) end,
                     fun() -> lists:max(Ms) end]]] ++ [Peak / ?MIB, Rest / ?MIB, Long]).

links(Node, P) -> {links, L} = rpc:call(Node, erlang, process_info, [P, links]), [X || X <- L, is_pid(X)].
ours(Node, Keeper) -> [Keeper | [P || P <- links(Node, Keeper), node(P) =:= Node]].

%% On the node: the growth of all processes' memory, every 5 ms, and who runs for long at a stretch.
watch(Node) ->
    queries:evaluate(Node,
        "spawn_opt(fun() -> erlang:system_monitor(self(), [{long_schedule, 1}]),"
        " Processes = fun() -> erlang:memory(processes) end,"
        " (fun F(First, Most, Long) -> receive"
        "   {monitor, P, long_schedule, Info} when is_pid(P) ->"
        "     F(First, Most, [{P, proplists:get_value(timeout, Info)} | Long]);"
        "   {monitor, _, _, _} -> F(First, Most, Long);"
        "   {tell, To} -> erlang:system_monitor(undefined), To ! {watched, Most - First, Long}"
        "  after 5 -> F(First, max(Most, Processes()), Long) end end)(Processes(), 0, [])"
        " end, [{priority, max}]).", []).

watched(Node, Watch, Keeper) ->
    Watch ! {tell, self()},
    receive {watched, Peak, Long} ->
        Ours = ours(Node, Keeper),
        {Peak, lists:max([0 | [Ms || {P, Ms} <- Long, lists:member(P, Ours)]])}
    after 60000 -> error(silent)
    end.
