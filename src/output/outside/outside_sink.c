/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As text, and its threads as CSV. */
#include <inttypes.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/outside.h"
#include "beamtop/output/fields.h"
#include "output/object_fields.h"
#include "outside.h"

#define LABEL 12 /* columns of a label, and between */
#define NAME 26  /* … of a thread's name */
#define STATE 22

static void put_safe(struct buf *out, const char *text, bool ascii)
{
    text_put_safe(out, text, strlen(text), ascii);
}

static void put_padded(struct buf *out, const char *text, int columns, bool ascii)
{
    put_safe(out, text, ascii);
    for (int width = text_columns(text); width < columns; width++)
        buf_put_u8(out, ' ');
}

static void put_lines(struct buf *out, const struct outside *o, const char *indent, bool ascii)
{
    struct outside_line lines[OUTSIDE_LINES];
    const size_t n = outside_lines(o, lines);
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, indent);
        put_padded(out, lines[i].label, LABEL, ascii);
        put_safe(out, lines[i].text, ascii);
        if (lines[i].next[0] != '\0')
            buf_printf(out, ". Next: %s", lines[i].next);
        buf_put_u8(out, '\n');
    }
}

static void put_stack(struct buf *out, const struct outside_stack *s, const char *indent,
                      bool ascii)
{
    buf_puts(out, indent);
    put_safe(out, s->thread, ascii);
    buf_printf(out, "%s%s\n", s->process[0] ? "  " : "", s->process);
    for (size_t i = 0; i < s->n_frames; i++) {
        buf_printf(out, "%s  ", indent);
        put_safe(out, s->frames[i].text, ascii);
        buf_puts(out, s->frames[i].place[0] ? "  " : "");
        put_safe(out, s->frames[i].place, ascii);
        buf_put_u8(out, '\n');
    }
    if (s->more > 0)
        buf_printf(out, "%s  %zu more: `beamtop pstack` shows all\n", indent, s->more);
}

static void put_share(struct buf *out, int columns, double share, bool ascii)
{
    char text[32];
    text_percent(text, sizeof text, share);
    for (int width = text_columns(text); width < columns; width++)
        buf_put_u8(out, ' ');
    put_safe(out, text, ascii);
}

static void put_threads(struct buf *out, const struct outside *o, bool ascii)
{
    size_t left = 0;
    buf_puts(out, "\n");
    put_padded(out, "THREAD", NAME, ascii);
    put_padded(out, "STATE", STATE, ascii);
    buf_puts(out, "    CPU  NO CPU  WAITS IN\n");
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct outside_thread *t = &o->threads[i];
        if (!outside_thread_counts(t)) {
            left++;
            continue;
        }
        put_padded(out, t->name, NAME, ascii);
        put_padded(out, outside_state_word(t->state), STATE, ascii);
        put_share(out, 7, t->cpu, ascii);
        put_share(out, 8, t->ready, ascii);
        buf_puts(out, t->waits_in[0] ? "  " : "");
        put_safe(out, t->waits_in, ascii);
        buf_put_u8(out, '\n');
    }
    if (left > 0)
        buf_printf(out, "%zu other threads sleep\n", left);
}

static void put_vm(struct buf *out, const struct outside *o, bool ascii)
{
    const char *const parts[] = {o->node, o->command, o->user};
    buf_printf(out, "OS process %" PRId64, o->os_pid);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i][0] != '\0') {
            buf_puts(out, i == 2 ? ", user " : ", ");
            put_safe(out, parts[i], ascii);
        }
    buf_printf(out, "%s%s. Seen from outside: nothing was asked of the VM\n",
               o->otp[0] ? ", OTP " : "", o->otp);
}

void outside_text_put(struct buf *out, const struct outside *o, bool brief, bool ascii)
{
    const char *indent = brief ? "  " : "";
    if (!brief)
        put_vm(out, o, ascii);
    put_lines(out, o, indent, ascii);
    if (!brief && o->n_threads > 0)
        put_threads(out, o, ascii);
    for (size_t i = 0; i < o->n_stacks; i++) {
        buf_puts(out, brief ? "" : "\n");
        put_stack(out, &o->stacks[i], indent, ascii);
    }
}

void outside_csv_put(struct buf *out, const struct outside *o, bool spreadsheet)
{
    const struct field_list *list = &outside_thread_fields;
    buf_puts(out, "wall_us,node,os_pid");
    for (size_t i = 0; i < list->n; i++)
        buf_printf(out, ",%s", list->fields[i].key);
    buf_put_u8(out, '\n');
    for (size_t k = 0; k < o->n_threads; k++) {
        const struct outside_thread_row row = outside_thread_row_of(&o->threads[k]);
        struct value value = text_value(slice_of(o->node));
        buf_printf(out, "%" PRId64 ",", o->wall_us);
        csv_put_value(out, &value, spreadsheet);
        buf_printf(out, ",%" PRId64, o->os_pid);
        for (size_t i = 0; i < list->n; i++) {
            value = field_value(&list->fields[i], &row);
            buf_put_u8(out, ',');
            csv_put_value(out, &value, spreadsheet);
        }
        buf_put_u8(out, '\n');
    }
}
