/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells and words in as many lines as the pane's width asks for. */
#include <string.h>

#include "beamtop/base/text.h"
#include "view_trace.h"

void trace_flow_line(struct trace_flow *f)
{
    page_line(f->page);
    page_tab(f->page, f->indent);
    f->begun = false;
}

/* Makes room for a cell of that width. */
void trace_flow_room(struct trace_flow *f, int width)
{
    int at = f->page->lines[f->page->n_lines - 1].width;
    if (f->begun && at + TRACE_GAP + width > f->columns)
        trace_flow_line(f);
    else if (f->begun)
        page_printf(f->page, STYLE_NORMAL, "%*s", TRACE_GAP, "");
    f->begun = true;
}

/* A cell of a label and a value; the label goes first, or last with no value's style. */
void trace_flow_cell(struct trace_flow *f, enum style style, const char *label, const char *value)
{
    trace_flow_room(f, text_columns(label) + (*label ? 1 : 0) + text_columns(value));
    if (*label)
        page_printf(f->page, STYLE_LABEL, "%s ", label);
    page_puts(f->page, style, value);
}

void trace_text(struct view_page *page, enum style style, const char *text, int indent, int columns)
{
    size_t left = strlen(text), room = columns - indent > 12 ? (size_t)(columns - indent) : 12;
    while (left > 0) {
        size_t next, line = strcspn(text, "\n");
        size_t part = text_break(text, line, room, &next);
        page_line(page);
        page_tab(page, indent);
        page_put(page, style, text, part);
        while (next < left && (text[next] == ' ' || text[next] == '\n'))
            next++;
        text += next;
        left -= next;
    }
}
