/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"
#include "session_world.h"

#define NODE "there@host"

static char *print(const struct builder *b)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, bytes, len, &(struct print_limits){0});
    return buf_take(&out);
}

static int fake_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct world *w = ctx;
    assert_true(deadline_ms > 0);
    if (w->refuse)
        return error_set(err, ERR_LOST, "no link");
    assert_true(w->n_asked < 64);
    w->asked[w->n_asked++] = (struct question_asked){question, print(arg), fn, fn_arg, false};
    return 0;
}

static int fake_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    struct world *w = ctx;
    (void)err;
    assert_int_equal(question, QUESTION_TRACE);
    assert_true(w->n_told < 64);
    w->told[w->n_told++] = print(term);
    return 0;
}

static void fake_listen(void *ctx, uint64_t id, event_fn *fn, void *fn_arg)
{
    struct world *w = ctx;
    assert_true(id > 0);
    w->listener = fn;
    w->listener_arg = fn_arg;
}

static void dropped(void *arg, const struct answer *answer)
{
    (void)arg;
    (void)answer;
}

static void fake_drop(void *ctx, const void *fn_arg)
{
    struct world *w = ctx;
    for (size_t i = 0; i < w->n_asked; i++)
        if (w->asked[i].arg == fn_arg) {
            w->asked[i].fn = dropped;
            w->drops += !w->asked[i].answered;
        }
    if (w->listener_arg == fn_arg)
        w->listener = NULL;
}

static uint64_t fake_now(void *ctx)
{
    return ((struct world *)ctx)->now;
}

static void on_change(void *arg)
{
    ((struct world *)arg)->changes++;
}

static void on_event(void *arg, const struct trace_event *event, bool finished)
{
    struct world *w = arg;
    w->events++;
    w->finished += finished ? 1 : 0;
    if (event->kind == EVENT_LOST) {
        w->losses++;
        w->last_lost = event->lost;
        w->last_at_most = event->at_most;
    }
}

struct builder *term_of(const char *fmt, ...)
{
    char text[8192];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), NODE, &err))
        fail_msg("%s: %s", text, err.text);
    return b;
}

struct question_asked *open_question(struct world *w, enum question question)
{
    for (size_t i = 0; i < w->n_asked; i++)
        if (!w->asked[i].answered && w->asked[i].question == question)
            return &w->asked[i];
    fail_msg("%s is not asked", question_name(question));
    return NULL;
}

void answer(struct world *w, enum question question, const char *text)
{
    struct question_asked *q = open_question(w, question);
    q->answered = true;
    struct builder *b = term_of("%s", text);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    q->fn(q->arg, &(struct answer){.question = question, .value = bytes + 1, .len = len - 1});
    builder_free(b);
}

void answer_error(struct world *w, enum question question, enum err code)
{
    struct question_asked *q = open_question(w, question);
    q->answered = true;
    struct answer a = {.question = question};
    error_set(&a.err, code, "it went wrong");
    q->fn(q->arg, &a);
}

/* What was asked to arm, and its number. */
unsigned long long armed_id(struct world *w)
{
    for (size_t i = w->n_asked; i-- > 0;) {
        unsigned long long id;
        if (w->asked[i].question == QUESTION_TRACE &&
            sscanf(w->asked[i].text, "{arm,%llu,", &id) == 1)
            return id;
    }
    fail_msg("nothing was armed");
    return 0;
}

void push(struct world *w, const char *body)
{
    struct builder *b = term_of("{t,%llu,1,%s}", armed_id(w), body);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    if (w->listener)
        w->listener(w->listener_arg, bytes + 1, len - 1);
    builder_free(b);
}

const char *last_told(const struct world *w)
{
    return w->n_told > 0 ? w->told[w->n_told - 1] : "";
}

void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("“%s” is not in “%s”", part, text);
}

int open_world(struct world *w, const char *pattern, const struct trace_options *more,
               struct error *err)
{
    struct trace_options o = *more;
    o.patterns = &pattern;
    o.n_patterns = 1;
    caps_init(&o.request.caps);
    struct session_port port = {
        .ask = fake_ask,
        .tell = fake_tell,
        .listen = fake_listen,
        .drop = fake_drop,
        .now_ns = fake_now,
        .ctx = w,
        .node = NODE,
        .creation = 1,
        .otp = w->otp,
    };
    struct session_handlers handlers = {.on_change = on_change, .on_event = on_event};
    w->now = 5000000000u;
    int rc = trace_open(&w->t, &o, &port, &handlers, w, NULL, NULL, err);
    assert_int_equal(w->changes, 0);
    return rc;
}

struct world *new_world_of(const char *pattern, const struct trace_options *more, int otp)
{
    struct world *w = calloc(1, sizeof *w);
    struct error err = {0};
    w->otp = otp;
    if (open_world(w, pattern, more, &err))
        fail_msg("%s: %s", pattern, err.text);
    return w;
}

struct world *new_world(const char *pattern, const struct trace_options *more)
{
    return new_world_of(pattern, more, 25);
}

void end_world(struct world *w)
{
    session_free(w->t);
    for (size_t i = 0; i < w->n_asked; i++)
        free(w->asked[i].text);
    for (size_t i = 0; i < w->n_told; i++)
        free(w->told[i]);
    free(w);
}

const struct trace_state *state(const struct world *w)
{
    return trace_log_state(trace_session_log(w->t));
}

enum session_phase phase(const struct world *w)
{
    return state(w)->status.phase;
}

void arm_answer(struct world *w)
{
    char text[200];
    snprintf(text, sizeof text,
             "{armed,%llu,#{mono=>1000,wall_us=>1000000,per_second=>1000000000,session=>false}}",
             armed_id(w));
    answer(w, QUESTION_TRACE, text);
}

void to_arming(struct world *w)
{
    answer(w, QUESTION_PREFLIGHT, FOUND);
    answer(w, QUESTION_TRACE, COUNTED);
    answer(w, QUESTION_ARMED, NOTHING);
    assert_int_equal(phase(w), SESSION_ARMING);
}

struct world *running_world(const char *pattern, const struct trace_options *more)
{
    struct world *w = new_world(pattern, more);
    to_arming(w);
    arm_answer(w);
    assert_int_equal(phase(w), SESSION_RUNNING);
    return w;
}
