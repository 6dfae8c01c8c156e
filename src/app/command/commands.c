/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch commands: what each wants of the target, and what it prints. Of tables: table_commands.c.
 */
#include "app/cli/commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/local/rights.h"
#include "beamtop/model/column.h"
#include "beamtop/model/owners.h"
#include "beamtop/output/sink.h"
#include "beamtop/trace/procs.h"
#include "app/source/nodes.h"
#include "app/fleet/fleet_recorded.h"
#include "app/source/replay.h"
#include "app/way/container.h"
#include "app/way/reach.h"
#include "beamtop/base/text.h"
#include "app/cli/tell.h"
#include "printing.h"

struct columns {
    const struct field *columns[COLUMNS_MAX];
    int n;
};

static int print_ticks_with(const struct cli_options *o, const struct app_env *env,
                            const struct want *want, const struct sink_options *options, bool rates)
{
    struct printing p = {.kind = sink_kind_find(o->command)};
    return printing_run(o, env, want, options, rates, &p);
}

static int print_ticks(const struct cli_options *o, const struct app_env *env,
                       const struct want *want, const struct columns *columns, bool rates)
{
    struct sink_options options = printing_options(o, env);
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
    struct want want = {.needs = NEED(PROCESS) | NEED(SUSPENDERS)};
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
    struct sink_options options = printing_options(o, env);
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
    if (replay_is_file(o->target) || fleet_recorded_is_asked(o->target))
        return command_screen(o, env);
    tell_line(
        "%s is not a file, nor a directory of recordings; to watch a live node, leave out `replay`",
        o->target);
    return EXIT_USAGE;
}

/* ---- nodes */

static struct sink_node sink_node_of(const struct discover_vm *vm)
{
    static const char *const cookies[] = {
        [DISCOVER_COOKIE_NONE] = "",
        [DISCOVER_COOKIE_ARGUMENT] = "argument",
        [DISCOVER_COOKIE_OWNER_HOME] = "owner_home",
        [DISCOVER_COOKIE_ENVIRONMENT] = "environment",
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

/* Of this host, or of the container of a URL. */
static int find_nodes(struct discover_list *list, const struct cli_options *o,
                      const struct app_env *env, struct error *err)
{
    struct way_url url;
    if (!o->target)
        return nodes_find(list, o, env, NODES_EPMD_MS, err);
    if (!way_is_url(o->target)) /* a URL of another host does not come here */
        return error_set(err, ERR_USAGE, "%.300s is not a URL of a host, such as ssh://HOST",
                         o->target);
    const int rc = way_url_parse(&url, o->target, err);
    return rc != 0 ? rc
                   : container_find(list, &url, reach_container_answer(env->reach),
                                    cli_timeout_ms(o), -1, err);
}

/* What is not in the list. */
static void say_missing(const struct discover_list *list, bool for_people)
{
    struct error none = {0};
    char left[160];
    if (list->count == 0 && for_people && nodes_none(list, &none) != 0)
        tell_line("%s", none.text);
    else if (nodes_left_out(left, sizeof left, list))
        tell_line("%s", left);
    else if (list->hidden && for_people)
        tell_line("VMs of this user are listed: " RIGHTS_HIDDEN " to list all");
}

int command_nodes(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct discover_list list = {0};
    const struct sink_options options = printing_options(o, env);
    if (find_nodes(&list, o, env, &err) != 0)
        return tell_error(&err);
    struct sink_node *nodes = alloc_zero(list.count + 1, sizeof *nodes);
    for (size_t i = 0; i < list.count; i++)
        nodes[i] = sink_node_of(&list.vms[i]);
    struct sink *sink = sink_open_file(stdout, &options);
    int rc = sink_put_nodes(sink, nodes, list.count, clock_wall_us(), &err);
    if (sink_write_errno(sink) == EPIPE)
        rc = 0;
    if (rc != 0)
        tell_error(&err);
    say_missing(&list, options.format == SINK_TEXT);
    sink_close(sink);
    free(nodes);
    discover_clear(&list);
    return rc == 0 ? EXIT_DONE : EXIT_FAILED;
}
