/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting calls against a hostile target. Text is a play: letters of options and the patterns in
 * the first line, then a step a line (see `step`), so that terms are broken in their structure.
 * Bytes that begin with a control character are one answer, for the decoder that the character
 * chooses. */
#include <string.h>

#include "trace/calls/calls_internal.h"
#include "beamtop/output/calls_sink.h"
#include "play.h"

enum { DECODERS = 4, FORMATS = CALLS_FOLDED + 1, WINDOWS_MOST = 4 };

struct play {
    struct session *s;
    struct calls_sink sinks[FORMATS];
    struct questions questions;
    size_t windows;
    uint64_t now;
    bool window_asked, close_asked, over;
    bool time, memory; /* as it was opened */
};

/* ---- The port: no questions are answered from within, and none come after the end */

static int play_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct play *p = ctx;
    struct cursor c = cursor_of(arg);
    struct cursor word = c;
    FUZZ_REQUIRE(deadline_ms > 0 && !p->over);
    size_t arity;
    if (questions_ask(&p->questions, question, fn, fn_arg, err) != 0)
        return (int)err->code;
    if (question == QUESTION_CALLS && cursor_tuple(&c, &arity)) {
        FUZZ_REQUIRE(!p->close_asked); /* nothing is armed after the word to close */
        p->window_asked |= cursor_atom_is(&c, "count") || cursor_atom_is(&c, "time");
    } else if (question == QUESTION_CALLS) {
        FUZZ_REQUIRE(cursor_atom_is(&word, "close"));
        p->close_asked = true;
    }
    return 0;
}

static int play_tell(void *ctx, enum question question, const struct builder *term,
                     struct error *err)
{
    struct play *p = ctx;
    struct cursor c = cursor_of(term);
    (void)err;
    FUZZ_REQUIRE(question == QUESTION_CALLS && cursor_atom_is(&c, "stop") && !p->over);
    return 0;
}

static void play_drop(void *ctx, const void *fn_arg)
{
    struct play *p = ctx;
    (void)fn_arg;
    questions_drop(&p->questions);
}

static uint64_t play_now(void *ctx)
{
    return ((struct play *)ctx)->now;
}

/* ---- Steps */

/*
 * ?TERM the oldest question is answered, ! it fails; tN time passes, in ms; y yes, s stop, l the
 * link is lost, x later questions cannot
 * be asked. */
static void step(struct play *p, char what, const char *text, size_t len)
{
    struct error lost = {0};
    switch (what) {
    case '?':
        questions_answer_text(&p->questions, 0, text, len);
        break;
    case '!':
        questions_fail_oldest(&p->questions);
        break;
    case 't':
        p->now += number_of(text, len) * 1000000;
        session_tick(p->s);
        break;
    case 'y':
        session_confirm(p->s);
        break;
    case 's':
        session_stop(p->s);
        break;
    case 'x':
        p->questions.refuse = true;
        break;
    case 'l':
        error_set(&lost, ERR_LOST, "the link is lost");
        p->questions.n = 0;
        p->questions.refuse = true;
        session_link_lost(p->s, &lost);
        break;
    default:
        break;
    }
}

/* ---- What must hold */

static void check_window(const struct calls_window *w, const struct play *p)
{
    FUZZ_REQUIRE(w->n_rows == 0 || w->rows);
    FUZZ_REQUIRE(memchr(w->timed_why, '\0', sizeof w->timed_why) != NULL);
    FUZZ_REQUIRE(w->timed || (!w->has_time && !w->has_memory));
    FUZZ_REQUIRE((!w->has_time || p->time) && (!w->has_memory || p->memory));
    for (size_t i = 0; i < w->n_rows; i++)
        FUZZ_REQUIRE(w->rows[i].module.len > 0 && w->rows[i].function.s);
}

static void on_window(void *arg, const struct calls_window *window)
{
    struct play *p = arg;
    struct error err = {0};
    check_window(window, p);
    FUZZ_REQUIRE(window->number == ++p->windows);
    for (size_t i = 0; i < FORMATS; i++)
        FUZZ_REQUIRE(calls_sink_window(&p->sinks[i], window, &err) == 0);
}

static void check(struct play *p)
{
    const struct calls_state *s = calls_session_state(p->s);
    bool over = s->status.phase == SESSION_ENDED || s->status.phase == SESSION_FAILED;
    FUZZ_REQUIRE(!p->over || over); /* nothing begins again */
    FUZZ_REQUIRE(s->status.phase != SESSION_FAILED || s->status.error.code != ERR_NONE);
    FUZZ_REQUIRE(memchr(s->status.check.text, '\0', sizeof s->status.check.text) != NULL);
    FUZZ_REQUIRE(memchr(s->others, '\0', sizeof s->others) != NULL);
    FUZZ_REQUIRE(memchr(s->status.procs, '\0', sizeof s->status.procs) != NULL);
    /* Clean is said only where the target has been asked, or nothing was armed. */
    FUZZ_REQUIRE(!s->status.check.clean || s->status.check.done || !p->window_asked);
    FUZZ_REQUIRE(s->status.phase != SESSION_ENDED || s->status.check.clean ||
                 s->status.check.text[0] != '\0');
    p->over = over;
}

/* ---- A play */

static bool open_play(struct play *p, size_t *sums, const char *line, size_t len)
{
    static const struct session_handlers handlers = {.on_window = on_window};
    const struct session_port port = {.ask = play_ask,
                                      .tell = play_tell,
                                      .drop = play_drop,
                                      .now_ns = play_now,
                                      .ctx = p,
                                      .otp = 27};
    char *text = strndup(line, len);
    char *patterns = strchr(text, ' ');
    const char *one = patterns;
    struct calls_options o = {.for_ms = 2000,
                              .every_ms = 10000,
                              .windows = WINDOWS_MOST,
                              .top = 100,
                              .patterns = &one,
                              .n_patterns = patterns != NULL};
    struct error err = {0};
    if (patterns)
        *patterns = '\0';
    p->time = o.time = strchr(text, 'T') != NULL;
    p->memory = o.memory = strchr(text, 'M') != NULL;
    o.force = strchr(text, 'F') != NULL;
    o.syntax = strchr(text, 'E') ? SYNTAX_ELIXIR : SYNTAX_ERLANG;
    if (patterns)
        one = patterns + 1;
    p->now = 5000000000u;
    bool fine = calls_open(&p->s, &o, &port, &handlers, p, NULL, NULL, &err) == 0;
    free(text);
    for (unsigned i = 0; fine && i < FORMATS; i++) {
        p->sinks[i].output.writer = (struct sink_writer){write_nowhere, &sums[i]};
        p->sinks[i].options =
            (struct calls_sink_options){.format = (enum calls_format)i, .node = NODE};
    }
    return fine;
}

static void play(const char *text, size_t size)
{
    struct play p = {0};
    size_t sums[FORMATS] = {0};
    const char *nl = memchr(text, '\n', size);
    if (!open_play(&p, sums, text, nl ? (size_t)(nl - text) : size))
        return;
    for (size_t i = 0; nl && i < STEPS_MOST; i++) {
        const char *line = nl + 1, *end = text + size;
        nl = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((nl ? nl : end) - line);
        if (len > 0)
            step(&p, line[0], line + 1, len - 1);
        check(&p);
    }
    session_free(p.s);
}

/* ---- Decoders */

/* A window of two answers: the second must not go beyond the rows of the first. */
static void decode_window(const uint8_t *term, size_t len, const char *counted)
{
    struct calls_kept kept = {0};
    char refused[400] = "";
    struct error err = {0};
    size_t n = len;
    arena_init(&kept.arena);
    struct builder *b = counted ? term_of(counted, strlen(counted)) : NULL;
    const uint8_t *first = b ? builder_bytes(b, &n) + 1 : term;
    if (decode_calls_counted(&kept, refused, first, b ? n - 1 : len, &err) == 0 &&
        refused[0] == '\0' && b)
        decode_calls_timed(&kept, refused, term, len, &err);
    builder_free(b);
    arena_clear(&kept.arena);
}

static void decode(unsigned kind, const uint8_t *term, size_t len)
{
    struct calls_sample sample;
    struct calls_kept hot = {0};
    struct error err = {0};
    arena_init(&hot.arena);
    switch (kind) {
    case 1:
        decode_calls_sample(&sample, &hot, term, len, &err);
        break;
    case 2:
        decode_window(term, len, NULL);
        break;
    case 3:
        decode_window(term, len,
                      "{counted,5,1000000,2000000000,15,3,2000,{0,[]},[{w,f,1,undefined,1200},"
                      "{lists,map,2,stdlib,600}],[{w,undefined,2,1400}],[{stdlib,1,600}],"
                      "{1,2,3,4}}");
        break;
    default:
        break;
    }
    arena_clear(&hot.arena);
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
