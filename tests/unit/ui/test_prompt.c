/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../test.h"
#include "../../temporary.h"
#include "beamtop/base/buf.h"
#include "beamtop/ui/describe.h"
#include "beamtop/ui/prompt.h"

/* What a prompt's owner was told. */
struct told {
    char line[5000];
    int changes, accepted, cancelled;
    struct prompt *prompt;
};

static void on_changed(void *ctx, const char *line)
{
    struct told *t = ctx;
    t->changes++;
    snprintf(t->line, sizeof t->line, "%s", line);
    if (strchr(line, '['))
        prompt_mark_error(t->prompt, (size_t)(strchr(line, '[') - line), "missing ]");
}

static void on_accepted(void *ctx, const char *line)
{
    struct told *t = ctx;
    t->accepted++;
    snprintf(t->line, sizeof t->line, "%s", line);
}

static void on_cancelled(void *ctx)
{
    ((struct told *)ctx)->cancelled++;
}

static void more_words(void *ctx, enum word_kind kind, word_put *put, void *out)
{
    (void)ctx;
    static const char *const columns[] = {"memory_bytes", "message_queue_len", "name", NULL};
    for (size_t i = 0; kind == WORD_COLUMN && columns[i]; i++)
        put(out, columns[i], "");
    if (kind == WORD_VIEW)
        put(out, "top", "");
}

static const struct word_provider more = {more_words, NULL};

static void on_complete(void *ctx, const char *line, size_t point, struct completion *out)
{
    (void)ctx;
    complete_command(out, line, point, &more);
}

static struct prompt_calls calls_of(struct told *t)
{
    return (struct prompt_calls){on_changed, on_accepted, on_cancelled, on_complete, .ctx = t};
}

static void type(struct prompt *p, const char *keys)
{
    while (*(keys += strspn(keys, " ")) != '\0') {
        struct key key;
        size_t len = strcspn(keys, " ");
        assert_true(key_parse(keys, len, &key));
        prompt_key(p, key);
        keys += len;
    }
}

TEST(test_editing)
{
    static const struct {
        const char *initial, *keys, *line;
    } rows[] = {
        {"", "a b <Space> c", "ab c"},
        {"one two", "C-w t", "one t"},
        {"abc", "<Left> <Left> X", "aXbc"},
        {"abc", "<Home> X <End> Y", "XabcY"},
        {"abc", "<Home> <Delete>", "bc"},
        {"abc", "<Backspace>", "ab"},
        {"one two", "M-b C-k", "one "},
        {"one two", "C-<Left> C-u", "two"},
        {"one two", "M-b C-k C-y C-y", "one twotwo"},
        {"", "\xc3\xa9 \xe4\xb8\xad <Left> <Backspace>", "\xe4\xb8\xad"},
        {"a", "<PgDn> <F5> <Insert> b", "ab"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct told t = {0};
        struct prompt_calls calls = calls_of(&t);
        struct prompt *p = t.prompt = prompt_new(NULL);
        prompt_open(p, PROMPT_FILTER, "/", rows[i].initial, &calls);
        type(p, rows[i].keys);
        size_t point;
        if (strcmp(prompt_line(p, &point), rows[i].line) != 0)
            fail_msg("row %zu: '%s'", i, prompt_line(p, &point));
        assert_string_equal(t.line, rows[i].line);
        type(p, "<Enter>");
        assert_false(prompt_is_open(p));
        assert_int_equal(t.accepted, 1);
        assert_string_equal(t.line, rows[i].line);
        prompt_free(p);
    }
}

TEST(test_ends)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct prompt *p = t.prompt = prompt_new(NULL);
    static const char *const cancels[] = {"<Esc>", "C-c", "C-g", "C-d"};
    for (size_t i = 0; i < ARRAY_LEN(cancels); i++) {
        prompt_open(p, PROMPT_COMMAND, ":", "", &calls);
        type(p, cancels[i]);
        if (t.cancelled != (int)i + 1 || prompt_is_open(p))
            fail_msg("%s did not cancel", cancels[i]);
    }
    prompt_open(p, PROMPT_ASK, "sure? ", "", &calls);
    type(p, "x <Left> Y");
    assert_string_equal(t.line, "y");
    assert_int_equal(t.accepted, 1);
    prompt_open(p, PROMPT_ASK, "sure? ", "", &calls);
    type(p, "<Enter>");
    assert_string_equal(t.line, "n");
    type(p, "a"); /* closed: nothing happens */
    prompt_free(p);
}

TEST(test_history)
{
    char dir[60], path[100];
    struct error err = {0};
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    assert_true(temporary_dir(dir, sizeof dir, "prompt"));
    snprintf(path, sizeof path, "%s/history", dir);
    struct prompt *p = t.prompt = prompt_new(NULL);
    assert_int_equal(prompt_load_history(p, PROMPT_COMMAND, path, &err), 0);
    static const char *const lines[] = {"one", "two", "two", "three"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        prompt_open(p, PROMPT_COMMAND, ":", lines[i], &calls);
        type(p, "<Enter>");
    }
    prompt_open(p, PROMPT_FILTER, "/", "", &calls);
    type(p, "<Up> <Enter>");
    assert_string_equal(t.line, ""); /* each kind has its own */
    prompt_open(p, PROMPT_COMMAND, ":", "o", &calls);
    type(p, "C-r");
    assert_string_equal(t.line, "one"); /* the last line that begins so */
    type(p, "<Esc>");
    prompt_open(p, PROMPT_COMMAND, ":", "dra", &calls);
    type(p, "<Up> <Up> X <Down> <Down> f t");
    assert_string_equal(t.line, "draft");
    type(p, "<Up> <Up> <Enter>");
    assert_int_equal(prompt_save_history(p, PROMPT_COMMAND, path, 2, NULL, &err), 0);
    prompt_free(p);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    p = t.prompt = prompt_new(NULL);
    assert_int_equal(prompt_load_history(p, PROMPT_COMMAND, path, &err), 0);
    prompt_open(p, PROMPT_COMMAND, ":", "", &calls);
    type(p, "<Up> <Up> <Up>");
    assert_string_equal(t.line, "three");
    prompt_free(p);
    unlink(path);
    rmdir(dir);
}

TEST(test_completion)
{
    static const struct {
        const char *typed, *keys, *line;
        size_t listed;
    } rows[] = {
        {"qu", "<Tab>", "quit ", 0},
        {"sort-", "<Tab>", "sort-", 4},
        {"sor", "<Tab>", "sort", 5},
        {"sort mem", "<Tab>", "sort memory_bytes ", 0},
        {"sort m", "<Tab>", "sort me", 2},
        {"columns name,mem", "<Tab>", "columns name,memory_bytes ", 0},
        {"set the", "<Tab>", "set theme ", 0},
        {"set theme colour", "<Tab>", "set theme colour-blind", 2},
        {"set own y", "<Tab>", "set own yes ", 0},
        {"set colors n", "<Tab>", "set colors none ", 0},
        {"bind ta", "<Tab>", "bind table ", 0},
        {"bind table x view t", "<Tab>", "bind table x view top ", 0},
        {"color alar", "<Tab>", "color alarm ", 0},
        {"color alarm bright-r", "<Tab>", "color alarm bright-red ", 0},
        {"color alarm red blue und", "<Tab>", "color alarm red blue underline ", 0},
        {"split r", "<Tab>", "split right ", 0},
        {"nothing x", "<Tab>", "nothing x", 0},
        {"filter a", "<Tab>", "filter a", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct told t = {0};
        struct prompt_calls calls = calls_of(&t);
        struct completion list;
        size_t point;
        struct prompt *p = t.prompt = prompt_new(NULL);
        prompt_open(p, PROMPT_COMMAND, ":", rows[i].typed, &calls);
        type(p, rows[i].keys);
        if (strcmp(prompt_line(p, &point), rows[i].line) != 0)
            fail_msg("'%s': '%s'", rows[i].typed, prompt_line(p, &point));
        completion_init(&list);
        complete_command(&list, rows[i].typed, strlen(rows[i].typed), &more);
        if (list.len > 1 && list.len != rows[i].listed)
            fail_msg("'%s': %zu words", rows[i].typed, list.len);
        assert_int_equal(prompt_rows(p, 200, 10), rows[i].listed > 0 ? 2 : 1);
        completion_clear(&list);
        prompt_free(p);
    }
}

static void row_of(const struct canvas *c, int row, char *out)
{
    *out = '\0';
    for (int i = 0; i < c->columns; i++)
        strcat(out, canvas_at(c, row, i)->text);
}

TEST(test_drawing)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct tty_cursor cursor;
    struct canvas c;
    char shown[300];
    struct prompt *p = t.prompt = prompt_new(NULL);
    canvas_init(&c, 3, 12, true);
    prompt_open(p, PROMPT_FILTER, "/", "abcdefghijklmnop", &calls);
    prompt_draw(p, &c, (struct rect){2, 0, 1, 12}, &cursor);
    row_of(&c, 2, shown);
    assert_string_equal(shown, "/ghijklmnop ");
    assert_int_equal(cursor.row * 100 + cursor.column, 211);
    type(p, "C-u a [");
    assert_int_equal(prompt_rows(p, 12, 3), 2);
    prompt_draw(p, &c, (struct rect){1, 0, 2, 12}, &cursor);
    row_of(&c, 1, shown);
    assert_string_equal(shown, "missing ]   ");
    assert_int_equal(canvas_at(&c, 2, 2)->style, STYLE_ERROR);
    type(p, "<Backspace>");
    assert_int_equal(prompt_rows(p, 12, 3), 1);
    prompt_paste(p,
                 "b\nc\x1b\xff"
                 "d",
                 6);
    assert_string_equal(t.line, "ab cd");
    canvas_clear(&c);
    prompt_free(p);
}

/* A question that does not fit is broken at blanks; where there is no room for all of its rows, the
   last ones stay: that it is one stands at its end. */
TEST(test_a_long_question)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct tty_cursor cursor;
    struct canvas c;
    char shown[300];
    struct prompt *p = t.prompt = prompt_new(NULL);
    canvas_init(&c, 3, 20, false);
    prompt_open(p, PROMPT_ASK, "it costs 12 %: go on? (y/n) ", "", &calls);
    assert_int_equal(prompt_rows(p, 20, 3), 2);
    assert_int_equal(prompt_rows(p, 40, 3), 1);
    prompt_draw(p, &c, (struct rect){1, 0, 2, 20}, &cursor);
    row_of(&c, 1, shown);
    assert_string_equal(shown, "it costs 12 %: go   ");
    row_of(&c, 2, shown);
    assert_string_equal(shown, "on? (y/n)           ");
    assert_int_equal(cursor.row, 2);
    assert_int_equal(cursor.column, 10);
    prompt_draw(p, &c, (struct rect){0, 0, 1, 20}, &cursor);
    row_of(&c, 0, shown);
    assert_string_equal(shown, "on? (y/n)           ");
    row_of(&c, 1, shown);
    assert_string_equal(shown, "it costs 12 %: go   ");
    for (int columns = 1; columns < 20; columns++) {
        prompt_draw(p, &c, (struct rect){0, 0, 1, columns}, &cursor);
        assert_true(cursor.column <= columns);
        assert_string_not_equal(canvas_at(&c, 0, 0)->text, " ");
    }
    canvas_clear(&c);
    prompt_free(p);
}

/* What is known of a line keeps its rows while the line changes. */
TEST(test_hint)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct tty_cursor cursor;
    struct canvas c;
    char shown[300];
    struct prompt *p = t.prompt = prompt_new(NULL);
    canvas_init(&c, 4, 12, true);
    prompt_open(p, PROMPT_TRACE, "> ", "a", &calls);
    assert_int_equal(prompt_rows(p, 12, 4), 1);
    prompt_set_hint(p, STYLE_MESSAGE, "spec\n3 functions");
    assert_int_equal(prompt_rows(p, 12, 4), 3);
    prompt_draw(p, &c, (struct rect){1, 0, 3, 12}, &cursor);
    row_of(&c, 1, shown);
    assert_string_equal(shown, "spec        ");
    row_of(&c, 2, shown);
    assert_string_equal(shown, "3 functions ");
    row_of(&c, 3, shown);
    assert_string_equal(shown, "> a         ");
    assert_int_equal(canvas_at(&c, 1, 0)->style, STYLE_NORMAL);
    assert_int_equal(canvas_at(&c, 2, 0)->style, STYLE_MESSAGE);
    type(p, "b");
    assert_int_equal(prompt_rows(p, 12, 4), 3);
    prompt_draw(p, &c, (struct rect){1, 0, 3, 12}, &cursor);
    assert_int_equal(canvas_at(&c, 2, 0)->style, STYLE_DIM);
    prompt_set_hint(p, STYLE_ERROR, "\nwrong");
    prompt_mark_error(p, 1, "");
    assert_int_equal(prompt_rows(p, 12, 4), 3);
    prompt_draw(p, &c, (struct rect){1, 0, 3, 12}, &cursor);
    assert_int_equal(canvas_at(&c, 2, 0)->style, STYLE_ERROR);
    assert_int_equal(canvas_at(&c, 3, 3)->style, STYLE_ERROR);
    prompt_draw(p, &c, (struct rect){3, 0, 1, 12}, &cursor); /* no room for it */
    assert_int_equal(cursor.row, 3);
    prompt_set_hint(p, STYLE_DIM, NULL);
    assert_int_equal(prompt_rows(p, 12, 4), 1);
    canvas_clear(&c);
    prompt_free(p);
}

/* Lines that are too long are broken at blanks; what is longer still is cut. */
TEST(test_a_long_hint)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct tty_cursor cursor;
    struct canvas c;
    char shown[300];
    struct prompt *p = t.prompt = prompt_new(NULL);
    canvas_init(&c, 8, 12, false);
    prompt_open(p, PROMPT_TRACE, "> ", "a", &calls);
    prompt_set_hint(p, STYLE_MESSAGE, "[{[_, '$1'], [{'>', 3}]}]\n1,204 functions");
    assert_int_equal(prompt_rows(p, 12, 8), 5);
    prompt_draw(p, &c, (struct rect){3, 0, 5, 12}, &cursor);
    static const char *const rows[] = {"[{[_, '$1'],", "[{'>', 3}]}]", "1,204       ",
                                       "functions   ", "> a         "};
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        row_of(&c, i + 3, shown);
        assert_string_equal(shown, rows[i]);
    }
    prompt_set_hint(p, STYLE_MESSAGE, "one two three four five six seven eight nine ten");
    assert_int_equal(prompt_rows(p, 12, 8), 5);
    prompt_draw(p, &c, (struct rect){3, 0, 5, 12}, &cursor);
    row_of(&c, 6, shown);
    assert_string_equal(shown, "seven eight\xe2\x80\xa6");
    canvas_clear(&c);
    prompt_free(p);
}

/* Words that come later are completed then, and only while the prompt is open. */
TEST(test_completing_again)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    struct prompt *p = t.prompt = prompt_new(NULL);
    size_t point;
    prompt_open(p, PROMPT_COMMAND, ":", "sort-r", &calls);
    prompt_complete_again(p);
    assert_string_equal(prompt_line(p, &point), "sort-r");
    assert_int_equal(prompt_rows(p, 200, 10), 2);
    type(p, "e");
    prompt_complete_again(p);
    assert_string_equal(prompt_line(p, &point), "sort-reverse ");
    type(p, "<Esc>");
    prompt_complete_again(p);
    assert_false(prompt_is_open(p));
    prompt_free(p);
}

static void on_spec(void *ctx)
{
    *(int *)ctx += 1;
}

/* Its key is bound in the configuration; a prompt without one lets it pass. */
TEST(test_match_specification)
{
    struct error err = {0};
    struct prompt_calls calls = {.spec = on_spec};
    struct keymap keymap;
    struct key key;
    int times = 0;
    size_t point;
    keymap_init(&keymap);
    assert_true(key_parse("C-o", 3, &key));
    assert_int_equal(keymap_bind(&keymap, CONTEXT_PROMPT, key, ACTION_PROMPT_SPEC, "", &err), 0);
    struct prompt *p = prompt_new(&keymap);
    calls.ctx = &times;
    prompt_open(p, PROMPT_TRACE, "trace> ", "a:b/1", &calls);
    prompt_key(p, key);
    prompt_key(p, key);
    assert_int_equal(times, 2);
    assert_string_equal(prompt_line(p, &point), "a:b/1");
    calls.spec = NULL;
    prompt_open(p, PROMPT_CALLS, "calls> ", "a:b/1", &calls);
    prompt_key(p, key);
    assert_true(prompt_is_open(p));
    prompt_free(p);
    keymap_clear(&keymap);
}

TEST(test_long_lines_are_bounded)
{
    struct told t = {0};
    struct prompt_calls calls = calls_of(&t);
    size_t point;
    struct prompt *p = t.prompt = prompt_new(NULL);
    char text[4000];
    memset(text, 'x', sizeof text);
    prompt_open(p, PROMPT_FILTER, "/", "", &calls);
    prompt_paste(p, text, sizeof text);
    prompt_paste(p, text, sizeof text);
    assert_int_equal(strlen(prompt_line(p, &point)), 4096);
    type(p, "y");
    assert_int_equal(strlen(prompt_line(p, &point)), 4096);
    prompt_free(p);
}

TEST(test_descriptions)
{
    struct buf b;
    buf_init(&b, 0);
    for (int form = DESCRIBE_TEXT; form <= DESCRIBE_WORDS; form++) {
        buf_reset(&b);
        describe_options(&b, (enum describe_form)form);
        describe_actions(&b, (enum describe_form)form);
        describe_styles(&b, (enum describe_form)form);
        describe_themes(&b, (enum describe_form)form);
        const char *s = buf_cstr(&b);
        assert_non_null(
            strstr(s, form == DESCRIBE_MDOC ? ".It \\fBcapture\\-dir\\fP" : "capture-dir"));
        assert_non_null(strstr(s, form == DESCRIBE_MDOC ? "sort\\-left" : "sort-left"));
        assert_null(strstr(s, "(null)"));
    }
    buf_clear(&b);
}

static int begin(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("INPUTRC", "/dev/null", 1);
    return 0;
}
TESTS_WITH(begin, NULL);
