/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batch commands: what each wants of the target, and the sink it prints with. */
#include "app/cli/commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/model/column.h"
#include "beamtop/model/owners.h"
#include "beamtop/model/table.h"
#include "beamtop/output/sink.h"
#include "beamtop/trace/procs.h"
#include "app/source/nodes.h"
#include "app/source/replay.h"
#include "beamtop/base/text.h"
#include "app/cli/tell.h"

struct printing {
    struct sink *sink;
    const struct sink_kind *kind;
    int (*check)(const struct model *m, struct error *err); /* NULL: it is printed as it is */
    int64_t looked_at;                                      /* processes, of `holders` */
};

struct columns {
    const struct field *columns[COLUMNS_MAX];
    int n;
};

static struct sink_options sink_options_of(const struct cli_options *o, const struct app_env *env)
{
    return (struct sink_options){
        .format = o->format == FORMAT_JSON  ? SINK_JSON
                  : o->format == FORMAT_CSV ? SINK_CSV
                                            : SINK_TEXT,
        .ascii = o->ascii || !env->utf8,
        .spreadsheet = o->spreadsheet,
    };
}

static int print_tick(void *arg, const struct model *m, struct error *err)
{
    struct printing *p = arg;
    if (p->check && p->check(m, err) != 0)
        return err->code;
    int rc = sink_put(p->sink, p->kind, m, err);
    if (rc != 0 && sink_write_errno(p->sink) == EPIPE)
        return ERR_CANCELLED; /* `| head` has seen enough */
    return rc;
}

/* The first look at a large node takes several answers. */
static bool pass_partial(void *arg, const struct model *m)
{
    struct printing *p = arg;
    const struct table_detail *table = model_answer(m, QUESTION_HOLDERS);
    const struct system_sample *system = model_system(m);
    char looked_at[32], all[32];
    int64_t n = 0;
    for (size_t i = 0; table && i < table->n_rows; i++)
        n += ((const struct holders_row *)table->rows)[i].processes;
    if (!table || !table->partial || !system || n <= p->looked_at)
        return false;
    p->looked_at = n;
    tell_line("%s of %s processes looked at", text_integer(looked_at, sizeof looked_at, n),
              text_integer(all, sizeof all, system->processes));
    return true;
}

/* What the commands have in common. */
static int print_kind(const struct cli_options *o, const struct app_env *env,
                      const struct want *want, const struct sink_options *options, bool rates,
                      struct printing p)
{
    p.sink = sink_open_file(stdout, options);
    const struct batch_job job = {
        .options = o,
        .env = env,
        .want = *want,
        .ticks = o->ticks,
        .rates = rates,
        .filter = o->filter,
        .passes = want->needs == NEED(HOLDERS) && !replay_is_file(o->target) ? pass_partial : NULL,
        .on_tick = print_tick,
        .arg = &p,
    };
    int code = batch_run(&job);
    sink_close(p.sink);
    return code;
}

static int print_ticks_with(const struct cli_options *o, const struct app_env *env,
                            const struct want *want, const struct sink_options *options, bool rates)
{
    const struct printing p = {.kind = sink_kind_find(o->command)};
    return print_kind(o, env, want, options, rates, p);
}

static int print_ticks(const struct cli_options *o, const struct app_env *env,
                       const struct want *want, const struct columns *columns, bool rates)
{
    struct sink_options options = sink_options_of(o, env);
    options.by = -1;
    if (columns) {
        options.columns = columns->columns;
        options.n_columns = columns->n;
    }
    return print_ticks_with(o, env, want, &options, rates);
}

/* The columns asked for, and the scan that they add up to. */
static int choose_columns(const struct cli_options *o, struct columns *c, struct want_scan *scan,
                          struct error *err)
{
    const struct field *sort = proc_column_find(o->sort);
    if (!sort)
        return error_set(err, ERR_USAGE, "no column “%s”: `man beamtop` lists all columns",
                         o->sort);
    if (!o->columns)
        c->n = proc_columns_default(c->columns);
    else if (proc_columns_parse(o->columns, c->columns, &c->n, err) != 0)
        return err->code;
    *scan = (struct want_scan){
        .sort_key = sort->key,
        .by_delta = sort->sweep_by_delta,
        .ascending = o->reverse,
        .rows = (int)o->rows,
        .items = proc_columns_items(c->columns, c->n, sort),
        .own = o->own,
    };
    return 0;
}

int command_top(const struct cli_options *o, const struct app_env *env)
{
    struct columns columns = {0};
    struct want want = {.needs = NEED(SCAN)};
    struct error err = {0};
    if (choose_columns(o, &columns, &want.scan, &err) != 0)
        return tell_error(&err);
    return print_ticks(o, env, &want, &columns, true);
}

int command_process(const struct cli_options *o, const struct app_env *env)
{
    struct want want = {.needs = NEED(PROCESS)};
    struct error err = {0};
    if (!*o->second) {
        error_set(&err, ERR_USAGE, "the process is empty: give its pid or its registered name");
        return tell_error(&err);
    }
    procs_read_one(o->second, &want.process.pid, want.process.name, sizeof want.process.name);
    return print_ticks(o, env, &want, NULL, true);
}

int command_answer(const struct cli_options *o, const struct app_env *env)
{
    bool rates = false;
    enum question question = sink_question(sink_kind_find(o->command), &rates);
    const struct want want = {.needs = QUESTION_BIT(question)};
    return print_ticks(o, env, &want, NULL, rates || o->ticks_given);
}

/* The rows of one kind of terms. */
static int choose_kind(const struct field_list *list, const char *what,
                       struct sink_options *options, struct error *err)
{
    static const char *const kinds[] = {"persistent", "atoms", "modules", "timers"};
    for (size_t i = 0; what && i < ARRAY_LEN(kinds); i++)
        if (strcmp(what, kinds[i]) == 0) {
            options->where = field_find(list, slice_of("kind"));
            options->only = slice_of(kinds[i]);
            return 0;
        }
    return what ? error_set(err, ERR_USAGE,
                            "--what: “%s” is none of persistent, atoms, modules, timers", what)
                : 0;
}

/* A column of the table, of texts or of numbers; NULL where none is asked for. */
static int find_column(const struct field_list *list, const char *key, bool number,
                       const struct field **out, struct error *err)
{
    char keys[400] = "";
    *out = key ? field_find(list, slice_of(key)) : NULL;
    if (!key || (*out && field_is_number(*out) == number && (*out)->form != FIELD_PID))
        return 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct field *f = &list->fields[i];
        const size_t len = strlen(keys);
        if (field_is_number(f) == number && f->form != FIELD_PID)
            snprintf(keys + len, sizeof keys - len, "%s%s", len > 0 ? ", " : "", f->key);
    }
    return error_set(err, ERR_USAGE, "--%s: “%s” is none of %s", number ? "sort" : "by", key, keys);
}

int command_table(const struct cli_options *o, const struct app_env *env)
{
    const struct sink_kind *kind = sink_kind_find(o->command);
    struct sink_options options = sink_options_of(o, env);
    struct error err = {0};
    bool rates = false;
    const struct want want = {.needs = QUESTION_BIT(sink_question(kind, &rates))};
    const char *by = o->by ? o->by : sink_table(kind)->by;
    if (find_column(sink_table(kind), by, false, &options.group, &err) != 0 ||
        find_column(sink_table(kind), o->table_sort, true, &options.sort, &err) != 0 ||
        choose_kind(sink_table(kind), o->what, &options, &err) != 0)
        return tell_error(&err);
    if (options.group && !table_adds(sink_table(kind))) {
        (void)error_set(&err, ERR_USAGE, "--by: nothing in rows of `%s` adds up", o->command);
        return tell_error(&err);
    }
    options.most = o->top_given ? (size_t)o->top : 0;
    return print_ticks_with(o, env, &want, &options, true);
}

static int check_mnesia(const struct model *m, struct error *err)
{
    const struct table_detail *t = model_mnesia(m);
    if (!t || t->n_rows > 0 || t->partial)
        return 0;
    return error_set(err, ERR_NOT_FOUND, "Mnesia does not run on the node");
}

static int show_mnesia(const struct cli_options *o, const struct app_env *env)
{
    const struct want want = {.needs = NEED(MNESIA)};
    const struct sink_options options = sink_options_of(o, env);
    const struct printing p = {.kind = sink_kind_find("mnesia"), .check = check_mnesia};
    return print_kind(o, env, &want, &options, true, p);
}

static int check_table(const struct model *m, struct error *err)
{
    const struct table_detail *t = model_one_table(m);
    const struct one_table_row *row = t && t->n_rows > 0 ? t->rows : NULL;
    if (!row || row->exists)
        return 0;
    return error_set(err, ERR_NOT_FOUND, "the node has no ETS table %.*s", (int)row->id.len,
                     row->id.s);
}

int command_tables(const struct cli_options *o, const struct app_env *env)
{
    const bool keys = o->keys > 0;
    struct want want = {.needs = keys ? NEED(TABLE_KEYS) : NEED(ONE_TABLE), .keys = (int)o->keys};
    struct sink_options options = sink_options_of(o, env);
    struct error err = {0};
    if (!o->table && !keys)
        return o->mnesia ? show_mnesia(o, env) : command_table(o, env);
    if (!o->table)
        (void)error_set(&err, ERR_USAGE, "--keys needs a table: add --table NAME");
    else if (!*o->table || strlen(o->table) >= sizeof want.table)
        (void)error_set(&err, ERR_USAGE, "--table: give a name, or #Ref<…> as `tables` prints it");
    else if (o->by || o->table_sort || o->top_given)
        (void)error_set(&err, ERR_USAGE, "--by, --sort and --top are of many tables");
    if (err.code != ERR_NONE)
        return tell_error(&err);
    snprintf(want.table, sizeof want.table, "%s", o->table);
    const struct printing p = {.kind = sink_kind_find(keys ? "table_keys" : "one_table"),
                               .check = keys ? NULL : check_table};
    return print_kind(o, env, &want, &options, !keys, p);
}

int command_heapsample(const struct cli_options *o, const struct app_env *env)
{
    if (o->collect)
        return collect_run(o, env);
    const struct want want = {.needs = NEED(HEAPS),
                              .heaps = o->top_given ? (int)o->top : HEAPS_ROWS,
                              .heaps_running = o->running};
    struct cli_options apart = *o;
    enum owner_by by = OWNER_APPLICATION;
    struct error err = {0};
    if (o->by && !owner_by_heap(o->by, &by)) {
        (void)error_set(&err, ERR_USAGE, "--by: “%s” is not " OWNER_HEAP_SORTS, o->by);
        return tell_error(&err);
    }
    if (o->for_given)
        apart.interval_s = o->for_s;
    struct sink_options options = sink_options_of(o, env);
    options.by = o->by ? (int)by : -1;
    return print_ticks_with(&apart, env, &want, &options, o->for_given);
}

int command_msacc(const struct cli_options *o, const struct app_env *env)
{
    if (!replay_is_file(o->target))
        tell_line("microstate accounting takes up to 28%% of the time of processes that only send "
                  "messages, while it is on");
    return command_answer(o, env);
}

int command_replay(const struct cli_options *o, const struct app_env *env)
{
    if (replay_is_file(o->target))
        return command_screen(o, env);
    tell_line("%s is not a file; to watch a live node, leave out `replay`", o->target);
    return EXIT_USAGE;
}

/* ---- nodes */

static struct sink_node sink_node_of(const struct discover_vm *vm)
{
    static const char *const cookies[] = {
        [DISCOVER_COOKIE_NONE] = "",
        [DISCOVER_COOKIE_ARGUMENT] = "argument",
        [DISCOVER_COOKIE_OWNER_HOME] = "owner_home",
    };
    static const char *const forms[] = {
        [DISCOVER_NOT_A_NODE] = "",
        [DISCOVER_SHORT] = "short",
        [DISCOVER_LONG] = "long",
        [DISCOVER_UNKNOWN] = "",
    };
    return (struct sink_node){
        .name = slice_of(vm->node),
        .form = slice_of(forms[vm->form]),
        .user = slice_of(vm->user),
        .otp = slice_of(vm->otp),
        .command = slice_of(vm->command),
        .cookie = slice_of(cookies[vm->cookie_from]),
        .os_pid = vm->pid > 0 ? vm->pid : -1,
        .port = vm->port > 0 ? vm->port : -1,
        .uptime_s = vm->uptime_s < 0 ? (double)NAN : vm->uptime_s,
        .rss_bytes = vm->rss_bytes > 0 ? (double)vm->rss_bytes : (double)NAN,
        .in_epmd = vm->in_epmd,
    };
}

int command_nodes(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct discover_list list;
    const struct sink_options options = sink_options_of(o, env);
    if (nodes_find(&list, o, env, NODES_EPMD_MS, &err) != 0) {
        tell_error(&err);
        return EXIT_FAILED;
    }
    struct sink_node *nodes = alloc_zero(list.count + 1, sizeof *nodes);
    for (size_t i = 0; i < list.count; i++)
        nodes[i] = sink_node_of(&list.vms[i]);
    struct sink *sink = sink_open_file(stdout, &options);
    int rc = sink_put_nodes(sink, nodes, list.count, clock_wall_us(), &err);
    if (sink_write_errno(sink) == EPIPE)
        rc = 0;
    if (rc != 0)
        tell_error(&err);
    if (list.count == 0 && options.format == SINK_TEXT)
        fputs("no BEAM VM was found on this host\n", stderr);
    sink_close(sink);
    free(nodes);
    discover_clear(&list);
    return rc == 0 ? EXIT_DONE : EXIT_FAILED;
}
