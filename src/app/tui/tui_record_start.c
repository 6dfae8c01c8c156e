/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_record_follow.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"

/* ---- starting */

static void on_started(void *arg, const struct error *err)
{
    struct tui_record *r = arg;
    char stop[64], mark[64];
    r->starter = NULL;
    if (err) {
        r->file[0] = '\0';
        r->stop_when_started = false;
        tui_message(r->tui, STYLE_ERROR, "not recorded: %s", err->text);
        if (!r->elsewhere)
            tui_record_set_state(r, RECORDING_NONE);
        return;
    }
    tui_journal(r->tui, false,
                "recorder started: it connects as well, "
                "asks at each tick, and writes to %.300s",
                r->file);
    if (!r->stop_when_started)
        tui_message(
            r->tui, STYLE_MESSAGE,
            "recording, also after you quit: %s or `beamtop record stop` stops it, %s marks. "
            "It writes to %s",
            tui_key(r->tui, ACTION_RECORD, NULL, stop, sizeof stop),
            tui_key(r->tui, ACTION_RECORD_MARK, NULL, mark, sizeof mark), r->file);
    if (r->elsewhere)
        return; /* it is found again when one comes back to that node */
    r->begun = true;
    tui_record_drop(&r->scanning);
    tui_record_scan(r);
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

static void start_recorder(struct tui_record *r, const char *file)
{
    struct error err = {0};
    const struct tui *t = r->tui;
    const struct record_start setup = {.cli = t->cli,
                                       .env = t->env,
                                       .node = r->node,
                                       .file = r->file,
                                       .options = &t->settings.options};
    size_t n = 0;
    if (r->starter) {
        tui_message(r->tui, STYLE_ERROR, "the recording to %s is still starting", r->file);
        return;
    }
    r->elsewhere = false;
    /* Without a directory for its socket it could not be stopped. */
    if (record_sockets_list(r->sockets, &n, r->tui->env, &err) == 0 &&
        choose_file(r, file, &err) == 0)
        r->starter = record_starter_new(&r->tui->rt.loop, &setup, on_started, r, &err);
    if (r->starter) {
        tui_message(r->tui, STYLE_MESSAGE, "the recording to %s starts with its first tick",
                    r->file);
        tui_record_set_state(r, RECORDING_STARTS);
        return;
    }
    r->file[0] = '\0';
    tui_message(r->tui, STYLE_ERROR, "not recorded: %s", err.text);
}

/* ---- what the user is asked for: the file, then the limit of its size */

static void ask_size_limit(struct tui_record *r, const char *initial);

static void size_given(void *arg, const char *line)
{
    struct tui_record *r = arg;
    struct error err = {0};
    if (option_set(&r->tui->settings.options, OPTION_RECORD_MAX_SIZE, line, &err) != 0) {
        ask_size_limit(r, line);
        prompt_mark_error(r->tui->prompt, 0, err.text);
    } else if (*r->node && strcmp(r->node, r->wanted_node) == 0 && r->state == RECORDING_NONE) {
        start_recorder(r, r->wanted);
    } else {
        tui_message(r->tui, STYLE_WARN, "not recorded: %s is not connected, or is recorded by now",
                    r->wanted_node);
    }
}

static void ask_size_limit(struct tui_record *r, const char *initial)
{
    const struct prompt_calls calls = {.accepted = size_given, .ctx = r};
    prompt_open(r->tui->prompt, PROMPT_TEXT, "size limit: ", initial, &calls);
}

static void file_given(void *arg, const char *line)
{
    struct tui_record *r = arg;
    char size[40];
    double bytes = option_double(&r->tui->settings.options, OPTION_RECORD_MAX_SIZE);
    snprintf(r->wanted, sizeof r->wanted, "%s", line);
    snprintf(r->wanted_node, sizeof r->wanted_node, "%s", r->node);
    ask_size_limit(r, text_bytes_exact(size, sizeof size, bytes));
}

static void ask_file_name(struct tui_record *r)
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
static void begin_recording(struct tui_record *r, const char *file)
{
    if (*file)
        start_recorder(r, file);
    else
        ask_file_name(r);
}

static void start_answered(void *arg, bool yes)
{
    struct tui_record *r = arg;
    if (yes && r->state == RECORDING_NONE)
        begin_recording(r, r->wanted);
}

void tui_record_begin(struct tui_record *r, const char *file)
{
    char question[sizeof r->silent + 40];
    if (*r->silent == '\0') {
        begin_recording(r, file);
        return;
    }
    snprintf(r->wanted, sizeof r->wanted, "%s", file);
    snprintf(question, sizeof question, "%s. Record anyway? (y/n) ", r->silent);
    tui_ask(r->tui, question, start_answered, r);
}
