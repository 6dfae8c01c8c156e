/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/kind.h"

#include "beamtop/base/attr.h"

enum part { OF_NAME, OF_CALL };

/* The first row that fits counts; what is asked for begins with `prefix`. */
static const struct {
    enum part part;
    const char *prefix;
    enum proc_kind kind;
} kinds[] = {
    {OF_NAME, "logger_std_h", KIND_LOGGER},
    {OF_NAME, "logger_disk_log_h", KIND_LOGGER},
    {OF_NAME, "logger_proxy", KIND_LOGGER},
    {OF_NAME, "Elixir.Logger", KIND_LOGGER},
    {OF_NAME, "lager_event", KIND_LOGGER},
    {OF_NAME, "error_logger", KIND_LOGGER},
    {OF_NAME, "code_server", KIND_CODE_SERVER},
    {OF_NAME, "net_kernel", KIND_DISTRIBUTION},
    {OF_NAME, "rex", KIND_DISTRIBUTION},
    {OF_NAME, "global_name_server", KIND_DISTRIBUTION},
    {OF_CALL, "logger_olp:", KIND_LOGGER},
    {OF_CALL, "logger_h_common:", KIND_LOGGER},
    {OF_CALL, "'Elixir.Logger", KIND_LOGGER},
    {OF_CALL, "Elixir.Logger", KIND_LOGGER},
    {OF_CALL, "lager_", KIND_LOGGER},
    {OF_CALL, "code_server:", KIND_CODE_SERVER},
    {OF_CALL, "poolboy:", KIND_POOL},
    {OF_CALL, "hackney_pool:", KIND_POOL},
    {OF_CALL, "pooler:", KIND_POOL},
    {OF_CALL, "'Elixir.DBConnection.ConnectionPool'", KIND_POOL},
    {OF_CALL, "'Elixir.NimblePool'", KIND_POOL},
    {OF_CALL, "'Elixir.DBConnection.Connection'", KIND_DB_CONNECTION},
    {OF_CALL, "epgsql", KIND_DB_CONNECTION},
    {OF_CALL, "mysql_", KIND_DB_CONNECTION},
    {OF_CALL, "ranch", KIND_SOCKET_SERVER},
    {OF_CALL, "cowboy_", KIND_SOCKET_SERVER},
    {OF_CALL, "'Elixir.ThousandIsland", KIND_SOCKET_SERVER},
    {OF_CALL, "supervisor:", KIND_SUPERVISOR},
    {OF_CALL, "'Elixir.DynamicSupervisor'", KIND_SUPERVISOR},
    {OF_CALL, "inet_tcp_dist:", KIND_DISTRIBUTION},
    {OF_CALL, "'Elixir.Telemetry", KIND_METRICS},
    {OF_CALL, "telemetry", KIND_METRICS},
    {OF_CALL, "prometheus", KIND_METRICS},
    {OF_CALL, "folsom", KIND_METRICS},
    {OF_CALL, "exometer", KIND_METRICS},
    {OF_CALL, "erts_dirty_process_signal_handler:", KIND_DIRTY_SIGNALS},
};

static const char *const names[PROC_KINDS] = {
    [KIND_NONE] = "",
    [KIND_LOGGER] = "logger",
    [KIND_CODE_SERVER] = "code_server",
    [KIND_POOL] = "pool",
    [KIND_DB_CONNECTION] = "db_connection",
    [KIND_SOCKET_SERVER] = "socket_server",
    [KIND_SUPERVISOR] = "supervisor",
    [KIND_DISTRIBUTION] = "distribution",
    [KIND_METRICS] = "metrics",
    [KIND_DIRTY_SIGNALS] = "dirty_signals",
};

const char *proc_kind_name(enum proc_kind kind)
{
    return names[kind];
}

enum proc_kind proc_kind(const struct proc_row *row)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct slice text = kinds[i].part == OF_NAME ? row->name : row->initial_call;
        if (text.len > 0 && text.s[0] == kinds[i].prefix[0] && slice_begins(text, kinds[i].prefix))
            return kinds[i].kind;
    }
    return KIND_NONE;
}
