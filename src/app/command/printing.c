/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "printing.h"

#include <errno.h>

#include "batch.h"

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
    int code = batch_run(&job);
    sink_close(p->sink);
    return code;
}
