%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Servers of the node that may hang
%% The code server waits for files, and anybody may suspend a server. One is asked only where it
%% waits for a message and has none: a question would stay in the queue of one that hangs.

WaitsForWork = fun(Name) ->
    case process_info(whereis(Name), [message_queue_len, status, current_function]) of
        [{_, 0}, {_, waiting}, {_, {Module, loop, _}}] ->
            lists:member(Module, [gen_server, code_server, erl_prim_loader]);
        _ ->
            false
    end
end,
AskServer = fun(Name, Function, Else) ->
    try WaitsForWork(Name) of
        true -> Function();
        false -> Else
    catch
        _:_ -> Else
    end
end,
