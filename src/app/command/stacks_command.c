/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop stacks`: what one process calls, and when it does not run, until it is verified that
 * nothing is left. A trace of calls and returns, with the flag `running` on that process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/error_at.h"
#include "app/cli/output.h"
#include "app/cli/tell.h"
#include "app/source/replay.h"
#include "batch.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/output/timeline_sink.h"
#include "beamtop/trace/procs.h"
#include "beamtop/trace/trace.h"

#define TICK_MS 50u
#define REASON_BYTES 200u
#define TERM_BYTES 256u /* of a result, which is not shown, or of the reason of an exception */
#define SENT_BYTES (8u * 1024 * 1024)

struct stacking {
    const struct cli_options *options;
    const struct app_env *env;
    const char *procs; /* as typed; NULL: the first that calls */
    const char *const *patterns;
    size_t n_patterns;
    struct batch *run; /* from open_session on */
    struct timeline *timeline;
    struct etf_pid pid;
    struct slice name; /* borrowed from the log */
    int64_t first_ns;  /* of the first call */
    int64_t last_ns;   /* of the last event, for a trace whose end did not come */
    bool called, reported;
};

static const struct trace_state *stacked_state(const struct stacking *t)
{
    return trace_log_state(trace_session_log(t->run->session));
}

/* ---- events of the session */

static void note_time(struct stacking *t, int64_t at_ns)
{
    if (at_ns > t->last_ns)
        t->last_ns = at_ns;
}

static void feed_call(struct stacking *t, const struct trace_event *e, bool finished)
{
    struct buf text;
    buf_init(&text, 0);
    if (!finished) {
        print_mfa(&text, e->mfa.module, e->mfa.function, e->mfa.arity);
        timeline_call(t->timeline, e->id, e->mono_ns, (struct slice){(char *)text.data, text.len});
    } else if (e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION) {
        const bool raised = e->outcome == OUTCOME_EXCEPTION;
        const int64_t end =
            e->latency_ns < INT64_MAX / 4 ? e->mono_ns + (int64_t)e->latency_ns : INT64_MAX;
        const struct print_limits limits = {.bytes = REASON_BYTES, .cuts = true};
        if (raised) {
            buf_put(&text, e->class.s, e->class.len);
            buf_puts(&text, ": ");
            print_term(&text, (const uint8_t *)e->result.bytes.s, e->result.bytes.len, &limits);
        }
        note_time(t, end < INT64_MAX ? end : e->mono_ns);
        timeline_end(t->timeline, e->id, end, raised, (struct slice){(char *)text.data, text.len});
    }
    buf_clear(&text);
}

static void on_stacked_event(void *arg, const struct trace_event *e, bool finished)
{
    struct stacking *t = batch_arg(arg);
    if (e->kind == EVENT_LOST)
        timeline_gap(t->timeline, e->mono_ns, e->until_ns, e->lost, e->at_most, slice_of(e->why));
    if (e->kind != EVENT_CALL)
        return;
    if (!t->called) {
        t->called = true;
        t->pid = e->pid;
        t->first_ns = e->mono_ns;
    }
    note_time(t, e->mono_ns);
    feed_call(t, e, finished);
}

static void on_off_cpu(void *arg, const struct off_cpu *off)
{
    struct stacking *t = batch_arg(arg);
    const enum timeline_why why = strcmp(off->why, "waiting") == 0    ? TIMELINE_WAITS
                                  : strcmp(off->why, "runnable") == 0 ? TIMELINE_READY
                                                                      : TIMELINE_UNKNOWN;
    const int64_t total = off->total_ns < INT64_MAX ? (int64_t)off->total_ns : INT64_MAX;
    struct buf text;
    buf_init(&text, 0);
    if (off->mfa.module.len > 0)
        print_mfa(&text, off->mfa.module, off->mfa.function, off->mfa.arity);
    note_time(t, off->until_ns);
    timeline_off(t->timeline, off->from_ns, off->until_ns, total, off->times,
                 (struct slice){(char *)text.data, text.len}, why);
    buf_clear(&text);
}

static void on_follow(void *arg, int64_t mono_ns, bool on)
{
    const struct stacking *t = batch_arg(arg);
    timeline_follow(t->timeline, mono_ns, on);
}

static void tell_stacks_estimate(void *arg)
{
    struct stacking *t = arg;
    const struct trace_state *state = stacked_state(t);
    const struct trace_preflight *p = &state->preflight;
    const enum session_phase phase = state->status.phase;
    if (t->reported || (phase != SESSION_ASKING && phase != SESSION_RUNNING))
        return;
    t->reported = true;
    tell_line("%llu function%s, %s: calls and times off CPU of one process%s%s",
              (unsigned long long)p->functions, p->functions == 1 ? "" : "s",
              t->procs ? state->status.procs : "the first process that calls",
              p->others[0] ? "; set by others: " : "", p->others);
}

static enum timeline_format timeline_format_of(enum cli_format format)
{
    return format == FORMAT_JSON         ? TIMELINE_JSON
           : format == FORMAT_FOLDED     ? TIMELINE_FOLDED
           : format == FORMAT_SPEEDSCOPE ? TIMELINE_SPEEDSCOPE
                                         : TIMELINE_TEXT;
}

static char *typed_patterns(const struct stacking *t)
{
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < t->n_patterns; i++)
        buf_printf(&text, "%s%s", i > 0 ? " & " : "", t->patterns[i]);
    return buf_take(&text);
}

/* What it does is shown from the start of the trace on, or from the call that chose it. */
static void put_timeline(struct stacking *t, const struct trace_state *state)
{
    const struct trace_log *log = trace_session_log(t->run->session);
    const struct session_port *port = session_port(t->run->session);
    struct sink_output output = {.writer = sink_writer_of(stdout)};
    struct error err = {0};
    const bool first = !t->procs;
    const int64_t from = first && t->called ? t->first_ns : state->armed_mono_ns;
    const int64_t last = state->ended_mono_ns != 0 ? state->ended_mono_ns : t->last_ns;
    const int64_t until = last > from ? last : from;
    char *patterns = typed_patterns(t);
    for (size_t i = 0; i < trace_log_len(log) && t->name.len == 0; i++)
        t->name = trace_log_at(log, i)->name;
    if (t->name.len == 0 && !first)
        t->name = slice_of(state->status.procs);
    if (!first)
        timeline_follow(t->timeline, from, true);
    timeline_build(t->timeline, from, until);
    const struct timeline_run run = {
        .timeline = t->timeline,
        .state = state,
        .node = slice_of(port->node),
        .patterns = slice_of(patterns),
        .otp = port->otp,
        .pid = t->pid,
        .name = t->name,
        .first = first,
    };
    const struct timeline_sink_options options = {
        .format = timeline_format_of(t->options->format),
        .ascii = t->options->ascii || !t->env->utf8,
        .rows = t->options->top_given ? (size_t)t->options->top : 0,
    };
    timeline_put(&output, &run, &options,
                 &err); /* a write that failed is found by output_check() */
    free(patterns);
}

static void end_stacked_run(void *arg)
{
    struct stacking *t = arg;
    const struct trace_state *state = stacked_state(t);
    const struct error err = batch_trouble(t->run);
    if (!state->status.check.unarmed)
        put_timeline(t, state);
    batch_tell_verified(t->run, &state->status.check, "the node");
    batch_end(t->run, &err);
}

/* ---- the session */

static struct caps caps_of(const struct cli_options *o)
{
    struct caps caps = o->request.caps;
    caps.value[CAP_TIME_MS] = o->for_given ? (uint64_t)(o->for_s * 1000 + 0.5) : 10000;
    caps.value[CAP_EVENTS] = (uint64_t)o->stack_events;
    caps.value[CAP_RATE_PER_S] = (uint64_t)o->stack_rate;
    caps.value[CAP_TERM_BYTES] = TERM_BYTES;
    caps.value[CAP_BYTES] = SENT_BYTES;
    return caps;
}

static int open_stacked_run(void *arg, struct batch *run, const struct session_port *port,
                            struct error *err)
{
    static const struct session_handlers handlers = {.on_change = batch_session_changed,
                                                     .on_event = on_stacked_event,
                                                     .on_off_cpu = on_off_cpu,
                                                     .on_follow = on_follow};
    struct stacking *t = arg;
    const struct cli_options *o = t->options;
    t->run = run;
    const struct trace_options options = {
        .patterns = t->patterns,
        .n_patterns = t->n_patterns,
        .request = {.procs = t->procs,
                    .syntax = o->request.syntax,
                    .caps = caps_of(o),
                    .force = o->request.force},
        .one = true,
        .own = t->n_patterns == 0,
        .dry_run = o->dry_run,
    };
    return trace_open(&run->session, &options, port, &handlers, run, &run->wrong_pattern,
                      &run->wrong_offset, err);
}

/* ---- the words */

/* A pid, label:/RE/, call:/RE/, or a word that names no function: shop_cart, Shop.Cart. */
static bool looks_like_process(const char *word)
{
    const char *dot = strrchr(word, '.');
    if (*word == '<' || strncmp(word, "label:/", 7) == 0 || strncmp(word, "call:/", 6) == 0)
        return true;
    return !strpbrk(word, ":(/ ") && (!dot || text_is_upper((unsigned char)dot[1]));
}

/* Whether it chooses one process, as far as the words show. */
static int check_one_process(const char *word, size_t *offset, struct error *err)
{
    struct procs procs;
    int rc = procs_parse(&procs, word, offset, err);
    if (rc != 0)
        return rc;
    const enum procs_kind kind = procs.n == 1 ? procs.items[0].kind : PROCS_ALL;
    if (procs.one_in <= 1 && !procs.children &&
        (kind == PROCS_PID || kind == PROCS_NAME || kind == PROCS_LABEL || kind == PROCS_CALL))
        return 0;
    *offset = 0;
    return error_set(err, ERR_USAGE,
                     "expected one process: a pid, a registered name, label:/RE/ or call:/RE/");
}

static int take_words(struct stacking *t, const struct cli_options *o)
{
    struct error err = {0};
    size_t offset = 0;
    t->patterns = o->rest;
    t->n_patterns = o->n_rest;
    if (looks_like_process(o->rest[0])) {
        t->procs = o->rest[0];
        t->patterns++;
        t->n_patterns--;
        if (check_one_process(t->procs, &offset, &err) != 0) {
            error_at_print(t->procs, offset, &err);
            return EXIT_USAGE;
        }
    }
    return error_at_patterns(t->patterns, t->n_patterns, o->request.syntax, NULL);
}

int command_stacks(const struct cli_options *o, const struct app_env *env)
{
    struct stacking t = {.options = o, .env = env, .last_ns = INT64_MIN};
    int code = take_words(&t, o);
    if (code == EXIT_DONE && replay_is_file(o->target)) {
        tell_line("%s is a recording: stacks follows a process of a live node", o->target);
        code = EXIT_USAGE;
    }
    if (code != EXIT_DONE)
        return code;
    t.timeline = timeline_new();
    const struct batch_job job = {.options = o,
                                  .env = env,
                                  .open = open_stacked_run,
                                  .patterns = t.patterns,
                                  .n_patterns = t.n_patterns,
                                  .changed = tell_stacks_estimate,
                                  .ended = end_stacked_run,
                                  .turn_ms = TICK_MS,
                                  .arg = &t};
    code = output_check(batch_run(&job));
    timeline_free(t.timeline);
    return code;
}
