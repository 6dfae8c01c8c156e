/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop capture`: the screen without a terminal, once, every so often, or at a threshold. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "batch.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/ui/capture.h"
#include "beamtop/ui/screen.h"
#include "app/cli/commands.h"
#include "app/cli/tell.h"
#include "settings.h"
#include "trigger.h"

struct capturing {
    const struct cli_options *options;
    struct settings settings;
    struct screen *screen;
    struct canvas canvas;
    enum capture_format format;
    struct trigger trigger;
    int64_t taken;
    int64_t most; /* 0: no end */
};

static int parse_size(const char *text, int *columns, int *rows, struct error *err)
{
    char rest = 0;
    if (sscanf(text, "%dx%d%c", columns, rows, &rest) == 2 && *columns >= 20 && *rows >= 5 &&
        *columns <= LIMIT_CANVAS_COLUMNS && *rows <= LIMIT_CANVAS_ROWS)
        return 0;
    return error_set(err, ERR_USAGE, "--size: “%s” is not COLUMNSxROWS between 20x5 and %dx%d",
                     text, LIMIT_CANVAS_COLUMNS, LIMIT_CANVAS_ROWS);
}

static enum capture_format choose_format(const struct cli_options *o)
{
    int by_path = o->output ? capture_format_of_path(o->output) : -1;
    if (!o->format_given)
        return by_path >= 0 ? (enum capture_format)by_path : CAPTURE_TEXT;
    return o->format == FORMAT_ANSI   ? CAPTURE_ANSI
           : o->format == FORMAT_HTML ? CAPTURE_HTML
           : o->format == FORMAT_SVG  ? CAPTURE_SVG
                                      : CAPTURE_TEXT;
}

/* FILE with %t as the time of the capture. */
static void put_output_name(struct buf *out, const char *pattern)
{
    char when[CLOCK_TEXT_BYTES];
    clock_stamp_text(when, clock_wall_us());
    for (const char *p = pattern; *p; p++) {
        if (p[0] == '%' && p[1] == 't') {
            buf_puts(out, when);
            p++;
        } else {
            buf_put_u8(out, (uint8_t)*p);
        }
    }
}

static int write_capture(struct capturing *c, const struct buf *content, struct error *err)
{
    struct buf name;
    int rc = 0;
    if (!c->options->output) {
        if (fwrite(content->data, 1, content->len, stdout) != content->len || fflush(stdout) != 0)
            return errno == EPIPE ? ERR_CANCELLED : error_set_errno(err, errno, "write error");
        return 0;
    }
    buf_init(&name, 0);
    put_output_name(&name, c->options->output);
    rc = capture_write(buf_cstr(&name), content, true, false, err);
    if (rc == 0)
        fprintf(stderr, "captured to %s\n", buf_cstr(&name));
    buf_clear(&name);
    return rc;
}

static int64_t shown_wall_us(const struct model *m)
{
    const struct recorded_position *place = model_recorded(m);
    return place ? place->wall_us : clock_wall_us();
}

static int take_capture(struct capturing *c, const struct model *m, struct error *err)
{
    struct buf content;
    struct tty_cursor cursor;
    char clock[CLOCK_TEXT_BYTES], title[300];
    const struct node_info *node = model_node(m);

    snprintf(title, sizeof title, "%.*s", node ? (int)node->name.len : 0, node ? node->name.s : "");
    screen_set_clock(c->screen, clock_time_text(clock, shown_wall_us(m)));
    screen_update(c->screen);
    screen_draw(c->screen, m, &c->canvas, &cursor);
    const struct capture_setup setup = {
        .format = c->format,
        .theme = &c->settings.theme,
        .depth = DEPTH_256,
        .title = title,
    };
    buf_init(&content, LIMIT_CAPTURE_BYTES);
    capture_put(&content, &c->canvas, (struct rect){0, 0, c->canvas.rows, c->canvas.columns},
                &setup);
    int rc = write_capture(c, &content, err);
    buf_clear(&content);
    return rc;
}

static int on_capture_tick(void *arg, const struct model *m, struct error *err)
{
    struct capturing *c = arg;
    if (!trigger_fires(&c->trigger, model_system(m), clock_mono_ns()))
        return 0;
    int rc = take_capture(c, m, err);
    if (rc != 0)
        return rc;
    c->taken++;
    return c->taken == c->most ? ERR_CANCELLED : 0;
}

static int prepare_capture(struct capturing *c, const struct app_env *env, struct want *want,
                           struct error *err)
{
    const struct cli_options *o = c->options;
    struct tty_cursor cursor;
    struct model *nothing;
    int columns = 0, rows = 0;
    c->format = choose_format(o);
    int rc = settings_init(&c->settings, o, env, err);
    if (rc == 0 && o->cluster)
        rc = error_set(err, ERR_USAGE, "--cluster: this command takes one node");
    settings_print_errors(&c->settings);
    if (rc == 0)
        rc = parse_size(o->size, &columns, &rows, err);
    /* Several without an interval: each tick. */
    bool each_tick = o->ticks_given && !o->when && !(o->every_s > 0);
    double every_s = each_tick ? option_double(&c->settings.options, OPTION_INTERVAL) : o->every_s;
    if (rc == 0)
        rc = trigger_init(&c->trigger, o->when, every_s, err);
    if (rc != 0)
        return rc;
    c->most = o->ticks_given ? o->ticks : o->every_s > 0 ? 0 : 1;
    c->screen = screen_new(option_text(&c->settings.options, OPTION_VIEW), err);
    if (!c->screen)
        return err->code;
    if (strcmp(screen_view(c->screen), "findings") == 0)
        return error_set(
            err, ERR_USAGE,
            "the view findings cannot be captured: findings need some minutes of ticks. "
            "Choose another with --view, or record the node: `beamtop report` has them");
    canvas_init(&c->canvas, rows, columns, settings_ascii(&c->settings, env));
    /* Drawn once, empty, so that the views know how many rows they have room for. */
    nothing = model_new();
    rc = settings_to_screen(&c->settings, c->screen, nothing, err);
    screen_draw(c->screen, nothing, &c->canvas, &cursor);
    screen_want(c->screen, want);
    model_free(nothing);
    return rc;
}

int command_capture(const struct cli_options *o, const struct app_env *env)
{
    struct capturing c = {.options = o};
    struct want want = {0};
    struct error err = {0};
    int code = EXIT_USAGE;
    if (prepare_capture(&c, env, &want, &err) == 0) {
        /* The configuration may set them; the command line has the last word there. */
        struct cli_options own = *o;
        own.interval_s = option_double(&c.settings.options, OPTION_INTERVAL);
        own.budget = option_double(&c.settings.options, OPTION_BUDGET) / 100;
        const struct batch_job job = {
            .options = &own,
            .env = env,
            .want = want,
            .rates = true,
            .filter = option_text(&c.settings.options, OPTION_FILTER),
            .on_tick = on_capture_tick,
            .arg = &c,
        };
        code = batch_run(&job);
    } else {
        tell_error(&err);
    }
    screen_free(c.screen);
    if (c.canvas.cells)
        canvas_clear(&c.canvas);
    settings_clear(&c.settings);
    return code;
}
