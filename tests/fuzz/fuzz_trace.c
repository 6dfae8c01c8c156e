/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace against a hostile target. Text is a play: the pattern in the first line, then a step a
 * line (see `steps`), so that terms are broken in their structure. Bytes that begin with a control
 * character are one term of the target, for the decoder that the
 * character chooses. */
#include <string.h>

#include "trace/log/decode.h"
#include "trace/session/prepare.h"
#include "beamtop/output/trace_sink.h"
#include "beamtop/trace/names.h"
#include "beamtop/trace/trace.h"
#include "play.h"

enum { DECODERS = 9 };

struct play {
    struct session *t;
    struct trace_sink sinks[2];
    struct questions questions;
    event_fn *listener;
    size_t written;
    uint64_t now, id; /* id of the trace, once it was asked to arm */
    bool arm_asked, stop_told, ended, in_call;
};

/* ---- The port: no questions are answered from within, and none come after the end */

static int play_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct play *p = ctx;
    struct cursor c = cursor_of(arg);
    uint64_t id;
    FUZZ_REQUIRE(deadline_ms > 0 && !p->ended);
    if (questions_ask(&p->questions, question, fn, fn_arg, err) != 0)
        return (int)err->code;
    if (question == QUESTION_TRACE && cursor_tuple_of(&c, 3) && cursor_atom_is(&c, "arm") &&
        cursor_uint64(&c, &id)) {
        p->arm_asked = true;
        p->id = id;
    }
    return 0;
}

static int play_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    struct play *p = ctx;
    struct cursor c = cursor_of(term);
    struct slice word;
    size_t arity;
    uint64_t id;
    (void)err;
    FUZZ_REQUIRE(question == QUESTION_TRACE);
    FUZZ_REQUIRE(p->arm_asked && !p->ended);
    FUZZ_REQUIRE(cursor_tuple(&c, &arity) && cursor_atom(&c, &word) && cursor_uint64(&c, &id) &&
                 id == p->id);
    p->stop_told |= word.len == 4 && memcmp(word.s, "stop", 4) == 0;
    if (word.len == 6 && memcmp(word.s, "credit", 6) == 0) {
        uint64_t events, more;
        FUZZ_REQUIRE(cursor_uint64(&c, &events) && cursor_uint64(&c, &more));
    }
    return 0;
}

static void play_listen(void *ctx, uint64_t id, event_fn *fn, void *fn_arg)
{
    struct play *p = ctx;
    (void)id;
    FUZZ_REQUIRE(fn_arg == p->t);
    p->listener = fn;
}

static void play_drop(void *ctx, const void *fn_arg)
{
    struct play *p = ctx;
    (void)fn_arg;
    p->listener = NULL;
    questions_drop(&p->questions);
}

static uint64_t play_now(void *ctx)
{
    return ((struct play *)ctx)->now;
}

static const struct trace_state *state_of(const struct play *p)
{
    return trace_log_state(trace_session_log(p->t));
}

static void on_event(void *arg, const struct trace_event *event, bool finished)
{
    struct play *p = arg;
    struct error err = {0};
    for (size_t i = 0; i < 2; i++)
        FUZZ_REQUIRE(
            trace_sink_event(&p->sinks[i], trace_session_log(p->t), event, finished, &err) == 0);
}

/* ---- Steps */

static void push(struct play *p, const char *text, size_t len)
{
    struct builder *body = term_of(text, len);
    if (!body)
        return;
    size_t n_body;
    const uint8_t *inner = builder_bytes(body, &n_body);
    struct builder *b = builder_new();
    build_tuple(b, 4);
    build_atom(b, "t");
    build_int(b, (int64_t)p->id);
    build_int(b, 1);
    build_raw(b, inner + 1, n_body - 1);
    size_t n;
    uint8_t *exact = exact_copy(b, &n);
    if (p->listener)
        p->listener(p->t, exact, n);
    free(exact);
    builder_free(b);
    builder_free(body);
}

static void set_cap(struct play *p, const char *text, size_t len)
{
    struct error err = {0};
    if (len > 1 && text[0] >= '0' && text[0] - '0' < CAPS)
        trace_set_cap(p->t, (enum cap)(text[0] - '0'), number_of(text + 1, len - 1), &err);
}

static void narrow(struct play *p)
{
    const struct trace_log *l = trace_session_log(p->t);
    if (trace_log_len(l) > 0)
        trace_narrow_pid(p->t, &trace_log_at(l, trace_log_len(l) - 1)->pid);
}

static size_t newest(const struct play *p)
{
    return p->questions.n > 0 ? p->questions.n - 1 : 0;
}

/*
 * ?TERM the oldest question is answered, /TERM the newest, ! it fails; <BODY is pushed; tN time
 * passes, in ms; cNV a cap; y yes, s stop, p r pause and on, h g hold and on, n N narrow, l the
 * link is lost, x later questions cannot
 * be asked. */
static void step(struct play *p, char what, const char *text, size_t len)
{
    struct error lost = {0};
    switch (what) {
    case '?':
        questions_answer_text(&p->questions, 0, text, len);
        break;
    case '/':
        questions_answer_text(&p->questions, newest(p), text, len);
        break;
    case '!':
        questions_fail_oldest(&p->questions);
        break;
    case '<':
        push(p, text, len);
        break;
    case 't':
        p->now += number_of(text, len) * 1000000;
        session_tick(p->t);
        break;
    case 'c':
        set_cap(p, text, len);
        break;
    case 'y':
        session_confirm(p->t);
        break;
    case 's':
        session_stop(p->t);
        break;
    case 'p':
        trace_pause(p->t, true);
        break;
    case 'r':
        trace_pause(p->t, false);
        break;
    case 'h':
        trace_hold(p->t, true);
        break;
    case 'g':
        trace_hold(p->t, false);
        break;
    case 'n':
        narrow(p);
        break;
    case 'N':
        trace_narrow_pattern(p->t, (unsigned)number_of(text, len));
        break;
    case 'x':
        p->questions.refuse = true;
        break;
    case 'l':
        error_set(&lost, ERR_LOST, "the link is lost");
        p->questions.n = 0;
        p->questions.refuse = true;
        session_link_lost(p->t, &lost);
        break;
    default:
        break;
    }
}

/* ---- What must hold after each step */

static void check_counts(const struct trace_counts *c)
{
    FUZZ_REQUIRE(c->missed <= c->calls);
}

static void check(struct play *p)
{
    const struct trace_log *l = trace_session_log(p->t);
    const struct trace_state *s = state_of(p);
    FUZZ_REQUIRE((size_t)s->status.phase <= SESSION_FAILED);
    FUZZ_REQUIRE(memchr(s->end_text, '\0', sizeof s->end_text) != NULL);
    FUZZ_REQUIRE(memchr(s->status.check.text, '\0', sizeof s->status.check.text) != NULL);
    FUZZ_REQUIRE((s->status.phase == SESSION_FAILED) == (s->status.error.code != ERR_NONE));
    bool over = s->status.phase == SESSION_ENDED || s->status.phase == SESSION_FAILED;
    FUZZ_REQUIRE(!p->ended || over); /* nothing begins again */
    if (s->status.phase == SESSION_ENDED) {
        FUZZ_REQUIRE(s->end != END_NONE && s->end_text[0] != '\0');
        /* Clean is said only where the target has been asked. */
        FUZZ_REQUIRE(!s->status.check.clean || s->status.check.done);
        FUZZ_REQUIRE(s->status.check.clean || s->status.check.text[0] != '\0' || !p->arm_asked);
    }
    p->ended = over;
    for (size_t i = 0; i < trace_log_patterns(l); i++)
        check_counts(&trace_log_pattern(l, i)->counts);
    for (size_t i = 0; i < trace_log_len(l); i++) {
        const struct trace_event *e = trace_log_at(l, i);
        FUZZ_REQUIRE(e->kind == EVENT_LOST || e->pattern < trace_log_patterns(l));
        FUZZ_REQUIRE(e->outcome != OUTCOME_RETURN || e->result.bytes.len > 0);
    }
}

static void end_play(struct play *p)
{
    struct error err = {0};
    const struct trace_log *l = trace_session_log(p->t);
    for (size_t i = 0; i < 2; i++) {
        FUZZ_REQUIRE(trace_sink_log(&p->sinks[i], l, &err) == 0);
        FUZZ_REQUIRE(trace_sink_end(&p->sinks[i], l, &err) == 0);
    }
    session_free(p->t);
}

static bool open_play(struct play *p, const char *pattern)
{
    static const struct session_handlers handlers = {.on_event = on_event};
    const struct session_port port = {.ask = play_ask,
                                      .tell = play_tell,
                                      .listen = play_listen,
                                      .drop = play_drop,
                                      .now_ns = play_now,
                                      .ctx = p,
                                      .node = NODE,
                                      .creation = 1,
                                      .otp = 25};
    struct trace_options o = {.patterns = &pattern, .n_patterns = 1};
    struct error err = {0};
    caps_init(&o.request.caps);
    p->now = 5000000000u;
    if (trace_open(&p->t, &o, &port, &handlers, p, NULL, NULL, &err) != 0)
        return false;
    for (size_t i = 0; i < 2; i++)
        p->sinks[i] = (struct trace_sink){.output.writer = {write_nowhere, &p->written},
                                          .options = {.format = i == 0 ? SINK_TEXT : SINK_JSON,
                                                      .syntax = PRINT_ERLANG,
                                                      .node = NODE}};
    return true;
}

static void play(const char *text, size_t size)
{
    struct play p = {0};
    const char *nl = memchr(text, '\n', size);
    char *pattern = strndup(text, nl ? (size_t)(nl - text) : size);
    if (open_play(&p, pattern)) {
        for (size_t i = 0; nl && i < STEPS_MOST; i++) {
            const char *line = nl + 1, *end = text + size;
            nl = memchr(line, '\n', (size_t)(end - line));
            size_t len = (size_t)((nl ? nl : end) - line);
            if (len > 0)
                step(&p, line[0], line + 1, len - 1);
            check(&p);
        }
        end_play(&p);
    }
    free(pattern);
}

/* ---- Decoders */

static void take_name(void *arg, const struct etf_pid *pid, struct slice name)
{
    *(size_t *)arg += pid->id + name.len;
}

static void take_number(void *arg, unsigned index, size_t nth, bool is_time, uint64_t n)
{
    *(size_t *)arg += index + nth + n + (is_time ? 1 : 0);
}

static void decode_message(const uint8_t *term, size_t len)
{
    struct push p;
    struct pushed_event event;
    struct error err = {0};
    size_t sum = 0;
    if (decode_push(&p, term, len, &err) != 0)
        return;
    if (p.kind == PUSH_COUNTS || p.kind == PUSH_SETTLED)
        decode_counts(&p, take_number, &sum);
    for (size_t i = 0; p.kind == PUSH_BATCH && i < p.n_events; i++)
        decode_event(&p, &event);
}

static void decode(unsigned kind, const uint8_t *term, size_t len)
{
    struct error err = {0};
    struct preflight preflight;
    struct armed armed;
    struct counted counted;
    struct armed_answer answer;
    struct names *names;
    struct record_store records;
    size_t sum = 0;
    switch (kind) {
    case 0:
        if (decode_preflight(&preflight, 1 + len % 3, term, len, &err) == 0)
            preflight_clear(&preflight);
        break;
    case 1:
        armed_decode(&armed, term, len, &err);
        break;
    case 2:
        decode_counted(&counted, term, len, &err);
        break;
    case 3:
        decode_arm(&answer, 1, term, len, &err);
        break;
    case 4:
        decode_names(take_name, &sum, term, len, &err);
        break;
    case 5:
        record_store_init(&records);
        record_store_take(&records, term, len, &err);
        record_store_clear(&records);
        break;
    case 6:
        names = names_new();
        if (names_take(names, term, len, &err) == 0)
            names_take(names, term, len, &err);
        names_free(names);
        break;
    default:
        decode_message(term, len);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used;
    if (size == 0)
        return 0;
    if (data[0] >= ' ') {
        play((const char *)data, size);
        return 0;
    }
    if (etf_check(data + 1, size - 1, &used, &err) == 0 && used > 1)
        decode(data[0] % DECODERS, data + 2, used - 1);
    return 0;
}
