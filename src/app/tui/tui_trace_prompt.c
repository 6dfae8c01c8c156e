/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace prompt: what it shows of the line as it is typed, what Enter does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/ui/complete_trace.h"
#include "tui_names.h"
#include "tui_trace_start.h"

#define CANDIDATES 24 /* words listed for an unfinished line */
#define UNANSWERED 3u /* questions for them, of one line */
#define EMPTY_HINT                                                                                 \
    "module:function(Arguments) when Guard -> return; Elixir: Mod.fun(args) -> return\n"           \
    "Tab completes, Up recalls, Enter starts"

static const struct tui_naming *naming_of(const struct tui_trace *tr)
{
    return tr->s.tui->own[TUI_NAMES];
}

/* ---- what is known of the line */

/* Names the key of the match specification, which is hidden. */
static void put_spec_key(const struct tui_trace *tr, struct buf *out)
{
    char key[64];
    if (!tr->spec_shown && keymap_first_key_of(&tr->s.tui->settings.keymap, CONTEXT_PROMPT,
                                               ACTION_PROMPT_SPEC, NULL, key, sizeof key))
        buf_printf(out, "   %s: match specification", key);
}

static void set_trace_hint(struct tui_trace *tr, enum style style, struct buf *text)
{
    prompt_set_hint(tr->s.tui->prompt, style, buf_cstr(text));
    buf_clear(text);
}

/* The words that go on from the cursor, as Tab would list them; none that are not known yet. */
static void put_candidates(struct tui_trace *tr, struct buf *out)
{
    struct completion list;
    struct trace_request defaults;
    size_t point;
    const char *line = prompt_line(tr->s.tui->prompt, &point);
    if (tr->unanswered >= UNANSWERED)
        return;
    settings_request(&tr->s.tui->settings, false, &defaults);
    completion_init(&list);
    if (!complete_trace(&list, naming_of(tr)->assist, defaults.syntax, line, point))
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
    return line->wrong && !line->unfinished && naming_of(tr)->settled;
}

static void show_trace_line(void *arg)
{
    struct tui_trace *tr = arg;
    const struct assist_line *line = assist_line(naming_of(tr)->assist);
    struct prompt *prompt = tr->s.tui->prompt;
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
        set_trace_hint(tr, STYLE_DIM, &text);
        return;
    }
    if ((line->unfinished || line->nothing) && !tr->listed)
        put_candidates(tr, &text);
    buf_printf(&text, "%s\n", text.len == 0 ? line->sentence : "");
    if (tr->spec_shown)
        buf_printf(&text, "%s\n", line->spec);
    if (tr->is_several && *tr->of && *said && !line->wrong)
        buf_printf(&text, "on %s: ", tr->of);
    buf_puts(&text, *said ? said : "…");
    if (!line->wrong && !line->nothing)
        put_spec_key(tr, &text);
    set_trace_hint(tr, wrong ? STYLE_ERROR : STYLE_MESSAGE, &text);
    if (wrong)
        prompt_mark_error(prompt, line->offset, "");
}

/* ---- the prompt */

static void submit_prompted(void *tr, const char *line);

static void forget_trace_line(void *arg)
{
    struct tui_trace *tr = arg;
    tr->error_shown = tr->listed = false;
    tr->unanswered = 0;
    tr->why[0] = '\0';
}

static void toggle_spec(void *arg)
{
    struct tui_trace *tr = arg;
    tr->spec_shown = !tr->spec_shown;
    show_trace_line(tr);
}

/* Tab lists them: they do not stand in the hint, too. */
static void note_listed(void *arg, size_t n)
{
    struct tui_trace *tr = arg;
    tr->listed = n > 1;
    show_trace_line(tr);
}

static void choose_node(struct tui_trace *tr)
{
    struct tui *t = tr->s.tui;
    tr->names.of = t->several->live(t->own[TUI_SEVERAL], tr->names.of);
    const char *of = tr->names.of ? live_peer_node(tr->names.of) : NULL;
    snprintf(tr->of, sizeof tr->of, "%.60s", of ? of : "");
}

/* Of several nodes it goes on with the names of one that answers. */
static void follow_node(void *arg)
{
    struct tui_trace *tr = arg;
    const struct live *before = tr->names.of;
    if (!tr->is_several)
        return;
    choose_node(tr);
    if (tr->names.of != before)
        tui_names_follow(tr->s.tui, tr->names.of);
}

void tui_trace_prompt_lost(struct tui_trace *tr)
{
    if (tr->is_several)
        follow_node(tr);
    else
        tui_names_lost(tr->s.tui);
}

void tui_trace_prompt(struct tui_trace *tr, const char *initial)
{
    static const struct tui_names one = {.kind = PROMPT_TRACE,
                                         .line = NAMES_TRACE,
                                         .mark = "trace> ",
                                         .choose = follow_node,
                                         .complete = complete_trace,
                                         .accepted = submit_prompted,
                                         .show = show_trace_line,
                                         .changed = forget_trace_line,
                                         .listed = note_listed,
                                         .spec = toggle_spec};
    struct tui *t = tr->s.tui;
    tr->names = one;
    tr->is_several = tui_trace_is_several(tr, ACTION_TRACE);
    if (tr->is_several) {
        t->several->mark(t->own[TUI_SEVERAL], tr->mark, sizeof tr->mark);
        tr->names.mark = tr->mark;
        choose_node(tr);
    }
    tui_names_open(t, &tr->names, tr, initial);
}

void tui_trace_error(struct tui_trace *tr, const char *line, const char *why)
{
    struct error ignored = {0};
    struct trace_request request;
    size_t offset = 0;
    if (tui_trace_is_several(tr, ACTION_TRACE)) { /* the prompt would be of those */
        tui_message(tr->s.tui, STYLE_ERROR, "%s", why);
        return;
    }
    settings_request(&tr->s.tui->settings, false, &request);
    if (trace_request_parse(&request, REQUEST_TRACE, line, &offset, &ignored) == 0)
        offset = request.pattern_at;
    trace_request_clear(&request);
    tui_trace_prompt(tr, line);
    tr->error_shown = true; /* the answer about the line may contain where */
    if (strlen(why) < sizeof tr->why)
        strcpy(tr->why, why);
    prompt_mark_error(tr->s.tui->prompt, offset, why);
}

/* ---- Enter */

static void restart_answered(void *arg, bool yes)
{
    struct tui_trace *tr = arg;
    if (!yes) {
        tui_trace_prompt(tr, tr->wanted);
        return;
    }
    if (session_runs(tr->s.session))
        session_stop(tr->s.session);
    tui_session_then(&tr->s, tr->wanted);
}

/* How a line came, and what it is for. */
struct submitted {
    bool several, prompted;
};

static int start_line(struct tui_trace *tr, const char *line, struct submitted how, size_t *offset,
                      struct error *err)
{
    struct tui *t = tr->s.tui;
    return how.several ? t->several->start(t->own[TUI_SEVERAL], line, how.prompted, offset, err)
                       : tui_trace_start(tr, line, offset, err);
}

static void submit_line(struct tui_trace *tr, const char *line, struct submitted how)
{
    struct error err = {0};
    size_t offset = 0;
    if (line[strspn(line, " ")] == '\0')
        return;
    if (!how.several && session_runs(tr->s.session)) {
        char *wanted = alloc_strdup(line); /* the line may be tr->wanted */
        free(tr->wanted);
        tr->wanted = wanted;
        tui_ask(tr->s.tui, "A trace is running. Stop it and start this one? (y/n) ",
                restart_answered, tr);
        return;
    }
    if ((!how.several && tui_session_waits(&tr->s, line)) ||
        start_line(tr, line, how, &offset, &err) == 0)
        return;
    if (!how.several && tui_trace_is_several(tr, ACTION_TRACE)) {
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
        return;
    }
    tui_trace_prompt(tr, line);
    tr->error_shown = true;
    if (assist_line(naming_of(tr)->assist)->wrong)
        show_trace_line(tr);
    else
        prompt_mark_error(tr->s.tui->prompt, offset, err.text);
}

/* For what the prompt said: views come and go below it. */
static void submit_prompted(void *arg, const char *line)
{
    struct tui_trace *tr = arg;
    submit_line(tr, line, (struct submitted){.several = tr->is_several, .prompted = true});
}

void tui_trace_submit(void *arg, const char *line)
{
    struct tui_trace *tr = arg;
    submit_line(tr, line, (struct submitted){.several = tui_trace_is_several(tr, ACTION_TRACE)});
}

void tui_trace_begin(void *arg, const char *line)
{
    submit_line(arg, line, (struct submitted){0});
}
