%% SPDX-License-Identifier: GPL-3.0-or-later
%% A repository with the shape that `use Ecto.Repo` gives it: small functions around each query,
%% whose calls tell what it is.
-module('Elixir.Gateway.Repo').
-behaviour('Elixir.Ecto.Repo').

-export(['__adapter__'/0, config/0, default_options/1, prepare_query/3, prepare_opts/2,
         get_dynamic_repo/0, put_dynamic_repo/1, get/2, get/3, all/1, all/2, insert/1, insert/2]).

'__adapter__'() -> gateway_db.

config() -> [{otp_app, gateway}].

default_options(_Operation) -> [{timeout, 15000}].

prepare_query(_Operation, Query, Options) -> {Query, Options}.

prepare_opts(Operation, Options) -> Options ++ default_options(Operation).

get_dynamic_repo() ->
    case erlang:get({?MODULE, dynamic_repo}) of undefined -> ?MODULE; Repo -> Repo end.

put_dynamic_repo(Repo) -> erlang:put({?MODULE, dynamic_repo}, Repo).

get(Queryable, Id) -> get(Queryable, Id, []).

get(Queryable, Id, Options) -> query(get, {select, Queryable, Id}, Options).

all(Queryable) -> all(Queryable, []).

all(Queryable, Options) -> query(all, {select, Queryable, any}, Options).

insert(Row) -> insert(Row, []).

insert(Row, Options) -> gateway_db:query({insert, Row}, prepare_opts(insert, Options)).

query(Operation, Query, Given) ->
    {Prepared, Options} = prepare_query(Operation, Query, prepare_opts(Operation, Given)),
    gateway_db:query(Prepared, Options).
