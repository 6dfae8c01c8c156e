/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <readline/readline.h>

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/ui/config.h"
#include "ui/files/file.h"
#include "prompt_internal.h"

/* Readline's hooks carry no context: the prompt that exists. */
static struct prompt *the_prompt;

static int go_older(int count, int key);
static int go_newer(int count, int key);
static int search_older(int count, int key);
static int search_newer(int count, int key);

/* What readline reads for keys that are not characters; bound at start whatever inputrc says. */
static const struct {
    uint32_t code;
    uint8_t mods;
    const char *bytes;
    rl_command_func_t *does;
} sequences[] = {
    {KEYS_UP, 0, "\x1b[A", go_older},
    {KEYS_DOWN, 0, "\x1b[B", go_newer},
    {KEYS_RIGHT, 0, "\x1b[C", rl_forward_char},
    {KEYS_LEFT, 0, "\x1b[D", rl_backward_char},
    {KEYS_HOME, 0, "\x1b[H", rl_beg_of_line},
    {KEYS_END, 0, "\x1b[F", rl_end_of_line},
    {KEYS_DELETE, 0, "\x1b[3~", rl_delete},
    {KEYS_RIGHT, KEY_MOD_CTRL, "\x1b[1;5C", rl_forward_word},
    {KEYS_LEFT, KEY_MOD_CTRL, "\x1b[1;5D", rl_backward_word},
    {KEYS_BACKSPACE, 0, "\x7f", NULL},
    {KEYS_BACKSPACE, KEY_MOD_META, "\x1b\x7f", NULL},
    {KEYS_ENTER, 0, "\r", NULL},
    {KEYS_ESC, 0, "\x1b", NULL},
};

/*
 * History is ours, not readline's: its entries share undo lists with the line, which does not
 * survive a change of prompts, and its searches ask on a line of their own, which is not drawn
 * here. These take the place of its functions; what is NULL has none. */
static const struct {
    rl_command_func_t *theirs, *ours;
} replaced[] = {
    {rl_get_previous_history, go_older},
    {rl_get_next_history, go_newer},
    {rl_reverse_search_history, search_older},
    {rl_forward_search_history, search_newer},
    {rl_history_search_backward, search_older},
    {rl_history_search_forward, search_newer},
    {rl_noninc_reverse_search, search_older},
    {rl_noninc_forward_search, search_newer},
    {rl_noninc_reverse_search_again, NULL},
    {rl_noninc_forward_search_again, NULL},
    {rl_beginning_of_history, NULL},
    {rl_end_of_history, NULL},
    {rl_yank_nth_arg, NULL},
    {rl_yank_last_arg, NULL},
    {rl_vi_search, NULL},
    {rl_vi_search_again, NULL},
    {rl_vi_fetch_history, NULL},
    {rl_vi_yank_arg, NULL},
    {rl_re_read_init_file, NULL},
    {rl_quoted_insert, NULL}, /* control bytes mean nothing in our lines */
    /* these leak memory when the prompt ends before their next key */
    {rl_char_search, NULL},
    {rl_backward_char_search, NULL},
    {rl_digit_argument, NULL},
    {rl_universal_argument, NULL},
};

/* ---- hooks */

static int hook_getc(FILE *stream)
{
    (void)stream;
    if (the_prompt->input_len == 0)
        return EOF;
    the_prompt->input_len--;
    return (unsigned char)*the_prompt->input++;
}

static int hook_available(void)
{
    return the_prompt->input_len > 0;
}

static void hook_redisplay(void)
{
}

static void hook_line(char *line)
{
    the_prompt->ended = true;
    the_prompt->accepted = line != NULL;
    if (line) {
        free(the_prompt->reported_line);
        the_prompt->reported_line = alloc_strdup(line);
    }
    free(line);
    rl_callback_handler_remove();
}

static void hook_prep(int meta)
{
    (void)meta;
}

static void hook_deprep(void)
{
}

/* ---- life */

struct prompt *prompt_new(const struct keymap *keymap)
{
    assert(!the_prompt);
    struct prompt *p = alloc_zero(1, sizeof *p);
    p->keymap = keymap;
    p->error_at = SIZE_MAX;
    p->null_in = fopen("/dev/null", "re");
    p->null_out = fopen("/dev/null", "we");
    the_prompt = p;
    rl_readline_name = "beamtop";
    rl_terminal_name = "dumb"; /* nobody would receive its control strings */
    rl_instream = p->null_in;
    rl_outstream = p->null_out;
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_inhibit_completion = 1;
    rl_getc_function = hook_getc;
    rl_input_available_hook = hook_available;
    rl_redisplay_function = hook_redisplay;
    rl_prep_term_function = hook_prep;
    rl_deprep_term_function = hook_deprep;
    return p;
}

static void history_clear(struct prompt_history *h)
{
    for (size_t i = 0; i < h->len; i++)
        free(h->lines[i]);
    free(h->lines);
    *h = (struct prompt_history){0};
}

void prompt_free(struct prompt *p)
{
    if (!p)
        return;
    prompt_close(p);
    for (int i = 0; i < PROMPT_KINDS; i++)
        history_clear(&p->histories[i]);
    if (p->null_in)
        fclose(p->null_in);
    if (p->null_out)
        fclose(p->null_out);
    rl_instream = rl_outstream = NULL;
    the_prompt = NULL;
    free(p);
}

static void clear_error(struct prompt *p)
{
    p->error_at = SIZE_MAX;
    free(p->error_text);
    p->error_text = NULL;
}

static void bind_keys(void)
{
    const Keymap maps[] = {emacs_standard_keymap, emacs_meta_keymap, emacs_ctlx_keymap,
                           vi_insertion_keymap, vi_movement_keymap};
    for (size_t i = 0; i < ARRAY_LEN(maps); i++)
        for (int key = 0; key < KEYMAP_SIZE; key++)
            for (size_t k = 0; k < ARRAY_LEN(replaced); k++)
                if (maps[i][key].type == ISFUNC && maps[i][key].function == replaced[k].theirs)
                    maps[i][key].function = replaced[k].ours;
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++)
        if (sequences[i].does)
            rl_bind_keyseq(sequences[i].bytes, sequences[i].does);
}

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *mark, const char *initial,
                 const struct prompt_calls *calls)
{
    prompt_close(p);
    p->kind = kind;
    p->mark = alloc_strdup(mark);
    p->calls = *calls;
    p->open = true;
    p->ended = false;
    p->at = p->histories[kind].len;
    rl_callback_handler_install("", hook_line);
    rl_variable_bind("bell-style", "none"); /* a bell would be written to the terminal */
    bind_keys();
    rl_insert_text(initial);
    p->reported_line = alloc_strdup(rl_line_buffer);
}

void prompt_close(struct prompt *p)
{
    if (!p->open)
        return;
    p->open = false;
    if (!p->ended) {
        rl_callback_sigcleanup(); /* gives up a search or a numeric argument that is under way */
        rl_callback_handler_remove();
    }
    rl_free_undo_list();
    completion_clear(&p->list);
    clear_error(p);
    free(p->mark);
    free(p->reported_line);
    free(p->draft);
    free(p->hint);
    p->mark = p->reported_line = p->draft = p->hint = NULL;
}

bool prompt_is_open(const struct prompt *p)
{
    return p->open;
}

enum prompt_kind prompt_kind(const struct prompt *p)
{
    return p->kind;
}

const char *prompt_line(const struct prompt *p, size_t *point)
{
    if (!p->open || p->ended) {
        *point = 0;
        return "";
    }
    *point = (size_t)rl_point;
    return rl_line_buffer;
}

void prompt_mark_error(struct prompt *p, size_t offset, const char *text)
{
    clear_error(p);
    p->error_at = offset;
    p->error_text = alloc_strdup(text);
}

void prompt_set_hint(struct prompt *p, enum style style, const char *text)
{
    free(p->hint);
    p->hint_style = style;
    p->hint = text ? alloc_strdup(text) : NULL;
    p->hint_old = false;
}

/* ---- history */

static void history_add(struct prompt_history *h, const char *line, size_t len)
{
    bool again = h->len > 0 && strlen(h->lines[h->len - 1]) == len &&
                 memcmp(h->lines[h->len - 1], line, len) == 0;
    if (len == 0 || len > LIMIT_PROMPT_BYTES || again || memchr(line, '\0', len))
        return;
    if (h->len == LIMIT_PROMPT_HISTORY) {
        free(h->lines[0]);
        memmove(h->lines, h->lines + 1, (h->len - 1) * sizeof *h->lines);
        h->len--;
    }
    h->lines = alloc_resize(h->lines, h->len + 1, sizeof *h->lines);
    h->lines[h->len++] = alloc_strndup(line, len);
}

const char *prompt_history_line(const struct prompt *p, enum prompt_kind kind, size_t age)
{
    const struct prompt_history *h = &p->histories[kind];
    return age < h->len ? h->lines[h->len - 1 - age] : NULL;
}

int prompt_load_history(struct prompt *p, enum prompt_kind kind, const char *path,
                        struct error *err)
{
    struct buf text;
    struct error why = {0};
    buf_init(&text, LIMIT_CONFIG_BYTES);
    int rc = config_read_file(NULL, path, &text, &why);
    history_clear(&p->histories[kind]);
    for (size_t at = 0; rc == 0 && at < text.len;) {
        const char *line = (const char *)text.data + at;
        const char *end = memchr(line, '\n', text.len - at);
        size_t len = end ? (size_t)(end - line) : text.len - at;
        history_add(&p->histories[kind], line, len);
        at += len + 1;
    }
    buf_clear(&text);
    if (rc == ERR_NOT_FOUND)
        return 0;
    return rc < 0 ? error_set(err, why.code, "%s", why.text) : 0;
}

int prompt_save_history(const struct prompt *p, enum prompt_kind kind, const char *path,
                        size_t most, bool (*leave_out)(const char *line), struct error *err)
{
    const struct prompt_history *h = &p->histories[kind];
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = h->len > most ? h->len - most : 0; i < h->len; i++) {
        if (leave_out && leave_out(h->lines[i]))
            continue;
        buf_puts(&text, h->lines[i]);
        buf_put_u8(&text, '\n');
    }
    int rc = file_write(path, &text, true, true, err);
    buf_clear(&text);
    return rc;
}

/* Shows a line of history, or the draft again. */
static void show_history(struct prompt *p, size_t at)
{
    const struct prompt_history *h = &p->histories[p->kind];
    if (p->at == h->len) {
        free(p->draft);
        p->draft = alloc_strdup(rl_line_buffer);
    }
    p->at = at;
    rl_replace_line(at < h->len ? h->lines[at] : p->draft, 1);
    rl_point = rl_end;
}

static int go_older(int count, int key)
{
    (void)count;
    (void)key;
    if (the_prompt->at > 0)
        show_history(the_prompt, the_prompt->at - 1);
    return 0;
}

static int go_newer(int count, int key)
{
    (void)count;
    (void)key;
    if (the_prompt->at < the_prompt->histories[the_prompt->kind].len)
        show_history(the_prompt, the_prompt->at + 1);
    return 0;
}

/* The next line that begins as the line does up to the cursor, which stays there. */
static void search_history(struct prompt *p, bool older)
{
    const struct prompt_history *h = &p->histories[p->kind];
    int point = rl_point;
    for (size_t at = p->at; older ? at > 0 : at + 1 < h->len;) {
        at = older ? at - 1 : at + 1;
        if (strncmp(h->lines[at], rl_line_buffer, (size_t)point) == 0) {
            show_history(p, at);
            rl_point = point;
            return;
        }
    }
}

static int search_older(int count, int key)
{
    (void)count;
    (void)key;
    search_history(the_prompt, true);
    return 0;
}

static int search_newer(int count, int key)
{
    (void)count;
    (void)key;
    search_history(the_prompt, false);
    return 0;
}

/* ---- keys */

static void finish_prompt(struct prompt *p, bool accepted, const char *answer)
{
    struct prompt_calls calls = p->calls;
    char *line = alloc_strdup(answer);
    if (accepted && p->kind != PROMPT_ASK)
        history_add(&p->histories[p->kind], line, strlen(line));
    prompt_close(p);
    if (accepted)
        calls.accepted(calls.ctx, line);
    else if (calls.cancelled)
        calls.cancelled(calls.ctx);
    free(line);
}

/* After readline has had its keys: is the line over, too long, or another one? */
static void after_edit(struct prompt *p)
{
    if (p->ended) {
        finish_prompt(p, p->accepted, p->reported_line);
        return;
    }
    if (rl_end > (int)LIMIT_PROMPT_BYTES) {
        rl_delete_text((int)LIMIT_PROMPT_BYTES, rl_end);
        rl_point = rl_point < rl_end ? rl_point : rl_end;
    }
    if (strcmp(p->reported_line, rl_line_buffer) == 0)
        return;
    free(p->reported_line);
    p->reported_line = alloc_strdup(rl_line_buffer);
    clear_error(p);
    p->hint_old = true;
    if (p->calls.changed)
        p->calls.changed(p->calls.ctx, p->reported_line);
}

static void feed_bytes(struct prompt *p, const char *bytes, size_t len)
{
    p->input = bytes;
    p->input_len = len;
    while (p->input_len > 0 && !p->ended)
        rl_callback_read_char();
    p->input_len = 0;
    after_edit(p);
}

static void feed_key(struct prompt *p, struct key key)
{
    char bytes[8];
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
        if (sequences[i].code == key.code && sequences[i].mods == key.mods) {
            feed_bytes(p, sequences[i].bytes, strlen(sequences[i].bytes));
            return;
        }
    }
    if (key.code == 0 || key.code >= KEYS_FIRST)
        return;
    if (key.mods & KEY_MOD_META)
        bytes[len++] = '\x1b';
    if ((key.mods & KEY_MOD_CTRL) && key.code >= 0x3f && key.code < 0x80)
        bytes[len++] = (char)(key.code & 0x1f);
    else if (!(key.mods & KEY_MOD_CTRL))
        len += key_char_encode(key.code, bytes + len);
    feed_bytes(p, bytes, len);
}

static void replace_word(struct prompt *p, const char *word, size_t len, bool whole)
{
    rl_begin_undo_group();
    rl_delete_text((int)p->list.from, (int)p->list.to);
    rl_point = (int)p->list.from;
    char *text = alloc_strndup(word, len);
    rl_insert_text(text);
    if (whole && rl_point == rl_end && p->kind == PROMPT_COMMAND)
        rl_insert_text(" ");
    rl_end_undo_group();
    free(text);
}

static void complete_word(struct prompt *p)
{
    completion_clear(&p->list);
    if (!p->calls.complete)
        return;
    p->calls.complete(p->calls.ctx, rl_line_buffer, (size_t)rl_point, &p->list);
    assert(p->list.len == 0 || (p->list.from <= p->list.to && p->list.to <= (size_t)rl_end));
    size_t common = completion_common(&p->list);
    if (p->list.len == 1)
        replace_word(p, p->list.items[0].word, common, true);
    else if (common > p->list.to - p->list.from)
        replace_word(p, p->list.items[0].word, common, false);
    if (p->list.len == 1)
        completion_clear(&p->list);
    after_edit(p);
}

void prompt_complete_again(struct prompt *p)
{
    if (p->open && !p->ended)
        complete_word(p);
}

/* Keys of the prompt's own when there is no keymap; ACTIONS for all that readline takes. */
static enum action built_in(struct key key)
{
    bool ctrl = key.mods == KEY_MOD_CTRL;
    if (key.code == KEYS_ENTER)
        return ACTION_PROMPT_ACCEPT;
    if (key.code == KEYS_TAB)
        return ACTION_PROMPT_COMPLETE;
    if (key.code == KEYS_ESC || (ctrl && (key.code == 'c' || key.code == 'g')))
        return ACTION_PROMPT_CANCEL;
    return ACTIONS;
}

static enum action prompt_action(const struct prompt *p, struct key key)
{
    if (!p->keymap)
        return built_in(key);
    const struct binding *b = keymap_lookup(p->keymap, CONTEXT_PROMPT, key);
    return b ? b->action : ACTIONS;
}

static void act_accept(struct prompt *p)
{
    completion_clear(&p->list);
    finish_prompt(p, true, p->kind == PROMPT_ASK ? "n" : rl_line_buffer);
}

static void act_cancel(struct prompt *p)
{
    finish_prompt(p, false, "");
}

static void act_complete(struct prompt *p)
{
    if (p->kind != PROMPT_ASK)
        complete_word(p);
}

static void act_spec(struct prompt *p)
{
    if (p->calls.spec)
        p->calls.spec(p->calls.ctx);
}

static void (*const handlers[ACTIONS])(struct prompt *p) = {
    [ACTION_PROMPT_ACCEPT] = act_accept,
    [ACTION_PROMPT_CANCEL] = act_cancel,
    [ACTION_PROMPT_COMPLETE] = act_complete,
    [ACTION_PROMPT_SPEC] = act_spec,
};

bool prompt_has(enum action action)
{
    return handlers[action] != NULL;
}

/* "y" or "n" when the key is one of them, else "". */
static const char *answer_of(struct key key)
{
    uint32_t letter = key.mods == 0 && key.code < 0x80 ? key.code | 0x20 : 0;
    return letter == 'y' ? "y" : letter == 'n' ? "n" : "";
}

void prompt_key(struct prompt *p, struct key key)
{
    if (!p->open)
        return;
    enum action action = prompt_action(p, key);
    bool answers = p->kind == PROMPT_ASK && *answer_of(key) && action != ACTION_PROMPT_CANCEL;
    if (answers) {
        finish_prompt(p, true, answer_of(key));
    } else if (action != ACTIONS) {
        handlers[action](p);
    } else if (p->kind != PROMPT_ASK) {
        completion_clear(&p->list);
        feed_key(p, key);
    }
}

void prompt_paste(struct prompt *p, const char *s, size_t len)
{
    if (!p->open || p->kind == PROMPT_ASK)
        return;
    struct buf text;
    buf_init(&text, LIMIT_PROMPT_BYTES);
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        size_t used = key_char_decode(s + at, len - at, &code);
        if (code == '\n' || code == '\r' || code == '\t')
            buf_puts(&text, " ");
        else if (used > 0 && code >= 0x20 && code != 0x7f)
            buf_put(&text, s + at, used);
        at += used > 0 ? used : 1;
    }
    completion_clear(&p->list);
    rl_insert_text(buf_cstr(&text));
    buf_clear(&text);
    after_edit(p);
}
