#include "tui_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "commands.h"
#include "replay.h"
#include "tui_internal.h"

struct tui_replay {
    uv_timer_t timer; /* first: freed by it */
    struct tui *tui;
    struct replay *replay;
    unsigned told; /* needs whose lack was told */
    bool at_end;
};

static int64_t wall_us(const struct tui_replay *r)
{
    return recording_tick_wall_us(replay_recording(r->replay), replay_tick(r->replay));
}

static void show_tick(struct tui_replay *r, int64_t tick)
{
    struct error err = {.code = ERR_NONE};
    r->at_end = false;
    if (replay_to(r->replay, tick, &err) != 0)
        tui_message(r->tui, STYLE_ERROR, "%s", err.text);
    else
        tui_findings_replayed(r->tui->findings, replay_recording(r->replay), tick);
    screen_update(r->tui->screen);
    tui_touch(r->tui);
}

void tui_replay_step(struct tui_replay *r)
{
    int64_t next = r ? replay_next(r->replay) : 0;
    if (next > 0) {
        show_tick(r, next);
    } else if (r && !r->at_end) {
        r->at_end = true;
        tui_message(r->tui, STYLE_MESSAGE, "that is the end of the recording; seek goes elsewhere");
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct tui_replay *r = timer->data;
    if (!r->tui->paused)
        tui_replay_step(r);
}

void tui_replay_retime(struct tui_replay *r)
{
    if (!r)
        return;
    uint64_t ms = (uint64_t)(option_double(&r->tui->settings.options, OPTION_INTERVAL) * 1000);
    uv_timer_start(&r->timer, on_timer, ms, ms);
}

int command_replay(const struct cli_options *o, const struct app_env *env)
{
    if (replay_is_file(o->target))
        return command_screen(o, env);
    fprintf(stderr, "beamtop: %s is no file; a live node needs no `replay`\n", o->target);
    return EXIT_USAGE;
}

int tui_replay_open(struct tui *t, const char *path, const char *at, struct error *err)
{
    struct replay *replay = NULL;
    int64_t tick = 0;
    int rc = replay_open(&replay, path, t->model, err);
    if (rc == 0 && at)
        rc = replay_find(replay, at, &tick, err);
    if (rc == 0) {
        /* Rates need the tick before. */
        int64_t second = recording_tick_after(replay_recording(replay), 1);
        rc = replay_to(replay, tick > 0 ? tick : second > 0 ? second : 1, err);
    }
    if (rc != 0) {
        replay_close(replay);
        return rc;
    }
    struct tui_replay *r = alloc_zero(1, sizeof *r);
    r->tui = t;
    model_set_utc_offset(t->model, clock_utc_offset_s());
    r->replay = replay;
    uv_timer_init(&t->loop, &r->timer);
    r->timer.data = r;
    t->replay = r;
    tui_replay_retime(r);
    const struct recording_info *info = replay_info(replay);
    tui_message(t, STYLE_MESSAGE, "a recording of %s: %lld ticks, each for the time of `interval`; pause, "
                                  "step, `:seek TIME|MARK|+1m|#TICK`", info->node, (long long)info->ticks);
    return 0;
}

static void free_timer(uv_handle_t *handle)
{
    free(handle);
}

void tui_replay_close(struct tui_replay *r)
{
    if (!r)
        return;
    replay_close(r->replay);
    r->replay = NULL;
    uv_close((uv_handle_t *)&r->timer, free_timer);
}

void tui_replay_seek(struct tui_replay *r, const char *when)
{
    struct error err = {.code = ERR_NONE};
    double seconds = 0;
    int64_t tick = 0;
    if ((*when == '+' || *when == '-') && text_parse_duration(when + 1, &seconds) == 0) {
        int64_t to_us = wall_us(r) + (int64_t)((*when == '-' ? -seconds : seconds) * 1e6);
        tick = recording_tick_at(replay_recording(r->replay), to_us);
        tick = tick > 0 ? tick : 1;
    } else if (replay_find(r->replay, when, &tick, &err) != 0) {
        tui_message(r->tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    show_tick(r, tick);
}

void tui_replay_want(struct tui_replay *r)
{
    struct want want = {.needs = 0};
    struct error err = {.code = ERR_NONE};
    if (!r)
        return;
    screen_want(r->tui->screen, &want);
    unsigned news = want.needs & ~r->told;
    r->told = want.needs; /* told anew when one comes back to it */
    want.needs = news;
    if (replay_check(r->replay, &want, &err) != 0)
        tui_message(r->tui, STYLE_WARN, "%s", err.text);
}

const char *tui_replay_clock(const struct tui_replay *r, char out[CLOCK_TEXT_BYTES])
{
    time_t at = (time_t)(wall_us(r) / 1000000 + model_utc_offset(r->tui->model));
    struct tm tm;
    if (!gmtime_r(&at, &tm) || strftime(out, CLOCK_TEXT_BYTES, "%H:%M:%S", &tm) == 0)
        snprintf(out, CLOCK_TEXT_BYTES, "?");
    return out;
}
