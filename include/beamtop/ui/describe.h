/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables as text: for `--help`, the help view, the manual (mdoc) and the shells' completion.
 * Documents are made from these, and a test fails when they
 * are stale. */
#ifndef BEAMTOP_UI_DESCRIBE_H
#define BEAMTOP_UI_DESCRIBE_H

#include "beamtop/ui/keymap.h"

struct buf;

enum describe_form {
    DESCRIBE_TEXT,  /* aligned, for a terminal */
    DESCRIBE_MDOC,  /* rows of a -tag list (.It …) */
    DESCRIBE_WORDS, /* a word a line: name TAB help */
};

/* A text of the manual: in mdoc a leading dot or quote and every backslash mean something. */
void describe_put_roff(struct buf *out, const char *text);

void describe_options(struct buf *out, enum describe_form form);
void describe_actions(struct buf *out, enum describe_form form);
void describe_keys(struct buf *out, enum describe_form form, const struct keymap *keymap);
void describe_styles(struct buf *out, enum describe_form form);
void describe_themes(struct buf *out, enum describe_form form);

#endif
