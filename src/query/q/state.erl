%% SPDX-License-Identifier: GPL-3.0-or-later
%% The state of a process that speaks OTP's system messages.
%% Arg: {Pid | PidText, TimeoutMs, Bytes, Agreed}.
%%
%% The process copies its state into its reply without sharing, outside of any heap limit. Its
%% memory is known before and bounds nothing: parts that are shared, and literals, count once there
%% and as often as they occur in the copy. So nothing is read unless the user agreed, and never of
%% a process above MostBytes.
%%
%% Asked only of gen_* behaviours, which answer system messages whatever they are doing next: a
%% process of any other kind would find a message that it does not know. This worker does the
%% asking and ends with its answer, so that a late reply reaches nobody.
-include("part/walked.erl").

MostBytes = 8 * 1048576,
Behaviours = [gen_server, gen_statem, gen_event, gen_fsm, supervisor],

%% In a loop of a behaviour, or in that of sys when it is suspended there; or hibernating, by
%% hibernate/3 without a stack: then the module behind proc_lib shows it, from OTP 26.2 on.
IsBehaviour = fun(Stack, Current, Call) ->
    Modules = [M || {M, _, _, _} <- Stack],
    lists:any(fun(M) -> lists:member(M, [sys | Behaviours]) end, Modules)
        orelse begin
            {Module, Function, _} = Call,
            Current =:= {erlang, hibernate, 3}
                andalso (Module =:= supervisor orelse lists:member(Function, [init, Module]))
                andalso
                try erlang:get_module_info(Module, attributes) of
                    Attributes ->
                        Declared = lists:append([L || {K, L} <- Attributes,
                                                      K =:= behaviour orelse K =:= behavior]),
                        lists:any(fun(B) -> lists:member(B, Behaviours) end, Declared)
                catch
                    error:_ -> false
                end
        end
end,

StateOf = fun({Asked, TimeoutMs, Bytes, Agreed},
              #{print := Print, initial_call := InitialCall, pid_of := PidOf}) ->
    Pid = PidOf(Asked),
    Alive = is_pid(Pid) andalso node(Pid) =:= node()
        andalso element(1, AskSpared([Pid], [initial_call, message_queue_len, status, memory,
                                             current_stacktrace, current_function])),
    case Alive of
        [[{_, Mfa}, {_, Len}, {_, Status}, {_, Memory}, {_, Stack}, {_, Current}]] ->
            Refusal =
                if
                    Len > 1000 -> <<"its mailbox is too long">>;
                    Memory > MostBytes -> <<"its memory is above 8 MiB">>;
                    Status =:= suspended -> <<"it is suspended">>;
                    element(1, Current) =:= gen ->
                        <<"it waits for the answer to a call, and the question would stay in its "
                          "mailbox">>;
                    true ->
                        Call = InitialCall(Pid, Mfa),
                        case IsBehaviour(Stack, Current, Call) of
                            true when Agreed =/= true -> ask;
                            true -> none;
                            false when Stack =:= [], element(1, Call) =:= proc_lib ->
                                <<"it hibernates, and before OTP 26.2 nothing says whether it is "
                                  "an OTP behaviour">>;
                            false -> <<"no OTP behaviour">>
                        end
                end,
            Start = erlang:monotonic_time(),
            Got = case Refusal of
                none -> try {ok, sys:get_state(Pid, TimeoutMs)} catch _:Error -> {error, Error} end;
                ask -> ask;
                _ -> {refused, Refusal}
            end,
            put(waited, get(waited) + erlang:monotonic_time() - Start),
            case Got of
                {ok, State} ->
                    {state, erts_debug:flat_size(State) * erlang:system_info(wordsize),
                     Print(State, Bytes)};
                ask -> {ask, Memory};
                {refused, Why} -> {no_state, Why};
                {error, {timeout, _}} ->
                    {no_state, <<"no answer in time; the question stays in its mailbox until it is "
                                 "read there">>};
                {error, {noproc, _}} -> gone;
                {error, Why} -> {no_state, Print(Why, 200)}
            end;
        _ ->
            gone
    end
end,

{[print, initial_call, pid_of], StateOf}.
