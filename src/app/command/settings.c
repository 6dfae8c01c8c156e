/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The command line's options that are settings too. */
static int apply_command_line(struct settings *s, const struct cli_options *o, struct error *err)
{
    char number[64];
    int rc = 0;
    if (o->interval_given) {
        snprintf(number, sizeof number, "%gs", o->interval_s);
        rc = option_set(&s->options, OPTION_INTERVAL, number, err);
    }
    if (rc == 0 && o->budget_given) {
        snprintf(number, sizeof number, "%g", o->budget * 100);
        rc = option_set(&s->options, OPTION_BUDGET, number, err);
    }
    const struct {
        enum option option;
        const char *text;
    } texts[] = {
        {OPTION_SORT, o->sort},
        {OPTION_COLUMNS, o->columns},
        {OPTION_FILTER, o->filter},
        {OPTION_VIEW, o->view},
        {OPTION_OWN, o->own ? "yes" : NULL},
        {OPTION_SORT_REVERSE, o->reverse ? "yes" : NULL},
        {OPTION_ASCII, o->ascii ? "yes" : NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts) && rc == 0; i++)
        if (texts[i].text)
            rc = option_set(&s->options, texts[i].option, texts[i].text, err);
    if (rc == 0 && o->theme)
        rc = config_theme(&s->config, o->theme, err);
    return rc;
}

static int load_files(struct settings *s, const struct cli_options *o, const struct app_env *env,
                      struct error *err)
{
    char dir[512], path[600];
    const char *named = o->config ? o->config : env->config;
    if (named)
        return config_load(&s->config, named, err);
    cli_config_dir(dir, sizeof dir, env);
    const char *const places[] = {CONF_DIR, dir};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!*places[i])
            continue;
        snprintf(path, sizeof path, "%s/beamtop.conf", places[i]);
        if (access(path, F_OK) != 0)
            continue;
        int rc = config_load(&s->config, path, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static void set_defaults(struct settings *s, const struct app_env *env)
{
    char dir[480];
    *s = (struct settings){0};
    options_init(&s->options);
    keymap_init(&s->keymap);
    theme_init(&s->theme);
    diags_init(&s->diags);
    cli_config_dir(dir, sizeof dir, env);
    if (*dir)
        snprintf(s->theme_dir, sizeof s->theme_dir, "%s/themes", dir);
    s->config = (struct config){
        .options = &s->options,
        .keymap = &s->keymap,
        .theme = &s->theme,
        .diags = &s->diags,
        .read = config_read_file,
        .theme_dirs = {*dir ? s->theme_dir : THEME_DIR, *dir ? THEME_DIR : NULL, NULL},
    };
    config_defaults(&s->config);
}

int settings_init(struct settings *s, const struct cli_options *o, const struct app_env *env,
                  struct error *err)
{
    set_defaults(s, env);
    int rc = o->no_config ? 0 : load_files(s, o, env, err);
    return rc != 0 ? rc : apply_command_line(s, o, err);
}

int settings_read_tls(struct tls_lines *out, const struct cli_options *o, const struct app_env *env,
                      struct error *err)
{
    struct settings s;
    *out = (struct tls_lines){0};
    if (o->no_config)
        return 0;
    set_defaults(&s, env);
    s.config.tls = out;
    const int rc = load_files(&s, o, env, err);
    settings_clear(&s);
    return rc;
}

void settings_print_errors(const struct settings *s)
{
    struct buf out;
    if (s->diags.len == 0)
        return;
    buf_init(&out, 0);
    diags_print(&s->diags, &out);
    fwrite(out.data, 1, out.len, stderr);
    buf_clear(&out);
}

void settings_clear(struct settings *s)
{
    options_clear(&s->options);
    keymap_clear(&s->keymap);
    diags_clear(&s->diags);
}

enum color_depth settings_depth(const struct settings *s, const struct app_env *env, bool mono)
{
    static const enum color_depth depths[] = {
        [COLORS_AUTO] = DEPTH_256, [COLORS_256] = DEPTH_256,   [COLORS_16] = DEPTH_16,
        [COLORS_8] = DEPTH_8,      [COLORS_NONE] = DEPTH_NONE,
    };
    int colors = option_int(&s->options, OPTION_COLORS);
    if (mono || (colors == COLORS_AUTO && env->no_color && *env->no_color))
        return DEPTH_NONE;
    return depths[colors];
}

bool settings_ascii(const struct settings *s, const struct app_env *env)
{
    const int ascii = option_int(&s->options, OPTION_ASCII);
    return ascii == AUTO_AUTO ? !env->utf8 : ascii == AUTO_YES;
}

/* Settings that are an action of the screen when they change. */
static const struct {
    enum option option;
    enum action action;
} screen_settings[] = {
    {OPTION_COLUMNS, ACTION_COLUMNS},
    {OPTION_SORT, ACTION_SORT},
    {OPTION_SORT_REVERSE, ACTION_SORT_REVERSE},
    {OPTION_SORT_DELTA, ACTION_SORT_DELTA},
};

int settings_change_screen(const struct settings *s, enum option option, struct screen *screen,
                           const struct model *model, struct error *err)
{
    if (option == OPTION_OWN)
        screen_set_own(screen, option_bool(&s->options, option));
    for (size_t i = 0; i < ARRAY_LEN(screen_settings); i++) {
        if (screen_settings[i].option != option)
            continue;
        bool text = option_table[option].type != OPTION_TYPE_BOOL;
        int rc = screen_act(screen, model, screen_settings[i].action,
                            text ? option_text(&s->options, option) : "", err);
        return rc < 0 ? rc : 0;
    }
    return 0;
}

int settings_to_screen(const struct settings *s, struct screen *screen, const struct model *model,
                       struct error *err)
{
    screen_set_own(screen, option_bool(&s->options, OPTION_OWN));
    for (size_t i = 0; i < ARRAY_LEN(screen_settings); i++) {
        enum option option = screen_settings[i].option;
        struct buf value;
        buf_init(&value, 0);
        option_print(&s->options, option, &value);
        bool initial = strcmp(buf_cstr(&value), option_table[option].initial) == 0;
        buf_clear(&value);
        int rc = initial ? 0 : settings_change_screen(s, option, screen, model, err);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void settings_request(const struct settings *s, bool batch, struct trace_request *out)
{
    trace_request_init(out);
    for (int i = 0; i < OPTIONS; i++) {
        const struct option_row *row = &option_table[i];
        if (row->type == OPTION_TYPE_CAP && (row->scope & (batch ? SCOPE_BATCH : SCOPE_SCREEN)))
            out->caps.value[row->cap] = option_cap(&s->options, (enum option)i);
    }
    int on_rate = option_int(&s->options, OPTION_TRACE_ON_RATE);
    out->on_rate_auto = on_rate == ON_RATE_AUTO;
    out->on_rate_stop = out->on_rate_auto ? batch : on_rate == ON_RATE_STOP;
    out->syntax = (enum syntax)option_int(&s->options, OPTION_TRACE_SYNTAX);
}
