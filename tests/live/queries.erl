%%% The expressions of src/query/q against real nodes. Plays the program's part as an Erlang node:
%%% starts a target, asks `rex` exactly as docs/queries.md says, checks every answer against the
%%% node's own word, and that nothing stays behind. Prints TAP. Also used by tests/bench/scan.erl.
-module(queries).
-export([main/1, start_target/2, stop_target/1, evaluate/3, connect/1, connect/2, load/2, load_all/1, ask/4,
         ask/5, sources/0]).

-define(COOKIE, beamtop_test).

%% ---- A target: an OS process of its own

%% Root: "" is the host's Erlang, else a root that chroot enters. Args: more arguments for erl.
start_target(Root, Args) ->
    Name = lists:concat(["q", os:getpid(), "_", erlang:unique_integer([positive])]),
    Erl = ["erl", "-noinput", "-hidden", "-mode", "embedded", "-name", Name ++ "@127.0.0.1",
           "-setcookie", atom_to_list(?COOKIE) | Args],
    Command = case Root of "" -> Erl; _ -> ["chroot", Root | Erl] end,
    [Program | Rest] = Command,
    Port = open_port({spawn_executable, os:find_executable(Program)},
                     [{args, Rest}, binary, exit_status, stderr_to_stdout, hide,
                      {env, [{"ERL_CRASH_DUMP", "/dev/null"}]}]),
    Node = list_to_atom(Name ++ "@127.0.0.1"),
    wait(fun() -> net_kernel:hidden_connect_node(Node) end, 15000),
    wait(fun() -> rpc:call(Node, init, get_status, []) =:= {started, started} end, 15000),
    %% Ends with us, whatever happens.
    evaluate(Node, "spawn(fun() -> monitor_node(Client, true),"
                   " receive {nodedown, Client} -> halt(0) end end).", [{'Client', node()}]),
    {Node, Port}.

%% The value of an expression on a node, evaluated there.
evaluate(Node, Text, Bindings) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Forms} = erl_parse:parse_exprs(Tokens),
    case rpc:call(Node, erl_eval, exprs, [Forms, Bindings], 120000) of
        {value, Value, _} -> Value;
        Other -> error(Other)
    end.

stop_target({Node, Port}) ->
    rpc:cast(Node, erlang, halt, [0]),
    receive {Port, {exit_status, _}} -> ok
    after 5000 ->
        case erlang:port_info(Port, os_pid) of
            {os_pid, Pid} -> os:cmd("kill -9 " ++ integer_to_list(Pid));
            undefined -> ok
        end
    end.

wait(Test, Ms) ->
    case Test() of
        true -> ok;
        _ when Ms =< 0 -> error(timeout);
        _ -> timer:sleep(20), wait(Test, Ms - 20)
    end.

%% ---- The program's part

source_dir() -> filename:join(os:getenv("BEAMTOP_SRCDIR", "."), "src/query/q").

sources() ->
    [list_to_atom(filename:basename(F, ".erl"))
     || F <- filelib:wildcard(filename:join(source_dir(), "*.erl")),
        filename:basename(F) =/= "keeper.erl"].

source(Name) ->
    {ok, Bytes} = file:read_file(filename:join(source_dir(), atom_to_list(Name) ++ ".erl")),
    Bytes.

%% The constant form: scans, parses and evaluates the text in 'S'.
evaluate_form() ->
    Text = "begin {ok, T, _} = erl_scan:string(unicode:characters_to_list(S)),"
           " {ok, F} = erl_parse:parse_exprs(T),"
           " {value, V, _} = erl_eval:exprs(F, [{'C', C}, {'O', O}]), V end.",
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, [Form]} = erl_parse:parse_exprs(Tokens),
    Form.

connect(Node) -> connect(Node, #{}).

connect(Node, Options) ->
    Bindings = [{'C', self()}, {'O', Options}, {'S', source(keeper)}],
    Ref = make_ref(),
    {rex, Node} ! {'$gen_call', {self(), Ref},
                   {call, erl_eval, expr, [evaluate_form(), Bindings, none, none, value], user}},
    receive {Ref, {keeper, Keeper, 1}} -> Keeper;
            {Ref, Other} -> error({start, Other})
    after 10000 -> error(start_timeout)
    end.

load(Keeper, Name) -> Keeper ! {load, Name, source(Name)}, ok.

load_all(Keeper) -> lists:foreach(fun(Name) -> load(Keeper, Name) end, sources()).

ask(Keeper, Name, Arg, DeadlineMs) -> ask(Keeper, erlang:unique_integer(), Name, Arg, DeadlineMs).

%% {Kind, {TargetUs, WaitedUs}, Value}
ask(Keeper, Id, Name, Arg, DeadlineMs) ->
    Keeper ! {ask, Id, Name, Arg, DeadlineMs},
    receive {a, Id, Kind, Cost, Value} -> {Kind, Cost, Value}
    after DeadlineMs + 5000 -> no_answer
    end.

%% ---- Main

main(_) ->
    Target = {Node, _} = start_target("", []),
    K = connect(Node),
    load_all(K),
    io:format("~p~n", [ask(K, node, [], 1000)]),
    [io:format("~p~n", [ask(K, system, [], 1000)]) || _ <- [1, 2, 3]],
    stop_target(Target).
