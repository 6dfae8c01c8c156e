/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/ui/keymap.h"

TEST(test_names)
{
    static const struct {
        const char *name, *printed; /* NULL: no key */
    } rows[] = {
        {"a", "a"},
        {"A", "A"},
        {"C-c", "C-c"},
        {"C-C", "C-c"},
        {"M-x", "M-x"},
        {"C-M-x", "C-M-x"},
        {"S-a", "A"},
        {"F5", "<F5>"},
        {"<F12>", "<F12>"},
        {"F13", NULL},
        {"<Enter>", "<Enter>"},
        {"C-m", "<Enter>"},
        {"C-i", "<Tab>"},
        {"S-<Tab>", "S-<Tab>"},
        {"S-Tab", "S-<Tab>"},
        {"C-[", "<Esc>"},
        {"PgDn", "<PgDn>"},
        {"pagedown", "<PgDn>"},
        {"Space", "<Space>"},
        {" ", "<Space>"},
        {"<", "<"},
        {"-", "-"},
        {"C--", "C--"},
        {"<C-Up>", "C-<Up>"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"", NULL},
        {"ab", NULL},
        {"C-", NULL},
        {"X-a", NULL},
        {"\x1b", NULL},
        {"\xff", NULL},
        {"<>", NULL},
        {"<nothing>", NULL},
        {"M-<BS>", "M-<Backspace>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct key key;
        char text[KEY_TEXT_BYTES];
        bool ok = key_parse(rows[i].name, strlen(rows[i].name), &key);
        if (ok != (rows[i].printed != NULL))
            fail_msg("'%s': taken %d", rows[i].name, ok);
        if (ok && strcmp(key_format(key, text), rows[i].printed) != 0)
            fail_msg("'%s': printed '%s'", rows[i].name, text);
        struct key again;
        if (ok && !(key_parse(text, strlen(text), &again) && key_equal(key, again)))
            fail_msg("'%s': '%s' is another key", rows[i].name, text);
    }
}

static struct key key_of(const char *name)
{
    struct key key = {0};
    assert_true(key_parse(name, strlen(name), &key));
    return key;
}

TEST(test_places)
{
    struct keymap km;
    struct error err = {0};
    char keys[100];
    keymap_init(&km);
    assert_int_equal(keymap_bind(&km, CONTEXT_GLOBAL, key_of("m"), ACTION_UP, "", &err), 0);
    assert_int_equal(keymap_bind(&km, CONTEXT_GLOBAL, key_of("<Up>"), ACTION_UP, "", &err), 0);
    assert_int_equal(keymap_bind(&km, CONTEXT_DOC, key_of("m"), ACTION_MAILBOX, "", &err), 0);
    assert_int_equal(keymap_lookup(&km, CONTEXT_TABLE, key_of("m"))->action, ACTION_UP);
    assert_int_equal(keymap_lookup(&km, CONTEXT_DOC, key_of("m"))->action, ACTION_MAILBOX);
    assert_null(keymap_lookup(&km, CONTEXT_PROMPT, key_of("m")));
    assert_null(keymap_lookup(&km, CONTEXT_TABLE, key_of("y")));
    /* Keys of tables hold in the list of processes, those of pages among events. */
    assert_int_equal(keymap_bind(&km, CONTEXT_TABLE, key_of("o"), ACTION_CHOOSE_SORT, "", &err), 0);
    assert_int_equal(keymap_lookup(&km, CONTEXT_PROCESSES, key_of("o"))->action,
                     ACTION_CHOOSE_SORT);
    assert_int_equal(keymap_bind(&km, CONTEXT_PROCESSES, key_of("o"), ACTION_SORT, "pid", &err), 0);
    assert_int_equal(keymap_lookup(&km, CONTEXT_PROCESSES, key_of("o"))->action, ACTION_SORT);
    assert_int_equal(keymap_lookup(&km, CONTEXT_TABLE, key_of("o"))->action, ACTION_CHOOSE_SORT);
    assert_int_equal(keymap_lookup(&km, CONTEXT_TRACE, key_of("m"))->action, ACTION_MAILBOX);
    assert_int_equal(keymap_keys_of(&km, CONTEXT_TABLE, ACTION_UP, NULL, keys, sizeof keys), 2);
    assert_string_equal(keys, "m, <Up>");
    assert_int_equal(keymap_keys_of(&km, CONTEXT_DOC, ACTION_UP, NULL, keys, sizeof keys), 1);
    assert_string_equal(keys, "<Up>");
    assert_int_equal(keymap_keys_of(&km, CONTEXT_TABLE, ACTION_UP, NULL, keys, 5), 1);
    assert_string_equal(keys, "m");
    assert_true(keymap_unbind(&km, CONTEXT_DOC, key_of("m")));
    assert_false(keymap_unbind(&km, CONTEXT_DOC, key_of("m")));
    assert_int_equal(keymap_lookup(&km, CONTEXT_DOC, key_of("m"))->action, ACTION_UP);
    keymap_clear(&km);
}

TEST(test_refused)
{
    static const struct {
        const char *name;
        enum context context;
        enum action action;
        const char *arg;
    } rows[] = {
        {"an argument too much", CONTEXT_GLOBAL, ACTION_UP, "x"},
        {"an argument missing", CONTEXT_GLOBAL, ACTION_VIEW, ""},
        {"not in the prompt", CONTEXT_PROMPT, ACTION_UP, ""},
        {"only in the prompt", CONTEXT_GLOBAL, ACTION_PROMPT_ACCEPT, ""},
        {"only in tables", CONTEXT_DOC, ACTION_SORT_LEFT, ""},
    };
    struct keymap km;
    keymap_init(&km);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        int rc = keymap_bind(&km, rows[i].context, key_of("a"), rows[i].action, rows[i].arg, &err);
        if (rc != ERR_USAGE || err.text[0] == '\0')
            fail_msg("%s: %d", rows[i].name, rc);
    }
    assert_int_equal(km.len, 0);
    keymap_clear(&km);
}

TEST(test_actions_are_whole)
{
    for (int i = 0; i < ACTIONS; i++) {
        const struct action_row *row = &action_table[i];
        if (!row->name || !row->help || !row->args || row->where == 0)
            fail_msg("action %d lacks a field", i);
        if ((row->args[0] == '\0') != (row->arg == WORD_NONE))
            fail_msg("%s: args and arg differ", row->name);
        assert_int_equal(action_find(row->name, strlen(row->name)), i);
    }
}

TEST(test_action_lines)
{
    static const struct {
        const char *line;
        int action; /* -1: refused at `offset` */
        const char *arg;
        size_t offset;
    } rows[] = {
        {"sort memory_bytes", ACTION_SORT, "memory_bytes", 0},
        {"  sort", ACTION_SORT, "", 0},
        {"filter a|b  c", ACTION_FILTER, "a|b  c", 0},
        {"qui", ACTION_QUIT, "", 0},
        {"sort a b", -1, NULL, 5},
        {"up x", -1, NULL, 3},
        {"view", -1, NULL, 4},
        {"  nothing", -1, NULL, 2},
        {"s", -1, NULL, 0},
        {"", -1, NULL, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct action_call call = {0};
        struct error err = {0};
        size_t offset = 0;
        int rc = action_parse(rows[i].line, &call, &offset, &err);
        if ((rc == 0) != (rows[i].action >= 0))
            fail_msg("'%s': %d", rows[i].line, rc);
        if (rc == 0 && ((int)call.action != rows[i].action || strcmp(call.arg, rows[i].arg) != 0))
            fail_msg("'%s': action %d '%s'", rows[i].line, (int)call.action, call.arg);
        if (rc < 0 && offset != rows[i].offset)
            fail_msg("'%s': offset %zu", rows[i].line, offset);
    }
}
