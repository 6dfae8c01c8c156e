/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines `tls NODES WORD VALUE…` of beamtop.conf: TLS options of the nodes whose names fit a
 * pattern, as those of the command line. Names of files count from the directory of the file with
 * the line. Whose files they are and what they hold is found out by the connection. */
#ifndef BEAMTOP_UI_TLS_LINES_H
#define BEAMTOP_UI_TLS_LINES_H

#include <stddef.h>

#include "beamtop/base/error.h"

enum tls_word {
    TLS_WORD_CACERT,
    TLS_WORD_CERT,
    TLS_WORD_KEY,
    TLS_WORD_KEY_PASSWORD_FILE,
    TLS_WORD_CRL,
    TLS_WORD_VERIFY, /* "none", "ca", "full" */
    TLS_WORD_USE,    /* "always", "never", "auto" */
    TLS_WORDS,
};

struct tls_line {
    char *place; /* "FILE, line 3" */
    char *nodes;
    char *values[TLS_WORDS]; /* NULL: not given */
};

struct tls_lines {
    struct tls_line *list;
    size_t n;
    struct error invalid; /* the first line that is none, with its place; ERR_NONE: all are fine */
};

/* words: behind the command; file: where they stand, from `number` on. ERR_USAGE: *bad is the index
 * of the wrong one. lines NULL: they are only checked. */
int tls_lines_add(struct tls_lines *lines, const char *file, size_t number,
                  const char *const *words, size_t n, size_t *bad, struct error *err);
/* The first that fits the full name, or NULL. */
const struct tls_line *tls_lines_find(const struct tls_lines *lines, const char *node);
void tls_lines_clear(struct tls_lines *lines);

#endif
