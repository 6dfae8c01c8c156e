/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "ui/files/embedded.h"
#include "ui/files/line.h"

static const char prompt_file[] = ":";

/* One run of the reader: what bounds it, and where it is. */
struct reader {
    struct config *c;
    const char *file;
    size_t number;           /* of the line, from 1 */
    size_t depth;            /* of `source` */
    size_t *files;           /* read so far, by the whole run */
    const struct reader *up; /* the file that sourced this one */
};

/* Runs one command's words; on failure *bad is the index of the wrong word. */
typedef int run_command(struct reader *r, struct line *l, size_t *bad, struct error *err);

static int run_set(struct reader *r, struct line *l, size_t *bad, struct error *err);
static int run_bind(struct reader *r, struct line *l, size_t *bad, struct error *err);
static int run_unbind(struct reader *r, struct line *l, size_t *bad, struct error *err);
static int run_color(struct reader *r, struct line *l, size_t *bad, struct error *err);
static int run_source(struct reader *r, struct line *l, size_t *bad, struct error *err);
static int run_tls(struct reader *r, struct line *l, size_t *bad, struct error *err);

static const struct command {
    const char *name;
    size_t least, most; /* words after the name */
    const char *form;
    run_command *run;
} commands[] = {
    {"set", 2, 2, "set NAME VALUE (quotes keep blanks together)", run_set},
    {"bind", 3, LIMIT_CONFIG_WORDS, "bind CONTEXT KEY ACTION [ARG]", run_bind},
    {"unbind", 2, 2, "unbind CONTEXT KEY", run_unbind},
    {"color", 3, LIMIT_CONFIG_WORDS, "color STYLE COLOUR BACKGROUND [ATTRIBUTE…]", run_color},
    {"source", 1, 1, "source FILE", run_source},
    {"tls", 1, LIMIT_CONFIG_WORDS, "tls NODES WORD VALUE…", run_tls},
};

int config_read_file(void *ctx, const char *path, struct buf *out, struct error *err)
{
    (void)ctx;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? error_set(err, ERR_NOT_FOUND, "%s is not there", path)
                               : error_set_errno(err, errno, "%s cannot be read", path);
    uint8_t chunk[8192];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0 && !out->overflow)
        buf_put(out, chunk, (size_t)n);
    int failed = n < 0 ? errno : 0;
    close(fd);
    if (failed)
        return error_set_errno(err, failed, "%s cannot be read", path);
    if (out->overflow)
        return error_set(err, ERR_LIMIT, "%s is larger than %u bytes", path, LIMIT_CONFIG_BYTES);
    return 0;
}

/* ---- commands */

static int run_set(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    int option = option_find(l->words[1], strlen(l->words[1]));
    *bad = 1;
    if (option < 0)
        return option_unknown(l->words[1], err);
    *bad = 2;
    if (option == OPTION_THEME)
        return config_theme(r->c, l->words[2], err);
    return option_set(r->c->options, (enum option)option, l->words[2], err);
}

static int read_context_and_key(struct line *l, enum context *context, struct key *key, size_t *bad,
                                struct error *err)
{
    int found = context_find(l->words[1], strlen(l->words[1]));
    *bad = 1;
    if (found < 0)
        return error_set(err, ERR_USAGE,
                         "invalid context “%s”: global, table, processes, doc, trace, picker or "
                         "prompt",
                         l->words[1]);
    *context = (enum context)found;
    *bad = 2;
    if (!key_parse(l->words[2], strlen(l->words[2]), key))
        return error_set(err, ERR_USAGE,
                         "unknown key “%s”: write a, C-a, M-a, F5, <Enter>, <PgDn> …", l->words[2]);
    return 0;
}

static int run_bind(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    enum context context;
    struct key key;
    int rc = read_context_and_key(l, &context, &key, bad, err);
    if (rc < 0)
        return rc;
    int action = action_find(l->words[3], strlen(l->words[3]));
    *bad = 3;
    if (action < 0)
        return action_unknown(l->words[3], strlen(l->words[3]), err);
    struct buf arg;
    buf_init(&arg, 0);
    for (size_t i = 4; i < l->len; i++) {
        if (i > 4)
            buf_puts(&arg, " ");
        buf_puts(&arg, l->words[i]);
    }
    *bad = l->len > 4 ? 4 : 3;
    rc = keymap_bind(r->c->keymap, context, key, (enum action)action, buf_cstr(&arg), err);
    buf_clear(&arg);
    return rc;
}

static int run_unbind(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    enum context context;
    struct key key;
    int rc = read_context_and_key(l, &context, &key, bad, err);
    if (rc < 0)
        return rc;
    if (!keymap_unbind(r->c->keymap, context, key))
        return error_set(err, ERR_USAGE, "“%s” is not bound there", l->words[2]);
    return 0;
}

static int run_color(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    int rc = theme_color(r->c->theme, l->words + 1, l->len - 1, bad, err);
    ++*bad;
    return rc;
}

static void read_config(struct reader *r, const char *text, size_t len);

/* A relative path is relative to the folder of the file that names it. */
static void put_included(struct buf *out, const char *from, const char *path)
{
    const char *slash = strrchr(from, '/');
    if (path[0] != '/' && slash)
        buf_put(out, from, (size_t)(slash - from) + 1);
    buf_puts(out, path);
}

static int may_source(const struct reader *r, const char *path, struct error *err)
{
    if (!r->c->read)
        return error_set(err, ERR_USAGE, "source cannot be used here");
    if (r->depth >= LIMIT_CONFIG_DEPTH)
        return error_set(err, ERR_LIMIT, "files source each other more than %d deep",
                         LIMIT_CONFIG_DEPTH);
    if (*r->files >= LIMIT_CONFIG_FILES)
        return error_set(err, ERR_LIMIT, "more than %d files are sourced", LIMIT_CONFIG_FILES);
    for (const struct reader *up = r; up; up = up->up)
        if (strcmp(up->file, path) == 0)
            return error_set(err, ERR_USAGE, "%s sources itself", path);
    return 0;
}

static int run_source(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    struct buf path, text;
    buf_init(&path, 0);
    buf_init(&text, LIMIT_CONFIG_BYTES);
    put_included(&path, r->file, l->words[1]);
    *bad = 1;
    int rc = may_source(r, buf_cstr(&path), err);
    if (rc == 0)
        rc = r->c->read(r->c->ctx, buf_cstr(&path), &text, err);
    if (rc == 0) {
        ++*r->files;
        struct reader inner = {r->c, buf_cstr(&path), 0, r->depth + 1, r->files, r};
        read_config(&inner, (const char *)text.data, text.len);
    }
    buf_clear(&text);
    buf_clear(&path);
    return rc;
}

static int run_tls(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    *bad = 0;
    if (r->file == prompt_file)
        return error_set(err, ERR_USAGE,
                         "tls works in a file only: connections take it from there");
    const int rc = tls_lines_add(r->c->tls, r->file, r->number, (const char *const *)l->words + 1,
                                 l->len - 1, bad, err);
    ++*bad;
    return rc;
}

/* ---- lines */

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int run_words(struct reader *r, struct line *l, size_t *bad, struct error *err)
{
    const struct command *command = find_command(l->words[0]);
    *bad = 0;
    if (!command)
        return error_set(err, ERR_USAGE,
                         "unknown command “%s”: use set, bind, unbind, color, source or "
                         "tls",
                         l->words[0]);
    size_t n = l->len - 1;
    if (n < command->least || n > command->most) {
        *bad = n > command->most ? command->most + 1 : l->len - 1;
        return error_set(err, ERR_USAGE, "%s: %s", n > command->most ? "too much" : "too little",
                         command->form);
    }
    return command->run(r, l, bad, err);
}

/* Runs one line. On failure *offset is the byte of s that is wrong. */
static int run_line(struct reader *r, const char *s, size_t len, size_t *offset, struct error *err)
{
    struct line line;
    size_t bad = 0;
    int rc = 0;
    const char *wrong = line_split(&line, s, len, offset);
    if (wrong) {
        rc = error_set(err, ERR_USAGE, "%s", wrong);
    } else if (line.len > 0) {
        rc = run_words(r, &line, &bad, err);
        *offset = line.offset[bad < line.len ? bad : line.len - 1];
    }
    line_clear(&line);
    return rc;
}

static void read_config(struct reader *r, const char *text, size_t len)
{
    struct slice line;
    r->number = 0;
    for (size_t at = 0; line_next((struct slice){text, len}, &at, &line);) {
        struct error err = {0};
        size_t offset = 0;
        r->number++;
        if (run_line(r, line.s, line.len, &offset, &err) < 0)
            diags_add(r->c->diags, r->file, r->number, offset + 1, line.s, line.len, "%s",
                      err.text);
    }
}

void config_parse(struct config *c, const char *name, const char *text, size_t len)
{
    size_t files = 0;
    struct reader r = {c, name, 0, 0, &files, NULL};
    read_config(&r, text, len);
}

int config_load(struct config *c, const char *path, struct error *err)
{
    struct buf text;
    buf_init(&text, LIMIT_CONFIG_BYTES);
    int rc = c->read ? c->read(c->ctx, path, &text, err)
                     : error_set(err, ERR_USAGE, "files cannot be read here");
    if (rc == 0)
        config_parse(c, path, (const char *)text.data, text.len);
    buf_clear(&text);
    return rc;
}

int config_command(struct config *c, const char *line, size_t *error_offset, struct error *err)
{
    size_t files = 0;
    struct reader r = {c, prompt_file, 1, 0, &files, NULL};
    *error_offset = 0;
    return run_line(&r, line, strlen(line), error_offset, err);
}

void config_defaults(struct config *c)
{
    for (int i = 0; i < OPTIONS; i++)
        option_reset(c->options, (enum option)i);
    keymap_clear(c->keymap);
    theme_init(c->theme);
    config_parse(c, embedded_config[0].name, embedded_config[0].text, embedded_config[0].len);
}

/* ---- themes */

static bool load_theme_file(struct config *c, const char *dir, const char *name)
{
    struct buf path, text;
    struct error missing = {0};
    buf_init(&path, 0);
    buf_init(&text, LIMIT_CONFIG_BYTES);
    buf_printf(&path, "%s/%s.theme", dir, name);
    bool found = c->read(c->ctx, buf_cstr(&path), &text, &missing) == 0;
    if (found) {
        theme_parse(c->theme, buf_cstr(&path), (const char *)text.data, text.len, c->diags);
        snprintf(c->theme->name, sizeof c->theme->name, "%s", name);
    }
    buf_clear(&text);
    buf_clear(&path);
    return found;
}

/* Themes that follow the terminal's background. */
static const struct follower {
    const char *name, *dark, *light;
} followers[] = {
    {THEME_AUTO, "default", "light"},
    {"colour-blind", "colour-blind", "colour-blind-light"},
};

static const struct follower *follower_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(followers); i++)
        if (strcmp(followers[i].name, name) == 0)
            return &followers[i];
    return NULL;
}

int config_theme(struct config *c, const char *name, struct error *err)
{
    bool plain = name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
    if (!plain)
        return error_set(err, ERR_USAGE, "a theme is named without a folder: “%s” is not", name);
    bool found = false;
    const struct follower *follows = follower_find(name);
    const char *file = !follows                                 ? name
                       : c->theme->terminal == BACKGROUND_LIGHT ? follows->light
                                                                : follows->dark;
    for (size_t i = 0; i < ARRAY_LEN(c->theme_dirs) && c->theme_dirs[i] && c->read && !found; i++)
        found = load_theme_file(c, c->theme_dirs[i], file);
    int rc = found ? 0 : theme_use(c->theme, file, err);
    if (follows)
        snprintf(c->theme->name, sizeof c->theme->name, "%s", name);
    return rc < 0 ? rc : option_set(c->options, OPTION_THEME, name, err);
}

void config_set_background(struct config *c, enum theme_background background)
{
    struct error ignored = {0}; /* these themes are built in */
    char name[sizeof c->theme->name];
    bool changes = c->theme->terminal != background;
    theme_set_terminal(c->theme, background);
    memcpy(name, c->theme->name, sizeof name);
    if (changes && follower_find(name))
        (void)config_theme(c, name, &ignored);
}
