/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the `:` prompt. */
#include <stdio.h>
#include <string.h>

#include "../test.h"
#include "beamtop/ui/screen.h"
#include "world.h"

struct fixture {
    struct model *m;
    struct screen *s;
};

static struct fixture start(const char *view)
{
    struct error err = {0};
    struct fixture f = {.m = world_new(WORLD_BUSY), .s = screen_new(view, &err)};
    assert_non_null(f.s);
    return f;
}

static void end(struct fixture *f)
{
    screen_free(f->s);
    model_free(f->m);
}

/* A view's name opens the view; with more words the action of that name counts. */
TEST(test_what_a_line_means)
{
    static const struct {
        const char *view, *line;
        enum action action;
        const char *arg;
    } rows[] = {
        {"processes", "memory", ACTION_VIEW, "memory"},
        {"processes", "  memo", ACTION_VIEW, "memo"},
        {"processes", "samples", ACTION_VIEW, "samples"},
        {"processes", "trace", ACTION_VIEW, "trace"},
        {"processes", "trace ", ACTION_VIEW, "trace "},
        {"processes", "calls", ACTION_VIEW, "calls"},
        {"processes", "trace lists:map/2", ACTION_TRACE, "lists:map/2"},
        {"trace", "trace", ACTION_TRACE, ""},
        {"calls", "calls", ACTION_CALLS, ""},
        {"processes", "sample", ACTION_SAMPLE, ""},
        {"processes", "armed", ACTION_ARMED, ""},
        {"processes", "process", ACTION_PROCESS, ""},
        {"processes", "process Shop.Cart", ACTION_PROCESS, "Shop.Cart"},
        {"processes", "tree kernel", ACTION_TREE, "kernel"},
        {"processes", "samples shop", ACTION_VIEW, "samples shop"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f = start(rows[i].view);
        struct action_call call = {0};
        struct error err = {0};
        int rc = screen_command(f.s, rows[i].line, &call, &err);
        if (rc != 0 || call.action != rows[i].action || strcmp(call.arg, rows[i].arg) != 0)
            fail_msg("%s in %s: %d, %s '%s' %s", rows[i].line, rows[i].view, rc,
                     action_table[call.action].name, call.arg, err.text);
        end(&f);
    }
}

TEST(test_a_line_that_means_nothing_names_the_nearest)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"memry", "unknown action or view “memry”; did you mean memory?"},
        {"findngs", "unknown action or view “findngs”; did you mean findings?"},
        {"sort-rigt", "unknown action or view “sort-rigt”; did you mean sort-right?"},
        {"xyzzy", "unknown action or view “xyzzy”: Tab lists all"},
        {"zoom in", "zoom takes nothing"},
    };
    struct fixture f = start("processes");
    struct action_call call;
    struct error err = {0};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        err = (struct error){0};
        assert_int_equal(screen_command(f.s, rows[i].line, &call, &err), ERR_USAGE);
        assert_string_equal(err.text, rows[i].says);
    }
    err = (struct error){0};
    assert_int_equal(screen_act(f.s, f.m, ACTION_VIEW, "memry", &err), ERR_USAGE);
    assert_string_equal(err.text, "unknown view “memry”; did you mean memory?");
    end(&f);
}

/* In each spelling that --procs takes, from any view. */
TEST(test_process_by_name)
{
    static const struct {
        const char *view, *arg, *name; /* NULL: by its pid */
    } rows[] = {
        {"processes", "Shop.Cart", "Elixir.Shop.Cart"},
        {"processes", "Elixir.Shop.Cart", "Elixir.Shop.Cart"},
        {"memory", "'Elixir.Shop.Cart' ", "Elixir.Shop.Cart"},
        {"memory", ":cart", "cart"},
        {"process", "cart  ", "cart"},
        {"memory", "'a cart'", "a cart"},
        {"memory", "<0.41.0>", NULL},
        {"processes", "0.41.0", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fixture f = start(rows[i].view);
        struct error err = {0};
        struct want want = {0};
        if (screen_act(f.s, f.m, ACTION_PROCESS, rows[i].arg, &err) != 1)
            fail_msg("%s: %s", rows[i].arg, err.text);
        assert_string_equal(screen_view(f.s), "process");
        screen_want(f.s, &want);
        assert_true(want.needs & NEED(PROCESS));
        if (rows[i].name)
            assert_string_equal(want.process.name, rows[i].name);
        else
            assert_int_equal(want.process.pid.id, 41);
        /* From elsewhere, without a word: the one that was shown last. */
        assert_int_equal(screen_act(f.s, f.m, ACTION_VIEW, "memory", &err), 1);
        assert_int_equal(screen_act(f.s, f.m, ACTION_PROCESS, "", &err), 1);
        assert_string_equal(screen_view(f.s), "process");
        end(&f);
    }
    static const char *const views[] = {"memory", "process"};
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        struct fixture f = start(views[i]);
        struct error err = {0};
        assert_int_equal(screen_act(f.s, f.m, ACTION_PROCESS, "", &err), ERR_USAGE);
        assert_string_equal(err.text,
                            "put the cursor on a process, or type its name: :process NAME or PID");
        end(&f);
    }
}
