/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What others ask of a recording that runs: how it goes, a mark, its end. */
#include "record_series.h"
#include "record_state.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/recording/recording.h"
#include "record_status.h"

/* ---- how it goes */

static void put_life_number(json_t *o, const char *key, int64_t number)
{
    json_object_set_new(o, key, number > 0 ? json_integer(number) : json_null());
}

/* Nodes of other epmds may have the same name. Not known while it is away: it may come back as
 * another. */
static void put_life(const struct recording_run *t, json_t *o)
{
    bool up = live_is_up(t->live) && t->has_node;
    struct record_life life =
        record_life_of(up ? live_peer_creation(t->live) : 0, up ? model_node(t->model) : NULL);
    put_life_number(o, "node_creation", life.creation);
    put_life_number(o, "node_os_pid", life.os_pid);
    put_life_number(o, "node_start_us", life.start_us);
}

/* What a node says may be cut, or not UTF-8 at all. */
static json_t *json_of(const char *text)
{
    struct buf safe;
    if (text_is_utf8(text, strlen(text)))
        return json_string(text);
    buf_init(&safe, 0);
    text_put_safe(&safe, text, strlen(text), false);
    json_t *o = json_string(buf_cstr(&safe));
    buf_clear(&safe);
    return o;
}

static void put_status(void *arg, struct buf *out)
{
    struct recording_run *t = arg;
    const char *link = NULL;
    char path[PATH_MAX]; /* who asks may be in another directory */
    struct error ignored = {0};
    bool live = model_link(t->model, &link) == LINK_LIVE;
    bool known = record_whole_path(path, t->setup->file, &ignored) == 0;
    json_t *o = json_pack(
        "{s:i,s:o,s:o,s:o,s:I,s:I,s:I,s:i,s:i,s:o,s:o,s:o,s:b}", "pid", (int)getpid(), "node",
        json_of(t->node), "file", json_of(known ? path : t->setup->file), "label",
        json_of(t->options->label ? t->options->label : ""), "ticks",
        (json_int_t)recorder_ticks(t->recorder), "bytes", (json_int_t)recorder_bytes(t->recorder),
        "marks", (json_int_t)t->marks, "windows",
        (int)record_series_number(t->series[RECORD_CALLS]), "traces",
        (int)record_series_number(t->series[RECORD_TRACES]), "link",
        json_of(live || !*link ? "" : link), "calls_refused",
        json_of(record_series_refusal(t->series[RECORD_CALLS])), "trace_refused",
        json_of(record_series_refusal(t->series[RECORD_TRACES])), "detached", t->setup->detached);
    double running_s = (double)(uv_now(&t->rt.loop) - t->rt.started_ms) / 1000;
    json_object_set_new(o, "running_s", json_real(running_s));
    put_life(t, o);
    char *text = json_dumps(o, JSON_COMPACT);
    buf_puts(out, text ? text : "{}");
    free(text);
    json_decref(o);
}

/* ---- a mark, the end */

static void on_mark(void *arg, const char *text)
{
    struct recording_run *t = arg;
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, text, strlen(text), false);
    t->marks++;
    recorder_mark(t->recorder, clock_wall_us(), record_run_node_wall_us(t), buf_cstr(&safe));
    buf_clear(&safe);
}

static void on_stop(void *arg)
{
    record_run_finish(arg, "stopped", EXIT_DONE, NULL);
}

void record_run_requests_open(struct recording_run *t)
{
    static const struct record_control_handlers handlers = {
        .status = put_status, .mark = on_mark, .stop = on_stop};
    struct error err = {0};
    if (record_control_open(&t->control, &t->rt.loop, t->setup->env, &handlers, t, &err) != 0)
        record_run_tell(t, "%s", err.text);
}
