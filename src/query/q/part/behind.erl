%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Who a process behind proc_lib is, without its dictionary
%% process_info(P, dictionary) copies all of a dictionary without sharing, and outside of any heap
%% limit: one of a few hundred bytes can become more than the machine has, and no size shows it
%% before. So a dictionary is never read but by a key that proc_lib sets, which OTP 26.2 brought.
%% On older releases the stack shows functions, without their arguments.
%% A server that waits says no more than which loop it waits in: its module stands among the words
%% of that frame, which the VM prints only together with its state, without any limit of time.

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

%% {call, Mfa} of each, natively but for what differs; `false` of those that proc_lib has not
%% started. Not by map_get in a match specification, which copies the map for each that matches.
CallsBehind = fun(Pids) ->
    Run = fun(List, Spec) -> ets:match_spec_run(List, ets:match_spec_compile(Spec)) end,
    Infos = lists:zipwith(fun erlang:process_info/2, Pids,
                          lists:duplicate(length(Pids), [initial_call, current_stacktrace])),
    Stacks = Run(Infos, [{[{'_', {proc_lib, '_', '_'}}, {'_', '$1'}], [], ['$1']},
                         {'_', [], [false]}]),
    Calls = [{Stack, {call, Call}} || Stack <- lists:usort(Stacks), is_list(Stack),
                                      Call <- [CallOfStack(Stack)], Call =/= unknown],
    Each = fun(Term) -> lists:duplicate(length(Stacks), Term) end,
    lists:zipwith3(fun maps:get/3, Stacks, Each(maps:from_list(Calls)), Each(false))
end,
