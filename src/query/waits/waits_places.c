/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where processes wait for others: functions of OTP 23 to 29, Elixir, and pools. */
#include "waits_terms.h"

#include "beamtop/base/attr.h"

/* clang-format off */
const struct wait_place waits_places[] = {
    {"gen", "do_call", "call", WAIT_BY_MONITOR, NULL},
    {"gen", "receive_response", "call", WAIT_BY_MONITOR, NULL},
    {"gen", "wait_response", "call", WAIT_BY_MONITOR, NULL},
    {"gen_statem", "call_clean", "call", WAIT_BY_MONITOR, NULL},
    {"gen_server", "do_multi_call", "call", WAIT_BY_MONITOR, NULL},
    {"gen_server", "mc_recv", "call", WAIT_BY_MONITOR, NULL},
    {"gen_server", "rec_nodes", "call", WAIT_BY_MONITOR, NULL},
    {"disk_log", "monitor_request", "call", WAIT_BY_MONITOR, NULL},
    {"dets", "req", "call", WAIT_BY_MONITOR, NULL},
    {"application_master", "call", "call", WAIT_BY_MONITOR, NULL},
    {"init", "request", "call", WAIT_BY_NAME, "init"},
    {"inet_gethost_native", "getit", "call", WAIT_BY_NAME, "inet_gethost_native"},
    {"inet_gethost_native", "wait_reply", "call", WAIT_BY_NAME, "inet_gethost_native"},
    {"io", "execute_request", "io", WAIT_BY_MONITOR, NULL},
    {"io", "wait_io_mon_reply", "io", WAIT_BY_MONITOR, NULL},
    {"file", "file_request", "io", WAIT_BY_MONITOR, NULL},
    {"erpc", "call", "rpc", WAIT_BY_MONITOR, NULL},
    {"erpc", "receive_response", "rpc", WAIT_BY_MONITOR, NULL},
    {"erpc", "wait_response", "rpc", WAIT_BY_MONITOR, NULL},
    {"erpc", "mcall_receive_replies", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "nb_yield", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "do_srv_call", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "server_call", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "rec_nodes", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "mc_results", "rpc", WAIT_BY_MONITOR, NULL},
    {"rpc", "mc_spawn_replies", "rpc", WAIT_BY_MONITOR, NULL},
    {"Elixir.Task", "await", "task", WAIT_BY_MONITOR, NULL},
    {"Elixir.Task", "await_many", "task", WAIT_BY_MONITOR, NULL},
    {"Elixir.Task", "yield", "task", WAIT_BY_MONITOR, NULL},
    {"Elixir.Task", "yield_many", "task", WAIT_BY_MONITOR, NULL},
    {"Elixir.Task.Supervised", "stream_reduce", "task", WAIT_BY_MONITOR, NULL},
    {"Elixir.DBConnection.Holder", "checkout_call", "pool", WAIT_BY_MONITOR, NULL},
    {"Elixir.NimblePool", "checkout!", "pool", WAIT_BY_MONITOR, NULL},
    {"code_server", "call", "code", WAIT_BY_NAME, "code_server"},
    {"erl_prim_loader", "request", "code", WAIT_BY_NAME, "erl_prim_loader"},
    {"erts_code_purger", "purge", "code", WAIT_BY_NAME, "erts_code_purger"},
    {"erts_code_purger", "soft_purge", "code", WAIT_BY_NAME, "erts_code_purger"},
    {"global", "random_sleep", "lock", WAIT_BY_NOTHING, "lock of global"},
    {"mnesia_locker", "l_req_rec", "lock", WAIT_BY_NOTHING, "lock of mnesia"},
    {"mnesia_locker", "receive_wlocks", "lock", WAIT_BY_NOTHING, "lock of mnesia"},
    {"mnesia_locker", "do_sticky_lock", "lock", WAIT_BY_NOTHING, "lock of mnesia"},
    {"mnesia_tm", "rec", "call", WAIT_BY_NOTHING, "mnesia_tm"},
    {"mnesia_tm", "rec_all", "call", WAIT_BY_NOTHING, "mnesia_tm"},
    {"mnesia_tm", "rec_acc_pre_commit", "call", WAIT_BY_NOTHING, "mnesia_tm"},
    {"mnesia_tm", "get_dirty_reply", "call", WAIT_BY_NOTHING, "mnesia_tm"},
    {"prim_inet", "send", "send", WAIT_BY_PORT, NULL},
    {"prim_inet", "send_recv_reply", "send", WAIT_BY_PORT, NULL},
    {"erts_internal", "port_command", "send", WAIT_BY_PORT, NULL},
    {"erts_internal", "await_port_send_result", "send", WAIT_BY_PORT, NULL},
    {"erlang", "port_command", "send", WAIT_BY_PORT, NULL},
    {"erlang", "port_control", "port", WAIT_BY_PORT, NULL},
    {"erlang", "port_call", "port", WAIT_BY_PORT, NULL},
    {"erlang", "port_close", "port", WAIT_BY_PORT, NULL},
    {"os", "get_data", "port", WAIT_BY_PORT, NULL},
    {"socket", "send_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "send_common_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendv_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "send_deadline_cont", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendv_deadline_cont", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendto_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendto_deadline_cont", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendmsg_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendmsg_deadline_cont", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendmsg_loop", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendmmsg_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"socket", "sendfile_deadline", "send", WAIT_BY_NOTHING, "socket"},
    {"proc_lib", "sync_start", "start", WAIT_BY_MONITOR, NULL},
    {"proc_lib", "sync_start_monitor", "start", WAIT_BY_MONITOR, NULL},
    {"proc_lib", "sync_start_link", "start", WAIT_BY_CHILD, NULL},
    {"proc_lib", "stop", "stop", WAIT_BY_MONITOR, NULL},
    {"supervisor", "shutdown", "stop", WAIT_BY_MONITOR, NULL},
    {"supervisor", "wait_dynamic_children", "stop", WAIT_BY_MONITOR, NULL},
    {"sys", "suspend_loop", "suspended", WAIT_BY_NOTHING, NULL},
    {"sys", "suspend_loop_hib", "suspended", WAIT_BY_NOTHING, NULL},
};
/* clang-format on */
const size_t waits_places_count = ARRAY_LEN(waits_places);

const struct wait_place *waits_find_place(struct slice module, struct slice function)
{
    for (size_t i = 0; i < waits_places_count; i++)
        if (slice_is(module, waits_places[i].module) &&
            slice_is(function, waits_places[i].function))
            return &waits_places[i];
    return NULL;
}

const char *waits_kind_of(struct slice module, struct slice function)
{
    static const struct {
        const char *module, *function, *kind; /* function NULL: any */
    } kinds[] = {
        {"poolboy", "checkout", "pool"},
        {"hackney_pool", "checkout", "pool"},
        {"logger_olp", NULL, "logger"},
        {"logger", NULL, "logger"},
        {"gen_event", NULL, "event"},
        {"global", NULL, "global"},
        {"rpc", NULL, "rpc"},
        {"proc_lib", "stop", "stop"},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (slice_is(module, kinds[i].module) &&
            (!kinds[i].function || slice_is(function, kinds[i].function)))
            return kinds[i].kind;
    return NULL;
}

bool waits_is_passing(struct slice module)
{
    static const char *const modules[] = {
        "gen",
        "gen_server",
        "gen_statem",
        "gen_event",
        "disk_log",
        "io",
        "file",
        "dets",
        "os",
        "inet",
        "inet_gethost_native",
        "application",
        "application_master",
        "mnesia",
        "mnesia_tm",
        "erpc",
        "rpc",
        "sys",
        "proc_lib",
        "code_server",
        "code",
        "error_handler",
        "erl_prim_loader",
        "global",
        "prim_inet",
        "gen_tcp",
        "inet_tcp",
        "gen_tcp_socket",
        "socket",
        "erts_internal",
        "erlang",
        "poolboy",
        "hackney_pool",
        "logger_olp",
        "logger_h_common",
        "logger_backend",
        "supervisor",
        "mnesia_locker",
        "Elixir.GenServer",
        "Elixir.Agent",
        "Elixir.Task",
        "Elixir.Task.Supervised",
        "Elixir.Supervisor",
        "Elixir.File",
        "Elixir.System",
        "Elixir.DynamicSupervisor",
        "Elixir.Enum",
        "Elixir.DBConnection",
        "Elixir.DBConnection.Holder",
        "Elixir.NimblePool",
    };
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        if (slice_is(module, modules[i]))
            return true;
    return false;
}
