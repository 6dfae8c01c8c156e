/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Help of a view: what it lists means something there, once. */
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/screen.h"
#include "ui/widgets/page.h"
#include "world.h"
#include "world_trace.h"
#include "world_views.h"

/* The program's own keys. */
struct keys {
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
};

static void keys_open(struct keys *k)
{
    options_init(&k->options);
    keymap_init(&k->keymap);
    theme_init(&k->theme);
    diags_init(&k->diags);
    struct config config = {
        .diags = &k->diags, .options = &k->options, .keymap = &k->keymap, .theme = &k->theme};
    config_defaults(&config);
    assert_true(k->keymap.len > 0);
}

static void keys_close(struct keys *k)
{
    keymap_clear(&k->keymap);
    options_clear(&k->options);
    diags_clear(&k->diags);
}

#define LISTED 100

/* What help says of one view. */
struct listed {
    struct {
        enum action action;
        char arg[64];
        char keys[64];
    } rows[LISTED];
    size_t n;
};

static void text_of(const struct view_line *line, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < line->n_spans && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%.*s", (int)line->spans[i].len,
                                 line->spans[i].s);
}

/* A line with a name begins an action; another one goes on with its help. */
static void take_line(struct listed *out, const struct view_line *line)
{
    int action = -1;
    for (size_t i = 0; i < line->n_spans; i++) {
        const struct text_span *span = &line->spans[i];
        if (span->style == STYLE_NAME) {
            assert_true(out->n < LISTED);
            action = action_find(span->s, span->len);
            assert_true(action >= 0);
            out->rows[out->n].action = (enum action)action;
            out->rows[out->n].arg[0] = '\0';
            snprintf(out->rows[out->n].keys, sizeof out->rows[0].keys, "%.*s",
                     (int)line->spans[0].len, line->spans[0].s);
            out->n++;
        } else if (span->style == STYLE_DIM && action >= 0) {
            snprintf(out->rows[out->n - 1].arg, sizeof out->rows[0].arg, "%.*s", (int)span->len,
                     span->s);
        }
    }
}

static void help_of(const struct view_ops *ops, const struct keys *k, int columns,
                    struct view_page *page)
{
    const struct view_ops *help = view_shown_by(ACTION_HELP);
    void *state = test_calloc(1, help->state_bytes);
    help->from(state, ops);
    page_reset(page);
    page->keymap = &k->keymap;
    page->pane_rows = 24;
    page->pane_columns = columns;
    help->page(state, NULL, page);
    test_free(state);
}

static void list_of(const struct view_ops *ops, const struct keys *k, struct listed *out)
{
    struct view_page page;
    char text[400];
    page_init(&page);
    help_of(ops, k, 100, &page);
    *out = (struct listed){0};
    assert_true(page.n_lines > 0);
    text_of(&page.lines[0], text, sizeof text);
    assert_non_null(strstr(text, ops->title));
    for (size_t i = 1; i < page.n_lines; i++) {
        if (page.lines[i].heading)
            break;
        take_line(out, &page.lines[i]);
    }
    page_clear(&page);
}

/* The view's own table has an act of the view, the screen carries out its own here. */
static void check_handled(const struct view_ops *ops, enum action action)
{
    const struct action_row *row = &action_table[action];
    struct error err = {0};
    if (!view_takes(ops, action))
        fail_msg("%s: %s means nothing there", ops->name, row->name);
    if (row->owner == OWNER_VIEW && !view_act_of(ops, action))
        fail_msg("%s: has no act %s", ops->name, row->name);
    if (row->owner != OWNER_SCREEN && row->owner != OWNER_VIEW)
        return;
    struct model *m = world_new(WORLD_BUSY);
    struct screen *s = screen_new(ops->name, &err);
    assert_non_null(s);
    struct canvas c;
    struct tty_cursor cursor;
    canvas_init(&c, 24, 80, false);
    for (int tick = 1; tick <= 2; tick++) {
        struct want want = {0};
        screen_want(s, &want);
        world_answer(m, WORLD_BUSY, &want, tick);
        screen_update(s);
        screen_draw(s, m, &c, &cursor);
    }
    int rc = screen_act(s, m, action, "", &err);
    if (rc < 0 && (strstr(err.text, "means nothing") || strstr(err.text, "this view")))
        fail_msg("%s: %s: %s", ops->name, row->name, err.text);
    canvas_clear(&c);
    screen_free(s);
    model_free(m);
}

TEST(test_what_help_lists_is_handled_once)
{
    struct keys k;
    struct listed listed;
    keys_open(&k);
    for (size_t v = 0; view_registry[v]; v++) {
        const struct view_ops *ops = view_registry[v];
        list_of(ops, &k, &listed);
        for (size_t i = 0; i < listed.n; i++) {
            check_handled(ops, listed.rows[i].action);
            for (size_t j = 0; j < i; j++)
                if (listed.rows[i].action == listed.rows[j].action &&
                    strcmp(listed.rows[i].arg, listed.rows[j].arg) == 0)
                    fail_msg("%s: %s is listed twice", ops->name,
                             action_table[listed.rows[i].action].name);
        }
    }
    keys_close(&k);
}

/* Nothing that a view has an act for is left out, where a key of its context leads to it. */
TEST(test_help_lists_what_keys_do)
{
    struct keys k;
    struct listed listed;
    keys_open(&k);
    for (size_t v = 0; view_registry[v]; v++) {
        const struct view_ops *ops = view_registry[v];
        enum context context = view_context(ops);
        list_of(ops, &k, &listed);
        for (size_t i = 0; i < k.keymap.len; i++) {
            const struct binding *b = &k.keymap.bindings[i];
            size_t found = 0;
            if (b->context == CONTEXT_GLOBAL || !view_takes(ops, b->action) ||
                keymap_lookup(&k.keymap, context, b->key) != b)
                continue;
            for (size_t j = 0; j < listed.n; j++)
                found += listed.rows[j].action == b->action;
            if (found == 0)
                fail_msg("%s: %s is not listed", ops->name, action_table[b->action].name);
        }
    }
    keys_close(&k);
}

/* No line is cut. */
TEST(test_help_fits)
{
    static const int widths[] = {60, 80, 100, 160};
    struct keys k;
    struct view_page page;
    keys_open(&k);
    page_init(&page);
    for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
        help_of(view_find("calls"), &k, widths[w], &page);
        for (size_t i = 0; i < page.n_lines; i++)
            if (page.lines[i].width >= widths[w]) {
                char text[400];
                text_of(&page.lines[i], text, sizeof text);
                fail_msg("%d columns: %s", widths[w], text);
            }
    }
    page_clear(&page);
    keys_close(&k);
}

/* Keys that once stood in the wrong views. */
TEST(test_keys_of_other_views)
{
    static const struct {
        const char *view;
        enum action action;
        bool takes;
    } rows[] = {
        {"memory", ACTION_MAILBOX, false},
        {"memory", ACTION_MSACC, false},
        {"memory", ACTION_FOLD, false},
        {"cpus", ACTION_MSACC, true},
        {"process", ACTION_STATE, true},
        {"process", ACTION_TRACE_PROCESS, true},
        {"memory", ACTION_TRACE_PROCESS, false},
        {"top", ACTION_BY, false},
        {"top", ACTION_RAW_WAITS, false},
        {"top", ACTION_CALLS_TIME, false},
        {"calls", ACTION_CALLS_TIME, true},
        {"calls", ACTION_CALLS, true},
        {"memory", ACTION_CALLS, true},
        {"memory", ACTION_CALLS_STOP, true},
        {"armed", ACTION_BY, false},
        {"armed", ACTION_FOLLOW, true},
        {"armed", ACTION_CHOOSE_COLUMNS, false},
        {"top", ACTION_OWN, true},
        {"apps", ACTION_OWN, false},
        {"apps", ACTION_FOLLOW, false},
        {"log", ACTION_SORT_LEFT, false},
        {"spans", ACTION_RAW_WAITS, true},
        {"trace", ACTION_SORT, true},
        {"findings", ACTION_MAILBOX, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        struct screen *s = screen_new(rows[i].view, &err);
        int rc = screen_takes(s, rows[i].action, &err);
        if ((rc == 0) != rows[i].takes)
            fail_msg("%s: %s", rows[i].view, action_table[rows[i].action].name);
        assert_int_equal(rc == 0, err.text[0] == '\0');
        screen_free(s);
    }
}

/* What can be stopped says when there is something to stop, and each hint means something. */
TEST(test_hints_of_views)
{
    struct model *m = world_new(WORLD_BUSY);
    for (size_t v = 0; view_registry[v]; v++) {
        const struct view_ops *ops = view_registry[v];
        assert_int_equal(ops->stop != 0, ops->runs != NULL);
        assert_false(view_runs(ops, m));
        for (const struct view_hint *hint = ops->hints; hint && hint->does; hint++)
            if (!view_takes(ops, hint->action) || (hint->action == ACTION_STOP && !ops->stop))
                fail_msg("%s: hints at %s", ops->name, action_table[hint->action].name);
    }
    model_free(m);
}

/* The bottom row. */
static const char *hints_of(struct screen *s, struct model *m, struct canvas *c)
{
    struct tty_cursor cursor;
    screen_draw(s, m, c, &cursor);
    return world_row(c, c->rows - 1);
}

static bool says(const struct canvas *c, const char *text)
{
    bool found = false;
    for (int row = 0; row < c->rows; row++)
        found |= strstr(world_row(c, row), text) != NULL;
    return found;
}

static void check_key_of_accounting(struct model *m, const struct keys *k, const char *text)
{
    struct error err = {0};
    struct want want = {0};
    struct canvas c;
    struct screen *s = screen_new("cpus", &err);
    canvas_init(&c, 40, 120, false);
    screen_set_keymap(s, &k->keymap);
    screen_want(s, &want);
    world_answer(m, WORLD_BUSY, &want, 1);
    screen_update(s);
    (void)hints_of(s, m, &c);
    if (!says(&c, text))
        fail_msg("the view of CPUs does not say: %s", text);
    canvas_clear(&c);
    screen_free(s);
}

/* Texts name keys as they are bound, and what to type where none is. */
TEST(test_keys_in_texts)
{
    struct error err = {0};
    struct tty_cursor cursor;
    struct canvas c;
    struct keys k;
    struct key key;
    keys_open(&k);
    struct model *m = world_new(WORLD_BUSY);
    struct screen *s = screen_new("calls", &err);
    canvas_init(&c, 24, 80, false);
    screen_set_keymap(s, &k.keymap);
    screen_draw(s, m, &c, &cursor);
    assert_true(says(&c, "Press C to choose functions."));
    check_key_of_accounting(m, &k, "off. $: what each type of thread does");
    assert_true(screen_act(s, m, ACTION_NEXT_MATCH, "", &err) < 0);
    assert_string_equal(err.text, "no filter is set: / sets one");
    assert_true(key_parse("C", 1, &key));
    assert_true(keymap_unbind(&k.keymap, CONTEXT_GLOBAL, key));
    assert_true(key_parse("/", 1, &key));
    assert_true(keymap_unbind(&k.keymap, CONTEXT_GLOBAL, key));
    assert_true(key_parse("Z", 1, &key));
    assert_int_equal(keymap_bind(&k.keymap, CONTEXT_GLOBAL, key, ACTION_FILTER, "", &err), 0);
    err = (struct error){0};
    screen_update(s);
    screen_draw(s, m, &c, &cursor);
    assert_true(says(&c, "Type :calls to choose functions."));
    assert_true(screen_act(s, m, ACTION_NEXT_MATCH, "", &err) < 0);
    assert_string_equal(err.text, "no filter is set: Z sets one");
    screen_free(s);
    model_free(m);
    canvas_clear(&c);
    keys_close(&k);
}

/* A trace that has ended cannot be paused; a document without a filter only finds. */
TEST(test_hints_mean_something)
{
    static const struct {
        const char *view;
        enum trace_world trace;
        const char *has, *has_not;
    } rows[] = {
        {"trace", TRACED_NOT, "/ filter", "pause"},
        {"trace", TRACED_RUNNING, "p pause", "/ find"},
        {"trace", TRACED_TRIPPED, "/ filter", "pause"},
        {"apps", TRACED_NOT, "/ filter", "/ find"},
        {"schedulers", TRACED_NOT, "/ find", "/ filter"},
    };
    struct keys k;
    keys_open(&k);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        struct traced traced = {0};
        struct model *m = world_new(WORLD_BUSY);
        struct screen *s = screen_new(rows[i].view, &err);
        struct canvas c;
        canvas_init(&c, 24, 250, false);
        screen_set_keymap(s, &k.keymap);
        if (rows[i].trace != TRACED_NOT) {
            world_trace(&traced, rows[i].trace);
            model_set_trace(m, traced.log);
        }
        const char *hints = hints_of(s, m, &c);
        if (!strstr(hints, rows[i].has) || strstr(hints, rows[i].has_not))
            fail_msg("%s %d: %s", rows[i].view, (int)rows[i].trace, hints);
        screen_free(s);
        model_free(m);
        world_trace_clear(&traced);
        canvas_clear(&c);
    }
    keys_close(&k);
}

/* Nothing is to be opened on the row of the rest, nor on a page of numbers. */
TEST(test_hint_at_what_opens)
{
    static const struct {
        const char *view;
        enum action moves;
        bool opens;
    } rows[] = {{"load", ACTION_FIRST, true},
                {"load", ACTION_LAST, false},
                {"processes", ACTION_FIRST, true},
                {"memory", ACTION_FIRST, false}};
    struct keys k;
    keys_open(&k);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct model *m = world_new(WORLD_BUSY);
        struct error err = {0};
        struct screen *s = screen_new(rows[i].view, &err);
        struct canvas c;
        canvas_init(&c, 24, 200, false);
        screen_set_keymap(s, &k.keymap);
        for (int tick = 1; tick <= 2; tick++) {
            struct want want = {0};
            screen_want(s, &want);
            world_answer(m, WORLD_BUSY, &want, tick);
            screen_update(s);
            (void)hints_of(s, m, &c);
        }
        assert_int_equal(screen_act(s, m, rows[i].moves, "", &err), 1);
        const char *hints = hints_of(s, m, &c);
        if (!strstr(hints, "<Enter> open") == rows[i].opens)
            fail_msg("%s: %s", rows[i].view, hints);
        canvas_clear(&c);
        screen_free(s);
        model_free(m);
    }
    keys_close(&k);
}

/* While a list to choose from is open, other keys are typed or close it: none is offered. */
TEST(test_hints_of_menus)
{
    static const struct {
        enum action opens;
        const char *hints;
    } rows[] = {{ACTION_VIEWS, "<Enter> choose   <Esc> close"},
                {ACTION_CHOOSE_SORT, "<Enter> choose   <Esc> close"},
                {ACTION_CHOOSE_COLUMNS, "<Enter> choose   <Space> show or hide   <Esc> close"}};
    struct model *m = world_new(WORLD_BUSY);
    struct error err = {0};
    struct canvas c;
    struct keys k;
    keys_open(&k);
    canvas_init(&c, 24, 120, false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct screen *s = screen_new("processes", &err);
        screen_set_keymap(s, &k.keymap);
        assert_int_equal(screen_act(s, m, rows[i].opens, "", &err), 1);
        const char *hints = hints_of(s, m, &c);
        const size_t len = strlen(rows[i].hints);
        if (strncmp(hints, rows[i].hints, len) != 0 || hints[len + strspn(hints + len, " ")])
            fail_msg("%s: '%s'", action_table[rows[i].opens].name, hints);
        screen_click(s, m, 23, (int)len - 2, false);
        assert_int_equal(screen_context(s), CONTEXT_PROCESSES);
        screen_free(s);
    }
    canvas_clear(&c);
    model_free(m);
    keys_close(&k);
}

/* Where no view runs anything, the key stops the recording: the owner is asked, and asks first. */
TEST(test_stopping_the_recording)
{
    static const char *const views[] = {"top", "trace", "calls", "memory"};
    static const struct header_recording runs = {.state = RECORDING_RUNS};
    struct screen_request r;
    struct calls_log calls;
    struct keys k;
    keys_open(&k);
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        struct error err = {0};
        struct model *m = world_new(WORLD_BUSY);
        struct screen *s = screen_new(views[i], &err);
        struct canvas c;
        canvas_init(&c, 24, 250, false);
        screen_set_keymap(s, &k.keymap);
        assert_null(strstr(hints_of(s, m, &c), "stop"));
        screen_set_recording(s, &runs);
        assert_non_null(strstr(hints_of(s, m, &c), "x stop recording"));
        assert_int_equal(screen_act(s, m, ACTION_STOP, "", &err), 1);
        assert_true(screen_take_request(s, &r));
        assert_int_equal(r.kind, REQUEST_STOP_RECORDING);
        calls_log_init(&calls);
        world_calls(&calls, COUNTED_CALLS);
        model_set_calls(m, &calls);
        assert_null(strstr(hints_of(s, m, &c), "stop recording"));
        (void)screen_act(s, m, ACTION_STOP, "", &err);
        assert_false(screen_take_request(s, &r) && r.kind == REQUEST_STOP_RECORDING);
        screen_free(s);
        model_free(m);
        calls_log_clear(&calls);
        canvas_clear(&c);
    }
    keys_close(&k);
}

/* What others have set is not cleared: the key says whose it is and what clears it. */
TEST(test_tracing_of_others)
{
    static const struct {
        enum world world;
        int row;
        const char *says; /* NULL: it is this program's */
    } rows[] = {
        {WORLD_BUSY, 0, NULL},
        {WORLD_BUSY, 1,
         "session: set by session profiler \uFFFD[31m\uFFFD会話, and beamtop clears only its own. "
         "Stop it there, or trace:session_destroy(S) in a shell of the node, S from "
         "trace:session_info(all)"},
        {WORLD_ANOTHERS, 0,
         "another beamtop is connected: quit it there; a recorder: beamtop record stop"},
        {WORLD_ANOTHERS, 1,
         "control word: set by another beamtop, and beamtop clears only its own. Stop it there; a "
         "recorder: beamtop record stop"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        struct want want = {0};
        struct screen_request r;
        struct model *m = world_new(rows[i].world);
        struct screen *s = screen_new("armed", &err);
        struct tty_cursor cursor;
        struct canvas c;
        canvas_init(&c, 24, 80, false);
        screen_want(s, &want);
        world_answer(m, rows[i].world, &want, 1);
        screen_update(s);
        screen_draw(s, m, &c, &cursor);
        for (int down = 0; down < rows[i].row; down++)
            (void)screen_act(s, m, ACTION_DOWN, "", &err);
        int status = screen_act(s, m, ACTION_STOP, "", &err);
        assert_int_equal(status < 0, rows[i].says != NULL);
        if (rows[i].says)
            assert_string_equal(err.text, rows[i].says);
        else
            assert_true(screen_take_request(s, &r) && r.action == ACTION_ARMED_STOP);
        screen_free(s);
        model_free(m);
        canvas_clear(&c);
    }
}

/* Where nothing runs, it says which view has something to stop, by the keys that are bound. */
TEST(test_what_is_stopped_elsewhere)
{
    struct error err = {0};
    struct keys k;
    struct key key;
    struct calls_log calls;
    keys_open(&k);
    struct model *m = world_new(WORLD_BUSY);
    struct screen *s = screen_new("memory", &err);
    screen_set_keymap(s, &k.keymap);
    assert_true(screen_act(s, m, ACTION_STOP, "", &err) < 0);
    assert_string_equal(err.text,
                        "nothing to stop: no trace, call counts, samples or spans are running");
    err = (struct error){0};
    calls_log_init(&calls);
    world_calls(&calls, COUNTED_CALLS);
    model_set_calls(m, &calls);
    assert_true(screen_act(s, m, ACTION_STOP, "", &err) < 0);
    assert_string_equal(
        err.text, "this view runs nothing: what runs is stopped in active-tracing (9), calls (C)");
    assert_true(key_parse("C", 1, &key));
    assert_true(keymap_unbind(&k.keymap, CONTEXT_GLOBAL, key));
    assert_true(key_parse("9", 1, &key));
    assert_true(keymap_unbind(&k.keymap, CONTEXT_GLOBAL, key));
    assert_true(key_parse("Z", 1, &key));
    assert_int_equal(keymap_bind(&k.keymap, CONTEXT_GLOBAL, key, ACTION_VIEW, "calls", &err), 0);
    err = (struct error){0};
    screen_set_recording(s, &(struct header_recording){.state = RECORDING_RUNS});
    assert_true(screen_act(s, m, ACTION_STOP, "", &err) < 0);
    assert_string_equal(
        err.text,
        "this view runs nothing: what runs is stopped in active-tracing (a), calls (Z); the "
        "recording is stopped by R");
    screen_free(s);
    model_free(m);
    calls_log_clear(&calls);
    keys_close(&k);
}

static bool names_process(const struct view_link *link)
{
    return link->kind == TARGET_PROCESS || link->kind == TARGET_EVENT ||
           link->kind == TARGET_REQUEST || link->kind == TARGET_SPAN;
}

/* What says that it has no processes shows none. */
TEST(test_views_without_processes)
{
    for (size_t v = 0; view_registry[v]; v++) {
        const struct view_ops *ops = view_registry[v];
        struct model *m = world_new(WORLD_BUSY);
        struct view_page page;
        void *mine = test_calloc(1, ops->state_bytes + 1);
        page_init(&page);
        view_init(ops, mine);
        for (int tick = 1; tick <= 2; tick++) {
            struct want want = {0};
            view_want(ops, mine, 40, &want);
            world_answer(m, WORLD_BUSY, &want, tick);
        }
        page.pane_rows = 40;
        page.pane_columns = 120;
        ops->page(mine, m, &page);
        size_t n = 0;
        for (size_t i = 0; i < page.n_rows; i++)
            n += names_process(&page.rows[i].link);
        for (size_t i = 0; i < page.n_lines; i++)
            n += names_process(&page.lines[i].link);
        if (ops->no_processes && n > 0)
            fail_msg("%s: has %zu rows of processes", ops->name, n);
        if (ops->no_processes && view_opens(ops, TARGET_PROCESS))
            fail_msg("%s: is opened on a process", ops->name);
        page_clear(&page);
        if (ops->clear)
            ops->clear(mine);
        test_free(mine);
        model_free(m);
    }
}
