/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user does among the events of a trace. */
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "beamtop/ui/screen.h"
#include "world.h"
#include "world_trace.h"

struct fixture {
    struct model *m;
    struct screen *s;
    struct canvas c;
    struct traced t;
};

static void draw(struct fixture *f)
{
    struct tty_cursor cursor;
    screen_update(f->s);
    screen_draw(f->s, f->m, &f->c, &cursor);
}

static struct fixture start(enum trace_world world, int rows, int columns)
{
    struct error err = {0};
    struct fixture f = {.m = world_new(WORLD_BUSY), .s = screen_new("trace", &err)};
    assert_non_null(f.s);
    world_trace(&f.t, world);
    model_set_trace(f.m, f.t.log);
    canvas_init(&f.c, rows, columns, false);
    draw(&f);
    return f;
}

static void end(struct fixture *f)
{
    canvas_clear(&f->c);
    screen_free(f->s);
    model_free(f->m);
    world_trace_clear(&f->t);
}

static void act(struct fixture *f, enum action action, const char *arg)
{
    struct error err = {0};
    if (screen_act(f->s, f->m, action, arg, &err) != 1)
        fail_msg("%s %s: %s", action_table[action].name, arg, err.text);
    draw(f);
}

static const char *row_text(const struct fixture *f, int row)
{
    return world_row(&f->c, row);
}

/* The row that shows the text; -1: none does. */
static int row_of(const struct fixture *f, const char *text)
{
    for (int row = 0; row < f->c.rows; row++)
        if (strstr(row_text(f, row), text))
            return row;
    return -1;
}

static int cursor_row(const struct fixture *f)
{
    for (int row = 0; row < f->c.rows; row++)
        if (canvas_at(&f->c, row, 3)->style == STYLE_CURSOR)
            return row;
    return -1;
}

static void more(struct fixture *f, int n)
{
    for (int i = 0; i < n; i++) {
        static const char name[] = "late", module[] = "late", function[] = "call";
        struct trace_event e = {
            .id = 1000 + trace_log_len(f->t.log) + trace_log_dropped(f->t.log),
            .kind = EVENT_CALL,
            .pid = {.id = 5},
            .name = {name, 4},
            .mfa = {{module, 4}, {function, 4}, 1},
            .wall_us = 1763721730000000,
        };
        trace_log_add(f->t.log, &e);
    }
    draw(f);
}

static uint64_t newest(const struct fixture *f)
{
    size_t at = trace_log_len(f->t.log) - 1;
    while (trace_log_at(f->t.log, at)->kind == EVENT_LOST)
        at--;
    return trace_log_at(f->t.log, at)->id;
}

TEST(test_the_newest_is_followed)
{
    struct fixture f = start(TRACED_RUNNING, 30, 120);
    assert_int_equal(screen_link(f.s).kind, TARGET_EVENT);
    assert_int_equal(screen_link(f.s).id, newest(&f));
    more(&f, 3);
    assert_int_equal(screen_link(f.s).id, newest(&f));
    assert_int_equal(screen_context(f.s), CONTEXT_TRACE);
    end(&f);
}

TEST(test_what_is_read_stays_where_it_is)
{
    struct fixture f = start(TRACED_RUNNING, 30, 120);
    act(&f, ACTION_UP, "");
    act(&f, ACTION_UP, "");
    uint64_t id = screen_link(f.s).id;
    int row = cursor_row(&f);
    assert_true(row > 0);
    more(&f, 50);
    assert_int_equal(screen_link(f.s).id, id);
    assert_int_equal(cursor_row(&f), row);
    act(&f, ACTION_LAST, "");
    more(&f, 1);
    assert_int_equal(screen_link(f.s).id, newest(&f));
    screen_wheel(f.s, f.m, 25, 10, -10);
    draw(&f);
    id = screen_link(f.s).id;
    row = cursor_row(&f);
    assert_true(id < newest(&f));
    more(&f, 950); /* the log lets its oldest go */
    assert_true(trace_log_dropped(f.t.log) > 0);
    assert_int_equal(screen_link(f.s).id, id);
    assert_int_equal(cursor_row(&f), row);
    end(&f);
}

TEST(test_the_head_stays)
{
    static const enum action moves[] = {ACTION_FIRST, ACTION_PAGE_DOWN, ACTION_DOWN,
                                        ACTION_LAST,  ACTION_PAGE_UP,   ACTION_RIGHT};
    struct fixture f = start(TRACED_RUNNING, 30, 120);
    more(&f, 100);
    int state_row = row_of(&f, "running"), titles = row_of(&f, "CALL OR MESSAGE");
    assert_true(state_row > 0 && titles > state_row);
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        act(&f, moves[i], "");
        assert_int_equal(row_of(&f, "running"), state_row);
        assert_int_equal(row_of(&f, "CALL OR MESSAGE"), titles);
        assert_true(cursor_row(&f) > titles);
    }
    end(&f);
}

TEST(test_an_event_opens_by_levels)
{
    struct fixture f = start(TRACED_TRIPPED, 60, 80);
    act(&f, ACTION_FIRST, "");
    assert_int_equal(row_of(&f, "#{currency => eur}"), -1);
    act(&f, ACTION_ENTER, "");
    assert_true(row_of(&f, "#{currency => eur}}") > 0);
    assert_true(row_of(&f, "from  shop_api:handle_post/2") > 0);
    act(&f, ACTION_FOLD_SHALLOWER, ""); /* it fits on a line: there is nothing less to show */
    assert_int_equal(row_of(&f, "from  shop_api"), -1);
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_FOLD_DEEPER, "");
    assert_true(row_of(&f, "-> ") > 0);
    assert_true(row_of(&f, "#{order => 4711,lines") > 0);
    act(&f, ACTION_FOLD_DEEPER, "");
    assert_true(row_of(&f, "#{order => 4711,lines") < 0);
    assert_true(row_of(&f, "#{order => 4711,") > 0);
    uint64_t id = screen_link(f.s).id;
    act(&f, ACTION_DOWN, "");
    assert_int_equal(screen_link(f.s).part, 1);
    act(&f, ACTION_FOLD_EVENT, "");
    assert_int_equal(screen_link(f.s).part, 0);
    assert_int_equal(screen_link(f.s).id, id);
    end(&f);
}

static void go_to(struct fixture *f, const char *text)
{
    for (int i = 0; i < 60 && !strstr(row_text(f, cursor_row(f)), text); i++)
        act(f, ACTION_DOWN, "");
    assert_non_null(strstr(row_text(f, cursor_row(f)), text));
}

/* What is folded keeps its line, and all below it moves up; the rest of the event stays open. */
TEST(test_a_term_folds)
{
    struct fixture f = start(TRACED_TRIPPED, 60, 50);
    act(&f, ACTION_FIRST, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_DOWN, "");
    act(&f, ACTION_ENTER, "");
    go_to(&f, "lines => [");
    struct view_link link = screen_link(f.s);
    int row = cursor_row(&f), below = row_of(&f, "{line,2,");
    assert_true(link.fold != 0 && below > row);
    assert_non_null(strstr(row_text(&f, row), "▾"));
    act(&f, ACTION_ENTER, "");
    assert_int_equal(row_of(&f, "{line,2,"), -1);
    assert_true(row_of(&f, "#{order => 4711,") > 0);
    assert_int_equal(cursor_row(&f), row);
    assert_int_equal(screen_link(f.s).part, link.part);
    assert_non_null(strstr(row_text(&f, row), "▸"));
    more(&f, 3); /* it stays as it is */
    assert_int_equal(row_of(&f, "{line,2,"), -1);
    act(&f, ACTION_FOLD, "");
    assert_int_equal(row_of(&f, "{line,2,"), below);
    go_to(&f, "from  "); /* a line that no term begins on: the event */
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_link(f.s).part, 0);
    assert_int_equal(row_of(&f, "from  "), -1);
    end(&f);
}

TEST(test_the_newest_opens_in_place)
{
    struct fixture f = start(TRACED_RUNNING, 40, 120);
    uint64_t id = newest(&f);
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_link(f.s).id, id);
    assert_int_equal(screen_link(f.s).part, 0);
    assert_true(row_of(&f, "within 2 calls of this process not returned yet") > cursor_row(&f));
    int row = cursor_row(&f);
    more(&f, 3); /* it is being read */
    assert_int_equal(screen_link(f.s).id, id);
    assert_int_equal(cursor_row(&f), row);
    act(&f, ACTION_ENTER, "");
    assert_int_equal(screen_link(f.s).id, id);
    act(&f, ACTION_LAST, "");
    more(&f, 1);
    assert_int_equal(screen_link(f.s).id, newest(&f));
    end(&f);
}

TEST(test_to_the_process_and_back)
{
    struct fixture f = start(TRACED_TRIPPED, 30, 120);
    act(&f, ACTION_UP, "");
    act(&f, ACTION_UP, "");
    struct view_link link = screen_link(f.s);
    int row = cursor_row(&f);
    act(&f, ACTION_PROCESS, "");
    assert_string_equal(screen_view(f.s), "process");
    act(&f, ACTION_BACK, "");
    assert_string_equal(screen_view(f.s), "trace");
    assert_int_equal(screen_link(f.s).id, link.id);
    assert_int_equal(cursor_row(&f), row);
    end(&f);
}

TEST(test_orders)
{
    struct error err = {0};
    struct fixture f = start(TRACED_TRIPPED, 30, 120);
    act(&f, ACTION_FIRST, "");
    act(&f, ACTION_SORT, "latency");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).id, 3); /* 2.1 ms */
    act(&f, ACTION_SORT, "");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).id, 1);
    assert_true(screen_act(f.s, f.m, ACTION_SORT, "size", &err) < 0);
    assert_true(screen_act(f.s, f.m, ACTION_SORT_LEFT, "", &err) != 0);
    end(&f);
}

/* As in a list: what to sort by is chosen. */
TEST(test_orders_to_choose)
{
    struct fixture f = start(TRACED_TRIPPED, 30, 120);
    act(&f, ACTION_CHOOSE_SORT, "");
    assert_int_equal(screen_context(f.s), CONTEXT_PICKER);
    draw(&f);
    assert_true(row_of(&f, "the longest first") > 0);
    act(&f, ACTION_LAST, "");
    act(&f, ACTION_ENTER, "");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).id, 3);
    act(&f, ACTION_CHOOSE_SORT, ""); /* the cursor is on the order that stands */
    act(&f, ACTION_UP, "");
    act(&f, ACTION_ENTER, "");
    act(&f, ACTION_FIRST, "");
    assert_int_equal(screen_link(f.s).id, 1);
    end(&f);
}

TEST(test_the_filter)
{
    struct fixture f = start(TRACED_TRIPPED, 30, 120);
    struct error err = {0};
    struct regex *re = NULL;
    size_t offset;
    assert_int_equal(regex_new(&re, "Berlin", &offset, &err), 0); /* beyond what the line shows */
    screen_set_filter(f.s, "Berlin", re, -1);
    draw(&f);
    assert_true(row_of(&f, "1 of 7 matching") > 0);
    assert_int_equal(screen_link(f.s).id, 3);
    screen_set_filter(f.s, "", NULL, -1);
    regex_free(re);
    draw(&f);
    assert_true(row_of(&f, "6 events") > 0);
    end(&f);
}

TEST(test_the_spelling_asked_for)
{
    struct fixture f = start(TRACED_ELIXIR, 30, 120);
    assert_true(row_of(&f, "MyApp.Cart.add(%MyApp.Cart{id: 17}, [price: 120, qty: 2])") > 0);
    screen_set_syntax(f.s, SYNTAX_ERLANG);
    draw(&f);
    assert_true(row_of(&f, "'Elixir.MyApp.Cart':add(#{") > 0);
    assert_int_equal(row_of(&f, "id: 17"), -1);
    screen_set_syntax(f.s, SYNTAX_AUTO);
    draw(&f);
    assert_true(row_of(&f, "{:ok, \"seven\"}") > 0);
    end(&f);
    f = start(TRACED_TRIPPED, 40, 120); /* three patterns, all of Erlang's */
    screen_set_syntax(f.s, SYNTAX_ELIXIR);
    draw(&f);
    assert_true(row_of(&f, ":shop_cart.add(") > 0);
    assert_int_equal(row_of(&f, "   shop_cart:add("), -1);
    end(&f);
}

TEST(test_the_mouse)
{
    struct fixture f = start(TRACED_TRIPPED, 60, 120);
    act(&f, ACTION_FIRST, "");
    int row = row_of(&f, "<0.77.0>");
    assert_true(row > 0);
    screen_click(f.s, f.m, row, 30, false);
    draw(&f);
    assert_int_equal(screen_link(f.s).pid.id, 77);
    assert_int_equal(cursor_row(&f), row);
    screen_click(f.s, f.m, row, 30, true);
    draw(&f);
    assert_true(row_of(&f, "{order_placed,4711,{eur,1250}}") > row);
    screen_click(f.s, f.m, row_of(&f, "ended"), 5, true); /* the head is no event */
    assert_int_equal(screen_link(f.s).pid.id, 77);
    end(&f);
}

TEST(test_without_an_event)
{
    static const enum action actions[] = {ACTION_FOLD, ACTION_FOLD_DEEPER, ACTION_FOLD_SHALLOWER,
                                          ACTION_PROCESS};
    struct fixture f = start(TRACED_FAILED, 30, 120);
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        struct error err = {0};
        assert_true(screen_act(f.s, f.m, actions[i], "", &err) < 0);
        assert_true(err.text[0] != '\0');
    }
    model_set_trace(f.m, NULL);
    draw(&f);
    assert_int_equal(screen_link(f.s).kind, TARGET_NONE);
    end(&f);
}

TEST(test_any_size)
{
    for (enum trace_world world = TRACED_NOT; world <= TRACED_COUNTED; world++) {
        struct fixture f = start(world, 30, 120);
        struct error err = {0};
        for (int i = 0; i < 8; i++) {
            screen_act(f.s, f.m, ACTION_FOLD, "", &err);
            draw(&f);
            act(&f, ACTION_UP, "");
            act(&f, ACTION_PAGE_UP, "");
        }
        for (int rows = 1; rows < 40; rows += 4)
            for (int columns = 1; columns < 140; columns += 7) {
                canvas_resize(&f.c, rows, columns);
                act(&f, ACTION_PAGE_DOWN, "");
                act(&f, ACTION_RIGHT, "");
                act(&f, ACTION_PAGE_UP, "");
            }
        end(&f);
    }
}
