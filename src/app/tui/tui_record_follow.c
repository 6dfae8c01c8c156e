/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_record_follow.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/recording/recording.h"

/* Recorders that others have started are looked for every so many turns. */
#define SCAN_TURNS 5
#define STRANGER_ANSWERS 3
#define LOG_TAIL_BYTES 2048

/* ---- what the screen shows */

bool tui_record_is_own(const struct tui_record *r)
{
    return *r->file && strcmp(r->file, r->now.file) == 0;
}

static void show_recording(struct tui_record *r)
{
    struct header_recording h = {.state = r->state,
                                 .running_s = r->now.running_s,
                                 .ticks = r->now.ticks,
                                 .bytes = (double)r->now.bytes};
    snprintf(h.problem, sizeof h.problem, "%.159s", *r->problem ? r->problem : r->now.link);
    screen_set_recording(r->tui->screen, &h);
    tui_touch(r->tui);
}

void tui_record_set_state(struct tui_record *r, enum header_recording_state state)
{
    r->state = state;
    show_recording(r);
}

/* ---- what a recorder was asked */

void tui_record_drop(struct record_client **c)
{
    record_client_cancel(*c);
    *c = NULL;
}

void tui_record_cancel(struct tui_record *r)
{
    tui_record_drop(&r->asking);
    tui_record_drop(&r->marking);
    tui_record_drop(&r->scanning);
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

static void tell_record_end(struct tui_record *r)
{
    char tail[LOG_TAIL_BYTES] = "", end[64] = "";
    struct error err = {0};
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
    tui_journal(r->tui, !readable, "%s", buf_cstr(&text));
    buf_clear(&text);
}

void tui_record_forget(struct tui_record *r)
{
    tui_record_cancel(r);
    r->socket[0] = r->problem[0] = r->silent[0] = '\0';
    r->now = (struct record_status){0};
    r->strangers = 0;
    r->turns_to_scan = 0;
    r->begun = false;
    tui_record_set_state(r, RECORDING_NONE);
}

/* ---- how it goes */

/* A recorder found by the node's name while the node was away may have another node of that name.
   After a restart one side knows the new node a moment before the other: so several answers. */
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
        tell_record_end(r);
        tui_record_forget(r);
        return;
    } else if (record_status_parse(&now, reply)) {
        r->now = now;
        if (has_another_node(r)) {
            tell_stranger(r);
            tui_record_forget(r);
            return;
        }
    }
    show_recording(r);
}

static void on_stopped(void *arg, const char *reply, const struct error *err)
{
    struct tui_record *r = arg;
    (void)reply;
    r->asking = NULL;
    if (err && err->code == ERR_TIMEOUT) {
        tui_message(r->tui, STYLE_ERROR, "%s has not ended yet: %s", r->now.file, err->text);
        tui_record_set_state(r, RECORDING_RUNS);
        return;
    }
    tell_record_end(r);
    tui_record_forget(r);
}

void tui_record_stop(struct tui_record *r)
{
    tui_record_drop(&r->asking);
    r->asking = record_client_ask(&r->tui->rt.loop, r->socket, "stop", on_stopped, r);
    tui_record_set_state(r, RECORDING_STOPS);
}

static void follow_recorder(struct tui_record *r, const char *socket,
                            const struct record_status *status)
{
    char mark[64], stop[64];
    snprintf(r->socket, sizeof r->socket, "%s", socket);
    r->now = *status;
    r->begun = r->begun && !tui_record_is_own(r);
    tui_record_set_state(r, RECORDING_RUNS);
    if (r->stop_when_started && tui_record_is_own(r)) {
        r->stop_when_started = false;
        tui_record_stop(r);
    } else if (!tui_record_is_own(r)) {
        tui_message(r->tui, STYLE_MESSAGE,
                    "this node is being recorded to %s by OS process %lld: %s marks, %s stops it",
                    status->file, (long long)status->pid,
                    tui_key(r->tui, ACTION_RECORD_MARK, NULL, mark, sizeof mark),
                    tui_key(r->tui, ACTION_RECORD, NULL, stop, sizeof stop));
    }
}

/* ---- looking for recorders of this node */

static void scan_next_socket(struct tui_record *r);

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
        follow_recorder(r, r->sockets[r->scanned - 1], &s);
    if (err && err->code == ERR_TIMEOUT)
        tell_silent(r, err->text);
    scan_next_socket(r);
}

/* It has said that it has begun, and no socket is its. */
static void tell_out_of_reach(struct tui_record *r)
{
    r->begun = false;
    tui_message(r->tui, STYLE_ERROR,
                "the recording has started, but its recorder cannot be reached: see "
                "%s.log",
                r->file);
    tui_record_set_state(r, RECORDING_NONE);
}

static void scan_next_socket(struct tui_record *r)
{
    if (r->scanned < r->n_sockets && !tui_record_is_own(r)) {
        const char *socket = r->sockets[r->scanned++];
        r->scanning = record_client_ask(&r->tui->rt.loop, socket, "status", on_scanned, r);
    }
    if (!r->scanning && r->begun && !tui_record_is_own(r))
        tell_out_of_reach(r);
    if (!r->scanning && !r->saw_silent)
        r->silent[0] = '\0';
}

void tui_record_scan(struct tui_record *r)
{
    struct error ignored = {0}; /* reported when one is to be started */
    if (r->scanning)
        return;
    r->turns_to_scan = SCAN_TURNS;
    r->scanned = 0;
    r->saw_silent = false;
    (void)record_sockets_list(r->sockets, &r->n_sockets, r->tui->env, &ignored);
    scan_next_socket(r);
}

void tui_record_ask_status(struct tui_record *r)
{
    r->asking = record_client_ask(&r->tui->rt.loop, r->socket, "status", on_status, r);
}
