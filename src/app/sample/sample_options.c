/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"

#define SAMPLE_S 10.0

static int parse_thread(struct sampler_options *sampler, const char *text, struct error *err)
{
    char *end = NULL;
    long tid = strtol(text, &end, 10);
    const enum thread_kind kind = thread_kind_find(text);
    if (kind != THREAD_KINDS)
        sampler->kinds = 1u << kind;
    else if (end != text && *end == '\0' && tid > 0 && tid <= INT32_MAX)
        sampler->tid = (pid_t)tid;
    else
        return error_set(err, ERR_USAGE,
                         "--thread: “%s” is not a thread's number, nor scheduler, dirty_cpu, "
                         "dirty_io, aux, poll, async or other",
                         text);
    return 0;
}

int sample_run_options(struct sample_run *t, struct error *err)
{
    const struct cli_options *o = t->options;
    struct sampler_options *sampler = &t->sampler;
    struct sampled_options *sampled = &t->sums;
    int used = 0;
    sampler->hz = (unsigned)o->hz;
    sampler->for_s = o->for_given ? o->for_s : SAMPLE_S;
    sampler->lines = o->lines;
    sampled->only_erlang = o->only_erlang;
    if (o->names && text_is_number(o->target))
        return error_set(err, ERR_USAGE, "--names needs the name of a node, not an OS pid");
    if (o->thread && o->scheduler > 0)
        return error_set(err, ERR_USAGE, "--thread and --scheduler: give one of them");
    if (o->thread && parse_thread(sampler, o->thread, err) != 0)
        return err->code;
    if (o->scheduler > 0) {
        sampler->kinds = 1u << THREAD_SCHEDULER;
        sampler->number = (unsigned)o->scheduler;
    }
    if (o->pid && (sscanf(o->pid, "<0.%" SCNu64 ".%" SCNu64 ">%n", &sampled->pid_number,
                          &sampled->pid_serial, &used) != 2 ||
                   o->pid[used] != '\0'))
        return error_set(err, ERR_USAGE, "--pid: “%s” is not a local pid such as <0.123.0>",
                         o->pid);
    sampled->one_process = o->pid != NULL;
    return 0;
}
