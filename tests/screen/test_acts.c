/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions, clicks and answers do to the screen. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <stdlib.h>

#include "../test.h"
#include "beamtop/model/column.h"
#include "beamtop/ui/config.h"
#include "beamtop/ui/screen.h"
#include "world.h"
#include "world_views.h"

struct fixture {
    struct model *m;
    struct screen *s;
    struct canvas c;
    int tick;
};

static void draw(struct fixture *f)
{
    struct tty_cursor cursor;
    screen_draw(f->s, f->m, &f->c, &cursor);
}

static struct want wanted(const struct fixture *f)
{
    struct want want;
    want = (struct want){0};
    screen_want(f->s, &want);
    return want;
}

static void answer(struct fixture *f)
{
    struct want want = wanted(f);
    world_answer(f->m, WORLD_BUSY, &want, ++f->tick);
    screen_update(f->s);
    draw(f);
}

static struct fixture start(const char *view)
{
    struct error err = {0};
    struct fixture f = {.m = world_new(WORLD_BUSY), .s = screen_new(view, &err), .tick = 0};
    assert_non_null(f.s);
    canvas_init(&f.c, 24, 80, false);
    draw(&f);
    answer(&f);
    answer(&f);
    return f;
}

static void end(struct fixture *f)
{
    canvas_clear(&f->c);
    screen_free(f->s);
    model_free(f->m);
}

static void act(struct fixture *f, enum action action, const char *arg)
{
    struct error err = {0};
    if (screen_act(f->s, f->m, action, arg, &err) != 1)
        fail_msg("%s %s: %s", action_table[action].name, arg, err.text);
    draw(f);
}

static int refused(struct fixture *f, enum action action, const char *arg)
{
    struct error err = {0};
    int status = screen_act(f->s, f->m, action, arg, &err);
    assert_true(status >= 0 || err.text[0]);
    return status;
}

TEST(test_every_action_of_the_screen_is_done)
{
    for (int i = 0; i < ACTIONS; i++) {
        struct fixture f = start("top");
        int status = refused(&f, (enum action)i, "");
        enum action_owner owner = action_table[i].owner;
        if ((owner == OWNER_SCREEN || owner == OWNER_VIEW) != (status != 0))
            fail_msg("%s: %d", action_table[i].name, status);
        end(&f);
    }
}

/* What the screen looks up by what views say of themselves: one view for each. */
TEST(test_views_for_links_and_actions)
{
    static const enum link_kind links[] = {TARGET_PROCESS, TARGET_NAME, TARGET_APP, TARGET_FINDING};
    static const enum action actions[] = {ACTION_ARMED, ACTION_FOLLOW, ACTION_HELP};
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        int n = 0;
        for (size_t v = 0; view_registry[v]; v++)
            n += view_opens(view_registry[v], links[i]);
        assert_int_equal(n, 1);
        assert_true(links[i] == TARGET_FINDING || view_opening(links[i])->open);
    }
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        int n = 0;
        for (size_t v = 0; view_registry[v]; v++)
            n += view_registry[v]->shown_by == actions[i];
        assert_int_equal(n, 1);
    }
    assert_non_null(view_shown_by(ACTION_FOLLOW)->open);
    assert_non_null(view_opening(TARGET_PROCESS)->ask);
    for (size_t v = 0; view_registry[v]; v++)
        for (const struct view_act *act = view_registry[v]->acts; act && act->run; act++)
            assert_int_equal(action_table[act->action].owner, OWNER_VIEW);
}

/* Whatever is done while a list lies over the panes, the list and the view below it agree. */
TEST(test_a_list_to_choose_from_ends_with_other_actions)
{
    static const enum action lists[] = {ACTION_CHOOSE_COLUMNS, ACTION_CHOOSE_SORT};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (int i = 0; i < ACTIONS; i++) {
            struct fixture f = start("top");
            act(&f, ACTION_SPLIT, "");
            act(&f, ACTION_VIEW, "memory");
            act(&f, ACTION_NEXT_PANE, "");
            act(&f, lists[l], "");
            assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
            (void)refused(&f, (enum action)i, "");
            (void)refused(&f, ACTION_VIEW, i % 2 ? "memory" : "apps");
            screen_update(f.s);
            draw(&f);
            (void)refused(&f, ACTION_MARK, "");
            (void)refused(&f, ACTION_ENTER, "");
            draw(&f);
            end(&f);
        }
    struct fixture f = start("top");
    act(&f, ACTION_CHOOSE_COLUMNS, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_MARK, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    act(&f, ACTION_VIEW, "memory");
    assert_int_equal(screen_context(f.s), CONTEXT_DOC);
    end(&f);
}

TEST(test_in_and_back)
{
    struct fixture f = start("top");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_DOWN, "");
    struct view_link there = screen_link(f.s);
    assert_int_equal(there.pid.id, 9120);
    act(&f, ACTION_ENTER, "");
    assert_string_equal(screen_view(f.s), "process");
    assert_int_equal(screen_context(f.s), CONTEXT_DOC);
    struct want want = wanted(&f);
    assert_true(want.needs & NEED(PROCESS));
    assert_false(want.needs & NEED(SCAN));
    assert_int_equal(want.process.pid.id, 9120);
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "processes");
    assert_int_equal(screen_link(f.s).pid.id, 9120);
    act(&f, ACTION_BACK, ""); /* nothing below: stays */
    assert_string_equal(screen_view(f.s), "processes");
    struct screen_request r;
    while (screen_take_request(f.s, &r))
        assert_int_not_equal(r.kind, REQUEST_UNFILTER);
    screen_set_filter(f.s, "shop", NULL, -1);
    act(&f, ACTION_BACK, "");
    assert_true(screen_take_request(f.s, &r));
    assert_int_equal(r.kind, REQUEST_UNFILTER);
    end(&f);
}

TEST(test_a_view_comes_back_as_it_was)
{
    struct fixture f = start("top");
    act(&f, ACTION_SORT, "memory");
    act(&f, ACTION_VIEW, "memory");
    assert_true(wanted(&f).needs & NEED(ALLOC));
    act(&f, ACTION_VIEW, "top");
    assert_string_equal(wanted(&f).scan.sort_key, "memory_bytes");
    end(&f);
}

TEST(test_sort)
{
    static const struct {
        const char *name;
        enum action action;
        const char *arg, *key;
        bool by_delta, ascending;
    } rows[] = {
        {"as it starts", ACTION_UP, "", "reductions_per_s", true, false},
        {"by a short name", ACTION_SORT, "msgq", "message_queue_len", false, false},
        {"again: as it is", ACTION_SORT, "message_queue_len", "message_queue_len", false, false},
        {"reversed", ACTION_SORT_REVERSE, "", "message_queue_len", false, true},
        {"again: not reversed", ACTION_SORT, "msgq", "message_queue_len", false, false},
        {"by its change", ACTION_SORT_DELTA, "", "message_queue_len", true, false},
        {"the column beside", ACTION_SORT_RIGHT, "", "message_queue_len_per_s", true, false},
        {"and back", ACTION_SORT_LEFT, "", "message_queue_len", false, false},
    };
    struct fixture f = start("top");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        act(&f, rows[i].action, rows[i].arg);
        struct want want = wanted(&f);
        if (strcmp(want.scan.sort_key, rows[i].key) != 0 ||
            want.scan.by_delta != rows[i].by_delta || want.scan.ascending != rows[i].ascending)
            fail_msg("%s: %s, by delta %d, ascending %d", rows[i].name, want.scan.sort_key,
                     want.scan.by_delta, want.scan.ascending);
        answer(&f);
    }
    assert_int_equal(refused(&f, ACTION_SORT, "memry"), ERR_USAGE);
    act(&f, ACTION_SORT, "application"); /* sorted here: the target does not rank by it */
    assert_string_equal(wanted(&f).scan.sort_key, "application");
    answer(&f);
    assert_int_equal(refused(&f, ACTION_COLUMNS, "pid,nmae"), ERR_USAGE);
    end(&f);
}

/* As a setting of the start asks for it: nothing was drawn, and the column may be hidden. */
TEST(test_order_is_reversed_before_anything_is_drawn)
{
    static const char *const columns[] = {"reductions_per_s", "name", "heap"};
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        struct error err = {0};
        struct fixture f = {.m = world_new(WORLD_BUSY), .s = screen_new("top", &err), .tick = 0};
        assert_int_equal(screen_act(f.s, f.m, ACTION_SORT, columns[i], &err), 1);
        bool before = wanted(&f).scan.ascending;
        assert_int_equal(screen_act(f.s, f.m, ACTION_SORT_REVERSE, "", &err), 1);
        assert_true(wanted(&f).scan.ascending != before);
        canvas_init(&f.c, 24, 80, false);
        answer(&f);
        act(&f, ACTION_SORT_REVERSE, "");
        assert_true(wanted(&f).scan.ascending == before);
        end(&f);
    }
}

TEST(test_rows_that_are_read_are_kept)
{
    struct fixture f = start("top");
    assert_int_equal(wanted(&f).scan.n_pids, 0);
    act(&f, ACTION_DOWN, "");
    answer(&f);
    assert_true(wanted(&f).scan.n_pids >= 16);
    act(&f, ACTION_FIRST, "");
    answer(&f);
    assert_int_equal(wanted(&f).scan.n_pids, 0);
    act(&f, ACTION_MARK, "");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(wanted(&f).scan.n_pids, 1);
    assert_int_equal(wanted(&f).scan.pids[0].id, 41);
    end(&f);
}

TEST(test_follow)
{
    struct fixture f = start("top");
    act(&f, ACTION_FOLLOW, "");
    assert_int_equal(wanted(&f).scan.n_pids, 1);
    act(&f, ACTION_FOLLOW, "");
    assert_int_equal(wanted(&f).scan.n_pids, 0);
    end(&f);
    struct fixture g = start("top");
    act(&g, ACTION_VIEW, "top no_such_name");
    answer(&g);
    answer(&g);
    struct want want = wanted(&g);
    assert_true(want.needs & NEED(PROCESS));
    assert_string_equal(want.process.name, "no_such_name");
    end(&g);
}

TEST(test_more_rows_are_wanted_further_down)
{
    struct fixture f = start("top");
    int rows = wanted(&f).scan.rows;
    act(&f, ACTION_PAGE_DOWN, "");
    assert_true(wanted(&f).scan.rows > rows);
    for (int i = 0; i < 100; i++)
        act(&f, ACTION_PAGE_DOWN, "");
    assert_true(wanted(&f).scan.rows <= LIMIT_ROWS);
    end(&f);
}

static bool taken(struct fixture *f, enum screen_request_kind kind, struct screen_request *out)
{
    while (screen_take_request(f->s, out))
        if (out->kind == kind)
            return true;
    return false;
}

static const struct {
    enum action action;
    enum screen_request_kind kind;
    void (*answer)(struct model *m, const struct etf_pid *pid, bool ask);
    const char *panel;
} copies[] = {
    {ACTION_MAILBOX, REQUEST_MAILBOX, world_mailbox, "Mailbox"},
    {ACTION_STATE, REQUEST_STATE, world_state, "State"},
    {ACTION_COLLECT, REQUEST_COLLECT, world_collect, "Garbage collection"},
};

TEST(test_requests)
{
    struct fixture f = start("top");
    struct screen_request r;
    assert_false(screen_take_request(f.s, &r));
    for (size_t i = 0; i < ARRAY_LEN(copies); i++)
        for (int again = 0; again < 3; again++) {
            act(&f, copies[i].action, "");
            assert_string_equal(screen_view(f.s), "process");
            assert_true(taken(&f, copies[i].kind, &r));
            assert_int_equal(r.pid.id, 41);
            copies[i].answer(f.m, &r.pid, true);
        }
    act(&f, ACTION_VIEW, "log");
    assert_true(refused(&f, ACTION_STATE, "") < 0);
    assert_true(refused(&f, ACTION_COLLECT, "") < 0);
    end(&f);
}

static bool is_on_screen(const struct fixture *f, const char *text)
{
    for (int row = 0; row < f->c.rows; row++)
        if (strstr(world_row(&f->c, row), text))
            return true;
    return false;
}

/* What was known of it stays, and is not taken for what it is now. */
TEST(test_a_process_that_ends)
{
    struct fixture f = start("top");
    act(&f, ACTION_VIEW, "process shop_mailbox");
    answer(&f);
    assert_true(is_on_screen(&f, "shop_mailbox:init/1"));
    for (int again = 0; again < 2; again++) {
        world_process_ends(f.m);
        screen_update(f.s);
        draw(&f);
        assert_true(is_on_screen(&f, "No process has this name any more."));
        assert_true(is_on_screen(&f, "shop_mailbox:init/1"));
    }
    act(&f, ACTION_VIEW, "process never_was");
    struct want want = wanted(&f);
    model_asked(f.m, QUESTION_PROCESS, &want.process);
    world_process_ends(f.m);
    screen_update(f.s);
    draw(&f);
    assert_true(is_on_screen(&f, "No process is registered as never_was."));
    assert_false(is_on_screen(&f, "shop_mailbox:init/1"));
    end(&f);
}

/* Two views of a process, each of another: a copy of the one is not shown as the other's. */
TEST(test_copies_of_two_processes)
{
    static const struct etf_pid one = {.id = 81}, other = {.id = 82};
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        struct fixture f = start("top");
        canvas_resize(&f.c, 120, 120);
        act(&f, ACTION_VIEW, "process <0.81.0>");
        answer(&f);
        assert_false(is_on_screen(&f, copies[i].panel));
        act(&f, copies[i].action, "");
        assert_true(is_on_screen(&f, "waiting for the answer"));
        copies[i].answer(f.m, &other, false); /* ours was refused, since this was under way */
        screen_update(f.s);
        draw(&f);
        assert_false(is_on_screen(&f, "waiting for the answer"));
        act(&f, copies[i].action, "");
        copies[i].answer(f.m, &one, false);
        screen_update(f.s);
        draw(&f);
        assert_true(is_on_screen(&f, copies[i].panel));
        copies[i].answer(f.m, &other, false);
        screen_update(f.s);
        draw(&f);
        assert_false(is_on_screen(&f, copies[i].panel));
        act(&f, copies[i].action, "");
        assert_true(is_on_screen(&f, "waiting for the answer"));
        model_set_link(f.m, LINK_LOST, "the node closed it");
        screen_update(f.s);
        draw(&f);
        assert_false(is_on_screen(&f, copies[i].panel));
        end(&f);
    }
}

/* What was answered last is of the process shown before. */
TEST(test_a_name_that_is_not_answered_yet)
{
    struct fixture f = start("top");
    struct screen_request r;
    act(&f, ACTION_VIEW, "process shop_mailbox");
    answer(&f);
    act(&f, ACTION_MAILBOX, "");
    assert_true(taken(&f, REQUEST_MAILBOX, &r));
    assert_int_equal(r.pid.id, 81);
    act(&f, ACTION_VIEW, "process elsewhere");
    struct error err = {0};
    assert_true(screen_act(f.s, f.m, ACTION_MAILBOX, "", &err) < 0);
    assert_non_null(strstr(err.text, "elsewhere"));
    assert_false(taken(&f, REQUEST_MAILBOX, &r));
    end(&f);
}

static double mib_behind(const char *line, const char *label)
{
    const char *at = strstr(line, label);
    char *end = NULL;
    double n = at ? strtod(at + strlen(label), &end) : 0;
    if (!at)
        return 0;
    end += strspn(end, " ");
    return *end == 'G' ? n * 1024 : *end == 'M' ? n : *end == 'K' ? n / 1024 : NAN;
}

/* However many have room: those that are named and the others are all of it. */
TEST(test_types_of_memory_add_up)
{
    static const char *const types[] = {"processes", "binary", "ets",    "code",
                                        "atom",      "other",  "runtime"};
    struct fixture f = start("top");
    for (int columns = 80; columns <= 240; columns += 5) {
        char line[2000] = "";
        double sum = 0;
        canvas_resize(&f.c, 24, columns);
        draw(&f);
        for (int i = 0; i < columns; i++)
            strncat(line, canvas_at(&f.c, 1, i)->text, sizeof line - strlen(line) - 1);
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            sum += mib_behind(line, types[i]);
        double total = mib_behind(line, "memory");
        if (!(fabs(sum - total) < total / 100))
            fail_msg("%g MiB, not %g: %s", sum, total, line);
        if (strstr(line, "atom") && (!strstr(line, "runtime") || !strstr(line, "rss")))
            fail_msg("all types, with another name for the rest: %s", line);
    }
    end(&f);
}

/* A line of the log is shown whole, in as many rows as it takes, which a filter keeps together. */
TEST(test_a_long_line_of_the_log)
{
    static const char text[] =
        "scan and others every 00:03:35: costs the node 4.3 s, the header 15 ms, cost limit 2% "
        "(`budget`); the limit itself asks for every 00:20:00";
    struct fixture f = start("log");
    struct error err = {0};
    struct regex *re = NULL;
    size_t offset;
    model_journal(f.m, 1700000300000000, true, "%s", text);
    assert_int_equal(regex_new(&re, "header 15", &offset, &err), 0);
    for (int filtered = 0; filtered < 2; filtered++) {
        char shown[400] = "";
        screen_set_filter(f.s, filtered ? "header 15" : "", filtered ? re : NULL, -1);
        draw(&f);
        for (int row = 7; row < 10; row++) {
            const char *part = world_row(&f.c, row) + 22;
            size_t len = strlen(part), used = strlen(shown);
            while (len > 0 && part[len - 1] == ' ')
                len--;
            snprintf(shown + used, sizeof shown - used, "%s%.*s", used > 0 ? " " : "", (int)len,
                     part);
        }
        assert_string_equal(shown, text);
    }
    regex_free(re);
    end(&f);
}

TEST(test_a_counted_function_asks_for_its_trace)
{
    static const struct {
        const char *by, *text; /* of the first row; NULL: it opens another view */
    } rows[] = {{"function", "Shop.Schema.Registry.get/1"},
                {"module", "'Elixir.Shop.Schema.Registry':_"},
                {"application", NULL}};
    struct calls_log log;
    world_calls(&log, COUNTED_CALLS);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f = start("calls");
        struct screen_request r;
        model_set_calls(f.m, &log);
        act(&f, ACTION_BY, rows[i].by);
        while (screen_take_request(f.s, &r))
            ;
        if (rows[i].text)
            assert_string_equal(screen_link(f.s).name, rows[i].text);
        act(&f, ACTION_ENTER, "");
        assert_int_equal(taken(&f, REQUEST_ACT, &r), rows[i].text != NULL);
        assert_true(!rows[i].text || r.action == ACTION_TRACE_ROW);
        if (!rows[i].text)
            assert_string_equal(screen_view(f.s), "tree");
        assert_true(!rows[i].text || refused(&f, ACTION_BY, "label") < 0);
        end(&f);
    }
    calls_log_clear(&log);
}

/* Nothing of the window's own memory is left in what is shown. */
TEST(test_a_window_is_copied)
{
    char module[] = "shop";
    struct calls_function row = {.module = {module, 4}, .function = {module, 4}, .calls = 3};
    const struct calls_window w = {.number = 7, .rows = &row, .n_rows = 1};
    struct calls_log log;
    calls_log_init(&log);
    assert_false(calls_log_runs(&log));
    calls_log_begin(&log, "shop:_");
    assert_true(calls_log_runs(&log));
    calls_log_window(&log, &w);
    memset(module, 'x', 4);
    row = (struct calls_function){0};
    assert_int_equal(log.window.rows[0].calls, 3);
    assert_memory_equal(log.window.rows[0].module.s, "shop", 4);
    calls_log_begin(&log, "");
    assert_false(log.has_window);
    calls_log_clear(&log);
}

TEST(test_findings_open_and_close)
{
    struct findings_shown shown;
    struct fixture f = start("findings");
    world_findings(&shown, FOUND_SOME);
    model_set_findings(f.m, &shown);
    answer(&f);
    uint64_t first = screen_link(f.s).id;
    assert_int_equal(screen_link(f.s).kind, TARGET_FINDING);
    act(&f, ACTION_ENTER, "");                    /* it names nothing else */
    assert_int_equal(screen_link(f.s).id, first); /* the cursor stays */
    act(&f, ACTION_DOWN, "");
    uint64_t second = screen_link(f.s).id;
    assert_int_not_equal(second, first);
    act(&f, ACTION_FOLD, ""); /* the evidence of one that names a process */
    assert_int_equal(screen_link(f.s).id, second);
    act(&f, ACTION_UP, "");
    act(&f, ACTION_FOLD, "");
    assert_int_equal(screen_link(f.s).id, first);
    end(&f);
}

static enum style findings_style(struct fixture *f)
{
    draw(f);
    return canvas_at(&f->c, 23, 2)->style;
}

/* Which findings were looked at counts, not how many. */
TEST(test_the_number_of_findings_stands_out_for_new_ones)
{
    struct findings_shown shown;
    struct finding items[2];
    struct fixture f = start("top");
    world_findings(&shown, FOUND_SOME);
    memcpy(items, &shown.found.items[1], sizeof items);
    struct finding other = shown.found.items[3];
    shown.found.items = items;
    shown.found.len = ARRAY_LEN(items);
    model_set_findings(f.m, &shown);
    assert_int_equal(findings_style(&f), STYLE_WARN);
    act(&f, ACTION_VIEW, "findings");
    act(&f, ACTION_VIEW, "top");
    assert_int_equal(findings_style(&f), STYLE_VALUE);
    shown.found.len = 1; /* one goes */
    assert_int_equal(findings_style(&f), STYLE_VALUE);
    items[1] = other; /* and another comes */
    shown.found.len = 2;
    assert_int_equal(findings_style(&f), STYLE_WARN);
    act(&f, ACTION_VIEW, "findings");
    act(&f, ACTION_VIEW, "top");
    items[0].severity = FINDING_ACT;
    assert_int_equal(findings_style(&f), STYLE_ALARM);
    end(&f);
}

/* On the finding of that rule. */
static struct fixture start_on_finding(const char *rule, struct findings_shown *shown)
{
    struct fixture f = start("findings");
    world_findings(shown, FOUND_SOME);
    model_set_findings(f.m, shown);
    answer(&f);
    for (size_t i = 0; i < shown->found.len; i++) {
        const struct finding *found = findings_find(shown, screen_link(f.s).id);
        if (found && strcmp(found->rule, rule) == 0)
            return f;
        act(&f, ACTION_DOWN, "");
    }
    fail_msg("the cursor does not come to %s", rule);
    return f;
}

static bool is_asked(struct screen *s, enum screen_request_kind kind, struct screen_request *r)
{
    while (screen_take_request(s, r))
        if (r->kind == kind)
            return true;
    return false;
}

/* What a finding names is opened by Enter: a process, a table's owner, an application, a function.
 */
TEST(test_enter_opens_what_a_finding_names)
{
    static const struct {
        const char *rule, *view;
    } rows[] = {{"mailbox_growth", "process"},
                {"ets_growth", "process"},
                {"contention", "tree"},
                {"repository_lookup", "findings"},
                {"headroom", "findings"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct findings_shown shown;
        struct screen_request r;
        struct fixture f = start_on_finding(rows[i].rule, &shown);
        uint64_t id = screen_link(f.s).id;
        (void)is_asked(f.s, REQUEST_ACT, &r);
        act(&f, ACTION_ENTER, "");
        assert_string_equal(screen_view(f.s), rows[i].view);
        bool traces = is_asked(f.s, REQUEST_ACT, &r) && r.action == ACTION_TRACE_ROW;
        assert_int_equal(traces, strcmp(rows[i].rule, "repository_lookup") == 0);
        if (strcmp(rows[i].view, "findings") != 0)
            act(&f, ACTION_BACK, "");
        assert_int_equal(screen_link(f.s).id, id);
        end(&f);
    }
}

TEST(test_the_mailbox_of_a_finding)
{
    struct findings_shown shown;
    struct screen_request r;
    struct fixture f = start_on_finding("mailbox_growth", &shown);
    act(&f, ACTION_MAILBOX, "");
    assert_string_equal(screen_view(f.s), "process");
    assert_true(is_asked(f.s, REQUEST_MAILBOX, &r));
    assert_int_equal(r.pid.id, 41);
    end(&f);
    f = start_on_finding("repository_lookup", &shown);
    assert_true(refused(&f, ACTION_MAILBOX, "") < 0);
    end(&f);
}

TEST(test_owners)
{
    static const char *const words[] = {"application", "supervisor", "module", "name",
                                        "label",       "kin",        "kind"};
    struct fixture f = start("owners");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        act(&f, ACTION_BY, words[i]);
    act(&f, ACTION_BY, ""); /* round */
    assert_true(refused(&f, ACTION_BY, "colour") < 0);
    assert_true(wanted(&f).needs & NEED(APPS));
    act(&f, ACTION_BY, "name");
    assert_false(wanted(&f).needs & NEED(APPS));
    act(&f, ACTION_FIRST, "");
    assert_true(refused(&f, ACTION_FOLD, "") < 0);
    end(&f);
}

/* Opens the rows of a list one after the other: an application is a tree, several processes open
   below their row and close again, one process is opened and known to what acts on processes. */
static void open_rows(struct fixture *f, const char *view, const char *by)
{
    struct error err = {0};
    act(f, ACTION_FIRST, "");
    for (int row = 0; row < 4; row++) {
        const struct view_link at = screen_link(f->s);
        if (at.kind == TARGET_NONE && screen_act(f->s, f->m, ACTION_ENTER, "", &err) >= 0)
            fail_msg("%s by %s: Enter says nothing of a row without a link", view, by);
        if (at.kind == TARGET_NONE)
            break;
        act(f, ACTION_ENTER, "");
        if (at.kind == TARGET_KIN) {
            act(f, ACTION_DOWN, "");
            if (screen_link(f->s).kind != TARGET_PROCESS)
                fail_msg("%s by %s: no process below row %d", view, by, row);
            act(f, ACTION_UP, "");
            act(f, ACTION_ENTER, "");
            assert_int_equal(screen_link(f->s).kind, TARGET_KIN);
        } else {
            assert_string_equal(screen_view(f->s), at.kind == TARGET_APP ? "tree" : "process");
            act(f, ACTION_BACK, "");
        }
        if (at.kind == TARGET_PROCESS) {
            assert_int_equal(screen_takes(f->s, ACTION_COLLECT, &err), 0);
            act(f, ACTION_COLLECT, "");
            assert_string_equal(screen_view(f->s), "process");
            act(f, ACTION_BACK, "");
        }
        assert_string_equal(screen_view(f->s), view);
        act(f, ACTION_DOWN, "");
    }
}

TEST(test_rows_of_owners_open)
{
    static const char *const words[] = {"application", "supervisor", "module", "name",
                                        "label",       "kin",        "kind"};
    static const char *const views[] = {"load", "heaps"};
    for (size_t v = 0; v < ARRAY_LEN(views); v++)
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
            struct fixture f = start(views[v]);
            struct error err = {0};
            if (screen_act(f.s, f.m, ACTION_BY, words[i], &err) == 1) {
                answer(&f);
                answer(&f);
                open_rows(&f, views[v], words[i]);
            } else {
                assert_string_equal(words[i], "supervisor"); /* unknown of heaps */
            }
            end(&f);
        }
}

/* A row opens the process that is traced, else the one that is told. */
TEST(test_armed_rows_open_processes)
{
    static const struct {
        int row;
        enum link_kind kind;
        uint32_t pid;
    } rows[] = {{0, TARGET_NONE, 0},      /* a session */
                {3, TARGET_PROCESS, 61},  /* the system tracer */
                {5, TARGET_PROCESS, 60},  /* whom system_monitor tells */
                {6, TARGET_NONE, 0},      /* a breakpoint that does not say whom it tells */
                {9, TARGET_PROCESS, 412}, /* a meta tracer */
                {13, TARGET_PROCESS, 91}, /* what follows new processes */
                {15, TARGET_PROCESS, 77}, /* a traced one, not its tracer */
                {16, TARGET_PROCESS, 512}};
    struct fixture f = start("top");
    act(&f, ACTION_ARMED, "");
    assert_string_equal(screen_view(f.s), "active-tracing");
    assert_int_equal(wanted(&f).needs & (NEED(SCAN) | NEED(ARMED)), NEED(ARMED));
    answer(&f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        act(&f, ACTION_FIRST, "");
        for (int down = 0; down < rows[i].row; down++)
            act(&f, ACTION_DOWN, "");
        if (screen_link(f.s).kind != rows[i].kind)
            fail_msg("row %d: kind %d", rows[i].row, (int)screen_link(f.s).kind);
        if (rows[i].pid)
            assert_int_equal(screen_link(f.s).pid.id, rows[i].pid);
    }
    act(&f, ACTION_ENTER, "");
    assert_string_equal(screen_view(f.s), "process");
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "active-tracing");
    end(&f);
}

/* Counters before OTP 27 have no tracer: they are ours while something of ours stands. */
TEST(test_own_counters_are_not_of_others)
{
    static const struct {
        bool ours, counts, self;
    } cases[] = {{true, false, true}, {false, true, true}, {false, false, false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = start("armed");
        struct calls_log log;
        struct error err = {0};
        calls_log_init(&log);
        if (cases[i].counts) {
            calls_log_begin(&log, "shop:_");
            model_set_calls(f.m, &log);
        }
        world_counters(f.m, cases[i].ours);
        screen_update(f.s);
        draw(&f);
        assert_true(is_on_screen(&f, "shop:sell/1"));
        assert_int_equal(is_on_screen(&f, "self"), cases[i].self);
        (void)screen_act(f.s, f.m, ACTION_STOP, "", &err);
        assert_int_equal(strstr(err.text, "set by another tool") != NULL, !cases[i].self);
        calls_log_clear(&log);
        end(&f);
    }
}

TEST(test_panes)
{
    struct fixture f = start("top");
    assert_true(refused(&f, ACTION_CLOSE, "") < 0);
    assert_true(refused(&f, ACTION_SPLIT, "up") < 0);
    act(&f, ACTION_SPLIT, "below");
    act(&f, ACTION_VIEW, "apps");
    assert_int_equal(wanted(&f).needs & (NEED(SCAN) | NEED(APPS)), NEED(SCAN) | NEED(APPS));
    act(&f, ACTION_ZOOM, "");
    assert_int_equal(wanted(&f).needs & (NEED(SCAN) | NEED(APPS)), NEED(APPS));
    act(&f, ACTION_ZOOM, "");
    act(&f, ACTION_NEXT_PANE, "");
    assert_string_equal(screen_view(f.s), "processes");
    screen_click(f.s, f.m, 17, 5, false);
    assert_string_equal(screen_view(f.s), "applications");
    while (refused(&f, ACTION_SPLIT, "below") > 0 || refused(&f, ACTION_SPLIT, "right") > 0)
        draw(&f);
    while (refused(&f, ACTION_CLOSE, "") > 0)
        draw(&f);
    answer(&f);
    end(&f);
}

/* The action that the owner is asked to carry out; ACTIONS: none. */
static enum action asked_for(struct fixture *f)
{
    struct screen_request r;
    return taken(f, REQUEST_ACT, &r) ? r.action : ACTIONS;
}

TEST(test_leaving)
{
    struct fixture f = start("top");
    act(&f, ACTION_ENTER, "");
    assert_string_equal(screen_view(f.s), "process");
    act(&f, ACTION_HELP, "");
    act(&f, ACTION_LEAVE, "");
    assert_string_equal(screen_view(f.s), "process");
    act(&f, ACTION_LEAVE, "");
    assert_string_equal(screen_view(f.s), "processes");
    act(&f, ACTION_CHOOSE_SORT, "");
    act(&f, ACTION_LEAVE, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    assert_int_equal(asked_for(&f), ACTIONS);
    act(&f, ACTION_LEAVE, "");
    assert_int_equal(asked_for(&f), ACTION_QUIT);
    end(&f);
}

TEST(test_stopping)
{
    static const struct {
        const char *view;
        enum action stops;
    } rows[] = {{"trace", ACTION_TRACE_STOP},
                {"calls", ACTION_CALLS_STOP},
                {"armed", ACTION_ARMED_STOP},
                {"top", ACTIONS},
                {"memory", ACTIONS}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f = start(rows[i].view);
        assert_int_equal(refused(&f, ACTION_STOP, "") < 0, rows[i].stops == ACTIONS);
        assert_int_equal(asked_for(&f), rows[i].stops);
        end(&f);
    }
}

TEST(test_the_last_process)
{
    struct fixture f = start("top");
    act(&f, ACTION_DOWN, "");
    struct etf_pid second = screen_link(f.s).pid;
    act(&f, ACTION_ENTER, "");
    assert_int_equal(wanted(&f).process.pid.id, second.id);
    act(&f, ACTION_BACK, "");
    act(&f, ACTION_FIRST, "");
    act(&f, ACTION_VIEW, "memory");
    act(&f, ACTION_VIEW, "process");
    assert_int_equal(wanted(&f).process.pid.id, second.id);
    end(&f);
}

static bool shows(const struct fixture *f, int row, const char *text)
{
    return strstr(world_row(&f->c, row), text) != NULL;
}

/* The header, the rule, then the first line of help. */
TEST(test_help_begins_with_the_view)
{
    struct fixture f = start("top");
    struct keymap km;
    struct error err = {0};
    struct key key;
    keymap_init(&km);
    assert_true(key_parse("M", 1, &key));
    assert_int_equal(keymap_bind(&km, CONTEXT_PROCESSES, key, ACTION_SORT, "memory_bytes", &err),
                     0);
    screen_set_keymap(f.s, &km);
    act(&f, ACTION_HELP, "");
    assert_true(shows(&f, 6, "Processes"));
    assert_true(shows(&f, 7, "M"));
    assert_true(shows(&f, 7, "sort memory_bytes"));
    act(&f, ACTION_BACK, "");
    act(&f, ACTION_VIEW, "memory");
    act(&f, ACTION_HELP, "");
    assert_true(shows(&f, 6, "Memory"));
    end(&f);
    keymap_clear(&km);
}

TEST(test_pickers)
{
    struct fixture f = start("top");
    struct error err = {0};
    struct screen_request r;
    act(&f, ACTION_CHOOSE_SORT, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    act(&f, ACTION_FIRST, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    assert_string_equal(wanted(&f).scan.sort_key, "application");
    act(&f, ACTION_CHOOSE_COLUMNS, "");
    act(&f, ACTION_LAST, "");
    act(&f, ACTION_MARK, "");
    act(&f, ACTION_BACK, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    screen_choose_node(f.s, &(struct screen_node){.name = "a@b", .os_pid = 7}, 1);
    act(&f, ACTION_ENTER, "");
    assert_true(taken(&f, REQUEST_NODE, &r));
    assert_string_equal(r.text, "a@b");
    assert_int_equal(r.os_pid, 7);
    static const struct screen_node nodes[] = {
        {.name = "a@b"}, {.name = "start", .refusal = "no distribution: start it with -sname"}};
    screen_choose_node(f.s, nodes, 2);
    draw(&f);
    act(&f, ACTION_DOWN, "");
    assert_int_equal(screen_act(f.s, f.m, ACTION_ENTER, "", &err), ERR_USAGE);
    assert_string_equal(err.text, nodes[1].refusal);
    assert_false(taken(&f, REQUEST_NODE, &r));
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    act(&f, ACTION_VIEW, "memory");
    assert_true(refused(&f, ACTION_CHOOSE_COLUMNS, "") < 0);
    end(&f);
}

static void type(struct fixture *f, const char *text)
{
    for (; *text; text++)
        assert_true(screen_type(f->s, (struct key){.code = (uint32_t)*text}));
    draw(f);
}

/* Space marks columns. Elsewhere it neither chooses nor closes; in the menu of views it is typed.
 */
TEST(test_space_in_a_menu_chooses_nothing)
{
    static const struct screen_choice choices[] = {{"typed before", "lists:map/2 -> return"}};
    static const struct screen_node nodes[] = {{.name = "a@b"}};
    struct fixture f = start("top");
    struct error err = {0};
    for (int menu = 0; menu < 4; menu++) {
        if (menu == 0)
            act(&f, ACTION_CHOOSE_SORT, "");
        else if (menu == 1)
            screen_choose(f.s, "Trace", choices, 1);
        else if (menu == 2)
            screen_choose_node(f.s, nodes, 1);
        else
            act(&f, ACTION_VIEWS, "");
        draw(&f);
        struct screen_request r;
        while (screen_take_request(f.s, &r))
            continue;
        err = (struct error){0};
        assert_int_equal(screen_act(f.s, f.m, ACTION_MARK, "", &err), ERR_USAGE);
        assert_string_equal(err.text, "only columns are marked: enter chooses");
        assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
        assert_false(screen_take_request(f.s, &r));
    }
    type(&f, "node's reductions");
    assert_true(is_on_screen(&f, "Views: node's reductions"));
    act(&f, ACTION_ENTER, "");
    struct screen_request r;
    assert_true(taken(&f, REQUEST_ACT, &r));
    assert_string_equal(r.text, "load");
    act(&f, ACTION_CHOOSE_COLUMNS, "");
    act(&f, ACTION_FIRST, "");
    act(&f, ACTION_MARK, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    end(&f);
}

TEST(test_texts_to_choose)
{
    static const struct screen_choice choices[] = {{"typed before", "lists:map/2 -> return"},
                                                   {"exits", "receive({'EXIT', _, _})"}};
    struct fixture f = start("top");
    struct screen_request r;
    assert_string_equal(screen_chosen(f.s), "");
    screen_choose(f.s, "Trace", choices, 2);
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    draw(&f);
    act(&f, ACTION_BACK, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    assert_false(taken(&f, REQUEST_CHOICE, &r));
    screen_choose(f.s, "Trace", choices, 2);
    act(&f, ACTION_LAST, "");
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    assert_true(taken(&f, REQUEST_CHOICE, &r));
    assert_string_equal(screen_chosen(f.s), "receive({'EXIT', _, _})");
    screen_choose(f.s, "Trace", choices, 0);
    act(&f, ACTION_ENTER, "");
    assert_false(taken(&f, REQUEST_CHOICE, &r));
    end(&f);
}

/* A setting of the screen: every list of processes follows it, whatever is shown at the time. */
/* A view is called the same in its rule, in tabs, options and commands. */
TEST(test_a_view_has_one_name)
{
    for (size_t i = 0; view_registry[i]; i++) {
        const struct view_ops *ops = view_registry[i];
        char name[64];
        size_t len = strlen(ops->title);
        for (size_t k = 0; k <= len; k++)
            name[k] = ops->title[k] == ' ' ? '-' : (char)tolower((unsigned char)ops->title[k]);
        assert_string_equal(ops->name, name);
        assert_ptr_equal(view_find(ops->name), ops);
        if (ops->alias)
            assert_ptr_equal(view_find(ops->alias), ops);
    }
}

TEST(test_the_menu_of_views)
{
    struct screen_request r;
    struct fixture f = start("processes");
    assert_false(screen_type(f.s, (struct key){.code = 'm'}));
    act(&f, ACTION_VIEWS, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    assert_true(shows(&f, 8, "processes") || shows(&f, 7, "processes"));
    assert_false(screen_type(f.s, (struct key){.code = KEYS_DOWN}));
    type(&f, "utilis"); /* of its line */
    assert_false(screen_type(f.s, (struct key){.code = 'x', .mods = KEY_MOD_CTRL}));
    while (screen_take_request(f.s, &r))
        continue;
    act(&f, ACTION_ENTER, "");
    assert_true(taken(&f, REQUEST_ACT, &r));
    assert_int_equal(r.action, ACTION_VIEW);
    assert_string_equal(r.text, "schedulers");
    act(&f, ACTION_VIEWS, "");
    type(&f, "zz");
    assert_true(screen_type(f.s, (struct key){.code = KEYS_BACKSPACE}));
    assert_true(screen_type(f.s, (struct key){.code = KEYS_BACKSPACE}));
    assert_false(screen_type(f.s, (struct key){.code = KEYS_BACKSPACE}));
    act(&f, ACTION_BACK, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PROCESSES);
    end(&f);
}

/* Lines of a process's stack are functions to trace; its first line is the process itself. */
TEST(test_stack_rows_are_chosen)
{
    struct fixture f = start("processes");
    act(&f, ACTION_ENTER, "");
    answer(&f);
    assert_int_equal(screen_link(f.s).kind, TARGET_VIEW);
    act(&f, ACTION_ENTER, ""); /* it is open already */
    assert_string_equal(screen_view(f.s), "process");
    for (int i = 0; i < 40 && screen_link(f.s).kind != TARGET_FUNCTION; i++)
        act(&f, ACTION_DOWN, "");
    struct view_link at = screen_link(f.s);
    assert_int_equal(at.kind, TARGET_FUNCTION);
    assert_non_null(strchr(at.name, ':'));
    assert_int_not_equal(at.pid.id, 0);
    end(&f);
}

TEST(test_own_processes)
{
    struct fixture f = start("memory");
    screen_set_own(f.s, true);
    act(&f, ACTION_VIEW, "top");
    assert_true(wanted(&f).scan.own);
    act(&f, ACTION_SPLIT, "below");
    act(&f, ACTION_NEXT_PANE, "");
    act(&f, ACTION_VIEW, "apps");
    assert_true(wanted(&f).scan.own);
    screen_set_own(f.s, false);
    assert_false(wanted(&f).scan.own);
    act(&f, ACTION_VIEW, "top");
    assert_false(wanted(&f).scan.own);
    end(&f);
}

TEST(test_clicks)
{
    struct fixture f = start("top");
    screen_click(f.s, f.m, 6, 62, false); /* MEMORY */
    draw(&f);
    assert_string_equal(wanted(&f).scan.sort_key, "memory_bytes");
    act(&f, ACTION_SORT, "reductions_per_s");
    answer(&f);
    answer(&f);
    screen_click(f.s, f.m, 9, 5, true); /* the cursor was not there */
    assert_int_equal(screen_link(f.s).pid.id, 9120);
    screen_wheel(f.s, f.m, 9, 5, -1);
    assert_int_equal(screen_link(f.s).pid.id, 8812);
    screen_click(f.s, f.m, 8, 5, false);
    assert_string_equal(screen_view(f.s), "processes");
    screen_click(f.s, f.m, 8, 5, true);
    assert_string_equal(screen_view(f.s), "process");
    screen_click(f.s, f.m, 0, 0, true);
    screen_click(f.s, f.m, 500, 500, true);
    screen_wheel(f.s, f.m, -1, -1, 3);
    end(&f);
}

/* The last row of the load is nobody's. */
TEST(test_a_double_click_on_nothing_says_so)
{
    struct fixture f = start("load");
    int last = 22;
    while (last > 0 && !strstr(world_row(&f.c, last), "the rest"))
        last--;
    assert_true(last > 0);
    screen_click(f.s, f.m, last, 5, false);
    screen_click(f.s, f.m, last, 5, true);
    draw(&f);
    assert_true(is_on_screen(&f, "nothing to open here"));
    assert_string_equal(screen_view(f.s), "load");
    end(&f);
}

/* Where a text stands on the screen; fails where it does not. */
static void click_on(struct fixture *f, int row, const char *text)
{
    char line[4096] = "";
    size_t len = 0;
    draw(f);
    for (int column = 0; column < f->c.columns; column++)
        len += (size_t)snprintf(line + len, sizeof line - len, "%c",
                                canvas_at(&f->c, row, column)->text[0]);
    const char *at = strstr(line, text);
    if (!at) {
        fail_msg("no '%s' in: %s", text, line);
        return;
    }
    screen_click(f->s, f->m, row, (int)(at - line), false);
    draw(f);
}

/* What the bottom row and the rule offer, is done by a click on it. */
TEST(test_clicks_on_keys_and_tabs)
{
    struct fixture f = start("top");
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
    options_init(&options);
    keymap_init(&keymap);
    theme_init(&theme);
    diags_init(&diags);
    config_defaults(
        &(struct config){.diags = &diags, .options = &options, .keymap = &keymap, .theme = &theme});
    canvas_resize(&f.c, 24, 140);
    screen_set_keymap(f.s, &keymap);
    draw(&f);
    click_on(&f, 23, "sort");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    act(&f, ACTION_BACK, "");
    click_on(&f, 23, "keys");
    assert_string_equal(screen_view(f.s), "help");
    click_on(&f, 23, "back");
    assert_string_equal(screen_view(f.s), "processes");
    click_on(&f, 23, "trace");
    assert_int_equal(asked_for(&f), ACTION_TRACE);
    click_on(&f, 5, "memory");
    assert_string_equal(screen_view(f.s), "memory");
    click_on(&f, 5, "processes");
    assert_string_equal(screen_view(f.s), "processes");
    screen_set_message(f.s, STYLE_MESSAGE, "it stands where the keys stood");
    draw(&f);
    for (int column = 0; column < 140; column++)
        screen_click(f.s, f.m, 23, column, true);
    assert_string_equal(screen_view(f.s), "processes");
    assert_int_equal(asked_for(&f), ACTIONS);
    keymap_clear(&keymap);
    options_clear(&options);
    diags_clear(&diags);
    end(&f);
}

/* What the owner does: the filter of the view in focus is the one that applies. */
static void follow_filter(struct fixture *f, struct regex *re)
{
    char own[64] = "";
    const char *due = screen_filter_due(f->s);
    if (due) {
        snprintf(own, sizeof own, "%s", due);
        screen_set_filter(f->s, own, own[0] ? re : NULL, -1);
    }
    draw(f);
}

TEST(test_a_filter_belongs_to_its_view)
{
    struct fixture f = start("apps");
    struct screen_request r;
    struct error err = {0};
    struct regex *re = NULL;
    size_t offset;
    assert_int_equal(regex_new(&re, "kernel", &offset, &err), 0);
    screen_set_filter(f.s, "kernel", re, -1);
    assert_null(screen_filter_due(f.s));
    draw(&f);
    assert_true(shows(&f, 5, "filter kernel"));
    act(&f, ACTION_VIEW, "top"); /* opened: it has none */
    assert_string_equal(screen_filter_due(f.s), "");
    follow_filter(&f, re);
    assert_false(shows(&f, 5, "filter"));
    assert_false(wanted(&f).scan.filtered);
    act(&f, ACTION_SPLIT, "below"); /* another pane, with the focus on it */
    screen_set_filter(f.s, "other", NULL, -1);
    draw(&f);
    assert_false(shows(&f, 5, "filter"));
    act(&f, ACTION_CLOSE, "");
    follow_filter(&f, re);
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "applications");
    assert_string_equal(screen_filter_due(f.s), "kernel");
    follow_filter(&f, re);
    assert_true(shows(&f, 5, "filter kernel"));
    while (screen_take_request(f.s, &r))
        assert_int_not_equal(r.kind, REQUEST_UNFILTER);
    screen_set_filter(f.s, "", NULL, -1);
    regex_free(re);
    end(&f);
}

/* With or without the focus. Of lists whose rows the node chooses it applies one filter. */
TEST(test_each_pane_has_its_filter)
{
    struct fixture f = start("apps");
    struct error err = {0};
    struct regex *re = NULL;
    size_t offset;
    assert_int_equal(regex_new(&re, "kernel", &offset, &err), 0);
    screen_set_filter(f.s, "kernel", re, -1);
    draw(&f);
    assert_true(shows(&f, 5, "filter kernel") && shows(&f, 5, "matching"));
    act(&f, ACTION_SPLIT, "below");
    follow_filter(&f, re);
    assert_true(shows(&f, 5, "filter kernel") && shows(&f, 5, " 1 of "));
    assert_false(shows(&f, 5, "not applied"));
    act(&f, ACTION_VIEW, "top");
    follow_filter(&f, re);
    assert_true(screen_filters_on_target(f.s));
    assert_string_equal(screen_target_filter(f.s), "");
    assert_true(shows(&f, 5, "filter kernel") && shows(&f, 5, " 1 of "));
    screen_set_filter(f.s, "other", re, -1);
    assert_string_equal(screen_target_filter(f.s), "other");
    act(&f, ACTION_NEXT_PANE, "");
    assert_string_equal(screen_filter_due(f.s), "kernel");
    follow_filter(&f, re);
    assert_false(screen_filters_on_target(f.s));
    assert_string_equal(screen_target_filter(f.s), "other");
    assert_true(wanted(&f).scan.filtered);
    bool other = false;
    for (int row = 6; row < 23; row++)
        other = other || (shows(&f, row, "filter other") && !shows(&f, row, "not applied"));
    assert_true(other);
    act(&f, ACTION_VIEW, "top"); /* two lists: that of the focus */
    follow_filter(&f, re);
    assert_string_equal(screen_target_filter(f.s), "");
    screen_set_filter(f.s, "", NULL, -1);
    regex_free(re);
    end(&f);
}

/* Back clears the filter of a view that has one, and leaves the view only then. */
TEST(test_back_clears_the_filter_before_it_goes_back)
{
    struct fixture f = start("top");
    struct screen_request r;
    act(&f, ACTION_VIEW, "apps");
    screen_set_filter(f.s, "kernel", NULL, -1);
    while (screen_take_request(f.s, &r))
        continue;
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "applications");
    assert_true(screen_take_request(f.s, &r));
    assert_int_equal(r.kind, REQUEST_UNFILTER);
    screen_set_filter(f.s, "", NULL, -1);
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "processes");
    end(&f);
}

TEST(test_an_empty_list_says_how_to_see_all)
{
    struct fixture f = start("apps");
    struct keymap km;
    struct error err = {0};
    struct regex *re = NULL;
    struct key key;
    size_t offset;
    keymap_init(&km);
    assert_true(key_parse("<Esc>", 5, &key));
    assert_int_equal(keymap_bind(&km, CONTEXT_GLOBAL, key, ACTION_BACK, "", &err), 0);
    screen_set_keymap(f.s, &km);
    assert_int_equal(regex_new(&re, "zzz", &offset, &err), 0);
    screen_set_filter(f.s, "zzz", re, -1);
    draw(&f);
    bool said = false;
    for (int row = 6; row < 23; row++)
        said = said || shows(&f, row, "Nothing matches the filter. <Esc> clears the filter.");
    assert_true(said);
    assert_true(shows(&f, 23, "<Esc> clear "));
    screen_set_filter(f.s, "", NULL, -1);
    regex_free(re);
    keymap_clear(&km);
    end(&f);
}

/* ---- samples */

struct sampled {
    struct fixture f;
    struct samples_log log;
    struct stacks *stacks;
};

static void start_sampled(struct sampled *s, const char *by)
{
    s->f = start("top");
    act(&s->f, ACTION_VIEW, "samples");
    s->stacks = world_samples(&s->log, SAMPLED_RUNS);
    model_set_samples(s->f.m, &s->log);
    screen_update(s->f.s);
    act(&s->f, ACTION_BY, by);
}

static void end_sampled(struct sampled *s)
{
    end(&s->f);
    stacks_free(s->stacks);
}

TEST(test_samples_ask_nothing_and_open_what_they_name)
{
    struct sampled s;
    struct screen_request r;
    start_sampled(&s, "function");
    assert_int_equal(wanted(&s.f).needs, NEED(SYSTEM));
    assert_string_equal(screen_link(s.f.s).name, "shop_price:of/1");
    while (screen_take_request(s.f.s, &r)) {
    }
    act(&s.f, ACTION_ENTER, "");
    assert_true(screen_take_request(s.f.s, &r) && r.action == ACTION_TRACE_ROW);
    act(&s.f, ACTION_DOWN, ""); /* native code */
    assert_int_equal(screen_link(s.f.s).kind, TARGET_NONE);
    assert_int_equal(refused(&s.f, ACTION_BY, "shop"), ERR_USAGE);
    assert_int_equal(refused(&s.f, ACTION_VIEW, "samples shop"), ERR_USAGE);
    act(&s.f, ACTION_BY, "process");
    act(&s.f, ACTION_FIRST, "");
    act(&s.f, ACTION_ENTER, "");
    assert_string_equal(screen_view(s.f.s), "process");
    assert_int_equal(wanted(&s.f).process.pid.id, 412);
    end_sampled(&s);
}

/* Rows that come belong where they stand, also while the cursor is inside the list. */
TEST(test_a_tree_of_samples_grows_in_place)
{
    static const struct sample_frame late = {
        .kind = FRAME_ERLANG, .name = {"shop_late:f/0", 13}, .line = 1};
    struct sampled s;
    start_sampled(&s, "tree");
    act(&s.f, ACTION_DOWN, "");
    act(&s.f, ACTION_DOWN, "");
    assert_string_equal(screen_link(s.f.s).name, "lists:map/2");
    answer(&s.f); /* the order that `by` asked for is there */
    answer(&s.f);
    uint32_t ids[2] = {0, stacks_frame(s.stacks, &late)};
    stacks_add(s.stacks, ids, 2, 5000);
    screen_update(s.f.s);
    draw(&s.f);
    assert_string_equal(screen_link(s.f.s).name, "lists:map/2");
    act(&s.f, ACTION_UP, "");
    act(&s.f, ACTION_UP, "");
    assert_string_equal(screen_link(s.f.s).name, "shop_late:f/0");
    end_sampled(&s);
}

TEST(test_a_child_comes_where_it_belongs)
{
    struct fixture f = start("tree");
    for (int i = 0; i < 5; i++)
        act(&f, ACTION_DOWN, "");
    assert_string_equal(screen_link(f.s).name, "注文処理プロセス");
    f.tick = WORLD_LATE;
    answer(&f);
    assert_string_equal(screen_link(f.s).name, "注文処理プロセス");
    act(&f, ACTION_UP, "");
    act(&f, ACTION_UP, "");
    assert_int_equal(screen_link(f.s).pid.id, 600);
    end(&f);
}

TEST(test_a_flame_graph_zooms)
{
    struct sampled s;
    start_sampled(&s, "flame");
    act(&s.f, ACTION_DOWN, "");
    act(&s.f, ACTION_DOWN, "");
    assert_string_equal(screen_link(s.f.s).name, "shop_cart:loop/1");
    act(&s.f, ACTION_RIGHT, ""); /* past the end: stays */
    act(&s.f, ACTION_ENTER, "");
    assert_string_equal(screen_link(s.f.s).name, "shop_cart:loop/1");
    assert_string_equal(canvas_at(&s.f.c, 8, 79)->text, " ");
    assert_int_equal(canvas_at(&s.f.c, 8, 79)->style, STYLE_CURSOR);
    act(&s.f, ACTION_BACK, "");
    assert_int_not_equal(canvas_at(&s.f.c, 8, 79)->style, STYLE_CURSOR);
    assert_string_equal(screen_view(s.f.s), "samples");
    act(&s.f, ACTION_SORT_REVERSE, ""); /* the root is at the bottom */
    act(&s.f, ACTION_UP, "");
    assert_string_equal(screen_link(s.f.s).name, "lists:map/2");
    assert_int_equal(refused(&s.f, ACTION_MARK, ""), ERR_USAGE);
    act(&s.f, ACTION_BACK, "");
    assert_string_equal(screen_view(s.f.s), "processes");
    end_sampled(&s);
}

TEST(test_clicks_in_a_flame_graph)
{
    struct sampled s;
    start_sampled(&s, "flame");
    screen_click(s.f.s, s.f.m, 9, 2, false);
    draw(&s.f);
    assert_string_equal(screen_link(s.f.s).name, "lists:map/2");
    assert_int_not_equal(canvas_at(&s.f.c, 9, 79)->style, STYLE_CURSOR);
    screen_click(s.f.s, s.f.m, 9, 2, true);
    draw(&s.f);
    assert_int_equal(canvas_at(&s.f.c, 9, 79)->style, STYLE_CURSOR);
    screen_wheel(s.f.s, s.f.m, 9, 2, 3);
    assert_string_equal(screen_link(s.f.s).name, "'Elixir.Shop.Cart':add/2");
    screen_click(s.f.s, s.f.m, 18, 2, true); /* nothing is there */
    assert_string_equal(screen_link(s.f.s).name, "'Elixir.Shop.Cart':add/2");
    end_sampled(&s);
}

TEST(test_any_size)
{
    struct sampled s;
    start_sampled(&s, "flame");
    struct fixture f = s.f;
    for (size_t view = 0; view_registry[view]; view++) {
        act(&f, ACTION_VIEW, view_registry[view]->name);
        for (int rows = 1; rows < 40; rows += 6)
            for (int columns = 1; columns < 200; columns += 13) {
                canvas_resize(&f.c, rows, columns);
                answer(&f);
                act(&f, ACTION_PAGE_DOWN, "");
                act(&f, ACTION_RIGHT, "");
            }
    }
    s.f = f;
    end_sampled(&s);
}
