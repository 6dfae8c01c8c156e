%% SPDX-License-Identifier: GPL-3.0-or-later
%% Who processes are. Arg: pids, a hundred at most.
%%
%% Value: {who, [{Pid, Identity | gone}]}, with the item `id` of a scan; `gone` of other nodes, too.

{[id, apps], fun(Pids, #{id := Id, apps := Apps}) when length(Pids) =< 100 ->
    All = Apps(),
    IsHere = fun(Pid) -> is_pid(Pid) andalso node(Pid) =:= node() end,
    {who, [{Pid, case IsHere(Pid) of true -> Id(Pid, All); false -> gone end} || Pid <- Pids]}
end}.
