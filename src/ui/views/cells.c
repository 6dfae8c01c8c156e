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

void older_say_why(const struct older *o, struct view_page *page, const char *why)
{
    size_t used = strlen(page->summary);
    char age[32] = "";
    if (o->any)
        text_duration(age, sizeof age, floor(o->most_s));
    if (o->any || o->any_least)
        snprintf(page->summary + used, sizeof page->summary - used, "%s%s%s%s: %s",
                 o->any ? ", ~ read up to " : "", age, o->any ? " ago" : "",
                 o->any_least ? ", ≥ not read yet" : "", why);
}

void older_say(const struct older *o, struct view_page *page)
{
    older_say_why(o, page, "long message queue, or many links");
}

static enum style status_style(struct slice status)
{
    if (slice_is(status, "waiting"))
        return STYLE_STATUS_WAITING;
    return slice_is(status, "suspended") ? STYLE_WARN : STYLE_STATUS_RUNNING;
}

static enum style text_style(const struct field *column, const struct proc_row *proc,
                             struct slice text)
{
    if (column->look == LOOK_NAME)
        return proc->name.len || proc->label.len ? STYLE_NAME : STYLE_FUNCTION;
    if (column->look == LOOK_FUNCTION)
        return STYLE_FUNCTION;
    return strcmp(column->key, "status") == 0 ? status_style(text) : STYLE_NORMAL;
}

static void count_text(char *out, size_t size, double v, int width)
{
    if (fabs(v) < 1e15 && v == floor(v)) {
        text_integer(out, size, (int64_t)v);
        if ((int)strlen(out) <= width)
            return;
    }
    text_count(out, size, v);
}

static void number_cell(struct view_page *page, struct view_row *row, size_t index,
                        const struct field *column, const struct proc_row *proc, double v)
{
    const bool queue = strcmp(column->key, "message_queue_len") == 0;
    const bool rate = column->type == COLUMN_RATE || column->type == COLUMN_BYTE_RATE;
    enum style style = v == 0 && (rate || queue) ? STYLE_DIM : STYLE_NORMAL;
    char text[48];
    if (column->look == LOOK_CHANGE && v != 0)
        style = v > 0 ? STYLE_RISING : STYLE_FALLING;
    if (column->type == COLUMN_COUNT)
        count_text(text, sizeof text, v, column->width);
    else
        field_number_text(column, column->type == COLUMN_SECONDS ? floor(v) : v, false, text,
                          sizeof text);
    if (queue && proc->stuck)
        page_cell_printf(page, row, index, STYLE_ALARM, "stuck %s", text);
    else
        page_cell_printf(page, row, index, style, "%s%s",
                         proc_column_is_least(column, proc)   ? "≥"
                         : proc_column_is_older(column, proc) ? "~"
                                                              : "",
                         text);
}

void cell_of_column(struct view_page *page, struct view_row *row, size_t index,
                    const struct field *column, const struct proc_row *proc)
{
    const struct slice text = proc_column_text(column, proc);
    const struct etf_pid *pid = field_pid(column, proc);
    const double v = field_number(column, proc);
    char pid_buffer[40];
    if (column->type == COLUMN_TEXT)
        page_cell(page, row, index, text_style(column, proc, text), text.s, text.len);
    else if (pid)
        page_cell_printf(page, row, index, STYLE_PID, "%s",
                         pid_text(pid_buffer, sizeof pid_buffer, pid));
    else if (isnan(v))
        page_cell(page, row, index, STYLE_DIM, "–", 3);
    else
        number_cell(page, row, index, column, proc, v);
}
