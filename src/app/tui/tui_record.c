/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_record.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/recording/recording.h"
#include "app/recorder/record_client.h"
#include "app/recorder/record_control.h"
#include "app/recorder/record_starter.h"
#include "app/recorder/record_status.h"
#include "app/cli/tell.h"
#include "tui_internal.h"

#define TURN_MS 1000u
/* Recorders that others have started are looked for every so many turns. */
#define SCAN_TURNS 5
#define STRANGER_ANSWERS 3
#define LOG_TAIL_BYTES 2048

struct tui_record {
    struct tui *tui;
    uv_timer_t timer;
    enum header_recording_state state;
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* "": none has answered; all below is of this node */
    struct record_life life;              /* the last that is known of it */
    int strangers; /* answers in a row by the one that is followed that it has another node */

    struct record_starter *starter;              /* one is being started */
    bool elsewhere;                              /* on the node that was on the screen then */
    char file[PATH_MAX];                         /* its file; "": this screen has started none */
    char wanted[PATH_MAX];                       /* the file of one that waits for an answer */
    char wanted_node[LIMIT_NODE_NAME_BYTES + 1]; /* the node that was asked about */
    bool begun;                                  /* its recorder says so, and is yet to be found */
    bool stop_when_started;

    struct record_status now; /* of the recorder that is followed */
    char socket[RECORD_SOCKET_BYTES];
    char problem[160];            /* with asking it */
    struct record_client *asking; /* its status, or the end */

    struct record_client *scanning; /* one socket after the other */
    char sockets[LIMIT_RECORD_PEERS][RECORD_SOCKET_BYTES];
    size_t n_sockets, scanned;
    char silent[200]; /* of a recorder that does not answer, and may be this node's; "": none */
    bool saw_silent;  /* in this scan */
    int turns_to_scan;

    struct record_client *marking;
    char mark[LIMIT_RECORD_REQUEST_BYTES];
};

/* ---- what the screen shows */

static bool is_own(const struct tui_record *r)
{
    return *r->file && strcmp(r->file, r->now.file) == 0;
}

static void show(struct tui_record *r)
{
    struct header_recording h = {.state = r->state,
                                 .running_s = r->now.running_s,
                                 .ticks = r->now.ticks,
                                 .bytes = (double)r->now.bytes};
    snprintf(h.problem, sizeof h.problem, "%.159s", *r->problem ? r->problem : r->now.link);
    screen_set_recording(r->tui->screen, &h);
    tui_touch(r->tui);
}

static void set_state(struct tui_record *r, enum header_recording_state state)
{
    r->state = state;
    show(r);
}

static void cancel(struct record_client **c)
{
    record_client_cancel(*c);
    *c = NULL;
}

/* ---- the end of a recording */

static void read_tail(const char *file, char out[LOG_TAIL_BYTES])
{
    char path[RECORD_FILE_BYTES + 8];
    snprintf(path, sizeof path, "%s.log", file);
    FILE *f = fopen(path, "re");
    if (f && fseek(f, -(LOG_TAIL_BYTES - 1), SEEK_END) != 0)
        rewind(f); /* it is shorter */
    size_t n = f ? fread(out, 1, LOG_TAIL_BYTES - 1, f) : 0;
    out[n] = '\0';
    if (f)
        fclose(f);
}

static void tell_end(struct tui_record *r)
{
    char tail[LOG_TAIL_BYTES] = "", end[64] = "";
    struct error err = {.code = ERR_NONE};
    struct recording *recording = NULL;
    struct buf text;
    bool readable = recording_open(&recording, r->now.file, &err) == 0;
    if (readable) {
        const struct recording_info *info = recording_info(recording);
        snprintf(end, sizeof end, "%s", info->end);
        r->now.ticks = info->ticks;
    }
    recording_close(recording);
    if (r->now.detached)
        read_tail(r->now.file, tail);
    buf_init(&text, 0);
    record_end_text(&text, &r->now, readable ? end : NULL, tail);
    tui_message(r->tui, readable && record_end_is_good(end) ? STYLE_MESSAGE : STYLE_ERROR, "%s",
                buf_cstr(&text));
    buf_clear(&text);
}

/* Nothing is followed any more. */
static void forget(struct tui_record *r)
{
    cancel(&r->asking);
    cancel(&r->marking);
    cancel(&r->scanning);
    r->socket[0] = r->problem[0] = r->silent[0] = '\0';
    memset(&r->now, 0, sizeof r->now);
    r->strangers = 0;
    r->turns_to_scan = 0;
    r->begun = false;
    set_state(r, RECORDING_NONE);
}

/* ---- how it goes */

/*
 * It was found only by the node's name while the node was away: the node is another one now. Of
 * a node that was restarted one side knows a moment before
 * the other. */
static bool has_another_node(struct tui_record *r)
{
    bool known = r->tui->live && live_is_up(r->tui->live);
    bool stranger = known && !record_life_may_be(&r->now.life, &r->life);
    r->strangers = stranger ? r->strangers + 1 : 0;
    return r->strangers >= STRANGER_ANSWERS;
}

static void tell_stranger(struct tui_record *r)
{
    tui_message(r->tui, STYLE_MESSAGE,
                "%s is of another node of this name: this one is not being "
                "recorded",
                r->now.file);
}

static void on_status(void *arg, const char *reply, const struct error *err)
{
    struct tui_record *r = arg;
    struct record_status now;
    r->asking = NULL;
    r->problem[0] = '\0';
    if (err && err->code != ERR_NOT_FOUND) {
        snprintf(r->problem, sizeof r->problem, "%.159s", err->text);
    } else if (err) {
        tell_end(r);
        forget(r);
        return;
    } else if (record_status_parse(&now, reply)) {
        r->now = now;
        if (has_another_node(r)) {
            tell_stranger(r);
            forget(r);
            return;
        }
    }
    show(r);
}

static void stop(struct tui_record *r);

static void follow(struct tui_record *r, const char *socket, const struct record_status *status)
{
    snprintf(r->socket, sizeof r->socket, "%s", socket);
    r->now = *status;
    r->begun = r->begun && !is_own(r);
    set_state(r, RECORDING_RUNS);
    if (r->stop_when_started && is_own(r)) {
        r->stop_when_started = false;
        stop(r);
    } else if (!is_own(r)) {
        tui_message(r->tui, STYLE_MESSAGE,
                    "this node is being recorded to %s by process %lld: B marks, R stops it",
                    status->file, (long long)status->pid);
    }
}

/* ---- looking for recorders of this node */

static void scan_next(struct tui_record *r);

static void tell_silent(struct tui_record *r, const char *text)
{
    bool is_news = *r->silent == '\0' && r->state == RECORDING_NONE;
    r->saw_silent = true;
    snprintf(r->silent, sizeof r->silent, "%.199s", text);
    if (is_news)
        tui_message(r->tui, STYLE_WARN, "%s", r->silent);
}

static void on_scanned(void *arg, const char *reply, const struct error *err)
{
    struct tui_record *r = arg;
    struct record_status s;
    r->scanning = NULL;
    bool ours =
        !err && record_status_parse(&s, reply) && record_status_is_of(&s, r->node, &r->life);
    /* One that this screen has started goes before those of others. */
    if (ours && (*r->socket == '\0' || strcmp(s.file, r->file) == 0))
        follow(r, r->sockets[r->scanned - 1], &s);
    if (err && err->code == ERR_TIMEOUT)
        tell_silent(r, err->text);
    scan_next(r);
}

/* It has said that it has begun, and no socket is its. */
static void tell_out_of_reach(struct tui_record *r)
{
    r->begun = false;
    tui_message(r->tui, STYLE_ERROR,
                "the recording has begun, but its recorder cannot be reached: see "
                "%s.log",
                r->file);
    set_state(r, RECORDING_NONE);
}

static void scan_next(struct tui_record *r)
{
    if (r->scanned < r->n_sockets && !is_own(r)) {
        const char *socket = r->sockets[r->scanned++];
        r->scanning = record_client_ask(&r->tui->rt.loop, socket, "status", on_scanned, r);
    }
    if (!r->scanning && r->begun && !is_own(r))
        tell_out_of_reach(r);
    if (!r->scanning && !r->saw_silent)
        r->silent[0] = '\0';
}

static void scan(struct tui_record *r)
{
    struct error ignored = {.code = ERR_NONE}; /* reported when one is to be started */
    if (r->scanning)
        return;
    r->turns_to_scan = SCAN_TURNS;
    r->scanned = 0;
    r->saw_silent = false;
    (void)record_sockets_list(r->sockets, &r->n_sockets, r->tui->env, &ignored);
    scan_next(r);
}

/* ---- starting */

static void on_started(void *arg, const struct error *err)
{
    struct tui_record *r = arg;
    r->starter = NULL;
    if (err) {
        r->file[0] = '\0';
        r->stop_when_started = false;
        tui_message(r->tui, STYLE_ERROR, "not recorded: %s", err->text);
        if (!r->elsewhere)
            set_state(r, RECORDING_NONE);
        return;
    }
    if (!r->stop_when_started)
        tui_message(r->tui, STYLE_MESSAGE,
                    "recording, also after you quit: R or `beamtop record stop` stops it, B marks. "
                    "It writes to %s",
                    r->file);
    if (r->elsewhere)
        return; /* it is found again when one comes back to that node */
    r->begun = true;
    cancel(&r->scanning);
    scan(r);
}

static int choose_file(struct tui_record *r, const char *file, struct error *err)
{
    const char *dir = option_text(&r->tui->settings.options, OPTION_RECORD_DIR);
    struct buf name;
    buf_init(&name, 0);
    size_t len = strlen(file);
    while (len > 0 && file[len - 1] == ' ') /* of a completion */
        len--;
    if (len > 0)
        buf_put(&name, file, len);
    else
        record_default_name(&name, dir, r->node, clock_wall_us());
    int rc = record_whole_path(r->file, buf_cstr(&name), err);
    buf_clear(&name);
    return rc;
}

static void start(struct tui_record *r, const char *file)
{
    struct error err = {.code = ERR_NONE};
    const struct tui *t = r->tui;
    const struct record_start setup = {.cli = t->cli,
                                       .env = t->env,
                                       .node = r->node,
                                       .file = r->file,
                                       .options = &t->settings.options};
    size_t n = 0;
    if (r->starter) {
        tui_message(r->tui, STYLE_ERROR, "%s is still being begun", r->file);
        return;
    }
    r->elsewhere = false;
    /* Without a directory for its socket it could not be stopped. */
    if (record_sockets_list(r->sockets, &n, r->tui->env, &err) == 0 &&
        choose_file(r, file, &err) == 0)
        r->starter = record_starter_new(&r->tui->rt.loop, &setup, on_started, r, &err);
    if (r->starter) {
        tui_message(r->tui, STYLE_MESSAGE, "the recording to %s begins with its first tick",
                    r->file);
        set_state(r, RECORDING_STARTS);
        return;
    }
    r->file[0] = '\0';
    tui_message(r->tui, STYLE_ERROR, "not recorded: %s", err.text);
}

/* A recorder that does not answer may record this node. */
static void tell_none(struct tui_record *r, const char *text)
{
    tui_message(r->tui, *r->silent ? STYLE_WARN : STYLE_MESSAGE, "%s",
                *r->silent ? r->silent : text);
}

/* ---- what a person is asked for: the file, then the limit of its size */

static void ask_size(struct tui_record *r, const char *initial);

static void size_given(void *arg, const char *line)
{
    struct tui_record *r = arg;
    struct error err = {.code = ERR_NONE};
    if (option_set(&r->tui->settings.options, OPTION_RECORD_MAX_SIZE, line, &err) != 0) {
        ask_size(r, line);
        prompt_mark_error(r->tui->prompt, 0, err.text);
    } else if (*r->node && strcmp(r->node, r->wanted_node) == 0 && r->state == RECORDING_NONE) {
        start(r, r->wanted);
    } else {
        tui_message(r->tui, STYLE_WARN, "not recorded: %s is not connected, or is recorded by now",
                    r->wanted_node);
    }
}

static void ask_size(struct tui_record *r, const char *initial)
{
    const struct prompt_calls calls = {.accepted = size_given, .ctx = r};
    prompt_open(r->tui->prompt, PROMPT_TEXT, "size limit: ", initial, &calls);
}

/* As it may be typed: "1GiB", "1536MiB"; bytes where that is not exact. */
static const char *size_text(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (; unit + 1 < ARRAY_LEN(units) && fmod(bytes, 1024) == 0; unit++)
        bytes /= 1024;
    snprintf(out, size, "%.0f%s", bytes, units[unit]);
    return out;
}

static void file_given(void *arg, const char *line)
{
    struct tui_record *r = arg;
    char size[40];
    double bytes = option_double(&r->tui->settings.options, OPTION_RECORD_MAX_SIZE);
    snprintf(r->wanted, sizeof r->wanted, "%s", line);
    snprintf(r->wanted_node, sizeof r->wanted_node, "%s", r->node);
    ask_size(r, size_text(size, sizeof size, bytes));
}

static void ask_file(struct tui_record *r)
{
    const struct prompt_calls calls = {.accepted = file_given, .ctx = r};
    struct buf name;
    buf_init(&name, 0);
    record_default_name(&name, option_text(&r->tui->settings.options, OPTION_RECORD_DIR), r->node,
                        clock_wall_us());
    prompt_open(r->tui->prompt, PROMPT_TEXT, "record to: ", buf_cstr(&name), &calls);
    buf_clear(&name);
}

/* A file that was named is begun at once. */
static void begin(struct tui_record *r, const char *file)
{
    if (*file)
        start(r, file);
    else
        ask_file(r);
}

static void start_answered(void *arg, bool yes)
{
    struct tui_record *r = arg;
    if (yes && r->state == RECORDING_NONE)
        begin(r, r->wanted);
}

static void start_or_ask(struct tui_record *r, const char *file)
{
    char question[sizeof r->silent + 40];
    if (*r->silent == '\0') {
        begin(r, file);
        return;
    }
    snprintf(r->wanted, sizeof r->wanted, "%s", file);
    snprintf(question, sizeof question, "%s. Record anyway? (y/n) ", r->silent);
    tui_ask(r->tui, question, start_answered, r);
}

/* ---- stopping */

static void on_stopped(void *arg, const char *reply, const struct error *err)
{
    struct tui_record *r = arg;
    (void)reply;
    r->asking = NULL;
    if (err && err->code == ERR_TIMEOUT) {
        tui_message(r->tui, STYLE_ERROR, "%s has not ended yet: %s", r->now.file, err->text);
        set_state(r, RECORDING_RUNS);
        return;
    }
    tell_end(r);
    forget(r);
}

static void stop(struct tui_record *r)
{
    cancel(&r->asking);
    r->asking = record_client_ask(&r->tui->rt.loop, r->socket, "stop", on_stopped, r);
    set_state(r, RECORDING_STOPS);
}

static void stop_answered(void *arg, bool yes)
{
    struct tui_record *r = arg;
    if (yes && r->state == RECORDING_RUNS)
        stop(r);
}

/* Asks before it stops another user's. */
static void ask_to_stop(struct tui_record *r)
{
    char question[RECORD_FILE_BYTES + 100], since[32];
    if (r->state == RECORDING_STARTS) {
        r->stop_when_started = true;
        tui_message(r->tui, STYLE_MESSAGE, "it ends when it has begun");
    } else if (r->state == RECORDING_STOPS) {
        tui_message(r->tui, STYLE_MESSAGE, "%s is being ended", r->now.file);
    } else if (r->state == RECORDING_NONE) {
        tell_none(r, "this node is not being recorded: R starts");
    } else if (is_own(r)) {
        stop(r);
    } else {
        snprintf(question, sizeof question,
                 "end the recording to %s, of %s by process %lld? (y/n) ", r->now.file,
                 text_duration(since, sizeof since, r->now.running_s), (long long)r->now.pid);
        tui_ask(r->tui, question, stop_answered, r);
    }
}

/* ---- marks */

static void on_marked(void *arg, const char *reply, const struct error *err)
{
    struct tui_record *r = arg;
    r->marking = NULL;
    if (err || !strstr(reply, "true"))
        tui_message(r->tui, STYLE_ERROR, "not marked: %s",
                    err ? err->text : "the recorder does not know how");
    else
        tui_message(r->tui, STYLE_MESSAGE, "marked “%s” in %s", r->mark, r->now.file);
}

static void mark(struct tui_record *r, const char *text)
{
    char line[LIMIT_RECORD_REQUEST_BYTES];
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == ' ')
        len--;
    if (r->state != RECORDING_RUNS) {
        tell_none(r, "nothing to mark: this node is not being recorded, R starts");
    } else if (len == 0) {
        tui_prompt_command(r->tui, "mark ");
    } else if (len + sizeof "mark \n" > sizeof line || r->marking) {
        tui_message(r->tui, STYLE_ERROR, "not marked: %s",
                    r->marking ? "the mark before is on its way" : "the text is too long");
    } else {
        snprintf(r->mark, sizeof r->mark, "%.*s", (int)len, text);
        snprintf(line, sizeof line, "mark %.*s", (int)len, text);
        r->marking = record_client_ask(&r->tui->rt.loop, r->socket, line, on_marked, r);
    }
}

/* ---- what a person does */

/* "" when no node is there to be recorded, with a word about that. */
static bool has_node(struct tui_record *r)
{
    if (*r->node)
        return true;
    tui_message(r->tui, STYLE_MESSAGE, "%s",
                source_can(r->tui->source, SOURCE_SEEKS)
                    ? "this is a recording already: live nodes can be recorded and marked"
                : r->tui->live ? "the node has not answered yet"
                               : "no node is chosen: @ lists them");
    return false;
}

static void tell_status(struct tui_record *r)
{
    const struct record_status *s = &r->now;
    char since[32], bytes[32];
    if (r->state == RECORDING_NONE)
        tell_none(r, "this node is not being recorded: R starts");
    else if (r->state == RECORDING_STARTS)
        tui_message(r->tui, STYLE_MESSAGE, "%s begins with its first tick", r->file);
    else
        tui_message(r->tui, STYLE_MESSAGE, "%s, for %s: %lld ticks, %s, %lld marks; process %lld%s",
                    s->file, text_duration(since, sizeof since, s->running_s), (long long)s->ticks,
                    text_bytes(bytes, sizeof bytes, (double)s->bytes), (long long)s->marks,
                    (long long)s->pid, s->detached ? "" : ", in the foreground");
}

/* The word is the first of arg; what follows it is in *rest. */
static bool begins_with(const char *arg, const char *word, const char **rest)
{
    size_t len = strlen(word);
    if (strncmp(arg, word, len) != 0 || (arg[len] != '\0' && arg[len] != ' '))
        return false;
    *rest = arg + len + strspn(arg + len, " ");
    return true;
}

/* A file, or the words of `beamtop record`; without either what is to be done is plain. */
static void record(struct tui_record *r, const char *arg)
{
    const char *rest = arg;
    bool stops = begins_with(arg, "stop", &rest) && !*rest;
    bool starts = begins_with(arg, "start", &rest);
    if (begins_with(arg, "status", &rest) && !*rest)
        tell_status(r);
    else if (begins_with(arg, "mark", &rest) && *rest)
        mark(r, rest);
    else if (stops || (!*arg && r->state != RECORDING_NONE))
        ask_to_stop(r);
    else if (r->state == RECORDING_NONE)
        start_or_ask(r, starts ? rest : arg);
    else
        tui_message(r->tui, STYLE_ERROR, "this node is being recorded to %s: `:record stop` first",
                    r->state == RECORDING_STARTS ? r->file : r->now.file);
}

static void look_at_node(struct tui_record *r);

static void act_stop(struct tui_record *r, const char *arg)
{
    (void)arg;
    ask_to_stop(r);
}

static void (*const handlers[ACTIONS])(struct tui_record *r, const char *arg) = {
    [ACTION_RECORD] = record,
    [ACTION_RECORD_STOP] = act_stop,
    [ACTION_RECORD_MARK] = mark,
};

bool tui_record_has(enum action action)
{
    return handlers[action] != NULL;
}

void tui_record_act(struct tui *t, enum action action, const char *arg)
{
    look_at_node(t->record);
    if (has_node(t->record))
        handlers[action](t->record, arg);
}

/* ---- time */

/* Another node than before: what was known is of that one. */
static void look_at_node(struct tui_record *r)
{
    const char *peer = r->tui->live ? live_peer_node(r->tui->live) : NULL;
    if (!peer)
        return; /* while the link is lost it is the same */
    r->life = record_life_of(live_peer_creation(r->tui->live), model_node(r->tui->model));
    if (strcmp(peer, r->node) == 0)
        return;
    tui_record_left(r);
    snprintf(r->node, sizeof r->node, "%s", peer);
}

void tui_record_left(struct tui_record *r)
{
    r->node[0] = '\0';
    r->elsewhere = r->starter != NULL;
    r->stop_when_started = false;
    forget(r);
}

static void on_turn(uv_timer_t *timer)
{
    struct tui_record *r = timer->data;
    look_at_node(r);
    if (*r->node == '\0')
        return;
    if (*r->socket && !r->asking)
        r->asking = record_client_ask(&r->tui->rt.loop, r->socket, "status", on_status, r);
    if (*r->socket == '\0' && !r->starter && r->turns_to_scan-- <= 0)
        scan(r);
}

/* ---- life */

struct tui_record *tui_record_new(struct tui *t)
{
    struct tui_record *r = alloc_zero(1, sizeof *r);
    r->tui = t;
    runtime_timer(&t->rt, &r->timer, r);
    return r;
}

void tui_record_watch(struct tui_record *r)
{
    uv_timer_start(&r->timer, on_turn, TURN_MS, TURN_MS);
}

void tui_record_close(struct tui_record *r)
{
    record_starter_leave(r->starter);
    cancel(&r->asking);
    cancel(&r->marking);
    cancel(&r->scanning);
}

void tui_record_free(struct tui_record *r)
{
    free(r);
}

void tui_record_print_end(const struct tui_record *r)
{
    static const char *const words[] = {[RECORDING_STARTS] = "is being begun",
                                        [RECORDING_RUNS] = "goes on",
                                        [RECORDING_STOPS] = "is being ended"};
    if (r->state != RECORDING_NONE &&
        (r->now.detached || is_own(r) || r->state == RECORDING_STARTS))
        tell_line(
            "the recording to %s %s; `beamtop record status`, `mark TEXT` and `stop` speak to its "
            "recorder",
            r->state == RECORDING_STARTS ? r->file : r->now.file, words[r->state]);
}
