%% SPDX-License-Identifier: GPL-3.0-or-later
%% ---- Items of processes in match specs
%% Of a list whose length differs between releases: {minor_gcs, '$3'}, {fullsweep_after, '$4'}.
GcSettings =
    [case Key of
         minor_gcs -> {Key, '$3'};
         fullsweep_after -> {Key, '$4'};
         _ -> '_'
     end || {Key, _} <- element(2, process_info(self(), garbage_collection))],
%% Variables of a match spec, from '$First' on.
Variables = fun(First, List) ->
    [list_to_atom("$" ++ integer_to_list(N)) || N <- lists:seq(First, First + length(List) - 1)]
end,
