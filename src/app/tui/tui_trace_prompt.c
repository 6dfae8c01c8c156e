/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace prompt, and those for functions: what is known of the line as it is typed,
   completion, what Enter does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/ui/complete_trace.h"
#include "tui_trace.h"
#include "tui_trace_internal.h"

/* clang-format off */
#define MARK "trace> "
#define PAUSE_MS 150u   /* of typing, before the line is looked at … */
#define SETTLE_MS 850u  /* … and then, before what is wrong in it is marked */
#define CANDIDATES 24   /* words listed for an unfinished line */
#define UNANSWERED 3u   /* questions for them, of one line */
/* clang-format on */
#define KEYS_HINT "Tab completes, Up recalls, Enter starts"
#define EMPTY_HINT                                                                                 \
    "module:function(Arguments) when Guard -> return; Elixir: Mod.fun(args) -> return\n" KEYS_HINT

static bool is_open(const struct tui_trace *tr)
{
    return prompt_is_open(tr->tui->prompt) && prompt_kind(tr->tui->prompt) == PROMPT_TRACE;
}

static bool names_open(const struct tui_trace *tr)
{
    return tr->names && prompt_is_open(tr->tui->prompt) &&
           prompt_kind(tr->tui->prompt) == tr->names->kind;
}

/* ---- what is known of the line */

/* Names the key of the match specification, which is hidden. */
static void put_spec_key(const struct tui_trace *tr, struct buf *out)
{
    char key[64];
    if (!tr->spec_shown && keymap_first_key_of(&tr->tui->settings.keymap, CONTEXT_PROMPT,
                                               ACTION_PROMPT_SPEC, NULL, key, sizeof key))
        buf_printf(out, "   %s: match specification", key);
}

static void set_hint(struct tui_trace *tr, enum style style, struct buf *text)
{
    prompt_set_hint(tr->tui->prompt, style, buf_cstr(text));
    buf_clear(text);
}

/* The words that go on from the cursor, as Tab would list them; none that are not known yet. */
static void put_candidates(struct tui_trace *tr, struct buf *out)
{
    struct completion list;
    struct trace_request defaults;
    size_t point;
    const char *line = prompt_line(tr->tui->prompt, &point);
    if (tr->unanswered >= UNANSWERED)
        return;
    tui_trace_defaults(tr, &defaults);
    completion_init(&list);
    if (!complete_trace(&list, tr->assist, defaults.syntax, line, point))
        tr->unanswered++;
    for (size_t i = 0; i < list.len && i < CANDIDATES; i++)
        buf_printf(out, "%s%s", i > 0 ? "  " : "", list.items[i].word);
    if (list.len > CANDIDATES)
        buf_puts(out, "  …");
    completion_clear(&list);
}

/* Before Enter, an unfinished line is not wrong, and another one only when typing has stopped. */
static bool is_wrong(const struct tui_trace *tr, const struct assist_line *line)
{
    if (tr->error_shown)
        return line->wrong || line->nothing;
    return line->wrong && !line->unfinished && tr->settled;
}

static void show_line(struct tui_trace *tr)
{
    const struct assist_line *line = assist_line(tr->assist);
    struct prompt *prompt = tr->tui->prompt;
    bool wrong = is_wrong(tr, line);
    const char *said = line->nothing && tr->error_shown && *tr->why ? tr->why : line->text;
    struct buf text;
    bool empty = !*line->text && !*line->sentence;
    if (empty && !line->known)
        return;
    buf_init(&text, 0);
    if (empty) {
        buf_puts(&text, EMPTY_HINT);
        put_spec_key(tr, &text);
        set_hint(tr, STYLE_DIM, &text);
        return;
    }
    if ((line->unfinished || line->nothing) && !tr->listed)
        put_candidates(tr, &text);
    buf_printf(&text, "%s\n", text.len == 0 ? line->sentence : "");
    if (tr->spec_shown)
        buf_printf(&text, "%s\n", line->spec);
    buf_puts(&text, *said ? said : "…");
    if (!line->wrong && !line->nothing)
        put_spec_key(tr, &text);
    set_hint(tr, wrong ? STYLE_ERROR : STYLE_MESSAGE, &text);
    if (wrong)
        prompt_mark_error(prompt, line->offset, "");
}

static void names_hint(struct tui_trace *tr, enum style style, const char *known, bool with_cost)
{
    char text[1200], cost[80] = "";
    if (with_cost)
        snprintf(cost, sizeof cost, "; the cost is measured first");
    if (with_cost && tr->names->cost)
        tr->names->cost(tr->names_arg, cost, sizeof cost);
    snprintf(text, sizeof text, "%s\n%s%s", tr->names->syntax, known, cost);
    prompt_set_hint(tr->tui->prompt, style, text);
}

static void names_show(struct tui_trace *tr)
{
    const struct assist_line *line = assist_line(tr->assist);
    bool wrong = line->wrong && !line->unfinished && tr->settled;
    if (*line->text)
        names_hint(tr, wrong ? STYLE_ERROR : STYLE_MESSAGE, line->text,
                   !line->wrong && !line->nothing);
    else if (line->known)
        names_hint(tr, STYLE_DIM, KEYS_HINT, true);
    if (wrong)
        prompt_mark_error(tr->tui->prompt, line->offset, "");
}

/* Of the prompt that is open. */
static void show(struct tui_trace *tr)
{
    if (is_open(tr))
        show_line(tr);
    else if (names_open(tr))
        names_show(tr);
    tui_touch(tr->tui);
}

/* Without the options, which are not those of a trace. */
static void look_at_pattern(struct tui_trace *tr, const struct trace_request *defaults,
                            const char *line)
{
    char *pattern = alloc_strndup(line, trace_request_pattern_end(line));
    assist_look(tr->assist, defaults, pattern);
    free(pattern);
}

static void look(struct tui_trace *tr, const char *line)
{
    struct trace_request defaults;
    tui_trace_defaults(tr, &defaults);
    tr->looked = true;
    tr->unanswered = 0;
    if (!names_open(tr))
        assist_look(tr->assist, &defaults, line);
    else if (tr->names->lists)
        assist_count(tr->assist, defaults.syntax, line);
    else
        look_at_pattern(tr, &defaults, line);
    show(tr);
}

static void on_settled(uv_timer_t *timer)
{
    struct tui_trace *tr = timer->data;
    tr->settled = true;
    show(tr);
}

static void on_pause(uv_timer_t *timer)
{
    struct tui_trace *tr = timer->data;
    size_t point;
    if (names_open(tr) && tr->names->held && tr->names->held(tr->names_arg)) {
        uv_timer_start(&tr->pause, on_pause, PAUSE_MS, 0);
        return;
    }
    uv_timer_start(&tr->pause, on_settled, SETTLE_MS, 0);
    if (is_open(tr) || names_open(tr))
        look(tr, prompt_line(tr->tui->prompt, &point));
}

void tui_trace_assist_known(void *arg)
{
    struct tui_trace *tr = arg;
    if (!is_open(tr) && !names_open(tr))
        return;
    if (tr->looked)
        show(tr);
    if (tr->completing && !assist_is_asking(tr->assist)) {
        tr->completing = false;
        prompt_complete_again(tr->tui->prompt);
        tr->completing = false; /* once for a key: an unanswered question is not repeated */
    }
    tui_touch(tr->tui);
}

/* ---- the link */

/* Asked for at each prompt: a source knows its node a moment after it stands. */
static void link_up(struct tui_trace *tr)
{
    struct session_port port;
    struct error ignored = {0}; /* without a node there is nothing to ask */
    if (tr->assisted || live_port(tr->tui->live, &port, &ignored) != 0)
        return;
    tr->assisted = true;
    assist_set_port(tr->assist, &port);
}

void tui_trace_assist_lost(void *own)
{
    struct tui_trace *tr = own;
    assist_set_port(tr->assist, NULL);
    tr->assisted = false;
}

/* ---- the trace's prompt */

static void changed(void *ctx, const char *line)
{
    struct tui_trace *tr = ctx;
    (void)line;
    tr->completing = tr->error_shown = tr->looked = tr->settled = tr->listed = false;
    tr->why[0] = '\0';
    uv_timer_start(&tr->pause, on_pause, PAUSE_MS, 0);
}

static void accepted(void *ctx, const char *line)
{
    struct tui_trace *tr = ctx;
    uv_timer_stop(&tr->pause);
    tui_trace_submit(tr, line);
}

static void cancelled(void *ctx)
{
    struct tui_trace *tr = ctx;
    uv_timer_stop(&tr->pause);
}

static void toggle_spec(void *ctx)
{
    struct tui_trace *tr = ctx;
    tr->spec_shown = !tr->spec_shown;
    show_line(tr);
}

static void complete(void *ctx, const char *line, size_t point, struct completion *out)
{
    struct tui_trace *tr = ctx;
    struct trace_request defaults;
    tui_trace_defaults(tr, &defaults);
    tr->completing = !complete_trace(out, tr->assist, defaults.syntax, line, point);
    tr->listed = out->len > 1; /* Tab lists them: they do not stand in the hint, too */
    show_line(tr);
}

void tui_trace_prompt(struct tui_trace *tr, const char *initial)
{
    const struct prompt_calls calls = {.changed = changed,
                                       .accepted = accepted,
                                       .cancelled = cancelled,
                                       .complete = complete,
                                       .spec = toggle_spec,
                                       .ctx = tr};
    link_up(tr);
    tr->completing = tr->error_shown = tr->settled = tr->listed = false;
    tr->why[0] = '\0';
    prompt_open(tr->tui->prompt, PROMPT_TRACE, MARK, initial, &calls);
    assist_begin(tr->assist);
    look(tr, initial);
    uv_timer_start(&tr->pause, on_settled, SETTLE_MS, 0);
}

void tui_trace_error(struct tui_trace *tr, const char *line, const char *why)
{
    struct error ignored = {0};
    struct trace_request request;
    size_t offset = 0;
    tui_trace_defaults(tr, &request);
    if (trace_request_parse(&request, line, &offset, &ignored) == 0)
        offset = request.pattern_at;
    trace_request_clear(&request);
    tui_trace_prompt(tr, line);
    tr->error_shown = true; /* the answer about the line may contain where */
    if (strlen(why) < sizeof tr->why)
        strcpy(tr->why, why);
    prompt_mark_error(tr->tui->prompt, offset, why);
}

/* ---- prompts for functions */

void tui_trace_names_look(struct tui_trace *tr)
{
    tr->completing = tr->looked = tr->settled = false;
    uv_timer_start(&tr->pause, on_pause, PAUSE_MS, 0);
}

static void names_changed(void *ctx, const char *line)
{
    (void)line;
    tui_trace_names_look(ctx);
}

static void names_accepted(void *ctx, const char *line)
{
    struct tui_trace *tr = ctx;
    uv_timer_stop(&tr->pause);
    tr->names->accepted(tr->names_arg, line);
}

/* Names that are still to come complete the line again once they have. */
static void names_complete(void *ctx, const char *line, size_t point, struct completion *out)
{
    struct tui_trace *tr = ctx;
    struct trace_request defaults;
    tui_trace_defaults(tr, &defaults);
    tr->completing = !tr->names->complete(out, tr->assist, defaults.syntax, line, point);
}

void tui_trace_names_open(struct tui_trace *tr, const struct tui_names *names, void *arg,
                          const char *line)
{
    const struct prompt_calls calls = {.changed = names_changed,
                                       .accepted = names_accepted,
                                       .cancelled = cancelled,
                                       .complete = names_complete,
                                       .ctx = tr};
    link_up(tr);
    tr->completing = tr->looked = false;
    assist_begin(tr->assist);
    tr->names = names;
    tr->names_arg = arg;
    prompt_open(tr->tui->prompt, names->kind, names->mark, line, &calls);
    names_hint(tr, STYLE_DIM, KEYS_HINT, true);
    tui_touch(tr->tui);
}

/* ---- Enter */

static void replace_answered(void *arg, bool yes)
{
    struct tui_trace *tr = arg;
    if (!yes) {
        tui_trace_prompt(tr, tr->wanted);
        return;
    }
    if (tui_trace_runs(tr))
        session_stop(tr->s.session);
    tui_session_then(&tr->s, tr->wanted);
}

void tui_trace_submit(void *arg, const char *line)
{
    struct tui_trace *tr = arg;
    struct error err = {0};
    size_t offset = 0;
    if (line[strspn(line, " ")] == '\0')
        return;
    if (tui_trace_runs(tr)) {
        char *wanted = alloc_strdup(line); /* the line may be ours */
        free(tr->wanted);
        tr->wanted = wanted;
        tui_ask(tr->tui, "A trace is running. Stop it and start this one? (y/n) ", replace_answered,
                tr);
        return;
    }
    if (tui_session_waits(&tr->s, line) || tui_trace_start(tr, line, &offset, &err) == 0)
        return;
    tui_trace_prompt(tr, line);
    tr->error_shown = true;
    if (assist_line(tr->assist)->wrong)
        show_line(tr);
    else
        prompt_mark_error(tr->tui->prompt, offset, err.text);
}
