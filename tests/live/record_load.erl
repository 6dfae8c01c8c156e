%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load that test_record_trace.sh records. Files in the directory are how the script asks; each is
%% deleted when it is done:
%%   work     40 calls of served/2, of which 10 raise in denied/1, and 40 messages to itself
%%   foreign  `never` gets a breakpoint of somebody else; `own` takes it off again
%%   audit    `left` is written, by audit.erl
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
    asked(Dir, "audit", fun() -> audit:write(Dir, Baseline) end),
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
