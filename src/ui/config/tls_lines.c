/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/tls_lines.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"

static const char *const verify_choices[] = {"none", "ca", "full", NULL};
static const char *const use_choices[] = {"always", "never", "auto", NULL};

static const struct {
    const char *word;
    const char *const *choices; /* NULL: a file */
} tls_words[TLS_WORDS] = {
    [TLS_WORD_CACERT] = {"cacert", NULL},
    [TLS_WORD_CERT] = {"cert", NULL},
    [TLS_WORD_KEY] = {"key", NULL},
    [TLS_WORD_KEY_PASSWORD_FILE] = {"key-password-file", NULL},
    [TLS_WORD_CRL] = {"crl", NULL},
    [TLS_WORD_VERIFY] = {"verify", verify_choices},
    [TLS_WORD_USE] = {"use", use_choices},
};

static void clear_line(struct tls_line *line)
{
    free(line->place);
    free(line->nodes);
    for (size_t i = 0; i < TLS_WORDS; i++)
        free(line->values[i]);
}

static int find_word(const char *word)
{
    for (int i = 0; i < TLS_WORDS; i++)
        if (strcmp(tls_words[i].word, word) == 0)
            return i;
    return -1;
}

static int fail_word(const char *word, struct error *err)
{
    struct buf words;
    buf_init(&words, 0);
    for (size_t i = 0; i < TLS_WORDS; i++)
        buf_printf(&words, "%s%s",
                   i == 0               ? ""
                   : i + 1 == TLS_WORDS ? " or "
                                        : ", ",
                   tls_words[i].word);
    error_set(err, ERR_USAGE, "unknown word “%s”: use %s", word, buf_cstr(&words));
    buf_clear(&words);
    return ERR_USAGE;
}

static int check_choice(int word, const char *value, struct error *err)
{
    const char *const *choices = tls_words[word].choices;
    for (size_t i = 0; choices && choices[i]; i++)
        if (strcmp(choices[i], value) == 0)
            return 0;
    return choices ? error_set(err, ERR_USAGE, "%s takes %s, %s or %s, not “%s”",
                               tls_words[word].word, choices[0], choices[1], choices[2], value)
                   : 0;
}

static char *place_file(const char *from, const char *path)
{
    const char *slash = path[0] != '/' ? strrchr(from, '/') : NULL;
    struct buf out;
    buf_init(&out, 0);
    if (slash)
        buf_put(&out, from, (size_t)(slash - from) + 1);
    buf_puts(&out, path);
    return buf_take(&out);
}

static int fill_line(struct tls_line *line, const char *file, const char *const *words, size_t n,
                     size_t *bad, struct error *err)
{
    *bad = 0;
    line->nodes = alloc_strdup(words[0]);
    if (n < 3)
        return error_set(err, ERR_USAGE, "too little: tls NODES WORD VALUE…");
    for (size_t i = 1; i < n; i += 2) {
        const int word = find_word(words[i]);
        *bad = i;
        if (word < 0)
            return fail_word(words[i], err);
        if (i + 1 == n)
            return error_set(err, ERR_USAGE, "%s lacks its value", words[i]);
        if (line->values[word])
            return error_set(err, ERR_USAGE, "%s is given twice", words[i]);
        ++*bad;
        if (check_choice(word, words[i + 1], err) != 0)
            return ERR_USAGE;
        line->values[word] =
            tls_words[word].choices ? alloc_strdup(words[i + 1]) : place_file(file, words[i + 1]);
    }
    *bad = 1;
    if (line->values[TLS_WORD_KEY] && !line->values[TLS_WORD_CERT])
        return error_set(err, ERR_USAGE, "key lacks its certificate: cert FILE");
    return 0;
}

int tls_lines_add(struct tls_lines *lines, const char *file, size_t number,
                  const char *const *words, size_t n, size_t *bad, struct error *err)
{
    struct tls_line line = {0};
    struct buf place;
    buf_init(&place, 0);
    buf_printf(&place, "%s, line %zu", file, number);
    line.place = buf_take(&place);
    const int rc = fill_line(&line, file, words, n, bad, err);
    if (rc == 0 && lines) {
        lines->list = alloc_grow(lines->list, lines->n, sizeof *lines->list);
        lines->list[lines->n++] = line;
        return 0;
    }
    if (rc != 0 && lines && lines->invalid.code == ERR_NONE)
        error_set(&lines->invalid, ERR_USAGE, "%s: %s", line.place, err->text);
    clear_line(&line);
    return rc;
}

const struct tls_line *tls_lines_find(const struct tls_lines *lines, const char *node)
{
    for (size_t i = 0; i < lines->n; i++)
        if (fnmatch(lines->list[i].nodes, node, 0) == 0)
            return &lines->list[i];
    return NULL;
}

void tls_lines_clear(struct tls_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        clear_line(&lines->list[i]);
    free(lines->list);
    *lines = (struct tls_lines){0};
}
