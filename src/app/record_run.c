/* A live run that is kept: ticks, facts, windows of counted calls, marks. */
#include "record_run.h"

#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/column.h"
#include "beamtop/store/recording.h"
#include "encode.h"
#include "leaders.h"
#include "live.h"
#include "record_calls.h"
#include "record_control.h"
#include "record_status.h"
#include "record_trace.h"
#include "target.h"

#define PROGRESS_MS 500u
#define TURN_MS 100u /* of the session that counts calls */
#define FACTS_MS 60000u
#define FACTS_LATER_MS 500u
#define FACTS_DEADLINE_MS 10000u
/* Windows of calls follow each other after this time, unless --every says otherwise. */
#define CALLS_EVERY_S 10.0
/* The end waits so long for the proof that nothing of ours is left armed. */
#define PROOF_MS 5000u
/* Processes asked for at a tick: the busiest, which are nearly all of the work. At most ten more are
   watched, for their mailbox or memory. */
#define RECORD_ROWS 50

struct recording_run {
    const struct record_setup *setup;
    const struct cli_options *options;
    struct buf file; /* its name, fit for a terminal */
    uv_loop_t loop;
    struct target target;
    struct model *model;
    struct live *live;
    struct recorder *recorder;
    struct record_calls *calls;
    struct record_trace *trace;
    struct leaders *leaders;
    struct record_control *control;
    uv_signal_t signals[3];
    uv_timer_t progress, until, turn, facts;
    bool calls_wait, trace_wait, asking_to_end; /* at the end, for the proofs */
    bool has_node; /* its own answer about itself, since it is there */
    bool was_up, is_down, is_locked, ending, over, shown_progress, told_ready;
    const char *why; /* the recording's end */
    int64_t marks;
    double wall_less_here_us; /* the node's clock against ours */
    int exit_code;
    uint64_t started_ms;
    struct error err;
};

/* Who started a detached recording waits for one line. */
static void tell_ready(struct recording_run *t, const char *text)
{
    if (t->told_ready || t->setup->ready_fd < 0)
        return;
    t->told_ready = true;
    ssize_t n = write(t->setup->ready_fd, text, strlen(text));
    (void)n; /* it may have gone */
    close(t->setup->ready_fd);
}

static void leave(struct recording_run *t)
{
    t->over = true;
    uv_stop(&t->loop);
}

static void on_proof_late(uv_timer_t *timer)
{
    leave(timer->data);
}

/* The first reason counts. Traces and counted calls end first, and are proven to have. */
static void finish(struct recording_run *t, const char *why, int exit_code,
                   const struct error *err)
{
    if (t->ending)
        return;
    t->ending = true;
    t->why = why;
    t->exit_code = exit_code;
    if (err)
        t->err = *err;
    t->asking_to_end = true;
    t->trace_wait = record_trace_stop(t->trace);
    t->calls_wait = record_calls_stop(t->calls);
    t->asking_to_end = false;
    if (t->trace_wait || t->calls_wait)
        uv_timer_start(&t->until, on_proof_late, PROOF_MS, 0);
    else
        leave(t);
}

/* ---- what the source tells */

static void on_answer(void *arg, enum question question, const uint8_t *term, size_t len,
                      const struct want_scan *asked)
{
    struct recording_run *t = arg;
    t->has_node = t->has_node || question == QUESTION_NODE;
    recorder_answer(t->recorder, question_name(question), term, len, asked);
}

/* The cap, a full disk, a limit of the system: all end it with a file that is whole. */
static void finish_full(struct recording_run *t, const struct error *cause)
{
    struct error err = {.code = ERR_NONE};
    char most[32];
    uint64_t cap = t->options->max_size > 0 ? (uint64_t)t->options->max_size : LIMIT_RECORDING_BYTES;
    bool full = cause->code == ERR_LIMIT;
    if (full && recorder_bytes(t->recorder) + cap / 64 >= cap)
        error_set(&err, ERR_LIMIT, "%s has reached its largest size, %s (--max-size, --thin)",
                  t->setup->file, text_bytes(most, sizeof most, (double)cap));
    else if (full)
        error_set(&err, ERR_LIMIT, "%s: the disk is full", t->setup->file);
    else
        error_set(&err, cause->code, "%s: %s", t->setup->file, cause->text);
    error_context(&err, "ended after %lld ticks, the file is whole",
                  (long long)recorder_ticks(t->recorder));
    finish(t, full ? "full" : "error", EXIT_FAILED, &err);
}

static void clear_progress(struct recording_run *t)
{
    if (t->shown_progress)
        fputs("\r\033[K", stderr);
    t->shown_progress = false;
}

/* Told once; what was to be written waits for the next tick. */
static void note_locked(struct recording_run *t)
{
    if (t->is_locked)
        return;
    t->is_locked = true;
    clear_progress(t);
    fprintf(stderr, "beamtop: another program has %s locked: ticks are missing until it lets go\n",
            buf_cstr(&t->file));
}

static void on_tick(void *arg)
{
    struct recording_run *t = arg;
    struct error err = {.code = ERR_NONE};
    if (t->ending)
        return;
    const struct system_sample *sample = model_system(t->model);
    t->was_up = true;
    t->is_down = false;
    if (sample && sample->wall_us > 0)
        t->wall_less_here_us = (double)(sample->wall_us - clock_wall_us());
    if (recorder_tick(t->recorder, t->model, clock_wall_us(), &err) == 0) {
        leaders_tick(t->leaders, t->live, t->model, uv_now(&t->loop));
        t->is_locked = false;
        tell_ready(t, "ok");
        return;
    }
    if (err.code == ERR_TIMEOUT)
        note_locked(t);
    else
        finish_full(t, &err);
}

static void on_trouble(void *arg, enum question question, const struct error *err)
{
    struct recording_run *t = arg;
    (void)question;
    clear_progress(t);
    fprintf(stderr, "beamtop: %s\n", err->text);
}

static void on_notice(void *arg, const char *text)
{
    clear_progress(arg);
    fprintf(stderr, "beamtop: %s\n", text);
}

static void on_facts(void *arg, const struct answer *answer)
{
    struct recording_run *t = arg;
    struct error err = answer->err;
    if (answer->value) {
        live_note_cost(t->live, answer->target_us);
        (void)recorder_facts(t->recorder, answer->value, answer->len, &err);
    }
    if (err.code != ERR_NONE)
        on_trouble(t, answer->question, &err);
}

static void on_alloc(void *arg, const struct answer *answer)
{
    struct recording_run *t = arg;
    if (answer->value) {
        live_note_cost(t->live, answer->target_us);
        recorder_answer(t->recorder, question_name(QUESTION_ALLOC), answer->value, answer->len, NULL);
    } else {
        on_trouble(t, answer->question, &answer->err);
    }
}

/* Facts, and the allocators: what moves slowly, and is too dear for every tick. */
static void on_facts_due(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    struct error err = {.code = ERR_NONE};
    if (record_calls_counts(t->calls)) {
        uv_timer_start(timer, on_facts_due, FACTS_LATER_MS, FACTS_MS);
        return;
    }
    struct builder *arg = encode_nothing();
    if (live_ask(t->live, QUESTION_FACTS, arg, FACTS_DEADLINE_MS, on_facts, t, &err) != 0 ||
        live_ask(t->live, QUESTION_ALLOC, arg, FACTS_DEADLINE_MS, on_alloc, t, &err) != 0)
        if (err.code != ERR_LOST)
            on_trouble(t, QUESTION_FACTS, &err);
    builder_free(arg);
}

/* A node that goes away for a while is a gap; the recording goes on when it is back. */
static void on_link(void *arg, bool up)
{
    struct recording_run *t = arg;
    if (up) {
        uv_timer_start(&t->facts, on_facts_due, 0, FACTS_MS);
        return;
    }
    t->has_node = false;
    uv_timer_stop(&t->facts);
    leaders_forget(t->leaders);
    if (t->calls)
        record_calls_link_lost(t->calls);
    if (t->trace)
        record_trace_link_lost(t->trace);
    if (!t->was_up || t->is_down)
        return;
    t->is_down = true;
    recorder_gap(t->recorder, clock_wall_us(), "link lost");
}

static void on_calls_trouble(void *arg, const struct error *err)
{
    on_trouble(arg, QUESTION_CALLS, err);
}

static void leave_when_proven(struct recording_run *t)
{
    if (!t->asking_to_end && !t->calls_wait && !t->trace_wait)
        leave(t);
}

static void on_calls_ended(void *arg)
{
    struct recording_run *t = arg;
    t->calls_wait = false;
    leave_when_proven(t);
}

static void on_trace_trouble(void *arg, const struct error *err)
{
    on_trouble(arg, QUESTION_TRACE, err);
}

static void on_trace_ended(void *arg)
{
    struct recording_run *t = arg;
    t->trace_wait = false;
    leave_when_proven(t);
}

static int64_t node_wall_us(void *arg)
{
    const struct recording_run *t = arg;
    return t->was_up ? clock_wall_us() + (int64_t)t->wall_less_here_us : -1;
}

static void on_message(void *arg, const uint8_t *term, size_t len)
{
    struct recording_run *t = arg;
    if (t->trace)
        record_trace_message(t->trace, term, len);
}

static void on_end(void *arg, enum conn_failure why, const struct error *err)
{
    struct recording_run *t = arg;
    (void)why;
    finish(t, "link", t->was_up ? EXIT_LOST : EXIT_CONNECT, err);
}

/* ---- timers and signals */

static void on_progress(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    char bytes[32], since[32];
    const char *link = NULL;
    if (model_link(t->model, &link) != LINK_LIVE && *link)
        fprintf(stderr, "\r\033[K%s", link);
    else
        fprintf(stderr, "\r\033[Krecording %s: %lld ticks, %s, %s; Ctrl-C ends it",
                buf_cstr(&t->file),
                (long long)recorder_ticks(t->recorder),
                text_bytes(bytes, sizeof bytes, (double)recorder_bytes(t->recorder)),
                text_duration(since, sizeof since, (double)(uv_now(&t->loop) - t->started_ms) / 1000));
    t->shown_progress = true;
}

static void on_until(uv_timer_t *timer)
{
    finish(timer->data, "time", EXIT_DONE, NULL);
}

static void on_turn(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    if (t->trace)
        record_trace_tick(t->trace);
    if (t->calls && !record_trace_holds_calls(t->trace))
        record_calls_tick(t->calls);
}

/* Once more, and the proof is not waited for. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct recording_run *t = handle->data;
    if (t->ending)
        leave(t);
    else
        finish(t, "stopped", number == SIGINT ? EXIT_DONE : 128 + number, NULL);
}

/* ---- what others ask for through the socket */

static void put_life_number(json_t *o, const char *key, int64_t number)
{
    json_object_set_new(o, key, number > 0 ? json_integer(number) : json_null());
}

/* Nodes of other epmds may have the same name. Not known while it is away: it may come back as another. */
static void put_life(const struct recording_run *t, json_t *o)
{
    bool up = live_is_up(t->live) && t->has_node;
    struct record_life life = record_life_of(up ? live_peer_creation(t->live) : 0,
                                             up ? model_node(t->model) : NULL);
    put_life_number(o, "node_creation", life.creation);
    put_life_number(o, "node_os_pid", life.os_pid);
    put_life_number(o, "node_start_us", life.start_us);
}

static void put_status(void *arg, struct buf *out)
{
    struct recording_run *t = arg;
    const char *link = NULL;
    char path[PATH_MAX]; /* who asks may be in another directory */
    struct error ignored = {.code = ERR_NONE};
    bool live = model_link(t->model, &link) == LINK_LIVE;
    bool known = record_whole_path(path, t->setup->file, &ignored) == 0;
    json_t *o = json_pack("{s:i,s:s,s:s,s:s,s:I,s:I,s:I,s:i,s:i,s:s,s:b}", "pid", (int)getpid(), "node",
                          *t->target.name ? t->target.name : t->setup->node, "file",
                          known ? path : t->setup->file, "label",
                          t->options->label ? t->options->label : "", "ticks",
                          (json_int_t)recorder_ticks(t->recorder), "bytes",
                          (json_int_t)recorder_bytes(t->recorder), "marks", (json_int_t)t->marks,
                          "windows", t->calls ? (int)record_calls_windows(t->calls) : 0, "traces",
                          t->trace ? (int)record_trace_number(t->trace) : 0, "link",
                          live || !*link ? "" : link, "detached", t->setup->detached);
    double running_s = (double)(uv_now(&t->loop) - t->started_ms) / 1000;
    json_object_set_new(o, "running_s", json_real(running_s));
    put_life(t, o);
    char *text = json_dumps(o, JSON_COMPACT);
    buf_puts(out, text ? text : "{}");
    free(text);
    json_decref(o);
}

static void on_mark(void *arg, const char *text)
{
    struct recording_run *t = arg;
    struct buf safe;
    int64_t here_us = clock_wall_us();
    buf_init(&safe, 0);
    text_put_safe(&safe, text, strlen(text), false);
    t->marks++;
    recorder_mark(t->recorder, here_us,
                  t->was_up ? here_us + (int64_t)t->wall_less_here_us : -1, buf_cstr(&safe));
    buf_clear(&safe);
}

static void on_stop(void *arg)
{
    finish(arg, "stopped", EXIT_DONE, NULL);
}

static void start_control(struct recording_run *t)
{
    static const struct record_control_handlers handlers = {
        .status = put_status, .mark = on_mark, .stop = on_stop};
    struct error err = {.code = ERR_NONE};
    if (record_control_open(&t->control, &t->loop, t->setup->env, &handlers, t, &err) != 0)
        fprintf(stderr, "beamtop: %s\n", err.text);
}

/* ---- run */

static void start_handles(struct recording_run *t)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    uv_loop_init(&t->loop);
    uv_timer_init(&t->loop, &t->progress);
    uv_timer_init(&t->loop, &t->until);
    uv_timer_init(&t->loop, &t->turn);
    uv_timer_init(&t->loop, &t->facts);
    t->progress.data = t->until.data = t->turn.data = t->facts.data = t;
    t->started_ms = uv_now(&t->loop);
    if (t->setup->env->err_tty && !t->setup->detached)
        uv_timer_start(&t->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    if (t->options->for_given)
        uv_timer_start(&t->until, on_until, (uint64_t)(t->options->for_s * 1000), 0);
    for (size_t i = 0; i < ARRAY_LEN(t->signals); i++) {
        uv_signal_init(&t->loop, &t->signals[i]);
        t->signals[i].data = t;
        if (numbers[i] != SIGHUP || !t->setup->detached)
            uv_signal_start(&t->signals[i], on_signal, numbers[i]);
    }
}

/* ---- run */

/* The busiest processes with what tells whose they are, and all applications. */
static struct want want_of_recording(const struct recording_run *t)
{
    const struct proc_column *columns[COLUMNS_MAX];
    int n = 0;
    struct error ignored = {.code = ERR_NONE};
    (void)proc_columns_parse("pid,name,label,initial_call,application,supervisor,reductions_per_s,"
                             "memory_bytes,message_queue_len,current_function",
                             columns, &n, &ignored);
    const struct proc_column *sort = proc_column_find("reductions_per_s");
    struct want want = {.needs = NEED_SYSTEM | NEED_SCAN | NEED_APPS};
    want.scan = (struct want_scan){.sort_key = sort->key, .by_delta = true, .rows = RECORD_ROWS,
                                   .items = proc_columns_items(columns, n, sort)};
    leaders_want(t->leaders, t->model, &want);
    return want;
}

static void on_leaders(void *arg, const uint8_t *value, size_t len)
{
    struct recording_run *t = arg;
    struct error err = {.code = ERR_NONE};
    const struct want want = want_of_recording(t);
    if (recorder_leaders(t->recorder, value, len, &err) != 0)
        on_trouble(t, QUESTION_LEADERS, &err);
    live_set_want(t->live, &want);
}

/* Rules look for functions by name: all that are called are read, where nothing is measured of them. */
static struct calls_options calls_options_of(const struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    double every_s = o->every_s > 0 ? o->every_s : CALLS_EVERY_S;
    bool measured = o->time || o->memory, all = !o->top_given && !measured;
    return (struct calls_options){
        .patterns = setup->patterns, .n_patterns = setup->n_patterns, .syntax = o->syntax,
        .for_ms = (unsigned)(o->window_s * 1000 + 0.5), .every_ms = (unsigned)(every_s * 1000 + 0.5),
        .top = all ? LIMIT_CALLS_ROWS : (unsigned)o->top, .time = o->time, .memory = o->memory, .force = o->force};
}

static void start_calls(struct recording_run *t)
{
    const struct record_calls_setup setup = {
        .live = t->live, .model = t->model, .recorder = t->recorder,
        .options = calls_options_of(t->setup), .on_trouble = on_calls_trouble,
        .on_ended = on_calls_ended, .arg = t};
    t->calls = record_calls_new(&setup);
    uv_timer_start(&t->turn, on_turn, TURN_MS, TURN_MS);
}

static struct trace_options trace_options_of(const struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    return (struct trace_options){
        .patterns = setup->traced, .n_patterns = setup->n_traced, .procs = o->procs,
        .syntax = setup->trace.syntax, .caps = setup->trace.caps,
        .slower_us = (uint64_t)(o->slower_s * 1e6), .on_rate_stop = setup->trace.on_rate_stop,
        .force = o->force};
}

static void start_trace(struct recording_run *t)
{
    const struct record_trace_setup setup = {
        .live = t->live, .model = t->model, .recorder = t->recorder,
        .options = trace_options_of(t->setup), .every_s = t->options->every_s,
        .counts = t->setup->calls, .wall_us = node_wall_us, .on_trouble = on_trace_trouble,
        .on_ended = on_trace_ended, .arg = t};
    t->trace = record_trace_new(&setup);
    uv_timer_start(&t->turn, on_turn, TURN_MS, TURN_MS);
}

static int open_recorder(struct recording_run *t, double interval_s, struct error *err)
{
    const struct cli_options *o = t->options;
    const struct calls_options calls = calls_options_of(t->setup);
    const struct recorder_options options = {
        .node = t->target.name, .label = o->label, .interval_s = interval_s,
        .max_bytes = (uint64_t)o->max_size, .thin = o->thin, .redact = o->redact,
        .values = o->values};
    int rc = t->setup->calls ? record_calls_check(&calls, err) : 0;
    return rc != 0 ? rc : recorder_open(&t->recorder, t->setup->file, &options, err);
}

static int start(struct recording_run *t, struct error *err)
{
    static const struct live_handlers handlers = {
        .on_tick = on_tick, .on_trouble = on_trouble, .on_notice = on_notice, .on_link = on_link,
        .on_answer = on_answer, .on_event = on_message, .on_end = on_end};
    const struct cli_options *o = t->options;
    double interval_s = o->interval_given ? o->interval_s : 5;
    int rc = target_init(&t->target, t->setup->node, o, t->setup->env, NULL, err);
    if (rc == 0)
        rc = open_recorder(t, interval_s, err);
    if (rc != 0)
        return rc;
    const struct live_options live = {.conn = t->target.conn, .interval_s = interval_s,
                                      .budget = o->budget, .reconnect = true, .together = true};
    t->leaders = leaders_new(false, on_leaders, t);
    rc = live_open(&t->live, &t->loop, &live, t->model, &handlers, t, err);
    if (rc != 0)
        return rc;
    const struct want want = want_of_recording(t);
    live_set_want(t->live, &want);
    if (t->setup->calls)
        start_calls(t);
    if (t->setup->n_traced > 0)
        start_trace(t);
    start_control(t);
    return 0;
}

static void close_handles(struct recording_run *t)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&t->progress, (uv_handle_t *)&t->until,
                              (uv_handle_t *)&t->turn, (uv_handle_t *)&t->facts};
    record_calls_quit(t->calls);
    record_trace_quit(t->trace);
    live_close(t->live, NULL, NULL);
    record_calls_free(t->calls);
    leaders_free(t->leaders);
    record_control_close(t->control);
    for (size_t i = 0; i < ARRAY_LEN(handles); i++)
        uv_close(handles[i], NULL);
    for (size_t i = 0; i < ARRAY_LEN(t->signals); i++)
        uv_close((uv_handle_t *)&t->signals[i], NULL);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    uv_loop_close(&t->loop);
}

static void stop(struct recording_run *t)
{
    struct error err = {.code = ERR_NONE};
    int64_t ticks = t->recorder ? recorder_ticks(t->recorder) : 0;
    bool made = t->recorder != NULL;
    clear_progress(t);
    if (t->trace && t->exit_code == EXIT_DONE)
        t->exit_code = record_trace_exit_code(t->trace);
    close_handles(t);
    record_trace_free(t->trace);
    if (recorder_close(t->recorder, t->why, &err) != 0 && t->err.code == ERR_NONE)
        t->err = err;
    /* Of a node that was never reached nothing is kept. */
    if (made && ticks == 0)
        unlink(t->setup->file);
    target_clear(&t->target);
    model_free(t->model);
    if (t->err.code != ERR_NONE)
        fprintf(stderr, "beamtop: %s\n", t->err.text);
    tell_ready(t, t->err.code != ERR_NONE ? t->err.text : "it ended before the node had answered");
    if (ticks > 0)
        fprintf(stderr, "beamtop: %s has %lld ticks; `beamtop report %s` tells what they say\n",
                buf_cstr(&t->file), (long long)ticks, buf_cstr(&t->file));
    buf_clear(&t->file);
}

int record_run(const struct record_setup *setup)
{
    struct recording_run t = {.setup = setup, .options = setup->options, .why = "error"};
    t.model = model_new();
    buf_init(&t.file, 0);
    text_put_safe(&t.file, setup->file, strlen(setup->file), false);
    start_handles(&t);
    if (start(&t, &t.err) != 0)
        t.exit_code = t.err.code == ERR_USAGE ? EXIT_USAGE : EXIT_FAILED;
    else
        uv_run(&t.loop, UV_RUN_DEFAULT);
    stop(&t);
    return t.exit_code;
}
