/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of tracing goes to files: the events that are on the screen, and the lines of the prompt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "beamtop/output/trace_sink.h"
#include "app/command/trace_history.h"
#include "tui_trace_start.h"

/* ---- events */

static int put_log_bytes(void *ctx, const char *bytes, size_t len)
{
    buf_put(ctx, bytes, len);
    return 0;
}

/* Of one node, or of several, whose events say which. */
static const char *put_node_name(const struct tui_trace *tr, char out[300])
{
    const struct node_info *node = model_node(tr->s.tui->model);
    const struct trace_log *log = model_trace(tr->s.tui->model);
    if (log && trace_log_nodes(log) > 0)
        snprintf(out, 300, "%zu-nodes", trace_log_nodes(log));
    else
        snprintf(out, 300, "%.*s", node ? (int)node->name.len : 0, node ? node->name.s : "");
    return out;
}

static int write_log(struct tui_trace *tr, const char *path, bool replace, struct error *err)
{
    struct trace_request defaults;
    struct buf content;
    char node[300];
    settings_request(&tr->s.tui->settings, false, &defaults);
    const struct trace_log *log = model_trace(tr->s.tui->model);
    const enum syntax syntax = trace_log_syntax(log, defaults.syntax);
    buf_init(&content, 0);
    struct trace_sink sink = {.output.writer = {.write = put_log_bytes, .ctx = &content}};
    sink.options = (struct trace_sink_options){
        .format = text_ends_with(path, ".json") ? SINK_JSON : SINK_TEXT,
        .syntax = syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG,
        .node = put_node_name(tr, node),
        .ascii = tr->s.tui->canvas.ascii,
    };
    int rc = trace_sink_log(&sink, log, err);
    if (rc == 0)
        rc = capture_write(path, &content, replace, true, err);
    buf_clear(&content);
    return rc;
}

static void replace_answered(void *arg, bool yes);

/* Asks before it replaces a file. */
static void save_log(struct tui_trace *tr, bool replace)
{
    struct error err = {0};
    char question[700];
    int rc = write_log(tr, tr->save_path, replace, &err);
    if (rc == 0) {
        tui_message(tr->s.tui, STYLE_MESSAGE, "the trace is in %s", tr->save_path);
    } else if (rc == ERR_REFUSED && !replace) {
        snprintf(question, sizeof question, "%.500s exists. Overwrite it? (y/n) ", tr->save_path);
        tui_ask(tr->s.tui, question, replace_answered, tr);
    } else {
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
    }
}

static void replace_answered(void *arg, bool yes)
{
    struct tui_trace *tr = arg;
    if (yes && model_trace(tr->s.tui->model))
        save_log(tr, true);
}

void tui_trace_save(struct tui_trace *tr, const char *path)
{
    char what[320], node[300];
    struct buf name;
    if (!model_trace(tr->s.tui->model)) {
        tui_trace_tell_none(tr, "nothing was traced yet", "a trace");
        return;
    }
    buf_init(&name, 0);
    snprintf(what, sizeof what, "trace-%s", put_node_name(tr, node));
    if (*path)
        buf_puts(&name, path);
    else
        capture_name(&name, option_text(&tr->s.tui->settings.options, OPTION_CAPTURE_DIR), what,
                     clock_wall_us(), CAPTURE_TEXT);
    free(tr->save_path);
    tr->save_path = buf_take(&name);
    save_log(tr, false);
}

/* ---- lines of the prompt */

void tui_trace_save_history(const struct tui_trace *tr)
{
    char file[TRACE_HISTORY_FILE_BYTES];
    if (*tr->history_node) {
        trace_history_file(file, tr->history_node);
        tui_write_history(tr->s.tui, PROMPT_TRACE, file);
    }
}

void tui_trace_history(void *own)
{
    struct tui_trace *tr = own;
    char file[TRACE_HISTORY_FILE_BYTES];
    const char *node = tr->s.tui->live ? live_peer_node(tr->s.tui->live) : NULL;
    if (!node || !*node || strcmp(node, tr->history_node) == 0)
        return;
    tui_trace_save_history(tr);
    snprintf(tr->history_node, sizeof tr->history_node, "%s", node);
    trace_history_file(file, node);
    tui_read_history(tr->s.tui, PROMPT_TRACE, file);
}
