%% SPDX-License-Identifier: GPL-3.0-or-later
%% As much of Ecto as the repository needs: the behaviour that it says it has.
-module('Elixir.Ecto.Repo').

-callback default_options(Operation :: atom()) -> [{atom(), term()}].
-callback prepare_query(Operation :: atom(), Query, Options) -> {Query, Options} when
      Query :: term(), Options :: [{atom(), term()}].
