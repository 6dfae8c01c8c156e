/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_status.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"

#define PROGRAM "beamtop: "
/* The clock of a node that may warp gives another time of its start later. */
#define START_APART_US (INT64_C(60) * 1000000)

static void copy_key_text(char *out, size_t size, const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    snprintf(out, size, "%s", text ? text : "");
}

static int64_t number_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

bool record_status_parse(struct record_status *s, const char *json)
{
    json_t *o = json_loads(json, 0, NULL);
    *s = (struct record_status){0};
    copy_key_text(s->node, sizeof s->node, o, "node");
    copy_key_text(s->file, sizeof s->file, o, "file");
    copy_key_text(s->link, sizeof s->link, o, "link");
    copy_key_text(s->calls_refused, sizeof s->calls_refused, o, "calls_refused");
    copy_key_text(s->trace_refused, sizeof s->trace_refused, o, "trace_refused");
    s->running_s = json_number_value(json_object_get(o, "running_s"));
    s->ticks = number_of(o, "ticks");
    s->bytes = number_of(o, "bytes");
    s->marks = number_of(o, "marks");
    s->windows = number_of(o, "windows");
    s->traces = number_of(o, "traces");
    s->pid = number_of(o, "pid");
    s->life.creation = number_of(o, "node_creation");
    s->life.os_pid = number_of(o, "node_os_pid");
    s->life.start_us = number_of(o, "node_start_us");
    s->detached = json_is_true(json_object_get(o, "detached"));
    json_decref(o);
    return *s->node && *s->file;
}

struct record_life record_life_of(uint32_t creation, const struct node_info *info)
{
    struct record_life life = {.creation = creation};
    if (!info)
        return life;
    life.os_pid = node_os_pid(info);
    life.start_us = info->start_wall_us;
    return life;
}

static bool may_be(int64_t a, int64_t b, int64_t most_apart)
{
    return a <= 0 || b <= 0 || (a < b ? b - a : a - b) <= most_apart;
}

bool record_life_may_be(const struct record_life *a, const struct record_life *b)
{
    return may_be(a->creation, b->creation, 0) && may_be(a->os_pid, b->os_pid, 0) &&
           may_be(a->start_us, b->start_us, START_APART_US);
}

bool record_status_is_of(const struct record_status *s, const char *node,
                         const struct record_life *life)
{
    if (!record_life_may_be(&s->life, life))
        return false;
    size_t len = strlen(s->node);
    if (len == 0 || strncmp(s->node, node, len) != 0)
        return false;
    return node[len] == '\0' || (node[len] == '@' && !strchr(s->node, '@'));
}

void record_default_name(struct buf *out, const char *dir, const char *node, int64_t wall_us)
{
    char when[CLOCK_TEXT_BYTES];
    buf_printf(out, "%s/", *dir ? dir : ".");
    text_put_file_name(out, node);
    buf_printf(out, "-%s", clock_stamp_text(when, wall_us));
    const size_t stem = out->len;
    buf_puts(out, ".btr");
    for (int n = 2; n < 100 && access(buf_cstr(out), F_OK) == 0; n++) { /* in the same second */
        out->len = stem;
        buf_printf(out, "-%d.btr", n);
    }
}

static const char *without_program(const char *line)
{
    return strncmp(line, PROGRAM, sizeof PROGRAM - 1) == 0 ? line + sizeof PROGRAM - 1 : line;
}

void record_complaint(struct buf *out, const char *printed)
{
    const char *line = without_program(printed + strspn(printed, "\n"));
    text_put_safe(out, line, strcspn(line, "\n"), false);
}

/* ---- the end */

static const struct record_end {
    const char *end, *why;
    bool good;
} ends[] = {
    {"stopped", "it was stopped", true},
    {"time", "its time is over", true},
    {"full", "the disk is full, or it has reached its largest size (record-max-size)", false},
    {"link", "the connection to the node is lost", false},
    {"error", "it could not go on", false},
    {"", "its recorder was killed; at most the last tick is missing", false},
};

/* Of an end that this version does not know, none. */
static const struct record_end *find_end(const char *end)
{
    for (size_t i = 0; end && i < ARRAY_LEN(ends); i++)
        if (strcmp(ends[i].end, end) == 0)
            return &ends[i];
    return NULL;
}

bool record_end_is_good(const char *end)
{
    const struct record_end *found = find_end(end);
    return found && found->good;
}

/* The recorder's last words, but those about the file that end the log of one with ticks. */
static size_t last_words(const struct record_status *s, const char *log, const char **out)
{
    size_t found = 0, file_len = strlen(s->file), len = 0;
    for (const char *line = log; *line; line += len + (line[len] == '\n')) {
        len = strcspn(line, "\n");
        const char *text = without_program(line);
        bool of_file =
            strncmp(text, s->file, file_len) == 0 && strncmp(text + file_len, " has ", 5) == 0;
        if (len > 0 && !of_file) {
            *out = text;
            found = len - (size_t)(text - line);
        }
    }
    return found;
}

void record_end_text(struct buf *out, const struct record_status *s, const char *end,
                     const char *log)
{
    char bytes[32];
    const char *words = NULL;
    const struct record_end *known = find_end(end);
    /* Of a recorder that was killed they are about something else. */
    size_t len = end && *end && !record_end_is_good(end) ? last_words(s, log, &words) : 0;
    if (!end) {
        buf_printf(out, "the recording has ended, and %s cannot be read; see %s.log", s->file,
                   s->file);
    } else if (record_end_is_good(end)) {
        buf_printf(out, "%s is complete: %lld ticks, %s%s; `beamtop report` and `replay` read it",
                   s->file, (long long)s->ticks, text_bytes(bytes, sizeof bytes, (double)s->bytes),
                   strcmp(end, "time") == 0 ? ", its time is over" : "");
    } else if (len > 0) {
        text_put_safe(out, words, len, false);
    } else {
        buf_printf(out, "the recording has ended after %lld ticks: %s (%s)", (long long)s->ticks,
                   known ? known->why : end, s->file);
    }
}
