/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prompts: a command line with completion, the filter as typed, questions. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "beamtop/base/text.h"
#include "app/command/trace_history.h"
#include "tui_internal.h"

/* ---- words that only the program knows */

static void put_words(void *ctx, enum word_kind kind, word_put *put, void *out)
{
    const struct tui *t = ctx;
    if (kind == WORD_VIEW || kind == WORD_ACTION)
        for (size_t i = 0; view_registry[i]; i++)
            put(out, view_registry[i]->name, view_registry[i]->help);
    if (kind == WORD_COLUMN)
        screen_orders(t->screen, put, out);
}

static void complete_command_line(void *ctx, const char *line, size_t point, struct completion *out)
{
    const struct word_provider words = {.each = put_words, .ctx = ctx};
    complete_command(out, line, point, &words);
}

/* ---- command */

static void command_accepted(void *ctx, const char *line)
{
    struct tui *t = ctx;
    struct action_call call;
    struct error err = {0};
    if (line[strspn(line, " ")] == '\0')
        return;
    if (screen_command(t->screen, line, &call, &err) == 0)
        tui_act(t, call.action, call.arg);
    else
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

void tui_prompt_command(struct tui *t, const char *initial)
{
    const struct prompt_calls calls = {
        .accepted = command_accepted, .complete = complete_command_line, .ctx = t};
    prompt_open(t->prompt, PROMPT_COMMAND, ":", initial, &calls);
}

/* ---- filter: applied while typed, from an empty line; Esc restores the last one */

static void filter_changed(void *ctx, const char *line)
{
    struct tui *t = ctx;
    struct error err = {0};
    char before[sizeof t->filter_text];
    size_t offset = 0;
    memcpy(before, t->filter_text, sizeof before);
    if (tui_set_filter(t, line, &offset, &err) != 0)
        prompt_mark_error(t->prompt, offset, err.text);
    memcpy(t->filter_text, before, sizeof before);
}

static void filter_accepted(void *ctx, const char *line)
{
    struct tui *t = ctx;
    struct error err = {0};
    char last_good[sizeof t->filter_text];
    memcpy(last_good, t->filter_text, sizeof last_good);
    if (tui_set_filter(t, line, NULL, &err) == 0)
        return;
    tui_message(t, STYLE_ERROR, "%s; the filter before stays", err.text);
    (void)tui_set_filter(t, last_good, NULL, &err);
}

static void filter_cancelled(void *ctx)
{
    struct tui *t = ctx;
    struct error ignored = {0};
    char before[sizeof t->filter_text];
    memcpy(before, t->filter_text, sizeof before);
    (void)tui_set_filter(t, before, NULL, &ignored);
}

void tui_prompt_filter(struct tui *t)
{
    const struct prompt_calls calls = {
        .changed = filter_changed,
        .accepted = filter_accepted,
        .cancelled = filter_cancelled,
        .ctx = t,
    };
    bool events = strcmp(screen_view(t->screen), "trace") == 0;
    prompt_open(t->prompt, events ? PROMPT_SEARCH : PROMPT_FILTER, "/", "", &calls);
}

/* ---- questions */

static void ask_accepted(void *ctx, const char *line)
{
    struct tui *t = ctx;
    t->answered(t->answered_arg, *line == 'y');
}

static void ask_cancelled(void *ctx)
{
    struct tui *t = ctx;
    t->answered(t->answered_arg, false);
}

void tui_ask(struct tui *t, const char *question, void (*answered)(void *arg, bool yes), void *arg)
{
    const struct prompt_calls calls = {
        .accepted = ask_accepted, .cancelled = ask_cancelled, .ctx = t};
    t->answered = answered;
    t->answered_arg = arg;
    prompt_open(t->prompt, PROMPT_ASK, question, "", &calls);
    tui_touch(t);
}

/* ---- history on disk: $XDG_STATE_HOME/beamtop or ~/.local/state/beamtop */

/* What is searched for among events is not written at all. */
static const struct {
    enum prompt_kind kind;
    const char *file;
} histories[] = {
    {PROMPT_COMMAND, "commands"},
    {PROMPT_FILTER, "filters"},
    {PROMPT_CALLS, "calls"},
    {PROMPT_SPANS, "spans"},
};

/* "" without a home. */
static void put_state_dir(const struct tui *t, char *out, size_t size)
{
    const char *state = t->env->xdg_state_home, *home = t->env->home;
    *out = '\0';
    if (state && *state)
        snprintf(out, size, "%s/beamtop", state);
    else if (home && *home)
        snprintf(out, size, "%s/.local/state/beamtop", home);
}

/* Makes the directories of a file that are missing; what fails shows when it is written. */
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

void tui_read_history(struct tui *t, enum prompt_kind kind, const char *file)
{
    char dir[512], path[800];
    struct error ignored = {0}; /* a history that cannot be read is an empty one */
    put_state_dir(t, dir, sizeof dir);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    if (*dir)
        (void)prompt_load_history(t->prompt, kind, path, &ignored);
}

void tui_write_history(struct tui *t, enum prompt_kind kind, const char *file)
{
    char dir[512], path[800];
    struct error err = {0};
    int most = option_int(&t->settings.options, OPTION_PROMPT_HISTORY);
    put_state_dir(t, dir, sizeof dir);
    if (!*dir || most == 0 || !t->prompt)
        return;
    snprintf(path, sizeof path, "%s/%s", dir, file);
    make_parents(path);
    bool (*leave_out)(const char *line) = NULL;
    if (kind == PROMPT_TRACE || kind == PROMPT_CALLS || kind == PROMPT_SPANS)
        leave_out = trace_history_has_values;
    else if (kind == PROMPT_COMMAND)
        leave_out = trace_history_command_has_values;
    if (prompt_save_history(t->prompt, kind, path, (size_t)most, leave_out, &err) != 0 && !t->tty)
        fprintf(stderr, "beamtop: %s\n", err.text);
}

void tui_load_history(struct tui *t)
{
    for (size_t i = 0; i < ARRAY_LEN(histories); i++)
        tui_read_history(t, histories[i].kind, histories[i].file);
}

void tui_save_history(struct tui *t)
{
    for (size_t i = 0; i < ARRAY_LEN(histories); i++)
        tui_write_history(t, histories[i].kind, histories[i].file);
}
