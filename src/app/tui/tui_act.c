/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actions that are the program's own: filter, captures, settings, leaving. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/detail.h"
#include "tui_owners.h"
#include "tui_record_follow.h"
#include "tui_trace_start.h"

/* ---- settings that something must follow */

/* From the options capture-every and capture-when. */
static void set_trigger(struct tui *t)
{
    struct error err = {0};
    const char *when = option_text(&t->settings.options, OPTION_CAPTURE_WHEN);
    double every_s = option_double(&t->settings.options, OPTION_CAPTURE_EVERY);
    t->has_trigger = *when || every_s > 0;
    if (trigger_init(&t->trigger, when, every_s, &err) != 0) {
        t->has_trigger = false;
        tui_message(t, STYLE_ERROR, "capture-when: %s", err.text);
    }
    tui_want(t);
}

static void apply_theme(struct tui *t)
{
    struct error err = {0};
    const char *name = option_text(&t->settings.options, OPTION_THEME);
    if (strcmp(name, t->settings.theme.name) != 0 &&
        config_theme(&t->settings.config, name, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

static void apply_ascii(struct tui *t)
{
    if (!t->tty)
        return;
    t->tty->ascii = t->canvas.ascii = settings_ascii(&t->settings, t->env);
    t->tty->ops->redraw(t->tty);
}

static void apply_option(struct tui *t, enum option option)
{
    const struct options *o = &t->settings.options;
    struct error err = {0};
    switch (option) {
    case OPTION_INTERVAL:
        if (t->source)
            source_set_interval(t->source, option_double(o, OPTION_INTERVAL));
        break;
    case OPTION_BUDGET:
        if (t->source)
            source_set_budget(t->source, option_double(o, OPTION_BUDGET) / 100);
        break;
    case OPTION_FILTER:
        if (tui_set_filter(t, option_text(o, OPTION_FILTER), NULL, &err) != 0)
            tui_message(t, STYLE_ERROR, "%s", err.text);
        break;
    case OPTION_THEME:
        apply_theme(t);
        break;
    case OPTION_ASCII:
        apply_ascii(t);
        break;
    case OPTION_MOUSE:
        if (t->tty)
            t->tty->ops->mouse(t->tty, option_bool(o, OPTION_MOUSE));
        break;
    case OPTION_SORT_REVERSE:
    case OPTION_SORT_DELTA:
    case OPTION_OWN:
    case OPTION_COLUMNS:
    case OPTION_SORT:
        if (settings_change_screen(&t->settings, option, t->screen, t->model, &err) != 0)
            tui_message(t, STYLE_ERROR, "%s", err.text);
        break;
    case OPTION_COLORS:
        if (t->tty) {
            t->tty->depth = settings_depth(&t->settings, t->env, t->cli->mono);
            t->tty->ops->redraw(t->tty);
        }
        break;
    case OPTION_CAPTURE_EVERY:
    case OPTION_CAPTURE_WHEN:
        set_trigger(t);
        break;
    case OPTION_TRACE_SYNTAX:
        screen_set_syntax(t->screen, (enum syntax)option_int(o, OPTION_TRACE_SYNTAX));
        break;
    default: /* looked at where they are used */
        break;
    }
}

/* Applies what has changed since the last time. */
static void apply_options(struct tui *t)
{
    const struct options *o = &t->settings.options;
    if (t->options_seen == o->generation)
        return;
    t->options_seen = o->generation;
    for (int i = 0; i < OPTIONS; i++) {
        if (t->changes_seen[i] == o->changes[i])
            continue;
        t->changes_seen[i] = o->changes[i];
        apply_option(t, (enum option)i);
    }
}

/* At the start: what the configuration has set is taken as seen. */
int tui_start_options(struct tui *t, struct error *err)
{
    const struct options *o = &t->settings.options;
    struct error ignored = {0};
    t->options_seen = o->generation;
    memcpy(t->changes_seen, o->changes, sizeof t->changes_seen);
    set_trigger(t);
    screen_set_syntax(t->screen, (enum syntax)option_int(o, OPTION_TRACE_SYNTAX));
    /* tui_connect() sets it again, and fails with a bad one. */
    (void)tui_set_filter(t, option_text(o, OPTION_FILTER), NULL, &ignored);
    return settings_to_screen(&t->settings, t->screen, t->model, err);
}

/* ---- captures */

static void write_capture(struct tui *t, bool whole_screen, const char *path)
{
    const struct options *o = &t->settings.options;
    struct error err = {0};
    int format = option_int(o, OPTION_CAPTURE_FORMAT);
    const struct node_info *node = model_node(t->model);
    char what[300];
    struct buf name, content;
    struct canvas pane;
    struct tty_cursor cursor = {.row = -1};

    if (*path && capture_format_of_path(path) >= 0)
        format = capture_format_of_path(path);
    snprintf(what, sizeof what, "%.*s", node ? (int)node->name.len : 0, node ? node->name.s : "");
    buf_init(&name, 0);
    buf_init(&content, LIMIT_CAPTURE_BYTES);
    if (*path)
        buf_puts(&name, path);
    else
        capture_name(&name, option_text(o, OPTION_CAPTURE_DIR), what, clock_wall_us(),
                     (enum capture_format)format);
    canvas_init(&pane, t->canvas.rows, t->canvas.columns, t->canvas.ascii);
    if (whole_screen)
        screen_draw(t->screen, t->model, &pane, &cursor);
    else
        screen_draw_pane(t->screen, t->model, &pane);
    struct theme theme = t->settings.theme;
    theme_set_terminal(&theme, BACKGROUND_ANY);
    const struct capture_setup setup = {
        .format = (enum capture_format)format,
        .theme = &theme,
        .depth = DEPTH_256,
        .title = what,
    };
    capture_put(&content, &pane, (struct rect){0, 0, pane.rows, pane.columns}, &setup);
    if (capture_write(buf_cstr(&name), &content, false, true, &err) == 0)
        tui_message(t, STYLE_MESSAGE, "captured to %s", buf_cstr(&name));
    else
        tui_message(t, STYLE_ERROR, "%s", err.text);
    canvas_clear(&pane);
    buf_clear(&name);
    buf_clear(&content);
}

/* ---- what the screen asks of the target */

static uint64_t copy_round(const struct tui *t, enum screen_request_kind kind)
{
    return model_round(t->model, kind == REQUEST_MAILBOX   ? QUESTION_MAILBOX
                                 : kind == REQUEST_COLLECT ? QUESTION_COLLECT
                                                           : QUESTION_STATE);
}

/* agreed: the user was asked whether to pay for it, and said yes. */
static int ask_copy(struct tui *t, const struct screen_request *r, bool agreed, struct error *err)
{
    const struct options *o = &t->settings.options;
    if (!t->live)
        return 0;
    int rc =
        r->kind == REQUEST_COLLECT ? live_ask_collect(t->live, &r->pid, agreed, err)
        : r->kind == REQUEST_MAILBOX
            ? live_ask_mailbox(t->live, &r->pid, option_int(o, OPTION_MAILBOX_MESSAGES),
                               option_int(o, OPTION_MAILBOX_BYTES), agreed, err)
            : live_ask_state(t->live, &r->pid, (int)(option_double(o, OPTION_STATE_TIMEOUT) * 1000),
                             option_int(o, OPTION_STATE_BYTES), agreed, err);
    if (rc != 0)
        return rc; /* an answer that is still due belongs to the request before */
    t->copy = *r;
    t->copy_round = copy_round(t, r->kind);
    t->copy_waits = true;
    return 0;
}

/* Of the process that was asked for, whatever has the focus by now. */
static void copy_answered(void *arg, bool yes)
{
    struct tui *t = arg;
    struct error err = {0};
    const struct screen_request r = t->copy;
    if (yes && ask_copy(t, &r, true, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

/* The answer to a mailbox or a state came: where the node says first what a copy takes, asks. */
static void ask_for_copy(void *own)
{
    struct tui *t = own;
    const struct screen_request *r = &t->copy;
    const struct mailbox_detail *box = model_mailbox(t->model);
    const struct state_detail *state = model_state(t->model);
    const struct collect_detail *collect = model_collect(t->model);
    char text[200], n[32], size[32];
    bool mailbox = r->kind == REQUEST_MAILBOX, is_collect = r->kind == REQUEST_COLLECT;
    if (!t->copy_waits || copy_round(t, r->kind) <= t->copy_round)
        return;
    screen_update(t->screen); /* also while it is paused */
    t->copy_waits = false;
    if (prompt_is_open(t->prompt))
        return; /* the view says it, too */
    if (mailbox && box->status == MAILBOX_ASK)
        snprintf(text, sizeof text, "Read %s messages of %.60s, which has %s? (y/n) ",
                 text_integer(n, sizeof n, box->len), r->text,
                 text_bytes(size, sizeof size, (double)box->memory_bytes));
    else if (is_collect && collect->status == COLLECT_ASK)
        snprintf(text, sizeof text,
                 "%.60s would stop for up to about %s to collect %s of heaps. Collect? (y/n) ",
                 r->text, text_duration(n, sizeof n, collect_pause_s(&collect->before)),
                 text_bytes(size, sizeof size, (double)collect->before.heap_bytes));
    else if (!mailbox && !is_collect && state->status == STATE_ASK)
        snprintf(text, sizeof text, "Read the state of %.60s, which has %s? (y/n) ", r->text,
                 text_bytes(size, sizeof size, (double)state->bytes));
    else
        return;
    tui_ask(t, text, copy_answered, t);
}

static void confirmed(void *arg, bool yes)
{
    struct tui *t = arg;
    struct error err = {0};
    if (yes && screen_confirm(t->screen, t->model, t->confirming, &err) < 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

/* The node is on the screen already: of several one is chosen again. */
static bool is_shown(const struct tui *t, const struct screen_request *r)
{
    const char *peer = t->live ? live_peer_node(t->live) : NULL;
    return r->os_pid == 0 && peer &&
           (strcmp(peer, r->text) == 0 || strcmp(t->opened, r->text) == 0);
}

static void take_requests(struct tui *t)
{
    struct screen_request r;
    while (screen_take_request(t->screen, &r)) {
        struct error err = {0};
        int rc = 0;
        switch (r.kind) {
        case REQUEST_REFRESH:
            tui_want(t);
            break;
        case REQUEST_MAILBOX:
        case REQUEST_STATE:
        case REQUEST_COLLECT:
            rc = ask_copy(t, &r, false, &err);
            break;
        case REQUEST_NODE:
            t->picked = true;
            if (!is_shown(t, &r))
                rc = tui_connect(t, r.text, r.os_pid, &err);
            break;
        case REQUEST_CHOICE:
            tui_trace_prompt(t->own[OWNER_TRACE], screen_chosen(t->screen));
            break;
        case REQUEST_ACT:
            tui_act(t, r.action, r.text);
            break;
        case REQUEST_STOP_RECORDING:
            tui_record_ask_to_stop(t->own[OWNER_RECORD]);
            break;
        case REQUEST_CONFIRM:
            t->confirming = r.action;
            tui_ask(t, r.text, confirmed, t);
            break;
        case REQUEST_UNFILTER:
            rc = tui_set_filter(t, "", NULL, &err);
            break;
        }
        if (rc != 0)
            tui_message(t, STYLE_ERROR, "%s", err.text);
    }
}

/* ---- settings by command */

/* `set`, `bind`, `color`, `source`: the configuration's own reader takes the line. */
static void act_configure(void *own, const char *line)
{
    struct tui *t = own;
    struct error err = {0};
    size_t offset = 0;
    if (config_command(&t->settings.config, line, &offset, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

static void act_toggle(void *own, const char *name)
{
    struct tui *t = own;
    struct error err = {0};
    struct buf value;
    int option = option_find(name, strlen(name));
    if (option < 0)
        (void)option_unknown(name, &err);
    else
        (void)option_toggle(&t->settings.options, (enum option)option, &err);
    if (err.code != ERR_NONE) {
        tui_message(t, STYLE_ERROR, "%s", err.text);
        return;
    }
    buf_init(&value, 0);
    option_print(&t->settings.options, (enum option)option, &value);
    tui_message(t, STYLE_MESSAGE, "%s is %s", name, buf_cstr(&value));
    buf_clear(&value);
}

static void act_theme(void *own, const char *name)
{
    struct tui *t = own;
    struct error err = {0};
    const char *next = *name ? name : theme_next(t->settings.theme.name);
    if (config_theme(&t->settings.config, next, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    else if (!*name)
        tui_message(t, STYLE_MESSAGE, "theme %s", next);
}

/* ---- dispatch */

static void act_filter(void *own, const char *arg)
{
    struct tui *t = own;
    struct error err = {0};
    if (!*arg)
        tui_prompt_filter(t);
    else if (tui_set_filter(t, arg, NULL, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

static void act_capture(void *own, const char *path)
{
    write_capture(own, false, path);
}

static void act_capture_screen(void *own, const char *path)
{
    write_capture(own, true, path);
}

static void act_pick_node(void *own, const char *arg)
{
    (void)arg;
    tui_pick(own);
}

static void act_command(void *own, const char *arg)
{
    tui_prompt_command(own, arg);
}

static void act_redraw(void *own, const char *arg)
{
    struct tui *t = own;
    (void)arg;
    t->tty->ops->redraw(t->tty);
}

static void act_suspend(void *own, const char *arg)
{
    (void)arg;
    tui_suspend(own);
}

static void act_login(void *own, const char *arg)
{
    (void)arg;
    tui_login(own);
}

static void act_quit(void *own, const char *arg)
{
    (void)arg;
    tui_leave(own);
}

static void act_on_screen(struct tui *t, enum action action, const char *arg)
{
    struct error err = {0};
    if (screen_act(t->screen, t->model, action, arg, &err) < 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

/* Typed by name: there is no line to edit. */
static void no_prompt(struct tui *t, enum action action, const char *arg)
{
    (void)t;
    (void)action;
    (void)arg;
}

/* Of screenshots that are taken by themselves. */
static void fire_trigger(void *own)
{
    struct tui *t = own;
    if (t->has_trigger && trigger_fires(&t->trigger, model_system(t->model), clock_mono_ns()))
        write_capture(t, true, "");
}

static void follow_typed(void *own)
{
    take_requests(own);
    apply_options(own);
}

static const struct tui_owner screen_owner = {.has = screen_has, .act = act_on_screen};
static const struct tui_owner view_owner = {.has = view_has, .act = act_on_screen};
static const struct tui_owner prompt_owner = {.has = prompt_has, .act = no_prompt};
/* `own` is a setting, so that `set` and the key agree. */
static const struct tui_owner program_owner = {
    .acts = {[ACTION_PICK_NODE] = {.run = act_pick_node},
             [ACTION_FILTER] = {.run = act_filter},
             [ACTION_OWN] = {act_toggle, "own"},
             [ACTION_CAPTURE] = {.run = act_capture},
             [ACTION_CAPTURE_SCREEN] = {.run = act_capture_screen},
             [ACTION_SET] = {act_configure, "set "},
             [ACTION_TOGGLE] = {.run = act_toggle},
             [ACTION_THEME] = {.run = act_theme},
             [ACTION_BIND] = {act_configure, "bind "},
             [ACTION_UNBIND] = {act_configure, "unbind "},
             [ACTION_COLOR] = {act_configure, "color "},
             [ACTION_SOURCE] = {act_configure, "source "},
             [ACTION_COMMAND] = {.run = act_command},
             [ACTION_REDRAW] = {.run = act_redraw},
             [ACTION_SUSPEND] = {.run = act_suspend},
             [ACTION_LOGIN] = {.run = act_login},
             [ACTION_QUIT] = {.run = act_quit}},
    .at = {[TUI_CHANGED] = ask_for_copy, [TUI_TICK] = fire_trigger, [TUI_TYPED] = follow_typed}};

const struct tui_owner *const tui_owners[TUI_OWNERS] = {
    [OWNER_SCREEN] = &screen_owner,       [OWNER_VIEW] = &view_owner,
    [OWNER_PROMPT] = &prompt_owner,       [OWNER_PROGRAM] = &program_owner,
    [OWNER_TIME] = &tui_time_owner,       [OWNER_TRACE] = &tui_trace_owner,
    [OWNER_CALLS] = &tui_calls_owner,     [OWNER_SAMPLE] = &tui_sample_owner,
    [OWNER_SPANS] = &tui_spans_owner,     [OWNER_RECORD] = &tui_record_owner,
    [OWNER_EVENTS] = &tui_events_owner,   [TUI_SESSIONS] = &tui_sessions_owner,
    [TUI_NAMES] = &tui_names_owner,       [TUI_FINDINGS] = &tui_findings_owner,
    [OWNER_FLEET] = &tui_fleet_owner,     [TUI_SEVERAL] = &tui_several_owner,
    [OWNER_OUTSIDE] = &tui_outside_owner,
};
