/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "facts.h"
#include "facts_terms.h"

#include "beamtop/base/attr.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define HANDLERS 32
#define HANDLER_NAMES 3 /* that its process may have */
#define CONNECTIONS 200
#define REPOSITORIES 200
#define TABLES_MS 500
#define FILES_MS 1000
#define MODULES_MOST 100000
#define MODULES_US 10000 /* of a large system's */

/* ---- what the parts share */

void facts_expect(struct facts_read *f, enum facts_term first)
{
    f->out = first;
}

struct slice facts_kept(const struct facts_read *f, enum facts_term term)
{
    return (struct slice){(const char *)f->kept[term].data, f->kept[term].len};
}

size_t facts_list(const struct facts_read *f, enum facts_term term, struct slice *out, size_t most)
{
    struct cursor c;
    size_t n = 0, count;
    if (!values_enter_list(facts_kept(f, term), &c, &count))
        return 0;
    while (n < count && n < most && cursor_raw(&c, &out[n]))
        n++;
    return n;
}

bool facts_is(struct slice term, enum etf_kind kind)
{
    const struct cursor c = values_cursor(term);
    return cursor_kind(&c) == kind;
}

void facts_build_pair(struct builder *b, const char *key, struct slice term)
{
    build_atom(b, key);
    values_build_known(b, term);
}

/* An atom or a number; what else stands there may be anything. */
static struct slice keep_plain(struct slice term)
{
    int64_t n;
    const bool plain = who_atom_of(term).len > 0 || values_read_integer(term, &n);
    return plain ? term : (struct slice){0};
}

/* ---- logger */

struct handler {
    struct slice id, module, config;
};

static size_t read_handlers(const struct facts_read *f, struct handler out[HANDLERS])
{
    struct slice maps[HANDLERS];
    const size_t all = facts_list(f, FACTS_HANDLERS, maps, HANDLERS);
    size_t n = 0;
    for (size_t i = 0; i < all; i++) {
        out[n] = (struct handler){values_find_in_map(maps[i], "id"),
                                  values_find_in_map(maps[i], "module"),
                                  values_find_in_map(maps[i], "config")};
        n += who_atom_of(out[n].id).len > 0 && who_atom_of(out[n].module).len > 0;
    }
    return n;
}

/* OTP's register their process as Module_Id, an atom that is there: one in what is sent would be
 * made. Others mostly use one of the two. */
static void build_name(struct builder *b, const struct handler *h, size_t name)
{
    const struct slice module = who_atom_of(h->module), id = who_atom_of(h->id);
    struct buf text;
    if (name > 0 || !(slice_is(module, "logger_std_h") || slice_is(module, "logger_disk_log_h"))) {
        values_build(b, name == 2 ? h->module : h->id);
        return;
    }
    buf_init(&text, 0);
    buf_put(&text, module.s, module.len);
    buf_puts(&text, "_");
    buf_put(&text, id.s, id.len);
    build_atom_n(b, buf_cstr(&text), text.len);
    buf_clear(&text);
}

/* lists:map(fun erlang:whereis/1, Names), those of one handler after the other. */
static void add_whereis(const struct facts_read *f, struct run_calls *calls)
{
    struct handler handlers[HANDLERS];
    const size_t n = read_handlers(f, handlers) * HANDLER_NAMES;
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "erlang", "whereis", 1);
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_name(b, &handlers[i / HANDLER_NAMES], i % HANDLER_NAMES);
    build_nil(b);
    build_nil(b);
    run_add(calls, "lists", "map", b);
}

/* The first of its names that a process has, else `undefined`. */
static void build_process(struct builder *b, const struct facts_read *f, const struct handler *h,
                          size_t handler)
{
    struct slice found[HANDLERS * HANDLER_NAMES];
    const size_t n = facts_list(f, FACTS_PROCESSES, found, ARRAY_LEN(found));
    for (size_t i = 0; i < HANDLER_NAMES && handler * HANDLER_NAMES + i < n; i++)
        if (facts_is(found[handler * HANDLER_NAMES + i], ETF_KIND_PID)) {
            build_name(b, h, i);
            return;
        }
    build_atom(b, "undefined");
}

static bool ask_logger(void *own, struct run_calls *calls)
{
    facts_expect(own, FACTS_HANDLERS);
    run_add_text(calls, "logger", "get_handler_config", "[]");
    run_add_text(calls, "application", "get_key", "[logger,vsn]"); /* Elixir's */
    return true;
}

/* persistent_term:get({logger_olp, Process}, undefined) of each. */
static bool ask_modes(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    struct handler handlers[HANDLERS];
    struct slice keys[HANDLERS];
    struct builder *made[HANDLERS];
    const size_t n = read_handlers(f, handlers);
    facts_expect(f, FACTS_MODES);
    for (size_t i = 0; i < n; i++) {
        made[i] = builder_new();
        build_tuple(made[i], 2);
        build_atom(made[i], "logger_olp");
        build_process(made[i], f, &handlers[i], i);
        keys[i].s = (const char *)builder_bytes(made[i], &keys[i].len) + 1; /* the version */
        keys[i].len--;
    }
    run_add(calls, "lists", "zipwith", args_of_zip("persistent_term", "get", keys, n, "undefined"));
    for (size_t i = 0; i < n; i++)
        builder_free(made[i]);
    return n > 0;
}

static void build_handler(struct builder *b, const struct facts_read *f, const struct handler *h,
                          size_t handler)
{
    static const char *const settings[] = {"sync_mode_qlen", "drop_mode_qlen", "flush_qlen"};
    struct slice modes[HANDLERS];
    const size_t n = facts_list(f, FACTS_MODES, modes, HANDLERS);
    const struct slice id = who_atom_of(h->id);
    const bool has_mode = handler < n && !who_term_is(modes[handler], "undefined");
    build_map(b, 4 + ARRAY_LEN(settings));
    build_atom(b, "id");
    build_binary(b, id.s, id.len);
    facts_build_pair(b, "module", h->module);
    build_atom(b, "process");
    build_process(b, f, h, handler);
    facts_build_pair(b, "mode",
                     keep_plain(has_mode ? modes[handler] : values_find_in_map(h->config, "mode")));
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        facts_build_pair(b, settings[i], keep_plain(values_find_in_map(h->config, settings[i])));
}

/* Its own settings, of its application, which is called so. */
static void build_elixir(struct builder *b, const struct facts_read *f)
{
    struct buf version;
    buf_init(&version, 0);
    if (values_put_chars(&version, values_of_pair(facts_kept(f, FACTS_ELIXIR), "ok"))) {
        build_map(b, 3);
        build_atom(b, "version");
        build_binary(b, version.data, version.len);
        facts_build_pair(b, "sync_threshold",
                         keep_plain(values_of_pair(facts_kept(f, FACTS_SYNC), "ok")));
        facts_build_pair(b, "discard_threshold",
                         keep_plain(values_of_pair(facts_kept(f, FACTS_DISCARD), "ok")));
    } else {
        build_atom(b, "undefined");
    }
    buf_clear(&version);
}

static void build_logger(struct builder *b, const struct facts_read *f)
{
    struct handler handlers[HANDLERS];
    const size_t n = read_handlers(f, handlers);
    if (f->kept[FACTS_HANDLERS].len == 0) {
        build_atom(b, "undefined");
        return;
    }
    build_map(b, 2);
    build_atom(b, "handlers");
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        build_handler(b, f, &handlers[i], i);
    build_nil(b);
    build_atom(b, "elixir");
    build_elixir(b, f);
}

/* ---- distribution */

static bool ask_base(void *own, struct run_calls *calls)
{
    facts_expect(own, FACTS_BUSY_LIMIT);
    run_add_text(calls, "erlang", "system_info", "[dist_buf_busy_limit]");
    run_add_text(calls, "erlang", "system_info", "[dist_ctrl]");
    run_add_text(calls, "erlang", "system_info", "[wordsize]");
    return true;
}

/* Of connections and handlers. */
static bool ask_states(void *own, struct run_calls *calls)
{
    struct facts_read *f = own;
    struct slice nodes[CONNECTIONS], ports[CONNECTIONS];
    const size_t n = values_read_ports(facts_kept(f, FACTS_CONTROLLERS), nodes, ports, CONNECTIONS);
    facts_expect(f, FACTS_QUEUES);
    run_add(calls, "lists", "zipwith", args_of_zip("erlang", "port_info", ports, n, "queue_size"));
    add_whereis(f, calls);
    if (values_of_pair(facts_kept(f, FACTS_ELIXIR), "ok").len > 0) {
        run_add_text(calls, "application", "get_env", "[logger,sync_threshold]");
        run_add_text(calls, "application", "get_env", "[logger,discard_threshold]");
    }
    return true;
}

static void build_distribution(struct builder *b, const struct facts_read *f)
{
    struct slice nodes[CONNECTIONS], ports[CONNECTIONS], queues[CONNECTIONS] = {{0}};
    const size_t n = values_read_ports(facts_kept(f, FACTS_CONTROLLERS), nodes, ports, CONNECTIONS);
    if (f->kept[FACTS_CONTROLLERS].len == 0) {
        build_atom(b, "undefined");
        return;
    }
    (void)facts_list(f, FACTS_QUEUES, queues, CONNECTIONS);
    build_map(b, 2);
    facts_build_pair(b, "busy_limit_bytes", keep_plain(facts_kept(f, FACTS_BUSY_LIMIT)));
    build_atom(b, "nodes");
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        build_map(b, 2);
        facts_build_pair(b, "node", nodes[i]);
        facts_build_pair(b, "queue_bytes", keep_plain(values_of_pair(queues[i], "queue_size")));
    }
    build_nil(b);
}

/* ---- repositories: modules of Ecto */

/* Fails where no module can be one. */
static bool ask_count(void *own, struct run_calls *calls)
{
    static const struct args_call loaded = {"erlang", "loaded", 0, "[]", NULL};
    facts_expect(own, FACTS_ADAPTER);
    run_add_text(calls, "erlang", "binary_to_existing_atom", "[<<\"__adapter__\">>,utf8]");
    run_add(calls, "lists", "foldl", args_of_calls("erlang", "length", 1, &loaded, 1));
    return true;
}

/* match_spec_run(zip(loaded(), zipwith3(fun function_exported/3, loaded(), duplicate(N,
 * '__adapter__'), duplicate(N, 0))), Filter): fails where it is another number of modules by then.
 */
static struct builder *modules_arguments(int64_t modules)
{
    const struct args_call loaded = {"erlang", "loaded", 0, "[]", NULL};
    char name[60], arity[40];
    snprintf(name, sizeof name, "[%lld,'__adapter__']", (long long)modules);
    snprintf(arity, sizeof arity, "[%lld,0]", (long long)modules);
    const struct args_call columns[] = {args_fun_call("erlang", "function_exported", 3),
                                        loaded,
                                        {"lists", "duplicate", 2, name, NULL},
                                        {"lists", "duplicate", 2, arity, NULL}};
    const struct args_call both[] = {
        loaded, {"lists", "foldl", 3, NULL, args_of_calls("lists", "zipwith3", 4, columns, 4)}};
    const struct args_call filtered[] = {
        {"lists", "foldl", 3, NULL, args_of_calls("lists", "zip", 2, both, 2)},
        {"ets", "match_spec_compile", 1, "[[{{'$1',true},[],['$1']}]]", NULL}};
    return args_of_calls("ets", "match_spec_run", 2, filtered, 2);
}

static bool ask_modules(void *own, struct run_calls *calls)
{
    int64_t modules;
    if (!values_read_integer(facts_kept(own, FACTS_LOADED), &modules) || modules < 1 ||
        modules > MODULES_MOST)
        return false;
    facts_expect(own, FACTS_MODULES);
    run_add(calls, "lists", "foldl", modules_arguments(modules));
    calls->most_us = MODULES_US;
    return true;
}

static bool ask_attributes(void *own, struct run_calls *calls)
{
    struct slice modules[REPOSITORIES];
    const size_t n = facts_list(own, FACTS_MODULES, modules, REPOSITORIES);
    facts_expect(own, FACTS_ATTRIBUTES);
    run_add(calls, "lists", "zipwith",
            args_of_zip("erlang", "get_module_info", modules, n, "attributes"));
    return n > 0;
}

/* {behaviour, ['Elixir.Ecto.Repo']} is among them. */
static bool is_repository(struct slice attributes)
{
    struct cursor c, behaviours;
    struct slice each, name;
    size_t n, of;
    if (!values_enter_list(attributes, &c, &n))
        return false;
    for (size_t i = 0; i < n && cursor_raw(&c, &each); i++) {
        if (!values_enter_list(values_of_pair(each, "behaviour"), &behaviours, &of))
            continue;
        for (size_t k = 0; k < of && cursor_raw(&behaviours, &name); k++)
            if (who_term_is(name, "Elixir.Ecto.Repo"))
                return true;
    }
    return false;
}

static void build_repositories(struct builder *b, const struct facts_read *f)
{
    struct slice modules[REPOSITORIES], attributes[REPOSITORIES];
    const size_t n = facts_list(f, FACTS_MODULES, modules, REPOSITORIES);
    const bool is_known = f->kept[FACTS_ADAPTER].len == 0 || f->kept[FACTS_MODULES].len > 0;
    size_t found = 0;
    if (!is_known || facts_list(f, FACTS_ATTRIBUTES, attributes, REPOSITORIES) != n) {
        build_atom(b, "undefined");
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (facts_is(modules[i], ETF_KIND_ATOM) && is_repository(attributes[i]))
            modules[found++] = modules[i];
    build_list(b, found);
    for (size_t i = 0; i < found; i++)
        values_build(b, modules[i]);
    build_nil(b);
}

/* ---- all */

static void take_values(void *own, const struct slice *values, size_t n)
{
    struct facts_read *f = own;
    for (size_t i = 0; values && i < n; i++) {
        buf_reset(&f->kept[f->out + i]);
        buf_put(&f->kept[f->out + i], values[i].s, values[i].len);
    }
}

static const struct run_step facts_steps[] = {
    {ask_base, take_values, 0, false},
    {ask_logger, take_values, 0, false},
    {ask_states, take_values, 0, false},
    {ask_modes, take_values, 0, false},
    {ask_count, take_values, 0, false},
    {ask_modules, take_values, 0, false},
    {ask_attributes, take_values, 0, false},
    {facts_ask_tables, take_values, TABLES_MS, false},
    {facts_ask_spread, take_values, 0, false},
    {facts_ask_sizes, take_values, 0, false},
    {facts_ask_spread_sizes, take_values, TABLES_MS, false},
    {facts_ask_rows, take_values, 0, false},
    {facts_ask_owners, take_values, 0, false},
    {facts_ask_idle, take_values, 0, true},
    {facts_ask_threads, take_values, FILES_MS, false},
    {facts_ask_kinds, take_values, FILES_MS, false},
    {facts_ask_files, take_values, FILES_MS, false},
};

static void build_facts(struct builder *b, void *read, int64_t mono_ns,
                        const struct stepped_who *who)
{
    (void)who;
    struct facts_read *f = read;
    static const struct {
        const char *key;
        void (*build)(struct builder *b, const struct facts_read *f);
    } parts[] = {{"logger", build_logger},
                 {"cpus", facts_build_cpus},
                 {"distribution", build_distribution},
                 {"repositories", build_repositories},
                 {"ets", facts_build_tables}};
    f->mono_ns = mono_ns;
    build_tuple(b, 3);
    build_atom(b, "facts");
    build_int(b, f->mono_ns);
    build_map(b, ARRAY_LEN(parts));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        build_atom(b, parts[i].key);
        parts[i].build(b, f);
    }
}

static void init_facts(void *read)
{
    struct facts_read *f = read;
    for (size_t i = 0; i < FACTS_TERMS; i++)
        buf_init(&f->kept[i], 0);
}

static void begin_facts(void *read, const struct stepped_now *now)
{
    struct facts_read *f = read;
    (void)now;
    for (size_t i = 0; i < FACTS_THREADS; i++)
        buf_clear(&f->kept[i]);
    f->looks = 0;
}

static void clear_facts(void *read)
{
    struct facts_read *f = read;
    for (size_t i = 0; i < FACTS_TERMS; i++)
        buf_clear(&f->kept[i]);
}

const struct stepped facts_question = {
    .question = QUESTION_FACTS,
    .bytes = sizeof(struct facts_read),
    .steps = facts_steps,
    .n_steps = ARRAY_LEN(facts_steps),
    .init = init_facts,
    .begin = begin_facts,
    .build = build_facts,
    .clear = clear_facts,
};
