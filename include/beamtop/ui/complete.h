/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of what is typed after `:` and `/`, from the tables. */
#ifndef BEAMTOP_UI_COMPLETE_H
#define BEAMTOP_UI_COMPLETE_H

#include <stddef.h>

#include "beamtop/ui/word.h"

struct completion_item {
    char *word;       /* owned */
    const char *help; /* static or "" */
};

struct completion {
    size_t from, to;               /* the bytes of the line that a word takes the place of */
    struct completion_item *items; /* sorted, without doubles */
    size_t len;
};

void completion_init(struct completion *c);
void completion_clear(struct completion *c);
size_t completion_common(const struct completion *c); /* bytes that all words begin with */

/*
 * Adds a word (copied; help is static). Past LIMIT_COMPLETIONS words are left out, but those that
 * completion_common() depends on. */
void completion_add(struct completion *c, const char *word, const char *help);
void completion_sort(struct completion *c); /* and leaves doubles out */

/* The words that fit a command line at `point` bytes. */
void complete_command(struct completion *out, const char *line, size_t point,
                      const struct word_provider *more);

#endif
