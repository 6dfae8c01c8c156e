/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of tracing goes to files: the events that are on the screen, and the lines of the prompt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/output/trace_sink.h"
#include "app/command/trace_history.h"
#include "tui_trace_start.h"

/* ---- events */

static int put_bytes(void *ctx, const char *bytes, size_t len)
{
    buf_put(ctx, bytes, len);
    return 0;
}

static bool is_json(const char *path)
{
    size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

static const char *node_of(const struct tui_trace *tr, char out[300])
{
    const struct node_info *node = model_node(tr->s.tui->model);
    snprintf(out, 300, "%.*s", node ? (int)node->name.len : 0, node ? node->name.s : "");
    return out;
}

static int write_log(struct tui_trace *tr, const char *path, bool replace, struct error *err)
{
    struct trace_request defaults;
    struct buf content;
    char node[300];
    settings_request(&tr->s.tui->settings, false, &defaults);
    const struct trace_log *log = trace_session_log(tr->s.session);
    const enum syntax syntax = trace_log_syntax(log, defaults.syntax);
    buf_init(&content, 0);
    struct trace_sink sink = {.output.writer = {.write = put_bytes, .ctx = &content}};
    sink.options = (struct trace_sink_options){
        .format = is_json(path) ? SINK_JSON : SINK_TEXT,
        .syntax = syntax == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG,
        .node = node_of(tr, node),
        .ascii = tr->s.tui->canvas.ascii,
    };
    int rc = trace_sink_log(&sink, log, err);
    if (rc == 0)
        rc = capture_write(path, &content, replace, true, err);
    buf_clear(&content);
    return rc;
}

static void write_and_tell(struct tui_trace *tr, const char *path, bool replace)
{
    struct error err = {0};
    if (write_log(tr, path, replace, &err) == 0)
        tui_message(tr->s.tui, STYLE_MESSAGE, "the trace is in %s", path);
    else
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
}

static void replace_answered(void *arg, bool yes)
{
    struct tui_trace *tr = arg;
    if (yes && tr->s.session)
        write_and_tell(tr, tr->save_path, true);
}

void tui_trace_save(struct tui_trace *tr, const char *path)
{
    struct error err = {0};
    char what[320], node[300], question[700];
    struct buf name;
    if (!tr->s.session) {
        tui_trace_tell_none(tr);
        return;
    }
    buf_init(&name, 0);
    snprintf(what, sizeof what, "trace-%s", node_of(tr, node));
    if (*path)
        buf_puts(&name, path);
    else
        capture_name(&name, option_text(&tr->s.tui->settings.options, OPTION_CAPTURE_DIR), what,
                     clock_wall_us(), CAPTURE_TEXT);
    free(tr->save_path);
    tr->save_path = buf_take(&name);
    int rc = write_log(tr, tr->save_path, false, &err);
    if (rc == 0) {
        tui_message(tr->s.tui, STYLE_MESSAGE, "the trace is in %s", tr->save_path);
    } else if (rc == ERR_REFUSED) {
        snprintf(question, sizeof question, "%.500s exists. Overwrite it? (y/n) ", tr->save_path);
        tui_ask(tr->s.tui, question, replace_answered, tr);
    } else {
        tui_message(tr->s.tui, STYLE_ERROR, "%s", err.text);
    }
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
