%% SPDX-License-Identifier: GPL-3.0-or-later
%% A process that gets more than it handles: its mailbox grows until the limit, where it is emptied.
-module(shop_mailer).

-export([start_link/0, init/0, post/1]).

-define(TICK_MS, 20).

start_link() ->
    proc_lib:start_link(?MODULE, init, []).

%% Called by the desk for each mail.
post(N) ->
    shop_mailer ! {mail, N, <<"receipt">>}.

init() ->
    register(?MODULE, self()),
    proc_lib:init_ack({ok, self()}),
    loop(0).

loop(Sent) ->
    {message_queue_len, Waiting} = process_info(self(), message_queue_len),
    case Waiting >= shop:setting(mailbox_limit) of
        true -> empty();
        false -> take(max(1, shop:setting(mails_sent_per_s) * ?TICK_MS div 1000))
    end,
    timer:sleep(?TICK_MS),
    loop(Sent + 1).

take(0) -> ok;
take(N) -> receive {mail, _, _} -> take(N - 1) after 0 -> ok end.

empty() ->
    receive _ -> empty() after 0 -> erlang:garbage_collect() end.
