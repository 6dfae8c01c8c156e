%% SPDX-License-Identifier: GPL-3.0-or-later
%% The application and its supervision tree.
-module(shop).
-behaviour(application).
-behaviour(supervisor).

-export([start/2, stop/1, init/1, start_sup/2, setting/1, label/1, burn/1]).

start(_Type, _Args) ->
    start_sup(shop_sup, main).

stop(_State) ->
    shop_audit:remove_handler().

start_sup(Name, Part) ->
    supervisor:start_link({local, Name}, ?MODULE, Part).

%% A rate or size of shop.app.
setting(Key) ->
    {ok, Value} = application:get_env(?MODULE, Key),
    Value.

%% Names the calling process where the VM has labels (OTP 27 and later).
label(Label) ->
    case erlang:function_exported(proc_lib, set_label, 1) of
        true -> apply(proc_lib, set_label, [Label]);
        false -> ok
    end.

%% Work that takes time and makes no garbage.
burn(Steps) -> burn(Steps, 17).

burn(0, Acc) -> Acc;
burn(Steps, Acc) -> burn(Steps - 1, (Acc * 31 + Steps) band 16#ffff).

init(main) ->
    ok = shop_audit:add_handler(),
    tree([sup(shop_orders_sup, orders), sup(shop_images_sup, images), sup(shop_mail_sup, mail),
          sup(shop_web_sup, web), sup(shop_audit_sup, audit),
          worker(shop_pricing, shop_pricing, []), worker(shop_courier, shop_courier, [])]);
init(orders) ->
    tree([worker(Name, shop_worker, [{local, Name}, {order_worker, N}, order_steps])
          || N <- lists:seq(1, setting(order_workers)), Name <- [name("shop_order_", N)]]
         ++ [pace(shop_order_desk, orders_per_s, {shop_worker, order})]);
init(images) ->
    tree([worker({image_worker, N}, shop_worker, [anonymous, {image_worker, N}, image_steps])
          || N <- lists:seq(1, setting(image_workers))]
         ++ [worker(shop_image_cache, shop_cache, []),
             pace(shop_image_desk, images_per_s, {shop_worker, image})]);
init(mail) ->
    tree([worker(shop_mailer, shop_mailer, []),
          pace(shop_mail_desk, mails_per_s, {shop_mailer, post})]);
init(web) ->
    tree([worker(shop_sessions, shop_web, []), pace(shop_front, requests_per_s, {shop_web, request})
          | paces("shop_session_", session_writers, session_writes_per_s, {shop_web, touch})]);
init(audit) ->
    tree(paces("shop_audit_", audit_writers, audit_events_per_s, {shop_audit, event})).

tree(Children) ->
    {ok, {#{strategy => one_for_one, intensity => 5, period => 5}, Children}}.

sup(Name, Part) ->
    #{id => Name, type => supervisor, start => {?MODULE, start_sup, [Name, Part]}}.

worker(Id, Module, Args) ->
    #{id => Id, shutdown => 1000, start => {Module, start_link, Args}}.

pace(Name, RateKey, What) ->
    worker(Name, shop_pace, [Name, RateKey, What]).

paces(Prefix, CountKey, RateKey, What) ->
    [pace(name(Prefix, N), RateKey, What) || N <- lists:seq(1, setting(CountKey))].

name(Prefix, N) ->
    list_to_atom(Prefix ++ integer_to_list(N)).
