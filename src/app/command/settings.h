/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options, keys and theme as the configuration and the command line say; for screen
 * and captures. */
#ifndef BEAMTOP_APP_COMMAND_SETTINGS_H
#define BEAMTOP_APP_COMMAND_SETTINGS_H

#include "beamtop/ui/config.h"
#include "beamtop/ui/screen.h"
#include "app/cli/cli.h"

struct settings {
    struct options options;
    struct keymap keymap;
    struct theme theme;
    struct diags diags;
    struct config config;
    char theme_dir[512]; /* of the user */
};

/*
 * Defaults, then the configuration file (unless --no-config), then the command line. Errors in
 * files are in diags and not fatal; a file that was named and cannot be read is an error. */
int settings_init(struct settings *s, const struct cli_options *o, const struct app_env *env,
                  struct error *err);
void settings_clear(struct settings *s);
/* The lines `tls` of the same files, without the rest. Errors of a line are in out, with its place;
 * a file that cannot be read is an error. Owned: tls_lines_clear(). */
int settings_read_tls(struct tls_lines *out, const struct cli_options *o, const struct app_env *env,
                      struct error *err);
void settings_print_errors(const struct settings *s); /* on stderr */

/* Gives a new screen the settings of its lists: columns, sort, own processes. */
int settings_to_screen(const struct settings *s, struct screen *screen, const struct model *model,
                       struct error *err);
/* One changed setting of those. */
int settings_change_screen(const struct settings *s, enum option option, struct screen *screen,
                           const struct model *model, struct error *err);

/* How many colours may be used. */
enum color_depth settings_depth(const struct settings *s, const struct app_env *env, bool mono);
bool settings_ascii(const struct settings *s, const struct app_env *env);

/* What the configuration says of a trace: of the screen's, or of one in batch. What is given with
 * the trace itself stands above it. */
void settings_request(const struct settings *s, bool batch, struct trace_request *out);

#endif
