%% SPDX-License-Identifier: GPL-3.0-or-later
%% The log: a handler as Elixir's Logger has it. Its process formats and writes each line, and in
%% the modes `sync` and `debug` who logs waits until it has. In the mode `async` a line is handed
%% over as it is, and many are written at once.
-module(gateway_log).
-behaviour(gen_server).

-export([start_link/1, remove/0, request/2, log/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(PROCESS, 'Elixir.Logger').
-define(FILE_BYTES, 1048576).
-define(FORMAT_REDUCTIONS, 600).         % metadata, colours, translators
-define(AT_ONCE, 200).                  % lines of one write, when nobody waits for it

start_link(Scenario) ->
    gen_server:start_link({local, ?PROCESS}, ?MODULE, Scenario, []).

remove() ->
    _ = logger:remove_handler(?PROCESS),
    ok.

%% One line of level info for a request, and three more of level debug.
request(#{number := Number}, Rows) ->
    logger:log(info, "request ~w done: ~w rows", [Number, length(Rows)]),
    _ = [logger:log(debug, "schema ~p of request ~w: ~p", [Id, Number, Row])
         || logger:allow(debug, ?MODULE), {_, Id, _} = Row <- Rows],
    ok.

log(#{msg := {Format, Args}}, #{config := #{mode := Mode}}) when is_list(Format) ->
    case Mode of
        sync -> gen_server:call(?PROCESS, {line, Format, Args}, infinity);
        async -> gen_server:cast(?PROCESS, {raw, [Format | Args]})
    end;
log(_, _) ->
    ok.

init(Scenario) ->
    process_flag(trap_exit, true),
    {Mode, Level} = case Scenario of
        sync -> {sync, info};
        debug -> {sync, debug};
        _ -> {async, info}
    end,
    remove(),
    Config = #{mode => Mode, sync_mode_qlen => case Mode of sync -> 0; async -> 100000 end,
               drop_mode_qlen => 200000, flush_qlen => 300000},
    ok = logger:add_handler(?PROCESS, ?MODULE, #{level => Level, config => Config}),
    ok = logger:set_handler_config(default, level, notice),
    ok = logger:set_primary_config(level, Level),
    {ok, File} = file:open(file_name(), [raw, append, binary]),
    {ok, #{file => File, bytes => 0, lines => [], n => 0,
           work => gateway:work(?FORMAT_REDUCTIONS)}}.

file_name() ->
    {ok, [[Dir]]} = init:get_argument(gateway_dir),
    filename:join(Dir, "gateway.log").

handle_call({line, Format, Args}, _From, #{work := Work} = State) ->
    Line = iolist_to_binary([io_lib:format(Format, Args), $\n]),
    false = lists:member(none, Work),
    {reply, ok, write(Line, State)}.

handle_cast({raw, Line}, #{lines := Lines, n := N} = State) when N < ?AT_ONCE ->
    {noreply, State#{lines := [Line | Lines], n := N + 1}};
handle_cast({raw, Line}, #{lines := Lines} = State) ->
    {noreply, write(term_to_binary([Line | Lines]), State#{lines := [], n := 0})}.

handle_info(_, State) -> {noreply, State}.

%% From the start again when the file is long enough.
write(Line, #{file := File, bytes := Bytes} = State) when Bytes < ?FILE_BYTES ->
    ok = file:write(File, Line),
    State#{bytes := Bytes + byte_size(Line)};
write(Line, #{file := File} = State) ->
    {ok, 0} = file:position(File, 0),
    ok = file:truncate(File),
    write(Line, State#{bytes := 0}).
