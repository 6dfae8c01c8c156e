%% SPDX-License-Identifier: GPL-3.0-or-later
%% The demo system: a shop with known faults. Every rate and size of it is in this file; what a
%% person should find with them is in ../README.md. One is changed for a run by `-shop KEY VALUE`.
{application, shop,
 [{description, "A small shop with known faults"},
  {vsn, "1.0.0"},
  {registered, []},
  {modules, [shop, shop_audit, shop_cache, shop_courier, shop_mailer, shop_pace, shop_pricing,
             shop_web, shop_worker]},
  {applications, [kernel, stdlib]},
  {mod, {shop, []}},
  {env,
   [{order_workers, 8},                %% shop_order_1 … 8, registered
    {orders_per_s, 200},               %% given out in turn
    {order_steps, 500},                %% work of one order
    {image_workers, 4},                %% not registered: known by their label or initial call
    {images_per_s, 10},
    {image_steps, 20000},
    {cache_binaries, 24},              %% held by shop_image_cache
    {cache_binary_bytes, 2097152},     %% … each: 48 MiB together
    {cache_replaced_per_s, 1},
    {mails_per_s, 500},                %% arrive at shop_mailer
    {mails_sent_per_s, 50},            %% … and are taken out again: the mailbox grows by 450 a second
    {mailbox_limit, 200000},           %% messages: then it is emptied and grows anew
    {pricing_busy_ms, 30},             %% shop_pricing computes so long
    {pricing_period_ms, 200},          %% … in each period: 15 % of one scheduler
    {requests_per_s, 100},             %% processes born; each lives 5 to 50 ms
    {sessions, 20000},                 %% rows of the ETS table shop_sessions
    {session_bytes, 60},               %% payload of one: at most 64, so that it is in the table itself
    {session_writers, 2},
    {session_writes_per_s, 2000},      %% of each writer
    {audit_writers, 4},                %% wait for the synchronous log handler shop_audit
    {audit_events_per_s, 100},         %% of each writer
    {audit_file_bytes, 1048576},       %% of the log file; one old one is kept
    {courier_tour_ms, 20000}]}]}.      %% shop_courier ends after each and is restarted
