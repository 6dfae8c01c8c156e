%% SPDX-License-Identifier: GPL-3.0-or-later
%% A gateway whose faults a person should find by watching it: see ../README.md. One setting is
%% changed for a run by `-gateway KEY VALUE`.
{application, gateway,
 [{description, "A gateway with an expensive registry and a logger in its way"},
  {vsn, "1.0.0"},
  {registered, []},
  {modules, [gateway, gateway_db, gateway_http, gateway_log, gateway_plug, gateway_schemas,
             'Elixir.Ecto.Repo', 'Elixir.Gateway.Repo']},
  {applications, [kernel, stdlib]},
  {mod, {gateway, []}},
  {env,
   [{scenario, sync},        %% sync | debug | async | healthy
    {requests_per_s, 400},   %% of all workers together
    {workers, 8},
    {lookups, 3},            %% of the registry, for each request
    {reads_percent, 87},     %% of these; the others write
    {plugs_percent, 138},    %% calls of the pipeline for 100 requests
    {connections, 4},        %% to the database
    {schemas, 500}]}]}.      %% rows there
