/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/rules_internal.h"

#include <math.h>
#include <string.h>

static const char *const reads[] = {
    "get",    "get!",         "get_by",         "get_by!",    "one",        "one!",
    "all",    "exists?",      "aggregate",      "stream",     "reload",     "fetch",
    "fetch!", "lookup",       "lookup_element", "find",       "read",       "member",
    "match",  "match_object", "select",         "dirty_read", "index_read", "dirty_index_read",
    NULL,
};
/* clang-format off */
static const char *const writes[] = {
    "insert", "insert!", "insert_all", "insert_or_update", "insert_or_update!", "insert_new",
    "update", "update!", "update_all", "update_counter", "update_element", "delete", "delete!",
    "delete_all", "delete_object", "put", "write", "dirty_write", "dirty_delete",
    "dirty_update_counter", "store", "set", "save", "register", "add", "create", "remove", NULL,
};
/* clang-format on */
/* Writes that are queries. */
static const char *const of_queries[] = {"update_all", "delete_all", NULL};
static const char *const lookups[] = {
    "get", "get!", "get_by", "get_by!", "fetch", "fetch!", "lookup", "find", NULL,
};
/* Whose call/2 asks a process, and is not a stage of a pipeline. */
/* clang-format off */
static const char *const callers[] = {
    "gen", "gen_server", "gen_statem", "gen_event", "rpc", "erpc", "code_server", "global",
    "supervisor", "application_controller", "Elixir.GenServer", "Elixir.Agent", "Elixir.Task", NULL,
};
/* clang-format on */
/* Modules whose get and lookup are of data that the caller holds, or that another rule reports. */
/* clang-format off */
static const char *const libraries[] = {
    "maps", "lists", "proplists", "dict", "orddict", "gb_trees", "gb_sets", "ets", "erlang",
    "mnesia", "persistent_term", "application", "logger_config", "logger_server", "inet_config",
    "code_server", "disk_log", "io", "io_lib", "file", "file_io_server", "group", "httpc",
    "counters", "atomics", "orddict", "sets", "ordsets", "erl_eval", "dets", "global", "pg",
    "array", "digraph", "queue", "string", "binary", "json", "jsx", "Elixir.Map", "Elixir.Keyword",
    "Elixir.Access", "Elixir.Enum", "Elixir.MapSet", "Elixir.List", "Elixir.Process",
    "Elixir.String", "Elixir.Registry", "Elixir.Agent", "Elixir.Plug.Conn", NULL,
};
/* clang-format on */
/* Parts of names of modules that hold data which is looked up and seldom changes. */
static const char *const registries[] = {
    "schema", "Schema", "registr",  "Registr",  "cache",   "Cache",
    "config", "Config", "setting",  "Setting",  "catalog", "Catalog",
    "lookup", "Lookup", "director", "Director", NULL,
};

static bool one_of(struct slice text, const char *const *list)
{
    for (; *list; list++)
        if (slice_is(text, *list))
            return true;
    return false;
}

static bool has_one_of(struct slice text, const char *const *list)
{
    for (; *list; list++)
        for (size_t i = 0, len = strlen(*list); i + len <= text.len; i++)
            if (memcmp(text.s + i, *list, len) == 0)
                return true;
    return false;
}

/* 'Elixir.Repo' and Elixir.Repo are the same module. */
static struct slice bare_name(struct slice name)
{
    if (name.len > 2 && name.s[0] == '\'' && name.s[name.len - 1] == '\'')
        return (struct slice){name.s + 1, name.len - 2};
    return name;
}

bool module_is_library(struct slice module)
{
    static const char *const beginnings[] = {"erts_", "erl_",  "prim_", "logger_",
                                             "file_", "inet_", "io_"};
    struct slice name = bare_name(module);
    for (size_t i = 0; i < ARRAY_LEN(beginnings); i++)
        if (slice_begins(name, beginnings[i]))
            return true;
    return one_of(name, libraries);
}

static struct module_calls *module_of(struct modules *m, struct slice name,
                                      const json_t *repositories)
{
    for (size_t i = 0; i < m->n; i++)
        if (slice_equal(m->items[i].name, name))
            return &m->items[i];
    struct module_calls *c = &m->items[m->n++];
    bool declared = false;
    for (size_t i = 0; i < json_array_size(repositories); i++) {
        const char *is = json_string_value(json_array_get(repositories, i));
        declared = declared || (is && slice_is(bare_name(name), is));
    }
    *c = (struct module_calls){.name = name, .declared = declared};
    return c;
}

/* Whether a function of the same module and name, of another arity, is called more: this one is in
 * it. */
static bool within_another(const struct judge *j, size_t at)
{
    const struct recorded_call *c = &j->calls[at];
    for (size_t i = 0; i < at; i++) /* most calls first */
        if (slice_equal(j->calls[i].module, c->module) &&
            slice_equal(j->calls[i].function, c->function))
            return true;
    return false;
}

#define EDGE 0.1       /* of a limit that is another count */
#define SAME 0.03      /* a difference of two counts of which one calls the other */
#define SAME_CALLS 2.0 /* and of small ones */

bool calls_reach(double count, double other)
{
    return count >= (1 - EDGE) * other;
}

/* Two reads of one module that are called equally often are one: get calls one, which calls all. */
static bool is_nested(double n, double last)
{
    return n >= last - SAME * last - SAME_CALLS && last > 0;
}

static void add_call(const struct judge *j, struct module_calls *m, size_t at)
{
    const struct recorded_call *c = &j->calls[at];
    double n = (double)c->calls;
    m->prepares = m->prepares || (slice_is(c->function, "prepare_query") && c->arity == 3);
    m->defaults = m->defaults || (slice_is(c->function, "default_options") && c->arity == 1);
    m->options = m->options || (slice_is(c->function, "prepare_opts") && c->arity == 2);
    m->prepared += slice_is(c->function, "prepare_query") && c->arity == 3 ? n : 0;
    m->stages +=
        slice_is(c->function, "call") && c->arity == 2 && !one_of(bare_name(c->module), callers)
            ? n
            : 0;
    m->switches += slice_is(c->function, "put_dynamic_repo") && c->arity == 1 ? n : 0;
    m->get_one += c->arity == 1 && one_of(c->function, lookups) ? n : 0;
    if (within_another(j, at))
        return;
    m->writes += one_of(c->function, writes) ? n : 0;
    m->prepared -= one_of(c->function, of_queries) ? n : 0;
    if (!one_of(c->function, reads))
        return;
    m->read_calls += n;
    bool keyed = one_of(c->function, lookups), calls = !module_is_library(c->module);
    if (!(calls && is_nested(n, m->last.read)))
        m->reads += n;
    if (keyed && !(calls && is_nested(n, m->last.keyed)))
        m->keyed += n;
    m->last.read = n;
    m->last.keyed = keyed ? n : m->last.keyed;
    if (n > m->hottest_calls) {
        m->hottest = c->function;
        m->hottest_calls = n;
    }
}

struct modules modules_of(struct judge *j)
{
    struct modules m = {arena_alloc(&j->out->arena, (j->n_calls + 1) * sizeof *m.items), 0};
    json_t *repositories = fact_at(j->recording, "repositories", j->to); /* a list */
    for (size_t i = 0; i < j->n_calls; i++)
        add_call(j, module_of(&m, j->calls[i].module, repositories), i);
    json_decref(repositories);
    for (size_t i = 0; i < m.n; i++)
        if (m.items[i].prepares) /* each query is prepared once, however many functions it passes */
            m.items[i].reads =
                fmin(m.items[i].read_calls, fmax(m.items[i].prepared, m.items[i].hottest_calls));
    return m;
}

bool module_is_repository(const struct module_calls *m)
{
    return m->declared || (m->prepares && (m->defaults || m->options));
}

bool module_is_lookup(const struct module_calls *m)
{
    return m->get_one > 0 && calls_reach(m->get_one, m->reads / 2) && m->writes <= m->reads * 0.05;
}

bool module_is_registry(const struct module_calls *m)
{
    return has_one_of(m->name, registries);
}
