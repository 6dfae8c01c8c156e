%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Who a process behind proc_lib is, without its dictionary
%% process_info(P, dictionary) copies all of a dictionary without sharing, and outside of any heap
%% limit: one of a few hundred bytes can become more than the machine has, and no size tells so
%% before. So a dictionary is never read but by a key that proc_lib sets, which OTP 26.2 brought.
%% On older releases the stack tells what it can: functions, without their arguments.

%% What calls callbacks, and callbacks that nothing else looks like.
Engines = #{gen => [], gen_server => [], gen_statem => [], gen_event => [], gen_fsm => [],
            sys => []},
Callbacks = #{{handle_call, 3} => [], {handle_cast, 2} => [], {handle_info, 2} => [],
              {handle_continue, 2} => [], {handle_event, 4} => [], {init, 1} => []},

%% The module of a behaviour whose callback runs as {M, init, 1}, which is what proc_lib would say;
%% else the outermost function behind proc_lib. `unknown`: it hibernates, or its stack is too deep.
CallOfStack = fun(Stack) ->
    case lists:reverse(Stack) of
        [{proc_lib, _, _, _}, {M, F, A, _} | Inner] when is_map_key(M, Engines) ->
            case lists:dropwhile(fun(Frame) -> is_map_key(element(1, Frame), Engines) end, Inner) of
                [{Module, Function, Arity, _} | _] when is_map_key({Function, Arity}, Callbacks) ->
                    {Module, init, 1};
                _ ->
                    {M, F, A}
            end;
        [{proc_lib, _, _, _}, {M, F, A, _} | _] when is_integer(A) ->
            {M, F, A};
        _ ->
            unknown
    end
end,

%% A server that waits has its module among the few words of its loop's frame, which the VM prints.
%% It prints at most 100,000 parts for a word (400 kB), however much is shared, but all digits of a
%% large integer, whose time grows with their square: so only of small processes, in that loop.
LoopWords = 16,
LoopBytes = 32768,
{ok, InFrame} = re:compile("^(?:y\\(\\d+\\)|0x[0-9a-f]+) +"
                           "(?|\\{params,[^,]*,[^,]*,<[\\d.]+>,\\['?([^]',]+)'?\\]"
                           "|'?([^][{}<>()\"',\\s]+)'?$)", [multiline]),

%% Of the words of a frame that can be names. One that is not alone may be the state.
ModuleAmong = fun ModuleAmong(Words, Sofar) ->
    case Words of
        [[<<"infinity">>] | Rest] ->
            ModuleAmong(Rest, Sofar);
        [[Word] | Rest] ->
            M = try binary_to_existing_atom(Word, utf8) catch error:_ -> none end,
            case erlang:function_exported(M, init, 1)
                andalso (erlang:function_exported(M, handle_call, 3)
                         orelse erlang:function_exported(M, callback_mode, 0)) of
                true when Sofar =:= none; Sofar =:= {M, init, 1} -> ModuleAmong(Rest, {M, init, 1});
                true -> none;
                false -> ModuleAmong(Rest, Sofar)
            end;
        [] ->
            Sofar
    end
end,

%% {call, Mfa} | false of one process that proc_lib has started.
CallBehind = fun(Pid) ->
    Stacked = case process_info(Pid, [current_stacktrace, stack_size, memory]) of
        [{_, [{M, _, _, _}, {proc_lib, _, _, _}] = Loop}, {_, Words}, {_, Bytes}]
          when Words =< LoopWords, Bytes < LoopBytes, M =:= gen_server orelse M =:= gen_statem ->
            case process_info(Pid, backtrace) of
                {_, Text} ->
                    [Frame | _] = binary:split(Text, <<"Return addr">>),
                    case re:run(Frame, InFrame, [global, {capture, [1], binary}]) of
                        {match, Named} -> {ModuleAmong(Named, none), Loop};
                        nomatch -> {none, Loop}
                    end;
                undefined ->
                    {none, []}
            end;
        [{_, Stack} | _] ->
            {none, Stack};
        undefined ->
            {none, []}
    end,
    case Stacked of
        {none, Frames} -> case CallOfStack(Frames) of unknown -> false; Call -> {call, Call} end;
        {Found, _} -> {call, Found}
    end
end,

%% The same of many, natively but for what differs; `false` of those that it has not started.
CallsBehind = fun(Pids) ->
    Run = fun(List, Spec) -> ets:match_spec_run(List, ets:match_spec_compile(Spec)) end,
    N = length(Pids),
    Copies = fun(Value) -> lists:duplicate(N, Value) end,
    Items = [initial_call, current_stacktrace, stack_size, memory],
    Infos = lists:zipwith(fun erlang:process_info/2, Pids, Copies(Items)),
    Started = {'_', {proc_lib, '_', '_'}},
    Stacks = lists:usort(Run(Infos, [{[Started, {'_', '$1'}, '_', '_'], [], ['$1']}])),
    Calls = maps:from_list([{Stack, CallOfStack(Stack)} || Stack <- Stacks]),
    Loops = maps:filter(fun([_, _], {M, _, _}) -> M =:= gen_server orelse M =:= gen_statem;
                           (_, _) -> false
                        end, Calls),
    Choice = Run(Infos, [{[Started, {'_', '$1'}, {'_', '$2'}, {'_', '$3'}],
                          [{is_map_key, '$1', {const, Loops}}, {'=<', '$2', LoopWords},
                           {'<', '$3', LoopBytes}], [backtrace]},
                         {'_', [], [suspending]}]),
    Texts = Run(lists:zipwith(fun erlang:process_info/2, Pids, Choice),
                [{{backtrace, '$1'}, [], ['$1']}, {'_', [], [<<>>]}]),
    Frames = lists:map(fun erlang:hd/1,
                       lists:zipwith(fun binary:split/2, Texts, Copies(<<"Return addr">>))),
    Words = lists:zipwith3(fun re:run/3, Frames, Copies(InFrame),
                           Copies([global, {capture, [1], binary}])),
    Modules = maps:from_list([{W, M} || {match, Named} = W <- lists:usort(Words),
                                        M <- [ModuleAmong(Named, none)], M =/= none]),
    Stack = {const, Calls},
    Run(lists:zip(Words, Infos),
        [{{'$1', '_'}, [{is_map_key, '$1', {const, Modules}}],
          [{{call, {map_get, '$1', {const, Modules}}}}]},
         {{'_', [Started, {'_', '$2'}, '_', '_']}, [{'=/=', {map_get, '$2', Stack}, unknown}],
          [{{call, {map_get, '$2', Stack}}}]},
         {'_', [], [false]}])
end,
