/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture of spans: armed, taken part by part, ended, verified. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "spans_internal.h"

#define TAKE_EVERY_NS (250u * UINT64_C(1000000))
#define SLACK_NS (20u * UINT64_C(1000000000)) /* a capture without an end is given up */
#define MOST_WALL_US (INT64_C(1) << 52)

static struct spans_session *spans_of(struct session *s)
{
    return (struct spans_session *)s;
}

static void tell_spans(struct spans_session *t, const char *word)
{
    struct builder *b = builder_new();
    build_atom(b, word);
    session_tell(&t->s, b);
}

/* ---- Names of processes */

static void want_name(struct spans_session *t, const struct span_process *p)
{
    const struct etf_pid *pid = &p->pid;
    if (p->node.len == 0 && (pid->id != 0 || pid->serial != 0))
        name_queue_add(&t->names, pid);
}

static void go_on_asking(struct spans_session *t);

static void keep_span_name(void *arg, const struct etf_pid *pid, struct slice name)
{
    struct spans_session *t = arg;
    if (name.len > 0)
        spans_name(t->run->spans, &(struct span_process){.pid = *pid}, name);
}

static void on_span_names(void *arg, const struct answer *answer)
{
    struct spans_session *t = arg;
    struct error ignored = {0}; /* a process without a name is shown by its number */
    t->names.asked = false;
    if (answer->err.code == ERR_NONE &&
        decode_names(keep_span_name, t, answer->value, answer->len, &ignored) == 0)
        t->run->version++;
    go_on_asking(t);
    session_changed(&t->s);
}

/* ---- Events */

/* Within what the model takes, whatever the node answers. */
static int64_t to_ns(const struct spans_session *t, int64_t native)
{
    const double most = 0x1p61, ns = (double)native * (1e9 / (double)t->per_second);
    if (!(ns > -most && ns < most))
        return ns < 0 ? -(INT64_C(1) << 61) : INT64_C(1) << 61;
    return t->per_second == 1000000000 ? native : (int64_t)ns;
}

static void take_span_event(void *arg, struct span_event *e)
{
    struct spans_session *t = arg;
    e->at_ns = to_ns(t, e->at_ns);
    if (e->kind == SPAN_EVENT_CALLER || e->kind == SPAN_EVENT_CONTEXT)
        e->words = to_ns(t, e->words);
    spans_feed(t->run->spans, e);
    want_name(t, &e->process);
    want_name(t, &e->peer);
}

static void ask_events(struct spans_session *t);

/* Nothing more is asked for: what is left is looked at. */
static void verify_when_done(struct spans_session *t)
{
    struct spans_run *run = t->run; /* NULL: taken, after the end */
    if (!run || !t->drained || t->names.asked || run->status.phase >= SESSION_VERIFYING)
        return;
    spans_build(run->spans);
    run->version++;
    session_verify(&t->s);
}

static void go_on_asking(struct spans_session *t)
{
    name_queue_ask(&t->names, &t->s, SPANS_ASK_MS, on_span_names);
    if (t->drained)
        verify_when_done(t);
}

/* Its end is not known: what is left is. */
static void break_off(struct spans_session *t, const struct error *why)
{
    if (t->run->end == SPANS_END_NONE)
        t->run->end = SPANS_END_KILLED;
    t->run->status.error = *why;
    tell_spans(t, "forget");
    t->drained = true;
    go_on_asking(t);
}

/* The node looked at its clock after it was asked, and before its answer came. */
static void note_clock(struct spans_session *t, int64_t mono_ns)
{
    struct spans_here *here = &t->run->here;
    const int64_t most = mono_ns - (int64_t)t->asked_ns;
    const int64_t least = mono_ns - (int64_t)session_now(&t->s);
    here->most_ns = !here->known || most < here->most_ns ? most : here->most_ns;
    here->least_ns = !here->known || least > here->least_ns ? least : here->least_ns;
    here->known = true;
}

static void note_part(struct spans_session *t, const struct spans_taken *part)
{
    struct spans_run *run = t->run;
    spans_add_dropped(run->spans, &(struct spans_dropped){.invalid = part->unread});
    if (part->end == SPANS_END_NONE) /* else it is the time of the end */
        note_clock(t, to_ns(t, part->mono));
    if (part->counted && part->end != SPANS_END_KILLED) {
        run->roots = (unsigned)part->roots;
        run->open = (unsigned)part->open;
        run->events = part->events;
        run->skipped = part->skipped;
        run->by = part->by;
    }
    run->seconds = (double)(to_ns(t, part->mono) - run->mono_ns) / 1e9;
    if (part->end == SPANS_END_NONE)
        return;
    run->end = part->end;
    run->disarm_us = part->disarm_us;
    if (run->status.phase == SESSION_RUNNING)
        session_enter(&t->s, SESSION_ENDING);
}

static void on_events(void *arg, const struct answer *answer)
{
    struct spans_session *t = arg;
    struct spans_taken part;
    struct error err = answer->err;
    t->asked = false;
    if (err.code != ERR_NONE || decode_spans(&part, t->s.port.node, take_span_event, t,
                                             answer->value, answer->len, &err) != 0) {
        break_off(t, &err);
        session_changed(&t->s);
        return;
    }
    t->run->target_us += answer->target_us;
    t->run->bytes += answer->len;
    t->received += part.n;
    if (t->received > SPANS_MOST_EVENTS) {
        error_set(&err, ERR_TARGET, "the node sends more events than it may keep");
        break_off(t, &err);
        session_changed(&t->s);
        return;
    }
    note_part(t, &part);
    if (part.n > 0) {
        spans_build(t->run->spans);
        t->run->version++;
    }
    t->drained = part.end != SPANS_END_NONE && part.n == 0;
    if (part.end != SPANS_END_NONE && part.n > 0)
        ask_events(t);
    go_on_asking(t);
    session_changed(&t->s);
}

static void ask_events(struct spans_session *t)
{
    struct error err = {0};
    struct builder *b = builder_new();
    build_atom(b, "take");
    t->asked_ns = session_now(&t->s);
    t->asked = session_ask(&t->s, QUESTION_SPANS, b, SPANS_ASK_MS, on_events, &err) == 0;
    if (!t->asked)
        break_off(t, &err);
}

/* ---- Arming */

static void on_spans_armed(void *arg, const struct answer *answer)
{
    struct spans_session *t = arg;
    struct error err = answer->err;
    struct armed_answer armed;
    if (err.code != ERR_NONE || decode_arm(&armed, 0, answer->value, answer->len, &err) != 0) {
        break_off(t, &err);
        session_changed(&t->s);
        return;
    }
    if (armed.refused[0] != '\0') {
        error_set(&err, armed.code, "%s", armed.refused);
        session_fail(&t->s, &err);
        return;
    }
    t->per_second = armed.per_second;
    t->run->mono_ns = to_ns(t, armed.mono);
    note_clock(t, t->run->mono_ns);
    t->run->wall_us = armed.wall_us > 0 && armed.wall_us < MOST_WALL_US ? armed.wall_us : 0;
    t->armed_ns = session_now(&t->s);
    t->run->arm_us = armed.arm_us;
    t->run->target_us = answer->target_us;
    session_enter(&t->s, SESSION_RUNNING);
    if (t->s.stopping)
        tell_spans(t, "stop");
    ask_events(t);
    session_changed(&t->s);
}

static void arm_spans(struct session *s)
{
    s->touched = true;
    spans_of(s)->asked_ns = session_now(s);
    session_step(s, SESSION_ARMING, QUESTION_SPANS, spans_arm_arg(spans_of(s)), SPANS_ASK_MS,
                 on_spans_armed);
}

static void begin_spans(struct session *s)
{
    session_baseline(s, SESSION_ARMING, arm_spans);
}

/* ---- The end */

static void close_unarmed(struct session *s)
{
    s->status->check.unarmed = s->status->check.clean = true;
    spans_of(s)->run->end = SPANS_END_STOPPED;
    session_over(s);
}

/* The parts that are left still come. */
static void stop_spans(struct session *s)
{
    if (!s->stopping && s->status->phase == SESSION_RUNNING)
        tell_spans(spans_of(s), "stop");
    s->stopping = true;
}

static void lose_spans(struct session *s, const struct error *why)
{
    struct spans_session *t = spans_of(s);
    if (!s->touched || s->status->phase <= SESSION_ARMING) {
        session_fail(s, why);
        return;
    }
    if (t->run->end == SPANS_END_NONE)
        t->run->end = SPANS_END_LOST;
    spans_build(t->run->spans);
    t->run->version++;
    snprintf(s->status->check.text, sizeof s->status->check.text,
             "unknown: %.200s; the node clears it by itself", why->text);
    session_over(s);
}

static void tick_spans(struct session *s)
{
    struct spans_session *t = spans_of(s);
    const uint64_t now = session_now(s);
    struct error late = {0};
    if (s->status->phase != SESSION_RUNNING || t->asked)
        return;
    if (now - t->armed_ns > t->what.request.for_ms * UINT64_C(1000000) + SLACK_NS) {
        error_set(&late, ERR_TIMEOUT, "the node does not end the capture in time");
        break_off(t, &late);
        session_changed(s);
    } else if (now - t->asked_ns >= TAKE_EVERY_NS) {
        ask_events(t);
    }
}

void spans_session_begin(struct session *s)
{
    if (session_runs(s))
        tell_spans(spans_of(s), "open");
}

void spans_session_enough(struct session *s)
{
    if (session_runs(s))
        tell_spans(spans_of(s), "enough");
}

void spans_session_returned(struct session *s)
{
    if (session_runs(s))
        tell_spans(spans_of(s), "returned");
}

static void free_spans(struct session *s)
{
    struct spans_session *t = spans_of(s);
    if (s->touched && session_runs(s))
        tell_spans(t, "forget");
    preparation_clear(&t->prep);
    spans_run_free(t->run);
    free(t->others);
}

static void spans_broke_off(const struct session *s, struct error *err)
{
    const enum spans_end end = ((const struct spans_session *)s)->run->end;
    if (end == SPANS_END_KILLED)
        error_set(err, ERR_TARGET, "the capture broke off: a helper process on the node ended");
    else if (end == SPANS_END_LOST)
        error_set(err, ERR_LOST, "the capture broke off: the connection was lost");
}

static const struct session_kind spans_kind = {.question = QUESTION_SPANS,
                                               .session = "beamtop",
                                               .cost = SPANS_COST,
                                               .broken_off = spans_broke_off,
                                               .control_word = true,
                                               .proceed = begin_spans,
                                               .close = close_unarmed,
                                               .stop = stop_spans,
                                               .broken = session_fail,
                                               .lost = lose_spans,
                                               .tick = tick_spans,
                                               .free = free_spans};

/* ---- Opening */

static int check_process(const struct spans_capture *o, const struct procs *procs,
                         struct error *err)
{
    if (o->n_patterns > 0 || o->request.procs)
        return error_set(err, ERR_USAGE,
                         "requests begin at calls of a pattern or at a process: leave out one, "
                         "and --procs with --process");
    for (size_t i = 0; i < procs->n; i++)
        if (procs->items[i].kind <= PROCS_RUNNING)
            return error_set(err, ERR_USAGE, "--process takes one process: <0.123.0>, a name …");
    return 0;
}

static int check_no_payloads(const struct spans_capture *o, struct error *err)
{
    const char *other = o->request.full      ? "--full"
                        : o->request.context ? "--context"
                        : o->request.calls   ? "--calls"
                        : o->request.process ? "--process"
                        : o->request.procs   ? "--procs"
                                             : NULL;
    return !o->request.no_payloads || !other
               ? 0
               : error_set(err, ERR_USAGE,
                           "--no-payloads shows calls of a pattern by any process: leave out %s",
                           other);
}

static int check_capture(const struct spans_capture *o, const struct procs *procs,
                         struct error *err)
{
    if (o->request.for_ms < 1 || o->request.for_ms > SPANS_MOST_MS)
        return error_set(err, ERR_USAGE, "a capture lasts up to %u s", SPANS_MOST_MS / 1000);
    if (o->request.roots < 1 || o->request.roots > LIMIT_SPAN_ROOTS)
        return error_set(err, ERR_USAGE, "--roots takes 1 to %u", LIMIT_SPAN_ROOTS);
    if (o->n_others >= LIMIT_SPAN_NODES)
        return error_set(err, ERR_USAGE, "spans follows requests over up to %u nodes",
                         LIMIT_SPAN_NODES);
    if (o->n_others > 0 && (o->request.full || o->request.no_payloads || o->request.process))
        return error_set(err, ERR_USAGE,
                         "over several nodes spans follows requests of a pattern in light mode, by "
                         "messages: leave out %s",
                         o->request.full          ? "--full"
                         : o->request.no_payloads ? "--no-payloads"
                                                  : "--process");
    if (o->request.every < 1 || o->request.every > SPANS_MOST_EVERY)
        return error_set(err, ERR_USAGE, "--every takes 1 to %u", SPANS_MOST_EVERY);
    if (o->request.events < 1 || o->request.events > SPANS_MOST_EVENTS)
        return error_set(err, ERR_USAGE, "a capture takes 1 to %u events", SPANS_MOST_EVENTS);
    if (procs->children)
        return error_set(err, ERR_USAGE,
                         "+children is not for spans: what a root spawns takes part anyway");
    return o->request.process ? check_process(o, procs, err) : 0;
}

static void keep_patterns(struct spans_run *run, const struct spans_capture *o)
{
    size_t len = 0;
    if (o->request.process)
        snprintf(run->patterns, sizeof run->patterns, "process %s", o->request.process);
    for (size_t i = 0; i < o->n_patterns && len < sizeof run->patterns; i++)
        len += (size_t)snprintf(run->patterns + len, sizeof run->patterns - len, "%s%s",
                                i > 0 ? "; " : "", o->patterns[i]);
}

static struct spans_run *new_run(const struct session_port *port, const struct spans_capture *o)
{
    const struct spans_options options = {
        .full = o->request.full,
        .node = slice_of(port->node ? port->node : ""),
        .capture = port->now_ns(port->ctx),
    };
    struct spans_run *run = spans_run_new(&options);
    snprintf(run->node, sizeof run->node, "%s", port->node ? port->node : "");
    snprintf(run->otp, sizeof run->otp, "%d", port->otp);
    run->context = o->request.context;
    run->no_payloads = o->request.no_payloads;
    run->roots_asked = o->request.roots;
    run->every = o->request.every;
    run->for_s = o->request.for_ms / 1000.0;
    run->events_asked = o->request.events;
    keep_patterns(run, o);
    return run;
}

/* The text of the roots is what *offset points into. */
static int parse_calls(struct spans_session *t, size_t *pattern, size_t *offset, struct error *err)
{
    if (t->root_process)
        return error_set(err, ERR_USAGE,
                         "--calls needs a pattern: the calls of --process are not traced");
    int rc = session_parse(&t->s, &t->what.request.calls, 1, t->what.request.syntax,
                           spans_pattern_check, pattern, offset, err);
    const struct error found = *err;
    *pattern = *offset = 0;
    return rc ? error_set(err, found.code, "--calls: %s", found.text) : 0;
}

/* Where only requests of other nodes go on nothing is to be found or counted before. */
static int open_side(struct spans_session *t, struct error *err)
{
    const struct spans_capture *o = &t->what;
    if (o->request.calls || o->request.procs || o->request.context)
        return error_set(err, ERR_USAGE, "a side of another capture has no roots");
    int rc = check_capture(o, &t->s.procs, err);
    if (rc)
        return rc;
    session_baseline(&t->s, SESSION_ARMING, arm_spans);
    return session_runs(&t->s)
               ? 0
               : error_set(err, t->run->status.error.code, "%s", t->run->status.error.text);
}

static int open_capture(struct spans_session *t, size_t *pattern, size_t *offset, struct error *err)
{
    const struct spans_capture *o = &t->what;
    if (o->n_others > 0 && o->n_patterns == 0)
        return open_side(t, err);
    int rc = check_no_payloads(o, err);
    if (rc == 0)
        rc = session_parse(&t->s, o->patterns, o->n_patterns, o->request.syntax,
                           spans_pattern_check, pattern, offset, err);
    if (rc == 0 && t->s.n_patterns == 0 && !o->request.process)
        rc = error_set(err, ERR_USAGE,
                       "a root function is needed, such as shop_orders:create(_), or --process");
    if (rc == 0 && o->request.context && t->s.port.otp > 0 && t->s.port.otp < 26)
        rc = error_set(err, ERR_REFUSED, NO_DICTIONARY_KEYS);
    if (rc)
        return rc;
    *pattern = *offset = 0;
    t->n_roots = t->s.n_patterns;
    if (o->request.calls)
        rc = parse_calls(t, pattern, offset, err);
    if (rc)
        return rc;
    rc =
        session_parse_procs(&t->s, o->request.process ? o->request.process : o->request.procs, err);
    if (rc == 0)
        rc = check_capture(o, &t->s.procs, err);
    return rc ? rc : spans_prepare(t, pattern, offset, err);
}

int spans_open(struct session **out, const struct spans_capture *what,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err)
{
    size_t unused_pattern, unused_offset = 0;
    struct spans_session *t = alloc_zero(1, sizeof *t);
    t->run = new_run(port, what);
    session_init(&t->s, &spans_kind, port, handlers, arg, &t->run->status);
    t->s.calls_per_s = &t->run->calls_per_s;
    t->s.load = &t->run->load;
    t->what = *what;
    t->root_process = what->request.process != NULL;
    t->s.force = what->request.force;
    t->s.dry_run = what->dry_run;
    t->s.hold = what->hold;
    t->others = alloc_zero(what->n_others + 1, sizeof *t->others);
    for (size_t i = 0; i < what->n_others; i++)
        snprintf(t->others[i], sizeof *t->others, "%s", what->others[i]);
    preparation_init(&t->prep, &t->s, &spans_preparation, &t->caps);
    int rc =
        open_capture(t, pattern ? pattern : &unused_pattern, offset ? offset : &unused_offset, err);
    t->what.patterns = NULL;
    t->what.request.calls = NULL;
    t->what.request.procs = NULL;
    t->what.request.process = NULL;
    t->what.others = NULL;
    return session_opened(out, &t->s, rc);
}

const struct spans_run *spans_session_run(const struct session *s)
{
    return ((const struct spans_session *)s)->run;
}

void spans_session_join(struct session *s, const struct spans_run *const *others, size_t n)
{
    spans_run_join(spans_of(s)->run, others, n);
}

struct spans_run *spans_session_take(struct session *s)
{
    struct spans_session *t = spans_of(s);
    struct spans_run *run = t->run;
    t->run = NULL;
    return run;
}
