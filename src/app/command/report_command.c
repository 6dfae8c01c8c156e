/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop report`, `diff` and `export`: what recordings say. No node is asked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/recording/export.h"
#include "beamtop/report/summary.h"
#include "app/cli/commands.h"
#include "app/fleet/fleet_index.h"
#include "app/cli/output_file.h"
#include "app/cli/tell.h"

#define FILES_MOST 14 /* columns of a comparison */
#define SOURCES_MOST FLEET_INDEX_NODES

struct files {
    struct summary_input sources[SOURCES_MOST];
    size_t n;
    struct fleet_index index; /* of a directory of several nodes */
    struct arena words;
    bool nodes;
};

static int tell_report_error(const struct error *err)
{
    tell_error(err);
    return err->code == ERR_USAGE || err->code == ERR_NOT_FOUND || err->code == ERR_FORMAT
               ? EXIT_USAGE
               : EXIT_FAILED;
}

static void close_files(struct files *f)
{
    while (f->n > 0)
        recording_close(f->sources[--f->n].recording);
    fleet_index_clear(&f->index);
    arena_clear(&f->words);
}

static const char *recording_name(const struct recording *r, const char *path)
{
    const char *label = recording_info(r)->label, *slash = strrchr(path, '/');
    if (*label)
        return label;
    return slash ? slash + 1 : path;
}

static int open_file(struct files *f, const char *path, struct error *err)
{
    struct recording *r = NULL;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return error_set(err, ERR_FORMAT, "%s is not a file", path);
    if (f->n == (f->nodes ? SOURCES_MOST : FILES_MOST))
        return error_set(err, ERR_USAGE, "at most %d recordings are compared", FILES_MOST);
    if (recording_open(&r, path, err) != 0)
        return (int)err->code;
    if (recording_check(r, err) != 0) {
        recording_close(r);
        return (int)err->code;
    }
    f->sources[f->n++] = (struct summary_input){
        .recording = r, .name = recording_name(r, path), .from = 1, .to = recording_info(r)->ticks};
    return 0;
}

static int open_files(struct files *f, const struct cli_options *o, struct error *err)
{
    f->n = 0;
    int rc = open_file(f, o->target, err);
    for (size_t i = 0; i < o->n_rest && rc == 0; i++)
        rc = open_file(f, o->rest[i], err);
    return rc;
}

/* ---- a directory: the recordings of several nodes */

static const char *clock_text(struct arena *a, const struct recorded_clock *c)
{
    return c->wall_us == 0
               ? NULL
               : arena_printf(a, "%+.1f ms ± %.1f", c->offset_us / 1000, c->bound_us / 1000);
}

/* One that has no recording is said, and the others are compared. */
static int open_nodes(struct files *f, const char *dir, struct error *err)
{
    if (fleet_index_open(&f->index, dir, err) != 0)
        return (int)err->code;
    f->nodes = true;
    for (size_t i = 0; i < f->index.n; i++) {
        const struct recorded_node *node = &f->index.nodes[i];
        struct error why = {0};
        if (open_file(f, arena_printf(&f->words, "%s/%s", dir, node->file), &why) != 0) {
            tell_line("%s is not in the report: %s", node->name, *node->why ? node->why : why.text);
            continue;
        }
        f->sources[f->n - 1].name = node->name;
        f->sources[f->n - 1].clock_begin = clock_text(&f->words, &node->begin);
        f->sources[f->n - 1].clock_end = clock_text(&f->words, &node->end);
    }
    return f->n > 0 ? 0 : error_set(err, ERR_NOT_FOUND, "%s: no recording of a node", dir);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- writing */

static enum summary_format summary_format(enum cli_format format)
{
    return format == FORMAT_MARKDOWN ? SUMMARY_MARKDOWN
           : format == FORMAT_HTML   ? SUMMARY_HTML
           : format == FORMAT_JSON   ? SUMMARY_JSON
                                     : SUMMARY_TEXT;
}

static int output_columns(const struct app_env *env)
{
    struct winsize size;
    if (env->out_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 100;
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Never over what is read. */
static int open_output(struct output_file *out, const struct cli_options *o, struct error *err)
{
    struct stat file;
    if (o->output && stat(o->output, &file) == 0) {
        bool is_read = is_file(o->target, &file);
        for (size_t i = 0; i < o->n_rest; i++)
            is_read |= is_file(o->rest[i], &file);
        if (is_read)
            return error_set(err, ERR_USAGE,
                             "%s is the recording itself: give another name with -o", o->output);
    }
    return output_file_open(out, o->output, err);
}

static int write_summary(const struct files *f, const struct cli_options *o,
                         const struct app_env *env, struct error *err)
{
    const struct summary_options options = {.format = summary_format(o->format),
                                            .columns = output_columns(env),
                                            .ascii = o->ascii || !env->utf8,
                                            .nodes = f->nodes};
    struct buf text;
    buf_init(&text, 0);
    if (summary_write(&text, f->sources, f->n, &options, err) == 0) {
        struct output_file out;
        if (open_output(&out, o, err) == 0) {
            if (text.len > 0)
                fwrite(text.data, 1, text.len, out.to);
            (void)output_file_close(&out, err);
        }
    }
    buf_clear(&text);
    return (int)err->code;
}

int command_report(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct files files = {0};
    const bool nodes = o->n_rest == 0 && is_directory(o->target);
    arena_init(&files.words);
    if ((nodes ? open_nodes(&files, o->target, &err) : open_files(&files, o, &err)) == 0)
        (void)write_summary(&files, o, env, &err);
    close_files(&files);
    return err.code == ERR_NONE ? EXIT_DONE : tell_report_error(&err);
}

/* ---- diff */

static bool limit_fails(const struct summary_limit *limit, const struct summary_input *a,
                        const struct summary_input *b)
{
    struct buf why;
    buf_init(&why, 0);
    if (summary_limit_is_of_nobody(limit, a, b, &why))
        fprintf(stderr, "beamtop: %s\n", buf_cstr(&why));
    buf_reset(&why);
    bool fails = summary_limit_fails(limit, a, b, &why);
    if (fails)
        fprintf(stderr, "beamtop: failed: %s\n", buf_cstr(&why));
    buf_clear(&why);
    return fails;
}

/* How many limits fail; -1: one of them is not a limit. */
static int check_limits(const struct files *f, const struct cli_options *o, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < o->n_fail_on; i++) {
        struct summary_limit *limit = NULL;
        if (summary_limit_parse(&limit, o->fail_on[i], err) != 0)
            return -1;
        failed += f && limit_fails(limit, &f->sources[0], &f->sources[1]);
        summary_limit_free(limit);
    }
    for (size_t i = 0; f && i < f->n; i++)
        (void)recording_failed(f->sources[i].recording, err);
    return failed;
}

int command_diff(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct files files = {0};
    int failed = check_limits(NULL, o, &err); /* errors first, before anything is printed */
    if (failed == 0 && open_files(&files, o, &err) == 0 && write_summary(&files, o, env, &err) == 0)
        failed = check_limits(&files, o, &err);
    close_files(&files);
    if (err.code != ERR_NONE)
        return tell_report_error(&err);
    return failed > 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- export */

int command_export(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct files files = {0};
    enum export_format format = o->format == FORMAT_OPENMETRICS ? EXPORT_OPENMETRICS
                                : o->spreadsheet                ? EXPORT_SPREADSHEET
                                                                : EXPORT_CSV;
    (void)env;
    if (open_file(&files, o->target, &err) == 0) {
        struct output_file out;
        if (open_output(&out, o, &err) == 0) {
            (void)recording_export(files.sources[0].recording, format, o->second, out.to, &err);
            (void)output_file_close(&out, &err);
        }
    }
    close_files(&files);
    return err.code == ERR_NONE ? EXIT_DONE : tell_report_error(&err);
}
