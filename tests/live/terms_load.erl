%% SPDX-License-Identifier: GPL-3.0-or-later
%% The load of test_terms.sh: persistent terms, atoms, old code, timers. Files in the directory are
%% how the script asks; each is deleted when it is done:
%%   numbers  `sizes` is written: what this node says of itself, as JSON
%%   grow     500 atoms more
%%   debug    erts_debug is loaded
%%   many     100,000 persistent terms and 1,000,000 timers
%%   audit    `left` is written, by audit.erl
-module(terms_load).

-export([start/2]).

start(Dir, _Code) ->
    register(?MODULE, spawn(fun() -> begin_load(Dir) end)),
    ok.

begin_load(Dir) ->
    persistent_term:put({?MODULE, small}, a),
    persistent_term:put({?MODULE, list}, lists:seq(1, 1000)),
    persistent_term:put({?MODULE, lists:duplicate(1000, long)}, {a, b}),
    %% 120 words, and 2^40 pairs without sharing
    persistent_term:put({?MODULE, shared}, lists:foldl(fun(_, T) -> {T, T} end, [], lists:seq(1, 40))),
    load_old(),
    [erlang:start_timer(3600000 + I, self(), timer) || I <- lists:seq(1, 2000)],
    ok = file:write_file(filename:join(Dir, "pid"), pid_to_list(self())),
    loop(Dir, processes(), 0).

load_old() ->
    Stop = {clause, 1, [{atom, 1, stop}], [], [{atom, 1, ok}]},
    Forms = [{attribute, 1, module, terms_old}, {attribute, 1, export, [{f, 0}, {wait, 0}]},
             {function, 1, f, 0, [{clause, 1, [], [], [{integer, 1, 1}]}]},
             {function, 1, wait, 0, [{clause, 1, [], [], [{'receive', 1, [Stop]}]}]}],
    {ok, terms_old, Code} = compile:forms(Forms),
    Load = fun() -> {module, _} = code:load_binary(terms_old, "terms_old", Code) end,
    Load(),
    Waiting = [spawn(fun() -> register(terms_waiter, self()), terms_old:wait() end),
               spawn(fun() -> register(terms_deep, self()), deep(200000) end)],
    until_in(Waiting),
    Load(),
    register(terms_new, spawn(terms_old, wait, [])).

%% 200,000 words of stack and more
deep(0) -> terms_old:wait(), 0;
deep(N) -> 1 + deep(N - 1).

until_in(Pids) ->
    In = [P || P <- Pids, process_info(P, current_function) =:= {current_function, {terms_old, wait, 0}}],
    case Pids -- In of
        [] -> ok;
        Left -> receive after 10 -> ok end, until_in(Left)
    end.

loop(Dir, Baseline, Grown) ->
    Grow = fun() -> [list_to_atom("terms_leak_" ++ integer_to_list(Grown + I)) || I <- lists:seq(1, 500)] end,
    Orders = [{"numbers", fun() -> ok = file:write_file(filename:join(Dir, "sizes"), sizes()) end},
              {"grow", Grow},
              {"debug", fun() -> {module, _} = code:ensure_loaded(erts_debug) end},
              {"many", fun many/0},
              {"audit", fun() -> audit:write(Dir, Baseline) end}],
    Done = [begin Do(), ok = file:delete(File), Name end
            || {Name, Do} <- Orders, File <- [filename:join(Dir, Name)], filelib:is_file(File)],
    receive after 30 -> ok end,
    loop(Dir, Baseline, case lists:member("grow", Done) of true -> Grown + 500; false -> Grown end).

many() ->
    [persistent_term:put({terms_many, I}, {I, some, "text"}) || I <- lists:seq(1, 100000)],
    [erlang:start_timer(7200000 + I, self(), timer) || I <- lists:seq(1, 1000000)].

sizes() ->
    #{count := Count, memory := Memory} = persistent_term:info(),
    List = lists:seq(1, 1000),
    IsLoaded = erlang:module_loaded(erts_debug),
    Bytes = case IsLoaded of
        true -> erlang:system_info(wordsize) * erts_debug:flat_size(List);
        false -> erlang:external_size(List)
    end,
    io_lib:format("{\"persistent\":~b,\"memory\":~b,\"list\":~b,\"debug\":~s,\"atoms\":~b,\"limit\":~b,\"modules\":~b}",
                  [Count, Memory, Bytes, IsLoaded,
                   erlang:system_info(atom_count), erlang:system_info(atom_limit),
                   length(erlang:loaded())]).
