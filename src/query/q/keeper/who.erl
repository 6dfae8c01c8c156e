%% SPDX-License-Identifier: GPL-3.0-or-later
%% Part of keeper.erl: who a process is.

%% What process_info/2 is asked for, in the order in which Identity takes the values.
IdKeys = [registered_name, initial_call, group_leader]
    ++ [{dictionary, '$process_label'} || HasDictionaryKey, Otp >= 27],

%% In the last place: what lives on keeps none of its arguments.
Asleep = fun(Entry, Args) ->
    receive {wake, beamtop} -> ok end,
    apply(Entry, Args)
end,
%% For what spawns processes: a trace that follows new processes must not follow those.
%% They sleep until the keeper has taken that off, which is asked for when a trace of ours stands;
%% one that begins later finds them by their links.
Parked = fun(Entry, Args) ->
    Asleep(Entry, Args),
    CountWork()
end,
SpawnOwn = fun(Entry, Args, Options) ->
    Pid = spawn_opt(erlang, hibernate, [erlang, apply, [Parked, [Entry, Args]]], Options),
    case {whereis(beamtop_trace), get(keeper)} of
        {Standing, Keeper} when is_pid(Standing), is_pid(Keeper) -> Keeper ! {shade, Pid};
        _ -> Pid ! {wake, beamtop}
    end,
    Pid
end,

%% The function behind proc_lib.
InitialCall = fun(Pid, Mfa) ->
    Found =
        case Mfa of
            _ when HasDictionaryKey -> process_info(Pid, {dictionary, '$initial_call'});
            {proc_lib, _, _} -> hd(CallsBehind([Pid]));
            _ -> false
        end,
    case Found of
        {_, {M, F, A}} when is_atom(M), is_atom(F), is_integer(A) -> {M, F, A};
        _ -> Mfa
    end
end,

%% Any term can be a label; most are text already.
LabelText = fun(Label) ->
    case Label of
        _ when is_binary(Label) ->
            Prefix(Label, 200);
        [_ | _] ->
            case io_lib:printable_unicode_list(Label) of
                true -> Prefix(unicode:characters_to_binary(lists:sublist(Label, 200)), 200);
                false -> Print(Label, 200)
            end;
        _ ->
            Print(Label, 200)
    end
end,

%% Values: what process_info/2 said to IdKeys, in that order.
Identity = fun([Name, Mfa, Leader | Label], Call, Apps) ->
    {case Name of [] -> undefined; _ -> Name end,
     Call,
     case Label of
         [] -> undefined;
         [undefined] -> undefined;
         [Term] -> LabelText(Term)
     end,
     maps:get(Leader, Apps, undefined),
     Mfa}
end,

Id = fun(Pid, Apps) ->
    case process_info(Pid, IdKeys) of
        undefined ->
            gone;
        Info ->
            {_, [_, Mfa | _] = Values} = lists:unzip(Info),
            Identity(Values, InitialCall(Pid, Mfa), Apps)
    end
end,

%% Group leader => application, read from where application:get_application/1 looks.
Apps = fun() ->
    try ets:match(ac_tab, {{application_master, '$1'}, '$2'}) of
        Running -> maps:from_list([{Leader, App} || [App, Leader] <- Running])
    catch
        error:_ -> #{}
    end
end,
