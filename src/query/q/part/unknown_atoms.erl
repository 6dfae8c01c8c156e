%% SPDX-License-Identifier: GPL-3.0-or-later
%% The first of these names that is not an atom here, with names one letter away that are: [] or
%% [{Name, [Near]}]. Nothing here can match a name that is not an atom, and none becomes one.
UnknownAtoms = fun(Asked, WithNear) ->
    IsAtom = fun(AtomText) ->
        try is_atom(binary_to_existing_atom(AtomText, utf8)) catch error:_ -> false end
    end,
    Letters = "_abcdefghijklmnopqrstuvwxyz",
    %% A letter too few, too many, another one, two the wrong way round, behind the first At.
    Edits = fun(Word, At) ->
        {Before, Behind} = {binary:part(Word, 0, At), binary_to_list(Word, At + 1,
            byte_size(Word))},
        lists:append([[[Before, Letter, Behind] || Letter <- Letters],
                      [[Before, Letter, tl(Behind)] || Letter <- Letters],
                      [[Before, tl(Behind)]],
                      [[Before, lists:nth(2, Behind), hd(Behind), lists:nthtail(2, Behind)]
                       || length(Behind) > 1]])
    end,
    NearAtoms = fun(Word) ->
        Size = byte_size(Word),
        Tried = lists:append([[[Word, Letter] || Letter <- Letters]
                              | [Edits(Word, At) || At <- lists:seq(0, Size - 1)]]),
        lists:sublist(lists:filter(IsAtom, lists:usort(lists:map(fun erlang:iolist_to_binary/1,
                                                                 Tried))), 3)
    end,
    case lists:dropwhile(IsAtom, Asked) of
        [] -> [];
        [Unknown | _] when WithNear, byte_size(Unknown) >= 4, byte_size(Unknown) =< 32 ->
            [{Unknown, NearAtoms(Unknown)}];
        [Unknown | _] -> [{Unknown, []}]
    end
end,
