%% The load that test_record_trace.sh records, and an auditor beside it. Files in the directory are how
%% the script asks; each is deleted when it is done:
%%   work     40 calls of served/2, of which 10 raise in denied/1, and 40 messages to itself
%%   foreign  `never` gets a breakpoint of somebody else; `own` takes it off again
%%   audit    `left` is written: what is armed here, and processes that were not there at first
-module(record_load).

-export([start/2, loop/2, served/2, denied/1, never/0]).

-define(SECRET, <<"hunter2-x9q">>).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() ->
        ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
        loop(Dir, processes())
    end)),
    ok.

loop(Dir, Baseline) ->
    asked(Dir, "work", fun() -> [round_of(N) || N <- lists:seq(1, 40)] end),
    asked(Dir, "foreign", fun() -> erlang:trace_pattern({?MODULE, never, 0}, true, [local]) end),
    asked(Dir, "own", fun() -> erlang:trace_pattern({?MODULE, never, 0}, false, [local]) end),
    asked(Dir, "audit", fun() -> audit(Dir, Baseline) end),
    receive after 30 -> ok end,
    ?MODULE:loop(Dir, Baseline).

asked(Dir, Name, Do) ->
    File = filename:join(Dir, Name),
    case filelib:is_file(File) of
        true -> Do(), file:delete(File);
        false -> ok
    end.

round_of(N) ->
    {ok, N, _} = ?MODULE:served(N, ?SECRET),
    N rem 4 =:= 0 andalso (catch ?MODULE:denied({token, ?SECRET})),
    self() ! {order, ?SECRET},
    receive {order, _} -> ok end,
    receive after 15 -> ok end. % within the rate of a trace

served(N, Secret) -> {ok, N, Secret}.

never() -> ok.

denied(Token) -> error({denied, Token}).

audit(Dir, Baseline) ->
    Points = [{M, F, A} || M <- [?MODULE, lists, ets], {F, A} <- M:module_info(functions),
                           {all, L} <- [erlang:trace_info({M, F, A}, all)], L =/= false],
    Messages = [K || K <- [send, 'receive'], {_, M} <- [catch erlang:trace_info(K, match_spec)],
                     M =/= true, M =/= [], M =/= undefined],
    Flags = [P || P <- processes(), {flags, [_ | _]} <- [erlang:trace_info(P, flags)]],
    Others = [P || P <- processes() -- Baseline, evaluates(P)],
    Sessions = try length(trace:session_info(all)) - 1 catch error:_ -> 0 end,
    Left = [X || {_, L} = X <- [{points, Points}, {messages, Messages}, {flags, Flags},
                                {processes, Others}, {sessions, Sessions},
                                {word, erlang:system_info(trace_control_word)}],
                 L =/= [], L =/= 0],
    File = filename:join(Dir, "left"),
    ok = file:write_file(File ++ ".new", io_lib:format("~0p~n", [Left])),
    ok = file:rename(File ++ ".new", File).

%% A connection's processes end with it, by and by; only those that evaluate are beamtop's.
evaluates(P) ->
    case process_info(P, [current_stacktrace, initial_call, dictionary]) of
        undefined -> false;
        Info -> string:find(io_lib:format("~0p", [Info]), "erl_eval") =/= nomatch
    end.
