%% SPDX-License-Identifier: GPL-3.0-or-later
%%% Names that nobody expects, wherever a node can have them: as long as an atom may be, of characters
%%% of two and of four bytes, with what steers a terminal, turns text round or means something to a
%%% shell. And a process that asks every beamtop for them, as any process of a node can.
-module(names_load).
-export([start/2, hold/1]).

start(Dir, _Code) ->
    file:set_cwd(Dir),
    [spawn(fun() -> hold(name(N)) end) || N <- lists:seq(1, length(names()))],
    Hostile = hostile_module(),
    [spawn(fun() -> Hostile:Hostile(N) end) || N <- lists:seq(1, 2)],
    [ok = application:load({application, Name, [{vsn, "1"}, {modules, [Hostile]}]}) || Name <- names()],
    [ok = application:start(Name) || Name <- names()],
    spawn(fun() -> arm(Hostile) end),
    spawn(fun() -> process_flag(trap_exit, true), ask(#{}) end),
    file:write_file("module", unicode:characters_to_binary(atom_to_list(Hostile))),
    file:write_file("pid", os:getpid()).

names() ->
    [list_to_atom(Text) || Text <- [
        lists:duplicate(255, 16#E9),
        lists:duplicate(255, 16#1F600),
        lists:duplicate(255, $n),
        lists:duplicate(127, 16#E9),
        lists:duplicate(128, 16#20AC),
        [16#9B, $3, $1, $m, 16#85, 16#90],
        [$\e, $], $0, $;, $x, 7],
        [16#202E, $e, $x, $e, 16#2066],
        "$(touch oops)`touch oops`;'\"",
        "a\nb\r\tc",
        [$e | lists:duplicate(254, 16#301)],
        [0],
        "=1+1",
        ""
    ]].

name(N) -> lists:nth(N, names()).

%% Registered, with a table, a label, ancestors and messages to match.
hold(Name) ->
    catch register(Name, self()),
    catch ets:new(Name, [named_table, public]),
    Other = pid_of(unicode:characters_to_binary(atom_to_list(Name))),
    put('$ancestors', [Name, Other]),
    put('$initial_call', {Name, Name, 3}),
    catch apply(proc_lib, set_label, [[Name, Other, <<255, 254>>, atom_to_list(Name)]]),
    [self() ! {Name, Other, <<255>>} || _ <- lists:seq(1, 3)],
    busy().

%% A pid of a node that has that name and never was.
pid_of(Node) ->
    binary_to_term(<<131, 88, 118, (byte_size(Node)):16, Node/binary, 5:32, 0:32, 9:32>>).

%% Once the file `arm` is there: breakpoints on all of the module, and a process that is traced.
arm(Hostile) ->
    case file:delete("arm") of
        ok ->
            erlang:trace_pattern({Hostile, '_', '_'}, true, [global]),
            Tracer = spawn(fun() -> tracer(list_to_atom(lists:duplicate(200, 16#20AC))) end),
            erlang:trace(self(), true, [procs, {tracer, Tracer}]),
            busy();
        {error, _} ->
            timer:sleep(20),
            arm(Hostile)
    end.

tracer(Name) ->
    catch register(Name, self()),
    receive _ -> tracer(Name) end.

%% Seen among the busiest.
busy() ->
    _ = [X * X || X <- lists:seq(1, 5000)],
    receive stop -> ok after 20 -> busy() end.

%% In code an atom has at most 255 bytes before OTP 28.
hostile_module() ->
    [Module | _] = Names = [N || N <- names(), N =/= '', byte_size(atom_to_binary(N, utf8)) < 255],
    Function = fun(Name) ->
        {function, 1, Name, 1, [{clause, 1, [{var, 1, 'N'}], [],
            [{call, 1, {remote, 1, {atom, 1, lists}, {atom, 1, seq}}, [{integer, 1, 1}, {integer, 1, 3000}]},
             {call, 1, {remote, 1, {atom, 1, timer}, {atom, 1, sleep}}, [{integer, 1, 20}]},
             {call, 1, {remote, 1, {atom, 1, Module}, {atom, 1, Name}}, [{var, 1, 'N'}]}]}]}
    end,
    Forms = [{attribute, 1, module, Module}, {attribute, 1, export, [{N, 1} || N <- Names]}
             | [Function(N) || N <- Names]],
    {ok, Module, Code} = compile:forms(Forms, [binary, return_errors]),
    {module, Module} = code:load_binary(Module, "odd", Code),
    Module.

%% Each beamtop that comes is asked for every name, by monitors and messages, and for processes that
%% it does not have; the file `asked` has a line for each that has answered.
ask(Seen) ->
    New = [N || N <- nodes(hidden), lists:prefix("beamtop", atom_to_list(N)), not is_map_key(N, Seen)],
    Monitors = [erlang:monitor(process, {Name, Node}) || Node <- New, Name <- names(), Name =/= ''],
    [{Name, Node} ! Name || Node <- New, Name <- names(), Name =/= ''],
    [link(pid_of(atom_to_binary(Node, utf8))) || Node <- New],
    [receive {'DOWN', M, process, _, _} -> ok end || M <- Monitors],
    More = maps:filter(fun(N, _) -> lists:member(N, nodes(hidden)) end,
                       maps:merge(Seen, maps:from_list([{N, true} || N <- New]))),
    case New of
        [] -> ok;
        _ -> file:write_file("asked", [[atom_to_list(N), $\n] || N <- New], [append])
    end,
    receive {'EXIT', _, _} -> ok after 5 -> ok end,
    ask(More).
