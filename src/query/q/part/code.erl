%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Where a module's file is
%% The code server is asked, it or erl_prim_loader looks into directories, and a dirty I/O scheduler
%% reads: each of these may hang. So it is a call of the waiter `file`, asked only where all three
%% are ready for it. After servers.erl and proc_file.erl; needs `in_time` in the process dictionary.

CodeMs = 1000,
CodeTries = 4,
CodeIsReady = fun() ->
    Becomes(fun() -> lists:all(WaitsForWork, [code_server, erl_prim_loader]) end, CodeTries)
        andalso IsFree(CodeTries)
end,
%% `unknown`: it was not asked, or is late.
AskCode = fun(Function, Args) ->
    try CodeIsReady() andalso (get(in_time))([{file, Function, Args}], CodeMs) of
        {[{ok, Value}], _} -> Value;
        _ -> unknown
    catch
        error:_ -> unknown
    end
end,

%% Why a module is not loaded. No atom is made: a file is looked for by its name as text.
Missing = fun(Name) ->
    File = unicode:characters_to_list(<<Name/binary, ".beam">>),
    case is_list(File) andalso binary:match(Name, [<<"/">>, <<0>>]) of
        nomatch ->
            case AskCode(fun code:where_is_file/1, [File]) of
                unknown -> unknown;
                Path when is_list(Path) -> not_loaded;
                _ -> no_module
            end;
        _ ->
            no_module
    end
end,
