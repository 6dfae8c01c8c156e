/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/library.h"

/* Brackets and quotes close: what does not could not be sent as it stands. */
static int open_brackets(const char *s)
{
    int open = 0;
    for (char quote = 0; *s; s++) {
        if (quote)
            quote = *s == quote ? 0 : quote;
        else if (*s == '\'' || *s == '"')
            quote = *s;
        else if (strchr("([{", *s))
            open++;
        else if (strchr(")]}", *s))
            open--;
        if (!s[1] && quote)
            return -1;
    }
    return open;
}

static void check_closed(const char *title, const char *text)
{
    if (open_brackets(text) != 0)
        fail_msg("%s: brackets or quotes of %s do not close", title, text);
}

TEST(test_rows_are_whole)
{
    for (const struct library_row *r = library_table; r->title; r++) {
        assert_true(*r->title);
        check_closed(r->title, r->erlang);
        check_closed(r->title, r->elixir);
    }
}

TEST(test_rows_differ)
{
    for (const struct library_row *r = library_table; r->title; r++) {
        for (const struct library_row *other = r + 1; other->title; other++) {
            assert_string_not_equal(r->title, other->title);
            assert_string_not_equal(r->erlang, other->erlang);
        }
    }
}

TEST(test_spelling_is_the_one_asked_for)
{
    const struct library_row *r = &library_table[0];
    assert_ptr_equal(library_text(r, SYNTAX_ELIXIR), r->elixir);
    assert_ptr_equal(library_text(r, SYNTAX_ERLANG), r->erlang);
    assert_ptr_equal(library_text(r, SYNTAX_AUTO), r->erlang);
}
