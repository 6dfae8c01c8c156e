%% SPDX-License-Identifier: GPL-3.0-or-later
%%% The expressions of src/query/q against real nodes. Plays the program's part as an Erlang node:
%%% starts a target, asks `rex` exactly as docs/queries.md says, checks every answer against the
%%% node's own word, and that nothing stays behind. Prints TAP. Also used by tests/bench/scan.erl.
-module(queries).
-export([main/1, main/2, main/4, start_target/2, stop_target/1, evaluate/3, connect/1,
         connect/2, stop_keeper/1, load/2, load/3, load_all/1, ask/4, ask/5, wait/2, one_of/2, is_in/3,
         otp/1]).

-define(COOKIE, beamtop_test).

%% For what is answered in milliseconds, unless the machine gives us a small part of a processor.
-define(LONG_MS, 60000).
-define(PLAIN, <<"fun([], _Ctx) -> plain end.">>).
-define(START_MS, 300000). % a node of a busy machine took longer than a minute

%% ---- A target: an OS process of its own

%% Root: "" is the host's Erlang, else a root that chroot enters. Args: more arguments for erl.
start_target(Root, Args) -> start_target(Root, Args, "q").

start_target(Root, Args, Prefix) ->
    Name = lists:concat([Prefix, os:getpid(), "_", erlang:unique_integer([positive])]),
    Erl = ["erl", "-noinput", "-hidden", "-mode", "embedded", "-name", Name ++ "@127.0.0.1",
           "-setcookie", atom_to_list(?COOKIE) | Args],
    Command = case Root of "" -> Erl; _ -> ["chroot", Root | Erl] end,
    [Program | Rest] = Command,
    Port = open_port({spawn_executable, os:find_executable(Program)},
                     [{args, Rest}, binary, exit_status, stderr_to_stdout, hide,
                      {env, [{"ERL_CRASH_DUMP", "/dev/null"}]}]),
    Node = list_to_atom(Name ++ "@127.0.0.1"),
    wait(fun() -> net_kernel:hidden_connect_node(Node) end, ?START_MS),
    wait(fun() -> rpc:call(Node, init, get_status, []) =:= {started, started} end, ?START_MS),
    %% Ends with us, whatever happens.
    evaluate(Node, "spawn(fun() -> monitor_node(Client, true),"
                   " receive {nodedown, Client} -> halt(0) end end).", [{'Client', node()}]),
    {Node, Port}.

%% The value of an expression on a node, evaluated there.
evaluate(Node, Text, Bindings) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    case rpc:call(Node, erl_eval, exprs, [Forms, lists:sort(Bindings)], 120000) of
        {value, Value, _} -> Value;
        Other -> error(Other)
    end.

%% So many processes of the node that wait. What an expression does for each of many is slow there.
sleepers(Node, N) ->
    evaluate(Node, "lists:zipwith3(fun erlang:spawn/3, lists:duplicate(N, timer), lists:duplicate(N, sleep),"
                   " lists:duplicate(N, [infinity])).", [{'N', N}]).

kill(Node, Pids) ->
    evaluate(Node, "lists:zipwith(fun erlang:exit/2, Ps, lists:duplicate(length(Ps), kill)).",
             [{'Ps', Pids}]).

stop_target({Node, Port}) ->
    rpc:cast(Node, erlang, halt, [0]),
    receive {Port, {exit_status, _}} -> ok
    after 5000 ->
        case erlang:port_info(Port, os_pid) of
            {os_pid, Pid} -> os:cmd("kill -9 " ++ integer_to_list(Pid));
            undefined -> ok
        end
    end.

%% Until it holds.
wait(Test, Ms) -> wait_until(Test, erlang:monotonic_time(millisecond) + Ms).

wait_until(Test, Until) ->
    Late = erlang:monotonic_time(millisecond) > Until,
    case Test() of
        true -> ok;
        _ when Late -> error(timeout);
        _ -> timer:sleep(20), wait_until(Test, Until)
    end.

%% What one answer may lack, when the machine or the node did something else meanwhile, one of
%% several has.
one_of(1, Test) -> Test();
one_of(Tries, Test) -> try Test() catch error:_ -> timer:sleep(50), one_of(Tries - 1, Test) end.

%% Times are judged by `check all` only.
takes_at_most(Most, Us) -> Us < Most orelse os:getenv("BEAMTOP_CHECK") =/= "all".

is_in(Node, Pid, Mfa) ->
    rpc:call(Node, erlang, process_info, [Pid, current_function]) =:= {current_function, Mfa}.

%% ---- The program's part

source_dir() -> filename:join(os:getenv("BEAMTOP_SRCDIR", "."), "src/query/q").

sources() ->
    [list_to_atom(filename:basename(F, ".erl"))
     || F <- filelib:wildcard(filename:join(source_dir(), "*.erl")),
        not lists:member(filename:basename(F), ["keeper.erl", "loader.erl"])].

%% As the build makes it, once.
source(Name) ->
    case persistent_term:get({?MODULE, Name}, none) of
        none ->
            Made = prepare:prepared(filename:join(source_dir(), atom_to_list(Name) ++ ".erl")),
            persistent_term:put({?MODULE, Name}, Made),
            Made;
        Made ->
            Made
    end.

%% The constant form: evaluates the expressions in 'S'.
evaluate_form() ->
    Text = "begin B = [{'C', C}, {'K', K}, {'O', O}],"
           " Bs = case erlang:system_info(otp_release) >= \"25\" of true -> maps:from_list(B); false -> B end,"
           " {value, V, _} = erl_eval:exprs(binary_to_term(S), Bs, none, none), V end.",
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, [Form]} = erl_parse:parse_exprs(Tokens),
    Form.

connect(Node) -> connect(Node, #{}).

connect(Node, Options) ->
    Bindings = [{'C', self()}, {'K', source(keeper)}, {'O', Options}, {'S', source(loader)}],
    Ref = make_ref(),
    {rex, Node} ! {'$gen_call', {self(), Ref},
                   {call, erl_eval, expr, [evaluate_form(), Bindings, none, none, value], user}},
    receive {Ref, {keeper, Keeper, 3}} -> Keeper;
            {Ref, Other} -> error({start, Other})
    after ?LONG_MS -> error(start_timeout)
    end.

load(Keeper, Name) -> Keeper ! {load, Name, source(Name)}, ok.

load(Keeper, Name, Text) -> Keeper ! {load, Name, prepare:prepared_text(Text)}, ok.

load_all(Keeper) -> lists:foreach(fun(Name) -> load(Keeper, Name) end, sources()).

ask(Keeper, Name, Arg, DeadlineMs) -> ask(Keeper, erlang:unique_integer(), Name, Arg, DeadlineMs).

%% {Kind, {WorkedUs, Work}, Value}
ask(Keeper, Id, Name, Arg, DeadlineMs) ->
    Keeper ! {ask, Id, Name, Arg, DeadlineMs},
    receive {a, Id, Kind, Work, Value} -> {Kind, {worked_us(Work), Work}, Value}
    after DeadlineMs + 5000 -> no_answer
    end.

%% By wall time, as the node says it.
worked_us({Cost, _, {_, _}}) ->
    Native = case Cost of {Worked, _} -> Worked; {Most, _, at_most} -> Most; {Wall, _, Helped, {Helpers, _}} -> Wall + Helped + Helpers end,
    erlang:convert_time_unit(Native, native, microsecond).

%% ---- Tests. Each is {Text, fun(Target, Keeper)}; a failed match is a failed test.

default_scan() ->
    #{attr => reductions, mode => delta, order => desc, rows => 20,
      items => [id, reductions, memory, message_queue_len, current_function, status],
      pids => [], own => false, filter => none, reset => false}.

scan(Keeper, Changes) ->
    {ok, _, Answer} =
        ask(Keeper, scan, {in, scan, maps:merge(default_scan(), Changes)}, ?LONG_MS),
    Answer.

tests() ->
    [{same, "no evaluated receive sets the VM's timer", fun waits_test/2},
     {each, "top 20 by each attribute", fun top_test/2},
     {each, "rows of a scan between two scans", fun rows_test/2},
     {each, "delta and births", fun delta_test/2},
     {each, "how far the first sweep is", fun progress_test/2},
     {each, "births where the VM lists its processes in no order", fun unordered_test/2},
     {each, "a small node is swept without helpers, and with them", fun small_test/2},
     {each, "ascending order, own and followed processes", fun own_test/2},
     {each, "processes of other beamtops", fun beamtops_test/2},
     {same, "one that becomes ours is no longer among the node's", fun late_own_test/2},
     {each, "reductions of ours are told", fun own_work_test/2},
     {each, "who answers another question meanwhile is none of the node's processes", fun meanwhile_test/2},
     {each, "the nearest supervisor", fun supervisor_test/2},
     {each, "filter by labels", fun filter_test/2},
     {each, "what is known of servers without a name", fun behind_test/2},
     {each, "one process", fun process_test/2},
     {each, "mailbox, its guard and its refusal", fun mailbox_test/2},
     {each, "state of a behaviour, and of nothing else", fun state_test/2},
     {each, "state of a behaviour that hibernates, and is suspended then", fun state_asleep_test/2},
     {each, "state of a behaviour that waits in a call", fun state_in_call_test/2},
     {each, "applications add up to all processes", fun apps_test/2},
     {same, "applications of many processes, by parts", fun apps_many_test/2},
     {each, "supervision tree of a supervisor that was suspended in its sleep", fun tree_asleep_test/2},
     {each, "supervision tree, a busy supervisor in it", fun tree_test/2},
     {each, "a helper that died is started again", fun helpers_test/2},
     {same, "a helper that dies again is started again after a while", fun helpers_again_test/2},
     {each, "what is answered too late is dropped by the next question", fun too_late_test/2},
     {each, "a call that was taken, and never asked, is asked again", fun taken_test/2},
     {same, "300,000 tables are counted", fun tables_test/2},
     {each, "leaders are the node's longest message queues, largest and busiest processes", fun leaders_test/2},
     {same, "leaders are looked for among all, however long a signal takes", fun leaders_go_on_test/2},
     {each, "senders that a node suspends, which reads nothing", fun senders_test/2},
     {each, "timers, monitors, links and sockets, by number and process", fun kept_test/2},
     {each, "who restarts its children again and again", fun restarts_test/2},
     {each, "errors, deadlines and heap limits are answered", fun failure_test/2},
     {each, "an answer counts all that it did", fun counted_test/2},
     {each, "microstate accounting that was switched off is on again", fun msacc_is_set_again_test/2},
     {each, "a query that is a process: told, shielded, given time to end", fun process_form_test/2},
     {each, "nothing stays after any death", fun residue_test/2}].

%% No evaluated `receive` sets the VM's timer: all others wait for a message of one.
waits_test(_, _) ->
    [[] = timed(binary_to_term(Exprs)) || Name <- [keeper | sources()],
                                          {_, Exprs} <- element(2, binary_to_term(source(Name)))],
    [] = timed(binary_to_term(source(loader))),
    {_, [{_, Made}]} = binary_to_term(prepare:prepared_text(
        <<"[receive X when X =/= 1 -> X after T -> late end || T <- Ts]">>)),
    Waits = fun(Ts) -> element(2, erl_eval:exprs(binary_to_term(Made), #{'Ts' => Ts})) end,
    {_, Ref} = spawn_monitor(fun() ->
        [self() ! M || M <- [1, first]],
        [first, late, late, late] = Waits([100000, 0, 1, 20]),
        self() ! second,
        [second] = Waits([infinity]),
        exit(process_info(self(), messages))
    end),
    {messages, [1]} = receive {'DOWN', Ref, _, _, Is} -> Is after ?LONG_MS -> late end.

timed({'receive', _, _, Time, _} = Form) ->
    Sets = case Time of
        {integer, _, 0} -> false;
        {atom, _, infinity} -> false;
        {'case', _, {var, _, Timer}, _} -> lists:prefix("Timer_", atom_to_list(Timer)) =:= false;
        _ -> true
    end,
    [Time || Sets] ++ timed(tl(tuple_to_list(Form)));
timed(Form) when is_tuple(Form) -> timed(tuple_to_list(Form));
timed([Form | Forms]) -> timed(Form) ++ timed(Forms);
timed(_) -> [].

%% The node's own numbers before and after enclose the answer's, but for what a question itself costs.
between(Before, A, After, Share) ->
    true = A >= min(Before, After) * (1 - Share) andalso A =< max(Before, After) * (1 + Share).

close(A, B, Share) -> true = abs(A - B) =< Share * max(abs(A), abs(B)).

%% What our processes that stay did meanwhile, by the node's own account, is in what we tell of us,
%% and that is in what the node did.
own_work_test({Node, _}, K) ->
    load(K, told, <<"{[own_reductions], fun([], #{own_reductions := Own}) ->"
                       " {element(1, erlang:statistics(reductions)), counters:get(Own, 1)} end}.">>),
    Told = fun() -> {ok, _, Both} = ask(K, told, [], ?LONG_MS), Both end,
    Ours = fun() ->
        Children = links(Node, K),
        maps:from_list([{P, N} || P <- lists:usort([K | Children] ++ lists:append([links(Node, C) || C <- Children])),
                                  {reductions, N} <- [rpc:call(Node, erlang, process_info, [P, reductions])]])
    end,
    %% What a scan's parts do after an answer they tell with the next one; the first has more.
    [scan(K, #{}) || _ <- lists:seq(1, 3)],
    Before = Ours(),
    {All, Own} = Told(),
    [scan(K, #{}) || _ <- lists:seq(1, 20)],
    After = Ours(),
    {AllNow, OwnNow} = Told(),
    Did = lists:sum([N - maps:get(P, Before) || {P, N} <- maps:to_list(After), is_map_key(P, Before)]),
    true = Did > 20000 andalso OwnNow - Own > 0.9 * Did andalso OwnNow - Own < 1.1 * (AllNow - All).

%% Another one that is connected: a keeper under the name of its node, and what that has started, are
%% in no list, marked where they are asked for, and counted as work of ours.
beamtops_test({Node, _}, K) ->
    {Client, _} = Other = start_target("", [], "beamtop"),
    Grown = fun() ->
        {ok, _, {growth, _, #{growth := Fact}}} = ask(K, growth, {in, growth, #{}}, ?LONG_MS),
        Fact
    end,
    try
        Grown(),
        true = rpc:call(Client, net_kernel, hidden_connect_node, [Node]),
        Started = [Keeper, _] = evaluate(Node,
            "Me = self(), Work = fun W() -> lists:seq(1, 5000), receive after 1 -> W() end end,"
            " Serve = fun S(Counter) -> receive {share, From} -> From ! {shared, self(), Counter};"
            " {add, N} -> counters:add(Counter, 1, N) end, S(Counter) end,"
            " P = spawn(fun() -> register(Client, self()), Me ! {self(), spawn_link(Work)},"
            " Serve(counters:new(1, [])) end), receive {P, C} -> [P, C] end.", [{'Client', Client}]),
        %% Nor is what holds its connection, a process and a port.
        {Holder, Port} = evaluate(Node,
            "{_, P} = lists:keyfind(Client, 1, erlang:system_info(dist_ctrl)),"
            " {ets:lookup_element(sys_dist, Client, 5), list_to_binary(erlang:port_to_list(P))}.",
            [{'Client', Client}]),
        Ours = [Holder | Started],
        Named = atom_to_binary(Client, utf8),
        {ok, _, Armed} = ask(K, armed, #{most => 10}, ?LONG_MS),
        {[{Named, Keeper, 3, Port}], false} = {element(11, Armed), element(12, Armed)},
        Rows = fun(Changes) ->
            {scan, _, _, _, _, _, _, List, _} = scan(K, Changes#{rows => 100000}),
            [{Pid, Id} || {Pid, _, _, {Id}} <- List, lists:member(Pid, Ours)]
        end,
        [] = Rows(#{items => [id]}),
        [] = Rows(#{items => [id], attr => memory, mode => absolute}),
        Shown = Rows(#{items => [id], attr => memory, mode => absolute, own => true}),
        3 = length(Shown),
        [{beamtop, keeper, 0} = element(2, Id) || {_, Id} <- Shown],
        {ok, _, {heaps, _, _, _, _, _, Largest, Rest}} =
            ask(K, heaps, #{most => 10, running => false}, ?LONG_MS),
        [] = [P || Row <- Largest ++ Rest, P <- Ours, element(1, Row) =:= P],
        {ok, _, {leaders, _, _, Leaders}} = ask(K, leaders, {in, leaders, #{most => 20, all => 100000}}, ?LONG_MS),
        [] = [P || List <- maps:values(Leaders), P <- List, lists:member(P, Ours)],
        #{ports := #{new := 0}} = Grown(),
        kill(Node, [Keeper]),
        wait(fun() -> rpc:call(Node, erlang, whereis, [Client]) =:= undefined end, ?LONG_MS)
    after
        stop_target(Other)
    end.

%% What the node itself says of an attribute, best first.
direct(Node, Attr) ->
    Number = "case {Attr, process_info(P, Attr)} of"
        " {binary, {_, L}} -> lists:sum([S || {_, S, _} <- L]);"
        " {garbage_collection, {_, L}} -> proplists:get_value(minor_gcs, L);"
        " {_, {_, L}} when is_list(L) -> length(L);"
        " {_, {_, N}} -> N; {_, undefined} -> 0 end",
    lists:reverse(lists:sort(
        evaluate(Node, "[{" ++ Number ++ ", P} || P <- processes(), P =/= self()].",
                 [{'Attr', Attr}]))).

links(Node, Pid) ->
    case rpc:call(Node, erlang, process_info, [Pid, links]) of
        {links, Links} -> [P || P <- Links, is_pid(P), node(P) =:= Node];
        _ -> []
    end.

%% The values at the top agree where they do not move by themselves, and in order where they do.
top_test({Node, _}, K) ->
    Made = evaluate(Node, "[spawn(fun() -> [self() ! X || X <- lists:seq(1, N)], put(n, N),"
                   " put(b, binary:copy(<<0>>, 1000 * N)), timer:sleep(infinity) end)"
                   " || N <- lists:seq(1, 30)].", []),
    [wait(fun() -> is_in(Node, P, {timer, sleep, 1}) end, ?LONG_MS) || P <- Made],
    [begin
         {scan, _, _, _, Total, Total, _, Rows, []} =
             scan(K, #{attr => Attr, mode => absolute, items => [id]}),
         Values = [V || {_, V, _, _} <- Rows],
         Values = lists:reverse(lists:sort(Values)),
         one_of(20, fun() -> near_direct(Node, K, Attr) end)
     end || Attr <- [reductions, message_queue_len, memory, total_heap_size, heap_size,
                     stack_size, links, monitors, binary, garbage_collection]],
    {scan, _, _, _, _, _, _, [{_, 30, _, {Id, {Count, Bytes}}} | _], []} =
        scan(K, #{attr => message_queue_len, mode => absolute, items => [id, binary]}),
    {undefined, _, undefined, _, {erlang, apply, 2}} = Id,
    true = Count >= 1 andalso Bytes >= 30000,
    kill(Node, Made).

%% A process that ends, or collects all its heap, between the one look and the other moves the ranks.
near_direct(Node, K, Attr) ->
    {scan, _, _, _, _, _, _, Rows, []} =
        scan(K, #{attr => Attr, mode => absolute, items => [id]}),
    20 = length(Rows),
    Values = [V || {_, V, _, _} <- Rows],
    Own = [K | lists:append([[P | links(Node, P)] || P <- links(Node, K)])],
    Direct = [V || {V, P} <- direct(Node, Attr), not lists:member(P, Own)],
    [{Attr, true} = {Attr, abs(A - B) =< max(A, B) div 2}
     || {A, B} <- lists:zip(lists:sublist(Values, 5, 10), lists:sublist(Direct, 5, 10)),
        max(A, B) > 50, Attr =/= reductions].

%% What the node says of those pids itself; who has exited says so, and nothing that is a list is read.
rows_test({Node, _}, K) ->
    Made = evaluate(Node, "[spawn(fun() -> [self() ! X || X <- lists:seq(1, N)],"
                   " timer:sleep(infinity) end) || N <- lists:seq(1, 40)].", []),
    [wait(fun() -> is_in(Node, P, {timer, sleep, 1}) end, ?LONG_MS) || P <- Made],
    Pids = [Gone | Left] = lists:reverse(Made),
    evaluate(Node, "exit(P, kill).", [{'P', Gone}]),
    wait(fun() -> not rpc:call(Node, erlang, is_process_alive, [Gone]) end, ?LONG_MS),
    Items = [reductions, message_queue_len, memory, total_heap_size, heap_size, stack_size, status,
             current_function, garbage_collection],
    Ask = fun(Of) -> ask(K, rows, {Of, Pids}, ?LONG_MS) end,
    {ok, {Us, _}, {rows, Mono, [{Gone, gone} | Rows]}} = Ask(Items),
    true = Us > 0 andalso is_integer(Mono),
    Left = [P || {P, _} <- Rows],
    [begin
         %% The signals that ask move what they cost.
         Now = fun(Item) -> {Item, V} = rpc:call(Node, erlang, process_info, [P, Item]), V end,
         Gc = Now(garbage_collection),
         true = Reductions > 0 andalso Reductions =< Now(reductions),
         between(Now(memory), Memory, Now(memory), 0.5),
         true = Total >= Heap andalso Heap >= Stack andalso Minor =< proplists:get_value(minor_gcs, Gc),
         Full = proplists:get_value(fullsweep_after, Gc),
         {Len, Stack, {timer, sleep, 1}} =
             {Now(message_queue_len), Now(stack_size), Now(current_function)}
     end || {P, {Reductions, Len, Memory, Total, Heap, Stack, Status, {timer, sleep, 1}, {Minor, Full}}}
                <- Rows, Status =/= running],
    39 = length([Len || {_, {_, Len, _, _, _, _, waiting, {timer, sleep, 1}, _}} <- Rows]),
    {ok, _, {rows, Later, [_, {_, {39}} | _]}} = Ask([message_queue_len]),
    true = Later > Mono,
    [{error, _, _} = Ask([Item]) || Item <- [links, binary, messages, dictionary]],
    kill(Node, Left).

delta_test({Node, _}, K) ->
    scan(K, #{}),
    Pid = evaluate(Node, "spawn(fun() -> lists:seq(1, 100000), timer:sleep(infinity) end).", []),
    Sleepers = sleepers(Node, 25000),
    wait(fun() -> is_in(Node, Pid, {timer, sleep, 1}) end, ?LONG_MS),
    {scan, _, Interval, _, Total, Total, _, Rows, []} = scan(K, #{rows => 40}),
    true = Interval > 0 andalso Total > 25000 andalso length(Rows) =:= 40,
    {Pid, Value, Value, _} = lists:keyfind(Pid, 1, Rows),
    {scan, _, _, _, _, _, _, Again, []} = scan(K, #{rows => 40, pids => [Pid]}),
    {Pid, Later, Little, _} = lists:keyfind(Pid, 1, Again),
    true = Later - Value =:= Little andalso Little < 1000,
    kill(Node, [Pid | Sleepers]),
    wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) < 1000 end, ?LONG_MS),
    [scan(K, #{rows => 40}) || _ <- lists:seq(1, 8)],
    {scan, _, _, _, Left, _, _, _, []} = scan(K, #{}),
    true = Left < 1000.

%% Said at most every 100 ms, which a node of a size for tests does not take: here after each part.
%% Nothing waits for it, so some of it may be dropped: one of several sweeps says it all.
progress_test({Node, _}, _) ->
    Whole = prepare:whole(filename:join(source_dir(), "scan.erl")),
    AtOnce = binary:replace(Whole, <<"SayMs = 100,">>, <<"SayMs = 0,">>),
    true = AtOnce =/= Whole,
    Pids = sleepers(Node, 25000),
    try one_of(5, fun() -> says_how_far(Node, AtOnce) end)
    after
        kill(Node, Pids),
        wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) < 1000 end, ?LONG_MS)
    end.

says_how_far(Node, AtOnce) ->
    K = connect(Node),
    try
        load(K, scan, AtOnce),
        {scan, _, _, _, Total, _, _, _, []} = scan(K, #{}),
        Far = said_far(),
        {6, true} = {min(6, length(Far)), Far =:= lists:sort(Far)},
        {Last, All} = lists:last(Far),
        true = All >= Total andalso Last =< All andalso Last >= Total - 2,
        scan(K, #{}),
        [] = said_far(),
        %% Another attribute is a first sweep again.
        scan(K, #{attr => message_queue_len}),
        true = length(said_far()) >= 6
    after
        said_far(),
        stop_keeper(K)
    end.

said_far() ->
    receive {p, scan, Done, All} -> [{Done, All} | said_far()] after 0 -> [] end.

%% With a filter a small node has helpers, as a large one; what changed is known at each change.
small_test({Node, _}, K) ->
    Sup = idle_supervisor(Node),
    One = #{filter => {1, [name], #{name => #{kernel_sup => [], init => [], rex => []}}}},
    Scan = fun(Changes) ->
        {scan, _, _, _, Total, _, Own, Rows, _} = scan(K, Changes#{rows => 1000}),
        {Sup, Value, Delta, _} = lists:keyfind(Sup, 1, Rows),
        true = is_integer(Delta) andalso Delta >= 0 andalso Delta < Value,
        true = Total < 1000,
        [] = Rows -- lists:ukeysort(1, Rows),
        Own
    end,
    K ! {drop, scan},
    scan(K, #{}),
    Alone = Scan(#{}),
    [begin
         Scan(One),
         true = Scan(One) > Alone,
         %% Those that are retired end after their last answer.
         Scan(#{}),
         wait(fun() -> Scan(#{}) =:= Alone end, ?LONG_MS)
     end || _ <- [1, 2]],
    K ! {drop, scan}.

%% A table of processes that is used a second time.
unordered_test(_, _) ->
    [unordered(Most, Ended, Kept) || {Most, Ended, Kept} <- [{"1024", 3000, 300}, {"4096", 12000, 1200}]].

unordered(Most, Ended, Kept) ->
    {Node, _} = Target = start_target(get(root), ["+P", Most]),
    evaluate(Node, "lists:foreach(fun(_) -> {_, Ref} = spawn_monitor(fun() -> ok end),"
                   " receive {'DOWN', Ref, _, _, _} -> ok end end, lists:seq(1, Ended)).",
             [{'Ended', Ended}]),
    sleepers(Node, Kept),
    Alive = fun() -> evaluate(Node, "processes().", []) end,
    true = Alive() =/= lists:sort(Alive()),
    K = connect(Node),
    load(K, scan),
    [begin
         Born = sleepers(Node, N),
         {scan, _, _, _, Total, Total, _, Rows, []} = scan(K, #{rows => 100000}),
         Pids = [Pid || {Pid, _, _, _} <- Rows],
         [] = Born -- Pids,
         [] = Pids -- lists:usort(Pids),
         true = Total > Kept,
         kill(Node, Born)
     end || N <- [3, 0, 1, 50, 2, 7]],
    stop_keeper(K),
    stop_target(Target).

meanwhile_test({Node, _}, K) ->
    scan(K, #{}),
    Known = evaluate(Node, "processes().", []),
    %% Alone, and with helpers.
    All = #{filter => {1, [pid], #{pid => {re, <<".">>, []}}}},
    Rows = lists:append([element(8, scan_beside_questions(K, Filter))
                         || Filter <- [#{}, All], _ <- lists:seq(1, 10)]),
    [] = [Row || {Pid, _, _, _} = Row <- Rows, not lists:member(Pid, Known)],
    K ! {drop, scan}.

%% A question with nothing behind it.
ask_plain(K) ->
    load(K, plain, ?PLAIN),
    {ok, _, plain} = ask(K, plain, [], ?LONG_MS).

%% Each of the others has a process for its answer.
scan_beside_questions(K, Changes) ->
    Ids = [Scan | Others] = [erlang:unique_integer() || _ <- lists:seq(1, 12)],
    K ! {ask, Scan, scan, {in, scan, maps:merge((default_scan())#{rows := 100000}, Changes)}, ?LONG_MS},
    load(K, plain, ?PLAIN),
    [K ! {ask, Id, plain, [], ?LONG_MS} || Id <- Others],
    hd([receive {a, Id, _, _, Answer} -> Answer after ?LONG_MS -> error(no_answer) end || Id <- Ids]).

%% One that becomes ours after a part has taken it as the node's.
late_own_test({Node, _}, K) ->
    Many = sleepers(Node, 1200),
    P = evaluate(Node, "spawn(fun() -> receive {link, K} -> link(K) end, timer:sleep(infinity) end).",
                 [{'K', K}]),
    [P ! message || _ <- lists:seq(1, 1000)],
    First = fun() ->
        {scan, _, _, _, _, _, _, [{Pid, _, _, _} | _] = Rows, []} =
            scan(K, #{attr => message_queue_len, mode => absolute, rows => 5}),
        5 = length(Rows),
        Pid
    end,
    P = First(),
    P ! {link, K},
    wait(fun() -> is_in(Node, P, {timer, sleep, 1}) end, ?LONG_MS),
    true = P =/= First(),
    kill(Node, [P | Many]),
    K ! {drop, scan}.

own_test(_, K) ->
    {scan, _, _, _, _, _, Own, Rows, []} =
        scan(K, #{attr => memory, mode => absolute, own => true, rows => 100000}),
    {K, _, _, _} = lists:keyfind(K, 1, Rows),
    true = Own >= 3,
    {scan, _, _, _, _, _, _, Asc, []} = scan(K, #{attr => memory, mode => absolute, order => asc}),
    Values = [V || {_, V, _, _} <- Asc],
    Values = lists:sort(Values),
    {scan, _, _, _, _, _, _, Hidden, []} = scan(K, #{rows => 100000}),
    false = lists:keyfind(K, 1, Hidden),
    %% What is watched has a row beside the best, whatever the filter, and no second one.
    [{Last, _, _, _} | _] = lists:reverse(Asc),
    Watch = #{attr => memory, mode => absolute, rows => 5, watch => [Last, hd([P || {P, _, _, _} <- Rows])],
              filter => {9, [pid], #{pid => {re, <<"^<0\\.0\\.0>">>, []}}}},
    {scan, _, _, _, _, 1, _, [{Init, _, _, _}], _, Watched} = scan(K, Watch),
    [] = lists:sort([P || {P, _, _, _} <- Watched]) -- [Last, hd([P || {P, _, _, _} <- Rows])],
    true = lists:keymember(Last, 1, Watched) andalso not lists:keymember(Init, 1, Watched),
    [] = [V || {_, V, _, _} <- Watched, not is_integer(V)],
    {scan, _, _, _, _, _, _, _, []} = scan(K, #{watch => []}).

otp(Node) -> list_to_integer(rpc:call(Node, erlang, system_info, [otp_release])).

%% Whether the node can be asked for one key of a dictionary, so that the word of proc_lib is read.
has_key(Node) -> {dictionary, x} =:= evaluate(Node, "try element(1, process_info(self(), {dictionary, x}))"
                                              " catch error:_ -> none end.", []).

%% What is known of an idle supervisor's initial call.
supervisor_call(Node, Module) ->
    case has_key(Node) of true -> {supervisor, Module, 1}; false -> {gen_server, loop, 7} end.

%% By name, by module where there is none, through a worker that has started another, and none.
supervisor_test({Node, _}, K) ->
    load_supervisor(Node),
    {Unnamed, Child, Grandchild, Plain} = evaluate(Node,
        "Parent = self(),"
        "Pid = proc_lib:spawn(fun() -> {ok, Sup} = supervisor:start_link(queries_above, []),"
        "  [{_, Child, _, _}] = supervisor:which_children(Sup), Parent ! {self(), Sup, Child},"
        "  receive stop -> ok end end),"
        "{Sup, Child} = receive {Pid, S, C} -> {S, C} after 60000 -> error(late) end,"
        "Below = sys:replace_state(Child,"
        "  fun(_) -> proc_lib:spawn_link(timer, sleep, [infinity]) end, 60000),"
        "{Sup, Child, Below, spawn(timer, sleep, [infinity])}.", []),
    {scan, _, _, _, _, _, _, Rows, []} =
        scan(K, #{rows => 100000, items => [id, supervisor, memory]}),
    {Child, _, _, {{undefined, Call, _, _, _}, _, _}} = lists:keyfind(Child, 1, Rows),
    Call = case has_key(Node) of true -> {queries_above, init, 1}; false -> {gen_server, loop, 7} end,
    Above = fun(Pid) -> {_, _, _, {_, Sup, _}} = lists:keyfind(Pid, 1, Rows), Sup end,
    Of = fun(Name) -> rpc:call(Node, erlang, whereis, [Name]) end,
    [logger_sup, undefined, undefined] =
        [Above(Of(Name)) || Name <- [logger_std_h_default, init, kernel_sup]],
    %% Parents are known from OTP 25 on, ancestors by key from OTP 26.2 on.
    NetSup = case otp(Node) >= 25 of true -> kernel_sup; false -> undefined end,
    NetSup = Above(Of(net_sup)),
    Module = case has_key(Node) of true -> queries_above; false -> undefined end,
    [undefined, Module, Module, undefined] =
        [Above(Pid) || Pid <- [Unnamed, Child, Grandchild, Plain]],
    evaluate(Node, "[exit(P, kill) || P <- Pids], [code:F(queries_above) || F <- [delete, purge]].",
             [{'Pids', [Unnamed, Child, Grandchild, Plain]}]).

%% A row and a filter say the same, and say it of one that was seen to work once it waits again.
%% A state of 8 cells that hold a large integer at 2^8 places takes seconds to print.
behind_test({Node, _}, K) ->
    load_text(Node,
              "-module(queries_behind).\n-compile(export_all).\n"
              "init({shared, N}) -> {ok, tree(N)};\n"
              "init(asleep) -> {ok, here, hibernate};\ninit(states) -> {ok, here, [data]}.\n"
              "tree(0) -> 1 bsl 100000;\ntree(N) -> T = tree(N - 1), [T | T].\n"
              "callback_mode() -> state_functions.\nhere(_, _, Data) -> {keep_state, Data}.\n"
              "handle_call(_, _, State) -> {reply, ok, State}.\n"
              "handle_cast(_, State) -> receive go -> {noreply, State} end.\n"),
    Waits = fun(Pid) ->
        wait(fun() -> rpc:call(Node, erlang, process_info, [Pid, status]) =:= {status, waiting} end, ?LONG_MS)
    end,
    [_, Works | _] = Pids =
        [begin {ok, Pid} = rpc:call(Node, Module, start, [queries_behind, Arg, []]), Waits(Pid), Pid end
         || {Module, Arg} <- [{gen_server, {shared, 8}}, {gen_server, {shared, 1}}, {gen_server, asleep},
                              {gen_statem, states}]],
    gen_server:cast(Works, work),
    wait(fun() -> {current_function, {queries_behind, handle_cast, 2}} =:=
                      rpc:call(Node, erlang, process_info, [Works, current_function]) end, ?LONG_MS),
    Known = {queries_behind, init, 1},
    Calls = fun(Reset) ->
        {scan, _, _, _, _, _, _, Rows, []} = scan(K, #{rows => 100000, items => [id], reset => Reset}),
        [Call || Pid <- Pids, {P, _, _, {{_, Call, _, _, _}}} <- Rows, P =:= Pid]
    end,
    Expected = case has_key(Node) of
        true -> [Known, Known, Known, Known];
        false -> [{gen_server, loop, 7}, Known, {proc_lib, init_p, 5}, {gen_statem, loop_receive, 3}]
    end,
    {Expected, Expected} = {Expected, Calls(false)},
    {scan, _, _, _, _, _, _, Passing, _} =
        scan(K, #{filter => {9, [initial_call], #{initial_call => #{Known => []}}}, reset => true}),
    Same = lists:sort([Pid || {Pid, Call} <- lists:zip(Pids, Expected), Call =:= Known]),
    Same = lists:sort([Pid || {Pid, _, _, _} <- Passing]),
    Works ! go,
    wait(fun() -> rpc:call(Node, erlang, process_info, [Works, current_function])
                      =/= {current_function, {queries_behind, handle_cast, 2}} end, ?LONG_MS),
    {Expected, Expected} = {Expected, Calls(false)},
    evaluate(Node, "[exit(P, kill) || P <- Pids], [code:F(queries_behind) || F <- [delete, purge]].",
             [{'Pids', Pids}]).

%% A supervisor without a name, whose child is a server.
load_supervisor(Node) ->
    Text = "-module(queries_above).\n-export([init/1, handle_call/3, start/0]).\n"
           "init([]) -> {ok, {#{}, [#{id => a, start => {queries_above, start, []}}]}};"
           "init(child) -> {ok, child}.\n"
           "handle_call(_, _, State) -> {reply, ok, State}.\n"
           "start() -> gen_server:start_link(queries_above, child, []).\n",
    load_text(Node, Text).

load_text(Node, Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    Split = fun Split([], []) -> [];
                Split([{dot, _} = Dot | Rest], Form) -> [lists:reverse([Dot | Form]) | Split(Rest, [])];
                Split([Token | Rest], Form) -> Split(Rest, [Token | Form])
            end,
    Forms = [begin {ok, Form} = erl_parse:parse_form(Part), Form end || Part <- Split(Tokens, [])],
    {ok, Module, Code} = compile:forms(Forms, [r23]),
    {module, Module} = rpc:call(Node, code, load_binary, [Module, "", Code]).

filter_test({Node, _}, K) ->
    Sup = idle_supervisor(Node),
    Filter = fun(Maps) -> #{filter => {1, [name, initial_call, current_function], Maps}} end,
    {scan, _, _, _, _, 0, _, [], Labels} = scan(K, Filter(#{})),
    Texts = [Label || {_, Label} <- Labels],
    true = lists:member({name, kernel_sup}, Texts),
    true = lists:member({initial_call, supervisor_call(Node, kernel)}, Texts),
    true = lists:member({current_function, {init, loop, 1}}, Texts),
    {scan, _, _, _, _, 1, _, [{Sup, _, _, _}], More} = scan(K, Filter(#{name => #{kernel_sup => []}})),
    [] = [L || {_, L} <- More, lists:member(L, Texts)],
    {scan, _, _, _, _, 1, _, [{Sup, _, _, _}], _} =
        scan(K, #{filter => {2, [pid], #{pid => {re, list_to_binary(
            rpc:call(Node, erlang, pid_to_list, [Sup])), []}}}}).

process_test({Node, _}, K) ->
    Limits = #{stack => 10, links => 5},
    Call = supervisor_call(Node, kernel),
    Sup = idle_supervisor(Node),
    {ok, _, {process, _, Sup, Id, Items}} = ask(K, process, {<<"kernel_sup">>, Limits}, ?LONG_MS),
    {kernel_sup, Call, undefined, kernel, {proc_lib, init_p, 5}} = Id,
    Get = fun(Key) -> element(2, lists:keyfind(Key, 1, Items)) end,
    {links, Links} = rpc:call(Node, erlang, process_info, [Sup, links]),
    {Count, Five} = Get(links),
    Count = length(Links),
    5 = length(Five),
    undefined = Get(dictionary),
    [{gen_server, _, _, <<"gen_server.erl">>, Line} | _] = Get(stack),
    true = Line > 0,
    {ok, _, gone} = ask(K, process, {<<"kernel_config">>, Limits}, ?LONG_MS),
    %% A name that is no atom there stays none.
    Atoms = rpc:call(Node, erlang, system_info, [atom_count]),
    {ok, _, gone} = ask(K, process, {<<"surely no atom of that node">>, Limits}, ?LONG_MS),
    Atoms = rpc:call(Node, erlang, system_info, [atom_count]).

mailbox_test({Node, _}, K) ->
    Fill = "spawn(fun() -> Message = {message, 1, lists:duplicate(M, a)},"
           " lists:zipwith(fun erlang:send/2, lists:duplicate(N, self()), lists:duplicate(N, Message)),"
           " timer:sleep(infinity) end).",
    [Small, Large, Huge] =
        [begin
             P = evaluate(Node, Fill, [{'N', N}, {'M', M}]),
             Len = {message_queue_len, N},
             wait(fun() -> rpc:call(Node, erlang, process_info, [P, message_queue_len]) =:= Len end,
                  ?LONG_MS),
             P
         end || {N, M} <- [{20, 100}, {12000, 10}, {100001, 0}]],
    {ok, _, {ask, 20, _}} = ask(K, mailbox, {Small, 5, 60, false}, ?LONG_MS),
    {ok, _, {mailbox, 20, _, [{Bytes, Text} | _] = Five}} =
        ask(K, mailbox, {Small, 5, 60, true}, ?LONG_MS),
    5 = length(Five),
    true = Bytes > 800 andalso byte_size(Text) =< 60,
    <<"{message,1,[", _/binary>> = Text,
    {ok, _, {ask, 12000, _}} = ask(K, mailbox, {Large, 5, 60, false}, ?LONG_MS),
    {ok, _, {mailbox, 12000, _, [_]}} = ask(K, mailbox, {Large, 1, 60, true}, ?LONG_MS),
    {ok, _, {refused, 100001, _}} = ask(K, mailbox, {Huge, 5, 60, true}, ?LONG_MS),
    [rpc:call(Node, erlang, exit, [P, kill]) || P <- [Small, Large, Huge]],
    wait(fun() -> not rpc:call(Node, erlang, is_process_alive, [Small]) end, ?LONG_MS),
    {ok, _, gone} = ask(K, mailbox, {Small, 5, 60, false}, ?LONG_MS).

%% A loaded machine can keep it busy for a moment after the start; then it is rightly told as busy.
idle_supervisor(Node) ->
    Sup = rpc:call(Node, erlang, whereis, [kernel_sup]),
    Ask = fun(Items) -> rpc:call(Node, erlang, process_info, [Sup, Items]) end,
    IsIdle = fun() ->
        [{_, Waiting}, {_, {M, F, _}}] = Ask([message_queue_len, current_function]),
        Waiting =:= 0 andalso M =:= gen_server andalso lists:prefix("loop", atom_to_list(F))
    end,
    try wait(IsIdle, ?LONG_MS)
    catch error:timeout -> error({busy, Ask([status, messages, current_stacktrace])})
    end,
    Sup.

%% One that stayed so would fail the tests behind it, in whose supervisor it answers nobody.
while_suspended(Pid, Test) ->
    ok = sys:suspend(Pid, ?LONG_MS),
    try Test() after ok = sys:resume(Pid, ?LONG_MS) end.

state_test({Node, _}, K) ->
    Sup = idle_supervisor(Node),
    {ok, _, {ask, Memory}} = ask(K, state, {Sup, 30000, 100, false}, ?LONG_MS),
    {memory, Memory} = rpc:call(Node, erlang, process_info, [Sup, memory]),
    {ok, _, {state, Bytes, Text}} = ask(K, state, {Sup, 30000, 100, true}, ?LONG_MS),
    true = Bytes > 100 andalso byte_size(Text) =< 100,
    Plain = evaluate(Node, "proc_lib:spawn(timer, sleep, [infinity]).", []),
    {ok, _, {no_state, <<_, _/binary>>}} = ask(K, state, {Plain, 30000, 100, true}, ?LONG_MS),
    while_suspended(Sup, fun() ->
        {ok, _, {state, _, _}} = ask(K, state, {Sup, 30000, 100, true}, ?LONG_MS) end),
    {message_queue_len, 0} = rpc:call(Node, erlang, process_info, [Plain, message_queue_len]),
    rpc:call(Node, erlang, exit, [Plain, kill]).

%% Hibernating, it has no stack that tells what it is: that of gen_server before OTP 28, or that of
%% sys, when it is suspended in its sleep.
state_asleep_test({Node, _}, K) ->
    load_text(Node,
              "-module(queries_asleep).\n-behaviour(gen_server).\n-compile(export_all).\n"
              "init(State) -> {ok, State, hibernate}.\n"
              "handle_call(_, _, State) -> {reply, ok, State, hibernate}.\n"
              "handle_cast(_, State) -> {noreply, State, hibernate}.\n"),
    {ok, Pid} = rpc:call(Node, gen_server, start, [queries_asleep, here, []]),
    Ask = fun() -> {ok, _, Told} = ask(K, state, {Pid, 30000, 100, true}, ?LONG_MS), Told end,
    Read = case has_key(Node) of
        true -> fun() -> {state, _, <<"here">>} = Ask() end;
        false -> fun() -> {no_state, <<"it hibernates", _/binary>>} = Ask() end
    end,
    ok = gen_server:call(Pid, sleep, ?LONG_MS),
    Current = fun() ->
        {_, Mfa} = rpc:call(Node, erlang, process_info, [Pid, current_function]), Mfa end,
    wait(fun() -> lists:member(Current(), [{erlang, hibernate, 3}, {gen_server, loop_hibernate, 4}]) end,
         ?LONG_MS),
    Read(),
    while_suspended(Pid, fun() ->
        wait(fun() -> Current() =:= {erlang, hibernate, 3} end, ?LONG_MS), Read() end),
    evaluate(Node, "gen_server:stop(P), [code:F(queries_asleep) || F <- [delete, purge]].",
             [{'P', Pid}]).

%% It would not read the question, which would stay in its mailbox.
state_in_call_test({Node, _}, K) ->
    load_text(Node,
              "-module(queries_calling).\n-behaviour(gen_server).\n-compile(export_all).\n"
              "init(State) -> {ok, State}.\n"
              "handle_call(_, _, State) -> {reply, ok, State}.\n"
              "handle_cast(To, State) -> gen_server:call(To, never, infinity), {noreply, State}.\n"),
    {ok, Pid} = rpc:call(Node, gen_server, start, [queries_calling, here, []]),
    Silent = evaluate(Node, "proc_lib:spawn(timer, sleep, [infinity]).", []),
    gen_server:cast(Pid, Silent),
    Look = fun(Item) -> {_, Value} = rpc:call(Node, erlang, process_info, [Pid, Item]), Value end,
    wait(fun() -> element(1, Look(current_function)) =:= gen end, ?LONG_MS),
    {ok, _, {no_state, <<"it waits for the answer", _/binary>>}} =
        ask(K, state, {Pid, 30000, 100, true}, ?LONG_MS),
    0 = Look(message_queue_len),
    [rpc:call(Node, erlang, exit, [P, kill]) || P <- [Pid, Silent]],
    evaluate(Node, "[code:F(queries_calling) || F <- [delete, purge]].", []).

apps_test({Node, _}, K) ->
    {ok, _, {apps, _, [_ | _], _}} = ask(K, apps, #{}, ?LONG_MS),
    {ok, _, {apps, _, Rows, false}} = ask(K, apps, #{ms => 30000}, ?LONG_MS),
    {kernel, <<"ERTS", _/binary>>, <<_, _/binary>>, P, _, _, _} = lists:keyfind(kernel, 1, Rows),
    true = P > 10,
    Ours = lists:usort([K | lists:append([[L | links(Node, L)] || L <- links(Node, K)])]),
    close(lists:sum([element(4, R) || R <- Rows]),
          rpc:call(Node, erlang, system_info, [process_count]) - length(Ours), 0.2).

%% In a heap that has no room for a list of all of them.
apps_many_test({Node, _}, _) ->
    Master = evaluate(Node, "spawn(fun() -> N = 100000, lists:zipwith3(fun erlang:spawn_link/3,"
                            " lists:duplicate(N, erlang), lists:duplicate(N, hibernate),"
                            " lists:duplicate(N, [timer, sleep, [infinity]])),"
                            " timer:sleep(infinity) end).", []),
    wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) > 100000 end, ?LONG_MS),
    K = connect(Node, #{worker_heap_bytes => 6 * 1048576}),
    load(K, apps),
    {ok, _, {apps, _, Rows, false}} = ask(K, apps, #{ms => ?LONG_MS}, ?LONG_MS),
    true = lists:sum([element(4, R) || R <- Rows]) > 100000,
    %% Cut short: who holds the list ends with the answer.
    {ok, _, {apps, _, Few, true}} = ask(K, apps, #{ms => -1}, ?LONG_MS),
    %% The time is looked at soon: where processes never wait, each of 2,000 may answer late.
    true = lists:sum([element(4, R) || R <- Few]) =< 20,
    wait(fun() -> length(element(2, rpc:call(Node, erlang, process_info, [K, links]))) =< 11 end,
         ?LONG_MS),
    stop_keeper(K),
    exit(Master, kill),
    wait(fun() -> rpc:call(Node, erlang, system_info, [process_count]) < 10000 end, ?LONG_MS).

tree_test({Node, _}, K) ->
    _ = idle_supervisor(Node),
    {ok, _, {tree, kernel, [{0, Sup, _, root, _} | Rows], false}} =
        ask(K, tree, {<<"kernel">>, 1000, 30000}, ?LONG_MS),
    Sup = rpc:call(Node, erlang, whereis, [kernel_sup]),
    Logger = rpc:call(Node, erlang, whereis, [logger_sup]),
    Call = supervisor_call(Node, logger_sup),
    {1, Logger, <<"logger_sup">>, supervisor, {logger_sup, Call, 0, _, _}} =
        lists:keyfind(Logger, 2, Rows),
    Depths = [D || {D, _, _, _, _} <- Rows],
    2 = lists:max(Depths),
    %% All of it waits for one that does not answer: no longer than is needed.
    while_suspended(Logger, fun() ->
        with_growing(fun(Ms) ->
            {ok, _, {tree, kernel, Busy, _}} = ask(K, tree, {<<"kernel">>, 1000, Ms}, ?LONG_MS),
            {1, Logger, _, busy, _} = lists:keyfind(Logger, 2, Busy)
        end)
    end),
    {ok, _, {tree, '', [{0, Sup, <<"kernel">>, root, _} | _], _}} =
        ask(K, tree, {<<>>, 1000, 30000}, ?LONG_MS),
    {ok, _, {tree, kernel, Few, true}} = ask(K, tree, {<<"kernel">>, 5, 30000}, ?LONG_MS),
    5 = length(Few).

%% The time that a tree may take, larger where a machine needs more.
with_growing(Test) ->
    try Test(1000) catch error:_ -> try Test(4000) catch error:_ -> Test(16000) end end.

%% Supervisors hibernate at their start (OTP 27) or when idle for a second (OTP 29). One that is
%% suspended then would spin as long as a question for its children waits.
tree_asleep_test({Node, _}, K) ->
    Safe = rpc:call(Node, erlang, whereis, [kernel_safe_sup]),
    Info = fun() ->
        rpc:call(Node, erlang, process_info, [Safe, [message_queue_len, current_function]]) end,
    Sleeps = fun() -> lists:member(lists:last(Info()), [
        {current_function, {erlang, hibernate, 3}},
        {current_function, {gen_server, loop_hibernate, 4}}]) end,
    list_to_integer(rpc:call(Node, erlang, system_info, [otp_release])) < 29
        orelse wait(Sleeps, ?LONG_MS),
    while_suspended(Safe, fun() ->
        with_growing(fun(Ms) ->
            {ok, _, {tree, Safe, [{0, Safe, _, Type, _}], _}} =
                ask(K, tree, {Safe, 1000, Ms}, ?LONG_MS),
            %% It is not asked, and on OTP 25 to 27 has no children among its links.
            true = Type =:= busy orelse otp(Node) =< 27 andalso Type =:= root
        end),
        wait(fun() ->
            [{_, Waiting}, {_, {M, _, _}}] = Info(),
            M =:= sys orelse Waiting =:= 0
        end, ?LONG_MS),
        {ok, _, {state, _, _}} = ask(K, state, {Safe, 30000, 100, true}, ?LONG_MS)
    end),
    %% Before OTP 25 nothing says that it is a supervisor, or what is below it.
    Awake = case otp(Node) < 25 of true -> busy; false -> root end,
    {ok, _, {tree, Safe, [{0, Safe, _, Awake, _}], false}} = ask(K, tree, {Safe, 1000, 30000}, ?LONG_MS).

leaders_test({Node, _}, Keeper) ->
    Made = evaluate(Node,
        "Wait = fun() -> receive stop -> ok end end,"
        "Idle = spawn(Wait), [Idle ! {message, N} || N <- lists:seq(1, 300)],"
        "Large = spawn(fun() -> L = lists:seq(1, 1000000), Wait(), length(L) end),"
        "Holder = spawn(fun() -> L = [binary:copy(<<N>>, 1000000) || N <- lists:seq(1, 30)],"
        "                        put(made, true), Wait(), length(L) end),"
        "End = erlang:monotonic_time(millisecond) + 120000,"
        "Spin = fun F(Ms) -> lists:seq(1, 3000), receive after Ms -> ok end,"
        "                    erlang:monotonic_time(millisecond) > End orelse F(Ms) end,"
        "Busy = spawn(fun() -> register(queries_busy, self()), Spin(1) end),"
        "Until = fun F(Test) -> Test() orelse begin timer:sleep(20), F(Test) end end,"
        "Least = fun(Pid, Item, N) -> element(2, process_info(Pid, Item)) >= N end,"
        "Is = fun(Pid, Item, Value) -> process_info(Pid, Item) =:= {Item, Value} end,"
        "Until(fun() -> Least(Large, memory, 15000000) end),"
        "Until(fun() -> Is(Holder, dictionary, [{made, true}]) end),"
        "Until(fun() -> Least(Busy, reductions, 100000) end),"
        "Asleep = spawn(erlang, hibernate, [erlang, exit, [woken]]),"
        "Until(fun() -> Is(Asleep, status, waiting) end),"
        "Waker = spawn(fun() -> erlang:suspend_process(Asleep), Asleep ! message, Wait() end),"
        "Until(fun() -> Is(Asleep, message_queue_len, 1) end),"
        "Lates = [spawn(fun() -> receive go -> Spin(0) end end) || _ <- lists:seq(1, 5)],"
        "Few = spawn(Wait), [Few ! {message, N} || N <- lists:seq(1, 7)],"
        "{ok, Suspended} = gen_event:start(), sys:suspend(Suspended), Suspended ! message,"
        "Caller = spawn(fun() -> gen_server:call(Few, question, infinity) end),"
        "[Caller ! {message, N} || N <- lists:seq(1, 12)],"
        "Abroad = spawn(fun() -> gen_server:call(Asker, question, infinity) end),"
        "[Abroad ! {message, N} || N <- lists:seq(1, 12)],"
        "{Idle, Large, Holder, Busy, Asleep, Waker, Lates, Few, Suspended, Caller, Abroad}.",
        [{'Asker', self()}]),
    try leaders_are(Keeper, Made)
    after
        evaluate(Node, "[exit(P, kill) || P <- lists:flatten(tuple_to_list(Made)), is_pid(P)].",
                 [{'Made', Made}])
    end.

%% On one scheduler that many want a signal takes its turn: a hundred are more than an answer has time
%% for. The next one goes on with others.
leaders_go_on_test({Node, _}, Keeper) ->
    Pids = evaluate(Node,
        "erlang:system_flag(schedulers_online, 1),"
        " [spawn(fun() -> (fun F() -> lists:seq(1, 1000), F() end)() end) || _ <- lists:seq(1, 25)]"
        " ++ [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 300)].", []),
    try
        one_of(30, fun() ->
            {ok, _, {leaders, _, #{binaries := #{looked_at := Looked}}, _}} =
                ask(Keeper, leaders, {in, leaders, #{most => 5, all => 150000}}, ?LONG_MS),
            true = Looked > 250
        end)
    after
        evaluate(Node, "[exit(P, kill) || P <- Pids],"
                       " erlang:system_flag(schedulers_online, erlang:system_info(schedulers)).",
                 [{'Pids', Pids}])
    end.

%% A process that starts as many for clients, whose number varies, does not.
restarts_test({Node, _}, Keeper) ->
    load_text(Node,
              "-module(queries_restarts).\n-compile(export_all).\n"
              "init(pool) -> {ok, {{simple_one_for_one, 0, 1},\n"
              "    [{job, {queries_restarts, job, []}, temporary, 1000, worker, []}]}};\n"
              "init([]) -> {ok, {{one_for_one, 100000, 1},\n"
              "    [{1, {queries_restarts, child, []}, permanent, 1000, worker, []},\n"
              "     {2, {queries_restarts, child, []}, permanent, 1000, worker, []},\n"
              "     {3, {queries_restarts, child, []}, permanent, 1000, worker, []}]}}.\n"
              "child() -> {ok, proc_lib:spawn_link(queries_restarts, brief, [])}.\n"
              "brief() -> timer:sleep(50), exit(failed).\n"
              "job() -> {ok, proc_lib:spawn_link(timer, sleep, [50])}.\n"
              "pool() -> {ok, Pool} = supervisor:start_link(queries_restarts, pool),\n"
              "    [spawn_link(queries_restarts, client, [Pool]) || _ <- [1, 2, 3, 4]], receive stop -> ok end.\n"
              "client(Pool) -> {ok, Job} = supervisor:start_child(Pool, []), monitor(process, Job),\n"
              "    receive {'DOWN', _, _, _, _} -> client(Pool) end.\n"
              "sup() -> {ok, _} = supervisor:start_link(queries_restarts, []), receive stop -> ok end.\n"
              "clients() -> process_flag(trap_exit, true), clients(0).\n"
              "clients(N) -> spawn_link(timer, sleep, [N rem 7 * 10]),\n"
              "    receive _ -> ok after 5 -> ok end, clients(N + 1).\n"),
    Growth = fun() ->
        {ok, _, {growth, _, #{growth := Fact}}} =
            ask(Keeper, growth, {in, growth, #{}}, ?LONG_MS),
        Fact
    end,
    Level = evaluate(Node, "#{level := Level} = logger:get_primary_config(),"
                           "ok = logger:set_primary_config(level, critical), Level.", []),
    Start = fun(Function) -> rpc:call(Node, erlang, spawn, [queries_restarts, Function, []]) end,
    Clients = Start(clients),
    Growth(),
    timer:sleep(500),
    #{restarts := undefined} = Growth(),
    Pool = Start(pool),
    one_of(20, fun() ->
        #{restarts := #{failed := 0, normal := Ends}} = Growth(),
        true = Ends > 0
    end),
    kill(Node, [Pool]),
    Sup = Start(sup),
    try
        one_of(20, fun() ->
            #{restarts := #{per_s := PerS, children := 4, supervisor := #{pid := Pid}, normal := 0,
                            failed := Failed}} = Growth(),
            true = PerS >= 10 andalso Failed > 0,
            {links, Above} = rpc:call(Node, erlang, process_info, [Pid, links]),
            true = lists:member(Sup, Above)
        end)
    after
        kill(Node, [Sup, Clients]),
        evaluate(Node, "logger:set_primary_config(level, Level),"
                       " [code:F(queries_restarts) || F <- [delete, purge]].", [{'Level', Level}])
    end.

%% A timer has the size that growth.erl gives it; a process has its own monitors, links and sockets.
%% No function of the load holds more across calls than it was given: OTP 27 has no `allocate_zero`.
kept_test({Node, _}, Keeper) ->
    load_text(Node,
              "-module(queries_kept).\n-compile(export_all).\n"
              "start() -> start(spawn(queries_kept, keep, [])).\n"
              "start(Pid) -> {Pid, spawn(queries_kept, wait, [])}.\n"
              "wait() -> receive never -> ok end.\n"
              "keep() -> receive {keep, Of} -> keep(Of); {many, Of} -> monitors(Of, 40000), wait() end.\n"
              "keep(Of) -> monitors(Of, 2000), timers(Of, 3000), links(10), held(sockets(60, [])).\n"
              "monitors(_, 0) -> ok;\n"
              "monitors(Of, N) -> monitor(process, Of), monitors(Of, N - 1).\n"
              "timers(_, 0) -> ok;\n"
              "timers(Of, N) -> erlang:send_after(3600000, Of, late), timers(Of, N - 1).\n"
              "links(0) -> ok;\n"
              "links(N) -> spawn_link(queries_kept, wait, []), links(N - 1).\n"
              "sockets(0, All) -> All;\n"
              "sockets(N, All) -> sockets(N - 1, [socket:open(inet, stream, tcp) | All]).\n"
              "held(Sockets) -> erlang:garbage_collect(), wait(), Sockets.\n"),
    Facts = fun(Name, Arg) ->
        {ok, _, Answer} = ask(Keeper, Name, {in, Name, Arg}, ?LONG_MS),
        element(3, Answer)
    end,
    Kept = fun() -> maps:get(growth, Facts(growth, #{})) end,
    Timers = one_of(20, fun() -> #{kept := #{timers := N}} = Kept(), N end),
    {Pid, Of} = rpc:call(Node, queries_kept, start, []),
    try
        rpc:call(Node, erlang, send, [Pid, {keep, Of}]),
        one_of(100, fun() -> true = is_in(Node, Pid, {queries_kept, wait, 0}) end),
        one_of(40, fun() ->
            #{kept := #{timers := Now, timer_bytes := Bytes, monitor_bytes := Monitors},
              sockets := #{owner := #{pid := Pid}, seen := 60, sampled := Looked}} = Kept(),
            true = Now - Timers >= 2990 andalso Now - Timers < 3200 andalso Bytes =:= 152 * Now,
            true = Monitors >= 2000 * 120 andalso Looked >= 60
        end),
        one_of(20, fun() ->
            #{monitors := #{processes := Those}} =
                Facts(leaders, #{most => 50, all => 150000}),
            [#{monitors := 2000, monitored_by := By, links := 10, bytes := Bytes}] =
                [P || #{pid := Which} = P <- Those, Which =:= Pid],
            true = By =< 60 andalso Bytes >= 2000 * 48 andalso Bytes < 2000 * 128,
            [#{monitors := 0, monitored_by := 2000, links := 0}] =
                [P || #{pid := Which} = P <- Those, Which =:= Of]
        end),
        %% Too many to count them at each answer.
        {Pid2, Of2} = rpc:call(Node, queries_kept, start, []),
        put(many, [Pid2, Of2]),
        rpc:call(Node, erlang, send, [Pid2, {many, Of2}]),
        one_of(20, fun() ->
            #{monitors := #{processes := Those}} =
                Facts(leaders, #{most => 50, all => 150000}),
            [[#{monitors := undefined, mostly := monitors}],
             [#{monitored_by := undefined, mostly := monitored_by}]] =
                [[P || #{pid := Which} = P <- Those, Which =:= One] || One <- [Pid2, Of2]]
        end)
    after
        kill(Node, [Pid, Of | case erase(many) of undefined -> []; Many -> Many end]),
        evaluate(Node, "[code:F(queries_kept) || F <- [delete, purge]].", [])
    end.

senders_test({Node, _}, Keeper) ->
    {Peer, Port} = start_target(get(root), []),
    {os_pid, Os} = erlang:port_info(Port, os_pid),
    Signal = fun(Name) -> os:cmd("kill -" ++ Name ++ " " ++ integer_to_list(Os)) end,
    Bindings = [{'Peer', Peer}],
    true = evaluate(Node, "net_kernel:connect_node(Peer).", Bindings),
    Senders = fun() ->
        {ok, _, {leaders, _, #{senders := Fact}, _}} =
            ask(Keeper, leaders, {in, leaders, #{most => 5, all => 150000}}, ?LONG_MS),
        Fact
    end,
    #{looks := Looks, suspended := 0, suspended_looks := Held, processes := []} = Senders(),
    Signal("STOP"),
    Pids = evaluate(Node,
        "To = {nobody, Peer},"
        " Large = fun F() -> To ! binary:copy(<<0>>, 1000000), F() end,"
        " Small = fun F() -> gen_server:cast(To, small), F() end,"
        " Call = fun F() -> catch gen_server:call(To, small, 1), F() end,"
        " Cast = fun F() -> rpc:cast(Peer, lists, max, [[1]]), F() end,"
        " [spawn(F) || F <- [Large, Large, Small, Small, Small, Call, Cast]].", Bindings),
    try
        one_of(100, fun() ->
            #{looks := Now, suspended := 7, suspended_looks := More, nodes := [Peer],
              processes := [#{pid := First} | _]} = Senders(),
            true = Now > Looks andalso More > Held andalso lists:member(First, Pids)
        end),
        Signal("CONT"),
        kill(Node, Pids),
        one_of(100, fun() -> #{suspended := 0, nodes := [Peer], processes := [_ | _]} = Senders() end)
    after
        Signal("CONT"),
        kill(Node, Pids),
        stop_target({Peer, Port})
    end.

%% Of several answers: in the time of one the node may have had no processor to work with, or not
%% have come to look at all its processes.
leaders_are(Keeper, {Idle, Large, Holder, Busy, Asleep, _, Lates, Few, Suspended,
                     Caller, Abroad}) ->
    {Here, Self} = {node(), self()},
    Ask = fun() ->
        {ok, {Us, _}, {leaders, Mono, Facts, Leaders}} =
            ask(Keeper, leaders, {in, leaders, #{most => 50, all => 150000}}, ?LONG_MS),
        true = is_integer(Mono) andalso takes_at_most(200000, Us),
        {Facts, Leaders}
    end,
    one_of(30, fun() ->
        {#{binaries := Binaries, kin := #{callers := Callers}},
         #{message_queue_len := [Idle | _] = Waiting, memory := Memory, reductions := Workers,
           binary := [Holder | _]}} = Ask(),
        [Asleep, Suspended] = lists:sort(lists:nthtail(length(Waiting) - 2, Waiting)),
        true = lists:member(Few, Waiting),
        [#{waits_for := Few}] = [C || #{pid := P} = C <- Callers, P =:= Caller],
        [#{waits_for := Self, node := Here}] = [C || #{pid := P} = C <- Callers, P =:= Abroad],
        true = lists:member(Busy, Workers) andalso lists:member(Large, Memory),
        #{bytes := Bytes, holders := [#{pid := Holder, bytes := Held, binaries := Refs} | _],
          looked_at := Looked, processes := Processes} = Binaries,
        true = Refs >= 30 andalso Held >= 30000000 andalso Held =< Bytes
            andalso Looked > Processes - 20
    end),
    %% The first answer of a large node.
    one_of(30, fun() ->
        {ok, _, {leaders, _, None, #{message_queue_len := [Idle | _]} = Only}} =
            ask(Keeper, leaders, {in, leaders, #{most => 5, all => 150000, first => true}}, ?LONG_MS),
        {0, 1} = {map_size(None), map_size(Only)}
    end),
    %% The same again, from what is known. How many collections there were at least: a full one in
    %% between begins anew.
    one_of(30, fun() ->
        {#{gc := #{processes := Collectors}, binaries := #{holders := [#{pid := Holder} | _]}},
         #{message_queue_len := [Idle | _], memory := Again}} = Ask(),
        true = lists:member(Large, Again),
        [#{name := queries_busy, initial_call := {_, _, _}, minor_gcs_per_s := Gcs}] =
            [C || #{pid := P} = C <- Collectors, P =:= Busy],
        true = Gcs > 10
    end),
    %% Between two looks at the reductions of all, only who is given, or known, is among the busiest.
    %% The look at all may come just then.
    Knows = fun(Late, Rows) ->
        {ok, _, {leaders, _, _, #{message_queue_len := [Idle | _], reductions := Fast}}} =
            ask(Keeper, leaders, {in, leaders, #{most => 5, all => 150000, busiest => Rows}}, ?LONG_MS),
        lists:member(Late, Fast)
    end,
    true = lists:any(fun(Late) ->
        Late ! go,
        OnlyWhenGiven = not Knows(Late, [Large])
            andalso one_of(30, fun() -> true = Knows(Late, [Large, Late]) end),
        exit(Late, kill),
        OnlyWhenGiven
    end, Lates).

%% A call that a helper of that kind makes: {ok, Node}, late or failed.
load_waits(K) ->
    load(K, waits, <<"{[in_time], fun(Kind, #{in_time := InTime}) ->"
                        " {[Answer], _} = InTime([{Kind, fun erlang:node/0, []}], 5000), Answer end}.">>).
waits(K, Kind) ->
    {ok, _, Answer} = ask(K, waits, Kind, ?LONG_MS),
    Answer.

%% The tables' helper as well: growth goes on.
helpers_die(Node, Test) ->
    K = connect(Node),
    load(K, growth),
    load_waits(K),
    Allocs = fun() -> waits(K, alloc) end,
    Tables = fun() ->
        {ok, _, {growth, _, #{growth := #{ets := Ets}}}} =
            ask(K, growth, {in, growth, #{}}, ?LONG_MS),
        Ets
    end,
    wait(fun() -> is_tuple(Allocs()) end, ?LONG_MS),
    Kill = fun() ->
        Waiters = [P || P <- links(Node, K),
                        rpc:call(Node, erlang, process_info, [P, priority]) =:= {priority, high}],
        true = length(Waiters) > 1,
        kill(Node, Waiters),
        wait(fun() -> [] =:= Waiters -- (Waiters -- links(Node, K)) end, ?LONG_MS)
    end,
    Both = fun() -> is_tuple(Allocs()) andalso is_map(Tables()) end,
    Kill(),
    wait(Both, ?LONG_MS),
    %% They come again after a while, which may be over before the answer.
    Test(fun() -> one_of(5, fun() -> Kill(), {failed, undefined} = {Allocs(), Tables()} end) end, Both),
    stop_keeper(K).

helpers_test({Node, _}, _) -> helpers_die(Node, fun(_, _) -> ok end).

helpers_again_test({Node, _}, _) ->
    helpers_die(Node, fun(DieAgain, Both) -> DieAgain(), wait(Both, ?LONG_MS) end).

too_late_test({Node, _}, K) ->
    load(K, too_late, <<"{holder, [in_time], fun({Calls, Ms}, #{in_time := InTime}) ->"
                           " {Answers, _} = InTime(Calls, Ms),"
                           " {{self(), Answers, process_info(self(), message_queue_len)}, none} end}.">>),
    Ask = fun(Call, Ms) ->
        {ok, _, Told} = ask(K, too_late, {in, too_late, {[Call], Ms}}, ?LONG_MS), Told end,
    [begin
         Holder = one_of(20, fun() ->
             {Pid, [late], _} = Ask({alloc, fun timer:sleep/1, [200]}, 10),
             Pid
         end),
         wait(fun() -> rpc:call(Node, erlang, process_info, [Holder, message_queue_len])
                           =:= {message_queue_len, 1} end, ?LONG_MS),
         {Holder, [{ok, Node}], {message_queue_len, 0}} = Ask({tables, fun erlang:node/0, []}, ?LONG_MS)
     end || _ <- [1, 2]],
    K ! {drop, too_late}.

%% A call that was taken by a question which ended before it asked: late once, and asked again.
taken_test(_, K) ->
    load(K, taken, <<"{[in_time], fun([], #{in_time := InTime}) ->"
                        " Of = fun(Fun, Name) ->"
                        "  {env, [Info]} = erlang:fun_info(Fun, env),"
                        "  [Bindings | _] = [B || B <- tuple_to_list(Info), is_map(B) orelse is_list(B)],"
                        "  case Bindings of #{} -> maps:get(Name, Bindings);"
                        "                   _ -> orddict:fetch(Name, Bindings) end end,"
                        " Slots = Of(Of(Of(Of(InTime, 'InTime'), 'AllInTime'), 'AskEach'), 'Slots'),"
                        " 0 = atomics:get(Slots, 1),"
                        " Ago = erlang:convert_time_unit(10, second, native),"
                        " atomics:put(Slots, 1, erlang:monotonic_time() - Ago) end}.">>),
    load_waits(K),
    wait(fun() -> is_tuple(waits(K, alloc)) end, ?LONG_MS),
    wait(fun() -> element(1, ask(K, taken, [], ?LONG_MS)) =:= ok end, ?LONG_MS),
    late = waits(K, alloc),
    wait(fun() -> is_tuple(waits(K, alloc)) end, ?LONG_MS).

%% More than our helper had room for.
tables_test(_, _) ->
    {Node, _} = Target = start_target(get(root), []),
    K = connect(Node),
    load(K, growth),
    evaluate(Node, "spawn(fun() -> N = 300000,"
                   " lists:zipwith(fun ets:new/2, lists:duplicate(N, queries_many), lists:duplicate(N, [])),"
                   " timer:sleep(infinity) end), ok.", []),
    wait(fun() -> rpc:call(Node, erlang, system_info, [ets_count]) > 300000 end, ?LONG_MS),
    [one_of(20, fun() ->
         {ok, _, {growth, _, #{growth := #{ets := #{tables := Count, measured := Measured}}}}} =
             ask(K, growth, {in, growth, #{}}, ?LONG_MS),
         true = Count >= 300000 andalso Measured > 100
     end) || _ <- [1, 2]],
    Bytes = lists:sum([B || P <- links(Node, K),
                            {memory, B} <- [rpc:call(Node, erlang, process_info, [P, memory])]]),
    true = Bytes < 8 * 1048576,
    stop_target(Target).

failure_test(_, K) ->
    K ! {load, wrong, term_to_binary({query, [{[], <<"no term">>}]})},
    load(K, crash, <<"fun(_, _) -> error({because, lists:seq(1, 100000)}) end.">>),
    load(K, sleep, <<"fun(_, _) -> timer:sleep(infinity) end.">>),
    load(K, grow, <<"fun(N, _) -> (fun F(L) -> F([L | lists:seq(1, N)]) end)([]),"
                       " (fun G(L) -> G([lists:seq(1, N) | L]) end)([]) end.">>),
    load(K, large, <<"fun(N, _) -> lists:seq(1, N) end.">>),
    {error, _, _} = ask(K, wrong, [], ?LONG_MS),
    load(K, wrong_holder, <<"X = surely_not:here(),\n{holder, [], fun(_, _) -> X end}.">>),
    [{error, _, {error, undef}} = ask(K, wrong_holder, {in, wrong_holder, []}, ?LONG_MS) || _ <- [1, 2]],
    {error, _, {error, {in, wrong_holder}}} = ask(K, wrong_holder, [], ?LONG_MS),
    {error, _, {error, Cut}} = ask(K, crash, [], ?LONG_MS),
    true = erlang:external_size(Cut) < 2000,
    {error, _, _} = ask(K, nothing, [], ?LONG_MS),
    {timeout, _, 100} = ask(K, sleep, [], 100),
    stopped_costs_what_it_did(K),
    {killed, _, max_heap} = ask(K, large, 20000000, ?LONG_MS),
    load(K, ends, <<"{process, [], fun(_, _) -> exit(because) end}.">>),
    {error, _, {exit, because}} = ask(K, ends, {in, ends, []}, ?LONG_MS),
    {scan, _, _, _, _, _, _, _, _} = scan(K, #{}),
    K ! {drop, scan},
    {scan, _, 0, _, _, _, _, _, _} = scan(K, #{}),
    K ! nonsense,
    ask_plain(K).

%% Not what it waited: on a node without a scheduler for it that is nearly all of the time. A worker,
%% and a holder that has worked before.
stopped_costs_what_it_did(K) ->
    Work = <<"lists:sort([X rem 7919 || X <- lists:seq(1, 20000)])">>,
    load(K, slow, <<"fun(_, _) -> ", Work/binary, ", timer:sleep(infinity) end.">>),
    load(K, held, <<"{holder, [], fun(Arg, _) -> ", Work/binary, ", Arg =:= sleep andalso"
                    " timer:sleep(infinity), {done, none} end}.">>),
    one_of(8, fun() ->
        {timeout, {_, {{Wall, Did, at_most}, _, _}}, 3000} = ask(K, slow, [], 3000),
        {true, true} = {Wall > 0, Did > 20000 andalso Did < 5000000}
    end),
    one_of(8, fun() ->
        Before = [begin
                      {ok, {_, {{_, Did, _, _}, _, _}}, done} = ask(K, held, {in, held, []}, ?LONG_MS),
                      Did
                  end || _ <- lists:seq(1, 10)],
        {timeout, {_, {{_, Held, at_most}, _, _}}, 3000} = ask(K, held, {in, held, sleep}, 3000),
        {true, true} = {Held > 20000, Held < lists:sum(Before)}
    end).

%% Switched off by anyone, as by the late end of one that missed its deadline: it is on again soon,
%% and off in the end.
msacc_is_set_again_test({T, _}, K) ->
    Ask = fun() ->
        {ok, _, {msacc, _, Before, _, _}} = ask(K, msacc, {in, msacc, []}, ?LONG_MS),
        timer:sleep(100),
        Before
    end,
    Sum = fun() ->
        lists:sum([lists:sum(maps:values(C))
                   || #{type := scheduler, counters := C}
                          <- rpc:call(T, erlang, statistics, [microstate_accounting])])
    end,
    IsOn = fun() ->
        Old = Sum(),
        timer:sleep(100),
        2 * (Sum() - Old) > rpc:call(T, erlang, convert_time_unit, [100, millisecond, perf_counter])
    end,
    false = Ask(),
    true = rpc:call(T, erlang, system_flag, [microstate_accounting, false]),
    wait(fun() -> not IsOn() end, ?LONG_MS),
    wait(fun() -> Ask() =:= false andalso IsOn() end, ?LONG_MS),
    K ! {drop, msacc},
    wait(fun() -> not IsOn() end, ?LONG_MS).

%% An answer counts all that it did, whatever its query counted in between.
counted_test(_, K) ->
    load(K, counted, <<"{holder, [count_work], fun(_, #{count_work := Count}) ->"
                          " Work = fun() -> lists:sort([X rem 7919 || X <- lists:seq(1, 20000)]) end,"
                          " Before = element(2, process_info(self(), reductions)),"
                          " [begin Work(), Count() end || _ <- [1, 2, 3, 4, 5]],"
                          " {element(2, process_info(self(), reductions)) - Before, none} end}.">>),
    [begin
         {ok, {_, {{_, Counted, _, _}, _, _}}, Did} = ask(K, counted, {in, counted, []}, ?LONG_MS),
         true = Did > 10000 andalso Counted >= Did andalso Counted < 2 * Did
     end || _ <- [1, 2, 3]],
    K ! {drop, counted}.

%% Answers asks in turn; `ended` goes to the client only when it is given time at the end. Its
%% shield tells the client what passes through it; the keeper forgets it with the process.
process_form_test(_, K) ->
    Text = <<"{process, [c], fun(Keeper, #{c := C}) -> process_flag(trap_exit, true),"
             " (fun Loop(Told) -> receive"
             "   {ask, _, never} -> Loop(Told);"
             "   {ask, Id, shield} -> Keeper ! {shield, self(), fun(P) -> C ! {parked,"
             "      process_info(P, current_function)} end},"
             "      receive {shielded, Keeper} -> ok end,"
             "      Keeper ! {done, Id, ok, {0, 0}, shielded}, Loop(Told);"
             "   {ask, Id, told} -> Keeper ! {done, Id, ok, {0, 0}, Told}, Loop([]);"
             "   {tell, Term} -> Loop([Term | Told]);"
             "   {'EXIT', _, shutdown} -> timer:sleep(50), C ! ended"
             " end end)([]) end}.">>,
    load(K, part, Text),
    K ! {tell, part, too_early},
    {error, _, {error, {in, part}}} = ask(K, part, told, ?LONG_MS),
    {ok, _, []} = ask(K, part, {in, part, told}, ?LONG_MS),
    K ! {tell, part, one},
    {ok, _, [one]} = ask(K, part, {in, part, told}, ?LONG_MS),
    {ok, _, shielded} = ask(K, part, {in, part, shield}, ?LONG_MS),
    ask_plain(K),
    %% Spawned but not run yet, or asleep: in either case nothing was evaluated.
    receive {parked, {current_function, {erlang, hibernate, _}}} -> ok
    after ?LONG_MS -> error(not_parked) end,
    {timeout, _, 50} = ask(K, part, {in, part, never}, 50),
    in_time_to_end(K),
    %% The shield goes with the process, which ends after its last word.
    wait(fun() ->
        ask_plain(K),
        receive {parked, _} -> false after 0 -> true end
    end, ?LONG_MS),
    {ok, _, []} = ask(K, part, {in, part, told}, ?LONG_MS),
    K ! {drop, part},
    in_time_to_end(K).

%% A second, in which a loaded machine may have given the node no processor: then once more.
in_time_to_end(K) -> in_time_to_end(K, 10).

in_time_to_end(_, 0) -> error(no_time_to_end);
in_time_to_end(K, Tries) ->
    receive ended -> ok
    after 3000 ->
        {ok, _, _} = ask(K, part, {in, part, told}, ?LONG_MS),
        K ! {drop, part},
        in_time_to_end(K, Tries - 1)
    end.

%% ---- What stays behind: nothing

residue(Node) ->
    evaluate(Node,
        "{lists:sort([{process_info(P, registered_name), process_info(P, initial_call)}"
        "  || P <- processes(), P =/= self()]),"
        " lists:sort([M || {M, _} <- code:all_loaded()]),"
        " erlang:statistics(scheduler_wall_time_all),"
        " lists:sort([{P, M} || P <- processes(), P =/= self(),"
        "   {monitored_by, [_ | _] = M} <- [process_info(P, monitored_by)], is_pid(whereis(rex)),"
        "   P =/= whereis(rex)])}.", []).

%% Without ours: what ends when we are told that it does needs a moment.
at_rest(Node) ->
    Ours = "[P || P <- processes(), {dictionary, D} <- [process_info(P, dictionary)],"
           "      lists:member({'$initial_call', {beamtop, keeper, 0}}, D)].",
    wait(fun() -> [] =:= evaluate(Node, Ours, []) end, ?LONG_MS),
    Twice = fun() -> Before = residue(Node), timer:sleep(100), Before = residue(Node) end,
    one_of(100, Twice).

same(Node, Before, 0) -> {Before, residue(Node)};
same(Node, Before, Tries) ->
    case residue(Node) of
        Before -> same;
        _ -> timer:sleep(50), same(Node, Before, Tries - 1)
    end.

residue_test({Node, Port}, Keeper) ->
    stop_keeper(Keeper),
    Kinds = [client, keeper, holder, part, worker, stop],
    session(Node, stop, 0), % the first connection brings the atoms of the texts
    Before = at_rest(Node),
    undefined = element(3, Before),
    Atoms = rpc:call(Node, erlang, system_info, [atom_count]),
    [begin
         session(Node, Kind, rand:uniform(60)),
         case same(Node, Before, 600) of
             same -> ok;
             {Was, Is} -> error({residue, Kind, [{W, I} || {W, I} <- lists:zip(
                 tuple_to_list(Was), tuple_to_list(Is)), W =/= I]})
         end
     end || _ <- [1, 2], Kind <- Kinds],
    [] = evaluate(Node, "[binary_to_term(<<131, 75, I:24>>)"
                        " || I <- lists:seq(N, erlang:system_info(atom_count) - 1)].", [{'N', Atoms}]),
    %% A control first: that a line of the target's log reaches us.
    [] = output(Port, 200),
    evaluate(Node, "spawn(fun() -> group_leader(whereis(user), self()),"
                   " error(control) end), ok.", []),
    receive {Port, {data, _}} -> ok after ?LONG_MS -> error(no_control) end.

%% A client in a process of its own, ended at a moment in the middle of its work.
session(Node, Kind, Ms) ->
    {Client, Mon} = spawn_monitor(fun() ->
        K = connect(Node),
        load_all(K),
        load(K, plain, ?PLAIN),
        ask(K, plain, [], ?LONG_MS),
        %% With helpers.
        One = #{filter => {1, [name], #{name => #{kernel_sup => []}}}},
        scan(K, One),
        K ! {ask, 1, scan, {in, scan, maps:merge(default_scan(), One)}, 5000},
        K ! {ask, 2, state, {K, 1000, 100}, 5000},
        K ! {ask, 3, apps, #{}, 5000},
        timer:sleep(Ms),
        Kill = fun(P) -> rpc:call(Node, erlang, exit, [P, kill]) end,
        case Kind of
            client -> ok;
            keeper -> Kill(K);
            holder -> lists:foreach(Kill, links(Node, K));
            part -> [Kill(P) || H <- links(Node, K), P <- links(Node, H), P =/= K];
            worker -> load(K, sleep, <<"fun(_, _) -> timer:sleep(infinity) end.">>),
                      K ! {ask, 4, sleep, [], 60000}, timer:sleep(20);
            stop -> K ! stop, receive {bye, K} -> ok after ?LONG_MS -> error(no_bye) end
        end,
        exit(kill)
    end),
    receive {'DOWN', Mon, process, Client, kill} -> ok;
            {'DOWN', Mon, process, Client, killed} -> ok;
            %% The keeper is linked to its client, and takes it along.
            {'DOWN', Mon, process, Client, _} when Kind =:= keeper -> ok;
            {'DOWN', Mon, process, Client, Why} -> error(Why)
    end.

output(Port, Ms) ->
    receive {Port, {data, Bytes}} -> [Bytes | output(Port, Ms)]
    after Ms -> []
    end.

%% ---- Main: one TAP line a test and release. Targets: [{Release, Root | {none, Why}, [Kind]}]

main(Targets) -> main(Targets, tests()).

main(Targets, Tests) ->
    main(Targets, Tests, [], fun({Node, _}) -> K = connect(Node), load_all(K), K end).

%% Tests: [{Kind, Text, fun(Target, Given)}]; Kind is one of which.sh. What a test returns as
%% {said, Text} is printed, and {skip, Why} by one that tried nothing. A target is started with Args
%% for erl; Given is Begin(Target).
main(Targets, Tests, Args, Begin) ->
    Chosen = string:lexemes(os:getenv("BEAMTOP_TESTS", ""), " "),
    Runs = [{Otp, Root, [{Text, Test} || {Kind, Text, Test} <- Tests, lists:member(Kind, Kinds),
                                         Chosen =:= [] orelse lists:member(name(Text), Chosen)]}
            || {Otp, Root, Kinds} <- Targets],
    io:format("1..~w~n", [lists:sum([length(Of) || {_, _, Of} <- Runs])]),
    [run_root(Otp, Root, Of, Args, Begin) || {Otp, Root, [_ | _] = Of} <- Runs].

name(Text) -> [case C of $\s -> $_; _ -> C end || C <- Text].

run_root(Otp, {none, Why}, Tests, _, _) ->
    [io:format("ok - ~w: ~s # SKIP ~s~n", [Otp, Text, Why]) || {Text, _} <- Tests];
run_root(Otp, Root, Tests, Args, Begin) ->
    put(root, Root),
    Target = start_target(Root, Args),
    Given = Begin(Target),
    [run(Otp, Text, fun() -> Test(Target, Given) end) || {Text, Test} <- Tests],
    stop_target(Target).

run(Otp, Text, Test) ->
    try Test() of
        {said, Said} -> io:format("ok - ~w: ~s (~s)~n", [Otp, Text, Said]);
        {skip, Why} -> io:format("ok - ~w: ~s # SKIP ~s~n", [Otp, Text, Why]);
        _ -> io:format("ok - ~w: ~s~n", [Otp, Text])
    catch
        Class:Reason:Stack ->
            Where = lists:sublist([{M, F, Line} || {M, F, _, L} <- Stack, {line, Line} <- L], 6),
            Said = io_lib:format("~0tp ~0tp ~0tp", [Class, Where, Reason]),
            Lines = string:split(Said, "\n", all),
            io:format("not ok - ~w: ~s~n~ts", [Otp, Text, [["# ", Line, "\n"] || Line <- Lines]])
    end.

stop_keeper(Keeper) -> Keeper ! stop, receive {bye, Keeper} -> ok after ?LONG_MS -> ok end.
