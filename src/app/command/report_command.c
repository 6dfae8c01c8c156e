/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop report`, `diff` and `export`: what recordings say. No node is asked. */
#include <errno.h>
#include <limits.h>
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

/* A directory: the recordings of several nodes. */
struct side {
    const char *dir;
    struct fleet_index index;
    struct recording
        *recordings[SOURCES_MOST]; /* NULL: there is none, or it is among the sources */
    const char *why[SOURCES_MOST]; /* … there is none */
    bool is_taken[SOURCES_MOST];
};

struct files {
    struct summary_input sources[2 * SOURCES_MOST];
    size_t n;
    struct side sides[2];
    struct arena words;
    bool nodes;
    struct summary_pairs pairs; /* before NULL: there are none */
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
    for (size_t i = 0; i < ARRAY_LEN(f->sides); i++) {
        for (size_t k = 0; k < SOURCES_MOST; k++)
            recording_close(f->sides[i].recordings[k]);
        fleet_index_clear(&f->sides[i].index);
    }
    arena_clear(&f->words);
}

static const char *recording_name(const struct recording *r, const char *path)
{
    const char *label = recording_info(r)->label, *slash = strrchr(path, '/');
    if (*label)
        return label;
    return slash ? slash + 1 : path;
}

static int open_recording(struct recording **out, const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return error_set(err, ERR_FORMAT, "%s is not a file", path);
    if (recording_open(out, path, err) != 0)
        return (int)err->code;
    if (recording_check(*out, err) != 0) {
        recording_close(*out);
        *out = NULL;
    }
    return (int)err->code;
}

static void add_source(struct files *f, struct recording *r, const char *name)
{
    f->sources[f->n++] = (struct summary_input){
        .recording = r, .name = name, .from = 1, .to = recording_info(r)->ticks};
}

static int open_file(struct files *f, const char *path, struct error *err)
{
    struct recording *r = NULL;
    if (f->n == FILES_MOST)
        return error_set(err, ERR_USAGE, "at most %d recordings are compared", FILES_MOST);
    if (open_recording(&r, path, err) != 0)
        return (int)err->code;
    add_source(f, r, recording_name(r, path));
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

/* ---- directories */

static const char *clock_text(struct arena *a, const struct recorded_clock *c)
{
    return c->wall_us == 0
               ? NULL
               : arena_printf(a, "%+.1f ms ± %.1f", c->offset_us / 1000, c->bound_us / 1000);
}

static int open_side(struct files *f, struct side *side, const char *dir, struct error *err)
{
    side->dir = dir;
    if (fleet_index_open(&side->index, dir, err) != 0)
        return (int)err->code;
    for (size_t i = 0; i < side->index.n; i++) {
        const struct recorded_node *node = &side->index.nodes[i];
        const char *path = arena_printf(&f->words, "%s/%s", dir, node->file);
        struct error why = {0};
        if (node->state == RECORDED_FAILED && node->ticks == 0 && *node->why)
            side->why[i] = node->why; /* a file of that name is another recording's */
        else if (open_recording(&side->recordings[i], path, &why) != 0)
            side->why[i] = node->state == RECORDED_FAILED && *node->why
                               ? node->why
                               : arena_strdup(&f->words, why.text);
    }
    return 0;
}

static void take_node(struct files *f, struct side *side, size_t node)
{
    add_source(f, side->recordings[node], side->index.nodes[node].name);
    side->recordings[node] = NULL;
}

/* One that has no recording is said, and the others are compared. */
static int open_nodes(struct files *f, const char *dir, struct error *err)
{
    struct side *side = &f->sides[0];
    f->nodes = true;
    if (open_side(f, side, dir, err) != 0)
        return (int)err->code;
    for (size_t i = 0; i < side->index.n; i++) {
        const struct recorded_node *node = &side->index.nodes[i];
        if (!side->recordings[i]) {
            tell_line("%s is not in the report: %s", node->name, side->why[i]);
            continue;
        }
        take_node(f, side, i);
        f->sources[f->n - 1].clock_begin = clock_text(&f->words, &node->begin);
        f->sources[f->n - 1].clock_end = clock_text(&f->words, &node->end);
    }
    return f->n > 0 ? 0 : error_set(err, ERR_NOT_FOUND, "%s: no recording of a node", dir);
}

static bool has_name_of(const struct side *x, size_t i, const struct side *y, size_t k)
{
    return strcmp(x->index.nodes[i].name, y->index.nodes[k].name) == 0;
}

/* By its own name. */
static bool is_same_node(const struct side *x, size_t i, const struct side *y, size_t k)
{
    const struct recording *one = x->recordings[i], *other = y->recordings[k];
    return one && other && *recording_info(one)->node &&
           strcmp(recording_info(one)->node, recording_info(other)->node) == 0;
}

/* A node that left and came back has several recordings; its first entry may lack one. */
static void pair_nodes(struct files *f, bool (*is_same)(const struct side *x, size_t i,
                                                        const struct side *y, size_t k))
{
    struct side *before = &f->sides[0], *after = &f->sides[1];
    for (size_t i = 0; i < before->index.n; i++) {
        size_t k = 0;
        while (k < after->index.n && (!after->recordings[k] || !is_same(before, i, after, k)))
            k++;
        if (!before->recordings[i] || k == after->index.n)
            continue;
        before->is_taken[i] = after->is_taken[k] = true;
        take_node(f, before, i);
        take_node(f, after, k);
    }
}

static const char *why_missing(const struct side *x, size_t i, const struct side *y)
{
    for (size_t k = 0; k < y->index.n; k++)
        if (has_name_of(x, i, y, k))
            return "no second recording there";
    return "not recorded there";
}

static void leave_node(struct files *f, size_t node, struct summary_unpaired *unpaired)
{
    struct side *before = &f->sides[0], *after = &f->sides[1];
    size_t k = 0;
    while (k < after->index.n && (after->is_taken[k] || !has_name_of(before, node, after, k)))
        k++;
    const bool has_after = k < after->index.n;
    if (has_after)
        after->is_taken[k] = true;
    unpaired[f->pairs.n_unpaired++] =
        (struct summary_unpaired){before->index.nodes[node].name, before->why[node],
                                  has_after ? after->why[k] : why_missing(before, node, after)};
}

static int tell_no_pairs(const struct files *f, struct error *err)
{
    for (size_t i = 0; i < f->pairs.n_unpaired; i++) {
        const struct summary_unpaired *u = &f->pairs.unpaired[i];
        tell_line("%s: not in %s: %s", u->node, u->no_before ? f->pairs.before : f->pairs.after,
                  u->no_before ? u->no_before : u->no_after);
    }
    return error_set(err, ERR_NOT_FOUND, "%s and %s have recordings of no common node",
                     f->pairs.before, f->pairs.after);
}

/* Each node with itself; who has only one recording is said. */
static int open_pairs(struct files *f, const struct cli_options *o, struct error *err)
{
    struct summary_unpaired *unpaired =
        arena_alloc(&f->words, (size_t)2 * SOURCES_MOST * sizeof *unpaired);
    f->pairs = (struct summary_pairs){o->target, o->rest[0], unpaired, 0};
    if (open_side(f, &f->sides[0], o->target, err) != 0 ||
        open_side(f, &f->sides[1], o->rest[0], err) != 0)
        return (int)err->code;
    pair_nodes(f, has_name_of);
    pair_nodes(f, is_same_node);
    for (size_t i = 0; i < f->sides[0].index.n; i++)
        if (!f->sides[0].is_taken[i])
            leave_node(f, i, unpaired);
    for (size_t k = 0; k < f->sides[1].index.n; k++)
        if (!f->sides[1].is_taken[k])
            unpaired[f->pairs.n_unpaired++] = (struct summary_unpaired){
                f->sides[1].index.nodes[k].name, why_missing(&f->sides[1], k, &f->sides[0]),
                f->sides[1].why[k]};
    return f->n > 0 ? 0 : tell_no_pairs(f, err);
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

/* Its index, or a recording of it. */
static bool is_in_side(const struct side *side, const struct stat *file)
{
    char path[PATH_MAX];
    bool is_in = false;
    for (size_t i = 0; side->dir && i <= side->index.n; i++) {
        snprintf(path, sizeof path, "%s/%s", side->dir,
                 i < side->index.n ? side->index.nodes[i].file : FLEET_INDEX_FILE);
        is_in |= is_file(path, file);
    }
    return is_in;
}

/* Never over what is read. */
static int open_output(struct output_file *out, const struct files *f, const struct cli_options *o,
                       struct error *err)
{
    struct stat file;
    if (o->output && stat(o->output, &file) == 0) {
        bool is_read = is_file(o->target, &file) || is_in_side(&f->sides[0], &file) ||
                       is_in_side(&f->sides[1], &file);
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
                                            .nodes = f->nodes,
                                            .pairs = f->pairs.before ? &f->pairs : NULL};
    struct buf text;
    buf_init(&text, 0);
    if (summary_write(&text, f->sources, f->n, &options, err) == 0) {
        struct output_file out;
        if (open_output(&out, f, o, err) == 0) {
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

/* node: of several, else NULL. */
static bool limit_fails(const struct summary_limit *limit, const struct summary_input *a,
                        const struct summary_input *b, const char *node)
{
    struct buf why;
    buf_init(&why, 0);
    const bool fails = summary_limit_fails(limit, a, b, &why);
    if (fails)
        tell_line("failed: %s%s%s", node ? node : "", node ? ": " : "", buf_cstr(&why));
    buf_clear(&why);
    return fails;
}

/* Of no node: the name may be mistyped. */
static void tell_nobody(const struct summary_limit *limit, const struct files *f)
{
    bool is_of_nobody = true;
    struct buf why;
    buf_init(&why, 0);
    for (size_t i = 0; is_of_nobody && i < f->n; i += 2) {
        buf_reset(&why);
        is_of_nobody = summary_limit_is_of_nobody(limit, &f->sources[i], &f->sources[i + 1], &why);
    }
    if (is_of_nobody)
        tell_line("%s", buf_cstr(&why));
    buf_clear(&why);
}

static bool is_compared(const struct files *f, const char *node)
{
    bool is = false;
    for (size_t i = 0; i < f->n; i++)
        is = is || strcmp(f->sources[i].name, node) == 0;
    return is;
}

/* Of a node that has no recording any more no limit can be evaluated. */
static int count_gone(const struct files *f)
{
    int gone = 0;
    for (size_t i = 0; i < f->pairs.n_unpaired; i++) {
        const struct summary_unpaired *u = &f->pairs.unpaired[i];
        if (!u->no_after || is_compared(f, u->node))
            continue;
        tell_line("failed: %s: not in %s: %s", u->node, f->pairs.after, u->no_after);
        gone++;
    }
    return gone;
}

/* How many limits fail, of all nodes; -1: one of them is not a limit. */
static int check_limits(const struct files *f, const struct cli_options *o, struct error *err)
{
    int failed = f && o->n_fail_on > 0 ? count_gone(f) : 0;
    for (size_t i = 0; i < o->n_fail_on; i++) {
        struct summary_limit *limit = NULL;
        if (summary_limit_parse(&limit, o->fail_on[i], err) != 0)
            return -1;
        if (f)
            tell_nobody(limit, f);
        for (size_t k = 0; f && k < f->n; k += 2)
            failed += limit_fails(limit, &f->sources[k], &f->sources[k + 1],
                                  f->pairs.before ? f->sources[k].name : NULL);
        summary_limit_free(limit);
    }
    for (size_t i = 0; f && i < f->n; i++)
        (void)recording_failed(f->sources[i].recording, err);
    return failed;
}

static int open_both(struct files *f, const struct cli_options *o, struct error *err)
{
    const bool first = is_directory(o->target), second = is_directory(o->rest[0]);
    if (first != second)
        return error_set(err, ERR_USAGE,
                         "%s is a directory of recordings, and %s is none: name two files or two "
                         "directories",
                         first ? o->target : o->rest[0], first ? o->rest[0] : o->target);
    return first ? open_pairs(f, o, err) : open_files(f, o, err);
}

int command_diff(const struct cli_options *o, const struct app_env *env)
{
    struct error err = {0};
    struct files files = {0};
    int failed = check_limits(NULL, o, &err); /* errors first, before anything is printed */
    arena_init(&files.words);
    if (failed == 0 && open_both(&files, o, &err) == 0 && write_summary(&files, o, env, &err) == 0)
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
        if (open_output(&out, &files, o, &err) == 0) {
            (void)recording_export(files.sources[0].recording, format, o->second, out.to, &err);
            (void)output_file_close(&out, &err);
        }
    }
    close_files(&files);
    return err.code == ERR_NONE ? EXIT_DONE : tell_report_error(&err);
}
