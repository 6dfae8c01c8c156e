/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beamtop.conf: one command a line.
 *     set NAME VALUE          bind CONTEXT KEY ACTION [ARG]   unbind CONTEXT KEY
 *     color STYLE FG BG …     source FILE                     # comment
 *     tls NODES WORD VALUE …
 * Words are parted by blanks; "…" and '…' keep blanks ( \" and \\ within "…"). An error is put
 * into the diags and the next line is read. The same reader serves `:set`, `:bind`, … at the
 * prompt. */
#ifndef BEAMTOP_UI_CONFIG_H
#define BEAMTOP_UI_CONFIG_H

#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/ui/diag.h"
#include "beamtop/ui/keymap.h"
#include "beamtop/ui/option.h"
#include "beamtop/ui/theme.h"
#include "beamtop/ui/tls_lines.h"

struct buf;

/* Reads a whole file; tests and fuzzing give their own. out has the cap LIMIT_CONFIG_BYTES. */
typedef int config_read(void *ctx, const char *path, struct buf *out, struct error *err);

struct config {
    struct options *options; /* borrowed, as the next three */
    struct keymap *keymap;
    struct theme *theme;
    struct diags *diags;
    struct tls_lines *tls; /* borrowed; NULL: lines `tls` are only checked */
    config_read *read;     /* NULL: `source` and theme files are refused */
    void *ctx;
    const char *theme_dirs[3]; /* of NAME.theme, before the built-in ones; NULL ends */
};

/* Of the file system. */
int config_read_file(void *ctx, const char *path, struct buf *out, struct error *err);

/* Resets options, keys and theme to what etc/beamtop.conf says; it has no errors (a test). */
void config_defaults(struct config *c);
/* Reads text as if it were the file `name` (`source` is relative to its folder). */
void config_parse(struct config *c, const char *name, const char *text, size_t len);
/* Reads a file. ERR_NOT_FOUND or ERR_SYSTEM when it cannot be read; errors inside go to diags. */
int config_load(struct config *c, const char *path, struct error *err);
/* One command typed at the prompt. ERR_USAGE; *error_offset is the byte that is wrong. */
int config_command(struct config *c, const char *line, size_t *error_offset, struct error *err);
/* Makes `name` the theme: from theme_dirs, else built in; sets the option too. */
int config_theme(struct config *c, const char *name, struct error *err);
/* What the terminal's background is: THEME_AUTO follows it, other themes stay readable on it. */
void config_set_background(struct config *c, enum theme_background background);

#endif
