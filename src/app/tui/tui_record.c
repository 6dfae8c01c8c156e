/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_record_follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "app/cli/tell.h"
#include "tui_owners.h"

#define TURN_MS 1000u

/* A recorder that does not answer may record this node. */
static void tell_not_recorded(struct tui_record *r, const char *text)
{
    char key[64];
    if (*r->silent)
        tui_message(r->tui, STYLE_WARN, "%s", r->silent);
    else
        tui_message(r->tui, STYLE_MESSAGE, "%s %s starts", text,
                    tui_key(r->tui, ACTION_RECORD, NULL, key, sizeof key));
}

/* ---- the node on the screen */

/* The screen has left the node. */
static void leave_recorded_node(void *own)
{
    struct tui_record *r = own;
    r->node[0] = '\0';
    r->elsewhere = r->starter != NULL;
    r->stop_when_started = false;
    tui_record_forget(r);
}

/* Another node than before: what was known is of that one. */
static void look_at_node(struct tui_record *r)
{
    const char *peer = r->tui->live ? live_peer_node(r->tui->live) : NULL;
    if (!peer)
        return; /* while the link is lost it is the same */
    r->life = record_life_of(live_peer_creation(r->tui->live), model_node(r->tui->model));
    if (strcmp(peer, r->node) == 0)
        return;
    leave_recorded_node(r);
    snprintf(r->node, sizeof r->node, "%s", peer);
}

/* Whether there is one to be recorded; says why not. */
static bool has_node(struct tui_record *r)
{
    char key[64];
    look_at_node(r);
    if (*r->node)
        return true;
    if (source_can(r->tui->source, SOURCE_SEEKS))
        tui_message(r->tui, STYLE_MESSAGE,
                    "this is a recording already: live nodes can be recorded and marked");
    else if (r->tui->live)
        tui_message(r->tui, STYLE_MESSAGE, "the node has not answered yet");
    else
        tui_message(r->tui, STYLE_MESSAGE, "no node is chosen: %s lists them",
                    tui_key(r->tui, ACTION_PICK_NODE, NULL, key, sizeof key));
    return false;
}

/* ---- stopping */

static void stop_when_started(struct tui_record *r)
{
    r->stop_when_started = true;
    tui_message(r->tui, STYLE_MESSAGE, "the recording will stop once it has started");
}

static void stop_answered(void *arg, bool yes)
{
    struct tui_record *r = arg;
    if (yes && r->state == RECORDING_RUNS)
        tui_record_stop(r);
    else if (yes && r->state == RECORDING_STARTS)
        stop_when_started(r);
}

void tui_record_ask_to_stop(struct tui_record *r)
{
    char question[PATH_MAX + 100], since[32], of[40] = "";
    if (r->state == RECORDING_RUNS && !tui_record_is_own(r))
        snprintf(of, sizeof of, " by OS process %lld", (long long)r->now.pid);
    if (r->state == RECORDING_STARTS)
        snprintf(question, sizeof question, "Stop the recording to %s once it has started? (y/n) ",
                 r->file);
    else
        snprintf(question, sizeof question, "Stop the recording to %s, of %s%s? (y/n) ",
                 r->now.file, text_duration(since, sizeof since, r->now.running_s), of);
    if (r->state == RECORDING_STOPS)
        tui_message(r->tui, STYLE_MESSAGE, "the recording to %s is stopping", r->now.file);
    else if (r->state != RECORDING_NONE)
        tui_ask(r->tui, question, stop_answered, r);
}

/* Asks before it stops another user's. */
static void stop_recording(struct tui_record *r)
{
    if (r->state == RECORDING_STARTS)
        stop_when_started(r);
    else if (r->state == RECORDING_NONE)
        tell_not_recorded(r, "this node is not being recorded:");
    else if (r->state == RECORDING_RUNS && tui_record_is_own(r))
        tui_record_stop(r);
    else
        tui_record_ask_to_stop(r);
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

static void act_record_mark(void *own, const char *text)
{
    struct tui_record *r = own;
    char line[LIMIT_RECORD_REQUEST_BYTES];
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == ' ')
        len--;
    if (!has_node(r))
        return;
    if (r->state != RECORDING_RUNS) {
        tell_not_recorded(r, "nothing to mark: this node is not being recorded,");
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

/* ---- what the user does */

static void tell_record_status(struct tui_record *r)
{
    const struct record_status *s = &r->now;
    char since[32], bytes[32];
    if (r->state == RECORDING_NONE)
        tell_not_recorded(r, "this node is not being recorded:");
    else if (r->state == RECORDING_STARTS)
        tui_message(r->tui, STYLE_MESSAGE, "%s starts with its first tick", r->file);
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
static void act_record(void *own, const char *arg)
{
    struct tui_record *r = own;
    const char *rest = arg;
    bool stops = begins_with(arg, "stop", &rest) && !*rest;
    bool starts = begins_with(arg, "start", &rest);
    if (!has_node(r))
        return;
    if (begins_with(arg, "status", &rest) && !*rest)
        tell_record_status(r);
    else if (begins_with(arg, "mark", &rest) && *rest)
        act_record_mark(r, rest);
    else if (stops || (!*arg && r->state != RECORDING_NONE))
        stop_recording(r);
    else if (r->state == RECORDING_NONE)
        tui_record_begin(r, starts ? rest : arg);
    else
        tui_message(r->tui, STYLE_ERROR, "this node is being recorded to %s: `:record stop` first",
                    r->state == RECORDING_STARTS ? r->file : r->now.file);
}

static void act_record_stop(void *own, const char *arg)
{
    struct tui_record *r = own;
    (void)arg;
    if (has_node(r))
        stop_recording(r);
}

/* ---- time */

static void on_record_turn(uv_timer_t *timer)
{
    struct tui_record *r = timer->data;
    look_at_node(r);
    if (*r->node == '\0')
        return;
    if (*r->socket && !r->asking)
        tui_record_ask_status(r);
    if (*r->socket == '\0' && !r->starter && r->turns_to_scan-- <= 0)
        tui_record_scan(r);
}

/* ---- life */

/* Looks from now on, once a second, how the recording of the node on the screen goes. */
static void *make_record(struct tui *t)
{
    struct tui_record *r = alloc_zero(1, sizeof *r);
    r->tui = t;
    runtime_timer(&t->rt, &r->timer, r);
    uv_timer_start(&r->timer, on_record_turn, TURN_MS, TURN_MS);
    return r;
}

/* The recorder goes on. */
static void close_asking(void *own)
{
    struct tui_record *r = own;
    record_starter_leave(r->starter);
    tui_record_cancel(r);
}

static void print_record_end(void *own)
{
    const struct tui_record *r = own;
    static const char *const words[] = {[RECORDING_STARTS] = "is starting",
                                        [RECORDING_RUNS] = "goes on",
                                        [RECORDING_STOPS] = "is stopping"};
    if (r->state != RECORDING_NONE &&
        (r->now.detached || tui_record_is_own(r) || r->state == RECORDING_STARTS))
        tell_line(
            "the recording to %s %s; `beamtop record status`, `mark TEXT` and `stop` speak to its "
            "recorder",
            r->state == RECORDING_STARTS ? r->file : r->now.file, words[r->state]);
}

const struct tui_owner tui_record_owner = {
    .acts = {[ACTION_RECORD] = {.run = act_record},
             [ACTION_RECORD_STOP] = {.run = act_record_stop},
             [ACTION_RECORD_MARK] = {.run = act_record_mark}},
    .make = make_record,
    .at = {[TUI_LEAVES] = leave_recorded_node,
           [TUI_CLOSES] = close_asking,
           [TUI_ENDED] = print_record_end,
           [TUI_FREES] = free}};
