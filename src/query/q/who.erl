%% SPDX-License-Identifier: GPL-3.0-or-later
%% Who processes are. Arg: pids, a hundred at most.
%%
%% Value: {who, [{Pid, Identity | gone}]}, with the item `id` of a scan.

{[id, apps], fun(Pids, #{id := Id, apps := Apps}) when length(Pids) =< 100 ->
    All = Apps(),
    {who, [{Pid, Id(Pid, All)} || Pid <- Pids]}
end}.
