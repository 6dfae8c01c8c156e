/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/widgets/rows.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

const char *older_sign(bool is_older, double age_s)
{
    return !is_older ? "" : isnan(age_s) ? "≥" : "~";
}

void rows_mark_older(const struct rows *r, struct view_page *page, struct view_row *row,
                     const char *key, bool is_older, double age_s)
{
    struct text_span *cell = is_older ? rows_cell(r, row, key) : NULL;
    if (cell)
        page_cell_printf(page, row, (size_t)(cell - row->cells), cell->style, "%s%.*s",
                         older_sign(true, age_s), (int)cell->len, cell->s);
}

void older_ago(char *out, size_t size, double age_s)
{
    char text[32];
    if (isnan(age_s))
        snprintf(out, size, "not read yet");
    else
        snprintf(out, size, "%s ago", text_duration(text, sizeof text, floor(age_s)));
}

void older_add(struct older *o, bool is_older, double age_s)
{
    if (!is_older)
        return;
    if (isnan(age_s))
        o->any_least = true;
    else if (!o->any || age_s > o->most_s)
        o->most_s = age_s;
    o->any = o->any || !isnan(age_s);
}

void older_say(const struct older *o, struct view_page *page)
{
    size_t used = strlen(page->summary);
    char age[32] = "";
    if (o->any)
        text_duration(age, sizeof age, floor(o->most_s));
    if (o->any || o->any_least)
        snprintf(page->summary + used, sizeof page->summary - used,
                 "%s%s%s%s: long message queue, or many links", o->any ? ", ~ read up to " : "",
                 age, o->any ? " ago" : "", o->any_least ? ", ≥ not read yet" : "");
}

bool column_is_right(const struct proc_column *column)
{
    return column->type != COLUMN_TEXT && column->type != COLUMN_PID;
}

static enum style status_style(struct slice status)
{
    if (slice_is(status, "waiting"))
        return STYLE_STATUS_WAITING;
    return slice_is(status, "suspended") ? STYLE_WARN : STYLE_STATUS_RUNNING;
}

static enum style text_style(const struct proc_column *column, const struct proc_row *proc,
                             struct slice text)
{
    if (strcmp(column->key, "name") == 0)
        return proc->name.len || proc->label.len ? STYLE_NAME : STYLE_FUNCTION;
    if (strcmp(column->key, "current_function") == 0 || strcmp(column->key, "initial_call") == 0)
        return STYLE_FUNCTION;
    if (strcmp(column->key, "status") == 0)
        return status_style(text);
    return STYLE_NORMAL;
}

static void text_cell(struct view_page *page, struct view_row *row, size_t index,
                      const struct proc_column *column, const struct proc_row *proc)
{
    struct slice text = column->display ? column->display(proc) : column->text(proc);
    page_cell(page, row, index, text_style(column, proc, text), text.s, text.len);
}

static void pid_cell(struct view_page *page, struct view_row *row, size_t index,
                     const struct proc_column *column, const struct proc_row *proc)
{
    char text[40];
    const struct etf_pid *pid = column->pid ? column->pid(proc) : NULL;
    if (pid)
        page_cell_printf(page, row, index, STYLE_PID, "%s", pid_text(text, sizeof text, pid));
    else
        page_cell(page, row, index, STYLE_DIM, "–", 3);
}

/* A change: its sign is shown, and growth of what should not grow has a separate style. */
static enum style change_style(const struct proc_column *column, double v)
{
    bool growth =
        strncmp(column->key, "message_queue", 13) == 0 || column->type == COLUMN_BYTE_RATE;
    if (!growth || v == 0)
        return STYLE_NORMAL;
    return v > 0 ? STYLE_RISING : STYLE_FALLING;
}

static char *fit_count(char *out, size_t size, double v, int width)
{
    if (fabs(v) < 1e15 && v == floor(v)) {
        text_integer(out, size, (int64_t)v);
        if ((int)strlen(out) <= width)
            return out;
    }
    return text_count(out, size, v);
}

static enum style number_text(char *out, size_t size, const struct proc_column *column,
                              const struct proc_row *proc, double v)
{
    const struct field plain = {.type = column->type};
    const bool rate = column->type == COLUMN_RATE || column->type == COLUMN_BYTE_RATE;
    const enum style style = rate ? change_style(column, v) : STYLE_NORMAL;
    char text[48];
    if (column->type == COLUMN_COUNT)
        fit_count(text, sizeof text, v, column->width);
    else
        field_number_text(&plain, column->type == COLUMN_SECONDS ? floor(v) : v, false, text,
                          sizeof text);
    const char *before = style == STYLE_RISING                ? "+"
                         : proc_column_is_least(column, proc) ? "≥"
                         : proc_column_is_older(column, proc) ? "~"
                                                              : "";
    snprintf(out, size, "%s%s", before, text);
    return style;
}

void cell_of_column(struct view_page *page, struct view_row *row, size_t index,
                    const struct proc_column *column, const struct proc_row *proc)
{
    if (column->type == COLUMN_TEXT) {
        text_cell(page, row, index, column, proc);
        return;
    }
    if (column->type == COLUMN_PID) {
        pid_cell(page, row, index, column, proc);
        return;
    }
    char text[64];
    double v = column->number(proc);
    if (isnan(v)) {
        page_cell(page, row, index, STYLE_DIM, "–", 3);
        return;
    }
    enum style style = number_text(text, sizeof text, column, proc, v);
    bool idle = v == 0 && (column->type == COLUMN_RATE || column->type == COLUMN_BYTE_RATE ||
                           strcmp(column->key, "message_queue_len") == 0);
    if (idle)
        style = STYLE_DIM;
    if (proc->stuck && strcmp(column->key, "message_queue_len") == 0)
        page_cell_printf(page, row, index, STYLE_ALARM, "stuck %s", text);
    else
        page_cell_printf(page, row, index, style, "%s", text);
}
