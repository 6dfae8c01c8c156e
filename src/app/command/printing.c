/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "printing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/fleet/fleet.h"
#include "batch.h"
#include "beamtop/model/table.h"

struct sink_options printing_options(const struct cli_options *o, const struct app_env *env)
{
    return (struct sink_options){
        .format = o->format == FORMAT_JSON  ? SINK_JSON
                  : o->format == FORMAT_CSV ? SINK_CSV
                                            : SINK_TEXT,
        .ascii = o->ascii || !env->utf8,
        .spreadsheet = o->spreadsheet,
    };
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

int printing_arrange(struct sink_options *options, const struct cli_options *o,
                     const struct sink_kind *kind, struct error *err)
{
    const struct field_list *list = sink_table(kind);
    const char *by = o->by ? o->by : list->by;
    if (find_column(list, by, false, &options->group, err) != 0 ||
        find_column(list, o->table_sort, true, &options->sort, err) != 0)
        return err->code;
    if (options->group && !table_adds(list))
        return error_set(err, ERR_USAGE, "--by: nothing in rows of `%s` adds up", o->command);
    options->most = o->top_given ? (size_t)o->top : 0;
    return 0;
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

int printing_run(const struct cli_options *o, const struct app_env *env, const struct want *want,
                 const struct sink_options *options, bool rates, struct printing *p)
{
    p->sink = sink_open_file(stdout, options);
    const struct batch_job job = {
        .options = o,
        .env = env,
        .want = *want,
        .ticks = o->ticks,
        .rates = rates,
        .filter = o->filter,
        .passes = p->passes,
        .on_tick = print_tick,
        .arg = p,
    };
    int code = fleet_is_asked(o) ? batch_run_each(&job) : batch_run(&job);
    sink_close(p->sink);
    return code;
}
